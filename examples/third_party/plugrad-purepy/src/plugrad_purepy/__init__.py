"""A plugrad backend in plain Python lists."""
