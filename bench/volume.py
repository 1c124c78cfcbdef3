# SPDX-License-Identifier: BSD-3-Clause
# Labelling of volumes.
#
#   volume.py large [SIDE]   a cube of balls in Zarr (64x64x64 chunks, blosc with lz4) is labelled, measured and written
#                            to Zarr within 600 MiB; compared with only reading and writing the same chunks
#   volume.py peers [SIDE]   labelling and measuring of blobs and of noise on one core, compared with SciPy and, if it is
#                            installed, scikit-image; medians of alternating rounds
#   volume.py ranks [SIDE]   one rank compared with two, from Zarr to Zarr, one thread each; medians of alternating rounds
#
# SEXTANT names the command; files are written to the current folder.
import concurrent.futures
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time

import numcodecs
import numpy
import zarr

sextant = os.environ.get("SEXTANT", "sextant")
chunk = 64
numcodecs.blosc.use_threads = False


def make_balls(name, side):
    """One ball of random radius (3 to 15 voxels) and centre in most cells of 32x32x32 voxels."""
    cell = 32
    array = zarr.open(name, mode="w", shape=(side,) * 3, chunks=(chunk,) * 3, dtype="u1",
                      compressor=numcodecs.Blosc("lz4", clevel=5, shuffle=0))
    z, y, x = numpy.ogrid[:cell, :cell, :cell]
    for layer in range(side // chunk):
        generator = numpy.random.default_rng([26, layer])
        planes = numpy.zeros((chunk, side, side), "u1")
        for a in range(0, chunk, cell):
            for b in range(0, side, cell):
                for c in range(0, side, cell):
                    if generator.random() < .2:
                        continue
                    radius = generator.uniform(3, 15)
                    centre = generator.uniform(radius, cell - radius, 3)
                    ball = (z - centre[0]) ** 2 + (y - centre[1]) ** 2 + (x - centre[2]) ** 2 <= radius ** 2
                    planes[a:a + cell, b:b + cell, c:c + cell][ball] = generator.integers(1, 256)
        array[layer * chunk:(layer + 1) * chunk] = planes


def label(*words, cores=None):
    command = ["taskset", "-c", cores] * bool(cores) + [sextant, "label", *words, "--json", "run.json"]
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - begin
    with open("run.json") as file:
        return seconds, json.load(file)


def copy(source, target):
    """Decodes every chunk, widens it to 32 bits, and stores it with zstd, on two threads."""
    array = zarr.open(source, mode="r")
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    compressor = numcodecs.Zstd(1)

    def one(name):
        with open(os.path.join(source, name), "rb") as file:
            samples = numpy.frombuffer(array.compressor.decode(file.read()), "u1")
        if samples.any():
            with open(os.path.join(target, name), "wb") as file:
                file.write(compressor.encode(samples.astype("u4")))

    names = [name for name in os.listdir(source) if not name.startswith(".")]
    begin = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(one, names))
    return time.perf_counter() - begin


def large(side):
    source = "balls%d.zarr" % side
    if not os.path.exists(source):
        make_balls(source, side)
    seconds, run = label(source, "-o", "labels.zarr", "--table", "balls.csv", "--memory", "600M", "--report", "page.html")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print("%d components, %d bits: %.0f s, %.0f MiB at the peak; %s" %
          (run["components"], run["label_bits"], seconds, peak, run["reason"]))
    print("read %(read).1f s  label %(label).1f s  write %(write).1f s" % run["seconds"])
    print("only reading and writing the same chunks: %.0f s" % copy(source, "copy"))


def peers(side, rounds=3):
    import scipy.ndimage
    try:
        import skimage.measure
    except ImportError:
        skimage = None
    os.sched_setaffinity(0, {0})
    generator = numpy.random.default_rng(1)
    noise = generator.random((side,) * 3, numpy.float32)
    smooth = scipy.ndimage.gaussian_filter(noise, 3)
    volumes = {"blobs": smooth > numpy.quantile(smooth[::8, ::8, ::8], .8), "noise": noise < .3}
    for name, mask in volumes.items():
        numpy.save(name + ".npy", mask.astype("u1"))
        for neighbours, rank in [(6, 1), (26, 3)]:
            structure = scipy.ndimage.generate_binary_structure(3, rank)
            times = {}

            def timed(what, function):
                begin = time.perf_counter()
                result = function()
                times.setdefault(what, []).append(time.perf_counter() - begin)
                return result

            for _ in range(rounds):
                words = [name + ".npy", "-o", "labels.npy", "--neighbours", str(neighbours), "--memory", "4G"]
                run = label(*words, cores="0")[1]
                times.setdefault("sextant", []).append(run["seconds"]["label"] + run["seconds"]["write"])
                labels, count = timed("scipy", lambda: scipy.ndimage.label(mask, structure))
                if skimage:
                    timed("skimage", lambda: skimage.measure.label(mask, connectivity=rank))
                if count != run["components"]:
                    sys.exit("%d components, SciPy finds %d" % (run["components"], count))
                measured = label(*words, "--table", "table.csv", cores="0")[1]
                times.setdefault("measured", []).append(measured["seconds"]["label"] + measured["seconds"]["write"])
            median = {what: statistics.median(values) for what, values in times.items()}
            print("%s, %d neighbours, %d components: " % (name, neighbours, count) +
                  ", ".join("%s %.0f MVox/s" % (what, side ** 3 / 1e6 / value) for what, value in median.items()) +
                  "; SciPy takes %.1f times as long" % (median["scipy"] / median["sextant"]))


def ranks(side, rounds=5):
    source = "balls%d.zarr" % side
    if not os.path.exists(source):
        make_balls(source, side)
    times = {1: [], 2: []}
    for _ in range(rounds):
        for count in (1, 2):
            times[count].append(label(source, "-o", "labels.zarr", "--table", "balls.csv", "--ranks", str(count),
                                      cores="0" if count == 1 else "0,1")[0])
    ratios = [one / two for one, two in zip(times[1], times[2])]
    print("one rank on one core %.2f s, two ranks on two cores %.2f s: %.2f times (%.2f to %.2f)" %
          (statistics.median(times[1]), statistics.median(times[2]), statistics.median(ratios), min(ratios), max(ratios)))


if __name__ == "__main__":
    kind = sys.argv[1] if len(sys.argv) > 1 else ""
    if kind not in ("large", "peers", "ranks"):
        sys.exit("usage: volume.py large|peers|ranks [SIDE]")
    side = int(sys.argv[2]) if len(sys.argv) > 2 else {"large": 2048, "peers": 512, "ranks": 512}[kind]
    {"large": large, "peers": peers, "ranks": ranks}[kind](side)
