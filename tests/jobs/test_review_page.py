"""The review page in a browser: what a person sees and does there."""

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Browser, open_browser, wait_until
from purchases import purchases

from structured import Extraction, report
from structured.output_types.evidence import Evidence, Match

pytestmark = pytest.mark.thorough

HOSTILE = "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\"><!--"
TOO_WIDE = 2**63 + 1
"""A whole number that JavaScript cannot hold."""

ENTER, ESCAPE, TAB, DOWN, RIGHT = "\ue007", "\ue00c", "\ue004", "\ue015", "\ue014"

MARKS = """
show(arguments[0]);
const texts = documents[arguments[0]].values.map((value, number) =>
  Array.from(marksOf(number), (mark) => mark.textContent).join(""));
return [JSON.stringify(byId("text").textContent), JSON.stringify(texts)];
"""

CONTRASTS = """
const luminance = ([r, g, b]) => {
  const linear = (part) => (part <= 10 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  const [x, y, z] = [r, g, b].map(linear);
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
};
const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
const behind = (one) => {
  for (; one; one = one.parentElement) {
    const colour = numbers(getComputedStyle(one).backgroundColor);
    if (colour.length === 3 || colour[3] === 1) return colour;
  }
};
const found = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const parent = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || parent.closest("script, :disabled") || !parent.checkVisibility()) continue;
  const [a, b] = [numbers(getComputedStyle(parent).color), behind(parent)].map(luminance).sort((x, y) => y - x);
  found.push([(a + 0.05) / (b + 0.05), walker.currentNode.data]);
}
return found.sort(([a], [b]) => a - b);
"""


@pytest.fixture(scope="module")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="module")
def browser(downloads: Path) -> Iterator[Browser]:
    with open_browser(downloads) as opened:
        yield opened


@pytest.fixture
def page(tmp_path: Path, browser: Browser) -> Browser:
    """Open the report of twenty purchases."""
    browser.open(report(purchases(), tmp_path / "review.html", title="Purchases"))
    return browser


def extraction(document: str, data: Any, **evidence: Evidence) -> Extraction[None]:
    return Extraction(None, data, (), evidence=evidence, document=document)


def random_spans(draw: random.Random) -> Extraction[None]:
    """Return a document of awkward characters with values anywhere: nested, overlapping, empty, at the ends."""
    alphabet = (
        "a",
        "é",
        "e\u0301",
        "\u0301",
        "🙂",
        "👩‍👩‍👧",
        "\r\n",
        "\n",
        "\t",
        "<",
        "&amp;",
        "\u2028",
        "\ud800",
        "ש",
        " ",
    )
    document = "".join(draw.choices(alphabet, k=draw.randrange(12)))
    evidence = {}
    for number in range(draw.randrange(6)):
        start, end = sorted((draw.randrange(len(document) + 1), draw.randrange(len(document) + 1)))
        evidence[f"v{number}"] = Evidence((start, end), "exact", draw.random())
    return extraction(document, dict.fromkeys(evidence, "x"), **evidence)


def test_highlights_are_at_the_spans(browser: Browser, tmp_path: Path) -> None:
    """The marks of a value hold the slice of the document that its span says, and the text is all there."""
    draw = random.Random(1)
    extractions = [*purchases(), *(random_spans(draw) for _ in range(150))]
    browser.open(report(extractions, tmp_path / "review.html"))
    for place, one in enumerate(extractions):
        text, marked = map(json.loads, browser.run(MARKS, place))
        slices = [one.document[slice(*each.span)] if each.span else "" for each in one.evidence.values()]
        assert same_units(text, one.document or "This document is empty.")
        assert all(map(same_units, marked, slices))


def same_units(shown: str, text: str) -> bool:
    """Tell whether two texts are the same in UTF-16; two halves of a pair are one character there."""
    return shown.encode("utf-16", "surrogatepass") == text.encode("utf-16", "surrogatepass")


def test_nothing_that_is_handed_in_is_run(browser: Browser, tmp_path: Path) -> None:
    """Documents, values, paths and titles are text; and the page asks for nothing but itself."""
    given = Extraction(
        None, {HOSTILE: HOSTILE}, (), {json.dumps(HOSTILE): Evidence((0, len(HOSTILE)), "exact", 0.5)}, HOSTILE
    )
    browser.open(report([given], tmp_path / "review.html", title=HOSTILE))
    assert browser.driver.title == HOSTILE
    assert (browser.text("h1"), browser.text("#text"), browser.text("#text mark")) == (HOSTILE,) * 3
    assert browser.texts(".pick bdi, .pick small") == [json.dumps(HOSTILE), HOSTILE]
    assert browser.run("return [document.scripts.length, document.images.length]") == [2, 0]
    assert browser.run("return performance.getEntriesByType('resource').length") == 0
    assert browser.errors() == []
    browser.run("document.body.append(Object.assign(document.createElement('script'), {text: 'document.title = 1'}))")
    assert browser.driver.title == HOSTILE
    assert "Content Security Policy" in "".join(browser.errors())


