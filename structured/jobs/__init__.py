"""Jobs over many results: evaluation, the review page and flat tables."""
