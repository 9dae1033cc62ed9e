"""Flags and states that any record may have, with wordings that imply them: "no pets, sorry" is `pets_allowed: false`.

A flag is made of a word and a family of frames: of a thing that a record has ("balcony"), of what is allowed ("pets")
or needed ("a booking"), of an adjective ("waterproof") or of a participle ("inspected"). Frames come in positive and
negative; words as well as frames are divided between training and unseen phrasings.
"""

# ruff: noqa: E501  one line for one thing

from collections.abc import Mapping
from dataclasses import dataclass

from training.inflection import article
from training.kind import Event, Field, choice
from training.phrases import cut
from training.scene import Fact, Scene
from training.splits import NO_TEXTS, Parted, part
from training.words import by_comma

_FAMILIES = {
    "has": (
        "balcony, garden, parking space, lift, terrace, fireplace, cellar, garage, kitchen, pool, sauna, socket, timer, display, handle, lid, manual, case, charger, remote control, spare key, logo, pocket, zip, hood, alarm, camera, bell, basket, heater, filter, backup, wheelchair ramp, cloakroom, playground, shower, bathtub, dishwasher, freezer, sea view, roof rack, tow bar, sunroof, spare wheel, touchscreen, microphone, headphone jack, barcode, lock, mirror, drawer",
        "{n}, has {n}, with {n}, {n} included, includes {n}",
        "has {a n}; comes with {a n}; there is {a n}; with {a n}; {n} included; of course it has {a n}; you get {a n} as well; {a n} comes with it; offers {a n}; boasts {a n}; the {n} is a big plus; {n}: of course; even {a n}; complete with {n}",
        "has no {n}; comes without {a n}; there is no {n}; without {a n}; no {n}; sadly no {n}; the {n} is missing; you will look for {a n} in vain; lacks {a n}; {a n} is not included; does not have {a n}; one thing is missing: {a n}; {n} not included; {a n} would be nice but there is none",
    ),
    "allowed": (
        "pets, dogs, smoking, children, bicycles, cameras, guests, cards, drones, music, camping, parking, barbecues, visitors, photos, mobile phones, food and drink, flash photography, swimming, fishing, cheques, walk-ins, returns, subletting, large bags",
        "{n} allowed, {n} permitted, allows {n}, accepts {n}, {n} ok",
        "{n} welcome; {n} allowed; {n} OK; {n} permitted; nobody minds {n}; we have nothing against {n}; allows {n}; there is no rule against {n}; {n} no problem; feel free, {n} included; yes to {n}; is fine with {n}",
        "no {n}; no {n}, please; sorry, no {n}; {n} not allowed; {n} forbidden; we cannot allow {n}; does not allow {n}; strictly no {n}; {n} not permitted; {n} not welcome here; bans {n}; please understand that we do not accept {n}",
    ),
    "needed": (
        "booking, signature, licence, ticket, deposit, password, permit, registration, ID card, visa, appointment, helmet, prescription, membership, invitation, receipt, training, account, subscription, passport, fishing rod, vaccination, second person, safety check, power supply, assembly",
        "{n} required, requires {n}, {n} needed, needs {n}, {n} necessary",
        "needs {a n}; requires {a n}; {n} required; not without {a n}; calls for {a n}; you need {a n}; please bring {a n}; {n} compulsory; only with {a n}; {a n} is a must; nothing works without {a n}; {n} mandatory",
        "needs no {n}; requires no {n}; no {n} needed; no {n} required; works without {a n}; you do not need {a n}; {n} unnecessary; {n} not required; {n} optional; nobody asks for {a n}; can do without {a n}; forget about {a n}",
    ),
    "is": (
        "waterproof, furnished, refundable, fully booked, heated, up to date, vegan, handmade, original, public, open to everybody, wireless, foldable, washable, locked, confidential, valid, empty, complete, clean, safe, official, portable, electric, digital, adjustable, reusable, recyclable, sustainable, certified, deductible, transferable, negotiable, temporary, permanent, dangerous, toxic, haunted, busy, online, full, visible, in use, in order, in print, on time, on display, on loan, under repair, under guarantee, ready, urgent, mandatory, exclusive, seasonal, barrier-free, tax-free, child-friendly, final, binding, operational, soundproof, fireproof, stackable, rechargeable",
        "{n}, is {n}",
        "is {n}; is really {n}; {n}; is definitely {n}; has always been {n}; is {n} again; yes, {n}; remains {n}; is guaranteed to be {n}; turned out to be {n}; is {n}, I checked; happily {n}; proved to be {n}",
        "is not {n}; is anything but {n}; not {n}; is no longer {n}; is far from {n}; is by no means {n}; has never been {n}; is not {n}, sorry; sadly not {n}; is not {n} yet; can hardly be called {n}; turned out not to be {n}; cannot be called {n}",
    ),
    "done": (
        "",
        "{n}, is {n}, already {n}, has been {n}, {e} done",
        "has been {n}; was {n} last week; is already {n}; {n} and done; {n}; the {e} is done; the {e} is behind us; {e}: done; was {n} without trouble; has since been {n}; {e} completed; we have the {e} behind us; got {n} this morning; the {e} took place yesterday",
        "has not been {n} yet; still has to be {n}; was never {n}; is yet to be {n}; the {e} is still to come; not {n}; not yet {n}; nobody has {n} it so far; {e}: pending; the {e} never happened; is waiting for its {e}; awaits {e}; {e} outstanding; the {e} was postponed",
    ),
}

