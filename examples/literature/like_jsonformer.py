"""Let the model write the values alone, as in Jsonformer.

Jsonformer writes brackets, quotation marks and the names of fields by itself, and asks the model for what stands
between them. Here that follows from the automaton of the type: where only one text is possible, it is appended without
asking (jump-forward decoding). Without that, the answer is the same, and the model is asked for each token.

    $ python examples/literature/like_jsonformer.py
    {"name": "John", "age": 23, "is_student": true, "courses": ["Law", "History"]}
    15 tokens sampled, 16 forced, in 8 passes
    {"name": "John", "age": 23, "is_student": true, "courses": ["Law", "History"]}
    31 tokens sampled, 0 forced, in 31 passes
"""

from pydantic import BaseModel

from structured import Extractor


class Person(BaseModel):
    name: str
    age: int
    is_student: bool
    courses: list[str]


TEXT = "John is 23, a student, and takes courses in law and history."

if __name__ == "__main__":
    for jump_forward in (True, False):
        found = Extractor(Person, model="smollm2", jump_forward=jump_forward).result(TEXT)
        cost = found.usage
        print(found.text)
        print(f"{cost.sampled_tokens} tokens sampled, {cost.forced_tokens} forced, in {cost.passes} passes")
