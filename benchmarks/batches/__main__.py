"""The command: `python -m benchmarks.batches`. It prints the tables of `docs/batches.md`.

With `--small` it only shows that it works. The processor's time is measured, not the clock's, so that other programs
on the machine matter little. Needs Linux.
"""

import argparse
from collections.abc import Callable
from typing import NamedTuple

from benchmarks.batches import killed, long, many, peer


class Sizes(NamedTuple):
    """How much is measured."""

    streamed: tuple[int, ...]
    written: int
    killed: int
    kills: int
    lengths: tuple[int, ...]
    compared: int
    seed: int = 1


FULL = Sizes((10_000, 30_000), 10_000, 20_000, 20, (1_250_000, 2_500_000, 5_000_000), 60_000)
DOCUMENTS_A_KILL = 1_000
"""Enough that a batch is not over before its last kill."""

SMALL = Sizes((50,), 50, 2_000, 1, (5_000, 10_000), 5_000)


def interrupted(sizes: Sizes) -> str:
    """Return what became of batches that were killed, and of two at once."""
    found = killed.killed(sizes.killed, sizes.kills, sizes.seed)
    codes = killed.two_at_once(sizes.killed // 20)
    return (
        f"{found.documents:,} documents, killed {found.kills} times: {found.done:,} have one right record each, and "
        f"there are {found.records:,}; the file was read {found.looks:,} times meanwhile; {found.torn} kills left a "
        f"torn record.\nTwo processes at once: exit codes {codes}, {killed.REFUSED} for the one that was refused."
    )


PARTS: dict[str, Callable[[Sizes], str]] = {
    "many": lambda sizes: many.table(sizes.streamed, [sizes.written]),
    "killed": interrupted,
    "long": lambda sizes: long.table(long.by_length(sizes.lengths)),
    "peer": lambda sizes: peer.table(sizes.compared),
}


def main() -> None:
    """Measure some parts, or all, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.batches", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"some of: {', '.join(PARTS)}; all by default")
    parser.add_argument("--small", action="store_true", help="small sizes, in a minute")
    parser.add_argument("--kills", type=int, help="how often the part killed kills; 20 by default")
    parser.add_argument("--seed", type=int, default=1, help="other moments for each")
    arguments = parser.parse_args()
    unknown = [part for part in arguments.parts if part not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]}; the parts are {', '.join(PARTS)}")
    sizes = (SMALL if arguments.small else FULL)._replace(seed=arguments.seed)
    if arguments.kills is not None:
        sizes = sizes._replace(kills=arguments.kills, killed=max(sizes.killed, DOCUMENTS_A_KILL * arguments.kills))
    for part in arguments.parts or PARTS:
        print(f"## {part}\n\n{PARTS[part](sizes)}\n", flush=True)


if __name__ == "__main__":
    main()
