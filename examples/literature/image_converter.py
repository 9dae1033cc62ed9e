"""Drive the command line of an image converter in English.

`CommandLine` reads an ordinary parser of argparse, and the model can write no line that the parser rejects. This is the
picture that "How to Make LLMs Speak Your Language" begins with; here no image is converted. SmolLM2, which has 135 M
parameters, does what is asked in three of four cases, and too much in the first.

    $ STRUCTURED_MODEL=smollm2 python examples/literature/image_converter.py
    Resize photo.jpg to 800x600.
      convert photo.jpg --format jpeg --rotate 90 --grey
      {'input': 'photo.jpg', 'format': 'jpeg', 'rotate': 90, 'grey': True}
    Turn scan.png by 90 degrees and write it to upright.png.
      convert scan.png upright.png --rotate 90
      {'input': 'scan.png', 'output': 'upright.png', 'rotate': 90}
    Make a grey webp of cat.gif.
      convert cat.gif --format webp --grey
      {'input': 'cat.gif', 'format': 'webp', 'grey': True}
    Save holiday.png as a jpeg with a quality of 80.
      convert holiday.png --format jpeg --quality 80
      {'input': 'holiday.png', 'format': 'jpeg', 'quality': 80}
"""

import argparse
import re

from structured import CommandLine, extract
from structured.models import LanguageModel


def size(text: str) -> tuple[int, int]:
    """Return a width and a height in pixels. What it raises, the model is told by being asked again."""
    match = re.fullmatch("([1-9][0-9]{0,4})x([1-9][0-9]{0,4})", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not like 800x600")
    return int(match[1]), int(match[2])


def converter() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("convert", description="Convert an image into another.")
    parser.add_argument("input", help="the image to read")
    parser.add_argument("output", nargs="?", help="the image to write; by default, the input is replaced")
    parser.add_argument("--resize", type=size, metavar="WIDTHxHEIGHT", help="in pixels, as in 800x600")
    parser.add_argument("--format", choices=["jpeg", "png", "webp", "gif"], help="the format of the output")
    parser.add_argument("--quality", type=int, choices=range(1, 101), metavar="1..100", help="of a lossy format")
    parser.add_argument("--rotate", type=int, choices=[90, 180, 270], help="in degrees, clockwise")
    parser.add_argument("--grey", action="store_true", help="leave out the colours")
    return parser


EXAMPLES = (
    ("Resize door.gif to 640x480.", "convert door.gif --resize 640x480"),
    ("Write tree.jpg to tree.png, turned by 180 degrees.", "convert tree.jpg tree.png --rotate 180"),
    ("Make a grey gif of lamp.bmp.", "convert lamp.bmp --format gif --grey"),
    ("Save lake.gif as a png with a quality of 50.", "convert lake.gif --format png --quality 50"),
)

WISHES = (
    "Resize photo.jpg to 800x600.",
    "Turn scan.png by 90 degrees and write it to upright.png.",
    "Make a grey webp of cat.gif.",
    "Save holiday.png as a jpeg with a quality of 80.",
)


def main(model: LanguageModel | None = None, beams: int = 4) -> None:
    """Print each wish, the line that does it, and what the parser reads in that."""
    parser = converter()
    program = CommandLine(parser, description=parser.format_usage())
    for wish in WISHES:
        found = extract(program, wish, model=model, examples=EXAMPLES, beams=beams, evidence=True)
        given = {name: value for name, value in vars(found.value).items() if value}
        print(wish, found.data, given, sep="\n  ")


if __name__ == "__main__":
    main()
