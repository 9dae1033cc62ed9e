"""Commands to a home assistant with their slots: the first training fold of xliuhw/NLU-Evaluation-Data.

A command is annotated as `wake me at [time : five am]`, in lower case; what the person wrote is there as well, with its
capitals and signs.
"""

import csv
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from training.generate import Sample
from training.sources.asking import Slot, record

TRAINING = "CrossValidation/autoGeneFromRealAnno/*/CrossValidation/KFold_1/trainset/*.csv"

LEAST = 4
"""A slot that an intent has in fewer commands than this is asked for only where a command has it."""

EMPTY_SHARE = 0.85
"""How many of the commands without slots are left out."""

WRITTEN_SHARE = 0.6
"""How many commands are given as they were written, of those whose values stand in that text once."""

OTHERS_SHARE = 0.12
"""How many samples ask for the slots of another intent too, of which most are absent."""

LEFT_OUT = ("general_", "qa_factoid", "qa_maths")
"""Small talk and questions, in which names are annotated now and then."""

_ANNOTATION = re.compile(r"\[\s*([a-z_]+)\s*:\s*([^\]]*?)\s*\]")


class _Command(NamedTuple):
    intent: str
    document: str
    values: Mapping[str, list[str]]


def samples(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield a sample for each command of an intent that has slots."""
    commands = [one for path in sorted(repository.glob(TRAINING)) for one in _commands(rng, path)]
    used: dict[str, Counter[str]] = {}
    for command in commands:
        used.setdefault(command.intent, Counter()).update(command.values.keys())
    slots = {
        intent: [name for name, count in sorted(names.items()) if count >= LEAST] for intent, names in used.items()
    }
    intents = [intent for intent, names in slots.items() if names]
    for command in commands:
        if slots[command.intent] and (command.values or rng.random() >= EMPTY_SHARE):
            asked = {*slots[command.intent], *command.values}
            if rng.random() < OTHERS_SHARE:
                asked |= {*slots[rng.choice(intents)]}
            yield _sample(rng, command, sorted(asked))


def _commands(rng: random.Random, path: Path) -> Iterator[_Command]:
    """Yield the commands of a file."""
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter=";"):
            values = _ANNOTATION.findall(row["answer_annotation"])
            document = " ".join(_ANNOTATION.sub(r"\2", row["answer_annotation"]).split())
            written = row["answer_from_user"].strip()
            if rng.random() < WRITTEN_SHARE and all(_is_once(value, written) for _, value in values):
                document = written
                values = [(name, _as_written(value, written)) for name, value in values]
            found: dict[str, list[str]] = {}
            for name, value in values:
                found.setdefault(name, []).append(value)
            intent = f"{row['scenario']}_{row['intent']}"
            if "[" not in document and not intent.startswith(LEFT_OUT):
                yield _Command(intent, document, found)


def _is_once(value: str, text: str) -> bool:
    return len(text.lower()) == len(text) and text.lower().count(value) == 1


def _as_written(value: str, text: str) -> str:
    """Return the part of a text that is a value but for its capitals."""
    start = text.lower().find(value)
    return text[start : start + len(value)]


def _sample(rng: random.Random, command: _Command, asked: list[str]) -> Sample:
    """Return a sample that asks for slots by name; one that has several values is a list."""
    slots = [_slot(name, is_list=len(command.values.get(name, ())) > 1) for name in asked]
    values = {
        name: found[0] if len(found) == 1 else list(dict.fromkeys(found)) for name, found in command.values.items()
    }
    intent = " ".join(_WORDS.get(word, word) for word in command.intent.split("_") if word not in ("iot", "qa", "hue"))
    about = f"A spoken command: {intent}." if rng.random() < 0.5 else "What a person says to a home assistant."
    title = "".join(word.capitalize() for word in intent.split())
    return record(rng, "assistant", command.document, slots, values, title=title, about=about)


def _slot(name: str, *, is_list: bool) -> Slot:
    """Return a slot; a list has a name of its own, if one is known."""
    names, _, description = _DESCRIBED.get(name, "").partition(";")
    slot = Slot(name, description.strip(), other_names=tuple(names.split()))
    if not is_list:
        return slot
    several = _SEVERAL.get(name)
    return replace(slot, is_list=True, other_names=(several,) if several else ())


_WORDS = {
    "addcontact": "add contact",
    "createoradd": "create or add",
    "lightchange": "light color",
    "lightdim": "dim light",
    "lightoff": "light off",
    "lighton": "light on",
    "lightup": "brighten light",
    "querycontact": "query contact",
    "sendemail": "send",
    "wemo": "plug",
}
"""What the words of intents say, of those that are no words."""

_SEVERAL = {
    "currency_name": "currencies",
    "place_name": "places",
    "time": "times",
    "time_zone": "time_zones",
    "date": "dates",
    "food_type": "foods",
    "color_type": "colors",
    "person": "people",
    "ingredient": "ingredients",
}

_DESCRIBED = {
    "alarm_type": "kind_of_alarm; what kind of alarm",
    "app_name": "app application; the app that is to be used",
    "artist_name": "artist musician; singer or band",
    "audiobook_author": "author; who wrote the audiobook",
    "audiobook_name": "audiobook book_title; title of the audiobook",
    "business_name": "business company shop; name of a company, shop or restaurant",
    "business_type": "kind_of_business; kind of shop or place, such as a bakery",
    "change_amount": "amount level; by how much, or to which level",
    "coffee_type": "coffee; kind of coffee",
    "color_type": "color colour; colour of the light",
    "cooking_type": "cooking_method; how the food is cooked",
    "currency_name": "currency; name of a currency",
    "date": "day when; the day or days, as said",
    "definition_word": "word term; the word that is to be explained",
    "device_type": "device; the device that is to be used",
    "drink_type": "drink; what to drink",
    "email_address": "email address; an email address, as said",
    "email_folder": "folder; the folder of the mail",
    "event_name": "event occasion; what takes place",
    "food_type": "food dish; what to eat",
    "game_name": "game; name of the game",
    "general_frequency": "frequency how_often; how often it is to happen",
    "house_place": "room; the room or part of the house",
    "ingredient": "; what the dish is made of",
    "joke_type": "topic kind_of_joke; what the joke is to be about",
    "list_name": "list; which list is meant",
    "meal_type": "meal; which meal",
    "media_type": "medium source; the kind of medium, site or service",
    "movie_name": "movie film; title of the film",
    "movie_type": "genre; kind of film",
    "music_descriptor": "mood; how the music is described",
    "music_genre": "genre; kind of music",
    "news_topic": "topic subject; what the news are about",
    "order_type": "delivery_or_pickup way; whether the food is delivered or taken away",
    "person": "name contact; name of a person",
    "personal_info": "detail contact_detail; what is asked about a person, such as the phone number",
    "place_name": "place location city; name of a place",
    "player_setting": "setting playback; what the player is to do",
    "playlist_name": "playlist; name of the playlist",
    "podcast_descriptor": "topic; which kind of podcast or episode",
    "podcast_name": "podcast; name of the podcast",
    "radio_name": "station radio_station; name or frequency of the radio station",
    "relation": "relationship; how a person is related to the speaker",
    "song_name": "song track; title of the song",
    "time": "hour clock_time; the time of day or the span of time, as said",
    "time_zone": "zone; a time zone",
    "timeofday": "time_of_day part_of_day; part of the day, such as morning",
    "transport_agency": "taxi_company agency; who runs the taxis or trains",
    "transport_descriptor": "way_of_travel; how the journey is described",
    "transport_name": "train_name line; name of the train or line",
    "transport_type": "vehicle means_of_transport; means of transport",
    "weather_descriptor": "weather condition; the weather that is asked about",
}
"""What the slots may be called, and what they are."""
