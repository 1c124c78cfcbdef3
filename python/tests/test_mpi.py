# SPDX-License-Identifier: BSD-3-Clause
"""Programs on several processes give the bits of threads; failures reach all ranks."""
import shutil

import numpy as np
import pytest

import sextant

pytest.importorskip("mpi4py")
LAUNCHER = shutil.which("mpirun")
pytestmark = pytest.mark.skipif(not LAUNCHER, reason="mpirun is not installed")


def launch(run_script, text, ranks=4, **options):
    return run_script(text, LAUNCHER, "--oversubscribe", "-n", str(ranks), **options)


PREPARE = """
import os


def say(*words):
    # One write per line, so that the lines of ranks are not mixed.
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())


import numpy as np
from scipy import ndimage
from mpi4py import MPI
import sextant
comm = MPI.COMM_WORLD
rank = comm.Get_rank()
rng = np.random.default_rng(0)
image = ndimage.gaussian_filter(rng.normal(size=(203, 311)), 2).astype("f4")
specimen = ndimage.gaussian_filter(rng.normal(size=(200, 200)), 2)
movie = np.stack([specimen[20 + k:148 + k, 30 - k:158 - k] for k in range(7)])
movie = (movie + .02 * rng.normal(size=movie.shape)).astype("f4")
"""


@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_processes_give_the_bits_of_threads(run_script, ranks):
    done = launch(run_script, PREPARE + """
blobs = (image > 0.02).astype("u1")
labels = sextant.label(blobs, comm=comm, measure=True)
filtered = sextant.filter(image, sigma=2, comm=comm)
contours = sextant.contours(image, sigma=2, comm=comm)
edges = sextant.canny(image, sigma=2, comm=comm)
size = comm.Get_size()
series = sextant.register(movie, comm=comm, reproducible=True, aligned=True)
assert labels.components == sextant.label(blobs).components
if rank == 0:
    assert np.array_equal(labels.labels, sextant.label(blobs).labels)
    assert np.array_equal(labels.table, sextant.label(blobs, measure=True).table)
    assert np.array_equal(filtered.planes, sextant.filter(image, sigma=2).planes)
    assert np.array_equal(contours.points, sextant.contours(image, sigma=2).points)
    assert np.array_equal(edges, sextant.canny(image, sigma=2))
    threads = sextant.register(movie, reproducible=True, aligned=True, ranks=size)
    assert np.array_equal(series.average, threads.average, equal_nan=True)
    assert np.array_equal(series.aligned, threads.aligned, equal_nan=True)
    say("equal on", size)
else:
    assert labels.labels is None and filtered.planes is None and edges is None
    assert len(contours) == 0 and series.aligned is None
motions = comm.allgather(series.motions)
assert all(np.array_equal(each, motions[0]) for each in motions)
""", ranks)
    assert f"equal on {ranks}" in done.stdout


@pytest.mark.parametrize("ranks", [1, 3])
def test_volumes_have_the_bits_of_threads(run_script, ranks):
    done = launch(run_script, PREPARE + """
volume = ndimage.gaussian_filter(rng.normal(size=(23, 31, 37)), 1).astype("f4")
blobs = volume > .05
planes = np.stack([ndimage.label(plane)[0] for plane in blobs])
options = dict(measure=True, intensity=volume, min_size=3)
labels = sextant.label(blobs, comm=comm, **options)
filtered = sextant.filter(volume, (2, 1, 1), derivatives="z", comm=comm)
stitched = sextant.stitch(planes, block=(1, 0, 0), comm=comm)
own = sextant.label(blobs, **options)
assert labels.components == own.components and labels.ranks == comm.Get_size()
if rank == 0:
    assert np.array_equal(labels.labels, own.labels) and np.array_equal(labels.table, own.table)
    assert np.array_equal(filtered["z"], sextant.filter(volume, (2, 1, 1), derivatives="z")["z"])
    alone = sextant.stitch(planes, block=(1, 0, 0))
    assert np.array_equal(stitched.labels, alone.labels)
    assert np.array_equal(stitched.joins, alone.joins)
else:
    assert labels.labels is None and filtered.planes is None and stitched.labels is None
    assert len(labels.table) == len(stitched.table) == 0
try:
    sextant.label(blobs, comm=comm, out=np.zeros((2, 2, 2), "u4") if rank == 0 else None)
except sextant.Error as error:
    assert "out has shape" in str(error)
    say("refused on", rank)
""", ranks)
    assert done.stdout.count("refused on") == ranks


