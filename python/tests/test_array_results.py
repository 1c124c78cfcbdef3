# SPDX-License-Identifier: BSD-3-Clause
"""Every object of the module that has `__array__` behaves as the array that it contains."""
import importlib
import inspect
import operator
import pkgutil

import numpy as np
import pytest

import sextant

IMAGE = np.zeros((12, 9), "f4")
IMAGE[1:4, 2:5] = IMAGE[6:9, 1:8] = 1
IMAGE[6:9, 3] = 2
VOLUME = np.stack([IMAGE] * 3)


def series(folder):
    np.save(folder / "series.npy", VOLUME)
    return sextant.open_series(folder / "series.npy")


MADE = {
    "labels": lambda folder: sextant.label(IMAGE),
    "labels of a volume": lambda folder: sextant.label(VOLUME),
    "labels in a strided out": lambda folder: sextant.label(
        IMAGE, out=np.zeros((12, 18), "i8")[:, ::2]),
    "filtered": lambda folder: sextant.filter(IMAGE, derivatives="smooth,x"),
    "filtered volume": lambda folder: sextant.filter(VOLUME, derivatives="smooth"),
    "composite": lambda folder: sextant.composite(np.full((2, 3, 4, 4), 7, "u1")),
    "stitched": lambda folder: sextant.stitch(sextant.label(IMAGE), block=(6, 9)),
    "series": series,
}

BINARY = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
          operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv,
          operator.mod, operator.pow]
METHODS = ["max", "min", "sum", "mean", "any", "all", "argmax", "cumsum", "copy", "ravel", "tolist",
           "nonzero", "tobytes", "transpose", "std", "round", "squeeze", "conj"]
FUNCTIONS = [np.max, np.min, np.sum, np.mean, np.unique, np.bincount, np.percentile, np.abs,
             np.negative, np.isfinite, np.sort, np.flip, np.ravel, np.count_nonzero, np.shape,
             np.size, np.ndim, np.array, np.ascontiguousarray]
ATTRIBUTES = ["shape", "ndim", "dtype", "size", "nbytes", "itemsize"]


def outcome(call):
    """What a call returns, or the type of its exception."""
    try:
        return call()
    except Exception as error:  # such as that of np.bincount for floats
        return type(error)


def assert_same(found, expected):
    if isinstance(expected, np.ndarray):
        assert type(found) is np.ndarray and found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of divisions by 0
@pytest.mark.parametrize("name", MADE)
def test_operators_functions_and_methods_are_those_of_the_array(name, tmp_path):
    result = MADE[name](tmp_path)
    array = np.asarray(result)
    assert array.dtype.kind in "uif" and array.ndim >= 2
    for other in (1, 1.5, np.float64(2), array, result, array[..., :1]):
        plain = array if other is result else other
        for apply in BINARY:
            assert_same(outcome(lambda: apply(result, other)), outcome(lambda: apply(array, plain)))
            assert_same(outcome(lambda: apply(other, result)), outcome(lambda: apply(plain, array)))
    for method in METHODS:
        assert_same(outcome(getattr(result, method)), outcome(getattr(array, method)))
    for dtype in ("f4", "i8", "?"):
        assert_same(result.astype(dtype), array.astype(dtype))
    for attribute in ATTRIBUTES:
        assert getattr(result, attribute) == getattr(array, attribute), attribute
    for function in FUNCTIONS:
        assert_same(outcome(lambda: function(result)), outcome(lambda: function(array)))
    assert_same(np.where(result == 1, result, 5), np.where(array == 1, array, 5))
    assert_same(-result, -array)
    assert_same(result.max(axis=0), array.max(axis=0))
    assert np.sum(result == array.max()) == np.sum(array == array.max()) > 0


@pytest.mark.parametrize("name", MADE)
def test_indices_length_and_iteration_are_those_of_the_array(name, tmp_path):
    result = MADE[name](tmp_path)
    array = np.array(result)
    indices = [0, -1, slice(1), (slice(None), 2), ..., [0, 1], (0, 1), array.shape[0]]
    if not isinstance(result, sextant.Series):
        indices.append((..., np.newaxis))
    for index in indices:
        assert_same(outcome(lambda: result[index]), outcome(lambda: array[index]))
    assert len(result) == len(array)
    if not isinstance(result, sextant.Filtered):  # a mapping: its items are names
        for found, expected in zip(result, array, strict=True):
            assert_same(found, expected)
    if isinstance(result, (sextant.Filtered, sextant.Series)):
        return
    assert array.max() in result and 77 not in result
    assert_same(result[array > 0], array[array > 0])
    assert_same(array[result == 1], array[array == 1])


