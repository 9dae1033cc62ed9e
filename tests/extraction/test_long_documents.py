"""Long documents: split where they do not fit, answered chunk by chunk, and merged into one answer with evidence."""

import json
import random
import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from doubles import ByteTokenizer, random_logits, read_back, spell
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from structured import Chunking, Extractor, Grounded, JsonSchema, Key, Repetition, extract, extract_batch
from structured.errors import BatchError, BudgetWarning, GenerationError, NotStatedError, SchemaError
from structured.extraction import events
from structured.extraction.documents.chunks import MIN_CHUNK_TOKENS
from structured.integrations.replies import Responder
from structured.models import FunctionModel
from structured.models.scripted import ScriptedModel
from structured.output_types.keys import SET_SHAPE, shape_function
from structured.output_types.resolve import resolve_type


class Order(BaseModel):
    number: str
    customer: str
    total: float


ORDER = re.compile(r"Order (A-\d+)\s+came from\s+(\w+)\s+for ([\d.]+) euros")

TOKENIZER = ByteTokenizer()

CUSTOMERS = ("Ana", "Bob", "Chen", "Dora")
FILL = (
    *("We thank you for the good work.", "Delivery by van as usual.", "The weather was fine."),
    "See the attached terms, please; nothing else has changed since then.",
)


def text_of(prompt: str) -> str:
    return prompt[prompt.rindex("Text:\n") + 6 :]


def read_orders(prompt: str) -> str:
    """Say which orders stand in the text of a prompt: the answer of a model that reads what stands there."""
    found = ORDER.findall(text_of(prompt))
    return json.dumps([{"number": number, "customer": name, "total": float(total)} for number, name, total in found])


def orders(count: int, seed: int, *, joints: tuple[str, ...] = (" ", "\n", "\n\n")) -> tuple[str, list[Order]]:
    """Return a text with orders among other sentences, and the orders; customers and totals come again and again."""
    rng = random.Random(seed)
    listed = [
        Order(number=f"A-{1000 + number}", customer=rng.choice(CUSTOMERS), total=rng.choice([10.5, 20, 35.25, 99]))
        for number in range(count)
    ]
    said = []
    for one in listed:
        gap = rng.choice([" ", " ", "\n", "  "])
        said.append(f"Order {one.number}{gap}came from {one.customer} for {one.total} euros.")
        said += rng.choices(FILL, k=rng.randrange(4))
    return "# Orders\n\n" + "".join(sentence + rng.choice(joints) for sentence in said), listed


def test_every_record_of_a_long_document_once() -> None:
    """60,000 characters with 358 records, of which a fifteenth fits the context: each record, with its evidence."""
    document, expected = orders(358, 1)
    document += "Closing words. " * ((60_000 - len(document)) // 15)
    model = ScriptedModel(read_orders, context_length=6_000)
    found = Extractor(list[Order], model=model, max_tokens=4_000).result(document)
    assert found.value == expected
    assert found.document == document
    assert json.loads(found.text) == found.data == [one.model_dump() for one in expected]
    for index, one in enumerate(expected):
        spans = [found.evidence[f"[{index}].{name}"].span for name in Order.model_fields]
        assert all(span is not None for span in spans)
        quotes = [document[slice(*span)] for span in spans if span is not None]
        assert (quotes[0], quotes[1], float(quotes[2])) == (one.number, one.customer, one.total)
        assert max(span[1] for span in spans if span) - min(span[0] for span in spans if span) < 60
    assert found.usage.prompt_tokens > len(document)
    assert read_back(found, list[Order]).evidence == found.evidence


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 40), st.integers(0, 10**6), st.integers(200, 1_000), st.integers(1, 3), st.booleans())
def test_splitting_loses_and_doubles_nothing(count: int, seed: int, tokens: int, passes: int, keyed: bool) -> None:
    """However large the chunks are, in however many passes, merged by keys or by places."""
    document, expected = orders(count, seed)
    model = ScriptedModel(read_orders)
    merge_by = ["number"] if keyed else []
    options: Any = {"chunking": Chunking(tokens=tokens, passes=passes, merge_by=merge_by), "max_tokens": 20_000}
    assert extract(list[Order], document, model=model, **options) == expected


