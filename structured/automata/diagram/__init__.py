"""Diagrams of automata: their states and arrows over characters, as a table, as DOT and as Mermaid."""

from structured.automata.diagram.arrows import Arrow, Place, State, follow, text_to
from structured.automata.diagram.character_graph import explore
from structured.automata.diagram.notations import dot, mermaid, table

__all__ = ["Arrow", "Place", "State", "dot", "explore", "follow", "mermaid", "table", "text_to"]
