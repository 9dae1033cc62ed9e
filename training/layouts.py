"""Documents about one record: as prose, letter, mail, chat, news, web page or form.

Each layout states all that a story wants told; what it adds (senders, dates of mails, page numbers) are values that
nobody asked for. A layout is either known to training or kept from it, as are its marks, greetings and asides.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from training.asides import aside, decoy, greeting, opening_line, signature, stray, team, unknown, with_writer
from training.finishing import lowered
from training.forms import bullets, data, form, heading, log, receipt, run_on, settings
from training.inflection import Subject, article, sentence_case
from training.kind import Field, Record, Stated
from training.names import email, full_name
from training.scene import Scene, kept
from training.sentences import narrated
from training.splits import by_split, part
from training.statements import spelled, stated
from training.story import Layout, Story, subject_of


def told(story: Story, *, own: bool = False, fragments: float = 0.07) -> list[str]:
    """Return the sentences that tell a story, with asides and values of others among them."""
    scene = story.scene
    facts = [
        (one, fact)
        for one, fact in story.facts
        if not story.lead or one.key != story.lead[0].key or fact is not story.lead[1]
    ]
    if own and story.lead:
        facts = facts or [story.lead]
    subject = subject_of(story, own=own)
    opening, facts = opened(story, facts) if not own else ("", facts)
    statements = stated(scene, story.kind, facts, absent=story.absent)
    if not statements and story.lead and not opening:
        statements = stated(scene, story.kind, [story.lead])
    sentences = narrated(scene, subject, statements, fragments=fragments)
    sentences = [opening, *sentences] if opening else sentences
    sentences = [*introduced(story, sentences, own=own), *sentences]
    for text in unknown(story):
        sentences.insert(scene.pick([*places(sentences, subject), len(sentences)]), text)
    for make, probability in ((aside, 0.4), (aside, 0.18), (aside, 0.1), (aside, 0.08), (decoy, 0.16)):
        if scene.seldom(probability) and (text := make(story)) and all(text[:12] != one[:12] for one in sentences):
            spots = places(sentences, subject)
            if make is aside and "\x02" not in text:
                spots = list(range(len(sentences)))
            sentences.insert(scene.pick([*spots, len(sentences)]), text)
    return sentences


def places(sentences: Sequence[str], subject: Subject) -> list[int]:
    """Return where a sentence about something else may stand: before one that names the subject again."""
    names = (subject.full, *subject.short[:1])
    return [at for at, one in enumerate(sentences) if at and any(name in one for name in names)]


def opened(story: Story, facts: Record) -> tuple[str, Record]:
    """Return a sentence that tells several facts at once, and the facts that are left."""
    scene = story.scene
    known = {one.key: (one, fact) for one, fact in story.facts}
    frames = [
        frame
        for frame in story.kind.openings.some(scene.split)
        if not {key.removeprefix("a ") for key in re.findall(r"{([^}]+)}", frame)} - known.keys()
    ]
    if not frames or scene.chance(0.25):
        return "", facts
    frame = scene.pick(frames)
    used = {key.removeprefix("a ") for key in re.findall(r"{([^}]+)}", frame)}

    def filled(found: re.Match[str]) -> str:
        one, fact = known[found[1].removeprefix("a ")]
        value = spelled(scene, one, fact)
        return article(value) if found[1].startswith("a ") else value

    return f"{sentence_case(re.sub(r'{([^}]+)}', filled, frame))}.", [pair for pair in facts if pair[0].key not in used]


def introduced(story: Story, sentences: Sequence[str], *, own: bool = False) -> list[str]:
    """Return a sentence that gives the name of the record, if the others have not done so."""
    if not story.lead or any(story.lead[1].shown in text for text in sentences):
        return []
    one, fact = story.lead
    label, noun = one.label(story.scene), story.scene.pick(story.kind.nouns)
    if own and story.kind.subject == "company":
        return [story.scene.pick((f"We are {fact.shown}.", f"Welcome to {fact.shown}!", f"About {fact.shown}:"))]
    if own:
        return [story.scene.pick((f"My name is {fact.shown}.", f"I am {fact.shown}.", f"{fact.shown} here."))]
    if story.kind.subject == "person":
        return [
            story.scene.pick(
                (f"This is about {fact.shown}.", f"The name is {fact.shown}.", f"{sentence_case(noun)}: {fact.shown}.")
            )
        ]
    texts = (
        f"The {label} is {fact.shown}.",
        f"This is about the {noun} with the {label} {fact.shown}.",
        f"{sentence_case(label)}: {fact.shown}.",
    )
    return [story.scene.pick(texts)]


def prose(story: Story) -> str:
    """One paragraph or two, sometimes with a heading."""
    scene = story.scene
    head, told_above = (heading(story), story) if scene.chance(0.6) else headed(story)
    sentences = told(told_above)
    if len(sentences) > 3 and scene.chance(0.3):
        middle = len(sentences) // 2
        text = f"{' '.join(sentences[:middle])}\n\n{' '.join(sentences[middle:])}"
    else:
        text = " ".join(sentences)
    return f"{head}\n\n{text}" if scene.chance(0.25) or told_above is not story else text


def letter(story: Story) -> str:
    """A letter: greeting, text, closing."""
    scene = story.scene
    own = bool(story.kind.subject in ("person", "company") and story.lead and scene.chance(0.6))
    story, writer = with_writer(story)
    if own and story.lead:
        writer = story.lead[1].shown
    opening = opening_line(scene) if scene.chance(0.5) else ""
    sentences = told(story, own=own, fragments=0.04)
    body = " ".join(filter(None, [sentence_case(opening), *sentences]))
    if scene.chance(0.25):
        body = "\n".join(filter(None, [sentence_case(opening), *sentences]))
    return f"{greeting(story)},\n\n{body}\n\n{signature(story, writer)}"


def mail(story: Story) -> str:
    """A mail with its headers."""
    scene = story.scene
    inner, writer = with_writer(story)
    name = writer or kept(" ".join(full_name(scene)))
    if "agent" in story.sensitive and not writer:
        name = team(scene)
    subject, inner = headed(inner)
    sender = (
        f"From: {name}" if "code" in story.sensitive or scene.chance(0.4) else f"From: {name} <{email(scene).shown}>"
    )
    lines = [sender, f"Subject: {scene.pick(('', 'Re: ', 'Fwd: '))}{subject}"]
    if scene.chance(0.5) and "code" not in story.sensitive:
        lines.insert(1, f"To: {email(scene).shown}")
    if scene.chance(0.5) and "date" not in story.sensitive:
        lines.insert(scene.rng.randint(1, len(lines)), f"Date: {stray(scene, 'date')}")
    sentences = told(inner, fragments=0.05)
    body = " ".join(sentences) if scene.chance(0.7) else "\n\n".join(sentences)
    parts = ["\n".join(lines), f"{greeting(story)}," if scene.chance(0.7) else "", body]
    return "\n\n".join(filter(None, [*parts, signature(story, writer) if writer or scene.chance(0.6) else ""]))


def headed(story: Story) -> tuple[str, Story]:
    """Return a headline that may tell up to two facts, and the story without them."""
    scene = story.scene
    free = [pair for pair in story.facts if pair is not story.lead and pair[0].sort not in ("rows", "list")]
    if len(story.facts) < 3 or not free or not scene.chance(0.35):
        return subject_line(story), story
    taken = free[: scene.rng.randint(1, 2)]
    pieces = [one.fragment for one in stated(scene, story.kind, taken, absent=[*story.absent, *others(story, taken)])]
    rest = [pair for pair in story.facts if all(pair is not one for one in taken)]
    return ", ".join([subject_line(story), *pieces]), replace(story, facts=rest)


def others(story: Story, taken: Sequence[Stated]) -> list[Field]:
    """Return the fields of a story but for some."""
    return [one for one, _ in story.facts if all(one is not other for other, _ in taken)]


def subject_line(story: Story) -> str:
    """Return the subject of a mail: the noun, with the name of the record now and then."""
    scene, noun = story.scene, story.scene.pick(story.kind.nouns)
    if story.lead and scene.chance(0.4):
        return scene.pick(
            (f"{noun} {story.lead[1].shown}", f"{sentence_case(noun)} {story.lead[1].shown}", story.lead[1].shown)
        )
    return scene.pick((noun, noun.title(), f"your {noun}", f"Our {noun}", f"about the {noun}"))


def chat(story: Story) -> str:
    """Messages of two people, with times or without."""
    scene = story.scene
    own = story.kind.subject == "person" and bool(story.lead) and scene.chance(0.3)
    first, second = (kept(scene.pick(scene.pools.given)) for _ in range(2))
    if own and story.lead:
        first = story.lead[1].shown
    elif "agent" in story.sensitive:
        first, second = "A", "B"
    if first == second:
        second = "Bot"
    hour, minute, timed = (
        scene.rng.randrange(7, 20),
        scene.rng.randrange(0, 50),
        scene.chance(0.4) and "time" not in story.sensitive,
    )
    lines = []
    remarks = (
        "ok",
        "got it",
        "thanks!",
        "hm, anything else?",
        "and the rest?",
        "go on",
        "noted",
        "great",
        "sure?",
        "one sec",
        "👍",
        "yes?",
    )
    for position, sentence in enumerate(told(story, own=own, fragments=0.15)):
        minute += scene.rng.randrange(0, 2)
        stamp = f"[{hour:02}:{min(minute, 59):02}] " if timed else ""
        shown = sentence.rstrip(".") if scene.chance(0.3) else sentence
        lines.append(f"{stamp}{first}: {shown}")
        if scene.chance(0.35) and position < 5:
            lines.append(f"{stamp}{second}: {scene.pick(part(remarks, scene.split))}")
    if scene.chance(0.5):
        asking = scene.pick(("hi, what do we know?", "any news?", "can you tell me more?"))
        lines.insert(0, f"{f'[{hour:02}:00] ' if timed else ''}{second}: {asking}")
    return "\n".join(lines)


def note(story: Story) -> str:
    """A note in fragments, in small letters now and then."""
    scene = story.scene
    subject = subject_of(story)
    facts = [pair for pair in story.facts if pair is not story.lead]
    pieces = [
        one.fragment or one.noun or one.predicate for one in stated(scene, story.kind, facts, absent=story.absent)
    ]
    mark = scene.pick(by_split((", ", "; ", ". ", "\n"), (" / ", " | ", " + "), scene.split))
    head = subject.full if story.lead else scene.pick(story.kind.nouns)
    text = f"{head}{scene.pick((': ', ' – ', ', '))}{mark.join(pieces)}"
    return lowered(text) if scene.chance(0.3) else sentence_case(text)


_OFFERS = (
    "FOR SALE: {}", "For sale: {}", "New: {}", "Wanted! {}", "Reminder: {}", "FYI: {}", "Found this: {}", "Update: {}",
    "Hi, {}", "Offer: {}", "*** {} ***", "To whom it may concern: {}", "hello, {}", "Urgent: {}", "+++ {} +++",
)  # fmt: skip


def listing(story: Story) -> str:
    """A headline and fragments behind it, as in small ads, catalogues and bills; inner records have lines."""
    scene = story.scene
    facts = [pair for pair in story.facts if pair is not story.lead] or list(story.facts)
    inner = [fact for _, fact in facts if fact.rows and scene.chance(0.75)]
    plain = [pair for pair in facts if all(pair[1] is not one for one in inner)]
    pieces = [one.fragment for one in stated(scene, story.kind, plain, absent=story.absent)]
    head = sentence_case(subject_of(story).full)
    if scene.chance(0.3):
        head = scene.pick(part(_OFFERS, scene.split)).format(head)
    first = scene.rng.randint(0, min(3, len(pieces)))
    marks = by_split((", ", " – ", " · ", ", ", " | ", "\n"), (" / ", "; ", " -- "), scene.split)
    lines = [scene.pick(marks).join([head, *pieces[:first]])]
    rest = pieces[first:]
    while rest:
        count = scene.rng.randint(1, 4)
        lines.append(scene.pick((", ", ". ", "; ")).join(sentence_case(one) for one in rest[:count]))
        rest = rest[count:]
    for fact in inner:
        bullet = scene.pick(("", "", "- ", "* "))
        lines.insert(scene.rng.randint(1, len(lines)), "\n".join(f"{bullet}{item}" for item in fact.items))
    closing = aside(story) if scene.seldom(0.25) else ""
    marks = ("\n", "\n\n") if inner else ("\n", ". ", "\n", "\n\n")
    text = f"{scene.pick(marks).join(lines)}{scene.pick(('.', '', '!'))}{scene.pick((' ', chr(10))) if closing else ''}"
    return f"{lowered(text) if scene.chance(0.15) else text}{closing}"


def news(story: Story) -> str:
    """A news brief with a dateline."""
    scene = story.scene
    body = " ".join(told(story, fragments=0))
    if "place" in story.sensitive or "date" in story.sensitive:
        return f"{scene.pick(('NEWS', 'BRIEF', 'UPDATE'))} – {body}"
    city, day = stray(scene, "place").upper() if scene.chance(0.5) else stray(scene, "place"), stray(scene, "date")
    head = (
        f"{city}, {day} – "
        if scene.chance(0.6)
        else f"{city} ({scene.pick(('AP', 'own report', 'dpa', 'Reuters'))}) – "
    )
    return f"{heading(story)}\n\n{head}{body}" if scene.chance(0.4) else head + body


def web_page(story: Story) -> str:
    """A page of a website: navigation, heading, text or form, footer."""
    scene = story.scene
    menu = scene.rng.sample(
        ("Home", "Shop", "About us", "Contact", "News", "Login", "Cart (0)", "Help", "Blog", "Search"), 4
    )
    mark = scene.pick((" | ", " > ", " · ", "\n"))
    if story.kind.subject == "company" and story.lead and scene.chance(0.4):
        body = " ".join(told(story, own=True, fragments=0.05))
    else:
        body = scene.pick((form, prose, bullets))(story)
    foot = scene.pick(
        (
            "© All rights reserved",
            "Imprint · Privacy · Terms",
            "Share this page",
            "Back to top",
            "Cookie settings",
            "Sign up for our newsletter!",
        )
    )
    return f"{mark.join(menu)}\n\n{heading(story)}\n\n{body}\n\n{foot}"


def interview(story: Story) -> str:
    """Questions and answers, field by field."""
    scene = story.scene
    lines = []
    asks = ("And the {}?", "What about the {}?", "{}?", "Could you tell me the {}?", "The {}, please?")
    for one, fact in story.facts:
        label = one.label(scene)
        if one.sort in ("flag", "choice") or not one.words.entries:
            said = [
                sentence_case(text)
                for text in narrated(
                    scene, subject_of(replace(story, lead=None)), stated(scene, story.kind, [(one, fact)]), fragments=0
                )
            ]
            lines += ["Q: Anything else?" if scene.chance(0.5) else "Q: Go on.", f"A: {' '.join(said)}"]
        else:
            answer = scene.pick(
                (f"{fact.shown}.", f"That is {fact.shown}.", f"{fact.shown}, I think.", f"It says {fact.shown} here.")
            )
            lines += [f"Q: {sentence_case(scene.pick(asks).format(label))}", f"A: {answer}"]
    if scene.chance(0.3) and story.absent and story.absent[0].words.entries:
        lines += [
            f"Q: And the {story.absent[0].label(scene)}?",
            f"A: {scene.pick(('No idea.', 'I do not know that.', 'Nobody told me.', 'That is still open.'))}",
        ]
    return "\n".join(lines)


def mixed(story: Story) -> str:
    """Some facts as a form, the others as text, above or below it."""
    scene = story.scene
    if len(story.facts) < 3:
        return prose(story)
    cut = scene.rng.randint(1, len(story.facts) - 1)
    first, second = (
        replace(story, facts=story.facts[:cut], absent=[]),
        replace(story, facts=story.facts[cut:], lead=None),
    )
    if story.lead and story.lead not in first.facts:
        first.lead, second.lead = None, story.lead
    if second.lead is None or scene.chance(0.5):
        return f"{scene.pick((form, bullets, run_on))(first)}\n\n{' '.join(told(second))}"
    return f"{' '.join(told(second))}\n\n{scene.pick((form, bullets, run_on))(first)}"


LAYOUTS: dict[Layout, float] = {
    prose: 36, letter: 8, mail: 9, note: 5, news: 4, web_page: 4, form: 9, bullets: 6, run_on: 3, log: 2, data: 2,
    mixed: 9, listing: 13,
}  # fmt: skip
KEPT_LAYOUTS: dict[Layout, float] = {
    prose: 40, chat: 10, interview: 6, settings: 4, receipt: 4, letter: 8, form: 8, mixed: 6, listing: 10,
}  # fmt: skip
"""The layouts of unseen phrasings: four are new, the others have new words and marks."""


def layout_for(scene: Scene) -> Layout:
    """Return a layout that the split may use."""
    return scene.weighted({"train": LAYOUTS, "phrasings": KEPT_LAYOUTS, "kinds": LAYOUTS | KEPT_LAYOUTS}[scene.split])
