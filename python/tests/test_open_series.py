# SPDX-License-Identifier: BSD-3-Clause
"""Files that stay open between the reads of a series."""
import ctypes
import os
import pathlib
import pickle
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import sextant

h5py = pytest.importorskip("h5py")


def write_h5(path, frames):
    with h5py.File(path, "w") as file:
        file.create_dataset("data", data=frames, chunks=(1, *frames.shape[1:]), compression="gzip")


def write_tif(path, frames):
    """A TIFF without compression, one page after another."""
    count, height, width = frames.shape
    page, data = 8, 8 + count * (2 + 9 * 12 + 4)
    with open(path, "wb") as file:
        file.write(struct.pack("<2sHI", b"II", 42, page))
        for number in range(count):
            page += 2 + 9 * 12 + 4
            tags = {256: width, 257: height, 258: 16, 259: 1, 262: 1,
                    273: data + number * height * width * 2, 277: 1, 278: height,
                    279: height * width * 2}
            file.write(struct.pack("<H", len(tags)))
            for tag, value in tags.items():
                file.write(struct.pack("<HHII", tag, 4, 1, value))
            file.write(struct.pack("<I", page if number + 1 < count else 0))
        file.write(frames.tobytes())


WRITERS = {"npy": np.save, "h5": write_h5, "tif": write_tif}


@pytest.fixture(params=WRITERS)
def file_of(request, tmp_path):
    """Writes frames to a file of each format, and returns its path."""
    def write(frames, name="movie"):
        path = tmp_path / f"{name}.{request.param}"
        WRITERS[request.param](path, frames)
        return path
    return write


@pytest.fixture
def frames():
    return np.random.default_rng(1).integers(0, 4000, (24, 40, 56)).astype("u2")


class Opens:
    """Counts how often any process opens a file."""

    def __init__(self, path):
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._events = self._libc.inotify_init1(os.O_NONBLOCK)
        opened = 0x20
        assert self._libc.inotify_add_watch(self._events, os.fsencode(path), opened) >= 0

    def count(self):
        event_bytes = 16
        try:
            return len(os.read(self._events, 1 << 20)) // event_bytes
        except BlockingIOError:
            return 0

    def __del__(self):
        os.close(self._events)


