"""The last hand on a document: slips of the keyboard, line breaks, a page's head; values stay as they are."""

import re

from training.scene import CLOSE, OPEN, Scene, unmarked


def lowered(text: str) -> str:
    """Return a text in small letters, but for its values."""
    return "".join(
        piece if piece.startswith(OPEN) else piece.lower() for piece in re.split(f"({OPEN}[^{CLOSE}]*{CLOSE})", text)
    )


def finished(scene: Scene, document: str) -> str:
    """Return the document as it is read: with a few slips, line breaks or a page's head, and without marks."""
    roll = scene.rng.random()
    if roll < 0.05 * scene.difficulty:
        document = with_typos(scene, document)
    elif roll < 0.08:
        document = lowered(document)
    if scene.seldom(0.08):
        document = wrapped(document, scene.pick((48, 60, 72)))
    if scene.seldom(0.03):
        page = scene.rng.randrange(1, 9)
        heads = (f"Page {page} of 9", f"- {page} -", "CONFIDENTIAL", "COPY", "Printed on recycled paper")
        document = f"{scene.pick(heads)}\n\n{document}"
    if scene.chance(0.015):
        document = "\n".join(f"> {line}" for line in document.split("\n"))
    document = re.sub(r",(\x03?),+", r"\1,", document)
    return re.sub(r"(?<!\.)([.:,;])\.(?=\s|$)", r"\1", unmarked(document)).strip()


def with_typos(scene: Scene, document: str) -> str:
    """Return a document with letters swapped or dropped in one or two words that are no values."""
    pieces = re.split(f"({OPEN}[^{CLOSE}]*{CLOSE}|[a-z]{{5,}})", document)
    places = [at for at, piece in enumerate(pieces) if re.fullmatch("[a-z]{5,}", piece)]
    for at in scene.rng.sample(places, min(len(places), 2)):
        word, spot = pieces[at], scene.rng.randrange(1, len(pieces[at]) - 2)
        swapped = f"{word[:spot]}{word[spot + 1]}{word[spot]}{word[spot + 2 :]}"
        pieces[at] = swapped if scene.chance(0.6) else word[:spot] + word[spot + 1 :]
    return "".join(pieces)


def wrapped(document: str, width: int) -> str:
    """Return a document with long lines broken between words, never inside a value."""
    lines = []
    for line in document.split("\n"):
        length = 0
        words: list[str] = []
        for word in line.split(" "):
            if length + len(word) > width and words:
                lines.append(" ".join(words))
                length, words = 0, []
            words.append(word)
            length += len(word) + 1
        lines.append(" ".join(words))
    return "\n".join(lines)
