"""The cache on disk: what one process learns the next one knows, and no file, however wrong, does any harm."""

import errno
import os
import random
import signal
import stat
import subprocess
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import date
from pathlib import Path
from typing import Any, Literal

import doubles
import numpy as np
import pytest
from doubles import ByteTokenizer
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter import run
from languages import PERSON
from numpy.typing import NDArray
from package_map import HOUSE
from pydantic import BaseModel
from random_patterns import patterns, randoms
from typer.testing import CliRunner
from walks import states_on_walks

from structured import Beams, Extractor, Samples, load_model
from structured.automata import Automaton, RegularAutomaton
from structured.cli.commands import app
from structured.decoding.generate import drop_indexes
from structured.decoding.prompt_tokens import prefixed_index
from structured.errors import CacheWarning, StructuredError
from structured.index.cache import (
    DIGEST_BYTES,
    DiskCache,
    _content_digest,
    _index_key,
    arrays_to_bytes,
    bytes_to_arrays,
    default_cache,
    load_index,
    save_index,
)
from structured.index.cache_folder import Clearing, cache_folder
from structured.index.compilation import MIN_NEW_MASKS, related_index
from structured.index.index import Index
from structured.index.trie_walks import TrieWalks
from structured.integrations.logits_processor import GuidedLogitsProcessor
from structured.regex import Pattern, alternation, literal
from structured.vocabulary import Vocabulary

ARRAYS = {"numbers": np.arange(12, dtype=np.int32).reshape(3, 4), "bytes": np.frombuffer(b"abc", dtype=np.uint8)}


