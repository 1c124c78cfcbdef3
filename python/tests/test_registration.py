# SPDX-License-Identifier: BSD-3-Clause
"""register and apply, compared with known motions; every kind of source gives the same bits."""
import copy
import json
import pickle
import subprocess

import numpy as np
import pytest
from scipy import ndimage

import sextant
from conftest import cut


def test_motions_are_the_true_ones(movie, motions):
    found = sextant.register(movie)
    assert found.frames["registered"].all()
    np.testing.assert_allclose(found.motions, motions, atol=.06)
    assert (abs(found.motions - motions)[1:] < 5 * np.stack(
        [found.frames["sigma_tx"], found.frames["sigma_ty"]], axis=1)[1:]).all()


def test_synthesized_series_are_registered():
    movie, truth = sextant.synthesize(frames=6, width=128, height=96, seed=3, specimen="particles",
                                      rotation=.5, dose=100)
    assert movie.shape == (6, 96, 128) and movie.dtype == np.float32
    found = sextant.register(movie)
    for name in ("tx", "ty", "alpha"):
        np.testing.assert_allclose(found.frames[name], truth[name], atol=.3)
    np.testing.assert_array_equal(movie, sextant.synthesize(
        frames=6, width=128, height=96, seed=3, specimen="particles", rotation=.5, dose=100)[0])
    with pytest.raises(sextant.InvalidKeyword, match="did you mean frames?"):
        sextant.synthesize(frame=3)


def test_shifts_align_frames_in_scipy(movie):
    found = sextant.register(movie, aligned=True)
    assert found.relative_to == "the average of stage 1"
    assert sextant.register(movie, stages=1).relative_to == "frame 0"
    for frame, shift, aligned in zip(movie, found.shifts, found.aligned):
        shifted = ndimage.shift(frame, shift, order=1)
        np.testing.assert_allclose(shifted[20:-20, 20:-20], aligned[20:-20, 20:-20], atol=.05)


def test_weak_frames_are_registered_by_sums():
    movie, truth = sextant.synthesize(frames=32, width=96, height=96, specimen="carbon", dose=.12,
                                      drift_x=-.3, drift_y=.2, random_step=.1)
    found = sextant.register(movie)
    assert found.record["frames_per_sum"] >= 4 and found.frames["registered"].all()
    assert "sums of" in str(found._facts())
    for name in ("tx", "ty"):
        errors = found.frames[name] - truth[name]
        assert (errors - np.median(errors)).std() < .4
    noise = np.random.default_rng(1).poisson(5, (20, 64, 64)).astype("f4")
    with pytest.raises(sextant.Error, match="could be registered"):
        sextant.register(noise)
    noise[:6] += ndimage.gaussian_filter(np.random.default_rng(2).normal(0, 200, (64, 64)), 3)
    with pytest.raises(sextant.Error, match="min_registered 0.5"):
        sextant.register(noise)
    assert sextant.register(noise, min_registered=.2).frames["registered"].sum() == 6


def test_rotations_are_clockwise_about_the_centre(specimen):
    turned = np.stack([ndimage.rotate(specimen, -angle, reshape=False, order=3, mode="reflect")
                       for angle in (0, 1, 2)])[:, 64:-64, 64:-64]
    found = sextant.register(turned)
    # ndimage.rotate turns counterclockwise for positive angles, with y downward.
    np.testing.assert_allclose(found.frames["alpha"], [0, 1, 2], atol=.02)
    np.testing.assert_allclose(found.motions, 0, atol=.06)


def test_the_average_is_sharper_than_the_mean(movie, specimen):
    found = sextant.register(movie, recorded_mean=True)
    truth = specimen[64:192, 64:192]
    inner = (slice(16, -16), slice(16, -16))
    aligned = np.sqrt(np.mean((found.average - truth)[inner] ** 2))
    recorded = np.sqrt(np.mean((found.recorded_mean - truth)[inner] ** 2))
    assert aligned < .15 < .3 < recorded


