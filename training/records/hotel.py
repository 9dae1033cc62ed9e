"""Hotel bookings."""

from training.records.compound import choice, flag
from training.records.kind import Field, kind
from training.values import (
    Fact,
    Scene,
    city,
    code,
    currency,
    day,
    integer,
    invented_word,
    money,
    other_email,
    other_person,
    street,
    text_fact,
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


HOTEL = kind(
    "hotel_booking",
    (
        Field(
            "hotel",
            hotel,
            "hotel, hotel name, property, accommodation, name, lodging",
            "the name of the hotel",
            "Hotel, Accommodation, Property",
            weight=2.6,
        ),
        Field(
            "currency",
            currency,
            "currency, price currency",
            "ISO code of the currency",
            "Currency",
            implied_by=("total", "nightly"),
            weight=0.4,
            plain=False,
        ),
        Field(
            "guest",
            other_person,
            "guest, guest name, booked by, booked for, customer, main guest",
            "who stays there",
            "Guest, Guest name, Booked for",
            weight=2.2,
        ),
        Field(
            "city",
            city,
            "city, location, destination, place, town",
            "the city of the hotel",
            "City, Location, Destination",
            weight=1.8,
        ),
        Field(
            "street",
            street,
            "address, street, hotel address, street address",
            "street and number",
            "Address, Street",
            weight=0.8,
        ),
        Field(
            "arrival",
            day(1, 40),
            "check in, check in date, arrival, arrival date, checkin, from date, from",
            "the day of arrival",
            "Check-in, Arrival, From, Check-in date",
            weight=2.6,
        ),
        Field(
            "leaving",
            day(41, 60),
            "check out, check out date, departure, departure date, checkout, until date, until",
            "the day of departure",
            "Check-out, Departure, Until, Check-out date",
            weight=2.4,
        ),
        Field(
            "nights",
            integer(1, 21, words=0.35),
            "nights, number of nights, stay length, length of stay",
            "how many nights",
            "Nights, Number of nights",
            weight=1.4,
        ),
        Field(
            "guests",
            integer(1, 8, words=0.4),
            "guests, number of guests, people, persons, party size, guest count",
            "how many people",
            "Guests, Number of guests, Persons",
            weight=1.3,
        ),
        Field(
            "rooms",
            integer(1, 4, words=0.5),
            "rooms, number of rooms, room count",
            "how many rooms",
            "Rooms, Number of rooms",
            weight=0.7,
        ),
        Field(
            "room_number",
            integer(101, 980, words=0.0),
            "room number, room no, room",
            "the number of the room",
            "Room number, Room no.",
            weight=0.9,
        ),
        Field(
            "booking",
            code("######, BK-####, &&&&&&&, H-#####, ###-###-###, RES####"),
            "confirmation number, booking number, reservation number, booking id, confirmation, reservation id",
            "the number of the booking",
            "Confirmation number, Booking no., Reservation",
            weight=1.9,
        ),
        Field(
            "total",
            money(60, 4000),
            "total, total price, price, amount, total cost, total amount",
            "the price of the stay",
            "Total, Total price, Price",
            weight=1.9,
        ),
        Field(
            "nightly",
            money(30, 400),
            "price per night, nightly rate, rate, rate per night",
            "the price of one night",
            "Price per night, Rate, Nightly rate",
            weight=0.9,
        ),
        Field(
            "email",
            other_email,
            "email, contact email, guest email, hotel email",
            "whom to write to",
            "E-mail, Contact e-mail",
            weight=0.5,
        ),
        Field(
            "room_type",
            choice(
                {
                    "single": "single room, single",
                    "double": "double room, double",
                    "twin": "twin room, twin",
                    "suite": "suite",
                    "family": "family room",
                }
            ),
            "room type, type of room, category, room category",
            "the kind of room",
            "Room type, Category",
            plain=False,
            may_miss=False,
            weight=1.3,
        ),
        Field(
            "breakfast",
            flag(),
            "breakfast, breakfast included, with breakfast, includes breakfast",
            "whether breakfast is included",
            "Breakfast included, Breakfast",
            wordings={
                "true": """
                    Breakfast is included.
                    The price includes breakfast.
                    Breakfast comes with the room.
                    With breakfast.
                    You get breakfast every morning at no extra cost.
                    """,
                "false": """
                    Breakfast is not included.
                    The price does not include breakfast.
                    Room only, without breakfast.
                    Breakfast costs extra.
                    No breakfast is served.
                    """,
            },
            plain=False,
            weight=1.3,
        ),
        Field(
            "refundable",
            flag(),
            "refundable, is refundable, free cancellation, can be cancelled, cancellable",
            "whether it can be cancelled at no cost",
            "Refundable, Free cancellation",
            wordings={
                "true": """
                    You can cancel free of charge.
                    The booking is refundable.
                    Cancellation is free.
                    You get your money back if you cancel.
                    Free cancellation is possible.
                    """,
                "false": """
                    The booking is not refundable.
                    It cannot be cancelled free of charge.
                    There is no free cancellation.
                    No refund is given if you cancel.
                    This rate is non-refundable.
                    """,
            },
            plain=False,
            weight=0.8,
        ),
    ),
    plural="bookings, stays, reservations, hotels",
    nests={
        "dates, stay, period": "arrival, leaving, nights",
        "price info, costs, payment": "total, nightly, currency",
        "room info, room details": "room_type, room_number, guests",
    },
    titles=(
        "Booking confirmation, Reservation confirmed, Your stay, Hotel voucher, Reservation details, Booking request"
    ),
    sentences="""
    The hotel is {hotel}.
    Thank you for choosing {hotel}.
    You are staying at {hotel}.
    We look forward to welcoming you at {hotel}.
    Hotel: {hotel}
    Your room at {hotel} is booked.
    The booking is for {hotel}.
    Welcome to {hotel}!
    {hotel} has confirmed your stay.
    We have reserved a room at {hotel}.
    I would like to book a room at {hotel}.
    The accommodation is called {hotel}.
    Prices are in {currency}.
    You pay in {currency}.
    Currency: {currency}.
    The hotel charges in {currency}.
    Billing is in {currency}.
    The price is given in {currency}.
    The guest is {guest}.
    The room is reserved for {guest}.
    It is booked in the name of {guest}.
    Guest: {guest}.
    The reservation was made by {guest}.
    {guest} is the guest.
    Booked for {guest}.
    {guest} will stay with us.
    The hotel is in {city}.
    It is in the centre of {city}.
    Location: {city}.
    City: {city}.
    You will stay in {city}.
    We are glad that you come to {city}.
    Located in {city}.
    The address is {street}.
    You find the hotel at {street}.
    Address: {street}.
    The entrance is at {street}.
    It is located at {street}.
    Come to {street}.
    Check-in is on {arrival}.
    You arrive on {arrival}.
    Arrival: {arrival}.
    The stay begins on {arrival}.
    Check-in: {arrival}
    The room is ready for you on {arrival}.
    We expect you on {arrival}.
    The date of arrival is {arrival}.
    Check-out is on {leaving}.
    You leave on {leaving}.
    Departure: {leaving}.
    The stay ends on {leaving}.
    Check-out: {leaving}
    Please leave the room by noon on {leaving}.
    You check out on {leaving}.
    The date of departure is {leaving}.
    It is for {nights} nights.
    You stay {nights} nights.
    Nights: {nights}.
    The stay is {nights} nights long.
    {nights} nights are booked.
    You will spend {nights} nights there.
    It is for {guests} people.
    The number of guests is {guests}.
    {guests} guests are expected.
    The booking is for {guests} persons.
    Guests: {guests}.
    There will be {guests} of us.
    {rooms} rooms are booked.
    Number of rooms: {rooms}.
    You reserved {rooms} rooms.
    We need {rooms} rooms.
    Rooms: {rooms}.
    The booking covers {rooms} rooms.
    The room number is {room_number}.
    Your room is number {room_number}.
    Room no. {room_number}.
    You have room {room_number}.
    The key is for room {room_number}.
    You will sleep in room {room_number}.
    The confirmation number is {booking}.
    Your booking number is {booking}.
    Reservation {booking}.
    Please show the booking number {booking} on arrival.
    Confirmation no.: {booking}.
    The reservation has the number {booking}.
    The total is {total}.
    The stay costs {total}.
    Total price: {total}.
    In total you pay {total}.
    The whole stay comes to {total}.
    We will charge {total} in total.
    The total price is {total}.
    One night is {nightly}.
    The rate is {nightly} per night.
    Each night costs {nightly}.
    Price per night: {nightly}.
    {nightly} a night.
    The nightly rate is {nightly}.
    Write to {email} if plans change.
    E-mail: {email}.
    The contact address is {email}.
    Questions go to {email}.
    You can reach the hotel at {email}.
    Mail {email} for special wishes.
    It is a {room_type}.
    The room type is {room_type}.
    Room type: {room_type}.
    You booked a {room_type}.
    We reserved a {room_type}.
    The category of the room is {room_type}.
    {guest} has booked a room at {hotel}.
    {guest} stays at {hotel} in {city}.
    {guest} will stay at {hotel} from {arrival} to {leaving}.
    {guest} has booked {nights} nights at {hotel}.
    {hotel} in {city} expects {guest} on {arrival}.
    {hotel}, {city}
    {hotel}, {street}, {city}
    {hotel}, {arrival} - {leaving}
    {hotel}\\n{street}\\n{city}
    {hotel}\\nCheck-in: {arrival}\\nCheck-out: {leaving}
    Guest: {guest}\\nConfirmation: {booking}
    Dear {guest}, your reservation at {hotel} is confirmed.
    {guest}, party of {guests}, {nights} nights from {arrival}.
    The reservation {booking} at {hotel} is for {guests} guests.
    You will check in on {arrival} and check out on {leaving}.
    Your stay at {hotel} from {arrival} until {leaving} is confirmed.
    Your stay at {hotel} costs {total}.
    Your booking {booking} at {hotel} is confirmed.
    Booking {booking} for {guest}
    You stay from {arrival} to {leaving}.
    Check-in {arrival}, check-out {leaving}.
    Arrival {arrival}, departure {leaving}, {nights} nights.
    {arrival} to {leaving}, {guests} guests
    You arrive on {arrival} and stay {nights} nights.
    {nights} nights for {guests} people cost {total}.
    {nights} nights at {nightly} each, {total} in total.
    The hotel is at {street} in {city}.
    It is at {street}, {city}.
    A {room_type} for {guests} people.
    A {room_type} at {hotel} costs {nightly} per night.
    {rooms} rooms for {guests} guests.
    {guest}, {guests} people, {nights} nights
    The booking {booking} comes to {total}.
    The total for {nights} nights is {total}.
    {guest} arrives on {arrival} and leaves on {leaving}.
    """,
    asides="""
    The front desk is open until {any_time}.
    Parking costs {any_money} a day.
    The airport is {any_int} minutes away.
    The manager, {any_person}, wishes you a pleasant journey.
    The hotel was renovated on {any_date}.
    Our sister hotel is in {any_city}.
    Pets are welcome.
    The Wi-Fi code is {any_code}.
    A taxi can be ordered at {any_phone}.
    The pool is closed in winter.
    Towels are changed daily.
    """,
)