def test_a_document_that_fits_is_read_at_once() -> None:
    """Whatever the options say of longer ones."""
    prompts: list[str] = []

    def script(prompt: str) -> str:
        prompts.append(prompt)
        return read_orders(prompt)

    document, expected = orders(3, 1)
    model = ScriptedModel(script, context_length=6_000)
    assert (
        extract(list[Order], document, model=model, chunking=Chunking(tokens=len(document) + 1, passes=3)) == expected
    )
    assert len(prompts) == 1


def test_a_chunk_goes_with_its_heading_and_the_header_of_its_table() -> None:
    """So that what a row says is known in each chunk."""
    prompts: list[str] = []

    def script(prompt: str) -> str:
        prompts.append(text_of(prompt))
        rows = re.findall(r"^\| (A-\d+) \| (\w+) \| ([\d.]+) \|$", prompts[-1], re.MULTILINE)
        return json.dumps([{"number": number, "customer": name, "total": float(total)} for number, name, total in rows])

    rows = [f"| A-{number} | Ana | {number}.5 |\n" for number in range(100, 160)]
    document = "# Report\n\nWords.\n\n## Sales\n\n| no | who | sum |\n|----|-----|-----|\n" + "".join(rows)
    found = extract(list[Order], document, model=ScriptedModel(script), chunking=Chunking(tokens=400), max_tokens=9_000)
    assert [one.number for one in found] == [f"A-{number}" for number in range(100, 160)]
    assert len(prompts) > 3
    assert (
        sum(text.startswith("## Sales\n| no | who | sum |\n|----|-----|-----|\n| A-") for text in prompts)
        == len(prompts) - 1
    )


class Letter(BaseModel):
    sender: str | None
    city: str | None
    tags: list[str] = []


def read_letter(prompt: str) -> str:
    text = text_of(prompt)
    sender, city = re.search(r"From: (\w+)", text), re.search(r"City: (\w+)", text)
    tags = re.findall(r"#(\w+)", text)
    return json.dumps({"sender": sender and sender[1], "city": city and city[1], "tags": tags})


FILLER = "Words that say nothing at all. " * 20


def test_one_object_is_put_together_from_chunks() -> None:
    """Each field from the chunk that states it; lists from all; other values are kept as conflicts."""
    document = f"From: Ana\n\n{FILLER}\n\nCity: Porto #a\n\n{FILLER}\n\n#b and #c. From: Bob\n\n{FILLER}"
    model = ScriptedModel(read_letter)
    found = Extractor(Letter, model=model, chunking=Chunking(tokens=300, prefer="first")).result(document)
    assert found.value == Letter(sender="Ana", city="Porto", tags=["a", "b", "c"])
    assert [(value, document[slice(*one.span)]) for value, one in found.conflicts["sender"] if one.span] == [
        ("Bob", "Bob")
    ]
    assert read_back(found, Letter).conflicts == found.conflicts
    assert extract(Letter, document, model=model, chunking=Chunking(tokens=300, prefer="first")) == found.value


class Numbered(BaseModel):
    number: Annotated[str, Key]
    note: str | None = None


def test_records_are_merged_by_marked_fields() -> None:
    """Those with one key are one record, wherever it is stated."""
    document = f"No 7: first. {FILLER} No 8: second. {FILLER} No 7 again. {FILLER}"

    def script(prompt: str) -> str:
        found = re.findall(r"No (\d)(?:: (\w+))?", text_of(prompt))
        return json.dumps([{"number": number, "note": note or None} for number, note in found])

    found = extract(list[Numbered], document, model=ScriptedModel(script), chunking=Chunking(tokens=300))
    assert found == [Numbered(number="7", note="first"), Numbered(number="8", note="second")]


def test_the_parts_of_a_document_are_told() -> None:
    """So that whoever waits for a long one sees how far it is."""
    told: list[events.Event] = []
    document, _ = orders(40, 2)
    extract(list[Order], document, model=ScriptedModel(read_orders), chunking=Chunking(tokens=600), observe=told.append)
    spans = [one.span for one in told if isinstance(one, events.AttemptWritten)]
    assert len(spans) > 3
    assert {place for span in spans if span for place in range(*span)} >= set(range(len(document.rstrip())))
    assert sum(isinstance(one, events.DocumentDone) for one in told) == 1


def test_a_key_may_be_written_as_a_call() -> None:
    class Written(BaseModel):
        number: Annotated[str, Key()]

    document = f"No 7. {FILLER} No 7. {FILLER}"
    found = extract(list[Written], document, model=ScriptedModel('[{"number": "7"}]'), chunking=Chunking(tokens=200))
    assert found == [Written(number="7")]


