# SPDX-License-Identifier: BSD-3-Clause
# Stores of Zarr version 2, exchanged with zarr: Sextant reads the arrays that zarr writes, of random types,
# orders, compressors and shapes, with missing chunks, and zarr reads those that Sextant writes. All samples are
# compared.
import itertools
import os
import random
import sys
import tempfile
import warnings

import peer
from peer import fail, finish

try:
    import numcodecs
    import numpy
    import zarr
except ImportError:
    print("skipped: needs python3-zarr (./test --peers installs it)")
    sys.exit(77)

warnings.simplefilter("ignore")
arrays = int(sys.argv[1]) if len(sys.argv) > 1 else 300
chance = random.Random(2027)
types = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "b1"]
codecs = [None, numcodecs.Zlib(3), numcodecs.GZip(3), numcodecs.Zstd(3)]
codecs += [numcodecs.Blosc(cname, level, shuffle) for cname in ("blosclz", "lz4", "lz4hc", "zlib", "zstd")
           for level in (0, 1, 9) for shuffle in (0, 1, 2)]


def frames(verb, lines):
    found = peer.frames(verb, lines)
    if verb == "store-samples" and len(found) != len(lines):
        fail("%s: %d series, expected %d" % (verb, len(found), len(lines)))
    return found


def values(shape, dtype):
    """Values of all bits; runs of equal values, so that compressors find something."""
    count = int(numpy.prod(shape))
    generator = numpy.random.default_rng(chance.randrange(1 << 30))
    raw = generator.integers(0, 256, count * dtype.itemsize, dtype="u1").tobytes()
    flat = numpy.frombuffer(raw, dtype) if dtype.kind != "b" else generator.integers(0, 2, count).astype(bool)
    flat = numpy.where(generator.random(count) < .5, flat, numpy.sort(flat)[::-1].astype(dtype))
    return flat.astype(dtype).reshape(shape)


def fill_value(dtype):
    if dtype.kind == "b":
        return chance.choice([None, True, False])
    if dtype.kind == "f":
        return chance.choice([None, 0, 1.5, -2, float("nan"), float("inf"), -float("inf")])
    info = numpy.iinfo(dtype)
    return chance.choice([None, 0, 7, int(info.min), int(info.max)])


def same(found, expected):
    """Compares bits, so that NaNs are equal to themselves."""
    return found.shape == expected.shape and found.tobytes() == expected.tobytes()


