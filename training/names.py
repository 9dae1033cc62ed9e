"""Names and free texts: people, places, products, titles, addresses, codes, faults."""

import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from training.inflection import plural
from training.scene import STRING, Fact, Maker, Scene, text_fact
from training.splits import Split, part
from training.words import CODAS, COMPANY_ENDINGS, POOLS, STREET_KINDS, VOWELS, by_comma

_MAIL_HOSTS = "gmail.com outlook.com example.com example.org posteo.de mail.com proton.me yahoo.com web.de".split()
_DOMAIN_ENDINGS = "com org net io co.uk de fr es it eu nl shop".split()
_UNACCENTED = str.maketrans({"ø": "o", "ł": "l", "ı": "i", "đ": "d", "ß": "ss"})
_ENDINGS = by_comma(COMPANY_ENDINGS)
_STREET_KINDS = by_comma(STREET_KINDS)
_VOWELS, _CODAS = VOWELS.split(), CODAS.split()


def invented_word(scene: Scene) -> str:
    """Return a word of two or three syllables that no dictionary has, capitalised."""
    count = 2 if scene.chance(0.7) else 3
    syllables = [scene.pick(scene.pools.onsets) + scene.pick(_VOWELS) for _ in range(count)]
    return "".join([*syllables, scene.pick(_CODAS) if scene.chance(0.6) else ""]).capitalize()


def full_name(scene: Scene) -> tuple[str, str]:
    """Return a given and a family name, each invented now and then."""
    given = scene.pick(scene.pools.given) if scene.chance(0.8) else invented_word(scene)
    family = scene.pick(scene.pools.family) if scene.chance(0.8) else invented_word(scene)
    if scene.chance(0.04):
        family = f"{family}-{scene.pick(scene.pools.family)}"
    if scene.chance(0.03):
        family = f"{scene.pick(('de', 'van', 'von', 'da', 'van der', 'del', 'Mac', 'St.'))} {family}"
    if scene.chance(0.06):
        given = f"{given} {scene.pick('ABCDEFGHJKLMNPRSTW')}."
    return given, family


def person(scene: Scene) -> Fact:
    """Return the name of a person; a title before it is no part of it unless the type asks for it."""
    given, family = full_name(scene)
    name, roll = f"{given} {family}", scene.rng.random()
    if roll < 0.06:
        titled = f"{scene.pick(_TITLES)} {name}"
        return Fact(titled, name, STRING, "agent", ((STRING, titled, "with the title"),))
    if roll < 0.08:
        name = f"{given[0]}. {family}"
    parts = {"type": "object", "additionalProperties": False, "required": ["first", "last"]}
    parts |= {"properties": {"first": STRING, "last": STRING}}
    return Fact(name, name, STRING, "agent", ((parts, {"first": given, "last": family}, ""),) if roll >= 0.08 else ())


_TITLES = "Dr. Dr Prof. Professor Captain Judge Sister Mr Mrs Ms Mr. Ms. Sir Pastor Councillor Nurse Frau Herr".split()


def family_first(scene: Scene, fact: Fact) -> Fact:
    """Return a person as registers write the name: "Costa, Ana" or "COSTA Ana"."""
    given, _, family = fact.text.partition(" ")
    if not family or "." in fact.text or fact.text != fact.value:
        return fact
    text = f"{family}, {given}" if scene.chance(0.7) else f"{family.upper()} {given}"
    return replace(fact, text=text, value=text, others=())


def organisation(scene: Scene) -> Fact:
    """Return the name of an organisation: "Halcyon Robotics", "Weber & Sons", "Cobalt Ridge Paper GmbH"."""
    roll, pools = scene.rng.random(), scene.pools
    if roll < 0.4:
        name = f"{scene.pick(pools.company_words)} {scene.pick(pools.trades)}"
    elif roll < 0.5:
        name = invented_word(scene)
    elif roll < 0.65:
        name = f"{invented_word(scene)} {scene.pick(pools.trades)}"
    elif roll < 0.75:
        name = f"{scene.pick(pools.company_words)} {scene.pick(pools.company_words)}"
    elif roll < 0.85:
        name = f"{scene.pick(pools.family)} {scene.pick(pools.trades)}"
    else:
        name = f"{scene.pick(pools.family)} & {scene.pick((scene.pick(pools.family), 'Sons', 'Partners', 'Daughters'))}"
    return text_fact(f"{name} {scene.pick(_ENDINGS)}" if "&" not in name and scene.chance(0.2) else name, "agent")


