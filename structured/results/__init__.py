"""Results: answers read back as values."""
