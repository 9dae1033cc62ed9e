"""Vehicles for sale, which training never sees."""

from training.records.compound import choice, flag, several
from training.records.kind import Field, kind
from training.values import city, day, from_list, from_pool, integer, money, other_person, phone, text_fact, year

VEHICLE = kind(
    "vehicle_listing",
    (
        Field(
            "model",
            from_pool("vehicles"),
            "model, vehicle, car, make and model, vehicle name",
            "make and model",
            "Model, Vehicle, Car",
            weight=3,
        ),
        Field(
            "year",
            year(1995, 2024),
            "year, model year, first registered in, year of manufacture",
            "when it was built",
            "Year, Model year",
            weight=2,
        ),
        Field(
            "mileage",
            integer(1200, 240000, words=0.0, units=" km| kilometres|km| miles"),
            "mileage, odometer, distance driven, mileage km",
            "how far it has been driven",
            "Mileage, Odometer",
            weight=2,
        ),
        Field(
            "price",
            money(900, 60000, whole=0.95),
            "price, asking price, sale price",
            "what it costs",
            "Price, Asking price",
            weight=2.4,
        ),
        Field(
            "colour",
            from_pool("colours"),
            "color, colour, paint, exterior color",
            "the colour",
            "Colour, Color",
            weight=1.5,
        ),
        Field(
            "seller", other_person, "seller, owner, contact, seller name", "who sells it", "Seller, Owner", weight=1.6
        ),
        Field("phone", phone, "phone, phone number, seller phone, call", "telephone number", "Phone", weight=1),
        Field(
            "city", city, "city, location, place, can be seen in", "where it can be seen", "City, Location", weight=1.4
        ),
        Field(
            "owners",
            integer(1, 5, words=0.5),
            "previous owners, number of owners, owner count",
            "how many owners it had",
            "Previous owners",
            weight=1,
        ),
        Field(
            "inspection",
            day(30, 700),
            "inspection due, next inspection, inspection valid until, inspection date",
            "when the next inspection is due",
            "Next inspection, Inspection valid until",
            weight=1,
        ),
        Field(
            "plate",
            lambda scene: text_fact(f"{scene.pick('ABKLMW')}{scene.pick('ABCDEF')}-{scene.rng.randrange(100, 9999)}"),
            "license plate, plate, registration, plate number",
            "the licence plate",
            "License plate, Plate",
            weight=0.8,
        ),
        Field(
            "doors",
            integer(2, 5, words=0.3),
            "doors, number of doors, door count",
            "how many doors it has",
            "Doors",
            weight=0.8,
        ),
        Field(
            "extras",
            several(
                from_list(
                    "air conditioning, tow bar, heated seats, navigation system, sunroof, "
                    "parking sensors, roof rack, winter tyres, cruise control, leather seats"
                ),
                1,
                4,
            ),
            "extras, equipment, features, options",
            "what it is equipped with",
            "Extras, Equipment",
            none="It has no extras.",
            weight=1.2,
        ),
        Field(
            "fuel",
            choice({"petrol": "petrol, gasoline", "diesel": "diesel", "electric": "electric", "hybrid": "hybrid"}),
            "fuel, fuel type, engine type, drive",
            "what it runs on",
            "Fuel, Fuel type",
            plain=False,
            may_miss=False,
        ),
        Field(
            "accident_free",
            flag(),
            "accident free, no accidents, is accident free",
            "whether it never had an accident",
            "Accident-free",
            wordings={
                "true": "It is accident-free.\nIt never had an accident.",
                "false": """
                    It is not accident-free.
                    It had an accident that was repaired.
                    """,
            },
            plain=False,
        ),
    ),
    plural="vehicles, cars, listings",
    nests={"contact info, seller info": "seller, phone, city", "details, specs": "year, mileage, colour, doors"},
    titles="Car for sale, Used car, Vehicle offer",
    held_out=True,
    sentences="""
    I am selling my {model}.
    For sale: {model}
    The car is a {model}.
    It was built in {year}.
    It is from {year}.
    It has run {mileage}.
    The odometer shows {mileage}.
    I want {price} for it.
    The asking price is {price}.
    Price: {price}.
    It is painted in {colour}.
    The colour is {colour}.
    The seller is {seller}.
    It is sold by {seller}.
    Call {phone} for a test drive.
    My number is {phone}.
    It can be seen in {city}.
    The car is parked in {city}.
    It had {owners} owners before.
    Previous owners: {owners}.
    The next inspection is due on {inspection}.
    The inspection is valid until {inspection}.
    The plate is {plate}.
    It is registered as {plate}.
    It has {doors} doors.
    All {doors} doors close well.
    It comes with {extras}.
    Equipment: {extras}.
    It runs on {fuel}.
    The fuel type is {fuel}.
    {model}, built {year}, {mileage}, {price}
    {seller} from {city} is selling a {model} for {price}.
    My {model} from {year} has run {mileage}.
    The {colour} {model} has {doors} doors.
    Call {seller} on {phone}.
    {model} in {colour}, {fuel}, {price}
    Built in {year}, {owners} previous owners.
    """,
    asides="""
    I bought it from {any_person}.
    It was last washed on {any_date}.
    New brakes cost me {any_money}.
    We drove it to {any_city} every summer.
    Nobody ever smoked in it.
    The garage of {any_company} looked after it.
    """,
)
