"""Tables of fields and sentences enter; kinds of record leave, every sentence indexed by the fields that it states.

A template is a sentence with slots, `{name} is {age}.`, so what it states is read off the template itself and need not
be declared beside it. Slots that begin with `any_` and the pronouns state nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from string import Formatter

from training.values import Maker
from training.words import Split, by_comma, part

PRONOUNS = frozenset({"they", "They", "their", "Their", "them"})


@dataclass(frozen=True, slots=True)
class Field:
    """One fact that a record of a kind may have.

    `names` (by commas) are what a schema may call it, `labels` what a form may call it besides these, `wordings` the
    sentences (by lines) that state one member of a choice or flag, `none` those that state that there is nothing.
    `implied_by` names the fields whose texts already contain this one's. A field that other sentences hint at must not
    be missing, so that null is never a matter of opinion: `may_miss`.
    """

    key: str
    make: Maker
    names: str
    gloss: str
    labels: str = ""
    wordings: Mapping[str, str] = field(default_factory=dict)
    none: str = ""
    implied_by: tuple[str, ...] = ()
    plain: bool = True
    may_miss: bool = True
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Sentence:
    """A template and the keys of the fields that it states."""

    text: str
    states: frozenset[str]


@dataclass(frozen=True, slots=True)
class Phrasing:
    """All wording of a kind that one split may use."""

    alone: Mapping[str, tuple[str, ...]]
    together: tuple[Sentence, ...]
    wordings: Mapping[tuple[str, str], tuple[str, ...]]
    none: Mapping[str, tuple[str, ...]]
    labels: Mapping[str, tuple[str, ...]]
    asides: tuple[str, ...]
    titles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of record: its fields, of which the first names it, and its wording in each split.

    `nests` lists groups of fields that a schema may put into an object of their own, under one of the names given.
    `signer` is the field that the signature of an e-mail states, if any.
    """

    name: str
    fields: Mapping[str, Field]
    names: Mapping[str, tuple[str, ...]]
    phrasings: Mapping[Split, Phrasing]
    nests: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    plural: tuple[str, ...]
    signer: str | None

    @property
    def lead(self) -> str:
        """Return the key of the field that names the record."""
        return next(iter(self.fields))


def kind(
    name: str,
    fields: Iterable[Field],
    *,
    sentences: str,
    asides: str,
    titles: str,
    plural: str = "",
    nests: Mapping[str, str] | None = None,
    signer: str | None = None,
    held_out: bool = False,
) -> Kind:
    """Return a kind from its tables; all wording of a held-out kind belongs to the split "kinds"."""
    by_key = {one.key: one for one in fields}
    names = {key: by_comma(one.names) for key, one in by_key.items()}
    written = [Sentence(text, states(text)) for text in lines(sentences)]
    unknown = {key for sentence in written for key in sentence.states} - set(by_key)
    if unknown:
        raise ValueError(f"the sentences of {name!r} state unknown fields: {sorted(unknown)}")
    splits: tuple[Split, ...] = ("kinds",) if held_out else ("train", "phrasings")
    return Kind(
        name=name,
        fields=by_key,
        names=names,
        phrasings={split: _phrasing(split, by_key, names, written, asides, titles) for split in splits},
        nests=tuple((by_comma(outer), by_comma(inner)) for outer, inner in (nests or {}).items()),
        plural=by_comma(plural),
        signer=signer,
    )


def _phrasing(
    split: Split,
    fields: Mapping[str, Field],
    names: Mapping[str, tuple[str, ...]],
    written: list[Sentence],
    asides: str,
    titles: str,
) -> Phrasing:
    alone = {key: [one.text for one in written if one.states == {key}] for key in fields}
    together = [one for one in written if len(one.states) > 1]

    def kept(entries: Iterable[str]) -> tuple[str, ...]:
        return tuple(entries) if split == "kinds" else part(tuple(entries), split)

    def labels(one: Field) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*by_comma(one.labels), *names[one.key]]))

    return Phrasing(
        alone={key: kept(texts) for key, texts in alone.items()},
        together=tuple(together) if split == "kinds" else part(together, split),
        wordings={
            (key, member): kept(lines(texts)) for key, one in fields.items() for member, texts in one.wordings.items()
        },
        none={key: kept(lines(one.none)) for key, one in fields.items() if one.none},
        labels={key: kept(labels(one)) for key, one in fields.items()},
        asides=kept(lines(asides)),
        titles=kept(by_comma(titles)),
    )


def lines(text: str) -> tuple[str, ...]:
    r"""Return the lines of a table of sentences; in a line, `\n` begins a new line of the document."""
    return tuple(line.strip().replace(r"\n", "\n") for line in text.splitlines() if line.strip())


def states(template: str) -> frozenset[str]:
    """Return the fields that a template states: `{They} knows {any_person}, {age}.` → {"age"}."""
    slots = {slot for _, slot, _, _ in Formatter().parse(template) if slot}
    return frozenset(slot for slot in slots if slot not in PRONOUNS and not slot.startswith("any_"))
