"""Kinds made up at random: a noun, attributes, events and labels that were never seen together.

They teach to find a value by what the type says of it: who inspected it is not who repaired it. Verbs, attributes and
words for fields are divided between training and unseen phrasings like everything else.
"""

# ruff: noqa: E501  one line for one thing

from dataclasses import replace

from training.attributes import attribute_lines
from training.flags import flag_field, state_field
from training.inflection import plural
from training.kind import Event, Field, Kind, Rows, event_field, parse_field, role_maker, rows
from training.kinds import UNSEEN
from training.names import invented_word
from training.scene import Scene
from training.splits import NO_TEXTS, Parted, part
from training.words import by_comma

VERBS = """
inspect inspected inspected inspection inspector; approve approved approved approval approver
repair repaired repaired repair repairer; clean cleaned cleaned cleaning cleaner; test tested tested test tester
design designed designed design designer; paint painted painted painting painter; order ordered ordered order orderer
review reviewed reviewed review reviewer; write wrote written writing writer; sign signed signed signing signatory
check checked checked check checker; install installed installed installation installer; sell sold sold sale seller
buy bought bought purchase buyer; build built built construction builder; measure measured measured measurement measurer
register registered registered registration registrar; pack packed packed packing packer; find found found discovery finder
translate translated translated translation translator; weigh weighed weighed weighing weigher; seal sealed sealed sealing sealer
audit audited audited audit auditor; photograph photographed photographed photograph photographer; rent rented rented rental renter
deliver delivered delivered delivery courier; collect collected collected collection collector; file filed filed filing filer
submit submitted submitted submission submitter; cancel cancelled cancelled cancellation canceller; print printed printed printing printer
load loaded loaded loading loader; open opened opened opening opener; close closed closed closing closer
move moved moved move mover; store stored stored storage storekeeper; catalogue catalogued catalogued cataloguing cataloguer
restore restored restored restoration restorer; donate donated donated donation donor; borrow borrowed borrowed loan borrower
return returned returned return returner; label labelled labelled labelling labeller; scan scanned scanned scan scanner
tune tuned tuned tuning tuner; calibrate calibrated calibrated calibration calibrator; draw drew drawn drawing draughtsman
edit edited edited edit editor; record recorded recorded recording recorder; plan planned planned planning planner
invent invented invented invention inventor; confirm confirmed confirmed confirmation confirmer; reject rejected rejected rejection rejecter
announce announced announced announcement announcer; launch launched launched launch launcher; harvest harvested harvested harvest harvester
mix mixed mixed mixing mixer; bake baked baked baking baker; polish polished polished polishing polisher
insure insured insured insurance insurer; value valued valued valuation valuer; lock locked locked locking locker
replace replaced replaced replacement replacer; reserve reserved reserved reservation reserver; certify certified certified certification certifier
assemble assembled assembled assembly assembler; mount mounted mounted mounting fitter; ship shipped shipped shipment shipper
sponsor sponsored sponsored sponsorship sponsor; host hosted hosted hosting host; lead led led leadership leader
verify verified verified verification verifier; update updated updated update updater; archive archived archived archiving archivist
sketch sketched sketched sketch sketcher; cut cut cut cutting cutter; freeze froze frozen freezing freezer
pay paid paid payment payer; nominate nominated nominated nomination nominator; witness witnessed witnessed witnessing witness
"""