def children():
    """The processes that this process has started and that have not ended."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text().rsplit(")", 1)[1].split()[:2]
        except OSError:
            continue
        if int(parent) == os.getpid() and state != "Z":
            found.append(int(folder.name))
    return found


@pytest.fixture
def readers():
    """Returns the processes that were started in this test and have not ended."""
    before = children()
    return lambda: [child for child in children() if child not in before]


def read_in_every_way(series, frames):
    for number in range(len(series)):
        np.testing.assert_array_equal(series[number], frames[number])
    np.testing.assert_array_equal(np.asarray(series), frames)
    np.testing.assert_array_equal(np.asarray(series, "f8"), frames)
    np.testing.assert_array_equal(series[20:3:-3, 4:9], frames[20:3:-3, 4:9])
    np.testing.assert_array_equal(series[[5, 6, 7, 2]], frames[[5, 6, 7, 2]])
    np.testing.assert_array_equal(series[[5, 2], [1, 2]], frames[[5, 2], [1, 2]])


def test_a_file_is_opened_once_for_all_reads(file_of, frames):
    path = file_of(frames)
    series = sextant.open_series(path)
    series[0]
    opens = Opens(path)
    read_in_every_way(series, frames)
    assert opens.count() == 0
    other = pickle.loads(pickle.dumps(series))
    np.testing.assert_array_equal(other[3], frames[3])
    assert opens.count() > 0


def test_a_file_that_changes_is_opened_again(file_of, frames):
    path = file_of(frames)
    series = sextant.open_series(path)
    np.testing.assert_array_equal(series[3], frames[3])
    for change in ("in place", "replaced"):
        frames = frames[::-1].copy()
        if change == "in place":
            file_of(frames)
        else:
            os.replace(file_of(frames, "other"), path)
        np.testing.assert_array_equal(series[3], frames[3])
        np.testing.assert_array_equal(np.asarray(series), frames)
    file_of(frames[:, :-1])
    with pytest.raises(sextant.InvalidFile, match="has changed"):
        series[3]
    path.unlink()
    with pytest.raises(sextant.InvalidFile):
        series[3]


def test_a_file_and_the_process_that_reads_it_are_closed_with_the_series(file_of, frames, readers):
    def is_open(path):
        files = [os.path.realpath(f"/proc/self/fd/{each}") for each in os.listdir("/proc/self/fd")]
        return str(path) in files or bool(readers())
    path = file_of(frames)
    with sextant.open_series(path) as series:
        series[0]
        assert is_open(path)
    assert not is_open(path)
    np.testing.assert_array_equal(series[2], frames[2])
    assert is_open(path)
    del series
    assert not is_open(path)
    many = [sextant.open_series(path) for _ in range(40)]
    for number, series in enumerate(many):
        np.testing.assert_array_equal(series[number % 24], frames[number % 24])
    assert len(readers()) <= 16
    for series in many:
        np.testing.assert_array_equal(series[7], frames[7])
    del many, series
    assert not is_open(path)


def test_threads_and_forks_read_one_series(file_of, frames):
    series = sextant.open_series(file_of(frames))
    series[0]
    with ThreadPoolExecutor(6) as pool:
        for number, frame in enumerate(pool.map(lambda k: series[k % 24], range(240))):
            np.testing.assert_array_equal(frame, frames[number % 24])
    process = os.fork()
    if process == 0:
        try:
            read_in_every_way(series, frames)
            del series
            os._exit(0)
        finally:
            os._exit(1)
    read_in_every_way(series, frames)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
    read_in_every_way(series, frames)


def test_dask_reads_a_series(file_of, frames):
    array = pytest.importorskip("dask.array")
    series = sextant.open_series(file_of(frames))
    lazy = array.from_array(series, chunks=(5, 40, 56))
    np.testing.assert_array_equal(lazy.compute(scheduler="threads"), frames)
    np.testing.assert_array_equal((lazy + 1).compute(scheduler="processes", num_workers=2),
                                  frames + 1)


def test_files_and_pipes_of_this_process_are_not_kept_open_by_a_series(tmp_path, frames):
    write_h5(tmp_path / "movie.h5", frames)
    other = h5py.File(tmp_path / "other.h5", "w")
    from_pipe, to_pipe = os.pipe()
    series = sextant.open_series(tmp_path / "movie.h5")
    series[0]
    other.close()
    os.close(to_pipe)
    for mode in ("r", "r+", "w"):
        h5py.File(tmp_path / "other.h5", mode).close()
    assert os.read(from_pipe, 1) == b""
    os.close(from_pipe)
    np.testing.assert_array_equal(series[3], frames[3])


@pytest.mark.parametrize("shape, chunks", [
    ((6, 10, 24, 20), (4, 3, 24, 20)), ((6, 10, 24, 20), None),
    ((3, 4, 5, 18, 20), (2, 2, 2, 9, 9)), ((7, 200, 300), (3, 70, 80))])
def test_a_chunk_of_many_frames_is_read_once(tmp_path, readers, shape, chunks):
    path = tmp_path / "movie.h5"
    frames = np.random.default_rng(2).integers(0, 60000, shape).astype("u2")
    with h5py.File(path, "w") as file:
        file.create_dataset("data", data=frames, chunks=chunks,
                            compression=chunks and "gzip")
    series = sextant.open_series(path)
    np.testing.assert_array_equal(np.asarray(series).reshape(shape), frames)
    (reader,) = readers()
    read = dict(line.split(": ") for line in pathlib.Path(f"/proc/{reader}/io").read_text()
                .splitlines())["rchar"]
    assert int(read) < 1.2 * path.stat().st_size + 40000  # with the file's tables
    for number in range(len(series)):
        np.testing.assert_array_equal(series[number], frames.reshape(-1, *shape[-2:])[number])


def requests_of(reader):
    """Grows with every request to a process that reads."""
    return pathlib.Path(f"/proc/{reader}/io").read_text().split("syscr: ")[1].split()[0]


@pytest.mark.parametrize("shape", [(24, 40, 56), (6, 4, 40, 56)])
@pytest.mark.parametrize("kind", ["little-endian", "user block", "new format", "big-endian",
                                  "chunked", "external link", "links", "bool"])
def test_frames_without_compression_are_read_from_their_position(tmp_path, readers, frames, kind,
                                                                 shape):
    path, options, type_ = tmp_path / "movie.h5", {}, "<u2"
    if kind == "user block":
        options = {"userblock_size": 1024}
    elif kind == "new format":
        options = {"libver": "latest"}
    elif kind in ("big-endian", "bool"):
        type_ = {"big-endian": ">u2", "bool": "?"}[kind]
    expected = (frames > 2000 if kind == "bool" else frames).astype(type_)
    with h5py.File(path, "w", **options) as file:
        if kind == "external link":
            with h5py.File(tmp_path / "other.h5", "w") as other:
                other["data"] = expected.reshape(shape)
            file["data"] = h5py.ExternalLink("other.h5", "/data")
        else:
            file.create_dataset("data", data=expected.reshape(shape),
                                chunks=(1,) * (len(shape) - 2) + shape[-2:]
                                if kind == "chunked" else None)
        if kind == "links":
            file.move("data", "first")
            file["data"] = h5py.SoftLink("/first")
    series = sextant.open_series(path, allow_external=True)
    np.testing.assert_array_equal(series[0], expected[0])
    (reader,) = readers()
    before = requests_of(reader)
    for number in (*reversed(range(24)), *range(0, 24, 5), 3, 17, 4):
        np.testing.assert_array_equal(series[number], expected[number])
    read_in_every_way(series, expected)
    direct = kind in ("little-endian", "user block", "new format", "links", "bool")
    assert (requests_of(reader) == before) == direct


def test_a_file_that_is_written_or_too_short_is_not_read_from_its_position(tmp_path, frames):
    path = tmp_path / "movie.h5"
    with h5py.File(path, "w") as file:
        file["data"] = frames
    with sextant.open_series(path) as series:
        np.testing.assert_array_equal(series[3], frames[3])
        lock = subprocess.Popen([sys.executable, "-c", """
import fcntl, sys
file = open(sys.argv[1], "r+b")
fcntl.flock(file, fcntl.LOCK_EX)
print("locked", flush=True)
sys.stdin.read()
""", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert lock.stdout.readline() == "locked\n"
        with pytest.raises(sextant.InvalidFile, match="another program is writing the file"):
            series[4]
        lock.communicate()
        np.testing.assert_array_equal(series[4], frames[4])
        os.truncate(path, path.stat().st_size - frames[0].nbytes)
        with pytest.raises(sextant.InvalidFile):
            series[23]


def test_ctrl_c_in_a_terminal_does_not_end_the_process_that_reads(tmp_path, frames):
    """The terminal sends SIGINT to all processes of its group."""
    write_h5(tmp_path / "movie.h5", frames)
    script = """
import os, signal, sys, sextant
series = sextant.open_series(sys.argv[1])
series[0]
signal.signal(signal.SIGINT, signal.SIG_IGN)
os.kill(0, signal.SIGINT)
for number in range(5, 10):
    series[number]
"""
    subprocess.run([sys.executable, "-c", script, tmp_path / "movie.h5"], check=True,
                   start_new_session=True)
