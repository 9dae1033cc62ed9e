"""What stands in documents beside the facts: greetings, boilerplate, values of other records, names of other people."""

import re
from dataclasses import replace

from training.dates import clock, drawn_date
from training.inflection import Subject, article, conjugated, is_plural, sentence_case
from training.names import email, fill_pattern, full_name, organisation, phone, place
from training.quantities import spell_money
from training.scene import Scene, kept
from training.splits import by_split, part
from training.statements import fresh, stated
from training.story import Story

_ASIDES = tuple(
    """
Please let me know if anything is unclear.
I will be out of office next week.
The rest is in the attachment.
See you soon.
{person} sends regards.
Please reply before {date}.
We met {person} at the trade fair in {place}.
You can call our front desk at {phone}.
Questions go to {email}.
Our old file {code} is closed.
This page was last changed on {date} by {person}.
We hope to hear from you.
Nothing else was said.
The office in {place} is closed on public holidays.
Parking costs {money} a day.
It rained all morning.
There were {int} mails waiting when I came back.
Please keep this confidential.
{org} did not want to comment.
Thank you for your patience.
My colleague {person} has read this as well.
The lift is out of order again.
We have {int} similar cases on file.
A copy was sent to {org}.
I am writing from my phone, so please excuse the brevity.
The next newsletter appears on {date}.
Not everything has been decided yet.
All figures without guarantee.
This was copied from an older list.
The building opens at {time}.
Somebody left an umbrella worth {money} in the lobby.
{person} asked about the weather in {place}.
There is more to say, but not today.
Bring an ID, please.
The canteen serves lunch until {time}.
Other matters were left open.
""".strip().splitlines()
)
_RELATIVES = tuple(
    """
The brother, {given}, runs a bakery in {place}.
{given}, a cousin, is a nurse.
A cousin, {person}, lives in {place}.
{given}, a neighbour, told me so.
The sister, {given}, works in {place}.
A friend, {person}, turned {int} last week.
The eldest child, {given}, goes to school in {place}.
A colleague called {given} has moved to {place}.
""".strip().splitlines()
)
_CLOSINGS = (
    "Kind regards", "Best regards", "Yours sincerely", "Thanks", "Best", "Many thanks", "Sincerely yours", "Cheers",
    "With best wishes", "Warmly", "Yours", "Take care", "BR", "All the best", "-- ", "Talk soon", "Sent from my phone",
)  # fmt: skip
_GREETINGS = (
    "Hello", "Hi", "Dear {name}", "Good morning", "Hi {name}", "Dear Sir or Madam", "Dear team", "Hello {name}", "Hey",
    "Good evening", "To whom it may concern", "Dear colleagues", "hey {name}", "Hi all", "{name}", "Morning {name}",
)  # fmt: skip
_TEAMS = (
    "Customer Care", "The Office Team", "Front Desk", "Back Office", "Your Service Team", "Administration",
    "The Editors",
)  # fmt: skip
_OPENINGS = tuple(
    """
thanks for your message.
here is what you asked for.
I am sending you the details.
please find everything below.
just a quick update.
as promised, some information.
I hope you are well.
sorry for the late answer.
this is to let you know how things stand.
here are my notes.
this is what I have so far.
as for your question, here is what I found out.
""".strip().splitlines()
)
_SORTS = {
    "person": "agent", "given": "agent", "org": "agent", "date": "date", "time": "time", "place": "place",
    "phone": "code", "email": "code", "code": "code", "money": "money", "int": "number",
}  # fmt: skip
"""What an aside has places for, each with the sort of its values."""


def opening_line(scene: Scene) -> str:
    """Return what a letter says before it comes to the point."""
    return scene.pick(part(_OPENINGS, scene.split))


def team(scene: Scene) -> str:
    """Return a writer who is nobody in particular."""
    return scene.pick(part(_TEAMS, scene.split))


def aside(story: Story) -> str:
    """Return a sentence beside the point, whose values no absent field could have."""
    for _ in range(4):
        pool = _RELATIVES if story.kind.subject == "person" and story.scene.chance(0.5) else _ASIDES
        text = story.scene.pick(part(pool, story.scene.split))
        slot = re.search(r"\{(\w+)\}", text)
        if not slot or all(_SORTS[name] not in story.sensitive for name in re.findall(r"\{(\w+)\}", text)):
            return re.sub(r"\{(\w+)\}", lambda found: stray(story.scene, found[1]), text)
    return ""


