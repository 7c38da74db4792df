"""Data sets, samplers and the DataLoader of plugrad."""
