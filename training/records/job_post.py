"""Job advertisements."""

from training.records.compound import choice, flag, several
from training.records.kind import Field, kind
from training.values import city, company, currency, day, from_pool, integer, money, other_email, other_person, url

JOB_POST = kind(
    "job_post",
    (
        Field(
            "title",
            from_pool("jobs", capitalised=0.5),
            "title, job title, position, role, job, vacancy, opening",
            "the job that is offered",
            "Position, Job title, Role, Vacancy",
            weight=3,
        ),
        Field(
            "currency",
            currency,
            "currency, salary currency, pay currency",
            "ISO code of the currency",
            "Currency",
            implied_by=("salary", "highest"),
            weight=0.5,
            plain=False,
        ),
        Field(
            "company",
            company,
            "company, employer, company name, organization, hiring company, firm",
            "who offers the job",
            "Company, Employer, Organisation",
            weight=2.6,
        ),
        Field(
            "city",
            city,
            "location, city, place of work, office location, workplace, office",
            "where the work is",
            "Location, Place of work, City, Office",
            weight=2.2,
        ),
        Field(
            "salary",
            money(18000, 60000, whole=0.95),
            "salary min, minimum salary, salary from, lowest salary, min salary",
            "the lowest yearly salary",
            "Salary from, Minimum salary",
            weight=1.6,
        ),
        Field(
            "highest",
            money(61000, 160000, whole=0.95),
            "salary max, maximum salary, salary to, highest salary, max salary",
            "the highest yearly salary",
            "Salary up to, Maximum salary",
            weight=1.6,
        ),
        Field(
            "skills",
            several(from_pool("skills"), 1, 5),
            "skills, required skills, requirements, must have skills, technologies, qualifications",
            "what the candidate must know",
            "Skills, Requirements, Required skills, You know",
            none="""
                No special skills are required.
                We do not ask for any skills.
                No requirements, we train you.
                """,
            weight=1.8,
        ),
        Field(
            "languages",
            several(from_pool("languages"), 1, 2),
            "languages, required languages, language skills",
            "languages the candidate must speak",
            "Languages, Required languages",
            none="""
                No language is required.
                You need not speak any foreign language.
                No language requirements.
                """,
            weight=0.7,
        ),
        Field(
            "experience",
            integer(1, 15, words=0.35),
            "years of experience, experience, experience years, min experience, required experience",
            "how many years of experience are asked for",
            "Experience (years), Years of experience",
            weight=1.4,
        ),
        Field(
            "start",
            day(5, 200),
            "start date, starting date, start, available from, begins on",
            "when the work begins",
            "Start date, Start, Starting",
            weight=1.2,
        ),
        Field(
            "deadline",
            day(-40, 4),
            "deadline, application deadline, apply by, closing date",
            "until when one can apply",
            "Apply by, Application deadline, Closing date, Deadline",
            weight=1.2,
        ),
        Field(
            "department",
            from_pool("departments"),
            "department, team, division, unit",
            "the department",
            "Department, Team, Division",
            weight=1,
        ),
        Field(
            "contact",
            other_person,
            "contact, contact person, recruiter, hiring manager, contact name",
            "whom to ask",
            "Contact, Recruiter, Contact person",
            weight=1.1,
        ),
        Field(
            "email",
            other_email,
            "email, contact email, apply to, application email",
            "where to send the application",
            "E-mail, Apply to, Applications to",
            weight=1.1,
        ),
        Field(
            "link",
            url,
            "url, link, apply url, web page, website",
            "where to apply online",
            "Link, Apply at, URL",
            weight=0.5,
        ),
        Field(
            "hours",
            integer(15, 42, words=0.1),
            "hours per week, weekly hours, hours, working hours",
            "hours of work in a week",
            "Hours per week, Weekly hours",
            weight=0.7,
        ),
        Field(
            "contract",
            choice(
                {
                    "full time": "full-time, full time",
                    "part time": "part-time, part time",
                    "internship": "internship",
                    "freelance": "freelance",
                    "temporary": "temporary, fixed-term",
                }
            ),
            "employment type, contract type, contract, job type, type",
            "the kind of contract",
            "Employment type, Contract, Job type",
            wordings={
                "full time": """
                    It is a full-time position.
                    You will work full time.
                    This job is full-time.
                    We offer a full-time contract.
                    """,
                "part time": """
                    It is a part-time position.
                    You will work part time.
                    This job is part-time only.
                    We offer it as a part-time job.
                    """,
                "internship": """
                    It is an internship.
                    We are looking for an intern.
                    This is an internship for students.
                    The internship ends with a certificate.
                    """,
                "freelance": """
                    We hire you as a freelancer.
                    It is a freelance assignment.
                    You will work for us freelance.
                    Freelancers only.
                    """,
                "temporary": """
                    The contract is temporary.
                    It is a fixed-term position.
                    The position is limited in time.
                    This is a temporary job.
                    """,
            },
            plain=False,
            may_miss=False,
            weight=1.3,
        ),
        Field(
            "remote",
            flag(),
            "remote, is remote, remote possible, home office, work from home, remote work",
            "whether one can work from home",
            "Remote, Home office, Remote work",
            wordings={
                "true": """
                    You can work from home.
                    Remote work is possible.
                    The job is fully remote.
                    Work from wherever you like.
                    Home office is fine with us.
                    This is a remote position.
                    We are a remote-first team.
                    """,
                "false": """
                    You cannot work from home.
                    Remote work is not possible.
                    The work is done on site only.
                    No home office, sorry.
                    We expect you in the office every day.
                    This is an on-site position.
                    No remote work.
                    """,
            },
            plain=False,
            weight=1.5,
        ),
    ),
    plural="jobs, vacancies, openings, positions, job posts",
    nests={
        "salary, pay, salary range, compensation": "salary, highest, currency",
        "contact, application, how to apply": "contact, email, link, deadline",
    },
    titles="We are hiring!, Job offer, Vacancy, Join our team, Job posting, Open position, Careers",
    sentences="""
    We are looking for {title:a}.
    We are hiring {title:a}.
    Wanted: {title}.
    Position: {title}
    Do you want to work as {title:a}?
    The open position is {title}.
    We need {title:a} as soon as possible.
    Become our new {title}!
    Job title: {title}.
    We have an opening for {title:a}.
    We would like to fill the position of {title}.
    Apply now as {title}!
    Salaries are paid in {currency}.
    We pay in {currency}.
    The salary is in {currency}.
    All figures are in {currency}.
    Payment is in {currency}.
    Currency of the salary: {currency}.
    The employer is {company}.
    {company} is hiring.
    Join us at {company}.
    Work for {company}.
    {company} offers this job.
    About us: {company} is a friendly place.
    Our company, {company}, is growing fast.
    We are {company}.
    The job is at {company}.
    Grow with {company}!
    {company} is looking for you.
    At {company}, everybody counts.
    The office is in {city}.
    Location: {city}.
    The job is located in {city}.
    You will work in {city}.
    The place of work is {city}.
    We are based in {city}.
    Our team sits in {city}.
    The position is in {city}.
    Come and work in {city}!
    Your desk will be in {city}.
    The workplace is {city}.
    Based in {city}.
    The salary starts at {salary}.
    We pay at least {salary} a year.
    The minimum salary is {salary}.
    Salary from {salary} a year.
    You earn no less than {salary}.
    Starting at {salary} per year.
    The pay is {salary} at the lowest.
    We pay up to {highest} a year.
    The maximum salary is {highest}.
    You can earn up to {highest}.
    Salary up to {highest}.
    The highest salary we pay is {highest}.
    At most, the pay is {highest}.
    You know {skills}.
    We expect {skills}.
    Required skills: {skills}.
    You bring experience with {skills}.
    You should be good at {skills}.
    We ask for {skills}.
    Must have: {skills}.
    You are familiar with {skills}.
    You speak {languages}.
    You need {languages}.
    Languages: {languages}.
    We talk to our customers in {languages}.
    {languages} required.
    You are fluent in {languages}.
    You have at least {experience} years of experience.
    We ask for {experience} years of experience.
    {experience} years of experience are required.
    You have done this for {experience} years or more.
    Experience: {experience}+ years.
    You should have {experience} years of experience.
    Minimum experience: {experience} years.
    The job starts on {start}.
    Start date: {start}.
    You would start on {start}.
    We would like you to begin on {start}.
    Available from {start}.
    The first day of work is {start}.
    Please apply by {deadline}.
    Applications close on {deadline}.
    The application deadline is {deadline}.
    We accept applications until {deadline}.
    You can apply until {deadline}.
    Closing date: {deadline}.
    The department is {department}.
    You will join {department}.
    The job is in the {department} department.
    You will be part of our {department} team.
    Department: {department}.
    It is a position in {department}.
    Your contact is {contact}.
    For questions ask {contact}.
    The recruiter is {contact}.
    {contact} will answer your questions.
    Contact person: {contact}.
    {contact} looks forward to your application.
    Send your application to {email}.
    Apply at {email}.
    Please write to {email}.
    Send us your CV: {email}.
    E-mail your documents to {email}.
    Applications to {email}, please.
    Apply online at {link}.
    More at {link}.
    The link is {link}.
    Please use the form at {link}.
    See {link}.
    Details: {link}
    You will work {hours} hours a week.
    The week has {hours} hours.
    {hours} hours per week.
    Working hours: {hours} a week.
    We work {hours} hours a week.
    The contract is for {hours} hours weekly.
    It is a {contract} position.
    Employment type: {contract}.
    The contract is {contract}.
    Contract type: {contract}.
    Type of job: {contract}.
    We offer: {contract}.
    {company} is looking for {title:a}.
    {company} is looking for {title:a} in {city}.
    {company} in {city} is hiring {title:a}.
    {title} at {company}
    {title} ({city})
    {title}, {company}, {city}
    {title}\\n{company}\\n{city}
    {title}\\n{company} - {city}\\n{salary} - {highest}
    {company} is seeking {title:a} to join our team in {city}.
    {company} ({city}) seeks {title:a} with {experience}+ years of experience in {skills}.
    We are hiring {title:a} at {company}, based in {city}.
    You bring at least {experience} years of experience and know {skills}.
    The ideal candidate has {experience} years of experience and knows {skills}.
    Compensation: {salary} to {highest} a year.
    The {title} earns between {salary} and {highest}.
    Send your CV to {email} before {deadline}.
    Applications to {contact}, {email}, no later than {deadline}.
    {title} wanted in {city}.
    {company}, based in {city}, has an opening for {title:a}.
    We are looking for {title:a} for our office in {city}.
    We at {company} need {title:a} with {experience} years of experience.
    As {title:a} at {company} you know {skills}.
    The salary is between {salary} and {highest}.
    Salary: {salary} - {highest}
    We pay {salary} to {highest} a year.
    The yearly salary ranges from {salary} to {highest}.
    The pay is {salary}-{highest} depending on experience.
    You earn between {salary} and {highest} as {title}.
    {company} pays between {salary} and {highest}.
    You know {skills} and have {experience} years of experience.
    You have {experience} years of experience and speak {languages}.
    {experience}+ years of experience with {skills}
    You will join the {department} team in {city}.
    Our {department} team is looking for {title:a}.
    {company} needs help in {department}.
    Please apply by {deadline} to {email}.
    Send your application to {contact} ({email}).
    Send your application to {contact} by {deadline}.
    Write to {contact} at {email}.
    The job starts on {start}; please apply until {deadline}.
    Start {start}, {hours} hours per week.
    {title} ({hours} hours/week) from {start}.
    For more see {link} or write to {email}.
    {company} - {city}
    """,
    asides="""
    The founder, {any_person}, started in a garage.
    We have {any_int} colleagues from many places.
    There is free fruit and good coffee.
    We also have an office in {any_city}.
    Our customers include {any_company}.
    The company was founded on {any_date}.
    Every Friday there is a common lunch.
    You get {any_int} days of holiday.
    Dogs are welcome.
    The posting has the number {any_code}.
    You will get a budget of {any_money} for books.
    Please do not send photographs.
    """,
)
