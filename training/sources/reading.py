"""Questions about paragraphs of an encyclopedia, as records described by the questions: deepmind/xquad, English.

Each question becomes a field: its name is made of words of the question, and its description is the question.
"""

import json
import random
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from training.generate import Sample
from training.sources.asking import Habits, Slot, fields

EACH = 6
"""How many samples a paragraph gives, for there are few."""

MOST_FIELDS = 5

_STRANGERS = (0, 1, 2)
_STRANGER_WEIGHTS = (35, 40, 25)
"""How many questions about another article a sample asks, whose answers are null."""


class _Paragraph(NamedTuple):
    article: str
    text: str
    answers: Mapping[str, str]


def samples(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield some samples for each paragraph: questions about it, and now and then about another article."""
    articles = json.loads((repository / "xquad.en.json").read_text(encoding="utf-8"))["data"]
    paragraphs = [_paragraph(article["title"], one) for article in articles for one in article["paragraphs"]]
    for paragraph in paragraphs:
        others = [one for one in paragraphs if one.article != paragraph.article]
        for _ in range(EACH if paragraph.answers else 0):
            yield _sample(rng, paragraph, others)


def _paragraph(article: str, paragraph: Any) -> _Paragraph:
    """Return a paragraph with the answer to each question, without the full stop that may end it."""
    answers = {
        " ".join(asked["question"].split()): _without_stop(asked["answers"][0]["text"]) for asked in paragraph["qas"]
    }
    return _Paragraph(article, paragraph["context"], {asked: answer for asked, answer in answers.items() if answer})


def _without_stop(answer: str) -> str:
    """Return an answer without the stop after it: "two." → "two", but "Washington, D.C." stays."""
    bare = answer.strip().rstrip(".,;:")
    return answer.strip() if "." in bare[-3:] else bare


def _sample(rng: random.Random, paragraph: _Paragraph, others: list[_Paragraph]) -> Sample:
    asked = rng.sample(list(paragraph.answers), min(len(paragraph.answers), rng.randint(1, MOST_FIELDS)))
    asked += _strangers(rng, paragraph, others)
    rng.shuffle(asked)
    slots = {name: Slot(name, question) for question in asked for name in [field_name(rng, question)] if name}
    values = {name: paragraph.answers.get(slot.description) for name, slot in slots.items()}
    habits = replace(Habits.drawn(rng), is_described=True)
    schema, answer = fields(rng, list(slots.values()), values, habits=habits)
    if rng.random() < 0.4:
        about = paragraph.article.replace("_", " ")
        schema["description"] = rng.choice(("What a paragraph states.", "Facts in a text.", f"From a text on {about}."))
    return Sample("xquad", schema, paragraph.text, answer, None)


def _strangers(rng: random.Random, paragraph: _Paragraph, others: list[_Paragraph]) -> list[str]:
    """Return questions about another article, each with a name that the paragraph does not have."""
    count = rng.choices(_STRANGERS, _STRANGER_WEIGHTS)[0]
    questions = [
        question
        for question in rng.choice(others).answers
        if any(name not in paragraph.text for name in re.findall(r"(?<=\s)[A-Z]\w+", question))
    ]
    return rng.sample(questions, min(count, len(questions)))


def field_name(rng: random.Random, question: str) -> str:
    """Return a name of one to three words: "When did the Goths take Rome?" → "when_goths_take", "date_goths"."""
    plain = unicodedata.normalize("NFKD", question.lower()).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", plain.replace("'s", ""))
    content = [word for word in words if word not in _EMPTY_WORDS and len(word) > 1]
    lead = next((rng.choice(names) for start, names in _LEADS.items() if question.lower().startswith(start)), "")
    count = rng.choice((2, 2, 3)) if lead else rng.choice((2, 2, 3, 3))
    first = rng.choice((0, 0, 0, 1)) if len(content) > count else 0
    return "_".join([*lead.split(), *content[first : first + count - bool(lead)]])


_LEADS = {
    "how many": ("number of", "count", ""),
    "how much": ("amount", ""),
    "how long": ("duration", "how long"),
    "when": ("when", "date", "year"),
    "what year": ("year", ""),
    "in what year": ("year",),
    "where": ("where", "place", "location"),
    "who": ("who", "person", ""),
    "why": ("why", "reason"),
    "how": ("how",),
}
"""What the name of a field begins with, by the beginning of its question."""

_EMPTY_WORDS = frozenset(
    """a about according after all also an and another any are as at be because been before being besides between both
    but by can could did do does during for from had has have he her his how i if in into is it its kind long made many
    may more most much name named not of on one or other others people she so some sort such than that the their them
    there these they thing things this those to type under until up use used was were what when where which while who
    whom whose why will with within would year years""".split()
)
