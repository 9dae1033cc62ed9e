"""Text around a record that is not about it: small talk, other matters, earlier mails, boilerplate, without any value.

A document of several hundred words teaches where to look. Sentences are composed of subject, predicate, object and
adverbial, each of which is divided between training and unseen phrasings.
"""

# ruff: noqa: E501  one line for one thing

from training.asides import aside
from training.inflection import sentence_case
from training.scene import Scene
from training.splits import SPLITS, part
from training.story import Story
from training.words import by_comma

_SUBJECTS = by_comma("""
the team, our supplier, the new software, the committee, one of the guests, the printer upstairs, a neighbour, the caretaker,
the head office, the night shift, everybody in the building, the man from the insurance, our accountant, the landlord, the
trainee, the kitchen, somebody from the council, one of the older members, the union, one of the drivers, the board, the webmaster,
the whole street, the policewoman, the local paper, the school next door, the cleaning crew, the architect, the lawyer,
a volunteer, the weather service, the orchestra, the authority, the previous tenant, the repair shop, the choir, my sister,
the man at the counter, the doctor, the bank, the committee for culture, our intern, the helpdesk, one of the parents, nobody
""")
_PREDICATES = by_comma("""
has promised to look into, is still waiting for, was not happy with, asked twice about, will have a word about, has already sent,
keeps talking about, cannot do anything about, would like to know more about, had a long discussion about, is worried about,
has been thinking about, wants to postpone, is responsible for, has forgotten, is looking forward to, does not understand,
has nothing against, complained about, wrote a long report on, is preparing, voted for, voted against, insists on, will take care of,
has finally finished, lost, found, took pictures of, paid for, is busy with, had to repeat, will explain, refused to sign,
made fun of, apologised for, was surprised by, is tired of, knows everything about, has to approve, forwarded, tore up
""")
_OBJECTS = by_comma("""
the new opening hours, the minutes of the last meeting, the heating in the hall, the missing chairs, the coffee machine,
the summer party, the parking situation, the noise from the building site, the rules for the common room, the holiday schedule,
the old archive, the draft of the newsletter, the broken window, the plans for the extension, the key to the cellar,
the list of guests, the change of provider, the results of the survey, the lost luggage, the fire drill, the garden fence,
the cleaning plan, the visit of the inspectors, the second edition, the music for the evening, the letters from the council,
the leak in the roof, the seating plan, the questions of the auditors, the budget for stationery, the bicycle racks, the dress code,
the new logo, the traffic lights at the corner, the translation, the photographs on the website, the timetable, the wallpaper,
the farewell present, the group picture, the food in the canteen, the route through the forest, the cat on the roof
""")
_ADVERBIALS = by_comma("""
before the holidays, as usual, for the time being, since the weekend, without any hurry, at long last, once again, in the coming weeks,
by the way, to be honest, for no good reason, after lunch, with great patience, in private, over a cup of tea, sooner or later,
as far as I remember, behind closed doors, in the end, as I told you, on the phone, during the break, because of the rain,
in spite of everything, according to the rumours, by mistake, for the third time, as a precaution, until further notice, of course
""")
_LINKS = (
    "",
    "",
    "",
    "",
    "meanwhile, ",
    "also, ",
    "besides, ",
    "on the other hand, ",
    "it seems that ",
    "I heard that ",
    "then again, ",
    "as you may know, ",
    "in short, ",
    "apart from that, ",
    "sadly, ",
)
_PERSONAL = (
    "I have been thinking about {}.", "Do you know anything about {}?", "Please remind me of {} when we meet.",
    "We still have to talk about {}.", "What about {}?", "Sorry about {}!", "Let us leave {} aside for now.",
    "I have nothing new on {}, by the way.", "As for {}, I would rather wait.", "And {}? No idea.", "I am fed up with {}.",
    "You were right about {}.", "There is trouble with {} again.", "Has anybody told you about {}?", "So much for {}.",
    "I took care of {}, so do not worry.", "Could you look after {} while I am away?", "Nothing new about {} either.",
)  # fmt: skip
_OPINIONS = (
    "I do not mind either way.", "That is all I can say about it.", "We will see what comes of it.", "It was a long day.",
    "Nothing has been decided.", "Please do not be angry with me.", "You know how these things go.", "It made everybody laugh.",
    "There is more in the attachment.", "I wish I had better news.", "We have been there before.", "Let us talk about it soon.",
    "The rest can wait.", "It is what it is.", "No need to reply.", "Thanks for reading this far.", "Time flies.", "Enough of that.",
)  # fmt: skip
_BOILERPLATE = (
    "This message and any attachment are meant for the addressee only. If you have received it in error, please delete it and let us know.",
    "You receive this mail because you are on our list. To unsubscribe, follow the link below.",
    "All information is given in good faith and without guarantee. Errors and omissions excepted.",
    "Reproduction, even in part, needs our written consent. The general terms and conditions apply and can be read on our website.",
    "Please consider the environment before you print this message.",
    "We process personal data as the law requires. You may object to this at any time and without giving reasons.",
    "The views expressed here are those of the writer and not necessarily those of the organisation.",
    "This document was created by a machine and is valid without a signature.",
    "Goods remain our property until they have been paid for in full. The place of jurisdiction is our registered seat.",
    "For safety reasons, calls may be recorded. Thank you for your understanding.",
    "Subject to change. Pictures may differ from the real thing. As long as stocks last.",
    "Cookies help us to improve this page. By staying here you accept our policy.",
    "Save paper, save trees. Think before you print.", "Translated by a machine; only the original text is binding.",
)  # fmt: skip
_QUOTED = (
    "Earlier message:",
    "-----Original message-----",
    "Somebody wrote:",
    "You wrote:",
    "Forwarded message",
    "In reply to:",
    "Last week you wrote:",
    "---",
)
_LETTERS = ("Dear", "Hello", "Hi", "Hey", "To ", "Good ", "From:", "[")


