# SPDX-License-Identifier: BSD-3-Clause
"""No output replaces a file that is read, or writes to one while it is read."""
import functools
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import conftest
import sextant

SHAPE = (2, 24, 32)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def samples():
    return np.random.default_rng(1).integers(0, 200, SHAPE).astype("i4")


def write_transforms():
    conftest.write_transforms("", [(0, 0, 0)] * SHAPE[0], SHAPE[1:])


def virtual(folder=pathlib.Path()):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "source.h5", "w") as file:
        file["data"] = samples()
    layout = h5py.VirtualLayout(SHAPE, "i4")
    layout[:] = h5py.VirtualSource("source.h5", "data", SHAPE)
    with h5py.File(folder / "image.h5", "w") as file:
        file.create_virtual_dataset("data", layout)
    return "image.h5", "source.h5"


def linked(folder):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "source.h5", "w") as file:
        file["data"] = samples()
    with h5py.File(folder / "image.h5", "w") as file:
        file["data"] = h5py.ExternalLink("source.h5", "/data")
    return "image.h5", "source.h5"


def external(folder):
    h5py = pytest.importorskip("h5py")
    samples().tofile(folder / "source.bin")
    with h5py.File(folder / "image.h5", "w") as file:
        file.create_dataset("data", SHAPE, "i4", external=[("source.bin", 0, samples().nbytes)])
    return "image.h5", "source.bin"


def chunk(folder):
    np.save("plain.npy", samples())
    assert command("label", "plain.npy", "-o", "image.zarr").returncode == 0
    return next(path for path in folder.glob("image.zarr/0/**/*")
                if path.is_file() and path.name != "zarr.json")


def chunk_in_store(folder):
    return "image.zarr", str(chunk(folder))


def chunk_by_link(folder):
    inner = chunk(folder)
    inner.rename(folder / "source.bin")
    inner.symlink_to(folder / "source.bin")
    return "image.zarr", "source.bin"


def folder_by_link(folder):
    inner = chunk(folder)
    (folder / "image.zarr" / "0").rename(folder / "elsewhere")
    (folder / "image.zarr" / "0").symlink_to(folder / "elsewhere")
    return "image.zarr", str(folder / "elsewhere" / inner.relative_to(folder / "image.zarr" / "0"))


def command(*words):
    return subprocess.run([sys.executable, "-m", "sextant", *words], capture_output=True, text=True)


COMMANDS = {
    "label": ("label", "{image}", "-o", "{source}"),
    "table": ("label", "{image}", "-o", "out.npy", "--table", "{source}"),
    "filter": ("filter", "{image}", "--frame", "0", "-o", "{source}"),
    "report": ("filter", "{image}", "--frame", "0", "-o", "out.npy", "--report", "{source}"),
    "contours": ("contours", "{image}", "--frame", "0", "-o", "out.geojson",
                 "--report", "{source}"),
    "measure": ("measure", "{image}", "-o", "{source}"),
    "intensity": ("label", "other.npy", "--intensity", "{image}", "-o", "out.npy", "--table", "{source}"),
    "apply": ("apply", "transforms.json", "{image}", "-o", "{source}"),
    "register": ("register", "{image}", "-o", "out", "--aligned={source}"),
    "stitch": ("stitch", "{image}", "--block", "2,24,16", "-o", "out.npy", "--table", "{source}"),
}


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("kind", [virtual, linked, external, chunk_in_store, chunk_by_link,
                                  folder_by_link])
def test_commands_keep_files_to_which_their_input_refers(folder, kind, words):
    image, source = kind(folder)
    np.save("other.npy", samples())
    write_transforms()
    if words[-2:] in (("-o", "{source}"), ("out", "--aligned={source}")) and kind not in (virtual, linked):
        pytest.skip("the source has not the name of an image")
    before = (folder / source).read_bytes()
    allowed = [] if kind in (virtual, chunk_in_store) else ["--allow-external"]
    done = command(*(word.format(image=image, source=source) for word in words), *allowed)
    assert (folder / source).read_bytes() == before
    assert done.returncode == 2, done.stderr
    assert "is an input" in done.stderr or "is in the input" in done.stderr


def stored(name="image.npy"):
    np.save("image.npy", samples())
    return name