@st.composite
def arrays(draw: st.DrawFn) -> dict[str, NDArray[Any]]:
    """Return named arrays of both types, of no, one or two axes, some of them empty."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    shapes = st.lists(st.integers(0, 5), max_size=2)
    kinds = {np.dtype(np.int32): (-(2**31), 2**31), np.dtype(np.uint8): (0, 256)}

    def array(kind: np.dtype[Any], shape: list[int]) -> NDArray[Any]:
        return rng.integers(*kinds[kind], size=shape, dtype=kind)

    return draw(st.dictionaries(st.text("abc_", max_size=3), st.builds(array, st.sampled_from(list(kinds)), shapes)))


def same(left: dict[str, NDArray[Any]], right: dict[str, NDArray[Any]]) -> bool:
    kinds = [{name: (array.dtype, array.shape) for name, array in given.items()} for given in (left, right)]
    return kinds[0] == kinds[1] and all(np.array_equal(left[name], right[name]) for name in left)


@pytest.mark.thorough
@given(arrays())
def test_arrays_come_back_as_they_were(given_arrays: dict[str, NDArray[Any]]) -> None:
    """With their names, types and shapes."""
    assert same(bytes_to_arrays("key", arrays_to_bytes("key", given_arrays)), given_arrays)


_HEADER = b'{"a":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}'
UNKNOWN_NUMBERS = len(_HEADER).to_bytes(8, "little") + _HEADER + bytes(2)
"""A file of safetensors with numbers that NumPy does not have."""


@given(st.integers(0, 2**16), st.sampled_from(["changed", "cut", "empty"]), st.integers(1, 255))
def test_damaged_files_are_not_read(place: int, damage: str, flip: int) -> None:
    """A byte that is another, or all from some byte on missing: every damage is noticed."""
    data = bytearray(arrays_to_bytes("key", ARRAYS))
    place %= len(data)
    match damage:
        case "changed":
            data[place] ^= flip
        case "cut":
            del data[place:]
        case "empty":
            data.clear()
    with pytest.raises(ValueError, match=r"^The file was damaged: "):
        bytes_to_arrays("key", bytes(data))


def test_every_flipped_bit_is_noticed() -> None:
    """Adler-32, the checksum of zlib, would miss some in a file as small as these."""
    content = arrays_to_bytes("key", ARRAYS)
    for bit in range(8 * len(content)):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        with pytest.raises(ValueError, match=r"^The file was damaged: "):
            bytes_to_arrays("key", bytes(flipped))


def test_a_file_of_another_key_is_not_read() -> None:
    """Its content is right, but for something else."""
    with pytest.raises(ValueError, match=r"^The file was damaged: it is not what was written for its name\."):
        bytes_to_arrays("key", arrays_to_bytes("another", ARRAYS))


def test_a_file_of_another_index_in_the_place_of_one_narrows_no_mask(tmp_path: Path, vocabulary: Vocabulary) -> None:
    """Both files are whole, and the other pattern allows less: its masks are not taken, and the file is removed."""
    disk = DiskCache(tmp_path)
    narrow, wide = (RegularAutomaton(alternation(*map(literal, texts))) for texts in (("ab",), ("ab", "b", "cd")))
    for automaton in (narrow, wide):
        index = Index(automaton, vocabulary)
        index.mask(automaton.start)
        save_index(disk, index)
    narrow_key = _index_key(Index(narrow, vocabulary))
    loaded = Index(RegularAutomaton(wide.pattern), vocabulary)
    disk.path(str(_index_key(loaded))).write_bytes(disk.path(str(narrow_key)).read_bytes())
    with pytest.warns(CacheWarning, match="was damaged"):
        load_index(disk, loaded)
    assert loaded.states_known == 0
    assert np.array_equal(loaded.mask(loaded.automaton.start), Index(wide, vocabulary).mask(wide.start))
    assert [path.stem for path in disk.files()] == [narrow_key]


def walked(vocabulary: Vocabulary, pattern: Pattern, rng: random.Random) -> tuple[Index, list[int]]:
    """Return an index that knows the masks of some states, and these."""
    index = Index(RegularAutomaton(pattern), vocabulary)
    states = states_on_walks(index, rng)
    for state in states:
        index.mask(state)
    return index, states


def paired(left: Automaton, right: Automaton) -> dict[int, int]:
    """Return for each state that the table of one automaton leads to the state of another after the same bytes."""
    pairs, waiting = {left.start: right.start}, [left.start]
    while waiting:
        state = waiting.pop()
        for byte, successor in enumerate(left.table[state].tolist()):
            if successor >= 0 and successor not in pairs:
                pairs[successor] = right.step(pairs[state], byte)
                waiting.append(successor)
    return pairs


@pytest.mark.thorough
@given(patterns(), randoms())
def test_a_loaded_index_knows_what_was_saved(
    tmp_path_factory: pytest.TempPathFactory, vocabulary: Vocabulary, pattern: Pattern, rng: random.Random
) -> None:
    """The same texts lead to the same masks, and no mask is made anew."""
    disk = DiskCache(tmp_path_factory.mktemp("disk"))
    index, states = walked(vocabulary, pattern, rng)
    save_index(disk, index)
    loaded = Index(RegularAutomaton(pattern), vocabulary)
    load_index(disk, loaded)
    assert loaded.states_known == index.states_known == len(states)
    twins = paired(index.automaton, loaded.automaton)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loaded._walks, "mask", None)
        for state in states:
            assert np.array_equal(loaded.mask(twins[state]), index.mask(state))
            assert loaded._sufficient_tokens[twins[state]] == index._sufficient_tokens[state]


def forge(arrays: dict[str, NDArray[Any]], rng: random.Random) -> None:
    """Change a number, a type or a shape of one of some arrays, or leave it out."""
    name = rng.choice(sorted(arrays))
    array = arrays[name] = arrays[name].copy()
    match rng.choice(["number", "number", "number", "type", "shape", "shorter", "missing", "extra"]):
        case "number" if array.size:
            largest = 2**31 - 1 if array.dtype == np.int32 else 255
            near = int(array.flat[0]) + rng.choice([-1, 1])
            array.flat[rng.randrange(array.size)] = min(rng.choice([0, largest, max(near, 0), array.size]), largest)
            if array.dtype == np.int32 and rng.random() < 0.3:
                array.flat[rng.randrange(array.size)] = rng.choice([-1, -2, -(2**31)])
        case "type":
            arrays[name] = array.astype(np.uint8 if array.dtype == np.int32 else np.int32)
        case "shape":
            arrays[name] = array.reshape(1, *array.shape)
        case "shorter" if array.ndim and len(array):
            arrays[name] = array[:-1]
        case "missing":
            del arrays[name]
        case _:
            arrays["more"] = array


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::structured.errors.CacheWarning")
@given(patterns(), randoms())
def test_wrong_numbers_do_no_harm(
    tmp_path_factory: pytest.TempPathFactory, vocabulary: Vocabulary, pattern: Pattern, rng: random.Random
) -> None:
    """An index file with the right checksum and forged content is used or ignored; the automaton is right anyway."""
    disk = DiskCache(tmp_path_factory.mktemp("disk"))
    index, states = walked(vocabulary, pattern, rng)
    save_index(disk, index)
    key = disk.files()[0].stem
    content = disk.load(key)
    assert content is not None
    forge(content, rng)
    disk.save(key, content)
    loaded = Index(RegularAutomaton(pattern), vocabulary)
    load_index(disk, loaded)
    reference = Index(loaded.automaton, vocabulary)
    for state in paired(loaded.automaton, loaded.automaton):
        mask = loaded.mask(state)
        assert mask.shape == reference.mask(state).shape
        assert loaded._walks.successors(state) == reference._walks.successors(state)
    assert max(states) >= 0


def test_keys_tell_types_and_vocabularies_apart(vocabulary: Vocabulary) -> None:
    """Another pattern, another token, another end: another file."""
    tokens, ends = vocabulary.tokens, vocabulary.end_token_ids
    vocabularies = [
        *(vocabulary, Vocabulary((*tokens, b"zz"), ends), Vocabulary((*tokens, None), ends)),
        *(Vocabulary(tokens, ends - {min(ends)}), Vocabulary((*tokens[:-3], b"x", *tokens[-2:]), ends)),
    ]
    assert len({given.fingerprint for given in vocabularies}) == len(vocabularies)
    assert Vocabulary(tokens, ends).fingerprint == vocabulary.fingerprint
    automata = [RegularAutomaton(pattern) for pattern in (literal("ab"), literal("ac"), alternation(PERSON, PERSON))]
    keys = {_index_key(Index(automaton, given)) for given in vocabularies for automaton in automata}
    assert len(keys) == len(vocabularies) * len(automata)
    with pytest.MonkeyPatch.context() as patch:  # Python decides what `\w` of a grammar is
        patch.setattr("structured.index.cache.unidata_version", "0.0.0")
        assert not keys & {_index_key(Index(automaton, vocabulary)) for automaton in automata}


class Unnamed(RegularAutomaton):
    """An automaton of which nothing can be kept."""

    fingerprint = None


def test_nothing_is_kept_of_an_automaton_without_fingerprint(tmp_path: Path, vocabulary: Vocabulary) -> None:
    """It is neither saved nor looked for."""
    disk = DiskCache(tmp_path)
    index = Index(Unnamed(PERSON), vocabulary)
    index.mask(index.automaton.start)
    save_index(disk, index)
    load_index(disk, index)
    assert disk.files() == []


def test_the_files_unread_for_longest_go_first(tmp_path: Path) -> None:
    """Reading is what keeps a file young; the folder never holds more than it may."""
    size = len(arrays_to_bytes("a", ARRAYS))
    disk = DiskCache(tmp_path, max_bytes=3 * size)
    for age, key in enumerate("abc"):
        disk.save(key, ARRAYS)
        os.utime(tmp_path / f"{key}.arrays", (age, age))
    assert disk.load("a") is not None
    disk.save("d", ARRAYS)
    assert {path.stem for path in disk.files()} == {"a", "c", "d"}
    assert disk.size() <= disk.max_bytes
    disk.save("large", {"numbers": np.random.default_rng(0).integers(0, 255, 4 * size, dtype=np.uint8)})
    assert {path.stem for path in disk.files()} == {"a", "c", "d"}
    assert [path.stem for path in disk.clear().removed] == ["a", "c", "d"]
    assert disk.files() == []


def test_what_a_broken_writer_left_behind_is_swept_up(tmp_path: Path) -> None:
    """A half-written file is no file of the cache, and goes when it is old."""
    disk = DiskCache(tmp_path)
    old, new = tmp_path / "writing-old.tmp", tmp_path / "writing-new.tmp"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    disk.save("a", ARRAYS)
    assert not old.exists()
    assert new.exists()
    assert len(disk.files()) == 1


def _full_disk(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is raised, nothing is left behind, and what was there stays."""
    disk = DiskCache(tmp_path)
    disk.save("a", ARRAYS)
    monkeypatch.setattr(Path, "write_bytes", _full_disk)
    disk.save("a", {})
    disk.save("b", ARRAYS)
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["a.arrays"]
    assert same(disk.load("a") or {}, ARRAYS)


