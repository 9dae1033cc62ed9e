"""Random grammars in the language of Lark: few rules and terminals, which mostly overlap."""

from hypothesis import strategies as st

ATOMS = [
    "a",
    "b",
    "c",
    "[ab]",
    "[^a]",
    ".",
    r"\w",
    r"\W",
    "(?i:a)",
    r"\b",
    r"\B",
    "^",
    "$",
    r"(?m:^)",
    r"(?m:$)",
    r"\Z",
]
ATOMS += ["", "(?=a)", "(?!b)", "(?=ab|c)", "(?!ab|c$)", "(?<=a)", "(?<!b)", "(?<!ab)", "(?<=[ab]c)", "(?!a(?!b))"]
QUANTIFIERS = ["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}?", "{2,}"]


def repeated(pair):
    item, quantifier = pair
    return f"(?:{item}){quantifier}"


EXPRESSIONS = st.recursive(
    st.one_of(st.sampled_from("abc"), st.sampled_from(ATOMS)),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})"),
        st.tuples(inner, st.sampled_from(QUANTIFIERS)).map(repeated),
    ),
    max_leaves=6,
)
REGEXPS = st.tuples(EXPRESSIONS, st.sampled_from(["", "", "i", "s"])).map(lambda pair: f"/{pair[0]}/{pair[1]}")
STRINGS = st.tuples(st.text("abc", min_size=1, max_size=2), st.sampled_from(["", "", "i"])).map(
    lambda pair: f'"{pair[0]}"{pair[1]}'
)
TERMINALS = st.tuples(st.one_of(REGEXPS, REGEXPS, STRINGS), st.sampled_from(["", "", "", ".1", ".2"]))
SYMBOLS = ["A", "B", "C", "A?", "B*", "C+", "start", "x", "y", "[x]", "x*", '"a"', '"bc"']
RULES = st.lists(st.lists(st.sampled_from(SYMBOLS), max_size=3).map(" ".join), min_size=1, max_size=2).map(" | ".join)


@st.composite
def grammars(draw):
    """Grammars of a few rules and terminals, which mostly overlap."""
    lines = [f"{name}: {draw(RULES)}" for name in ("start", "x", "y")]
    for name in "ABC":
        definition, priority = draw(TERMINALS)
        lines.append(f"{name}{priority}: {definition}")
    if draw(st.booleans()):
        lines.append(draw(st.sampled_from(['%ignore "c"', "%ignore /b+/", "%ignore A", '%ignore " "'])))
    return "\n".join(lines)
