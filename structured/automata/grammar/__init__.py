"""Automata of context-free grammars: an exact lexer below, an LALR(1) parser above."""
