r"""Complete a text by a grammar, as in ParserLLM.

ParserLLM asks a parser of Lark which terminals may come next, and completes the text by their expressions. Here the
grammar and its terminals are one automaton, and a token may span several terminals. SmolLM2 writes the formulas; Lark
parses them, and a `Transformer` calculates.

    $ python examples/literature/like_parserllm.py
    Seven times eight = 7 * 8 = 56
    Six plus two, times three = (6 + 2) * 3 = 24
    One plus two plus three = 1 + 2 + 3 = 6
"""

from lark import Token, Transformer

from structured import Grammar
from structured.extraction import Draft

SUMS = r"""
?start: sum
?sum: product | sum "+" product -> add | sum "-" product -> sub
?product: factor | product "*" factor -> mul
?factor: INT -> number | "(" sum ")"
%import common.INT
%ignore " "
"""


class Calculate(Transformer[Token, int]):
    def number(self, found: list[Token]) -> int:
        return int(found[0])

    def add(self, found: list[int]) -> int:
        return found[0] + found[1]

    def sub(self, found: list[int]) -> int:
        return found[0] - found[1]

    def mul(self, found: list[int]) -> int:
        return found[0] * found[1]


PROMPT = """\
Three plus four = 3 + 4
Two times nine = 2 * 9
Five minus one, times six = (5 - 1) * 6
"""

if __name__ == "__main__":
    for words in ("Seven times eight", "Six plus two, times three", "One plus two plus three"):
        draft = Draft(f"{PROMPT}{words} = ", model="smollm2")
        value = draft.ask(Grammar(SUMS, result=Calculate()) + "\n")
        print(draft.text.removeprefix(PROMPT).rstrip(), "=", value)
