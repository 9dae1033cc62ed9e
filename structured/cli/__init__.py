"""The `structured` command."""
