"""What a batch leaves on disk: a record for each document, so that an interrupted run can be resumed."""
