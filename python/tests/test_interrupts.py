# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C ends long calls, and the GIL is released while they run."""
import os
import signal
import threading
import time

import numpy as np
import pytest

import sextant

# The limit for a loaded machine, in seconds. Uninterrupted, each call takes minutes.
PROMPT = 60.0


def interrupted(call, after=.3):
    """The time from SIGINT to KeyboardInterrupt in `call`."""
    timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
        return time.perf_counter() - timer_began(timer) - after
    finally:
        timer.cancel()
        timer.join()


def timer_began(timer):
    return timer.began


class Timer(threading.Timer):
    """Notes when it starts."""

    def start(self):
        self.began = time.perf_counter()
        super().start()


threading.Timer = Timer


@pytest.fixture(scope="module")
def long_series():
    """A series whose registration takes minutes."""
    class Series:
        shape, dtype = (20_000, 256, 256), np.dtype("f4")
        image = np.random.default_rng(0).normal(size=(256, 256)).astype("f4")

        def __getitem__(self, index):
            return np.stack([self.image] * len(range(*index.indices(20_000))))
    return Series()


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_registration_is_interrupted(long_series, ranks):
    assert interrupted(lambda: sextant.register(long_series, ranks=ranks)) < PROMPT


def test_a_registration_of_arrays_is_interrupted():
    series = np.random.default_rng(0).integers(0, 256, (4000, 256, 256), "u1")
    assert interrupted(lambda: sextant.register(series, ranks=1, threads=2)) < PROMPT


class Ignored:
    """An array of results that nobody reads."""

    def __init__(self, *shape, dtype="f4"):
        self.shape, self.dtype = shape, np.dtype(dtype)

    def __setitem__(self, index, values):
        pass


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("shape, call", [
    ((8192, 1024, 1024), lambda volume, ranks: sextant.label(
        volume, out=Ignored(*volume.shape, dtype="u4"), ranks=ranks)),
    ((8192, 1024, 1024), lambda volume, ranks: sextant.measure(volume, ranks=ranks)),
    ((8192, 256, 256), lambda volume, ranks: sextant.filter(
        volume, 9, derivatives="hessian-1", out=Ignored(*volume.shape), ranks=ranks)),
    ((8192, 1024, 1024), lambda volume, ranks: sextant.stitch(
        volume, block=(1, 0, 0), out=Ignored(*volume.shape, dtype="u4"), ranks=ranks))])
def test_a_call_for_a_volume_is_interrupted(shape, call, ranks):
    class Volume:
        dtype = np.dtype("u1")
        plane = np.random.default_rng(0).integers(0, 2, shape[1:]).astype("u1")

        def __getitem__(self, index):
            return np.stack([self.plane] * len(range(*index.indices(shape[0]))))
    Volume.shape = shape
    assert interrupted(lambda: call(Volume(), ranks=ranks)) < PROMPT


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_filter_is_interrupted(ranks):
    class Image:
        shape, dtype = (3_000_000, 1000), np.dtype("f4")

        def __getitem__(self, index):
            return np.zeros((len(range(*index.indices(3_000_000))), 1000), "f4")
    out = Ignored(5, *Image.shape)
    assert interrupted(lambda: sextant.filter(Image(), sigma=20, out=out, ranks=ranks)) < PROMPT


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("shape", [(2000, 1000), (200, 2000)])
def test_a_filter_of_large_sigma_is_interrupted(ranks, shape):
    image = np.ones(shape, "f4")
    assert interrupted(lambda: sextant.filter(image, sigma=1000, truncate=20, ranks=ranks)) < PROMPT


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_filter_is_interrupted_before_its_first_row_of_results(ranks):
    # The rows that this row depends on take nearly all of the time, which is about a second.
    def call():
        sextant.filter(np.ones((1, 32), "f4"), sigma=1000, truncate=8, ranks=ranks)

    def seconds():
        began = time.perf_counter()
        call()
        return time.perf_counter() - began
    # Each can be delayed by other programs; without the check, none is faster than the whole call.
    whole = min(seconds() for _ in range(2))
    for _ in range(20):
        if whole - .1 > 2 * interrupted(call, after=.1):
            return
    pytest.fail("the call is interrupted only after its first row")