def test_merge_by_names_fields_of_records() -> None:
    with pytest.raises(SchemaError, match=r"merge_by names 'nr', .* Name one of its fields: '\[\]\.number', '\[\]\.c"):
        Extractor(list[Order], model=ScriptedModel(read_orders), chunking=Chunking(merge_by=["nr"]))


def test_a_further_pass_finds_what_others_missed() -> None:
    """A model that misses what begins a chunk gets other joints; passes end where nothing new comes."""
    document, expected = orders(30, 5, joints=("\n\n",))
    asked: list[str] = []

    def forgetful(prompt: str) -> str:
        asked.append(prompt)
        found = json.loads(read_orders(prompt))
        return json.dumps(found[1:])

    counts = []
    for passes in (1, 2, 9):
        asked.clear()
        found = extract(
            list[Order], document, model=ScriptedModel(forgetful), chunking=Chunking(tokens=600, passes=passes)
        )
        counts.append((len(found), len(asked)))
    assert counts[0][0] < counts[1][0] <= counts[2][0] <= len(expected)
    assert counts[2][1] < 9 * counts[0][1]


class Digits(BaseModel):
    digits: list[Annotated[int, Field(ge=0, le=9)]]


def test_chunks_repeat_no_item_of_a_list_whose_items_must_differ() -> None:
    """Ana is a customer in every chunk; as items must differ, she is there once."""
    document, listed = orders(40, 3)
    model = ScriptedModel(lambda prompt: json.dumps(sorted({name for _, name, _ in ORDER.findall(text_of(prompt))})))
    schema = {"type": "array", "uniqueItems": True, "items": {"type": "string"}}
    found = extract(JsonSchema(schema), document, model=model, chunking=Chunking(tokens=300))
    assert sorted(found) == sorted({one.customer for one in listed})
    assert extract(set[str], document, model=model, chunking=Chunking(tokens=300)) == {one.customer for one in listed}


@pytest.mark.parametrize(
    ("asked", "is_set"),
    [
        *((set[str], True), (frozenset[int] | None, True), (list[str], False), (list[int] | set[str], False)),
        (JsonSchema({"type": ["array", "null"], "uniqueItems": True}), True),
        (JsonSchema({"type": "array", "items": {"type": "array", "uniqueItems": True}}), False),
    ],
)
def test_items_differ_only_if_they_must_in_every_branch(asked: Any, is_set: bool) -> None:
    """A repeated item of a list that may be of another branch is kept."""
    root = resolve_type(asked).root
    assert root is not None
    assert (shape_function(root)((), [1, 1]) == SET_SHAPE) == is_set


def test_a_chunk_whose_answer_is_shortened_is_split_again() -> None:
    """So that no answer of a chunk is cut off which a shorter one would not be."""
    counts: set[int] = set()

    def as_many_as_stand_there(token_ids: Sequence[int]) -> NDArray[np.float32]:
        text, _, answer = spell(TOKENIZER.tokens, token_ids).rpartition(b"JSON:\n")
        wanted = text[text.rindex(b"Text:\n") :].count(b"7")
        counts.add(wanted)
        likely = {b"7", b","} if answer.count(b"7") < wanted else {b"]"}
        return np.array([5.0 * (token is not None and token[:1] in likely) for token in TOKENIZER.tokens], np.float32)

    model = FunctionModel(as_many_as_stand_there, TOKENIZER)
    document = "seven 7 words " * 40
    found = extract(
        Digits, document, model=model, chunking=Chunking(tokens=400), repetition=Repetition(stop=False), max_tokens=30
    )
    assert found.digits == [7] * 40
    assert max(counts) > 20  # more than thirty tokens can say
    with pytest.warns(BudgetWarning):
        assert len(extract(Digits, document, model=model, max_tokens=30, repetition=Repetition(stop=False)).digits) < 10


def test_documents_of_a_batch_are_split_by_themselves() -> None:
    """Long and short ones go together; one that fails costs no other, and each comes once."""
    texts = [orders(count, seed) for count, seed in ((2, 1), (40, 2), (1, 3), (25, 4))]
    documents: list[Any] = [text for text, _ in texts]
    model = ScriptedModel(read_orders, context_length=3_000)
    made = Extractor(list[Order], model=model, max_tokens=2_000)
    assert made.batch(documents) == [expected for _, expected in texts]
    documents.insert(2, "")
    found = sorted(made.results(documents), key=lambda one: one.position)
    assert [one.position for one in found] == list(range(5))
    assert [one.value for one in found if one.error is None] == [expected for _, expected in texts]
    with pytest.raises(BatchError, match="1 of 5 documents"):
        made.batch(documents)