STATES = """
status, state, progress, stage | open: is still open; nobody has started yet; nothing has happened so far; has not been touched; we have yet to begin / in_progress: is being worked on; is under way; we are working on it; is half finished; is in the works / done: is finished; has been completed; is all done; we are through with it; has been wrapped up / cancelled: was called off; has been dropped; will not happen; is off the table
priority, urgency, importance | low: can wait; there is no hurry; whenever you have time; is not pressing; has all the time in the world / normal: is nothing special; can be done in the usual way; in the usual time, please; takes its normal course / high: as soon as possible; it is pressing; must be seen to at once; cannot wait; drop everything else for it
condition, shape, wear | new: has never been used; is still in its wrapping; is brand new; never opened; straight from the shop / used: shows a few scratches; has seen some use; is second-hand; worked for us for years; lightly worn / broken: no longer works; is damaged; needs repair; fell down and broke; out of order
payment, payment status, bill status | paid: has been paid; is paid in full; the money has arrived; was settled; nothing left to pay / unpaid: is still to be paid; no money has come in; payment is outstanding; nobody has paid yet / overdue: is long overdue; should have been paid weeks ago; two reminders went unanswered; payment is late
payment method, paid with | cash: was paid in cash; in notes and coins; paid at the counter in cash / card: was paid by card; charged to a credit card; with a Visa card / transfer: was paid by bank transfer; wired from a bank account; by wire / invoice: will be paid on invoice; please bill us; we get an invoice
availability, supply | available: we have plenty; can be had at once; still available; ready to go; there are some left / sold_out: is sold out; nothing left; all gone; went faster than we thought; the last one was sold / on_order: has been reordered; will be back soon; we are waiting for the next delivery; on back order
shipping, delivery, dispatch | pickup: has to be collected; pick-up only; come and get it; no shipping, please collect / standard: goes by ordinary post; by normal mail; takes the usual few days / express: goes out express; by overnight courier; will be there tomorrow; as fast as it gets
contract type, employment, hours | full_time: is a full-time post; 40 hours a week; five full days a week / part_time: is part-time; mornings only; three days a week; half a post / freelance: is for freelancers; is paid by the hour on invoice; on a freelance basis / temporary: is limited to one season; ends after six months; to cover for parental leave
workplace, place of work | remote: can be done from home; work from anywhere; fully remote; no need to come to the office / on_site: is on site; no remote work; you come in every day; at the office only / hybrid: mixes office and home; two days at home, three in the office; partly from home
mood, tone, feedback | happy: everybody was delighted; we loved it; could not be better; what a joy; ten out of ten / neutral: was all right; nothing to complain about, nothing to praise; so-so; did what it should / angry: I am furious; what a disgrace; never again; this is outrageous; I want my money back
visibility, access | public: is open to everybody; anyone may look at it; on show for all / members: is for members only; needs a membership card; closed to non-members / private: is nobody's business; by invitation only; behind closed doors
difficulty, level | easy: is child's play; anybody can do it; for beginners; takes no skill / medium: takes some practice; not for the very first time; needs a little experience / hard: is for experts; very demanding; many have failed at it; not for the faint-hearted
weather, sky | sunny: not a cloud in the sky; bright sunshine; the sun was out all day / rainy: poured with rain; wet from start to end; rain from morning till night / snowy: deep in snow; snowed in; covered by fresh snow
result, outcome, verdict | passed: passed without a hitch; everything was fine; no faults were found; sailed through / failed: did not pass; has to be repeated; faults were found; was turned down / pending: nothing has been decided; we are waiting for the result; the result is not in yet
size class, size | small: fits in a pocket; is tiny; the smallest we have / medium: is of middling size; neither large nor small / large: is huge; takes two people to lift; the biggest we have; fills a whole room
temperature class, storage | frozen: must stay frozen; belongs in the freezer; deep-frozen / chilled: belongs in the fridge; keep it cool; refrigerated / ambient: can be kept on a shelf; needs no cooling; at room temperature
owner type, who | private: is sold by a private person; from private hands; no company involved / dealer: is sold by a dealer; from a shop; a trader offers it / public: belongs to the city; is public property; in public hands
frequency, interval, how often | daily: happens every day; day after day; each morning / weekly: comes once a week; every Tuesday; weekly / monthly: once a month; every four weeks; on the first of each month / yearly: once a year; every spring; annually
""".strip()


