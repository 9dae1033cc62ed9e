"""The generated samples are right by construction; these tests hold the construction to it."""

import json
import os
import random
import re
import subprocess
import sys
from calendar import month_name
from collections.abc import Iterator
from dataclasses import fields
from datetime import date, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from structured.models import PACKAGED_MODEL
from training import asides, forms, layouts, sentences, statements
from training.composites import COMPOSITES
from training.date_styles import ALL_DATE_STYLES
from training.evaluate import PARTS
from training.examples import batches, mixed, prompt_and_answer, read_samples
from training.finishing import finished
from training.flags import flag_field, state_field
from training.generate import Sample, sample, samples
from training.inflection import Subject, conjugated, participial
from training.invented import _EVENTS
from training.kind import ROWS, Kind, role_maker
from training.kinds import KINDS, UNSEEN
from training.messages import TASKS, Task, message
from training.phrases import CLAUSES, PACKINGS
from training.quantities import ONES, digits, number_to_words
from training.scene import kept, new_scene, unmarked
from training.splits import SPLITS, Parted, Split, part
from training.story import Story
from training.words import POOLS

COUNT = 400
ALL_KINDS = [*KINDS.values(), *UNSEEN.values()]


@pytest.fixture(scope="module", params=SPLITS)
def drawn(request: pytest.FixtureRequest) -> list[Sample]:
    """A few hundred samples of each split."""
    return list(islice(samples(20_24, request.param), COUNT))


