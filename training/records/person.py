"""People: who they are, what they do and how to reach them."""

from training.records.compound import choice, several
from training.records.kind import Field, kind
from training.values import (
    city,
    company,
    day,
    email,
    from_pool,
    integer,
    main_family,
    main_given,
    main_person,
    phone,
    url,
)

PERSON = kind(
    "person",
    (
        Field(
            "name",
            main_person,
            "name, full name, person, who, person name",
            "the person's full name",
            "Name, Full name, Surname and first name",
            weight=3,
        ),
        Field(
            "first",
            main_given,
            "first name, given name, forename",
            "the given name only",
            "First name, Given name",
            implied_by=("name",),
            weight=0.6,
        ),
        Field(
            "last",
            main_family,
            "last name, surname, family name",
            "the family name only",
            "Last name, Surname",
            implied_by=("name",),
            weight=0.6,
        ),
        Field(
            "age",
            integer(18, 95),
            "age, years, age in years, years old",
            "age in years",
            "Age, Age (years)",
            weight=2.5,
        ),
        Field(
            "job",
            from_pool("jobs"),
            "job, occupation, profession, role, job title, position, works as",
            "what the person does for a living",
            "Job, Occupation, Profession, Current position",
            weight=2,
        ),
        Field(
            "employer",
            company,
            "employer, company, organization, workplace, works for, firm",
            "where the person works",
            "Employer, Company, Works at, Organisation",
            weight=1.5,
        ),
        Field(
            "city",
            city,
            "city, home town, location, residence, lives in, place",
            "the city the person lives in",
            "City, Lives in, Residence, Based in",
            weight=1.8,
        ),
        Field(
            "birthplace",
            city,
            "birthplace, place of birth, born in, birth city",
            "the city where the person was born",
            "Place of birth, Born in",
            weight=0.6,
        ),
        Field(
            "born",
            day(-30000, -7000),
            "birthday, date of birth, birth date, born, dob, born on",
            "date of birth",
            "Date of birth, Born, DOB, Birthday",
        ),
        Field(
            "country",
            from_pool("countries"),
            "country, home country, country of residence",
            "the country",
            "Country, Country of residence",
            weight=0.7,
        ),
        Field(
            "email",
            email,
            "email, email address, mail, e mail, contact email",
            "e-mail address",
            "E-mail, Email, Mail, Email address",
            weight=1.4,
        ),
        Field(
            "phone",
            phone,
            "phone, phone number, telephone, mobile, tel, cell",
            "telephone number",
            "Phone, Tel., Mobile, Telephone, Tel",
            weight=1.4,
        ),
        Field(
            "website", url, "website, homepage, url, web site, link", "home page", "Website, Web, Homepage", weight=0.5
        ),
        Field(
            "languages",
            several(from_pool("languages")),
            "languages, spoken languages, speaks, languages spoken",
            "languages the person speaks",
            "Languages, Speaks, Spoken languages",
        ),
        Field(
            "hobbies",
            several(from_pool("hobbies")),
            "hobbies, interests, pastimes, likes, free time",
            "what the person likes to do",
            "Hobbies, Interests, Likes",
            weight=0.8,
        ),
        Field(
            "skills",
            several(from_pool("skills"), 1, 5),
            "skills, competences, expertise, abilities",
            "professional skills",
            "Skills, Expertise, Core skills",
            weight=0.7,
        ),
        Field(
            "children",
            integer(1, 6, words=0.6),
            "children, number of children, kids, child count",
            "how many children the person has",
            "Children, Number of children, Kids",
            weight=0.6,
        ),
        Field(
            "experience",
            integer(1, 35, words=0.3),
            "years of experience, experience, experience years, years in job",
            "years of work experience",
            "Years of experience, Experience (years)",
            weight=0.6,
        ),
        Field(
            "married",
            choice({"single": "single, unmarried", "married": "married", "divorced": "divorced", "widowed": "widowed"}),
            "marital status, civil status, family status, relationship",
            "marital status",
            "Marital status, Civil status",
            wordings={
                "single": """
                {They} is single.
                {They} has never been married.
                {They} is not married and lives alone.
                {They} is unmarried.
                """,
                "married": """
                {They} is married.
                {They} lives with {their} spouse and a dog.
                {They} got married years ago and still is.
                {Their} spouse works nearby.
                """,
                "divorced": """
                {They} is divorced.
                {They} got divorced some years ago.
                The marriage ended in divorce.
                After a divorce {they} moved house.
                """,
                "widowed": """
                {They} is widowed.
                {Their} spouse died some years ago.
                {They} has been widowed for a while.
                {They} lost {their} spouse to an illness.
                """,
            },
            plain=False,
            weight=0.7,
        ),
    ),
    plural="people, persons, contacts, employees, members, team, participants, attendees",
    nests={
        "contact, contact details, contact info": "email, phone, website",
        "work, employment, current job": "job, employer, experience",
        "birth, born": "born, birthplace",
    },
    titles=(
        "Profile, Personal data, Contact card, Employee record, Registration form, About the speaker, Member details"
    ),
    sentences="""
    This is {name}.
    My name is {name}.
    I'm {name}.
    Meet {name}.
    We are happy to welcome {name}.
    The person in question is called {name}.
    Let me introduce {name} to you.
    {name} joined us recently.
    Please say hello to {name}!
    I spoke to {name} yesterday.
    The form was filled in by {name}.
    The application comes from {name}.
    You will be working with {name}.
    This profile belongs to {name}.
    {name} is new here.
    Let's give a warm welcome to {name}.
    {They} is {age}.
    {They} is {age} years old.
    {They} just turned {age}.
    {They} will soon celebrate being {age} years old.
    At {age}, {they} is still full of plans.
    At the age of {age} {they} started over.
    Age: {age}.
    {They} is aged {age}.
    {They} says {they} is {age} years of age.
    Now {age}, {they} has slowed down a little.
    {They} has reached the age of {age}.
    {They} is a {age}-year-old with big plans.
    {They} works as {job:a}.
    {They} is {job:a}.
    {They} earns {their} living as {job:a}.
    By profession {they} is {job:a}.
    {Their} job title is {job}.
    {They} trained as {job:a} and still works as one.
    {They} found a position as {job:a}.
    {They} is employed as {job:a}.
    {Their} current role is {job}.
    Everyone knows {them} as the {job}.
    {They} has been {job:a} for ages.
    {They} makes a living as {job:a}.
    {They} works at {employer}.
    {They} works for {employer}.
    {They} is employed by {employer}.
    {Their} employer is {employer}.
    {They} has been with {employer} for a while.
    {They} recently joined {employer}.
    {They} spends {their} days at {employer}.
    {They} is on the staff of {employer}.
    {employer} is where {they} works.
    {employer} hired {them} last spring.
    {They} earns {their} money at {employer}.
    {They} is part of the team at {employer}.
    {They} lives in {city}.
    {Their} home is in {city}.
    {They} is based in {city}.
    {They} moved to {city} and stayed.
    {They} currently resides in {city}.
    {They} has a flat in {city}.
    You will find {them} in {city}.
    {They} calls {city} home.
    {city} is where {they} lives today.
    {They} has settled down in {city}.
    {They} commutes from {city}, where {they} lives.
    {They} shares a house in {city} with friends.
    {They} was born in {birthplace}.
    {They} is a native of {birthplace}.
    {They} grew up in {birthplace}, where {they} was born.
    {They} originally comes from {birthplace}, the city of {their} birth.
    {birthplace} is {their} place of birth.
    {They} came into the world in {birthplace}.
    {They} was born on {born}.
    {Their} date of birth is {born}.
    {Their} birthday: {born}.
    Date of birth {born}.
    {They} came into the world on {born}.
    Born on {born}, {they} was the youngest of three.
    {They} is a child of the old days: born {born}.
    {They} gave {born} as {their} date of birth.
    {They} first saw the light of day on {born}.
    {Their} passport gives {born} as the birth date.
    (born {born})
    {They} was born {born}.
    {They} lives in {country}.
    {They} is at home in {country}.
    {Their} country of residence is {country}.
    {They} has stayed in {country} ever since.
    The tax papers say {country}.
    {They} pays {their} taxes in {country}.
    {Their} e-mail is {email}.
    {Their} e-mail address is {email}.
    You can write to {them} at {email}.
    Mail: {email}
    Please send everything to {email}.
    Reach {them} at {email}.
    {They} can be reached by mail ({email}).
    Contact: {email}.
    Drop {them} a line at {email}.
    For questions use {email}.
    {They} answers mail sent to {email}.
    {They} reads {email} daily.
    {Their} phone number is {phone}.
    Call {them} on {phone}.
    {They} can be reached at {phone}.
    Phone: {phone}
    {Their} number is {phone}.
    Tel. {phone}.
    Ring {phone} in the morning.
    {Their} mobile is {phone}.
    You can call {phone} any time.
    {They} picks up at {phone}.
    By phone: {phone}.
    Just dial {phone}.
    {Their} website is {website}.
    More at {website}.
    {They} keeps a home page at {website}.
    See {website} for {their} work.
    {They} publishes on {website}.
    {Their} page: {website}
    {They} speaks {languages}.
    {They} is fluent in {languages}.
    Languages: {languages}.
    {Their} languages are {languages}.
    {They} can hold a conversation in {languages}.
    {They} gets by in {languages}.
    {They} enjoys {hobbies}.
    In {their} free time {they} likes {hobbies}.
    {Their} hobbies are {hobbies}.
    {Their} weekends are for {hobbies}.
    {They} is keen on {hobbies}.
    After work there is time for {hobbies}.
    {They} knows {skills}.
    {Their} skills include {skills}.
    {They} is good at {skills}.
    {They} has worked a lot with {skills}.
    {They} brings experience in {skills}.
    {They} is proficient in {skills}.
    {They} has {children} children.
    {They} is raising {children} kids.
    {They} is a parent of {children}.
    There are {children} children in the family.
    {Their} {children} children go to school nearby.
    {They} has to feed {children} children.
    {They} has {experience} years of experience.
    {They} has been in the business for {experience} years.
    {They} looks back on {experience} years in the trade.
    {Their} experience spans {experience} years.
    {They} has {experience} years of professional experience.
    {They} has done this work for {experience} years.
    {name} is {age}.
    {name} is {age} years old.
    {name}, {age}, lives in {city}.
    {name} ({age}) is {job:a} from {city}.
    {name}, {age}, works as {job:a} at {employer} in {city}.
    {name}, {age}, works as {job:a}.
    {name} works for {employer}.
    {name} works at {employer} as {job:a}.
    {name} is {job:a} at {employer}.
    {name} lives in {city}.
    {name} is {age} years old and lives in {city}.
    {name}, {job:a} at {employer}, is {age} years old.
    {name} is a {age}-year-old {job} living in {city}.
    A {age}-year-old {job} named {name} lives in {city}.
    {name} was born on {born} in {birthplace}.
    {name} (born {born}) is {job:a}.
    {name}, born {born}, lives in {city}.
    {name}, born in {birthplace}, now lives in {city}.
    My name is {name} and I am {age} years old.
    My name is {name}, I'm {job:a} and I live in {city}.
    I'm {name}, {age}, from {city}.
    Hi, I'm {name}, {job:a} at {employer}.
    {name} joined {employer} as {job:a}.
    {employer} has hired {name} as {job:a}.
    {employer} in {city} employs {name} as {job:a}.
    {name} - {job}, {employer}
    {name}, {job}
    {name} | {job} | {employer} | {city}
    {name} <{email}>
    {name} ({email}, {phone})
    {name} can be reached at {email} or {phone}.
    Contact {name} at {email}.
    Call {name} on {phone}.
    {They} works as {job:a} at {employer}.
    {They} is {job:a} in {city}.
    {They} lives in {city} and works for {employer}.
    {They} lives in {city}, {country}.
    {They} is {age} and lives in {city}.
    {They} was born in {birthplace} on {born}.
    {They} was born on {born} in {birthplace} and now lives in {city}.
    {They} is {age} years old and speaks {languages}.
    Reach {them} at {email} or on {phone}.
    Mail {email}, phone {phone}.
    {They} has worked as {job:a} for {experience} years.
    {They} enjoys {hobbies} and speaks {languages}.
    Born in {birthplace}, {they} now works in {city}.
    As {job:a} with {experience} years of experience, {they} knows {skills}.
    {name}\\n{job}\\n{employer}
    {name}\\n{job}, {employer}\\n{phone}\\n{email}
    {name}\\n{job} at {employer}\\n{city}
    {name}\\n{email}\\n{phone}
    {name}\\n{phone}
    {name}\\n{employer}\\nTel. {phone}\\n{email}\\n{website}
    {name}, {age}, {job} at {employer}, was born in {birthplace} and speaks {languages}.
    {name} is a {age}-year-old {job} at {employer} in {city}.
    {name} is {job:a} at {employer}, where {they} has worked for {experience} years.
    {name} is {job:a} based in {city} with {experience} years of experience.
    You can reach {name} at {email} or by phone at {phone}.
    {name}, who is {age}, works for {employer} in {city}.
    {job:a} by training, {name} works at {employer}.
    After {experience} years as {job:a}, {name} joined {employer}.
    {They} was born in {birthplace} on {born} and works as {job:a} for {employer}.
    {They} is fluent in {languages} and knows {skills}.
    {They} is {age}, lives in {city} and has {children} children.
    {name} speaks {languages}.
    {name} has {children} children and lives in {city}.
    {name} lives in {city}, {country}, and works as {job:a}.
    Originally from {birthplace}, {name} now lives in {city}.
    {name} turned {age} last week.
    The {job} {name} is {age} years old.
    """,
    asides="""
    {Their} manager is {any_person}.
    {They} sat next to {any_person} at the dinner.
    A friend, {any_person}, took the picture.
    The meeting with {any_person} is on {any_date}.
    {Their} bike cost {any_money}.
    {any_person} will get in touch about the details.
    {They} once spent a summer in {any_city}.
    {Their} brother {any_person} moved to {any_city}.
    {They} used to work for {any_company}.
    {They} left {any_company} a few years ago.
    {They} visited {any_city} twice this year.
    {Their} badge number is {any_code}.
    The interview took {any_int} minutes.
    This page was updated on {any_date}.
    {Their} sister {any_person} is {any_int}.
    Before that {they} worked in a shop.
    {They} has a dog and two cats.
    {They} owns {any_int} books.
    """,
)
