r"""Write one text in turns with a model, as in Guidance: select, gen, grammars, templates and loops.

A program of Guidance appends to the text of a model: fixed text, `select`, `gen` with an expression or a stop
expression, and functions that return grammars. Here the text is a `Draft`, and what is appended is of a type: a choice,
an expression, free text up to a stop phrase, or a template of these. Types are values, and can be used again.

    $ python examples/literature/like_guidance.py
    select: bad
    gen, regex: Rome.
    gen, stop regex: They are the most social of all the mammals.
    template: {'start': 'Oslo', 'end': 'Kiel', 'time': '14:00'}
    loop: A cat, A dog, A bird
"""

from structured import Choice, Regex, Text, template
from structured.extraction import Draft

TIME = Regex("[0-9]{1,2}:[0-9]{2}")  # a grammar without a state, used twice
JOURNEY = template(
    "From: {start}\nTo: {end}\nTime: {time}\n", start=Regex("[A-Z][a-z]+"), end=Regex("[A-Z][a-z]+"), time=TIME
)
SENTENCE = Regex(r"[^.!?\n]+[.!?]")  # whatever stands before a match of the stop expression [.!?], and that

if __name__ == "__main__":
    draft = Draft("The actors were dull and the plot was silly. The film is ", model="smollm2")
    print("select:", draft.ask(Choice(["good", "bad"])))

    draft = Draft("The capital of France is Paris.\nThe capital of Italy is ", model="smollm2")
    print("gen, regex:", draft.ask(Regex(r"[A-Z][a-z]+\.")))

    draft = Draft("Here is a fact about cats. ", model="smollm2")
    print("gen, stop regex:", draft.ask(SENTENCE))

    draft = Draft(
        "Sentence: The train from Lyon to Porto leaves at 9:40.\nFrom: Lyon\nTo: Porto\nTime: 9:40\n\n"
        "Sentence: A ferry from Oslo to Kiel leaves at 14:00.\n",
        model="smollm2",
    )
    print("template:", draft.ask(JOURNEY))

    draft = Draft("The names of three animals:\n", model="smollm2")
    for number in (1, 2, 3):
        draft += f"{number}. "
        draft.ask(Text(stop="\n", characters=(3, 20)), name=f"animal {number}")
    print("loop:", ", ".join(draft.values.values()))
