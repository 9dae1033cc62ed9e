r"""The keywords of strings, compiled to JSON strings (RFC 8259 §7).

`pattern`, `format` and their complements are rules about characters, and only the result is escaped for JSON. A single
pattern is used as it is; several, or one that does not imply the required length, become a product and then one
automaton. Lengths are counted in characters (validation §6.3): a surrogate pair is one character.

Without rules other than a length, a character may be written as itself or by an escape. Lone surrogates are left out,
although the grammar of RFC 8259 has them, because Pydantic rejects them.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from structured.automata.dfa.alphabet import ranges_by_state
from structured.automata.dfa.alternating import PatternLanguage
from structured.automata.dfa.character_automaton import character_counts, fewest_characters, most_characters
from structured.automata.dfa.language import smallest_automaton
from structured.automata.dfa.products import Intersection
from structured.errors import PatternError
from structured.errors.recursion import deep
from structured.json_schema.document.location import (
    InternalSchema,
    Location,
    PatternOf,
    Subschema,
    Subschemas,
    length_limits,
)
from structured.json_schema.strings.formats import COVERED_FORMATS, PYDANTIC_FORMATS, SPECIFIED_FORMATS
from structured.json_schema.strings.formats.alphabets import HEX, regex
from structured.json_schema.strings.typed_strings import dialect_of, pydantic_rules
from structured.regex import Pattern, Reference, alternation, char_set, concat, literal, nodes_of, repeat
from structured.regex.character_classes import ECMA
from structured.regex.character_sets import MAX_CODE_POINT, UNESCAPED_RANGES
from structured.regex.json_strings import escaped, escaped_set
from structured.regex.printing import excerpt
from structured.regex.regex_parser import regex_to_pattern
from structured.regex.syntax import (
    ANY_CHARACTER,
    ANY_TEXT,
    EMPTY,
    Alternation,
    Assertion,
    AutomatonPattern,
    Concat,
    Distinct,
    Iteration,
    ObjectMembers,
    Quotation,
    Unlike,
    words,
)
from structured.regex.traversal import right_linear

MAX_STATES = 4096
"""The most states of an unfolded automaton, times the characters that it counts."""


def inside_json_string(pattern: Pattern) -> Pattern:
    """Return the JSON texts of a pattern inside a JSON string. Raises PatternError where it cannot be unfolded."""
    return escaped(_unfolded(pattern, {}))


def _unfolded(pattern: Pattern, unfolded: dict[int, tuple[Pattern, Pattern]]) -> Pattern:
    """Return an equivalent pattern that has only literals, sets, repetitions and references."""
    if id(pattern) not in unfolded:
        unfolded[id(pattern)] = pattern, _new_unfolded(pattern, unfolded)
    return unfolded[id(pattern)][1]


@deep
def _new_unfolded(pattern: Pattern, unfolded: dict[int, tuple[Pattern, Pattern]]) -> Pattern:
    match pattern:
        case Concat(parts):
            return concat(*(_unfolded(part, unfolded) for part in parts))
        case Alternation(options):
            return alternation(*(_unfolded(option, unfolded) for option in options))
        case Iteration(item, minimum, maximum):
            return repeat(_unfolded(item, unfolded), minimum, maximum)
        case ObjectMembers():
            return _unfolded_members(pattern, unfolded)
        case Unlike(texts):
            return _unfolded_names(texts)
        case AutomatonPattern():
            return _unfolded_automaton(pattern)
        case Quotation():
            raise PatternError(
                "A quotation in JSON inside a string is unsupported",
                pattern=str(pattern),
                remedy="Leave the JSON inside the string without quotations.",
            )
        case Distinct():
            raise PatternError(
                "Arrays of different items in JSON inside a string are unsupported",
                pattern=excerpt(pattern),
                remedy="Allow equal items in the JSON inside the string.",
            )
        case Reference():
            return _unfolded_reference(pattern, unfolded)
    return pattern


def _unfolded_reference(pattern: Reference, unfolded: dict[int, tuple[Pattern, Pattern]]) -> Pattern:
    target = pattern.target
    if id(target) in unfolded and isinstance(unfolded[id(target)][1], Reference):
        return unfolded[id(target)][1]
    inner: dict[str, Pattern] = {}
    reference = Reference(pattern.name, inner)
    unfolded[id(target)] = target, reference  # for references inside the target
    inner[pattern.name] = _new_unfolded(target, unfolded)
    return reference


def _unfolded_members(pattern: ObjectMembers, unfolded: dict[int, tuple[Pattern, Pattern]]) -> Pattern:
    """Return the members in order, built from the last one: each with or without a separator before it."""
    separator = _unfolded(pattern.separator, unfolded)
    other = None if pattern.other_member is None else _unfolded(pattern.other_member, unfolded)
    more = EMPTY if other is None else repeat(concat(separator, other), 0, None)
    tail, first = more, None if other is None else concat(other, more)
    for member, is_required in reversed(pattern.members):
        inner = _unfolded(member, unfolded)
        alone, after_others = concat(inner, tail), concat(separator, inner, tail)
        first = alone if is_required or first is None else alternation(alone, first)
        tail = after_others if is_required else alternation(after_others, tail)
    return EMPTY if first is None else first


def _unfolded_names(texts: tuple[str, ...]) -> Pattern:
    """Return the inside of all strings but `texts`, which are given in JSON spelling."""
    if not texts:
        return repeat(CANONICAL_CHARACTER, 0, None)
    excluded = words(json.loads(f'"{text}"') for text in texts)
    automaton = smallest_automaton(Intersection((PatternLanguage(ANY_TEXT),), (PatternLanguage(excluded),)))
    assert automaton is not None
    return _unfolded_automaton(AutomatonPattern(automaton.arcs, automaton.accepting, most_characters(automaton)))


def _unfolded_automaton(node: AutomatonPattern) -> Pattern:
    """Return the inside of the strings that an automaton accepts, with a definition for each state and count."""
    longest = most_characters(node)
    counted = None if longest is not None and (node.most is None or longest <= node.most) else node.most
    if len(node.arcs) * (1 if counted is None else counted + 1) > MAX_STATES:
        raise PatternError(
            "A string in JSON inside a string has too many states",
            pattern=excerpt(node),
            remedy="Make it shorter, or drop the pattern.",
        )

    def arcs(reached: tuple[int, int | None]) -> Iterator[tuple[Pattern, tuple[int, int | None]]]:
        state, left = reached
        if left != 0:
            fewer = None if left is None else left - 1
            for target, ranges in ranges_by_state(node.arcs[state]).items():
                yield escaped_set(ranges), (target, fewer)

    pattern = right_linear((0, counted), arcs, lambda reached: reached[0] in node.accepting)
    assert pattern is not None
    return pattern


CHARACTER = regex(
    rf'{char_set(*UNESCAPED_RANGES)}|\\(?:["\\/bfnrt]|u(?:[0-9A-CE-Fa-ce-f]{HEX}{{3}}|[Dd][0-7]{HEX}{{2}}'
    rf"|[Dd][89ABab]{HEX}{{2}}\\u[Dd][C-Fc-f]{HEX}{{2}}))"
)
"""One character of a string: the same node in every string, so that automata share its states."""

CANONICAL_CHARACTER = escaped_set(((0, 0xD7FF), (0xE000, MAX_CODE_POINT)))
"""Any character of a string in the spelling of `json.dumps`."""


def _string_of(character: Pattern, minimum: int, maximum: int | None) -> Pattern:
    return concat(literal('"'), repeat(character, minimum, maximum), literal('"'))


_ANY_STRING = _string_of(CHARACTER, 0, None)
_ANY_CANONICAL_STRING = _string_of(CANONICAL_CHARACTER, 0, None)
_QUOTED: dict[int, tuple[Pattern, Pattern]] = {}

_FORMATS_WITHOUT_OTHER_TEXTS = ("ipv4", "ipv6", "uuid")
"""Formats whose patterns contain every valid text, both by the specification and for Pydantic."""


@dataclass(frozen=True, slots=True)
class StringRules:
    """The rules of a string: all patterns of `included`, none of `excluded`, a length from `minimum` to `maximum`.

    The patterns are of characters. Equal patterns are the same object.
    """

    included: tuple[Pattern, ...]
    excluded: tuple[Pattern, ...]
    minimum: int
    maximum: int | None


def string(schemas: Subschemas, location: Location, pattern_of: PatternOf) -> Pattern:
    """Return the JSON strings that satisfy all of some schemas (JSON Schema validation §6.3, §7.3)."""
    rules = string_rules_of(schemas)
    holders = [part for part in schemas if location.is_type and "contentSchema" in part.schema]
    content = [part.subschema("contentSchema") for part in holders]
    if content and rules != NO_RULES:
        raise location.refusal(
            "A JSON text inside a string cannot be combined with other rules",
            keyword="contentSchema",
            remedy="Drop them.",
        )
    if content:
        try:
            return concat(literal('"'), inside_json_string(pattern_of(content)), literal('"'))
        except PatternError as error:
            raise location.refusal(error.problem, keyword="contentSchema", remedy=error.remedy) from error
    if not rules.included and not rules.excluded:
        is_canonical = location.compilation.canonical_form is not None
        if rules == NO_RULES:
            return _ANY_CANONICAL_STRING if is_canonical else _ANY_STRING
        return _string_of(CANONICAL_CHARACTER if is_canonical else CHARACTER, rules.minimum, rules.maximum)
    return json_string(rules_to_pattern(rules, location))


def json_string(text: Pattern) -> Pattern:
    """Return the JSON strings of a pattern of characters, the same node for the same pattern."""
    if id(text) not in _QUOTED:
        if len(_QUOTED) >= _MAX_KEPT:
            _QUOTED.clear()
        _QUOTED[id(text)] = text, concat(literal('"'), escaped(text), literal('"'))
    return _QUOTED[id(text)][1]


_MAX_KEPT = 4096


def string_rules_of(schemas: Subschemas) -> StringRules:
    """Return the rules of some schemas about a string together."""
    required: list[Pattern] = []
    denied: list[Pattern] = []
    for part in schemas:
        if "pattern" in part.schema:
            required.append(_regex(part, "pattern"))
        if part.location.is_type:
            required += pydantic_rules(part)
        elif "format" in part.schema and is_asserted(part.location, part.schema["format"]):
            required.append(SPECIFIED_FORMATS[part.schema["format"]])
        if isinstance(part.schema, InternalSchema):
            if "not pattern" in part.schema:
                denied.append(_regex(part, "not pattern"))
            if "not format" in part.schema:
                denied.append(_denied_format(part))
            if "not enum" in part.schema:
                denied.append(_words(tuple(text for text in part.schema["not enum"] if isinstance(text, str))))
    included = {id(pattern): pattern for pattern in required if pattern is not ANY_TEXT}
    excluded = {id(pattern): pattern for pattern in denied}  # may be any text, which leaves none
    lengths = length_limits(schemas, "minLength", "maxLength")
    return StringRules(tuple(included.values()), tuple(excluded.values()), *lengths)


_words = lru_cache(maxsize=1024)(words)


def _regex(part: Subschema, keyword: str) -> Pattern:
    """Return the texts that contain a match of a regular expression; Pydantic uses Rust's dialect."""
    try:
        return regex_to_pattern(part.schema[keyword], dialect_of(part) if part.location.is_type else ECMA)
    except PatternError as error:
        raise part.location.refusal(error.problem, keyword="pattern", remedy=error.remedy) from error
    except RecursionError as error:
        raise part.location.refusal(
            "The groups are nested too deeply", keyword="pattern", remedy="Nest fewer."
        ) from error