class Dated(BaseModel):
    total: Grounded[float]


def test_chunks_that_do_not_state_what_has_to_be_stated_say_nothing() -> None:
    """The document fails only if none of its chunks does."""
    model = FunctionModel(random_logits(len(TOKENIZER.tokens)), TOKENIZER)
    document = f"{FILLER}\n\nThe total is 12.50.\n\n{FILLER}"
    found = Extractor(Dated, model=model, chunking=Chunking(tokens=200)).result(document)
    assert found.value == Dated(total=12.5)
    span = found.evidence["total"].span
    assert span is not None
    assert document[slice(*span)] == "12.50"
    with pytest.raises(NotStatedError, match="total"):
        extract(Dated, FILLER, model=model, chunking=Chunking(tokens=200))


def test_a_chunk_that_validators_reject_fails_its_document_once() -> None:
    """With the attempts at that chunk."""

    class Even(BaseModel):
        numbers: list[Annotated[int, Field(multiple_of=2)]]

        def model_post_init(self, _: object) -> None:
            if 13 in self.numbers or len(self.numbers) > 1:
                raise ValueError("unlucky")

    model = ScriptedModel('{"numbers": [2, 4]}')
    with pytest.raises(BatchError) as caught:
        extract_batch(Even, ["word " * 100, "word"], model=model, chunking=Chunking(tokens=100), retries=1)
    assert [type(one) for one in caught.value.errors.values()] == [GenerationError, GenerationError]


@pytest.mark.parametrize("context_length", range(300, 420, 8))
def test_a_document_is_done_once_and_last(context_length: int) -> None:
    """Whatever fits: nothing is told of its parts once it has failed, and a part that is too long is split."""

    class Long(BaseModel):
        v: Literal["some rather long value indeed", "another rather long value"]

    document = "\n\n".join(["aaaa bbbb cccc dddd. " * 3, "xxxx yyyy zzzz wwww. " * 8])
    told: list[events.Event] = []
    model = ScriptedModel(lambda _: '{"v": "another rather long value"}', context_length=context_length)
    options: Any = {"max_tokens": 60, "chunking": Chunking(tokens=170), "observe": told.append}
    extract_batch(Long, [document, "other"], model=model, errors="return", **options)
    of_each = [[event for event in told if getattr(event, "position", None) == place] for place in (0, 1)]
    for first, *between, last in of_each:
        assert (type(first), type(last)) == (events.DocumentStarted, events.DocumentDone)
        assert {type(event) for event in between} <= {events.AttemptWritten}


def test_chunks_that_exclude_each_other_fail_their_document() -> None:
    """A rule for the whole may reject what they say together; nothing of it is dropped silently."""

    class One(BaseModel):
        tags: Annotated[list[str], Field(max_length=1)]

    document = f"#a {FILLER} #b"

    def script(prompt: str) -> str:
        return json.dumps({"tags": re.findall(r"#(\w)", text_of(prompt))})

    with pytest.raises(GenerationError) as caught:
        extract(One, document, model=ScriptedModel(script), chunking=Chunking(tokens=300))
    assert caught.value.attempts[-1].text == '{"tags": ["a", "b"]}'
    assert "what the chunks of the document say together" in str(caught.value)
    assert "Allow more retries" not in str(caught.value)


def test_a_document_that_fits_is_split_where_its_answer_does_not() -> None:
    """In chunks, an answer that would be shortened is put together from parts of the text."""
    document, expected = orders(12, 3, joints=("\n\n",))
    width = len(TOKENIZER.tokens)

    def reading(token_ids: Sequence[int]) -> NDArray[np.float32]:
        prompt, _, answer = spell(TOKENIZER.tokens, token_ids).decode().rpartition("JSON:\n")
        script, scores = read_orders(prompt), np.zeros(width, np.float32)
        if script.startswith(answer) and answer != script:
            following = script[len(answer)].encode()
            scores += [9.0 * (token == following) for token in TOKENIZER.tokens]
        return scores

    model = FunctionModel(reading, TOKENIZER)
    options: Any = {"model": model, "max_tokens": 400, "jump_forward": False, "repetition": Repetition(stop=False)}
    assert extract(list[Order], document, chunking=Chunking(tokens=5_000), **options) == expected
    with pytest.warns(BudgetWarning, match="set chunking"):
        assert len(extract(list[Order], document, **options)) < 12


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    bark: str


