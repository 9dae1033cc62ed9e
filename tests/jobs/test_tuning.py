"""Tuning: right answers choose options, within a budget, and only where other documents confirm the choice."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from structured import Choice, Document, extract
from structured.errors import ModelError
from structured.jobs import tune
from structured.jobs.tuning import INSTRUCTIONS
from structured.models import ScriptedModel

NAMES = ("Ana", "Bo", "Cy", "Dee")
HINT = "Names are words with a capital."


class Person(BaseModel):
    name: str
    age: int | None = None


def text_of(number):
    return f"{NAMES[number % 4]}{number} is {20 + number} years old."


def people(count):
    """Return right answers for so many documents, all different."""
    texts = map(text_of, range(count))
    return [(text, Person(name=text.split()[0], age=re.findall(r" (\d+) ", text)[0])) for text in texts]


def texts_in(prompt):
    """Return the documents in a prompt; the last is the one that is asked about."""
    return re.findall(r"\w+ is \d+ years old\.", prompt)


class Reader:
    """A script that reads right the fields that a function of the prompt names, and remembers what it was asked."""

    def __init__(self, fields):
        self.fields = fields
        self.prompts = []

    def __call__(self, prompt):
        self.prompts.append(prompt)
        name, age = re.findall(r"(\w+) is (\d+) years", prompt)[-1]
        fields = self.fields(prompt)
        return json.dumps({"name": name if "name" in fields else "years", "age": int(age) if "age" in fields else None})

    @property
    def examples(self):
        """The documents above the last one, in each prompt."""
        return [set(texts_in(prompt)[:-1]) for prompt in self.prompts]

    @property
    def documents(self):
        """The last document of each prompt."""
        return [texts_in(prompt)[-1] for prompt in self.prompts]


def has_example(prompt):
    return len(texts_in(prompt)) > 1


def tuned(fields, gold=None, **options):
    """Tune with a reader, and return it as well."""
    reader = Reader(fields)
    options = {"documents": 120, "progress": False, **options}
    return tune(Person, people(28) if gold is None else gold, model=ScriptedModel(reader), **options), reader


def ages_only(_):
    return ["age"]


@settings(max_examples=5, deadline=None)
@given(st.integers(60, 240), st.integers(20, 48), st.integers(0, 9))
def test_the_budget_is_never_exceeded(documents, count, seed):
    """Each answer is counted, and there are no more than the caller allows."""
    fields = lambda prompt: ["name"] if has_example(prompt) or "Copy" in prompt else ["age"]  # noqa: E731
    tuning, reader = tuned(fields, people(count), documents=documents, seed=seed)
    assert tuning.answers == len(reader.prompts) <= documents


@pytest.mark.parametrize("seed", range(2))
def test_no_document_has_two_uses(seed):
    """Examples are never judged on, not even if the gold has them twice; what confirms was not seen before."""
    tuning, reader = tuned(lambda prompt: ["name"] * has_example(prompt), [*people(24), *people(24)], seed=seed)
    assert not set().union(*reader.examples) & {*reader.documents}
    assert any(reader.examples)
    choosing = {one.beginning for trial in tuning.tried for one in trial.evaluation.documents}
    assert not choosing & {one.beginning for one in tuning.before.evaluation.documents}


def test_an_example_that_helps_is_found():
    """And it is one of the gold, with its right answer."""
    tuning, _ = tuned(lambda prompt: ["name", "age"] if has_example(prompt) else ["age"])
    assert tuning.best.is_better
    assert {*tuning.options} == {"model", "examples"}
    assert all(example in people(28) for example in tuning.options["examples"])
    assert tuning.after.f1.value == 1
    assert tuning.before.f1.value == 0.5


@pytest.mark.parametrize("instructions", [None, ["Be brief.", HINT, "Be quick."]])
def test_instructions_that_help_are_found(instructions):
    """Those of the caller in place of the library's."""
    useful = INSTRUCTIONS[1] if instructions is None else HINT
    tuning, reader = tuned(lambda prompt: ["name", "age"] if useful in prompt else ["name"], instructions=instructions)
    assert tuning.options["instructions"] == useful
    assert tuning.after is tuning.best
    assert any(INSTRUCTIONS[0] in prompt for prompt in reader.prompts) == (instructions is None)


