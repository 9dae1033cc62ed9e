"""Models behind servers: what is sent is what each documents, and what comes back is read, checked or refused."""

import json
import pickle
import re
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import AfterValidator, BaseModel, Field
from servers import Reply, chat, double, events, json_lines, ollama, with_logprobs

from structured import (
    Beams,
    Choice,
    Chunking,
    Extractor,
    Grammar,
    Grounded,
    JsonLayout,
    JsonSchema,
    Particles,
    Regex,
    Repetition,
    Samples,
    Text,
    classify,
    extract,
    extract_batch,
    load_model,
    write_results,
)
from structured.automata.byte_automaton import accepts_text
from structured.errors import BatchError, GenerationError, ModelError, PatternError, SchemaError, ServerError
from structured.extraction import Draft, Options, remote_task
from structured.integrations.model_servers import connection
from structured.integrations.model_servers.server_apis import VllmApi, pattern_to_gbnf, words_to_gbnf
from structured.models import connect
from structured.models.server_api import Address, Envelope, ServerAnswer, wrapped
from structured.output_types.remote_constraints import JsonConstraint, RegexConstraint, constraint_of
from structured.output_types.resolve import resolve_type

pytest.importorskip("httpx", reason="The extra remote asks servers.")

TEXT = "Jason is 25 years old."
JASON = '{"name": "Jason", "age": 25}'
SUMS = 'root ::= [0-9]+ ("+" [0-9]+)*'
KEY = "sk-very-secret"


class Person(BaseModel):
    name: str
    age: int


class Adult(BaseModel):
    name: str
    age: Annotated[int, AfterValidator(lambda age: age if age >= 18 else int("too young"))]


class Visit(BaseModel):
    who: str
    note: str | None = None


class Node(BaseModel):
    label: str
    children: "list[Node]" = []


