"""What a machine must not change: no network is asked for; hash seed, locale and time zone change nothing."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from package_map import HOUSE

PROGRAM = """
import hashlib, re, socket, sys, warnings
from datetime import date
from pathlib import Path
from typing import Literal

def refuse(*arguments, **options):
    raise AssertionError(f"the network was asked for: {arguments}")

socket.getaddrinfo = socket.create_connection = socket.socket.connect = socket.socket.bind = refuse
warnings.simplefilter("ignore")

from pydantic import AwareDatetime, BaseModel, Field

from structured import classify, evaluate, extract, inspect_type, read_results, report, write_results, write_table

class Guest(BaseModel):
    name: str
    arrival: date | None
    seen: AwareDatetime | None = None
    diet: set[Literal["vegan", "halal", "kosher", "none"]] = Field(default_factory=set)
    party: int = Field(ge=1, le=20)

texts = [
    ("a", "Ana Größe arrives on 4 June 2026 with a party of 3; she is vegan."),
    ("b", "Tom Reed: party of 2, comes 12/24/2026 at 23:30 UTC."),
    ("c", "岡田 orders for 5 people."),
]
folder = Path(sys.argv[1])
write_results(Guest, texts, folder / "guests.jsonl")
write_results(Guest, texts, folder / "guests.jsonl", resume="retry")
write_table(folder / "guests.jsonl", folder / "guests.csv", rows="values")
results = list(read_results(folder / "guests.jsonl", Guest))
report(results, folder / "guests.html")
print(extract(Guest, texts[0][1], grounded=True))
print(classify(Literal["guest", "invoice"], texts[1][1]))
print(inspect_type(Guest))
print(evaluate(results, [(text, {"name": "Ana", "arrival": None, "party": 3}) for _, text in texts]))
for file in sorted(folder.iterdir()):
    print(file.name, hashlib.sha256(re.sub(rb'"seconds": [0-9.e-]+', b"", file.read_bytes())).hexdigest())
"""

SURROUNDINGS = {
    "another seed, locale and day": {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "Pacific/Kiritimati"},
    "texts in ASCII": {"PYTHONHASHSEED": "77", "LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "half an hour": {"PYTHONHASHSEED": "random", "LANG": "tr_TR.UTF-8", "TZ": "America/St_Johns"},
}


def printed(folder: Path, surroundings: dict[str, str]) -> bytes:
    """Run the program among some surroundings, and return what it prints."""
    folder.mkdir()
    program = folder.parent / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(HOUSE.parent), "PYTHONIOENCODING": "utf-8"} | surroundings
    command = [sys.executable, str(program), str(folder)]
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return re.sub(rb"seconds a document.*", b"", done.stdout)


@pytest.mark.thorough
def test_offline_and_whatever_the_seed_the_locale_and_the_time_zone_all_results_are_the_same(tmp_path: Path) -> None:
    """Results, tables, the review page and evaluations are equal but for their seconds, and no socket is opened."""
    plain = printed(tmp_path / "plain", {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "TZ": "UTC"})
    assert all(f"\nguests.{kind} ".encode() in plain for kind in ("csv", "html", "jsonl"))
    for number, surroundings in enumerate(SURROUNDINGS.values()):
        assert printed(tmp_path / str(number), surroundings) == plain
