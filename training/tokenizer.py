"""The tokenizer of the packaged model: byte-level BPE made for copying.

A value has to be cut into the same tokens in the document and in the answer, or it cannot be copied token by token. So
spaces never join words, digits and marks stand alone, and what closes a JSON value starts a token of its own.
"""

from collections.abc import Iterable

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

END = "<|end|>"
START = "<|start|>"

_JSON_MARKS = r'"(?:: ?\[?\{?"?|, ?"?|[\]}]+(?:, ?)?\{?"?)?|[\]}]*, ?\{?"|\{"'
_PIECES = rf"{_JSON_MARKS}|\p{{L}}+|\p{{N}}|\s+|[^\s\p{{L}}\p{{N}}]"


def train_tokenizer(texts: Iterable[str], *, size: int) -> PreTrainedTokenizerFast:
    """Return a tokenizer of `size` tokens, all 256 bytes and the two special tokens among them."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_PIECES), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[START, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END, pad_token=END)
