# SPDX-License-Identifier: BSD-3-Clause
"""Series in files; hyperspy, dask, zarr and h5py; plots; the machine."""
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tracemalloc
import warnings

import numpy as np
import pytest

import sextant
from conftest import write_transforms


@pytest.fixture
def stack(tmp_path, program):
    """A file with a pixel size, and its content."""
    subprocess.run([program, "synthesize", "-o", tmp_path / "movie.mrc", "--frames", "5", "--width",
                    "128", "--height", "96"], check=True, capture_output=True)
    return tmp_path / "movie.mrc"


def test_a_series_is_indexed_like_an_array(movie, tmp_path):
    path = tmp_path / "movie.npy"
    np.save(path, movie)
    series = sextant.open_series(path)
    assert series.shape == movie.shape and series.dtype == movie.dtype and len(series) == 8
    assert series.ndim == 3 and series.size == movie.size and series.nbytes == movie.nbytes
    every, mask, columns = slice(None), np.arange(8) > 5, np.arange(128) > 120
    for index in (0, -1, slice(1, 7, 3), slice(None, None, -2), (3, slice(4, 9)), (slice(0, 2), 5),
                  (..., 7), (2, ..., 3), slice(5, 5), [4, 1], mask, ..., (), [], np.array(2),
                  np.int64(3), (1, 2, 3), (1, 2, 3, ...), ([0, 1], [2, 3]), ([0, 1], every, [2, 3]),
                  ([0, 1], every, 3), (slice(6, 2, -2), [2, 3]), (slice(0, 3), every, [2, 3]),
                  (slice(0, 3), [2, 3], [4, 5]), (4, every, [2, 3]), (4, [2, 3]), (mask, [2, 3]),
                  ([[0, 1], [2, 3]], 5), ([[0, 1], [2, 3]], every, [[4], [5]]), (..., columns),
                  (slice(5, 5), [2, 3]), (mask, every, 2), (np.array(2), every, [2, 3])):
        np.testing.assert_array_equal(series[index], movie[index], strict=True)
    for index in (8, -9, [8], (0, 128), None, True, False, (0, None), (..., ...), "a", 1.5, [1.7],
                  np.array([True, False]), movie[0] > 0, movie > 0, (0, 0, 0, 0), (..., np.array(True)),
                  [True, False], ([0, 1], [0, 1, 2])):
        with pytest.raises(IndexError):
            series[index]
    np.testing.assert_array_equal(np.asarray(series), movie)
    assert np.asarray(series, "f8").dtype == series.__array__("f8", copy=None).dtype == np.float64
    with pytest.raises(ValueError, match="copied"):
        series.__array__(copy=False)
    with pytest.raises(TypeError):
        movie[0] in series
    np.testing.assert_array_equal(np.stack(list(series)), movie)
    assert "movie.npy" in repr(series) and "data:image/png" in series._repr_html_()


def test_info_states_what_the_command_states(stack, program):
    import json
    found = sextant.info(stack, check=True)
    stated = json.loads(subprocess.run([program, "info", stack, "--json"], check=True,
                                       capture_output=True, text=True).stdout)
    assert (found.frames, found.width, found.height) == (stated["frames"], stated["width"],
                                                         stated["height"])
    assert found.format == stated["format"]
    assert (found.pixel_size is None) == (stated["pixel_size"] is None)
    assert found.remarks == stated["remarks"]


def test_a_volume_of_a_series_is_read_by_its_axes(tmp_path):
    planes = np.arange(2 * 3 * 4 * 5 * 6, dtype="u2").reshape(2, 3, 4, 5, 6)
    np.save(tmp_path / "all.npy", planes)
    series = sextant.open_series(tmp_path / "all.npy", axes="TCZYX", time=1, channel=2)
    np.testing.assert_array_equal(series[:], planes[1, 2])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(series))[:], planes[1, 2])
    assert sextant.info(tmp_path / "all.npy", axes="TCZYX", time=1).times == 2
    with pytest.raises(sextant.InvalidFile, match="a letter for each of 5 axes"):
        sextant.info(tmp_path / "all.npy", axes="TZYX")