def stored_in_h5py():
    h5py = pytest.importorskip("h5py")
    with h5py.File("image.h5", "w") as file:
        file["data"], file["other"] = samples(), samples()
    return h5py.File("image.h5", "r")["data"]


def stored_in_zarr():
    array = pytest.importorskip("zarr").open_array("image.zarr", mode="w", shape=SHAPE, dtype="i4")
    array[:] = samples()
    return array


def linked_name():
    os.symlink(stored(), "link.npy")
    return "link.npy"


def dask_array():
    return pytest.importorskip("dask.array").from_array(stored_in_h5py(), chunks=(1, 24, 32))


#: Inputs, and the file from which each is read.
INPUTS = {
    "name": (stored, "image.npy"),
    "name in bytes": (lambda: os.fsencode(stored()), "image.npy"),
    "path": (lambda: pathlib.Path(stored()).absolute(), "image.npy"),
    "link": (linked_name, "image.npy"),
    "through a link": (lambda: (linked_name(), "image.npy")[1], "link.npy"),
    "dataset": (lambda: (stored_in_h5py().file.close(), "image.h5::/data")[1], "image.h5"),
    "reference": (lambda: virtual()[0], "source.h5"),
    "series": (lambda: sextant.open_series(stored()), "image.npy"),
    "memmap": (lambda: np.load(stored(), mmap_mode="r"), "image.npy"),
    "view": (lambda: np.asarray(np.load(stored(), mmap_mode="r"))[:, ::1], "image.npy"),
    "frames": (lambda: list(np.load(stored(), mmap_mode="r")), "image.npy"),
    "h5py": (stored_in_h5py, "image.h5"),
    "virtual": (lambda: pytest.importorskip("h5py").File(virtual()[0], "r")["data"], "source.h5"),
    "dask": (dask_array, "image.h5"),
    "zarr": (stored_in_zarr, "image.zarr"),
}


@pytest.mark.parametrize("data, source", INPUTS.values(), ids=INPUTS)
def test_apply_keeps_the_file_that_it_reads(folder, data, source):
    write_transforms()
    data = data()
    before = contents(source)
    for given in (source, os.fsencode(source), pathlib.Path(source), folder / source):
        with pytest.raises(sextant.InvalidTask, match="expected another name"):
            sextant.apply("transforms.json", data, axes="TYX", out=given)
    assert contents(source) == before
    np.save("old.npy", [1])
    assert sextant.apply("transforms.json", data, axes="TYX", out="old.npy") == "old.npy"
    assert np.load("old.npy").shape == SHAPE


def contents(path):
    files = sorted(pathlib.Path(path).glob("**/*")) if os.path.isdir(path) else [pathlib.Path(path)]
    return {file: file.read_bytes() for file in files if file.is_file()}


def test_apply_keeps_its_transforms(folder):
    write_transforms()
    os.symlink("transforms.json", "link.npy")
    with pytest.raises(sextant.InvalidTask, match="that transforms is read from"):
        sextant.apply("transforms.json", samples(), axes="TYX", out="link.npy")


