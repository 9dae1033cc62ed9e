"""In the loops of transformers: whatever they do with rows, each text is guided by itself and becomes an instance."""

import copy
import json
import pickle
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import pytest
from doubles import in_memory, tiny_gpt2, tiny_llama
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field, TypeAdapter

from structured import JsonLayout, JsonSchema
from structured.decoding.generate import generate
from structured.decoding.repetition import Repetition
from structured.decoding.requests import Request
from structured.decoding.sampling import Sampler
from structured.errors import BatchError, BudgetError, GenerationError, IncompleteError, ModelError, RepetitionWarning
from structured.index.guide import Guide
from structured.index.masks import unpack
from structured.integrations.logits_processor import GuidedLogitsProcessor
from structured.models.transformers_model import HuggingFaceModel

if TYPE_CHECKING:
    import torch


class Person(BaseModel):
    name: str
    age: int


class Node(BaseModel):
    label: Literal["a", "b"]
    children: "list[Node]"


TYPES: tuple[Any, ...] = (Person, Node, list[int], Literal["true", "tree", "é€"], float, dict[str, bool])
PROMPTS = ("a", "Jason is 25 years old, his sister Ana 31.", "日本 🙂")
MAX_TOKENS = 24

LOOPS: dict[str, dict[str, Any]] = {
    "greedy": {"do_sample": False},
    "sampling": {"do_sample": True, "temperature": 1.5, "top_k": 0},
    "several samples": {"do_sample": True, "num_return_sequences": 3, "top_p": 0.9},
    "two beams": {"num_beams": 2, "do_sample": False},
    "three beams": {"num_beams": 3, "num_return_sequences": 3, "do_sample": False, "early_stopping": True},
    "four beams": {"num_beams": 4, "num_return_sequences": 4, "do_sample": False, "length_penalty": 0.5},
    "patient beams": {"num_beams": 3, "do_sample": False, "early_stopping": "never"},
    "sampled beams": {"num_beams": 3, "do_sample": True},
    "no end before": {"do_sample": False, "min_new_tokens": 20},
    "guessing": {"do_sample": False, "prompt_lookup_num_tokens": 3},
}


@cache
def model(make: Callable[[int], Any] = tiny_llama) -> HuggingFaceModel:
    return in_memory(make)


def inputs(prompts: Sequence[str], loaded: HuggingFaceModel | None = None) -> Any:
    """Return the prompts as tensors, padded in front."""
    loaded = loaded or model()
    loaded.tokenizer.pad_token = loaded.tokenizer.eos_token
    loaded.tokenizer.padding_side = "left"
    return loaded.tokenizer(list(prompts), return_tensors="pt", padding=True)


def run(processor: GuidedLogitsProcessor[Any], prompts: Sequence[str], **options: Any) -> "torch.Tensor":
    """Let the loop of transformers write."""
    import torch

    torch.manual_seed(0)
    options = {"max_new_tokens": MAX_TOKENS + 1, "pad_token_id": 1} | options
    written: torch.Tensor = model().model.generate(**inputs(prompts), logits_processor=[processor], **options)
    return written


@pytest.mark.thorough
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("output_type", TYPES, ids=str)
def test_whatever_the_loop_does_each_text_is_an_instance(loop: str, output_type: Any) -> None:
    """Rows are padded, repeated, forked, sorted anew and finished early: each answer is one of the type, in time."""
    processor = GuidedLogitsProcessor(output_type, model(), max_tokens=MAX_TOKENS)
    prompts = PROMPTS[:1] if loop == "guessing" else PROMPTS
    written = run(processor, prompts, **LOOPS[loop])
    assert len(written) == len(prompts) * LOOPS[loop].get("num_return_sequences", 1)
    assert written.shape[1] <= inputs(prompts)["input_ids"].shape[1] + MAX_TOKENS + 1
    texts = processor.texts(written)
    adapter = TypeAdapter(output_type)
    assert processor.read(written) == [adapter.validate_json(text) for text in texts]


