"""`structured extract`, `report` and `models`: what people write in a shell, and what programs read from it."""

import csv
import errno
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from functools import partial
from pathlib import Path

import files
import pytest
from typer.testing import CliRunner

from structured.cli.commands import app
from structured.machine_code.notation import IS_COMPILED
from structured.models.load import PACKAGED_MODEL

parquet = pytest.importorskip("pyarrow.parquet")

ROOT = Path(__file__).parents[2]
FIELDS = ("--fields", "name: str, age: int | None")
JASON, ANA = "Jason is 25 years old.", "Ana Brandt is 31 and a nurse."


@pytest.fixture(autouse=True)
def letters(tmp_path, monkeypatch):
    """Stand in a folder with a folder of letters, one of which is empty."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STRUCTURED_MODEL", str(PACKAGED_MODEL))
    monkeypatch.delenv("STRUCTURED_DEBUG", raising=False)
    folder = tmp_path / "letters"
    folder.mkdir()
    for name, text in (("a.txt", JASON), ("b.txt", ANA), ("c.txt", "")):
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def run(*arguments, text=None):
    return CliRunner().invoke(app, arguments, input=text, env={"COLUMNS": "200", "TERM": "dumb"})


def records(result):
    return {record["id"]: record for record in map(json.loads, result.stdout.splitlines())}


def start(*arguments, **options):
    """Start a real process that an interrupt reaches, also where the tests run in the background and ignore it."""
    if os.name != "nt":
        options["preexec_fn"] = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    command = [sys.executable, "-m", "structured", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, **options)


def test_each_document_gives_a_line_of_json():
    """Also one that failed, which is told on stderr, and by the exit code."""
    result = run("extract", *FIELDS, "letters")
    found = records(result)
    assert result.exit_code == 1
    assert found["letters/a.txt"]["value"] == {"name": "Jason", "age": 25}
    assert found["letters/b.txt"]["value"] == {"name": "Ana Brandt", "age": 31}
    assert found["letters/c.txt"]["error"]["kind"] == "PromptError"
    assert result.stderr.count("letters/c.txt") == 1
    assert "PromptError: Document letters/c.txt is empty." in result.stderr
    assert "\x1b" not in result.output


def test_lines_are_short_unless_evidence_is_asked_for(monkeypatch):
    """They have the value or the error, and what is missing; evidence that nobody sees is not computed."""

    def attribute(*_):
        raise AssertionError

    with monkeypatch.context() as patched:
        patched.setattr("structured.results.result.attribute", attribute)
        found = records(run("extract", "--fields", "name: str, age: int", "--allow-missing", "letters"))
    assert found["letters/a.txt"] == {"id": "letters/a.txt", "value": {"name": "Jason", "age": 25}}
    assert found["letters/c.txt"].keys() == {"id", "error"}
    whole = records(run("extract", *FIELDS, "letters/a.txt", "--evidence"))["letters/a.txt"]
    assert whole.keys() > {"id", "digest", "provenance", "value", "evidence", "document"}


@pytest.mark.parametrize(
    ("printer", "path"), [("typer.echo", "letters/a.txt"), ("structured.cli.extract_command.say", "letters/c.txt")]
)
def test_an_error_of_the_output_is_not_that_of_a_document(monkeypatch, caplog, printer, path):
    """It ends the command: nothing is printed a second time, and no document is blamed."""
    written = []

    def full(line, *_, **__):
        written.append(line)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(printer, full)
    result = run("extract", *FIELDS, path)
    assert (result.exit_code, sum(path in str(line) for line in written)) == (3, 1)
    assert "No space left on device" in result.stderr
    assert "Reading the result" not in result.output + caplog.text


@pytest.mark.parametrize("path", ["letters/[ab].txt", "./letters/a*", "letters/../letters/a.txt", "**/a.txt"])
def test_patterns_are_resolved_where_a_shell_does_not(path):
    """A file is called as it was found."""
    result = run("extract", *FIELDS, path)
    assert result.exit_code == 0
    assert next(iter(records(result))).endswith(("a.txt", "b.txt"))


def test_standard_input_is_one_document(tmp_path):
    """Also of several lines, or of another kind; a path in it is told."""
    result = run("extract", *FIELDS, "-", text=f"Hello,\n{JASON}\n")
    assert [record["value"]["age"] for record in records(result).values()] == [25]
    found = records(run("extract", *FIELDS, "-", text=files.pdf(tmp_path / "a.pdf", [JASON]).read_bytes()))
    assert found["-"]["value"]["age"] == 25
    told = "Standard input is 'letters/a.txt', which looks like a path, and is not read. Name the path in place of -."
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert told in run("extract", *FIELDS, "-", text="letters/a.txt\n").stderr
    refused = run("extract", *FIELDS, "-", text=b"\x1f\x8b\x08\0")
    assert (refused.exit_code, "Standard input is compressed. Unpack it, or leave it out." in refused.stderr) == (
        1,
        True,
    )


def test_the_rows_of_a_table_are_documents(tmp_path):
    """With ids from a column or from the line, and with the other columns."""
    with (tmp_path / "mails.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["number", "body", "box"], ["n1", JASON, "in"], ["n2", ANA, "in"]])
    found = records(run("extract", *FIELDS, "mails.csv", "--column", "body", "--id", "number"))
    assert found["n1"]["metadata"] == {"box": "in"}
    assert found["n1"]["value"] == {"name": "Jason", "age": 25}
    (tmp_path / "mails.jsonl").write_text(json.dumps({"body": ANA}) + "\n", encoding="utf-8")
    assert list(records(run("extract", *FIELDS, "mails.jsonl", "--column", "body"))) == ["mails.jsonl:1"]
    piped = run("extract", *FIELDS, "-", "--column", "body", text=json.dumps({"body": ANA}) + "\n")
    assert records(piped)["-:1"]["value"]["age"] == 31


def test_a_table_in_a_folder_is_read_or_fails_alone(letters):
    """By its one column of texts; so does a row that is none. Results that stand there are no documents."""
    (letters / "c.txt").unlink()
    (letters / "mails.csv").write_text(f'n,body\n1,"{ANA}"\n2\n', encoding="utf-8")
    (letters / "two.jsonl").write_text(json.dumps({"a": "x", "b": "y"}) + "\n", encoding="utf-8")
    for _ in range(2):
        assert run("extract", *FIELDS, "letters", "-o", "letters/out.jsonl", "--id", "n").exit_code == 1
    found = {one["id"]: one for one in map(json.loads, (letters / "out.jsonl").read_text("utf-8").splitlines())}
    assert set(found) == {"letters/a.txt", "letters/b.txt", "1", "letters/mails.csv:3", "letters/two.jsonl"}
    assert found["1"]["value"]["age"] == 31
    assert "the row has 1 field" in found["letters/mails.csv:3"]["error"]["message"]
    assert "no column" not in found["letters/mails.csv:3"]["error"]["message"]
    assert "Name one: --column NAME." in found["letters/two.jsonl"]["error"]["message"]


def test_a_call_goes_on_where_the_last_one_stopped(tmp_path):
    """After a line that was torn off, too; unless it is to start anew."""
    command = ("extract", *FIELDS, "letters/a.txt", "letters/b.txt", "-o", "out.jsonl")
    assert run(*command).exit_code == 0
    whole = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "out.jsonl").write_text(whole[0] + whole[1][:20], encoding="utf-8")
    assert "1 document in" in run(*command).stderr
    again = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    assert list(map(essence, again)) == list(map(essence, whole))
    assert "0 documents in" in run(*command).stderr
    assert "2 documents in" in run(*command, "--fresh").stderr
    printed = run(*command[:-2], "--evidence").stdout.splitlines()
    written = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    assert list(map(essence, written)) == list(map(essence, printed))


def essence(line):
    """Return what a record says, without how long it took and how sure the model was."""
    return {name: json.loads(line)[name] for name in ("id", "digest", "provenance", "value", "text")}


def test_documents_that_failed_are_tried_again_when_asked(letters):
    """Until then, the command says that they failed."""
    command = ("extract", *FIELDS, "letters", "-o", "out.jsonl")
    assert run(*command).exit_code == 1
    (letters / "c.txt").write_text(JASON, encoding="utf-8")
    refused = run(*command)
    assert (refused.exit_code, "--retry" in refused.stderr) == (3, True)
    done = run(*command, "--retry")
    assert done.exit_code == 0
    assert "1 document in" in done.stderr
    assert "2 documents had been done before." in done.stderr


def test_an_output_of_another_command_is_refused(tmp_path):
    """With another type or option, until it is to start anew."""
    run("extract", *FIELDS, "letters/a.txt", "-o", "out.jsonl")
    before = (tmp_path / "out.jsonl").read_bytes()
    refused = run("extract", "--fields", "name: str", "letters", "-o", "out.jsonl")
    assert refused.exit_code == 3
    assert "the type" in refused.stderr
    assert "--fresh" in refused.stderr
    assert (tmp_path / "out.jsonl").read_bytes() == before


def test_a_table_has_a_row_for_each_document(tmp_path):
    """And a column for each field; with evidence, one for each value."""
    assert run("extract", *FIELDS, "letters", "-o", "out.csv", "--evidence").exit_code == 1
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        rows = {(row["id"], row["path"]): row for row in csv.DictReader(file)}
    assert (rows["letters/a.txt", "age"]["value"], rows["letters/a.txt", "age"]["quote"]) == ("25", "25")
    run("extract", *FIELDS, "letters", "-o", "out.csv", "--evidence", "--rows", "documents")
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    assert rows["letters/a.txt"]["value.name"] == "Jason"
    assert rows["letters/c.txt"]["error"].startswith("PromptError: ")
    piped = run("extract", "--fields", "name: str", "letters/a.txt", "--format", "csv")
    assert piped.stdout.splitlines() == ["id,value.name", "letters/a.txt,Jason"]
    assert run("extract", *FIELDS, "letters/a.txt", "-o", "a.parquet", "--rows", "documents").exit_code == 0
    assert (tmp_path / "a.parquet").read_bytes().startswith(b"PAR1")


def test_a_table_is_made_of_lines_beside_it(letters):
    """They may lie among the documents, and are continued; the review page reads them."""
    command = ("extract", *FIELDS, "letters", "-o", "letters/out.parquet", "--evidence")
    assert "3 documents in" in run(*command).stderr
    assert "0 documents in" in run(*command).stderr
    assert "1 document in" in run(*command, "--retry").stderr
    assert sorted(one.name for one in letters.iterdir()) == ["a.txt", "b.txt", "c.txt", "out.jsonl", "out.parquet"]
    found = {(row["id"], row["path"]): row for row in parquet.read_table(letters / "out.parquet").to_pylist()}
    assert (found["letters/a.txt", "age"]["start"], found["letters/a.txt", "age"]["end"]) == (9, 11)
    done = run("report", "letters/out.jsonl", "--json", *FIELDS)
    assert json.loads(done.stdout) == {"path": "review.html", "documents": 2, "failed": 1}
    refused = run("extract", "--fields", "name: str", "letters", "-o", "letters/out.parquet")
    assert (refused.exit_code, "--fresh" in refused.stderr) == (3, True)


def test_records_become_a_review_page(tmp_path):
    """With the type or without it, also where fields are missing; documents that failed are counted."""
    run("extract", *FIELDS, "letters", "--allow-missing", "-o", "out.jsonl")
    for more in ((), FIELDS):
        done = run("report", "out.jsonl", "-o", "page.html", "--json", *more)
        assert json.loads(done.stdout) == {"path": "page.html", "documents": 2, "failed": 1}
        assert "Ana Brandt" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_several_objects_may_be_in_a_document():
    """As a list of the type."""
    result = run("extract", "--fields", "name: str", "--many", "letters/a.txt")
    assert [record["value"] for record in records(result).values()] == [[{"name": "Jason"}]]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["letters/a.txt"], 2, "There is no type before 'letters/a.txt'."),
        (["shop:Invoice"], 2, "There are no documents after the type 'shop:Invoice'."),
        ([*FIELDS, "letters/x.txt"], 2, "There is no file or folder 'letters/x.txt'. Is it letters/"),
        ([*FIELDS, "letters/*.pdf"], 2, "No file fits 'letters/*.pdf'."),
        ([*FIELDS, "letters", "--fresh"], 2, "--fresh and --retry are about an output."),
        ([*FIELDS, "letters", "-o", "out.txt"], 2, "The name out.txt ends in none of .jsonl, .csv, .parquet."),
        ([*FIELDS, "letters", "-o", "out.jsonl", "--format", "csv"], 2, "--output out.csv"),
        ([*FIELDS, "letters", "--format", "parquet"], 2, "--output out.parquet"),
        ([*FIELDS, "letters", "-o", "out.jsonl", "--fresh", "--retry"], 2, "Leave one of them out."),
        ([*FIELDS, "letters", "--id", "n"], 2, "--column and --id are about tables"),
        ([*FIELDS, "two.jsonl"], 2, "has 2 columns of texts: 'a', 'b'."),
        (
            [*FIELDS, "table.csv", "--column", "txt"],
            2,
            "the table table.csv has the columns 'n', 'text'. Did you mean 'text'?",
        ),
        (["--fields", "a: strng", "letters"], 2, "'strng' is no type here. Did you mean 'str'?"),
        ([*FIELDS, "letters", "--max-tokens", "0"], 2, "--max-tokens is 0"),
        ([*FIELDS, "letters", "--model", "./nothing"], 3, "ModelError: There is no folder './nothing'."),
        (["false.json", "letters"], 3, "UnsatisfiableError: "),
    ],
)
def test_errors_are_sentences(tmp_path, arguments, status, message):
    """What is wrong and what to write, before any document is read; the exit code tells the kind."""
    (tmp_path / "table.csv").write_text("n,text\n1,a\n", encoding="utf-8")
    (tmp_path / "two.jsonl").write_text(json.dumps({"a": "x", "b": "y"}) + "\n", encoding="utf-8")
    (tmp_path / "false.json").write_text("false", encoding="utf-8")
    result = run("extract", *arguments)
    assert (result.exit_code, result.stdout) == (status, "")
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


def test_models_are_facts():
    """Of what is here, and of what runs it."""
    facts = json.loads(run("models", "--json").stdout)
    assert [one["name"] for one in facts["models"]] == ["the packaged model", "smollm2", "smollm2-extract"]
    assert facts["models"][0]["path"] == str(PACKAGED_MODEL)
    assert facts["default"] == str(PACKAGED_MODEL)
    assert facts["engines"]["torch"]
    assert facts["loops"].startswith("machine code" if IS_COMPILED else "Python, slowly")
    assert "How to name one" in run("models").stdout


@pytest.mark.parametrize(
    "command", ["", "extract", "report", "eval", "tune", "inspect", "models", "fetch", "demo", "cache"]
)
def test_every_help_has_examples(command):
    """Which fit in a terminal of 80 columns."""
    done = CliRunner().invoke(app, [*command.split(), "--help"], terminal_width=80)
    examples = done.output.partition("Examples:\n")[2].splitlines()
    assert done.exit_code == 0
    assert examples
    assert all(len(line) <= 80 for line in done.output.splitlines())


@pytest.mark.thorough
def test_a_pipe_that_is_closed_ends_the_command_quietly(tmp_path):
    """As `| head` closes it."""
    lines = "".join(json.dumps({"text": JASON}) + "\n" for _ in range(300))
    (tmp_path / "many.jsonl").write_text(lines, encoding="utf-8")
    with start("extract", *FIELDS, "many.jsonl", "--column", "text") as process:
        assert process.stdout.readline().startswith(b'{"id": "many.jsonl:')
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 141


COUNT = 1_000
"""Documents that take so long that an interrupt finds some of them not done."""


@pytest.mark.thorough
@pytest.mark.skipif(os.name == "nt", reason="Signals are sent otherwise there.")
@pytest.mark.parametrize("name", ["SIGINT", "SIGKILL"])
def test_an_interrupt_keeps_what_is_done(tmp_path, name):
    """And says how to go on, if it can; the same command does the rest."""
    lines = "".join(json.dumps({"text": JASON, "n": str(number)}) + "\n" for number in range(COUNT))
    (tmp_path / "many.jsonl").write_text(lines, encoding="utf-8")
    command = ("extract", *FIELDS, "many.jsonl", "--column", "text", "--id", "n", "-o", "out.jsonl")
    output = tmp_path / "out.jsonl"
    with start(*command) as process:
        while process.poll() is None and not (output.exists() and output.stat().st_size):
            time.sleep(0.01)
        process.send_signal(signal.Signals[name])
        _, told = process.communicate(timeout=60)
    done = output.read_bytes().count(b"\n")
    assert 0 < done < COUNT
    if name == "SIGINT":
        assert process.returncode == 130
        assert f"{done} record" in told.decode()
        assert b"kept in out.jsonl; the same call goes on.\nstructured extract --fields 'name: str, age: int" in told
        assert b"Traceback" not in told
    else:
        assert process.returncode == -signal.SIGKILL
    assert f"{COUNT - done:,} documents in" in run(*command).stderr
    ids = [json.loads(line)["id"] for line in output.read_text(encoding="utf-8").splitlines()]
    assert sorted(ids, key=int) == [str(number) for number in range(COUNT)]


def test_answers_are_compared_with_gold(tmp_path):
    """As tables, and as JSON that a later run is compared with."""
    gold = {"id": "a", "document": JASON, "value": {"name": "Jason", "age": 26}}
    (tmp_path / "gold.jsonl").write_text(json.dumps(gold) + "\n", encoding="utf-8")
    done = run("eval", "gold.jsonl", *FIELDS, "--json")
    assert json.loads(done.stdout)["fields"].keys() == {"name", "age"}
    (tmp_path / "before.json").write_text(done.stdout, encoding="utf-8")
    assert "age" in run("eval", "gold.jsonl", *FIELDS, "--baseline", "before.json").stdout
    run("extract", *FIELDS, "letters", "-o", "out.jsonl")
    there = run("eval", "gold.jsonl", *FIELDS, "--results", "out.jsonl", "--json")
    assert json.loads(there.stdout)["fields"] == json.loads(done.stdout)["fields"]
    refused = run("eval", "gold.jsonl")
    assert refused.exit_code == 2
    assert "There is no type." in refused.stderr


def test_too_little_gold_to_tune_is_a_sentence(tmp_path):
    """With the number of documents that are needed; the guide shows a command that succeeds."""
    gold = {"id": "a", "document": JASON, "value": {"name": "Jason", "age": 26}}
    (tmp_path / "gold.jsonl").write_text(json.dumps(gold) + "\n", encoding="utf-8")
    for arguments, message in ((FIELDS, "The gold has 1 different document."), ((), "There is no type.")):
        refused = run("tune", "gold.jsonl", *arguments)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert message in " ".join(refused.stderr.split())


FUNCTIONS = """
from structured import functions