SCHEMA = {
    "type": "object",
    "title": "Person",
    "properties": {"name": {"title": "Name", "type": "string"}, "age": {"title": "Age", "type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


def _schemas() -> st.SearchStrategy[Any]:
    """Schemas of lists and their items that may refer to each other."""
    references = st.sampled_from(["#/$defs/A", "#/$defs/B", "#/prefixItems/0"]).map(lambda one: {"$ref": one})
    leaves = st.sampled_from([{"type": "integer"}, {"type": "string"}, {"enum": ["#", 1]}, True]) | references
    lists = st.builds(lambda first, others: {"prefixItems": [first], "items": others}, leaves, leaves)
    plain = st.sampled_from([{"type": "integer"}, {"enum": ["#", "a"]}])
    return st.builds(lambda one, a, b: {**one, "$defs": {"A": a, "B": b}}, lists, plain, plain)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "FIRST_WAIT_SECONDS", 0.001)
    for name in ("OPENAI_API_KEY", "VLLM_API_KEY", "OLLAMA_API_KEY", "LLAMA_API_KEY", "SGLANG_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def sent_for(server: str, wanted: Any, text: str, **options: Any) -> dict[str, Any]:
    """What a server is sent for a type, beside the messages, when it answers a text."""
    with double(ollama(text) if server == "ollama" else chat(text)) as made:
        extract(wanted, TEXT, model=made.address(server), **options)
    [body] = made.bodies
    assert made.paths == ["/api/chat" if server == "ollama" else "/v1/chat/completions"]
    assert body.pop("model") == "tiny"
    messages = body.pop("messages")
    assert TEXT in messages[-1]["content"]
    return body


def named(schema: Any, **members: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "Person", "schema": schema, **members}}


PLAIN = {"max_tokens": 1024, "temperature": 0.0}


def described(data: Any) -> dict[str, Any]:
    return {**PLAIN, "structured_outputs": {"constraint": data}}


JSON = {
    "openai": {
        "max_completion_tokens": 1024,
        "temperature": 0.0,
        "response_format": named(SCHEMA, strict=True),
    },
    "vllm": {**PLAIN, "response_format": named(SCHEMA)},
    "sglang": {**PLAIN, "response_format": named(SCHEMA)},
    "llamacpp": {**PLAIN, "response_format": {"type": "json_schema", "schema": SCHEMA}},
    "ollama": {"stream": False, "options": {"num_predict": 1024, "temperature": 0.0}, "format": SCHEMA},
    "structured": described(
        {
            "type": {keyword: SCHEMA[keyword] for keyword in SCHEMA if keyword != "additionalProperties"},
            "whitespace": "spaced",
            "optional_properties": "written",
        }
    ),
}


@pytest.mark.parametrize("server", JSON)
def test_a_type_is_sent_as_each_server_documents(server: str) -> None:
    assert sent_for(server, Person, JASON) == JSON[server]


def test_a_choice_is_sent_as_each_server_documents() -> None:
    wanted = Choice(["a.b", 'say "c"'])
    assert sent_for("vllm", wanted, "a.b") == {**PLAIN, "structured_outputs": {"choice": ["a.b", 'say "c"']}}
    assert sent_for("structured", wanted, "a.b") == described({"choice": ["a.b", 'say "c"']})
    assert sent_for("sglang", wanted, "a.b") == {**PLAIN, "regex": '(a\\.b|say "c")'}
    assert sent_for("llamacpp", wanted, "a.b") == {**PLAIN, "grammar": r'root ::= "a\x2Eb" | "say \x22c\x22"'}
    schema = {"type": "string", "enum": ["a.b", 'say "c"']}
    assert sent_for("ollama", wanted, '"say \\"c\\""')["format"] == schema
    sent = sent_for("openai", wanted, '{"answer": "say \\"c\\""}')["response_format"]["json_schema"]
    assert sent["strict"] is True
    assert sent["schema"] == {
        "type": "object",
        "properties": {"answer": schema},
        "required": ["answer"],
        "additionalProperties": False,
    }


def test_a_regular_expression_is_sent_as_each_server_documents() -> None:
    wanted = Regex("[0-9]{4}-[a-c]")
    assert sent_for("vllm", wanted, "2024-a") == {**PLAIN, "structured_outputs": {"regex": "[0-9]{4}-[a-c]"}}
    assert sent_for("sglang", wanted, "2024-a") == {**PLAIN, "regex": "[0-9]{4}-[a-c]"}
    written = {"regex": "[0-9]{4}-[a-c]", "flags": 0, "dialect": "python"}
    assert sent_for("structured", wanted, "2024-a") == described(written)
    assert sent_for("llamacpp", wanted, "2024-a") == {**PLAIN, "grammar": r'root ::= ([0-9]){4} "\x2D" [a-c]'}
    sent = sent_for("openai", wanted, '{"answer": "2024-a"}')["response_format"]["json_schema"]["schema"]
    assert sent["properties"]["answer"] == {"type": "string", "pattern": "^(?:[0-9]{4}-[a-c])$"}


def test_a_grammar_goes_to_the_servers_that_read_its_language() -> None:
    gbnf, lark = Grammar.from_gbnf(SUMS), Grammar('start: "a" | "b"')
    assert sent_for("llamacpp", gbnf, "1+2") == {**PLAIN, "grammar": SUMS}
    assert sent_for("vllm", gbnf, "1+2") == {**PLAIN, "structured_outputs": {"grammar": SUMS}}
    assert sent_for("sglang", gbnf, "1+2") == {**PLAIN, "ebnf": SUMS}
    written = {"grammar": 'start: "a" | "b"', "start": "start", "language": "Lark"}
    assert sent_for("structured", lark, "a") == described(written)
    assert sent_for("structured", gbnf, "1+2") == described({"grammar": SUMS, "start": "root", "language": "GBNF"})


@pytest.mark.parametrize(
    ("server", "wanted"),
    [
        ("openai", Grammar.from_gbnf(SUMS)),
        ("openai", Grammar('start: "a"')),
        ("vllm", Grammar('start: "a"')),
        ("sglang", Grammar('start: "a"')),
        ("llamacpp", Grammar('start: "a"')),
        ("ollama", Grammar('start: "a"')),
        ("ollama", Regex("[0-9]+")),
        ("structured", Text(stop=".")),
        ("structured", Grounded[str]),
        ("structured", Grammar.named("python")),
        ("llamacpp", Grammar.from_gbnf('sums ::= "1"', "sums")),
        ("vllm", Text(stop=".")),
        ("vllm", Grounded[str]),
        ("openai", JsonSchema({"type": "array", "items": {"$ref": "#"}})),
    ],
)
def test_what_a_server_cannot_enforce_is_refused_before_anything_is_sent(server: str, wanted: Any) -> None:
    with double(chat("a")) as made, pytest.raises(SchemaError):
        Extractor(wanted, model=made.address(server))
    assert made.bodies == []


def test_what_cannot_be_enforced_can_be_asked_for_by_name() -> None:
    """Without a constraint an answer is validated, and asked for again."""
    with double([ollama("none"), ollama("2024")]) as made:
        model = connect(made.address("ollama"), enforced=False)
        assert extract(Regex("[0-9]+", int), TEXT, model=model) == 2024
    assert [body.get("format") for body in made.bodies] == [None, None]
    with double([chat("no"), chat("12 apples.")]) as made:
        found = extract(Text(lacks="n") + ".", TEXT, model=connect(made.address("vllm"), enforced=False))
        assert "apples" in str(found)
        with pytest.raises(SchemaError, match="has to state"):
            Extractor(Grounded[str], model=connect(made.address("vllm"), enforced=False))


@pytest.mark.parametrize(
    ("options", "named_in_it"),
    [
        ({"search": Beams(2)}, "Beams(count=2)"),
        ({"search": Particles(4), "temperature": 1.0}, "Particles(count=4"),
        ({"jump_forward": False}, "jump_forward"),
        ({"repetition": Repetition(stop=True)}, "repetition"),
        ({"repetition": Repetition(penalty=1.2)}, "repetition"),
        ({"repetition": Repetition(no_repeat_ngram_size=3)}, "no_repeat_ngram_size=3"),
        ({"chunking": Chunking(tokens=100)}, "chunking"),
        ({"chunking": Chunking(passes=2)}, "passes=2"),
        ({"batch_tokens": 100}, "batch_tokens"),
        ({"repair": "field"}, "repair"),
        ({"layout": JsonLayout("compact")}, "layout"),
        ({"temperature": 0.5, "top_k": 3}, "top_k"),
        ({"temperature": 0.5, "min_p": 0.1}, "min_p"),
    ],
)
def test_options_that_need_logits_are_refused_by_name(options: Any, named_in_it: str) -> None:
    with double(chat(JASON)) as made, pytest.raises(ValueError, match=re.escape(named_in_it)):
        Extractor(Person, model=made.address("openai"), **options)
    assert made.bodies == []


SENT = {
    *("model", "instructions", "system", "examples", "grounded", "allow_missing", "layout", "search", "max_tokens"),
    *("temperature", "top_k", "top_p", "min_p", "seed", "retries", "repair"),
    *("calibration", "batch_size", "observe", "cache"),
}
"""Options that count with a server as well: they are in its requests, or concern what is done here."""


def test_each_option_counts_with_a_server_or_is_refused() -> None:
    """None is passed over in silence, also none that is new."""
    assert Options.__annotations__.keys() == SENT | remote_task._REFUSED.keys()
    assert not SENT & remote_task._REFUSED.keys()


def test_what_needs_the_scores_of_tokens_says_so() -> None:
    address = "vllm://127.0.0.1:1/tiny"
    with pytest.raises(ModelError, match="classify needs the scores"):
        classify(Literal["a", "b"], TEXT, model=address)
    for source in (address, connect(address)):
        with pytest.raises(ModelError, match="the scores of tokens are needed"):
            load_model(source)
    with pytest.raises(ModelError, match="the scores of tokens are needed"):
        Draft("A", model=address)


def test_the_options_of_sampling_are_sent() -> None:
    body = sent_for("vllm", Person, JASON, temperature=0.5, top_p=0.9, top_k=4, min_p=0.1, max_tokens=99)
    assert {name: body[name] for name in ("temperature", "top_p", "top_k", "min_p", "max_tokens")} == {
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 4,
        "min_p": 0.1,
        "max_tokens": 99,
    }
    assert "seed" not in body
    seeds = [sent_for("vllm", Person, JASON, temperature=0.5, seed=seed)["seed"] for seed in (1, 1, 2)]
    assert seeds[0] == seeds[1] != seeds[2]


def test_samples_are_requests_with_seeds_of_their_own_and_vote() -> None:
    answers = [chat('{"name": "Jason", "age": 25}'), chat('{"name": "Jonas", "age": 25}'), chat(JASON)]
    with double(answers) as made:
        found = extract(
            Person,
            TEXT,
            model=made.address("vllm"),
            search=Samples(3, vote=True),
            temperature=0.7,
            seed=1,
            batch_size=1,
        )
    assert found == Person(name="Jason", age=25)
    assert len({body["seed"] for body in made.bodies}) == 3
    with double(ollama(JASON)) as made, pytest.raises(ValueError, match="how likely a sample is"):
        extract(Person, TEXT, model=made.address("ollama"), search=Samples(3), temperature=0.7)


@pytest.mark.parametrize("names", [True, {"type": "string", "maxLength": 3}])
def test_rules_of_names_are_sent(names: Any) -> None:
    constraint = constraint_of(resolve_type(JsonSchema({"type": "object", "propertyNames": names})))
    assert isinstance(constraint, JsonConstraint)
    assert constraint.schema["propertyNames"] == names


def test_all_fields_are_asked_for_unless_they_may_be_left_out() -> None:
    body = sent_for("vllm", Visit, '{"who": "Ana", "note": null}')
    assert body["response_format"]["json_schema"]["schema"]["required"] == ["who", "note"]
    body = sent_for("vllm", Visit, '{"who": "Ana"}', layout=JsonLayout(optional_properties="omittable"))
    assert body["response_format"]["json_schema"]["schema"]["required"] == ["who"]


def test_types_that_contain_themselves_can_be_sent() -> None:
    body = sent_for("openai", Node, '{"answer": {"label": "a", "children": []}}')
    schema = body["response_format"]["json_schema"]["schema"]
    assert schema["properties"] == {"answer": {"$ref": "#/$defs/Node"}}
    assert schema["$defs"]["Node"]["required"] == ["label", "children"]


def test_only_words_of_the_specification_are_sent() -> None:
    """Rules that JSON Schema has no words for stay with Pydantic."""

    class Kind(Enum):
        A = "a"

    class Order(BaseModel):
        kind: Kind
        code: Annotated[str, Field(min_length=2)]
        adult: Adult

    constraint = constraint_of(resolve_type(Order))
    assert isinstance(constraint, JsonConstraint)
    assert "validators" not in str(constraint.schema)
    assert Extractor(JsonSchema(dict(constraint.schema)), model=connect("vllm://localhost/x")) is not None


INTEGERS = {"type": "integer"}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"$ref": "#"}},
        {"type": "array", "prefixItems": [INTEGERS], "items": {"$ref": "#/prefixItems/0"}},
        {"type": "array", "items": {"$dynamicRef": "#"}},
        {"$defs": {"A": {"type": "array", "prefixItems": [INTEGERS]}, "B": {"$ref": "#"}}, "$ref": "#/$defs/A"},
        {"$id": "http://example.org/a", "$defs": {"A": INTEGERS}, "$ref": "#/$defs/A"},
        {"$defs": {"A": {"$anchor": "a", "type": "integer"}}, "$ref": "#a"},
    ],
)
def test_a_schema_that_refers_to_what_an_object_around_it_moves_is_refused(schema: Any) -> None:
    with pytest.raises(SchemaError, match="into which it would have to be put"):
        Extractor(JsonSchema(schema), model="openai://localhost/x")


