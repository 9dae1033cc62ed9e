"""Combinations of schemas: conjunction, choice, complement, emptiness."""
