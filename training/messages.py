"""Short messages to classify: what a person wants, feels or writes about, by clauses that imply it."""

# ruff: noqa: E501  one line for one thing

from training.kind import Parted
from training.values import Scene, organisation, person, product
from training.words import part

_OPENERS = "Hi|Hello|Hey there|Good morning|To be honest|Well|So|Just saying|Quick question|For your information"
_TASKS: dict[str, tuple[tuple[str, ...], tuple[str, ...], dict[str, str]]] = {
    "sentiment": (
        ("sentiment", "tone", "mood", "opinion", "attitude"),
        ("How does the writer feel?", "Classify the sentiment.", "Is this praise or criticism?", "What is the tone?"),
        {
            "positive": "the {thing} exceeded my hopes; I would buy the {thing} again at once; {org} solved everything within minutes; what a lovely {thing}; the staff could not have been kinder; I recommend {org} to all my friends; everything works like a charm; we had a wonderful time",
            "negative": "the {thing} broke on the second day; I want my money back; nobody at {org} ever answers; what a waste of money; the {thing} is a disaster; I will never order there again; the service was rude and slow; we were deeply disappointed",
            "neutral": "the {thing} arrived on Tuesday; the {thing} has two handles; I bought the {thing} at {org}; the parcel contained a {thing} and a manual; {org} has moved to another street; the {thing} is sold in three sizes",
        },
    ),
    "topic": (
        ("topic", "subject", "section", "category", "theme"),
        ("What is the text about?", "Choose the section.", "To which topic does this belong?", "Classify the text."),
        {
            "sports": "the goalkeeper saved a penalty in the last minute; {person} won the sprint by a tenth of a second; the coach named two new players; the final will be played on clay; the team trains on a new pitch; the cyclist wore yellow all week",
            "business": "{org} raised its forecast for the year; shares fell after the report; the bank lowered its interest rate; the merger creates a group with new owners; exports grew again; investors sold their stakes",
            "science": "a telescope recorded a faint galaxy; researchers sequenced the genome of a moss; the experiment was repeated with lighter atoms; a probe landed on the asteroid; the vaccine worked in mice; geologists dated the rock",
            "food": "the soup needs an hour on the stove; fold the egg whites into the dough; the chef swears by fresh thyme; let the bread rest overnight; a pinch of salt brings out the taste; the sauce thickens slowly",
            "politics": "parliament passed the bill by two votes; the minister resigned; the mayor opens the session; voters go to the polls in spring; the coalition agreed on a budget; the opposition called for new elections",
            "weather": "heavy rain is expected along the coast; the night stays clear and cold; fog will lift by noon; a storm is moving in from the west; temperatures climb above thirty degrees; snow fell in the hills",
            "travel": "the ferry leaves from the old harbour; the hotel lies by the beach; visitors need two days for the island; the trail leads past three lakes; the night train has sleeping cars; the visa is issued on arrival",
        },
    ),
    "intent": (
        ("intent", "request", "purpose", "reason", "concern"),
        ("What does the writer want?", "Choose the intent.", "Why does this person write?", "Route the message."),
        {
            "refund": "please send back the money for the {thing}; I was charged twice and want it returned; I expect to be paid back; the amount should go back to my card; reimburse me for the {thing}",
            "cancel": "I no longer need the {thing}, please stop the order; end my subscription; I would like to withdraw my booking; do not send the {thing} after all; please close my account",
            "complaint": "the {thing} is damaged; your driver shouted at me; this is the third delay; the {thing} stinks of paint; I am fed up with {org}",
            "question": "how do I charge the {thing}; do you deliver abroad; when does the shop open; is the {thing} dishwasher-safe; which size should I take",
            "order": "I would like to have another {thing}; please put me down for a {thing}; send a {thing} to my office; we want to buy the {thing}; can I get the {thing} in blue as well",
            "thanks": "I just wanted to say how grateful I am; thank you so much for the {thing}; {person} was a great help, many thanks; I really appreciate it; thanks a million to {org}",
        },
    ),
    "urgent": (
        ("urgent", "is_urgent", "needs_attention", "emergency", "pressing"),
        (
            "Does this have to be dealt with at once?",
            "Is it urgent?",
            "Must somebody act now?",
            "Is this an emergency?",
        ),
        {
            "true": "water is pouring through the ceiling; we need help right now; the whole system is down; it cannot wait until tomorrow; the {thing} is on fire; all customers are affected, act immediately",
            "false": "whenever you find the time; there is no hurry; next month is soon enough; it is only a small wish; no need to answer before the holidays; this can wait",
        },
    ),
    "spam": (
        ("spam", "is_spam", "junk", "unwanted", "is_junk"),
        ("Is this message spam?", "Is this unwanted advertising?", "Should it go to the junk folder?", "Is it spam?"),
        {
            "true": "you have won a million, click here; cheap pills without prescription; double your money in a week; claim your free {thing} now; hot singles are waiting; verify your bank account under this link",
            "false": "the meeting moves to room four; {person} will bring the {thing}; can you pick up the children; here are the minutes of our call; dinner is at eight; the {thing} is ready for collection",
        },
    ),
}


def message(scene: Scene) -> tuple[str, list[str], object, str, str]:
    """Return a message, the options, the right one, a name for the field and a question."""
    names, questions, texts = _TASKS[scene.pick(tuple(_TASKS))]
    label = scene.pick(tuple(texts))
    clauses = Parted(tuple(one.strip() for one in texts[label].split(";"))).of(scene.split)
    chosen = scene.rng.sample(clauses, min(len(clauses), scene.rng.randint(1, 3)))
    slots = {"thing": product(scene).text, "org": organisation(scene).text, "person": person(scene).text}
    sentences = [one.format(**slots) for one in chosen]
    marks = [
        ("?" if one.startswith(("how ", "do ", "when ", "is ", "which ", "can ")) else scene.pick((".", ".", "!")))
        for one in sentences
    ]
    body = " ".join(f"{one[:1].upper()}{one[1:]}{mark}" for one, mark in zip(sentences, marks, strict=True))
    if scene.chance(0.3):
        body = f"{scene.pick(part(_OPENERS.split('|'), scene.split))}, {body[:1].lower() if not body.startswith('I ') else 'I'}{body[1:]}"
    options = [one for one in texts if one == label or scene.chance(0.7)]
    if len(options) < 2:
        options = list(texts)
    scene.rng.shuffle(options)
    answer: object = label == "true" if "true" in texts else label
    name = scene.pick(part(names, scene.split))
    return body, [] if "true" in texts else options, answer, name, scene.pick(part(questions, scene.split))