def test_what_helps_apart_is_tried_together():
    """Instructions that give one field, and an example that gives the other."""
    fields = lambda prompt: ["name"] * (HINT in prompt) + ["age"] * has_example(prompt)  # noqa: E731
    tuning, _ = tuned(fields, instructions=[HINT])
    assert {*tuning.options} == {"model", "instructions", "examples"}
    assert tuning.after.f1.value == 1


@pytest.mark.parametrize("seed", range(2))
def test_answers_that_no_option_changes_leave_the_plain_call(seed):
    """Nothing is chosen, and the plain call alone is asked about the documents that confirm."""
    tuning, _ = tuned(ages_only, seed=seed, system="Read.")
    assert {*tuning.options} == {"model", "system"}
    assert tuning.after is tuning.best is tuning.before
    assert {one.gain for one in tuning.tried if one.options} == {0}
    assert "plain options kept" in str(tuning)


def test_luck_is_not_confirmed():
    """Instructions that help on the documents that choose, and on no other, do not replace the plain call."""
    first, _ = tuned(ages_only)
    lucky = {one.beginning for trial in first.tried for one in trial.evaluation.documents}
    fields = lambda prompt: ["age", *["name"] * (HINT in prompt and texts_in(prompt)[-1] in lucky)]  # noqa: E731
    tuning, _ = tuned(fields, instructions=[HINT, "", "Be brief."])
    assert tuning.tried[1].options == {"instructions": HINT}
    assert tuning.tried[1].gain > 0
    assert (tuning.best.gain, tuning.best.is_better) == (0, False)
    assert tuning.after is tuning.before
    assert {*tuning.options} == {"model"}


def test_the_same_seed_gives_the_same_result():
    """With it the documents, the examples and the table; another seed has others."""
    fields = lambda prompt: ["name", "age"] if has_example(prompt) else ["age"]  # noqa: E731
    (one, first), (two, second), (_, third) = (tuned(fields, seed=seed) for seed in (3, 3, 4))
    assert one.options["examples"] == two.options["examples"]
    assert str(one) == str(two)
    assert first.prompts == second.prompts
    assert {*first.documents} != {*third.documents}


def test_chosen_options_are_options_of_extract():
    """As they are, and after a way through JSON."""
    tuning, reader = tuned(lambda prompt: ["name", "age"] if has_example(prompt) else ["age"])
    text = "Eve is 90 years old."
    assert extract(Person, text, **tuning.options) == Person(name="Eve", age=90)
    written = json.dumps([(document, value.model_dump()) for document, value in tuning.options["examples"]])
    extract(Person, text, model=tuning.options["model"], examples=json.loads(written))
    assert reader.prompts[-2] == reader.prompts[-1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("instructions", "Be brief."),
        ("examples", [("Zoe is 7 years old.", Person(name="Zoe", age=7))]),
        ("grounded", ["name"]),
        ("allow_missing", None),
    ],
)
def test_options_of_the_caller_are_not_varied(name, value):
    """They are those of the plain call, of all candidates and of the result."""
    tuning, reader = tuned(ages_only, **{name: value})
    assert not [trial.name for trial in tuning.tried if name in trial.options]
    assert tuning.options[name] == value
    if name in ("instructions", "examples"):
        shown = "Be brief." if name == "instructions" else "Zoe is 7 years old."
        assert all(shown in prompt for prompt in reader.prompts)


def test_candidates_that_a_type_does_not_allow_are_left_out():
    """A choice is no JSON, and takes no options of JSON."""
    gold = [(f"Number {number}.", "odd" if number % 2 else "even") for number in range(24)]
    choice = tune(Choice(["odd", "even"]), gold, model=ScriptedModel("odd"), documents=60)
    assert {name for trial in choice.tried for name in trial.options} == {"instructions", "examples"}