def leaves(schema: dict[str, Any], answer: Any) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield the values of an answer, each with its schema; null has none."""
    said = schema.get("description", "")
    for branch in schema.get("anyOf", ()):
        if branch["type"] != "null" and answer is not None:
            yield from leaves({"description": said, **branch}, answer)
    if "anyOf" in schema or answer is None:
        return
    if isinstance(answer, dict):
        for name, value in answer.items():
            yield from leaves(schema.get("properties", {}).get(name, {}), value)
    elif isinstance(answer, list):
        for value in answer:
            yield from leaves(schema.get("items", {}), value)
    else:
        yield schema, answer


def is_normalised(schema: dict[str, Any]) -> bool:
    """Whether the type asks for another spelling than that of the document."""
    return bool({"enum", "format"} & schema.keys()) or bool(re.search("HH:MM|YYYY", schema.get("description", "")))


@pytest.mark.thorough
def test_answers_are_valid(drawn: list[Sample]) -> None:
    """Every answer is an instance of its schema, and every schema is one."""
    for one in drawn[:150]:
        Draft202012Validator.check_schema(one.schema)
        Draft202012Validator(one.schema).validate(one.answer)


def test_strings_are_copied(drawn: list[Sample]) -> None:
    """A string in the answer stands in the document, character by character."""
    for one in drawn:
        for schema, value in leaves(one.schema, one.answer):
            if isinstance(value, str) and not is_normalised(schema):
                assert value in one.document, (value, one)


def test_dates_can_be_read_from_the_document(drawn: list[Sample]) -> None:
    """A document with a date in the answer has its day and its year."""
    for one in drawn:
        for schema, value in leaves(one.schema, one.answer):
            if schema.get("format") == "date":
                year, _, day = value.split("-")
                assert re.search(rf"(?<!\d)0?{int(day)}(?!\d)", one.document), (value, one)
                assert year[2:] in one.document, (value, one)


def test_numbers_can_be_read_from_the_document(drawn: list[Sample]) -> None:
    """A document with a number in the answer has its leading digits in some notation, or words for numbers."""
    for one in drawn:
        plain = re.sub(r"(?<=\d)[,.' ](?=\d)", "", one.document)
        for schema, value in leaves(one.schema, one.answer):
            if schema.get("type") in ("integer", "number") and not isinstance(value, bool):
                significant = f"{abs(value):f}".replace(".", "").strip("0")
                in_words = number_to_words(int(value)) if 0 <= value < 1000 else "?"
                assert significant in plain or in_words in plain or "dozen" in plain, (value, one)


@given(number=st.decimals(min_value=0, max_value=10**7, places=2, allow_nan=False), seed=st.integers())
def test_digits_keep_their_value(number, seed):
    """A number written with the marks of any country is the same number: the last mark is that of the decimals."""
    scene = new_scene(random.Random(seed), "train")
    text = digits(scene, float(number), 2)
    whole, decimals = re.fullmatch(r"(.*)[.,](\d\d)", text).groups()
    assert int(re.sub(r"\D", "", whole) + decimals) == round(number * 100)


@given(day=st.dates(date(1900, 1, 1), date(2099, 12, 31)))
def test_dates_are_never_ambiguous(day):
    """No spelling of a day is one of another day, and the month in figures alone is clear from the form."""
    for style in ALL_DATE_STYLES:
        text = style(day)
        slashed = re.fullmatch(r"(\d\d)/(\d\d)/\d{4}", text)
        assert not slashed or slashed[1] == slashed[2] or max(map(int, slashed.groups())) > 12
        assert text != style(day + timedelta(days=1))


SCALES = {"k": 3, "thousand": 3, "m": 6, "mn": 6, "million": 6}
DOZENS = {"half a dozen": 6, "a dozen": 12, "two dozen": 24, "three dozen": 36, "five dozen": 60}
IN_WORDS = {number_to_words(number): number for number in range(1000)} | DOZENS
WORDS = re.compile(rf"({'|'.join(sorted(IN_WORDS, key=len, reverse=True))})( and a half)?\b")
MONTHS = {name[:3].lower(): number for number, name in enumerate(month_name) if number}


def read_number(text: str, places: int) -> float:
    """Read a number written by a person: marks of thousands, decimals, scales, words."""
    if found := WORDS.match(text):
        return IN_WORDS[found[1]] + (0.5 if found[2] else 0)
    plain = text.replace(",-", "").lower()
    digits, scale = re.search(r"(-?\d[\d.,' ]*)(k|thousand|mn|million|m)?\b", plain).groups()
    digits = digits.strip(" .,")
    if scale:
        return float(digits.replace(",", ".")) * 10 ** SCALES[scale]
    decimals = re.search(rf"[.,]\d{{1,{places}}}$", digits) if places and not re.search(r"[.,]\d{3}$", digits) else None
    whole = re.sub(r"[^\d-]", "", digits[: decimals.start()] if decimals else digits)
    return float(f"{whole}.{decimals[0][1:] if decimals else 0}")


def read_date(text: str) -> date:
    """Read a date written by a person; figures alone are read where they can mean one day only."""
    if found := re.search(r"(\d{4})\D(\d\d)\D(\d\d)", text):
        return date(*map(int, found.groups()))
    if found := re.search(r"(\d{1,2})(\.|/) ?(\d{1,2})\2 ?(\d{4}|\d\d)$", text):
        first, mark, second, year = int(found[1]), found[2], int(found[3]), int(found[4])
        day, month = (first, second) if mark == "." or first > 12 or first == second else (second, first)
        return date(year if year > 99 else year + 2000, month, day)
    month = next(number for name, number in MONTHS.items() if re.search(rf"\b{name}", text.lower()))
    day = re.search(r"(?<!')\b(\d{1,2})(?!\d)", text)[1]
    year = re.search(r"(\d{4}|(?<=[-'])\d\d)$", text)[1]
    return date(int(year) if len(year) == 4 else 2000 + int(year), month, int(day))


def read_clock(text: str) -> str:
    """Read a time of day written by a person as HH:MM."""
    text = re.sub(r"\b(" + "|".join(ONES[1:13]) + r")\b", lambda found: str(ONES.index(found[0])), text)
    text = re.sub(r"quarter past (\d+)", r"\1:15", re.sub(r"half past (\d+)", r"\1:30", text))
    text = re.sub(r"quarter to (\d+)", lambda found: f"{(int(found[1]) - 2) % 12 + 1}:45", text)
    hour, minute = re.search(r"(\d{1,2})(?:[:.h](\d\d))?", text).groups()
    late, early = (
        re.search(words, text, re.IGNORECASE) for words in ("p.?m|afternoon|evening", "a.?m\\b|a.m.|morning")
    )
    hours = int(hour) % 12 + 12 * bool(late) if late or early else int(hour)
    return f"{hours:02}:{minute or '00'}"


@pytest.mark.parametrize(
    "role", ["int 0 99", "int 1 3000000", "int 0 5000 people", "num 0 9000 1", "int 1 99 %,percent"]
)
@given(seed=st.integers())
def test_numbers_are_read_as_their_value(role, seed):
    """However a whole number or one with a decimal place is written, a reader finds its value."""
    make, _ = role_maker(role)
    fact = make(new_scene(random.Random(seed), "train"))
    assert read_number(fact.text, 1 if role.startswith("num") else 0) == pytest.approx(fact.value)


@given(seed=st.integers(), split=st.sampled_from(SPLITS))
def test_amounts_are_read_as_their_value(seed, split):
    """However an amount of money is written, a reader finds its value."""
    make, _ = role_maker("money 1 9000000")
    fact = make(new_scene(random.Random(seed), split))
    assert read_number(re.sub(r"^[^\da-z]*|^[A-Z]{3} ?|€|\$", "", fact.text), 2) == pytest.approx(fact.value)


@given(seed=st.integers(), split=st.sampled_from(SPLITS))
def test_dates_are_read_as_their_value(seed, split):
    """However a day is written, a reader finds it."""
    make, _ = role_maker("date -4000 4000")
    fact = make(new_scene(random.Random(seed), split))
    assert read_date(fact.text).isoformat() == fact.value


@given(seed=st.integers(), split=st.sampled_from(SPLITS))
def test_times_are_read_as_their_value(seed, split):
    """However a time of day is written, a reader finds it."""
    make, _ = role_maker("time")
    fact = make(new_scene(random.Random(seed), split))
    normal = next(value for schema, value, _ in fact.others if schema.get("format") == "time")
    assert f"{read_clock(fact.text)}:00" == normal


def test_keys_follow_the_schema(drawn: list[Sample]) -> None:
    """The fields of an answer have the order of the properties, and none is left out."""

    def check(schema: dict[str, Any], answer: Any) -> None:
        for branch in schema.get("anyOf", ()):
            check(branch, answer)
        if isinstance(answer, dict) and "properties" in schema:
            assert list(answer) == list(schema["properties"])
            for name, value in answer.items():
                check(schema["properties"][name], value)
        elif isinstance(answer, list):
            for value in answer:
                check(schema.get("items", {}), value)

    for one in drawn:
        check(one.schema, one.answer)


def test_numbers_have_the_type_of_their_field(drawn: list[Sample]) -> None:
    """An integer is written without a decimal point, a number with one."""
    for one in drawn:
        for schema, value in leaves(one.schema, one.answer):
            if schema.get("type") in ("integer", "number"):
                assert type(value) is {"integer": int, "number": float}[schema["type"]]


@pytest.mark.parametrize("split", SPLITS)
def test_the_same_seed_gives_the_same_samples(split: Split) -> None:
    """Samples depend on the seed and the split alone."""
    first, again, other = (list(islice(samples(seed, split), 20)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.thorough
def test_samples_do_not_depend_on_the_process() -> None:
    """Python orders sets by chance in each process; the samples are the same all the same."""
    program = "from training.generate import samples as s; s = s(1, 'train'); print([next(s) for _ in range(60)])"
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=Path(__file__).parents[2],
            env=os.environ | {"PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in (1, 2)
    }
    assert len(printed) == 1


def test_sample_draws_from_the_source_it_is_given() -> None:
    """One sample can be drawn again from the same state of the random source."""
    assert sample(random.Random(7), "train") == sample(random.Random(7), "train")


@given(seed=st.integers(), split=st.sampled_from(SPLITS), role=st.sampled_from(sorted(COMPOSITES)))
def test_parts_stand_in_their_text(seed: int, split: Split, role: str) -> None:
    """A value of several parts is valid, and the document has every part that is a text, in order."""
    fact = COMPOSITES[role][0](new_scene(random.Random(seed), split))
    Draft202012Validator(fact.schema).validate(fact.value)
    at = 0
    for name, value in sorted(fact.value.items(), key=lambda pair: fact.text.find(str(pair[1]))):
        if fact.schema["properties"][name] == {"type": "string"}:
            assert value in fact.text[at:], fact
            at = fact.text.index(value, at) + len(value)


@pytest.mark.parametrize("split", SPLITS)
def test_wordings_of_flags_tell_yes_from_no(split: Split) -> None:
    """No wording of a made-up flag or state implies two values, and the two of a flag never share one."""
    for seed in range(300):
        scene = new_scene(random.Random(seed), split)
        one = flag_field(scene, _EVENTS) if seed % 2 else state_field(scene)
        said: dict[str, object] = {}
        for _ in range(20):
            fact = one.make(scene)
            assert fact.wordings
            for wording in fact.wordings:
                assert said.setdefault(wording, fact.value) == fact.value, (one.key, wording)


def test_absent_fields_have_no_value_in_the_document() -> None:
    """What the document tells of made-up flags and states it tells of no flag that the answer leaves open."""
    for one in islice(samples(31, "train"), 1500):
        for schema, value in ((inner, one.answer.get(name)) for name, inner in properties_of(one)):
            if value is None and "boolean" in json.dumps(schema):
                label = schema.get("description", "").lower().removeprefix("whether it is ").strip(".")
                assert not label or f"is {label}" not in one.document, (label, one)


def properties_of(one: Sample) -> Iterator[tuple[str, Any]]:
    """Yield the properties of a sample that asks for one record."""
    if isinstance(one.answer, dict):
        yield from one.schema.get("properties", {}).items()


def test_easy_samples_have_few_fields_and_nothing_else() -> None:
    """At the lowest difficulty a document has at most three fields of one record; at 1 it is the rule."""
    easy, rule, hard = (list(islice(samples(2, "train", *how), 300)) for how in ((0.0,), (), (1.0,)))
    assert rule == hard
    assert all(len(one.schema["properties"]) <= 3 for one in easy)
    assert max(len(one.document.split()) for one in easy) < 120
    said = " ".join(one.document for one in easy)
    assert not any(text.split("{")[0] in said for text in asides._ASIDES if len(text.split("{")[0]) > 12)


@pytest.mark.parametrize(("name", "count"), [("handwritten", 60), ("messages", 62), ("short", 14)])
def test_what_was_written_by_hand_is_valid_and_in_no_training(name: str, count: int) -> None:
    written = list(PARTS[name].samples(0))
    assert len(written) == count
    for one in written:
        Draft202012Validator(one.schema).validate(one.answer)
    composed = {one.document for seed in range(3) for one in islice(samples(seed, "train"), COUNT)}
    assert not composed & {one.document for one in written}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.names[0])
def test_no_two_labels_share_a_word_or_a_clause(task: Task) -> None:
    """So that one option is right, whichever words the options have."""
    for said in ([label.words for label in task.labels], [label.clauses.entries for label in task.labels]):
        listed = [one for part_of_it in said for one in part_of_it]
        assert len(set(listed)) == len(listed)


@pytest.mark.parametrize("split", SPLITS)
def test_a_message_is_whole_and_its_class_is_an_option(split: Split) -> None:
    rng = random.Random(split)
    for _ in range(COUNT):
        made = message(new_scene(rng, split))
        assert made.text[-1] in ".!?"
        assert not set("[]{}|") & set(made.text)
        assert made.answer in made.options if made.options else isinstance(made.answer, bool)
        assert len(made.options) != 1


# What is kept from training


def test_kinds_are_disjoint() -> None:
    """Kinds of the split "kinds" occur there and nowhere else."""
    seen = {split: {one.kind for one in islice(samples(3, split), COUNT)} for split in SPLITS}
    assert seen["kinds"] - {"classification"} <= set(UNSEEN)
    assert (seen["train"] | seen["phrasings"]) & set(UNSEEN) == set()
    assert len(seen["train"]) > 40
    assert set(KINDS) & set(UNSEEN) == set()
    assert len(KINDS) + len(UNSEEN) >= 60


def test_unseen_kinds_are_about_something_else() -> None:
    """No noun and hardly a predicate of an unseen kind is one of a known kind."""
    nouns = {noun for kind in KINDS.values() for noun in kind.nouns}
    for kind in UNSEEN.values():
        assert kind.nouns[0] not in nouns


def test_pools_are_disjoint() -> None:
    """No word of a pool is used both in training and in the split "phrasings"."""
    for pool in fields(POOLS["train"]):
        train, unseen = (set(getattr(POOLS[split], pool.name)) for split in ("train", "phrasings"))
        assert train
        assert unseen
        assert not train & unseen, pool.name


def texts_of(kind: Kind) -> Iterator[Parted]:
    """Yield the divided texts of a kind."""
    yield kind.openings
    for one in kind.fields.values():
        yield from (one.words, one.labels, one.predicates, one.posts, one.role)


@pytest.mark.parametrize("kind", ALL_KINDS, ids=lambda kind: kind.name)
def test_texts_of_kinds_are_disjoint(kind: Kind) -> None:
    """No predicate, label or opening is used both in training and in the split "phrasings"."""
    for texts in texts_of(kind):
        assert not set(texts.of("train")) & set(texts.of("phrasings"))
        assert texts.of("train") or not texts.entries


def test_most_fields_have_words_that_training_never_sees() -> None:
    """Where a field has three predicates or labels, one is kept."""
    listed = [one for kind in KINDS.values() for one in kind.fields.values()]
    assert sum(bool(one.labels.of("phrasings")) for one in listed) > len(listed) / 2


def test_families_are_disjoint() -> None:
    """Whole families of clauses, patterns of sentences and layouts stay out of training."""
    for table in (CLAUSES, PACKINGS):
        for sort, texts in table["train"].items():
            assert not set(texts) & set(table["phrasings"][sort])
    assert not set(statements._FILED) & set(statements._KEPT_CLAUSES)
    for name in ("CORRECTIONS", "LABEL_PREDICATES", "NUMBER_PREDICATES"):
        assert not set(getattr(statements, f"_{name}")) & set(getattr(statements, f"_KEPT_{name}")), name
    assert not set(sentences._SAYERS) & set(sentences._KEPT_SAYERS)
    assert {layouts.chat, layouts.interview, forms.settings, forms.receipt} <= set(layouts.KEPT_LAYOUTS)
    assert not {layouts.chat, layouts.interview, forms.settings, forms.receipt} & set(layouts.LAYOUTS)
    for table in (forms.MARKS, forms.BULLETS, forms.MISSING, asides._ASIDES):
        assert not set(part(table, "train")) & set(part(table, "phrasings"))


# The notation of kinds


@pytest.mark.parametrize("kind", ALL_KINDS, ids=lambda kind: kind.name)
def test_names_tell_fields_apart(kind: Kind) -> None:
    """No two fields of a kind have the same name, and what an opening tells are fields."""
    names = [name for one in kind.fields.values() for name in one.labels.entries]
    assert len(names) == len(set(names)), sorted(name for name in set(names) if names.count(name) > 1)
    for opening in kind.openings.entries:
        for key in re.findall(r"{([^}]+)}", opening):
            assert key.removeprefix("a ") in kind.fields


@pytest.mark.parametrize("kind", ALL_KINDS, ids=lambda kind: kind.name)
def test_predicates_have_their_value(kind: Kind) -> None:
    """A predicate has the place of its value once; every flag and choice has words that imply it."""
    for one in kind.fields.values():
        for predicate in (*one.predicates.entries, *one.posts.entries, *one.role.entries):
            assert len(re.findall(r"\{(?:v|a|on)\}", predicate)) == 1, predicate
        if one.sort in ("flag", "choice"):
            assert one.make(new_scene(random.Random(1), "train")).wordings


def test_roles_that_do_not_exist_are_refused() -> None:
    """A slip in the notation is found when the kinds are read."""
    with pytest.raises(KeyError):
        role_maker("parson")
    assert {"items", "medications"} <= ROWS.keys()


@pytest.mark.parametrize(
    ("predicate", "plural", "reduced"),
    [
        ("weighs 3 kg", "weigh 3 kg", "weighing 3 kg"),
        ("was sent by Ana", "were sent by Ana", "sent by Ana"),
        ("reaches 9 m", "reach 9 m", "reaching 9 m"),
        ("is 34 years old", "are 34 years old", ""),
        ("arrived on Monday", "arrived on Monday", ""),
    ],
)
def test_verbs_are_inflected(predicate: str, plural: str, reduced: str) -> None:
    """A predicate follows its subject, and loses its finite verb before a noun."""
    assert conjugated(predicate, Subject("we", (), "we", "our", "us")) == plural
    assert participial(predicate) == reduced


@given(st.text("abc .,\n", max_size=300), st.integers(0, 999))
def test_nothing_changes_a_value(around: str, seed: int) -> None:
    """Whatever is done to a document, its values stay."""
    scene = new_scene(random.Random(seed), "train")
    assert "Ana de Sousa Mendes, Lisbon" in finished(scene, f"{around} {kept('Ana de Sousa Mendes, Lisbon')} {around}")
    assert unmarked(kept("a b")) == "a b"


def test_columns_stay_apart() -> None:
    """Two spaces between the columns of a table are still two when the document is finished."""
    for seed in range(50):
        row = f"{kept('6 degrees')}  {kept('cloudy')}"
        assert "6 degrees  cloudy" in finished(new_scene(random.Random(seed), "train"), row)


def test_zero_has_no_sign() -> None:
    """No document says "-0 degrees", and no answer is -0.0."""
    make, _ = role_maker("num -2 2 0 degrees")
    facts = [make(new_scene(random.Random(seed), "train")) for seed in range(200)]
    assert any(fact.value == 0 for fact in facts)
    assert not any(str(fact.value) == "-0.0" or fact.text.startswith("-0") for fact in facts)


@pytest.mark.parametrize("layout", [*layouts.LAYOUTS, *layouts.KEPT_LAYOUTS], ids=lambda layout: layout.__name__)
def test_layouts_tell_everything(layout: Any) -> None:
    """Each layout states every fact of its story."""
    for seed in range(40):
        scene = new_scene(random.Random(seed), "train")
        kind = scene.pick(tuple(KINDS.values()))
        chosen = [(one, one.make(scene)) for one in scene.rng.sample(list(kind.fields.values()), 4)]
        lead = next((pair for pair in chosen if pair[0].key == kind.lead), None)
        document = unmarked(layout(Story(kind, scene, chosen, lead)))
        for one, fact in chosen:
            if one.sort not in ("flag", "choice"):
                cells = [cell.text for row in fact.rows for cell in row]
                for text in cells or map(unmarked, fact.items or (fact.text,)):
                    assert text in document, (layout.__name__, text, document)


# Sizes and shares


@pytest.mark.thorough
def test_documents_are_short_but_not_empty() -> None:
    """The mean length, which the time of training depends on, stays in bounds."""
    words = [len(one.document.split()) for one in islice(samples(5, "train"), 1500)]
    assert 35 <= sum(words) / len(words) <= 75
    assert max(words) < 450
    assert 0.09 < sum(count >= 120 for count in words) / len(words) < 0.18


@pytest.mark.thorough
def test_samples_fit_the_context() -> None:
    """A prompt and its answer have fewer than 2,048 tokens, nearly all fewer than 1,280."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(PACKAGED_MODEL)
    rng = random.Random(1)
    texts = ["".join(prompt_and_answer(one, rng)) for one in islice(samples(8, "train"), 1500)]
    lengths = sorted(len(ids) for ids in tokenizer(texts)["input_ids"])
    assert lengths[-1] < 2048
    assert lengths[int(len(lengths) * 0.98)] < 1280


