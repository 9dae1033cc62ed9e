"""Attributes that many kinds share: each line is a field, after the letters of the subjects that may have it.

t is a thing, p a person, c a company, e an event, w a work; records that are made up at random draw from here as well.
"""

# ruff: noqa: E501  one line for one thing

ATTRIBUTES = """
t note, remark, comment | fault | carries the note that {v}; comes with the comment that {v}; has a label that says {v}; has a flaw: {v} | what somebody noted about it
t weight, mass, net weight | num 0.2 90 1 kg,kilograms | weighs {v}; comes to {v} on the scale; tips the scales at {v}; is {v} heavy | how heavy it is
t length, overall length | num 0.3 60 1 m,metres | is {v} long; measures {v} in length; runs to {v} from end to end | how long it is
t width, breadth | num 10 400 0 cm,centimetres | is {v} wide; measures {v} across; spans {v} from side to side | how wide it is
t height, ~tall | num 10 900 0 cm,centimetres | is {v} high; stands {v} tall; rises to {v} | how high it is
t depth | num 5 300 0 mm,millimetres | is {v} deep; goes down {v}; reaches a depth of {v} | how deep it is
t volume, capacity | num 0.5 900 1 litres,l | holds {v}; takes up to {v}; has room for {v}; stores {v} | how much it holds
t colour, color, finish | pool colours | is {v}; comes in {v}; was painted {v}; is finished in {v} | the colour
t material, ~made of | of oak, pine, stainless steel, brass, bamboo, linen, cotton, recycled plastic, copper, glass, leather, ceramic, aluminium, walnut, canvas, concrete, marble, wool | is made of {v}; consists of {v}; is built from {v}; was crafted in {v} | what it is made of
t price, asking price, cost, ~costs | money 3 4000 | +for {v}; +at {v}; +({v}); costs {v}; is priced at {v}; sells for {v}; goes for {v}; is on offer at {v}; can be had for {v} | what it costs
t deposit, security deposit | money 20 3000 | ^you pay a deposit of {v}; requires a deposit of {v}; needs {v} as a deposit; calls for {v} up front | what has to be paid in advance
t insured value, value for insurance | money 50 90000 | is insured for {v}; is covered up to {v}; carries insurance over {v} | the sum it is insured for
t serial number, serial, S/N | code SN-######, ##@@#####, @@@-####-##, &&&&&&&& | bears the serial number {v}; is registered under {v}; has {v} stamped on the back
t model, model name | code @-###, @@ ###, X##, Mark %, @#-@@ | is the model {v}; was sold as the {v}; goes by the model name {v}
t stock, quantity in stock, units left, ~units | int 0 400 pieces,units | is in stock with {v}; is down to {v} | how many are there
t warranty, warranty in months, guarantee | span 6 60 months | has a warranty of {v}; is guaranteed for {v}; comes with {v} of warranty
t power, rated power, wattage | int 5 3500 W,watts | draws {v}; is rated at {v}; uses {v} | the electrical power
t voltage, supply voltage | int 3 400 V,volts | runs on {v}; operates at {v}; needs {v} | the electrical voltage
t temperature, operating temperature | num -20 90 1 °C,degrees Celsius | is kept at {v}; runs at {v}; was measured at {v} | how warm it is
t speed, top speed | int 10 320 km/h,kilometres per hour | reaches {v}; does {v} at most; tops out at {v} | how fast it goes
t year of construction, year built, ~built | year 1880 2024 | was built in {v}; dates from {v}; goes back to {v}; was put up in {v} | when it was built
t manufacturer, maker, brand, ~make | org | +by {v}; +from {v}; was made by {v}; comes from {v}; is a product of {v}; {v} makes {s} | who makes it
t owner, ~owned by, ~belongs to | person | belongs to {v}; is owned by {v}; is the property of {v}; {v} owns {s} | whom it belongs to
t supplier, vendor, ~supplied by | org | was supplied by {v}; came from {v}; was bought from {v}; {v} supplied {s} | who supplied it
t keeper, custodian, ~looked after by | person | is looked after by {v}; is in the care of {v}; {v} takes care of {s} | who takes care of it
t location, current location, ~located in | place | +in {v}; is in {v}; stands in {v}; can be found in {v}; is kept in {v} | where it is
t storage place, storage room, ~stored in | of Room 4, cellar B, Hall 9, shelf C3, the annex, bay 12, the attic, depot 7, the east wing, cupboard 14 | is stored in {v}; sits in {v}; was moved to {v} | where it is kept
t origin, country of origin, ~made in | pool countries | comes from {v}; was made in {v}; originates in {v}; was imported from {v} | the country it comes from
t condition, state | choice | new: is unused; has never been opened / good: is in good shape; shows only light wear; works well / damaged: is broken; has a deep crack; no longer works
t in stock, ~available | flag | yes: is in stock; can be ordered right away; is available; is ready to ship; ^in stock; ^available now; ^still available; ^we have plenty; ^some left; ^ready to ship / no: is sold out; is out of stock; cannot be ordered at the moment; is no longer available; ^SOLD OUT; ^sold out; ^all gone, sorry; ^none left; ^out of stock; ^currently unavailable; ^we are waiting for new ones | whether it can be had
t insured, ~insurance | flag | yes: is insured; is covered against loss; ^insured; ^with full insurance / no: is not insured; has no cover; ^uninsured; ^no insurance | whether it is insured
t fragile, ~handle with care | flag | yes: breaks easily; has to be handled with care; is fragile; ^fragile!; ^handle with care; ^careful, glass / no: is robust; can take a knock; ^robust; ^no special care needed | whether it breaks easily
t parts, components | list 2-4 pool nouns | consists of {v}; comes with {v}; includes {v} | what it consists of
t category, type | pool nouns | is filed under {v}; counts as a {v}; falls under {v}
t rating, average rating, stars | num 1 5 1 stars | is rated {v}; gets {v}; has earned {v} | how well it is rated
t number of reviews, reviews, review count | int 1 9000 reviews | has {v}; has drawn {v}; collected {v}
t maximum load, load limit | int 5 5000 kg,kilograms | carries {v}; bears up to {v}; takes a load of {v} | what it can carry
t battery life, running time | span 2 90 hours | lasts {v} on one charge; runs for {v}; keeps going for {v} | how long it runs
t noise level, sound level | int 20 110 dB,decibels | emits {v}; makes {v} of noise; is as loud as {v}
t area, surface, floor space | num 8 900 1 m²,square metres | covers {v}; has {v} of floor space; extends over {v}; measures {v} | how large it is
t last service, last inspection, ~serviced | date -700 -10 | was last serviced on {v}; had its last inspection on {v}; was checked on {v} | when it was last looked at
t expiry date, best before, ~expires | date 20 900 | expires on {v}; is good until {v}; must be used before {v}; keeps until {v} | until when it is good
p age, ~years old | int 18 96 | +, {v},; +, aged {v},; +({v}); is {v} years old; is {v}; turned {v} this year; is aged {v} | how old the person is
p birthday, date of birth, DOB, ~born | date -30000 -7000 | was born on {v}; came into the world on {v}; celebrates a birthday on {v} | when the person was born
p birthplace, place of birth, ~born in | place | was born in {v}; grew up in {v}; comes from {v}; hails from {v} | where the person was born
p residence, city, home town, ~lives in | place | +from {v}; +of {v}; +in {v}; lives in {v}; has a flat in {v}; moved to {v}; is at home in {v}; resides in {v} | where the person lives
p address, street address, ~street | street | lives at {v}; can be found at {v}; receives post at {v}
p postal code, postcode, ZIP code | code #####, #### @@, @@%# #@@, @%% %@@ | has the postal code {v}; lives in {v}; uses the ZIP code {v}; gets mail under {v} | the code of the town in the address
p occupation, job, profession, ~works as | pool jobs | +, {a},; +, {a} by trade,; +, our {v},; works as {a}; is {a}; earns a living as {a}; is employed as {a}; has a job as {a} | what the person does for a living
p employer, company, ~works for, ~works at | org | +of {v}; +, employed at {v},; +from {v}; works for {v}; is employed by {v}; is with {v}; has a post at {v}; {v} employs {s} | whom the person works for
p department, team | pool departments | +from {v}; +in {v}; +({v}); belongs to {v}; is part of {v}; works in {v}; sits in {v} | the department
p manager, supervisor, boss, ~reports to | person | reports to {v}; answers to {v}; is led by {v}; {v} supervises {s} | whom the person reports to
p email, e-mail address, mail | email | can be reached at {v}; writes from {v}; reads mail at {v}; has the address {v}
p phone number, telephone, mobile, ~tel, ~phone | phone | ^call {v}; can be called on {v}; answers the phone at {v}; has the number {v}
p nationality, country, ~citizen of | pool countries | is a citizen of {v}; holds a passport of {v}; comes from {v}
p languages, spoken languages | list 1-3 pool languages | speaks {v}; is fluent in {v}; understands {v} | which languages the person speaks
p skills, abilities, strengths | list 2-5 pool skills | knows {v}; is good at {v}; has experience with {v}; brings {v} | what the person can do
p hobbies, interests, pastimes | list 1-3 pool hobbies | enjoys {v}; loves {v}; spends weekends on {v}; is keen on {v} | what the person likes to do
p spouse, partner, ~married to | person | is married to {v}; shares a home with {v}; married {v}; {v} is married to {s} | whom the person is married to
p number of children, children | int 1 6 children | has {v}; raised {v}; is bringing up {v} | how many children the person has
p salary, annual salary, yearly pay | money 18000 190000 | earns {v} a year; is paid {v} a year; makes {v} a year; takes home {v} a year | what the person earns in a year
p years of experience, experience | span 1 40 years | has {v} of experience; brings {v} of practice; has been in the trade for {v}
p height in cm, body height | int 148 208 cm,centimetres | is {v} tall; measures {v}; stands {v}
p marital status, family status | choice | single: is single; lives alone; is not married / married: is married; has a spouse / divorced: is divorced; went through a divorce
p current task, duty, ~busy with | errand | has to {v}; was asked to {v}; is expected to {v}; promised to {v} | what the person is to do
p smoker, ~smokes | flag | yes: smokes; cannot give up cigarettes; ^smoker; ^a pack a day / no: does not smoke; is a non-smoker; has never smoked; ^non-smoker; ^gave up smoking | whether the person smokes
p driving licence, ~drives | flag | yes: has a driving licence; is allowed to drive; ^driving licence: of course; ^drives / no: has no driving licence; does not drive; ^no driving licence; ^never learned to drive | whether the person may drive
p vegetarian, ~eats no meat | flag | yes: eats no meat; is a vegetarian; ^vegetarian; ^no meat, please / no: eats meat; likes a good steak; ^likes meat; ^eats everything | whether the person eats no meat
p nickname, ~known as, ~called | of Ziggy, Bear, Doc, Sparky, Moss, Pip, Ace, Tink, Duke, Biscuit, Rook, Fizz | is known as {v}; goes by {v}; is called {v} by friends; answers to {v}
p student number, member number, ID, ~no | code ######, M-####, @##-####, ID####### | has the number {v}; is registered as {v}; carries card {v}
p allergies, ~allergic to | list 1-3 pool allergens | is allergic to {v}; cannot tolerate {v}; reacts to {v} | what the person must avoid
p start date, date of joining, ~joined, ~hired | date -4000 300 | joined on {v}; started on {v}; has been there since {v}; began on {v} | when the person began
p previous employer, ~formerly at | org | used to work for {v}; came over from {v}; left {v}; was with {v} before | whom the person worked for before
p degree, qualification | of BSc in Physics, MA in History, diploma in nursing, PhD in Botany, MBA, LLB, MSc in Data Science, BA in Music | holds a {v}; graduated with a {v}; earned a {v}
c founding year, year founded, ~founded, ~established | year 1850 2023 | was founded in {v}; has existed since {v}; started out in {v}; goes back to {v} | when it was founded
c founder, ~founded by | person | was founded by {v}; was set up by {v}; owes its existence to {v}; {v} founded {s} | who founded it
c chief executive, CEO, managing director | person | is run by {v}; is headed by {v}; has {v} at the helm; {v} leads {s} | who runs it
c headquarters, head office, seat, ~based in | place | +of {v}; +, based in {v},; +from {v}; is based in {v}; has its head office in {v}; operates out of {v}; is headquartered in {v} | where it is based
c employees, number of employees, headcount, staff | int 3 90000 people,employees | employs {v}; has a staff of {v}; gives work to {v} | how many work there
c revenue, annual revenue, turnover, sales | money 200000 900000000 | had revenue of {v}; turned over {v}; took in {v}; booked sales of {v}
c profit, net profit | money 10000 90000000 | made a profit of {v}; earned {v} after tax; closed the year with a surplus of {v}
c industry, sector, line of business | pool trades | is in {v}; works in {v}; is active in {v}; is known for {v}
c website, homepage, ~web | url | can be found at {v}; has its website at {v}; is online at {v}
c customers, number of customers | int 20 900000 customers | serves {v}; counts {v}; looks after {v}
c parent company, parent, ~owned by | org | belongs to {v}; is owned by {v}; is a subsidiary of {v}; {v} owns {s} | whom it belongs to
c listed, publicly traded | flag | yes: is listed on the stock exchange; is publicly traded / no: is privately held; is not traded on any exchange | whether its shares are traded
c VAT number, tax number, registration number | code GB#########, DE#########, ##-#######, FR###########, HRB ##### | is registered under {v}; files its taxes under {v}; has the number {v}
c offices, locations, branches | list 2-4 place | has offices in {v}; operates in {v}; runs branches in {v}
e date, day, ~when | date -500 600 | +on {v}; +({v}); takes place on {v}; is on {v}; is set for {v}; happens on {v}; was scheduled for {v} | when it takes place
e start, starting time, date and time, ~begins | moment -300 600 | starts {on}; begins {on}; kicks off {on}; opens {on} | when it begins
e start time, ~time, ~from | time | starts at {v}; begins at {v}; gets going at {v} | the time it begins
e end time, ~until, ~ends | time | ends at {v}; is over at {v}; runs until {v}; finishes at {v} | the time it ends
e venue, ~where, ~held at | site | +at {v}; takes place at {v}; is held at {v}; happens at {v}; will be hosted at {v} | where it is held
e city, town, ~in | place | +in {v}; +, {v},; takes place in {v}; is held in {v}; comes to {v}; returns to {v} | the town it is held in
e organizer, organiser, host, ~organised by | org | is organised by {v}; is hosted by {v}; is put on by {v}; {v} organises {s} | who organises it
e speaker, keynote speaker, ~talk by | person | features {v}; has {v} as a speaker; opens with a talk by {v}; {v} speaks at {s} | who speaks there
e participants, attendees, number of participants | int 4 9000 people,participants | drew {v}; is open to {v}; had {v}; brought together {v} | how many take part
e ticket price, admission, entrance fee, ~tickets | money 2 400 | ^tickets cost {v}; ^admission is {v}; costs {v} to attend; charges {v} for admission; asks {v} a ticket | what a ticket costs
e duration in minutes, length, ~lasts | span 10 240 minutes,min | lasts {v}; takes {v}; runs for {v}; goes on for {v} | how long it takes
e sponsor, ~sponsored by | org | is sponsored by {v}; is paid for by {v}; is supported by {v}; {v} sponsors {s} | who pays for it
e free, free of charge | flag | yes: costs nothing; is free; charges no admission; ^free entry; ^free admission; ^admission free; ^costs nothing; ^free for all; ^no charge; ^come for free / no: is not free; requires a paid ticket; charges admission; ^tickets at the door; ^paid entry; ^not free; ^admission is charged; ^bring money for the ticket | whether it costs nothing
e cancelled, ~called off | flag | yes: was called off; had to be cancelled; will not take place; ^CANCELLED; ^cancelled; ^we have to call it off; ^it will not happen, sorry / no: goes ahead as planned; takes place as announced; ^it goes ahead; ^goes ahead in any weather; ^not cancelled | whether it will not take place
e registration deadline, sign-up deadline, ~register by | date -200 400 | ^please register by {v}; ^sign up before {v}; closes registration on {v}; takes sign-ups until {v}; accepts names until {v} | the last day to sign up
e reason, cause, ~because of | cause | happens because of {v}; was made necessary by {v}; goes back to {v} | why it takes place
e topic, subject, theme | pool topics | is about {v}; deals with {v}; covers {v}; centres on {v} | what it is about
w author, writer, ~by, ~written by | person | +by {v}; +, by {v},; +, written by {v},; was written by {v}; is by {v}; comes from the pen of {v}; {v} wrote {s} | who wrote it
w publisher, ~published by | org | was published by {v}; appeared with {v}; came out at {v}; {v} published {s} | who published it
w publication year, year, ~published | year 1890 2025 | +({v}); +from {v}; came out in {v}; appeared in {v}; was first published in {v}; dates from {v} | when it came out
w pages, number of pages, page count | int 40 1400 pages | has {v}; runs to {v}; fills {v}; is {v} long | how many pages it has
w genre, ~kind | pool genres | is a work of {v}; belongs to {v}; counts as {v} | the genre
w language, original language | pool languages | was written in {v}; is in {v}; first appeared in {v} | the language
w editor, ~edited by | person | was edited by {v}; had {v} as its editor; {v} edited {s} | who edited it
w copies sold, sales | int 200 9000000 copies | sold {v}; has found buyers for {v}; went over the counter in {v}
w running time in minutes, running time, duration | span 40 220 minutes,min | runs for {v}; lasts {v}; is {v} long | how long it is
w award, prize, ~won | of the Golden Quill, the Harbour Prize, the Silver Lens, the Northern Medal, the Orchid Award, the Lantern Prize, the City Laurel | won {v}; received {v}; was honoured with {v}
"""


def attribute_lines() -> dict[str, tuple[str, str]]:
    """Return the lines by their first words, with underscores, each with the letter of its subject before it."""
    listed = (line.partition(" ") for line in ATTRIBUTES.strip().splitlines())
    found: dict[str, tuple[str, str]] = {}
    for letter, _, line in listed:
        name = line.split("|")[0].split(",")[0].strip().replace(" ", "_")
        found[name if name not in found else f"{name}_{letter}"] = (letter, line)
    return found
