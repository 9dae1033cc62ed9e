"""Stated facts enter; a document leaves, as prose, an e-mail, a form, a list, a table, a chat or a line of a log.

Prose is made by covering the facts with templates: first some that state several at once, then one for each fact left.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from training.records.kind import Kind, Phrasing
from training.values import (
    Fact,
    Maker,
    Scene,
    city,
    code,
    company,
    day,
    full_name,
    integer,
    money,
    other_email,
    other_person,
    phone,
    product,
    street,
    time_of_day,
)
from training.words import Split, part

BYSTANDERS: Mapping[str, Maker] = {
    "any_person": other_person,
    "any_company": company,
    "any_city": city,
    "any_date": day(-500, 500),
    "any_time": time_of_day,
    "any_money": money(5, 3000),
    "any_int": integer(2, 90),
    "any_code": code("@@-###, ###-###, @###, ##-@@@, #####, @@@####"),
    "any_email": other_email,
    "any_phone": phone,
    "any_product": product,
    "any_street": street,
}
"""What stands in the slots of a template that state nothing about the record."""

GREETINGS = """
Hi {who},| Hello {who},| Dear {who},| Hi,| Hello,| Dear all,| Hi team,| Good morning {who},| Hey {who},|
Dear Sir or Madam,| Hi there,| Good afternoon,| Hello everyone,| To whom it may concern,| Morning {who},| Hi {who}!|
Dear {who}:| Hey all,| Hallo {who},| Good day,
"""
CLOSINGS = """
Best regards,| Kind regards,| Best,| Thanks,| Many thanks,| Cheers,| Regards,| Sincerely,| Yours,| Thank you,|
Warm regards,| All the best,| Thanks in advance,| Talk soon,| Yours sincerely,| With best wishes,| BR,| Thx,
"""
TEAMS = (
    "Your service team| The office| Customer Care| The whole team| Front desk| Accounts team| HR| Back office| Admin"
)
CHAT_OPENINGS = """
hey,| ok so| fyi:| quick note:| just so you know,| hi!| heads up:| update:| fwiw| so,| right,| here you go:|
hey there| btw| one more thing:| as promised:| got it,| note to self:
"""
INTRODUCTIONS = """
Details below.| Here are the details:| Please find the details below:| As discussed:| For your records:| Summary:|
The facts in short:| See below.| Data as received:| Everything you need is here:| This is what we have on file:|
Overview:
"""
SMALL_TALK = """
Thanks for your patience.| Please let me know if anything is unclear.| Have a nice day!| Sorry for the late reply.|
I hope this helps.| Hope you are well.| Let me know what you think.| That is all for now.|
Please keep this for your records.| Feel free to forward this.| The weather was awful, by the way.|
I will follow up soon.| No reply is needed.| Please excuse the typos, I'm on my phone.| We appreciate your help.|
More to come.| Do not hesitate to ask.| Sent from my phone.| As always, thank you.| Everything else stays the same.|
Please treat this as confidential.| I talked to {any_person} about it.| {any_person} asked me to pass this on.|
{any_person} is in copy.| We will be closed on {any_date}.| Last updated on {any_date}.|
This took me {any_int} minutes to type.| Questions go to {any_email}.| The office in {any_city} is moving.|
{any_company} is not involved this time.
"""
SEPARATOR_MARKS = (
    ":", "=", "-", "|", ";", "–", "->", "=>", "....", "~", ">>", "::", "→", "..", "/", "—", "»", "~>", "*", "<>",
)  # fmt: skip
SPACINGS = (("", " "), (" ", " "), ("", "\t"), (" ", "  "))
"""What stands before and after the mark of a separator."""

LOG_JOINTS = (" | ", ", ", "; ", " / ", " · ", " || ", "  ", " • ", "\t", " ~ ", ". ", " // ")
BULLETS = ("- ", "* ", "• ", "- ", "+ ", "– ", "> ", "# ", "o ", "→ ", "· ", "» ")
CELLS = (" | ", ", ", "\t", "; ", " || ", "  |  ", "|", "   ", " / ", ";", " | ", " ¦ ")
ABSENT = (
    "-", "n/a", "N/A", "unknown", "not given", "none", "?", "", "—", "not specified", "tbd", "(empty)", "missing",
    "left blank", "nil", "not stated", "--", "(none)", "not known", "[blank]", "TBC", "N.A.", "undisclosed", "blank",
    "…", "not available", "*", "not provided", "(unknown)", "no entry",
)  # fmt: skip
JOINTS = (" ", " ", " ", " ", "\n", "\n\n")


def _bars(text: str) -> tuple[str, ...]:
    return tuple(" ".join(entry.split()) for entry in text.split("|"))


def _separators(marks: Sequence[str]) -> tuple[str, ...]:
    """Return the marks in every spacing; where the colon is among them, it is as likely as all others together."""
    spaced = tuple(f"{before}{mark}{after}" for mark in marks for before, after in SPACINGS)
    return spaced + (": ",) * len(spaced) if ":" in marks else spaced


@dataclass(frozen=True, slots=True)
class Stationery:
    """What every kind of document shares, in one split."""

    greetings: tuple[str, ...]
    closings: tuple[str, ...]
    teams: tuple[str, ...]
    chat_openings: tuple[str, ...]
    introductions: tuple[str, ...]
    small_talk: tuple[str, ...]
    separators: tuple[str, ...]
    log_joints: tuple[str, ...]
    bullets: tuple[str, ...]
    cells: tuple[str, ...]
    absent: tuple[str, ...]

    @classmethod
    def of(cls, *, kept: bool) -> "Stationery":
        """Return what training uses, or what is kept from it."""
        split: Split = "phrasings" if kept else "train"
        return cls(
            greetings=part(_bars(GREETINGS), split),
            closings=part(_bars(CLOSINGS), split),
            teams=part(_bars(TEAMS), split),
            chat_openings=part(_bars(CHAT_OPENINGS), split),
            introductions=part(_bars(INTRODUCTIONS), split),
            small_talk=part(_bars(SMALL_TALK), split),
            separators=_separators(part(SEPARATOR_MARKS, split)),
            log_joints=part(LOG_JOINTS, split),
            bullets=part(BULLETS, split),
            cells=part(CELLS, split),
            absent=part(ABSENT, split),
        )


TRAIN_STATIONERY = Stationery.of(kept=False)
KEPT_STATIONERY = Stationery.of(kept=True)


@dataclass(frozen=True, slots=True)
class Story:
    """The facts that a document has to state, in a scene; `missing` are asked for and stated nowhere.

    `names` are what the schema calls the fields, for forms that are filled in by a program.
    """

    kind: Kind
    scene: Scene
    facts: Mapping[str, Fact]
    missing: tuple[str, ...]
    names: Mapping[str, str]

    @property
    def phrasing(self) -> Phrasing:
        """Return the wording of the kind in the split of the scene."""
        return self.kind.phrasings[self.scene.split]

    @property
    def stationery(self) -> Stationery:
        """Return the greetings, separators and so on of the split of the scene."""
        return TRAIN_STATIONERY if self.scene.split == "train" else KEPT_STATIONERY


class Slots(dict[str, Fact]):
    """The facts of a story, for `str.format_map`; pronouns and bystanders are made up when they are needed."""

    def __init__(self, facts: Mapping[str, Fact], scene: Scene, *, by_name: bool = False) -> None:
        super().__init__(facts)
        self._scene = scene
        self._by_name = by_name

    def __missing__(self, slot: str) -> Fact:
        scene = self._scene
        if slot in BYSTANDERS:
            return BYSTANDERS[slot](scene)
        name, female = scene.given, scene.female
        if self._by_name and name and slot in ("They", "Their") and scene.chance(0.25):
            return Fact(name if slot == "They" else f"{name}'s", None, {})
        forms = {
            "they": "she" if female else "he",
            "their": "her" if female else "his",
            "them": "her" if female else "him",
        }
        word = forms[slot.lower()]
        return Fact(word.capitalize() if slot[0] == "T" else word, None, {})


def sentences(story: Story, keys: Sequence[str], *, ordered: bool = False) -> list[str]:
    """Return sentences that state the facts with these keys, each of them once; `ordered` ones begin with the name."""
    scene, phrasing, lead = story.scene, story.phrasing, story.kind.lead
    slots = Slots(story.facts, scene, by_name=lead == "name" and lead in keys)
    left = set(keys)
    empty = {key for key in keys if story.facts[key].value == []}
    available = (frozenset(keys) | ({lead} & story.facts.keys())) - empty
    fitting = [one for one in phrasing.together if one.states <= available]
    scene.rng.shuffle(fitting)
    opening: list[str] = []
    body: list[str] = []
    for one in fitting:
        new = one.states & left
        if len(new) > 1 and one.states - {lead} <= left and scene.chance(0.8):
            (opening if lead in one.states else body).append(one.text.format_map(slots))
            left -= new
    for key in keys:
        if key in left:
            (opening if key == lead else body).append(_alone(story, key).format_map(slots))
    scene.rng.shuffle(body)
    if not ordered and scene.chance(0.2):
        body += opening
        opening = []
        scene.rng.shuffle(body)
    return [_one_stop(text) for text in opening + body]


def _one_stop(text: str) -> str:
    """Return a sentence whose last value ends with a full stop of its own without a second one."""
    return text.removesuffix(".") if text.endswith("..") else text


def _alone(story: Story, key: str) -> str:
    """Return a template for one fact."""
    scene, phrasing, fact = story.scene, story.phrasing, story.facts[key]
    if fact.value == []:
        return scene.pick(phrasing.none[key])
    worded = phrasing.wordings.get((key, fact.member))
    templates = phrasing.alone[key]
    if worded and (not templates or scene.chance(0.65)):
        return scene.pick(worded)
    if not templates or (len(fact.text) < 40 and scene.chance(0.12)):
        return _by_label(story, key)
    return scene.pick(templates)


_LABEL_FRAMES = {
    True: (
        "The {label} is {{{key}}}.", "{Label}: {{{key}}}.", "{Label} is {{{key}}}.", "{Label}: {{{key}}}",
        "We noted {{{key}}} as the {label}.", "{{{key}}} is the {label}.", "The {label} was given as {{{key}}}.",
    ),
    False: ("{Label}: {{{key}}}.", "{Label} {{{key}}}.", "{Label}: {{{key}}}", "{Label} = {{{key}}}."),
}  # fmt: skip
_SPLITS: tuple[Split, ...] = ("train", "phrasings", "kinds")
_FRAMES_BY_SPLIT = {(noun, split): part(frames, split) for noun, frames in _LABEL_FRAMES.items() for split in _SPLITS}
_NOT_NOUNS = tuple(" on, by, at, in, from, until, until, to, for, with, as, left, closes, open, opens".split(","))


def _by_label(story: Story, key: str) -> str:
    label = story.scene.pick(story.phrasing.labels[key])
    lowered = label[:1].lower() + label[1:] if label[1:2].islower() else label
    noun = not lowered.endswith(_NOT_NOUNS)
    frame = story.scene.pick(_FRAMES_BY_SPLIT[noun, story.scene.split])
    return frame.format(label=lowered, Label=label[:1].upper() + label[1:], key=key)


def asides(story: Story, most: int) -> list[str]:
    """Return sentences that state nothing that could be asked about the record."""
    scene = story.scene
    chosen: list[str] = []
    for _ in range(most):
        roll = scene.rng.random()
        if roll < 0.45 and story.phrasing.asides:
            chosen.append(scene.pick(story.phrasing.asides))
        elif roll < 0.62:
            chosen.append(scene.pick(story.stationery.small_talk))
    slots = Slots({}, scene)
    return [_one_stop(text.format_map(slots)) for text in dict.fromkeys(chosen)]


def with_asides(story: Story, stated: list[str], most: int = 3) -> list[str]:
    """Return the sentences with a few asides among them."""
    mixed = list(stated)
    for aside in asides(story, most):
        mixed.insert(story.scene.rng.randint(min(1, len(mixed)), len(mixed)), aside)
    return mixed


def join_sentences(scene: Scene, stated: Sequence[str]) -> str:
    """Return sentences as a paragraph, or as several."""
    joint = scene.pick(JOINTS)
    if joint == "\n":
        return joint.join(stated)
    finished = [text if text[-1] in ".!?:)" else f"{text}." for text in stated]
    if joint == "\n\n":
        return "".join(f"{text}{scene.pick((' ', ' ', joint))}" for text in finished).strip()
    return joint.join(finished)


# Forms


def label(story: Story, key: str) -> str:
    """Return what a form calls a field, in the case it uses."""
    scene = story.scene
    if scene.chance(0.12):
        return story.names.get(key) or scene.field_name(scene.pick(story.kind.names[key]))
    text = scene.pick(story.phrasing.labels[key])
    return text[:1].upper() + text[1:] if scene.chance(0.8) else text


def form_rows(story: Story, keys: Sequence[str]) -> list[tuple[str, Fact | str]]:
    """Return labels and facts; some missing fields are there too, marked as such."""
    scene = story.scene
    rows: list[tuple[str, Fact | str]] = [(label(story, key), story.facts[key]) for key in keys]
    rows.extend((label(story, key), scene.pick(story.stationery.absent)) for key in story.missing if scene.chance(0.3))
    scene.rng.shuffle(rows)
    return rows


def form_lines(story: Story, keys: Sequence[str], *, bullet: str = "") -> list[str]:
    """Return the lines of a form: "Due date: 3 March 2024"."""
    scene = story.scene
    separator = scene.pick(story.stationery.separators)
    rows = form_rows(story, keys)
    case: Callable[[str], str] = str
    if scene.chance(0.22):
        case = str.upper if scene.chance(0.45) else str.title
    width = max((len(text) for text, _ in rows), default=0) if scene.chance(0.05) else 0
    written = []
    for name, fact in rows:
        head = f"{bullet}{case(name).ljust(width)}{separator}"
        if isinstance(fact, Fact) and fact.rows and scene.chance(0.6):
            mark = scene.pick(("  - ", "- ", "* ", "  ", "  * "))
            written.append("\n".join([head.rstrip(), *(f"{mark}{row}" for row in fact.rows)]))
        else:
            written.append(f"{head}{fact}".rstrip())
    return written


# Documents


def prose(story: Story, keys: Sequence[str]) -> str:
    """Return a paragraph or a few."""
    return join_sentences(story.scene, with_asides(story, sentences(story, keys)))


def mail(story: Story, keys: Sequence[str]) -> str:
    """Return an e-mail; the signature may be what states the signer."""
    scene, paper = story.scene, story.stationery
    signer = story.kind.signer
    signed = signer is not None and signer in keys and scene.chance(0.5)
    said = [key for key in keys if not (signed and key == signer)]
    who = full_name(scene)[0]
    lines = []
    if scene.chance(0.25) and story.phrasing.titles:
        lines.append(f"Subject: {scene.pick(story.phrasing.titles)}\n")
    lines.append(scene.pick(paper.greetings).format(who=who) + "\n")
    if len(said) > 2 and scene.chance(0.4):
        split = scene.rng.randint(0, len(said) - 2)
        if split:
            lines.append(join_sentences(scene, with_asides(story, sentences(story, said[:split]), 1)))
        lines.append(scene.pick(paper.introductions))
        lines.append("\n".join(form_lines(story, said[split:], bullet=scene.pick(("", "", "- ", "* ")))) + "\n")
    else:
        lines.append(join_sentences(scene, with_asides(story, sentences(story, said))) + "\n")
    if signed and signer is not None:
        lines.append(f"{scene.pick(paper.closings)}\n{story.facts[signer]}")
    elif scene.chance(0.75):
        anybody = signer is None and story.kind.lead in story.facts and scene.chance(0.7)
        lines.append(
            f"{scene.pick(paper.closings)}\n{other_person(scene).text if anybody else scene.pick(paper.teams)}"
        )
    return "\n".join(lines).strip()


def form(story: Story, keys: Sequence[str]) -> str:
    """Return a form, under a title now and then."""
    scene = story.scene
    bullet = scene.pick(story.stationery.bullets) if scene.chance(0.25) else ""
    lines = form_lines(story, keys, bullet=bullet)
    if scene.chance(0.4) and story.phrasing.titles:
        title = scene.pick(story.phrasing.titles)
        lines.insert(0, title.upper() if scene.chance(0.4) else title)
    lines += asides(story, 1)
    return "\n".join(lines)


def mixed(story: Story, keys: Sequence[str]) -> str:
    """Return a few sentences and a form for the rest."""
    scene = story.scene
    split = scene.rng.randint(1, max(1, len(keys) - 1))
    parts = [join_sentences(scene, with_asides(story, sentences(story, keys[:split]), 1))]
    if keys[split:]:
        if scene.chance(0.3):
            parts.append(scene.pick(story.stationery.introductions))
        parts.append("\n".join(form_lines(story, keys[split:], bullet=scene.pick(("", "", "- ", "• ")))))
    if scene.chance(0.25):
        parts.reverse()
    return scene.pick(("\n", "\n\n")).join(parts)


def bullets(story: Story, keys: Sequence[str]) -> str:
    """Return sentences as a bulleted list."""
    bullet = story.scene.pick(story.stationery.bullets)
    return "\n".join(f"{bullet}{text}" for text in with_asides(story, sentences(story, keys), 1))


def log_line(story: Story, keys: Sequence[str]) -> str:
    """Return everything on one line."""
    scene = story.scene
    return scene.pick(story.stationery.log_joints).join(form_lines(story, keys)).replace("\n", " ")


def chat(story: Story, keys: Sequence[str]) -> str:
    """Return a message of a chat, with fewer full stops than usual."""
    scene = story.scene
    stated = with_asides(story, sentences(story, keys), 1)
    if scene.chance(0.5):
        ends = tuple(fact.text for fact in story.facts.values() if fact.text.endswith("."))
        stated = [text if text.endswith(ends) else text.removesuffix(".") for text in stated]
        return f"{scene.pick(story.stationery.chat_openings)} " + scene.pick(("\n", " / ", "... ", "\n")).join(stated)
    return f"{scene.pick(story.stationery.chat_openings)} {' '.join(stated)}"


def table(story: Story, keys: Sequence[str]) -> str:
    """Return a row of headings and a row of values."""
    return write_table(
        story.scene, story.stationery, [label(story, key) for key in keys], [[story.facts[key].text for key in keys]]
    )


def write_table(scene: Scene, paper: Stationery, headings: list[str], rows: list[list[str]]) -> str:
    """Return headings and rows with a separator that no cell contains."""
    cells = [*headings] + [cell for row in rows for cell in row]
    fitting = [mark for mark in paper.cells if not any(mark.strip(" ") in cell for cell in cells if mark.strip(" "))]
    mark = scene.pick(fitting) if fitting else " | "
    lines = [mark.join(headings), *(mark.join(row) for row in rows)]
    if mark == " | " and scene.chance(0.5):
        lines = [f"| {line} |" for line in lines]
        if scene.chance(0.7):
            lines.insert(1, "|" + "---|" * len(headings))
    return "\n".join(lines)


Layout = Callable[[Story, Sequence[str]], str]
LAYOUTS: Mapping[Layout, float] = {prose: 40, mail: 15, form: 17, mixed: 9, bullets: 4, log_line: 5, chat: 6, table: 4}
"""The layouts of a document and how likely each of them is."""
FORMS = frozenset({form, log_line, table})
"""The layouts in which every fact stands beside a label."""
