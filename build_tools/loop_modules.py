"""The modules of loops that are compiled, and the module of Cython that they become."""

import hashlib
from pathlib import Path

from build_tools.translation import translate

ROOT = Path(__file__).parents[1]

MODULES = (
    "structured/vocabulary/trie.py",
    "structured/automata/loops/numbering.py",
    "structured/automata/loops/state_table.py",
    "structured/automata/loops/machine.py",
    "structured/automata/loops/quoting.py",
    "structured/automata/loops/frames.py",
    "structured/automata/loops/distinct_items.py",
    "structured/automata/loops/closure.py",
    "structured/automata/loops/transitions.py",
    "structured/automata/loops/states.py",
    "structured/automata/loops/string_runs.py",
    "structured/automata/loops/string_parts.py",
    "structured/automata/loops/replacement_states.py",
    "structured/automata/loops/state_walks.py",
    "structured/automata/loops/table_walks.py",
    "structured/automata/loops/assembly.py",
    "structured/automata/loops/shortest_lengths.py",
    "structured/automata/loops/lexer_tables.py",
    "structured/automata/loops/grammar_machine.py",
    "structured/automata/loops/stacks.py",
    "structured/automata/loops/configurations.py",
    "structured/automata/loops/grammar_states.py",
    "structured/automata/loops/token_walks.py",
    "structured/automata/dfa/minimisation.py",
    "structured/index/mask_loops.py",
    "structured/decoding/sampling.py",
)
"""The modules that are compiled, in the order of their imports."""

CONSTANTS = ("structured/automata/byte_automaton.py", "structured/automata/opcodes.py")
"""The modules whose integers these import."""


def source_digest(root: Path = ROOT) -> str:
    """Return a digest of all that the compiled module is made from: if it differs from `SOURCES`, that is older."""
    digest = hashlib.sha256()
    for name in (*CONSTANTS, *MODULES, "build_tools/translation.py"):
        digest.update(f"{name}\n{(root / name).read_text('utf-8')}\n".encode())
    return digest.hexdigest()


def cython_source(root: Path = ROOT, *, checks: bool = False) -> str:
    """Return the module of Cython; with `checks`, each index is compared with its bounds."""
    modules, constants = ([root / name for name in names] for names in (MODULES, CONSTANTS))
    return translate(modules, constants, source_digest(root), checks=checks)