def test_a_folder_may_be_there_to_read_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the time of reading cannot be noted, the file is read all the same."""
    disk = DiskCache(tmp_path)
    disk.save("a", ARRAYS)
    monkeypatch.setattr(os, "utime", _full_disk)
    assert same(disk.load("a") or {}, ARRAYS)


@pytest.mark.filterwarnings("ignore::structured.errors.CacheWarning")
@pytest.mark.parametrize(
    "packed",
    [
        *(b"", b"junk", arrays_to_bytes("", ARRAYS)[DIGEST_BYTES:-1]),
        *(zlib.compress(bytes(1 << 29), 1), zlib.compress(UNKNOWN_NUMBERS)),
    ],
    ids=["empty", "junk", "cut", "huge", "of unknown numbers"],
)
@pytest.mark.parametrize("has_digest", [True, False])
def test_a_damaged_file_is_replaced(tmp_path: Path, vocabulary: Vocabulary, packed: bytes, has_digest: bool) -> None:
    """It counts as missing when it is read, but for a warning, and is written anew when there is something to save."""
    disk = DiskCache(tmp_path)
    index, states = walked(vocabulary, PERSON, random.Random(0))
    save_index(disk, index)
    (file,) = disk.files()
    file.write_bytes(_content_digest(file.stem, packed) + packed if has_digest else packed)
    loaded = Index(RegularAutomaton(PERSON), vocabulary)
    load_index(disk, loaded)
    assert loaded.states_known == 0
    save_index(disk, index)
    load_index(disk, loaded)
    assert loaded.states_known == len(states)


@pytest.mark.parametrize(
    ("name", "forged"),
    [("bytes", lambda read: np.full(read.shape, 2**64 - 1, dtype=np.uint64)), ("masks", np.zeros_like)],
)
def test_a_forged_file_is_removed(
    tmp_path: Path, vocabulary: Vocabulary, name: str, forged: Callable[[NDArray[Any]], NDArray[Any]]
) -> None:
    """Bytes that are none, and masks that allow no token."""
    disk = DiskCache(tmp_path)
    save_index(disk, walked(vocabulary, PERSON, random.Random(0))[0])
    (file,) = disk.files()
    arrays = bytes_to_arrays(file.stem, file.read_bytes())
    file.write_bytes(arrays_to_bytes(file.stem, {**arrays, name: forged(arrays[name])}))
    loaded = Index(RegularAutomaton(PERSON), vocabulary)
    with pytest.warns(CacheWarning, match="was damaged"):
        load_index(disk, loaded)
    assert loaded.states_known == 0
    assert not disk.files()


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    """Where a file is in the way, the cache is empty and stays so."""
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    disk = DiskCache(tmp_path / "file" / "cache")
    disk.save("a", ARRAYS)
    assert disk.load("a") is None
    assert (disk.files(), disk.size(), disk.clear()) == ([], 0, Clearing((), {}))


@pytest.mark.parametrize(
    ("platform", "environment", "folder"),
    [
        ("linux", {"STRUCTURED_CACHE_DIR": "/own", "XDG_CACHE_HOME": "/xdg"}, "/own"),
        ("linux", {"XDG_CACHE_HOME": "/xdg"}, "/xdg/structured"),
        ("linux", {"HOME": "/people/ada"}, "/people/ada/.cache/structured"),
        ("darwin", {"HOME": "/Users/ada"}, "/Users/ada/Library/Caches/structured"),
        ("win32", {"LOCALAPPDATA": "/ada/Local"}, "/ada/Local/structured"),
    ],
)
def test_the_folder(monkeypatch: pytest.MonkeyPatch, platform: str, environment: dict[str, str], folder: str) -> None:
    """It is the one that the environment names, or where the platform keeps caches."""
    for name in ("STRUCTURED_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert cache_folder() == Path(folder)


def copying(token_ids: Sequence[int]) -> list[float]:
    return [float(token_ids.count(token_id)) for token_id in range(320)]


@pytest.mark.filterwarnings("ignore::structured.errors.StructuredWarning")
def test_extraction_fills_the_cache_unless_told_not_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file appears after a call that has learned something, none without need, none where it is off."""
    monkeypatch.setenv("STRUCTURED_CACHE_DIR", str(tmp_path))
    disk = default_cache()
    assert disk is not None

    model = load_model((copying, ByteTokenizer()))

    def extract(**options: Any) -> None:
        Extractor[Any](date, model=model, max_tokens=40, **options)("On 2024-12-03.")

    extract(cache=False)
    monkeypatch.setenv("STRUCTURED_CACHE", "off")
    extract()
    assert disk.files() == []
    monkeypatch.delenv("STRUCTURED_CACHE")
    extract()
    (file,) = disk.files()
    file.unlink()
    extract()  # the index of the call before is used, and has learned nothing new
    assert disk.files() == []


