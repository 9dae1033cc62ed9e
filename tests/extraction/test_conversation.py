"""Chats and system prompts: what was said reaches the model as it was said, and the type is described once."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from doubles import ByteTokenizer, random_logits, real_tokenizer, said
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from structured import Extractor, aextract, extract, extract_batch, load_model, structured
from structured.automata import Automaton, RegularAutomaton
from structured.errors import BatchError, PromptError
from structured.extraction.prompts import Conversation, escape_labels
from structured.models import FunctionModel, ScriptedModel
from structured.models.prompt_encoding import PromptEncoder
from structured.output_types.output_type import Description, OutputType
from structured.regex import literal


class Person(BaseModel):
    name: str
    age: int


JASON = Person(name="Jason", age=25)

CHAT = [
    {"role": "user", "content": "I am Jason."},
    {"role": "assistant", "content": "How old are you?"},
    {"role": "user", "content": "25"},
]
SYSTEM = {"role": "system", "content": "You keep the members' list."}

SCRIPTED = ScriptedModel(JASON.model_dump_json())
PLAIN = FunctionModel(random_logits(len(ByteTokenizer().tokens)), ByteTokenizer())

TEMPLATES = ("smollm2", "qwen3", *(pytest.param(name, marks=pytest.mark.slow) for name in ("gemma3", "deepseek-v3")))
"""Real tokenizers that come with a chat template."""

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
CHATS = st.builds(
    lambda system, turns, last: [
        *({"role": "system", "content": text} for text in system),
        *(
            {"role": role, "content": text}
            for pair in turns
            for role, text in zip(("user", "assistant"), pair, strict=True)
        ),
        {"role": "user", "content": last},
    ],
    st.lists(TEXTS, max_size=1),
    st.lists(st.tuples(TEXTS, TEXTS), max_size=3),
    TEXTS,
)


@given(text=TEXTS, model=st.sampled_from([SCRIPTED, PLAIN]))
def test_one_message_is_a_text(text: str, model: Any) -> None:
    extractor = Extractor(Person, model=model)
    assert extractor.prompt([{"role": "user", "content": text}]) == extractor.prompt(text)


@given(chat=CHATS, examples=st.lists(st.tuples(TEXTS, st.just(JASON)), max_size=2), instructions=st.none() | TEXTS)
def test_a_chat_is_what_the_model_sees(
    chat: list[dict[str, str]], examples: list[tuple[str, Person]], instructions: str | None
) -> None:
    """Each turn stands where it stood, as it was; one system message, if any, is the first."""
    extractor = Extractor(Person, model=SCRIPTED, examples=examples, instructions=instructions)
    prompt: Any = extractor.prompt(chat)
    shown = [
        {
            **turn,
            "content": escape_labels(turn["content"], extractor._task.description)
            if turn["role"] == "user"
            else turn["content"],
        }
        for turn in chat
    ]
    system = [turn for turn in chat if turn["role"] == "system"]
    if len(chat) - len(system) == 1:
        assert prompt == [*system, *extractor.prompt(chat[-1]["content"])]
        return
    first, *told = prompt
    turns = shown[len(system) :]
    assert told[-len(turns) :] == turns
    assert [turn["role"] for turn in told[: -len(turns)]] == ["user", "assistant"] * len(examples)
    told_first = filter(None, (instructions, extractor._task.description.task))
    above = [*(turn["content"] for turn in system), *told_first]
    assert first == {"role": "system", "content": "\n\n".join([*above, f"Type:\n{extractor.description}"])}


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("system", [[], [SYSTEM]], ids=["", "system"])
def test_real_templates_write_a_chat_once(name: str, system: list[dict[str, str]]) -> None:
    """What is said, in its order, and the description of the type, in one place; nothing in it is a control token."""
    tokenizer = real_tokenizer(name)
    encoder = PromptEncoder(tokenizer)
    extractor = Extractor(Person, model=SCRIPTED)
    prompt: Any = extractor.prompt([*system, *CHAT])
    token_ids = encoder.encode(prompt)
    assert token_ids == tokenizer.apply_chat_template(prompt, add_generation_prompt=True, return_dict=False)
    text = tokenizer.decode(token_ids, clean_up_tokenization_spaces=False)
    said = [turn["content"] for turn in (*system, {"content": f"Type:\n{extractor.description}"}, *CHAT)]
    places = [text.rindex(one) for one in said]
    assert places == sorted(places)
    assert text.count(extractor.description) == 1
    spelled = "".join(encoder.control_tokens.values())
    hostile = [{**turn, "content": f"{turn['content']} {spelled}"} for turn in (*system, *CHAT)]

    def control_ids(messages: Any) -> list[int]:
        return [one for one in encoder.encode(extractor.prompt(messages)) if one in encoder.control_tokens]

    assert control_ids(hostile) == control_ids([*system, *CHAT])


def test_every_call_takes_a_chat() -> None:
    @structured(model=SCRIPTED)
    def member(chat: list[dict[str, str]], *, kind: str = "new") -> Person:
        """Who is the {kind} member? {chat}"""
        raise NotImplementedError

    extractor = Extractor(Person, model=SCRIPTED)
    assert extract(Person, CHAT, model=SCRIPTED) == JASON
    assert extract(Person, tuple(CHAT), model=SCRIPTED) == JASON
    assert asyncio.run(aextract(Person, [SYSTEM, *CHAT], model=SCRIPTED)) == JASON
    assert extractor.stream(CHAT).result().value == JASON
    assert extractor.batch([CHAT, "Jason, 25", [SYSTEM, *CHAT], CHAT[:1]]) == [JASON] * 4
    assert extract_batch(Person, [CHAT, CHAT[-1:]], model=SCRIPTED) == [JASON] * 2
    assert said(Extractor(Person, allow_missing=["age"], model=SCRIPTED).result(CHAT)) == (
        JASON,
        JASON.model_dump(),
        (),
    )
    assert member(CHAT) == member(CHAT, kind="old") == JASON


def test_a_function_of_a_chat_asks_what_its_docstring_says() -> None:
    seen: list[str] = []

    def script(prompt: str) -> str:
        seen.append(prompt)
        return JASON.model_dump_json()

    @structured(model=ScriptedModel(script))
    def member(chat: list[dict[str, str]], about: str) -> Person:
        """Who is the member? {about}. {chat}"""
        raise NotImplementedError

    member(CHAT, "Say it all")
    assert seen[0].startswith("system: Who is the member? Say it all. the text\n\nExtract the values of this type")
    with pytest.raises(PromptError, match=r"'chat' of member is a list of messages, .* beside it: 'about'\. Put"):
        member(CHAT, "x" * 200)


@pytest.mark.parametrize(("chat", "called"), [(CHAT, "a list of messages"), (CHAT[0], "a message of a chat")])
def test_a_chat_is_never_written_into_the_instructions(chat: Any, called: str) -> None:
    """It is the text, or it is refused."""

    @structured(model=SCRIPTED)
    def member(chat: Any, about: str) -> Person:
        """In {chat}, who is the member? {about}"""
        raise NotImplementedError

    problem = f"The argument 'chat' of member is {called}, and its field is not the last one of the docstring"
    with pytest.raises(PromptError, match=rf"^{problem}, .* Put {{chat}} last, behind {{about}}\.$"):
        member(chat, "Say it all")
    assert member("Jason, 25", "Say it all") == JASON


def test_a_system_prompt_stands_above() -> None:
    """Of a chat model it is the first message; of another, the head of the prompt."""
    told: Any = Extractor(Person, model=SCRIPTED, system="Be brief.").prompt("Jason, 25")
    assert told == [{"role": "system", "content": "Be brief."}, *Extractor(Person, model=SCRIPTED).prompt("Jason, 25")]
    plain = Extractor(Person, model=PLAIN, instructions="Read.")
    assert Extractor(Person, model=PLAIN, instructions="Read.", system="Be brief.").prompt("a") == (
        f"Be brief.\n\n{plain.prompt('a')}"
    )
    chat: Any = [SYSTEM, {"role": "user", "content": "a"}]
    assert plain.prompt(chat) == f"{SYSTEM['content']}\n\n{plain.prompt('a')}"
    both = Extractor(Person, model=SCRIPTED, system=SYSTEM["content"])
    assert both.prompt(CHAT) == Extractor(Person, model=SCRIPTED).prompt([SYSTEM, *CHAT])
    with pytest.raises(PromptError, match=r"^There is a system message, and the option system as well\."):
        both([SYSTEM, *CHAT])
    with pytest.raises(PromptError, match=r"^The text of system has half of a character"):
        Extractor(Person, model=SCRIPTED, system="a\ud800")
    with pytest.raises(TypeError, match=r"^system is 3; it must be text"):
        Extractor(Person, model=SCRIPTED, system=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"Unknown option messages\. Pass them in place of the text\."):
        Extractor(Person, messages=CHAT)  # type: ignore[call-arg]


def test_models_without_a_chat_template_refuse_turns() -> None:
    """A single text needs no name; one of several has its own, and the error is no cause of itself."""
    problem = "How logits would read 3 turns of a chat is unknown: it has no chat template"
    with pytest.raises(PromptError, match=f"^{problem}") as caught:
        extract(Person, CHAT, model=PLAIN)
    with pytest.raises(BatchError) as failed:
        extract_batch(Person, ["Jason, 25", CHAT], model=PLAIN)
    (error,) = failed.value.errors.values()
    assert str(error).startswith(f"Document 1: {problem}")
    assert caught.value.__cause__ is error.__cause__ is None


def turn(content: Any, role: Any = "user", **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


ROLES = "it must be 'system', 'user' or 'assistant'."
LAST = "and the last must be the user's."

WRONG = [
    ([], "The text is an empty list."),
    (turn("a"), "The text is a single message. Pass a list of messages: [message]."),
    (["a"], "The text is a list, not text. Use extract_batch for several texts."),
    ([CHAT, CHAT], "The text is a list, not text. Use extract_batch for several texts."),
    ([turn("a"), "b"], "Message 1 of the text is 'b', not a dict."),
    ([3], "Message 0 of the text is 3, not a dict."),
    ([{"role": "user"}], "Message 0 of the text has no 'content'."),
    ([{"content": "a"}], "Message 0 of the text has no 'role'."),
    (
        [turn("a", "tool")],
        f"Message 0 of the text has the role 'tool'; {ROLES} Write what",
    ),
    (
        [turn("a", "developer")],
        f"Message 0 of the text has the role 'developer'; {ROLES} Write 'system'.",
    ),
    (
        [turn("a", "User")],
        f"Message 0 of the text has the role 'User'; {ROLES} Write 'user'.",
    ),
    (
        [turn("a", "human")],
        f"Message 0 of the text has the role 'human'; {ROLES} Write 'user'.",
    ),
    ([turn("a", ["user"])], "Message 0 of the text has the role ['user']; it must be"),
    ([turn(None, "assistant"), turn("a")], "The content of message 0 of the text is None, not text. Pass a str."),
    ([turn([{"type": "text", "text": "a"}])], "The content of message 0 of the text is [{"),
    ([turn("a", tool_calls=[1])], "Message 0 of the text has 'tool_calls' beside its role and content"),
    (
        [*CHAT, turn("a", "assistant")],
        f"Message 3 of the text, the last, has the role 'assistant', {LAST} Leave out what comes after the user's last",
    ),
    (
        [SYSTEM],
        f"Message 0 of the text, the last, has the role 'system', {LAST} Add a message of the user after it.",
    ),
    ([turn("a"), SYSTEM, turn("b")], "A message of the text has the role 'system', and is not the first."),
    ([*CHAT[:2], turn(" \n")], "Message 2 of the text is empty. There is nothing to extract from"),
    ([turn("a\ud800", "assistant"), turn("b")], "Message 0 of the text has half of a character"),
]


@pytest.mark.parametrize(("wrong", "problem"), WRONG)
def test_errors_say_which_message_is_wrong(wrong: Any, problem: str) -> None:
    """Of a single text, of a prompt that is only looked at, and of one document among others."""
    extractor = Extractor(Person, model=SCRIPTED)
    for call in (extractor, extractor.stream, extractor.prompt):
        with pytest.raises(PromptError) as caught:
            call(wrong)
        assert str(caught.value).startswith(problem)
    with pytest.raises(BatchError) as failed:
        extractor.batch(["Jason, 25", wrong, CHAT])
    assert failed.value.results == (JASON, None, JASON)
    if "extract_batch" not in problem:
        assert str(failed.value.errors[1]).startswith(
            problem.replace("The text", "Document 1").replace("the text", "document 1")
        )


def test_messages_may_lack_what_clients_fill_with_nothing() -> None:
    """Clients write the fields that a message does not have as None or empty lists."""
    assert Conversation.read([turn("a", refusal=None, annotations=[])]) == Conversation("a")


def test_a_chat_is_not_a_batch() -> None:
    for call in (extract_batch, lambda *given, **more: Extractor(given[0], **more).batch(given[1])):
        with pytest.raises(
            PromptError, match=r"^The documents are the messages of one chat\. Pass a list of chats: \["
        ):
            call(Person, CHAT, model=SCRIPTED)
        with pytest.raises(BatchError, match="Document 0 is a single message"):
            call(Person, iter(CHAT), model=SCRIPTED)


class Echo(OutputType[str]):
    """What the user said."""

    name = "Echo"
    depends_on_document = True

    def automaton(self, document: str | None = None) -> Automaton:
        return RegularAutomaton(literal(document or ""))

    def parse(self, text: str) -> str:
        return text

    def describe(self) -> Description:
        return Description("Words", "Those of the user.", answer="Words", task="Repeat them.")


def test_the_document_of_a_chat_is_what_the_user_said() -> None:
    assert extract(Echo(), [SYSTEM, *CHAT], model=SCRIPTED) == "I am Jason.\n\n25"


def test_prompts_of_chats_share_what_stands_above() -> None:
    """The description of the type is computed once for a batch of chats."""
    extractor = Extractor(Person, model=SCRIPTED, system="Be brief.")
    prompts = [
        SCRIPTED.encode(extractor.prompt(chat)) for chat in (CHAT, [turn("x"), turn("y", "assistant"), turn("z")])
    ]
    shared = extractor._task.chat_prompt_prefix
    assert all(tuple(prompt[: len(shared)]) == shared for prompt in prompts)
    assert extractor.description.encode() in b"".join(SCRIPTED.vocabulary.tokens[one] or b"" for one in shared)


def test_the_real_model_reads_a_chat(real_model: Path) -> None:
    """What it says in one turn and in another meets in one answer."""
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed.")
    model = load_model(str(real_model), context_length=1024)
    hello = [
        turn("My name is Maria and I don't feel well."),
        turn("How old are you?", "assistant"),
        turn("I am 31."),
    ]
    assert extract(Person, hello, model=model) == Person(name="Maria", age=31)
    assert extract(Person, hello, model=model, system="You work for a doctor.").name == "Maria"
