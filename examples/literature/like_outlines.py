r"""Prompts as functions, choices, types, early stopping and infilling, as in Outlines.

Outlines makes prompts of docstrings, which are templates of Jinja, and generates choices, numbers and texts up to a
stop. Here `@structured` makes a function of a docstring, its arguments and its return annotation; in place of a loop
over examples in a template there is the option `examples`. SmolLM2 writes, and is wrong about the square root, since
the form is enforced and the truth is not.

    $ python examples/literature/like_outlines.py
    choice: It is a terrible film. negative
    choice: It was great to see you again! positive
    integer: 12
    list: [12, 14, 17]
    float: 2.14
    early stop:  the primary colours of the human eye: red, blue, and yellow.
    infilling: {'animal': 'cat', 'place': 'mat', 'others': 'birds'}
"""

from typing import Annotated

from structured import Choice, Regex, Text, extract, structured, template
from structured.extraction import Draft

MOODS = [
    ("I love this song.", "positive"),
    ("The soup was cold and I hated it.", "negative"),
    ("The bus has four wheels.", "neutral"),
]


@structured(model="smollm2", examples=MOODS)
def mood(text: str, *, language: str = "English") -> Annotated[str, Choice(["negative", "neutral", "positive"])]:
    """Is this {language} remark positive, neutral or negative? {text}"""
    raise NotImplementedError


if __name__ == "__main__":
    for remark in ("It is a terrible film.", "It was great to see you again!"):
        print("choice:", remark, mood(remark))
    print("integer:", extract(int, "The house has 12 rooms.", model="smollm2"))
    print("list:", extract(list[int], "We have rooms 12, 14 and 17.", model="smollm2"))
    print(
        "float:", Draft("Pi is 3.14.\nThe square root of 2 is ", model="smollm2").ask(Regex(r"[0-9]\.[0-9]{2}", float))
    )
    draft = Draft("The three primary colours are", model="smollm2")
    print("early stop:", draft.ask(Text(stop=".", keep_stop=True)))
    gaps = template(
        "The {animal} sat on the {place} and looked at the {others}.",
        animal=Choice(["cat", "dog"]),
        place=Regex("[a-z]{3,10}"),
        others=Regex("[a-z]{3,10}"),
    )
    print("infilling:", extract(gaps, "A cat, on a mat, watches birds.", model="smollm2"))
