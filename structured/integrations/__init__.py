"""Other libraries' loops and engines."""
