# SPDX-License-Identifier: BSD-3-Clause
"""`sextant.apply` to arrays of many axes: every spectrum or pattern moves with its pixel."""
import json
import math
import subprocess
import sys
import warnings

import numpy as np
import pytest

import sextant
from conftest import write_transforms

SHAPE, SIDE = (5, 24, 32), (24, 32)
MOTIONS = [(0, 0, 0), (0, 1.25, -.5), (.02, 3, 2), (0, -2, 1), (-.01, .75, 4.5)]


def transforms(tmp_path, motions=MOTIONS, left_out=()):
    return write_transforms(tmp_path, motions, SIDE, left_out)


@pytest.fixture
def spectra():
    return np.random.default_rng(1).integers(0, 1000, (*SHAPE, 7)).astype("u2")


def by_command(tmp_path, data, *options):
    np.save(tmp_path / "data.npy", data)
    out = tmp_path / "by_command.npy"
    subprocess.run([sys.executable, "-m", "sextant", "apply", tmp_path / "transforms.json",
                    tmp_path / "data.npy", "-o", out, *options], check=True, capture_output=True)
    return np.load(out)


@pytest.mark.parametrize("by", ["bilinear", "cubic", "lanczos", "shift", "splat"])
@pytest.mark.parametrize("sum", [False, True])
def test_equals_the_command(tmp_path, spectra, by, sum):
    path = transforms(tmp_path)
    expected = by_command(tmp_path, spectra, "--axes", "TYXE", "--by", by, *["--sum"] * sum)
    found = sextant.apply(path, spectra, axes="TYXE", by=by, sum=sum)
    result = found[0] if sum else found
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(
        sextant.apply(path, tmp_path / "data.npy", axes="TYXE", by=by, sum=sum)[0] if sum else
        sextant.apply(path, str(tmp_path / "data.npy"), axes="TYXE", by=by), expected)


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8"])
def test_shifted_integers_are_added_without_rounding(tmp_path, dtype):
    """Also where a 64-bit float cannot hold the sum."""
    limits = np.iinfo(dtype)
    data = np.random.default_rng(8).integers(limits.min // 4, limits.max // 4, (3, *SIDE, 2), dtype,
                                             endpoint=True)
    path = transforms(tmp_path, [(0, 0, 0)] * 3)
    expected = data.astype(object).sum(0)
    found, count = sextant.apply(path, data, axes="TYXE", by="shift", sum=True)
    assert found.dtype == ("u8" if dtype[0] == "u" else "i8") and (count == 3).all()
    assert (found.astype(object) == expected).all()
    assert (by_command(tmp_path, data, "--axes", "TYXE", "--by", "shift", "--sum") == found).all()
    doubles = sextant.apply(path, data, axes="TYXE", by="shift", sum=True, dtype="f8")[0]
    np.testing.assert_allclose(doubles, expected.astype("f8"), atol=4096)
    # Parts of frames outside the result add nothing.
    moved = sextant.apply(transforms(tmp_path, [(0, 0, 0), (0, 3, 60), (0, -2, 1)]), data,
                          axes="TYXE", by="shift", sum=True)[0]
    expected = data[0].astype(object)
    expected[:-1, 2:] += data[2, 1:, :-2]
    assert (moved.astype(object) == expected).all()


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8"])
def test_sums_that_a_type_cannot_hold_are_refused(tmp_path, dtype):
    limits = np.iinfo(dtype)
    path = transforms(tmp_path, [(0, 0, 0)] * 3)
    out = tmp_path / "sum.npy"
    for value in {limits.min, limits.max} - {0}:
        data = np.full((3, *SIDE), value, dtype)
        for by in ("shift", "bilinear", "splat"):
            with pytest.raises(sextant.InvalidTask, match="a sum .*expected another output type"):
                sextant.apply(path, data, axes="TYX", by=by, sum=True, dtype=dtype, out=out)
            assert not out.exists()
        found = sextant.apply(path, data, axes="TYX", by="shift", sum=True, dtype="f8")[0]
        np.testing.assert_array_equal(found, 3. * float(value))
    np.save(tmp_path / "data.npy", data)
    done = subprocess.run([sys.executable, "-m", "sextant", "apply", path, tmp_path / "data.npy",
                           "--by", "shift", "--sum", "--sample", dtype_name(dtype), "-o", out],
                          capture_output=True, text=True)
    assert done.returncode != 0 and "a sum of" in done.stderr and not out.exists()


