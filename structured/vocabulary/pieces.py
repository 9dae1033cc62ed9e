"""Pieces: how a tokenizer's definition spells its tokens, and the bytes that they stand for.

Tokens are never decoded one by one with the tokenizer's own `decode`: that strips spaces and turns half a character
into U+FFFD. The bytes are read from the tokenizer's definition instead: the byte alphabet of byte-level BPE (GPT-2,
Llama 3, Tekken, Qwen …), or SentencePiece pieces with byte fallback (Llama 2, Mistral, Gemma …).
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from structured.errors import VocabularyError


def definition_of(text: str) -> dict[str, Any]:
    """Return the definition of a tokenizer, which is JSON without blanks, up to its model.

    That comes last, is nearly all of it, and takes a hundred megabytes as Python objects.
    """
    reader, definition, place = json.JSONDecoder(), dict[str, Any](), 1
    while place < len(text):
        key, place = reader.raw_decode(text, place)
        if key == "model" and "decoder" in definition:
            break
        definition[key], place = reader.raw_decode(text, place + 1)
        place += 1
    return definition


def piece_reader(definition: Mapping[str, Any]) -> Callable[[str], bytes]:
    """Return the function from a token's spelling in the tokenizer to its bytes."""
    decoder = definition.get("decoder") or {}
    steps = {step["type"]: step for step in decoder.get("decoders", [decoder]) if step}
    if "ByteLevel" in steps:
        return byte_level_bytes
    if "ByteFallback" in steps or "Metaspace" in steps:
        return _sentencepiece_bytes
    raise VocabularyError(
        f"The bytes of this tokenizer's tokens are unknown: its decoder is {sorted(steps) or 'missing'}, and only "
        "byte-level BPE and SentencePiece with byte fallback are read. Use a model with such a tokenizer, or pass an "
        "object with `tokens`, `end_token_ids` and `encode`."
    )


def byte_alphabet() -> dict[str, int]:
    """Return the printable stand-in of each byte in byte-level BPE (Radford et al., GPT-2, 2019).

    Bytes that are printable in Latin-1 stand for themselves, the others for U+0100 and on, in order.
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in set(printable)]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + i): byte for i, byte in enumerate(others)}


_BYTE_ALPHABET = byte_alphabet()


def byte_level_bytes(piece: str) -> bytes:
    r"""`Ġhé` spelled as `ĠhÃ©` → `b" h\xc3\xa9"`; a piece outside the byte alphabet stands for its own text."""
    try:
        return bytes(map(_BYTE_ALPHABET.__getitem__, piece))
    except KeyError:
        return piece.encode()


def _sentencepiece_bytes(piece: str) -> bytes:
    r"""`▁the` → `b" the"`, `<0x0A>` → `b"\n"`."""
    if len(piece) == 6 and piece.startswith("<0x") and piece.endswith(">"):
        return bytes([int(piece[3:5], 16)])
    return piece.replace("▁", " ").encode()