_VERBS = frozenset(
    "is has was comes offers boasts lacks does allows bans needs requires calls works can cannot remains turned proved "
    "awaits goes takes must fits belongs passed failed happens mixes will ends got sailed shows accepts should did could "
    "fell worked happens stays poured".split()
)


def marked(wording: str) -> str:
    """Return a wording, with `^` before it if it is a clause or a fragment and no predicate."""
    return wording if wording.split(maxsplit=1)[0] in _VERBS else f"^{wording}"


@dataclass(frozen=True, slots=True)
class _Family:
    words: tuple[str, ...]
    names: tuple[str, ...]
    yes: Parted
    no: Parted


_PARSED = {
    name: _Family(by_comma(words), by_comma(names), *(Parted(tuple(map(marked, cut(frames)))) for frames in (yes, no)))
    for name, (words, names, yes, no) in _FAMILIES.items()
}


def flag_field(scene: Scene, events: tuple[Event, ...]) -> Field:
    """Return a flag that no kind lists: its names, and the wordings by which a text says yes or no."""
    name = scene.weighted({"has": 24, "allowed": 14, "needed": 14, "is": 26, "done": 22})
    family = _PARSED[name]
    if name == "done":
        event = scene.pick(part(events, scene.split))
        word, noun = event.participle, event.noun
    else:
        word, noun = scene.pick(part(family.words, scene.split)), ""
    of: Mapping[str, str] = {"{n}": word, "{e}": noun, "{a n}": _with_article(word)}
    listed = [_filled(text, of) for text in family.names]
    labels = tuple(dict.fromkeys(text.strip("~") for text in (scene.pick(listed), *listed)))[:3]

    def make(drawing: Scene) -> Fact:
        value = drawing.chance(0.5)
        frames = (family.yes if value else family.no).some(drawing.split)
        shown = drawing.pick(("yes", "Yes", "y", "true", "✓") if value else ("no", "No", "n", "false", "✗"))
        return Fact(shown, value, {"type": "boolean"}, "flag", wordings=tuple(_filled(text, of) for text in frames))

    gloss = {
        "has": f"whether there is {of['{a n}']}", "allowed": f"whether {word} may be brought or done",
        "needed": f"whether one needs {of['{a n}']}", "is": f"whether it is {word}", "done": f"whether it was {word}",
    }[name]  # fmt: skip
    return Field(word, NO_TEXTS, Parted(labels), make, "flag", NO_TEXTS, gloss=gloss)


def state_field(scene: Scene) -> Field:
    """Return a choice that no kind lists, each of whose options several wordings imply."""
    listed, wordings = scene.pick(_STATES)
    make = choice(wordings, boolean=False)
    return Field(listed[0], Parted(listed), Parted(listed), make, "choice", NO_TEXTS)


def _state(line: str) -> tuple[tuple[str, ...], str]:
    names, options = line.split("|")
    shown = []
    for option in options.split(" / "):
        name, _, wordings = option.strip().partition(": ")
        shown.append(f"{name}: {'; '.join(map(marked, cut(wordings)))}")
    return by_comma(names), " / ".join(shown)


_STATES = tuple(map(_state, STATES.splitlines()))


def _filled(text: str, of: Mapping[str, str]) -> str:
    for slot, word in of.items():
        text = text.replace(slot, word)
    return text


def _with_article(word: str) -> str:
    if word.endswith("s") or word in ("assembly", "training", "power supply"):
        return word
    return article(word)