@pytest.mark.thorough
@pytest.mark.parametrize("loop", ["greedy", "four beams"])
@pytest.mark.parametrize("output_type", TYPES, ids=str)
def test_as_many_new_tokens_as_the_answer_may_have_suffice(loop: str, output_type: Any) -> None:
    """The end token is no part of the answer: a loop that stops where the budget ends has a whole text."""
    processor = GuidedLogitsProcessor(output_type, model(), max_tokens=20)
    processor.read(run(processor, PROMPTS, max_new_tokens=20, **LOOPS[loop]))


@pytest.mark.thorough
@pytest.mark.parametrize("make", [tiny_llama, tiny_gpt2])
@pytest.mark.parametrize("output_type", TYPES, ids=str)
@pytest.mark.parametrize("max_tokens", [20, 40, 150])
def test_greedy_is_what_the_library_writes_itself(make: Any, output_type: Any, max_tokens: int) -> None:
    """Token for token, the greedy loop of transformers writes what this library's own does."""
    loaded = model(make)
    processor = GuidedLogitsProcessor(output_type, loaded, max_tokens=max_tokens)
    for prompt in PROMPTS:
        tokens = loaded.encode(prompt)
        guide = Guide(processor.index, max_tokens=max_tokens)
        request = Request(tokens, guide, Sampler().generator(0, 0), repetition=Repetition())
        (own,) = generate(loaded, [request], Sampler(), jump_forward=False)
        written = loaded.model.generate(
            **inputs([prompt], loaded),
            logits_processor=[processor],
            max_new_tokens=max_tokens + 1,
            do_sample=False,
            pad_token_id=1,
        )
        (theirs,) = written[:, len(tokens) :].tolist()
        assert theirs[: len(own.token_ids)] == list(own.token_ids)
        assert set(theirs[len(own.token_ids) :]) <= {1}
        assert processor.texts(written) == [own.text]


@pytest.mark.thorough
@given(st.data())
@settings(max_examples=20)
def test_masks_are_those_of_each_rows_guide(data: st.DataObject) -> None:
    """Rows fork, vanish, change places and step back: each gets the mask of a guide that read its answer alone."""
    import torch

    output_type = data.draw(st.sampled_from(TYPES))
    max_tokens = data.draw(st.integers(19, 30))
    processor = GuidedLogitsProcessor(output_type, model(), max_tokens=max_tokens)
    index = processor.index
    size = index.vocabulary.size
    prompt = data.draw(st.lists(st.integers(0, 200), min_size=1, max_size=4))
    rows, width = data.draw(st.integers(1, 4)), size + data.draw(st.integers(0, 40))
    answers: list[list[int]] = [[]] * rows
    for _ in range(12):
        scores = torch.randn(rows, width)
        before = scores.clone()
        guided = processor(torch.tensor([[*prompt, *answer] for answer in answers]), scores)
        assert torch.equal(scores, before)
        allowed = []
        for row, answer in enumerate(answers):
            guide = Guide(index, max_tokens=max_tokens)
            for token_id in answer:
                if not guide.finished or token_id not in index.vocabulary.end_token_ids:
                    guide.advance(token_id)
            ended = bool(answer) and answer[-1] in index.vocabulary.end_token_ids
            bits = np.isin(np.arange(width), [1]) if ended else unpack(guide.mask(), width)
            np.testing.assert_array_equal(guided[row], np.where(bits, before[row], -np.inf))
            allowed.append(np.flatnonzero(bits).tolist())
        answers = [
            [*answers[row], data.draw(st.sampled_from(allowed[row]))]
            for row in data.draw(st.lists(st.integers(0, rows - 1), min_size=rows, max_size=rows))
        ]
        shorter = data.draw(st.integers(0, 8))
        if shorter < len(answers[0]) and data.draw(st.booleans()):
            answers = [answer[: len(answer) - shorter] for answer in answers]