def test_files_are_labelled_frame_by_frame(tmp_path, blobs):
    np.save(tmp_path / "two.npy", np.stack([blobs, blobs[::-1]]))
    found = sextant.label(tmp_path / "two.npy", frame=1)
    np.testing.assert_array_equal(found.labels, sextant.label(blobs[::-1]).labels)
    assert sextant.label(tmp_path / "two.npy").shape == (2, *blobs.shape)
    with pytest.raises(sextant.InvalidTask, match="frame"):
        sextant.canny(tmp_path / "two.npy")
    np.save(tmp_path / "one.npy", found.labels[np.newaxis])
    series = sextant.open_series(tmp_path / "one.npy")
    for labels in (series, tmp_path / "one.npy"):
        np.testing.assert_array_equal(sextant.measure(labels), sextant.measure(found))


@pytest.mark.parametrize("changed", [np.ones((3, 200, 200), "f4"), np.ones((3, 8, 8), "f4"),
                                     np.ones((3, 64, 64), "f8"), np.ones((2, 64, 64), "f4")])
def test_a_file_that_is_replaced_is_refused(tmp_path, movie, changed):
    path = tmp_path / "frames.npy"
    np.save(path, np.ones((3, 64, 64), "f4"))
    series = sextant.open_series(path)
    np.save(path, changed)
    found = sextant.register(movie[:3, :64, :64])
    for call in (lambda: series[1], lambda: sextant.label(series, frame=0),
                 lambda: sextant.label(series, frame=0, ranks=2), lambda: sextant.register(series),
                 lambda: sextant.filter(series, frame=0), lambda: sextant.canny(series, frame=0),
                 lambda: sextant.contours(series, frame=0), lambda: sextant.apply(found, series)):
        with pytest.raises(sextant.InvalidFile, match="frames.npy: has changed"):
            call()


def test_names_that_are_not_utf8(tmp_path, movie, blobs):
    path = os.path.join(os.fsencode(tmp_path), b"caf\xe9.npy")
    with open(path, "wb") as file:
        np.save(file, blobs)
    for name in (path, os.fsdecode(path), pathlib.Path(os.fsdecode(path))):
        series = sextant.open_series(name)
        assert series.path == os.fsdecode(path) and r"caf\xe9" in repr(series)
        assert sextant.info(name).format == "NPY"
        assert sextant.label(name).components == sextant.label(series).components
    for call in (sextant.open_series, sextant.info, sextant.label, sextant.register,
                 sextant.Transforms.read):
        with pytest.raises(sextant.InvalidFile, match=r"no\\xe9"):
            call(os.fsdecode(b"no\xe9.npy"))
    with pytest.raises(sextant.InvalidFile, match=r"no\\xe9"):
        sextant.explain(machine=os.fsdecode(b"./no\xe9.json"))
    done = subprocess.run([sys.executable, "-m", "sextant", "info", path], capture_output=True,
                          env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)))
    assert done.returncode == 0, done.stderr
    os.truncate(path, 300)
    with pytest.raises(sextant.InvalidFile, match=r"caf\\xe9"):
        sextant.label(series)


@pytest.mark.parametrize("path", ["a\0b.npy", b"a\0b.npy", "\ud800.npy"])
def test_names_that_no_file_has(path):
    for call in (sextant.open_series, sextant.label, sextant.register, sextant.Transforms.read):
        with pytest.raises(sextant.InvalidTask, match="path is"):
            call(path)


def test_metadata_that_is_not_utf8(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    path = tmp_path / "image.tif"
    tifffile.imwrite(path, np.ones((16, 16), "u1"), resolution=(4, 4),
                     description=b"ImageJ=1.53\nimages=1\nunit=\xff\xfe\n", metadata=None)
    assert sextant.info(path).pixel_size.unit == r"\xff\xfe"


def test_external_links_are_refused_by_the_name_of_the_keyword(tmp_path, movie):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "there.h5", "w") as file:
        file["movie"] = movie
    with h5py.File(tmp_path / "here.h5", "w") as file:
        file["link"] = h5py.ExternalLink("there.h5", "/movie")
    with pytest.raises(sextant.InvalidFile, match="allow_external=True") as caught:
        sextant.open_series(f"{tmp_path}/here.h5::/link")
    assert "--" not in str(caught.value)
    series = sextant.open_series(f"{tmp_path}/here.h5::/link", allow_external=True)
    assert series.shape == movie.shape


