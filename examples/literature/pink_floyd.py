r"""List the singles of Pink Floyd: as objects with optional fields, and as lines that an expression describes.

Both are examples of the literature, which asks a large model for what it knows. Here a text states the answer, and
SmolLM2 reads it: with the library's adapter for the objects, which have null where the text states nothing; without it
for the lines, which an expression of four lines describes.

    $ python examples/literature/pink_floyd.py
    Pink Floyd
      title='Arnold Layne' year=1967 chart_position=None
      title='See Emily Play' year=1967 chart_position=None
      title='Money' year=1973 chart_position=None
      title='Another Brick in the Wall' year=1979 chart_position=None
    1. Arnold Layne, 1967
    2. See Emily Play, 1967
    3. Money, 1973
    4. Another Brick in the Wall, 1979
"""

from pydantic import BaseModel

from structured import Regex, extract
from structured.extraction import Draft

TEXT = (
    "Pink Floyd's singles were Arnold Layne (1967), See Emily Play (1967), Money (1973), and Another Brick in the Wall "
    "(1979)."
)


class Single(BaseModel):
    title: str
    year: int | None = None
    chart_position: int | None = None


class Band(BaseModel):
    name: str
    singles: list[Single]


LINES = Regex(r"([0-9]+\. [A-Z][A-Za-z ]+, 19[67][0-9]\n){4}", str.splitlines)

if __name__ == "__main__":
    band = extract(Band, TEXT, model="smollm2-extract")
    print(band.name)
    for single in band.singles:
        print(" ", single)
    draft = Draft(f"{TEXT}\nThe list:\n", model="smollm2")
    print(*draft.ask(LINES), sep="\n")
