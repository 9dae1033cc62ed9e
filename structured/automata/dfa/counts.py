"""The characters of the shortest and of the longest text of a pattern or automaton."""

from structured.automata.dfa.automaton import Automaton, distances, longest_paths
from structured.regex.syntax import Alternation, CharSet, Concat, Literal, Pattern, Repeat, Scan, Words


def fewest_characters(automaton: Automaton | Scan) -> int:
    """Return the characters of the shortest text."""
    return distances(_targets(automaton), automaton.accepting)[0]


def most_characters(automaton: Automaton | Scan) -> int | None:
    """Return the characters of the longest text; None if there is no longest."""
    return longest_paths(dict(enumerate(_targets(automaton)))).get(0)


def _targets(automaton: Automaton | Scan) -> list[set[int]]:
    return [{target for _, _, target in arcs} for arcs in automaton.arcs]


def character_counts(pattern: Pattern) -> tuple[int, int | None]:
    """Return the fewest and the most characters of a pattern of characters; None where there is no most."""
    match pattern:
        case Literal(text):
            return len(text), len(text)
        case Words(texts):
            return min(map(len, texts)), max(map(len, texts))
        case CharSet():
            return 1, 1
        case Repeat(item, minimum, maximum):
            fewest, most = character_counts(item)
            return fewest * minimum, 0 if most == 0 else None if most is None or maximum is None else most * maximum
        case Concat(parts):
            counts = [character_counts(part) for part in parts]
            most_of_all = [most for _, most in counts if most is not None]
            return sum(fewest for fewest, _ in counts), sum(most_of_all) if len(most_of_all) == len(counts) else None
        case Alternation(options):
            counts = [character_counts(option) for option in options]
            most_of_all = [most for _, most in counts if most is not None]
            return min(fewest for fewest, _ in counts), max(most_of_all) if len(most_of_all) == len(counts) else None
        case Scan():
            return fewest_characters(pattern), pattern.most
    return 0, None