@pytest.mark.parametrize("library", ["zarr", "h5py", "dask"])
@pytest.mark.parametrize("ranks", [1, 2])
def test_lazy_images_in_and_out(library, ranks, blobs, tmp_path):
    if library == "zarr":
        zarr = pytest.importorskip("zarr")
        image = zarr.array(blobs, chunks=(50, 70))
        out, planes = zarr.zeros(blobs.shape, dtype="i4"), zarr.zeros((2, *blobs.shape), dtype="f4")
    elif library == "h5py":
        file = pytest.importorskip("h5py").File(tmp_path / "image.h5", "w")
        image = file.create_dataset("image", data=blobs, chunks=(64, 64))
        out = file.create_dataset("labels", blobs.shape, "i4")
        planes = file.create_dataset("planes", (2, *blobs.shape), "f4")
    else:
        image = pytest.importorskip("dask.array").from_array(blobs, chunks=(40, 33))
        out = planes = None
    found = sextant.label(image, out=out, ranks=ranks)
    np.testing.assert_array_equal(found.labels[:], sextant.label(blobs).labels)
    found = sextant.filter(image, out=planes, sigma=2, derivatives=["x", "y"], ranks=ranks)
    np.testing.assert_array_equal(found.planes[:],
                                  sextant.filter(blobs, sigma=2, derivatives=["x", "y"]).planes)


@pytest.mark.parametrize("dtype", ["f4", "u1", "i8"])
def test_masked_samples_of_dask_arrays_are_gaps_or_background(dtype, blobs, movie):
    array = pytest.importorskip("dask.array")
    image = np.ma.array(blobs.astype(dtype), mask=np.arange(blobs.size).reshape(blobs.shape) % 9 == 0)
    lazy = array.from_array(image, chunks=(50, 70))
    np.testing.assert_array_equal(sextant.label(lazy).labels, sextant.label(image).labels)
    np.testing.assert_array_equal(sextant.label(lazy).labels > 0, image.filled(0) > 0)
    np.testing.assert_array_equal(sextant.filter(lazy).planes, sextant.filter(image).planes)
    if dtype != "f4":
        np.testing.assert_array_equal(sextant.measure(lazy)["area"], [image.filled(0).sum()])
    series = np.ma.array((100 * movie).astype(dtype if dtype != "u1" else "i2"), mask=False)
    series.mask[:, :, 40:44] = True
    expected = sextant.register(series).motions
    lazy = array.from_array(series, chunks=(3, 50, 128))
    np.testing.assert_array_equal(sextant.register(lazy).motions, expected)
    np.testing.assert_array_equal(sextant.register(list(lazy)).motions, expected)


def test_masked_samples_are_never_dropped(movie):
    class Image:  # does not declare that it is masked
        shape, dtype = (20, 30), np.dtype("u1")

        def __getitem__(self, index):
            return np.ma.masked_equal(np.ones(self.shape, "u1")[index], 1)
    assert sextant.label(Image()).components == 0
    with pytest.raises(sextant.InvalidTask, match="masked samples of type uint8"):
        sextant.filter(Image())
    row = np.ma.masked_equal([1, 2, 1], 1)
    assert sextant.label([row, row]).components == 1
    image = np.ma.masked_all((4, 4, 4), "f4")
    for images in (np.ma.array([image, image]), [image, image]):
        with pytest.raises(sextant.InvalidTask, match="masked"):
            sextant.composite(images)
    sextant.composite(np.ma.ones((2, 4, 4, 4), "f4"))
    with pytest.raises(sextant.InvalidTask, match="not finite"):
        sextant.apply(sextant.register(movie), np.ma.masked_equal([[0, 5., 6.]], 5))


def test_a_lazy_image_is_never_whole_in_memory():
    class Image:
        shape, dtype, chunks, largest = (20_000, 1000), np.dtype("u1"), (100, 1000), 0

        def __getitem__(self, index):
            rows = len(range(*index.indices(20_000)))
            Image.largest = max(Image.largest, rows)
            return np.ones((rows, 1000), "u1")

    class Out:
        shape, dtype, largest, total = (20_000, 1000), np.dtype("i4"), 0, 0

        def __setitem__(self, index, rows):
            Out.largest = max(Out.largest, len(rows))
            Out.total += rows.sum()
    tracemalloc.start()
    found = sextant.label(Image(), out=Out(), memory="8M")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.components == 1 and Out.total == 20_000 * 1000
    assert Out.largest < 2000
    assert peak < 150 << 20  # blocks of the reader, and none of the whole image's labels


