"""Many servers at once."""
