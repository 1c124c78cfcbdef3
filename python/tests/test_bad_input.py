# SPDX-License-Identifier: BSD-3-Clause
"""Invalid arguments raise exceptions that name the argument, its value and what was expected."""
import errno
import os
import pickle

import numpy as np
import pytest

import sextant

IMAGE = np.zeros((32, 40), "f4")
VOLUME = np.zeros((4, 9, 8), "f4")
LABELS = np.zeros((4, 9, 8), int)
IMAGE[10:20, 10:20] = 1


def lazy(shape):
    """A lazy image whose samples are never read."""
    return type("Lazy", (), {"shape": shape, "dtype": np.dtype("f4"), "__getitem__": None})()


def nested(depth):
    """A tuple in tuples."""
    value = 2
    for _ in range(depth):
        value = ("smooth", value)
    return value


FUNCTIONS = {
    "label": sextant.label,
    "filter": sextant.filter,
    "features": sextant.features,
    "canny": sextant.canny,
    "contours": sextant.contours,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("image, error, text", [
    (np.zeros((3, 3), object), TypeError, "object"),
    (np.array([["a", "b"]]), TypeError, "U1"),
    (np.zeros((3, 3), complex), TypeError, "complex128"),
    (np.zeros((3, 3), "M8[s]"), TypeError, "datetime64"),
    (np.float32(3), ValueError, "shape ()"),
    (np.zeros((2, 3, 4)), ValueError, "(2, 3, 4)"),
    (np.zeros((5, 5, 3)), ValueError, "channel_axis"),
    ([[1, 2], [3]], TypeError, "image"),
    (None, TypeError, "object"),
    ("no such file.tif", OSError, "no such file.tif"),
    (__file__, OSError, "test_bad_input.py"),
])
def test_images(name, image, error, text):
    with pytest.raises(error) as caught:
        FUNCTIONS[name](image)
    assert isinstance(caught.value, sextant.Error)
    assert text in str(caught.value)


@pytest.mark.parametrize("name", ["canny", "contours"])
@pytest.mark.parametrize("image, text", [(np.zeros(4), "(4,)"), (np.zeros((0, 4)), "empty"),
                                         (np.zeros((4, 0)), "empty")])
def test_edges_of_rows_and_of_nothing_are_refused(name, image, text):
    with pytest.raises(sextant.InvalidTask) as caught:
        FUNCTIONS[name](image)
    assert text in str(caught.value)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nan_and_infinity_are_accepted(name):
    image = np.full((40, 40), np.nan, "f4")
    image[5:9] = np.inf
    FUNCTIONS[name](image)
    FUNCTIONS[name](np.ma.masked_all((40, 40), "u1"))


@pytest.mark.parametrize("call, error, text", [
    (lambda: sextant.label(IMAGE, neighbour=4), TypeError, "did you mean neighbours"),
    (lambda: sextant.label(IMAGE, frme=0), TypeError, "unknown keyword 'frme'; did you mean frame?"),
    (lambda: sextant.label(IMAGE, xyz=0), TypeError, "expected one of image, intensity, out"),
    (lambda: sextant.register(IMAGE[np.newaxis], aligne=True), TypeError, "did you mean aligned?"),
    (lambda: sextant.canny(IMAGE, sigmas=2), TypeError, "did you mean sigma?"),
    (lambda: sextant.features(IMAGE, sgima=2), TypeError, "did you mean sigma?"),
    (lambda: sextant.scan([1], max, exclusiv=True), TypeError, "did you mean exclusive?"),
    (lambda: sextant.label(IMAGE, neighbours=5), ValueError, "did you mean 4"),
    (lambda: sextant.label(IMAGE, by_value=1), TypeError, "by_value is 1, expected True or False"),
    (lambda: sextant.label(IMAGE, memory="much"), ValueError, "memory much"),
    (lambda: sextant.label(IMAGE, grid=(0, 1)), ValueError, "grid 0x1"),
    (lambda: sextant.label(IMAGE, grid="2x1", ranks=3), ValueError, "grid"),
    (lambda: sextant.label(IMAGE, ranks=2, pattern="2-lev"), ValueError, "2-lev-rc"),
    (lambda: sextant.label(IMAGE, ranks=0), ValueError, "ranks 0"),
    (lambda: sextant.label(IMAGE, ranks=2.0), TypeError, "ranks is 2.0"),
    (lambda: sextant.label(IMAGE, frame=1), ValueError, "frame 1"),
    (lambda: sextant.label(IMAGE, progress=3), TypeError, "progress is 3"),
    (lambda: sextant.label(IMAGE, comm=3), TypeError, "comm is 3"),
    (lambda: sextant.label([[1, 0]], copy=False), ValueError, "copy is False"),
    (lambda: sextant.label(np.ma.array(IMAGE), copy=False), ValueError, "masked"),
    (lambda: sextant.filter(IMAGE, sigma="wide"), ValueError, "sigma wide"),
    (lambda: sextant.filter(IMAGE, border_value=3), ValueError, "border_value has no effect"),
    (lambda: sextant.label(IMAGE, grid=(2,)), ValueError, "grid"),
    (lambda: sextant.label(IMAGE, grid=(2, 1, 2)), ValueError, "grid"),
    (lambda: sextant.explain(size=(2,)), ValueError, "size"),
    (lambda: sextant.filter(IMAGE, sigma=np.array([1., 2., 3.])), ValueError, "one each for y,x"),
    (lambda: sextant.filter(IMAGE, sigma=1j), TypeError, "sigma is 1j, expected a number"),
    (lambda: sextant.filter(IMAGE, sigma=10**5000), TypeError, "sigma is a value of type int"),
    (lambda: sextant.filter(IMAGE, border=object), TypeError, "expected a string or a number"),
    (lambda: sextant.filter(IMAGE, border="\ud800"), ValueError, "border"),
    (lambda: sextant.filter(IMAGE, **{"\ud800": 1}), TypeError, "unknown keyword"),
    (lambda: sextant.filter(IMAGE, before=[nested(200_000)]), TypeError, "before"),
    (lambda: sextant.filter(IMAGE, border=True), TypeError, "border is True, expected a string"),
    (lambda: sextant.label(IMAGE, grid=(np.inf, 1)), ValueError, "grid infx1"),
    (lambda: sextant.filter(IMAGE, sigma=.1), ValueError, "the scale along x is 0.1 pixels"),
    (lambda: sextant.filter(IMAGE, sigma=np.nan), ValueError, "sigma nan"),
    (lambda: sextant.filter(IMAGE, sigma=None, derivatives="z"), ValueError, "z"),
    (lambda: sextant.filter(IMAGE, derivatives=["x", "x"]), ValueError, "x"),
    (lambda: sextant.filter(IMAGE, derivatives=[]), ValueError, ""),
    (lambda: sextant.features(IMAGE, "gradient"), ValueError, "gradient-magnitude"),
    (lambda: sextant.features(IMAGE, derivatives="x"), ValueError, "derivatives"),
    (lambda: sextant.canny(IMAGE, quantiles=(.9, .1)), ValueError, ""),
    (lambda: sextant.canny(IMAGE, thresholds=(2, 1)), ValueError, ""),
    (lambda: sextant.canny(IMAGE, min_length=3), TypeError, "min_length"),
    (lambda: sextant.contours(IMAGE, thresholds=(1, 2), quantiles=(.1, .2)), ValueError,
     "quantiles"),
    (lambda: sextant.contours(IMAGE, directions=True, sigma=2), ValueError, "sigma"),
    (lambda: sextant.contours(IMAGE, min_length=0), ValueError, "min_length 0"),
    (lambda: sextant.contours(np.full((9, 9), 9), directions=True), ValueError, "has 9 at (0, 0)"),
    (lambda: sextant.label(IMAGE, frame="0"), TypeError, "frame is '0', expected a whole number"),
    (lambda: sextant.label(IMAGE, frame=0.0), TypeError, "frame is 0.0"),
    (lambda: sextant.label(IMAGE, ranks=10**30), ValueError, "from 1 to 1024"),
    (lambda: sextant.label(np.zeros((5, 5, 3)), channel_axis="last"), TypeError,
     "channel_axis is 'last'"),
    (lambda: sextant.label(lazy((np.nan, 40))), TypeError, "(nan, 40)"),
    (lambda: sextant.label(lazy((32.0, 40))), TypeError, "(32.0, 40)"),
    (lambda: sextant.label(lazy((-32, 40))), ValueError, "(-32, 40)"),
    (lambda: sextant.label(lazy((10**30, 40))), TypeError, "40)"),
    (lambda: sextant.label(lazy(None)), TypeError, "shape None"),
    (lambda: sextant.open_series("a.tif", channel="2"), TypeError, "channel is '2'"),
    (lambda: sextant.open_series("a.tif", slice=-1), ValueError, "slice -1"),
    (lambda: sextant.open_series("a.h5", allow_external="yes"), TypeError, "allow_external is"),
    (lambda: sextant.open_series(3), TypeError, "path is 3"),
    (lambda: sextant.scan([1, 2], max, exclusive="yes"), TypeError, "exclusive is 'yes'"),
    (lambda: sextant.scan([1, 2], max, capacity=5.5), TypeError, "capacity is 5.5"),
    (lambda: sextant.measure(IMAGE), TypeError, "float32"),
    (lambda: sextant.measure(np.zeros((2, 2, 2, 2), int)), ValueError, "(2, 2, 2, 2)"),
    (lambda: sextant.measure(VOLUME), TypeError, "labels has type float32, expected integers"),
    (lambda: sextant.measure(LABELS, VOLUME[1:]), ValueError,
     "intensity has shape (3, 9, 8), expected (4, 9, 8) as labels"),
    (lambda: sextant.measure(LABELS[0], VOLUME), ValueError,
     "intensity has shape (4, 9, 8), expected (9, 8) as labels"),
    (lambda: sextant.measure(LABELS, memry=1), TypeError, "did you mean memory?"),
    (lambda: sextant.label(VOLUME[np.newaxis]), ValueError, "or 3: depth, height, width"),
    (lambda: sextant.label(VOLUME, neighbours=8), ValueError,
     "neighbours 8: array is a volume, expected 6, 18 or 26"),
    (lambda: sextant.label(IMAGE, neighbours=26), ValueError, "is an image, expected 4 or 8"),
    (lambda: sextant.label(IMAGE, grid=(2, 1), min_size=3), ValueError, "min_size has no effect here"),
    (lambda: sextant.label(VOLUME, min_size=-1), ValueError, "min_size -1"),
    (lambda: sextant.label(VOLUME, grid=2), ValueError, "grid has no effect here"),
    (lambda: sextant.label(VOLUME, fill_holes=True, by_value=True), ValueError, "fill_holes"),
    (lambda: sextant.label(VOLUME, intensity=VOLUME), ValueError, "add measure=True"),
    (lambda: sextant.label(VOLUME, intensity=VOLUME[0], measure=True), ValueError,
     "intensity has shape (1, 9, 8), expected (4, 9, 8) as image"),
    (lambda: sextant.label(IMAGE, intensity=VOLUME, measure=True), ValueError,
     "intensity has shape (4, 9, 8), expected (32, 40) as image"),
    (lambda: sextant.label(VOLUME[..., :3]), ValueError, "neighbours=26"),
    (lambda: sextant.label(VOLUME, out=np.zeros(VOLUME.shape, "u2")), TypeError, "uint16"),
    (lambda: sextant.label(VOLUME, out=np.zeros(VOLUME.shape, "f8")), TypeError, "float64"),
    (lambda: sextant.label(VOLUME, out=np.zeros((9, 8), "u4")), ValueError, "expected (4, 9, 8)"),
    (lambda: sextant.label(LABELS, out=LABELS), ValueError, "out shares memory with image"),
    (lambda: sextant.filter(VOLUME[..., :3]), ValueError, "sigma=(z, y, x)"),
    (lambda: sextant.filter(VOLUME, sigma=(1, 2)), ValueError, "sigma 1,2"),
    (lambda: sextant.filter(VOLUME, sigma=(1, 2, np.nan)), ValueError, "sigma 1,2,nan"),
    (lambda: sextant.filter(IMAGE, sigma=(1, 2, 3)), ValueError, "one each for y,x"),
    (lambda: sextant.filter(IMAGE, derivatives="z"), ValueError, "z"),
    (lambda: sextant.filter(IMAGE, derivatives="hessian-3"), ValueError, "hessian-3"),
    (lambda: sextant.filter(VOLUME, derivatives="x", out=np.zeros((9, 8), "f4")), ValueError,
     "expected (1, 4, 9, 8)"),
    (lambda: sextant.stitch(LABELS), ValueError, "expected block"),
    (lambda: sextant.stitch([]), ValueError, "there are no blocks"),
    (lambda: sextant.stitch([LABELS]), TypeError, "expected a pair: labels, position"),
    (lambda: sextant.stitch([(LABELS, 3)]), TypeError, "block 0 has position 3"),
    (lambda: sextant.stitch([(LABELS, (0, 0))]), ValueError, "has no z"),
    (lambda: sextant.stitch([(LABELS[0], (0, 0, 0))]), ValueError, "has a z"),
    (lambda: sextant.stitch([(LABELS[0], (0, 0)), (LABELS, (4, 0, 0))]), ValueError,
     "block 1 has position (4, 0, 0), but other blocks have 2 coordinates"),
    (lambda: sextant.stitch([(LABELS, (0, 0, -1))]), ValueError, "x of block 0 -1"),
    (lambda: sextant.stitch([(LABELS, (0, 0, np.nan))]), TypeError, "x of block 0 is nan"),
    (lambda: sextant.stitch([(VOLUME, (0, 0, 0))]), TypeError, "block 0 has type float32"),
    (lambda: sextant.stitch([(LABELS - 1, (0, 0, 0))]), ValueError, "block 0: label -1"),
    (lambda: sextant.stitch([(LABELS, (0, 0, 0)), (LABELS, (0, 0, 0))]), ValueError,
     "have the same position"),
    (lambda: sextant.stitch([(LABELS, (0, 0, 0)), (LABELS, (9, 0, 0))]), ValueError,
     "no block contains the voxels z 4 to 8"),
    (lambda: sextant.stitch(LABELS, block=(2, 2)), ValueError, "block: 2 numbers"),
    (lambda: sextant.stitch(LABELS, block=(2, 0, 0), threshold=2), ValueError, "threshold"),
    (lambda: sextant.stitch(LABELS, block=(2, 0, 0), out=np.zeros((4, 9, 9), "u4")), ValueError,
     "out has shape (4, 9, 9), expected (4, 9, 8)"),
    (lambda: sextant.stitch("missing.csv"), OSError, "missing.csv"),
    (lambda: sextant.stitch(LABELS, blok=(2, 0, 0)), TypeError, "did you mean block?"),
    (lambda: sextant.composite(np.zeros((2, 4, 4, 3), "f4")), TypeError, "3 channels"),
    (lambda: sextant.composite(np.zeros((2, 4, 4, 4), "f8")), TypeError, "float64"),
    (lambda: sextant.composite(np.zeros((2, 4, 4), "f4")), ValueError, "(2, 4, 4)"),
    (lambda: sextant.composite([np.zeros((4, 4, 4), "f4"), np.zeros((4, 5, 4), "f4")]), ValueError,
     "shape"),
    (lambda: sextant.composite(np.zeros((0, 4, 4, 4), "f4")), ValueError, "empty"),
    (lambda: sextant.composite(np.zeros((2, 4, 4, 4), "f4"), order=[0, 0]), ValueError, "order"),
    (lambda: sextant.composite(np.zeros((2, 4, 4, 4), "f4"), order=[0, 7]), ValueError, "7"),
    (lambda: sextant.composite(np.zeros((2, 4, 4, 4), "f4"), algorithm="direct"), ValueError,
     "direct-send"),
    (lambda: sextant.composite(np.zeros((2, 4, 4, 4), "f4"), operator="nearest"), ValueError, ""),
    (lambda: sextant.composite(np.zeros((2, 4, 4, 4), "f4"), background="mauve"), ValueError,
     "mauve"),
    (lambda: sextant.composite(np.zeros((2, 4, 4, 4), "f4"), root=2), ValueError, "root"),
    (lambda: sextant.scan([1, 2], 3), TypeError, "op is 3"),
    (lambda: sextant.scan([1, 2], max, strategy="fast"), ValueError, "fast"),
    (lambda: sextant.scan([1, 2], max, algorithm="brent"), ValueError, "brent-kung"),
    (lambda: sextant.scan([1, 2], max, thread=2), TypeError, "did you mean threads"),
    (lambda: sextant.explain("stitch"), ValueError, "stitch"),
    (lambda: sextant.explain(rank=3), TypeError, "did you mean ranks"),
    (lambda: sextant.explain(machine="atlantis"), ValueError, "atlantis"),
    (lambda: sextant.explain("scan", times="never"), ValueError, "times never"),
    (lambda: sextant.explain("scan", speedup="1,-2"), ValueError, "speedup 1,-2"),
    (lambda: sextant.explain("filter", size=64, machine="fat-tree-144-calibrated"), ValueError,
     "machine fat-tree"),
    (lambda: sextant.simulate("compositing", ranks=4), TypeError, "platform is missing"),
    (lambda: sextant.simulate("compositing", platform="fat-tree-144-calibrated", operator="over"),
     ValueError, "expected machine with"),
    (lambda: sextant.simulate("compositing", platform="no-such"), ValueError, "no-such"),
    (lambda: sextant.calibrate(budgets="3s"), TypeError, "did you mean budget"),
    (lambda: sextant.calibrate(budget="long"), ValueError, "budget long"),
    (lambda: sextant.open_series("missing.mrc"), OSError, "missing.mrc"),
    (lambda: sextant.info("missing.mrc"), OSError, "missing.mrc"),
    (lambda: sextant.apply(3, IMAGE), TypeError, "transforms is a int"),
    (lambda: sextant.apply("missing.json", IMAGE), OSError, "missing.json"),
])
def test_arguments(call, error, text):
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, sextant.Error), type(caught.value)
    assert text in str(caught.value)
    assert "--" not in str(caught.value)  # options are named as keywords


