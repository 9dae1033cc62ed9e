"""The files of the tables of the grammars that ship: `python -m build_tools.grammar_tables` writes them."""

from pathlib import Path
from typing import get_args

from structured.automata.grammar.written_tables import tables_to_bytes
from structured.output_types.grammar import Grammar, ShippedName

FOLDER = Path(__file__).parents[1] / "structured" / "output_types" / "grammars"


def main() -> None:
    """Write all files."""
    for name in get_args(ShippedName):
        grammar = Grammar.named(name)
        (FOLDER / f"{name}.tables").write_bytes(tables_to_bytes(grammar.grammar, grammar._read[1]))  # noqa: SLF001


if __name__ == "__main__":
    main()
