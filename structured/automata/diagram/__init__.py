"""Diagrams of automata: their states and arrows over characters, as a table, as DOT and as SVG."""

from structured.automata.diagram.dot import dot
from structured.automata.diagram.exploration import explore
from structured.automata.diagram.states import Arrow, Place, State, follow, text_to
from structured.automata.diagram.svg import svg
from structured.automata.diagram.table import table

__all__ = ["Arrow", "Place", "State", "dot", "explore", "follow", "svg", "table", "text_to"]
