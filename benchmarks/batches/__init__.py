"""Batches, measured: many documents, interrupted ones, long ones, and LangExtract beside this library."""
