"""Models behind servers: the constraint is sent along in the form that each server documents, and a text comes back."""