def case(folder, number, dtype, order, separator, codec):
    """An array with some chunks missing; returns the samples that are expected, in native byte order."""
    axes = chance.randint(2, 5)
    shape = tuple(chance.randint(1, 40 if axes < 4 else 9) for _ in range(axes))
    chunks = tuple(chance.randint(1, side + 3) for side in shape)
    fill = fill_value(dtype)
    path = "%s/%d.zarr" % (folder, number)
    array = zarr.open_array(path, "w", shape=shape, chunks=chunks, dtype=dtype, order=order, compressor=codec,
                            fill_value=fill, dimension_separator=separator)
    array[:] = values(shape, dtype)
    stored = [os.path.join(at, name) for at, _, names in os.walk(path) for name in names if not name.startswith(".")]
    for name in stored:
        if chance.random() < .15:
            os.remove(name)
    if fill is None:  # zarr leaves such chunks uninitialised; Sextant reads 0
        array = zarr.open_array(path, "r+")
        expected = numpy.zeros(shape, dtype)
        grid = [range(-(-side // chunk)) for side, chunk in zip(shape, chunks)]
        for position in itertools.product(*grid):
            if os.path.exists(os.path.join(path, separator.join(map(str, position)))):
                block = tuple(slice(i * c, i * c + c) for i, c in zip(position, chunks))
                expected[block] = array[block]
    else:
        expected = zarr.open_array(path, "r")[:]
    return path, expected.astype(dtype.newbyteorder("="))


def check_reading(folder):
    combinations = list(itertools.product(types, "<>", "CF", "./", codecs))
    chance.shuffle(combinations)
    # The first arrays have every type, byte order, order and separator at least once with some codec, and every codec.
    lines, expected = [], []
    for number, (kind, bytes, order, separator, codec) in enumerate(combinations[:arrays]):
        dtype = numpy.dtype(bytes + kind)
        path, array = case(folder, number, dtype, order, separator, codec)
        lines.append("%s 0 -1 %s.raw\n" % (path, path))
        expected.append((path, array, (dtype, order, separator, codec)))
    seen = [set(str(each[i]) for each in combinations[:arrays]) for i in range(5)]
    if arrays >= 300 and [len(each) for each in seen] != [12, 2, 2, 2, len(codecs)]:
        fail("not every type, order and codec was tested: %s" % seen)
    for line, (path, array, what) in zip(frames("store-samples", lines), expected):
        rows, columns = array.shape[-2:]
        dtype = numpy.dtype("u1") if array.dtype.kind == "b" else array.dtype
        name = "%s%d" % (dtype.kind, 8 * dtype.itemsize)
        header = "%d %d %d %s" % (array.size // rows // columns, rows, columns, name)
        found = numpy.fromfile(path + ".raw", dtype) if line == header else None
        if line != header or not same(found, array.astype(dtype).reshape(-1)):
            fail("%s %s: %s, expected %s, samples %s" % (what, open(path + "/.zarray").read(), line, header,
                                                         "differ" if line == header else "not read"))


def check_images(folder):
    """Planes of OME-Zarr, as zarr writes them."""
    planes = numpy.arange(2 * 3 * 4 * 11 * 13, dtype="u2").reshape(2, 3, 4, 11, 13)
    group = zarr.open_group(folder + "/ome.zarr", "w")
    group.array("0", planes, chunks=(1, 1, 3, 8, 8), dimension_separator="/")
    group.array("1", planes[..., ::2, ::2])
    group.attrs["multiscales"] = [{"version": "0.4", "axes": [{"name": name} for name in "tczyx"],
                                   "datasets": [{"path": "0"}, {"path": "1"}]}]
    every = list(itertools.product(range(3), range(4)))
    name = folder + "/ome.zarr"
    lines = ["%s %d %d %s.%d.%d.raw\n" % (name, c, z, name, c, z) for c, z in every]
    for line, (c, z) in zip(frames("store-samples", lines), every):
        found = numpy.fromfile("%s.%d.%d.raw" % (name, c, z), "u2")
        if line != "2 11 13 u16" or not same(found, planes[:, c, z].reshape(-1)):
            fail("channel %d, slice %d of OME-Zarr: %s" % (c, z, line))


def check_writing(folder):
    lines, expected = [], []
    shapes = [(1, 1, 1), (1, 300, 70), (5, 33, 47), (130, 40, 50), (64, 256, 300), (3, 1, 4000), (2, 4000, 1)]
    for number, (kind, shape) in enumerate(itertools.product(types[:-1], shapes)):
        dtype = numpy.dtype(kind)
        array = values(shape, dtype)
        array[:, : shape[1] // 2] = 0
        path = "%s/written%d.zarr" % (folder, number)
        array.tofile(path + ".raw")
        name = "%s%d" % (dtype.kind, 8 * dtype.itemsize)
        lines.append("%s.raw %s %s %d %d %d\n" % (path, path, name, shape[0], shape[2], shape[1]))
        expected.append((path, array if shape[0] > 1 else array[0]))
    frames("store-series 2", lines)
    for path, array in expected:
        group = zarr.open_group(path, "r")
        found = group["0"]
        if found.compressor != numcodecs.Zstd(1) or list(group.arrays())[0][0] != "0" or found.dtype != array.dtype:
            fail("%s: zarr finds %s" % (path, found.info))
        if not same(found[:], array):
            fail("%s: zarr reads other samples: %s" % (path, found.info))
        axes = group.attrs["multiscales"][0]["axes"]
        if len(axes) != array.ndim:
            fail("%s: %d axes, expected %d" % (path, len(axes), array.ndim))


with tempfile.TemporaryDirectory() as folder:
    check_reading(folder)
    check_images(folder)
    check_writing(folder)
finish("%d arrays read" % arrays)
