"""Schema documents: locations in them, drafts, and what references lead to."""
