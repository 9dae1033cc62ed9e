"""Regular expressions: texts that one matches as a whole, as output types, and the one that a type has."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar, overload

from structured.automata import RegularAutomaton
from structured.automata.dfa.assertion_removal import matched_texts
from structured.errors import PatternError, SchemaError
from structured.errors.arguments import check_takes, one_of
from structured.errors.recursion import deep
from structured.errors.values import described, shortened
from structured.json_schema.document.location import Location
from structured.json_schema.schema_compiler import ANY_VALUE, compiled
from structured.output_types.json_output import JsonLayout, JsonOutput
from structured.output_types.output_type import Description, OutputType, automaton_of
from structured.output_types.resolve import resolve_json, resolve_type
from structured.regex import AutomatonPattern, Distinct, Pattern, Reference, nodes_of, printed
from structured.regex.character_classes import ECMA, PYTHON, RUST
from structured.regex.class_parser import Flags
from structured.regex.printing import MAX_PRINTED
from structured.regex.regex_parser import whole_regex_to_pattern
from structured.regex.syntax import Iteration, Lookbehind

T = TypeVar("T")

DialectName = Literal["python", "rust", "ecma"]

_DIALECTS = {"python": PYTHON, "rust": RUST, "ecma": ECMA}

_SUPPORTED_FLAGS = re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE | re.ASCII | re.UNICODE | re.DEBUG

TASK = (
    "Find what the text states, and answer with it alone, written so that this regular expression matches the whole "
    "answer."
)

MAX_SHOWN_CHARACTERS = 60
"""Characters of an expression that its name has."""


class Regex(OutputType[T], Generic[T]):
    r"""The texts that a regular expression matches as a whole, as `re.fullmatch` does.

    >>> Regex(r"\d{4}")
    Regex('\\d{4}')
    >>> Regex(r"\d{4}", int).parse("2024")
    2024
    >>> Regex(r"(?P<day>\d+)\.(?P<month>\d+)\.", groups=dict).parse("24.12.")
    {'day': '24', 'month': '12'}

    What `re` accepts and is a regular language is supported: flags, lookahead and lookbehind, word boundaries, atomic
    groups and possessive quantifiers.
    """

    @overload
    def __init__(
        self: "Regex[str]", pattern: "str | re.Pattern[str]", *, flags: int = 0, dialect: DialectName = "python"
    ) -> None: ...
    @overload
    def __init__(
        self,
        pattern: "str | re.Pattern[str]",
        convert: Callable[[str], T],
        *,
        flags: int = 0,
        dialect: DialectName = "python",
    ) -> None: ...
    @overload
    def __init__(
        self: "Regex[dict[str, str | None]]",
        pattern: "str | re.Pattern[str]",
        *,
        groups: type[dict[Any, Any]],
        flags: int = 0,
    ) -> None: ...
    @overload
    def __init__(self, pattern: "str | re.Pattern[str]", *, groups: Callable[..., T], flags: int = 0) -> None: ...
    def __init__(
        self,
        pattern: "str | re.Pattern[str]",
        convert: Callable[[str], Any] | None = None,
        *,
        groups: Callable[..., Any] | None = None,
        flags: int = 0,
        dialect: DialectName = "python",
    ) -> None:
        r"""Read a regular expression.

        Parameters:
            pattern: The expression, or a compiled one with its flags.
            convert: What makes a value of the text, such as `int`. Whatever it raises rejects the answer, which is
                asked for again. Without it, the value is the text.
            groups: What makes a value of the named groups, which it gets by their names: `dict`, a named tuple, a
                dataclass, a Pydantic model, a function. A group that is not in the match is None.
            flags: As for `re.compile`: `re.IGNORECASE | re.VERBOSE`, say.
            dialect: Whose expression it is: `"python"`, `"rust"` (as in the fields of Pydantic) or `"ecma"` (as in
                JSON Schema). Flags and groups are for Python's.

        Raises:
            PatternError: It is no regular expression, or no regular language, or no text matches it. The place is
                marked.
            TypeError: The arguments do not fit together, or `groups` cannot be called with the names of the groups.
        """
        one_of(tuple(_DIALECTS))("dialect", dialect)
        if isinstance(pattern, re.Pattern):
            if flags:
                raise TypeError("A compiled pattern has its flags. Give them to re.compile.")
            flags = pattern.flags
            pattern = pattern.pattern
        if not isinstance(pattern, str):
            raise TypeError(f"pattern is {described(pattern)}. Give a regular expression for str.")
        for name, function in (("convert", convert), ("groups", groups)):
            if function is not None and not callable(function):
                raise TypeError(f"{name} is {described(function)}. Give a function or a type, such as int.")
        if convert is not None and groups is not None:
            raise TypeError("convert takes the text and groups the groups in it. Give one of them.")
        if dialect != "python" and (flags or groups is not None):
            raise TypeError("flags and groups are for Python's dialect. Write flags into the pattern, as (?i).")
        if flags & ~_SUPPORTED_FLAGS:
            raise TypeError(f"flags has {re.RegexFlag(flags & ~_SUPPORTED_FLAGS)!r}, which is not for str.")
        self.source = pattern
        """The regular expression."""
        self.flags = re.RegexFlag(flags) & ~(re.UNICODE | re.DEBUG)
        self.dialect = dialect
        self.convert = convert
        self.groups = groups
        letters = (re.IGNORECASE, re.MULTILINE, re.DOTALL, re.VERBOSE, re.ASCII)
        parsed_flags = Flags(*(bool(self.flags & letter) for letter in letters))
        self.whole_pattern = whole_regex_to_pattern(pattern, _DIALECTS[dialect], parsed_flags)
        if groups is not None:
            _check_groups(groups, pattern, self.flags)
        self.name = f"Regex({shortened(pattern, MAX_SHOWN_CHARACTERS)!r})"
        self.validators = tuple([_name_of(function) for function in (convert, groups) if function is not None])

    def __repr__(self) -> str:
        arguments = [repr(self.source)]
        if self.convert is not None:
            arguments.append(_name_of(self.convert))
        if self.groups is not None:
            arguments.append(f"groups={_name_of(self.groups)}")
        if self.flags:
            arguments.append(f"flags={self.flags!r}")
        if self.dialect != "python":
            arguments.append(f"dialect={self.dialect!r}")
        return f"Regex({', '.join(arguments)})"

    @property
    def value_schema(self) -> Mapping[str, Any] | None:
        """The schema of a string, unless the text is converted."""
        return {"type": "string"} if self.convert is None and self.groups is None else None

    @cached_property
    def pattern(self) -> Pattern:
        """The texts. Raises PatternError if there are none, or their automaton is too large."""
        return matched_texts(self.whole_pattern, self.source)

    @property
    def how_to_limit(self) -> str:
        """Quantifiers with a limit; an empty text if all of them have one."""
        unlimited = any(isinstance(node, Iteration) and node.maximum is None for node in nodes_of(self.pattern))
        return "Limit what is repeated: {0,100} in place of *." if unlimited else ""

    def automaton(self, document: str | None = None) -> RegularAutomaton:  # noqa: ARG002  the same for each document
        """Return the automaton of the texts."""
        return RegularAutomaton(self.pattern)

    def parse(self, text: str) -> T:
        """Return the value of a text. Raises ValueError if the expression does not match it, or it is rejected."""
        if not self._recogniser.accepts(text):
            raise ValueError(f"{shortened(text, MAX_SHOWN_CHARACTERS)!r} is not matched by {self.name} as a whole")
        value: Any = text
        if self.groups is not None:
            match = re.fullmatch(self.source, text, self.flags)
            assert match is not None, "the automaton accepts what re.fullmatch does"
            value = self.groups(**match.groupdict())
        elif self.convert is not None:
            value = self.convert(text)
        return value  # type: ignore[no-any-return]

    def describe(self) -> Description:
        """Return the expression, as the model is shown it."""
        flags = "".join(letter for letter in "imsxa" if self.flags & re.RegexFlag[letter.upper()])
        expression = f"(?{flags}){self.source}" if flags else self.source
        return Description("Regular expression", expression, answer="Match", task=TASK)

    def _facts(self) -> tuple[object, ...]:
        return "regex", self.source, int(self.flags), self.dialect

    def write(self, value: Any) -> str:
        """Return the text that means a value: a text as it is, anything else as `str` writes it."""
        if self.groups is not None and not isinstance(value, str):
            raise ValueError("groups do not tell the text between them: give the whole text")
        text = value if isinstance(value, str) else str(value)
        if self.convert is not None and not self._recogniser.accepts(text):
            raise ValueError(f"{text!r} is not matched by {self.name}: give the text itself, not what it becomes")
        if self.parse(text) != value and text is not value:
            raise ValueError(f"{described(value)} is not what {text!r} is read as: give the text itself")
        return text


def _check_groups(groups: Callable[..., Any], pattern: str, flags: int) -> None:
    """Raise PatternError if no group has a name, and TypeError if a function does not take those that there are."""
    names = re.compile(pattern, flags).groupindex
    if not names:
        raise PatternError(
            "groups is given, and no group has a name", pattern=pattern, remedy="Name them: (?P<year>[0-9]{4})."
        )
    check_takes("groups", groups, names)


def _name_of(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", repr(function)))


@deep
def to_regex(output_type: object, *, layout: JsonLayout | None = None) -> str:
    r"""Return the regular expression that every answer of a type matches.

    >>> from structured import to_regex
    >>> to_regex(list[bool])
    '\\[(?:(?:true|false)(?:, (?:true|false))*)?\\]'

    Parameters:
        output_type: As for `extract`, unless the type contains itself; also a `Regex`, a `Choice`, and many of their
            combinations.
        layout: The whitespace between JSON tokens, and which optional properties are written; see `JsonLayout`.

    Returns:
        A pattern for `re.fullmatch`. Pydantic accepts each text that it matches, unless a validator of yours rejects
        it.

    Raises:
        SchemaError: It is not a type, contains itself, has a rule that the pattern cannot express exactly, is no
            regular language, such as a `Grammar`, or is a combination that is known by its automaton alone.
    """
    resolved = resolve_type(output_type, layout=layout)
    has_own_automaton = not (isinstance(resolved, JsonOutput) or resolved.depends_on_document)
    automaton = automaton_of(resolved, None) if has_own_automaton else None
    if isinstance(resolved, Regex) and resolved.dialect == "python" and not resolved.flags:
        return resolved.source
    if isinstance(automaton, RegularAutomaton):
        if any(isinstance(node, Reference) for node in nodes_of(automaton.pattern)):
            raise SchemaError(
                f"The parts of {resolved.name} refer to each other, and are not printed", remedy=_NOT_PRINTABLE_REMEDY
            )
        return _print_expression(automaton.pattern, resolved.name, [])
    compilation = resolve_json(output_type, layout).compilation()
    return _print_expression(compiled(compilation), resolved.name, compilation.recursive_references)


def _print_expression(pattern: Pattern, type_name: str, references: Sequence[tuple[Reference, Location]]) -> str:
    """Return the text of a pattern, whose references lead to some locations. Raises SchemaError if it has none."""
    nodes = nodes_of(pattern)
    scans = [node for node in nodes if isinstance(node, AutomatonPattern)]
    patterns_in_strings = [node for scan in scans for part in scan.included + scan.excluded for node in nodes_of(part)]
    names = sorted({node.name for node in nodes if isinstance(node, Reference)})
    if names:
        raise _recursion_error(names, type_name, references)
    text, keyword = None, None
    problem = "The regular expression has more than {:,} pieces or {:,} characters".format(*MAX_PRINTED)
    if any(isinstance(node, Distinct) for node in nodes):
        problem, keyword = "That any number of items differ cannot be said by a regular expression", "uniqueItems"
    elif any(isinstance(node, Lookbehind) for node in patterns_in_strings):
        problem = "Lookbehind, as in (?<=…) and (?m)^, cannot be expressed inside JSON by a regular expression"
        keyword = "pattern"
    elif any(not (scan.included or scan.excluded) and scan.expression is None for scan in scans):
        problem, keyword = "The multiples of a number take too long a regular expression", "multipleOf"
    else:
        text = printed(pattern)
    if text is None:
        raise SchemaError(problem, keyword=keyword, remedy=_NOT_PRINTABLE_REMEDY)
    return text


def _recursion_error(
    names: Sequence[str], type_name: str, references: Sequence[tuple[Reference, Location]]
) -> SchemaError:
    """Return the error of a pattern in which some names refer to what is around them."""
    location = next((location for reference, location in references if reference.name in names), None)
    subject = f"The pattern of {type_name}" if location is None else str([type_name, *location.keys][-1])
    problem = f"{subject} contains itself, and no regular expression can"
    if location is None and ANY_VALUE in names:
        problem = "A value of any type may hold others, to any depth, which no regular expression can say"
    pointer = "" if location is None else location.pointer
    return SchemaError(problem, schema_path=pointer, remedy=_NOT_PRINTABLE_REMEDY)


_NOT_PRINTABLE_REMEDY = "Extract it as it is: only the regular expression is missing, and nothing else needs it."
