r"""Write `def foo(): pass` token by token under a grammar, and see what may stand in the place of each token.

"Efficient Guided Generation for Large Language Models" (arXiv 2307.09702) extends masks to grammars in section 4, with
a grammar that is like Python's. The tokens are SmolLM2's, of which there are 49,152. Of those that are allowed, four
are shown. A token may end one terminal of the grammar and begin the next: `():` is three.

    $ python examples/literature/python_tokens.py
    '': 30 tokens may follow, such as ['def', ' de', ' d']; 'def' follows
    'def': 21,562 tokens may follow, such as [' de', ' d', ' foo', ' bar']; ' foo' follows
    'def foo': 11,681 tokens may follow, such as ['def', '():', '(', 'bar']; '():' follows
    'def foo():': 40 tokens may follow, such as [' pass', 'pa', ' return']; ' pass' follows
    def foo(): pass
"""

from structured import Grammar
from structured.decoding import inspect_automaton

PYTHON = Grammar(r"""
start: DEF NAME "(" (NAME ("," NAME)*)? ")" ":" (PASS | RETURN (NAME | NUMBER))
DEF: /def(?!\w)/
PASS: /pass(?!\w)/
RETURN: /return(?!\w)/
NAME: /(?!(?:def|pass|return)(?!\w))[a-z_]+/
NUMBER: /[0-9]+/
%ignore " "
""")
SHOWN = ("def", " de", " d", " foo", " bar", " _", " self", "():", "(", "bar", " pass", "pa", " return", " 1")

if __name__ == "__main__":
    automaton = inspect_automaton(PYTHON)
    written = ""
    for step in automaton.walk("def foo(): pass", "smollm2").steps:
        allowed = {token.decode() for token in automaton.walk(written, "smollm2").end.tokens.values()}
        some = [token for token in SHOWN if token in allowed][:4]
        token = step.token.decode()
        print(f"{written!r}: {step.allowed:,} tokens may follow, such as {some}; {token!r} follows")
        written += token
    print(PYTHON.parse(written))
