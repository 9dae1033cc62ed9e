"""Meetings."""

from training.records.compound import flag, several
from training.records.kind import Field, kind
from training.values import day, from_pool, integer, moment, other_person, time_of_day, title_phrase, url

MEETING = kind(
    "meeting",
    (
        Field(
            "topic",
            from_pool("topics"),
            "topic, title, subject, meeting, agenda, purpose, meeting title",
            "what the meeting is about",
            "Topic, Subject, Title, Meeting",
            weight=2.5,
        ),
        Field(
            "start",
            moment(-60, 60),
            "start, starts at, start time, datetime, date and time, when, scheduled for",
            "when it begins",
            "When, Start, Date and time, Starts",
            weight=2.6,
        ),
        Field(
            "end",
            time_of_day,
            "end time, ends at, until, finish time",
            "when it ends",
            "End time, Ends at, Until",
            weight=0.7,
        ),
        Field(
            "duration",
            integer(15, 95, words=0.15),
            "duration minutes, duration, minutes, length in minutes, duration in minutes",
            "how many minutes it takes",
            "Duration (minutes), Minutes",
            weight=1,
        ),
        Field(
            "room",
            from_pool("rooms"),
            "room, location, place, where, meeting room",
            "where it takes place",
            "Room, Where, Location, Place",
            weight=1.8,
        ),
        Field(
            "organizer",
            other_person,
            "organizer, organiser, host, chair, organized by, called by, chaired by",
            "who called the meeting",
            "Organizer, Host, Chair, Organised by",
            weight=1.8,
        ),
        Field(
            "attendees",
            several(other_person, 1, 4),
            "attendees, participants, invited, guests, attending",
            "who takes part",
            "Attendees, Participants, Invited",
            none="""
                Nobody else is invited.
                There are no participants yet.
                No attendees so far.
                """,
            weight=2,
        ),
        Field(
            "notes",
            other_person,
            "minutes by, note taker, notes taken by, scribe",
            "who takes the notes",
            "Minutes by, Note taker, Scribe",
            weight=0.7,
        ),
        Field(
            "department",
            from_pool("departments"),
            "department, team, group, unit",
            "which department meets",
            "Department, Team",
            weight=0.8,
        ),
        Field(
            "next",
            day(61, 130),
            "next meeting, next date, follow up date, follow up, next session",
            "when the next meeting is",
            "Next meeting, Follow-up",
            weight=1,
        ),
        Field(
            "link",
            url,
            "link, url, meeting link, video link, join at",
            "where to join online",
            "Link, Join at, Video link",
            weight=0.8,
        ),
        Field(
            "project",
            title_phrase,
            "project, project name, initiative",
            "the project it belongs to",
            "Project",
            weight=0.7,
        ),
        Field(
            "online",
            flag(),
            "online, is online, virtual, is virtual, remote",
            "whether it takes place online",
            "Online, Virtual",
            wordings={
                "true": """
                    We meet online.
                    It is a video call.
                    The meeting is virtual.
                    Everybody joins by video.
                    It takes place online.
                    """,
                "false": """
                    We meet in person.
                    It is not an online meeting.
                    The meeting is on site.
                    Please come in person, there is no video call.
                    No video call this time, we meet face to face.
                    """,
            },
            plain=False,
            may_miss=False,
            weight=0.8,
        ),
    ),
    plural="meetings, appointments, calendar, sessions",
    nests={"schedule, time": "start, end, duration", "people, roles": "organizer, notes, attendees"},
    titles="Meeting invitation, Minutes, Calendar entry, Invitation, Agenda, Reminder, Meeting notes",
    sentences="""
    The topic is {topic}.
    We meet for the {topic}.
    It is about the {topic}.
    Subject: {topic}
    You are invited to the {topic}.
    This is the invitation to our {topic}.
    Please join us for the {topic}.
    The {topic} is coming up.
    Agenda: {topic}.
    I have scheduled the {topic}.
    We have planned the {topic}.
    Reminder: {topic}
    It starts {start:on}.
    We meet {start:on}.
    When: {start}
    It is scheduled {start:on}.
    We begin {start:on}.
    Please be there {start:on}.
    Start: {start}.
    It takes place {start:on}.
    I booked us in {start:on}.
    See you {start:on}.
    The meeting was moved and is now {start:on}.
    Save the date: {start}.
    It ends at {end}.
    We finish at {end}.
    It goes on until {end}.
    The end is planned for {end}.
    We should be done by {end}.
    End: {end}.
    It takes {duration} minutes.
    We have {duration} minutes.
    Duration: {duration} minutes.
    Plan {duration} minutes for it.
    It will last {duration} minutes.
    {duration} minutes should be enough.
    It is in {room}.
    We meet in {room}.
    Room: {room}.
    Where: {room}.
    The place is {room}.
    I reserved {room}.
    It takes place in {room}.
    Come to {room}, please.
    The organizer is {organizer}.
    {organizer} called the meeting.
    {organizer} invites you.
    It is chaired by {organizer}.
    {organizer} is the host.
    The meeting is led by {organizer}.
    {organizer} set it up.
    Organised by {organizer}.
    {attendees} will take part.
    Attendees: {attendees}.
    The participants are {attendees}.
    Invited are {attendees}.
    Present: {attendees}.
    {attendees} will be there.
    Please bring {attendees} along.
    With {attendees}.
    {notes} takes the notes.
    The minutes are written by {notes}.
    Minutes: {notes}.
    {notes} will write the minutes.
    Note taker is {notes}.
    Taking notes: {notes}.
    It is a meeting of {department}.
    The {department} department meets.
    This is for {department}.
    Department: {department}.
    Only {department} is concerned.
    It was {department} that asked for it.
    The next meeting is on {next}.
    We meet again on {next}.
    Next time: {next}.
    The follow-up is on {next}.
    A second session follows on {next}.
    Next meeting {next}.
    Join at {link}.
    The link is {link}.
    Dial in via {link}.
    Video link: {link}
    Use {link} to join.
    You can follow it at {link}.
    It is part of the project "{project}".
    The project is {project}.
    Project: {project}.
    It belongs to {project}, our project.
    We talk about the project {project}.
    The project is called {project}.
    The {topic} is {start:on}.
    The {topic} takes place {start:on} in {room}.
    The {topic} is in {room}.
    {organizer} invites you to the {topic}.
    {organizer} invites you to the {topic} {start:on}.
    {organizer} has scheduled the {topic} in {room}.
    {topic}: {start}, {room}
    {topic}\\n{start}\\n{room}
    {topic}\\nWhen: {start}\\nWhere: {room}\\nWho: {attendees}
    {organizer} and {attendees} meet {start:on} in {room}.
    Let's meet {start:on} in {room} for the {topic}.
    {topic} with {attendees}
    {topic} ({duration} minutes)
    The {topic} starts {start:on} and takes {duration} minutes.
    We meet {start:on} in {room}.
    It starts {start:on} and ends at {end}.
    It is {start:on} and lasts {duration} minutes.
    {attendees} meet {organizer} in {room}.
    {organizer} will chair and {notes} will take notes.
    {organizer} leads the {topic}, {notes} writes the minutes.
    The {topic} is with {attendees}.
    The {topic} of {department} is {start:on}.
    The next meeting is on {next}, again with {organizer}.
    In {room} {start:on}.
    Join the {topic} at {link}.
    {organizer}, {attendees} are present.
    The {topic} for the project {project} is led by {organizer}.
    """,
    asides="""
    {any_person} sends apologies and cannot come.
    The last meeting was on {any_date}.
    Coffee will be served at {any_time}.
    The budget is {any_money}.
    {any_company} sent us a letter.
    Please read the {any_int} pages beforehand.
    The projector in the other room is broken.
    {any_person} from the {any_city} office is on holiday.
    File number {any_code}.
    Bring your laptop.
    Parking is at {any_street}.
    """,
)