@given(schema=_schemas(), values=st.lists(st.integers() | st.text(max_size=2) | st.lists(st.integers()), max_size=4))
def test_an_object_around_a_schema_allows_it_inside_and_nothing_else(schema: Any, values: list[Any]) -> None:
    """Where it is not refused, for whatever it refers to; texts that look like references are none."""
    try:
        around = Draft202012Validator(wrapped(JsonConstraint(schema, "One"), "answer"))
    except SchemaError:
        assert "#/prefixItems/0" in str(schema)
        return
    validator = Draft202012Validator(schema)
    for value in values:
        assert around.is_valid({"answer": value}) == validator.is_valid(value)
        assert not around.is_valid(value)


@pytest.mark.parametrize("wanted", [list[Literal["#", "b"]], JsonSchema({"items": {"const": {"$ref": "#"}}})])
def test_a_value_that_looks_like_a_reference_is_none(wanted: Any) -> None:
    assert sent_for("openai", wanted, '{"answer": []}')["response_format"]["json_schema"]["strict"] is True


# Answers


@pytest.mark.parametrize(
    "answer",
    ["no JSON", "", '{"name": "Jason"}', '{"name": "Jason", "age": "25"}', '{"name": "Jason", "age": 25, "size": 3}'],
)
def test_an_answer_that_is_not_of_the_type_is_asked_for_again(answer: str) -> None:
    with double([chat(answer), chat(JASON)]) as made:
        assert extract(Person, TEXT, model=made.address("vllm")) == Person(name="Jason", age=25)
    assert [body["temperature"] for body in made.bodies] == [0.0, 0.7]
    with double(chat(answer)) as made, pytest.raises(GenerationError) as caught:
        extract(Person, TEXT, model=made.address("vllm"), retries=1)
    assert [attempt.text for attempt in caught.value.attempts] == [answer, answer]