def is_asserted(location: Location, name: object) -> bool:
    """Tell whether a format restricts anything.

    By the specification, formats that it does not name are annotations, and validators may treat all formats so
    (validation §7.2.1).
    """
    return location.is_type or (location.compilation.asserts_formats is not False and name in SPECIFIED_FORMATS)


def _denied_format(part: Subschema) -> Pattern:
    """Return all texts that may be of the format that a schema denies (JSON Schema validation §7.3)."""
    name, is_type = part.schema["not format"], part.location.is_type
    if not is_type and part.location.compilation.asserts_formats is None:
        raise part.location.refusal(
            f"Whether a text is not of the format {name!r} depends on whether a validator asserts formats: if it does "
            "not, every text is of that format",
            keyword="format",
            remedy="Allow a format instead of denying it (anyOf in place of oneOf), use a pattern in place of the "
            "format, or choose validators that assert formats with JsonSchema(..., assert_formats=True).",
        )
    patterns = PYDANTIC_FORMATS if is_type else COVERED_FORMATS
    if name not in (_FORMATS_WITHOUT_OTHER_TEXTS if is_type else COVERED_FORMATS):
        raise part.location.refusal(
            f"The format {name!r} cannot be denied exactly", keyword="format", remedy="Describe allowed texts instead."
        )
    return patterns[name]