def test_hyperspy_signals_keep_axes_and_metadata(movie):
    hyperspy = pytest.importorskip("hyperspy.api")
    import sextant.hyperspy
    signal = hyperspy.signals.Signal2D(movie)
    signal.axes_manager[1].scale, signal.axes_manager[1].units = .5, "nm"
    signal.axes_manager[0].name = "time"
    signal.metadata.General.title = "a movie"
    aligned = sextant.hyperspy.align2D(signal)
    plain = sextant.register(movie, aligned=True)
    np.testing.assert_allclose(aligned.data, plain.aligned, atol=1e-4)
    assert aligned.axes_manager[1].scale == .5 and aligned.axes_manager[1].units == "nm"
    assert aligned.axes_manager[0].name == "time"
    assert aligned.metadata.General.title == "a movie"
    np.testing.assert_allclose(aligned.metadata.Sextant.motions, plain.motions, atol=1e-3)
    np.testing.assert_array_equal(signal.data, movie)
    second = hyperspy.signals.Signal2D(movie[:, ::-1].copy())
    by = sextant.hyperspy.align2D(second, by=signal)
    np.testing.assert_allclose(by.metadata.Sextant.motions, plain.motions, atol=1e-3)
    np.testing.assert_allclose(sextant.hyperspy.registered(signal).motions, plain.motions,
                               atol=1e-3)
    lazy = sextant.hyperspy.align2D(signal.as_lazy())
    np.testing.assert_allclose(lazy.data, plain.aligned, atol=1e-4)
    assert not lazy._lazy
    union = sextant.hyperspy.align2D(signal, canvas="union")
    assert union.axes_manager.signal_axes[0].size == union.data.shape[2] >= 128
    sextant.hyperspy.align2D(signal, inplace=True)
    np.testing.assert_allclose(signal.data, plain.aligned, atol=1e-4)
    with pytest.raises(sextant.WrongType):
        sextant.hyperspy.align2D(movie)
    with pytest.raises(sextant.InvalidTask):
        sextant.hyperspy.align2D(hyperspy.signals.Signal2D(movie[0]))


def test_hyperspy_signals_are_checked_before_they_are_changed(movie):
    hyperspy = pytest.importorskip("hyperspy.api")
    import sextant.hyperspy
    axes = [{"name": "time", "size": 8}, {"name": "y", "axis": np.arange(128.) ** 2},
            {"name": "x", "size": 128}]
    signal = hyperspy.signals.Signal2D(movie, axes=axes)
    with pytest.raises(sextant.InvalidTask, match="axis y is not uniform"):
        sextant.hyperspy.align2D(signal, inplace=True, canvas="union")
    np.testing.assert_array_equal(signal.data, movie)
    assert not signal.metadata.has_item("Sextant")
    sextant.hyperspy.align2D(signal, inplace=True)
    assert not signal.axes_manager["y"].is_uniform and signal.data.shape == movie.shape
    found = sextant.register(movie)
    plain = hyperspy.signals.Signal2D(movie)
    with pytest.raises(sextant.InvalidKeyword, match="did you mean model"):
        sextant.hyperspy.align2D(plain, by=found, modle="affine")
    for options in ({"model": "affine"}, {"ranks": 2}):
        with pytest.raises(sextant.InvalidTask, match="has no effect"):
            sextant.hyperspy.align2D(plain, by=found, **options)
    np.testing.assert_array_equal(sextant.hyperspy.align2D(plain, by=found.transforms).data,
                                  sextant.apply(found, movie))


def test_dask_arrays_keep_their_chunks(blobs):
    array = pytest.importorskip("dask.array")
    import sextant.dask
    image = array.from_array(blobs, chunks=(100, 150))
    labels, count = sextant.dask.label(image)
    assert labels.chunks == image.chunks
    expected = sextant.label(blobs)
    assert count == expected.components
    np.testing.assert_array_equal(labels.compute(), expected.labels)
    planes = sextant.dask.filter(image, sigma=2)
    np.testing.assert_array_equal(planes.compute(), sextant.filter(blobs, sigma=2).planes)
    with pytest.raises(sextant.WrongType):
        sextant.dask.label(blobs)


def test_dask_arrays_of_unknown_shape_are_refused(blobs):
    array = pytest.importorskip("dask.array")
    import sextant.dask
    image = array.from_array(blobs, chunks=100)
    unknown = image[image[:, 0] > 0]
    for call in (sextant.label, sextant.filter, sextant.dask.label, sextant.dask.filter):
        with pytest.raises(sextant.WrongType, match="nan"):
            call(unknown)
    assert sextant.dask.label(image[:0])[0].shape == image[:0].shape