def test_aligned_frames_agree_with_apply(movie):
    found = sextant.register(movie, aligned=True)
    np.testing.assert_array_equal(found.aligned, sextant.apply(found, movie))
    np.testing.assert_allclose(np.nanmean(found.aligned, axis=0), found.average, atol=1e-5)
    one = sextant.apply(found, movie[3], frame=3)
    np.testing.assert_array_equal(one, found.aligned[3])
    np.testing.assert_array_equal(found.apply(movie), found.aligned)


@pytest.mark.parametrize("kind", ["list", "tuple", "iterator", "big endian", "fortran", "strided",
                                  "f8", "zarr", "h5py", "dask", "path", "series", "list of views"])
def test_every_source_gives_the_same_bits(movie, kind, tmp_path):
    expected = sextant.register(movie, reproducible=True)
    strided = np.zeros((8, 128, 256), "f4")
    strided[:, :, ::2] = movie
    path = tmp_path / "movie.npy"
    np.save(path, movie)
    if kind == "zarr":
        zarr = pytest.importorskip("zarr")
        series = zarr.array(movie, chunks=(3, 64, 128))
    elif kind == "h5py":
        h5py = pytest.importorskip("h5py")
        series = h5py.File(tmp_path / "movie.h5", "w").create_dataset("m", data=movie,
                                                                      chunks=(2, 128, 64))
    elif kind == "dask":
        dask = pytest.importorskip("dask.array")
        series = dask.from_array(movie, chunks=(3, 50, 128))
    else:
        series = {"list": list(movie), "tuple": tuple(movie), "iterator": iter(movie),
                  "big endian": movie.astype(">f4"), "fortran": np.asfortranarray(movie),
                  "strided": strided[:, :, ::2], "f8": movie.astype("f8"), "path": path,
                  "series": sextant.open_series(path),
                  "list of views": [np.asfortranarray(f) if k % 2 else f
                                    for k, f in enumerate(movie)]}[kind]
    found = sextant.register(series, reproducible=True)
    np.testing.assert_array_equal(found.frames["tx"], expected.frames["tx"])
    np.testing.assert_array_equal(found.average, expected.average)


@pytest.mark.parametrize("ranks, threads", [(1, 1), (2, 1), (1, 2), (3, 1)])
def test_ranks_and_threads(movie, motions, ranks, threads):
    found = sextant.register(movie, ranks=ranks, threads=threads)
    assert found.ranks == ranks and found.threads == threads
    np.testing.assert_allclose(found.motions, motions, atol=.06)


@pytest.mark.parametrize("model", ["translation", "similarity", "affine", "nonrigid", "auto"])
def test_models(movie, motions, model):
    found = sextant.register(movie, model=model)
    np.testing.assert_allclose(found.motions, motions, atol=.1)
    aligned = sextant.apply(found, movie)
    np.testing.assert_allclose(np.nanmean(aligned, axis=0)[20:-20, 20:-20],
                               found.average[20:-20, 20:-20], atol=1e-4)
    if model == "affine":
        np.testing.assert_allclose(found.transforms.matrix(3), np.eye(2), atol=.01)
    if model == "nonrigid":
        planes, spacing = found.transforms.field(3)
        np.testing.assert_allclose(planes[0].mean(), motions[3, 0], atol=.2)
        assert spacing * planes.shape[2] >= 128


def test_rows_of_scanned_frames(movie):
    found = sextant.register(movie, scan_rows=True)
    dx, dy = found.transforms.rows(2)
    assert dx.shape == dy.shape == (128,)
    assert np.isfinite(sextant.apply(found, movie)).mean() > .5


