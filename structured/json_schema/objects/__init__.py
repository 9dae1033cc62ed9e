"""The keywords of objects."""
