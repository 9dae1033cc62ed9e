"""Schema documents: places in them, drafts, and what references lead to."""
