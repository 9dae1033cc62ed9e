"""The translation of loops to Cython: modules of Python in the notation of `structured/machine_code/notation.py`,
put together into one module of Cython.

All modules become one, so that the C compiler sees all calls. The rules:

- A function is marked `@loop`, `@rare_loop`, `@entry` or `@walk_entry`; others stay Python. In annotations `int` is 64
  bits wide, `bool` a flag, `float` double; `Ints`, `Rows` and so on are arrays, `list[X]` an array of the structs of a
  subclass X of `Row`, `tuple[int, int]` a pair. Local variables are 64-bit integers unless they are annotated.
- A class is marked `@compiled_class`; its annotated attributes are those of a C struct. Python sees all but its arrays.
- Module-level integers are written into the code. Names of functions, classes and constants are unique over all modules.
- An error is a return value of `ERROR`, which no loop returns otherwise.
"""

import ast
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

ERROR = -2_000_000_000
"""The value that a loop returns after it has raised."""

TYPES = {
    "int": "long long",
    "bool": "bint",
    "float": "double",
    "single": "float",
    "Ints": "int[::1]",
    "Rows": "int[:, ::1]",
    "Sequences": "int[:, :, ::1]",
    "Words": "unsigned int[::1]",
    "Flags": "unsigned char[::1]",
    "Bytes": "const unsigned char[::1]",
    "Text": "unsigned char[::1]",
    "Masks": "const int[::1]",
    "Singles": "const float[::1]",
}
MARKS = ("loop", "rare_loop", "entry", "walk_entry")

HEADER = """\
# cython: language_level=3, boundscheck={checks}, wraparound=False, cdivision=True, initializedcheck={checks}
# cython: nonecheck=False, infer_types=True, binding=False, embedsignature=False
import numpy as np
cimport cython
from structured.machine_code.arrays import blank_rows, filled, grown, rows_of, viewed, zeros
from structured.machine_code.limits import LimitError, StateNeeded

SOURCES = "{digest}"
"""


class TranslationError(Exception):
    """A module does not follow the rules of the notation."""


def translate(paths: Sequence[Path], constants: Sequence[Path], digest: str, *, checks: bool = False) -> str:
    """Return the module of Cython for some modules, in the order of their imports.

    `constants` are modules of integers that these import; with `checks`, each index is compared with its bounds.
    """
    known: dict[str, int] = {}
    trees = [ast.parse(path.read_text("utf-8")) for path in paths]
    for path in (*constants, *paths):
        found = _constants(ast.parse(path.read_text("utf-8")), known)
        if clashing := [name for name, value in found.items() if known.setdefault(name, value) != value]:
            raise TranslationError(f"{path}: {', '.join(clashing)} has another value in a module before")
    structs = {node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef) and _is_struct(node)}
    classes = {node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef) and _marks(node)}
    functions: dict[str, str] = {}
    for path, tree in zip(paths, trees, strict=True):
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and _mark(node):
                if node.name in functions:
                    raise TranslationError(f"{path}: another loop is named {node.name}")
                functions[node.name] = _mark(node)
    unit = _Unit(known, structs, classes, functions)
    parts = [HEADER.format(checks=checks, digest=digest)]
    nodes = [node for tree in trees for node in tree.body]
    parts += [unit.struct(node) for node in nodes if isinstance(node, ast.ClassDef) and _is_struct(node)]
    parts += [f"cdef class {name}" for name in sorted(classes)]
    parts += [unit.class_of(node) for node in nodes if isinstance(node, ast.ClassDef) and _marks(node)]
    parts += [unit.function(node) for node in nodes if isinstance(node, ast.FunctionDef) and _mark(node)]
    return "\n\n".join(parts) + "\n"


def _constants(tree: ast.Module, known: dict[str, int]) -> dict[str, int]:
    """Return the integers that a module defines."""
    found: dict[str, int] = {}
    for node in tree.body:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        try:
            code = compile(ast.Expression(node.value), "", "eval")
            value = eval(code, {"__builtins__": {"range": range}, **known, **found})  # noqa: S307  the package's own
        except Exception:  # noqa: BLE001, S112  not a constant
            continue
        target = node.targets[0]
        if isinstance(target, ast.Name) and type(value) is int:
            found[target.id] = value
        elif isinstance(target, ast.Tuple) and isinstance(value, range | tuple) and all(type(n) is int for n in value):
            found |= {name.id: number for name, number in zip(target.elts, value, strict=True) if isinstance(name, ast.Name)}
    return found