def dtype_name(dtype):
    return f"{dtype[0]}{8 * int(dtype[1:])}"


def test_shifts_to_another_integer_type_are_exact_or_clamped(tmp_path):
    path = transforms(tmp_path, [(0, 0, 0)])
    data = np.zeros((1, *SIDE), "u8")
    data[0, 0, :4] = 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1
    signed = sextant.apply(path, data, axes="TYX", by="shift", dtype="i8")
    assert signed[0, 0, :5].tolist() == [2**53 + 1] + [2**63 - 1] * 3 + [0]
    data = -data.astype("i8")
    unsigned = sextant.apply(path, data, axes="TYX", by="shift", dtype="u8")
    assert unsigned[0, 0, :4].tolist() == [max(int(each), 0) for each in data[0, 0, :4]]


def test_layouts_of_input(tmp_path, spectra):
    path = transforms(tmp_path)
    expected = sextant.apply(path, spectra, axes="TYXE")
    swapped = spectra.astype(">u2")
    strided = np.repeat(spectra, 2, axis=3)[..., ::2]
    transposed = np.ascontiguousarray(spectra.transpose(3, 1, 2, 0)).transpose(3, 1, 2, 0)
    backward = np.ascontiguousarray(spectra[:, ::-1])[:, ::-1]
    for each in (swapped, strided, transposed, backward):
        np.testing.assert_array_equal(sextant.apply(path, each, axes="TYXE"), expected)


def test_lazy_arrays(tmp_path, spectra):
    zarr = pytest.importorskip("zarr")
    path = transforms(tmp_path)
    expected = sextant.apply(path, spectra, axes="TYXE")
    stored = zarr.array(spectra, chunks=(2, 10, 7, 3))
    out = zarr.zeros(spectra.shape, chunks=(2, 5, 9, 4), dtype="u2")
    assert sextant.apply(path, stored, axes="TYXE", out=out) is out
    np.testing.assert_array_equal(out[:], expected)
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "data.h5", "w") as file:
        for data in (file.create_dataset("a", data=spectra),
                     file.create_dataset("b", data=spectra, chunks=(1, 24, 8, 7))):
            np.testing.assert_array_equal(sextant.apply(path, data, axes="TYXE"), expected)
        result = file.create_dataset("c", spectra.shape, "u2", chunks=(2, 24, 5, 7))
        sextant.apply(path, spectra, axes="TYXE", out=result)
        np.testing.assert_array_equal(result[:], expected)
    dask = pytest.importorskip("dask.array")
    data = dask.from_array(spectra, chunks=(2, (10, 14), (20, 12), 7))
    np.testing.assert_array_equal(sextant.apply(path, data, axes="TYXE"), expected)


def test_chunks_are_read_once(tmp_path, spectra):
    class Counting:
        shape, dtype, chunks, reads = spectra.shape, spectra.dtype, (1, 8, 8, 7), []

        def __getitem__(self, index):
            self.reads.append(index)
            return spectra[index]
    counting = Counting()
    np.testing.assert_array_equal(sextant.apply(transforms(tmp_path), counting, axes="TYXE"),
                                  sextant.apply(transforms(tmp_path), spectra, axes="TYXE"))
    assert len(counting.reads) == 5 * 3 * 4


def test_to_files(tmp_path, spectra):
    zarr = pytest.importorskip("zarr")
    path = transforms(tmp_path)
    expected = sextant.apply(path, spectra, axes="TYXE", by="splat")
    assert sextant.apply(path, spectra, axes="TYXE", by="splat", out=tmp_path / "out.zarr", zarr=2) == \
        tmp_path / "out.zarr"
    group = zarr.open_group(str(tmp_path / "out.zarr"), "r")
    np.testing.assert_array_equal(group["0"][:], expected)
    assert group["0"].attrs["_ARRAY_DIMENSIONS"] == ["t", "y", "x", "e"]
    with pytest.raises(sextant.InvalidFile, match="out.jpg"):
        sextant.apply(path, spectra, axes="TYXE", out=str(tmp_path / "out.jpg"))


