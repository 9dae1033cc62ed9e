"""Output types combined in sequence, as alternatives, repeated and restricted, judged part by part."""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from benchmarks.fuzz import support
from benchmarks.fuzz.cases import Trial
from benchmarks.fuzz.expressions import sampled, within
from benchmarks.fuzz.guided import Judge, drawn, near, never, read_texts, write_answers
from structured import Choice, Grammar, Json, JsonSchema, Regex, Repeat, template
from structured.output_types.output_type import OutputType, automaton_of

LONGEST = 60
"""Characters of a text that is judged: each part is tried on each stretch of it."""


@dataclass(frozen=True, slots=True)
class Part:
    """An output type with its judge: whether it may be some text; and a few texts that it may be, as it writes them."""

    type: OutputType[Any]
    shown: str
    accepts: Callable[[str], bool]
    texts: tuple[str, ...]
    is_regular: bool = True


def try_combination(trial: Trial) -> None:
    """Try a combination of this module, or one of the tests'."""
    rng = trial.case.random()
    if rng.random() < 0.3:
        one = drawn(support("combinations").combinations(), trial.case.seed)[-1]
        compiled = re.compile(one.expression)
        made = [sampled(compiled, rng) or "" for _ in range(12)]
        part = Part(one.type, one.type.name, lambda text: compiled.fullmatch(text) is not None, tuple(made))
    else:
        part = _part(rng, rng.choice((1, 2, 2, 3)))
    trial.shown = part.shown
    judge = _judge(part)
    automaton = automaton_of(part.type, None)
    texts = [*dict.fromkeys(part.texts)][:24]
    explain = never if part.is_regular else _spelled_otherwise(texts)
    read_texts(trial, automaton, ["", *texts, *near(texts, trial)], judge, explain)
    write_answers(trial, part.type, judge)


def _judge(part: Part) -> Judge:
    """Return the judge by a part; it does not tell where the text is long, or where telling takes long."""

    def judge(text: str) -> bool | None:
        try:
            with within(1.0):
                return part.accepts(text) if len(text) <= LONGEST else None
        except TimeoutError:
            return None

    return judge


def _spelled_otherwise(texts: list[str]) -> Callable[[str], str | None]:
    """Explain texts with edits: JSON in them may be spelled as nobody writes it."""
    return lambda text: None if text in texts else "edited: another spelling"


def _expression(rng: random.Random) -> Part:
    expression = rng.choice(
        ("a", "a*", "b|ab", "[ab]{1,2}", "(?:ab)*", "é?", "[^a]?", r"\d{1,3}", "(?=a)[ab]+", "[a-c]+")
    )
    compiled = re.compile(expression)
    texts = tuple(sampled(compiled, rng) or "" for _ in range(5))
    found = tuple(text for text in texts if compiled.fullmatch(text))
    return Part(Regex(expression), repr(expression), lambda text: compiled.fullmatch(text) is not None, found)


def _choice(rng: random.Random) -> Part:
    texts = tuple(rng.sample(("yes", "no", "a", "ab", "é🙂", " ", "none", '"', "1"), rng.randint(1, 3)))
    return Part(Choice(texts), f"Choice{texts}", lambda text: text in texts, texts)


def _json(rng: random.Random) -> Part:
    chosen: Any = rng.choice(
        (
            (int, ("0", "-5", "120")),
            (bool, ("true", "false")),
            (list[int], ("[]", "[1]", "[1, 20]")),
            (str, ('"a"', '""', '"é, b"')),
            (dict[str, bool], ("{}", '{"a": true}')),
            (float | None, ("null", "1.5", "0.0")),
        )
    )
    kind, texts = chosen
    adapter: TypeAdapter[Any] = TypeAdapter(kind)

    def accepts(text: str) -> bool:
        try:
            adapter.validate_json(text)
        except ValidationError:
            return False
        return True

    return Part(Json(kind), f"Json({kind})", accepts, texts, is_regular=False)


def _schema(rng: random.Random) -> Part:
    from benchmarks.fuzz.json_schemas import is_valid

    schema, texts = rng.choice(
        (
            ({"enum": [1, "a", None]}, ("1", '"a"', "null")),
            ({"type": "array", "items": {"const": 0}, "maxItems": 2}, ("[]", "[0]", "[0, 0]")),
            ({"type": "string", "pattern": "^[ab]+\\Z"}, ('"a"', '"ba"')),
        )
    )
    written = JsonSchema({**schema, "pattern": "^[ab]+$"} if "pattern" in schema else schema)
    return Part(Json(written), f"{schema}", lambda text: bool(is_valid(schema, text)), texts, is_regular=False)