@pytest.mark.thorough
@pytest.mark.parametrize("loop", ["greedy", "three beams"])
def test_a_processor_starts_afresh_with_each_loop(loop: str) -> None:
    """Used again, for the same prompts or others, shorter or longer, it does what a new one does."""
    used = GuidedLogitsProcessor(Person, model(), max_tokens=MAX_TOKENS)
    for prompts in (PROMPTS, PROMPTS[:1], PROMPTS, [PROMPTS[0] * 2], [PROMPTS[0] * 5], PROMPTS[1:], PROMPTS[1:]):
        new = GuidedLogitsProcessor(Person, model(), max_tokens=MAX_TOKENS)
        again, expected = run(used, prompts, **LOOPS[loop]), run(new, prompts, **LOOPS[loop])
        assert again.tolist() == expected.tolist()
        assert used.texts(again) == new.texts(expected)


def test_a_conversation_starts_afresh() -> None:
    """A prompt that goes on after the text of the last one asks for a new answer."""
    import torch

    processor = GuidedLogitsProcessor(Person, model(), max_tokens=MAX_TOKENS)
    first = run(processor, PROMPTS[:1])
    second = torch.cat([first, inputs(PROMPTS[1:2])["input_ids"]], dim=1)
    written = model().model.generate(
        second, logits_processor=[processor], max_new_tokens=MAX_TOKENS + 1, do_sample=False, pad_token_id=1
    )
    assert len(processor.read(written)) == 1
    assert written[:, : second.shape[1]].tolist() == second.tolist()


def test_a_text_that_was_cut_goes_on() -> None:
    """A loop that stopped too early may be given what it wrote: the answer is finished as if it had never stopped."""
    processor = GuidedLogitsProcessor(Person, model(), max_tokens=MAX_TOKENS)
    whole = run(processor, PROMPTS[:1], do_sample=False)
    cut = run(processor, PROMPTS[:1], do_sample=False, max_new_tokens=5)
    with pytest.raises(BatchError):
        processor.read(cut)
    resumed = model().model.generate(
        cut, logits_processor=[processor], max_new_tokens=MAX_TOKENS, do_sample=False, pad_token_id=1
    )
    assert processor.texts(resumed) == processor.texts(whole)


@pytest.mark.thorough
@pytest.mark.parametrize("output_type", TYPES, ids=str)
def test_an_answer_that_the_loop_cut_is_called_incomplete(output_type: Any) -> None:
    """Wherever it was cut, and whatever pads it: no validator is blamed, and half of a number is no number."""
    processor = GuidedLogitsProcessor(output_type, model(), max_tokens=MAX_TOKENS)
    written = run(processor, PROMPTS, do_sample=False)
    whole, width = processor.read(written), inputs(PROMPTS)["input_ids"].shape[1]
    for tokens in range(written.shape[1] - width):
        cut = written.clone()
        cut[:, width + tokens :] = 2  # a special token, which stands for no text
        for rows in (cut, written[:, : width + tokens]):
            results, errors = read(processor, rows)
            assert results == [None if row in errors else answer for row, answer in enumerate(whole)]
            for row, error in errors.items():
                assert isinstance(error, IncompleteError)
                assert (error.document, error.tokens, error.max_tokens) == (row, tokens, MAX_TOKENS)
                assert error.text == processor.texts(cut)[row]
                assert f"Set max_new_tokens to {MAX_TOKENS + 1}, one more than the max_tokens" in str(error)
    assert read(processor, written[:, :width])[1].keys() == {0, 1, 2}


def read(processor: GuidedLogitsProcessor[Any], rows: Any) -> tuple[list[Any], dict[int, Any]]:
    """Return the instances in some rows, and why others hold none."""
    try:
        return processor.read(rows), {}
    except BatchError as error:
        return list(error.results), error.errors