def test_plots(movie, blobs):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    results = [sextant.register(movie), sextant.label(blobs), sextant.filter(blobs),
               sextant.contours(blobs), sextant.composite(np.zeros((2, 8, 8, 4), "f4")),
               sextant.explain(machine="das"), sextant.label(blobs, ranks=2).plan,
               sextant.simulate("compositing", algorithm="direct-send", ranks=4, clock=True,
                                platform="fat-tree-144-calibrated")]
    for result in results:
        axes = result.plot()
        axes.figure.canvas.draw()
        assert axes.has_data()
        assert result._repr_html_().startswith(("<table>", "<div>"))
        assert result.plot(axes) is axes


def test_pages(movie, blobs):
    from xml.etree import ElementTree
    broken = np.concatenate([movie, movie[:1] * 0])
    nothing = np.zeros((1, 40), "f4")
    for result, words in [
            (sextant.register(movie, recorded_mean=True), ["before and after", "<h2>Drift</h2>", "stages"]),
            (sextant.register(broken, model="nonrigid", ranks=1), ["every sample is 0", "left out"]),
            (sextant.label(blobs, grid="2x2"), ["components", "Candidates"]),
            (sextant.label(nothing), ["0 components"]),
            (sextant.filter(blobs * np.nan, ranks=1), ["NaN samples"]),
            (sextant.contours(blobs, sigma=2), ["Contours as a table"]),
            (sextant.contours(nothing), ["0 contours"]),
            (sextant.composite(np.full((2, 8, 8, 4), np.nan, "f4")), ["Candidates", "Predicted"])]:
        page = result.page()
        ElementTree.fromstring(page.partition("?>")[2] if page.startswith("<?xml") else page)
        for each in words:
            assert each in page, (result, each)
        assert "://" not in page.replace("http://www.w3.org", "")


def test_explain_agrees_with_the_command(program):
    import json
    text = subprocess.run([program, "explain", "composite", "--ranks", "16", "--machine", "das",
                           "--json"], check=True, capture_output=True, text=True).stdout
    plan = sextant.explain("composite", ranks=16, machine="das")
    assert plan.details == json.loads(text)
    assert plan.alternatives[0]["algorithm"] == plan.details["algorithm"]
    assert sextant.explain("filter", ranks=4, size=512, machine="das").text
    for what in ("collective", "label", "contours", "apply", "register"):
        plan = sextant.explain(what, **({} if what == "collective" else {"cores": 2}))
        assert plan.text and plan.details["assumptions"]
        # The user's own profile may lack a kernel.
        assert plan.predicted is None or plan.predicted > 0
    plan = sextant.explain("scan", values=32, cores=4)
    assert plan.predicted > 0
    names = [plan._name_of(each) for each in plan.alternatives]
    assert plan.text == names[0] and len(set(names)) == len(names)
    text = subprocess.run([program, "explain", "scan", "--values", "32", "--cores", "4", "--all"],
                          check=True, capture_output=True, text=True).stdout
    assert all(f"  {name} " in text for name in names)


def test_calibrate_measures_this_machine(tmp_path):
    path = tmp_path / "here.json"
    found = sextant.calibrate(output=path, budget="400ms", launches=2)
    assert found.path == str(path) and path.exists()
    assert found.states[0]["values"] > 10
    assert sextant.explain("composite", ranks=2, machine=path).predicted > 0


def test_an_interrupted_calibration_leaves_no_process(run_script, tmp_path):
    import time
    done = run_script(f"""
import os, signal, subprocess, threading, time
import sextant


class Popen(subprocess.Popen):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()


subprocess.Popen = Popen
began = time.perf_counter()
try:
    sextant.calibrate(output={str(tmp_path / "never.json")!r}, budget="3m", launches=1)
except KeyboardInterrupt:
    print("interrupted", time.perf_counter() - began < 100)
""", timeout=300)
    assert "interrupted True" in done.stdout
    for _ in range(300):
        running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
        if str(tmp_path) not in running:
            return
        time.sleep(.2)
    pytest.fail("a process is left: " + running)


def test_the_command_runs_as_a_module(program):
    words = ["list", "algorithms"]
    mine = subprocess.run([sys.executable, "-m", "sextant", *words], capture_output=True, text=True,
                          env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)))
    theirs = subprocess.run([program, *words], capture_output=True, text=True)
    assert mine.returncode == theirs.returncode == 0
    assert mine.stdout == theirs.stdout


def test_warnings_arrive_as_warnings(recwarn):
    sextant.simulate("compositing", algorithm="direct-send", ranks=4, clock=True,
                     platform="fat-tree-144-calibrated")
    assert not recwarn.list


