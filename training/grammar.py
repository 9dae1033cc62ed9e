"""Sentences made of a subject and facts: verbs inflected, clauses joined, values corrected or hedged.

A fact becomes a statement: a predicate ("weighs 3 kg"), a noun phrase ("a weight of 3 kg"), a full clause or a
fragment. A pattern joins one to three statements to a sentence. Frames and patterns come in families; a whole family is
either in training or kept from it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from training.kind import Event, Field, Kind
from training.phrases import CLAUSES, PACKINGS
from training.splits import by_split
from training.values import OPEN, Fact, Scene


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
    "has": "having", "runs": "running", "gets": "getting", "sits": "sitting", "puts": "putting", "sets": "setting",
    "begins": "beginning", "lies": "lying", "dies": "dying", "ships": "shipping", "stops": "stopping",
}  # fmt: skip
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

_KEPT_CLAUSES = (
    "as for the {label}, it is {v}", "when it comes to the {label}, {v} is what I know", "under {label} one finds {v}",
    "the {label} turned out to be {v}", "{v} is what it says for the {label}", "{v} it is for the {label}",
    "{v} serves as the {label}", "you asked for the {label}: {v}",
)  # fmt: skip
_FILED = (
    "the {label} is given as {v}", "the {label} is listed as {v}", "our files show {v} as the {label}",
    "you will find {v} under {label}", "they put the {label} down as {v}", "the {label} on file is {v}",
)  # fmt: skip
"""Clauses of offices, which any field allows but few people write."""
_LABEL_PREDICATES = ("has {v} as its {label}", "lists {v} as its {label}", "names {v} as its {label}")
_NUMBER_PREDICATES = ("has {a label} of {v}", "comes with {a label} of {v}", "shows {a label} of {v}")
_KEPT_LABEL_PREDICATES = ("comes with {v} as its {label}", "counts on {v} as its {label}", "uses {v} as its {label}")
_KEPT_NUMBER_PREDICATES = ("features {a label} of {v}", "boasts {a label} of {v}", "runs at {a label} of {v}")
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


def spelled(scene: Scene, one: Field, fact: Fact, *, plain: bool = False) -> str:
    """Return the value as a sentence has it: as it is, hedged, or corrected from a wrong one."""
    if plain or fact.items or fact.rows or "(" in fact.text:
        return fact.shown
    if one.sort in _CORRECTED and scene.seldom(0.035):
        wrong = one.make(scene)
        if wrong.value != fact.value and wrong.text not in fact.text and fact.text not in wrong.text:
            frame = scene.pick(by_split(_CORRECTIONS, _KEPT_CORRECTIONS, scene.split))
            return frame.format(v=fact.shown, w=wrong.shown)
    if one.sort in ("number", "money") and fact.text[0].isdigit() and scene.seldom(0.05):
        return f"{scene.pick(_HEDGES)} {fact.shown}"
    return fact.shown


def stated(
    scene: Scene, kind: Kind, facts: Sequence[Stated], *, absent: Sequence[Field] = (), plain: bool = False
) -> list[Statement]:
    """Return the facts as statements, those of one event often together; none may seem to be an absent field."""
    told = [*(one for one, _ in facts), *absent]
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
            statements.append(state(scene, kind, one, fact, told, plain=plain))
    events = kind.events or {}
    return [
        happened(scene, events[together[statement.clause]["event"]], together[statement.clause])
        if statement.clause in together
        else statement
        for statement in statements
    ]


def state(
    scene: Scene, kind: Kind, one: Field, fact: Fact, told: Sequence[Field] = (), *, plain: bool = False
) -> Statement:
    """Return one fact in every form that its words allow; without a label only if nothing else told may be meant."""
    if one.sort in ("flag", "choice"):
        label, wording = one.label(scene, form=True), scene.pick(fact.wordings)
        if wording.startswith("^"):
            return Statement(clause=wording[1:], fragment=wording[1:])
        fragment = bare_wording(wording)
        if not fragment or scene.chance(0.15):
            fragment = f"{label}: {fact.shown}"
        return Statement(predicate=wording, fragment=fragment)
    value, label = spelled(scene, one, fact, plain=plain), one.label(scene)
    noun_like = bool(one.words.entries)
    rivals = [other for other in told if other.key != one.key and other.sort == one.sort]
    role = () if plain or any(other.role.entries is one.role.entries for other in rivals) else one.role.of(scene.split)
    predicates = one.predicates.of(scene.split)
    spoken = tuple(text for text in role if not text.startswith(("~", "+")))
    chosen = spoken if spoken and (not predicates or scene.chance(0.4)) else predicates
    own = scene.pick(chosen) if chosen and scene.chance(0.92) else ""
    filled = _filled(scene, own, value)
    whole = own.startswith(("{v}", "^")) or "{s}" in own
    predicate, filled = "" if whole else filled, filled.lstrip("^")
    clause = filled if filled and not predicate else ""
    if noun_like and one.sort not in ("rows", "list"):
        frames = by_split(_LABEL_PREDICATES, _KEPT_LABEL_PREDICATES, scene.split)
        if one.sort in ("number", "money") and not is_plural(label):
            frames = by_split(_NUMBER_PREDICATES, _KEPT_NUMBER_PREDICATES, scene.split)
        if not filled and kind.subject != "person" and scene.chance(0.35):
            predicate = scene.pick(frames).replace("{a label}", article(label)).format(label=label, v=value)
    if noun_like:
        clause = clause or label_clause(scene, one.sort, label, value, fact)
    amount = one.sort in ("number", "money") and not is_plural(label)
    noun = (f"{article(label)} of {value}" if amount else f"{value} as the {label}") if noun_like else ""
    posts = (*one.posts.some(scene.split), *(text[1:].strip() for text in role if text.startswith("+")))
    post = _filled(scene, scene.pick(posts), fact.shown) if posts else ""
    fragment = packed(scene, one, fact, value, [text[1:] for text in role if text.startswith("~")], alone=not rivals)
    return Statement(predicate, clause, noun if one.sort not in ("list", "rows") else "", fragment, post)


def packed(scene: Scene, one: Field, fact: Fact, value: str, bare: Sequence[str], *, alone: bool) -> str:
    """Return a fact as a fragment of a list: "45 euros", "due 3 May", "3 rooms", "owner: Ana Costa"."""
    if not alone:
        bare = [text for text in bare if len(re.sub(r"\{\w+\}|\W", "", text)) > 2]
    if bare and scene.chance(0.75):
        return _filled(scene, scene.pick(bare), value)
    label = one.label(scene)
    if one.words.entries and scene.chance(0.75):
        frames, texts = PACKINGS[scene.split], _label_forms(one.sort, label, value, fact)
        if "{n}" in texts:
            return scene.pick(frames["count"] or ("{v}",)).replace("{v}", texts["{n}"])
        fitting = [text for text in frames[one.sort] if "{x}" not in text or "{x}" in texts]
        return _with_label(scene.pick(fitting or ("{label}: {v}",)), texts)
    named = scene.pick(one.names(scene))
    mark = scene.pick(by_split((" ", ": ", " – ", " = "), (" ... ", " → ", " :: "), scene.split))
    return f"{named}{' ' if named.endswith(_PREPOSITIONS) else mark}{value}"


def bare_wording(wording: str) -> str:
    """Return a predicate as a fragment: "is sold out" → "sold out", "has no balcony" → "no balcony", or nothing."""
    verb, _, rest = wording.partition(" ")
    match verb:
        case "is" | "was":
            return rest
        case "has" if re.match(r"(?:an?|the) ", rest):
            return f"with {rest}"
        case "has":
            return re.sub(r"\bbeen ", "", rest)
        case "offers" | "includes":
            return f"with {rest}"
        case "comes" | "goes" if rest.startswith(("with", "without")):
            return rest
        case "does" | "did" | "will" | "can" | "cannot" | "must" | "may":
            return wording
        case _:
            return ""


def _label_forms(sort: str, label: str, value: str, fact: Fact) -> dict[str, str]:
    """Return what the placeholders of a phrase stand for; {n} is a number with what it counts: "3 rooms"."""
    forms = {"{v}": value, "{label}": label, "{a label}": article(label)}
    if sort == "date" and (found := re.fullmatch(r"(?:date of )?(.+?)(?: date)?", label)) and found[1] != label:
        forms["{x}"] = found[1]
    counted = label.removeprefix("number of ") if label.startswith("number of ") else label if is_plural(label) else ""
    if sort == "number" and counted and isinstance(fact.value, int) and " in " not in counted:
        last = counted.split()[-1]
        noun = counted[:-1] if fact.value == 1 and counted.endswith("s") else counted
        if not fact.others:
            forms["{n}"] = f"{value} {noun}"
        elif fact.text.endswith((last, last[:-1])):
            forms["{n}"] = value
    return forms


def _with_label(phrase: str, forms: dict[str, str]) -> str:
    for name, text in forms.items():
        phrase = phrase.replace(name, text)
    return phrase


def label_clause(scene: Scene, sort: str, label: str, value: str, fact: Fact) -> str:
    """Return a clause that names the field and gives the value."""
    forms = _label_forms(sort, label, value, fact)
    if "{n}" in forms and scene.chance(0.8):
        clause = scene.pick(CLAUSES[scene.split]["count"] or ("it is {v} in total",)).replace("{v}", forms["{n}"])
        return clause.replace("there are", "there is") if fact.value == 1 else clause
    known: Sequence[str] = CLAUSES[scene.split][sort]
    if not known or scene.chance(0.12 if scene.split == "train" else 0.3):
        known = by_split(_FILED, _KEPT_CLAUSES, scene.split)
    clause = scene.pick(known)
    if clause.startswith("{v}") and fact.text[:1].islower() and scene.split != "phrasings":
        clause = "the {label} is {v}"
    if "{x}" in clause and ("{x}" not in forms or forms["{x}"].endswith(("due", "ed", "st", "al"))):
        clause = "the {label} is {v}"
    if is_plural(label) and sort not in ("list", "rows"):
        clause = re.sub(
            r"\{(a label|label)\}([^{}]*?)\b(is|was|has|stands|comes|amounts|falls)\b", _plural_verb, clause
        )
        clause = clause.replace("{a label}", "{label}").replace(" there is {label}", " there are {label}")
    return _with_label(clause, forms)


def _plural_verb(found: re.Match[str]) -> str:
    verb = {"is": "are", "was": "were", "has": "have"}.get(found[3], found[3][:-1])
    return f"{{{found[1]}}}{found[2]}{verb}"


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


def fresh(one: Field, fact: Fact, scene: Scene) -> Fact | None:
    """Return another fact for the same field, one that cannot be mixed up with the given one."""
    other = one.make(scene)
    apart = other.value != fact.value and other.text not in fact.text and fact.text not in other.text
    return replace(other, others=()) if apart else None
