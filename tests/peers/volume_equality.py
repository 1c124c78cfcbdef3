# SPDX-License-Identifier: BSD-3-Clause
# Labels and tables of a volume are the same for every chunking, number of ranks and memory limit, and equal those of
# SciPy. Prints a table of the runs; each entry is the number of slabs of rank 0.
import csv
import json
import os
import sys
import tempfile

from peer import fail, finish, sextant

try:
    import numpy
    import scipy.ndimage
    import zarr
except ImportError:
    print("skipped: needs python3-zarr and python3-scipy (./test --peers installs them)")
    sys.exit(77)

whole = len(sys.argv) > 1 and sys.argv[1] == "all"
chunkings = [(64, 64, 64), (16, 128, 32), (150, 97, 113), (1, 97, 113), (7, 5, 113), (33, 50, 40)]
ranks = [1, 2, 3, 7]
memories = [1, 4, 64]  # MiB
shape = (150, 97, 113)


def volume():
    """Smoothed noise with holes, beside independent noise, so that there are large and very many small components."""
    generator = numpy.random.default_rng(26)
    noise = generator.random(shape, numpy.float32)
    smooth = scipy.ndimage.gaussian_filter(noise, 2)
    mask = smooth > numpy.quantile(smooth, .6)
    mask[:, :, 80:] = noise[:, :, 80:] < .2
    return mask.astype("u1"), (1000 * noise).astype("u2")


def renumbered(labels):
    """Labels in the order of first voxels."""
    _, first, inverse = numpy.unique(labels, return_index=True, return_inverse=True)
    order = numpy.argsort(first[1:])
    numbers = numpy.zeros(len(first), "u4")
    numbers[1 + order] = numpy.arange(1, len(first))
    return numbers[inverse].reshape(labels.shape)


def expected(mask, intensity, case):
    structure = scipy.ndimage.generate_binary_structure(3, {6: 1, 18: 2, 26: 3}[case["neighbours"]])
    if case["fill"]:
        dual = scipy.ndimage.generate_binary_structure(3, 3 if case["neighbours"] == 6 else 1)
        mask = scipy.ndimage.binary_fill_holes(mask, dual)
    labels = renumbered(scipy.ndimage.label(mask, structure)[0])
    sizes = numpy.bincount(labels.ravel())
    labels[(sizes < case["least"])[labels]] = 0
    labels = renumbered(labels)
    count = labels.max()
    index = numpy.arange(1, count + 1)
    boxes = scipy.ndimage.find_objects(labels)
    return labels, {
        "voxels": numpy.bincount(labels.ravel())[1:],
        "z": [box[0].start for box in boxes], "height": [box[1].stop - box[1].start for box in boxes],
        "x": [box[2].start for box in boxes],
        "centroid": numpy.array(scipy.ndimage.center_of_mass(labels > 0, labels, index)),
        "sum": scipy.ndimage.sum_labels(intensity, labels, index),
        "mean": scipy.ndimage.mean(intensity, labels, index),
        "minimum": scipy.ndimage.minimum(intensity, labels, index),
        "maximum": scipy.ndimage.maximum(intensity, labels, index),
    }


def check_table(path, table, what):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    column = {name: numpy.array([float(row[name]) for row in rows]) for name in rows[0]}
    column["centroid"] = numpy.stack([column["centroid_" + axis] for axis in "zyx"], 1)
    for name, values in table.items():
        if len(column[name]) != len(values) or not numpy.allclose(column[name], values, rtol=1e-12, atol=1e-12):
            fail("%s: %s differs from SciPy" % (what, name))


os.chdir(tempfile.mkdtemp())
mask, intensity = volume()
numpy.save("intensity.npy", intensity)
for at, chunks in enumerate(chunkings):
    zarr.open("volume%d.zarr" % at, mode="w", shape=shape, chunks=chunks, dtype="u1")[:] = mask
cases = [{"neighbours": 26, "fill": False, "least": 1}]
if whole:
    cases += [{"neighbours": 6, "fill": True, "least": 1}, {"neighbours": 18, "fill": False, "least": 5}]
runs = 0
for case in cases:
    labels, table = expected(mask, intensity, case)
    print("%d neighbours%s, at least %d voxels: %d components" %
          (case["neighbours"], ", holes filled" if case["fill"] else "", case["least"], labels.max()))
    print("%-14s" % "chunks" + "".join("%16s" % ("%d ranks" % rank) for rank in ranks) +
          "    (slabs at %s MiB)" % ", ".join(map(str, memories)))
    first = None
    for at, chunks in enumerate(chunkings):
        entries = []
        for rank in ranks:
            slabs = []
            for memory in memories:
                what = "chunks %s, %d ranks, %d MiB" % (chunks, rank, memory)
                if not sextant("label", "volume%d.zarr" % at, "-o", "labels.zarr", "--zarr", "2", "--table", "table.csv",
                               "--intensity", "intensity.npy", "--neighbours", str(case["neighbours"]),
                               "--min-size", str(case["least"]), "--ranks", str(rank), "--memory", str(memory),
                               "--json", "run.json", *["--fill-holes"] * case["fill"]):
                    continue
                runs += 1
                slabs.append(json.load(open("run.json"))["slabs"])
                if not numpy.array_equal(zarr.open("labels.zarr/0", mode="r")[:], labels):
                    fail("%s: labels differ from SciPy" % what)
                content = open("table.csv", "rb").read()
                if first is None:
                    first = content
                    check_table("table.csv", table, what)
                elif content != first:
                    fail("%s: another table" % what)
            entries.append("/".join(map(str, slabs)))
        print("%-14s" % "x".join(map(str, chunks)) + "".join("%16s" % entry for entry in entries))
finish("%d runs" % runs)
