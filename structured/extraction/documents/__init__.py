"""Documents: what is read as one, and the files and tables that they stand in."""
