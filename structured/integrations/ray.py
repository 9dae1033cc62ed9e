"""Datasets of Ray: a text column in, and typed columns with values, evidence and errors out.

The work is done by actors. Each loads one model and prepares the type once, and answers rows for as long as the dataset
has some; Ray starts another in place of one that dies, and gives it the rows again that were not done. What Ray reads
and writes, and how rows get to the actors, is Ray's own business.
"""

import os
from typing import TYPE_CHECKING, Any, Unpack

from structured.errors import OptionWarning
from structured.errors.arguments import count, number, text
from structured.errors.calling_line import warn
from structured.errors.values import shown
from structured.extraction.options import Options, check_absent
from structured.integrations.tables import Columns, TableExtractor, added_columns, check_columns, table_options
from structured.models import LanguageModel, Model
from structured.models.remote.address import is_address
from structured.output_types.optional_fields import Absent

if TYPE_CHECKING:
    from ray.data import Dataset

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
    num_cpus: float | None = None,
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
        column: The column of the texts. What is no text is the error of its row.
        absent: As for `extract`.
        evidence: As for `extract`.
        concurrency: The number of actors; or the least and the most, between which Ray chooses by the load.
        num_cpus: The cores that Ray reserves for each actor, which are also the threads that it computes with; default:
            1, and 0 for a model behind a server. One core has to be left for reading.
        num_gpus: The GPUs for each actor; a part of one, such as 0.5, if several are to share it.
        rows: The rows that an actor is given at once; `batch_size` of them go through the model at a time.
        columns: `"typed"`, or `"json"` for columns of JSON as text. They hold any value, and any format takes them, CSV
            for example.
        options: See `Options`. The actors load the model, so that it is best a name or a path. `observe` is called in
            the actors. With a `seed`, an answer depends on the place of its row among those that an actor is given.

    Raises:
        ImportError: Ray is not installed: `pip install 'structured-extraction[ray]'`.
        TypeError: The dataset is none, or an option is unknown or of the wrong kind.
        ValueError: An option has a value that is not allowed, or a column is missing or there already; or actors would
            reserve all cores of the cluster that this process has started, which does not grow.
        SchemaError: As for `extract`.
        ModelError: The model is nearly the address of a server. Other models are looked for by the actors.

    What the model raises, in an actor, ends the dataset with an error of Ray, like everything that is not about a row.
    """
    ray_data = _ray_data()
    if not isinstance(dataset, ray_data.Dataset):
        raise TypeError(f"The dataset is {shown(dataset)}. Pass one of Ray: ray.data.read_parquet(…).")
    options = table_options(options)
    found = added_columns(output_type, check_absent("absent", absent), options, evidence=evidence, columns=columns)
    known = dataset.columns(fetch_if_missing=False)
    text("column", column)
    if known is not None:
        check_columns(known, column, found)
    pool = _pool_size(concurrency)
    cores = float(not _is_served(options.get("model"))) if num_cpus is None else cluster_share("num_cpus", num_cpus)
    _check_cores(min(pool.values()) * cores)
    return dataset.map_batches(
        TableExtractor,
        fn_constructor_args=(output_type, column, found, absent, evidence, options),
        compute=ray_data.ActorPoolStrategy(**pool),
        batch_size=count(1)("rows", rows),
        batch_format="pyarrow",
        num_cpus=cores,
        num_gpus=cluster_share("num_gpus", num_gpus),
    )


def _pool_size(concurrency: object) -> dict[str, int]:
    """Return how many actors there are, as Ray calls it."""
    if isinstance(concurrency, tuple) and len(concurrency) == 2:
        least, most = (count(1)("concurrency", one) for one in concurrency)
        if least > most:
            raise ValueError(f"concurrency is {concurrency}; the least number of actors stands first.")
        return {"min_size": least, "max_size": most}
    return {"size": count(1, "1 or greater, or a pair of such numbers")("concurrency", concurrency)}


def cluster_share(name: str, value: object) -> float:
    """Return what an actor reserves of cores or GPUs. Raises TypeError, ValueError."""
    return number(lambda share: 0 <= share < float("inf"), "0 or greater")(name, value)


def _is_served(model: object) -> bool:
    """Tell whether a model is behind a server, which computes in place of the actors."""
    named = os.environ.get("STRUCTURED_MODEL") if model is None else model
    return is_address(named) or (isinstance(named, Model) and not isinstance(named, LanguageModel))


def _check_cores(reserved: float) -> None:
    """Refuse actors that leave no core of the cluster for reading: Ray then waits for one, for ever.

    Raises ValueError where this process has started the cluster, which has then no autoscaler. Another may grow: there
    is a warning.
    """
    import ray

    cores = ray.cluster_resources().get("CPU", 0) if ray.is_initialized() else float("inf")
    if cores - reserved >= 1:
        return
    problem = (
        f"The actors would reserve {reserved:g} of the {cores:g} cores of the cluster, and none would be left to read "
        "rows with"
    )
    remedy = "Lower concurrency, or num_cpus, such as 0.5, or start Ray with more: ray.init(num_cpus=…)."
    if _is_own_cluster():
        raise ValueError(f"{problem}: the dataset would wait for ever. {remedy}")
    warn(OptionWarning(f"{problem}: unless cores are added, the dataset may wait for ever. {remedy}"))


def _is_own_cluster() -> bool:
    """Tell whether `ray.init` has started the cluster in this process."""
    from ray._private import worker

    node = worker._global_node  # noqa: SLF001  nothing public tells
    return node is not None and bool(node.is_head())


def _ray_data() -> Any:
    """Return `ray.data`. Raises ImportError, which says how to install it."""
    try:
        import ray.data
    except ImportError as error:
        raise ImportError("Datasets need Ray: pip install 'structured-extraction[ray]'.") from error
    return ray.data
