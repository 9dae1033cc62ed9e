"""Evaluation: answers beside the right ones, as figures with their intervals, tables and a page."""
