# SPDX-License-Identifier: BSD-3-Clause
"""float64 in, float64 out: no finite sample becomes infinite or 0 without a word."""
import json
import subprocess
import warnings

import numpy as np
import pytest
from scipy import ndimage

import sextant
import sextant.dask
from conftest import write_transforms

MAGNITUDES = [1e-300, 1e-60, 1e-40, 1e-12, 1., 1e12, 1e30, 1e50, 1e300]
ORDERS = {"smooth": 0, "x": (0, 1), "xy": (1, 1), "yy": (2, 0)}
RNG = np.random.default_rng(12)
IMAGE = RNG.normal(size=(60, 50))
VOLUME = RNG.normal(size=(14, 20, 18))


def expected(image, name):
    """What SciPy computes in double precision, of samples that it can square."""
    largest = np.abs(image).max()
    order = ORDERS[name]
    order = (0, *order) if image.ndim == 3 and order else order
    return ndimage.gaussian_filter(image / largest, 1.5, order, mode="nearest", truncate=4) * largest


def expect_near(found, exact, spread, share=3e-6):
    assert found.dtype == np.float64
    assert np.isfinite(found).all()
    assert np.abs(found / spread - exact / spread).max() < share


@pytest.mark.parametrize("magnitude", MAGNITUDES)
@pytest.mark.parametrize("image", [IMAGE, VOLUME], ids=["image", "volume"])
def test_filters_of_any_magnitude(tmp_path, program, image, magnitude):
    image = image * magnitude
    options = {"truncate": 4, "derivatives": list(ORDERS)}
    found = sextant.filter(image, 1.5, **options)
    for ranks in (1, 2):
        again = sextant.filter(image, 1.5, ranks=ranks, **options)
        np.testing.assert_array_equal(again.planes, found.planes)
    np.save(tmp_path / "image.npy", image)
    subprocess.run([program, "filter", tmp_path / "image.npy", "-o", tmp_path / "out.npy", "--sigma",
                    "1.5", "--truncate", "4", "--derivatives", ",".join(ORDERS)], check=True)
    for k, name in enumerate(ORDERS):
        exact = expected(image, name)
        expect_near(found[name], exact, np.abs(exact).max())
        stored = (np.load(tmp_path / "out.npy")[k] if image.ndim == 2 else
                  np.load(tmp_path / f"out_{name}.npy"))
        assert stored.dtype == np.float64
        np.testing.assert_array_equal(stored, found[name])


@pytest.mark.parametrize("magnitude", [1e-140, 1e-60, 1., 1e60, 1e140])
def test_features_are_those_of_the_scaled_image(magnitude):
    """Eigenvalues of the structure tensor are of second degree."""
    names = ["gradient-magnitude", "laplacian", "hessian-1", "structure-1@2", "structure-2@2"]
    for image in (IMAGE, VOLUME):
        found = sextant.features(image * magnitude, names, sigma=1)
        usual = sextant.features(image, names, sigma=1)
        for name in names:
            factor = magnitude**2 if name.startswith("structure") else magnitude
            expect_near(found[name] / factor, usual[name], np.abs(usual[name]).max(), 1e-5)


@pytest.mark.parametrize("dtype", ["f8", "u4", "i4", "u8", "i8"])
@pytest.mark.parametrize("image", [IMAGE, VOLUME], ids=["image", "volume"])
def test_smoothed_samples_far_from_zero(tmp_path, image, dtype):
    h5py = pytest.importorskip("h5py")
    spread = .04 if dtype == "f8" else 40
    image = (1e9 + np.round(spread * image, 12)).astype(dtype)
    exact = ndimage.gaussian_filter(image.astype("f8"), 1.5, mode="nearest", truncate=4)
    options = {"truncate": 4, "derivatives": "smooth"}
    share = 2e-5 if dtype == "f8" else 3e-6  # four steps of a double of 10⁹ are 10⁻⁵ of the spread
    expect_near(sextant.filter(image, 1.5, **options)["smooth"], exact, spread, share)
    with h5py.File(tmp_path / "out.h5", "w") as file:
        out = file.create_dataset("out", image.shape, "f8")
        sextant.filter(image, 1.5, out=out, **options)
        expect_near(out[:], exact, spread, share)
    dask = pytest.importorskip("dask.array")
    lazy = sextant.dask.filter(dask.from_array(image, chunks=9), 1.5, **options)
    expect_near(lazy.compute()[0], exact, spread, share)