def test_a_fault_that_one_rank_finds_before_the_first_exchange_reaches_all(run_script):
    done = launch(run_script, PREPARE + """
row, odd = image[0], rank == 1
masked = np.ma.masked_array(image, np.zeros(image.shape, bool))
faulty = {
    "features": lambda: sextant.features(image, comm=comm, **({"derivatives": "x"} if odd else {})),
    "row": lambda: sextant.filter(row, derivatives="smooth", comm=comm,
                                  border="constant" if odd else "replicate"),
    "masked": lambda: sextant.label(np.ma.masked_array([[1j]]) if odd else masked > 0, comm=comm)}
for name, call in faulty.items():
    try:
        call()
    except sextant.Error as error:
        say(name, "refused:", error)
        assert odd or str(error).startswith("rank 1: "), error
assert sextant.label(image > 0, comm=comm).components > 0
say("goes on")
""", 3)
    assert done.stdout.count("goes on") == 3
    for name in ("features", "row", "masked"):
        assert done.stdout.count(name + " refused:") == 3, done.stdout


def test_displacement_fields_are_applied_on_every_rank(run_script):
    done = launch(run_script, PREPARE + """
series = sextant.register(movie, comm=comm, model="nonrigid")
own = sextant.apply(series, movie)
assert len(series.transforms.frames) == 7 and series.transforms.field(3) is not None
first = comm.bcast(own)
assert np.array_equal(own, first, equal_nan=True)
points = sextant.apply(series, [[3, 20.5, 30.0], [0, 5.0, 6.0]])
assert np.array_equal(points, comm.bcast(points))
say("applied")
""", 3)
    assert done.stdout.count("applied") == 3


def test_composite_and_scan(run_script):
    done = launch(run_script, PREPARE + """
images = rng.random((4, 9, 11, 4)).astype("f4")
found = sextant.composite(images[rank:rank + 1], comm=comm, algorithm="direct-send")
assert (found.image is None) == (rank != 0)
if rank == 0:
    assert np.array_equal(found.image, sextant.composite(images, algorithm="direct-send").image)
found = sextant.composite(images[:rank], comm=comm, root=2)  # rank 0 has no images
assert (found.image is None) == (rank != 2)
letters = "abcdefghij"
mine = list(letters[3 * rank:3 * rank + 3])
scanned = sextant.scan(mine, lambda left, right: left + right, comm=comm)
assert scanned == [letters[:k + 1] for k in range(3 * rank, min(3 * rank + 3, 10))], scanned
scanned = sextant.scan(mine, lambda left, right: left + right, comm=comm, exclusive=True)
assert scanned == [letters[:k] or None for k in range(3 * rank, min(3 * rank + 3, 10))], scanned
say("done", rank)
""")
    assert done.stdout.count("done") == 4


