# SPDX-License-Identifier: BSD-3-Clause
"""Rows, arrays without samples, and objects with DLPack are taken as SciPy and NumPy take them."""
import shutil
import subprocess
import sys
import pathlib

import numpy as np
import pytest
from scipy import ndimage

import sextant

EMPTY = [(0,), (0, 5), (5, 0), (0, 0), (0, 3, 4), (3, 0, 4), (3, 4, 0)]
ROW = np.array([0, 1, 1, 0, 2, 2, 0, 0, 3], "f4")


@pytest.mark.parametrize("shape", EMPTY)
@pytest.mark.parametrize("dtype", ["?", "u1", "i8", "f4", "f8"])
def test_arrays_without_samples_have_empty_results(shape, dtype):
    array = np.zeros(shape, dtype)
    expected, count = ndimage.label(array)
    found = sextant.label(array, measure=True)
    assert found.components == count == 0 and found.shape == expected.shape == shape
    assert len(found.table) == 0
    if len(shape) == 3:
        assert len(sextant.label(array, intensity=array, measure=True).table) == 0
    out = np.zeros(shape, "i8")
    assert sextant.label(array, out=out).labels is out
    if dtype in ("u1", "i8"):
        assert len(sextant.measure(array)) == 0
        table = sextant.measure(array, intensity=array)
        assert len(table) == 0 and "mean" in table.dtype.names
    filtered = sextant.filter(array, 2, derivatives="smooth")
    assert filtered["smooth"].shape == ndimage.gaussian_filter(array.astype("f4"), 2).shape == shape
    computed = np.result_type(dtype, np.float32)
    assert filtered.shape == (1, *shape) and filtered.dtype == computed
    for planes in (np.zeros(shape, "f4"), np.zeros((1, *shape), "f8")):
        found = sextant.filter(array, 2, derivatives="smooth", out=planes)
        assert found.planes is planes and found["smooth"].shape == shape
    assert all(plane.shape == shape for plane in sextant.features(array).values())
    with pytest.raises(sextant.InvalidTask, match="out has shape"):
        sextant.label(array, out=np.zeros((*shape, 1), "i4"))


@pytest.mark.parametrize("array", [ROW, ROW[:0], *(np.zeros(shape, "f4") for shape in EMPTY)])
def test_rows_and_empty_arrays_of_dask_have_the_same_results(array):
    dask = pytest.importorskip("dask.array")
    lazy = dask.from_array(array, chunks=4)
    expected = sextant.label(array)
    labels, count = sextant.dask.label(lazy)
    assert count == expected.components and labels.chunks == lazy.chunks
    np.testing.assert_array_equal(np.asarray(labels), expected)
    for derivatives in "smooth", "x,smooth":
        filtered = sextant.dask.filter(lazy, 2, derivatives=derivatives)
        assert filtered.chunks[1:] == lazy.chunks
        np.testing.assert_array_equal(np.asarray(filtered), sextant.filter(array, 2, derivatives=derivatives))


@pytest.mark.parametrize("view", [lambda a: a, lambda a: a[::-1], lambda a: np.repeat(a, 2)[::2], list])
def test_a_row_is_labelled_measured_and_filtered(view):
    row = view(ROW)
    expected, count = ndimage.label(row)
    found = sextant.label(row, measure=True)
    assert found.components == count == 3
    np.testing.assert_array_equal(found, expected)
    by_value = sextant.label(view(np.array([1, 1, 2], "u1")), by_value=True)
    assert by_value.components == 2
    table = sextant.measure(found)
    assert table["area"].tolist() == np.bincount(expected)[1:].tolist()
    table = sextant.measure(found, intensity=row)
    assert table["sum"].tolist() == ndimage.sum(row, expected, [1, 2, 3]).tolist()
    with pytest.raises(sextant.InvalidTask, match="intensity has shape"):
        sextant.measure(found, intensity=ROW[1:])
    smooth = ndimage.gaussian_filter(np.asarray(row, "f4"), 1, mode="nearest")
    filtered = sextant.filter(row, 1, truncate=4, derivatives="smooth,x")
    assert filtered.shape == (2, len(ROW))
    np.testing.assert_allclose(filtered["smooth"], smooth, rtol=1e-5, atol=1e-6)
    slope = ndimage.gaussian_filter(np.asarray(row, "f4"), 1, order=1, mode="nearest")
    np.testing.assert_allclose(filtered["x"], slope, rtol=1e-4, atol=1e-6)
    for out in (np.full(len(ROW), 777, "f4"), np.full((1, len(ROW)), 777, "f8")):
        again = sextant.filter(row, 1, truncate=4, derivatives="smooth", out=out)
        assert again.planes is out
        np.testing.assert_allclose(again["smooth"], smooth, rtol=1e-5, atol=1e-6)
    out = np.full(len(ROW), 777, "i8")
    assert sextant.label(row, out=out).labels is out
    np.testing.assert_array_equal(out, expected)
    with pytest.raises(sextant.InvalidTask, match="border constant"):
        sextant.filter(row, 1, border="constant")