def test_constant_images_keep_their_value():
    for value in (1e9 + .3, 1e-60, 1e50, -3.):
        found = sextant.filter(np.full((20, 30), value), 2, derivatives=["smooth", "x"])
        assert (found["smooth"] == value).all() and (found["x"] == 0).all()
    volume = np.full((200, 300), 1e9 + .3)
    volume[:40] += RNG.normal(size=(40, 300))
    found = sextant.filter(volume, 1.5, truncate=4, derivatives="smooth")["smooth"]
    expect_near(found, ndimage.gaussian_filter(volume, 1.5, mode="nearest", truncate=4), 1)


def test_results_that_a_type_cannot_hold_are_refused(tmp_path, program):
    for magnitude in (1e-60, 1e50):
        image = IMAGE * magnitude
        with pytest.raises(sextant.Error, match="which f32 cannot represent, expected f64"):
            sextant.filter(image, 1, out=np.empty((5, *IMAGE.shape), "f4"))
        np.save(tmp_path / "image.npy", image)
        for name in ("out.mrc", "out.tif"):
            done = subprocess.run([program, "filter", tmp_path / "image.npy", "-o", tmp_path / name],
                                  capture_output=True, text=True)
            assert done.returncode == 1 and "which f32 cannot represent" in done.stderr
            assert not (tmp_path / name).exists()
    out = np.empty(IMAGE.shape, "f4")
    found = sextant.filter(1e9 + IMAGE, 1, derivatives="smooth", out=out)
    assert any("holds 7 digits of samples of about 1e+09" in each for each in found.warnings)
    image = IMAGE * 1e3
    out = np.empty((5, *IMAGE.shape), "f4")
    sextant.filter(image, 1, out=out)
    np.testing.assert_array_equal(out, sextant.filter(image, 1).planes.astype("f4"))


def test_samples_that_floats_cannot_hold_beside_others_are_named():
    image = IMAGE.copy()
    image[30, 20] = 1e50
    image = np.vstack([np.ones((2000, 50)), image])
    with pytest.raises(sextant.Error, match=r"the sample 1e\+50 exceeds the range of 32-bit floats"):
        sextant.filter(image, 1)
    image = np.ones((300, 40))
    image[5, :30] = 1e-60
    for ranks in (1, 2, 3):
        found = sextant.filter(image, 1, ranks=ranks)
        assert any("30 samples differ from 0 " in each for each in found.warnings), found.warnings
    volume = np.ones((9, 10, 11))
    volume[3, 4:6] = 1e-60
    for ranks in (1, 2, 3):
        found = sextant.filter(volume, 1, ranks=ranks)
        assert any("22 samples differ from 0 " in each for each in found.warnings), found.warnings


@pytest.mark.parametrize("image", [IMAGE, VOLUME], ids=["image", "volume"])
@pytest.mark.parametrize("large, small", [(1e200, 1.), (1., 1e-60), (1e30, 1e-30)])
def test_every_function_warns_of_samples_that_floats_cannot_hold(tmp_path, program, image, large, small):
    samples = np.where(np.abs(image) > .3, large * image, small)
    np.save(tmp_path / "image.npy", samples)
    done = subprocess.run([program, "filter", tmp_path / "image.npy", "-o", tmp_path / "out.npy",
                           "--derivatives", "smooth"], check=True, capture_output=True, text=True)
    line, = [line for line in done.stderr.splitlines() if " samples differ from 0 " in line]
    said = line.partition("image.npy: ")[2]
    assert said.startswith(f"{(samples == small).sum()} samples ")
    calls = [lambda: sextant.filter(samples, derivatives="smooth"),
             lambda: sextant.filter(tmp_path / "image.npy", derivatives="smooth", ranks=2),
             lambda: sextant.features(samples, "smooth"),
             lambda: sextant.features(samples, ["laplacian", "smooth"],
                                      out=np.empty((2, *samples.shape)))]
    for call in calls:
        with pytest.warns(UserWarning) as caught:
            call()
        assert [str(each.message).partition(": ")[2] for each in caught] == [said]
        assert caught[0].filename == __file__
    dask = pytest.importorskip("dask.array")
    with pytest.warns(UserWarning, match=" samples differ from 0 "):
        sextant.dask.filter(dask.from_array(samples, chunks=9), derivatives="smooth")


