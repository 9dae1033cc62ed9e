"""LangExtract beside this library, on the same long documents, with a model that reads what stands there behind both.

The model finds the orders of the text that it is shown, whatever is cut off of them included: it is right about each
text, so that what is lost, doubled or misplaced is so by splitting, aligning and merging. Where the same model reads
for LangExtract, it answers in the form of its examples: an extraction for each order, the text of which is the passage
that states it, with the values as attributes.
"""

import json
import logging
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from benchmarks.batches.orders import ORDER, Long, Order, long_document, model_for_all
from structured import Chunking, Extractor

EXAMPLE = "Order A-7 came from Ivo for 12.5 euros. The van was late."
WANTED = "Extract the orders: number, customer and total."
DOCUMENT = "\nQ: "
"""What begins the text in a prompt of LangExtract."""

Values = tuple[str, str, str]
Span = tuple[int, int]
Found = list[tuple[Values, Span | None]]
"""Orders, and where each stands: from the first of its values to the last."""


class Score(NamedTuple):
    """How orders that were found are right.

    Attributes:
        recall: The share of the document's orders that were found, as often as they are stated.
        surplus: Orders that were found more often than they are stated, or that are not stated.
        misplaced: Orders that are stated, and whose place is missing, or that of another, or too much or little.
    """

    recall: float
    surplus: int
    misplaced: int


def is_installed() -> bool:
    """Tell whether LangExtract can be imported."""
    return find_spec("langextract") is not None


def of_structured(document: str, **options: Any) -> Found:
    """Return the orders that this library finds."""
    found = Extractor(list[Order], model=model_for_all(6_000), max_tokens=4_000, **options).result(document)
    orders: Found = []
    for index, data in enumerate(found.data):
        spans = [found.evidence[f"[{index}].{name}"].span for name in Order.model_fields]
        known = [span for span in spans if span is not None]
        whole = (min(known)[0], max(span[1] for span in known)) if len(known) == len(spans) else None
        orders.append(((data["number"], data["customer"], str(data["total"])), whole))
    return orders


def of_langextract(document: str, **options: Any) -> Found:
    """Return the orders that LangExtract finds."""
    lx, data = import_module("langextract"), import_module("langextract.core.data")
    said = list(_extractions(EXAMPLE))
    shown = [data.Extraction("order", one["order"], attributes=one["order_attributes"]) for one in said]
    example = data.ExampleData(EXAMPLE, shown)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = lx.extract(
            document, WANTED, [example], model=_reader(), fetch_urls=False, show_progress=False, **options
        )
    orders: Found = []
    for one in answer.extractions or ():
        values_of: dict[str, Any] = dict(one.attributes or {})
        place = one.char_interval
        values = (str(values_of.get("number")), str(values_of.get("customer")), str(values_of.get("total")))
        span = None if place is None or place.start_pos is None else (place.start_pos, place.end_pos)
        orders.append((values, span))
    return orders


def _extractions(text: str) -> Iterator[dict[str, Any]]:
    """Yield the orders of a text, in the form of LangExtract's answers; their text is the passage with the values."""
    for match in ORDER.finditer(text):
        number, customer, total = match.groups()
        passage = text[match.start(1) : match.end(3)]
        yield {"order": passage, "order_attributes": {"number": number, "customer": customer, "total": total}}


def _reader() -> Any:
    """Return the model behind LangExtract's interface."""
    base, types = import_module("langextract.core.base_model"), import_module("langextract.core.types")

    class Reader(base.BaseLanguageModel):  # type: ignore[misc, name-defined]  # imported at run time
        def infer(self, batch_prompts: Sequence[str], **_: Any) -> Iterator[list[Any]]:
            for prompt in batch_prompts:
                text = prompt[prompt.rindex(DOCUMENT) + len(DOCUMENT) :]
                answer = json.dumps({"extractions": list(_extractions(text))})
                yield [types.ScoredOutput(score=1.0, output=f"```json\n{answer}\n```")]

    return Reader()


def scored(document: Long, found: Found) -> Score:
    """Compare what was found with what is stated."""
    stated = Counter((values, (spans[0][0], spans[2][1])) for values, spans in document.orders)
    wanted, said = Counter(values for values, _ in document.orders), Counter(values for values, _ in found)
    right = sum((wanted & said).values())
    placed = sum((Counter((values, span) for values, span in found if span is not None) & stated).values())
    return Score(right / sum(wanted.values()), sum((said - wanted).values()), right - placed)


WAYS: dict[str, tuple[Callable[..., Found], dict[str, Any]]] = {
    "structured, defaults": (of_structured, {}),
    "structured, chunks of 1,000": (of_structured, {"chunking": Chunking(tokens=1_000)}),
    "structured, chunks of 1,000, two passes": (of_structured, {"chunking": Chunking(tokens=1_000, passes=2)}),
    "LangExtract, defaults (chunks of 1,000)": (of_langextract, {}),
    "LangExtract, two passes": (of_langextract, {"extraction_passes": 2}),
    "LangExtract, 200 characters of context": (of_langextract, {"context_window_chars": 200}),
    "LangExtract, chunks of 3,000": (of_langextract, {"max_char_buffer": 3_000}),
}
"""The ways to answer. A token of the scripted model is a byte, here a character."""


def table(characters: int, kinds: Sequence[str] = ("plain", "repeating", "wrapped")) -> str:
    """Measure, and return the table."""
    logging.disable(logging.WARNING)
    of_structured(long_document(10_000).text)
    lines = ["| document | | recall | too many | misplaced | CPU s |", "|---" * 6 + "|"]
    for kind in kinds:
        document = long_document(characters, kind)
        for name, (find, options) in WAYS.items():
            if find is of_langextract and not is_installed():
                continue
            started = time.process_time()
            found = find(document.text, **options)
            seconds = time.process_time() - started
            score = scored(document, found)
            what = f"{kind}: {len(document.text):,} characters, {len(document.orders)} orders"
            lines.append(
                f"| {what} | {name} | {score.recall:.1%} | {score.surplus} | {score.misplaced} | {seconds:.1f} |"
            )
    if not is_installed():
        lines += ["", "LangExtract is not installed: `pip install langextract` measures it, too."]
    return "\n".join(lines)
