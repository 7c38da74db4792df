"""What looks at tensors and graphs, or builds on them; each part comes in when it is first used."""
