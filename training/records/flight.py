"""Flights."""

from training.records.compound import choice, flag
from training.records.kind import Field, kind
from training.values import (
    Fact,
    Scene,
    city,
    code,
    currency,
    from_pool,
    integer,
    invented_word,
    moment,
    money,
    other_person,
    text_fact,
    time_of_day,
)


def hotel(scene: Scene) -> Fact:
    """Return the name of a hotel: "Hotel Aurora", "The Grand Kestrel", "Meadow Inn"."""
    word = scene.pick(scene.pools.company_words) if scene.chance(0.7) else invented_word(scene)
    names = (
        f"Hotel {word}",
        f"{word} Hotel",
        f"The {word}",
        f"{word} Inn",
        f"{word} Palace",
        f"Pension {word}",
        f"{word} Lodge",
    )
    return text_fact(scene.pick(names))


FLIGHT = kind(
    "flight",
    (
        Field(
            "number",
            code("@@ ###, @@###, @@####, @@ ####, @# ###, #@ ###"),
            "flight number, flight, flight no, number, flight code",
            "the number of the flight",
            "Flight, Flight number, Flight no.",
            weight=3,
        ),
        Field(
            "currency",
            currency,
            "currency, price currency",
            "ISO code of the currency",
            "Currency",
            implied_by=("price",),
            weight=0.4,
            plain=False,
        ),
        Field(
            "airline",
            from_pool("airlines"),
            "airline, carrier, operated by, airline name",
            "who operates the flight",
            "Airline, Carrier, Operated by",
            weight=1.8,
        ),
        Field(
            "origin",
            city,
            "origin, from, departure city, departure airport, from city, departs from, leaving from",
            "where it leaves",
            "From, Origin, Departure city, Leaving from",
            weight=2.5,
        ),
        Field(
            "destination",
            city,
            "destination, to, arrival city, arrival airport, to city, arrives in, going to",
            "where it goes",
            "To, Destination, Arrival city, Going to",
            weight=2.6,
        ),
        Field(
            "departure",
            moment(-60, 60),
            "departure, departure time, departs at, departure datetime, takeoff, leaves at",
            "when it leaves",
            "Departure, Departs, Departure time",
            weight=2.4,
        ),
        Field(
            "arrival",
            moment(-60, 60),
            "arrival, arrival time, arrives at, landing, lands at, arrival datetime",
            "when it lands",
            "Arrival, Arrives, Arrival time, Landing",
            weight=1.2,
        ),
        Field(
            "gate",
            code("@#, @##, ##, #, @#@"),
            "gate, gate number, departure gate, boarding gate",
            "the gate",
            "Gate, Gate no.",
            weight=1.3,
        ),
        Field(
            "seat",
            code("##@, #@, ##@"),
            "seat, seat number, seat no, assigned seat",
            "the seat",
            "Seat, Seat no.",
            weight=1.4,
        ),
        Field("terminal", code("#, @, T#, ##"), "terminal, departure terminal", "the terminal", "Terminal", weight=0.7),
        Field(
            "passenger",
            other_person,
            "passenger, passenger name, traveller, traveler, name, booked for",
            "who flies",
            "Passenger, Passenger name, Traveller",
            weight=1.8,
        ),
        Field(
            "booking",
            code("&&&&&&, @@@@@@, &&&&&"),
            "booking reference, booking code, confirmation code, pnr, reservation code, reference, confirmation number",
            "the code of the booking",
            "Booking reference, Confirmation code, PNR, Booking code",
            weight=1.6,
        ),
        Field(
            "price",
            money(29, 2400),
            "price, ticket price, fare, total price, cost, amount",
            "what the ticket costs",
            "Price, Fare, Ticket price",
            weight=1.6,
        ),
        Field(
            "bags",
            integer(1, 4, words=0.5),
            "bags, checked bags, luggage pieces, number of bags, baggage",
            "how many bags are checked in",
            "Checked bags, Bags, Luggage (pieces)",
            weight=0.8,
        ),
        Field(
            "boarding",
            time_of_day,
            "boarding time, boarding, boarding starts, boards at",
            "when boarding begins",
            "Boarding, Boarding time",
            weight=0.7,
        ),
        Field(
            "cabin",
            choice(
                {
                    "economy": "economy, economy class",
                    "premium economy": "premium economy",
                    "business": "business, business class",
                    "first": "first class",
                }
            ),
            "class, cabin, cabin class, travel class, booking class",
            "the class",
            "Class, Cabin, Travel class",
            plain=False,
            may_miss=False,
            weight=1,
        ),
        Field(
            "direct",
            flag(0.6),
            "direct, is direct, nonstop, non stop, direct flight",
            "whether there is no stop",
            "Direct, Non-stop",
            wordings={
                "true": """
                    It is a direct flight.
                    The flight is non-stop.
                    There is no stop on the way.
                    You do not have to change planes.
                    It flies without a stopover.
                    """,
                "false": """
                    There is one stop on the way.
                    It is not a direct flight.
                    You have to change planes.
                    The flight has a stopover.
                    It stops once for refuelling.
                    """,
            },
            plain=False,
            weight=0.8,
        ),
    ),
    plural="flights, legs, segments, connections, itinerary",
    nests={
        "route, trip": "origin, destination",
        "departure info, boarding info": "gate, terminal, seat, boarding",
        "ticket, fare info": "price, currency, cabin, booking",
    },
    titles=(
        "Flight confirmation, Your itinerary, Boarding pass, E-ticket, Booking confirmed, Travel details, "
        "Check-in is open"
    ),
    sentences="""
    Your flight is {number}.
    The flight number is {number}.
    You are booked on flight {number}.
    Flight {number}
    Flight: {number}.
    Flight {number} is confirmed.
    You are flying on {number}.
    We look forward to seeing you on flight {number}.
    Check-in for {number} is open.
    Here is your ticket for {number}.
    This is about flight {number}.
    Please note that {number} is on time.
    The fare is in {currency}.
    Prices are in {currency}.
    Currency: {currency}.
    You pay in {currency}.
    We charge you in {currency}.
    The ticket was billed in {currency}.
    The airline is {airline}.
    It is operated by {airline}.
    You fly with {airline}.
    Thank you for flying with {airline}.
    The carrier is {airline}.
    {airline} wishes you a pleasant trip.
    Operated by {airline}.
    Airline: {airline}.
    It leaves from {origin}.
    The flight departs from {origin}.
    You start in {origin}.
    From: {origin}
    The departure airport is {origin}.
    Your trip begins in {origin}.
    Take-off is in {origin}.
    You fly out of {origin}.
    The plane takes off in {origin}.
    Departing from {origin}.
    It goes to {destination}.
    The destination is {destination}.
    You are flying to {destination}.
    To: {destination}
    You will land in {destination}.
    Your trip ends in {destination}.
    The plane is bound for {destination}.
    It arrives in {destination}.
    Enjoy your stay in {destination}!
    Next stop: {destination}.
    Destination: {destination}.
    Arriving in {destination}.
    It departs {departure:on}.
    Departure: {departure}
    The plane leaves {departure:on}.
    Take-off is {departure:on}.
    It leaves {departure:on}.
    Your departure is {departure:on}.
    You leave {departure:on}.
    Scheduled departure {departure}.
    The flight takes off {departure:on}.
    Departs {departure}.
    It lands {arrival:on}.
    Arrival: {arrival}
    You will arrive {arrival:on}.
    Landing is {arrival:on}.
    It arrives {arrival:on}.
    Scheduled arrival {arrival}.
    It leaves from gate {gate}.
    The gate is {gate}.
    Gate {gate}.
    Please go to gate {gate}.
    Boarding is at gate {gate}.
    Your gate: {gate}.
    Your seat is {seat}.
    You sit in {seat}.
    Seat {seat}.
    The seat number is {seat}.
    We have reserved seat {seat} for you.
    Seat assignment: {seat}.
    It leaves from terminal {terminal}.
    The terminal is {terminal}.
    Terminal {terminal}.
    Please go to terminal {terminal}.
    Check-in is in terminal {terminal}.
    Terminal: {terminal}.
    The passenger is {passenger}.
    Passenger: {passenger}.
    The ticket is for {passenger}.
    {passenger} is the passenger.
    It was booked for {passenger}.
    Travelling: {passenger}.
    The ticket was issued to {passenger}.
    {passenger} is travelling.
    The booking reference is {booking}.
    Your confirmation code is {booking}.
    Booking code {booking}.
    Use {booking} to check in.
    Reservation: {booking}.
    PNR {booking}.
    Your booking {booking} is confirmed.
    The ticket costs {price}.
    The fare is {price}.
    Price: {price}.
    You paid {price}.
    We charged {price}.
    The total fare was {price}.
    The price of the ticket is {price}.
    {bags} bags are included.
    You can check in {bags} bags.
    Checked bags: {bags}.
    You have {bags} pieces of luggage.
    Luggage: {bags} pieces.
    {bags} suitcases may be taken.
    Boarding starts at {boarding}.
    Boarding time {boarding}.
    Please be at the gate at {boarding}.
    Boarding: {boarding}.
    We board at {boarding}.
    Boarding begins at {boarding}.
    You travel in {cabin}.
    The class is {cabin}.
    Class: {cabin}.
    It is {cabin:a} ticket.
    Cabin: {cabin}.
    You are booked in {cabin}.
    Flight {number} from {origin} to {destination} departs {departure:on}.
    Flight {number} to {destination} leaves {departure:on} from gate {gate}.
    {airline} flight {number} leaves {origin} {departure:on}.
    {airline} {number} from {origin} to {destination}
    {airline} flight {number} to {destination}
    {number} {origin} - {destination}
    {number}: {origin} -> {destination}, {departure}
    Flight {number}\\n{origin} - {destination}\\nDeparture {departure}\\nArrival {arrival}
    {airline} {number}\\n{origin} to {destination}\\n{departure}
    From: {origin}\\nTo: {destination}\\nGate {gate}, seat {seat}
    Depart: {origin}, {departure}\\nArrive: {destination}, {arrival}
    {passenger}, your flight {number} with {airline} is confirmed.
    Dear {passenger}, your booking {booking} is confirmed.
    {airline} confirms your flight {number} from {origin} to {destination}.
    {airline} flight {number} departs {origin} {departure:on} and arrives in {destination} {arrival:on}.
    It departs from {origin} {departure:on}.
    You depart from {origin} {departure:on} and land in {destination} {arrival:on}.
    Your flight {number} departs from gate {gate}, terminal {terminal}.
    You are in seat {seat}, and boarding starts at {boarding} at gate {gate}.
    The total fare for {passenger} is {price}.
    Your confirmation code is {booking} and your seat is {seat}.
    You are flying from {origin} to {destination}.
    You fly from {origin} to {destination} with {airline}.
    Your flight from {origin} to {destination} is confirmed.
    {passenger} flies from {origin} to {destination} on {number}.
    {passenger} is booked on flight {number}.
    {passenger} is booked on {number}, seat {seat}.
    {passenger} leaves {origin} {departure:on}.
    It leaves {origin} {departure:on} and arrives in {destination} {arrival:on}.
    Departure {departure}, arrival {arrival}.
    It departs {departure:on} and lands {arrival:on}.
    Flight {number} departs {departure:on} and lands {arrival:on}.
    From {origin} to {destination}.
    {origin} to {destination}
    To {destination} from {origin}.
    Gate {gate}, seat {seat}.
    Terminal {terminal}, gate {gate}.
    Your seat is {seat} and boarding is at gate {gate}.
    Boarding at {boarding}, gate {gate}.
    Flight {number}, seat {seat}, gate {gate}
    Your booking {booking} for flight {number} is confirmed.
    The booking {booking} is for {passenger}.
    {passenger}, booking code {booking}
    The ticket to {destination} costs {price}.
    {passenger} paid {price} for the ticket to {destination}.
    Your {airline} ticket from {origin} costs {price}.
    {airline} to {destination}: {price}
    With {airline} to {destination} for {price}.
    Flight {number} ({airline})
    The flight to {destination} leaves {departure:on}.
    The flight from {origin} is operated by {airline}.
    """,
    asides="""
    Check-in closes {any_int} minutes before departure.
    Your previous flight to {any_city} earned you points.
    For a taxi call {any_phone}.
    Extra luggage costs {any_money}.
    Your travel agent is {any_person}.
    The insurance policy has the number {any_code}.
    Please bring your passport.
    The weather at the airport is fine.
    The hotel in {any_city} has been booked separately.
    {any_company} offers rental cars at the airport.
    Meals are served on board.
    The lounge opens at {any_time}.
    """,
)