def _marks(node: ast.ClassDef | ast.FunctionDef) -> list[str]:
    return [decorator.id for decorator in node.decorator_list if isinstance(decorator, ast.Name)]


def _mark(node: ast.FunctionDef) -> str:
    return next((mark for mark in _marks(node) if mark in MARKS), "")


def _is_struct(node: ast.ClassDef) -> bool:
    return any(isinstance(base, ast.Name) and base.id == "Row" for base in node.bases)


class _Unit:
    """All that the modules define together."""

    def __init__(
        self, constants: dict[str, int], structs: set[str], classes: set[str], functions: dict[str, str]
    ) -> None:
        self.constants = constants
        self.structs = structs
        self.classes = classes
        self.functions = functions

    def type_of(self, annotation: ast.expr | None) -> str:
        """Return the type in C for an annotation."""
        text = "None" if annotation is None else ast.unparse(annotation)
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            text = annotation.value
        if text in TYPES:
            return TYPES[text]
        if text in self.structs or text in self.classes:
            return text
        if text.startswith("list[") and text[5:-1] in self.structs:
            return f"{text[5:-1]}[::1]"
        if text.startswith("tuple["):
            return "(" + ", ".join(TYPES[name.strip()] for name in text[6:-1].split(",")) + ")"
        return "object"

    def struct(self, node: ast.ClassDef) -> str:
        """Return a struct of int32, and its type for NumPy."""
        names = [field.target.id for field in node.body if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)]
        fields = "".join(f"    int {name}\n" for name in names)
        dtype = ", ".join(f'("{name}", np.int32)' for name in names)
        return f"cdef struct {node.name}:\n{fields}\n{node.name}_dtype = np.dtype([{dtype}])"

    def class_of(self, node: ast.ClassDef) -> str:
        """Return an extension type."""
        lines = ["@cython.final", f"cdef class {node.name}:"]
        for statement in node.body:
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                name, kind = statement.target.id, self.type_of(statement.annotation)
                is_seen = kind in {"object", "long long", "bint"} or kind in self.classes
                lines.append(f"    cdef {'public ' if is_seen else ''}{kind} {name}")
            elif isinstance(statement, ast.FunctionDef):
                text = self.function(statement) if _mark(statement) else self.python(statement)
                lines.append(textwrap.indent(text, "    "))
        return "\n".join(lines)

    def python(self, node: ast.FunctionDef) -> str:
        """Return a function that stays Python, its annotations left out."""
        arguments = [*node.args.args]
        names = ", ".join(
            argument.arg if default is None else f"{argument.arg}={ast.unparse(default)}"
            for argument, default in _with_defaults(node)
        )
        assert len(arguments) == len(list(_with_defaults(node)))
        decorators = "".join(f"@{mark}\n" for mark in _marks(node))
        body = self._body(node, set())
        return f"{decorators}def {node.name}({names}):\n{body}"

    def function(self, node: ast.FunctionDef) -> str:
        """Return a loop as a function of C; for an entry, one of Python that calls it."""
        mark = _mark(node)
        returned = "int" if node.returns is None or ast.unparse(node.returns) == "None" else self.type_of(node.returns)
        names = [argument.arg for argument in node.args.args]
        is_method = bool(names) and names[0] == "self"
        kinds = {argument.arg: self.type_of(argument.annotation) for argument in node.args.args}
        typed = ", ".join(name if name == "self" else f"{kinds[name]} {name}" for name in names)
        error = "except *" if returned.startswith("(") else "noexcept" if returned == "object" else f"except {self._error(returned)}"
        if returned == "object":
            error = ""
        lock = "with gil" if mark == "rare_loop" else "nogil"
        symbol = node.name if mark in {"loop", "rare_loop"} else f"c_{node.name}"
        text = f"cdef {returned} {symbol}({typed}) {error} {lock}:\n{self._body(node, set(names))}"
        if returned == "int":
            text += "\n    return 0"
        if mark in {"loop", "rare_loop"}:
            return text
        assert not is_method, "entries are functions"
        passed = ", ".join(f"{name}.view(np.uint8)" if kinds[name] == TYPES["Flags"] else name for name in names)
        locals_ = "".join(
            f"    cdef {kinds[name]} c_of_{name} = {name}{'.view(np.uint8)' if kinds[name] == TYPES['Flags'] else ''}\n"
            for name in names
        )
        if mark == "entry":
            call = f"    return c_{node.name}({passed})" if returned != "int" else f"    c_{node.name}({passed})"
            return f"{text}\n\ndef {node.name}({', '.join(names)}):\n{call}"
        inner = ", ".join(f"c_of_{name}" for name in names)
        result = "" if returned == "int" else "result = "
        declared = "" if returned == "int" else f"    cdef {returned} result\n"
        tail = "" if returned == "int" else "\n    return result"
        return (
            f"{text}\n\ndef {node.name}({', '.join(names)}):\n{locals_}{declared}    with nogil:\n"
            f"        {result}c_{node.name}({inner}){tail}"
        )

    @staticmethod
    def _error(returned: str) -> str:
        return {"long long": str(ERROR), "int": "-1", "bint": "-1", "double": "-1e300", "float": "-1e30"}.get(returned, "NULL")

    def _body(self, node: ast.FunctionDef, parameters: set[str]) -> str:
        is_loop = bool(_mark(node))
        annotated = {
            each.target.id: self.type_of(each.annotation)
            for each in ast.walk(node)
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
        }
        lines = [f"    cdef {kind} {name}" for name, kind in annotated.items()]
        if is_loop and _mark(node) != "rare_loop":
            stored = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
            integers = sorted(stored - parameters - set(annotated))
            if integers:
                lines.append("    cdef long long " + ", ".join(integers))
        rewriter = _Rewriter(self, node)  # which changes the tree
        statements = [ast.fix_missing_locations(rewriter.visit(statement)) for statement in _without_docstring(node)]
        lines += [textwrap.indent(ast.unparse(statement), "    ") for statement in statements]
        return "\n".join(lines) if lines else "    pass"


