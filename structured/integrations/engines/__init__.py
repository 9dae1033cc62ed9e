"""What is the same inside any engine: a constraint as text, where an answer stands, and the masks of a batch."""
