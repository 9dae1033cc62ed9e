"""Sentences made of a subject and facts: verbs inflected, clauses joined, values corrected or hedged.

A fact becomes a statement: a predicate ("weighs 3 kg"), a noun phrase ("a weight of 3 kg"), a full clause or a
fragment. A pattern joins one to three statements to a sentence. Frames and patterns come in families; a whole family is
either in training or kept from it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from training.kind import Event, Field, Kind
from training.values import OPEN, Fact, Scene
from training.words import Entry, Split


@dataclass(frozen=True, slots=True)
class Subject:
    """What the sentences are about: by its name at first, then in short, or as a pronoun."""

    full: str
    short: tuple[str, ...]
    pronoun: str = "it"
    possessive: str = "its"
    object: str = "it"

    @property
    def is_third(self) -> bool:
        """Whether verbs keep their ending."""
        return self.pronoun in ("it", "he", "she")

    @property
    def relative(self) -> str:
        """The relative pronoun."""
        return "which" if self.pronoun == "it" else "who"


@dataclass(frozen=True, slots=True)
class Statement:
    """One fact, or the facts of one event, in the forms that its words allow; each has the marks of `kept`."""

    predicate: str = ""
    clause: str = ""  # with {s} for the subject
    noun: str = ""
    fragment: str = ""
    post: str = ""  # what stands behind the name: "from Bergen", ", 34,"


Stated = tuple[Field, Fact]

# Inflection

_BASES = {"has": "have", "does": "do", "goes": "go", "is": "are", "was": "were"}
_FIRST = {"is": "am", "was": "was"}
_GERUNDS = {
    "has": "having",
    "runs": "running",
    "gets": "getting",
    "sits": "sitting",
    "puts": "putting",
    "sets": "setting",
}
_GERUNDS |= {"begins": "beginning", "lies": "lying", "dies": "dying", "ships": "shipping", "stops": "stopping"}
_PARTICIPLES = frozenset(
    "built made sent sold bought held kept given taken written drawn put found led born paid let set put left "
    "filed hidden grown known shown frozen sown fed flown driven seen cut shot read hung laid won brought".split()
)


def base_form(verb: str) -> str:
    """Return the form of the plural: "reaches" → "reach", "is" → "are", "arrived" → "arrived"."""
    if verb in _BASES:
        return _BASES[verb]
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb[:-3]}y"
    if verb.endswith(("ches", "shes", "sses", "xes", "zes")):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb


def conjugated(predicate: str, subject: Subject) -> str:
    """Return a predicate in the person of its subject: "is 34" → "am 34", "reports to" → "report to"."""
    if subject.is_third:
        return predicate
    verb, _, rest = predicate.partition(" ")
    verb = _FIRST[verb] if subject.pronoun == "I" and verb in _FIRST else base_form(verb)
    verbs = re.compile(r"(?<= and )(?:has|is|was|carries|includes)\b")
    return f"{verb} {verbs.sub(lambda found: base_form(found[0]), rest)}"


def participial(predicate: str) -> str:
    """Return a predicate without its finite verb: "was sent by" → "sent by", "weighs" → "weighing"; or nothing."""
    verb, _, rest = predicate.partition(" ")
    first = rest.split(" ")[0]
    if verb == "does":
        return ""
    if verb in ("is", "was"):
        return rest if first.endswith("ed") or first in _PARTICIPLES else ""
    if verb in _GERUNDS:
        return f"{_GERUNDS[verb]} {rest}"
    base = base_form(verb)
    if base == verb:
        return ""
    ending = base[:-1] if base.endswith("e") and not base.endswith(("ee", "oe")) else base
    return f"{ending}ing {rest}"


def sentence_case(text: str) -> str:
    """Return a text with a capital first letter, unless it begins with a value, which stays as it is."""
    return text[:1].upper() + text[1:]


def article(text: str) -> str:
    """Return text with "a" or "an" before it."""
    bare = text.strip(OPEN)
    return (
        f"{'an' if re.match('[aeiouAEIO]|8|11 |18 |hour|MB|MS', bare) and not bare.startswith('uni') else 'a'} {text}"
    )


# Statements

_LABEL_CLAUSES: dict[str, tuple[str, ...]] = {
    "copula": ("the {label} is {v}", "the {label} of {s} is {v}", "{its} {label} is {v}"),
    "reverse": ("{v} is the {label}", "{v} is {its} {label}"),
    "given": ("the {label} is given as {v}", "the {label} is listed as {v}", "{v} is entered as the {label}"),
    "we": ("we have {v} as the {label}", "I have noted {v} as the {label}", "our files show {v} as the {label}"),
    "file": ("for the {label} we have {v}", "the {label} on file is {v}", "{v} was noted under {label}"),
    "told": (
        "they gave me {v} as the {label}",
        "I was told that the {label} is {v}",
        "they put the {label} down as {v}",
    ),
    "field": ("the {label} field says {v}", "next to {label} somebody wrote {v}", "you will find {v} under {label}"),
    "remain": ("the {label} remains {v}", "the {label} is now {v}", "the {label} has changed to {v}"),
    "be": ("the {label} was {v}", "the {label} will be {v}", "the {label} has been set to {v}"),
}
_KEPT_LABEL_CLAUSES: dict[str, tuple[str, ...]] = {
    "as for": ("as for the {label}, it is {v}", "when it comes to the {label}, {v} is what I know"),
    "read": ("the {label} reads {v}", "under {label} one finds {v}"),
    "turn": ("the {label} turned out to be {v}", "{v} is what it says for the {label}"),
}
_LABEL_PREDICATES = (
    "has {v} as its {label}", "lists {v} as its {label}", "shows {v} as its {label}", "names {v} as its {label}",
    "gives {v} as its {label}", "is on file with {v} as its {label}",
)  # fmt: skip

_NUMBER_PREDICATES = (
    "has {a label} of {v}", "comes with {a label} of {v}", "shows {a label} of {v}", "reaches {a label} of {v}",
    "is listed with {a label} of {v}", "reports {a label} of {v}",
)  # fmt: skip

_KEPT_LABEL_PREDICATES = ("has got {v} as its {label}", "goes with {v} as its {label}")
_KEPT_NUMBER_PREDICATES = ("has got {a label} of {v}", "features {a label} of {v}")
_HEDGES = ("about", "around", "roughly", "some", "almost", "just over", "approximately", "exactly", "only")
_CORRECTIONS = (
    "{w} – no, {v}", "{w}, sorry, {v}", "{v}, not {w}", "{v} (not {w})", "not {w} but {v}", "{v} instead of {w}",
    "{v} rather than {w}", "{w} – correction: {v}", "{v} (previously {w})", "{w} ... no wait, {v}", "{v}, and not {w},",
)  # fmt: skip
_KEPT_CORRECTIONS = (
    "{w}, or rather {v}",
    "{w}, I mean {v}",
    "{v} in place of {w}",
    "{v}, contrary to the {w} stated earlier,",
)
_PREPOSITIONS = (" by", " on", " in", " at", " to", " from", " for", " of", " with", " until", " before")
_CORRECTED = frozenset(("number", "money", "date", "agent", "code", "year", "time", "place"))


def by_split(known: Sequence[Entry], unseen: Sequence[Entry], split: Split) -> Sequence[Entry]:
    """Return what a split may use: the known family, the unseen one, or both for unseen kinds."""
    return known if split == "train" else unseen if split == "phrasings" else (*known, *unseen)


def spelled(scene: Scene, one: Field, fact: Fact, *, plain: bool = False) -> str:
    """Return the value as a sentence has it: as it is, hedged, or corrected from a wrong one."""
    if plain or fact.items or fact.rows or "(" in fact.text:
        return fact.shown
    if one.sort in _CORRECTED and scene.chance(0.035):
        wrong = one.make(scene)
        if wrong.value != fact.value and wrong.text not in fact.text and fact.text not in wrong.text:
            frame = scene.pick(by_split(_CORRECTIONS, _KEPT_CORRECTIONS, scene.split))
            return frame.format(v=fact.shown, w=wrong.shown)
    if one.sort in ("number", "money") and fact.text[0].isdigit() and scene.chance(0.05):
        return f"{scene.pick(_HEDGES)} {fact.shown}"
    return fact.shown


def stated(scene: Scene, kind: Kind, facts: Sequence[Stated], *, plain: bool = False) -> list[Statement]:
    """Return the facts as statements, those of one event often together."""
    statements: list[Statement] = []
    together: dict[str, dict[str, str]] = {}
    for one, fact in facts:
        if one.event:
            group = one.event if scene.chance(0.75) and one.slot not in together.get(one.event, {}) else one.key
            if group not in together:
                statements.append(Statement(clause=group))
            together.setdefault(group, {})[one.slot] = spelled(scene, one, fact, plain=plain)
            together[group].setdefault("event", one.event)
        else:
            statements.append(state(scene, kind, one, fact, plain=plain))
    events = kind.events or {}
    return [
        happened(scene, events[together[statement.clause]["event"]], together[statement.clause])
        if statement.clause in together
        else statement
        for statement in statements
    ]


def state(scene: Scene, kind: Kind, one: Field, fact: Fact, *, plain: bool = False) -> Statement:
    """Return one fact in every form that its words allow."""
    if one.sort in ("flag", "choice"):
        label, wording = one.label(scene, form=True), scene.pick(fact.wordings)
        return Statement(predicate=wording, fragment=f"{label}: {fact.shown}")
    value, label = spelled(scene, one, fact, plain=plain), one.label(scene)
    noun_like = bool(one.words.entries)
    predicates = one.predicates.of(scene.split)
    own = scene.pick(predicates) if predicates and scene.chance(0.88) else ""
    filled = _filled(scene, own, value)
    whole = own.startswith(("{v}", "^")) or "{s}" in own
    predicate, filled = "" if whole else filled, filled.lstrip("^")
    clause = filled if filled and not predicate else ""
    if noun_like and one.sort not in ("rows", "list"):
        frames = by_split(_LABEL_PREDICATES, _KEPT_LABEL_PREDICATES, scene.split)
        if one.sort in ("number", "money") and not is_plural(label):
            frames = by_split(_NUMBER_PREDICATES, _KEPT_NUMBER_PREDICATES, scene.split)
        if not filled and kind.subject != "person":
            predicate = scene.pick(frames).replace("{a label}", article(label)).format(label=label, v=value)
        clause = clause or label_clause(scene, label, value, fact)
    elif noun_like and not clause:
        clause = scene.pick((f"the {label} are {value}", f"the {label}: {value}", f"the {label} include {value}"))
    amount = one.sort in ("number", "money") and not is_plural(label)
    noun = (f"{article(label)} of {value}" if amount else f"{value} as the {label}") if noun_like else ""
    named = scene.pick(one.names(scene))
    mark = scene.pick(by_split((" ", ": ", " – ", " = "), (" ... ", " → ", " :: "), scene.split))
    fragment = f"{named}{' ' if named.endswith(_PREPOSITIONS) else mark}{value}"
    posts = one.posts.some(scene.split)
    post = _filled(scene, scene.pick(posts), fact.shown) if posts else ""
    return Statement(predicate, clause, noun if one.sort not in ("list", "rows") else "", fragment, post)


def label_clause(scene: Scene, label: str, value: str, fact: Fact) -> str:
    """Return a clause that names the field and gives the value."""
    families = {"train": _LABEL_CLAUSES, "phrasings": _KEPT_LABEL_CLAUSES}.get(
        scene.split, _LABEL_CLAUSES | _KEPT_LABEL_CLAUSES
    )
    clause = scene.pick(scene.pick(tuple(families.values())))
    if clause.startswith("{v}") and fact.text[:1].islower() and scene.split != "phrasings":
        clause = "the {label} is {v}"
    if is_plural(label):
        clause = "the {label} is {v}" if clause.startswith("{v}") else clause
        for one, many in (
            (" is ", " are "),
            (" was ", " were "),
            (" has ", " have "),
            (" reads ", " read "),
            (", it are ", ", they are "),
        ):
            clause = clause.replace(one, many)
    return clause.replace("{label}", label).replace("{v}", value)


def is_plural(label: str) -> bool:
    """Return whether a label is a plural: "years of experience", but not "address"."""
    head = label.split(" of ", maxsplit=1)[0].split(" in ", maxsplit=1)[0].split(" for ", maxsplit=1)[0]
    return head.endswith("s") and not head.endswith(("ss", "us", "is"))


def _filled(scene: Scene, predicate: str, value: str) -> str:
    on = f"{scene.pick(('on', 'on', 'on', ''))} {value}".strip() if "{on}" in predicate else ""
    return predicate.replace("{v}", value).replace("{a}", article(value)).replace("{on}", on)


_ADJUNCTS = {"by": "by {}", "on": "on {}", "at": "on {}", "in": "in {}", "site": "at {}"}


def happened(scene: Scene, event: Event, slots: dict[str, str]) -> Statement:
    """Return an event with all that is known of it: who, when and where."""
    adjuncts = [_ADJUNCTS[slot].format(value) for slot, value in slots.items() if slot in _ADJUNCTS]
    scene.rng.shuffle(adjuncts)
    others = [text for text in adjuncts if not text.startswith("by ")]
    passive = f"was {event.participle} {' '.join(adjuncts)}"
    clause = ""
    if "by" in slots:
        frames = [f"{slots['by']} {event.past} {{s}} {' '.join(others)}"]
        if others and scene.split != "train":
            frames.append(f"it was {slots['by']} who {event.past} {{s}} {' '.join(others)}")
        elif others:
            frames.append(f"{others[0]}, {slots['by']} {event.past} {{s}} {' '.join(others[1:])}")
            frames.append(f"the {event.agent} was {slots['by']}, {' '.join(others)}")
        clause = scene.pick(frames).strip()
    elif len(others) == 1 and scene.chance(0.4):
        clause = f"the {event.noun} took place {others[0]}"
    nominal = f"the {event.noun} {' '.join(adjuncts)}"
    return Statement(passive, clause, nominal, f"{event.participle} {' '.join(adjuncts)}")


# Sentences

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
}  # fmt: skip
_KEPT_PATTERNS: dict[Pattern, tuple[int, int, float]] = {
    _and: (1, 3, 22), _while: (2, 2, 10), _not_only: (2, 2, 8), _colon: (1, 2, 3), _said: (1, 1, 7),
}  # fmt: skip
_ALL_PATTERNS = {"train": _PATTERNS, "phrasings": _KEPT_PATTERNS, "kinds": _PATTERNS | _KEPT_PATTERNS}


def narrated(scene: Scene, subject: Subject, statements: Sequence[Statement], *, fragments: float = 0.1) -> list[str]:
    """Return sentences that make all the statements, in their order."""
    left = list(statements)
    sentences: list[str] = []
    subject, left, extended = extended_subject(scene, subject, left)
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


def fresh(one: Field, fact: Fact, scene: Scene) -> Fact | None:
    """Return another fact for the same field, one that cannot be mixed up with the given one."""
    other = one.make(scene)
    apart = other.value != fact.value and other.text not in fact.text and fact.text not in other.text
    return replace(other, others=()) if apart else None
