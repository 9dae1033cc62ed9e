"""Postal addresses of the United States in their parts, where the line leaves no doubt about them.

    >>> parts("Room 12, 305 N. Elm St. Suite 4, Ames, IA 50010")  # two units: in doubt
    >>> parts("305 N. Elm St. Suite 4, Ames, IA 50010")["street"]
    'Elm'

Rejected: taking every line apart as well as possible, which a model would learn with its mistakes.
"""

import re

Parts = dict[str, str]
"""The parts that an address has, by name: `number`, `direction`, `street`, `street_type`, `post_direction`,
`unit_type`, `unit`, `building`, `po_box`, `city`, `state`, `zip_code`."""

_DIRECTIONS = frozenset(
    "n s e w ne nw se sw north south east west northeast northwest southeast southwest".split(),
)
_TYPES = frozenset(
    """alley aly avenue ave av boulevard blvd bend bnd bridge brg bypass circle cir commons court ct cove crescent cres
    crossing xing drive dr expressway expy freeway fwy garden gardens glen green grove heights hill hills island isle
    landing lane ln lndg loop mall manor park parkway pkwy path pass pike pl place plaza plz point ridge road rd row
    run square sq street st terrace ter ter trail trl turnpike tpke trace view walk way wy""".split()
)
_UNITS = frozenset("suite ste room rm unit apt apartment office floor fl".split())
_BUILDINGS = frozenset(
    "building bldg center centre capitol house hall courthouse library tower plaza annex mall statehouse".split()
)
_STREETS = frozenset("st street ave avenue rd road dr drive blvd boulevard ln lane hwy pkwy".split())
"""Types that are never in the name of another street."""

_DOUBTFUL = frozenset(
    """highway hwy route rt rte box po drawer county cr state sr us floor fl suite ste room rm unit apt office lobby and
    of at po interstate fm avenida calle caller attn mailbox level""".split()
)
"""Words that no name of a street may have here: what is before or after them may be something else."""

_TAIL = re.compile(r"(.+?)[,;]\s*([A-Z][A-Za-z.' -]+?)[,;]?\s+([A-Z]{2}),? (\d{5}(?:-\d{4})?)")
_NUMBER = re.compile(r"\d+(?:-\d+)?[A-Z]?")
_ORDINAL = re.compile(r"(?:\d+(?:st|nd|rd|th)|First|Second|Third|Fourth|Fifth|Sixth|Ground|Main)", re.IGNORECASE)
_UNIT_ID = re.compile(r"#?\s?(?:[A-Z]{0,3}-?\d[\w.-]*|[A-Z]{1,2}(?:-\d+)?)")
_BOX = re.compile(r"P\.? ?O\.? (?:Box|Drawer) [\w-]+", re.IGNORECASE)
_WORD = re.compile(r"(?:[A-Z][A-Za-z.'’-]*|\d+(?:st|nd|rd|th)?)")


def parts(line: str) -> Parts | None:
    """Return the parts of an address with city, state and zip code; None where one is in doubt."""
    matched = _TAIL.fullmatch(" ".join(line.split()))
    if matched is None:
        return None
    lead, city, state, zip_code = matched.groups()
    found: Parts = {}
    for segment in re.split(r"\s*[,;]\s*", lead):
        of_segment = _segment(segment)
        if of_segment is None or of_segment.keys() & found.keys():
            return None
        found |= of_segment
    if not found.keys() & {"street", "po_box"} or len(city.split()) > 3 or bare(city.split()[-1]) in _STREETS:
        return None
    return found | {"city": city, "state": state, "zip_code": zip_code}


def _segment(segment: str) -> Parts | None:
    """Return the parts of what is between two commas; None where it is nothing that is known."""
    words = segment.split()
    if _BOX.fullmatch(segment):
        return {"po_box": segment}
    if _is_building(words):
        return {"building": segment}
    for place in range(2, len(words) - 1):
        if _is_building(words[:place]):
            after = _segment(" ".join(words[place:]))
            return {"building": " ".join(words[:place])} | after if after and "building" not in after else None
    return unit_parts(segment) or street_parts(segment)


def _is_building(words: list[str]) -> bool:
    is_named = all(word[0].isupper() and word.replace(".", "").isalpha() for word in words)
    return 1 < len(words) < 6 and is_named and bare(words[-1]) in _BUILDINGS


def unit_parts(text: str) -> Parts | None:
    """Return the parts of a unit: "Suite 4", "#4" or "3rd Floor"; None for anything else."""
    words = text.split()
    if len(words) == 1 and text.startswith("#") and _UNIT_ID.fullmatch(text):
        return {"unit": text}
    if len(words) == 2 and bare(words[1]) in ("floor", "fl") and _ORDINAL.fullmatch(words[0]):
        return {"unit_type": words[1], "unit": words[0]}
    if 2 <= len(words) <= 3 and bare(words[0]) in _UNITS and _UNIT_ID.fullmatch(" ".join(words[1:])):
        return {"unit_type": words[0], "unit": " ".join(words[1:])}
    return None


def street_parts(text: str) -> Parts | None:
    """Return the parts of a line with a number and a street, and perhaps a unit; None where one is in doubt."""
    number, *words = text.split() or [""]
    if not _NUMBER.fullmatch(number) or not words:
        return None
    found: Parts = {"number": number}
    if words[0] == "1/2":
        found["number"], words = f"{number} 1/2", words[1:]
    for length in (3, 2, 1):
        unit = unit_parts(" ".join(words[-length:])) if len(words) > length else None
        if unit:
            found |= unit
            words = words[:-length]
            break
    if bare(words[-1]) in _DIRECTIONS and (len(words) > 2 or (len(words) == 2 and bare(words[0]) not in _DIRECTIONS)):
        found["post_direction"], words = words[-1], words[:-1]
    if len(words) > 1 and bare(words[-1]) in _TYPES:
        found["street_type"], words = words[-1], words[:-1]
    if len(words) > 1 and bare(words[0]) in _DIRECTIONS:
        found["direction"], words = words[0], words[1:]
    return found | {"street": " ".join(words)} if _is_name(words, has_type="street_type" in found) else None


def _is_name(words: list[str], *, has_type: bool) -> bool:
    """Say whether words can only be the name of a street: short, of capitals, without another type or a unit."""
    known = [bare(word) for word in words]
    if not 0 < len(words) <= (4 if has_type else 2) or not all(_WORD.fullmatch(word) for word in words):
        return False
    if has_type:
        return not _DOUBTFUL.intersection(known) and not _STREETS.intersection(
            known[len(words) > 1 and known[0] == "st" :]
        )
    return not (_DOUBTFUL | _BUILDINGS | _TYPES).intersection(known)


def bare(word: str) -> str:
    """Return a word in small letters without its full stops: "N." → "n"."""
    return word.replace(".", "").lower()
