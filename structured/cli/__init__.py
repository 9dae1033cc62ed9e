"""The command `structured`: a demonstration, reports on types, and the cache."""
