# SPDX-License-Identifier: BSD-3-Clause
# Headers of NPY files, intact and mutated, read by NumPy and by Sextant: both refuse the same
# headers, and read the same shape and type from images of real numbers.
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy
except ImportError:
    print("skipped: needs python3-numpy (./test --peers installs it)")
    sys.exit(77)

mutations = int(sys.argv[1]) if len(sys.argv) > 1 else 500
whole = "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3, 4), }"
pieces = ["'", '"', ",", "(", ")", "{", "}", ":", " ", "L", "\n", "#", "_", "0", "1", "True", "False",
          "None", "-", "+", ".", "[", "]", "<", ">", "=", "|", "!", "x", "\\", "\t", "\0", "\xe9"]
types = ["<u2", ">u2", "=u2", "|u2", "!u2", "u2", "xf4", "<f4", ">f8", "e", "<H", ">I", "|b1", "?",
         "float32", "<float32", "Float32", "half", "u1", "i8", "f16", "c8", "O", "U4", "S2", "m8[s]",
         "u3", "u02", "u+2", "u 2", "", "<", "<<u2", "f4 ", " f4", "u2,u2", "(2,)u2", "b2", "int", "L"]
shapes = ["(2, 3, 4)", "(3, 4 5)", "(3, 4,)", "(4,)", "()", "(3 4)", "3, 4", "[3, 4]", "(3L, 4L)",
          "(3 L, 4)", "(03, 4)", "(0, 4)", "(-3, -4)", "(+3, 4)", "(3.0, 4)", "(0x3, 4)", "(1_2, 2)",
          "(True, 5)", "((3, 4))", "(3, 4), ", "(3,, 4)", "(, 3)", "('3', 4)", "(3, 99999999999999999999)",
          "(2, 2, 2, 3)", "(1000000, 1000000)", "(3, None)", "(3\n,\n4)", "(3, # rows\n 4)", "(- 3, 4)"]
orders = ["False", "True", "1", "0", "None", "'False'", "false", "(False)", "not False", "True,"]
texts = ["{'descr': '%s', 'fortran_order': False, 'shape': (2, 3, 4)}" % t for t in types]
texts += ["{'descr': '<u2', 'fortran_order': False, 'shape': %s}" % s for s in shapes]
texts += ["{'descr': '<u2', 'fortran_order': %s, 'shape': (3, 4)}" % o for o in orders]
texts += [whole, whole.replace("'", '"'), whole.replace("'descr'", '"""descr"""'), " \t" + whole,
          whole.replace("'descr'", "u'descr'"), whole.replace("'<u2'", "b'<u2'"), whole + "x",
          whole.replace("'<u2'", "'<' 'u2'"), whole + " # end", whole + "\n\n", "[" + whole + "]",
          whole.replace("}", "'more': 1}"), whole.replace("'descr': '<u2', ", ""), "", "{}", "{,}",
          whole.replace("'<u2'", "[('a', '<u2'), ('b', '<f4')]"), whole.replace("}", "'descr': '<f4'}"),
          "dict(descr='<u2', fortran_order=False, shape=(3, 4))", whole + " " * 10000]


def mutated(text, chance):
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(text) + 1)
        kind = chance.randrange(4)
        if kind == 0:
            text = text[:at] + chance.choice(pieces) + text[at:]
        elif kind == 1:
            text = text[:at] + text[at + 1:]
        elif kind == 2:
            text = text[:at] + chance.choice(pieces) + text[at + 1:]
        else:
            to = chance.randrange(len(text) + 1)
            text = text[:at] + text[to:to + chance.randint(1, 6)] + text[at:]
    return text


def written(path, text, version):
    encoded = (text + "\n").encode("utf-8" if version[0] == 3 else "latin-1")
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY" + bytes(version))
        file.write(struct.pack("<H" if version[0] == 1 else "<I", len(encoded)) + encoded)
        file.write(bytes(range(256)) * 4)


def by_numpy(path):
    """The shape and type of an image of real numbers, or why there is none."""
    try:
        numpy.load(path, mmap_mode="r")  # refuses negative sides, of which load makes something else
        array = numpy.load(path)
    except Exception as error:
        return "%s: %s" % (type(error).__name__, error)
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        return "not real numbers"
    if array.ndim < 2 or array.size == 0 or (array.ndim > 3 and not array.flags.c_contiguous):
        return "not an image"
    bits = {"b": "u"}.get(array.dtype.kind, array.dtype.kind) + str(8 * array.dtype.itemsize)
    rows, columns = array.shape[-2:]
    return {"frames": array.size // rows // columns, "width": columns, "height": rows, "samples": bits}


def by_sextant(path):
    run = subprocess.run([os.environ["SEXTANT"], "info", path, "--json"], capture_output=True, timeout=60)
    if run.returncode == 0:
        found = json.loads(run.stdout)
        return {key: found[key] for key in ("frames", "width", "height", "samples")}
    one_line = run.stderr.count(b"\n") == 1 and b"json.exception" not in run.stderr
    return run.stderr.decode() if run.returncode == 1 and one_line else "FAILED: %r" % run.stderr


warnings.simplefilter("ignore")
chance = random.Random(2026)
cases = [(text, version) for text in texts for version in ((1, 0), (3, 0))]
cases += [(whole, version) for version in ((2, 0), (0, 0), (1, 1), (2, 1), (3, 1), (4, 0))]
cases += [(mutated(chance.choice(texts), chance), (chance.choice((1, 2, 3)), 0)) for _ in range(mutations)]
wrong = taken = 0
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "case.npy")
    for text, version in cases:
        written(path, text, version)
        theirs, ours = by_numpy(path), by_sextant(path)
        same = theirs == ours if isinstance(theirs, dict) else isinstance(ours, str)
        taken += isinstance(theirs, dict)
        if not same or str(ours).startswith("FAILED"):
            wrong += 1
            print("version %s, %r\n  NumPy: %s\n  here:  %s" % (version, text[:200], theirs, ours))
print("%d headers, of which NumPy reads %d as images; %d read otherwise here" % (len(cases), taken, wrong))
sys.exit(1 if wrong else 0)