def test_rows_that_jitter_are_recognised(movie):
    phases = np.fft.rfftfreq(128) * np.random.default_rng(3).normal(size=(*movie.shape[:2], 1))
    jittering = np.fft.irfft(np.fft.rfft(movie) * np.exp(-2j * np.pi * phases), 128).astype("f4")
    found, on = sextant.register(jittering), sextant.register(jittering, scan_rows=True)
    assert found.record["rows"]["recognised"] and not on.record["rows"]["recognised"]
    np.testing.assert_array_equal(found.average, on.average)
    assert "jitter by" in str(found._facts())
    for options in ({}, {"scan_rows": False}, {"scan_rows": "off"}):
        assert "rows" not in sextant.register(movie if not options else jittering, **options).record


def test_points_are_mapped_and_back(movie, motions):
    found = sextant.register(movie)
    points = np.array([[0, 10, 20], [5, 60, 70], [7, 64, 64.5]])
    mapped = sextant.apply(found, points)
    np.testing.assert_allclose(mapped[:, 1:], points[:, 1:] - motions[[0, 5, 7]], atol=.15)
    np.testing.assert_allclose(sextant.apply(found, mapped, from_reference=True), points, atol=1e-6)
    whole = [[5, 60, 70], [7, 64, 64]]
    expected = sextant.apply(found, whole)
    for kind in (np.array, lambda points: np.array(points, "i2"), lambda points: np.array(points, "u8"),
                 lambda points: [np.array(each) for each in points], lambda points: tuple(points)):
        np.testing.assert_array_equal(sextant.apply(found, kind(whole)), expected)
    for frame in (1.5, 8, -1, 1e300):
        with pytest.raises(sextant.InvalidTask, match="points has the frame"):
            sextant.apply(found, [[frame, 3, 4]])


def test_data_has_as_many_frames_as_were_registered(movie, tmp_path):
    blank = movie.copy()
    blank[7] = 0
    found = sextant.register(blank)
    assert sextant.apply(found, movie).shape == movie.shape
    found.transforms.write(tmp_path / "transforms.json")
    for transforms in (found, tmp_path / "transforms.json"):
        for frames in (movie[:7], np.concatenate([movie, movie])):
            with pytest.raises(sextant.InvalidTask, match="frames, expected 8 as in the registered series"):
                sextant.apply(transforms, frames)


@pytest.mark.parametrize("kind", ["numpy", "zarr", "h5py"])
def test_out_receives_aligned_frames(movie, kind, tmp_path):
    expected = sextant.register(movie, aligned=True, reproducible=True).aligned
    if kind == "zarr":
        out = pytest.importorskip("zarr").zeros(movie.shape, chunks=(1, 128, 128), dtype="f4")
    elif kind == "h5py":
        h5py = pytest.importorskip("h5py")
        out = h5py.File(tmp_path / "out.h5", "w").create_dataset("a", movie.shape, "f4")
    else:
        out = np.zeros(movie.shape, "f4")
    found = sextant.register(movie, out=out, reproducible=True)
    assert found.aligned is out
    np.testing.assert_array_equal(out[:], expected)


def test_a_frame_that_cannot_be_registered_is_left_out(movie):
    blank = movie.copy()
    blank[4] = 0
    found = sextant.register(blank, aligned=True)
    assert list(found.left_out) == [4] and found.left_out[4]
    assert not found.frames["registered"][4] and np.isnan(found.frames["tx"][4])
    assert np.isnan(found.aligned[4]).all()
    with pytest.raises(sextant.InvalidTask, match="frame 4"):
        sextant.apply(found, movie[4], frame=4)
    for out in (np.ones(movie.shape, "f4"), np.ones(movie.shape, "f8")):
        sextant.register(blank, out=out)
        assert np.isnan(out[4]).all() and np.isfinite(out[3]).any()
        out[:] = 1
        sextant.apply(found, blank, out=out)
        assert np.isnan(out[4]).all() and np.isfinite(out[3]).any()


