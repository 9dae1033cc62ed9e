"""What was learned about a type and a vocabulary, kept on disk for later processes."""

from structured.index.cache.disk import Clearing, DiskCache, cache_folder, default_cache
from structured.index.cache.entries import load_index, load_layout, save_index

__all__ = ["Clearing", "DiskCache", "cache_folder", "default_cache", "load_index", "load_layout", "save_index"]
