"""Training data from public repositories: what others wrote, and the right answers that others gave.

Each module reads one kind of source from a cloned repository, and `mixture.py` writes samples of them all. Nothing of
the data is kept in the project.
"""
