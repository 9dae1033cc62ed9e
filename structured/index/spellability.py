"""The texts of an automaton that a vocabulary can spell, and the error where it can spell none of them.

Texts with a byte that is in no token are taken out of the automaton, so that its states are those of the texts that can
be written. Where a byte is only in longer tokens, no automaton over bytes says which texts can; there the index finds
out, a token at a time.
"""

from structured.automata import DEAD, ROW_COMPLETE, UNKNOWN, Automaton, RegularAutomaton
from structured.errors import VocabularyError
from structured.vocabulary import Vocabulary, bytes_text

MAX_SHOWN = 40
"""Bytes of a text that is shown in a message."""


def spelled_automaton(automaton: Automaton, vocabulary: Vocabulary, name: str) -> Automaton:
    """Return the automaton of those texts whose bytes are all in tokens. Raises VocabularyError if there are none."""
    if not vocabulary.is_closed and isinstance(automaton, RegularAutomaton) and automaton.remembers:
        raise VocabularyError(
            f"{name} cannot be written with this tokenizer: items must differ ('uniqueItems'), and not each of their "
            "bytes is a token. Allow items that are the same, or use a tokenizer that spells every text: one with a "
            "byte-level alphabet or with byte fallback."
        )
    if not vocabulary.absent_bytes:
        return automaton
    spelled = automaton.without_bytes(vocabulary.absent_bytes)
    if spelled is None:
        raise unwritable(automaton, vocabulary, name)
    return spelled


def unwritable(automaton: Automaton, vocabulary: Vocabulary, name: str, *, is_certain: bool = True) -> VocabularyError:
    """Return the error that says that no text of an automaton can be written, calling them by a name."""
    text = _shortest_text(automaton, vocabulary.absent_bytes)
    absent = vocabulary.absent_bytes.intersection(text)
    shown = repr(text[:MAX_SHOWN].decode(errors="replace")) + " …" * (len(text) > MAX_SHOWN)
    if absent:
        lack = f"each of its texts needs bytes that are in no token. The shortest, {shown}, needs {bytes_text(absent)}"
    elif is_certain:
        lack = f"no tokens spell any of its texts. The shortest is {shown}"
    else:
        lack = f"no tokens were found that spell one of its texts, after a long search. The shortest is {shown}"
    return VocabularyError(
        f"{name} cannot be written with this tokenizer: {lack}. Allow texts without them, or use a tokenizer that "
        "spells every text: one with a byte-level alphabet or with byte fallback."
    )


def _shortest_text(automaton: Automaton, absent: frozenset[int]) -> bytes:
    """Return the shortest text that an automaton accepts, without absent bytes where it can be."""
    order = sorted(range(256), key=lambda byte: (byte in absent, byte))
    text, state = bytearray(), automaton.start
    while not automaton.accepts(state):
        if automaton.table[state, ROW_COMPLETE] == UNKNOWN:
            automaton.expand(state)
        row, distances = automaton.table[state], automaton.distances
        left = int(distances[state])
        byte = next(byte for byte in order if row[byte] != DEAD and distances[row[byte]] < left)
        text.append(byte)
        state = int(row[byte])
    return bytes(text)
