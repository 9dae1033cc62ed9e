"""The command `structured`: try it, report on a type, manage the cache."""