_UNKNOWN = tuple(
    """
The {label} is not known yet.
Nobody told me the {label}.
The {label} will follow.
I could not find out the {label}.
The {label} has still to be decided.
There is nothing on the {label}.
The {label} was left blank.
I do not know the {label}.
The {label} is missing in my notes.
Sorry, I have no {label}.
The {label} is to be confirmed.
They would not give the {label}.
""".strip().splitlines()
)


def unknown(story: Story) -> list[str]:
    """Return sentences that say of some absent fields that they are unknown."""
    scene = story.scene
    frames = part(_UNKNOWN, scene.split)
    sentences = []
    for one in story.absent:
        if one.words.entries and one.sort not in ("flag", "choice") and scene.chance(0.25):
            label, text = one.label(scene), scene.pick(frames)
            if is_plural(label):
                text = re.sub(r"\b(?:is|was|has)\b", lambda verb: _PLURALS[verb[0]], text)
            sentences.append(text.replace("{label}", label))
    return sentences


_PLURALS = {"is": "are", "was": "were", "has": "have"}


def stray(scene: Scene, sort: str) -> str:
    """Return a value that belongs to nothing."""
    makers = {
        "person": lambda: " ".join(full_name(scene)),
        "given": lambda: scene.pick(scene.pools.given),
        "org": lambda: organisation(scene).text,
        "date": lambda: drawn_date(scene, -400, 400)[1],
        "place": lambda: place(scene).text,
        "phone": lambda: phone(scene).text,
        "email": lambda: email(scene).text,
        "code": lambda: fill_pattern(scene, scene.pick(("@##", "####/##", "@@-####", "#####"))),
        "money": lambda: spell_money(scene, float(scene.rng.randrange(2, 90))),
        "time": lambda: clock(scene, scene.rng.randrange(6, 21), scene.rng.randrange(0, 60, 15)),
        "int": lambda: str(scene.rng.randrange(2, 60)),
    }
    return kept(makers[sort]())


def decoy(story: Story) -> str:
    """Return a sentence with the value of another record, for a field that this one has or lacks."""
    scene, kind = story.scene, story.kind
    own = [
        (one, fact)
        for one, fact in story.facts
        if not one.event and one.sort not in ("rows", "list") and one.key != kind.lead
    ]
    if not own:
        return ""
    one, fact = scene.pick(own)
    if story.absent and scene.chance(0.5):
        one = scene.pick(story.absent)
        if one.event or one.sort in ("rows", "list") or one.key == kind.lead:
            return ""
    other = fresh(one, fact, scene)
    if other is None or one.sort in ("flag", "choice"):
        return ""
    statement = stated(scene, kind, [(one, other)], plain=True)[0]
    noun = scene.pick(kind.nouns)
    if kind.subject == "person":
        he, name = scene.chance(0.5), kept(scene.pick(scene.pools.given))
        relative = scene.pick(
            ("brother", "uncle", "neighbour", "father", "cousin") if he else ("sister", "aunt", "neighbour", "mother")
        )
        other_one = Subject(
            f"{article(relative)}, {name},", (), "he" if he else "she", "his" if he else "her", "him" if he else "her"
        )
    else:
        texts = (
            f"another {noun}",
            f"a second {noun}",
            f"the {noun} we had before",
            f"last year's {noun}",
            f"a similar {noun}",
        )
        kept_texts = (f"the {noun} of our neighbours", f"an older {noun}", f"some other {noun}")
        other_one = Subject(scene.pick(by_split(texts, kept_texts, scene.split)), ())
    if not statement.predicate:
        return ""
    return sentence_case(f"{other_one.full} {conjugated(statement.predicate, other_one)}.")


def greeting(story: Story) -> str:
    """Return the first line of a letter."""
    scene = story.scene
    text = scene.pick(part(_GREETINGS, scene.split))
    if "agent" in story.sensitive:
        text = text.replace("{name}", "all")
    return text.replace("{name}", kept(scene.pick(scene.pools.given)))


def signature(story: Story, writer: str) -> str:
    """Return the end of a letter; the writer is somebody the text is about, somebody else or a team."""
    scene = story.scene
    name = writer or kept(" ".join(full_name(scene)))
    if not writer and ("agent" in story.sensitive or scene.chance(0.3)):
        name = team(scene)
    return f"{scene.pick(part(_CLOSINGS, scene.split))}{scene.pick((',', ',', ''))}\n{name}"


def with_writer(story: Story) -> tuple[Story, str]:
    """Return the story without the fact that the writer's name tells, and that name, if the writer is in the record."""
    for one, fact in story.facts:
        if one.writes and story.scene.chance(0.75):
            others = [pair for pair in story.facts if pair[0].key != one.key]
            if others:
                return replace(story, facts=others), fact.shown
    return story, ""