def place(scene: Scene) -> Fact:
    """Return a city, real or invented."""
    if scene.chance(0.25):
        ending = scene.pick(("", "", "ville", "ton", "burg", "field", "stad", " Bay", " Falls", "ham"))
        return text_fact(invented_word(scene) + ending, "place")
    return text_fact(scene.pick(scene.pools.cities), "place")


def street(scene: Scene) -> Fact:
    """Return a street with a number: "14 Mill Lane", "Lindenallee 7a"."""
    number = str(scene.rng.randrange(1, 250)) + (scene.pick("abcBC") if scene.chance(0.08) else "")
    if scene.chance(0.7):
        return text_fact(f"{number} {scene.pick(scene.pools.streets)} {scene.pick(_STREET_KINDS)}", "place")
    name = scene.pick(scene.pools.streets_abroad)
    text = f"{number} {name}" if name.startswith(("Rue", "Avenue", "Boulevard")) else f"{name} {number}"
    return text_fact(text, "place")


def site(scene: Scene) -> Fact:
    """Return a place inside a town: "Town Hall", "Hall 9", "the Orchid Room", "Kestrel Gallery"."""
    pools = scene.pools
    name = scene.pick((scene.pick(pools.venues), scene.pick(pools.rooms)))
    return text_fact(
        f"{scene.pick(pools.company_words)} {scene.pick(pools.venues)}" if scene.chance(0.5) else name, "place"
    )


def ascii_letters(name: str) -> str:
    """Return a name in small letters without accents: "Čapek" → "capek"."""
    plain = unicodedata.normalize("NFKD", name.lower().translate(_UNACCENTED))
    return "".join(sign for sign in plain if "a" <= sign <= "z")


def email(scene: Scene) -> Fact:
    """Return an address of a person or of a department."""
    first, last = (ascii_letters(name.split()[-1]) or "x" for name in full_name(scene))
    users = (f"{first}.{last}", f"{first[0]}.{last}", f"{first}_{last}", f"{first}{last}", last, first)
    offices = ("info", "office", "support", "sales", "jobs", "hello", "contact", "team", "bookings")
    user = scene.pick(offices) if scene.chance(0.2) else scene.pick(users)
    number = str(scene.rng.randrange(100)) if scene.chance(0.2) else ""
    own = f"{scene.pick(scene.pools.company_words).lower()}.{scene.pick(_DOMAIN_ENDINGS)}"
    return text_fact(f"{user}{number}@{own if scene.chance(0.6) else scene.pick(_MAIL_HOSTS)}", "code")


def url(scene: Scene) -> Fact:
    """Return the address of a web page."""
    host = f"{scene.pick(scene.pools.company_words).lower()}{scene.pick(('', '-' + scene.pick(scene.pools.nouns)))}"
    path = f"/{scene.pick(scene.pools.nouns)}" + (f"/{scene.rng.randrange(9999)}" if scene.chance(0.4) else "")
    scheme = scene.pick(("https://", "https://www.", "www.", "http://"))
    return text_fact(f"{scheme}{host}.{scene.pick(_DOMAIN_ENDINGS)}{path if scene.chance(0.6) else ''}", "code")


_PHONES = by_comma("""
+1 ### ### ####, +1-###-###-####, (###) ###-####, ###-###-####, +44 20 #### ####, +44 7### ######, +49 30 #######,
+49 1## ########, +33 6 ## ## ## ##, 0# ## ## ## ##, +34 6## ### ###, +39 3## ### ####, +46 70 ### ## ##, ### ### ###,
+91 ##### #####, +81 90 #### ####, 555-####, 0### ######
""")


def phone(scene: Scene) -> Fact:
    """Return a telephone number."""
    return text_fact(fill_pattern(scene, scene.pick(_PHONES)), "code")


def fill_pattern(scene: Scene, pattern: str) -> str:
    """Return a pattern with its placeholders drawn: # is a digit, @ a capital, & either, % a digit but zero."""
    drawn = {"#": "0123456789", "%": "123456789", "@": "ABCDEFGHJKLMNPQRSTUVWXYZ", "&": "ABCDEFGHKLMNPRSTVWXYZ23456789"}
    return "".join(scene.pick(drawn[sign]) if sign in drawn else sign for sign in pattern)


def code(patterns: Sequence[str]) -> Maker:
    """Return a maker of codes after patterns: `INV-####` → "INV-2041"."""
    return lambda scene: text_fact(fill_pattern(scene, scene.pick(patterns)), "code")


