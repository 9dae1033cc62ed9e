"""Cases: a family and a seed, and what became of one."""

import random
import re
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from structured.errors import PatternError, SchemaError, StructuredError

Kind: TypeAlias = Literal["invalid", "raw error", "hang", "memory", "dead end", "unexplained refusal"]
"""What may be wrong with a case."""

MAX_SHOWN = 4_000
"""Characters of what was made that a failure keeps."""


@dataclass(frozen=True, slots=True)
class Case:
    """One case, which its name makes again exactly."""

    family: str
    seed: int

    def __str__(self) -> str:
        return f"{self.family}:{self.seed}"

    @classmethod
    def read(cls, name: str) -> "Case":
        """Return the case of a name. Raises ValueError for anything else."""
        family, _, seed = name.partition(":")
        return cls(family, int(seed))

    def random(self, purpose: str = "") -> random.Random:
        """Return the source of what is random in the case, one of its own for each purpose."""
        return random.Random(f"{self}:{purpose}")


class HangError(BaseException):
    """A step took too long; no `except Exception` of the library may swallow it."""


@dataclass
class Trial:
    """What became of a case.

    Attributes:
        case: The case.
        shown: The type, schema, grammar, file or request that it made, for a person.
        answers: Answers that were sampled and judged.
        texts: Texts of the judge that were read, and texts near those.
        refusals: What the library refused to compile, write or read, by the reason.
        explained: Valid texts that are not written, by the documented restriction.
        failures: What is wrong: a kind, and the details.
    """

    case: Case
    shown: str = ""
    answers: int = 0
    texts: int = 0
    refusals: Counter[str] = field(default_factory=Counter)
    explained: Counter[str] = field(default_factory=Counter)
    failures: list[dict[str, Any]] = field(default_factory=list)

    def fail(self, kind: Kind, what: str, **details: Any) -> None:
        """Note a failure."""
        shown = self.shown if len(self.shown) <= MAX_SHOWN else f"{self.shown[:MAX_SHOWN]}…"
        self.failures.append({"kind": kind, "what": what, **details, "case": str(self.case), "made": shown})

    def refuse(self, error: StructuredError) -> None:
        """Note an error of the library's own."""
        self.refusals[reason_of(error)] += 1

    def data(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return {
            "case": str(self.case),
            "answers": self.answers,
            "texts": self.texts,
            "refusals": dict(self.refusals),
            "explained": dict(self.explained),
            "failures": self.failures,
        }


Family: TypeAlias = Callable[[Trial], None]
"""What makes and tries one case; an error of the library ends it as a refusal, any other error as a failure."""


def reason_of(error: StructuredError) -> str:
    """Return the reason of a refusal: the class, and the keyword at fault."""
    if isinstance(error, PatternError):  # without names and numbers of the expression
        return f"PatternError ({re.sub(r'[0-9][0-9,]*', 'N', error.problem)[:60]})"
    keyword = f" {error.keyword}" if isinstance(error, SchemaError) and error.keyword else ""
    return f"{type(error).__name__}{keyword}"


def tried(case: Case, family: Family) -> Trial:
    """Try a case, and return what became of it."""
    trial = Trial(case)
    try:
        family(trial)
    except StructuredError as error:
        trial.refuse(error)
    except HangError as error:
        trial.fail("hang", str(error), trace=_trace(error))
    except MemoryError as error:
        trial.fail("memory", repr(error), trace=_trace(error))
    except Exception as error:  # noqa: BLE001  whatever is not the library's own is what is looked for
        trial.fail("raw error", f"{type(error).__name__}: {error}"[:500], trace=_trace(error))
    return trial


def _trace(error: BaseException) -> list[str]:
    """Return the last frames of an error."""
    frames = traceback.extract_tb(error.__traceback__)[-12:]
    return [f"{frame.filename.rpartition('/structured/')[2]}:{frame.lineno} {frame.name}" for frame in frames]
