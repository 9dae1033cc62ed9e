"""The translation of loops to Cython: the notation of `structured/machine_code/notation.py`, and what becomes of it.

All modules become one, so that the C compiler sees all calls. The rules:

- A function is marked `@loop`, `@rare_loop`, `@entry` or `@walk_entry`; others stay Python. In annotations `int` is 64
  bits wide, `bool` a flag, `float` double; `Ints`, `Rows` and so on are arrays, `list[X]` an array of the structs of a
  subclass X of `Row`. Local variables are 64-bit integers unless they are annotated, in a `rare_loop` objects.
- A class is marked `@compiled_class`; its annotated attributes are those of a struct of C. Python sees all but arrays.
- Module-level integers are written into the code. Functions, classes and integers have unique names in all modules.
- After an error a function returns a value that no loop returns otherwise, as `ERROR`.
"""

import ast
import textwrap
from collections.abc import Sequence
from pathlib import Path

ERROR = -2_000_000_000
"""The value that a loop returns after it has raised."""

TYPES = {
    "int": "long long",
    "bool": "bint",
    "float": "double",
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
NUMBERS = ("long long", "bint", "double")
ERRORS = {"long long": str(ERROR), "int": "-1", "bint": "-1", "double": "-1e300"}
"""What functions return after an error; `int` is the type of those that return nothing else."""

ENTRIES = ("entry", "walk_entry")
MARKS = ("loop", "rare_loop", *ENTRIES)

HEADER = """\
# cython: language_level=3, boundscheck={checks}, wraparound=False, cdivision=True, initializedcheck={checks}
# cython: nonecheck=False, infer_types=True, binding=False, embedsignature=False
import numpy as np
cimport cython
from structured.machine_code.growing_arrays import blank_rows, filled, grown, rows_of, viewed, zeros
from structured.machine_code.loop_errors import LimitError, StateNeeded

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
            found |= {
                name.id: number for name, number in zip(target.elts, value, strict=True) if isinstance(name, ast.Name)
            }
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
        return "object"

    def struct(self, node: ast.ClassDef) -> str:
        """Return a struct of int32, and its type for NumPy."""
        names = [ast.unparse(field.target) for field in node.body if isinstance(field, ast.AnnAssign)]
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
        decorators = "".join(f"@{mark}\n" for mark in _marks(node))
        for argument in node.args.args:
            argument.annotation = None
        return f"{decorators}def {node.name}({ast.unparse(node.args)}):\n{self._body(node)}"

    def function(self, node: ast.FunctionDef) -> str:
        """Return a loop as a function of C; for an entry, one of Python that calls it, too."""
        mark, returned = _mark(node), self._returned(node)
        lock = "with gil" if mark == "rare_loop" else "nogil"
        kinds = {argument.arg: self.type_of(argument.annotation) for argument in node.args.args}
        typed = ", ".join(f"{kind} {name}" for name, kind in kinds.items())
        end = "\n    return 0" if returned == "int" else ""
        is_entry = mark in ENTRIES
        head = f"cdef {returned} {'c_' * is_entry}{node.name}({typed}) except {ERRORS[returned]} {lock}"
        text = f"{head}:\n{self._body(node)}{end}"
        return f"{text}\n\n{self._entry(node, kinds)}" if is_entry else text

    def _entry(self, node: ast.FunctionDef, kinds: dict[str, str]) -> str:
        """Return the function of Python for an entry. Flags of NumPy become bytes, and nothing may be None."""
        typed, declared = [], ""
        for name, kind in kinds.items():
            if kind == TYPES["Flags"]:
                declared += f"    cdef {kind} viewed_{name} = {name}.view(np.uint8)\n"
            typed.append(name if kind == TYPES["Flags"] else f"{kind} {name}" + " not None" * (kind not in NUMBERS))
        passed = ", ".join(f"viewed_{name}" if kind == TYPES["Flags"] else name for name, kind in kinds.items())
        returned = self._returned(node)
        call = f"c_{node.name}({passed})"
        released = "    with nogil:\n    " if _mark(node) == "walk_entry" else ""
        answer = "" if returned == "int" else "\n    return result"
        body = f"    cdef {returned} result\n{declared}{released}    result = {call}{answer}"
        return f"def {node.name}({', '.join(typed)}):\n{body}"

    def _returned(self, node: ast.FunctionDef) -> str:
        """Return the type of a result in C; a loop without a result returns whether there was an error."""
        is_nothing = node.returns is None or ast.unparse(node.returns) == "None"
        return "int" if is_nothing else self.type_of(node.returns)

    def _body(self, node: ast.FunctionDef) -> str:
        annotated = {
            each.target.id: self.type_of(each.annotation)
            for each in ast.walk(node)
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
        }
        lines = [f"    cdef {kind} {name}" for name, kind in annotated.items()]
        integers = _stored(node) - {argument.arg for argument in node.args.args} - set(annotated)
        if integers and _mark(node) not in {"", "rare_loop"}:
            lines.append(f"    cdef long long {', '.join(sorted(integers))}")
        rewriter = _Rewriter(self, node)  # which changes the tree
        statements = [ast.fix_missing_locations(rewriter.visit(statement)) for statement in _without_docstring(node)]
        lines += [textwrap.indent(ast.unparse(statement), "    ") for statement in statements]
        return "\n".join(lines) if lines else "    pass"


def _stored(node: ast.AST) -> set[str]:
    """Return the variables that a function writes."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


def _without_docstring(node: ast.FunctionDef) -> list[ast.stmt]:
    return node.body[1:] if ast.get_docstring(node) is not None else node.body


class _Rewriter(ast.NodeTransformer):
    """Rewrites the body of a function: constants, calls of entries, and rows of structs."""

    def __init__(self, unit: _Unit, function: ast.FunctionDef) -> None:
        self.unit = unit
        self.returns_nothing = bool(_mark(function))
        self.local = _stored(function) | {argument.arg for argument in function.args.args}

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
        self.generic_visit(node)
        match node.func:
            case ast.Attribute(value=ast.Name(id=name), attr="rows" | "of" as maker) if name in self.unit.structs:
                function = {"rows": "blank_rows", "of": "rows_of"}[maker]
                return ast.Call(ast.Name(function), [ast.Name(f"{name}_dtype"), *node.args], [])
            case ast.Name(id=name) if self.unit.functions.get(name) in ENTRIES:
                node.func = ast.Name(f"c_{name}")
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        """Return 0 from a loop that returns nothing: in C it tells that there was no error."""
        self.generic_visit(node)
        return ast.Return(ast.Constant(0)) if node.value is None and self.returns_nothing else node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Leave out an annotation, which has become a declaration."""
        self.generic_visit(node)
        return ast.Pass() if node.value is None else ast.Assign([node.target], node.value, lineno=0)
