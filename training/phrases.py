"""Phrases that a role or a sort of value has whatever the record: "we are asking {v}", "call {v}", "{label} on {v}".

A role is known by the sort of a field and by what it is called. Its phrases are written as the predicates of a kind are: `^` before a clause
of its own, `+` before what stands behind a name, and `~` before a form for lists of fragments ("oak desk, 45 euros,
hardly used"). Phrases of sorts name the field, so any field may use them. A value without a label (`~{v}`, "asking
{v}") is written only where no other field of the document could be meant.
"""

# ruff: noqa: E501  one line for one thing

from training.splits import SPLITS, Split, part
from training.words import by_comma

ROLES = """
money | price, asking price, cost, selling price, purchase price | ~{v}; ~{v} ono; ~only {v}; ~price {v}; ~now {v}; ~{v} firm; ~{v} or best offer; ^we are asking {v}; ^yours for {v}; ^I would like {v} for {s}; ^we want {v} for {s}; ^make it {v} and {s} is yours; ^you pay {v}; ^that will be {v}; ^{v} takes it; will set you back {v}; is going for {v}; changes hands at {v}; is yours for {v}; is up for {v}; comes at {v}
money | total, total amount, amount due, grand total, total price, sum, order value, amount | ~total {v}; ~{v} in total; ~{v} all in; ~in all {v}; ~{v} altogether; ^that makes {v}; ^altogether {v}; ^{v} in all; ^we charge {v}; ^so you owe {v}; ^the sum of it all is {v}; ^it all comes to {v}; ^please send {v}; ^that is {v} all told; runs to {v} altogether; makes {v}
money | deposit, security deposit | ~{v} deposit; ~deposit {v}; ~plus {v} deposit; ^we take {v} as a deposit; ^leave {v} as a deposit; ^there is a deposit of {v}; ^{v} is due up front as a deposit; asks for {v} as a deposit
money | salary, annual salary, yearly pay, pay, yearly salary | ~{v} a year; ~{v} p.a.; ~salary {v}; ~pays {v}; ^we pay {v} a year; ^you get {v} a year; ^the pay is {v}; pays {v} per year; brings in {v} a year
money | ticket price, admission, entrance fee, fare, entry fee | ~tickets {v}; ~{v} at the door; ~entry {v}; ~{v} a head; ~{v} per person; ^entry is {v}; ^tickets are {v}; ^you get in for {v}; ^they charge {v} at the door; sets visitors back {v}
code | phone number, telephone, mobile, phone, mobile number, hotline | ~tel. {v}; ~{v}; ~phone {v}; ~tel {v}; ~ph: {v}; ^ring {v}; ^text {v}; ^give us a ring on {v}; ^the number is {v}; ^you can reach me on {v}; ^my number: {v}; ^just call {v}; ^call or text {v}; ^for more, dial {v}; takes calls on {v}; is on {v}
code | email, e-mail address, mail, email address, contact email | ~{v}; ~mail {v}; ~e-mail {v}; ~email: {v}; ^write to {v}; ^drop a line to {v}; ^please mail {v}; ^just e-mail {v}; ^questions to {v}, please; ^send it to {v}; ^contact: {v}; ^get in touch at {v}; ^you can write to me at {v}; takes mail at {v}
code | website, homepage, url, web page, online shop | ~{v}; ~see {v}; ~more on {v}; ^see {v}; ^visit {v}; ^more at {v}; ^details are on {v}; ^look at {v}; ^have a look at {v}; ^everything else is on {v}; is described on {v}
number | age | ~{v}; ~aged {v}; ~age {v}; ~{v} years old; +, now {v},; is now {v}; has just turned {v}
text | occupation, job, profession | ~{v}; ~{a} by profession; ~{a}; works for a living as {a}; trained as {a}; has always been {a}; makes a living as {a}
agent | employer, company | ~{v}; ~with {v}; ~at {v}; ~{v} staff; is on the payroll of {v}; joined {v} some time ago
text | department, team | ~{v}; ~{v} department; ~in {v}; ~{v} team; sits with {v}; is one of the people in {v}
place | residence, home town | ~{v}; ~from {v}; ~in {v}; ~based in {v}; ~{v}-based; settled in {v}; calls {v} home; has settled in {v}
place | location, current location, place | ~{v}; ~in {v}; ~located in {v}; ~at present in {v}; ^come and see it in {v}; ^you will find {s} in {v}; ^pick-up in {v}; is to be seen in {v}
place | venue, place of the event | ~{v}; ~at {v}; ~venue {v}; ~held at {v}; ^meet us at {v}; ^we meet at {v}; ^come to {v}; ^see you at {v}; ^join us at {v}; happens over at {v}
text | colour, color, finish | ~{v}; ~in {v}; ~colour {v}; ~{v} finish; ~all {v}; ^the colour is {v}; ^we only have it in {v}; ^it is a lovely {v}; looks {v}; was done in {v}; is {v} all over
text | material, made of | ~{v}; ~made of {v}; ~in {v}; ~all {v}; ~real {v}; ^it is real {v}; is all {v}; was put together from {v}
number | weight, mass, net weight, body weight | ~{v}; ~weight {v}; ~{v} in weight; ~weighing {v}; ~approx. weight {v}; ^the scales said {v}; tips in at {v}; brings {v} to the scales
number | length, overall length, distance | ~{v} long; ~length {v}; ~{v} in length; ^from end to end it is {v}; stretches over {v}
number | width, breadth | ~{v} wide; ~{v} across; ~width {v}; is just {v} wide
number | height | ~{v} high; ~{v} tall; ~height {v}; goes up to {v}
number | depth | ~{v} deep; ~depth {v}
number | area, surface, floor space, size in square metres, living area | ~{v}; ~{v} of space; ~approx. {v}; ~{v} in all; ^there are {v} to live in; offers {v}; gives you {v}; has {v} in all
number | volume, capacity | ~holds {v}; ~{v} capacity; ~capacity {v}; can take {v}; fits {v}
number | power, rated power, wattage | ~{v}; ~{v} output; puts out {v}; delivers {v}
agent | manufacturer, maker, brand | ~by {v}; ~made by {v}; ~a {v} product; ~{v}; ~brand {v}; ^it is a {v}; ^it is from {v}; was built by {v}; carries the name {v}
code | model, model name | ~model {v}; ~type {v}; ^it is the {v}; is a {v}
number | warranty, warranty in months, guarantee | ~{v} warranty; ~{v} of warranty left; ~guarantee {v}; still has {v} of warranty; carries a guarantee of {v}
text | origin, country of origin | ~from {v}; ~made in {v}; ~origin {v}; ~imported from {v}; was brought in from {v}
date | due date, payment deadline, deadline | ~due {v}; ~by {v}; ~deadline {v}; ~no later than {v}; ^we need it by {v}; ^{v} at the latest; ^you have until {v}; ^time is up on {v}; ^it has to be done by {v}; ^the last day is {v}; falls due on {v}
date | invoice date, issue date, date of issue | ~dated {v}; ~of {v}; ~issued {v}; ~{v}; was made out on {v}; went out on {v}
date | order date | ~ordered {v}; ~order of {v}; ~placed {v}; was put in on {v}; reached us on {v}
date | delivery date, arrival date, expected delivery | ~arriving {v}; ~delivery {v}; ~ETA {v}; ~expected {v}; ^expect it on {v}; ^you will have it on {v}; ^we deliver on {v}; gets there on {v}; should be with you on {v}
date | shipping date, dispatch date | ~sent {v}; ~shipped {v}; ~posted {v}; ~out on {v}; ^we sent it on {v}; went off on {v}; was collected on {v}
date | start date, date of joining, starting date, move-in date, available from | ~from {v}; ~starting {v}; ~as of {v}; ~start {v}; ^we start on {v}; ^the first day is {v}; ^things get going on {v}
date | end date, closing date, expiry date, valid until | ~until {v}; ~till {v}; ~ends {v}; ~up to {v}; ^it is over on {v}; ^after {v} it is over; runs out on {v}; ends on {v}; lapses on {v}
date | date, day | ~{v}; ~on {v}; ~date {v}; ^save the date: {v}; ^it is on {v}; ^we meet on {v}; ^see you on {v}; ^mark {v} in your calendar; is planned for {v}; has been fixed for {v}
date | birthday, date of birth | ~born {v}; ~b. {v}; ~DOB {v}; ~born on {v}; blew out the first candle on {v}; first saw the light on {v}
date | start, starting time, date and time | ~{v}; ~from {v}; ~start {v}; ^doors open {on}; ^it all starts {on}; ^be there {on}; ^we begin {on}; gets under way {on}
time | start time | ~{v}; ~from {v}; ~at {v}; ~doors {v}; ^doors open at {v}; ^be there at {v}; ^we start at {v}; ^it starts at {v}; kicks off at {v}
time | end time | ~until {v}; ~till {v}; ^we close at {v}; ^it is over by {v}; ^that goes on until {v}; wraps up at {v}
number | duration in minutes, length, duration, playing time, time in minutes | ~{v}; ~takes {v}; ~{v} long; ~{v} in all; ^allow {v}; ^it takes {v}; ^plan for {v}; ^you need {v}; ^it is over in {v}; is done in {v}; goes on for {v}
agent | author, writer | ~by {v}; ~{v}; ~written by {v}; ^it is by {v}; ^{v} is the one who wrote {s}; ^in this one {v} tells a story; came out of the pen of {v}
agent | customer, client, buyer, guest, guest name, passenger | ~for {v}; ~customer {v}; ~{v}; ~in the name of {v}; ^it is for {v}; ^our customer is {v}; ^this one is for {v}; is for {v}; runs in the name of {v}
agent | owner | ~owner {v}; ~owned by {v}; ~belonging to {v}; ^{v} is the owner; ^it is the property of {v}; is in the hands of {v}
agent | sender, shipper | ~from {v}; ~sender {v}; ~sent by {v}; ^{v} sent {s}; ^it comes from {v}; was handed over by {v}; was mailed by {v}
agent | recipient, addressee, consignee | ~to {v}; ~for {v}; ~recipient {v}; ^it goes to {v}; ^{v} is to get {s}; ^please hand it to {v}; is on its way to {v}
agent | supplier, vendor, seller | ~from {v}; ~{v}; ~sold by {v}; ~via {v}; ^it comes from {v}; ^we got it from {v}; ^{v} is the seller; was sold by {v}; was purchased at {v}
agent | organizer, organiser, host | ~with {v}; ~hosted by {v}; ~{v} presents; ^{v} invites you; ^{v} is behind it; is run by {v}
agent | speaker, keynote speaker | ~with {v}; ~talk by {v}; ~speaker {v}; ^{v} is going to speak; ^{v} will give a talk; ^{v} explains it all; ^hear {v}; brings {v} to the stage
agent | contact, contact person, agent, contact name | ~contact {v}; ~ask for {v}; ~via {v}; ^ask for {v}; ^talk to {v}; ^{v} knows more; ^get in touch with {v}; ^{v} will help you; ^please turn to {v}; is looked after by {v}
agent | manager, supervisor, boss | ~under {v}; ~manager {v}; ~reporting to {v}; ^{v} is the boss; ^{v} is in charge; works under {v}
agent | assignee, person responsible | ~with {v}; ~{v}; ~on {v}'s desk; ^{v} will do it; ^{v} is on it; ^{v} takes care of it; ^{v} has taken it on; is up to {v}; sits with {v}
text | problem, issue, description | ^it says {v}; ^what happened: {v}; ^we have a problem: {v}; ^the trouble is that {v}; ~{v}; ~problem: {v}
number | rating, average rating | ~{v}; ~rated {v}; ~{v} from our guests; ^people give it {v}; ^we gave it {v}; scores {v}; deserves {v}
number | discount, reduction, rebate | ~{v} off; ~less {v}; ~minus {v}; ^you save {v}; ^we take {v} off; ^there is {v} off; gets you {v} off
number | number of guests, guests, participants, attendees, number of participants, number of people | ~{v}; ~for {v}; ^there will be {v}; ^we expect {v}; ^we are {v}; was meant for {v}
number | number of nights, nights | ~{v}; ~for {v}; ^you stay for {v}; ^that is {v}
number | pages, number of pages, page count | ~{v}; ~{v} long; ^it has {v}; keeps you reading for {v}
code | postal code, postcode, ZIP code | ~{v}; ~postcode {v}
place | address, street address, shipping address, delivery address | ~{v}; ~at {v}; ^the address is {v}; ^come to {v}; ^please send it to {v}; ^you will find us at {v}; ^deliver it to {v}
code | room, room number | ~{v}; ~room {v}; ^go to {v}
text | topic, subject, theme | ~{v}; ~on {v}; ~about {v}; ~topic {v}; ^we talk about {v}; ^it is all about {v}; ^everything turns on {v}; looks at {v}
list | languages, spoken languages | ~{v}; ~speaks {v}; ^we speak {v}; ^you should understand {v}; gets by in {v}; is at home in {v}
list | skills, abilities, strengths | ~{v}; ~skills: {v}; ~good at {v}; ^ask about {v}; knows a lot about {v}; is strong in {v}
list | hobbies, interests, pastimes | ~likes {v}; ~into {v}; ~hobbies: {v}; is into {v}; cannot do without {v}
rows | items, line items, products, articles | ~{v}; ^{v}, that is all; ^here is the list: {v}; ^we send {v}; ^please send me {v}; ^I need {v}
""".strip()