HEALING = ByteTokenizer(tokens=(*ByteTokenizer().tokens, b'\n"20'))
"""With a token that reaches from the end of a prompt into a date."""


@pytest.mark.filterwarnings("ignore::structured.errors.StructuredWarning")
@pytest.mark.parametrize("how", ["call", "stream", "batch"])
def test_what_healed_prompts_have_taught_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """The index of what their end was taken back for is saved and loaded as that of the type is, if the type's is."""
    monkeypatch.setenv("STRUCTURED_CACHE_DIR", str(tmp_path))
    disk = default_cache()
    assert disk is not None
    model = load_model((copying, HEALING))

    def learned(*, cache: bool) -> tuple[Index, bytes]:
        extractor = Extractor[Any](date, model=model, max_tokens=40, cache=cache, jump_forward=False)
        item = extractor._task.item(0, "On 2024-12-03.")
        assert item.next_start.guide.index.states_known == 0 or cache
        match how:
            case "call":
                extractor("On 2024-12-03.")
            case "batch":
                extractor.batch(["On 2024-12-03.", "On 2023-11-04."])
            case "stream":
                extractor.stream("On 2024-12-03.").result()
        assert item.next_start.healed.required_prefix == b"\n"
        assert item.next_start.guide.index is prefixed_index(item.index, b"\n")
        assert item.next_start.guide.index.states_known >= MIN_NEW_MASKS
        return item.index, item.next_start.healed.required_prefix

    learned(cache=False)
    assert disk.files() == []
    index, begun = learned(cache=True)
    known = prefixed_index(index, begun).states_known
    healed = index.automaton.with_prefix(begun.decode())
    with monkeypatch.context() as patch:
        patch.setattr(TrieWalks, "mask", None)
        assert related_index(index, healed).states_known == known
    disk.clear()
    assert related_index(index, healed).states_known == 0


