r"""Answer yes, no, never or always.

The words are the first example of "Efficient Guided Generation for Large Language Models" (arXiv 2307.09702, section
3.1), which asks a model whether 1 + 1 is 2 and allows `\s*([Yy]es|[Nn]o|[Nn]ever|[Aa]lways)`. A choice also says what
each word stands for; here it is a number. SmolLM2, which has 135 M parameters, reads the four answers right. It says no
to both sums, since the form is enforced and the truth is not.

    $ python examples/literature/choices.py
    Do you lock the door? Always! always 1.0
    Do you smoke? Never! never 0.0
    Would you like tea? No, thank you. no 0.25
    Are you well? Yes, I am. yes 0.75
    Is 1 + 1 = 2? No
    Is 1 + 1 = 3? No
"""

from structured import Choice, Extractor, Regex
from structured.extraction import Draft

HOW_OFTEN = Choice({"yes": 0.75, "no": 0.25, "never": 0.0, "always": 1.0})
EXAMPLES = [
    ("Is he late? He never is.", 0.0),
    ("Do you swim? Yes, I like it.", 0.75),
    ("Does it rain? It always does.", 1.0),
    ("Is it far? No, two miles.", 0.25),
]
ANSWERS = (
    "Do you lock the door? Always!",
    "Do you smoke? Never!",
    "Would you like tea? No, thank you.",
    "Are you well? Yes, I am.",
)
BEFORE = "Q: Is ice cold?\nA: Yes.\n\nQ: Is a mouse larger than a horse?\nA: No.\n\n"

if __name__ == "__main__":
    for answer in ANSWERS:
        found = Extractor(HOW_OFTEN, model="smollm2", examples=EXAMPLES).result(answer)
        print(answer, found.data, found.value)
    for question in ("Is 1 + 1 = 2?", "Is 1 + 1 = 3?"):
        draft = Draft(f"{BEFORE}Q: {question}\nA:", model="smollm2")
        print(question, draft.ask(Regex(r"(?a)\s*([Yy]es|[Nn]o|[Nn]ever|[Aa]lways)", str.strip)))