@pytest.mark.parametrize("name", MADE)
def test_changes_in_place_change_the_array_or_are_refused(name, tmp_path):
    result = MADE[name](tmp_path)
    array = np.array(result)
    if isinstance(result, sextant.Series):
        for change in (lambda: operator.iadd(result, 1), lambda: result.fill(3),
                       lambda: operator.setitem(result, 0, 1), lambda: np.add.at(result, 0, 1),
                       lambda: np.add(1, 1, out=result)):
            with pytest.raises(sextant.WrongType, match="read-only"):
                change()
        return
    kept, held = result, np.asarray(result)
    result += 1
    assert result is kept and np.array_equal(held, array + 1)
    result[...] = 7
    assert (held == 7).all()
    result.fill(3)
    assert (held == 3).all()
    np.add(held, 1, out=result)
    assert (held == 4).all()
    np.add.at(result, 0, 1)
    assert (held[0] == 5).all()


@pytest.mark.parametrize("name", MADE)
def test_setting_an_attribute_of_arrays_changes_the_array_or_is_refused(name, tmp_path):
    result = MADE[name](tmp_path)
    array, samples, before = np.asarray(result), np.array(result), dict(vars(result))
    for attribute in (each for each in dir(np.ndarray) if each[0] != "_"):
        if attribute in ("flat", "real") and not isinstance(result, sextant.Series):
            setattr(result, attribute, 7)
            assert (array == 7).all()
            array[...] = samples
            continue
        with pytest.raises((AttributeError, TypeError)):
            setattr(result, attribute, 3)
        assert vars(result).keys() == before.keys(), attribute
        np.testing.assert_array_equal(result, samples)
    result.remark = "kept"
    assert vars(result)["remark"] == "kept"


@pytest.mark.parametrize("name", MADE)
def test_truth_and_hash_are_those_of_an_array(name, tmp_path):
    result = MADE[name](tmp_path)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(result)
    with pytest.raises(TypeError, match="unhashable"):
        hash(result)
    with pytest.raises(AttributeError, match="no attribute 'maximum'"):
        result.maximum
    assert "max" in dir(result)


@pytest.mark.parametrize("name", [*MADE, "contours"])
def test_no_comparison_is_false_because_it_makes_no_sense(name, tmp_path):
    """Neither for what NumPy cannot compare, nor for arrays of other shapes, is the answer False."""
    result = {**MADE, "contours": lambda folder: sextant.contours(IMAGE)}[name](tmp_path)
    is_array = name != "contours"
    for other in ("q", b"q", np.array("q"), [1] * 77, np.zeros(77), 1, None, object(), result):
        compares = is_array and np.ndim(other) != 1 and not isinstance(other, (str, bytes)) and (
            not isinstance(other, np.ndarray))
        for apply in (operator.eq, operator.ne):
            for pair in ((result, other), (other, result)):
                if compares:
                    assert isinstance(apply(*pair), np.ndarray)
                else:
                    with pytest.raises((sextant.WrongType, ValueError)):
                        apply(*pair)
        if isinstance(other, str) and name.startswith("filtered"):  # a mapping of names
            assert other not in result and "smooth" in result
        elif type(other) is int and is_array and not name.startswith("filtered") and name != "series":
            assert isinstance(other in result, bool)
        elif other is not result:
            with pytest.raises((sextant.WrongType, ValueError)):
                other in result


def test_labels_in_a_file_behave_as_an_array(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "labels.h5", "w") as file:
        found = sextant.label(IMAGE, out=file.create_dataset("labels", (12, 9), "i4"))
        array = np.asarray(found)
        assert np.sum(found == 1) == (array == 1).sum() > 0
        assert found.max() == 2 and found.shape == (12, 9) and found.dtype == np.int32
        assert type(found.labels) is h5py.Dataset
        np.testing.assert_array_equal(found[2:4], array[2:4])
        with pytest.raises(sextant.WrongType, match="Labels holds a Dataset, which cannot be changed in place"):
            found += 1
        with pytest.raises(sextant.WrongType, match="cannot be changed in place"):
            found.fill(3)
        found[0] = 9
        assert (file["labels"][0] == 9).all()


def test_results_are_read_where_they_are():
    found = sextant.label(IMAGE)
    assert sextant.filter(found, derivatives="smooth", copy=False).shape == (1, 12, 9)
    with pytest.raises(sextant.InvalidTask, match="shares memory"):
        sextant.label(found, out=found.labels)
    np.testing.assert_array_equal(sextant.label(IMAGE, out=found.copy()), found)


def test_a_result_without_its_array_says_so():
    found = sextant.label(IMAGE)
    found.labels = None  # as on ranks other than 0
    for use in (lambda: np.asarray(found), lambda: found == 1, lambda: found[0], lambda: len(found),
                lambda: found.max(), lambda: found.shape):
        with pytest.raises(sextant.InvalidTask, match="Labels.labels is None on this rank"):
            use()


def test_all_classes_with_an_array_are_tested(tmp_path):
    modules = [importlib.import_module(each.name)
               for each in pkgutil.iter_modules(sextant.__path__, "sextant.")
               if each.name.rpartition(".")[2] not in ("__main__", "dask", "hyperspy")]
    classes = {each for module in modules for _, each in inspect.getmembers(module, inspect.isclass)
               if each.__module__.startswith("sextant") and hasattr(each, "__array__")}
    tested = {type(make(tmp_path)) for make in MADE.values()}
    assert {each for each in classes if each.__module__ != "sextant._results"} == tested