SORTS = """
agent | {v} is the {label}; the {label} is {v}; {its} {label} is {v}; {v} acts as {label}; as {label} we have {v}; ask for {v}, the {label}; we spoke to {v}, the {label}; the {label}, {v}, has been told; {v} is down as {label}; I talked to the {label} ({v}); the {label} on this one is {v}; copied in: {v} ({label}); please turn to the {label}, {v}; {v} is {its} {label}; {v} will be the {label}; for all questions there is {v}, the {label}; {v} as {label} ~ {label} {v}; {label}: {v}; {v} ({label}); with {v} as {label}; {v} as {label}; {label} is {v}
date | the {label} is {v}; the {label} is set for {v}; mark {v} as the {label}; {v} is the {label}; the {label} falls on {v}; {its} {label} is {v}; keep {v} in mind as the {label}; the {x} is on {v}; the {x} is planned for {v}; we have {v} as the {label}; the {x} will be on {v}; the {label} was fixed for {v}; the {label} has moved to {v}; I wrote down {v} as the {label} ~ {x} {v}; {label} {v}; {x} on {v}; {label}: {v}; {x}: {v}; {label} is {v}
time | the {label} is {v}; {its} {label} is {v}; {v} is the {label}; {v} was agreed as the {label}; we said {v} for the {label}; the {label} has moved to {v} ~ {label} {v}; {label}: {v}; {v} ({label}); {label} at {v}
place | the {label} is {v}; {v} is the {label}; {its} {label} is {v}; they chose {v} as the {label}; as {label} we have {v}; it says {v} for the {label}; with {v} as the {label}; the {label} will be {v} ~ {label} {v}; {label}: {v}; {v} ({label}); {label} in {v}
money | the {label} is {v}; the {label} comes to {v}; the {label} amounts to {v}; {its} {label} is {v}; they charge {v} as {label}; there is {a label} of {v}; we put the {label} at {v}; the {label} stands at {v}; {v} is the {label}; for the {label} you pay {v}; we agreed on {v} for the {label}; on top of that comes {a label} of {v}; I see {a label} of {v} ~ {label} {v}; {v} {label}; {label}: {v}; {a label} of {v}; {v} ({label}); {label} only {v}
number | the {label} is {v}; {its} {label} is {v}; there is {a label} of {v}; the {label} stands at {v}; we measured {a label} of {v}; the {label} comes to {v}; I put the {label} at {v}; expect {a label} of {v}; the {label} is now {v}; with {a label} of {v}; the {label} went up to {v}; the {label} fell to {v} ~ {label} {v}; {label}: {v}; {a label} of {v}; {label} of {v}; {v} ({label}); {label} = {v}
count | there are {v}; it is {v} in all; we counted {v}; that makes {v}; I see {v} here; you get {v}; with {v}; I make it {v}; all in all {v} ~ {v}; {v} in all; with {v}
year | the {label} is {v}; {its} {label} is {v}; {v} is the {label}; the papers give {v} as the {label}; as {label} they give {v} ~ {label} {v}; {label}: {v}; {v} ({label})
code | the {label} is {v}; {its} {label} is {v}; please quote {label} {v}; you find {s} under {label} {v}; use {v} as the {label}; we filed {s} under {label} {v}; it has {v} as the {label}; see {label} {v}; {v} is the {label}; the {label} to give is {v} ~ {label} {v}; {label}: {v}; ({label} {v}); {label} – {v}; {v} ({label})
text | the {label} is {v}; {its} {label} is {v}; as {label} we have {v}; the {label} says {v}; somebody put down {v} as the {label}; the {label} given is {v}; we chose {v} as the {label}; I noted {v} as the {label}; we took {v} as the {label} ~ {label} {v}; {label}: {v}; {v} ({label}); {label} – {v}
list | the {label} are {v}; the {label}: {v}; {its} {label} are {v}; among the {label} there are {v}; {v} are the {label}; as {label} we have {v}; it all adds up to these {label}: {v}; we noted {v} as the {label} ~ {label}: {v}; {label} – {v}; {v} ({label})
rows | the {label}: {v}; the {label} are {v}; here are the {label}: {v}; as {label} we have {v} ~ {label}: {v}; {v}
""".strip()


def cut(text: str, mark: str = ";") -> tuple[str, ...]:
    """Return what stands between marks in a text, without the blanks around it."""
    return tuple(piece.strip() for piece in text.split(mark) if piece.strip())


ROLE_PHRASES: dict[tuple[str, str], tuple[str, ...]] = {
    (sort.strip(), name): cut(phrases)
    for sort, names, phrases in (line.split("|") for line in ROLES.splitlines())
    for name in by_comma(names)
}
"""The phrases of a role by the sort of its values and each of the names that a field of this role has."""

CLAUSES: dict[Split, dict[str, tuple[str, ...]]] = {split: {} for split in SPLITS}
"""Clauses that name a field, by the split and the sort of its value."""

PACKINGS: dict[Split, dict[str, tuple[str, ...]]] = {split: {} for split in SPLITS}
"""Fragments that name a field, by the split and the sort of its value."""

for _line in SORTS.splitlines():
    _sort, _, _texts = _line.partition("|")
    for _table, _text in zip((CLAUSES, PACKINGS), _texts.split("~"), strict=True):
        for _split, _phrases in _table.items():
            _listed = cut(_text)
            _phrases[_sort.strip()] = _listed if _split == "kinds" else part(_listed, _split)