_PROCESS = """
import numpy as np
from structured.index.cache import default_cache, load_index, save_index
from structured.automata import UNKNOWN, RegularAutomaton
from structured.index.index import Index
from doubles import ByteTokenizer
from structured.vocabulary import Vocabulary
from languages import PERSON

index = Index(RegularAutomaton(PERSON), Vocabulary.from_tokenizer(ByteTokenizer()))
load_index(default_cache(), index)
def rows_made():
    return np.count_nonzero((index.automaton.table[:index.automaton._states_used] != UNKNOWN).any(axis=1))

known, rows = index.states_known, rows_made()
state = index.automaton.start
for byte in b'{"name": "Ana", "age": 31, "mood": "glad", "tags": ["x"]}':
    index.mask(state)
    state = index.automaton.step(state, byte)
save_index(default_cache(), index)
print(known, index.states_known - known, rows_made() - rows)
"""


@pytest.mark.thorough
def test_the_next_process_knows_what_this_one_has_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes, one after the other: the second makes no mask, and hardly a state, for the same text."""
    monkeypatch.setenv("STRUCTURED_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(doubles.__file__).parent), str(HOUSE.parent)]))
    first = [int(number) for number in run(_PROCESS).split()]
    second = [int(number) for number in run(_PROCESS).split()]
    assert first[0] == 0
    assert min(first[1:]) > 20
    assert second[:2] == [first[1], 0]
    assert second[2] < first[2] / 4


_READER_AND_WRITER = """
import sys
import numpy as np
from pathlib import Path
from structured.index.cache import DiskCache