_EVENTS = tuple(Event(*text.split()) for line in VERBS.strip().splitlines() for text in line.split(";"))
_ATTRIBUTES = attribute_lines()
_BY_LETTER = {
    letter: tuple(line for one, line in _ATTRIBUTES.values() if one == letter) for letter in ("t", "p", "c", "e", "w")
}
_SUBJECTS = {"thing": 62, "person": 9, "event": 12, "company": 8, "work": 9}
_HEADS: dict[str, tuple[str, ...]] = {
    "int 0 99": ("count", "level", "number", "rank", "points", "stage", "size"),
    "int 1 90000": ("total", "quantity", "limit", "volume", "capacity", "reach"),
    "num 0 100 1": ("ratio", "score", "rate", "density", "strength", "share"),
    "num -20 900 2": ("value", "offset", "balance", "reading", "change"),
    "money 1 9000": ("price", "cost", "fee", "budget", "bonus", "charge", "surcharge"),
    "date -3000 1500": ("date", "day", "deadline", "start", "end", "renewal"),
    "moment -900 900": ("time", "timestamp", "appointment"),
    "time": ("hour", "slot", "time"),
    "code @@-###, ####, @@@##, ##/##, @-####-@, &&&&&&, #######, 0x####, v#.#.#": (
        "id",
        "code",
        "key",
        "reference",
        "tag",
        "serial",
    ),
    "person": ("owner", "keeper", "contact", "author", "lead", "guest", "head"),
    "org": ("partner", "provider", "agency", "sponsor"),
    "place": ("place", "origin", "site", "location", "base"),
    "pool colours": ("colour", "mark", "tint"),
    "pool nouns": ("type", "group", "class", "topic", "shape"),
    "work": ("motto", "theme", "title", "slogan"),
    "phone": ("hotline", "phone"),
    "email": ("mail", "mailbox"),
    "list 1-4 pool nouns": ("tags", "items", "parts", "labels"),
    "list 1-3 person": ("members", "helpers", "heirs"),
    "list 2-4 place": ("stops", "sites", "branches"),
    "year 1900 2025": ("year", "vintage"),
    "int 1 90 %": ("share", "quota", "level"),
    "span 1 60 days": ("period", "delay", "lead time"),
    "num 0.1 90 1 kg": ("weight", "load", "mass"),
}
_WEIGHTS = [9, 7, 5, 4, 7, 10, 3, 3, 10, 10, 5, 7, 3, 6, 3, 2, 2, 4, 2, 2, 4, 3, 3, 4]


_UNSEEN_NOUNS = frozenset(noun for kind in UNSEEN.values() for noun in kind.nouns)


def invented_kind(scene: Scene) -> Kind:
    """Return a kind of five to eleven fields."""
    rng = scene.rng
    subject = scene.weighted(_SUBJECTS)
    noun = noun_for(scene, subject)
    fields: dict[str, Field] = {}
    lead = lead_field(scene, subject, noun)
    if lead:
        fields[lead.key] = lead
    lines = part(_BY_LETTER[subject[0]], scene.split)
    for line in rng.sample(lines, min(len(lines), rng.randint(1, 4))):
        one = parse_field(line)
        fields.setdefault(one.key, one)
    events = rng.sample(part(_EVENTS, scene.split), rng.choice((0, 1, 1, 2, 3)) if subject in ("thing", "work") else 0)
    for event in events:
        for slot in rng.sample(("by", "on", "in"), rng.randint(1, 3)):
            one = event_field(event, slot)
            fields[one.key] = one
    for _ in range(rng.randint(1, 4)):
        one = labelled_field(scene)
        if all(one.key.split()[-1] != other.split()[-1] for other in fields):
            fields[one.key] = one
    made = {one.base: one for one in events}
    kind = Kind("generic", (noun,), subject, (plural(noun), "items", "entries"), fields, lead.key if lead else "", made)
    return augmented(scene, kind) if scene.chance(0.6) else kind


def noun_for(scene: Scene, subject: str) -> str:
    """Return what a made-up record is called: nothing that an unseen kind is called."""
    pools = scene.pools
    if subject == "person":
        return scene.pick(
            ("person", "member", "guest", "player", "tenant", "volunteer", "client", "visitor", "trainee")
        )
    if subject == "company":
        return scene.pick(("company", "firm", "club", "institute", "agency", "supplier", "foundation"))
    noun = scene.pick(pools.nouns)
    if subject == "thing" and scene.chance(0.5):
        before = (scene.pick(pools.nouns), scene.pick(pools.adjectives), invented_word(scene).lower())
        noun = f"{scene.pick(before)} {noun}"
    return noun if noun not in _UNSEEN_NOUNS else noun_for(scene, subject)


