"""The build: loops are translated to Cython, and compiled."""