disk, number = DiskCache(Path(sys.argv[1])), int(sys.argv[2])
for turn in range(60):
    disk.save("key", {"all": np.full(20_000 + number, number, dtype=np.int32)})
    found = disk.load("key")
    assert found is not None, "a reader found no file, or half of one"
    assert (found["all"] == found["all"][0]).all() and len(found["all"]) == 20_000 + found["all"][0]
"""


@pytest.mark.thorough
def test_processes_may_write_at_once(tmp_path: Path) -> None:
    """Several processes write and read under one key: each reads what one of them has written, whole."""
    command = [sys.executable, "-c", _READER_AND_WRITER, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(HOUSE.parent)}
    processes = [subprocess.Popen([*command, str(number)], env=environment) for number in range(4)]
    assert [process.wait() for process in processes] == [0] * 4
    assert [path.name for path in tmp_path.iterdir()] == ["key.arrays"]


@pytest.mark.parametrize("years", [-30, 30])
def test_a_clock_that_jumps_costs_no_entry(tmp_path: Path, years: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What other processes are writing may be taken for abandoned, which is no error; what is kept stays readable."""
    disk = DiskCache(tmp_path)
    disk.save("a", ARRAYS)
    now = time.time() + years * 365 * 86_400
    monkeypatch.setattr(time, "time", lambda: now)
    writing = tmp_path / "writing-elsewhere.tmp"
    writing.write_bytes(b"half")
    for name in ("a", "b"):
        disk.save(name, ARRAYS)
    assert writing.exists() == (years < 0)
    os.utime(tmp_path / "a.arrays", (now, now))
    monkeypatch.undo()
    disk.save("c", ARRAYS)
    assert all(same(disk.load(name) or {}, ARRAYS) for name in "abc")


def test_the_command_line_tells_and_clears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`structured cache info` names folder, files, bytes and limit; `clear` removes the files, and says how many."""
    monkeypatch.setenv("STRUCTURED_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    DiskCache(tmp_path).save("a", ARRAYS)
    info = CliRunner().invoke(app, ["cache", "info"])
    told = dict(line.split(maxsplit=1) for line in info.output.splitlines())
    size = len(arrays_to_bytes("a", ARRAYS))
    assert {name: text.strip() for name, text in told.items()} == {
        "folder": str(tmp_path),
        "files": "1",
        "size": f"{size:,} bytes",
        "limit": "268,435,456 bytes",
        "models": "0, of 0 bytes, dequantised",
        "their": "limit  17,179,869,184 bytes",
    }
    (tmp_path / "writing-half.tmp").write_bytes(b"half")
    assert CliRunner().invoke(app, ["cache", "clear"]).output == "2 files removed.\n"
    assert DiskCache(tmp_path).files() == []
    monkeypatch.setenv("STRUCTURED_CACHE", "off")
    off = CliRunner().invoke(app, ["cache", "info"])
    assert (off.exit_code, off.output.startswith("The cache is off")) == (1, True)


def test_the_command_line_tells_what_it_could_not_remove(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that stays is named with the reason, only what is gone is counted, and the exit status says so."""
    monkeypatch.setenv("STRUCTURED_CACHE_DIR", str(tmp_path))
    for key in "abc":
        DiskCache(tmp_path).save(key, ARRAYS)
    unlink = Path.unlink

    def refuse(path: Path, **options: bool) -> None:
        if path.name == "b.arrays":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        unlink(path, **options)

    monkeypatch.setattr(Path, "unlink", refuse)
    done = CliRunner().invoke(app, ["cache", "clear"])
    monkeypatch.undo()
    told = done.stderr.splitlines()
    assert (done.exit_code, done.stdout, told[0]) == (1, "2 files removed.\n", "Could not be removed:")
    assert told[1] == f"  {tmp_path / 'b.arrays'}: Permission denied"
    assert [path.name for path in tmp_path.iterdir()] == ["b.arrays"]


