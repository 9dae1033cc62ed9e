"""Vocabularies of models, without their weights where the tokenizer can be had alone."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Union

from structured.errors import ModelError
from structured.models.checkpoints import shown
from structured.models.load import PACKAGED_MODEL, ModelSource, load_model
from structured.vocabulary import Vocabulary

if TYPE_CHECKING:
    from typing import TypeAlias

VocabularySource: "TypeAlias" = Union[ModelSource, Vocabulary]  # noqa: UP007  ModelSource is a text


def load_vocabulary(source: "VocabularySource | None" = None) -> Vocabulary:
    """Return the vocabulary of a model, the one that its answers are decoded with.

    Of a folder only the tokenizer is read, and what config.json and generation_config.json say of it, if they are
    there; other models are loaded.

    Parameters:
        source: As for `load_model`; or a folder with tokenizer.json and no weights; or a vocabulary, which is returned.

    Raises:
        ModelError: There is no such model, or its tokenizer cannot be loaded.
        VocabularyError: The tokenizer cannot be used.
    """
    if isinstance(source, Vocabulary):
        return source
    named = os.environ.get("STRUCTURED_MODEL") if source is None else source
    if isinstance(named, str | os.PathLike):
        folder = Path(named).expanduser()
        names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
        if "tokenizer.json" in names and "adapter_config.json" not in names and folder.resolve() != PACKAGED_MODEL:
            return _of_folder(folder, names)
    return load_model(source).vocabulary


def _of_folder(folder: Path, names: set[str]) -> Vocabulary:
    """Return the vocabulary of a checkpoint, or of a tokenizer alone, which ends at its own end token."""
    from transformers import AutoConfig, AutoTokenizer, GenerationConfig

    from structured.models.transformers import vocabulary_of

    ends: list[int | list[int] | None] = []
    width = None
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        if "config.json" in names:
            config = AutoConfig.from_pretrained(folder, trust_remote_code=False).get_text_config()
            ends, width = [config.eos_token_id], config.vocab_size
        if "generation_config.json" in names:
            ends.append(GenerationConfig.from_pretrained(folder).eos_token_id)
    except Exception as error:  # what a damaged checkpoint raises is of any kind
        raise ModelError(
            f"The tokenizer in {shown(folder)} cannot be loaded. transformers says: {' '.join(str(error).split())}"
        ) from error
    return vocabulary_of(tokenizer, ends, width=width)
