"""The NumPy backend of plugrad."""
