"""Choose one of several functions, and write its arguments.

Function calling is an example of most of the literature on structured output. Functions are a type here: the model
writes the name of one and its arguments, and nothing runs before `run()`. SmolLM2, which has 135 M parameters, needs an
example of each function, and their order matters: with other ones it makes mistakes on these requests.

    $ python examples/literature/function_calling.py
    Will it rain in Oslo?
      weather(city='Oslo')
      It is sunny in Oslo.
    Play Imagine.
      play(song='Imagine')
      Now: Imagine.
    Remind me of the bread at 18.
      remind(of='bread', hour=18)
      At 18: bread!
"""

from structured import Extractor, functions
from structured.output_types import Call


def weather(city: str) -> str:
    """Tell the weather in a city."""
    return f"It is sunny in {city}."


def play(song: str) -> str:
    """Play a song."""
    return f"Now: {song}."


def remind(of: str, hour: int) -> str:
    """Remind me of something at an hour."""
    return f"At {hour}: {of}!"


EXAMPLES = [
    ("Is it warm in Turin?", Call(weather, {"city": "Turin"})),
    ("Remind me of the keys at 7.", Call(remind, {"of": "the keys", "hour": 7})),
    ("Play Yesterday.", Call(play, {"song": "Yesterday"})),
]

if __name__ == "__main__":
    choose = Extractor(functions(weather, play, remind), model="smollm2", examples=EXAMPLES)
    for request in ("Will it rain in Oslo?", "Play Imagine.", "Remind me of the bread at 18."):
        call = choose(request)
        print(request, call, call.run(), sep="\n  ")