def test_masked_samples_are_gaps(movie):
    mask = np.zeros(movie.shape, bool)
    mask[:, :, 40:44] = True
    found = sextant.register(np.ma.array(movie, mask=mask))
    assert (found.frames["gaps"] == 4 * 128).all()
    nan = movie.copy()
    nan[mask] = np.nan
    np.testing.assert_array_equal(found.motions, sextant.register(nan).motions)


def test_images_of_the_detector(movie):
    dark = np.random.default_rng(1).normal(scale=3, size=(128, 128)).astype("f4")
    plain = sextant.register(movie)
    found = sextant.register(movie + dark, dark=dark)
    np.testing.assert_allclose(found.motions, plain.motions, atol=.02)
    defects = np.zeros((128, 128), "u1")
    defects[5, 7] = 1
    assert sextant.register(movie, defects=defects).record["defects"] == 1


def test_only_the_pixels_of_a_mask_are_compared(movie, tmp_path):
    static = movie.copy()
    static[:, :, :32] = 200 + 50 * np.random.default_rng(2).random((128, 32))  # does not move
    truth = sextant.register(movie).motions
    mask = np.zeros((128, 128), bool)
    mask[:, 40:] = True
    (tmp_path / "mask.json").write_text(json.dumps({"x": [40, 128, 128, 40], "y": [0, 0, 128, 128]}))
    found = sextant.register(static, mask=mask)
    np.testing.assert_allclose(found.motions, truth, atol=.2)
    assert np.isfinite(found.average[:, :32]).any()
    assert found.record["compared"] == {"x": 40, "y": 0, "width": 88, "height": 128, "pixels": 88 * 128}
    for options in ({"roi": (40, 0, 88, 128)}, {"mask": str(tmp_path / "mask.json")}):
        np.testing.assert_array_equal(found.motions, sextant.register(static, **options).motions)
    with pytest.raises(sextant.InvalidTask, match="64x64 pixels, expected 128x128"):
        sextant.register(static, mask=np.ones((64, 64)))
    with pytest.raises(sextant.InvalidTask, match="no pixel of the frames"):
        sextant.register(static, mask=~mask, roi=(40, 0, 88, 128))


def test_a_motion_beyond_the_largest_shift_is_never_unflagged():
    movie = sextant.synthesize(frames=5, width=128, height=128, jumps=(3, 20, 0), random_step=0)[0]
    assert not sextant.register(movie).frames["implausible"].any()
    frames = sextant.register(movie, max_shift=5).frames
    for frame in (3, 4):
        assert frames["implausible"][frame] or frames["ambiguous"][frame] or not frames["registered"][frame]
    assert abs(frames["tx"][2] - frames["tx"][0]) < 5


def test_the_rows_of_bidirectional_scans_are_aligned(movie, tmp_path):
    assert "bidirectional" not in sextant.register(movie).record
    wide = sextant.synthesize(frames=5, width=160, height=128, specimen="carbon")[0]
    scanned = wide.copy()
    scanned[:, 1::2, 3:] = wide[:, 1::2, :-3]
    found = sextant.register(scanned, aligned=True)
    assert abs(found.record["bidirectional"]["shift"] - 3) < .2
    np.testing.assert_allclose(found.motions, sextant.register(wide).motions, atol=.1)
    found.transforms.write(tmp_path / "transforms.json")
    for transforms in (found, pickle.loads(pickle.dumps(found.transforms)),
                       sextant.Transforms.read(tmp_path / "transforms.json")):
        np.testing.assert_array_equal(sextant.apply(transforms, scanned), found.aligned)
    with pytest.raises(sextant.InvalidTask, match="bidirectional"):
        sextant.apply(found, scanned, axes="TYX")
    assert "bidirectional" not in sextant.register(scanned, bidirectional="off").record
    exact = sextant.register(scanned, bidirectional=3)
    assert exact.record["bidirectional"] == {"shift": 3, "sigma": 0}


