"""The study of type descriptions: it measures the library's own prompts among others, and counts fields rightly."""

import json

import numpy as np
import pytest
from doubles import ByteTokenizer

from benchmarks.gold import leaves, records
from benchmarks.gold.types import TYPES
from benchmarks.type_descriptions import FORMS, Answer, _read, _share, _spans, batches, row, spelled, written
from structured import Extractor
from structured.decoding.generate import compile_type
from structured.extraction.prompts import chat_messages, completion_prompt
from structured.index.guide import Guide
from structured.models import ScriptedModel
from structured.output_types.resolve import resolve_type
from structured.vocabulary import Vocabulary

TUNED = records("tune")


@pytest.mark.parametrize("output_type", TYPES)
def test_the_prompts_of_the_library_are_among_the_forms(output_type):
    pairs, described = [("One.", "{}")], resolve_type(output_type).describe()
    own = next(form for form in FORMS.values() if form.as_built)
    assert own.messages(output_type, "A text.", pairs) == chat_messages(described, "A text.", examples=pairs)
    assert own.plain(output_type, "A text.", pairs) == completion_prompt(described, "A text.", examples=pairs)


@pytest.mark.parametrize("is_chat", [True, False])
def test_a_model_is_sent_what_a_form_says(is_chat):
    """As built, what the library itself sends."""
    model = ScriptedModel("{}")
    model.has_chat_template = is_chat
    asked = TUNED[: len(TYPES)]
    expected = [Extractor(type(record.value), model=model).prompt(record.document) for record in asked]
    own = next(form for form in FORMS.values() if form.as_built)
    sent = [batch.extractor.prompt(record.document) for batch in batches(model, own, asked) for record in batch.records]
    assert sent == expected


@pytest.mark.parametrize("name", FORMS)
def test_every_form_shows_the_document_and_the_names_of_all_fields(name):
    for record in TUNED[: len(TYPES)]:
        last = FORMS[name].messages(type(record.value), record.document, [])
        shown = "\n\n".join(turn["content"] for turn in last)
        assert last[-1]["role"] == "user"
        assert record.document in last[-1]["content"]
        assert all(field in shown for field in type(record.value).model_fields)


def test_the_leaves_of_an_answer_are_found_in_its_text():
    for record in TUNED:
        text = written(record.value)
        found = [json.loads(text.encode()[start : end - 1]) for start, end in _spans(text)]
        assert found == [value for _, value in leaves(json.loads(text))]


@pytest.mark.parametrize("wrong", [None, "name", "age", "email"])
def test_a_field_is_right_if_the_model_would_have_written_it(wrong):
    """A model that is sure of the right answer, and one that is sure of another character in one field."""
    vocabulary = Vocabulary.from_tokenizer(ByteTokenizer())
    record = TUNED[0]
    text = written(record.value)
    answer = spelled(vocabulary, text)
    logits = np.zeros((len(answer), vocabulary.size), dtype=np.float32)
    logits[np.arange(len(answer)), answer] = 50
    if wrong is not None:
        offset = text.index(":", text.index(f'"{wrong}"')) + 3
        starts = np.cumsum([0, *(len(vocabulary.tokens[token_id] or b"") for token_id in answer)])
        place = int(np.searchsorted(starts, offset))
        logits[place, spelled(vocabulary, "5")] = 99
    guide = Guide(compile_type(resolve_type(type(record.value)), vocabulary, cache=False), max_tokens=999)
    (right, fields), nats = _read(guide, text, answer, logits)
    assert (right, fields) == (5 - (wrong is not None), 5)
    assert nats == pytest.approx(0 if wrong is None else 49, abs=1e-6)


def test_the_standard_error_of_a_share_is_that_of_its_documents():
    """For documents of as many fields each, that of a mean."""
    rng = np.random.default_rng(0)
    right = rng.integers(0, 6, 400)
    answers = [Answer("m", "tune", "read", "f", str(at), None, int(one), 5, None) for at, one in enumerate(right)]
    share, influence = _share(answers)
    assert share == pytest.approx(right.mean() / 5)
    assert sum(one**2 for one in influence) ** 0.5 == pytest.approx(right.std() / 5 / 20)
    none = {str(at): one._replace(right=0) for at, one in enumerate(answers)}
    assert row("f", {one.document: one for one in answers}, none).startswith(
        f"| f | {share:.1%} | +{100 * share:.1f} ± "
    )