def test_an_answer_with_a_forbidden_token_is_told_as_such() -> None:
    processor = GuidedLogitsProcessor(Person, model(), max_tokens=MAX_TOKENS)
    written = run(processor, PROMPTS, do_sample=False)
    width = inputs(PROMPTS)["input_ids"].shape[1]
    written[1, width + 1] = model().tokenizer.encode("}", add_special_tokens=False)[0]
    _, errors = read(processor, written)
    assert list(errors) == [1]
    assert isinstance(errors[1], ModelError)
    assert str(errors[1]).startswith("The answer in row 1 holds a token that GuidedLogitsProcessor(Person, max_tokens=")


def test_a_processor_is_pickled_as_what_it_was_made_of() -> None:
    """With a tokenizer it goes anywhere; a copy starts from where the other is, and goes its own way."""
    processor = GuidedLogitsProcessor(Person, model().tokenizer, max_tokens=MAX_TOKENS, layout=JsonLayout("compact"))
    other = pickle.loads(pickle.dumps(processor))  # noqa: S301  what was written here
    written = run(processor, PROMPTS, do_sample=False)
    assert run(other, PROMPTS, do_sample=False).tolist() == written.tolist()
    assert other.texts(written) == copy.deepcopy(processor).texts(written) == processor.texts(written)
    with pytest.raises(
        pickle.PicklingError, match=r"^The source of GuidedLogitsProcessor\(Person, .* Pass the name or"
    ):
        pickle.dumps(GuidedLogitsProcessor(Person, model(), max_tokens=MAX_TOKENS))


def test_strangers_are_refused() -> None:
    """Where every row has a token that was forbidden, nothing is guided as if nothing had happened."""
    import torch

    processor = GuidedLogitsProcessor(Person, model(), max_tokens=MAX_TOKENS)
    scores = torch.zeros(2, model().vocabulary.size)
    prompts = torch.tensor([[5], [6]])
    processor(prompts, scores)
    one = model().encode("{")[-1]
    processor(torch.tensor([[5, one], [6, 7]]), scores)
    with pytest.raises(ModelError, match=r"^Every row holds a token that GuidedLogitsProcessor\(Person"):
        processor(torch.tensor([[5, one, 7], [6, 7, 7]]), scores)


def test_what_others_rule_out_is_allowed_if_nothing_else_is() -> None:
    """Where the scores leave nothing that may follow, all that may is equally likely; NaN is an error."""
    import torch

    processor = GuidedLogitsProcessor(bool, model(), max_tokens=9)
    size = model().vocabulary.size
    guided = processor(torch.tensor([[5], [6]]), torch.stack([torch.full((size,), -np.inf), torch.zeros(size)]))
    allowed = unpack(Guide(processor.index, max_tokens=9).mask(), size)
    np.testing.assert_array_equal(guided, np.where([allowed, allowed], 0.0, -np.inf))
    with pytest.raises(ModelError, match=r"NaN"):
        processor(torch.tensor([[5]]), torch.full((1, size), np.nan))


def test_scores_for_too_few_tokens() -> None:
    """A tokenizer alone cannot know that the model has no scores for some of its tokens."""
    import torch

    processor = GuidedLogitsProcessor(bool, model().tokenizer, max_tokens=9)
    with pytest.raises(ModelError, match=r"^There are scores for 40 tokens, and the tokenizer has \d+\. Make the"):
        processor(torch.tensor([[5]]), torch.zeros(1, 40))


def test_a_budget_that_is_too_small() -> None:
    """Nothing is written if not even the shortest answer fits."""
    with pytest.raises(BudgetError):
        GuidedLogitsProcessor(Person, model(), max_tokens=3)


def test_made_of_a_tokenizer_a_pair_or_a_model() -> None:
    """Whatever tells the tokens; the pair tells every end of the model besides."""
    sources = (model().tokenizer, (model().model, model().tokenizer), model())
    texts = [run_once(GuidedLogitsProcessor(Person, source, max_tokens=MAX_TOKENS)) for source in sources]
    assert texts[0] == texts[1] == texts[2]


def run_once(processor: GuidedLogitsProcessor[Any]) -> list[str]:
    return processor.texts(run(processor, PROMPTS, do_sample=False))


