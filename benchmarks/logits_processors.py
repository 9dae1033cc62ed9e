"""Other engines as logits processors of `model.generate`; needs what `requirements.txt` lists.

Each takes a loaded model with its tokenizer, then JSON Schemas; for each batch it gives a processor. Where an engine
brings a processor of its own, it is that; the whitespace of `json.dumps` is asked for where that can be chosen.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from benchmarks import peers

Processor = Callable[[Tensor, Tensor], Tensor]
"""From the token ids so far, shape (texts, length), and the logits, shape (texts, width), to the masked logits."""

Compiled = Callable[[], Processor]
"""Makes the processor of one batch."""


class Outlines:
    """https://github.com/dottxt-ai/outlines, with its default engine; it lets a space be or not be."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        import outlines

        self._outlines = outlines
        self._model = outlines.from_transformers(model, tokenizer)

    def compile(self, schema: Mapping[str, Any]) -> Compiled:
        """Take a schema."""
        output_type = self._outlines.types.JsonSchema(json.dumps(schema))
        processor = self._outlines.Generator(self._model, output_type).logits_processor

        def make() -> Processor:
            processor.reset()
            made: Processor = processor
            return made

        return make


class LMFormatEnforcer:
    """https://github.com/noamgat/lm-format-enforcer, by its integration of transformers."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        del model
        from lmformatenforcer.integrations import transformers as integration

        self._integration = integration
        self._data = integration.build_token_enforcer_tokenizer_data(tokenizer)

    def compile(self, schema: Mapping[str, Any]) -> Compiled:
        """Take a schema."""
        import lmformatenforcer
        from transformers.generation.logits_process import PrefixConstrainedLogitsProcessor

        def make() -> Processor:
            parser = lmformatenforcer.JsonSchemaParser(dict(schema))
            allowed = self._integration.build_transformers_prefix_allowed_tokens_fn(self._data, parser)
            made: Processor = PrefixConstrainedLogitsProcessor(allowed, 1)
            return made

        return make


class LMFormatEnforcerAlone:
    """The same without its integration, for versions of transformers that this does not run with."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        del model
        self._data = peers.LMFormatEnforcer(tokenizer).data

    def compile(self, schema: Mapping[str, Any]) -> Compiled:
        """Take a schema."""
        import lmformatenforcer

        lmformatenforcer.JsonSchemaParser(dict(schema))  # raises what it has to
        return lambda: _EnforcerProcessor(
            lmformatenforcer.TokenEnforcer(self._data, lmformatenforcer.JsonSchemaParser(dict(schema)))
        )


class _EnforcerProcessor:
    def __init__(self, enforcer: Any) -> None:
        self._enforcer = enforcer

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        masked = torch.full_like(scores, float("-inf"))
        for row, token_ids in enumerate(input_ids.tolist()):
            words = torch.as_tensor(self._enforcer.get_allowed_tokens(token_ids).allowed_tokens).reshape(-1)
            bits = (words[:, None] >> torch.arange(32)) & 1
            allowed = bits.reshape(-1)[: scores.shape[1]].bool().to(scores.device)
            masked[row, : len(allowed)] = scores[row, : len(allowed)].masked_fill(~allowed, float("-inf"))
        return masked


class LLGuidance:
    """https://github.com/guidance-ai/llguidance: it has no processor, so this is the plainest that can be."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        import llguidance
        import llguidance.hf

        self._matcher_type = llguidance.LLMatcher
        self._tokenizer = llguidance.hf.from_tokenizer(tokenizer, n_vocab=model.config.vocab_size)

    def compile(self, schema: Mapping[str, Any]) -> Compiled:
        """Take a schema."""
        layout = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
        grammar = self._matcher_type.grammar_from_json_schema(json.dumps(schema), overrides=layout)
        matcher = self._matcher_type(self._tokenizer, grammar)
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        return lambda: _LLGuidanceProcessor(matcher)


class _LLGuidanceProcessor:
    def __init__(self, matcher: Any) -> None:
        self._matcher = matcher
        self._matchers: list[Any] = []

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        import llguidance.torch

        if not self._matchers:
            self._matchers = [self._matcher.deep_copy() for _ in input_ids]
            self._bitmask = llguidance.torch.allocate_token_bitmask(len(input_ids), scores.shape[1])
        else:
            for matcher, token_id in zip(self._matchers, input_ids[:, -1].tolist(), strict=True):
                if not matcher.is_stopped():
                    matcher.consume_token(token_id)
        for row, matcher in enumerate(self._matchers):  # one that has stopped allows the end
            llguidance.torch.fill_next_token_bitmask(matcher, self._bitmask, row)
        llguidance.torch.apply_token_bitmask_inplace(scores, self._bitmask.to(scores.device))
        return scores


class XGrammar:
    """https://github.com/mlc-ai/xgrammar, with its processor for transformers."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        import xgrammar
        import xgrammar.contrib.hf

        self._xgrammar = xgrammar
        ends = model.generation_config.eos_token_id
        info = xgrammar.TokenizerInfo.from_huggingface(
            tokenizer, vocab_size=model.config.vocab_size, stop_token_ids=[ends] if isinstance(ends, int) else ends
        )
        self._compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)

    def compile(self, schema: Mapping[str, Any]) -> Compiled:
        """Take a schema."""
        grammar = self._compiler.compile_json_schema(json.dumps(schema), any_whitespace=False)

        def make() -> Processor:
            made: Processor = self._xgrammar.contrib.hf.LogitsProcessor(grammar)
            return made

        return make
