"""Datasets of Ray: a text column in, and typed columns with values, evidence and errors out.

The work is done by actors. Each loads one model and prepares the type once, and answers rows for as long as the dataset
has some; Ray starts another in place of one that dies, and gives it the rows again that were not done. What Ray reads
and writes, and how rows get to the actors, is Ray's own business.

The columns are those of a batch that is written as Parquet. They follow from the type alone, so that all blocks of the
dataset have the same, whatever their rows gave. A value that has no exact place in its column is therefore an error of
its row.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

from structured.errors import OptionWarning, OutputError
from structured.errors.arguments import count, number, one_of, text
from structured.errors.calling_line import warn
from structured.errors.values import shown
from structured.extraction.extractor import make_extractor
from structured.extraction.options import Options, check_absent, check_evidence, checked_options, layout_of
from structured.extraction.outcomes import Done, Outcome
from structured.extraction.output.columns import JSON, Column, UnfitError, pyarrow
from structured.extraction.output.records import outcome_to_json
from structured.extraction.output.rows import Rows, record_to_parts
from structured.output_types.interface import check_interface
from structured.output_types.optional_fields import Absent
from structured.output_types.python_type import PartlyStated
from structured.output_types.resolve import asks_for_evidence, resolve_type

if TYPE_CHECKING:
    from ray.data import Dataset

Columns = Literal["typed", "json"]
"""What the new columns hold: values of Arrow types, or JSON as text."""

_IN_ROW = ("value", "evidence", "document")
"""Parts of an extraction that have columns of their own."""

ROWS = 64
"""Rows that an actor is given at once, unless the caller says otherwise."""


def extract_dataset(  # noqa: PLR0913  where and how the work is done
    dataset: "Dataset",
    output_type: object,
    *,
    column: str = "text",
    absent: Absent | None = None,
    evidence: bool = False,
    concurrency: int | tuple[int, int] = 1,
    num_cpus: float = 1,
    num_gpus: float = 0,
    rows: int = ROWS,
    columns: Columns = "typed",
    **options: Unpack[Options],
) -> "Dataset":
    """Extract one instance from each row of a dataset of Ray, by actors that hold a model each.

        from structured.integrations.ray import extract_dataset

        people = extract_dataset(ray.data.read_parquet("letters"), Person, concurrency=4, num_gpus=1)
        people.write_parquet("people")

    Nothing is done before the dataset is written or read. It has the columns of the given one, and:

    - `value`: the value, in the Arrow type that belongs to the type's JSON Schema; null if there is an error.
    - `error`: null, or a struct of `kind`, `message` and `fields` (JSON as text). A row fails as a document of
      `extract_batch` does with `errors="return"`: its text is null or empty, or validators reject every answer. So
      does one whose value has no exact place in its column, such as an integer of more than 64 bits.
    - `evidence`, with evidence or absent: a map from the path of a value to its `span`, `match`, `confidence`,
      `agreement` and `page`.
    - `extraction`, likewise: what else is known, such as the `missing` fields, as JSON.

    Parameters:
        dataset: The dataset.
        output_type: As for `extract`. The actors have to find it, as Ray finds whatever code it runs.
        column: The column of the texts, or of the messages of chats.
        absent: As for `extract`.
        evidence: As for `extract`.
        concurrency: The number of actors; or the least and the most, between which Ray chooses by the load.
        num_cpus: The cores that Ray reserves for each actor, which are also the threads that it computes with. One core
            has to be left for reading.
        num_gpus: The GPUs for each actor; a part of one, such as 0.5, if several are to share it.
        rows: The rows that an actor is given at once; `batch_size` of them go through the model at a time.
        columns: `"typed"`, or `"json"` for columns of JSON as text. They hold any value, and any format takes them, CSV
            for example.
        options: See `Options`. The actors load the model, so that it is best a name or a path. `observe` is called in
            the actors. With a `seed`, an answer depends on the place of its row among those that an actor is given.

    Raises:
        ImportError: Ray is not installed: `pip install 'structured-extraction[ray]'`.
        TypeError: The dataset is none, or an option is unknown or of the wrong kind.
        ValueError: An option has a value that is not allowed, or a column is missing or there already.
        SchemaError: As for `extract`.

    What the model raises, in an actor, ends the dataset with an error of Ray, like everything that is not about a row.
    """
    ray_data = _ray_data()
    if not isinstance(dataset, ray_data.Dataset):
        raise TypeError(f"The dataset is {shown(dataset)}. Pass one of Ray: ray.data.read_parquet(…).")
    options = checked_options(options)
    found = _columns(output_type, check_absent("absent", absent), options, evidence=evidence, columns=columns)
    known = dataset.columns(fetch_if_missing=False)
    text("column", column)
    if known is not None:
        _check_columns(known, column, found)
    pool, cores = _pool_size(concurrency), _share("num_cpus", num_cpus)
    _warn_of_cores(min(pool.values()) * cores)
    return dataset.map_batches(
        ExtractingActor,
        fn_constructor_args=(output_type, column, found, absent, evidence, options),
        compute=ray_data.ActorPoolStrategy(**pool),
        batch_size=count(1)("rows", rows),
        batch_format="pyarrow",
        num_cpus=cores,
        num_gpus=_share("num_gpus", num_gpus),
    )


class ExtractingActor:
    """What an actor of Ray calls with some rows: a model and a type, prepared once.

    Parameters:
        output_type: The type.
        column: The column of the texts.
        columns: The columns that are added.
        absent: As for `extract`.
        evidence: As for `extract`.
        options: See `Options`.
    """

    def __init__(  # noqa: PLR0913, PLR0917  Ray hands them on by their places
        self,
        output_type: object,
        column: str,
        columns: Mapping[str, Column],
        absent: Absent | None,
        evidence: bool,
        options: Options,
    ) -> None:
        self._extractor = make_extractor(output_type, absent, options, evidence=evidence)
        self._column = column
        self._columns = columns

    def __call__(self, table: Any) -> Any:
        """Return a `pyarrow.Table` with the new columns. Raises what the model raises."""
        _check_columns(table.column_names, self._column, self._columns)
        cells = [self._cells(done) for done in self._done(table[self._column].to_pylist())]
        arrow = pyarrow()
        for name, column in self._columns.items():
            table = table.append_column(name, arrow.array([one[name] for one in cells], column.arrow))
        return table

    def _done(self, texts: list[Any]) -> list[Done]:
        """Return what becomes of each text."""
        task, outcome = self._extractor.task, Outcome(len(texts), keeps_texts=True)
        for _ in self._extractor.run.finished(((task, one) for one in texts), outcome, named="the text"):
            pass
        outcome.check_stopped()
        outcome.warn()
        return [outcome.results[position] for position in range(len(texts))]

    def _cells(self, done: Done) -> dict[str, Any]:
        """Return what the new columns have for a row."""
        output_type = self._extractor.task.output_type
        try:
            return self._exact(
                outcome_to_json(output_type, done.value if done.error is None else done.error, done.text)
            )
        except UnfitError as error:
            problem = OutputError(
                f"The value has no exact place in its column: {error}. Bound the field, or pass columns='json'.",
                path="value",
            )
            return self._exact(outcome_to_json(output_type, problem))

    def _exact(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return what the new columns have of a record. Raises UnfitError."""
        parts = record_to_parts(record)
        if parts["extraction"] is not None:
            parts["extraction"] = {name: part for name, part in parts["extraction"].items() if name not in _IN_ROW}
        return {name: column.to_cell(parts[name]) for name, column in self._columns.items()}


