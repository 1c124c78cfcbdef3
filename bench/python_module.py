#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares functions of the Python module with those of SciPy, OpenCV and hyperspy.

    PYTHONPATH=build/release/python OMP_NUM_THREADS=1 python3 bench/python_module.py [hyperspy]

Method: CPU times of the process, which other programs disturb less than wall-clock times. The two
sides of a comparison alternate within one run, and write to arrays that exist already, so that
neither pays for new memory. The first call of each is not counted. The table states medians and
the quartiles of the ratios of neighbouring calls.
"""
import sys
import time

import numpy as np
from scipy import ndimage

import sextant


def cpu(function):
    """CPU seconds of a call."""
    began = time.process_time()
    function()
    return time.process_time() - began


def compare(what, ours, theirs, name, runs=15):
    """Prints the medians of both, and the ratio."""
    ours()
    theirs()
    pairs = np.array([(cpu(ours), cpu(theirs)) for _ in range(runs)])
    mine, other = np.median(pairs, axis=0)
    low, middle, high = np.percentile(pairs[:, 0] / pairs[:, 1], (25, 50, 75))
    print(f"| {what} | {1e3 * mine:.1f} | {name} {1e3 * other:.1f} | {middle:.3f} "
          f"| [{low:.3f}, {high:.3f}] |")


def overhead(what, function, work=None, calls=3000):
    """Prints the median CPU time of a call on a tiny input, and of the `work` that it includes."""
    def time_of(part):
        part()
        return np.median([cpu(lambda: [part() for _ in range(calls // 10)])
                          for _ in range(10)]) / (calls // 10)
    seconds = time_of(function)
    included = f"of which the work {1e6 * time_of(work):.1f} µs" if work else ""
    print(f"| {what}, overhead | {1e6 * seconds:.1f} µs | {included} | | |")


def edge_work(name, options, image):
    """The work of canny() or contours() in C++, with prepared arguments."""
    from sextant import _core
    from sextant.images import _prepare
    frames, number, threads = _prepare(image, None, None, None, 1, {}, None)
    chosen = options({})
    return lambda: getattr(_core, name)(frames, number, chosen, None, threads, None)


def labels():
    """Labels of a random image of 4096 x 4096 pixels."""
    rng = np.random.default_rng(11)
    image = (ndimage.gaussian_filter(rng.normal(size=(4096, 4096)), 2) > .05).astype("u1")
    out, other = np.empty(image.shape, "i4"), np.empty(image.shape, "i4")

    def ours():
        sextant.label(image, out=out)
    compare("label 4096²", ours, lambda: ndimage.label(image, np.ones((3, 3)), other), "SciPy", 7)
    assert np.array_equal(out, other)
    try:
        import cv2
    except ImportError:
        return
    cv2.setNumThreads(1)
    compare("label 4096²", ours, lambda: cv2.connectedComponents(image, other), "OpenCV")


def filters():
    """Five Gaussian derivatives of 2048 x 2048 pixels."""
    image = np.random.default_rng(1).normal(size=(2048, 2048)).astype("f4")
    out, other = np.empty((5, 2048, 2048), "f4"), np.empty((5, 2048, 2048), "f4")
    orders = [(0, 1), (1, 0), (0, 2), (1, 1), (2, 0)]

    def scipy():
        for plane, order in zip(other, orders):
            ndimage.gaussian_filter(image, 2, order=order, truncate=4, mode="nearest", output=plane)
    compare("filter 2048², five derivatives",
            lambda: sextant.filter(image, sigma=2, truncate=4, out=out, ranks=1), scipy, "SciPy", 5)
    assert abs(out - other).max() < 1e-5


def series(count, size, noise):
    """A drifting series, and its motions."""
    rng = np.random.default_rng(5)
    image = ndimage.gaussian_filter(rng.normal(size=(size + 160, size + 160)), 2)
    image /= image.std()
    motions = np.clip(np.cumsum(rng.normal(scale=1.2, size=(count, 2)), axis=0), -70, 70)
    spectrum = np.fft.fftn(image)
    frames = [np.fft.ifftn(ndimage.fourier_shift(spectrum, (ty, tx))).real[80:-80, 80:-80]
              for tx, ty in motions - motions[0]]
    return (np.stack(frames) + noise * rng.normal(size=(count, size, size))).astype("f4"), (
        motions - motions[0])


def error(found, motions):
    """RMS error in pixels, without the common offset."""
    errors = found - motions
    return np.sqrt(((errors - errors.mean(axis=0)) ** 2).mean())


def hyperspy():
    """A series of 64 frames of 512 x 512 pixels."""
    import hyperspy.api as hs
    frames, motions = series(64, 512, 1.0)
    found = []
    mine = cpu(lambda: found.append(sextant.register(frames, aligned=True)))
    shifts = []

    def align():
        signal = hs.signals.Signal2D(frames.copy())
        shifts.append(signal.estimate_shift2D(sub_pixel_factor=20, show_progressbar=False))
        signal.align2D(shifts=shifts[0], fill_value=np.nan, show_progressbar=False)
    other = cpu(align)
    theirs = min(error(sign * shifts[0][:, ::-1], motions) for sign in (-1, 1))
    print(f"| register 64 x 512² | {1e3 * mine:.0f}, error {error(found[0].motions, motions):.4f} px "
          f"| hyperspy {1e3 * other:.0f}, error {theirs:.4f} px | {mine / other:.3f} | |")


if __name__ == "__main__":
    print("| | CPU ms | compared with, CPU ms | ratio | quartiles |\n|---|---|---|---|---|")
    labels()
    filters()
    tiny, float_tiny = np.eye(16, dtype="u1"), np.eye(16, dtype="f4")
    overhead("label", lambda: sextant.label(tiny))
    overhead("measure", lambda: sextant.measure(tiny))
    overhead("scan", lambda: sextant.scan([1, 2], max))
    overhead("filter, one plane", lambda: sextant.filter(float_tiny, derivatives="smooth"))
    overhead("composite", lambda: sextant.composite(np.zeros((1, 4, 4, 4), "f4")))
    from sextant import _core
    overhead("canny", lambda: sextant.canny(float_tiny),
             edge_work("canny", _core.CannyOptions, float_tiny))
    overhead("contours", lambda: sextant.contours(float_tiny),
             edge_work("contours", _core.ContoursOptions, float_tiny))
    if "hyperspy" in sys.argv[1:]:
        hyperspy()
