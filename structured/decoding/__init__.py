"""Decoding: sampling texts from a model under masks."""
