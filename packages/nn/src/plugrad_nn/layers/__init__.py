"""The layers, one file for each kind."""
