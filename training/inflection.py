"""Inflection: articles, plurals, and verbs in the person of their subject."""

import re
from dataclasses import dataclass

from training.scene import OPEN


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


def is_plural(label: str) -> bool:
    """Return whether a label is a plural: "years of experience", but not "address"."""
    head = label.split(" of ", maxsplit=1)[0].split(" in ", maxsplit=1)[0].split(" for ", maxsplit=1)[0]
    return head.endswith("s") and not head.endswith(("ss", "us", "is"))


def plural(noun: str) -> str:
    """Return the plural of a regular noun: "box" → "boxes", "city" → "cities"."""
    if noun.endswith("y") and noun[-2:-1] not in "aeou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh", "z")) else f"{noun}s"