def test_a_bad_document_costs_no_other():
    """It is missing for every candidate, is no example, and the others count."""
    fields = lambda prompt: ["name", "age"] if has_example(prompt) else ["age"]  # noqa: E731
    tuning, _ = tuned(fields, [("", Person(name="Nobody")), *people(27)])
    assert tuning.best.is_better
    failed = [one for trial in tuning.tried for one in trial.evaluation.failed]
    assert {str(one.error).partition(":")[0] for one in [*failed, *tuning.after.evaluation.failed]} == {"PromptError"}


def test_gold_is_read_as_for_an_evaluation(tmp_path):
    """From a file, with documents and reviews; a document that was reviewed in part is no example."""
    lines = [
        {"id": text, "document": text, "value": person.model_dump(), "reviewed": {"name": "accepted"}}
        for text, person in people(24)
    ]
    path = tmp_path / "gold.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    tuning, reader = tuned(lambda prompt: ["name"] if HINT in prompt else [], path, instructions=[HINT])
    assert not any(reader.examples)
    assert {*tuning.after.evaluation.fields} == {"name"}
    assert tuning.options["instructions"] == HINT
    named, _ = tuned(ages_only, [(Document(text, id=text), person) for text, person in people(24)])
    assert {one.id for one in named.after.evaluation.documents} <= {text for text, _ in people(24)}


@pytest.mark.parametrize(
    ("gold", "options", "message"),
    [
        (people(19), {}, "The gold has 19 different documents. Tuning needs 20 at least"),
        (people(10) * 3, {}, "The gold has 10 different documents."),
        ([(text, {"name": None}) for text, _ in people(24)], {}, "gold[0]: the value is no Person: name: "),
        (people(24), {"documents": 59}, "documents is 59; 9 candidates need 60 answers at least. Raise it, or"),
        (people(24), {"documents": 0}, "documents is 0; it must be 1 or greater."),
        (
            people(24),
            {"instructions": "Be brief.", "examples": [], "grounded": None, "allow_missing": None},
            "No option is left to vary.",
        ),
    ],
)
def test_what_cannot_be_tuned_is_refused_before_the_model_is_asked(gold, options, message):
    """With what is needed."""
    reader = Reader(ages_only)
    with pytest.raises(ValueError, match=re.escape(message)):
        tune(Person, gold, model=ScriptedModel(reader), **options)
    assert reader.prompts == []


def test_gold_without_values_is_refused():
    """Nothing could be right in it."""
    with pytest.raises(ValueError, match="No document of the gold states a value"):
        tune(list[int], [(text, []) for text, _ in people(24)], model=ScriptedModel("[]"))


def test_arguments_of_the_wrong_kind_are_refused():
    """As those of `extract` are."""
    with pytest.raises(TypeError, match=re.escape("instructions[1] is 2; it must be text")):
        tuned(ages_only, instructions=["a", 2])
    with pytest.raises(TypeError, match="temprature"):
        tuned(ages_only, temprature=1)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ModelError("The model is gone.")])
def test_an_end_before_the_end_says_what_was_tried(error):
    """The error is raised, with a note of the differences so far."""

    def fields(_):
        if len(reader.prompts) > 50:
            raise error
        return ["age"]

    reader = Reader(fields)
    with pytest.raises(type(error)) as caught:
        tune(Person, people(28), model=ScriptedModel(reader), documents=120)
    (note,) = caught.value.__notes__
    assert re.match(r"Tuning ended after \d\d answers\. Differences in F1 so far: .*instructions 1 \+0\.0%", note)


def test_the_table_fits_a_narrow_terminal():
    """Also where names, instructions and the type are long."""
    fields = lambda prompt: ["name"] * (HINT in prompt) + ["age"] * has_example(prompt)  # noqa: E731
    tuning, _ = tuned(fields, instructions=[HINT + " And so on." * 20])
    assert max(map(len, str(tuning).splitlines())) <= 80
    assert repr(tuning) == f"Tuning({tuning.best.name}, {tuning.answers} answers)"