def rules_to_pattern(rules: StringRules, location: Location) -> Pattern:
    """Return the pattern, of characters, of the texts that keep the rules."""
    if not rules.included and not rules.excluded:
        return ANY_TEXT if rules == NO_RULES else repeat(ANY_CHARACTER, rules.minimum, rules.maximum)
    nodes = [node for pattern in rules.included + rules.excluded for node in nodes_of(pattern)]
    is_alone = len(rules.included) == 1 and not rules.excluded
    if is_alone and not any(isinstance(node, Assertion) for node in nodes) and _has_length(rules.included[0], rules):
        return rules.included[0]
    if any(isinstance(node, Reference) for node in nodes):
        raise location.refusal(
            "A format that contains itself cannot be combined with other rules", keyword="format", remedy="Drop one."
        )
    return _automaton_of_rules(rules, location)


def _has_length(pattern: Pattern, rules: StringRules) -> bool:
    if rules.minimum == 0 and rules.maximum is None:
        return True
    fewest, most = character_counts(pattern)
    return fewest >= rules.minimum and (rules.maximum is None or (most is not None and most <= rules.maximum))


NO_RULES = StringRules((), (), 0, None)

_AUTOMATA: dict[tuple[object, ...], tuple[StringRules, AutomatonPattern | None]] = {}