@pytest.mark.parametrize("image", [IMAGE, VOLUME], ids=["image", "volume"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("value", [1e25, 3e38, np.nan])
def test_results_that_are_not_finite_are_counted(tmp_path, program, image, dtype, value):
    samples = image.astype(dtype)
    samples[(1,) * image.ndim] = value
    features = ["smooth", "laplacian", "gradient-magnitude", "structure-1@1", "hessian-1"]
    options = {"sigma": .5, "truncate": 2}

    def said_by(call):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = call()
        assert all(each.filename == __file__ for each in caught)
        return [str(each.message).partition(": ")[2] for each in caught], found
    said, found = said_by(lambda: sextant.filter(samples, derivatives=features, ranks=2, **options))
    lost = (~np.isfinite(found.planes)).sum()
    assert np.isfinite(found["smooth"]).all() or np.isnan(value)
    if lost == 0:
        assert image.ndim == 2 and not said
    else:
        assert len(said) == 1 and said[0].startswith(
            "1 samples are not numbers (NaN)" if np.isnan(value) else
            f"{lost} results are infinite or NaN")
    np.save(tmp_path / "image.npy", samples)
    for call in (lambda: sextant.filter(samples, derivatives=features, ranks=1, **options),
                 lambda: sextant.filter(tmp_path / "image.npy", derivatives=features, **options),
                 lambda: sextant.features(samples, features, **options)):
        assert said_by(call)[0] == said
    done = subprocess.run([program, "filter", tmp_path / "image.npy", "-o", tmp_path / "out.npy",
                           "--derivatives", ",".join(features), "--sigma", ".5", "--truncate", "2"],
                          check=True, capture_output=True, text=True)
    assert all(each in done.stderr for each in said)
    assert (" samples are" in done.stderr or " results are" in done.stderr) == (said != [])


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8"])
def test_the_command_names_the_type_of_the_samples(tmp_path, program, dtype):
    for image in (IMAGE, VOLUME):
        np.save(tmp_path / "image.npy", (100 * np.abs(image) % 100).astype(dtype))
        done = subprocess.run([program, "filter", tmp_path / "image.npy", "-o", tmp_path / "out.npy",
                               "--derivatives", "smooth", f"--json={tmp_path / 'out.json'}"],
                              check=True, capture_output=True, text=True)
        name = f"gray {dtype[0]}{8 * int(dtype[1])}"
        assert f" {name}, on " in done.stdout
        assert json.loads((tmp_path / "out.json").read_text())["element"] == name
        found = sextant.filter(tmp_path / "image.npy", derivatives="smooth")
        assert found.record["element"] == name


@pytest.fixture
def transforms(tmp_path):
    return write_transforms(tmp_path, [(0, 0, 0), (0, 2, -1)], (24, 32))


@pytest.mark.parametrize("magnitude", MAGNITUDES)
def test_frames_of_any_magnitude_are_aligned(tmp_path, program, transforms, magnitude):
    frames = magnitude * RNG.normal(size=(2, 24, 32))
    exact = np.full_like(frames, np.nan)
    exact[0] = frames[0]
    exact[1, 1:, :-2] = frames[1, :-1, 2:]
    np.save(tmp_path / "frames.npy", frames)
    subprocess.run([program, "apply", transforms, tmp_path / "frames.npy", "-o",
                    tmp_path / "out.npy"], check=True)
    for found in (sextant.apply(transforms, frames), sextant.apply(transforms, list(frames)),
                  sextant.apply(transforms, tmp_path / "frames.npy"),
                  sextant.apply(transforms, frames, out=np.empty_like(frames)),
                  sextant.apply(transforms, frames, axes="TYX"), np.load(tmp_path / "out.npy")):
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, exact)
    np.testing.assert_array_equal(sextant.apply(transforms, frames[1], frame=1), exact[1])
    np.testing.assert_array_equal(sextant.apply(transforms, frames[1:], frame=1), exact[1:])
    narrow = np.empty(frames.shape, "f4")
    with np.errstate(over="ignore"):
        as_floats = exact.astype("f4")
    if magnitude > 1e38:
        with pytest.raises(sextant.InvalidTask, match="exceeds the range of f32"):
            sextant.apply(transforms, frames, out=narrow)
        done = subprocess.run([program, "apply", transforms, tmp_path / "frames.npy", "-o",
                               tmp_path / "out.mrc"], capture_output=True, text=True)
        assert done.returncode != 0 and "exceed the range of 32-bit floats" in done.stderr
    elif (as_floats == 0).any():
        with pytest.warns(UserWarning, match=f"{(as_floats == 0).sum()} nonzero samples are too small"):
            sextant.apply(transforms, frames, out=narrow)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sextant.apply(transforms, frames, out=narrow)
        np.testing.assert_array_equal(narrow, as_floats)


def test_sums_and_halves_are_not_infinite(tmp_path, program, transforms):
    frames = np.full((2, 24, 32), 2e38, "f4")
    with pytest.raises(sextant.InvalidTask, match="exceeds the range of f32"):
        sextant.apply(transforms, frames, axes="TYX", sum=True)
    assert sextant.apply(transforms, frames, axes="TYX", sum=True, dtype="f8")[0].max() > 3.9e38
    for dtype in ("u4", "f4", "f8"):
        with pytest.raises(sextant.InvalidTask, match="exceeds the range of f16"):
            sextant.apply(transforms, np.full((2, 24, 32), 70000, dtype), axes="TYX", dtype="f2")
        np.save(tmp_path / "frames.npy", np.full((2, 24, 32), 70000, dtype))
        done = subprocess.run([program, "apply", transforms, tmp_path / "frames.npy", "-o",
                               tmp_path / "out.npy", "--sample", "f16"], capture_output=True, text=True)
        assert done.returncode != 0 and "exceeds the range of f16" in done.stderr


def test_averages_of_doubles_are_doubles(tmp_path, program, movie):
    movie = movie.astype("f8")
    usual = sextant.register(movie, aligned=True, ranks=1)
    assert usual.average.dtype == usual.median.dtype == usual.aligned.dtype == np.float64
    found = sextant.register(1e9 + movie, aligned=True, ranks=1)
    for name in ("average", "median", "aligned"):
        np.testing.assert_allclose(getattr(found, name) - 1e9, getattr(usual, name), atol=1e-4)
    whole = np.round(1e9 + 1000 * movie).astype("i4")
    found = sextant.register(whole, aligned=True, ranks=1)
    assert found.average.dtype == found.aligned.dtype == np.float64
    assert np.nanmax(np.abs(found.aligned[0] - np.nanmean(whole[0]))) < 1e5
    np.save(tmp_path / "movie.npy", movie)
    subprocess.run([program, "register", tmp_path / "movie.npy", "-o", tmp_path / "out", "--format",
                    "npy"], check=True, capture_output=True)
    assert np.load(tmp_path / "out" / "average.npy").dtype == np.float64
    assert np.load(tmp_path / "out" / "count.npy").dtype == np.float32
    movie[2, 50, 60] = 1e50  # a damaged pixel
    found = sextant.register(movie, aligned=True, ranks=1)
    assert found.average.dtype == np.float64 and not np.isinf(found.average).any()
    assert np.isfinite(found.average[10:-10, 10:-10]).all()
    assert not np.isinf(found.aligned).any() and found.frames["gaps"][2] == 1
    with pytest.raises(sextant.Error, match="exceed the range of 32-bit floats"):
        sextant.register(1e50 * movie)
    with pytest.raises(sextant.Error, match="which 32-bit floats cannot represent"):
        sextant.register(1e-60 * movie)


def test_edges_of_samples_that_floats_cannot_hold_are_refused(tmp_path, program):
    image = ndimage.gaussian_filter(IMAGE, 2)
    for magnitude in (1e-60, 1e50):
        for trace in (sextant.contours, sextant.canny):
            with pytest.raises(sextant.Error, match="32-bit floats"):
                trace(magnitude * image)
        np.save(tmp_path / "image.npy", magnitude * image)
        done = subprocess.run([program, "contours", tmp_path / "image.npy", "-o",
                               tmp_path / "out.svg"], capture_output=True, text=True)
        assert done.returncode != 0 and "32-bit floats" in done.stderr
        # Labels only compare samples; their page shows the image.
        subprocess.run([program, "label", tmp_path / "image.npy", "-o", tmp_path / "labels.npy",
                        "--report", tmp_path / "labels.html"], check=True, capture_output=True)
        assert (np.load(tmp_path / "labels.npy") > 0).all()


@pytest.mark.parametrize("offset", [2**63 - 1000, 2**64 - 2**16, -2**63, 2**62])
def test_integers_far_from_zero_that_differ_by_less_than_doubles_resolve(movie, offset):
    counts = np.round((movie - movie.min()) * 20).astype("i8")
    assert counts.max() < 2**9
    far = np.array([offset + int(count) for count in counts.ravel()], "i8" if offset < 2**62 + 1 else "u8")
    far = far.reshape(counts.shape)
    assert len(np.unique(far.astype("f8"))) <= 2
    options = {"reproducible": True, "ranks": 1, "threads": 1}
    np.testing.assert_allclose(sextant.register(far, **options).motions,
                               sextant.register(counts, **options).motions, atol=1e-3)
    slope = sextant.filter(counts[0], 2, derivatives="x")["x"]
    np.testing.assert_allclose(sextant.filter(far[0], 2, derivatives="x")["x"], slope, atol=1e-4)
    constant = np.full_like(far, far[0, 0, 0])
    constant[0] = far[0]
    with pytest.raises(sextant.InvalidTask, match="every sample is"):
        sextant.register(constant)


#: Types, the number that samples are near, and the least distance between them.
FAR = [("u2", 65000, 1), ("i2", -32000, 1), ("i4", 10**7, 1), ("i4", 10**5, 1), ("u4", 10**7, 1), ("i8", -10**7, 1),
       ("u8", 2**23, 1), ("f4", 10**7, 1), ("f4", 1000, 2**-13), ("f8", 10**7, 1), ("f8", 1000, 2**-13),
       ("f8", 1000, .13)]


@pytest.mark.parametrize("dtype, offset, step", FAR)
@pytest.mark.parametrize("image", [IMAGE, VOLUME], ids=["image", "volume"])
def test_samples_far_from_zero_are_filtered_as_those_near_it(tmp_path, program, image, dtype, offset, step):
    """Also whole numbers, and others that floats hold: their sums would be rounded."""
    near = step * np.round(10 * image)
    samples = (offset + near).astype(dtype)
    near = samples.astype("f8") - offset
    options = {"truncate": 4, "derivatives": list(ORDERS)}
    found = sextant.filter(samples, 1.5, **options)
    np.save(tmp_path / "image.npy", samples)
    for again in (sextant.filter(samples, 1.5, ranks=2, **options),
                  sextant.filter(tmp_path / "image.npy", 1.5, ranks=1, **options)):
        np.testing.assert_array_equal(again.planes, found.planes)
    for name in ("out.npy", "out.mrc"):
        done = subprocess.run([program, "filter", tmp_path / "image.npy", "-o", tmp_path / name, "--sigma", "1.5",
                               "--truncate", "4", "--derivatives", ",".join(ORDERS)],
                              check=True, capture_output=True, text=True)
        assert "subtracted" not in done.stderr
        for k, feature in enumerate(ORDERS):
            path = tmp_path / name
            path = path if image.ndim == 2 else path.with_stem(f"out_{feature}")
            stored = np.asarray(sextant.open_series(path)[:])
            stored = stored[k] if image.ndim == 2 else stored
            if name == "out.npy" and feature == "smooth":
                assert stored.dtype == found.planes.dtype
            np.testing.assert_array_equal(stored, found[feature].astype(stored.dtype))
    for name in ORDERS:
        exact = expected(near, name) + (offset if name == "smooth" else 0)
        held = 0 if found.planes.dtype == "f8" or name != "smooth" else np.spacing(np.float32(offset)) / 2
        assert np.abs(found[name] - exact).max() <= abs(held) + 1e-6 * np.ptp(near), name
    if dtype in ("f4", "u2"):
        assert found.planes.dtype == np.float32 and not found.warnings


@pytest.mark.parametrize("dtype", ["u1", "u2", "f4", "i4"])
def test_samples_of_a_wide_range_have_no_offset(dtype):
    """Results are those of floats, to the last bit."""
    image = (100 + 40 * IMAGE.clip(-2, 2)).astype(dtype)
    found = sextant.filter(image, 1.5)
    np.testing.assert_array_equal(found.planes, sextant.filter(image.astype("f4"), 1.5).planes)
    np.testing.assert_array_equal(2 * found.planes, sextant.filter(2 * image.astype("f4"), 1.5).planes)


@pytest.mark.parametrize("dtype", ["u2", "f4", "i4"])
def test_edges_far_from_zero_are_those_of_the_same_image_near_it(dtype):
    near = np.round(50 * ndimage.gaussian_filter(RNG.normal(size=(120, 100)), 3))
    far = (60000 if dtype == "u2" else 10**7) + near
    assert np.ptp(near) < 100
    options = {"sigma": 1.5, "thresholds": (.5, 1)}
    np.testing.assert_array_equal(sextant.canny(far.astype(dtype), **options),
                                  sextant.canny(near.astype("f4"), **options))


@pytest.mark.parametrize("dtype, offset", [("i4", 10**7), ("u4", 10**6), ("f8", 10**7), ("f4", 10**6), ("u2", 60000)])
def test_averages_far_from_zero_are_those_of_the_same_frames_near_it(tmp_path, program, movie, dtype, offset):
    near = np.round((movie - movie.min()) * 20)
    assert near.max() < 2**9
    far = (offset + near).astype(dtype)
    options = {"ranks": 1, "threads": 1, "aligned": True}
    usual = sextant.register(near.astype("f4"), **options)
    found = sextant.register(far, **options)
    np.testing.assert_allclose(found.motions, usual.motions, atol=1e-3)
    wide = found.average.dtype == np.float64
    assert wide == (dtype in ("i4", "u4", "f8"))
    for name in ("average", "median", "aligned"):
        np.testing.assert_allclose(getattr(found, name) - float(offset), getattr(usual, name),
                                   atol=.01 + (0 if wide else np.spacing(np.float32(offset))))
    np.save(tmp_path / "movie.npy", far)
    for format in ("npy", "tif"):
        done = subprocess.run([program, "register", tmp_path / "movie.npy", "-o", tmp_path / format, "--format", format,
                               "--ranks", "1", "--aligned=on"], check=True, capture_output=True, text=True)
        assert "subtracted" not in done.stderr
        for name in ("average", "median", "aligned"):
            stored = np.asarray(sextant.open_series(tmp_path / format / f"{name}.{format}")[:]).squeeze()
            inside = usual.count > len(near) / 2 if name != "aligned" else slice(None)
            if name != "aligned":
                np.testing.assert_allclose(stored[inside] - float(offset), getattr(usual, name)[inside],
                                           atol=.5 + np.spacing(np.float32(offset)))
            else:
                inside = np.isfinite(stored) & (stored != 0)
                assert (abs(stored[inside] - float(offset)) < 600).all()


@pytest.mark.parametrize("magnitude", [2.**-80, 2.**-60, 1., 2.**40, 2.**62, 2.**100])
def test_features_of_f32_volumes_of_any_magnitude(tmp_path, program, magnitude):
    """Products of samples exceed the range of floats earlier than samples."""
    volume = VOLUME.astype("f4")
    volume[0, 0, :3] = 0
    names = ["smooth", "gradient-magnitude", "hessian-1", "structure-1@2", "structure-3@2"]
    usual = sextant.filter(volume, 1, derivatives=names)
    volume = volume * np.float32(magnitude)
    wide = sextant.filter(volume.astype("f8"), 1, derivatives=names).planes
    for k, name in enumerate(names):
        factor = magnitude**2 if name.startswith("structure") else magnitude
        np.testing.assert_allclose(wide[k], factor * usual[name].astype("f8"), rtol=2e-5,
                                   atol=2e-6 * factor * np.abs(usual[name]).max())
    with np.errstate(over="ignore"):
        narrow = wide.astype("f4")
    lost = (np.isinf(narrow) | (narrow == 0) & (wide != 0)).sum()
    assert (lost > 0) == (magnitude in (2.**-80, 2.**100))
    np.save(tmp_path / "volume.npy", volume)
    said = f"{lost} results are infinite or 0, because f32 cannot represent them" if lost else ""
    for image in (volume, tmp_path / "volume.npy"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = sextant.filter(image, 1, derivatives=names, ranks=2)
        assert found.planes.dtype == np.float32
        np.testing.assert_array_equal(found.planes, narrow)
        assert len(caught) == (lost > 0) and all(said in str(each.message) for each in caught)
    done = subprocess.run([program, "filter", tmp_path / "volume.npy", "-o", tmp_path / "out.npy", "--sigma", "1",
                           "--derivatives", ",".join(names)], check=True, capture_output=True, text=True)
    assert said in done.stderr and ("results are" in done.stderr) == (lost > 0)
    for k, name in enumerate(names):
        np.testing.assert_array_equal(np.load(tmp_path / f"out_{name}.npy"), narrow[k])


@pytest.mark.parametrize("mark", [3.4e38, 1e30, 1e-30, 0])
def test_marks_of_missing_samples_do_not_scale_the_others(mark):
    volume = VOLUME.astype("f4") * np.float32(1e-4)
    volume[:6] = mark
    names = ["smooth", "structure-1@1"]
    found = sextant.filter(volume, .5, derivatives=names, truncate=2)
    usual = sextant.filter(volume[6:], .5, derivatives=names, truncate=2)
    np.testing.assert_array_equal(found.planes[:, 11:], usual.planes[:, 5:])
