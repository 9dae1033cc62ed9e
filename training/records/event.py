"""Events."""

from training.records.compound import flag, several
from training.records.kind import Field, kind
from training.values import (
    Fact,
    Scene,
    city,
    company,
    day,
    from_pool,
    integer,
    invented_word,
    moment,
    money,
    other_email,
    other_person,
    text_fact,
    time_of_day,
    url,
)


def venue(scene: Scene) -> Fact:
    """Return a place where events are held: "Kestrel Concert Hall"."""
    word = scene.pick(scene.pools.company_words) if scene.chance(0.6) else invented_word(scene)
    return text_fact(f"{word} {scene.pick(scene.pools.venues)}")


def event_name(scene: Scene) -> Fact:
    """Return the name of an event: "Robotics Summit 2025", "jazz evening"."""
    if scene.chance(0.4):
        return from_pool("topics")(scene)
    noun = scene.pick(("Summit", "Festival", "Days", "Conference", "Fair", "Night", "Forum", "Open", "Week"))
    head = scene.pick(scene.pools.nouns).capitalize() if scene.chance(0.5) else scene.pick(scene.pools.company_words)
    return text_fact(f"{head} {noun}" + (f" {scene.today.year}" if scene.chance(0.3) else ""))


EVENT = kind(
    "event",
    (
        Field(
            "name",
            event_name,
            "name, title, event, event name, event title, what",
            "the name of the event",
            "Event, Title, What, Name of the event",
            weight=3,
        ),
        Field(
            "start",
            moment(-60, 60),
            "start, starts at, start time, begins at, datetime, when",
            "when it begins",
            "Start, When, Begins, Starts at",
            weight=2,
        ),
        Field(
            "venue",
            venue,
            "venue, location, place, where, held at, event location",
            "where it takes place",
            "Venue, Where, Place, Location",
            weight=2.3,
        ),
        Field("city", city, "city, town, host city", "the city", "City, Town", weight=1.9),
        Field(
            "organizer",
            company,
            "organizer, organiser, host, organized by, hosted by, organizing company",
            "who organises it",
            "Organizer, Organiser, Hosted by",
            weight=1.7,
        ),
        Field(
            "price",
            money(3, 400),
            "price, ticket price, entry fee, admission, cost, fee",
            "what a ticket costs",
            "Price, Tickets, Admission, Entry fee",
            weight=1.7,
        ),
        Field(
            "speakers",
            several(other_person, 1, 3),
            "speakers, guests, performers, lineup, artists, presenters",
            "who speaks or performs",
            "Speakers, Line-up, Performers, Guests",
            none="""
                No speakers have been announced.
                There are no speakers yet.
                The line-up is still empty.
                """,
            weight=1.3,
        ),
        Field(
            "capacity",
            integer(20, 5000, words=0.02),
            "capacity, max attendees, seats, maximum guests",
            "how many people fit in",
            "Capacity, Seats",
            weight=1,
        ),
        Field(
            "expected",
            integer(15, 4000, words=0.02),
            "expected visitors, expected attendees, visitors, attendance",
            "how many people are expected",
            "Expected visitors, Attendance",
            weight=0.6,
        ),
        Field(
            "contact",
            other_email,
            "contact, contact email, email, register at, info",
            "where to register",
            "Contact, E-mail, Register at",
            weight=1,
        ),
        Field(
            "link", url, "website, url, link, event page, more info", "the web page", "Website, Link, URL", weight=0.8
        ),
        Field(
            "deadline",
            day(-120, -61),
            "registration deadline, register by, sign up by, registration closes",
            "until when one can register",
            "Register by, Registration deadline",
            weight=0.9,
        ),
        Field(
            "doors",
            time_of_day,
            "doors open, doors, admission from, entry from",
            "when the doors open",
            "Doors open, Doors",
            weight=0.7,
        ),
        Field(
            "topics",
            several(from_pool("hobbies"), 1, 3),
            "topics, tags, themes, subjects",
            "what it is about",
            "Topics, Themes",
            weight=0.7,
        ),
        Field(
            "free",
            flag(),
            "free, is free, free entry, free admission, free of charge",
            "whether it costs nothing",
            "Free entry, Free admission",
            wordings={
                "true": """
                    Admission is free.
                    Entry costs nothing.
                    It is free of charge.
                    Free entry for everybody.
                    No ticket has to be bought.
                    """,
                "false": """
                    It is not free.
                    Everybody has to buy a ticket.
                    Admission is not free of charge.
                    You need to pay for a ticket.
                    A paid ticket is required.
                    """,
            },
            plain=False,
            may_miss=False,
            weight=0.7,
        ),
    ),
    plural="events, shows, dates, programme, calendar",
    nests={"location info, place info": "venue, city", "tickets, ticketing": "price, capacity, free"},
    titles="Invitation, Event details, Save the date, What's on, Announcement, Programme, Press release",
    sentences="""
    You are invited to the {name}.
    The event is called {name}.
    Join us for the {name}!
    Do not miss the {name}.
    Announcing: {name}
    The {name} is back.
    We are proud to present the {name}.
    Event: {name}
    Come to the {name}.
    Tickets for the {name} are on sale.
    This year's highlight is the {name}.
    I am going to the {name}.
    It starts {start:on}.
    The event begins {start:on}.
    When: {start}
    It takes place {start:on}.
    It kicks off {start:on}.
    Be there {start:on}.
    The opening is {start:on}.
    Start: {start}.
    It will be held {start:on}.
    Mark your calendar: {start}.
    The show starts {start:on}.
    We begin {start:on}.
    It is held at the {venue}.
    The venue is {venue}.
    Where: {venue}
    It takes place at {venue}.
    We meet at {venue}.
    Place: {venue}.
    The doors of {venue} are open for you.
    {venue} hosts it.
    You find us at {venue}.
    The location is {venue}.
    Come to {venue}.
    {venue} is the place to be.
    It is in {city}.
    It takes place in {city}.
    The city is {city}.
    {city} is the host city.
    This time we are in {city}.
    We are coming to {city}.
    All of {city} will be there.
    Travel to {city} and join.
    It is organised by {organizer}.
    The organizer is {organizer}.
    {organizer} invites you.
    Hosted by {organizer}.
    {organizer} is behind it.
    The host is {organizer}.
    {organizer} puts it on.
    Tickets cost {price}.
    Admission is {price}.
    A ticket costs {price}.
    Entry: {price}.
    The entry fee is {price}.
    You pay {price} at the door.
    Tickets are {price} each.
    The price of a ticket is {price}.
    {speakers} will speak.
    The speakers are {speakers}.
    Speakers: {speakers}.
    On stage: {speakers}.
    With {speakers}.
    You can listen to {speakers}.
    There are {capacity} seats.
    The capacity is {capacity}.
    There is room for {capacity} people.
    {capacity} people fit in.
    Capacity: {capacity}.
    At most {capacity} guests can come in.
    {expected} visitors are expected.
    We expect {expected} people.
    About attendance: we reckon with {expected} visitors.
    The organizers count on {expected} visitors.
    Expected visitors: {expected}.
    Some {expected} people want to come.
    Register at {contact}.
    Sign up by mail to {contact}.
    Contact: {contact}.
    Write to {contact} for a place.
    Questions to {contact}.
    For registration mail {contact}.
    More at {link}.
    The programme is at {link}.
    See {link} for details.
    Website: {link}
    All information: {link}
    Visit {link}.
    Please register by {deadline}.
    Registration closes on {deadline}.
    You can sign up until {deadline}.
    The registration deadline is {deadline}.
    Sign up before {deadline}.
    Register until {deadline}.
    Doors open at {doors}.
    The doors are open from {doors}.
    Doors: {doors}.
    You can come in from {doors} on.
    We open the doors at {doors}.
    Entry from {doors}.
    It is all about {topics}.
    The topics are {topics}.
    Topics: {topics}.
    The themes this time are {topics}.
    Everything turns around {topics}.
    It is for friends of {topics}.
    The {name} takes place {start:on} at {venue} in {city}.
    The {name} takes place {start:on}.
    The {name} takes place at {venue}, {city}.
    The {name} is held in {city}.
    The {name} in {city} begins {start:on}.
    {organizer} invites you to the {name} in {city}.
    {organizer} presents the {name}.
    {organizer} organises the {name} at {venue}.
    {name} @ {venue}, {city}
    {name}, {start}
    {name}\\n{venue}, {city}\\n{start}
    {name}\\n{start}\\n{venue}\\nTickets: {price}
    {city} hosts the {name} {start:on}.
    Join {organizer} for the {name} at {venue} {start:on}.
    {name} - {venue} - {start}
    {name}: tickets {price}
    Tickets for the {name} cost {price}.
    At the {name} in {city} you can hear {speakers}.
    {speakers} will speak at the {name}.
    {venue} in {city} hosts the {name}.
    {venue}, {city}
    It is held at {venue} in {city}.
    It starts {start:on} at {venue}.
    It begins {start:on} in {city}; doors open at {doors}.
    {venue} has {capacity} seats.
    There are {capacity} seats at {price} each.
    Register by {deadline} at {contact}.
    Tickets cost {price} at {link}.
    The {name} is organised by {organizer}.
    We expect {expected} people at the {name}.
    The {name} is about {topics}.
    """,
    asides="""
    Last year it was held in {any_city}.
    {any_person} designed the poster.
    Food will be sold on site.
    The main sponsor is {any_company}.
    A bus leaves every {any_int} minutes.
    The party afterwards is at {any_street}.
    The press conference is on {any_date}.
    Children are welcome.
    The mayor, {any_person}, cannot come.
    Parking is limited.
    The last bus leaves at {any_time}.
    A T-shirt costs {any_money}.
    """,
)
