"""Turn invoices into JSON lines: `python examples/invoices.py folder > invoices.jsonl` reads every .txt file.

Without a folder, it reads the samples below. A document that fails does not affect the others: its line holds the
reason in place of the fields.

    $ python examples/invoices.py
    {"file": "first.txt", "number": "INV-2024-0117", "vendor": "Northwind Paper", "total": 132.0, "currency": "USD"}
    {"file": "second.txt", "number": "4411", "vendor": "Acme Tools", "total": 89.9, "currency": "EUR"}
    {"file": "third.txt", "error": "Document 2 is empty. There is nothing to extract from; leave it out."}
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, Field

from structured import extract_batch


class Invoice(BaseModel):
    number: str = Field(description="the invoice number, as it is written")
    vendor: str
    total: float = Field(ge=0)
    currency: str = Field(description="as an ISO code, such as EUR")


SAMPLES = {
    "first.txt": "Invoice INV-2024-0117 from Northwind Paper. 12 notebooks, 2 desk lamps. Total: 132.00 USD.",
    "second.txt": "Acme Tools, invoice 4411: one cordless drill, 89.90 EUR.",
    "third.txt": "",
}


def documents() -> Iterator[tuple[str, str | Exception]]:
    """Yield the name of each file, and its text or the reason why it cannot be read."""
    if len(sys.argv) < 2:
        yield from SAMPLES.items()
        return
    for path in sorted(Path(sys.argv[1]).glob("*.txt")):
        try:
            yield path.name, path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            yield path.name, error


def main() -> None:
    """Print one line for each invoice; those that can be read go through the model together."""
    files = dict(documents())
    texts = [text for text in files.values() if isinstance(text, str)]
    answers = iter(extract_batch(Invoice, texts, errors="return"))
    for name, text in files.items():
        found = text if isinstance(text, Exception) else next(answers)
        fields = {"error": str(found)} if isinstance(found, Exception) else found.model_dump()
        print(json.dumps({"file": name, **fields}, ensure_ascii=False))


if __name__ == "__main__":
    main()
