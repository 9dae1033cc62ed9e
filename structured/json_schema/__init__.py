"""JSON Schemas, compiled into regular expressions of the JSON texts that they allow."""