def lead_field(scene: Scene, subject: str, noun: str) -> Field | None:
    """Return the field by which a made-up record is called, if it has one."""
    if not scene.chance(0.7):
        return None
    if subject == "person":
        return parse_field("name, full name | person")
    if subject == "company":
        return parse_field("name | org")
    if subject == "work":
        return parse_field("title | work")
    if scene.chance(0.4):
        return parse_field(f"name, {noun} name | work")
    return parse_field(f"{noun} number, {noun} ID, ~ref | code @-###, @@##, ####, @@-##-##")


COMPOUNDS = """
person | contact, manager, owner, officer, agent, representative, supervisor, signatory, author, instructor, technician, coordinator, reviewer, witness, driver, tenant, applicant, holder, person, keyholder, planner, advisor, clerk | billing, emergency, sales, technical, account, project, site, legal, primary, deputy, local, main, second, shift, duty, safety, purchasing, service, training, export, press, night
person | customer, client, patient, tenant, guardian, partner, user, student, participant, driver, employee, donor, heir, parent | current, former, new, first, registered, listed, next, named, second, insured, injured
org | company, supplier, bank, insurer, agency, vendor, carrier, provider, contractor, partner, school, dealer, printer | hosting, shipping, leasing, transport, parent, cleaning, catering, local, main, insurance, travel, energy, telephone, service, partner, rental, booking, previous
place | city, location, office, branch, town, site, depot, airport, station | delivery, pickup, home, collection, billing, departure, destination, storage, launch, service, factory, return, meeting, training, birth
date -3000 1500 | date | delivery, return, start, end, renewal, hand-over, check-in, closing, payment, review, booking, cancellation, move-in, opening, inspection, hire, enrolment, release, purchase, maintenance, approval, expiry, visit, arrival, departure, graduation, installation, repair, shipping, signing, publication, effective, next service, last contact
moment -900 900 | time, slot, appointment | pickup, delivery, boarding, viewing, repair, meeting, departure, call-back, interview, inspection
time | time | opening, closing, departure, arrival, check-in, start, end, lunch, pickup, boarding, meeting, quiet
money 1 9000 | fee, cost, price, charge, deposit, amount, rate, rent, fine, bonus, refund, balance, discount, premium, tax | late, cleaning, service, shipping, booking, monthly, hourly, outstanding, total, security, unit, annual, parking, repair, entrance, cancellation, handling, delivery, installation, minimum, estimated, agreed, daily, weekly, remaining, net, heating, key, membership, broker
money 1 900000 | due, paid, budget, income, salary, turnover, value, sum insured, credit limit, donation | total amount, annual, monthly, gross, net, yearly, planned, estimated, approved, total, market, declared
int 1 60 | number of rooms, number of guests, number of items, number of seats, number of pages, number of copies, number of employees, number of nights, number of keys, number of boxes, number of windows, number of players, number of children, number of stops, number of attempts, number of errors, number of pieces, number of parking spaces, number of lessons, number of adults, number of floors, number of beds, number of bathrooms, number of sessions, number of tickets |
int 0 400 | count, quantity, total, limit, capacity, stock | guest, room, item, page, order, seat, spare part, error, visitor, ticket, user, minimum, maximum, available, student, box, passenger, member
num 0.1 90 1 kg,kilograms | weight, load | net, gross, total, maximum, shipping, empty, package, birth, payload
num 0.5 90 1 m,metres | length, height, width, distance, depth, clearance | total, maximum, overall, ceiling, minimum, shelf, cable, door
num 5 900 1 m²,sqm,square metres | area, space, surface | living, floor, usable, garden, storage, office, roof, plot
span 1 60 days | period, delay, lead time, stay, notice period, delivery time | trial, payment, warranty, average, minimum, waiting, maximum, planned
span 2 240 minutes,min | time, duration, length, break | cooking, total, travel, playing, preparation, waiting, average, running, lesson
int 1 99 %,percent | rate, share, discount, completion, humidity, progress, tax rate | growth, interest, occupancy, success, error, dropout, market, current, early booking, attendance
num 1 100 1 | score, rating, reading, index, grade | credit, test, overall, customer, exam, meter, average, final, quality, air quality
code @@-###, ####, @@@##, ##/##, @-####-@, &&&&&&, #######, ####-##, @@ ###### | number, ID, code, reference, key | order, booking, customer, serial, contract, account, case, file, member, room, licence, registration, policy, tracking, employee, invoice, batch, asset, confirmation, claim, ticket, project, locker, access, discount, patient, article, passport, badge, permit, meter, gate, container
phone | phone, telephone, number to call, phone number | emergency, office, mobile, home, contact, support, booking, billing, daytime
email | email, email address, mail | contact, billing, support, work, private, booking, office, reply-to
url | website, link, page, URL | booking, company, project, product, download, support
pool colours | colour, color | preferred, body, frame, seat, main, wall, interior, second
pool jobs | job, position, profession, role | current, last, desired, previous, listed
pool languages | language, mother tongue | spoken, main, second, course, contract, preferred
pool countries | country | home, delivery, birth, exporting, issuing, destination
product | item, product, article, equipment | damaged, ordered, lost, borrowed, main, rented, missing, favourite, returned
cause | cause, reason, complaint | main, likely, return, delay, given, damage, cancellation
errand | task, step, action, job | next, current, open, follow-up, planned, remaining
street | address, street address | delivery, billing, home, office, pickup, work, return, site, mailing
list 1-3 person | contacts, members, guests, authors, speakers, witnesses, drivers, helpers, tenants | emergency, invited, listed, second, named, other, new
list 1-4 pool nouns | tags, keywords, labels, topics, items, extras | search, additional, main, missing, optional
party | sender, recipient, buyer, seller, customer, supplier, shipper, consignee, landlord, exporter, importer, lender, borrower, insured party, donor, applicant |
contact | contact, contact person, emergency contact, person to call, agent, caretaker, site manager, host, booking contact |
postal | address, postal address, delivery address, billing address, home address, office address, return address, site address |
period | period, booking period, rental period, reporting period, term, validity, absence, run, construction period |
hours | opening hours, office hours, visiting hours, business hours, shift, time slot, lunch break |
amounts | salary range, price range, budget range, pay, expected price, estimate, rent range |
dimensions | dimensions, size, measurements, outer dimensions, frame size |
party | sender, recipient, buyer, seller, keeper, manufacturer, exhibitor, partner |
year 1950 2025 | year | model, graduation, construction, founding, release, birth, publication, renovation, entry, tax
""".strip()
_COMPOUNDS = tuple(
    (role, by_comma(heads), by_comma(before)) for role, heads, before in (line.split(" | ") for line in
    (f"{line} " for line in COMPOUNDS.splitlines()))
)  # fmt: skip
ROW_NAMES = by_comma("""
entries, positions, results, lines, records, deliveries, measurements, expenses, visits, lessons, sessions, stations,
payments, repairs, orders, shifts, bookings, samples, purchases, donations, exercises, components, sightings, matches,
appointments, references, tests, services, extras, materials, supplies, installments, steps, heats, offers, jobs done
""")
COLUMNS = """
product | item, product, article, what
pool nouns | name, item, part, type, label
person | name, person, who, player, visitor
place | place, town, stop, city
pool ingredients | name, substance, ingredient
pool topics | topic, subject, title
errand | task, step, action
work | title, name
int 1 60 | quantity, count, number, points, amount
money 2 900 | price, cost, amount, fee, sum
date -300 300 | date, day, on
time | time, at, start
num 0.1 90 1 kg | weight, load
num 1 300 1 | value, result, reading, score
span 5 120 minutes,min | duration, minutes, length
code @-###, ####, @@## | code, number, reference
of kg, mg/l, cm, mmol/L, °C, bar, %, g, ml, V | unit, measured in
pool colours | colour, color
"""
_COLUMNS = tuple(line.split(" | ") for line in COLUMNS.strip().splitlines())
_NAMING_COLUMNS = 8
"""So many of the columns may come first, since they tell one row from the other."""
_ROW_TEMPLATES = {
    2: ("{0}: {1}", "{0} ({1})", "{0} {1}", "{0} – {1}", "{0}, {1}", "{1}: {0}", "{0} = {1}"),
    3: (
        "{0}: {1} {2}",
        "{0} ({1}, {2})",
        "{0}, {1}, {2}",
        "{0} {1} {2}",
        "{0} – {1} – {2}",
        "{0}, {1} ({2})",
        "{0}: {1} ({2})",
    ),
}


