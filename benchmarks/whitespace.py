"""What each kind of whitespace costs and gains: `python -m benchmarks.whitespace [TOKENIZER ...]`.

The packaged model answers the same unseen documents in each kind. Printed are the share of fields that are right
and the tokens of an answer; then, for each tokenizer named, the tokens that the right answers take as text.
"""

import argparse
import itertools
import json

from transformers import AutoTokenizer

from structured.json_schema.whitespace import WhitespaceName
from structured.models import load_model
from structured.models.protocol import LanguageModel
from training.evaluate import evaluate
from training.examples import answer_text
from training.generate import samples

STYLES: tuple[WhitespaceName, ...] = ("spaced", "compact", "indented", "flexible")
SEED = 2_000_003


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokenizers", nargs="*", help="tokenizers to count tokens with")
    parser.add_argument("--count", type=int, default=300, help="documents")
    parser.add_argument("--model", help="a hub id or folder; default: the packaged model")
    arguments = parser.parse_args()
    model = load_model(arguments.model)
    print("| whitespace | fields right | objects all right | tokens of an answer |\n|---|---|---|---|")
    for style in STYLES:
        print(answered(model, style, arguments.count))
    if arguments.tokenizers:
        print("\n| tokenizer |", " | ".join(STYLES[:3]), "|\n|---|---|---|---|")
    for name in arguments.tokenizers:
        print(counted(name, arguments.count))


def answered(model: LanguageModel, style: WhitespaceName, count: int) -> str:
    """Return the row of one kind of whitespace."""
    report = evaluate(model, itertools.islice(samples(SEED, "phrasings"), count), whitespace=style)
    total = report.total
    return (
        f"| {style} | {total.fields_right / total.fields:.1%} | {total.objects_right / total.objects:.1%} "
        f"| {report.tokens / total.objects:.1f} |"
    )


def counted(name: str, count: int) -> str:
    """Return how many tokens of a tokenizer an answer takes on average, in each fixed kind of whitespace."""
    tokenizer = AutoTokenizer.from_pretrained(name)
    answers = [sample.answer for sample in itertools.islice(samples(SEED, "phrasings"), count)]
    cells = []
    for style in STYLES[:3]:
        texts = [answer_text(answer, style) for answer in answers]
        assert all(json.loads(text) == answer for text, answer in zip(texts, answers, strict=True))
        tokens = sum(len(tokenizer(text, add_special_tokens=False)["input_ids"]) for text in texts)
        cells.append(f"{tokens / count:.1f}")
    return f"| {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