_PARTS = {
    split: tuple(part(table, split) for table in (_SUBJECTS, _PREDICATES, _OBJECTS, _ADVERBIALS))
    for split in SPLITS
}  # fmt: skip


def sentence(scene: Scene) -> str:
    """Return a sentence about some other matter: "The landlord cannot do anything about the bicycle racks, of course."."""
    if scene.chance(0.3):
        return scene.pick(part(_PERSONAL, scene.split)).format(scene.pick(part(_OBJECTS, scene.split)))
    subject, predicate, thing, adverbial = map(scene.pick, _PARTS[scene.split])
    text = f"{subject} {predicate} {thing}"
    roll = scene.rng.random()
    if roll < 0.3:
        text = f"{text} {adverbial}"
    elif roll < 0.4:
        text = f"{adverbial}, {text}"
    elif roll < 0.6:
        other = scene.pick(part(_OBJECTS, scene.split))
        text = f"{text}{scene.pick((' and ', ', but not ', ' and above all ', ' as well as '))}{other}"
    return f"{sentence_case(scene.pick(part(_LINKS, scene.split)) + text)}."


def paragraph(story: Story) -> str:
    """Return two to five sentences beside the point."""
    scene = story.scene
    texts = [sentence(scene) for _ in range(scene.rng.randint(2, 5))]
    if scene.chance(0.35):
        texts.append(scene.pick(part(_OPINIONS, scene.split)))
    if scene.chance(0.4) and (text := aside(story)):
        texts.insert(scene.rng.randint(0, len(texts)), text)
    return " ".join(texts)


def quoted(story: Story) -> str:
    """Return an earlier mail as mail programs quote it."""
    scene = story.scene
    lines = [sentence(scene) for _ in range(scene.rng.randint(2, 5))]
    head = scene.pick(part(_QUOTED, scene.split))
    return "\n".join([head, *(f"> {line}" for line in lines)])


def lengthened(story: Story, document: str, words: int) -> str:
    """Return a document with paragraphs about other matters around its own, until it has so many words."""
    scene = story.scene
    blocks = document.split("\n\n")
    is_letter = document.startswith(_LETTERS) and len(blocks) > 2
    missing = words - len(document.split())
    while missing > 0:
        roll = scene.rng.random()
        if roll < 0.12:
            text, at = scene.pick(part(_BOILERPLATE, scene.split)), len(blocks)
        elif roll < 0.22:
            text, at = quoted(story), len(blocks)
        else:
            text = paragraph(story)
            at = scene.rng.randint(1, len(blocks) - 1) if is_letter else scene.rng.randint(0, len(blocks))
        if text not in blocks:
            blocks.insert(at, text)
        missing -= len(text.split())
    return "\n\n".join(blocks)