@pytest.mark.parametrize("call, expected", [
    ("sextant.scan([rank], lambda l, r: 1 / (rank - 2), comm=comm)", "ZeroDivisionError"),
    ("sextant.register(movie, comm=comm, progress=lambda *a: 1 / 0)", "ZeroDivisionError"),
    ("sextant.label(image, comm=comm, ranks=2)", "InvalidTask"),
    ("sextant.label(image, comm=comm, neighbours=4 if rank else 8)", "InvalidTask"),
    ("sextant.filter(image[:100 + rank], comm=comm)", "rank 1 has frames"),
    ("sextant.label(sextant.open_series(path), frame=rank, comm=comm)", "rank 1 has frame 1, but"),
    ("sextant.register(movie if rank != 1 else movie[:, :100], comm=comm)", "rank 1 has frames"),
    ("sextant.register(iter(movie[:7 - (rank == 3)]), comm=comm)", "rank 3 has frames 6 of"),
    ("sextant.register(movie if rank else movie[0], comm=comm)", "rank 0: InvalidTask: series"),
    ("sextant.label(image.astype('c8' if rank == 2 else 'f4'), comm=comm)", "rank 2: WrongType"),
    ("sextant.filter(image, sigma=.1 if rank == 2 else 2, comm=comm)", "rank 2: InvalidTask"),
    ("sextant.scan(3 if rank == 1 else [3], max, comm=comm)", "rank 1: TypeError"),
    ("sextant.composite(np.zeros((1, 4, 4, 3 + (rank > 0)), 'f4'), comm=comm)", "rank 0: Wrong"),
    ("sextant.scan([lambda: 0], lambda l, r: l, comm=comm)", "pickle"),
    ("sextant.scan([1], max, comm=comm, exclusive=bool(rank))", "exclusive: rank 0 has False, rank 1"),
    ("sextant.scan([1], max, comm=comm, capacity=99 if rank == 2 else None)",
     "capacity: rank 0 has None, rank 2 has 99"),
    ("sextant.scan([1], max, comm=comm, exclusive=rank)", "WrongType exclusive is 0, expected True or False"),
    ("sextant.contours(np.full((9, 9), 9), comm=comm, directions=True)",
     "InvalidTask rank 0: array: has 9 at (0, 0), expected a direction"),
    ("sextant.composite(np.zeros((1, 4, 4, 4), 'f4'), comm=comm, plan='nosuch.json')",
     "NoSuchFile nosuch.json: no such file"),
    ("sextant.contours(image, comm=comm, scratch='/tmp/')", "InvalidTask scratch has no effect here"),
    ("sextant.canny(image, comm=comm, directions='yes' if rank == 2 else True)",
     "rank 2: WrongType: directions is 'yes', expected True or False"),
    ("sextant.register(movie, comm=comm, restart=rank == 3)", "rank 3: InvalidTask: restart has no effect here"),
    ("sextant.scan(['a' * 9000], lambda l, r: l + r, comm=comm, capacity=9100)", "InvalidTask"),
])
def test_a_failure_of_one_rank_is_raised_on_all(run_script, tmp_path, call, expected):
    np.save(tmp_path / "frames.npy", np.zeros((4, 16, 16)))
    done = launch(run_script, PREPARE + f"""
path = "{tmp_path}/frames.npy"
try:
    {call}
except (Exception, KeyboardInterrupt) as error:
    say("raised", rank, type(error).__name__, error)
labels = sextant.label(image, comm=comm)  # the communicator is usable
say("labelled", labels.components)
""", timeout=300)
    assert done.stdout.count("raised") == 4, done.stdout + done.stderr
    assert done.stdout.count("labelled") == 4
    assert expected in done.stdout


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_that_call_different_functions_are_told_both(run_script, ranks):
    done = launch(run_script, PREPARE + """
import faulthandler, inspect, itertools

faulthandler.dump_traceback_later(60, exit=True)  # else ranks that wait would outlive the test
pixels = np.zeros((1, 8, 8, 4), "f4")
calls = {
    "canny": lambda: sextant.canny(image, comm=comm),
    "composite": lambda: sextant.composite(pixels, comm=comm),
    "contours": lambda: sextant.contours(image, comm=comm),
    "features": lambda: sextant.features(image, comm=comm),
    "filter": lambda: sextant.filter(image, comm=comm),
    "label": lambda: sextant.label(image, comm=comm),
    "register": lambda: sextant.register(movie, comm=comm),
    "scan": lambda: sextant.scan([rank], max, comm=comm),
    "stitch": lambda: sextant.stitch([(np.ones((8, 8), "u4"), (0, 0))], comm=comm),
}
with_comm = {name for name, function in vars(sextant).items() if inspect.isfunction(function)
             and "comm" in inspect.signature(function).parameters}
assert with_comm == set(calls), with_comm
last = comm.Get_size() - 1
for first, second in itertools.permutations(calls, 2):
    try:
        calls[second if rank == last else first]()
        say("no error for", first, second)
    except sextant.InvalidTask as error:
        assert f"rank 0 calls {first}, rank {last} calls {second}" in str(error), error
for name in calls:  # one of them fails before it would start
    try:
        calls[name]() if rank else sextant.label(image.astype("c8"), comm=comm)
        say("no error for", name)
    except sextant.Error as error:
        text = f"rank 0 calls label, rank 1 calls {name}"
        assert text in str(error) or name == "label", error
say("labelled", sextant.label(image, comm=comm).components)  # the communicator is usable
""", ranks)
    assert done.stdout.count("labelled") == ranks, done.stdout + done.stderr
    assert "no error" not in done.stdout