def test_validators_have_the_last_word_and_the_model_is_told() -> None:
    with double([chat('{"name": "Jason", "age": 2}'), chat(JASON)]) as made:
        found = extract(Adult, TEXT, model=made.address("vllm"), repair="told")
    assert found == Adult(name="Jason", age=25)
    first, second = (body["messages"][-1]["content"] for body in made.bodies)
    assert "was rejected" in second
    assert "was rejected" not in first


@pytest.mark.parametrize("server", ["vllm", "ollama"])
def test_a_text_that_was_cut_off_is_no_answer_even_if_it_could_be_one(server: str) -> None:
    """Of 1234, 12 is there."""
    reply = chat("12", reason="length") if server == "vllm" else ollama("12", reason="length")
    with double(reply) as made, pytest.raises(GenerationError, match=r"cut it off.*Raise max_tokens"):
        extract(int, TEXT, model=made.address(server), retries=0)


def test_a_refusal_is_told() -> None:
    with double(chat(None, refusal="I cannot.")) as made, pytest.raises(GenerationError, match=r"refused: I cannot\."):
        extract(Person, TEXT, model=made.address("openai"), retries=0)


def test_evidence_has_places_and_the_probabilities_that_the_server_tells() -> None:
    tokens = [('{"name": "', -0.1), ("Jason", -0.5), ('", "age": ', -0.1), ("25", -0.25), ("}", -0.01)]
    with double(with_logprobs(chat(JASON), tokens)) as made:
        found = Extractor(Person, model=made.address("vllm")).result(TEXT)
    assert made.bodies[0]["logprobs"] is True
    assert (found.evidence["name"].span, found.evidence["age"].span) == ((0, 5), (9, 11))
    assert found.evidence["age"].confidence == pytest.approx(0.7711, abs=1e-3)  # e^-(0.25 + 0.01)
    assert (found.usage.prompt_tokens, found.usage.sampled_tokens) == (40, 9)
    with double(ollama(JASON)) as made:
        found = Extractor(Person, model=made.address("ollama")).result(TEXT)
    assert found.evidence["age"].span == (9, 11)
    assert found.evidence["age"].confidence is None


def test_probabilities_inside_of_an_object_belong_to_the_answer() -> None:
    tokens = [('{"answer": ', -1.0), ("[", -1.0), ("25", -0.5), ("]", -0.25), ("}", -1.0)]
    with double(with_logprobs(chat('{"answer": [25]}'), tokens)) as made:
        found = Extractor(list[int], model=made.address("openai")).result(TEXT)
    assert found.text == "[25]"
    assert found.evidence["[0]"].confidence == pytest.approx(0.4723, abs=1e-3)  # e^-(0.5 + 0.25)


def test_tokens_that_do_not_spell_the_answer_are_not_believed() -> None:
    with double(with_logprobs(chat(JASON), [("{", -0.1)])) as made:
        found = Extractor(Person, model=made.address("vllm")).result(TEXT)
    assert found.evidence["age"].confidence is None