def test_the_command_line_tells_of_a_folder_that_it_cannot_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is known of what is in it, so that it is not called empty."""
    monkeypatch.setenv("STRUCTURED_CACHE_DIR", str(tmp_path))
    models = tmp_path / "dequantised"
    models.mkdir()
    monkeypatch.setattr(Path, "iterdir", _unreadable)
    done = CliRunner().invoke(app, ["cache", "clear"])
    assert (done.exit_code, done.stdout) == (1, "0 files removed.\n")
    denied = [f"  {folder}: Permission denied" for folder in (tmp_path, models)]
    assert done.stderr.splitlines() == ["Could not be removed:", *denied]


def _unreadable(folder: Path) -> None:
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))


class Stay(BaseModel):
    """What the answers below are about."""

    begins: date
    mood: Literal["glad", "angry", "neutral"]


COPYING = load_model((copying, ByteTokenizer()))
TEXT = "Angry since 2024-12-03, and glad until then."


def answer(**options: Any) -> Stay:
    """Return an answer of a process that knows only what the cache on disk tells it."""
    drop_indexes()
    return Extractor(Stay, model=COPYING, **options)(TEXT)


@pytest.fixture(scope="module")
def entry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of what was learned from an answer."""
    folder = tmp_path_factory.mktemp("entry")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STRUCTURED_CACHE_DIR", str(folder))
        answer()
    (file,) = folder.iterdir()
    return file


