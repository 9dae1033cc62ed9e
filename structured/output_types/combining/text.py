"""Free text with rules: texts that it contains or lacks, its length, and its stop phrases."""

from collections.abc import Mapping, Sequence
from typing import Any

from structured.automata import Automaton, RegularAutomaton
from structured.automata.combination import InSequence, combined
from structured.automata.product import EmptyProductError, complement, named_errors, product
from structured.errors import SchemaError, UnsatisfiableError
from structured.errors.arguments import MAX_COUNT
from structured.errors.values import described, shown
from structured.output_types.output_type import Description, OutputType
from structured.regex import Pattern, concat, repeat, words
from structured.regex.character_classes import PYTHON
from structured.regex.regex_parser import whole_regex_to_pattern
from structured.regex.syntax import ANY_CHARACTER, ANY_TEXT

Phrases = str | Sequence[str]
"""One text, or several."""

CountRange = tuple[int | None, int | None]
"""The fewest and the most; None for no limit."""


class Text(OutputType[str]):
    r"""Free text, with rules if any are given.

    >>> from structured import Text
    >>> Text(stop="\n").parse("Dear Ana,\n")
    'Dear Ana,'
    >>> Text(contains="Ana", words=(2, 4)).parse("Dear old Ana")
    'Dear old Ana'

    Lengths are in characters or words, since a text tells how many it has: how many tokens it is depends on the model,
    and on how that chooses to spell it. `max_tokens` limits the tokens of a whole answer.
    """

    def __init__(  # noqa: PLR0913  the rules
        self,
        *,
        contains: Phrases = (),
        lacks: Phrases = (),
        characters: CountRange = (0, None),
        words: CountRange = (0, None),
        stop: Phrases = (),
        keep_stop: bool = False,
    ) -> None:
        r"""Take the rules, which hold for the value, without the stop phrase.

        Parameters:
            contains: One or several texts that it must contain, in any order; they may overlap.
            lacks: One or several texts that it must not contain.
            characters: The fewest and the most characters (code points); None for no limit.
            words: The fewest and the most words, as `str.split` counts them.
            stop: Stop phrases: the answer ends with the first of them that is written, and has one. Without any, the
                answer ends where the model ends it.
            keep_stop: Whether the value ends with the stop phrase.

        Raises:
            SchemaError: A rule is none, or a stop phrase has another within it, so that it is never the first.
        """
        self.contains = _to_phrases("contains", contains)
        self.lacks = _to_phrases("lacks", lacks)
        self.characters = _to_count_range("characters", characters)
        self.words = _to_count_range("words", words)
        self.stop = _to_phrases("stop", stop)
        self.keep_stop = keep_stop
        for phrase in self.stop:
            inner_phrases = [other for other in self.stop if other != phrase and other in phrase]
            if inner_phrases:
                raise SchemaError(
                    f"The stop phrase {phrase!r} is never the first: {inner_phrases[0]!r} is within it",
                    remedy="Leave out the longer one.",
                )
        rules = {name: value for name, value in self._rules().items() if value not in ((), (0, None), False)}
        plain = {key: rule[0] if isinstance(rule, tuple) and len(rule) == 1 else rule for key, rule in rules.items()}
        self.name = f"Text({', '.join(f'{name}={rule!r}' for name, rule in plain.items())})"

    def __repr__(self) -> str:
        return self.name

    def _rules(self) -> dict[str, Any]:
        names = ("contains", "lacks", "characters", "words", "stop", "keep_stop")
        return {name: getattr(self, name) for name in names}

    @property
    def value_schema(self) -> Mapping[str, Any]:
        """The schema of a string."""
        return {"type": "string"}

    @property
    def how_to_limit(self) -> str:
        """The rules for lengths and the stop phrase, unless a length is limited."""
        if self.characters[1] is not None:
            return ""
        words = " or words=(0, 50)" if self.words[1] is None else ""
        stop = "" if self.stop else ", or end it with a stop phrase, such as stop='\\n'"
        return f"Limit the text, with characters=(0, 280){words}{stop}."

    def automaton(self, document: str | None = None) -> Automaton:  # noqa: ARG002  the same for each document
        """Return the automaton of the texts. Raises UnsatisfiableError if there are none."""
        with named_errors(self.name):
            return self._product()

    def _product(self) -> Automaton:
        rules = [] if self.characters == (0, None) else [repeat(ANY_CHARACTER, *self.characters)]
        rules += [*self._word_count_rules(), *(_containing([phrase]) for phrase in self.contains)]
        rules += [complement(_containing(self.lacks))] if self.lacks else []
        try:
            return self._with_stop_phrase(product(list(map(RegularAutomaton, rules or [ANY_TEXT]))))
        except EmptyProductError:
            raise UnsatisfiableError(f"No text is of {self.name}", remedy="Loosen one of its rules.") from None

    def _with_stop_phrase(self, value: Automaton) -> Automaton:
        """Return the automaton of values that end with the first stop phrase in them."""
        if not self.stop:
            return value
        ended = combined(InSequence((value, RegularAutomaton(words(self.stop)))))
        too_late = concat(ANY_TEXT, words(self.stop), repeat(ANY_CHARACTER, 1, None))
        return product([ended, RegularAutomaton(complement(too_late))])

    def _word_count_rules(self) -> list[Pattern]:
        fewest, most = self.words
        if self.words == (0, None):
            return []
        more = f"{{{max(fewest - 1, 0)},{'' if most is None else max(most - 1, 0)}}}"
        some = rf"\S+(?:\s+\S+){more}\s*"
        expression = r"\s*" if most == 0 else rf"\s*{some}" if fewest else rf"\s*(?:{some})?"
        return [whole_regex_to_pattern(expression, PYTHON)]

    def parse(self, text: str) -> str:
        """Return the text, without the stop phrase unless that is kept. Raises ValueError if it breaks a rule."""
        if not self._recogniser.accepts(text):
            raise ValueError(f"{shown(text)} is no text of {self.name}")
        phrases = () if self.keep_stop else self.stop  # none has another within it
        return next((text.removesuffix(phrase) for phrase in phrases if text.endswith(phrase)), text)

    def write(self, value: Any) -> str:
        """Return the text that means a value. Raises ValueError if there is none."""
        if not isinstance(value, str):
            raise ValueError(f"{described(value)} is not a str")  # noqa: TRY004  a value of another type
        if not self.stop or self.keep_stop:
            self.parse(value)
            return value
        for text in (value + phrase for phrase in self.stop):
            if self._recogniser.accepts(text):
                return text
        raise ValueError(f"{shown(value)} is no value of {self.name}")

    def describe(self) -> Description:
        """Return the rules as a description."""
        rules = "\n".join(self._describe_rules()) or "any text"
        return Description("Text", rules, answer="Text", task="Write what is asked for, and nothing else.")

    def _describe_rules(self) -> list[str]:
        rules = [f"contains {phrase!r}" for phrase in self.contains]
        rules += [f"does not contain {phrase!r}" for phrase in self.lacks]
        for noun, (fewest, most) in (("characters", self.characters), ("words", self.words)):
            if (fewest, most) != (0, None):
                rules.append(f"{fewest:,} {noun} or more" if most is None else f"{fewest:,} to {most:,} {noun}")
        return rules + ([f"ends with {' or '.join(map(repr, self.stop))}"] if self.stop else [])

    def _facts(self) -> tuple[object, ...]:
        return "text", self._rules()


def _containing(phrases: Sequence[str]) -> Pattern:
    return concat(ANY_TEXT, words(phrases), ANY_TEXT)


def _to_phrases(name: str, value: object) -> tuple[str, ...]:
    """Return phrases. Raises SchemaError if they are no texts, or empty."""
    phrases = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Sequence) else (value,)
    for phrase in phrases:
        if not isinstance(phrase, str) or not phrase:
            raise SchemaError(f"{name} has {described(phrase)}", remedy="Give a text, or a list of them.")
    if phrases:
        words(phrases)  # raises PatternError for what is no character
    return phrases


def _to_count_range(name: str, value: object) -> tuple[int, int | None]:
    """Return a range of counts. Raises SchemaError if it is none."""
    problem = f"{name} is {described(value)}"
    match value:
        case (int() | None as least, int() | None as most) if (fewest := least or 0) >= 0:
            if max(fewest, most or 0) > MAX_COUNT:
                problem = f"{problem}: {MAX_COUNT:,} is the most that there may be"
            elif most is None or most >= fewest:
                return fewest, most
            else:
                problem = f"{problem}: {fewest} is more than {most}"
    raise SchemaError(problem, remedy="Give the fewest and the most, such as (0, 280); None for no limit.")