def meet(name: str, age: int | None = None) -> None:
    \"\"\"Meet somebody.\"\"\"


def part() -> None:
    \"\"\"Part.\"\"\"


several = functions(meet, part, parallel=True)
"""


def test_a_function_is_a_type(tmp_path):
    """Its call is an object; with --many, there is a list of calls, and `functions` says so itself."""
    (tmp_path / "greet.py").write_text(FUNCTIONS, encoding="utf-8")
    found = records(run("extract", "greet.py:meet", "letters"))
    assert found["letters/a.txt"]["value"] == {"name": "meet", "arguments": {"name": "Jason", "age": 25}}
    calls = records(run("extract", "greet.py:meet", "letters/a.txt", "--many"))["letters/a.txt"]["value"]
    assert {"name": "meet", "arguments": {"name": "Jason", "age": 25}} in calls
    assert isinstance(records(run("extract", "greet.py:several", "letters/a.txt"))["letters/a.txt"]["value"], list)
    refused = run("extract", "greet.py:several", "letters/a.txt", "--many")
    assert refused.exit_code == 2
    assert "Write functions(…, parallel=True)." in refused.stderr


def test_the_calls_of_a_function_are_a_table(tmp_path):
    (tmp_path / "greet.py").write_text(FUNCTIONS, encoding="utf-8")
    assert run("extract", "greet.py:meet", "letters/a.txt", "--output", "out.csv").exit_code == 0
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["value.name"], row["value.arguments.name"], row["value.arguments.age"]) == ("meet", "Jason", "25")


def test_a_function_is_inspected(tmp_path):
    (tmp_path / "greet.py").write_text(FUNCTIONS, encoding="utf-8")
    assert "arguments.age" in run("inspect", "greet.py:meet").stdout


@pytest.mark.parametrize(("option", "least"), [("--chunk-tokens", 32), ("--passes", 1)])
def test_a_wrong_number_for_long_documents_is_a_usage_error(option, least):
    refused = run("extract", *FIELDS, "letters", option, str(least - 1))
    assert refused.exit_code == 2
    assert f"{option} is {least - 1}; it must be {least} or greater" in refused.stderr


def test_messages_spell_options_as_the_command_line_does():
    """And not as Python does, `batch_size`, unless that is what the user wrote."""
    refused = run("extract", *FIELDS, "letters", "--batch-size", "0")
    assert "--batch-size is 0;" in refused.stderr
    assert "'batch_size'" in run("extract", *FIELDS, "batch_size").stderr


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("suggest", "two.csv", "--model", "none"), "has 2 columns of texts: 'a', 'b'. Name one: --column NAME."),
        (("extract", *FIELDS, "two.csv", "--column", "c"), "--column is 'c', and the table two.csv has the columns"),
        (("extract", "mine.py:Q", "letters"), "There is no 'Q' in 'mine.py'. It has P, Colour, f."),
        (("inspect", "mine.py:Couleur"), "There is no 'Couleur' in 'mine.py'. Is it Colour?"),
        (("extract", *FIELDS, "empty.csv"), "The table empty.csv is empty. Its first line has to have the names"),
        (("extract", "torn.json", "letters/a.txt"), "torn.json: The schema is not JSON: "),
        (
            ("extract", "latin.json", "letters/a.txt"),
            "The file latin.json is not text in UTF-8: byte 2 is 0xe9. Convert",
        ),
        (("report", "latin.json"), "Line 1 of latin.json is no record of a document: 'utf-8' codec"),
        (("eval", "torn.json", *FIELDS), "torn.json, line 1 is not JSON: Expecting value at column 7. Correct it"),
        (
            ("eval", "gold.jsonl", *FIELDS, "--baseline", "gold.jsonl"),
            "This is no evaluation as to_json or `eval --json` writes it",
        ),
        (("tune", "gold.jsonl"), "Pass --type module:Type, file.py:Type or schema.json, or --fields."),
        (("tune", "torn.json", *FIELDS), "torn.json, line 1 is not JSON"),
    ],
)
def test_a_mistake_is_told_with_its_place_and_the_options_of_the_command(tmp_path, monkeypatch, command, told):
    """Before a model is loaded."""
    monkeypatch.setenv("STRUCTURED_MODEL", "none/at-all")
    for name, content in {
        "two.csv": b"a,b\nx,y\n",
        "empty.csv": b"",
        "torn.json": b'{"a": ',
        "mine.py": b"from typing import Literal\nfrom pydantic import BaseModel\nclass P(BaseModel):\n    n: int\n"
        b'class _H(P): ...\nColour = Literal["a"]\nLIMIT = 3\ndef f(a: int) -> None: ...\n',
        "latin.json": b'{"\xe9": 1}\n',
        "gold.jsonl": b'{"document": "Ana is 31.", "value": {"name": "Ana", "age": 31}}\n',
    }.items():
        (tmp_path / name).write_bytes(content)
    result = run(*command)
    assert told in result.output
    assert result.exit_code in {2, 3}
