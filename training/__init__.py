"""The making of the bundled model: invented documents, a tokenizer, training and evaluation."""
