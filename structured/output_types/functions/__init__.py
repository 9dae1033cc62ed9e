"""Functions as output types: which of some functions to call, with which arguments."""
