r"""The figure of the paper, drawn again: `python -m benchmarks.paper_figure TOKENIZER [--out docs/index-cost.svg]`.

Willard & Louf ("Efficient Guided Generation for Large Language Models", 2023, section 3) write identifiers,
`[^\W\d]\w*`, of more and more tokens, once with an index and once by trying each token of the vocabulary at each step.
So do we, with the same automaton for all: reading the whole text again for each token, as partial matches of a regular
expression do; going on from the state reached, the best that can be done without an index; and with the index, the
making of which counts. The model is left out.
"""

import argparse
import math
from collections.abc import Callable
from itertools import accumulate, pairwise
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structured.automata import DEAD, RegularAutomaton
from structured.index.index import Index
from structured.index.masks import unpack
from structured.regex.character_classes import PYTHON
from structured.regex.regex_parser import regex_to_pattern
from structured.vocabulary import Vocabulary

PATTERN = r"[^\W\d]\w*"
STEPS = 32
READ_AGAIN, FROM_STATE, INDEXED = "every token, text read again", "every token, from the state", "index"


class Scan:
    """Tries each token at each step; reads what stands before it again, or goes on from the state reached."""

    def __init__(self, vocabulary: Vocabulary, *, again: bool) -> None:
        self.vocabulary, self.again = vocabulary, again
        self.automaton = RegularAutomaton(_pattern())
        self.state = self.automaton.start
        self.text = b""

    def mask(self) -> NDArray[np.bool_]:
        """Return whether each token may follow."""
        found = np.zeros(self.vocabulary.size, dtype=np.bool_)
        for token_id, token in enumerate(self.vocabulary.tokens):
            if token and self._read(token) != DEAD:
                found[token_id] = True
        return found

    def advance(self, token_id: int) -> None:
        """Take a token."""
        token = self.vocabulary.tokens[token_id] or b""
        self.state = self._read(token)
        self.text += token

    def _read(self, token: bytes) -> int:
        state, data = (self.automaton.start, self.text + token) if self.again else (self.state, token)
        for byte in data:
            state = self.automaton.step(state, byte)
            if state == DEAD:
                break
        return state


class Indexed:
    """Looks the tokens up."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.index = Index(RegularAutomaton(_pattern()), vocabulary)
        self.state = self.index.automaton.start

    def mask(self) -> NDArray[np.bool_]:
        """Return whether each token may follow."""
        return unpack(self.index.mask(self.state), self.index.vocabulary.size)

    def advance(self, token_id: int) -> None:
        """Take a token."""
        self.state = self.index.step(self.state, token_id)


def _pattern() -> Any:
    return regex_to_pattern(rf"^{PATTERN}\Z", PYTHON)


def measure(make: Callable[[], Scan | Indexed], vocabulary: Vocabulary, steps: int) -> tuple[list[float], list[int]]:
    """Return the seconds that the first 1, 2, … tokens took, and these tokens, drawn at random but never an end."""
    rng = np.random.default_rng(0)
    started = process_time()
    guide = make()
    times, token_ids = [process_time() - started], []
    for _ in range(steps):
        started = process_time()
        allowed = guide.mask()
        seconds = process_time() - started
        allowed[list(vocabulary.end_token_ids)] = False
        choice = int(rng.choice(np.flatnonzero(allowed)))
        started = process_time()
        guide.advance(choice)
        times.append(seconds + process_time() - started)
        token_ids.append(choice)
    return list(accumulate(times))[1:], token_ids


def curves(vocabulary: Vocabulary, steps: int = STEPS) -> dict[str, list[float]]:
    """Return the seconds of each way after each number of tokens; all ways have to write the same."""
    ways: dict[str, Callable[[], Scan | Indexed]] = {
        READ_AGAIN: lambda: Scan(vocabulary, again=True),
        FROM_STATE: lambda: Scan(vocabulary, again=False),
        INDEXED: lambda: Indexed(vocabulary),
    }
    Indexed(vocabulary).mask()  # makes the trie, which belongs to the vocabulary
    measured = {name: measure(make, vocabulary, steps) for name, make in ways.items()}
    if len({tuple(token_ids) for _, token_ids in measured.values()}) != 1:
        raise RuntimeError("The ways disagree on the tokens that are allowed.")
    return {name: seconds for name, (seconds, _) in measured.items()}


WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 80, 30, 44, 56
COLOURS = {READ_AGAIN: "#c2410c", FROM_STATE: "#a16207", INDEXED: "#1d4ed8"}


def draw(found: dict[str, list[float]]) -> str:
    """Return the curves as SVG: tokens to the right, seconds upwards, each decade as high as any other."""
    steps = max(map(len, found.values()))
    low = math.floor(math.log10(min(min(seconds) for seconds in found.values())))
    high = math.ceil(math.log10(max(max(seconds) for seconds in found.values())))

    def place(count: float, exponent: float) -> tuple[float, float]:
        across = LEFT + (WIDTH - LEFT - RIGHT) * count / steps
        return across, HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (exponent - low) / (high - low)

    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="13" fill="#222">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="24" font-size="15">Guiding a text of n tokens, without the model</text>',
    ]
    for exponent in range(low, high + 1):
        _, y = place(0, exponent)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{_seconds(exponent)}</text>')
    for count in range(0, steps + 1, max(steps // 8, 1)):
        x, y = place(count, low)
        parts.append(f'<text x="{x:.1f}" y="{y + 20:.1f}" text-anchor="middle">{count}</text>')
    parts.append(f'<text x="{(WIDTH + LEFT - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">tokens</text>')
    for name, seconds in found.items():
        points = [place(count, math.log10(value)) for count, value in enumerate(seconds, 1)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[name]}" stroke-width="2"/>')
        x, y = points[-1]
        parts.append(f'<text x="{x}" y="{y - 8:.1f}" text-anchor="end" fill="{COLOURS[name]}">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _seconds(exponent: int) -> str:
    for unit, least in (("s", 0), ("ms", -3)):
        if exponent >= least:
            return f"{10 ** (exponent - least):,} {unit}"
    return f"{10 ** (exponent + 6):,} µs" if exponent >= -6 else f"10^{exponent} s"


def table(found: dict[str, list[float]]) -> str:
    """Return the seconds at some numbers of tokens, and of the last tokens each, as Markdown."""
    steps = min(map(len, found.values()))
    shown = [count for count in (1, 4, 16, 32) if count <= steps]
    lines = [f"| ms for a text of n tokens | {' | '.join(map(str, shown))} | for each token at the end |"]
    lines.append("|---" * (len(shown) + 2) + "|")
    for name, seconds in found.items():
        last = [after - before for before, after in pairwise(seconds)][-8:]
        cells = [f"{seconds[count - 1] * 1e3:,.3g}" for count in shown] + [f"{sum(last) / len(last) * 1e3:,.3g}"]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, draw, and print the table."""
    from transformers import AutoTokenizer

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokenizer", help="the folder or hub id of GPT-2's tokenizer")
    parser.add_argument("--out", type=Path, default=Path("docs/index-cost.svg"))
    parser.add_argument("--steps", type=int, default=STEPS)
    arguments = parser.parse_args()
    vocabulary = Vocabulary.from_transformers(AutoTokenizer.from_pretrained(arguments.tokenizer))
    found = curves(vocabulary, arguments.steps)
    arguments.out.write_text(draw(found), encoding="utf-8")
    print(table(found))


if __name__ == "__main__":
    main()
