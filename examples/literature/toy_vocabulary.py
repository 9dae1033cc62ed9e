"""Example 1 of Willard and Louf, "Efficient Guided Generation for Large Language Models" (arXiv 2307.09702).

A floating-point number, `([0-9]*)?\\.?[0-9]*`, over a vocabulary of five tokens: "A", ".", "42", ".2" and "1". What may
follow the start, ".2" and "1" is as in section 3 of the paper. There, ".2" leads to state 3 and "1" to state 1. Here
the automaton is the smallest: the start and the paper's state 1 are one, since the same texts lead on from both, and
what follows the dot is the other.

    $ python examples/literature/toy_vocabulary.py
    Regex('([0-9]*)?\\\\.?[0-9]*')
    2 states, all shown.

    state    reads  →  shortest completion
    > ((0))  \\.     1
             [0-9]  0
    ((1))    [0-9]  1

    after      state  may follow
    (nothing)      0  . 42 .2 1
    .2             1  42 1
    1              0  . 42 .2 1
"""

from structured import Regex
from structured.decoding import inspect_automaton
from structured.vocabulary import Vocabulary

TOKENS = ("A", ".", "42", ".2", "1")
VOCABULARY = Vocabulary((*map(str.encode, TOKENS), None), end_token_ids=frozenset({len(TOKENS)}))

if __name__ == "__main__":
    diagram = inspect_automaton(Regex(r"([0-9]*)?\.?[0-9]*"))
    print(diagram)
    print("\nafter      state  may follow")
    for text in ("", ".2", "1"):
        end = diagram.walk(text, VOCABULARY).end
        print(f"{text or '(nothing)':9}  {end.state:>5}  {' '.join(map(bytes.decode, end.tokens.values()))}")
