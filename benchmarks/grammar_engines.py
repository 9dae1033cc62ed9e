"""Engines that read grammars, each behind the same six methods; see `maskbench_engine.py` and `peers.py`."""

from typing import Any

from benchmarks import peers

JSON_OF_LLGUIDANCE = r"""
start: value
value: object | array | STRING | NUMBER | "true" | "false" | "null"
object: "{" [member ("," member)*] "}"
member: STRING ":" value
array: "[" [value ("," value)*] "]"
STRING: /"([^"\\\x00-\x1f]|\\(["\\\/bfnrt]|u[0-9a-fA-F]{4}))*"/
NUMBER: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/
%ignore /[ \t\n\r]+/
"""

JSON_OF_XGRAMMAR = r"""
root ::= ws value ws
value ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" ws "}" | "{" ws member (ws "," ws member)* ws "}"
member ::= string ws ":" ws value
array ::= "[" ws "]" | "[" ws value (ws "," ws value)* ws "]"
string ::= "\"" character* "\""
character ::= [^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F])
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [+-]? [0-9]+)?
ws ::= [ \t\n\r]*
"""


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

        grammar: Any = Grammar('start: "a" start | "b"') if name == "tiny" else Grammar.named(name)  # type: ignore[arg-type]
        self._engine._index = Index(grammar.automaton(), self._engine.vocabulary)  # noqa: SLF001  of one house


class LLGuidance(peers.LLGuidance):
    """https://github.com/guidance-ai/llguidance, with grammars in its own language."""

    def compile(self, schema: Any) -> None:
        """Take a grammar."""
        text = 'start: "a" start | "b"' if schema == "tiny" else JSON_OF_LLGUIDANCE
        self._matcher = self._matcher_type(self._tokenizer, self._matcher_type.grammar_from_lark(text))
        if self._matcher.is_error():
            raise ValueError(self._matcher.get_error())


class XGrammar(peers.XGrammar):
    """https://github.com/mlc-ai/xgrammar, with grammars in its own language."""

    def compile(self, schema: Any) -> None:
        """Take a grammar."""
        text = 'root ::= "a" root | "b"' if schema == "tiny" else JSON_OF_XGRAMMAR
        self._matcher = self._xgrammar.GrammarMatcher(self._compiler.compile_grammar(text))
