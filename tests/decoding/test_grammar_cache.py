"""Grammars on disk: a process that uses one that another has read does not read it again, and finds the same."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("lark")

from doubles import ByteTokenizer, random_logits
from lark.indenter import PythonIndenter

from structured import Grammar, extract
from structured.automata.grammar import lark_grammar
from structured.decoding.generate import forget, load_grammars
from structured.errors import CacheWarning
from structured.index.cache import decode, encode
from structured.index.index import Index
from structured.output_types.grammar import SHIPPED, ShippedName, sources_of
from structured.vocabulary import Vocabulary

TEXTS: dict[ShippedName, list[str]] = {
    "json": ['{"a": [1, true, null]}', '{"a" 1}', "[1.5e3]"],
    "arithmetic": ["1 + 2 * (3 - x)", "1 + 2", "1 +"],
    "sql": ["SELECT a, b FROM t WHERE a = 1 ORDER BY b", "SELECT FROM t", "SELECT 1"],
    "python": ["x = 1\n", "if x:\n    y = [1,\n2]\nelse:\n    pass\n", "if x:\ny\n"],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STRUCTURED_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def refuse_to_read(*_: object, **__: object) -> None:
    raise AssertionError("The grammar is read.")


def parsed(grammar: Grammar[object], text: str) -> object:
    try:
        return grammar._lark.parse(text)
    except Exception as error:  # noqa: BLE001  the same is expected of both
        return type(error), sorted(str(error).splitlines())  # Lark lists what it expected in the order of a set


@pytest.mark.parametrize("name", SHIPPED)
def test_a_grammar_from_the_cache_is_the_one_that_was_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: ShippedName
) -> None:
    """Its tables are the same, so its masks are; and so is what Lark makes of texts, or says against them."""
    first, second = Grammar.named(name), Grammar.named(name)
    load_grammars(first)
    assert len(list(folder.iterdir())) == 1
    with monkeypatch.context() as patch:
        patch.setattr(lark_grammar, "read_grammar", refuse_to_read)
        load_grammars(second)
        automaton = second.automaton()
        assert automaton.fingerprint == first.automaton().fingerprint
        assert [parsed(second, text) for text in TEXTS[name]] == [parsed(first, text) for text in TEXTS[name]]
    vocabulary = Vocabulary.from_tokenizer(ByteTokenizer())
    masks = [Index(one, vocabulary).mask(one.start) for one in (automaton, first.automaton())]
    assert masks[0].tobytes() == masks[1].tobytes()


def test_each_process_makes_the_same_tables() -> None:
    """Otherwise what one has learned of a grammar is of no use to the next: it is kept under a digest of these."""
    code = (
        "from structured import Grammar; print([Grammar.named(n).automaton().fingerprint for n in ('json', 'python')])"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
        ).stdout
        for seed in (1, 2, 3)
    }
    assert len(found) == 1


@pytest.mark.parametrize("damage", [b"", b"junk"])
def test_a_damaged_file_is_replaced(folder: Path, damage: bytes) -> None:
    load_grammars(Grammar.named("json"))
    [file] = folder.iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage or whole[:-1])
    load_grammars(Grammar.named("json"))
    assert file.read_bytes() == whole


@pytest.mark.parametrize("content", [b"[]", b"{", b'{"start": 1}', None])
def test_a_forged_file_is_told_of_and_replaced(folder: Path, content: bytes | None) -> None:
    load_grammars(Grammar.named("json"))
    [file] = folder.iterdir()
    whole = file.read_bytes()
    arrays = decode(whole)
    text = arrays["tables"].tobytes().replace(b'"end_symbol":', b'"end_symbol":9') if content is None else content
    file.write_bytes(
        encode({"tables": arrays["tables"][:0], "other": arrays["tables"]} if content == b"[]" else _as(text))
    )
    with pytest.warns(CacheWarning, match="right checksum"):
        load_grammars(Grammar.named("json"))
    assert file.read_bytes() == whole


def test_a_folder_that_cannot_be_written_is_no_error(folder: Path) -> None:
    folder.write_text("a file")
    grammar = Grammar.named("json")
    load_grammars(grammar)
    assert grammar.parse("[1]") == "[1]"


def test_keys_tell_readings_apart(folder: Path) -> None:
    """The start and the indenter decide as well; so do files that are imported, of which nothing is kept."""

    class Wide(PythonIndenter):
        tab_len = 4

    text = Grammar.named("python").grammar
    both = 'start: "a"\nother: "b"'
    given = [Grammar(both), Grammar(both, "other"), Grammar(text, indenter=PythonIndenter())]
    for count, grammar in enumerate([*given, Grammar(text, indenter=Wide())], start=1):
        load_grammars(grammar)
        assert len(list(folder.iterdir())) == count
    (folder.parent / "names.lark").write_text("NAME: /[a-z]+/")
    load_grammars(Grammar("start: NAME\n%import names.NAME", import_paths=[str(folder.parent)]))
    load_grammars(Grammar.from_gbnf('root ::= "a"'))
    assert sources_of(Grammar("start: NAME\n%import .names.NAME")) is None
    assert len(list(folder.iterdir())) == 4


@pytest.mark.filterwarnings("ignore::structured.errors.StructuredWarning")
def test_what_is_learned_of_a_grammar_is_kept_unless_told_not_to(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of combinations are kept as well; without the cache nothing is written."""
    model = random_logits(len(ByteTokenizer().tokens), seed=1), ByteTokenizer()
    expression = Grammar('start: "(" start ")" | "x"')
    extract("Sum: " + expression, "x", model=model, max_tokens=40, seed=0, cache=False)
    assert not folder.exists()
    again = Grammar(expression.grammar)
    extract("Sum: " + again, "x", model=model, max_tokens=40, seed=0)
    assert [file for file in folder.iterdir() if file.name.startswith("grammar-")]
    forget()
    monkeypatch.setattr(lark_grammar, "read_grammar", refuse_to_read)
    extract("Sum: " + Grammar(expression.grammar), "x", model=model, max_tokens=40, seed=0)


def _as(text: bytes) -> dict[str, object]:
    import numpy as np

    return {"tables": np.frombuffer(text, dtype=np.uint8)}