class Exchanged:
    """An object that has only DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OnACard(Exchanged):
    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, **options):
        raise BufferError("the memory is that of a graphics card")


def test_objects_with_dlpack_are_read_where_they_are(movie):
    image = np.random.default_rng(0).random((40, 50)).astype("f4")
    for call in (lambda image: sextant.label(image > .5 if image is None else image, copy=False),
                 lambda image: sextant.filter(image, 2, copy=False),
                 lambda image: sextant.features(image, sigma=2)["laplacian"]):
        np.testing.assert_array_equal(call(Exchanged(image)), call(image))
    labels = (image * 9).astype("i4")
    np.testing.assert_array_equal(sextant.measure(Exchanged(labels)), sextant.measure(labels))
    assert len(sextant.contours(Exchanged(image))) == len(sextant.contours(image))
    np.testing.assert_array_equal(sextant.canny(Exchanged(image)), sextant.canny(image))
    stitched = sextant.stitch([(Exchanged(labels), (0, 0))])
    np.testing.assert_array_equal(stitched, sextant.stitch([(labels, (0, 0))]))
    images = np.zeros((2, 3, 4, 4), "u1")
    np.testing.assert_array_equal(sextant.composite(Exchanged(images)), sextant.composite(images))
    np.testing.assert_array_equal(sextant.composite([Exchanged(each) for each in images]),
                                  sextant.composite(images))
    options = {"reproducible": True, "ranks": 1, "threads": 1}
    found = sextant.register(movie, **options)
    for series in (Exchanged(movie), [Exchanged(frame) for frame in movie]):
        np.testing.assert_array_equal(sextant.register(series, **options).motions, found.motions)
    np.testing.assert_array_equal(sextant.apply(found, Exchanged(movie)),
                                  sextant.apply(found, movie))
    np.testing.assert_array_equal(sextant.apply(found, Exchanged(movie), by="shift"),
                                  sextant.apply(found, movie, by="shift"))
    with pytest.raises(sextant.WrongType, match="DLPack: the memory is that of a graphics card"):
        sextant.label(OnACard(image))
    with pytest.raises(sextant.InvalidTask, match="shares memory"):
        sextant.label(Exchanged(labels), out=labels)


def test_results_are_exchanged_by_dlpack():
    for result in (sextant.label(np.eye(3)), sextant.filter(np.eye(9)),
                   sextant.composite(np.zeros((2, 3, 4, 4), "f4"))):
        np.testing.assert_array_equal(np.from_dlpack(result), np.asarray(result))


def test_another_interpreter_is_told_for_which_the_module_was_built(tmp_path):
    package = tmp_path / "sextant"
    package.mkdir()
    for file in pathlib.Path(sextant.__file__).parent.glob("*.py"):
        shutil.copy(file, package)
    done = subprocess.run([sys.executable, "-c", "import sextant"], cwd=tmp_path, text=True,
                          capture_output=True, env={})
    assert f"ImportError: {package} has no extension _core: Sextant is not built" in done.stderr
    (package / "_core.cpython-39-x86_64-linux-gnu.so").touch()
    done = subprocess.run([sys.executable, "-c", "import sextant"], cwd=tmp_path, text=True,
                          capture_output=True, env={})
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert (f"ImportError: {package} was built for cpython 3.9, but {sys.executable} is cpython "
            f"{version}: start python3.9, or build Sextant with "
            f"SEXTANT_PYTHON_EXECUTABLE={sys.executable}\n") in done.stderr


RESULTS = {
    "label": lambda movie: sextant.label(movie[0] > 0),
    "label of a volume": lambda movie: sextant.label(movie > 0),
    "filter": lambda movie: sextant.filter(movie[0], 2),
    "stitch": lambda movie: sextant.stitch(sextant.label(movie[0] > 0), block=(64, 64)),
    "contours": lambda movie: sextant.contours(movie[0], sigma=3),
    "no contours": lambda movie: sextant.contours(np.zeros((50, 40))),
    "composite": lambda movie: sextant.composite(np.ones((2, 900, 700, 4), "f4")),
    "register": lambda movie: sextant.register(movie),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_notebook_shows_a_line_and_a_small_picture_and_the_page_on_request(name, movie):
    result = RESULTS[name](movie)
    shown = result._repr_html_()
    assert "<iframe" not in shown and len(shown) < 150_000
    assert shown.count("<img ") == (name != "no contours")
    assert result.__repr__()[1:20].split(":")[0] in shown and "page()" in shown
    page = result.page()
    assert isinstance(page, str) and page.startswith("<!DOCTYPE html>")
    assert page._repr_html_().startswith("<iframe srcdoc=")


def test_functions_for_dask_say_that_they_compute_at_the_call():
    for text in (sextant.dask.__doc__, sextant.dask.label.__doc__, sextant.dask.filter.__doc__):
        assert "immediately" in text


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8", ">f4"])
def test_a_frame_of_a_stack_is_taken_like_an_image_of_its_own(dtype):
    stack = (np.random.default_rng(5).random((6, 40, 50)) * 4).astype(dtype)
    for frames in (stack, stack[::-2], stack[:, ::-1, 3:], stack[:, :, ::2]):
        image = np.ascontiguousarray(frames[2])
        found = sextant.filter(frames, 1, frame=2, derivatives=["smooth", "xy"])
        np.testing.assert_array_equal(found, sextant.filter(image, 1, derivatives=["smooth", "xy"]))
        np.testing.assert_array_equal(sextant.label(frames, frame=2), sextant.label(image))
        np.testing.assert_array_equal(
            sextant.label(frames, neighbours=26, by_value=True),
            sextant.label(np.ascontiguousarray(frames), neighbours=26, by_value=True))


@pytest.mark.parametrize("dtype", ["u1", "i2", "i8", "u4"])
def test_labels_in_files_are_measured_like_labels_in_memory(dtype, tmp_path):
    labels = np.random.default_rng(6).integers(0, 5, (30, 40)).astype(dtype)
    labels[3] *= 2
    np.save(tmp_path / "labels.npy", labels)
    np.testing.assert_array_equal(sextant.measure(tmp_path / "labels.npy", columns="all"),
                                  sextant.measure(labels, columns="all"))