def write_zarr(path, array, unit, first_axis):
    """OME-Zarr with pixels of 0.5 by 0.5 of a unit."""
    names = [first_axis, "y", "x"][3 - array.ndim:]
    kinds = {"t": "time", "z": "space", "y": "space", "x": "space"}
    axes = [{"name": name, "type": kinds[name], **({"unit": unit} if unit and name != "t" else {})}
            for name in names]
    level = path / "0"
    level.mkdir(parents=True)
    (path / ".zgroup").write_text('{"zarr_format": 2}')
    (path / ".zattrs").write_text(json.dumps({"multiscales": [{
        "version": "0.4", "axes": axes, "datasets": [{"path": "0", "coordinateTransformations": [
            {"type": "scale", "scale": [2 if name == "t" else .5 for name in names]}]}]}]}))
    (level / ".zarray").write_text(json.dumps({
        "zarr_format": 2, "shape": array.shape, "chunks": array.shape, "dtype": array.dtype.str,
        "compressor": None, "fill_value": 0, "order": "C", "filters": None,
        "dimension_separator": "/"}))
    chunk = level.joinpath(*["0"] * array.ndim)
    chunk.parent.mkdir(parents=True, exist_ok=True)
    chunk.write_bytes(array.tobytes())
    return path


@pytest.mark.parametrize("unit", ["nanometer", "micrometer", "1/nm", "mrad", ""])
def test_a_pixel_size_is_kept_or_a_warning_says_that_it_is_not(tmp_path, program, movie, unit):
    """For every command and format of files."""
    frames = movie[:3, :96, :96].copy()
    image = write_zarr(tmp_path / "image.zarr", frames[0], unit, "t")
    series = write_zarr(tmp_path / "series.zarr", frames, unit, "t")
    whole = write_zarr(tmp_path / "whole.zarr", (100 * frames).astype("i4"), unit, "t")
    volume = write_zarr(tmp_path / "volume.zarr", frames, unit, "z")
    labels = write_zarr(tmp_path / "labels.zarr", (frames > 0).astype("u1"), unit, "z")
    plane = write_zarr(tmp_path / "plane.zarr", (frames[0] > 0).astype("u1"), unit, "t")
    transforms = write_transforms(tmp_path, [(0, i, 0) for i in range(3)], (96, 96))

    unnamed = tmp_path / "unnamed.h5" if unit == "micrometer" else None
    if unnamed:
        subprocess.run([program, "apply", transforms, whole, "-o", unnamed], check=True)

    def commands(suffix):
        out = tmp_path / f"out{suffix}"
        yield ["apply", transforms, series, "-o", out], out
        yield ["apply", transforms, whole, "-o", out, "--by", "shift"], out
        yield ["apply", transforms, series, "-o", out, "--sum"], out
        if unnamed:  # whose last axes are rows and columns
            yield ["apply", transforms, unnamed, "-o", out, "--by", "shift"], out
            yield ["apply", transforms, unnamed, "-o", out, "--sum"], out
        yield ["filter", image, "-o", out, "--derivatives", "smooth"], out
        yield ["filter", volume, "-o", out, "--derivatives", "smooth"], out
        yield ["label", plane, "-o", out], out
        yield ["label", labels, "-o", out, "--neighbours", "6"], out
        yield ["stitch", labels, "-o", out, "--block", "3,48,48"], out
        yield ["register", series, "-o", tmp_path / "folder", f"--aligned={out}"], out
        if suffix in (".tif", ".mrc"):
            yield (["register", series, "-o", tmp_path / "folder", "--format", suffix[1:]],
                   tmp_path / f"folder/average{suffix}")
    kept = sextant.open_series(series).pixel_size
    assert kept.x == .5
    for suffix in (".tif", ".mrc", ".h5", ".nii", ".zarr"):
        for arguments, out in commands(suffix):
            done = subprocess.run([program, *arguments], capture_output=True, text=True)
            if suffix == ".mrc" and "can be written as" in done.stderr:
                continue  # labels
            assert done.returncode == 0, done.stderr
            found = sextant.open_series(out).pixel_size
            same = found.known and (found.unit == kept.unit or unit.endswith("meter"))
            said = done.stderr.count(f"{suffix}: the pixel size of 0.5 ")
            assert said == (0 if same else 1), (arguments, found, done.stderr)
        out = tmp_path / f"python{suffix}"
        for by in ("bilinear", "shift"):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                sextant.apply(transforms, series, out=out, by=by)
            found = sextant.open_series(out).pixel_size
            same = found.known and (found.unit == kept.unit or unit.endswith("meter"))
            assert len(caught) == (0 if same else 1), (suffix, found)
