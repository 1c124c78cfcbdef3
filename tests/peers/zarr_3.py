# SPDX-License-Identifier: BSD-3-Clause
# Stores of Zarr version 3, exchanged with zarrita (npm install zarrita): zarrita reads the series that Sextant writes, in
# plain chunks and in shards, and Sextant reads the arrays that zarrita writes. All samples are compared. NODE_MODULES is
# the folder in which npm installed it.
import itertools
import json
import os
import sys
import tempfile

from peer import fail, finish, frames, run

try:
    import numpy
except ImportError:
    print("skipped: needs NumPy")
    sys.exit(77)
modules = os.environ.get("NODE_MODULES", "node_modules")
if not os.path.isdir(modules + "/zarrita"):
    print("skipped: needs zarrita: npm install zarrita, and NODE_MODULES=FOLDER/node_modules")
    sys.exit(77)
types = {"u1": "uint8", "i1": "int8", "u2": "uint16", "i2": "int16", "u4": "uint32", "i4": "int32", "u8": "uint64",
         "i8": "int64", "f4": "float32", "f8": "float64"}


def zarrita(tasks):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "zarrita.mjs")
    os.environ["NODE_MODULES"] = os.path.abspath(modules)
    answers = run(["node", script], [json.dumps(task) + "\n" for task in tasks])
    return [json.loads(answer) for answer in answers] + [{}] * (len(tasks) - len(answers))


def sample_name(dtype):
    return "%s%d" % (dtype.kind, 8 * dtype.itemsize)


def check_writing(folder):
    generator = numpy.random.default_rng(5)
    shapes = [(1, 1, 1), (1, 300, 70), (5, 33, 47), (130, 40, 50), (66, 256, 300), (1, 3000, 2500)]
    cases = [(types_at, shape) for types_at in types for shape in shapes[:4]]
    cases += [(types_at, shape) for types_at in ("u1", "u2", "f4") for shape in shapes[4:]]
    lines, tasks, arrays = [], [], []
    for number, (kind, shape) in enumerate(cases):
        dtype = numpy.dtype(kind)
        array = numpy.frombuffer(generator.bytes(int(numpy.prod(shape)) * dtype.itemsize), dtype).reshape(shape).copy()
        array[:, : shape[1] // 2] = 0
        path = f"{folder}/{number}.zarr"
        array.tofile(path + ".raw")
        lines.append(f"{path}.raw {path} {sample_name(dtype)} {shape[0]} {shape[2]} {shape[1]}\n")
        tasks.append({"read": path, "to": path + ".read"})
        arrays.append(array if shape[0] > 1 else array[0])
    frames("store-series 3", lines)
    for task, array, found in zip(tasks, arrays, zarrita(tasks)):
        if found.get("shape") != list(array.shape) or found.get("type") != types[sample_type(array)]:
            fail(f"{task['read']}: zarrita finds {found}, expected {array.shape} of {array.dtype}")
        elif numpy.fromfile(task["to"], array.dtype).tobytes() != array.tobytes():
            fail(f"{task['read']}: zarrita reads other samples")
        elif found["ome"]["version"] != "0.5" or len(found["ome"]["multiscales"][0]["axes"]) != array.ndim:
            fail(f"{task['read']}: the metadata are {found['ome']}")
    return len(cases)


def sample_type(array):
    return array.dtype.kind + str(array.dtype.itemsize)


def check_reading(folder):
    generator = numpy.random.default_rng(6)
    # zarrita does not encode gzip or shards.
    compressors = [[], [{"name": "zstd", "configuration": {"level": 3, "checksum": False}}],
                   [{"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle",
                                                        "typesize": 2, "blocksize": 0}}]]
    transposes = [[], [{"name": "transpose", "configuration": {"order": [2, 0, 1]}}]]
    tasks, lines, arrays = [], [], []
    for number, (kind, codec, first, order) in enumerate(
            itertools.product(types, compressors, transposes, ("little", "big"))):
        dtype = numpy.dtype(kind)
        shape = (5, 23, 31)
        array = numpy.frombuffer(generator.bytes(int(numpy.prod(shape)) * dtype.itemsize), dtype).reshape(shape)
        path = f"{folder}/made{number}.zarr"
        array.tofile(path + ".raw")
        tasks.append({"write": path, "from": path + ".raw", "type": types[kind], "shape": shape, "chunks": [2, 10, 16],
                      "codecs": [*first, {"name": "bytes", "configuration": {"endian": order}}, *codec]})
        lines.append(f"{path}::0 0 -1 {path}.found\n")
        arrays.append(array)
    zarrita(tasks)
    for task, array, said in zip(tasks, arrays, frames("store-samples", lines)):
        wanted = f"5 23 31 {sample_name(array.dtype)}"
        found = numpy.fromfile(task["write"] + ".found", array.dtype) if said == wanted else numpy.zeros(0, "u1")
        if found.tobytes() != array.tobytes():
            fail(f"{task}: {said}, expected {wanted}")
    return len(tasks)


with tempfile.TemporaryDirectory() as folder:
    read, written = check_reading(folder), check_writing(folder)
finish(f"{read} arrays read, {written} written")