@pytest.mark.parametrize("read", [sextant.open_series, sextant.info, sextant.register, sextant.label,
                                  lambda path: sextant.register(np.zeros((2, 32, 32)), dark=path),
                                  lambda path: sextant.apply(path, IMAGE)])
def test_a_missing_file_is_not_found(read, tmp_path):
    path = str(tmp_path / "missing.mrc")
    with pytest.raises(FileNotFoundError) as caught:
        read(path)
    error = caught.value
    assert isinstance(error, sextant.NoSuchFile) and isinstance(error, sextant.InvalidFile)
    assert (error.errno, error.filename) == (errno.ENOENT, path)
    assert str(error) == str(pickle.loads(pickle.dumps(error))) == f"{path}: no such file"


def test_a_damaged_file_has_a_name(tmp_path):
    path = tmp_path / "movie.npy"
    path.write_bytes(b"not an array")
    with pytest.raises(sextant.InvalidFile) as caught:
        sextant.open_series(path)
    assert caught.value.filename == str(path) and caught.value.errno is None
    assert str(caught.value).startswith(f"{path}: ")
    assert not isinstance(caught.value, FileNotFoundError)


class Ephemeral:
    """A sequence that makes its items when they are read."""

    def __init__(self, *items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        item = self.items[index]
        return "".join(list(item)) if isinstance(item, str) else item + .25


def test_sequences_that_make_their_items(movie):
    for _ in range(20):
        for thresholds in (np.array([.1, .2]), Ephemeral(-.15, -.05)):
            found = sextant.contours(IMAGE, thresholds=thresholds).thresholds
            assert found == pytest.approx((.1, .2))
        for names in (np.array(["smooth", "laplacian"]), Ephemeral("smooth", "laplacian")):
            assert sextant.filter(IMAGE, derivatives=names).derivatives == ["smooth", "laplacian"]
        sextant.explain("scan", speedup=np.array([1., 2.]))
    assert sextant.label(IMAGE, grid=np.array([2, 1])).ranks == 2
    averaged = sextant.register(movie, frames=np.array([0, 2, 3])).frames["averaged"]
    assert averaged.nonzero()[0].tolist() == [0, 2, 3]


def test_numbers_of_other_types():
    for sigma in (np.array(2.0), np.array(2), np.float32(2), np.int8(2)):
        planes = sextant.filter(IMAGE, sigma=sigma).planes
        np.testing.assert_array_equal(planes, sextant.filter(IMAGE, sigma=2).planes)

    class Bad:
        def __index__(self):
            raise KeyError("index")
    with pytest.raises(KeyError, match="index"):
        sextant.filter(IMAGE, sigma=Bad())


def test_on_and_off_as_truth_values(movie):
    images = np.zeros((2, 4, 4, 4), "f4")
    for truth, word in ((True, "on"), (np.False_, "off")):
        assert (sextant.composite(images, sparse=truth).plan.text ==
                sextant.composite(images, sparse=word).plan.text)
    assert sextant.register(movie, despike=False, flatten=False).frames["registered"].all()


def test_options_of_earlier_calls_do_not_hide_wrong_types():
    image = np.eye(16, dtype="f4")
    plain = sextant.filter(image, sigma=1, derivatives=("x", "y"))
    assert sextant.filter(image, sigma=1.0, derivatives=["x", "y"]).derivatives == ["x", "y"]
    with pytest.raises(sextant.InvalidKeyword, match="sigma is True"):
        sextant.filter(image, sigma=True, derivatives=["x", "y"])
    plain.derivatives.append("xx")
    assert sextant.filter(image, sigma=1, derivatives=("x", "y")).derivatives == ["x", "y"]
    assert sextant.label(image, neighbours=4).components == 16
    assert sextant.label(image, neighbours="8").components == 1


@pytest.mark.parametrize("series, error, text", [
    (lambda movie: movie[0], ValueError, "(128, 128)"),
    (lambda movie: movie[:1], ValueError, "at least two"),
    (lambda movie: movie[:0], ValueError, "empty"),
    (lambda movie: movie[:, :8, :8], ValueError, "16x16"),
    (lambda movie: movie.astype("c8"), TypeError, "complex64"),
    (lambda movie: movie.astype(object), TypeError, "object"),
    (lambda movie: np.array(["a"]), TypeError, "U1"),
    (lambda movie: [movie[0], movie[1][:50]], ValueError, "frame 1 of series has shape (50, 128) and type float32, expected (128, 128)"),
    (lambda movie: [movie[0], movie[1].astype("u1")], ValueError, "frame 1"),
    (lambda movie: [movie[0], movie[1].astype("c8")], TypeError, "frame 1 of series"),
    (lambda movie: iter([]), ValueError, "no frames"),
    (lambda movie: iter([movie[0], movie[1][:50]]), ValueError, "frame 1 of series"),
    (lambda movie: iter([3, 4]), ValueError, "frame 0 of series"),
    (lambda movie: {}, TypeError, "object"),
    (lambda movie: 3, ValueError, "shape ()"),
    (lambda movie: "missing/*.tif", FileNotFoundError, "missing"),
    (lambda movie: np.full(movie.shape, np.nan), ValueError, ""),
])
def test_series(movie, series, error, text):
    with pytest.raises(error) as caught:
        sextant.register(series(movie))
    assert isinstance(caught.value, sextant.Error)
    assert text in str(caught.value)


@pytest.mark.parametrize("options, error, text", [
    ({"modle": "rigid"}, TypeError, "did you mean model"),
    ({"model": "stiff"}, ValueError, "stiff"),
    ({"stages": 0}, ValueError, "stages 0"),
    ({"stages": 2.5}, TypeError, "stages is 2.5"),
    ({"stages": True}, TypeError, "stages is True"),
    ({"reference": 99}, ValueError, "99"),
    ({"ranks": 0}, ValueError, "ranks"),
    ({"ranks": "2"}, TypeError, "ranks is '2'"),
    ({"ranks": 2.0}, TypeError, "ranks is 2.0"),
    ({"frames": "0-99"}, ValueError, "99"),
    ({"dark": np.zeros((3, 3), "f4")}, ValueError, "3x3"),
    ({"channel": 1}, ValueError, "channel"),
])
def test_options_of_register(movie, options, error, text):
    with pytest.raises(error) as caught:
        sextant.register(movie, **options)
    assert isinstance(caught.value, sextant.Error)
    assert text in str(caught.value)


@pytest.mark.parametrize("options, text", [({"frame": 2.0}, "frame is 2.0"),
                                           ({"from_reference": "x"}, "from_reference is 'x'")])
def test_options_of_apply(movie, options, text):
    data = movie[2] if "frame" in options else [[0, 1.0, 2.0]]
    with pytest.raises(sextant.WrongType, match=text):
        sextant.apply(sextant.register(movie), data, **options)


def frozen(array):
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("out, error, text", [
    (frozen(np.zeros((32, 40), "i4")), ValueError, "read-only"),
    (np.zeros((32, 41), "i4"), ValueError, "(32, 41)"),
    (np.zeros((32, 40), "i2"), TypeError, "int16"),
    (np.zeros((32, 40), "f4"), TypeError, "float32"),
    (3, ValueError, "out"),
    ([[1]], ValueError, "out"),
])
def test_out(out, error, text):
    with pytest.raises(error) as caught:
        sextant.label(IMAGE, out=out)
    assert isinstance(caught.value, sextant.Error)
    assert text in str(caught.value)


def test_out_that_shares_memory_with_the_input(movie):
    """Of other kinds than those in test_inputs_are_kept.py."""
    image, planes = np.zeros((32, 40), "i4"), np.zeros((2, 32, 40), "f4")
    images, found, out = np.zeros((2, 8, 8, 4), "f4"), sextant.register(movie), np.zeros_like(movie)
    lists = [list(movie), [memoryview(frame) for frame in movie]]

    class Interface:
        __array_interface__ = image.__array_interface__
    for call in (lambda: sextant.label(memoryview(image), out=image),
                 lambda: sextant.label(Interface(), out=image),
                 lambda: sextant.filter(planes[0], derivatives="x,y", out=planes),
                 lambda: sextant.composite(list(images), out=images[1]),
                 *(lambda frames=each: sextant.register(frames, out=movie) for each in lists),
                 *(lambda frames=each: sextant.apply(found, frames, out=movie) for each in lists)):
        with pytest.raises(sextant.InvalidTask, match="shares memory"):
            call()
    for name in ("dark", "gain", "defects", "mask"):
        with pytest.raises(sextant.InvalidTask, match=f"out shares memory with {name}"):
            sextant.register(movie, out=out, **{name: out[0]})
    both = np.zeros((32, 80), "i4")
    sextant.label(both[:, ::2], out=both[:, 1::2])  # interleaved, but not shared


def test_out_that_is_the_stored_input():
    zarr = pytest.importorskip("zarr")
    image = zarr.array(IMAGE.astype("i4"))
    with pytest.raises(sextant.InvalidTask, match="shares memory"):
        sextant.label(image, out=image)


class Odd(Exception):
    """An exception that only these tests raise."""


def test_an_exception_of_a_generator_arrives_unchanged(movie):
    raised = Odd("frame 2")

    def frames():
        yield from movie[:2]
        raise raised
    with pytest.raises(Odd) as caught:
        sextant.register(frames())
    assert caught.value is raised


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("first_bad", [0, 3, 7])
def test_an_exception_of_a_lazy_series_arrives_unchanged(movie, ranks, first_bad):
    raised = Odd("no frame")

    class Series:
        shape, dtype = movie.shape, movie.dtype

        def __getitem__(self, index):
            if index.stop > first_bad:
                raise raised
            return movie[index]
    with pytest.raises(Odd) as caught:
        sextant.register(Series(), ranks=ranks)
    assert caught.value is raised


@pytest.mark.parametrize("ranks", [1, 2])
def test_an_exception_of_progress_arrives_unchanged(movie, ranks):
    raised = Odd("progress")

    def progress(part, done, all):
        if done == 2:
            raise raised
    with pytest.raises(Odd) as caught:
        sextant.register(movie, ranks=ranks, progress=progress)
    assert caught.value is raised


def test_an_exception_of_out_arrives_unchanged(movie):
    class Out:
        def __init__(self, shape, dtype):
            self.shape, self.dtype = shape, np.dtype(dtype)

        def __setitem__(self, index, rows):
            raise Odd("full")
    with pytest.raises(Odd):
        sextant.register(movie, out=Out(movie.shape, "f4"))
    with pytest.raises(Odd):
        sextant.label(IMAGE, out=Out(IMAGE.shape, "i4"))
    with pytest.raises(Odd):
        sextant.filter(IMAGE, derivatives="x", out=Out((1, *IMAGE.shape), "f4"))


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("name", [*FUNCTIONS, "scan"])
def test_progress_is_reported(name, ranks):
    reported = []
    raised = Odd("progress")

    def call(progress):
        if name == "scan":
            return sextant.scan(range(20), max, threads=ranks, progress=progress)
        return FUNCTIONS[name](np.tile(IMAGE, (30, 1)), ranks=ranks, progress=progress)

    def fail(part, done, all):
        raise raised
    call(lambda *progress: reported.append(progress))
    assert reported and all(0 <= done < steps for _part, done, steps in reported)
    with pytest.raises(Odd) as caught:
        call(fail)
    assert caught.value is raised


class Unprintable(Exception):
    def __str__(self):
        raise KeyError("no text")


@pytest.mark.parametrize("raised", [Odd("caf\udce9"), Odd("\ud800"), Unprintable()])
def test_an_exception_whose_text_is_invalid_arrives_unchanged(movie, raised):
    def progress(part, done, all):
        raise raised
    with pytest.raises(type(raised)) as caught:
        sextant.register(movie, progress=progress)
    assert caught.value is raised


def test_a_series_that_changes_is_refused(movie):
    class Shrinking:
        dtype, reads = movie.dtype, 0

        @property
        def shape(self):
            return movie.shape if self.reads < 3 else (4, *movie.shape[1:])

        def __getitem__(self, index):
            self.reads += 1
            return movie[index]
    with pytest.raises(sextant.InvalidFile, match="had"):
        sextant.register(Shrinking())


def test_a_file_that_is_truncated_meanwhile_is_refused(movie, tmp_path):
    path = tmp_path / "movie.npy"
    np.save(path, movie)
    series = sextant.open_series(path)
    os.truncate(path, 3000)
    with pytest.raises((sextant.InvalidFile, sextant.RunFailed), match="movie.npy"):
        sextant.register(series)


def test_an_interpreter_is_usable_after_errors(movie):
    for _ in range(50):
        with pytest.raises(sextant.Error):
            sextant.register(movie, reference=99)
    assert sextant.register(movie).frames["registered"].all()


@pytest.mark.parametrize("call", ["sextant.register(movie, threads=256)",
                                  "sextant.register(movie, ranks=256)",
                                  "sextant.scan(range(300), max, threads=256)",
                                  "sextant.label(image, ranks=256)"])
def test_threads_that_cannot_be_started(run_script, call):
    done = run_script(f"""
import resource
import numpy as np
import sextant

image = np.random.default_rng(0).normal(size=(512, 512)).astype("f4")
movie = np.stack([image[k:k + 128, :128] for k in range(4)])
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**29, used + 2**29))  # the stacks of a few threads
try:
    {call}
except (sextant.CommunicationFailed, sextant.RunFailed) as error:
    print(error)
""")
    assert "could be started" in done.stdout