def test_keys_go_from_value_to_value_and_document_to_document(page: Browser) -> None:
    """The value that is chosen has the focus, and its highlight stands out."""

    def chosen() -> tuple[str, str]:
        return page.text(".value.active small"), "".join(page.texts("#text mark.active"))

    assert chosen() == ("vendor", "Halden Paper & Print Ltd")
    page.press("j")
    assert chosen() == ("number", "HP-20417")
    assert page.run("return document.activeElement.closest('.value').dataset.value") == "1"
    page.press(DOWN, "k", "k", "k")
    assert chosen() == ("vendor", "Halden Paper & Print Ltd")
    page.press(RIGHT)
    assert page.text("h2").startswith("Document 2")
    page.press("k")
    assert page.text("h2").startswith("Document 1")
    assert chosen() == ("paid", "")
    page.press("?")
    assert page.run("return byId('help').open")
    page.press("j", ESCAPE)
    assert (page.run("return byId('help').open"), chosen()) == (False, ("paid", ""))
    page.press("/", "a")
    assert page.run("return [byId('query').value, doneIn(documents[0])]") == ["a", 0]


def test_a_click_chooses_the_value_and_shows_its_place(page: Browser) -> None:
    """On either side; where values lie over each other, the next click chooses the next."""
    page.click(".value[data-value='4'] .pick")
    assert page.text("#text mark.active") == "Cartridge paper A2, 220 gsm"
    page.click("#text mark[data-values='2']")
    assert page.text(".value.active small") == "date"


def test_values_that_lie_over_each_other_are_chosen_in_turn(browser: Browser, tmp_path: Path) -> None:
    """The shortest first."""
    spans = {"whole": (0, 10), "first": (0, 7), "last": (4, 10)}
    given = extraction(
        "0123456789", dict.fromkeys(spans, "x"), **{name: Evidence(span, "exact") for name, span in spans.items()}
    )
    browser.open(report([given], tmp_path / "review.html"))
    assert browser.texts("#text mark") == ["0123", "456", "789"]
    chosen = []
    for _ in range(4):
        browser.click("#text mark:nth-of-type(2)")
        chosen.append(browser.text(".value.active small"))
    assert chosen == ["last", "first", "whole", "last"]


def test_filters_and_search_choose_documents_and_values(page: Browser) -> None:
    """By words in a document or a value, by field, by confidence, by support, and by what is still to review."""
    given = purchases()

    def found() -> int:
        return int(page.text("#found").split()[0])

    def set_to(name: str, value: object) -> None:
        page.run(
            "byId(arguments[0])[arguments[1]] = arguments[2]; filter()",
            name,
            "checked" if isinstance(value, bool) else "value",
            value,
        )

    page.press("/", *"TOTAL")
    wait_until(lambda: found() != len(given))
    assert found() == sum("total" in one.document.lower() for one in given)
    assert page.run("return [...CSS.highlights.get('search')].map(String)") == ["Total"]
    set_to("query", "2024-06-03")  # which only a value says
    assert found() == 1
    set_to("query", "")
    set_to("limit", 60)
    low = [
        [path for path, one in each.evidence.items() if one.confidence is not None and one.confidence <= 0.6]
        for each in given
    ]
    assert found() == sum(map(bool, low))
    assert page.texts(".value small") == next(filter(None, low))
    set_to("limit", 100)
    set_to("unsupported", True)
    assert found() == sum(any(one.match == "none" for one in each.evidence.values()) for each in given)
    set_to("field", page.run("return data.fields.indexOf('number')"))
    assert (found(), page.texts(".value small")) == (1, ["number"])
    set_to("field", "")
    set_to("unsupported", False)
    page.press(ESCAPE)
    page.run("byId('query').blur(); show(0)")
    page.press("A")
    set_to("open-only", True)
    assert found() == len(given) - 1
    set_to("query", "no document says this")
    assert (found(), page.run("return byId('reading').hidden")) == (0, True)


