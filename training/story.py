"""What a document tells of a record, and what its sentences call the record."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from training.inflection import Subject, article
from training.kind import Field, Kind, Record, Stated
from training.scene import Scene


@dataclass(slots=True)
class Story:
    """What a document tells: a record's facts in order, and whether asides may name people, dates and the like."""

    kind: Kind
    scene: Scene
    facts: Record
    lead: Stated | None = None
    absent: list[Field] = field(default_factory=list)

    @property
    def sensitive(self) -> frozenset[str]:
        """The sorts of the absent fields, which nothing else in the document may seem to fill."""
        return frozenset(one.sort for one in self.absent)


Layout = Callable[[Story], str]

_SHE_HE = (("he", "his", "him"), ("she", "her", "her"))
_DEFAULT_NAMING = ("{noun} {v}", "the {noun} {v}", "{noun} no. {v}", "the {noun} with the {label} {v}")


def subject_of(story: Story, *, own: bool = False) -> Subject:
    """Return the subject of a record: its name where that is told, otherwise its noun."""
    scene, kind = story.scene, story.kind
    noun = scene.pick(kind.nouns)
    if own and kind.subject == "company":
        return Subject("we", ("we",), "we", "our", "us")
    if kind.subject == "person":
        pronoun, possessive, them = scene.pick(_SHE_HE)
        if own:
            return Subject("I", ("I",), "I", "my", "me")
        full = story.lead[1].shown if story.lead else f"the {noun}"
        if story.lead and scene.chance(0.08) and re.match(r"\x02[A-Z][a-z]+\x01[A-Z][a-z]+\x03$", full):
            full = f"{'Mr' if pronoun == 'he' else scene.pick(('Ms', 'Mrs'))} {full}"
        return Subject(
            full, (f"the {noun}",) if noun not in ("man", "woman") else (pronoun,), pronoun, possessive, them
        )
    short = (f"the {noun}", f"this {noun}")
    if not story.lead:
        first = scene.pick((f"the {noun}", f"our {noun}", f"this {noun}", f"the {noun}"))
        return Subject(first, short)
    one, fact = story.lead
    if kind.naming:
        patterns = kind.naming
    elif one.sort == "code":
        patterns = _DEFAULT_NAMING
    elif kind.subject in ("work", "company"):
        patterns = ("{v}", "{v}", '"{v}"', "the {noun} {v}")
    else:
        patterns = ("{v}", "{v}", "the {noun} {v}", 'the {noun} "{v}"') if fact.text[:1].isupper() else ("the {v}",)
    full = scene.pick(patterns).replace("{label}", one.label(scene)).replace("{noun}", noun)
    full = full.replace("{a}", article(fact.shown)).replace("{v}", fact.shown)
    return Subject(re.sub(r"[Tt]he (?=\x02[Tt]he\x01)", "", full), short)