def test_whitespace_and_optional() -> None:
    """The same options as those of `extract` say what is written."""

    class Guest(BaseModel):
        name: Annotated[str, Field(max_length=3)]
        language: str = "English"

    compact = GuidedLogitsProcessor(
        Guest, model(), max_tokens=60, layout=JsonLayout("compact", optional_properties="written")
    )
    for text in compact.texts(run(compact, PROMPTS, max_new_tokens=61)):
        assert text == json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":")) or "\\" in text
        assert json.loads(text).keys() == {"name", "language"}
    schema = JsonSchema({"enum": ["ä", 3]})
    processor = GuidedLogitsProcessor(schema, model(), max_tokens=9)
    assert set(processor.read(run(processor, PROMPTS))) <= {"ä", 3}


def test_validators_have_the_last_word() -> None:
    """An answer that the type's own validators reject is an error for its row, and the others are kept."""

    def short(text: str) -> str:
        if text != "é€":
            raise ValueError("not that")
        return text

    processor = GuidedLogitsProcessor(
        Annotated[Literal["true", "tree", "é€"], AfterValidator(short)], model(), max_tokens=9
    )
    written = run(processor, PROMPTS * 4, do_sample=True, temperature=9.0)
    good = [text == '"é€"' for text in processor.texts(written)]
    assert True in good
    assert False in good
    with pytest.raises(BatchError) as caught:
        processor.read(written)
    assert caught.value.results == tuple("é€" if fits else None for fits in good)
    assert set(caught.value.errors) == {row for row, fits in enumerate(good) if not fits}


def test_whatever_a_validator_raises_is_the_error_of_its_row() -> None:
    """An exception that is no ValueError costs no other row its answer."""

    def short(text: str) -> str:
        return text if text == "é€" else str(1 / 0)

    processor = GuidedLogitsProcessor(
        Annotated[Literal["true", "tree", "é€"], AfterValidator(short)], model(), max_tokens=9
    )
    written = run(processor, PROMPTS * 4, do_sample=True, temperature=9.0)
    good = [text == '"é€"' for text in processor.texts(written)]
    with pytest.raises(BatchError) as caught:
        processor.read(written)
    assert caught.value.results == tuple("é€" if fits else None for fits in good)
    assert {row for row, fits in enumerate(good) if not fits} == caught.value.errors.keys()
    for error in caught.value.errors.values():
        assert isinstance(error, GenerationError)
        assert isinstance(error.attempts[0].error, ZeroDivisionError)


def test_texts_of_another_loop_are_refused() -> None:
    """Where an answer begins is known from the prompts of the last loop alone."""
    import torch

    processor = GuidedLogitsProcessor(bool, model(), max_tokens=9)
    with pytest.raises(ModelError, match=r"^These are no rows that begin with the prompts of the last call"):
        processor.texts(torch.zeros(1, 4))


def stuck(processor: GuidedLogitsProcessor[Any], prompts: Sequence[str], answer: str, *, noise: float = 0.0) -> Any:
    """Let a greedy loop write that wants the same answer again and again, from any place in it; return its rows."""
    import torch

    loaded, wanted = model(), answer.encode() * 60
    ids = {token: token_id for token_id, token in enumerate(loaded.vocabulary.tokens) if token}
    rows: torch.Tensor = inputs(prompts)["input_ids"]
    width, ended = rows.shape[1], torch.zeros(len(rows), dtype=torch.bool)
    generator = torch.Generator().manual_seed(0)
    while not ended.all() and rows.shape[1] <= width + processor.max_tokens:
        scores = noise * torch.randn(len(rows), loaded.vocabulary.size, generator=generator)
        for row, written in enumerate(processor.texts(rows) if rows.shape[1] > width else [""] * len(rows)):
            data = written.encode()
            begun = next(length for length in range(len(data), -1, -1) if wanted.startswith(data[len(data) - length :]))
            scores[row, ids[wanted[begun : begun + 1]]] = 9.0
        chosen = torch.where(ended, 1, processor(rows, scores).argmax(dim=1))
        ended |= torch.tensor([one in loaded.vocabulary.end_token_ids for one in chosen.tolist()])
        rows = torch.cat([rows, chosen[:, None]], dim=1)
    return rows


