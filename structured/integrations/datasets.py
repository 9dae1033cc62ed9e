"""Datasets of Hugging Face: a text column in, and typed columns with values, evidence and errors out.

`datasets` has no maps, so that a map is a list of structs of `key` and `value`, which is how Arrow lays it out. The
work is done in this process, some rows at a time, as `Dataset.map` does it.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, Unpack
from uuid import uuid4

from structured.errors.arguments import count, text
from structured.errors.values import shown
from structured.extraction.options import Options
from structured.extraction.output.columns import TEXT, Column, List, Map, Struct, UnfitError, pyarrow
from structured.integrations.tables import Columns, TableExtractor, added_columns, check_columns, table_options

if TYPE_CHECKING:
    from datasets import Dataset, IterableDataset

D = TypeVar("D", "Dataset", "IterableDataset")

ROWS = 1_000
"""Rows that are answered before they are written, as for `Dataset.map`."""


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
    options = table_options(options)
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

    def _to_data(self, cell: Any) -> Any:
        return {entry["key"]: self.values.to_data(entry["value"]) for entry in cell}


def _without_maps(column: Column) -> Column:
    """Return a column for the same data, with lists in place of maps."""
    match column:
        case Map(values):
            return _Entries(_without_maps(values))
        case List(items):
            return List(_without_maps(items))
        case Struct(members, omittable):
            return Struct({name: _without_maps(member) for name, member in members.items()}, omittable)
    return column


def _datasets() -> Any:
    """Return `datasets`. Raises ImportError, which says how to install it."""
    try:
        import datasets
    except ImportError as error:
        raise ImportError("Datasets of Hugging Face need: pip install 'structured-extraction[datasets]'.") from error
    return datasets
