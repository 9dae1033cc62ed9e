"""Jobs: what is done with many documents and their extractions."""
