r"""Holes with constraints, control flow between them, decoders and streams, as in LMQL.

A query of LMQL is a prompt with holes, constraints for them (`where`) and a decoder. Here the prompt is a `Draft`, the
control flow is Python's, constraints are types that `&` and `-` combine, and decoders are options. SmolLM2 writes.

    $ python examples/literature/like_lmql.py
    Review: We had a great stay. The food was delicious.
    Sentiment: positive
    What was good? The review says that the food was delicious.
    Review: The room was dirty and the food was bad.
    Sentiment: negative
    What was bad? The review says that the room was dirty and the food was bad.
    Combined constraints: A beach towel
    Beams: Melville wrote a novel about a sea captain and a white whale.
    Particles: never
    Stream: [1 | 2, |  1 | 4, |  1 | 7 | ]
"""

from structured import Beams, Choice, Extractor, Particles, Regex, Text, extract
from structured.extraction import Draft

BEFORE = (
    "Review: The soup was cold and I hated it.\nSentiment: negative\n\n"
    "Review: I loved the song.\nSentiment: positive\n\n"
)
REASON = Text(stop=[".", "\n"], characters=(5, 60))  # a stop phrase and a length
THING = Text(stop="\n", words=(1, 3), lacks="sun") & Regex(r"[A-Z][a-z ]+\n") - Choice(["A towel\n"])
PLOT = Regex(r"(?=.*whale)[A-Z][a-z]+( [A-Za-z]+){3,11}\.")

if __name__ == "__main__":
    for review in ("We had a great stay. The food was delicious.", "The room was dirty and the food was bad."):
        draft = Draft(f"{BEFORE}Review: {review}\nSentiment: ", model="smollm2")
        if draft.ask(Choice(["positive", "neutral", "negative"])) == "negative":
            draft += "\nWhat was bad? The review says that"
        else:
            draft += "\nWhat was good? The review says that"
        draft.ask(REASON)
        print(draft.text.removeprefix(BEFORE))

    draft = Draft("Things to take to the beach:\n- ", model="smollm2")
    print("Combined constraints:", draft.ask(THING))
    text = "Melville wrote a novel about a sea captain and a white whale. Say what it is about."
    print("Beams:", extract(PLOT, text, model="smollm2", search=Beams(4)))
    smoke = Choice(["yes", "no", "never", "always"])
    print(
        "Particles:",
        extract(smoke, "Do you smoke? Never!", model="smollm2", temperature=1, search=Particles(16), seed=0),
    )
    stream = Extractor(list[int], model="smollm2").stream("We have rooms 12, 14 and 17.")
    print("Stream:", " | ".join(stream))
