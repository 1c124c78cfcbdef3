# SPDX-License-Identifier: BSD-3-Clause
"""`out`: every sample of the result is written, whatever the array held before."""
import json
import sys
import types

import numpy as np
import pytest

import sextant
import sextant.hyperspy
from conftest import write_transforms

pytestmark = pytest.mark.filterwarnings("ignore:the motions are not shifts")

TYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8"]
SIDE = (24, 32)
#: Frames 1 and 3 fall outside the result, wholly and in part; frame 2 has whole pixels.
MOTIONS = [(0, 0, 0), (0, 3, 60), (0, -2, 1), (0, 1.5, -9), (.02, -40, 2.5)]


@pytest.fixture
def transforms(tmp_path):
    return write_transforms(tmp_path, MOTIONS, SIDE)


def outputs(tmp_path, result, wider):
    """Outputs of all kinds, each full of 777."""
    full = np.full(result.shape, 777).astype(result.dtype)
    yield full.copy()
    yield full.T.copy().T[::-1]
    yield np.repeat(full, 2, axis=-1)[..., ::2]
    yield np.full(result.shape, 777, wider)
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "out.h5", "w") as file:
        yield file.create_dataset("out", data=full, chunks=tuple(
            max(1, length // 2) for length in result.shape))


def expect_refused(call, shape, dtype):
    """Outputs of which not every sample can be written, or seen, are refused and not changed."""
    for axis, length in enumerate(shape):
        if length > 1:
            out = np.full([1 if other == axis else n for other, n in enumerate(shape)], 3, dtype)
            view = np.lib.stride_tricks.as_strided(out, shape, [0 if other == axis else stride for
                                                                other, stride in enumerate(out.strides)])
            with pytest.raises(sextant.InvalidTask, match="overlap in memory"):
                call(view)
            assert (out == 3).all()
    full = np.full(shape, 3, dtype)
    for out in memoryview(full), full.tolist(), 3:
        with pytest.raises(sextant.WrongType, match=f"out is a {type(out).__name__}, expected a NumPy"):
            call(out)
    assert (full == 3).all()
    out = np.ma.MaskedArray(np.full(shape, 3, dtype), mask=np.arange(np.prod(shape)) % 2)
    with pytest.raises(sextant.WrongType, match="out is a masked array"):
        call(out)
    assert (out.data == 3).all()
    if shape[-1] > 1:
        samples = np.full(int(np.prod(shape)) + 1, 3, dtype)
        strides = list(np.empty(shape, dtype).strides)
        strides[-2 if len(shape) > 1 else -1] -= np.dtype(dtype).itemsize
        with pytest.raises(sextant.InvalidTask, match="overlap in memory"):
            call(np.lib.stride_tricks.as_strided(samples, shape, strides))


def expect_all_written(tmp_path, call, wider="f8"):
    """Calls call(out) with outputs that hold other samples, and compares them with call(None)."""
    # Memory that is used again holds something else than zeros.
    expected = np.array(call(None))
    expect_refused(call, expected.shape, expected.dtype)
    for out in outputs(tmp_path, expected, wider):
        call(out)
        np.testing.assert_array_equal(out[...], expected.astype(out.dtype))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("by", ["bilinear", "cubic", "lanczos", "shift", "splat"])
@pytest.mark.parametrize("sum", [False, True])
def test_apply_writes_every_sample(tmp_path, transforms, dtype, by, sum):
    data = np.random.default_rng(3).integers(1, 100, (5, *SIDE, 3)).astype(dtype)

    def call(out):
        found = sextant.apply(transforms, data, axes="TYXE", by=by, sum=sum, out=out)
        return found[0] if sum else found
    exact = np.zeros((5, *SIDE, 3))
    sextant.apply(transforms, data.astype("f8"), axes="TYXE", by=by, out=exact)
    result = np.array(call(None))
    if not sum and by != "splat":  # a second way to the same samples, which writes all of them
        kind = np.dtype(dtype).kind
        exact = exact if kind == "f" else np.rint(np.nan_to_num(exact))
        limits = np.iinfo(dtype) if kind in "iu" else np.finfo(dtype)
        np.testing.assert_array_equal(result, np.clip(exact, limits.min, limits.max).astype(dtype))
        if kind in "iu":
            assert (result[1] == 0).all()
    expect_all_written(tmp_path, call, "f8" if np.can_cast(result.dtype, "f8") else result.dtype)


@pytest.mark.parametrize("left_out", [False, True])
def test_apply_to_frames_writes_every_sample(tmp_path, transforms, left_out):
    if left_out:
        stored = json.loads(transforms.read_text())
        stored["frames"][2] = {"frame": 2, "left_out": "dark"}
        transforms.write_text(json.dumps(stored))
    frames = np.random.default_rng(4).normal(size=(5, *SIDE)).astype("f4")
    expect_all_written(tmp_path, lambda out: sextant.apply(transforms, frames, out=out))
    expect_all_written(tmp_path, lambda out: sextant.apply(transforms, frames, axes="TYX", out=out))
    expect_all_written(tmp_path, lambda out: sextant.apply(transforms, frames.astype("u2"), axes="TYX",
                                                           out=out))


def test_hyperspy_writes_every_sample(tmp_path, transforms, monkeypatch):
    class Axis:
        is_uniform, scale, offset = True, 1., 0.

        def __init__(self, name, size):
            self.name, self.size = name, size

        def get_axis_dictionary(self):
            return {"name": self.name, "size": self.size}

    class Nothing:
        def as_dictionary(self):
            return {}

    class BaseSignal:
        """As much of hyperspy.signals.BaseSignal as sextant.hyperspy uses."""

        metadata = original_metadata = Nothing()

        def __init__(self, data, axes, metadata=None, original_metadata=None):
            self.data = data
            self.axes_manager = types.SimpleNamespace(
                _axes=[Axis(each["name"], each["size"]) for each in axes])

        def _assign_subclass(self):
            pass
    signals = types.ModuleType("hyperspy.signals")
    signals.BaseSignal = BaseSignal
    monkeypatch.setitem(sys.modules, "hyperspy", types.ModuleType("hyperspy"))
    monkeypatch.setitem(sys.modules, "hyperspy.signals", signals)
    data = np.random.default_rng(5).integers(1, 200, (5, *SIDE, 4, 3)).astype("u1")
    signal = BaseSignal(data, [{"name": name, "size": size}
                               for name, size in zip(("t", "y", "x", "ky", "kx"), data.shape)])
    for by in ("bilinear", "shift", "splat"):
        for sum in (False, True):
            def call(out):
                found = sextant.hyperspy.apply(transforms, signal, by=by, sum=sum, out=out)
                return np.asarray(found.data if isinstance(found.data, np.ndarray)
                                  else found.data.compute())
            expect_all_written(tmp_path, call, wider="u8" if by == "shift" and sum else "f8")


@pytest.mark.parametrize("dtype", TYPES)
def test_label_writes_every_sample(tmp_path, dtype):
    image = (np.random.default_rng(6).random((40, 50)) > .7).astype(dtype)
    image[10:30] = 0
    expect_all_written(tmp_path, lambda out: sextant.label(image, out=out).labels, "i8")
    volume = np.stack([image, 0 * image, image])
    expect_all_written(tmp_path, lambda out: sextant.label(volume, neighbours=6, out=out).labels, "u8")
    expect_all_written(
        tmp_path, lambda out: sextant.label(volume, neighbours=6, min_size=3, out=out).labels, "u8")


@pytest.mark.parametrize("dtype", TYPES)
def test_filters_write_every_sample(tmp_path, dtype):
    image = np.zeros((300, 40), dtype)
    image[5:9, 3:30] = 100
    for derivatives in ("smooth", ["x", "gradient-magnitude"]):
        expect_all_written(tmp_path, lambda out: sextant.filter(
            image, 1, derivatives=derivatives, out=out).planes)
        expect_all_written(tmp_path, lambda out: sextant.filter(
            image.reshape(10, 30, 40), 1, derivatives=derivatives, out=out).planes)


def test_registered_series_are_written_whole(tmp_path, movie):
    movie = movie[:4].copy()
    movie[2] = 0  # is left out
    for canvas in ("reference", "union", "common"):
        expect_all_written(tmp_path, lambda out: sextant.register(
            movie, canvas=canvas, aligned=True, out=out, ranks=1).aligned)


def test_stitched_blocks_are_written_whole(tmp_path):
    block = np.arange(12).reshape(3, 4).astype("u4")
    expect_all_written(tmp_path, lambda out: sextant.stitch(
        [(block, (0, 0)), (0 * block, (0, 4)), (block, (0, 8))], out=out).labels, "u8")
    whole = sextant.label(np.random.default_rng(7).random((9, 12, 12)) > .8, neighbours=6).labels
    expect_all_written(tmp_path, lambda out: sextant.stitch(whole, block=(4, 4, 4), out=out).labels,
                       "u8")


def test_composited_images_are_written_whole():
    for dtype in ("f4", "f2", "u1"):
        images = np.zeros((3, 16, 20, 4), dtype)
        images[1, 3:5] = 1
        out = np.full(images.shape[1:], 777).astype(dtype)
        np.testing.assert_array_equal(sextant.composite(images, out=out).image,
                                      sextant.composite(images).image)
        assert (out[:3] == 0).all()
        expect_refused(lambda out: sextant.composite(images, out=out), images.shape[1:], dtype)


def test_rows_of_samples_are_written_whole():
    row = np.arange(40.)
    for call in (lambda out: sextant.label(row, out=out).labels,
                 lambda out: sextant.filter(row, derivatives="smooth", out=out).planes,
                 lambda out: sextant.features(row, ["smooth", "laplacian"], out=out)):
        expected = call(None)
        if isinstance(expected, dict):
            expected = np.array(list(expected.values()))
        out = np.full(expected.shape[-1:] if expected.shape[0] == 1 else expected.shape, 77,
                      expected.dtype)
        call(out)
        np.testing.assert_array_equal(out, expected.reshape(out.shape))
        expect_refused(call, out.shape, out.dtype)


def test_one_frame_and_features_are_written_whole(tmp_path, transforms):
    image = np.random.default_rng(8).normal(size=SIDE)
    for dtype in ("f4", "f8"):
        frame = image.astype(dtype)
        expect_all_written(tmp_path, lambda out: sextant.apply(transforms, frame, frame=2, out=out))
    found = sextant.features(image)
    planes = np.full((len(found), *SIDE), 77.)
    sextant.features(image, out=planes)
    np.testing.assert_array_equal(planes, np.array(list(found.values())))
    expect_refused(lambda out: sextant.features(image, out=out), planes.shape, planes.dtype)


@pytest.mark.parametrize("options", [{}, {"model": "nonrigid"}, {"scan_rows": True}])
def test_transforms_are_written_whole_or_not_at_all(movie, tmp_path, options):
    resource = pytest.importorskip("resource")
    transforms = sextant.register(movie, **options).transforms
    path = tmp_path / "transforms.json"
    transforms.write(path)
    files = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    for limit in {10, *(len(content) - 1 for content in files.values())}:  # of each file, as on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, usual[1]))
        try:
            with pytest.raises(sextant.InvalidFile, match=str(tmp_path)):
                transforms.write(path)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, usual)
        assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == files
    with pytest.raises(sextant.InvalidFile, match="nowhere"):
        transforms.write(tmp_path / "nowhere" / "transforms.json")
    with pytest.raises(sextant.InvalidFile):
        transforms.write(tmp_path)
    with pytest.raises(sextant.WrongType, match="path is None"):
        transforms.write(None)
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == files
    transforms.write(path)
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == files
