"""The review page: extractions beside their documents, for a person who accepts, corrects or rejects each value."""
