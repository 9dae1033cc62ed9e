"""The simulation of large jobs: its laws where they are known, and that it measures what it fits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import simulation
from benchmarks.simulation import (
    Costs,
    Job,
    Measured,
    Pass,
    Work,
    actor_seconds,
    fitted,
    jobs_table,
    measure,
    sizes_table,
    took,
)

WORKS = st.lists(st.builds(Work, st.integers(1, 500), st.integers(1, 60), st.integers(1, 200)), min_size=1, max_size=40)
JOBS = st.builds(
    Job,
    documents=st.integers(1, 20_000),
    block=st.integers(1, 500),
    seconds=st.floats(0.01, 2),
    spread=st.just(0.0),
    start=st.floats(0, 60),
    deaths=st.just(0.0),
)


@given(*[st.floats(0, 0.01)] * 4)
def test_costs_are_found(a_pass: float, a_row: float, a_token: float, a_document: float) -> None:
    """Passes that cost so much, and documents beside them, have these costs."""
    shapes = [(1, 1), (1, 300), (8, 20), (32, 32)]
    passes = [Pass(rows, tokens, a_pass + a_row * rows + a_token * tokens) for rows, tokens in shapes]
    seconds = sum(one.seconds for one in passes) + 2 * a_document
    found = fitted([Measured([Work(1, 1, 1)] * 2, passes, seconds)])
    assert found == pytest.approx((a_pass, a_row, a_token, a_document), abs=1e-9)


@given(WORKS, st.integers(1, 50))
def test_what_is_read_and_counted_does_not_depend_on_the_batch(works: list[Work], size: int) -> None:
    """Tokens and documents cost the same in batches of any size; passes are shared, by at most so many."""
    free = Costs(0, 0, 1, 1)
    assert actor_seconds(works, size, free) == pytest.approx(actor_seconds(works, 1, free))
    passes = sum(one.passes for one in works)
    assert actor_seconds(works, 1, Costs(1, 0, 0, 0)) == passes
    assert passes / size <= actor_seconds(works, size, Costs(1, 0, 0, 0)) <= passes


@given(JOBS, st.integers(1, 50))
def test_a_job_takes_what_its_blocks_take(job: Job, actors: int) -> None:
    """One actor starts once and does all; several are quicker by no more than their number, and by half of it at least.

    (Graham's bound for lists of jobs, of whole blocks.)
    """
    blocks = -(-job.documents // job.block) * job.block * job.seconds
    alone, together = took(job, 1), took(job, actors)
    assert alone.hours * 3600 == pytest.approx(job.start + blocks)
    assert together.hours * 3600 >= job.start + blocks / actors - 1e-6
    assert together.hours * 3600 <= job.start + blocks / actors + job.block * job.seconds + 1e-6


def test_deaths_cost_what_they_interrupt() -> None:
    """More often, and with larger blocks, more."""
    job = Job(200_000, 100, 0.5, 0.1, 10, 1)
    worked = [took(one, 20).worked for one in (job._replace(deaths=0), job, job._replace(deaths=20))]
    assert worked[0] > worked[1] > worked[2]
    assert took(job._replace(block=2_000), 20).worked < worked[1]


@pytest.mark.thorough
def test_passes_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """The costs are there, and the model is as it was."""
    monkeypatch.setattr(simulation, "SIZES", (2, 8))
    monkeypatch.setattr(simulation, "FITTED", (2, 8))
    monkeypatch.setattr(simulation, "BLOCKS", (1_000,))
    measured = measure("Person", 12)
    assert [len(one.works) for one in measured.values()] == [12, 12]
    assert all(0 < one.beside * 12 < one.seconds for one in measured.values())
    assert len(measured[2].passes) > len(measured[8].passes)
    assert [line.split(" | ")[0] for line in sizes_table(measured).splitlines()[2:4]] == ["| 2", "| 8"]
    costs = fitted([*measured.values()])
    for size, one in measured.items():
        assert actor_seconds(one.works, size, costs) == pytest.approx(one.seconds, rel=0.5)
    table = jobs_table(Job(10**6, 0, 0.04, 0.01, 10, 0.01)).splitlines()
    assert len(table) == 2 + len(simulation.ACTORS)
