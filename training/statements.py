"""Statements: one fact, or the facts of an event, in every form that its words allow.

A fact becomes a predicate ("weighs 3 kg"), a noun phrase ("a weight of 3 kg"), a full clause or a fragment; its value
is hedged or corrected now and then. Frames come in families; a whole family is either in training or kept from it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from training.inflection import article, is_plural
from training.kind import Event, Field, Kind, Stated
from training.phrases import CLAUSES, PACKINGS
from training.scene import Fact, Scene
from training.splits import by_split


@dataclass(frozen=True, slots=True)
class Statement:
    """One fact, or the facts of one event, in the forms that its words allow; each has the marks of `kept`."""

    predicate: str = ""
    clause: str = ""  # with {s} for the subject
    noun: str = ""
    fragment: str = ""
    post: str = ""  # what stands behind the name: "from Bergen", ", 34,"


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


def fresh(one: Field, fact: Fact, scene: Scene) -> Fact | None:
    """Return another fact for the same field, one that cannot be mixed up with the given one."""
    other = one.make(scene)
    apart = other.value != fact.value and other.text not in fact.text and fact.text not in other.text
    return replace(other, others=()) if apart else None