def test_decisions_are_exported_as_gold(browser: Browser, tmp_path: Path, downloads: Path) -> None:
    """Corrections are in the value, what was rejected is not; each digit that was not corrected is as it was."""
    match: Match = "exact"
    data = {"id": TOO_WIDE, "name": "Ana", "price": 1.0, "tags": ["a", "b"], "lines": [{"x": 1}, {"x": 2}]}
    paths = ("id", "name", "price", "nick", "tags[0]", "tags[1]", "lines[0].x", "lines[1].x")
    evidence = {path: Evidence((0, 3), match, 0.5) for path in paths}
    given = Extraction(None, data, ("nick",), evidence, "Ana \U0001f642")
    other = extraction("nothing to see", {"name": "x"}, name=Evidence(None, "none"))
    page = report([given, other, given], tmp_path / "review.html")
    browser.open(page)
    browser.press("a", "c", "B", "o", ENTER)  # id; name
    browser.press("j", "c", "x", ENTER)  # a price is a number
    assert browser.text(".edit p[role=alert]").startswith("Write a number")
    browser.press(*"\ue003" * 2, "2", ".", "5", "0", ENTER, "j", "c", "A", "n", "n", "i", ENTER)  # backspace; nick
    browser.press("j", "r", "a", "r")  # tags[0], tags[1], lines[0].x
    assert browser.run("return documents[0].values.length - doneIn(documents[0])") == 1
    browser.driver.refresh()
    browser.click("#export")
    file = downloads / "gold.jsonl"
    wait_until(file.exists)
    (line,) = file.read_text(encoding="utf-8").splitlines()
    file.unlink()
    assert '"price": 2.50,' in line
    gold = json.loads(line)
    assert gold["value"] == {
        "id": TOO_WIDE,
        "name": "Bo",
        "price": 2.5,
        "nick": "Anni",
        "tags": ["b"],
        "lines": [{"x": 2}],
    }
    kinds = ("accepted", "corrected", "corrected", "corrected", "rejected", "accepted", "rejected")
    assert gold["reviewed"] == dict(zip(paths, kinds, strict=False))
    assert gold["document"] == given.document
    assert gold.keys() == {"id", "document", "value", "reviewed"}
    browser.run("show(0); choose(0)")
    browser.press("u")
    assert "id" not in json.loads(browser.run("return gold()"))["reviewed"]


def test_selected_words_are_the_correction(page: Browser) -> None:
    """What is selected in the document stands in the box."""
    page.run("getSelection().selectAllChildren(document.querySelector('#text mark'))")
    page.press("j", "c", ENTER)
    assert page.run("return JSON.parse(currentJson(documents[0].values[1]))") == "Halden Paper & Print Ltd"


def test_a_thousand_documents_open_in_two_seconds(browser: Browser, tmp_path: Path) -> None:
    """Only what is in sight is there, and scrolling brings the rest, each time before the next picture is due."""
    page = report(purchases(1000), tmp_path / "review.html")
    browser.open(page)

    def seconds_to_open() -> float:
        started = time.perf_counter()
        browser.driver.refresh()
        assert browser.text("#found") == "1,000 documents"
        return time.perf_counter() - started

    assert min(seconds_to_open() for _ in range(3)) < 2
    assert len(browser.texts(".row")) < 40
    milliseconds = browser.run("""
        const times = [];
        for (byId("list").scrollTop = 0; times.length < 100; byId("list").scrollTop += 570) {
          const started = performance.now();
          drawList();
          byId("rows").getBoundingClientRect();
          times.push(performance.now() - started);
        }
        return times.sort((a, b) => a - b)[50];
    """)
    assert milliseconds < 16
    browser.run("byId('list').scrollTop = 1e9")
    wait_until(lambda: browser.run("return document.querySelector('.row:last-child').ariaPosInSet") == "1000")
    assert len(browser.texts(".row")) < 40


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 360])
def test_every_text_can_be_read(browser: Browser, tmp_path: Path, width: int, *, dark: bool) -> None:
    """In both colours it has a contrast of 4.5 at least, and nothing is wider than the screen."""
    browser.open(report(purchases(), tmp_path / "review.html"), width=width, dark=dark)
    browser.run("byId('filters').classList.add('open'); show(1)")
    browser.press("a", "r", "c", ESCAPE, "j", "c")
    weakest, text = browser.run(CONTRASTS)[0]
    assert weakest >= 4.5, text
    assert browser.run("return document.documentElement.scrollWidth") <= width
    browser.run("byId('help').showModal()")
    weakest, text = browser.run(CONTRASTS)[0]
    assert weakest >= 4.5, text


def test_colours_are_those_of_the_system_until_they_are_switched(browser: Browser, tmp_path: Path) -> None:
    def page_colour() -> str:
        colour: str = browser.run("return getComputedStyle(document.body).backgroundColor")
        return colour

    page = report(purchases(1), tmp_path / "review.html")
    browser.open(page, dark=True)
    dark = page_colour()
    browser.click("#theme")
    light = page_colour()
    browser.open(page)
    assert dark != light == page_colour()


def test_every_control_has_a_name_for_those_who_hear_the_page(page: Browser) -> None:
    """And what is done is said."""
    page.press("c")
    controls = {"button", "checkbox", "combobox", "listbox", "option", "searchbox", "slider", "textbox"}
    nodes = page.command("Accessibility.getFullAXTree")["nodes"]
    named = [
        (node["role"]["value"], node["name"]["value"]) for node in nodes if not node["ignored"] and node.get("name")
    ]
    assert {role for role, _ in named} >= controls
    assert all(name for role, name in named if role in controls)
    page.press(ESCAPE, "a")
    assert page.text("#said") == "vendor accepted"


def test_a_page_without_documents_says_so(browser: Browser, tmp_path: Path) -> None:
    browser.open(report([], tmp_path / "review.html"))
    browser.press("j", "a", "A", "c", "u", RIGHT)
    assert browser.text("#found") == "0 documents"
    assert browser.errors() == []