@pytest.mark.parametrize(
    "text",
    [
        '{"note": 7, "answer": 5}',
        '{"answer": 5, "note": 7}',
        '{"answer": 1, "answer": 5}',
        '{"answer": 5} 7',
        '[{"answer": 5}]',
        '{"note": {"answer": 5}}',
        "5",
        "{}",
    ],
)
def test_an_answer_that_may_be_one_of_several_values_is_none(text: str) -> None:
    with double([chat(text), chat('{"answer": 5}')]) as made:
        assert extract(int, TEXT, model=made.address("openai")) == 5
    assert len(made.bodies) == 2


@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=6,
    ),
    others=st.dictionaries(st.sampled_from(["answer", "note", "x:y"]), st.integers() | st.text(), max_size=2),
    indent=st.sampled_from([None, 1]),
    is_ascii=st.booleans(),
)
def test_an_envelope_holds_its_one_member_and_nothing_else(
    value: Any, others: dict[str, Any], indent: int | None, is_ascii: bool
) -> None:
    """What is opened is the value that JSON says, as it is written."""
    written = {**others, "answer": value}
    text = f" {json.dumps(written, indent=indent, ensure_ascii=is_ascii)}\n"
    opened = Envelope("answer").opened(ServerAnswer(text))
    if len(written) > 1:
        assert opened.fault is not None
    else:
        assert json.loads(opened.text) == value
        assert opened.text == opened.text.strip()
        assert opened.text in text


# Streams


def delta(text: str | None = None, reason: str | None = None) -> Any:
    return {"choices": [{"index": 0, "delta": {"content": text} if text else {}, "finish_reason": reason}]}


def test_an_answer_is_streamed() -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 5}}
    with double(events(delta('{"name": "Ja'), delta('son", "age": 25}'), delta(reason="stop"), usage)) as made:
        stream = Extractor(Person, model=made.address("vllm")).stream(TEXT)
        assert list(stream) == ['{"name": "Ja', 'son", "age": 25}']
        assert stream.result().value == Person(name="Jason", age=25)
        assert stream.generation.written_tokens == 5
    assert made.bodies[0]["stream"] is True
    part = {"model": "tiny", "message": {"role": "assistant", "content": '{"name": "Ja'}, "done": False}
    end = ollama('son", "age": 25}').body
    with double(json_lines(part, end)) as made:
        stream = Extractor(Person, model=made.address("ollama")).stream(TEXT)
        assert [event.value for event in stream.events() if event.path] == ["Jason", 25]
        assert stream.result().value == Person(name="Jason", age=25)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply('data: {"choices": []}\n\n'), "the stream has no end"),
        (events({"error": {"message": "out of memory"}}), "out of memory"),
        (Reply("data: {\n\n"), "form"),
        (Reply({"error": {"message": "bad"}}, 400), "answered 400: bad"),
    ],
)
def test_a_stream_that_fails_says_why(reply: Reply, why: str) -> None:
    with double(reply) as made:
        stream = Extractor(Person, model=made.address("vllm")).stream(TEXT)
        with pytest.raises(ServerError, match=why):
            stream.result()


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n"))), st.data())
def test_lines_are_those_of_the_text_wherever_it_is_cut(lines: list[str], data: Any) -> None:
    ends = st.sampled_from(["\n", "\r\n", "\r"])
    sent = "".join(line + data.draw(ends) for line in lines).encode()
    places = sorted(data.draw(st.lists(st.integers(0, len(sent)))))
    pieces = [sent[first:end] for first, end in zip([0, *places], [*places, len(sent)], strict=True)]
    assert [line for line in connection._lines(pieces) if line] == [line for line in lines if line]


@pytest.mark.parametrize("separator", ["\u2028", "\u0085", "\u2029"])
def test_separators_of_lines_in_an_answer_are_text(separator: str) -> None:
    chunk = {"choices": [{"index": 0, "delta": {"content": json.dumps({"who": f"a{separator}b"}, ensure_ascii=False)}}]}
    written = f"data: {json.dumps(chunk, ensure_ascii=False)}\n\ndata: [DONE]\n\n"
    with double(Reply(written, headers={"content-type": "text/event-stream"})) as made:
        stream = Extractor(Visit, model=made.address("vllm")).stream(TEXT)
        assert stream.result().value == Visit(who=f"a{separator}b")


# Faults


def test_a_busy_server_is_asked_again_when_it_says() -> None:
    busy = Reply({"error": {"message": "slow down"}}, 429, {"retry-after": "1"})
    with double([busy, Reply("", 503), chat(JASON)]) as made:
        start = time.monotonic()
        assert extract(Person, TEXT, model=made.address("vllm")).age == 25
        assert time.monotonic() - start >= 1
    assert len(made.bodies) == 3


def test_a_server_that_stays_busy_fails_with_what_it_says() -> None:
    with (
        double(Reply({"error": {"message": "slow down"}}, 429)) as made,
        pytest.raises(ServerError, match=rf"{made.host} answered 429: slow down\. .*batch_size") as caught,
    ):
        extract(Person, TEXT, model=connect(made.address("vllm"), retries=2))
    assert len(made.bodies) == 3
    assert (caught.value.status, caught.value.is_passing) == (429, True)


