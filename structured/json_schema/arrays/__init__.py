"""The array keywords."""