class Owner(BaseModel):
    pet: Cat | Dog | None
    at: tuple[int, int] | None
    note: str | list[str] | None


def test_only_what_is_of_one_shape_is_put_together() -> None:
    """No cat barks, and no place has the latitude of another. What is not taken is kept as a conflict."""
    answers = {
        "one": {"pet": {"kind": "cat", "lives": 9}, "at": [1, 2], "note": "one"},
        "two": {"pet": {"kind": "dog", "bark": "wow"}, "at": [3, 4], "note": ["two"]},
        "six": {"pet": {"kind": "dog", "bark": "wau"}, "at": None, "note": None},
    }
    document = f"one: cat 9 at 1, 2. {FILLER} two: dog wow at 3, 4. {FILLER} six: dog wau. {FILLER}"

    def script(prompt: str) -> str:
        said = next((answers[name] for name in answers if f"{name}:" in text_of(prompt)), None)
        return json.dumps(said or {"pet": None, "at": None, "note": None})

    found = Extractor(Owner, model=ScriptedModel(script), chunking=Chunking(tokens=400)).result(document)
    assert found.value is not None
    assert isinstance(found.value.pet, Dog)
    assert found.value.at in {(1, 2), (3, 4)}
    assert found.data == found.value.model_dump(mode="json")
    kept = {path: {str(value) for value, _ in others} for path, others in found.conflicts.items()}
    assert {"cat", "9"} <= kept["pet.kind"]
    assert kept["pet.bark"] == {"wow", "wau"} - {found.value.pet.bark}
    assert kept["at[0]"] == {"1", "3"} - {str(found.value.at[0])}


def test_a_model_that_never_ends_costs_a_bounded_number_of_chunks() -> None:
    """A chunk whose answer is shortened is split down to an eighth of its tokens, and then counts as it is."""
    asked: set[tuple[int, ...]] = set()

    def endless(token_ids: Sequence[int]) -> NDArray[np.float32]:
        asked.add(tuple(token_ids[:300]))
        return np.array([5.0 * (token in {b"7", b","}) for token in TOKENIZER.tokens], np.float32)

    model = FunctionModel(endless, TOKENIZER)
    extractor = Extractor(
        Digits, model=model, chunking=Chunking(tokens=100), repetition=Repetition(stop=False), max_tokens=40
    )
    with pytest.warns(BudgetWarning, match="max_tokens=40"):
        (reply,) = Responder(extractor).replies(["word " * 320])
    assert reply.result.usage.passes < 16 * 8 * 4 * 40
    assert reply.is_cut_short, "a server says so, with the finish reason `length`"
    assert [one.shortened for one in reply.result.generations] == [True]


def test_a_document_of_one_chunk_is_answered_as_a_whole() -> None:
    """With the figures of its generation, and an error that speaks of no part."""
    options: Any = {"chunking": Chunking(tokens=1_000), "retries": 0}
    found = Extractor(Digits, model=ScriptedModel('{"digits": [7]}'), **options).result("seven 7")
    assert found.generations[0].token_ids
    assert found.generations[0].served is None

    class Never(BaseModel):
        number: int

        def model_post_init(self, _: object) -> None:
            raise ValueError("unlucky")

    with pytest.raises(GenerationError) as caught:
        extract(Never, "seven 7", model=ScriptedModel('{"number": 7}'), **options)
    assert not getattr(caught.value, "__notes__", ())


def test_few_tokens_for_the_answer_make_no_tiny_chunks() -> None:
    """A limit of eight tokens, enough for each number, once cut a document into chunks of eight tokens."""
    seen: list[events.Event] = []
    options: Any = {"model": ScriptedModel("1", context_length=1_000), "max_tokens": 8, "observe": seen.append}
    assert extract(int, "It rains. " * 200, **options) == 1
    spans = [one.span for one in seen if isinstance(one, events.AttemptWritten) and one.span is not None]
    assert len(spans) > 1
    assert min(end - start for start, end in spans[:-1]) >= MIN_CHUNK_TOKENS // 2