@pytest.mark.parametrize(
    "reply",
    [
        lambda said: Reply({"error": said}, 400),
        lambda said: Reply({"error": {"message": said}}, 400),
        lambda said: Reply(said, 500),
        lambda said: events({"error": said}),
    ],
)
@given(said=st.text(st.characters(codec="utf-8") | st.sampled_from("\x1b\x07\u202e\u2066\x9b"), max_size=20))
@settings(max_examples=25, deadline=None)
def test_what_a_server_says_is_printed_and_not_done(reply: Callable[[str], Reply], said: str) -> None:
    with double(reply("\x1b" + said)) as made:
        asked = connect(made.address("vllm"))._connection
        with pytest.raises(ServerError, match=r"\\x1b") as caught:
            list(asked.stream("/", {}, VllmApi().chunks))
    assert str(caught.value).isprintable()


def test_nobody_waits_for_an_hour() -> None:
    then = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    with double(Reply("", 503, {"retry-after": then})) as made, pytest.raises(ServerError) as caught:
        extract(Person, TEXT, model=made.address("vllm"))
    assert len(made.bodies) == 1
    assert caught.value.retry_after == pytest.approx(3600, abs=60)


@pytest.mark.parametrize("said", ["²", "-5", "soon", "Fri, 27 Nov 99999999999 10:00:00 GMT", "", "1e3"])
def test_a_busy_server_that_names_no_time_is_asked_again_after_growing_ones(said: str) -> None:
    with double([Reply("", 429, {"retry-after": said}), chat(JASON)]) as made:
        assert extract(Person, TEXT, model=made.address("vllm")).age == 25
    assert len(made.bodies) == 2


@given(st.text(st.characters(codec="latin-1")))
@example("0\x1f")
def test_what_a_server_says_of_a_time_is_seconds_or_nothing(said: str) -> None:
    seconds = connection._retry_after_seconds(said)
    assert seconds is None or seconds >= 0


@pytest.mark.parametrize("charset", ["rot13", "hex", "utf-16", "unheard-of"])
@pytest.mark.parametrize("body", ["too long", {"error": "too long"}, {"error": {"message": "too long"}}])
def test_a_refusal_is_read_whatever_charset_it_names(charset: str, body: Any) -> None:
    reply = Reply(body, 400, {"content-type": f"text/html; charset={charset}"})
    with double(reply) as made, pytest.raises(ServerError, match="answered 400: too long") as caught:
        extract(Person, TEXT, model=made.address("vllm"))
    assert caught.value.status == 400


def test_a_refusal_that_no_parser_reads_keeps_its_status() -> None:
    with double(Reply("[" * 100_000, 400)) as made, pytest.raises(ServerError, match=r"answered 400: \[") as caught:
        extract(Person, TEXT, model=made.address("vllm"))
    assert len(str(caught.value)) < 1_000


def test_a_closed_connection_is_tried_again() -> None:
    with double([Reply(closes=True), chat(JASON)]) as made:
        assert extract(Person, TEXT, model=made.address("vllm")).age == 25
    told = r"closed the connection before it had answered: [^.]*\. Look at its log\.$"
    with double(Reply(closes=True)) as made, pytest.raises(ServerError, match=f"{made.host} {told}"):
        extract(Person, TEXT, model=connect(made.address("vllm"), retries=1))


def test_a_slow_answer_says_what_to_raise() -> None:
    with (
        double(Reply(chat(JASON).body, seconds=2.0)) as made,
        pytest.raises(ServerError, match=r"not answered within 0\.2 seconds\. Raise the timeout"),
    ):
        extract(Person, TEXT, model=connect(made.address("vllm"), timeout=0.2))


def test_nobody_at_home() -> None:
    with pytest.raises(ServerError, match=r"http://127\.0\.0\.1:1 cannot be reached") as caught:
        extract(Person, TEXT, model="vllm://127.0.0.1:1/tiny")
    assert caught.value.is_for_all


def test_without_httpx_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(ModelError, match=r"need the package httpx\. Install it"):
        extract(Person, TEXT, model=connect("vllm://127.0.0.1:1/tiny"))


def test_a_wrong_name_names_the_models_that_there_are() -> None:
    with (
        double(Reply({"error": {"message": "The model `x` does not exist."}}, 404)) as made,
        pytest.raises(ServerError, match=r"does not exist.* It has these models: tiny, small"),
    ):
        extract(Person, TEXT, model=made.address("vllm", "x"))


@pytest.mark.parametrize("body", ["<html>", {"choices": []}, {"choices": [{"message": {"content": 3}}]}, [], None])
def test_what_is_no_answer_of_the_server_is_named(body: Any) -> None:
    with double(Reply(body)) as made, pytest.raises(ServerError, match="not that of vllm://"):
        extract(Person, TEXT, model=made.address("vllm"))


def test_one_document_that_fails_does_not_cost_the_others() -> None:
    def reply(body: Any) -> Reply:
        text = body["messages"][-1]["content"]
        return Reply({"error": "too long"}, 500) if "Ana" in text else chat(JASON)

    texts = [TEXT, "Ana is 31.", TEXT]
    with double(reply) as made, pytest.raises(BatchError) as caught:
        extract_batch(Person, texts, model=made.address("vllm"))
    assert [one is not None for one in caught.value.results] == [True, False, True]
    assert isinstance(caught.value.errors[1], ServerError)
    assert caught.value.errors[1].status == 500


