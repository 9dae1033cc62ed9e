"""Output types: whatever a user may ask for, with its automaton, its reader and its description."""