def rows_field(scene: Scene) -> Field:
    """Return a list of inner records that no kind lists: results with value and unit, visits with day and visitor."""
    rng = scene.rng
    first = rng.choice(_COLUMNS[:_NAMING_COLUMNS])
    others = [one for one in _COLUMNS[_NAMING_COLUMNS:] if not one[0].startswith("of ")]
    listed = [first, *rng.sample(others, rng.randint(1, 2))]
    if len(listed) == 2 and scene.chance(0.3):  # a value and its unit
        listed = [first, next(one for one in _COLUMNS if one[0] == "num 1 300 1"), _COLUMNS[-2]]
    columns: dict[str, Field] = {}
    for role, names in listed:
        words = tuple(one for one in by_comma(names) if one not in columns)
        make, sort = role_maker(role)
        label = scene.pick(words)
        columns[label] = Field(label, Parted((label,)), Parted((label,)), make, sort, NO_TEXTS)
    name = scene.pick(ROW_NAMES)
    inner = Rows(name, tuple(columns.values()), Parted(_ROW_TEMPLATES[len(columns)]))
    return Field(name, Parted((name,)), Parted((name,)), rows(inner, 1, 4), "rows", NO_TEXTS)


_GLOSSES = {
    "agent": ("the {}", "who the {} is", "name of the {}"), "date": ("the {}", "when it is: the {}"),
    "place": ("where the {} is", "the {}"), "money": ("how much the {} is", "the {}"),
    "number": ("the {}, as a number",), "code": ("the {} as it is written",),
}  # fmt: skip


