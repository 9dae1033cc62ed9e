"""The visible text of HTML: all that a reader sees, in lines, and nothing else."""

import html
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from structured.errors import PromptError
from structured.extraction.documents.visible_text import read_html, visible_text

WORDS = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=9)
LINES = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
SPACES = st.sampled_from([" ", "\n", "\n\t  ", "  "])


def spaced(line: str, space: str) -> str:
    return html.escape(line).replace(" ", space)


@st.composite
def pages(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A page, and the lines that a reader sees."""
    markup, lines = [], []
    for _ in range(draw(st.integers(0, 6))):
        texts, space = draw(st.lists(LINES, min_size=1, max_size=4)), draw(SPACES)
        written = [spaced(text, space) for text in texts]
        kind = draw(st.sampled_from(["p", "h2", "div", "ul", "br", "table", "inline", "hidden"]))
        match kind:
            case "p" | "h2" | "div":
                markup += [f"<{kind} class=x>{one}</{kind}>\n" for one in written]
                lines += texts
            case "ul":
                closed = draw(st.sampled_from(["</li>", ""]))
                markup.append(f"<ul>{''.join(f'<li>{one}{closed}' for one in written)}</ul>")
                lines += texts
            case "br":
                markup.append(f"<div>{'<br>'.join(written)}</div>")
                lines += texts
            case "table":
                opened, closed = draw(st.sampled_from([("<td>", "</td>\n"), ("<td>", ""), ("<th> <p>", "</p></th>")]))
                rows = draw(st.integers(1, 3))
                row = "".join(f"{opened}{one}{closed}" for one in written)
                markup.append(f"<table>{f'<tr>{row}' * rows}</table>")
                lines += ["\t".join(texts)] * rows
            case "inline":
                markup.append(f"<div>{' '.join(f'<b>{one}</b>' for one in written)}</div>")
                lines.append(" ".join(texts))
            case "hidden":
                way = draw(st.sampled_from(["style", "script", "template", "title", "noscript"]))
                inside = written[0] if way in {"template", "noscript", "title"} else "x < 3 && y"
                markup.append(f"<{way}>{inside}</{way}><!-- {html.escape(texts[0])} -->")
                markup.append(f"<p hidden>{written[0]}</p><div style='color:red; DISPLAY : none'>{written[0]}</div>")
    return "".join(markup), lines


@given(pages())
def test_what_a_reader_sees_stands_on_its_lines(page: tuple[str, list[str]]) -> None:
    markup, lines = page
    assert [line for line in visible_text(markup).split("\n") if line] == lines


@given(st.text("<>/abphtdr \n='\"&!-;[]", max_size=60))
def test_any_text_is_read(text: str) -> None:
    """A browser shows something for any text, and so is there a text for any; without markup it is all there."""
    found = visible_text(text)
    assert not found.startswith("\n")
    if not set("<&") & set(text):
        assert found.split() == text.split()


@pytest.mark.parametrize(
    ("markup", "seen"),
    [
        ("a<b>b</b>c", "abc"),
        ("a <b> b</b> <i> </i>c", "a b c"),
        ("<p>a<p>b<div>c</div>d", "a\n\nb\n\nc\nd"),
        ("<pre>\n a\n   b\n</pre>c", " a\n   b\nc"),
        ("<p hidden>a<p>b", "b"),
        ("<table><tr><td><td>1<tr><td>2<td></table>x", "\t1\n2\n\nx"),
        ("<table><tr><td><p>a</p><p>b</p></td><td>c</td></tr></table>", "a\n\nb\tc"),
        ("<table><tr><td><table><tr><td>a<td>b</table><td>c</table>", "a\tb\tc"),
        ("<dialog>a</dialog><dialog open>b</dialog>", "b"),
        ("&lt;b&gt; &eacute;&#233;", "<b> éé"),
        ("<script>a</script >b<style>p{}</style>", "b"),
        ("a<br><br>b<br>", "a\n\nb"),
        ("</p></td></nothing>a", "a"),
    ],
)
def test_the_layout_is_that_of_a_browser(markup: str, seen: str) -> None:
    assert visible_text(markup) == seen


@pytest.mark.parametrize(
    "data",
    [
        "<p>Zoë €</p>".encode(),
        "<p>Zoë €</p>".encode("utf-8-sig"),
        "<p>Zoë €</p>".encode("utf-16"),
        "<meta charset=iso-8859-1><p>Zoë €</p>".encode("cp1252"),
        '<meta http-equiv="Content-Type" content="text/html; charset=windows-1252"><p>Zoë €'.encode("cp1252"),
        '<?xml version="1.0" encoding="ISO-8859-15"?><html><p>Zoë €</p></html>'.encode("iso-8859-15"),
    ],
)
def test_a_page_is_read_in_the_encoding_that_it_declares(data: bytes, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_bytes(data)
    assert read_html(page).text == "Zoë €"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ("<p>Zoë</p>".encode("latin-1"), "is not text in UTF-8: byte 5 is 0xeb"),
        (b"<meta charset=klingon><p>a", "its encoding is 'klingon', which Python does not know"),
    ],
)
def test_a_page_in_another_encoding_is_refused(data: bytes, told: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_bytes(data)
    with pytest.raises(PromptError, match=told):
        read_html(page)


@pytest.mark.parametrize("markup", ["<p><div>", "<b>", "<table><tr><td>", "<li>a", "</p>", "<div hidden><p>"])
def test_time_grows_with_the_length(markup: str) -> None:
    """Also of pages that close nothing."""
    started = time.process_time()
    visible_text(markup * 30_000)
    assert time.process_time() - started < 5


@pytest.mark.parametrize("torn", ["<!--", "<a ", "<?", "<![CDATA[", "</a "])
def test_what_never_ends_is_dropped_in_linear_time(torn: str) -> None:
    started = time.process_time()
    assert visible_text("<html><p>Ana</p>" + torn * 100_000) == "Ana"
    assert time.process_time() - started < 5


def test_a_comment_without_an_end_hides_the_rest_as_in_a_browser() -> None:
    assert visible_text("<p>Ana</p><!-- <b>x</b> <p>Bo</p>") == "Ana"
    assert visible_text("<p>Ana</p><script>x = '<!--'</script><p>Bo</p>") == "Ana\n\nBo"


def test_a_no_break_space_is_written_as_a_plain_one() -> None:
    assert visible_text("<p>Mia&nbsp;Sand owes 1\u202f000&#160;EUR</p>") == "Mia Sand owes 1\u202f000 EUR"
