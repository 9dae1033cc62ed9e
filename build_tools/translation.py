"""The translation of loops to Cython: the notation of `structured/machine_code/notation.py`, and what becomes of it.

All modules become one, so that the C compiler sees all calls. The rules:

- A function is marked `@loop`, `@rare_loop`, `@entry` or `@walk_entry`; others stay Python. In annotations `int` is 64
  bits wide, `bool` a flag, `float` double; `Ints`, `Rows` and so on are arrays, and `Structs[X]` is an array of the
  structs of a subclass X of `Row`. Local variables are 64-bit integers unless they are annotated; in a `rare_loop`,
  they are objects.
- A class is marked `@compiled_class`; its annotated attributes are those of a struct of C. Python sees all but arrays.
- A class may have a `list[int]`, or a `list[X]` of structs: `owner.items.append(X(1, 2))`, `len(owner.items)`,
  `owner.items[place].field`, `del owner.items[count:]`. It begins as `self.items = []`, in a statement of its own. A
  method `check_growth` of the class is told how many bytes an array will grow by, and may raise an error.
- Module-level integers are written into the code. Functions, classes and integers have unique names in all modules.
- After an error a function returns a value that no loop returns otherwise, as `ERROR`.
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

FIRST_ITEMS = 64
"""The items that a new list has room for; the room is doubled when it is full."""

CAREFUL = "@cython.boundscheck(True)\n@cython.wraparound(True)\n"
"""What is written before a function that may use lists and other objects of Python."""

ENTRIES = ("entry", "walk_entry")
MARKS = ("loop", "rare_loop", *ENTRIES)

HEADER = """\
# cython: language_level=3, boundscheck={checks}, wraparound=False, cdivision=True, initializedcheck={checks}
# cython: nonecheck=False, infer_types=True, binding=False, embedsignature=False
import numpy as np
cimport cython
from structured.machine_code.growing_arrays import array_bytes, blank_rows, filled, grown, rows_of, viewed, zeros
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
    nodes = [node for tree in trees for node in tree.body]
    unit = _Unit(known, [node for node in nodes if isinstance(node, ast.ClassDef | ast.FunctionDef)])
    return "\n\n".join([HEADER.format(checks=checks, digest=digest), *unit.parts()]) + "\n"


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

    def __init__(self, constants: dict[str, int], nodes: Sequence[ast.ClassDef | ast.FunctionDef]) -> None:
        self.constants = constants
        self._structs = [node for node in nodes if isinstance(node, ast.ClassDef) and _is_struct(node)]
        self._classes = [node for node in nodes if isinstance(node, ast.ClassDef) and _marks(node)]
        self._loops = [node for node in nodes if isinstance(node, ast.FunctionDef) and _mark(node)]
        self.fields = {node.name: list(_annotations(node)) for node in self._structs}
        self.classes = {node.name for node in self._classes}
        self.functions = {node.name: _mark(node) for node in self._loops}
        self.attributes = {node.name: _annotations(node) for node in self._classes}
        if len(self.functions) < len(self._loops):
            raise TranslationError("two loops have one name")

    def parts(self) -> Iterator[str]:
        """Yield the definitions."""
        yield from map(self.struct, self._structs)
        yield from (f"cdef class {name}" for name in sorted(self.classes))
        yield from map(self.class_of, self._classes)
        for node in self._classes:
            yield from (self.growth(node, name) for name in self.attributes[node.name] if self.item_of(node.name, name))
        yield from map(self.function, self._loops)

    def type_of(self, annotation: str) -> str:
        """Return the type in C for an annotation."""
        name, _, item = annotation.rstrip("]").partition("[")
        if name in {"Structs", "list"} and item in self.fields:
            return f"{item}[::1]"
        if annotation in self.fields or annotation in self.classes:
            return annotation
        return TYPES.get(annotation, "object")

    def item_of(self, class_name: str, name: str) -> str:
        """Return what a list is of that is an attribute of a class; nothing if the attribute is no list."""
        item = self.attributes.get(class_name, {}).get(name, "").removeprefix("list[").rstrip("]")
        is_list = self.attributes.get(class_name, {}).get(name, "").startswith("list[")
        return item if is_list and (item == "int" or item in self.fields) else ""

    def growth(self, node: ast.ClassDef, name: str) -> str:
        """Return the functions that append to a list and enlarge its array, of which `check_growth` is told before."""
        item = self.item_of(node.name, name)
        fields = self.fields.get(item, [])
        function = f"{name}_of_{node.name}"
        arguments = "".join(f", long long new_{field}" for field in fields or ["value"])
        row = f"self.{name}[place]"
        written = (
            "".join(f"    {row}.{field} = <int>new_{field}\n" for field in fields) or f"    {row} = <int>new_value\n"
        )
        has_check = any(isinstance(each, ast.FunctionDef) and each.name == "check_growth" for each in node.body)
        check = f"    self.check_growth({4 * len(fields or [item])} * len(self.{name}))\n" if has_check else ""
        return (
            f"cdef int grow_{function}({node.name} self) except -1 with gil:\n{check}"
            f"    self.{name} = grown(self.{name}, 2 * len(self.{name}))\n    return 0\n\n"
            f"cdef int append_{function}({node.name} self{arguments}) except -1 nogil:\n"
            f"    cdef long long place = self.{name}_count\n"
            f"    if place == self.{name}.shape[0]:\n        grow_{function}(self)\n{written}"
            f"    self.{name}_count = place + 1\n    return 0"
        )

    def struct(self, node: ast.ClassDef) -> str:
        """Return a struct of int32, and its type for NumPy."""
        names = self.fields[node.name]
        fields = "".join(f"    int {name}\n" for name in names)
        dtype = ", ".join(f'("{name}", np.int32)' for name in names)
        return f"cdef struct {node.name}:\n{fields}\n{node.name}_dtype = np.dtype([{dtype}])"

    def class_of(self, node: ast.ClassDef) -> str:
        """Return an extension type, which can tell the bytes of its arrays."""
        lines = ["@cython.final", f"cdef class {node.name}:"]
        kinds = {name: self.type_of(text) for name, text in _annotations(node).items()}
        lists = {name: item for name in kinds if (item := self.item_of(node.name, name))}
        kinds |= {name: TYPES["Ints"] for name, item in lists.items() if item == "int"}
        for name, kind in kinds.items():
            is_seen = kind in {"object", "long long", "bint"} or kind in self.classes
            lines.append(f"    cdef {'public ' if is_seen else ''}{kind} {name}")
        lines += [f"    cdef long long {name}_count" for name in lists]
        functions = [statement for statement in node.body if isinstance(statement, ast.FunctionDef)]
        lines += [textwrap.indent(self.python(function, node.name), "    ") for function in functions]
        sizes = [f"self.{name}.nbytes" for name, kind in kinds.items() if kind.endswith("]")]
        lines.append(f"    def array_bytes(self):\n        return {' + '.join(sizes) or 0}")
        return "\n".join(lines)

    def python(self, node: ast.FunctionDef, class_name: str) -> str:
        """Return a method, which stays Python, its annotations left out."""
        decorators = CAREFUL + "".join(f"@{mark}\n" for mark in _marks(node))
        for argument in node.args.args:
            argument.annotation = None
        return f"{decorators}def {node.name}({ast.unparse(node.args)}):\n{self._body(node, class_name)}"

    def function(self, node: ast.FunctionDef) -> str:
        """Return a loop as a function of C; for an entry, one of Python that calls it, too."""
        mark, returned = _mark(node), self._returned(node)
        lock = "with gil" if mark == "rare_loop" else "nogil"
        kinds = {argument.arg: self.type_of(_text(argument.annotation)) for argument in node.args.args}
        typed = ", ".join(f"{kind} {name}" for name, kind in kinds.items())
        end = "\n    return 0" if returned == "int" else ""
        is_entry = mark in ENTRIES
        careful = CAREFUL if mark == "rare_loop" else ""
        head = f"{careful}cdef {returned} {'c_' * is_entry}{node.name}({typed}) except {ERRORS[returned]} {lock}"
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
        returned = _text(node.returns)
        return "int" if returned == "None" else self.type_of(returned)

    def _body(self, node: ast.FunctionDef, class_name: str = "") -> str:
        annotated = {
            each.target.id: self.type_of(_text(each.annotation))
            for each in ast.walk(node)
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
        }
        lines = [f"    cdef {kind} {name}" for name, kind in annotated.items()]
        integers = _stored(node) - {argument.arg for argument in node.args.args} - set(annotated)
        if integers and _mark(node) not in {"", "rare_loop"}:
            lines.append(f"    cdef long long {', '.join(sorted(integers))}")
        rewriter = _Rewriter(self, node, class_name)  # which changes the tree
        statements = [ast.fix_missing_locations(rewriter.visit(statement)) for statement in _without_docstring(node)]
        lines += [textwrap.indent(ast.unparse(statement), "    ") for statement in statements]
        return "\n".join(lines) if lines else "    pass"