def _with_defaults(node: ast.FunctionDef) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    defaults = [None] * (len(node.args.args) - len(node.args.defaults)) + [*node.args.defaults]
    return zip(node.args.args, defaults, strict=True)


def _without_docstring(node: ast.FunctionDef) -> list[ast.stmt]:
    return node.body[1:] if ast.get_docstring(node) is not None else node.body


class _Rewriter(ast.NodeTransformer):
    """Rewrites the body of a function: constants, calls of entries, and rows of structs."""

    def __init__(self, unit: _Unit, function: ast.FunctionDef) -> None:
        self.unit = unit
        self.returns_nothing = bool(_mark(function))
        self.local = {argument.arg for argument in function.args.args} | {
            node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Write a constant into the code."""
        if isinstance(node.ctx, ast.Load) and node.id not in self.local and node.id in self.unit.constants:
            return ast.Constant(self.unit.constants[node.id])
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Write a constant of a module into the code: `op.TEXT` → `0`."""
        if isinstance(node.value, ast.Name) and node.value.id not in self.local and node.attr in self.unit.constants:
            return ast.Constant(self.unit.constants[node.attr])
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Call the C function of an entry; make rows of structs by their type for NumPy."""
        function = node.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id in self.unit.structs:
            maker = {"rows": "blank_rows", "of": "rows_of"}[function.attr]
            arguments = [self.visit(argument) for argument in node.args]
            return ast.Call(ast.Name(maker, ast.Load()), [ast.Name(f"{function.value.id}_dtype", ast.Load()), *arguments], [])
        self.generic_visit(node)
        if isinstance(function, ast.Name) and self.unit.functions.get(function.id) in {"entry", "walk_entry"}:
            node.func = ast.Name(f"c_{function.id}", ast.Load())
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        """Return 0 from a loop that returns nothing: in C it tells that there was no error."""
        self.generic_visit(node)
        return ast.Return(ast.Constant(0)) if node.value is None and self.returns_nothing else node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Leave out an annotation, which has become a declaration."""
        self.generic_visit(node)
        return ast.Pass() if node.value is None else ast.Assign([node.target], node.value, lineno=0)
