"""What was learned about a type and a vocabulary, kept on disk for later processes."""

from structured.index.cache.disk import Clearing, DiskCache, default_cache
from structured.index.cache.entries import load_index, load_layout, save_index

__all__ = ["Clearing", "DiskCache", "default_cache", "load_index", "load_layout", "load_tables", "save_index"]
