"""Invoices to JSON lines: `python examples/invoices.py folder > invoices.jsonl` reads every .txt file of a folder.

Without a folder, two invoices that stand below are read. A document that fails does not cost the others: its line
holds the reason in place of the fields.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, Field

from structured import BatchError, extract_batch


class Invoice(BaseModel):
    number: str = Field(description="the invoice number, as it is written")
    vendor: str
    total: float = Field(ge=0)
    currency: str | None = Field(description="as an ISO code, such as EUR")


SAMPLES = {
    "first.txt": "Invoice INV-2024-0117 from Northwind Paper. 12 notebooks, 2 desk lamps. Total: 132.00 USD.",
    "second.txt": "Acme Tools, invoice 4411: one cordless drill, 89.90 EUR.",
}


def documents() -> dict[str, str]:
    """Return the text of each invoice by the name of its file."""
    if len(sys.argv) < 2:
        return SAMPLES
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(Path(sys.argv[1]).glob("*.txt"))}


def main() -> None:
    """Print one line for each invoice."""
    texts = documents()
    results: Sequence[object]
    errors: Mapping[int, Exception] = {}
    try:
        results = extract_batch(Invoice, texts.values())
    except BatchError as error:
        results, errors = error.results, error.errors
    for position, (name, invoice) in enumerate(zip(texts, results, strict=True)):
        found = invoice.model_dump() if isinstance(invoice, Invoice) else {"error": str(errors[position])}
        print(json.dumps({"file": name, **found}, ensure_ascii=False))


if __name__ == "__main__":
    main()
