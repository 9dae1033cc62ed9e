"""Engines that read grammars, each behind the same six methods; see `maskbench_engine.py` and `peers.py`."""

from typing import Any

from benchmarks import peers
from benchmarks.peer_grammars import TINY_OF_LLGUIDANCE, TINY_OF_XGRAMMAR, for_llguidance, for_xgrammar


class Structured:
    """This library."""

    def __init__(self, hf_tokenizer: Any) -> None:
        from benchmarks.maskbench_engine import Engine

        self._engine = Engine(hf_tokenizer)
        for name in ("reset", "compute_mask", "commit", "can_end"):
            setattr(self, name, getattr(self._engine, name))

    def compile(self, name: str) -> None:
        """Take a grammar that ships, or a tiny one."""
        from structured import Grammar
        from structured.index.index import Index

        grammar: Any = Grammar(TINY_OF_LLGUIDANCE) if name == "tiny" else Grammar.named(name)  # type: ignore[arg-type]
        self._engine._index = Index(grammar.automaton(), self._engine.vocabulary)  # noqa: SLF001  of one house


class LLGuidance(peers.LLGuidance):
    """https://github.com/guidance-ai/llguidance, with grammars in its own language."""

    def compile(self, schema: Any) -> None:
        """Take a grammar."""
        text = TINY_OF_LLGUIDANCE if schema == "tiny" else for_llguidance(schema)
        self._matcher = self._matcher_type(self._tokenizer, self._matcher_type.grammar_from_lark(text))
        if self._matcher.is_error():
            raise ValueError(self._matcher.get_error())


class XGrammar(peers.XGrammar):
    """https://github.com/mlc-ai/xgrammar, with grammars in its own language."""

    def compile(self, schema: Any) -> None:
        """Take a grammar."""
        text = TINY_OF_XGRAMMAR if schema == "tiny" else for_xgrammar(schema)
        self._matcher = self._xgrammar.GrammarMatcher(self._compiler.compile_grammar(text))