def test_to_zarr_version_3(tmp_path, spectra):
    path = transforms(tmp_path)
    expected = sextant.apply(path, spectra, axes="TYXE", by="splat")
    sextant.apply(path, spectra, axes="TYXE", by="splat", out=tmp_path / "out.zarr")
    array = json.loads((tmp_path / "out.zarr" / "0" / "zarr.json").read_text())
    assert array["zarr_format"] == 3 and array["shape"] == list(expected.shape)
    assert array["dimension_names"] == ["t", "y", "x", "e"]
    assert array["data_type"] == expected.dtype.name
    for zarr, message in ((4, "zarr 4"), ("2", "zarr")):
        with pytest.raises((sextant.Error, TypeError), match=message):
            sextant.apply(path, spectra, axes="TYXE", out=tmp_path / "x.zarr", zarr=zarr)
    for out in (None, tmp_path / "out.npy"):
        with pytest.raises(sextant.InvalidTask, match="zarr has no effect here"):
            sextant.apply(path, spectra, axes="TYXE", out=out, zarr=2)


def test_outputs_in_memory(tmp_path, spectra):
    path = transforms(tmp_path)
    expected = sextant.apply(path, spectra, axes="TYXE")
    out = np.empty((*spectra.shape[:3], 14), "u2")[..., ::2]
    assert sextant.apply(path, spectra, axes="TYXE", out=out) is out
    np.testing.assert_array_equal(out, expected)
    wide = np.empty(spectra.shape, "f8")
    np.testing.assert_array_equal(sextant.apply(path, spectra, axes="TYXE", out=wide), expected)
    floats = sextant.apply(path, spectra, axes="TYXE", dtype="f4")
    assert floats.dtype == np.float32 and np.isnan(floats).any()
    inside = np.isfinite(floats)
    np.testing.assert_array_equal(np.rint(floats[inside]), expected[inside])
    with pytest.raises(sextant.InvalidTask, match="expected \\(5, 24, 32, 7\\)"):
        sextant.apply(path, spectra, axes="TYXE", out=np.empty((5, 24, 32)))
    with pytest.raises(sextant.WrongType, match="out has type uint8"):
        sextant.apply(path, spectra, axes="TYXE", out=np.empty(spectra.shape, "u1"))
    with pytest.raises(sextant.InvalidTask, match="shares memory"):
        sextant.apply(path, spectra, axes="TYXE", out=spectra)


def test_frames_that_were_left_out_have_no_data(tmp_path, spectra):
    whole = sextant.apply(transforms(tmp_path), spectra, axes="TYXE", dtype="f4")
    path = transforms(tmp_path, left_out=(1, 4))
    for out in (None, np.ones(spectra.shape, "f4")):
        found = sextant.apply(path, spectra, axes="TYXE", dtype="f4", out=out)
        assert np.isnan(found[[1, 4]]).all()
        np.testing.assert_array_equal(found[[0, 2, 3]], whole[[0, 2, 3]])
    total, count = sextant.apply(path, spectra, axes="TYXE", sum=True)
    assert count.max() == 3
    np.testing.assert_allclose(total, np.nansum(whole[[0, 2, 3]].astype("f8"), 0), rtol=1e-6)


def test_sparse_files_into_arrays(tmp_path, spectra):
    """Chunks that are not stored are written all the same."""
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(str(tmp_path / "sparse.zarr"), "w")
    stored = group.create_dataset("0", shape=spectra.shape, chunks=(1, 8, 8, 7), dtype="u2",
                                  fill_value=0)
    stored.attrs["_ARRAY_DIMENSIONS"] = ["t", "y", "x", "energy"]
    stored[1, 8:16, 8:16] = spectra[1, 8:16, 8:16]
    path = transforms(tmp_path, [(0, x, y) for x, y in ((0, 0), (1, -2), (3, 2), (-2, 1), (4, 0))])
    out = np.full(spectra.shape, 7, "u2")
    sextant.apply(path, tmp_path / "sparse.zarr", by="shift", out=out)
    np.testing.assert_array_equal(out, sextant.apply(path, stored[:], axes="TYXE", by="shift"))


def test_single_frames(tmp_path, spectra):
    path = transforms(tmp_path)
    one = sextant.apply(path, spectra[2], axes="YXE", frame=2)
    np.testing.assert_array_equal(one, sextant.apply(path, spectra, axes="TYXE")[2])