def test_an_error_of_this_library_is_of_one_document_and_has_no_key() -> None:
    fields = {"problem": "No text matches", "pattern": "a", "position": None, "remedy": "Correct it."}
    said = {"code": "PatternError", "message": f"No text matches {KEY}", "fields": fields}

    def reply(body: Any) -> Reply:
        return Reply({"error": said}, 400) if "Ana" in str(body["messages"]) else chat(JASON)

    with double(reply) as made:
        for server, kind in (("structured", PatternError), ("vllm", ServerError)):
            with pytest.raises(BatchError) as caught:
                extract_batch(Person, [TEXT, "Ana is 31.", TEXT], model=made.address(server))
            assert [one is not None for one in caught.value.results] == [True, False, True]
            assert type(caught.value.errors[1]) is kind
        with pytest.raises(ServerError) as hidden:
            extract(Person, "Ana is 31.", model=connect(made.address("structured"), api_key=KEY))
    assert KEY not in str(hidden.value)


def test_a_wrong_key_ends_the_batch_at_once() -> None:
    with (
        double(Reply({"error": {"message": "bad key"}}, 401)) as made,
        pytest.raises(ServerError, match=r"bad key.*api_key"),
    ):
        extract_batch(Person, [TEXT] * 100, model=made.address("vllm"), batch_size=2)
    assert len(made.bodies) < 10


def test_as_many_requests_are_under_way_as_a_batch_has() -> None:
    with double(Reply(chat(JASON).body, seconds=0.05)) as made:
        found = extract_batch(Person, [TEXT] * 12, model=made.address("vllm"), batch_size=4)
    assert len(found) == 12
    assert made.most_under_way == 4


def test_an_interrupted_call_leaves_no_waiting_behind() -> None:
    """A listener that raises ends the call at once, though the server is still busy with others."""

    def stop(event: Any) -> None:
        if type(event).__name__ == "DocumentDone":
            raise KeyboardInterrupt

    slow = iter([0.0, 5.0, 5.0])
    with double(lambda _: Reply(chat(JASON).body, seconds=next(slow, 5.0))) as made:
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            extract_batch(Person, [TEXT] * 8, model=made.address("vllm"), batch_size=2, observe=stop)
        assert time.monotonic() - start < 4.5
        assert len(made.bodies) <= 3
    assert all(one.daemon for one in threading.enumerate() if one.name.startswith("asks "))


def test_results_in_a_file_are_gone_on_with(tmp_path: Any) -> None:
    output = tmp_path / "people.jsonl"
    with double(chat(JASON)) as made:
        model = made.address("vllm")
        assert write_results(Person, [TEXT, "Ana is 31."], output, model=model).done == 2
        assert write_results(Person, [TEXT, "Ana is 31.", "Bo is 3."], output, model=model).before == 2
    assert len(made.bodies) == 3


# Addresses and keys


@pytest.mark.parametrize("text", ["vllm://ana:secret/x", "vllm://ana:secret@ho\u2100st/x", "vllm://ana:secret@host/x"])
def test_an_error_about_an_address_repeats_no_password(text: str) -> None:
    with pytest.raises(ModelError) as refused:
        connect(text)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "url", "model"),
    [
        ("vllm://localhost/Qwen/Qwen2.5-7B-Instruct", "http://localhost:8000", "Qwen/Qwen2.5-7B-Instruct"),
        ("openai+https://api.openai.com/gpt-4o", "https://api.openai.com", "gpt-4o"),
        ("ollama://[::1]/llama3.2:1b", "http://[::1]:11434", "llama3.2:1b"),
        ("sglang+http://gpu.lan:99/x", "http://gpu.lan:99", "x"),
        ("llamacpp://localhost", "http://localhost:8080", ""),
        ("STRUCTURED://localhost:1/the%20packaged%20model", "http://localhost:1", "the packaged model"),
    ],
)
def test_an_address_says_where_the_model_is(text: str, url: str, model: str) -> None:
    found = Address.read(text)
    assert (found.url, found.model) == (url, model)
    assert Address.read(str(found).replace(" ", "%20")) == found


@pytest.mark.parametrize(
    "text",
    ["vllm://", "vllm:///x", "gopher://host/x", "vllm://host:port/x", "vllm://host/x?key=1", "vllm://u:p@host/x"],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ModelError) as caught:
        connect(text)
    assert "u:p" not in str(caught.value)


def test_a_server_of_many_models_needs_a_name() -> None:
    with pytest.raises(ModelError, match=r"names no model\. Write vllm://localhost:8000/name"):
        connect("vllm://localhost")
    assert repr(connect("llamacpp://localhost")) == "RemoteModel('llamacpp://localhost:8080')"


