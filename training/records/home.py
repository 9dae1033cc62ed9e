"""Homes for sale or rent."""

from training.records.compound import choice, flag, several
from training.records.kind import Field, kind
from training.values import (
    city,
    code,
    currency,
    day,
    from_list,
    from_pool,
    integer,
    money,
    other_email,
    other_person,
    phone,
    street,
    year,
)

PROPERTY = kind(
    "property_listing",
    (
        Field(
            "street",
            street,
            "address, street, street address, property address",
            "street and number",
            "Address, Street",
            weight=1.8,
        ),
        Field(
            "currency",
            currency,
            "currency, price currency",
            "ISO code of the currency",
            "Currency",
            implied_by=("price", "deposit"),
            weight=0.4,
            plain=False,
        ),
        Field("city", city, "city, location, town, place", "the city", "City, Location, Town", weight=2.2),
        Field(
            "district",
            from_list(
                "Old Town, Harbour Quarter, Northside, Riverbank, Hillcrest, Westend, Museum District, "
                "Green Park, Station Quarter, Eastfield, Canal Side, Lakeview, University Quarter, "
                "Southgate, Garden City, Mill Quarter, Upper Town, Sunnyside"
            ),
            "district, neighbourhood, neighborhood, quarter, area name",
            "the part of the city",
            "District, Neighbourhood",
            weight=0.8,
        ),
        Field(
            "price",
            money(400, 900000, whole=0.97),
            "price, asking price, rent, amount, purchase price, monthly rent",
            "what it costs",
            "Price, Asking price, Costs",
            weight=2.6,
        ),
        Field(
            "deposit",
            money(300, 9000, whole=0.9),
            "deposit, security deposit, down payment",
            "the deposit",
            "Deposit, Security deposit",
            weight=0.6,
        ),
        Field(
            "bedrooms",
            integer(1, 7, words=0.45),
            "bedrooms, number of bedrooms, beds, bedroom count",
            "how many bedrooms there are",
            "Bedrooms, Beds",
            weight=2,
        ),
        Field(
            "bathrooms",
            integer(1, 4, words=0.45),
            "bathrooms, number of bathrooms, baths, bathroom count",
            "how many bathrooms there are",
            "Bathrooms, Baths",
            weight=1.5,
        ),
        Field(
            "area",
            integer(22, 420, words=0.0, units=" m²| sqm| square metres|m2| square meters| sq m"),
            "area, size, living area, square meters, floor area, area sqm",
            "living area in square metres",
            "Living area, Size, Area",
            weight=1.9,
        ),
        Field(
            "built",
            year(1880, 2024),
            "year built, built, construction year, year of construction, built in",
            "when it was built",
            "Year built, Built in, Year of construction",
            weight=1.2,
        ),
        Field(
            "floor",
            integer(1, 18, words=0.05),
            "floor, floor number, level, storey",
            "on which floor it is",
            "Floor, Level",
            weight=0.8,
        ),
        Field(
            "free",
            day(1, 200),
            "available from, available, move in date, free from, availability date",
            "from when it is free",
            "Available from, Free from, Move-in",
            weight=1.4,
        ),
        Field(
            "agent",
            other_person,
            "agent, contact, contact person, estate agent, realtor, broker",
            "whom to contact",
            "Agent, Contact, Estate agent",
            weight=1.3,
        ),
        Field(
            "phone",
            phone,
            "phone, phone number, agent phone, telephone",
            "telephone number",
            "Phone, Telephone",
            weight=0.8,
        ),
        Field("email", other_email, "email, contact email, agent email", "e-mail address", "E-mail, Email", weight=0.7),
        Field(
            "features",
            several(from_pool("amenities"), 1, 4),
            "features, amenities, extras, equipment, highlights",
            "what it offers",
            "Features, Amenities, Extras",
            none="""
                There are no extras.
                It has no special features.
                No amenities.
                """,
            weight=1.4,
        ),
        Field(
            "number",
            code("REF-####, ####, @@###, OBJ-####, P######"),
            "listing id, reference, reference number, id, listing number",
            "the number of the listing",
            "Reference, Listing ID, Object no.",
            weight=0.8,
        ),
        Field(
            "type",
            choice(
                {"apartment": "apartment, flat", "house": "house", "studio": "studio", "loft": "loft", "villa": "villa"}
            ),
            "property type, type, kind, building type",
            "what sort of home it is",
            "Type, Property type",
            plain=False,
            may_miss=False,
            weight=1.4,
        ),
        Field(
            "deal",
            choice({"sale": "for sale", "rent": "for rent, to let"}),
            "offer type, deal, sale or rent, listing type, transaction",
            "whether it is sold or let",
            "Offer, Deal",
            wordings={
                "sale": """
                    It is for sale.
                    The owner wants to sell it.
                    You can buy it.
                    For sale!
                    """,
                "rent": """
                    It is for rent.
                    The owner wants to let it.
                    You can rent it.
                    To let!
                    """,
            },
            plain=False,
            may_miss=False,
            weight=0.8,
        ),
        Field(
            "pets",
            flag(),
            "pets allowed, pets, pet friendly, allows pets",
            "whether pets are allowed",
            "Pets allowed, Pets",
            wordings={
                "true": """
                    Pets are allowed.
                    You can bring your pets.
                    Pets are welcome here.
                    Dogs and cats are no problem.
                    It is pet-friendly.
                    """,
                "false": """
                    Pets are not allowed.
                    No pets, please.
                    You cannot keep pets here.
                    Unfortunately no dogs or cats.
                    It is not suitable for pets.
                    """,
            },
            plain=False,
            weight=0.8,
        ),
        Field(
            "furnished",
            flag(),
            "furnished, is furnished, with furniture",
            "whether it is furnished",
            "Furnished",
            wordings={
                "true": """
                    It is fully furnished.
                    It comes with furniture.
                    Furnished.
                    All rooms are furnished.
                    The furniture stays.
                    """,
                "false": """
                    It is unfurnished.
                    There is no furniture in it.
                    It is not furnished.
                    You have to bring your own furniture.
                    The rooms are empty, without any furniture.
                    """,
            },
            plain=False,
            weight=0.8,
        ),
    ),
    plural="listings, properties, homes, offers",
    nests={
        "address info, location info": "street, city, district",
        "contact info, agent info": "agent, phone, email",
        "rooms, layout": "bedrooms, bathrooms, area",
    },
    titles="New on the market, Property listing, For your new home, Exposé, Home of the week, Open house, Real estate",
    sentences="""
    The address is {street}.
    It is located at {street}.
    Address: {street}.
    You find it at {street}.
    It stands at {street}.
    Come and see it at {street}.
    Prices are in {currency}.
    Currency: {currency}.
    The price is in {currency}.
    You pay in {currency}.
    All sums in {currency}.
    Amounts are given in {currency}.
    It is in {city}.
    Location: {city}.
    The property is in {city}.
    Live in {city}!
    You will enjoy life in {city}.
    It is situated in {city}.
    A home in {city}.
    {city} is at its doorstep.
    The district is {district}.
    It is in the {district} area.
    {district} is a quiet neighbourhood.
    You will live in {district}.
    Neighbourhood: {district}.
    In lovely {district}.
    The price is {price}.
    It costs {price}.
    The asking price is {price}.
    Price: {price}.
    It is yours for {price}.
    The owner asks for {price}.
    It is on offer at {price}.
    They want {price} for it.
    You can have it for {price}.
    Offered at {price}.
    The deposit is {deposit}.
    A deposit of {deposit} is required.
    Deposit: {deposit}.
    You pay a deposit of {deposit}.
    Please pay {deposit} as a deposit.
    {deposit} has to be left as a deposit.
    It has {bedrooms} bedrooms.
    There are {bedrooms} bedrooms.
    {bedrooms} bedrooms are upstairs.
    Bedrooms: {bedrooms}.
    You can sleep in {bedrooms} bedrooms.
    The number of bedrooms is {bedrooms}.
    It has {bathrooms} bathrooms.
    There are {bathrooms} bathrooms.
    Bathrooms: {bathrooms}.
    The number of bathrooms is {bathrooms}.
    {bathrooms} bathrooms are tiled.
    You get {bathrooms} bathrooms.
    The living area is {area}.
    It measures {area}.
    It offers {area} of living space.
    Size: {area}.
    With {area} it is roomy.
    {area} of floor area.
    It has {area}.
    It was built in {built}.
    The house dates from {built}.
    Year of construction: {built}.
    Built in {built}.
    The construction was finished in {built}.
    The building is from {built}.
    It is on floor {floor}.
    Floor: {floor}.
    You live on floor {floor}.
    It lies on level {floor}.
    It is up on floor number {floor}.
    The lift takes you to floor {floor}.
    It is available from {free}.
    It is free from {free}.
    You can move in on {free}.
    Available from {free}.
    Move-in: {free}.
    The keys are handed over on {free}.
    The agent is {agent}.
    Please contact {agent}.
    {agent} will show you around.
    For a viewing ask {agent}.
    Contact: {agent}.
    Your estate agent is {agent}.
    Call {phone} for a viewing.
    The phone number is {phone}.
    Phone: {phone}.
    Interested? Call {phone}.
    Ring {phone} to see it.
    Viewings: {phone}.
    Write to {email}.
    E-mail: {email}.
    Contact us at {email}.
    Interested? Mail {email}.
    Send a message to {email}.
    Requests to {email}.
    It has {features}.
    The features are {features}.
    It comes with {features}.
    You will enjoy {features}.
    Amenities: {features}.
    It offers {features}.
    Extras: {features}.
    The reference is {number}.
    Listing {number}.
    Please quote the number {number}.
    Reference number {number}.
    It is listed as {number}.
    Object {number}.
    It is {type:a}.
    The property is {type:a}.
    Type: {type}.
    We offer {type:a}.
    A beautiful {type}.
    The type of the property is {type}.
    It is {deal}.
    This property is {deal}.
    Offer: {deal}.
    Now {deal}!
    The home is {deal}.
    It has been put up {deal}.
    A {type} with {bedrooms} bedrooms in {city} is on the market for {price}.
    A {type} in {city}, {area}, {price}
    {city}: {type}, {bedrooms} bedrooms, {area}
    {street}\\n{city}\\n{price}
    {bedrooms} bedrooms\\n{bathrooms} bathrooms\\n{area}\\n{price}
    This {bedrooms}-bedroom {type} in {city} has {bathrooms} bathrooms.
    Charming {bedrooms}-bedroom {type} at {street}, {city}.
    We offer a {area} {type} in {city} for {price}.
    The {type} at {street} has {bedrooms} bedrooms and {bathrooms} bathrooms.
    Contact {agent} at {email} or {phone} for a viewing.
    A {type} in {district}, {city}.
    A {type} at {street} in {city}.
    {street}, {city}
    {street}, {city}, {district}
    It is at {street} in {city}.
    It has {bedrooms} bedrooms and {bathrooms} bathrooms.
    {bedrooms} bed, {bathrooms} bath, {area}
    {bedrooms} bedrooms, {bathrooms} bathrooms, {area}
    The {area} {type} has {bedrooms} bedrooms.
    The {type} has {bedrooms} bedrooms, {bathrooms} bathrooms and {area} of living space.
    The {type} in {city} costs {price}.
    The {type} was built in {built} and measures {area}.
    Built in {built}, it offers {area} and {bedrooms} bedrooms.
    For {price} you get {area} in {city}.
    It costs {price} plus a deposit of {deposit}.
    The {type} costs {price}, the deposit is {deposit}.
    {price}, available from {free}
    It is available from {free} for {price}.
    Contact {agent} on {phone} or at {email}.
    Contact {agent} at {phone}.
    Call {agent} on {phone}.
    {agent}, {email}
    {agent} ({phone})
    Listing {number}: {type} in {city}
    It is on floor {floor} and has {area}.
    The {type} offers {features}.
    Built in {built}, with {features}.
    The {type} is {deal}.
    Nice {type} {deal} in {city}
    The {type} is available from {free}.
    """,
    asides="""
    The station is {any_int} minutes away.
    The neighbour, {any_person}, has a friendly dog.
    The last owner moved to {any_city}.
    Heating costs are about {any_money}.
    The open house starts at {any_time}.
    The roof was repaired on {any_date}.
    Shops and schools are close by.
    The garden is tended by {any_company}.
    Photos will follow.
    The street is quiet at night.
    The permit has the number {any_code}.
    """,
)
