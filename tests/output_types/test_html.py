"""The views of notebooks: HTML in which nothing of the user's is markup, and which changes nothing."""

import re
from html.parser import HTMLParser
from typing import Annotated

import pytest
from doubles import ByteTokenizer, made_result, random_logits
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model, field_validator
from strategies import output_types

from structured import Beams, Extractor, Samples, inspect_type
from structured.extraction import Options
from structured.models import FunctionModel
from structured.output_types.html import (
    bullet_list,
    card,
    code,
    coloured,
    concatenated,
    highlighted,
    html,
    table,
    verbatim,
)
from structured.output_types.paths import steps_to_path
from structured.results.evidence import CONTEXT, MAX_CHARACTERS, Evidence
from structured.results.result import Provenance

TOKENIZER = ByteTokenizer()
MODEL = FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER)
Texts = Annotated[list[str], Field(min_length=20)]
HOSTILE = "<script>alert('\"&')</script>"
TAGS = {"div", "p", "b", "span", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "pre", "code", "mark"}


class Page(HTMLParser):
    """A page as a browser reads it: its text, and tags that are all of ours, and all closed."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.text = ""
        self._open: list[str] = []
        self.feed(markup)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        assert {name for name, _ in attrs} <= {"style"}
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def spelled(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()


@given(st.text(st.sampled_from("<>&'\"/a \ud800é🙂") | st.characters(), max_size=20))
def test_no_text_becomes_markup(text: str) -> None:
    """It is read as it stands, wherever it is put; half a surrogate pair is spelled out."""
    parts = [html(text), verbatim(text), code(text), coloured(text, "bad"), highlighted(text, "bad")]
    parts.append(bullet_list([text]))
    for part in parts:
        part.encode()
        assert lines(Page(part).text) == lines(spelled(text))
    several = lines(Page(card(text, "", table([text], [[text, concatenated(*parts)]]))).text)
    assert several == f"{lines(spelled(text))} " + lines(spelled(text)) * (2 + len(parts))


@given(output_types())
@settings(max_examples=examples(30), deadline=None)
def test_any_type_has_a_view(output_type: object) -> None:
    """Each field of its report is in it, with its status."""
    report = inspect_type(output_type)
    page = Page(report._repr_html_())
    for field in report.fields:
        assert spelled(field.path or "(answer)")[:20] in page.text
        assert field.status in page.text


def test_a_report_shows_what_is_refused_and_what_may_go_wrong() -> None:
    """With the remedies, and names that are hostile as text."""

    class Order(BaseModel):
        codes: set[str] = Field(min_length=2)
        size: int = Field(alias=HOSTILE)

        @field_validator("size")
        @classmethod
        def fits(cls, size: int) -> int:
            return size

    report = inspect_type(Order)
    page = Page(report._repr_html_())
    assert report.refusals
    for error in report.refusals:
        assert error.problem in page.text
        assert error.remedy in page.text
    for hazard in report.hazards:
        assert f"{', '.join(hazard.paths)}\n   {hazard.problem}\n   → {hazard.remedy}" in page.text
    assert "<script>" in page.text
    assert re.search(r"checked by .*fits", page.text)
    assert "nothing can be extracted." in page.text


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "greedy"),
        ({"search": Beams(3)}, "3 beams"),
        ({"temperature": 0.5}, "one sample, at temperature 0.5"),
        ({"temperature": 0.5, "search": Samples(3)}, "3 samples, the likeliest that is valid, at temperature 0.5"),
        (
            {"temperature": 1, "search": Samples(3, vote=True)},
            "3 samples, the vote of the valid ones, at temperature 1",
        ),
    ],
)
def test_an_extractor_shows_its_model_and_its_type(options: Options, told: str) -> None:
    """With the options that decide what it does, and the sketch as the prompt shows it."""
    named = create_model("Named", value=(int, Field(description=HOSTILE)))
    extractor = Extractor(named, model=MODEL, instructions=HOSTILE, max_tokens=1234, **options)
    page = Page(extractor._repr_html_())
    for text in (extractor.description, HOSTILE, "Named", MODEL.name, "1,234", told):
        assert text in page.text
    assert repr(extractor) == "Extractor(Named, model='logits')"


@pytest.mark.filterwarnings("ignore::structured.errors.StructuredWarning")
def test_a_stream_shows_what_is_written_and_writes_nothing_for_it() -> None:
    """As far as it has come, and whether that is all; a repr has one short line."""
    stream = Extractor(Texts, model=MODEL, max_tokens=200, temperature=1, seed=1).stream("x")
    assert (stream.text, repr(stream)) == ("", "Stream('' …)")
    next(stream)
    written = stream.text
    page = Page(stream._repr_html_())
    assert stream.text == written
    assert written in page.text
    assert "being written" in page.text
    stream.result()
    assert "finished" in Page(stream._repr_html_()).text
    assert len(stream.text) > 60
    assert repr(stream) == f"Stream({'…' + stream.text[-60:]!r})"


CHARACTERS = st.sampled_from("<>&'\"a \ud800e\u0301🙂\r\n") | st.characters()


@given(st.text(CHARACTERS, min_size=1, max_size=30), st.lists(st.tuples(*[st.integers(0, 30)] * 2), max_size=5))
def test_an_extraction_shows_its_document_with_the_values_highlighted(text: str, ends: list[tuple[int, int]]) -> None:
    """Whole, as it is read, and marked wherever a span is; spans may lie over each other."""
    spans = [(min(*pair, len(text)), min(max(pair), len(text))) for pair in ends]
    evidence = {f"[{number}]": Evidence(span, "exact", 0.5) for number, span in enumerate(spans)}
    view = made_result(None, [text] * len(spans), (), evidence=evidence, document=text)._repr_html_()
    Page(view)
    (document,) = re.findall("<pre[^>]*>(.*)</pre>", view, re.DOTALL)
    assert lines(Page(document).text) == lines(spelled(text))
    marked_there = "".join(Page(one).text for one in re.findall("<mark[^>]*>(.*?)</mark>", document, re.DOTALL))
    covered = {place for start, end in spans for place in range(start, end)}
    assert lines(marked_there) == lines("".join(spelled(text[place]) for place in sorted(covered)))


def test_an_extraction_shows_its_values_with_what_supports_them() -> None:
    """What is missing, too; and what made it stands above."""
    evidence = {
        steps_to_path((HOSTILE,)): Evidence((0, 3), "grounded", 0.999),
        "age": Evidence(None, "none", 0.25),
        "paid": Evidence(None, "concluded"),
    }
    provenance = Provenance("Person", "", HOSTILE, None, "", {}, "1")
    data = {HOSTILE: "Ana", "age": 31, "paid": True}
    view = made_result(None, data, ("nick",), evidence=evidence, document="Ana", provenance=provenance)._repr_html_()
    page = Page(view)
    assert page.text.startswith(f"Person {HOSTILE}Anafieldvalue")
    for row in ("age3125%no support in the text", "paidTrueconcluded, not spelled out", "nickmissing"):
        assert row in page.text
    assert "Ana99%taken from the text" in page.text


def test_a_long_document_is_shown_around_its_values() -> None:
    """With how much was left out."""
    text = f"{'a' * MAX_CHARACTERS}Ana{'b' * MAX_CHARACTERS}"
    span = (MAX_CHARACTERS, MAX_CHARACTERS + 3)
    page = Page(made_result(None, "Ana", (), evidence={"": Evidence(span, "exact")}, document=text)._repr_html_())
    left_out = f" … {MAX_CHARACTERS - 2 * CONTEXT:,} characters … "
    before, after = (letter * CONTEXT + left_out + letter * CONTEXT for letter in "ab")
    assert f"{before}Ana{after}" in page.text