def test_names_of_libraries(tmp_path, spectra):
    path = transforms(tmp_path)
    expected = sextant.apply(path, spectra, axes="TYXE")

    class Named:  # as xarray.DataArray
        shape, dtype, dims, variable, data = spectra.shape, spectra.dtype, ("t", "y", "x", "e"), 0, spectra
    np.testing.assert_array_equal(sextant.apply(path, Named()), expected)

    class Axis:
        def __init__(self, name):
            self.name = name

    class Manager:
        _axes = [Axis(name) for name in ("t", "y", "x", "energy")]

    class Signal:  # as hyperspy.signals.Signal1D
        data, axes_manager = spectra, Manager()
    np.testing.assert_array_equal(sextant.apply(path, Signal()), expected)


def test_bad_input(tmp_path, spectra):
    path = transforms(tmp_path)
    for data, options, message in [
            (spectra, {}, "has the axes 5×24×32×7, expected names for them, such as axes TYXE"),
            (spectra, {"axes": "TYX"}, "axes names 3 axes, but data has shape"),
            (spectra, {"axes": "TEYX"}, r"frames of shape \(32, 7\), expected \(24, 32\)"),
            (spectra, {"axes": "TYEX"}, "next to each other: name them with axes"),
            (spectra, {"axes": "TY1E"}, "expected a letter for each axis"),
            (spectra, {"axes": 4}, "axes is 4, expected names"),
            (spectra[:4], {"axes": "TYXE"}, "has 4 frames, expected 5"),
            (spectra[0], {"axes": "YXE", "frame": 9}, "frame 9 was left out"),
            (spectra[0], {"axes": "YXE", "frame": 1, "sum": True}, "has a single frame"),
            (spectra, {"axes": "TYXE", "by": "cubc"}, "did you mean cubic"),
            (spectra, {"axes": "TYXE", "memory": "lots"}, "memory"),
            (spectra, {"axes": "TYXE", "channel": 1}, "channel has no effect here"),
            (spectra, {"axes": "TYXE", "from_reference": True}, "from_reference has no effect"),
            (np.ones((5, 24, 32, 0)), {"axes": "TYXE"}, "none empty"),
            (spectra, {"axes": "TYXE", "dtype": "c8"}, "complex64"),
            (spectra, {"axes": "TYXE", "memory": 3.5}, "memory"),
    ]:
        with pytest.raises(sextant.Error, match=message):
            sextant.apply(path, data, **options)


def test_errors_of_lazy_arrays_are_raised(tmp_path, spectra):
    class Broken:
        shape, dtype = spectra.shape, spectra.dtype

        def __getitem__(self, index):
            raise OSError("the disk is gone")
    with pytest.raises(OSError, match="the disk is gone"):
        sextant.apply(transforms(tmp_path), Broken(), axes="TYXE")


def test_hyperspy_signals(tmp_path, spectra):
    hyperspy = pytest.importorskip("hyperspy.api")
    zarr = pytest.importorskip("zarr")
    import sextant.hyperspy
    path = transforms(tmp_path)
    signal = hyperspy.signals.Signal1D(spectra)
    for axis, (name, scale) in zip(signal.axes_manager._axes,
                                   [("time", 2), ("y", .5), ("x", .5), ("energy", 10)]):
        axis.name, axis.scale, axis.units = name, scale, "s" if name == "time" else "nm"
    signal.metadata.General.title = "a map"
    signal.set_signal_type("EDS_TEM")
    moved = sextant.hyperspy.apply(path, signal, by="splat")
    expected = sextant.apply(path, spectra, axes="TYXE", by="splat")
    np.testing.assert_array_equal(moved.data, expected)
    assert type(moved) is type(signal) and moved.metadata.General.title == "a map"
    assert moved.axes_manager.navigation_shape == (32, 24, 5)
    assert [axis.scale for axis in moved.axes_manager._axes] == [2, .5, .5, 10]
    total = sextant.hyperspy.apply(path, signal, by="splat", sum=True)
    assert total.axes_manager.navigation_shape == (32, 24) and total.axes_manager.signal_shape == (7,)
    np.testing.assert_allclose(total.data, expected.astype("f8").sum(0), rtol=1e-6, atol=1e-3)
    lazy = sextant.hyperspy.apply(path, signal.as_lazy(), by="splat",
                                  out=zarr.zeros(spectra.shape, chunks=(1, 8, 8, 7), dtype="f4"))
    assert lazy._lazy
    np.testing.assert_array_equal(lazy.data.compute(), expected)
    moved.save(tmp_path / "moved.hspy")
    np.testing.assert_array_equal(hyperspy.load(str(tmp_path / "moved.hspy")).data, expected)
    with pytest.raises(sextant.InvalidTask, match=r"expected y \(rows\) and x \(columns\)"):
        sextant.hyperspy.apply(path, hyperspy.signals.Signal1D(spectra), axes="T,C,Z,E")


TYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8"]
#: Values far from 0 of which each type holds whole numbers.
FAR = {"u1": 200, "i1": 80, "u2": 65000, "i2": 32000, "u4": 2**32 - 500, "i4": 500 - 2**31,
       "u8": 2**63 + 2**40 + 1, "i8": 2**62 + 3, "f2": 1000, "f4": 2**20, "f8": 2**45}


def exactly(samples, base, expected):
    """True if samples are base · weight + rest, within 1, for expected = (weight, rest)."""
    weight, rest = (each.ravel() for each in expected)
    return all(abs(math.floor(found) - int(w) * base + float(found % 1) - (w % 1) * base - r) <= 1
               for found, w, r in zip(samples.ravel().tolist(), weight.tolist(), rest.tolist())
               if w and found == found)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("by", ["bilinear", "cubic", "lanczos", "shift", "splat"])
@pytest.mark.parametrize("sum", [False, True])
def test_differences_are_kept_or_a_warning_says_that_they_are_not(tmp_path, program, dtype, by, sum):
    """For every type, method and output."""
    path = transforms(tmp_path)
    noise = np.random.default_rng(8).integers(0, 20, SHAPE)
    data = (noise + np.array(FAR[dtype], "u8" if dtype == "u8" else "i8").astype(object)).astype(dtype)
    np.save(tmp_path / "far.npy", data)

    def applied(samples):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = sextant.apply(path, samples.astype("f8"), axes="TYX", by=by, sum=sum, dtype="f8")
        return found if sum else (found, np.ones(()))
    rest = applied(noise)[0]
    weight = applied(np.ones(SHAPE))[0]  # gaps are NaN
    weight = np.where(np.isnan(weight), 0, weight if sum or by == "splat" else 1)
    expected = weight, np.nan_to_num(rest)

    h5py = pytest.importorskip("h5py")

    def in_memory(**options):
        found = sextant.apply(path, data, axes="TYX", by=by, sum=sum, **options)
        return found[0] if sum else found

    def in_file(name):
        in_memory(out=tmp_path / name)
        return read(tmp_path / name)

    def read(file):
        if file.suffix == ".npy":
            return np.load(file)
        if file.suffix == ".h5":
            with h5py.File(file) as opened:
                return opened[next(iter(opened))][...]
        return np.asarray(sextant.open_series(file)[:]).reshape(rest.shape)

    def by_command_in(name):
        done = subprocess.run([program, "apply", path, tmp_path / "far.npy", "-o", tmp_path / name,
                               "--by", by, *["--sum"] * sum], capture_output=True, text=True)
        if done.returncode in (1, 2):
            raise sextant.InvalidTask(done.stderr)
        assert done.returncode == 0, done.stderr
        for line in done.stderr.splitlines():
            if "warning" in line and "not shifts" not in line:
                warnings.warn(line)
        return read(tmp_path / name)
    wide = np.dtype(dtype).itemsize > 4
    doors = {"an array": in_memory, "by default": lambda: in_memory(dtype=None),
             "f8": lambda: in_memory(dtype="f8"),
             ".npy": lambda: in_file("python.npy"),
             "command .npy": lambda: by_command_in("command.npy"),
             "command .tif": lambda: by_command_in("command.tif")}
    doors["f4"] = lambda: in_memory(dtype="f4")
    if by == "bilinear" and not sum:
        doors["out f4"] = lambda: sextant.apply(path, data, out=np.empty(data.shape, "f4"))
    if wide:
        doors.update({".zarr": lambda: in_file("python.zarr"), ".h5": lambda: in_file("python.h5"),
                      "command .zarr": lambda: by_command_in("command.zarr"),
                      "command .h5": lambda: by_command_in("command.h5"),
                      "command .mrc": lambda: by_command_in("command.mrc")})
        if dtype[0] in "iu":
            doors[dtype] = lambda: in_memory(dtype=dtype)
    for door, call in doors.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.filterwarnings("ignore", "the motions are not shifts")
            try:
                found = call()
            except sextant.Error as error:
                assert "expected" in str(error), door
                assert sum or by == "splat" or door in ("f4", "command .tif", "command .mrc"), door
                continue
        said = [str(each.message) for each in caught]
        assert said or exactly(found, FAR[dtype], expected), door
        if found.dtype == dtype and not sum and by != "splat":
            assert not said and exactly(found, FAR[dtype], expected), (door, said)