def test_a_file_of_the_command_is_applied(movie, tmp_path, program):
    np.save(tmp_path / "movie.npy", movie)
    for model in ("rigid", "affine", "nonrigid"):
        out = tmp_path / model
        subprocess.run([program, "register", tmp_path / "movie.npy", "-o", out, "--model", model,
                        "--aligned", "on", "--format", "npy"], check=True, capture_output=True)
        found = sextant.apply(out / "transforms.json", movie)
        np.testing.assert_allclose(found, np.load(out / "aligned.npy"), atol=1e-5)


OPTIONS = [{}, {"model": "affine", "canvas": "union"}, {"model": "nonrigid"}, {"scan_rows": True}]


@pytest.mark.parametrize("options", OPTIONS)
def test_transforms_can_be_pickled_and_written(movie, tmp_path, program, options):
    blank = movie.copy()
    blank[4] = 0
    found = sextant.register(blank, **options)
    expected = sextant.apply(found, movie)
    for copied in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        np.testing.assert_array_equal(sextant.apply(copied, movie), expected)
        assert copied.record == found.record and copied.left_out == found.left_out
        np.testing.assert_array_equal(copied.average, found.average)
    found.transforms.write(tmp_path / "transforms.json")
    read = sextant.Transforms.read(tmp_path / "transforms.json")
    np.testing.assert_array_equal(sextant.apply(read, movie), expected)
    assert (read.model, read.reference) == (found.model, found.reference)
    if options.get("model") == "nonrigid":
        np.testing.assert_array_equal(read.field(3)[0], found.transforms.field(3)[0])
    np.save(tmp_path / "movie.npy", movie)
    subprocess.run([program, "apply", tmp_path / "transforms.json", tmp_path / "movie.npy", "-o",
                    tmp_path / "aligned.npy"], check=True, capture_output=True)
    np.testing.assert_array_equal(np.load(tmp_path / "aligned.npy"), np.delete(expected, 4, axis=0))


def test_large_values_keep_their_resolution(movie):
    large = (np.round(movie * 100) + 10**9).astype("i8")
    found = sextant.register(large)
    assert found.average.dtype == np.float64
    plain = sextant.register(np.round(movie * 100))
    np.testing.assert_allclose(found.average - 10**9, plain.average, atol=.5)


def test_progress_is_reported(movie):
    calls = []
    sextant.register(movie, progress=lambda part, done, all: calls.append((part, done, all)))
    assert len(calls) > 10
    assert all(isinstance(part, str) and 0 <= done <= all for part, done, all in calls)


def test_the_result_is_shown(movie):
    found = sextant.register(movie)
    assert "8 of 8" in repr(found) and "8 of 8 registered" in found.page()
    assert "ranks" in found.plan.text and found.plan.reason
    assert sextant.register(movie, ranks=1).plan.reason == "as requested"
    assert found.record["threads"]


def test_long_drift_with_the_canvas_that_contains_all(specimen):
    moves = [(0, 0), (9, 0), (18, 0), (27, 0)]
    frames = cut(specimen, moves, noise=.1)
    found = sextant.register(frames, canvas="union", aligned=True)
    assert found.average.shape[1] >= 128 + 26
    assert found.aligned.shape == (4, *found.average.shape)


def test_translations_never_rotate():
    """A round particle leaves the rotation of its rigid registration open."""
    y, x = np.mgrid[:96, :112]
    for seed in (20, 21, 29, 35):
        rng = np.random.default_rng(seed)
        movie = np.array([100 + 3 * np.exp(-((x - 85 - 4 * k) ** 2 + (y - 20 + 3 * k) ** 2) / 648) +
                          .1 * rng.standard_normal(x.shape) for k in range(2)])
        frames = sextant.register(movie, model="translation").frames
        assert not frames["alpha"].any()
        far = np.hypot(frames["tx"][1] - 4, frames["ty"][1] + 3) > 2
        flagged = frames["ambiguous"][1] or frames["in_doubt"][1] or not frames["converged"][1]
        assert flagged or not far, (seed, frames[1])
