"""Other engines behind the methods of `maskbench_engine.Engine`; needs what `requirements.txt` lists.

Each is set up as its documentation does for JSON Schemas, with whitespace as free as it allows, and on one thread. What
belongs to a vocabulary alone is made once, when the engine is.
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.int32]


class LLGuidance:
    """https://github.com/guidance-ai/llguidance."""

    def __init__(self, hf_tokenizer: Any) -> None:
        import llguidance
        import llguidance.hf
        import llguidance.numpy

        self._matcher_type = llguidance.LLMatcher
        self._fill = llguidance.numpy.fill_next_token_bitmask
        self._tokenizer = llguidance.hf.from_tokenizer(hf_tokenizer)
        self._bitmask = llguidance.numpy.allocate_token_bitmask(1, self._tokenizer.vocab_size)

    def compile(self, schema: Mapping[str, Any]) -> None:
        """Take a schema."""
        grammar = self._matcher_type.grammar_from_json_schema(json.dumps(schema), overrides={})
        self._matcher = self._matcher_type(self._tokenizer, grammar)
        if self._matcher.is_error():
            raise ValueError(self._matcher.get_error())

    def reset(self) -> None:
        """Go back to the beginning."""
        self._matcher.reset()

    def compute_mask(self) -> Mask:
        """Return the tokens that may come next."""
        self._fill(self._matcher, self._bitmask)
        row: Mask = self._bitmask[0]
        return row

    def commit(self, token_id: int) -> bool:
        """Take a token, if it is allowed."""
        return bool(self._matcher.try_consume_tokens([token_id]) == 1)

    def can_end(self) -> bool:
        """Tell whether the text may end."""
        return bool(self._matcher.is_accepting())


class XGrammar:
    """https://github.com/mlc-ai/xgrammar."""

    def __init__(self, hf_tokenizer: Any) -> None:
        import xgrammar

        self._xgrammar = xgrammar
        info = xgrammar.TokenizerInfo.from_huggingface(hf_tokenizer)
        self._compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        self._bitmask = xgrammar.allocate_token_bitmask(1, info.vocab_size)
        self._row: Mask = self._bitmask.numpy()[0]
        self._end = int(hf_tokenizer.eos_token_id)

    def compile(self, schema: Mapping[str, Any]) -> None:
        """Take a schema."""
        grammar = self._compiler.compile_json_schema(json.dumps(schema), any_whitespace=True, strict_mode=False)
        self._matcher = self._xgrammar.GrammarMatcher(grammar)

    def reset(self) -> None:
        """Go back to the beginning."""
        self._matcher.reset()

    def compute_mask(self) -> Mask:
        """Return the tokens that may come next."""
        self._matcher.fill_next_token_bitmask(self._bitmask)
        return self._row

    def commit(self, token_id: int) -> bool:
        """Take a token, if it is allowed."""
        return bool(self._matcher.accept_token(token_id))

    def can_end(self) -> bool:
        """Tell whether the text may end."""
        if self._matcher.is_terminated():
            return True
        mask = self.compute_mask()
        return bool(int(mask[self._end >> 5]) >> (self._end & 31) & 1)


class OutlinesCore:
    """https://github.com/dottxt-ai/outlines-core."""

    def __init__(self, hf_tokenizer: Any) -> None:
        import outlines_core

        from structured.vocabulary import Vocabulary

        self._outlines_core = outlines_core
        tokens: dict[bytes, list[int]] = {}
        for token_id, token in enumerate(Vocabulary.from_transformers(hf_tokenizer).tokens):
            if token:
                tokens.setdefault(token, []).append(token_id)
        self._vocabulary = outlines_core.Vocabulary(hf_tokenizer.eos_token_id, tokens)
        self._row: Mask = np.zeros(-(-len(hf_tokenizer) // 32), dtype=np.int32)

    def compile(self, schema: Mapping[str, Any]) -> None:
        """Take a schema."""
        regex = self._outlines_core.json_schema.build_regex_from_schema(json.dumps(schema))
        self._index = self._outlines_core.Index(regex, self._vocabulary)
        self.reset()

    def reset(self) -> None:
        """Go back to the beginning."""
        self._guide = self._outlines_core.Guide(self._index)

    def compute_mask(self) -> Mask:
        """Return the tokens that may come next."""
        self._guide.write_mask_into(self._row.ctypes.data, self._row.size, self._row.itemsize)
        return self._row

    def commit(self, token_id: int) -> bool:
        """Take a token, if it is allowed."""
        try:
            self._guide.advance(token_id, return_tokens=False)
        except ValueError:
            return False
        return True

    def can_end(self) -> bool:
        """Tell whether the text may end."""
        return bool(self._guide.is_finished())


class LMFormatEnforcer:
    """https://github.com/noamgat/lm-format-enforcer."""

    def __init__(self, hf_tokenizer: Any) -> None:
        import lmformatenforcer

        self._library = lmformatenforcer
        special = set(hf_tokenizer.all_special_ids)
        zero = hf_tokenizer.encode("0", add_special_tokens=False)[-1]
        regular = []
        for token_id in range(len(hf_tokenizer)):
            if token_id not in special:
                after_zero = hf_tokenizer.decode([zero, token_id])[1:]
                begins_word = len(hf_tokenizer.decode([token_id])) > len(after_zero)
                regular.append((token_id, after_zero, begins_word))
        self._end = int(hf_tokenizer.eos_token_id)
        self.data = lmformatenforcer.TokenEnforcerTokenizerData(
            regular, hf_tokenizer.decode, self._end, use_bitmask=True, vocab_size=len(hf_tokenizer)
        )

    def compile(self, schema: Mapping[str, Any]) -> None:
        """Take a schema."""
        self._enforcer = self._library.TokenEnforcer(self.data, self._library.JsonSchemaParser(dict(schema)))
        self.reset()

    def reset(self) -> None:
        """Go back to the beginning."""
        self._token_ids: list[int] = []

    def compute_mask(self) -> Mask:
        """Return the tokens that may come next."""
        allowed = self._enforcer.get_allowed_tokens(self._token_ids).allowed_tokens
        return np.asarray(allowed).reshape(-1)

    def commit(self, token_id: int) -> bool:
        """Take a token, if it is allowed."""
        if not int(self.compute_mask()[token_id >> 5]) >> (token_id & 31) & 1:
            return False
        self._token_ids.append(token_id)
        return True

    def can_end(self) -> bool:
        """Tell whether the text may end."""
        return bool(int(self.compute_mask()[self._end >> 5]) >> (self._end & 31) & 1)