TRANSFORMS = "transforms.json"
FUNCTIONS = {
    "filter": (SHAPE, "f4", lambda data, out: sextant.filter(data, derivatives="smooth", out=out)),
    "label": (SHAPE, "i4", lambda data, out: sextant.label(data, out=out)),
    "intensity": (SHAPE, "i4", lambda data, out: sextant.label(samples(), intensity=data, measure=True,
                                                              neighbours=6, out=out)),
    "stitch": (SHAPE, "u4", lambda data, out: sextant.stitch(data, block=(2, 24, 16), out=out)),
    "register": (SHAPE, "f4", lambda data, out: sextant.register(data, out=out)),
    "apply": (SHAPE, "f4", lambda data, out: sextant.apply(TRANSFORMS, data, out=out)),
    "apply to an array": (SHAPE, "f4", lambda data, out: sextant.apply(TRANSFORMS, data, axes="TYX",
                                                                       out=out)),
    "apply to doubles": (SHAPE, "f8", lambda data, out: sextant.apply(TRANSFORMS, data, out=out)),
    "features": (SHAPE, "f4", lambda data, out: sextant.features(data, "smooth", sigma=(1, 1, 1),
                                                                 out=out)),
}
READERS = {
    "name": lambda: "image.npy",
    "link": lambda: (os.symlink("image.npy", "link.npy"), "link.npy")[1],
    "series": lambda: sextant.open_series("image.npy"),
    "memmap": lambda: np.load("image.npy", mmap_mode="r"),
    "view": lambda: np.asarray(np.load("image.npy", mmap_mode="r+")),
    "dask": lambda: pytest.importorskip("dask.array").from_array(np.load("image.npy", mmap_mode="r"),
                                                                 chunks=(1, 24, 32)),
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize("shape, dtype, call", FUNCTIONS.values(), ids=FUNCTIONS)
def test_the_file_that_is_read_is_not_written_through_a_memmap(folder, shape, dtype, call, read):
    write_transforms()
    np.save("image.npy", samples().astype(dtype))
    before = contents("image.npy")
    out = np.load("image.npy", mmap_mode="r+")
    for given in (out, np.asarray(out), out[:, :, ::-1]):
        with pytest.raises(sextant.InvalidTask, match="out shares memory with"):
            call(read() if not os.path.exists("link.npy") else "link.npy", given)
    out.flush()
    assert contents("image.npy") == before


def test_composite_does_not_write_to_the_file_of_its_images(folder):
    np.save("image.npy", np.ones((2, 8, 8, 4), "f4"))
    images, out = (np.load("image.npy", mmap_mode=mode) for mode in ("r", "r+"))
    with pytest.raises(sextant.InvalidTask, match="out shares memory with images"):
        sextant.composite(images, out=out[0])


def test_datasets_of_h5py_are_not_written_while_they_are_read(folder):
    h5py = pytest.importorskip("h5py")
    with h5py.File(virtual()[0], "r") as image, h5py.File("source.h5", "r+") as source:
        source.create_dataset("smooth", SHAPE, "f4")
        for data, out in ((source["data"], source["data"]), (image["data"], source["data"])):
            with pytest.raises(sextant.InvalidTask, match="out shares memory with image"):
                sextant.filter(data, derivatives="smooth", out=out)
        sextant.filter(source["data"], derivatives="smooth", out=source["smooth"])
        assert source["smooth"][...].any()


def test_parts_of_one_file_that_do_not_overlap_may_be_read_and_written(folder):
    np.save("image.npy", np.stack([samples()[0], samples()[1]]).astype("f4"))
    both = np.load("image.npy", mmap_mode="r+")
    expected = sextant.filter(both[0].copy(), derivatives="smooth").planes[0]
    sextant.filter(both[0], derivatives="smooth", out=both[1])
    np.testing.assert_array_equal(both[1], expected)


class Wrapper:
    """A lazy array of another library."""
    __slots__ = ("_array", "shape", "dtype", "ndim")

    def __init__(self, array):
        self._array, self.shape, self.dtype, self.ndim = array, array.shape, array.dtype, array.ndim

    def __getitem__(self, index):
        return np.asarray(self._array[index])

    def __setitem__(self, index, value):
        self._array[index] = value


class Graph(Wrapper):
    """A lazy array with a graph of objects, as newer versions of dask have it."""
    __slots__ = ()

    def __dask_graph__(self):
        task = type("Task", (), {"__slots__": ("key", "func", "args"), "__module__": "dask._task_spec"})()
        node = type("DataNode", (), {"__slots__": "value", "__module__": "dask._task_spec"})()
        task.func, task.args, node.value = np.asarray, (node,), self._array
        return {("key", 0): task}


class Converted:
    """Something with an array, but without a buffer."""

    def __init__(self, array):
        self._array = array

    def __array__(self, dtype=None, copy=None):
        return self._array


def delayed(function, *given, like, **named):
    """A dask array that a function reads."""
    dask = pytest.importorskip("dask")
    array = pytest.importorskip("dask.array")
    return array.from_delayed(dask.delayed(function)(*given, **named), like.shape, like.dtype)


def dask_of(array, **options):
    return pytest.importorskip("dask.array").from_array(array, chunks=(1, 24, 32), **options)


def read_default(array):
    def read(default=array):
        return default
    return delayed(read, like=array)


def read_global(array):
    space = {"array": array}
    exec("def read():\n    return array", space)
    return delayed(space["read"], like=array)


def zeros(array):
    return pytest.importorskip("dask.array").zeros(array.shape, dtype=array.dtype, chunks=-1)


#: Lazy arrays that read an array in memory.
LAZY = {
    "dask": dask_of,
    "dask inline": lambda array: dask_of(array, inline_array=True),
    "dask of a view": lambda array: dask_of(array[::-1, :, ::-1]),
    "dask of a buffer": lambda array: dask_of(np.asarray(memoryview(array))),
    "computed": lambda array: (dask_of(array) * 1).astype(array.dtype),
    "slices": lambda array: dask_of(array)[::-1, ::-1].rechunk((2, 5, 32)),
    "joined": lambda array: pytest.importorskip("dask.array").stack(
        [dask_of(array)[0], zeros(array)[1]]),
    "persistent": lambda array: dask_of(array).persist(),
    "delayed": lambda array: delayed(np.asarray, array, like=array),
    "in lists": lambda array: delayed(lambda nested: nested[0][1]["key"], [[0, {"key": array}]],
                                      like=array),
    "keyword": lambda array: delayed(lambda a=None: a, a=array, like=array),
    "partial": lambda array: delayed(functools.partial(np.asarray, array), like=array),
    "closure": lambda array: delayed(lambda: array, like=array),
    "default": read_default,
    "global variable": read_global,
    "method": lambda array: delayed(array.__getitem__, slice(None), like=array),
    "map_blocks": lambda array: zeros(array).map_blocks(lambda block, a: block + a, a=array,
                                                        dtype=array.dtype),
    "wrapper": Wrapper,
    "wrapper of a wrapper": lambda array: Wrapper(Wrapper(array)),
    "dask of a wrapper": lambda array: dask_of(Wrapper(array)),
    "wrapper of dask": lambda array: Wrapper(dask_of(array)),
    "graph of objects": Graph,
    "conversion": Converted,
    "list": lambda array: [dask_of(array)[k] for k in range(len(array))],
}


@pytest.mark.parametrize("lazy", LAZY.values(), ids=LAZY)
def test_an_array_is_not_written_while_a_lazy_array_reads_it(folder, lazy):
    write_transforms()
    for name, (shape, dtype, call) in FUNCTIONS.items():
        if isinstance(lazy(samples()), (list, Converted)) and name in ("apply to an array", "stitch"):
            continue  # other kinds of input
        array = samples().astype(dtype)
        before = array.copy()
        for out in (array, array[:], array[::-1, :, ::-1], Wrapper(array)):
            with pytest.raises(sextant.InvalidTask, match="out shares memory with"):
                call(lazy(array), out)
            np.testing.assert_array_equal(array, before, name)


@pytest.mark.parametrize("name", ["filter", "label", "apply", "apply to an array"])
@pytest.mark.parametrize("lazy", LAZY.values(), ids=LAZY)
def test_a_lazy_array_is_read_if_the_output_is_another_array(folder, name, lazy):
    write_transforms()
    shape, dtype, call = FUNCTIONS[name]
    both = np.zeros((2, *shape), dtype)
    both[0] = samples()
    if isinstance(lazy(both[0]), (list, Converted)):
        pytest.skip("other kinds of input")
    expected = np.empty(shape, dtype)
    call(np.array(lazy(both[0])[0:2]), expected)
    call(lazy(both[0]), both[1])
    np.testing.assert_array_equal(both[1], expected)


def test_composite_does_not_write_to_arrays_that_dask_reads():
    array = pytest.importorskip("dask.array")
    images = np.ones((2, 8, 8, 4), "f4")
    for given in (array.from_array(images), list(array.from_array(images))):
        with pytest.raises(sextant.InvalidTask, match="out shares memory with images"):
            sextant.composite(given, out=images[0])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_sources_of_virtual_datasets_are_not_written_while_they_are_read(folder, name):
    h5py = pytest.importorskip("h5py")
    write_transforms()
    shape, dtype, call = FUNCTIONS[name]

    def add_virtual(file, path, source):
        layout = h5py.VirtualLayout(shape, dtype)
        layout[:] = source
        return file.create_virtual_dataset(path, layout)
    os.mkdir("folder")
    with h5py.File("image.h5", "w") as file, h5py.File("other.h5", "w") as other, \
            h5py.File("folder/far.h5", "w") as far:  # its source is found in the working folder
        data = file.create_dataset("data", data=samples().astype(dtype))
        file["link"] = data
        file.create_dataset("free", shape, dtype)
        virtuals = [
            add_virtual(file, "point", h5py.VirtualSource(".", "data", shape)),
            add_virtual(file, "dataset", h5py.VirtualSource(data)),
            add_virtual(file, "named", h5py.VirtualSource("image.h5", "link", shape)),
            add_virtual(file, "again", h5py.VirtualSource(".", "point", shape)),
            add_virtual(other, "outside", h5py.VirtualSource("image.h5", "data", shape)),
            add_virtual(other, "twice", h5py.VirtualSource(".", "outside", shape)),
        ]
        returning = add_virtual(file, "returning", h5py.VirtualSource("other.h5", "twice", shape))
        virtuals.append(add_virtual(far, "far", h5py.VirtualSource("image.h5", "data", shape)))
        file.flush(), other.flush(), far.flush()
        pairs = [(each, data) for each in [*virtuals, returning]]
        pairs += [(out, image) for image, out in pairs] + [(virtuals[0], virtuals[1])]
        for image, out in pairs:
            lazy = dask_of(image)
            for given in (image, lazy, lazy * 1, Wrapper(image)):
                with pytest.raises(sextant.InvalidTask, match="out shares memory with"):
                    call(given, out)
        np.testing.assert_array_equal(data, samples())
        if name not in ("register", "stitch"):
            for given in (virtuals[0], virtuals[2], dask_of(virtuals[0])):
                call(given, file["free"])


#: Types of outputs that no function writes.
OTHER_TYPES = ["?", "c8", "c16", "g", "O", "S32", "U32", "V8", "m8[s]", "M8[s]", [("a", "f8")]]


@pytest.mark.parametrize("kind", OTHER_TYPES, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_outputs_of_other_types_than_documented_are_refused(folder, name, kind):
    write_transforms()
    shape, dtype, call = FUNCTIONS[name]
    outputs = [np.zeros(shape, kind)]
    try:
        h5py = pytest.importorskip("h5py")
        outputs.append(h5py.File("out.h5", "w").create_dataset("out", shape, kind))
    except (TypeError, ValueError):
        pass  # HDF5 has no such type
    inputs = [samples().astype(each) for each in ("u1", "i4", "f4", "f8")
              if each[0] in "iu" or name not in ("label", "intensity", "stitch")]
    for out in outputs:
        for data in inputs:
            with pytest.raises(sextant.WrongType, match="^out has type .*, expected (u?int|float)"):
                call(data, out)
    empty = np.zeros((0, *shape[1:]), kind)
    if name in ("filter", "label"):
        with pytest.raises(sextant.WrongType, match="^out has type .*, expected (u?int|float)"):
            call(np.zeros(empty.shape, dtype), empty)


def test_labels_are_not_written_to_floats():
    for shape in SHAPE, (0, 5), (7,):
        for kind in "f4", "f8", "i2", "u1":
            with pytest.raises(sextant.WrongType, match="expected int32 or a wider|expected uint32 or"):
                sextant.label(np.ones(shape, "u1"), out=np.zeros(shape, kind))


def test_composite_refuses_outputs_of_other_types():
    images = np.ones((2, 8, 8, 4), "f4")
    for kind in ("f8", "u1", *OTHER_TYPES):
        with pytest.raises(sextant.WrongType, match="out has .*type .*, expected .*float32"):
            sextant.composite(images, out=np.zeros(images.shape[1:], kind))


def test_apply_of_booleans_is_uint8_and_no_result_is_boolean(folder):
    write_transforms()
    mask = samples() > 100
    for options in {"axes": "TYX"}, {"by": "shift"}:
        result = sextant.apply(TRANSFORMS, mask, **options)
        assert result.dtype == np.uint8
        np.testing.assert_array_equal(result, mask)
        for given in bool, "?", np.dtype(bool), "c8", object, "g":
            with pytest.raises(sextant.WrongType, match="dtype is .*, expected integers or floating"):
                sextant.apply(TRANSFORMS, mask, dtype=given, **options)
            with pytest.raises(sextant.WrongType, match="dtype is .*, expected integers or floating"):
                sextant.apply(TRANSFORMS, mask, dtype=given, out="out.npy", **options)
            with pytest.raises(sextant.WrongType, match="out has type .*, expected uint8"):
                sextant.apply(TRANSFORMS, mask, out=np.zeros(SHAPE, given), **options)