def compound_field(scene: Scene) -> Field:
    """Return a field with a name that people use: "billing contact", "return date", "number of guests"."""
    role, heads, before = scene.pick(_COMPOUNDS)
    make, sort = role_maker(role)
    head = scene.pick(heads)
    words = f"{scene.pick(before)} {head}" if before else head
    gloss = scene.pick(_GLOSSES.get(sort, ("the {}",))).format(words)
    return Field(words, Parted((words,)), Parted((words,)), make, sort, NO_TEXTS, gloss=gloss)


def augmented(scene: Scene, kind: Kind) -> Kind:
    """Return a kind with one to three fields more: flags, states, and fields that only their label tells of."""
    fields = dict(kind.fields)
    said = {word for one in fields.values() for label in one.labels.entries for word in label.split()}
    said |= {word for event in (kind.events or {}).values() for word in (event.participle, event.noun)}
    for _ in range(scene.rng.choice((1, 1, 2, 3))):
        roll = scene.rng.random()
        if roll < 0.45 and kind.subject != "person":
            one = flag_field(scene, _EVENTS)
        elif roll < 0.6 and kind.subject != "person":
            one = state_field(scene)
        elif roll < 0.7:
            one = rows_field(scene)
        else:
            one = compound_field(scene)
        words = {word for label in one.labels.entries for word in label.split()} - {"is", "has", "with", "of"}
        if not words & said:
            fields[one.key] = one
            said |= words
    return replace(kind, fields=fields)


def labelled_field(scene: Scene) -> Field:
    """Return a field that only its label tells of: "billing contact", now and then "valve surcharge"."""
    if scene.chance(0.67):
        return compound_field(scene)
    pools = scene.pools
    role = scene.rng.choices(tuple(_HEADS), _WEIGHTS)[0]
    make, sort = role_maker(role)
    head = scene.pick(_HEADS[role])
    before = scene.pick((scene.pick(pools.nouns), scene.pick(pools.adjectives), scene.pick(pools.nouns)))
    words = f"{before} {head}"
    if scene.chance(0.15) and sort == "text":
        words = before
    others = (words, f"{head} of the {before}" if before in pools.nouns else words, f"~{before}-{head}")
    listed = tuple(dict.fromkeys(others if scene.chance(0.4) else (words,)))
    nouns = Parted(tuple(one for one in listed if not one.startswith("~")))
    return Field(words, nouns, Parted(tuple(one.strip("~") for one in listed)), make, sort, NO_TEXTS)