# Calls, and the least number of samples that each goes through.
SIDE = 1024
PIXELS = SIDE * SIDE
DOTS = (np.random.default_rng(0).random((2 * SIDE, 2 * SIDE)) < .25).astype("u1")
CROWDED = np.arange(1, 16 * 256 * 256 + 1, dtype="u4").reshape(16, 256, 256)
FINE = {
    "contours": (lambda image, volume: sextant.contours(image, ranks=2), 6 * PIXELS),
    "contours in strips": (lambda image, volume: sextant.contours(image, memory="40M"), 6 * PIXELS),
    "canny": (lambda image, volume: sextant.canny(image, ranks=1), 5 * PIXELS),
    "label": (lambda image, volume: sextant.label(Lazy(image > 0), ranks=2), 2 * PIXELS),
    "label in tiles": (lambda image, volume: sextant.label(image, grid=(2, 1)), 2 * PIXELS),
    # Each component and each label is work, besides that for samples.
    "label of many components": (lambda image, volume: sextant.label(
        DOTS, neighbours=4, grid=(2, 1)), 26 * PIXELS),
    "label, by value": (lambda image, volume: sextant.label(image, by_value=True), PIXELS),
    "label of a volume": (lambda image, volume: sextant.label(volume, measure=True), 2 * PIXELS),
    "label with holes": (lambda image, volume: sextant.label(volume, fill_holes=True), 2 * PIXELS),
    "measure": (lambda image, volume: sextant.measure((image > 0).astype("u1")), PIXELS),
    "measure of a volume": (lambda image, volume: sextant.measure(volume), 2 * PIXELS),
    "stitch": (lambda image, volume: sextant.stitch(volume, block=(1, 0, 0)), PIXELS),
    "composite": (lambda image, volume: sextant.composite(
        np.zeros((2, 2 * SIDE, 2 * SIDE, 4), "f4")), 4 * PIXELS),
    "stitch of many labels": (lambda image, volume: sextant.stitch(
        CROWDED, block=(8, 0, 0), ranks=2), 39 * PIXELS),
    "filter": (lambda image, volume: sextant.filter(image, 2, ranks=1), 9 * PIXELS),
    "filter in windows": (lambda image, volume: sextant.filter(Lazy(image), 2, ranks=2), 9 * PIXELS),
    "filter of a volume": (lambda image, volume: sextant.filter(volume, 2, derivatives="x"),
                           9 * PIXELS),
    "features": (lambda image, volume: sextant.features(image, sigma=2), 9 * PIXELS),
    **{f"register, {model}, {ranks} ranks": (
        lambda image, volume, model=model, ranks=ranks: sextant.register(
            np.stack([image, image[::-1], image]), model=model, ranks=ranks), 6 * PIXELS)
       for model in ("translation", "rigid", "affine", "nonrigid") for ranks in (1, 2)},
    "synthesize": (lambda image, volume: sextant.synthesize(frames=2, width=SIDE, height=SIDE),
                   100 * PIXELS),
    "simulate": (lambda image, volume: sextant.simulate(
        "compositing", algorithm="direct-send", ranks=64, clock=True, platform="fat-tree-144-calibrated"),
        64 * 4096),
}


class Lazy:
    """An array that is read in parts."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __getitem__(self, index):
        return self.array[index]


def times_asked():
    from sextant import _core
    return _core.times_asked()


@pytest.mark.parametrize("name", FINE)
def test_long_work_asks_often_whether_it_is_interrupted(name):
    call, samples = FINE[name]
    rng = np.random.default_rng(0)
    image = np.cumsum(rng.normal(size=(SIDE, SIDE)), axis=1).astype("f4")
    volume = (rng.random((16, SIDE // 4, SIDE // 4)) < .2).astype("u1")
    before = times_asked()
    call(image, volume)
    assert times_asked() - before >= samples >> 16


def test_a_synthesis_is_interrupted(run_script):
    done = run_script("""
