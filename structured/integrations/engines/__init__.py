"""What is the same inside any engine: members of requests, where an answer stands, and the masks of a batch."""
