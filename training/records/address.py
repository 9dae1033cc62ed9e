"""Postal addresses."""

from training.records.kind import Field, kind
from training.values import (
    city,
    code,
    company,
    day,
    from_list,
    from_pool,
    integer,
    other_person,
    phone,
    street,
)

_POSTCODES = "#####, #### @@, @## #@@, @@# #@@, @#@ #@#, ####, ##-###, #####-####, ### ##"

_REGIONS = (
    "Bavaria, California, Catalonia, Tuscany, Ontario, Texas, Saxony, Normandy, Andalusia, Victoria, "
    "Queensland, Flanders, Scania, Galicia, Kerala, Punjab, Quebec, Oregon, Ohio, Vermont, Styria, Tyrol, "
    "Zeeland, Brittany, Kent, Cornwall, Yorkshire, Masovia, Hesse, Nevada, Utah, Maine"
)

ADDRESS = kind(
    "address",
    (
        Field(
            "street",
            street,
            "street, street address, address, address line, street and number, line1",
            "street and number",
            "Street, Address, Street address, Address line 1",
            weight=3,
        ),
        Field("city", city, "city, town, place, locality, city name", "the city", "City, Town, Place", weight=3),
        Field(
            "postcode",
            code(_POSTCODES),
            "postcode, zip code, postal code, zip, zip or postcode",
            "the postal code",
            "Postcode, ZIP code, Postal code, ZIP",
            weight=2.6,
        ),
        Field("country", from_pool("countries"), "country, country name, nation", "the country", "Country", weight=2),
        Field(
            "region",
            from_list(_REGIONS),
            "state, region, province, county, state or province",
            "state or region",
            "State, Region, Province",
            weight=1.1,
        ),
        Field(
            "name",
            other_person,
            "name, recipient, addressee, person, contact name, full name",
            "who lives or works there",
            "Name, Recipient, Attn",
            weight=1.8,
        ),
        Field(
            "company",
            company,
            "company, organization, company name, business, firm",
            "the company at the address",
            "Company, Organisation",
            weight=1,
        ),
        Field(
            "phone",
            phone,
            "phone, phone number, telephone, contact phone",
            "telephone number",
            "Phone, Telephone",
            weight=0.8,
        ),
        Field(
            "floor",
            integer(1, 30, words=0.1),
            "floor, floor number, level, storey",
            "on which floor it is",
            "Floor, Level",
            weight=0.7,
        ),
        Field(
            "unit",
            code("#@, ##, @#, ###, #@, ##@"),
            "apartment, unit, flat, apartment number, suite",
            "number of the flat or suite",
            "Apartment, Unit, Flat, Apt.",
            weight=0.8,
        ),
        Field(
            "since",
            day(-3000, 0),
            "valid from, since, moved in on, move in date",
            "since when it is valid",
            "Valid from, Since",
            weight=0.5,
        ),
    ),
    plural="addresses, locations, branches, places",
    nests={"location, place, geo": "city, postcode, country, region", "contact, resident": "name, company, phone"},
    titles="Address, Change of address, Shipping label, New address, Contact data, Delivery address",
    sentences="""
    The address is {street}.
    Street: {street}
    Please send it to {street}.
    We have moved to {street}.
    It is at {street}.
    The new street address is {street}.
    The building stands at {street}.
    You find us at {street}.
    Our house is {street}.
    Write to {street}.
    The office has moved to {street}.
    The parcel should be sent to {street}.
    It is in {city}.
    The city is {city}.
    City: {city}
    The house is in {city}.
    This is in {city}.
    You find it in {city}.
    Our new home is {city}.
    We live in {city} now.
    The town is called {city}.
    We moved to {city}.
    Everything goes to {city}.
    The place is {city}.
    The postcode is {postcode}.
    ZIP code {postcode}.
    Postal code: {postcode}.
    Please use the postcode {postcode}.
    The ZIP is {postcode}.
    Do not forget the postal code, {postcode}.
    The country is {country}.
    Country: {country}
    It is in {country}.
    All of this is in {country}.
    Please send it to {country}.
    We now live in {country}.
    The state is {region}.
    It belongs to {region}.
    Region: {region}.
    That is in the region {region}.
    The province is {region}.
    State: {region}.
    The recipient is {name}.
    The address belongs to {name}.
    {name} lives there.
    Please address it to {name}.
    Attn: {name}
    {name} has moved.
    Name on the door: {name}.
    c/o {name}
    The company is {company}.
    {company} has its office there.
    Company: {company}
    It is the address of {company}.
    {company} has moved.
    The sign says {company}.
    The phone number is {phone}.
    Call {phone} on arrival.
    Phone: {phone}
    If nobody opens, ring {phone}.
    Tel. {phone}
    The telephone number there is {phone}.
    It is on floor {floor}.
    Floor: {floor}.
    Take the lift to floor {floor}.
    The office is on level {floor}.
    We are on floor number {floor}.
    Please come up to floor {floor}.
    The apartment is {unit}.
    Apartment {unit}.
    It is unit {unit}.
    Flat {unit}.
    Ring at apartment {unit}.
    The number of the flat is {unit}.
    It is valid from {since}.
    The address has been valid since {since}.
    We moved in on {since}.
    Since {since} this is the right one.
    Valid from {since}.
    Please use it from {since} on.
    {street}, {postcode} {city}, {country}
    {street}, {postcode} {city}
    {street}, {city} {postcode}
    {street}, {city}, {region} {postcode}
    {street}, {city}, {country}
    {street}, {city}
    {name}, {street}, {postcode} {city}
    {name}, {street}, {city}
    {name}, {company}, {street}, {city}
    {company}, {street}, {postcode} {city}, {country}
    {company}, {street}, {city}
    {postcode} {city}
    {postcode} {city}, {country}
    {city}, {region}, {country}
    {city}, {country}
    {city}, {region}
    {name}\\n{street}\\n{postcode} {city}\\n{country}
    {name}\\n{street}\\n{postcode} {city}
    {name}\\n{street}\\n{city}, {region} {postcode}\\n{country}
    {company}\\n{street}\\n{city}, {postcode}\\n{country}
    {company}\\nAttn: {name}\\n{street}\\n{postcode} {city}
    {street}\\n{postcode} {city}\\n{country}
    {street}\\n{city}\\n{postcode}
    {street}\\n{city}, {region} {postcode}
    {name}\\n{company}\\n{street}\\n{city}
    {street}, apt {unit}\\n{postcode} {city}
    {street}\\n{postcode} {city}
    {name} lives at {street} in {city}.
    {name} has moved to {street}, {postcode} {city}.
    {name} now lives in {city}, {country}.
    {name} works at {company}.
    {company} has moved to {street} in {city}.
    {company} is at {street}, {city}.
    My new address is {street}, {city}, {postcode}.
    Please deliver to {street} in {postcode} {city}.
    Send it to {name}, {street}, {city}, {country}.
    Ship to: {name}, {street}, {postcode} {city}, {country}
    It is {street}, apartment {unit}, {city}.
    {street}, apt {unit}, {city}, {postcode}
    {street}, Unit {unit}
    It is on floor {floor}, flat {unit}.
    The office of {company} is on floor {floor}.
    Attn {name}, {company}
    {name} ({phone})
    Since {since} we live in {city}.
    The postcode of {city} is {postcode}.
    """,
    asides="""
    The old address was {any_street}.
    The landlord is {any_person}.
    The train from {any_city} stops nearby.
    The bell does not work.
    The key is with {any_person} next door.
    The move took {any_int} hours.
    Deliveries are accepted until {any_time}.
    The door code is {any_code}.
    The old contract ended on {any_date}.
    Please use the back entrance.
    There is a bakery downstairs.
    """,
)