@pytest.mark.parametrize("dtype", ["u4", "i4", "u8", "i8"])
@pytest.mark.parametrize("by", ["bilinear", "cubic", "lanczos", "shift", "splat"])
@pytest.mark.parametrize("name, options, to", [("out.mrc", [], "f4"), ("out.npy", ["--sample", "f32"], "f4"),
                                               ("out.npy", ["--sample", "f16"], "f2")])
def test_every_method_counts_samples_that_the_output_rounds(tmp_path, program, dtype, by, name, options, to):
    """Of a range so wide that no offset can be subtracted."""
    path = transforms(tmp_path)
    random = np.random.default_rng(8)
    data = random.integers(0, 2**10, SHAPE) + (0 if to == "f2" else 2**30 * (random.random(SHAPE) < .5))
    data = (data + 3000 * (to == "f2")).astype(dtype)
    np.save(tmp_path / "wide.npy", data)
    with pytest.warns(UserWarning, match="samples are rounded from") as caught:
        found = sextant.apply(path, data, axes="TYX", by=by, dtype=to)
    said, = [str(each.message) for each in caught if "not shifts" not in str(each.message)]
    done = subprocess.run([program, "apply", path, tmp_path / "wide.npy", "-o", tmp_path / name,
                           "--by", by, *options], check=True, capture_output=True, text=True)
    assert said in done.stderr
    stored = np.asarray(sextant.open_series(tmp_path / name)[:])
    assert (stored == found).sum() == np.isfinite(found).sum()


@pytest.mark.parametrize("by", ["bilinear", "cubic", "lanczos", "shift", "splat"])
@pytest.mark.parametrize("dtype, to", [("u2", "u1"), ("i2", "u2"), ("f4", "u1"), ("f8", "i2"), ("i8", "i4"),
                                       ("u8", "i8"), ("u4", "u2"), ("i1", "u1")])
def test_every_method_counts_samples_beyond_the_range_of_the_output(tmp_path, program, dtype, to, by):
    path = transforms(tmp_path, [(0, 0, 0)] * SHAPE[0])
    least, most = np.iinfo(to).min, np.iinfo(to).max
    data = np.full(SHAPE, 100, dtype)
    signed = dtype[0] != "u"
    data[1, 2:5, 3:9] = -7 if dtype in ("i1", "i2") else min(2 * most, 2**64 - 1)
    data[4, 20] = -3 if signed and least == 0 else 5
    if to == "i2":
        data[4, 20] = -2**17
    if to == "i4":
        data[4, 20] = -2**40
    wrong = sum(not least <= int(each) <= most for each in data.ravel())
    assert wrong >= 18
    np.save(tmp_path / "data.npy", data)
    said = f"{wrong} samples are beyond the range of {to[0]}{8 * int(to[1])}, and are clamped"
    with pytest.warns(UserWarning, match=said):
        found = sextant.apply(path, data, axes="TYX", by=by, dtype=to)
    np.testing.assert_array_equal(found, [[[min(max(int(each), least), most) for each in row]
                                           for row in frame] for frame in data])
    with pytest.warns(UserWarning, match=said):
        sextant.apply(path, data[..., np.newaxis], axes="TYXE", by=by, dtype=to)
    done = subprocess.run([program, "apply", path, tmp_path / "data.npy", "-o", tmp_path / "out.npy", "--by", by,
                           "--sample", f"{to[0]}{8 * int(to[1])}"], check=True, capture_output=True, text=True)
    assert said in done.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), found)
    fits = np.clip(data, 0, 100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sextant.apply(path, fits, axes="TYX", by=by, dtype=to)
