"""The string keywords, formats among them."""
