"""Support tickets."""

from training.records.compound import choice, flag
from training.records.kind import Field, kind
from training.values import code, company, day, integer, moment, other_email, other_person, product

TICKET = kind(
    "support_ticket",
    (
        Field(
            "id",
            code("TCK-####, #####, T-####, SUP-#####, REQ######, #-######, CASE-####, HD####"),
            "ticket id, id, ticket number, ticket, case number, reference, number, request id",
            "the number of the ticket",
            "Ticket, Ticket ID, Ticket no., Case, Case number",
            weight=2.5,
        ),
        Field(
            "customer",
            other_person,
            "customer, name, customer name, reporter, requester, user, reported by, submitted by, client",
            "who reported the problem",
            "Customer, Reported by, Requester, Submitted by",
            weight=2.3,
        ),
        Field(
            "company",
            company,
            "company, organization, account, customer company, company name",
            "the company of the customer",
            "Company, Organisation, Account",
            weight=1,
        ),
        Field(
            "product",
            product,
            "product, affected product, product name, item, device, component",
            "what the problem is with",
            "Product, Affected product, Device",
            weight=2.2,
        ),
        Field(
            "version",
            code("#.#, #.#.#, v#.#, v#.#.#, ##.#.#, 20##.#"),
            "version, product version, software version, release, build",
            "the version of the product",
            "Version, Release",
            weight=0.9,
        ),
        Field(
            "email",
            other_email,
            "email, customer email, contact email, reply to, email address",
            "where to answer",
            "E-mail, Email, Reply to",
            weight=1.1,
        ),
        Field(
            "opened",
            moment(-10, 10),
            "opened at, opened, created at, created, submitted at, reported at, timestamp",
            "when it was opened",
            "Opened, Created, Created at, Reported at",
            weight=1.6,
        ),
        Field(
            "due",
            day(11, 40),
            "due date, due, resolve by, deadline, sla date",
            "when it has to be solved",
            "Due, Resolve by, Due date",
            weight=0.9,
        ),
        Field(
            "agent",
            other_person,
            "agent, assignee, assigned to, handled by, support agent, owner",
            "who works on it",
            "Assignee, Assigned to, Agent, Handled by",
            weight=1.4,
        ),
        Field(
            "order",
            code("ORD-####, #######, ##-#####, SO######"),
            "order number, order id, order, purchase number",
            "the number of the order",
            "Order number, Order, Order ID",
            weight=0.9,
        ),
        Field(
            "error",
            code("E-###, ERR_####, 0x########, E####, ###, @@-##"),
            "error code, error, code, error number",
            "the error code that is shown",
            "Error code, Error",
            weight=0.9,
        ),
        Field(
            "affected",
            integer(2, 400, words=0.15),
            "affected users, users affected, number of users, impacted users",
            "how many users have the problem",
            "Affected users, Users affected",
            weight=0.6,
        ),
        Field(
            "priority",
            choice({"low": "low, minor", "medium": "medium, normal", "high": "high", "urgent": "urgent, critical"}),
            "priority, urgency, severity, prio, importance, priority level",
            "how pressing it is",
            "Priority, Urgency, Severity",
            wordings={
                "low": """
                There is no hurry.
                It can wait.
                Whenever you find the time.
                No rush at all.
                This is not important, just so you know.
                It is only a cosmetic thing.
                Low priority from our side.
                Take your time with this one.
                """,
                "medium": """
                It is of normal priority.
                It should be fixed in the coming days.
                Medium priority is fine.
                It is annoying but we can work around it for some days.
                Please handle it in the usual order.
                Not critical, but please do not forget it.
                """,
                "high": """
                Please handle this with high priority.
                This is important to us.
                We need a solution soon.
                It has high priority.
                Please give it preference over other requests.
                It blocks an important project.
                High priority, please.
                """,
                "urgent": """
                This is urgent!
                We cannot work at all, please help at once.
                Everything stands still, so act immediately.
                Please fix this right now.
                This is an emergency.
                It is extremely urgent.
                Our production is down and every minute counts.
                Needs to be solved immediately.
                """,
            },
            plain=False,
            may_miss=False,
            weight=2.4,
        ),
        Field(
            "status",
            choice(
                {
                    "open": "open, new",
                    "in progress": "in progress, being worked on",
                    "waiting": "waiting, on hold",
                    "resolved": "resolved, solved",
                    "closed": "closed",
                }
            ),
            "status, ticket status, state",
            "the state of the ticket",
            "Status, Ticket status, State",
            wordings={
                "open": """
                    Nobody has looked at it yet.
                    The ticket is still open.
                    It has just come in.
                    It is open.
                    """,
                "in progress": """
                    We are working on it.
                    Somebody is looking into it right now.
                    The work has begun.
                    The fix is under way.
                    """,
                "waiting": """
                    We are waiting for an answer of the customer.
                    It is on hold until the customer replies.
                    Nothing happens until we hear back.
                    It was put on hold.
                    """,
                "resolved": """
                    The problem has been solved.
                    It is fixed now.
                    The issue is resolved.
                    It works again.
                    """,
                "closed": """
                    The ticket has been closed.
                    We closed the ticket.
                    The case is closed.
                    It was closed without further action.
                    """,
            },
            plain=False,
            may_miss=False,
            weight=1.2,
        ),
        Field(
            "category",
            choice(
                {
                    "billing": "billing",
                    "hardware": "hardware",
                    "login": "login",
                    "shipping": "shipping",
                    "bug": "bug",
                    "feature request": "feature request",
                }
            ),
            "category, topic, issue type, type, problem type",
            "what sort of problem it is",
            "Category, Topic, Issue type",
            wordings={
                "billing": """
                    I was charged twice this month.
                    The amount on my bill is wrong.
                    My card was debited although I cancelled.
                    I need a refund for a wrong charge.
                    Why is my invoice higher than usual?
                    """,
                "hardware": """
                    The casing is broken.
                    It makes a strange noise and does not turn on.
                    The power button is stuck.
                    The battery gets hot.
                    One of the feet broke off.
                    """,
                "login": """
                    I cannot log in any more.
                    My password is not accepted.
                    The account is locked after three attempts.
                    The page to reset my password does not load.
                    I never get the code for signing in.
                    """,
                "shipping": """
                    The parcel never arrived.
                    The delivery is late.
                    It was delivered to the wrong address.
                    The tracking has not moved for days.
                    The package was lost on its way.
                    """,
                "bug": """
                    The app crashes when I press save.
                    The export produces an empty file.
                    The screen freezes after the update.
                    The search returns wrong results.
                    A button does nothing when clicked.
                    """,
                "feature request": """
                    It would be great to have a dark mode.
                    Could you add an export to spreadsheets?
                    I would like to have a new option for sorting.
                    Please add support for more languages.
                    I wish there were a shortcut for that.
                    """,
            },
            plain=False,
            may_miss=False,
            weight=1.6,
        ),
        Field(
            "warranty",
            flag(),
            "under warranty, warranty, in warranty, has warranty",
            "whether there is still a warranty",
            "Under warranty, Warranty",
            wordings={
                "true": """
                    It is still under warranty.
                    The warranty is valid.
                    The guarantee has not expired yet.
                    It is covered by the warranty.
                    There is still warranty on it.
                    """,
                "false": """
                    The warranty has expired.
                    It is out of warranty.
                    There is no warranty any more.
                    It is not covered by the warranty.
                    The guarantee ran out.
                    """,
            },
            plain=False,
            weight=0.8,
        ),
    ),
    plural="tickets, cases, requests, issues",
    nests={
        "customer info, contact, requester": "customer, company, email",
        "classification, triage": "priority, status, category",
        "device info, product info": "product, version",
    },
    titles="Support request, New ticket, Help needed, Ticket update, Problem report, Service desk, Question",
    signer="customer",
    sentences="""
    The ticket number is {id}.
    Ticket {id}
    Your request has the number {id}.
    We opened ticket {id} for this.
    This is about ticket {id}.
    The case is registered as {id}.
    Case number: {id}.
    Reference {id}.
    [{id}]
    Please mention {id} in your reply.
    Re: ticket {id}
    It is filed as {id}.
    My name is {customer}.
    The customer is {customer}.
    It was reported by {customer}.
    {customer} wrote to us.
    {customer} reported a problem.
    The request came from {customer}.
    {customer} called about it.
    Submitted by {customer}.
    {customer} needs help.
    The caller was {customer}.
    {customer} is asking for help.
    Customer: {customer}.
    I work for {company}.
    The customer works at {company}.
    The account belongs to {company}.
    We at {company} rely on it.
    The customer's company is {company}.
    It affects our client {company}.
    Writing on behalf of {company}.
    It is about the {product}.
    I have a problem with the {product}.
    My {product} does not work.
    The {product} is affected.
    The {product} stopped working.
    There is an issue with the {product}.
    The product is the {product}.
    I bought the {product} from you.
    The {product} gives us trouble.
    Something is wrong with the {product}.
    We use the {product} every day.
    The complaint concerns the {product}.
    It is version {version}.
    I am using version {version}.
    We run release {version}.
    The version is {version}.
    Installed version: {version}.
    It started with version {version}.
    Please answer to {email}.
    My e-mail address is {email}.
    The customer can be reached at {email}.
    Reply to {email}.
    Contact: {email}.
    You can write to {email}.
    The ticket was opened {opened:on}.
    It was reported {opened:on}.
    Created: {opened}.
    It came in {opened:on}.
    Opened {opened}.
    We received it {opened:on}.
    The ticket was created {opened:on}.
    It has been open since {opened}.
    Please solve it by {due}.
    It is due on {due}.
    It must be resolved by {due}.
    The deadline is {due}.
    We need this solved before {due}.
    Due {due}.
    {agent} is working on it.
    It is assigned to {agent}.
    The assignee is {agent}.
    {agent} from support takes care of it.
    The ticket was given to {agent}.
    Our agent {agent} has taken over.
    The order number is {order}.
    I ordered it under {order}.
    It belongs to order {order}.
    My order was {order}.
    Order: {order}.
    See order {order}.
    The error code is {error}.
    It shows error {error}.
    The display says {error}.
    The message is "error {error}".
    We get error {error} every time.
    Error code: {error}.
    {affected} users are affected.
    It concerns {affected} of our users.
    About this, {affected} people have complained so far.
    Number of users affected: {affected}.
    {affected} colleagues cannot work.
    We count {affected} affected users.
    The priority is {priority}.
    Priority: {priority}.
    It has {priority} priority.
    We set the priority to {priority}.
    I would call it {priority}.
    Severity: {priority}.
    The status is {status}.
    Status: {status}.
    The ticket is {status}.
    It is marked as {status}.
    State of the ticket: {status}.
    It is listed as {status}.
    The category is {category}.
    Category: {category}.
    It was filed under {category}.
    The topic is {category}.
    Type of problem: {category}.
    We sorted it into {category}.
    My name is {customer} and I have a problem with the {product}.
    {customer} has a problem with the {product}.
    {customer} from {company} reports a problem with the {product}.
    {customer} ({company}) called about the {product}.
    {customer} opened ticket {id} about the {product}.
    Ticket {id} was opened by {customer} {opened:on}.
    Ticket {id}: {product}
    Ticket {id}\\nFrom: {customer}\\nProduct: {product}
    {customer}, {company}, reported that the {product} (version {version}) shows error {error}.
    Hello, this is {customer} from {company}; our {product} keeps crashing.
    Customer {customer} ({email}) reports that the {product} stopped working.
    Since the last update my {product} crashes with error {error}.
    I bought the {product} with order {order} and it is broken.
    Assigned to {agent}, due {due}.
    {customer} called {opened:on} about the {product}.
    Ticket {id} is assigned to {agent}.
    Ticket {id} from {customer} has {priority} priority.
    #{id} {customer}: {product}
    I am {customer} from {company}.
    I'm {customer}, you can reach me at {email}.
    {customer} <{email}>
    {customer} ({email}) wrote about the {product}.
    Our {product} (version {version}) shows error {error}.
    The {product} shows the error {error}.
    The {product}, version {version}, does not start any more.
    The {product} from order {order} arrived damaged.
    I ordered the {product} under number {order}.
    {agent} is handling ticket {id}.
    {agent} is in charge and has to solve it by {due}.
    Ticket {id} is due on {due}.
    Opened {opened:on} by {customer}.
    The {product} has failed for {affected} users.
    It came in {opened:on} and was given to {agent}.
    {customer} of {company} asks about order {order}.
    Since the update to {version} the {product} shows {error}.
    The customer {customer} wants an answer by {due}.
    {company} has trouble with the {product}.
    """,
    asides="""
    I already tried to restart it.
    My colleague {any_person} has the same question.
    I called {any_phone} but nobody answered.
    The hotline was busy for {any_int} minutes.
    I bought it at {any_company}.
    I am writing from {any_city}.
    The earlier ticket {any_code} was about something else.
    I paid {any_money} for it.
    It used to work until {any_date}.
    Please see the attached picture.
    The manual did not help.
    I like your products otherwise.
    """,
)
