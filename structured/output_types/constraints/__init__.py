"""Constraints: what an answer may be, in the words that servers take."""