import os, signal, threading
import sextant
threading.Timer(.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    sextant.synthesize(frames=10, width=8192, height=8192)  # takes minutes
except KeyboardInterrupt:
    print("interrupted")
""")  # run_script has a time limit
    assert done.stdout == "interrupted\n"


@pytest.mark.parametrize("threads", [1, 2])
def test_a_scan_is_interrupted(threads):
    def op(left, right):
        time.sleep(.02)
        return left + right
    assert interrupted(lambda: sextant.scan(range(5000), op, threads=threads)) < PROMPT


def test_calls_work_after_an_interrupt(long_series, movie):
    interrupted(lambda: sextant.register(long_series, ranks=2))
    assert sextant.register(movie).frames["registered"].all()


def test_a_handler_that_raises_something_else(long_series):
    class Stop(Exception):
        pass

    def handler(number, frame):
        raise Stop
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        timer = threading.Timer(.2, os.kill, (os.getpid(), signal.SIGUSR1))
        timer.start()
        with pytest.raises(Stop):
            sextant.register(long_series, ranks=2)
        timer.join()
    finally:
        signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize("prepare, call", [
    (lambda movie: np.tile(movie, (10, 2, 2)), lambda series: sextant.register(series, ranks=1)),
    (lambda movie: np.zeros((3000, 3000), "f4"),
     lambda image: sextant.filter(image, sigma=9, ranks=1)),
    (lambda movie: np.ones((5000, 5000), "u1"), lambda image: sextant.label(image, ranks=1)),
])
def test_other_threads_run_meanwhile(movie, prepare, call):
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(.001)
    thread = threading.Thread(target=count, daemon=True)
    thread.start()
    argument, most, end = prepare(movie), 0, time.perf_counter() + 60
    try:
        # On a loaded machine the thread may run too rarely during one call.
        while most < 10 and time.perf_counter() < end:
            before = counted[0]
            call(argument)
            most = max(most, counted[0] - before)
    finally:
        stop.set()
        thread.join()
    assert most >= 10  # with the GIL held, the thread would count once


DAEMONS = {
    "register": "sextant.register(Series(), ranks=1)",
    "register_ranks": "sextant.register(Series(), ranks=2, progress=lambda *progress: None)",
    "filter": "sextant.filter(image, sigma=9, ranks=1)",
    "filter_ranks": "sextant.filter(image, sigma=9, ranks=2)",
    "label": "sextant.label(image > 0)",
    "scan": "sextant.scan(range(10000), lambda a, b: (time.sleep(.001), a)[1])",
    "scan_threads": "sextant.scan(range(10000), lambda a, b: (time.sleep(.001), a)[1], threads=2)",
    "composite": "sextant.composite(np.zeros((4, 500, 500, 4), 'f4'))",
    "apply": "sextant.apply(found, movie)",
    "read": "series[1]",
    "explain": "sextant.explain(ranks=64, machine='das')",
}


@pytest.mark.parametrize("call", DAEMONS)
def test_the_interpreter_ends_while_a_daemon_thread_is_in_a_call(run_script, tmp_path, call):
    np.save(tmp_path / "movie.npy", np.zeros((3, 500, 500)))
    done = run_script(f"""
import threading, time
import numpy as np
import sextant


class Series:
    shape, dtype = (4000, 128, 128), np.dtype("f4")
    frame = np.random.default_rng(0).normal(size=(128, 128)).astype("f4")

    def __getitem__(self, index):
        return np.stack([self.frame] * len(range(*index.indices(4000))))


image = np.random.default_rng(0).normal(size=(1500, 1500)).astype("f4")
movie = np.stack([image[k:k + 256, :256] for k in range(0, 8, 2)])
found = sextant.register(movie)
series = sextant.open_series("{tmp_path}/movie.npy")


def work():
    while True:
        {DAEMONS[call]}


threading.Thread(target=work, daemon=True).start()
time.sleep(.5)
""")
    assert done.stderr == ""


def test_calls_at_exit_work(run_script):
    done = run_script("""
import atexit
import numpy as np


def at_exit():
    print(sextant.label(np.eye(5)).components)


atexit.register(at_exit)
import sextant
""")
    assert done.stdout == "1\n"


def test_a_process_that_was_forked_during_a_call_ends(run_script):
    done = run_script("""
import os, threading, time
import numpy as np
import sextant
image = np.zeros((2000, 2000), "f4")
thread = threading.Thread(target=lambda: sextant.filter(image, sigma=50, ranks=1))
thread.start()
time.sleep(.1)
if os.fork() > 0:
    os.wait()
    print("ended")
    thread.join()
""")  # run_script has a time limit
    assert done.stdout == "ended\n"


def test_two_threads_register_different_series(movie):
    expected = [sextant.register(series, reproducible=True, ranks=1, threads=1).motions
                for series in (movie, movie[::-1])]
    found = [None, None]

    def run(k, series):
        found[k] = sextant.register(series, reproducible=True, ranks=1, threads=1).motions
    for _ in range(5):
        threads = [threading.Thread(target=run, args=(k, series))
                   for k, series in enumerate((movie, movie[::-1]))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for mine, theirs in zip(found, expected):
            np.testing.assert_array_equal(mine, theirs)
