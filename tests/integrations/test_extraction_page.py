"""The page of the server in a browser: what a person writes, sees and copies there."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from browser import Browser, open_browser, wait_until
from serving import TOKENIZER, served

from structured.models.scripted import ScriptedModel

ENTER, TAB, DOWN, END = "\ue007", "\ue004", "\ue015", "\ue010"
CONTROL, META = "\ue009", "\ue03d"

TEXT = "\U0001f642 Ana Brandt's card:\n31 years, no. 90071992547409931, <b>Oslo</b>."
FIELDS = "name: str, age: int, number: int, city: str | None, mail: str | None"
ANSWER = {"name": "Ana Brandt", "age": 31, "number": 90071992547409931, "city": "Oslo", "mail": None}
WIDE = "90071992547409931"
"""A whole number that JavaScript cannot hold."""

HOSTILE = "<img src=x onerror=\"document.title='taken'\"></script><script>document.title='taken'</script>"


def written(prompt: str) -> str:
    """The answer to a text: values of it, those of markup, or one field of any name."""
    if HOSTILE in prompt:
        return json.dumps({HOSTILE: HOSTILE, "b": None})
    return json.dumps(ANSWER, ensure_ascii=False)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with open_browser(tmp_path_factory.mktemp("downloads")) as found:
        yield found


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served(ScriptedModel(written, tokenizer=TOKENIZER)) as found:
        yield found


@pytest.fixture
def page(browser: Browser, address: str) -> Browser:
    browser.open(address)
    return browser


@contextmanager
def guarded() -> Iterator[str]:
    with served(ScriptedModel(written, tokenizer=TOKENIZER), api_key="clé") as found:
        yield found


def write(page: Browser, text: str, kind: str) -> None:
    page.run("[byId('document').value, byId('type').value] = arguments", text, kind)


def extract(page: Browser, text: str = TEXT, kind: str = FIELDS) -> None:
    """Write a text and a type, press the button, and wait for the values."""
    write(page, text, kind)
    page.click("#extract")
    wait_until(lambda: page.run("return asked === null"))


def active(page: Browser) -> tuple[str, str]:
    """The path of the value that is shown, and its place in the text."""
    return page.text(".value.active small"), "".join(page.texts("#text mark.active"))


def failures(page: Browser) -> list[str]:
    """What the console has apart from the statuses of refused requests."""
    return [one for one in page.errors() if '"source": "network"' not in one]


def test_the_page_has_a_strict_policy(address: str) -> None:
    """It is one file, allowed nothing but its own script and style, and requests to its own server."""
    answer = httpx.get(address)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    policy = dict(rule.split(" ", 1) for rule in answer.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert policy["script-src"].startswith("'sha256-")
    assert "unsafe" not in str(policy)
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "http://" not in answer.text.replace("http://www.w3.org/2000/svg", "")
    assert len(answer.content) < 50_000


@pytest.mark.thorough
def test_values_stand_beside_their_evidence(page: Browser) -> None:
    """To the last digit, with places in a text with characters that take two units of UTF-16."""
    extract(page)
    assert page.texts(".pick small") == ["name", "age", "number", "city", "mail"]
    assert page.texts(".pick bdi") == ["Ana Brandt", "31", WIDE, "Oslo", "nothing"]
    assert page.texts("#text mark") == ["Ana Brandt", "31", WIDE, "Oslo"]
    assert page.text("#text") == TEXT
    assert page.texts(".trust > span:last-child") == ["stated in the text"] * 4 + ["not stated"]
    assert "4 values, 1 missing." in page.text("#summary")
    assert page.text("#cost").endswith("tokens")
    assert page.text("#summary") in page.text("#said")
    assert failures(page) == []


@pytest.mark.thorough
@pytest.mark.parametrize("modifier", [CONTROL, META])
def test_the_keyboard_does_all(page: Browser, modifier: str) -> None:
    """From the first control to the last value, whose places stand out in turn."""
    page.press(TAB, TAB, TAB)
    assert page.run("return document.activeElement.id") == "document"
    page.press("A", TAB, TAB)
    assert page.run("return document.activeElement.id") == "type"
    write(page, TEXT, FIELDS)
    page.driver.switch_to.active_element.send_keys(modifier + ENTER)  # together
    wait_until(lambda: page.texts(".value"))
    assert page.run("return document.activeElement.id") == "type"
    page.press(TAB, TAB, TAB, TAB, TAB)
    assert page.run("return document.activeElement.id") == "text"
    page.press(TAB)
    assert active(page) == ("name", "Ana Brandt")
    described = page.run("return byId(document.activeElement.getAttribute('aria-describedby')).textContent")
    assert "confidence" in described
    page.press(DOWN)
    assert active(page) == ("age", "31")
    page.press(END)
    assert active(page) == ("mail", "")


@pytest.mark.thorough
def test_the_pointer_shows_places_and_values(page: Browser) -> None:
    """Over a value its place, over a place its value; a click gives the value the focus."""
    extract(page)
    move = "document.querySelectorAll(arguments[0])[arguments[1]].dispatchEvent(new PointerEvent('pointerenter'))"
    page.run(move, ".value", 2)
    assert active(page) == ("number", WIDE)
    page.run(move, "#text mark", 0)
    assert active(page) == ("name", "Ana Brandt")
    page.click("#text mark:nth-of-type(2)")
    assert page.run("return document.activeElement.querySelector('small').textContent") == "age"


@pytest.mark.thorough
def test_markup_is_text(page: Browser) -> None:
    """In the text, in the names of fields, in values, in errors and in calls."""
    schema = {
        "type": "object",
        "properties": {HOSTILE: {"type": "string"}, "b": {"type": ["string", "null"]}},
        "required": [HOSTILE, "b"],
    }
    extract(page, f"Here: {HOSTILE}", json.dumps(schema))
    assert page.text(".pick bdi") == HOSTILE
    assert HOSTILE in page.text("#text")
    assert page.text(".pick small").count("<img") == 1
    page.click("[data-call=curl]")
    extract(page, HOSTILE, f"a: {HOSTILE}")
    assert "<img" in page.text("#type-error")
    extract(page, HOSTILE, f"{{{HOSTILE}")
    assert page.text("#type-error").startswith("This is no JSON: ")
    assert page.run("return [document.title, document.images.length, document.scripts.length]") == ["structured", 0, 2]
    assert failures(page) == []


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "kind", "place", "message"),
    [
        ("", "a: int", "document", "The text is empty."),
        ("a", "a: strng", "type", "'strng' is no type here. Did you mean 'str'?"),
        ("a", "", "type", "There is no field."),
        ("a", '{"type": "foo"}', "type", "The schema is malformed"),
        ("a", '{"type": ', "type", "This is no JSON: "),
        ("a" * 200_001, "a: int", "", "The texts have 200,001 characters"),
    ],
)
def test_errors_stand_beside_what_they_name(page: Browser, text: str, kind: str, place: str, message: str) -> None:
    """They are announced, the box has the focus, and the next call takes them away."""
    extract(page, text, kind)
    name = f"#{place}-error" if place else "#error"
    assert page.text(name).startswith(message)
    assert page.run(f"return document.querySelector('{name}').getAttribute('role')") == "alert"
    if place:
        invalid = "return [document.activeElement.id, byId(arguments[0]).getAttribute('aria-invalid')]"
        assert page.run(invalid, place) == [place, "true"]
    extract(page)
    assert page.texts(".error") == ["", "", "", ""]
    assert page.run("return document.querySelectorAll('[aria-invalid]').length") == 0


@pytest.mark.thorough
def test_a_key_is_asked_for_and_kept_in_the_tab_alone(browser: Browser) -> None:
    """The page needs none, and the calls that it shows name a variable in its place."""
    with guarded() as address:
        assert httpx.get(f"{address}/v1/models").status_code == 401
        browser.open(address)
        extract(browser)
        for key, problem in (("wrong", "The server does not take this key."), ("a b", "A key has no spaces")):
            wait_until(lambda: browser.run("return byId('ask-key').open"))
            browser.press(key, ENTER)
            wait_until(lambda problem=problem: browser.text("#key-error").startswith(problem))
        browser.run("byId('key').value = 'clé'")
        browser.press(ENTER)
        wait_until(lambda: browser.texts(".value"))
        stored = browser.run("return [Object.values(sessionStorage), localStorage.length, document.cookie]")
        assert stored == [["clé"], 0, ""]
        extract(browser)
        assert not browser.run("return byId('ask-key').open")
        for kind in ("Python", "curl"):
            browser.click(f"[data-call={kind}]")
            call = browser.run("return byId('call').value")
            assert "STRUCTURED_API_KEY" in call
            assert "clé" not in call
    assert failures(browser) == []


@pytest.mark.thorough
@pytest.mark.parametrize(
    "kind",
    [
        FIELDS,
        json.dumps({
            "type": "object",
            "properties": {name: {} if name == "mail" else {"const": value} for name, value in ANSWER.items()},
            "required": list(ANSWER),
        }),
    ],
)  # fmt: skip
def test_calls_that_are_copied_do_the_same(page: Browser, kind: str, tmp_path: Path) -> None:
    """In Python, with curl and on the command line, whatever quotation marks the text has."""
    extract(page, TEXT, kind)
    calls = {}
    for name in ("Python", "curl", "command line"):
        page.click(f"[data-call='{name}']")
        calls[name] = page.run("return byId('call').value")
        wait_until(lambda name=name: page.text("#said") == f"Copied as {name}")
    shown = subprocess.run([sys.executable, "-"], input=calls["Python"], capture_output=True, text=True, check=True)
    assert f"'number': {WIDE}" in shown.stdout
    arguments = shlex.split(calls["curl"].replace("\\\n", " "))
    body = json.loads(arguments[arguments.index("-d") + 1])
    assert body["text"] == TEXT
    assert httpx.post(arguments[1], json=body).json()["value"] == ANSWER
    script = calls["command line"].replace("structured extract", f"{shlex.quote(sys.executable)} -m structured extract")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        ["/bin/sh", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["value"] == ANSWER


@pytest.mark.thorough
def test_a_file_is_read_in_the_browser(page: Browser, tmp_path: Path) -> None:
    """As text alone; another file is refused by its name."""
    files = {"a.txt": TEXT.encode(), "b.bin": b"a\0b", "c.txt": b"caf\xe9", "d.txt": b"\xef\xbb\xbfAna"}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)

    def opened(name: str) -> Any:
        page.driver.find_element("css selector", "#file").send_keys(str(tmp_path / name))
        wait_until(lambda: page.text("#document-error") or page.text("#said") == f"{name} is read")
        return page.run("return [byId('document').value, byId('document-error').textContent]")

    assert opened("a.txt") == [TEXT, ""]
    assert opened("b.bin") == [TEXT, "The file b.bin is no text in UTF-8. Paste its text."]
    assert opened("d.txt") == ["Ana", ""]
    assert opened("c.txt")[0] == "Ana"
    dropped = """
        const data = new DataTransfer();
        data.items.add(new File(["dropped"], "e.txt"));
        document.body.dispatchEvent(new DragEvent("dragover", { dataTransfer: data, bubbles: true, cancelable: true }));
        document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    """
    page.run(dropped)
    wait_until(lambda: page.run("return byId('document').value") == "dropped")
    assert page.run("return document.body.className") == ""


@pytest.mark.thorough
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [360, 900, 1280])
def test_the_page_fits_and_can_be_read(browser: Browser, address: str, width: int, dark: bool) -> None:
    """At any width and in either colours: nothing sticks out, and each control has a name."""
    browser.open(address, width=width, dark=dark)
    extract(browser, TEXT, "a: strng, " + "b: int, " * 30)
    extract(browser, f"{TEXT} {'x' * 500}", FIELDS)
    browser.click("[data-call=curl]")
    assert browser.run("return document.documentElement.scrollWidth") <= width
    outside = """
        return [...document.querySelectorAll("button, textarea, mark, .value")].filter((one) => one.checkVisibility())
          .filter((one) => one.getBoundingClientRect().right > innerWidth).map((one) => one.outerHTML);
    """
    assert browser.run(outside) == []
    unnamed = """
        return [...document.querySelectorAll("button, textarea, input:not([hidden])")]
          .filter((one) => !(one.labels?.length || one.ariaLabel || one.textContent.trim()))
          .map((one) => one.outerHTML);
    """
    assert browser.run(unnamed) == []
