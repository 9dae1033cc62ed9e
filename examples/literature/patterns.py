r"""Complete a text with what an expression matches: a year of birth, an IPv4 address, an address of the web.

The year and the IPv4 address are examples of "Efficient Guided Generation for Large Language Models" (arXiv 2307.09702,
section 3.1). ReLLM, too, completes a prompt by an expression, token by token. `(?a)` keeps `\s` to the white space of
ASCII: the other kinds tempt a small model. SmolLM2 knows the home page of Python, and makes up a year and an IPv4
address, since the form is enforced and the truth is not. It reads the year right where the text states it.

    $ python examples/literature/patterns.py
    In what year was Noam Chomsky born? 1990
    What is the IP address of the Google DNS servers? 1.1.1.111
    What is the address of the home page of Python? https://www.python.org/
    Noam Chomsky was born on 7 December 1928 in Philadelphia. 1928
"""

from structured import Regex, extract
from structured.extraction import Draft

YEAR = Regex(r"(?a)\s*19[0-9]{2}", int)
BYTE = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
ADDRESS = Regex(rf"(?a)\s*({BYTE}\.){{3}}{BYTE}", str.strip)
URL = Regex(r"(?a)\s*https?://[a-z]+(\.[a-z]+){1,3}/", str.strip)

if __name__ == "__main__":
    for question, pattern in (
        ("In what year was Noam Chomsky born?", YEAR),
        ("What is the IP address of the Google DNS servers?", ADDRESS),
        ("What is the address of the home page of Python?", URL),
    ):
        print(question, Draft(f"{question}\n", model="smollm2").ask(pattern))
    text = "Noam Chomsky was born on 7 December 1928 in Philadelphia."
    print(text, extract(YEAR, text, model="smollm2"))