def test_an_image_and_a_volume_are_not_labelled_together(run_script):
    done = launch(run_script, PREPARE + """
import faulthandler

faulthandler.dump_traceback_later(60, exit=True)
for neighbours in (4, 8, 6, 26, None):
    options = {} if neighbours is None else {"neighbours": neighbours}
    try:
        sextant.label(np.zeros((5, 40, 50)[rank:], "u1"), comm=comm, **options)
    except sextant.Error as error:
        say("refused", error)
""", 2)
    assert done.stdout.count("refused") == 2 * 5, done.stdout + done.stderr


RAISED = PREPARE + """
def expect(name, failed, error, own, text):
    if rank == failed:
        assert type(error) is own, (name, error)
    else:
        assert type(error) is sextant.RunFailed, (name, type(error), error)
        assert str(error) == f"rank {failed}: {text}", (name, error)


"""


def test_other_ranks_are_told_what_progress_raised(run_script):
    """At the first, a middle and the last call."""
    done = launch(run_script, RAISED + """
blobs = image > .02
planes = np.stack([ndimage.label(blobs)[0]] * 5).astype("u4")
cases = {
    "label": lambda **how: sextant.label(blobs, comm=comm, **how),
    "label of a volume": lambda **how: sextant.label(planes > 0, neighbours=6, comm=comm, **how),
    "filter": lambda **how: sextant.filter(image, sigma=2, comm=comm, **how),
    "contours": lambda **how: sextant.contours(image, sigma=2, comm=comm, **how),
    "canny": lambda **how: sextant.canny(image, sigma=2, comm=comm, **how),
    "register": lambda **how: sextant.register(movie, comm=comm, **how),
    "stitch": lambda **how: sextant.stitch(planes, block=(1, 0, 0), comm=comm, **how),
}
for name, call in cases.items():
    seen = []
    call(progress=lambda *step: seen.append(step))
    calls = comm.bcast(len(seen))
    for last in sorted({1, calls // 2, calls} - {0}):
        seen = []

        def progress(*step):
            seen.append(step)
            if len(seen) == last:
                raise ValueError("no more of this")
        try:
            call(progress=progress)
            say("no error for", name, last, calls)
        except (Exception, KeyboardInterrupt) as error:
            expect(name, 0, error, ValueError, "ValueError: no more of this")
    say("ended", name, calls)
say("labelled", sextant.label(blobs, comm=comm).components)  # the communicator is usable
""", 3)
    assert done.stdout.count("labelled") == 3, done.stdout + done.stderr
    assert "no error" not in done.stdout, done.stdout


