"""The object keywords."""