def _text(annotation: ast.expr | None) -> str:
    """Return an annotation as it is written, without quotes; None for none."""
    return "None" if annotation is None else ast.unparse(annotation).strip("'")


def _annotations(node: ast.ClassDef) -> dict[str, str]:
    """Return the annotated attributes of a class."""
    fields = [field for field in node.body if isinstance(field, ast.AnnAssign)]
    return {ast.unparse(field.target): _text(field.annotation) for field in fields}


def _stored(node: ast.AST) -> set[str]:
    """Return the variables that a function writes."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


def _without_docstring(node: ast.FunctionDef) -> list[ast.stmt]:
    return node.body[1:] if ast.get_docstring(node) is not None else node.body


class _Rewriter(ast.NodeTransformer):
    """Rewrites the body of a function: constants, calls of entries, and rows of structs."""

    def __init__(self, unit: _Unit, function: ast.FunctionDef, class_name: str) -> None:
        self.unit = unit
        self.kinds = {argument.arg: _text(argument.annotation) for argument in function.args.args}
        self.kinds["self"] = class_name
        self.returns_nothing = bool(_mark(function))
        self.local = _stored(function) | {argument.arg for argument in function.args.args}

    def kind_of(self, node: ast.expr) -> str:
        """Return the annotation of a parameter, or of an attribute of one."""
        match node:
            case ast.Name(id=name):
                return self.kinds.get(name, "")
            case ast.Attribute(value=owner, attr=name):
                return self.unit.attributes.get(self.kind_of(owner), {}).get(name, "")
        return ""

    def item_of(self, node: ast.expr) -> str:
        """Return what a list is of; nothing if an expression is no list of a class."""
        return self.unit.item_of(self.kind_of(node.value), node.attr) if isinstance(node, ast.Attribute) else ""

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
        """Call the C function of an entry, or that of a list; make rows of structs by their type for NumPy."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Attribute() as items, attr="append"), args=[item]):
                if self.item_of(items):
                    is_row = isinstance(item, ast.Call) and ast.unparse(item.func) in self.unit.fields
                    values = item.args if isinstance(item, ast.Call) and is_row else [item]
                    function = f"append_{items.attr}_of_{self.kind_of(items.value)}"
                    node = ast.Call(ast.Name(function, ast.Load()), [items.value, *values], [])
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="rows" | "of" as maker), args=arguments):
                if name in self.unit.fields:
                    function = {"rows": "blank_rows", "of": "rows_of"}[maker]
                    node = ast.Call(
                        ast.Name(function, ast.Load()), [ast.Name(f"{name}_dtype", ast.Load()), *arguments], []
                    )
            case ast.Call(func=ast.Name(id="len"), args=[ast.Attribute() as items]) if self.item_of(items):
                return ast.Attribute(self.visit(items.value), f"{items.attr}_count", ast.Load())
            case ast.Call(func=ast.Name(id=name)) if self.unit.functions.get(name) in ENTRIES:
                node.func = ast.Name(f"c_{name}", ast.Load())
        return self.generic_visit(node)

    def visit_Delete(self, node: ast.Delete) -> ast.AST:
        """Shorten a list: `del machine.arcs[count:]`."""
        match node.targets:
            case [ast.Subscript(value=ast.Attribute() as items, slice=ast.Slice(lower=count))] if self.item_of(items):
                target = ast.Attribute(items.value, f"{items.attr}_count", ast.Store())
                return ast.Assign([target], self.visit(count), lineno=0) if count else node
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """Make an empty list: `self.arcs = []`."""
        match node:
            case ast.Assign(targets=[ast.Attribute() as items], value=ast.List(elts=[])) if item := self.item_of(items):
                rows = f"zeros({FIRST_ITEMS})" if item == "int" else f"blank_rows({item}_dtype, {FIRST_ITEMS})"
                name = ast.unparse(items)
                return ast.parse(f"{name}, {name}_count = {rows}, 0").body[0]
        return self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> ast.AST:
        """Return 0 from a loop that returns nothing: in C it tells that there was no error."""
        self.generic_visit(node)
        return ast.Return(ast.Constant(0)) if node.value is None and self.returns_nothing else node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Leave out an annotation, which has become a declaration."""
        self.generic_visit(node)
        return ast.Pass() if node.value is None else ast.Assign([node.target], node.value, lineno=0)
