"""Addresses of all countries in their parts: those of OpenCageData/address-formatting, MIT.

An address is taken where its parts make up all of it, so that nothing printed is of no part. It is printed in one line
or several, alone or in a sentence, and now and then with another house number or with a unit.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.generate import Sample
from training.sources.asking import Slot, listed, record

EACH = 10
"""How many samples an address gives."""

LISTED_SHARE = 0.15

_PARTS: dict[str, tuple[str, ...]] = {
    "number": ("house_number", "housenumber", "street_number"),
    "street": ("road", "pedestrian", "footway", "street", "path", "residential"),
    "postcode": ("postcode",),
    "city": ("city", "town", "village", "municipality", "postal_city", "hamlet", "locality"),
    "district": ("suburb", "neighbourhood", "city_district", "quarter", "district", "hamlet", "residential", "village"),
    "state": ("state", "state_code", "province", "region", "county", "state_district", "department", "island"),
    "country": ("country",),
}
"""What gives each part, the best first; any other name, such as that of a hotel, is the `name`."""

_NO_NAMES = frozenset({"country_code", "county_code", "continent", "archipelago", "post_box", "ISO_3166-2", "motorway"})
_SLOTS = (
    Slot("name", "what is there, such as a hotel or a shop", other_names=("place", "recipient", "company", "venue")),
    Slot("number", "house number", other_names=("house_number", "street_number", "building_number")),
    Slot("street", "street without the number", other_names=("road", "street_name", "road_name")),
    Slot("unit", "flat, floor, suite or the like, as printed", other_names=("apartment", "suite", "flat")),
    Slot("district", "part of a city", other_names=("suburb", "neighbourhood", "quarter")),
    Slot("city", "city, town or village", other_names=("town", "locality", "place_name")),
    Slot("postcode", "postal code", other_names=("postal_code", "zip", "zip_code", "post_code")),
    Slot("state", "state, province, county or island, as printed", other_names=("region", "province", "county")),
    Slot("country", "country, as printed", other_names=("nation", "country_name")),
)
_AROUND = (
    "Please send it to {}.", "Our new address is {}.", "Ship to: {}", "Address: {}", "We met at {} last week.",
    "Deliver to {} before noon.", "Registered office: {}", "You find us at {}.", "From: {}", "The parcel went to {}.",
)  # fmt: skip
_UNITS = ("Apt {}", "Flat {}", "Suite {}", "Unit {}", "Floor {}", "Room {}", "#{}")


@dataclass(frozen=True, slots=True)
class Address:
    """An address: its lines, and its parts by name."""

    lines: tuple[str, ...]
    parts: dict[str, str]


def samples(rng: random.Random, repository: Path) -> Iterator[Sample]:
    """Yield some samples of each address, and lists of several."""
    addresses = list(_addresses(repository))
    for address in addresses:
        for _ in range(EACH):
            if rng.random() < LISTED_SHARE:
                yield _list(rng, [address, *rng.sample(addresses, min(len(addresses), rng.randint(1, 4)))])
            else:
                yield _one(rng, address)


def _addresses(repository: Path) -> Iterator[Address]:
    """Yield the addresses in Latin letters that can be taken apart, each once."""
    import yaml

    seen: set[str] = set()
    for path in sorted(repository.glob("testcases/countries/*.yaml")):
        for test in yaml.load_all(path.read_text(encoding="utf-8"), yaml.CSafeLoader):
            written = (test or {}).get("expected") or ""
            if written in seen or not written or any(ord(sign) >= 0x250 for sign in written):
                continue
            seen.add(written)
            lines = tuple(line.strip() for line in written.splitlines() if line.strip())
            found = parts("\n".join(lines), {name: str(said) for name, said in test["components"].items()})
            if found and found.keys() & {"city", "district"} and len(found) > 2:
                yield Address(lines, found)


def parts(text: str, components: dict[str, str]) -> dict[str, str] | None:
    """Return the parts of an address by what is known of it; None where a word of it is of no part."""
    known = {name for names in _PARTS.values() for name in names} | _NO_NAMES
    sources = _PARTS | {"name": tuple(name for name in components if name not in known)}
    found: dict[str, str] = {}
    rest = text
    for part in ("country", "postcode", "name", "street", "city", "district", "state", "number"):
        for source in sources[part]:
            said = components.get(source, "")
            places = list(re.finditer(rf"(?<!\w){re.escape(said)}(?!\w)", rest)) if said else []
            if places and part not in found:
                place = places[-1] if part in ("country", "state") else places[0]
                rest = rest[: place.start()] + "\x00" + rest[place.end() :]
                found[part] = said
    of_country = set() if "country" in found else _country_codes(components)
    codes = [code for code in re.findall(r"\b[A-Z]{2,3}\b", rest) if code not in of_country]
    if "state" not in found and components.keys() & {"state", "county", "province"} and len(codes) == 1:
        found["state"], rest = codes[0], rest.replace(codes[0], "")
    return found if not re.search(r"\w", rest) else None


def _country_codes(components: dict[str, str]) -> set[str]:
    """Return the usual codes of the country of an address, such as US, USA and UK."""
    country, code = components.get("country", ""), components.get("country_code", "").upper()
    codes = {code, country[:3].upper(), "".join(re.findall(r"\b[A-Z]", country))}
    return codes | ({"US", "USA"} if codes & {"US", "USA"} else {"GB", "GBR", "UK"} if codes & {"GB", "UK"} else set())


def _shown(rng: random.Random, address: Address, *, is_one_line: bool = False) -> tuple[str, dict[str, str]]:
    """Return an address as it is printed, with its parts."""
    lines, found = list(address.lines), dict(address.parts)
    number = found.get("number", "")
    at = next(
        (place for place, line in enumerate(lines) if number and re.search(rf"\b{re.escape(number)}\b", line)), -1
    )
    if number.isdigit() and at >= 0 and found.get("street", "") in lines[at] and rng.random() < 0.5:
        found["number"] = str(rng.randint(1, 400))
        lines[at] = re.sub(rf"\b{number}\b", found["number"], lines[at], count=1)
    if at >= 0 and lines[at].endswith(found.get("street", "\n")) and rng.random() < 0.25:
        found["unit"] = rng.choice(_UNITS).format(rng.choice((str(rng.randint(1, 60)), rng.choice("ABCDE"))))
        lines[at] += f", {found['unit']}"
    if lines[-1] == found.get("country") and len(lines) > 2 and rng.random() < 0.4:
        lines.pop()
        del found["country"]
    between = ", " if is_one_line else rng.choice((", ", ", ", ", ", "\n", "\n", ",\n", " - ", " "))
    text = between.join(lines)
    return (
        (text, found) if rng.random() < 0.85 else (text.upper(), {name: said.upper() for name, said in found.items()})
    )


def _one(rng: random.Random, address: Address) -> Sample:
    text, found = _shown(rng, address)
    document = rng.choice(_AROUND).format(text) if "\n" not in text and rng.random() < 0.35 else text
    return record(rng, "places", document, _SLOTS, found, title="Address", about="A postal address in its parts.")


_LISTED = tuple(slot for slot in _SLOTS if slot.name not in ("unit", "name"))


def _list(rng: random.Random, addresses: Sequence[Address]) -> Sample:
    """Return a sample of several addresses, each in a line of its own."""
    shown = [_shown(rng, address, is_one_line=True) for address in addresses]
    chosen = sorted(rng.sample(_LISTED, rng.randint(1, 4)), key=_LISTED.index)
    items: list[dict[str, Any]] = [{slot.name: found.get(slot.name) for slot in chosen} for _, found in shown]
    several = ("addresses", "places", "locations", "entries")
    schema, answer = listed(rng, several, chosen, items, about="one for each line", required=())
    return Sample("places", schema, "\n".join(text for text, _ in shown), answer, None)