def _grammar(rng: random.Random) -> Part:
    from lark import Lark
    from lark.exceptions import UnexpectedInput

    text, texts = rng.choice(
        (
            ('start: "(" start ")" | "a"', ("a", "(a)", "((a))")),
            ('start: N ("+" N)*\nN: /[0-9]+/', ("1", "1+20")),
            ('start: "x" start "y" | ', ("", "xy", "xxyy")),
        )
    )
    lark = Lark(text, parser="lalr", lexer="contextual")

    def accepts(text: str) -> bool:
        try:
            lark.parse(text)
        except UnexpectedInput:
            return False
        return True

    return Part(Grammar(text), text, accepts, texts)


def _gbnf(rng: random.Random) -> Part:
    pattern, text, texts = rng.choice(
        (
            ("a*b", 'root ::= "a" root | "b"', ("b", "aab")),
            ("[0-9]{2}(?:-[0-9]{2})?", 'root ::= d ("-" d)?\nd ::= [0-9]{2}', ("12", "12-34")),
        )
    )
    return Part(Grammar.from_gbnf(text), text, lambda given: re.fullmatch(pattern, given) is not None, texts)


_LEAVES = (_expression, _expression, _choice, _json, _schema, _grammar, _gbnf)


def _part(rng: random.Random, depth: int) -> Part:
    if depth == 0:
        return rng.choice(_LEAVES)(rng)
    left = _part(rng, depth - 1)
    match rng.randrange(6):
        case 0 | 1:
            return _sequence(left, rng.choice(("", "a", ": ", ",")), _part(rng, rng.randrange(depth)), rng)
        case 2:
            return _either(left, _part(rng, rng.randrange(depth)))
        case 3 | 4:
            return _repeated(left, rng)
    return _restricted(left, rng)


def _sequence(left: Part, middle: str, right: Part, rng: random.Random) -> Part:
    first, second = cache(left.accepts), cache(right.accepts)

    def accepts(text: str) -> bool:
        return any(
            text.startswith(middle, at) and first(text[:at]) and second(text[at + len(middle) :])
            for at in range(len(text) + 1)
        )

    made: Any = left.type + middle + right.type if middle else left.type + right.type
    if rng.random() < 0.3:
        made = template(f"{{one}}{middle}{{other}}", one=left.type, other=right.type)
    texts = tuple(f"{one}{middle}{other}" for one in left.texts[:4] for other in right.texts[:4])
    shown = f"({left.shown} + {middle!r} + {right.shown})"
    return Part(made, shown, accepts, texts, is_regular=left.is_regular and right.is_regular)


def _either(left: Part, right: Part) -> Part:
    return Part(
        left.type | right.type,
        f"({left.shown} | {right.shown})",
        lambda text: left.accepts(text) or right.accepts(text),
        left.texts + right.texts,
        is_regular=left.is_regular and right.is_regular,
    )


def _repeated(item: Part, rng: random.Random) -> Part:
    minimum, separator = rng.randrange(3), rng.choice((", ", ",", "\n", "ab"))
    maximum = rng.choice((None, minimum + rng.randint(0, 2)))
    one = cache(item.accepts)

    def accepts(text: str) -> bool:
        if not text and minimum == 0:
            return True
        places, count = {0}, 0  # where an item may begin
        while places and count <= len(text) + 1 and (maximum is None or count < maximum):
            ends = {end for start in places for end in range(start, len(text) + 1) if one(text[start:end])}
            count += 1
            if count >= minimum and len(text) in ends:
                return True
            places = {end + len(separator) for end in ends if text.startswith(separator, end)}
        return False

    counts = range(minimum, (minimum + 2 if maximum is None else maximum) + 1)
    texts = tuple(separator.join(rng.choices(item.texts, k=count)) for count in counts if item.texts)
    made = Repeat(item.type, minimum=minimum, maximum=maximum, separator=separator)
    shown = f"Repeat({item.shown}, {minimum}, {maximum}, {separator!r})"
    return Part(made, shown, accepts, texts, is_regular=item.is_regular)


def _restricted(base: Part, rng: random.Random) -> Part:
    rule = _choice(rng) if rng.random() < 0.3 else _expression(rng)
    wide = re.compile(r"[\s\S]*a[\s\S]*")
    if rng.random() < 0.5:
        rule = Part(Regex(wide.pattern), wide.pattern, lambda text: wide.fullmatch(text) is not None, ())
    is_included = rng.random() < 0.5
    texts = tuple(text for text in base.texts if rule.accepts(text) == is_included)
    return Part(
        base.type & rule.type if is_included else base.type - rule.type,
        f"({base.shown} {'&' if is_included else '-'} {rule.shown})",
        lambda text: base.accepts(text) and rule.accepts(text) == is_included,
        texts,
        is_regular=base.is_regular,
    )