def product(scene: Scene) -> Fact:
    """Return the name of a product: "oak desk", "Trulo 300", "foldable step stool"."""
    pools, roll = scene.pools, scene.rng.random()
    if roll < 0.4:
        return text_fact(scene.pick(pools.things))
    if roll < 0.65:
        return text_fact(f"{scene.pick(pools.thing_adjectives)} {scene.pick(pools.things)}")
    if roll < 0.85:
        number = scene.pick(
            ("", f" {scene.rng.randrange(1, 9)}00", f" {scene.pick('XSTVZ')}{scene.rng.randrange(1, 99)}")
        )
        return text_fact(f"{invented_word(scene)}{number}")
    return text_fact(f"{invented_word(scene)} {scene.pick(pools.things).title()}")


def work(scene: Scene) -> Fact:
    """Return the title of a work: "The Silent Harbor", "Lantern and Salt", "A Winter in Oslo"."""
    pools = scene.pools
    noun, other = scene.pick(pools.nouns).capitalize(), scene.pick(pools.company_words)
    adjective = scene.pick(pools.adjectives).capitalize()
    titles = (
        f"The {adjective} {noun}", f"{other} and {noun}", f"A {noun} in {scene.pick(pools.cities)}",
        f"{adjective} {plural(noun)}", f"The {noun} of {other}", f"{scene.pick(pools.given)}'s {noun}",
        f"The Last {noun}", f"No {noun} for {other}", f"{other} {noun}",
        f"Beyond the {adjective} {noun}", f"The {noun} Keeper",
    )  # fmt: skip
    return text_fact(scene.pick(titles))


_FAULTS = by_comma("""
stays black, came off, crashes on start, makes no sound, drains overnight, jams, does not close, is rejected,
loads twice, smells burnt, shows the wrong name, leaks, will not turn on, is too loose, rattles, has a dent,
overheats after an hour, was never delivered, is missing a screw, blinks red, freezes, is out of date, lost its
colour, arrived broken, is stuck, does not fit, prints blank pages, asks for a password, hums all night,
disconnects every few minutes, is scratched, looks different from the picture, cannot be opened, is much too
small, stopped working yesterday, needs a new battery
""")
_ERRANDS = by_comma("""
order, repair, clean, check, update, replace, count, paint, move, send back, print, label, review, cancel, pick
up, test, sell, measure, sort, scan, renew, return, insure, photograph, wrap, translate, book, archive, polish,
weigh, hand over, draw up, back up, sign, install, inspect, file, unpack, reserve, pay for, look for, write
about
""")
_CAUSES = by_comma("""
failed, expired, full, broken, wrong, cut, burst, stolen, missing, overloaded, forgotten, frozen, loose, late,
noisy, rude, torn, double, cold, flooded, blocked, faulty, damaged, leaking, outdated, unsigned
""")


def thing(scene: Scene) -> str:
    """Return what a phrase is about: "desk lamp", "spare valve"."""
    pools = scene.pools
    if scene.chance(0.5):
        return scene.pick(pools.things)
    return f"{scene.pick(pools.adjectives)} {scene.pick(pools.nouns)}" if scene.chance(0.4) else scene.pick(pools.nouns)


def fault(scene: Scene) -> Fact:
    """Return a clause of free text: "the spare valve leaks", "the desk lamp blinks red and hums all night"."""
    faults = part(_FAULTS, scene.split)
    text = f"{scene.pick(('the', 'the', 'my', 'our', 'one'))} {thing(scene)} {scene.pick(faults)}"
    return text_fact(f"{text} and {scene.pick(faults)}" if scene.chance(0.2) else text)


def errand(scene: Scene) -> Fact:
    """Return something to be done: "repair the desk lamp", "count the left wheels"."""
    text = f"{scene.pick(part(_ERRANDS, scene.split))} {scene.pick(('the', 'the', 'a new', 'every'))} {thing(scene)}"
    return text_fact(f"{text} for {scene.pick(scene.pools.departments)}" if scene.chance(0.12) else text)


def cause(scene: Scene) -> Fact:
    """Return what brings something about: "a burst pipe", "an expired card"."""
    adjective = scene.pick(part(_CAUSES, scene.split))
    return text_fact(f"{'an' if adjective[0] in 'aeiou' else 'a'} {adjective} {scene.pick(scene.pools.nouns)}")


def pooled(name: str) -> Maker:
    """Return a maker of the entries of a pool of words."""
    return lambda scene: text_fact(scene.pick(getattr(scene.pools, name)))


def one_of(entries: str) -> Maker:
    """Return a maker of listed entries; a sixth of them never occurs in training."""
    listed = by_comma(entries)
    parts: dict[Split, Sequence[str]] = {split: part(listed, split) or listed for split in POOLS}
    return lambda scene: text_fact(scene.pick(parts[scene.split]))