def test_a_key_is_sent_and_shown_nowhere(monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    echo = Reply({"error": {"message": f"bad key {KEY}"}}, 401)
    with double([chat(JASON), chat(JASON), echo]) as made:
        given_key = connect(made.address("vllm"), api_key=KEY)
        found = Extractor(Person, model=given_key).result(TEXT)
        monkeypatch.setenv("VLLM_API_KEY", KEY)
        extract(Person, TEXT, model=made.address("vllm"))
        with pytest.raises(ServerError) as caught:
            extract(Person, TEXT, model=given_key)
    assert [one.get("authorization") for one in made.headers] == [f"Bearer {KEY}"] * 3
    shown = [repr(given_key), repr(given_key._connection), repr(found), repr(found.provenance), str(caught.value)]
    shown += [repr(caught.value), repr(vars(caught.value)), repr(caught.value.__cause__), *capfd.readouterr()]
    assert not any(KEY in one for one in shown)


@pytest.mark.parametrize(
    "before", range(connection.MAX_SHOWN_CHARACTERS - len(KEY) - 10, connection.MAX_SHOWN_CHARACTERS + 2)
)
def test_no_part_of_a_key_is_shown_where_a_message_is_cut(before: int) -> None:
    echo = Reply({"error": {"message": f"{'x' * before} Bearer {KEY}"}}, 400)
    with double(echo) as made, pytest.raises(ServerError) as caught:
        extract(Person, TEXT, model=connect(made.address("vllm"), api_key=KEY))
    assert KEY[:3] not in str(caught.value)


def test_a_key_is_not_pickled() -> None:
    with pytest.raises(pickle.PicklingError, match="VLLM_API_KEY"):
        pickle.dumps(connect("vllm://localhost/x", api_key=KEY))
    model = pickle.loads(pickle.dumps(connect("vllm://localhost/x", timeout=3, enforced=False)))  # noqa: S301
    assert repr(model) == "RemoteModel('vllm://localhost:8000/x', enforced=False)"


def test_a_key_does_not_go_over_the_net_in_the_clear() -> None:
    with pytest.raises(ModelError, match=r"in the clear\. Write vllm\+https://gpu\.lan") as caught:
        connect("vllm://gpu.lan:8000/x", api_key=KEY)
    assert KEY not in str(caught.value)
    for address in ("vllm+https://gpu.lan/x", "vllm+http://gpu.lan/x", "vllm://localhost/x", "vllm://127.0.0.1/x"):
        connect(address, api_key=KEY)
    connect("vllm://gpu.lan/x", api_key="")


# Regular expressions


@pytest.mark.parametrize("pattern", ["[0-9]{4}", "a|b", "(ab)*c?", "[^x]", r"\.[a-z]+"])
def test_an_expression_that_means_the_same_everywhere_is_sent_as_it_is(pattern: str) -> None:
    constraint = constraint_of(Regex(pattern))
    assert isinstance(constraint, RegexConstraint)
    assert constraint.portable == pattern


@pytest.mark.parametrize("wanted", [Regex(r"\d{2}"), Regex("ab", flags=re.IGNORECASE), Regex("^a$")])
def test_an_expression_that_dialects_read_differently_is_written_out(wanted: Any) -> None:
    portable = constraint_of(wanted).portable  # type: ignore[union-attr]
    assert portable != wanted.source
    for text in ("12", "٣٤", "ab", "AB", "a", "b", ""):
        assert bool(re.fullmatch(portable, text)) == bool(re.fullmatch(wanted.source, text, wanted.flags))


@given(
    pattern=st.sampled_from(
        [
            r"\p{Ll}{2}",
            r"[[:alpha:]]{2}",
            r"\x{61}b?",
            "[a-c&&[^b]]+",
            r"\u{62}",
            r"\cJ|a",
            r"[^]|aa",
            "a$|b",
            "(?<n>a)b",
        ]
    ),
    dialect=st.sampled_from(["rust", "ecma", "python"]),
    text=st.text(alphabet="abcAé:lph[]&\n", max_size=2),
)
@settings(max_examples=300)
def test_an_expression_of_another_dialect_is_one_of_pythons_when_it_is_sent(
    pattern: str, dialect: Any, text: str
) -> None:
    """Servers may be written in Python; what is sent there has the same texts, or is refused."""
    try:
        wanted = Regex(pattern, dialect=dialect)
        portable = constraint_of(wanted).portable  # type: ignore[union-attr]
    except (PatternError, SchemaError):
        return
    assert bool(re.fullmatch(portable, text)) == accepts_text(wanted.automaton(), text)


@pytest.mark.parametrize("pattern", [r"(?!ab)[a-c]+", r"\w" * 6])
@pytest.mark.parametrize("server", ["openai", "sglang", "vllm"])
def test_an_expression_without_a_short_common_form_is_refused(server: str, pattern: str) -> None:
    with pytest.raises(SchemaError, match="no short form that means the same"):
        Extractor(Regex(pattern), model=f"{server}://localhost/x")


@given(texts=st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=4, unique=True))
def test_the_gbnf_of_texts_has_these_texts(texts: list[str]) -> None:
    grammar = Grammar.from_gbnf(words_to_gbnf(texts))
    for text in texts:
        assert grammar.parse(text) == text
    with pytest.raises(ValueError, match="no such text"):
        grammar.parse("".join(texts) + "!")


@pytest.mark.parametrize("pattern", ["[0-9]{2,3}(a|bc)?", "[^a-y]+", "(x|y){2}z*", "é+|😀", r'"\\\]\^\-'])
@given(text=st.text(alphabet='0123abcxyzé😀"\\]^- ', max_size=5))
def test_the_gbnf_of_an_expression_has_its_texts(pattern: str, text: str) -> None:
    grammar = Grammar.from_gbnf(pattern_to_gbnf(Regex(pattern).pattern))
    try:
        grammar.parse(text)
        is_one = True
    except ValueError:
        is_one = False
    assert is_one == bool(re.fullmatch(pattern, text))
