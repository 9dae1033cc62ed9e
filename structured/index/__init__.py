"""The index: for each state of an automaton the tokens that may follow, as a mask over the vocabulary."""
