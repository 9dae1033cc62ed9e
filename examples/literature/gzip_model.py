"""Ask a compressor whom Ahab seeks vengeance against.

An example of the literature: a language model does not have to be a network. What compresses well after a text is
likely to follow it, so the logit of a word is minus the number of bits that it adds to the compressed text. Many words
add none, so a beam search compares whole answers. The expression says what form an answer has. The text retells
Melville's novel in six lines; the sentence of the answer is not among them.

    $ python examples/literature/gzip_model.py
    Ahab seeks vengeance against Moby Dick.
"""

import re
import zlib
from collections.abc import Sequence

from structured import Beams, Regex, extract

RETELLING = """\
Ishmael goes to sea on the Pequod, whose captain is Ahab. A white whale has bitten off the leg of Ahab, and the whale is
Moby Dick. Ahab nails a coin of gold to the mast, for whoever sees Moby Dick first. The sailors swear to hunt Moby Dick
with him. Starbuck calls it mad to seek vengeance on a dumb animal. But Ahab wants vengeance against Moby Dick, and so
the Pequod sails around the world, until Ahab throws his harpoon at Moby Dick, and Moby Dick sinks the Pequod. Ishmael
alone is left, on the coffin of Queequeg, his friend.
"""


class Words:
    """A tokenizer. Its tokens are the 256 bytes, for the prompt; the words of a text, for the answer; and the end."""

    def __init__(self, text: str) -> None:
        words = sorted(set(re.findall(r" ?\w+|[^\w\s]", text)))
        self.tokens = [*(bytes([byte]) for byte in range(256)), *(word.encode() for word in words), None]
        self.end_token_ids = [len(self.tokens) - 1]

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a prompt: its bytes."""
        return list(text.encode())


TOKENIZER = Words(RETELLING)


def compressed(token_ids: Sequence[int]) -> list[float]:
    """Return a logit for each token: minus the bits of the text, the answer so far and that token, compressed."""
    read = b"".join(TOKENIZER.tokens[token_id] or b"" for token_id in token_ids)
    prompt, _, answer = read.rpartition(b"\n\nMatch:\n")
    before = prompt.rpartition(b"Text:\n")[2] + answer
    words = (word or b"" for word in TOKENIZER.tokens[256:])
    return [-10_000.0] * 256 + [-8.0 * len(zlib.compress(before + word, level=9)) for word in words]


if __name__ == "__main__":
    answer = Regex(r"Ahab seeks vengeance against [A-Z][a-z]+ [A-Z][a-z]+\.")
    print(extract(answer, RETELLING, model=(compressed, TOKENIZER), search=Beams(4)))
