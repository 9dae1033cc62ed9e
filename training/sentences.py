"""Sentences made of a subject and statements, by patterns that join one to three of them.

Patterns come in families; a whole family is either in training or kept from it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from training.inflection import Subject, conjugated, participial, sentence_case
from training.scene import Scene
from training.splits import by_split
from training.statements import Statement

Pattern = Callable[[Scene, Subject, str, Sequence[Statement]], str]


def _and(_scene: Scene, subject: Subject, name: str, said: Sequence[Statement]) -> str:
    texts = [conjugated(one.predicate, subject) for one in said]
    return f"{name} {', '.join(texts[:-1])} and {texts[-1]}" if len(texts) > 1 else f"{name} {texts[0]}"


def _relative(scene: Scene, subject: Subject, name: str, said: Sequence[Statement]) -> str:
    if not subject.is_third or name == subject.pronoun:
        return _and(scene, subject, name, said)
    return f"{name}, {subject.relative} {said[0].predicate}, {said[1].predicate}"


def _participle(scene: Scene, subject: Subject, name: str, said: Sequence[Statement]) -> str:
    fronted = participial(said[0].predicate)
    if not fronted:
        return _semicolon(scene, subject, name, said)
    return f"{fronted}, {name} {conjugated(said[1].predicate, subject)}"


def _behind(scene: Scene, subject: Subject, name: str, said: Sequence[Statement]) -> str:
    reduced = participial(said[0].predicate)
    if not reduced or name == subject.pronoun:
        return _and(scene, subject, name, said)
    return f"{name}, {reduced}, {conjugated(said[1].predicate, subject)}"


def _semicolon(scene: Scene, subject: Subject, name: str, said: Sequence[Statement]) -> str:
    again = conjugated(said[1].predicate, subject)
    mark = scene.pick((";", ",", " –", "."))
    joint = f"{mark} {subject.pronoun if mark != '.' or subject.pronoun == 'I' else sentence_case(subject.pronoun)}"
    joint = f" and {subject.pronoun}" if mark == "," else joint
    return f"{name} {conjugated(said[0].predicate, subject)}{joint} {again}"


def _but(scene: Scene, subject: Subject, name: str, said: Sequence[Statement]) -> str:
    first, second = (conjugated(one.predicate, subject) for one in said)
    return f"{name} {first}{scene.pick((', but ', ', and it is worth noting that ' + subject.pronoun + ' '))}{second}"


def _also(_scene: Scene, subject: Subject, name: str, said: Sequence[Statement]) -> str:
    first, second = (conjugated(one.predicate, subject) for one in said)
    verb, _, rest = second.partition(" ")
    also = f"{verb} also {rest}" if verb in ("is", "was", "are", "were", "am", "can", "will") else f"also {second}"
    return f"{name} {first}. {sentence_case(subject.pronoun)} {also}"


def _with(scene: Scene, subject: Subject, name: str, said: Sequence[Statement]) -> str:
    if not said[0].noun or "person" in subject.short or subject.pronoun != "it":
        return _and(scene, subject, name, said)
    return f"with {said[0].noun}, {name} {conjugated(said[1].predicate, subject)}"


def _parenthesis(_scene: Scene, subject: Subject, name: str, said: Sequence[Statement]) -> str:
    return f"{name} {conjugated(said[0].predicate, subject)} ({said[1].fragment})"


def _apposed(scene: Scene, subject: Subject, name: str, said: Sequence[Statement]) -> str:
    if name == subject.pronoun or not subject.is_third or "," in said[0].fragment:
        return _and(scene, subject, name, said)
    return f"{name.rstrip(',')}, {said[0].fragment}, {conjugated(said[1].predicate, subject)}"


def _dash(scene: Scene, subject: Subject, name: str, said: Sequence[Statement]) -> str:
    return f"{name} {conjugated(said[0].predicate, subject)}{scene.pick((' – ', '; ', ' -- '))}{said[1].fragment}"


_SAYERS = (
    "As far as I know,",
    "As you know,",
    "Apparently",
    "By the way,",
    "As agreed,",
    "Please note that",
    "Also,",
    "For the record,",
    "According to my notes,",
    "I can confirm that",
    "It seems that",
    "In addition,",
    "Yes,",
)
_KEPT_SAYERS = ("If I remember correctly,", "Word has it that", "One more thing:", "Rest assured that", "Indeed,")


def _said(scene: Scene, subject: Subject, name: str, said: Sequence[Statement]) -> str:
    opener = scene.pick(by_split(_SAYERS, _KEPT_SAYERS, scene.split))
    return f"{opener} {name} {conjugated(said[0].predicate, subject)}"


def _while(scene: Scene, subject: Subject, name: str, said: Sequence[Statement]) -> str:
    first, second = (conjugated(one.predicate, subject) for one in said)
    return f"{scene.pick(('while', 'just as', 'since', 'whereas'))} {name} {first}, {subject.pronoun} {second}"


def _not_only(scene: Scene, subject: Subject, name: str, said: Sequence[Statement]) -> str:
    first, second = (conjugated(one.predicate, subject) for one in said)
    return scene.pick(
        (
            f"it is also true that {name} {first}, and that {subject.pronoun} {second}",
            f"{name} {first}, plus {subject.pronoun} {second}",
        )
    )


def _colon(scene: Scene, subject: Subject, name: str, said: Sequence[Statement]) -> str:
    joint = scene.pick(("what we know so far:", "in short:", "to sum up:", "the facts:"))
    return f"{joint} {_and(scene, subject, name, said)}"


_PATTERNS: dict[Pattern, tuple[int, int, float]] = {  # fewest and most statements, weight
    _and: (1, 3, 40), _relative: (2, 2, 9), _participle: (2, 2, 9), _behind: (2, 2, 5), _semicolon: (2, 2, 10),
    _but: (2, 2, 4), _also: (2, 2, 6), _with: (2, 2, 8), _parenthesis: (2, 2, 6), _dash: (2, 2, 6), _said: (1, 1, 8),
    _apposed: (2, 2, 10),
}  # fmt: skip
_KEPT_PATTERNS: dict[Pattern, tuple[int, int, float]] = {
    _and: (1, 3, 22), _while: (2, 2, 10), _not_only: (2, 2, 8), _colon: (1, 2, 3), _said: (1, 1, 7),
}  # fmt: skip
_ALL_PATTERNS = {"train": _PATTERNS, "phrasings": _KEPT_PATTERNS, "kinds": _PATTERNS | _KEPT_PATTERNS}


def narrated(
    scene: Scene, subject: Subject, statements: Sequence[Statement], *, fragments: float = 0.1, packings: float = 0.15
) -> list[str]:
    """Return sentences that make all the statements in their order, some of them as a list of fragments."""
    left = list(statements)
    sentences: list[str] = []
    subject, left, extended = extended_subject(scene, subject, left)
    if len(left) > 1 and not extended and subject.pronoun not in ("I", "we") and scene.chance(packings):
        count = scene.rng.randint(2, 4)
        mark = scene.pick(by_split((", ", ", ", ": ", " – "), (" | ", "; "), scene.split))
        sentences.append(f"{subject.full}{mark}{', '.join(one.fragment for one in left[:count])}.")
        del left[:count]
    patterns = _ALL_PATTERNS[scene.split]
    while left:
        first = not any(subject.full in one for one in sentences)
        run = 0
        while run < min(3, len(left)) and left[run].predicate and (not left[run].clause or scene.chance(0.75)):
            run += 1
        run = max(run, 1) if extended and first else run
        if (
            (not extended or not first)
            and scene.chance(fragments)
            and left[0].fragment
            and (sentences or fragments > 0.3)
        ):
            count = min(len(left), scene.rng.randint(1, 3))
            sentences.append(f"{', '.join(one.fragment for one in left[:count])}.")
        elif run == 0:
            count = 1
            sentences.append(f"{_one(scene, subject, left[0], first=first)}.")
        else:
            fitting = {pattern: weight for pattern, (fewest, _, weight) in patterns.items() if fewest <= run}
            pattern = scene.weighted(fitting)
            fewest, most, _ = patterns[pattern]
            count = min(run, scene.rng.randint(fewest, most))
            name = _named(scene, subject, first=first)
            sentences.append(f"{pattern(scene, subject, name, left[:count])}.")
        del left[:count]
    return [sentence_case(re.sub("  +", " ", one)) for one in sentences]


def extended_subject(
    scene: Scene, subject: Subject, statements: list[Statement]
) -> tuple[Subject, list[Statement], bool]:
    """Return the subject with one or two facts behind its name, and the statements that are left."""
    posts = [one for one in statements if one.post][: scene.rng.randint(1, 2)]
    left = [one for one in statements if one not in posts]
    if not posts or not left or not left[0].predicate or subject.pronoun in ("I", "we") or scene.chance(0.5):
        return subject, statements, False
    full = subject.full
    for one in posts:
        full = f"{full}{'' if one.post.startswith(',') else ' '}{one.post}"
    if any(one.post.startswith(",") for one in posts) and not full.endswith(","):
        full = f"{full},"
    return replace(subject, full=full.replace(",,", ",")), left, True


def _named(scene: Scene, subject: Subject, *, first: bool) -> str:
    if first:
        return subject.full
    return subject.pronoun if scene.chance(0.6) else scene.pick(subject.short)


def _one(_scene: Scene, subject: Subject, statement: Statement, *, first: bool) -> str:
    if not statement.clause:
        return statement.fragment
    here = subject.full if first and subject.pronoun not in ("I", "we") else subject.object
    possessive = subject.possessive
    if first and "{its}" in statement.clause and subject.is_third:
        possessive = f"{subject.full}'s" if not subject.full.endswith("s") else f"{subject.full}'"
    return statement.clause.replace("{s}", here).replace("{its}", possessive)