def _automaton_of_rules(rules: StringRules, location: Location) -> AutomatonPattern:
    """Return the automaton of the texts that keep the rules, the same node for the same rules."""
    key = (*map(id, rules.included), None, *map(id, rules.excluded), rules.minimum, rules.maximum)
    if key not in _AUTOMATA:
        if len(_AUTOMATA) >= _MAX_KEPT:
            _AUTOMATA.clear()
        try:
            _AUTOMATA[key] = rules, _new_automaton_of_rules(rules, location)
        except PatternError as error:
            raise location.refusal(error.problem, keyword="pattern", remedy=error.remedy) from error
    automaton = _AUTOMATA[key][1]
    if automaton is None:
        raise location.unsatisfiable("no text keeps all the rules", keyword="pattern")
    return automaton


def _new_automaton_of_rules(rules: StringRules, location: Location) -> AutomatonPattern | None:
    included = tuple(_language(pattern, location) for pattern in rules.included)
    excluded = tuple(_language(pattern, location) for pattern in rules.excluded)
    printed = rules.included
    is_alone = len(included) == 1 and not excluded
    automaton = smallest_automaton(included[0] if is_alone else Intersection(included, excluded))
    if automaton is not None and fewest_characters(automaton) < rules.minimum:
        at_least = _texts_of_at_least(rules.minimum)
        printed = (*printed, at_least)
        shorter = PatternLanguage(AutomatonPattern(automaton.arcs, automaton.accepting, None))
        automaton = smallest_automaton(Intersection((shorter, _language(at_least, location))))
    if automaton is None or (rules.maximum is not None and fewest_characters(automaton) > rules.maximum):
        return None
    longest = most_characters(automaton)
    most = None if longest is not None and (rules.maximum is None or longest <= rules.maximum) else rules.maximum
    required, denied = (tuple(map(escaped, patterns)) for patterns in (printed, rules.excluded))
    return AutomatonPattern(automaton.arcs, automaton.accepting, most, required, denied)


def _language(pattern: Pattern, location: Location) -> PatternLanguage:
    """Return the language of a pattern, the same object in one compilation, so that its states are explored once."""
    return location.compilation.cached(("language", id(pattern)), lambda: PatternLanguage(pattern), keep=pattern)


@lru_cache(maxsize=256)
def _texts_of_at_least(characters: int) -> Pattern:
    """Return the texts of at least `characters` characters, the same node each time."""
    return concat(repeat(ANY_CHARACTER, characters, characters), ANY_TEXT)
