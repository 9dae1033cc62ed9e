"""Datasets of Hugging Face: a text column in, and typed columns with values, evidence and errors out.

`datasets` has no maps, so that a map is a list of structs of `key` and `value`, which is how Arrow lays it out. The
work is done in this process, some rows at a time, as `Dataset.map` does it.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack, get_args
from uuid import uuid4

from structured.errors import OutputError, PromptError
from structured.errors.arguments import count, one_of, text
from structured.errors.values import shown
from structured.extraction.documents.document import DocumentLike
from structured.extraction.extractor import Extractor
from structured.extraction.options import Options, checked_options
from structured.integrations.arrow_columns import FLOAT, INTEGER, JSON, TEXT, Column, UnfitError, column_of
from structured.jobs.flat_table import pyarrow
from structured.output_types.checks import has_checks
from structured.output_types.output_type import check_interface
from structured.output_types.paths import Steps, steps_to_path
from structured.output_types.resolve import TypeLike, resolve_type
from structured.results.result import Result, error_to_json, made_of

if TYPE_CHECKING:
    from datasets import Dataset, IterableDataset

D = TypeVar("D", "Dataset", "IterableDataset")

ROWS_AT_ONCE = 1_000
"""Rows of one call of the function of `Dataset.map`: they are answered before any of them is written."""

ColumnStyle = Literal["typed", "json"]
"""The cells of the new columns: values of Arrow types, or JSON as text."""

_MISSING = Column.list_of(TEXT)
_PLACE = {"span": Column.list_of(INTEGER), "match": TEXT, "confidence": FLOAT, "agreement": FLOAT, "page": INTEGER}
_EVIDENCE = Column.map_of(Column.struct_of(_PLACE))
_FLAGS = Column.list_of(Column.struct_of({"path": TEXT, "value": JSON, "message": TEXT, "error": TEXT}))
_ERROR = Column.struct_of({"kind": TEXT, "message": TEXT, "fields": JSON})


def answer_rows(
    rows: Mapping[str, list[Any]], *, extractor: Extractor[Any], column: str, columns: Mapping[str, Column]
) -> dict[str, list[Any]]:
    """Return the new columns for some rows of a dataset. Raises the errors of the model."""
    check_columns([*rows], column, columns)
    results = extractor.results(map(cell_document, rows[column]), progress=False, document_name="the text")
    cells = [result_cells(result, columns) for result in sorted(results, key=lambda result: result.position)]
    return {name: [row[name] for row in cells] for name in columns}


def result_cells(
    result: Result[Any],
    columns: Mapping[str, Column],
    remedy: str = "pass columns='json'",
    path_of: Callable[[Steps], str] = steps_to_path,
) -> dict[str, Any]:
    """Return the cells of a row: the members of its result, or its error.

    A value that its column cannot hold is an error, which says the path of the column, by `path_of`, and a remedy.
    """

    def cells(members: Mapping[str, Any]) -> dict[str, Any]:
        return {name: column.to_cell(members.get(name), (name,)) for name, column in columns.items()}

    def row(one: Result[Any]) -> dict[str, Any]:
        if one.error is not None:
            error = error_to_json(one.error)
            if error.get("fields") == {"id": ""}:  # rows have none
                del error["fields"]
            return cells({"error": error})
        try:
            return cells(one.to_dict())
        except UnfitError as misfit:
            problem = f"The column {path_of(misfit.steps)} cannot hold {misfit.problem}. Bound the field, or {remedy}."
            return cells({"error": error_to_json(OutputError(problem, path="value"))})

    return made_of(result, row)[1]


def cell_document(cell: Any) -> DocumentLike:
    """Return a cell as a document: a list in a column is no chat, and two texts in one are no id with its text."""
    if isinstance(cell, list | tuple):
        return PromptError(f"The text is a {type(cell).__name__}, not text. Name a column of texts: column=….")
    known: DocumentLike = cell  # the run refuses whatever is no document
    return known


def extract_dataset(
    dataset: D,
    output_type: TypeLike[Any],
    *,
    column: str = "text",
    rows: int = ROWS_AT_ONCE,
    columns: ColumnStyle = "typed",
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
    typed_columns = added_columns(output_type, options, columns)
    new_columns = {name: new_column.without_maps() for name, new_column in typed_columns.items()}
    text("column", column)
    if dataset.column_names is not None:
        check_columns(dataset.column_names, column, new_columns)
    count(1)("rows", rows)
    map_arguments: dict[str, Any] = {
        "function": answer_rows,
        "fn_kwargs": {"extractor": Extractor[Any](output_type, **options), "column": column, "columns": new_columns},
        "features": _features(dataset, new_columns),
        "batched": True,
        "batch_size": rows,
    }
    plain = dataset.with_format(None)
    if isinstance(dataset, library.IterableDataset):
        return plain.map(**map_arguments)
    # A fingerprint of its own: the cache would be looked up by a pickle of the model.
    mapped = plain.map(**map_arguments, load_from_cache_file=False, new_fingerprint=uuid4().hex[:16])
    if not len(dataset):  # to which `map` adds no columns
        features = map_arguments["features"]
        mapped = library.Dataset.from_dict({name: [] for name in features}, features=features, split=dataset.split)
    return mapped.with_format(dataset.format["type"], **dataset.format["format_kwargs"])


def _features(dataset: Any, new_columns: dict[str, Column]) -> Any:
    """Return the features of the result; None if those of the dataset are known only once it is read."""
    if dataset.features is None:
        return None
    features = _datasets().Features
    schema = pyarrow().schema([(name, column.arrow) for name, column in new_columns.items()])
    return features({**dataset.features, **features.from_arrow_schema(schema)})


def _datasets() -> Any:
    try:
        import datasets
    except ImportError as error:
        raise ImportError("Datasets of Hugging Face need: pip install 'structured-extraction[datasets]'.") from error
    return datasets


def added_columns(output_type: TypeLike[Any], options: Options, columns: ColumnStyle) -> dict[str, Column]:
    """Return the columns that are added for a type. Raises the errors of the type."""
    one_of(get_args(ColumnStyle))("columns", columns)
    missing, grounded = options.get("allow_missing"), options.get("grounded")
    resolved = resolve_type(output_type, missing, options.get("layout"), grounded=grounded)
    check_interface(resolved)
    flags = {"flags": _FLAGS} if resolved.parts is not None and has_checks(resolved.parts) else {}
    typed = {"value": column_of(resolved), "missing": _MISSING, "evidence": _EVIDENCE, **flags, "error": _ERROR}
    return typed if columns == "typed" else dict.fromkeys(typed, JSON)


def check_columns(known: Sequence[str], column: str, added: Collection[str], or_else: str = "") -> None:
    """Raise ValueError if the column of the texts is not there, or one that is added is."""
    if column not in known:
        raise ValueError(f"There is no column {column!r}, but {', '.join(map(repr, known))}. Pass column=….")
    taken = [name for name in added if name in known]
    if taken:
        raise ValueError(f"There are columns already that would be added: {', '.join(taken)}. Rename them{or_else}.")