@contextmanager
def no_longer_than(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in place of waiting for ever."""
    if not hasattr(signal, "setitimer"):
        pytest.skip("There are no timers on this platform.")

    def stop(*_: object) -> None:
        raise TimeoutError(f"It took more than {seconds} s.")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def changed(content: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(content))
    return content[:place] + bytes([content[place] ^ rng.randrange(1, 256)]) + content[place + 1 :]


DAMAGES: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "cut": lambda content, rng: content[: rng.randrange(len(content))],
    "changed": changed,
    "swapped": lambda _content, _rng: arrays_to_bytes("another", ARRAYS),
    "junk": lambda _content, rng: rng.randbytes(rng.randrange(100)),
}

STRANGERS: dict[str, Callable[[Path], None]] = {
    "folder": Path.mkdir,
    "link": lambda file: file.symlink_to("/dev/zero"),
    "link to nothing": lambda file: file.symlink_to("nothing"),
}
if hasattr(os, "mkfifo"):
    STRANGERS["fifo"] = os.mkfifo
    STRANGERS["socket"] = lambda file: os.mknod(file, stat.S_IFSOCK | 0o600)


@pytest.mark.thorough
@settings(max_examples=examples(60))
@given(st.sampled_from([*DAMAGES, *STRANGERS]), randoms())
def test_whatever_is_in_its_place_answers_are_as_without_a_cache(
    tmp_path_factory: pytest.TempPathFactory, entry: Path, kind: str, rng: random.Random
) -> None:
    """No damage ends a call or keeps it waiting; it is warned of, once."""
    file = tmp_path_factory.mktemp("folder") / entry.name
    if kind in STRANGERS:
        STRANGERS[kind](file)
    else:
        file.write_bytes(DAMAGES[kind](entry.read_bytes(), rng))
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(record=True) as caught, no_longer_than(30):
        warnings.simplefilter("always")
        patch.setenv("STRUCTURED_CACHE_DIR", str(file.parent))
        assert answer(seed=3, temperature=1.0) == answer(seed=3, temperature=1.0, cache=False)
    assert [warning.category for warning in caught] == ([] if kind in STRANGERS else [CacheWarning])
    assert all(warning.filename == __file__ for warning in caught)


def forge_masks(file: Path, content: bytes, rng: random.Random) -> None:
    """Write a file in which every number is one that could be, and the masks are any."""
    arrays = bytes_to_arrays(file.stem, content)
    size = COPYING.vocabulary.size
    bits = np.frombuffer(rng.randbytes(len(arrays["masks"]) * size), dtype=np.uint8).reshape(-1, size)
    rows = np.zeros((len(bits), arrays["masks"].shape[1] * 32), dtype=np.bool_)
    rows[:, :size] = bits < rng.choice([1, 40, 200, 256])
    rows[:, rng.randrange(size)] = True
    arrays["masks"] = np.packbits(rows, axis=1, bitorder="little").view(np.int32)
    arrays["sufficient_tokens"][:] = rng.choice([0, 1000])
    file.write_bytes(arrays_to_bytes(file.stem, arrays))


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::structured.errors.CacheWarning", "ignore::structured.errors.StructuredWarning")
@settings(max_examples=examples(60))
@given(st.sampled_from(["batch", "stream", "beams", "samples"]), randoms())
def test_forged_masks_end_in_valid_answers_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, entry: Path, way: str, rng: random.Random
) -> None:
    """A mask that allows what cannot follow is noticed when that is sampled."""
    folder = tmp_path_factory.mktemp("folder")
    forge_masks(folder / entry.name, entry.read_bytes(), rng)
    budget = rng.choice([1024, 80])
    answers: list[Stay] = []
    with pytest.MonkeyPatch.context() as patch, no_longer_than(30), suppress(StructuredError):
        patch.setenv("STRUCTURED_CACHE_DIR", str(folder))
        drop_indexes()
        match way:
            case "batch":
                answers = Extractor(Stay, model=COPYING, max_tokens=budget).batch([TEXT, TEXT, "Glad on 2023-01-31."])
            case "stream":
                answers = [Extractor(Stay, model=COPYING, max_tokens=budget).stream(TEXT).result().value]
            case "beams":
                answers = [Extractor(Stay, model=COPYING, max_tokens=budget, search=Beams(3))(TEXT)]
            case "samples":
                answers = [Extractor(Stay, model=COPYING, max_tokens=budget, search=Samples(3), temperature=1.0)(TEXT)]
    assert all(isinstance(found, Stay) for found in answers)


def test_a_forged_mask_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: Path) -> None:
    """It names the way out, after which the answer is the one without a cache."""
    monkeypatch.setenv("STRUCTURED_CACHE_DIR", str(tmp_path))
    arrays = bytes_to_arrays(entry.stem, entry.read_bytes())
    arrays["masks"][:] = Index(RegularAutomaton(literal("@@")), COPYING.vocabulary).mask(0)
    (tmp_path / entry.name).write_bytes(arrays_to_bytes(entry.stem, arrays))
    with pytest.raises(StructuredError, match=r"a mask that cannot be right.* empty it with `structured cache clear`"):
        answer()
    assert CliRunner().invoke(app, ["cache", "clear"]).output == "1 file removed.\n"
    assert answer() == answer(cache=False)


def test_a_loop_of_transformers_is_told_of_a_forged_mask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: Path
) -> None:
    """A loop that has taken a wrong token cannot give it back."""
    import torch

    monkeypatch.setenv("STRUCTURED_CACHE_DIR", str(tmp_path))
    arrays = bytes_to_arrays(entry.stem, entry.read_bytes())
    arrays["masks"][:] = Index(RegularAutomaton(literal("@@")), COPYING.vocabulary).mask(0)
    (tmp_path / entry.name).write_bytes(arrays_to_bytes(entry.stem, arrays))
    drop_indexes()
    processor = GuidedLogitsProcessor(Stay, COPYING, max_tokens=100)
    scores = torch.zeros((1, COPYING.vocabulary.size))

    def written() -> bytes:
        """Return what the likeliest tokens spell up to the first "@", or to an end."""
        text, rows = b"", torch.tensor([[65]])
        while not text.endswith((b"@", b"}")):
            best = processor(rows, scores).argmax()
            text += COPYING.vocabulary.tokens[best] or b""
            rows = torch.cat([rows, best[None, None]], dim=1)
        processor(rows, scores)
        return text

    with pytest.raises(StructuredError, match="a mask that cannot be right"):
        written()