ITEM = '"blue cheese", '


def test_what_repeats_itself_is_closed() -> None:
    """A list ends after three equal items; the warning names the rows, and one option allows repetition."""
    processor = GuidedLogitsProcessor(list[str], model(), max_tokens=200)
    with pytest.warns(RepetitionWarning, match=r"2 of 2 rows \(0, 1\) .* stop_repetition=False") as caught:
        answers = processor.read(stuck(processor, ("a", "bcd"), ITEM))
    assert all(set(answer[:3]) == {"blue cheese"} and len(answer) <= 4 for answer in answers)
    assert [one.message.documents for one in caught if isinstance(one.message, RepetitionWarning)] == [(0, 1)]
    free = GuidedLogitsProcessor(list[str], model(), max_tokens=200, stop_repetition=False)
    assert all(len(answer) > 5 for answer in free.read(stuck(free, ("a",), ITEM)))


def test_what_a_prompt_repeats_may_be_copied() -> None:
    """By the row with that prompt, and by no other."""
    processor = GuidedLogitsProcessor(list[str], model(), max_tokens=90)
    with pytest.warns(RepetitionWarning, match=r"1 of 2 rows \(1\)"):
        copied, closed = processor.read(stuck(processor, (ITEM * 12, "a"), ITEM))
    assert len(copied) > len(closed)


@pytest.mark.filterwarnings("ignore::structured.errors.RepetitionWarning")
def test_texts_without_repetition_are_untouched() -> None:
    """Where no row warns, the loop has written the same as without the control: stuck less and less, it does not."""
    kinds = set()
    for noise in (0.0, 2.0, 3.0, 4.0, 5.0, 6.0):
        guarded, free = (
            GuidedLogitsProcessor(list[str], model(), max_tokens=90, stop_repetition=stop) for stop in (True, False)
        )
        rows, others = (stuck(processor, ("a",), ITEM, noise=noise) for processor in (guarded, free))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            guarded.read(rows)
        kinds.add(bool(caught))
        assert rows.tolist() == others.tolist() or caught
    assert kinds == {True, False}


@pytest.mark.thorough
@pytest.mark.parametrize("loop", ["two beams", "several samples", "sampled beams", "guessing"])
def test_loops_that_fork_and_go_back_are_led_out(loop: str) -> None:
    """Whatever a loop does with rows, its texts are instances; the likeliest is no endless list."""
    from transformers import LogitsProcessorList

    items = Annotated[list[Literal["cheese"]], Field(min_length=1)]
    processor = GuidedLogitsProcessor(items, model(), max_tokens=150)
    more = [i for i, token in enumerate(model().vocabulary.tokens) if token and b"," in token]

    def more_cheese(_: "torch.Tensor", scores: "torch.Tensor") -> "torch.Tensor":
        scores = scores.clone()
        scores[:, more] += 30
        return scores

    written = model().model.generate(
        **inputs(PROMPTS[:1]),
        logits_processor=LogitsProcessorList([more_cheese, processor]),
        **{"max_new_tokens": 151, "pad_token_id": 1, **LOOPS[loop]},
    )
    with pytest.warns(RepetitionWarning):
        answers = processor.read(written)
    assert all(len(answer) <= 4 for answer in answers)


def test_pipelines_take_it() -> None:
    """A text-generation pipeline hands it on to `generate`."""
    from transformers import pipeline

    inputs(PROMPTS)
    processor = GuidedLogitsProcessor(Person, model(), max_tokens=MAX_TOKENS)
    write: Any = pipeline("text-generation", model=model().model, tokenizer=model().tokenizer)
    options = {"max_new_tokens": MAX_TOKENS + 1, "return_full_text": False, "do_sample": False}
    for prompt in PROMPTS:
        (answer,) = write(prompt, logits_processor=[processor], **options)
        Person.model_validate_json(answer["generated_text"])
