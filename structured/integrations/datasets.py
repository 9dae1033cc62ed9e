"""Datasets of Hugging Face: a text column in, and typed columns with values, evidence and errors out.

`datasets` has no maps, so that a map is a list of structs of `key` and `value`, which is how Arrow lays it out. The
work is done in this process, some rows at a time, as `Dataset.map` does it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack, get_args
from uuid import uuid4

from structured.errors import OutputError, PromptError
from structured.errors.arguments import count, one_of, text
from structured.errors.values import shown
from structured.extraction.documents.document import DocumentLike
from structured.extraction.extractor import Extractor
from structured.extraction.options import Options, checked_options
from structured.integrations.arrow_columns import (
    FLOAT,
    INTEGER,
    JSON,
    TEXT,
    Column,
    List,
    Map,
    Struct,
    UnfitError,
    column_of,
)
from structured.integrations.parquet_tables import pyarrow
from structured.output_types.checks import has_checks
from structured.output_types.output_type import check_interface
from structured.output_types.resolve import resolve_type
from structured.results.result import Result, error_to_json

if TYPE_CHECKING:
    from datasets import Dataset, IterableDataset

D = TypeVar("D", "Dataset", "IterableDataset")

ROWS = 1_000
"""Rows that are answered before they are written, as for `Dataset.map`."""


Columns = Literal["typed", "json"]
"""The cells of the new columns: values of Arrow types, or JSON as text."""

_EVIDENCE = Struct({"span": List(INTEGER), "match": TEXT, "confidence": FLOAT, "agreement": FLOAT, "page": INTEGER})
_FLAGS = List(Struct({"path": TEXT, "value": JSON, "message": TEXT, "error": TEXT}))
_ERROR = Struct({"kind": TEXT, "message": TEXT, "fields": JSON})


class TableExtractor:
    """A model and a type, prepared once, that answers the texts of one table after another.

    Parameters:
        output_type: The type.
        column: The column of the texts.
        columns: The columns that are added.
        options: See `Options`.
    """

    def __init__(self, output_type: object, column: str, columns: Mapping[str, Column], options: Options) -> None:
        self._extractor = Extractor[Any](output_type, **options)
        self._column = column
        self._columns = columns

    def __call__(self, table: Any) -> Any:
        """Return a `pyarrow.Table` with the new columns. Raises the errors of the model."""
        check_columns(table.column_names, self._column, self._columns)
        arrow = pyarrow()
        cells = self._cells(table[self._column].to_pylist())
        for name, column in self._columns.items():
            table = table.append_column(name, arrow.array(cells[name], column.arrow))
        return table

    def answer_lists(self, table: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
        """Return the new columns for a table of lists. Raises the errors of the model."""
        check_columns([*table], self._column, self._columns)
        return self._cells(table[self._column])

    def _cells(self, texts: list[Any]) -> dict[str, list[Any]]:
        results = self._extractor.results(map(cell_document, texts), progress=False, named="the text")
        rows = [result_cells(result, self._columns) for result in sorted(results, key=lambda result: result.position)]
        return {name: [row[name] for row in rows] for name in self._columns}


def result_cells(result: Result[Any], columns: Mapping[str, Column]) -> dict[str, Any]:
    """Return the cells of a row: the members of its result, or its error."""

    def cells(members: Mapping[str, Any]) -> dict[str, Any]:
        return {name: column.to_cell(members.get(name)) for name, column in columns.items()}

    if result.error is not None:
        return cells({"error": _without_id(error_to_json(result.error))})
    try:
        return cells(result.to_dict())
    except UnfitError as error:
        problem = OutputError(
            f"The value has no exact place in its column: {error}. Bound the field, or pass columns='json'.",
            path="value",
        )
        return cells({"error": error_to_json(problem)})


def cell_document(cell: Any) -> DocumentLike:
    """Return a cell as a document: a list in a column is no chat, and two texts in one are no id with its text."""
    if isinstance(cell, list | tuple):
        return PromptError(f"The text is a {type(cell).__name__}, not text. Name a column of texts: column=….")
    known: DocumentLike = cell  # the run refuses whatever is no document
    return known


def _without_id(error: dict[str, Any]) -> dict[str, Any]:
    """Return an error without the id of its document: rows have none."""
    fields = {name: value for name, value in error.get("fields", {}).items() if (name, value) != ("id", "")}
    others = {name: value for name, value in error.items() if name != "fields"}
    return {**others, "fields": fields} if fields else others


def extract_dataset(
    dataset: D,
    output_type: object,
    *,
    column: str = "text",
    rows: int = ROWS,
    columns: Columns = "typed",
    **options: Unpack[Options],
) -> D:
    """Extract one instance from each row of a dataset of Hugging Face.

        from structured.integrations.datasets import extract_dataset

        people = extract_dataset(datasets.load_dataset("parquet", data_files="letters.parquet", split="train"), Person)
        people.to_parquet("people.parquet")

    The result has the columns of the given dataset, and:

    - `value`: the value, with the feature that belongs to the type's JSON Schema; null if there is an error.
    - `error`: null, or a struct of `kind`, `message` and `fields` (JSON as text). A row fails as a document of
      `extract_batch` does with `errors="return"`: its text is null or empty, or validators reject every answer. So
      does one whose value has no exact place in its column, such as an integer of more than 64 bits.
    - `evidence`: for the path of a value its `span`, `match`, `confidence`, `agreement` and `page`.
    - `missing`: the paths of the fields that the text does not state, with the option `allow_missing`.
    - `flags`, if the type has a `Check`: the values that did not pass it, each with its `path`, `value` and `message`.

    Parameters:
        dataset: A `Dataset`, which is answered at once; or an `IterableDataset`, whose rows are answered as they are
            read. Of a dictionary of splits, pass one.
        output_type: As for `extract`.
        column: The column of the texts. What is no text is the error of its row.
        rows: The rows that are answered before the first of them is written or yielded; `batch_size` of them go through
            the model at a time.
        columns: `"typed"`, or `"json"` for columns of JSON as text.
        options: See `Options`. With a `seed`, an answer depends on the place of its row among `rows`.

    Returns:
        A dataset of the same kind. Rows of an `IterableDataset` are Python data, whatever their format was; it has
        features if the given one does. Nothing is taken from the cache of `datasets`, since weights and validators may
        have changed.

    Raises:
        ImportError: `datasets` is not installed: `pip install 'structured-extraction[datasets]'`.
        TypeError: The dataset is none, or an option is unknown or of the wrong kind.
        ValueError: An option has a value that is not allowed, or a column is missing or there already.
        SchemaError, ModelError, VocabularyError: As for `extract`; also while rows of an `IterableDataset` are read.
    """
    library = _datasets()
    if not isinstance(dataset, library.Dataset | library.IterableDataset):
        raise TypeError(f"The dataset is {shown(dataset)}. Pass a Dataset or an IterableDataset: dataset['train'].")
    options = checked_options(options)
    found = added_columns(output_type, options, columns)
    found = {name: _without_maps(one) for name, one in found.items()}
    known = dataset.column_names
    text("column", column)
    if known is not None:
        check_columns(known, column, found)
    batches = {"batched": True, "batch_size": count(1)("rows", rows)}
    extractor = TableExtractor(output_type, column, found, options)
    if isinstance(dataset, library.IterableDataset):
        return dataset.with_format(None).map(extractor.answer_lists, features=_features(dataset, found), **batches)
    answered = _answered(dataset.with_format("arrow"), extractor, _features(dataset, found), batches)
    return answered.with_format(dataset.format["type"], **dataset.format["format_kwargs"])


def _answered(tables: Any, extractor: TableExtractor, features: Any, batches: dict[str, Any]) -> Any:
    """Return a `Dataset` with the new columns; `map` adds none to one without rows."""
    if not len(tables):
        return type(tables).from_dict({name: [] for name in features}, features=features, split=tables.split)
    # A fingerprint of its own: the cache would be looked up by a pickle of the model.
    return tables.map(
        extractor, features=features, load_from_cache_file=False, new_fingerprint=uuid4().hex[:16], **batches
    )


def _features(dataset: Any, found: dict[str, Column]) -> Any:
    """Return the features of the result; None if those of the dataset are known only once it is read."""
    if dataset.features is None:
        return None
    library, arrow = _datasets(), pyarrow()
    added = library.Features.from_arrow_schema(arrow.schema([(name, one.arrow) for name, one in found.items()]))
    return library.Features({**dataset.features, **added})


@dataclass(frozen=True, slots=True)
class _Entries(Map):
    """Cells of objects with any names, as lists of their members."""

    @property
    def arrow(self) -> Any:
        """The `pyarrow.DataType` of its cells."""
        return pyarrow().list_(pyarrow().struct([("key", TEXT.arrow), ("value", self.values.arrow)]))

    def _to_cell(self, data: Any) -> Any:
        if isinstance(data, dict):
            return [{"key": TEXT.to_cell(name), "value": self.values.to_cell(one)} for name, one in data.items()]
        raise UnfitError(f"{data!r} is no object")


def _without_maps(column: Column) -> Column:
    """Return a column for the same data, with lists in place of maps."""
    match column:
        case Map(values):
            return _Entries(_without_maps(values))
        case List(items):
            return List(_without_maps(items))
        case Struct(members):
            return Struct({name: _without_maps(member) for name, member in members.items()})
    return column


def _datasets() -> Any:
    try:
        import datasets
    except ImportError as error:
        raise ImportError("Datasets of Hugging Face need: pip install 'structured-extraction[datasets]'.") from error
    return datasets


def added_columns(output_type: object, options: Options, columns: Columns) -> dict[str, Column]:
    """Return the columns that are added for a type. Raises the errors of the type."""
    one_of(get_args(Columns))("columns", columns)
    missing, grounded = options.get("allow_missing"), options.get("grounded")
    resolved = resolve_type(output_type, missing, options.get("layout"), grounded=grounded)
    check_interface(resolved)
    flags = {"flags": _FLAGS} if resolved.parts is not None and has_checks(resolved.parts) else {}
    typed = {"value": column_of(resolved), "missing": List(TEXT), "evidence": Map(_EVIDENCE), **flags, "error": _ERROR}
    return typed if columns == "typed" else dict.fromkeys(typed, JSON)


def check_columns(known: Sequence[str], column: str, added: Collection[str], or_else: str = "") -> None:
    """Raise ValueError if the column of the texts is not there, or one that is added is."""
    if column not in known:
        raise ValueError(f"There is no column {column!r}, but {', '.join(map(repr, known))}. Pass column=….")
    taken = [name for name in added if name in known]
    if taken:
        raise ValueError(f"There are columns already that would be added: {', '.join(taken)}. Rename them{or_else}.")
