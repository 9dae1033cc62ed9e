"""Numbers: their rules, and the patterns of their texts."""