def _columns(
    output_type: object, absent: Absent | None, options: Options, *, evidence: bool, columns: Columns
) -> dict[str, Column]:
    """Return the columns that are added for a type. Raises what concerns the type, before an actor is started."""
    check_evidence("evidence", evidence)
    one_of(get_args(Columns))("columns", columns)
    wanted = resolve_type(output_type, absent, layout_of(options), grounded=options.get("grounded"))
    check_interface(wanted)
    is_extraction = evidence or asks_for_evidence(output_type) or isinstance(wanted, PartlyStated)
    names = ["value", *["evidence", "extraction"] * is_extraction, "error"]
    typed = Rows.of(wanted).columns
    return {name: typed[name] if columns == "typed" else JSON for name in names}


def _check_columns(known: list[str], column: str, added: Mapping[str, Column]) -> None:
    """Raise ValueError if the column of the texts is not there, or one that is added is."""
    if column not in known:
        raise ValueError(f"The dataset has no column {column!r}, but {', '.join(map(repr, known))}. Pass column=….")
    taken = [name for name in added if name in known]
    if taken:
        raise ValueError(
            f"The dataset has columns that would be added: {', '.join(taken)}. Rename them: dataset.rename_columns(…)."
        )


def _pool_size(concurrency: object) -> dict[str, int]:
    """Return how many actors there are, as Ray calls it."""
    if isinstance(concurrency, tuple) and len(concurrency) == 2:
        least, most = (count(1)("concurrency", one) for one in concurrency)
        if least > most:
            raise ValueError(f"concurrency is {concurrency}; the least number of actors stands first.")
        return {"min_size": least, "max_size": most}
    return {"size": count(1, "1 or greater, or a pair of such numbers")("concurrency", concurrency)}


def _share(name: str, value: object) -> float:
    return number(lambda share: 0 <= share < float("inf"), "0 or greater")(name, value)


def _warn_of_cores(reserved: float) -> None:
    """Warn of actors that leave no core of the cluster for reading: Ray then waits for one, for ever."""
    import ray

    cores = ray.cluster_resources().get("CPU", 0) if ray.is_initialized() else float("inf")
    if cores - reserved < 1:
        warn(
            OptionWarning(
                f"The actors reserve {reserved:g} of the {cores:g} cores of the cluster, and none is left to read rows "
                "with: unless cores are added, the dataset may wait for ever. Lower concurrency, or num_cpus."
            )
        )


def _ray_data() -> Any:
    """Return `ray.data`. Raises ImportError, which says how to install it."""
    try:
        import ray.data
    except ImportError as error:
        raise ImportError("Datasets need Ray: pip install 'structured-extraction[ray]'.") from error
    return ray.data
