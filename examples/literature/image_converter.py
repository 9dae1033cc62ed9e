r"""Drive the command line of an image converter in English.

The grammar has the lines that the program reads: files, then options in one order, each once. The idea is that of "How
to Make LLMs Speak Your Language"; here no image is converted. SmolLM2, which has 135 M parameters, does what is asked
in two of four cases, the last two.

    $ STRUCTURED_MODEL=smollm2 python examples/literature/image_converter.py
    Resize photo.jpg to 800x600.
      convert photo.jpg --format jpeg --rotate 90 --grey
    Turn scan.png by 90 degrees and write it to upright.png.
      convert scan.png --format png --rotate 90 --grey
    Make a grey webp of cat.gif.
      convert cat.gif --format webp --grey
    Save holiday.png as a jpeg with a quality of 80.
      convert holiday.png --format jpeg --quality 80
"""

from structured import Beams, Grammar, extract
from structured.models import LanguageModel

LINES = r"""
start: "convert " FILE [" " FILE] [resize] [format] [quality] [rotate] [grey]
resize: " --resize " SIZE
format: " --format " FORMAT
quality: " --quality " PERCENT
rotate: " --rotate " ANGLE
grey: " --grey"
FILE: /[a-zA-Z0-9_\/]+\.(jpe?g|png|webp|gif|bmp)/
SIZE: /[1-9][0-9]{0,4}x[1-9][0-9]{0,4}/
FORMAT: "jpeg" | "png" | "webp" | "gif"
PERCENT: /100|[1-9][0-9]?/
ANGLE: "90" | "180" | "270"
"""

USAGE = (
    "usage: convert [--resize WIDTHxHEIGHT] [--format {jpeg,png,webp,gif}] [--quality 1..100] "
    "[--rotate {90,180,270}] [--grey]\n  input [output]"
)

TASK = "Answer with the command line alone that calls this program and does what the text asks for."

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
    """Print each wish, and the line that does it."""
    program = Grammar(LINES, name="Program", description=USAGE)
    for wish in WISHES:
        print(
            wish,
            extract(program, wish, model=model, instructions=TASK, examples=EXAMPLES, search=Beams(beams)),
            sep="\n  ",
        )


if __name__ == "__main__":
    main()