def test_batches_leave_out_what_is_too_long() -> None:
    """No text of a batch is longer than the context that is asked for."""

    def encode(texts: list[str]) -> list[list[int]]:
        return [list(text.encode()) for text in texts]

    batch = next(batches(encode, 0, seed=1, split="train", tokens=4096, context=600))
    assert batch.token_ids.shape[1] <= 600


def test_other_samples_are_read_and_mixed_in(tmp_path: Path) -> None:
    """They have their share, those that are composed come in their order, and the batches hold both."""
    written = [{"schema": {"type": "integer"}, "document": f"N{number}!", "answer": number} for number in range(9)]
    written[0]["instructions"] = "Read the number."
    path = tmp_path / "others.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in written))
    others = read_samples(path)
    assert [one.document for one in others] == [one["document"] for one in written]
    assert [one.instructions for one in others] == ["Read the number.", *[None] * 8]
    drawn = list(islice(mixed(samples(3, "train"), others, 0.25, random.Random(1)), 2000))
    composed = [one for one in drawn if one not in others]
    assert composed == list(islice(samples(3, "train"), len(composed)))
    assert 0.2 < 1 - len(composed) / len(drawn) < 0.3

    def encode(texts: list[str]) -> list[list[int]]:
        return [list(text.encode()) for text in texts]

    batch = next(batches(encode, 0, seed=1, split="train", tokens=4096, context=600, others=others, share=1.0))
    assert all(re.search(rb"N[0-9]!", bytes(row)) for row in batch.token_ids.tolist())


@pytest.mark.thorough
def test_proportions() -> None:
    """A third of the samples is of kinds made up at random; lists, single values and instructions have their share."""
    drawn = list(islice(samples(6, "train"), 2000))
    share = {
        "generic": sum(one.kind == "generic" for one in drawn),
        "list": sum(one.schema.get("type") == "array" for one in drawn),
        "bare": sum("properties" not in one.schema and one.schema.get("type") != "array" for one in drawn),
        "instructions": sum(one.instructions is not None for one in drawn),
        "null": sum("null" in json.dumps(one.answer) for one in drawn),
    }
    assert 0.25 < share["generic"] / len(drawn) < 0.45
    assert 0.04 < share["list"] / len(drawn) < 0.15
    assert 0.05 < share["bare"] / len(drawn) < 0.2
    assert 0.15 < share["instructions"] / len(drawn) < 0.4
    assert 0.2 < share["null"] / len(drawn) < 0.6