@pytest.mark.parametrize("failed", [0, 1])
def test_other_ranks_are_told_why_an_array_cannot_be_read(run_script, failed):
    done = launch(run_script, RAISED + f"failed = {failed}" + """


class Failing:
    shape, dtype = movie.shape, movie.dtype

    def __getitem__(self, index):
        if rank == failed:
            raise OSError("lost frame")
        return movie[index]


for _ in range(5):
    try:
        sextant.register(Failing(), comm=comm)
    except (Exception, KeyboardInterrupt) as error:
        expect("register", failed, error, OSError, "OSError: lost frame")
say("labelled", sextant.label(image > .02, comm=comm).components)  # the communicator is usable
""", 3)
    assert done.stdout.count("labelled") == 3, done.stdout + done.stderr


@pytest.mark.parametrize("interrupted", [0, 1])
def test_an_interrupt_of_one_rank_ends_all(run_script, interrupted):
    done = launch(run_script, PREPARE + f"interrupted = {interrupted}" + """
import os, signal, threading, time


class Long:
    # Its registration takes minutes.
    shape, dtype = (40_000, 256, 256), np.dtype("f4")
    frame = rng.normal(size=(256, 256)).astype("f4")

    def __getitem__(self, index):
        return np.stack([self.frame] * len(range(*index.indices(40_000))))


if rank == interrupted:
    threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
began = time.perf_counter()
try:
    sextant.register(Long(), comm=comm)
    say("not interrupted")
except KeyboardInterrupt:
    say("raised", rank)
say("labelled", sextant.label(image, comm=comm).components)  # the communicator is usable
say("seconds", time.perf_counter() - began)
""", timeout=300)
    assert done.stdout.count("raised") == 4, done.stdout + done.stderr
    assert done.stdout.count("labelled") == 4
    for line in done.stdout.splitlines():
        if line.startswith("seconds"):
            assert float(line.split()[1]) < 90


def test_a_split_communicator(run_script):
    done = launch(run_script, PREPARE + """
half = comm.Split(rank % 2, rank)
found = sextant.label(image > 0.02, comm=half)
counts = comm.gather(found.components)
if rank == 0:
    say("alike", len(set(counts)) == 1 and counts[0] == sextant.label(image > 0.02).components)
half.Free()
""")
    assert "alike True" in done.stdout


def test_a_forked_process_is_refused(run_script):
    done = run_script(PREPARE + """
import os
child = os.fork()
if child == 0:
    try:
        sextant.label(image, comm=comm)
    except sextant.InvalidTask as error:
        say("refused:", error)
    say("components", sextant.label(image > 0).components)  # threads work
    os._exit(0)
os.waitpid(child, 0)
""")
    assert "refused: this process was forked" in done.stdout
    assert "components" in done.stdout


def test_communicators_that_are_refused(run_script):
    done = run_script(PREPARE + """
for bad in (MPI.COMM_NULL, 3, "world"):
    try:
        sextant.label(image, comm=bad)
    except sextant.InvalidTask as error:
        say("refused", error)
""")
    assert done.stdout.count("refused") == 3, done.stdout


def test_another_mpi_is_refused(run_script):
    """mpi4py of another MPI is imitated; the library of that MPI is loaded first, if it is installed."""
    other, library = ("MPICH Version: 4.0.2", "libmpich.so.12")
    if sextant._core.mpi_of_build().startswith("MPICH"):
        other, library = ("Open MPI v4.1.4", "libmpi.so.40")
    done = run_script(f"other, library = {other!r}, {library!r}" + """
import ctypes, sys, types
import numpy as np
try:
    ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
except OSError:
    pass
import sextant


class Comm:
    def Get_rank(self):
        return 0


mpi = types.ModuleType("mpi4py.MPI")
mpi.Comm = Comm
mpi.Get_library_version = lambda: other
mpi.Is_initialized = lambda: True
package = types.ModuleType("mpi4py")
package.MPI = mpi
sys.modules.update({"mpi4py": package, "mpi4py.MPI": mpi})
try:
    sextant.label(np.zeros((4, 4)), comm=Comm())
except sextant.InvalidTask as error:
    print(error)
""")
    assert other in done.stdout and sextant._core.mpi_of_build() in done.stdout
