# SPDX-License-Identifier: BSD-3-Clause
"""label and measure, compared with SciPy and scikit-image."""
import csv
import subprocess
import warnings

import numpy as np
import pytest
from scipy import ndimage

import sextant


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("neighbours", [4, 8])
def test_labels_are_those_of_scipy(blobs, neighbours, ranks):
    structure = np.ones((3, 3)) if neighbours == 8 else None
    expected, count = ndimage.label(blobs, structure=structure)
    found = sextant.label(blobs, neighbours=neighbours, ranks=ranks)
    assert found.components == count
    np.testing.assert_array_equal(found.labels, expected)
    assert found.ranks == ranks


@pytest.mark.parametrize("intensity_type", ["?", "u1", "i8", "f4", "f8"])
def test_intensities_of_an_image_are_measured_as_by_the_command(blobs, tmp_path, program, intensity_type):
    labels = sextant.label(blobs).labels
    brightness = np.random.default_rng(5).integers(0, 200, blobs.shape).astype(intensity_type)
    expected = np.arange(1, labels.max() + 1)
    np.save(tmp_path / "labels.npy", labels)
    np.save(tmp_path / "brightness.npy", brightness.astype("u1") if intensity_type == "?" else brightness)
    subprocess.run([program, "measure", tmp_path / "labels.npy", "--intensity", tmp_path / "brightness.npy",
                    "-o", tmp_path / "table.csv"], check=True, capture_output=True)
    command = np.genfromtxt(tmp_path / "table.csv", delimiter=",", names=True)
    for source in (brightness, brightness[::-1][::-1], tmp_path / "brightness.npy",
                   np.asfortranarray(brightness)):
        table = sextant.measure(labels, source, ranks=2)
        np.testing.assert_array_equal(table["label"], expected)
        for name, function in (("sum", ndimage.sum), ("mean", ndimage.mean), ("minimum", ndimage.minimum),
                               ("maximum", ndimage.maximum)):
            np.testing.assert_allclose(table[name], function(brightness, labels, expected), rtol=1e-12)
            np.testing.assert_allclose(table[name], command[name], rtol=1e-6)


def rows_of_regions(labels, intensity):
    """Sums and extremes of regions 1, 2, … as Python's integers or floats."""
    regions = [[each.item() for each in intensity[labels == label]] for label in range(1, labels.max() + 1)]
    return [(sum(region), min(region), max(region)) for region in regions]


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_sums_and_extremes_of_integers_are_exact(dtype, tmp_path, program):
    limits = np.iinfo(dtype)
    labels = np.zeros((6, 8), "i4")
    labels[:2], labels[2, :2], labels[3, 2:4], labels[4:, 5:] = 1, 2, 3, 4
    intensity = np.random.default_rng(2).integers(limits.min, limits.max, labels.shape, dtype, endpoint=True)
    intensity[labels == 2] = limits.max - 1, limits.min
    intensity[labels == 3] = limits.max, 0
    intensity[labels == 4] //= 16
    intensity[:2, ::2] = -intensity[:2, 1::2] + 1  # sums that cancel, or wrap
    if dtype == "u8":
        intensity[labels == 1] //= 16
    expected = rows_of_regions(labels, intensity)
    volume = np.repeat(labels[:, np.newaxis], 3, 1).copy()
    volume[:, 1:] = 0
    planes = np.repeat(intensity[:, np.newaxis], 3, 1)
    np.save(tmp_path / "labels.npy", volume)
    np.save(tmp_path / "intensity.npy", planes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tables = [sextant.measure(labels, intensity, ranks=2), sextant.measure(volume, planes, ranks=3),
                  sextant.measure(labels[np.newaxis], planes[:, 0][np.newaxis], memory=300),
                  sextant.label(volume, intensity=planes, by_value=True, neighbours=6, measure=True, ranks=2).table]
    for table in tables:
        assert [tuple(int(row[name]) for name in ("sum", "minimum", "maximum")) for row in table] == expected
        np.testing.assert_allclose(table["mean"] * table[table.dtype.names[1]], [row[0] for row in expected],
                                   rtol=1e-15)
        assert table["sum"].dtype == table["maximum"].dtype == (dtype if dtype in ("i8", "u8") else "f8")
    for command in (["measure", tmp_path / "labels.npy", "-o", tmp_path / "table.csv", "--ranks", "2"],
                    ["label", tmp_path / "labels.npy", "-o", tmp_path / "again.npy", "--by-value", "--neighbours", "6",
                     "--table", tmp_path / "table.csv"]):
        subprocess.run([program, *command, "--intensity", tmp_path / "intensity.npy"], check=True, capture_output=True)
        with open(tmp_path / "table.csv") as file:
            assert [tuple(int(row[name]) for name in ("sum", "minimum", "maximum"))
                    for row in csv.DictReader(file)] == expected


def test_sums_that_no_type_holds_are_counted(tmp_path, program):
    labels = np.array([[1, 1, 1, 2, 2]])
    for intensity in np.array([[2**62, 2**62, 1, 2**62, 2**62]]), np.array([[2**64 - 1, 2, 1, 0, 0]], "u8"):
        with pytest.warns(UserWarning, match="sums of intensities that are rounded to f64: 1$"):
            table = sextant.measure(labels, intensity)
        assert table["sum"].dtype == "f8" and table["maximum"].dtype == intensity.dtype
        assert table["sum"][0] == float(sum(intensity[0, :3].tolist()))
        assert table["maximum"][0] == intensity[0, :3].max()
    intensity = np.array([[1e308, 1e308, 1e307, -1e308, 1e308]])
    with pytest.warns(UserWarning, match="sums of intensities that exceed the range of f64 and are inf: 1$"):
        table = sextant.measure(labels, intensity)
    np.testing.assert_allclose(table["mean"], [7e307, 0], rtol=1e-15)
    assert table["sum"].tolist() == [np.inf, 0]
    np.save(tmp_path / "labels.npy", labels)
    np.save(tmp_path / "intensity.npy", intensity)
    run = subprocess.run([program, "measure", tmp_path / "labels.npy", "--intensity", tmp_path / "intensity.npy", "-o",
                          tmp_path / "table.csv"], check=True, capture_output=True, text=True)
    assert "1 sum of intensities is beyond the range of f64 and written as infinity" in run.stdout + run.stderr
    back = sextant.measure(np.ones((1, 4), int), np.array([[1e308, 1e308, -1e308, -1e308]]))
    assert back["sum"] == back["mean"] == 0


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_extremes_are_nan_if_all_intensities_are(dtype, tmp_path, program):
    labels = np.array([[1, 1, 2, 2, 3]])
    intensity = np.array([[np.nan, np.nan, np.nan, 5, np.inf]], dtype)
    np.save(tmp_path / "labels.npy", labels)
    np.save(tmp_path / "intensity.npy", intensity)
    subprocess.run([program, "measure", tmp_path / "labels.npy", "--intensity", tmp_path / "intensity.npy", "-o",
                    tmp_path / "table.csv"], check=True, capture_output=True)
    command = np.genfromtxt(tmp_path / "table.csv", delimiter=",", names=True)
    volume = labels[np.newaxis]
    for table in (command, sextant.measure(labels, intensity), sextant.measure(volume, intensity[np.newaxis]),
                  sextant.label(volume, intensity=intensity[np.newaxis], by_value=True, neighbours=6,
                                measure=True).table):
        for name in "minimum", "maximum":
            np.testing.assert_array_equal(table[name], [np.nan, 5, np.inf])
        for name in "sum", "mean":
            np.testing.assert_array_equal(table[name], [np.nan, np.nan, np.inf])


@pytest.mark.parametrize("ranks", [1, 2])
def test_labels_of_values_are_those_of_scikit_image(ranks):
    measure = pytest.importorskip("skimage.measure")
    image = np.random.default_rng(1).integers(0, 4, (97, 113)).astype("u2")
    expected, count = measure.label(image, connectivity=1, return_num=True)
    found = sextant.label(image, by_value=True, neighbours="4", ranks=ranks)
    assert found.components == count
    np.testing.assert_array_equal(found.labels, expected)


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", ">u2", "<i2", "i4", ">u4", "i8", "u8", "f2",
                                   "f4", ">f4", "f8"])
@pytest.mark.parametrize("ranks", [1, 2])
def test_every_type_and_byte_order_gives_the_same_labels(blobs, dtype, ranks):
    expected = sextant.label(blobs).labels
    np.testing.assert_array_equal(sextant.label(blobs.astype(dtype), ranks=ranks).labels, expected)


@pytest.mark.parametrize("dtype", ["f2", "f4", ">f4", "f8"])
@pytest.mark.parametrize("options", [{}, {"ranks": 3}, {"by_value": True}, {"memory": "40K"},
                                     {"by_value": True, "memory": "40K", "ranks": 2},
                                     {"grid": (2, 3)}, {"grid": (2, 3), "by_value": True}])
@pytest.mark.parametrize("read", [lambda a: a, lambda a: a[:, ::-1]])
def test_nan_is_background_and_counted_in_images_and_volumes(dtype, options, read):
    samples = np.random.default_rng(5).integers(0, 3, (90, 70)).astype(dtype)
    samples[np.random.default_rng(6).random(samples.shape) < .2] = np.nan
    samples[7] = np.nan
    image = read(samples)
    expected = sextant.label(np.nan_to_num(image), **options)
    found = sextant.label(image, measure=True, **options)
    np.testing.assert_array_equal(found.labels, expected.labels)
    assert found.not_a_number == found.record["nan"] == np.isnan(samples).sum()
    assert found.table["area"].sum() == (found.labels > 0).sum()
    assert expected.not_a_number == 0
    if "grid" in options:
        return
    plane = sextant.label(image[np.newaxis], neighbours=26, **{**options, "memory": "1G"})
    np.testing.assert_array_equal(plane.labels[0], expected.labels)
    assert plane.not_a_number == found.not_a_number


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("view", [lambda a: a[::2, ::3], lambda a: a[::-1, ::-1], lambda a: a.T,
                                  lambda a: a[5:-5, 7:-7], lambda a: np.asfortranarray(a)])
def test_any_strides_are_read_in_place(blobs, view, ranks):
    image = view(blobs)
    expected, _ = ndimage.label(image, structure=np.ones((3, 3)))
    np.testing.assert_array_equal(sextant.label(image, ranks=ranks, copy=False).labels, expected)


@pytest.mark.parametrize("ranks", [1, 2])
def test_the_table_is_that_of_scikit_image(blobs, ranks):
    measure = pytest.importorskip("skimage.measure")
    found = sextant.label(blobs, measure=True, ranks=ranks)
    expected = measure.regionprops_table(found.labels, properties=("area", "bbox", "centroid"))
    for table in (found.table, sextant.measure(found), sextant.measure(found.labels)):
        np.testing.assert_array_equal(table["label"], np.arange(1, found.components + 1))
        np.testing.assert_array_equal(table["area"], expected["area"])
        np.testing.assert_array_equal(table["y"], expected["bbox-0"])
        np.testing.assert_array_equal(table["x"], expected["bbox-1"])
        np.testing.assert_array_equal(table["height"], expected["bbox-2"] - expected["bbox-0"])
        np.testing.assert_array_equal(table["width"], expected["bbox-3"] - expected["bbox-1"])
        np.testing.assert_allclose(table["centroid_y"], expected["centroid-0"])
        np.testing.assert_allclose(table["centroid_x"], expected["centroid-1"])


@pytest.mark.parametrize("ranks", [1, 2])
def test_all_columns_of_an_image_are_those_of_scikit_image(blobs, ranks):
    measure = pytest.importorskip("skimage.measure")
    brightness = np.random.default_rng(4).random(blobs.shape)
    found = sextant.label(blobs, measure=True, columns="all", intensity=brightness, ranks=ranks)
    table = found.table
    np.testing.assert_array_equal(sextant.measure(found, brightness, columns="all"), table)
    sizes = sextant.measure(found)
    for name in sizes.dtype.names:
        np.testing.assert_array_equal(sizes[name], table[name])
    padded = np.pad(found.labels, 1)
    for each in measure.regionprops(found.labels, brightness):
        row = table[each.label - 1]
        np.testing.assert_allclose([row["axis_1"], row["axis_2"]],
                                   np.sqrt(np.linalg.eigvalsh(np.cov(each.coords.T, bias=True))[::-1].clip(0))
                                   if each.area > 1 else [0, 0], atol=1e-7)
        own = padded == each.label
        assert row["perimeter"] == sum((own[1:] != own[:-1]).sum() for own in (own, own.T))
        low, high = each.bbox[:2], each.bbox[2:]
        assert row["at_border"] == (min(low) == 0 or any(high[k] == blobs.shape[k] for k in (0, 1)))
        np.testing.assert_allclose(row["mean"], each.mean_intensity)


def test_holes_and_sizes_of_images_are_those_of_scipy(blobs):
    filled = ndimage.binary_fill_holes(blobs, np.ones((3, 3)))  # its background has 8 neighbours
    np.testing.assert_array_equal(sextant.label(blobs, neighbours=4, fill_holes=True).labels,
                                  ndimage.label(filled)[0])
    labels, count = ndimage.label(blobs, np.ones((3, 3)))
    sizes = np.bincount(labels.ravel())
    kept = (sizes >= 5)[labels] & (labels > 0)
    np.testing.assert_array_equal(sextant.label(blobs, min_size=5).labels,
                                  ndimage.label(kept, np.ones((3, 3)))[0])
    largest = np.argmax(sizes[1:]) + 1
    np.testing.assert_array_equal(sextant.label(blobs, keep_largest=1).labels, labels == largest)


def test_regions_that_are_not_connected_are_measured_together():
    table = sextant.measure(np.array([[3, 0, 3], [0, 1, 0]], "i8"))
    np.testing.assert_array_equal(table["label"], [1, 3])
    np.testing.assert_array_equal(table["area"], [1, 2])
    np.testing.assert_array_equal(table["width"], [1, 3])


@pytest.mark.parametrize("memory", ["1", 1])
def test_an_image_larger_than_memory_is_labelled_in_strips(memory):
    image = (np.random.default_rng(2).random((900, 700)) > 0.6).astype("f4")
    expected, count = ndimage.label(image, structure=np.ones((3, 3)))

    class Lazy:
        shape, dtype = image.shape, image.dtype

        def __getitem__(self, index):
            return image[index]
    found = sextant.label(Lazy(), memory=memory, measure=True, ranks=2)
    assert found.record["strips"] > 1
    assert found.components == count
    np.testing.assert_array_equal(found.labels, expected)
    np.testing.assert_array_equal(found.table["area"], np.bincount(expected.ravel())[1:])


@pytest.mark.parametrize("by_value", [False, True])
@pytest.mark.parametrize("dtype", ["u1", "f8"])
def test_threads_give_the_labels_of_one(by_value, dtype):
    image = np.random.default_rng(3).integers(0, 3, size=(501, 403)).astype(dtype)
    one = sextant.label(image, by_value=by_value, measure=True, ranks=1)
    for ranks in (2, 3, 7):
        found = sextant.label(image, by_value=by_value, measure=True, ranks=ranks)
        assert found.ranks == ranks
        np.testing.assert_array_equal(found.labels, one.labels)
        np.testing.assert_array_equal(found.table, one.table)


@pytest.mark.parametrize("ranks", [1, 2])
def test_masked_samples_are_background(ranks):
    image = np.ma.array(np.ones((3, 5), "u1"), mask=np.zeros((3, 5), bool))
    image.mask[:, 2] = True
    assert sextant.label(image, ranks=ranks).components == 2


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("dtype", ["i4", "i8"])
def test_out_is_filled_and_returned(blobs, ranks, dtype):
    expected = sextant.label(blobs).labels
    out = np.full(blobs.shape, -1, dtype)
    found = sextant.label(blobs, out=out, ranks=ranks)
    assert found.labels is out
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("ranks", [1, 2])
def test_out_may_have_any_strides(blobs, ranks):
    expected = sextant.label(blobs).labels
    whole = np.full((2 * blobs.shape[0], 2 * blobs.shape[1]), -1, "i4")
    out = whole[::2, ::2]
    sextant.label(blobs, out=out, ranks=ranks)
    np.testing.assert_array_equal(out, expected)
    assert (whole[1::2] == -1).all()
    padded = np.full((blobs.shape[0], blobs.shape[1] + 5), -1, "i4")
    sextant.label(blobs, out=padded[:, 3:-2], ranks=ranks)
    np.testing.assert_array_equal(padded[:, 3:-2], expected)
    assert (padded[:, :3] == -1).all() and (padded[:, -2:] == -1).all()


def test_colours_are_labelled_along_the_axis_of_channels():
    image = np.zeros((8, 9, 3), "u1")
    image[1, 1] = (9, 0, 0)
    image[1, 2] = (0, 9, 0)
    assert sextant.label(image, channel_axis=-1).components == 1
    assert sextant.label(image, channel_axis=-1, by_value=True).components == 2
    assert sextant.label(np.moveaxis(image, -1, 0), channel_axis=0, by_value=True).components == 2


def test_the_result_states_its_plan(blobs):
    found = sextant.label(blobs, ranks=2, pattern="2-lev-rc")
    assert found.plan.text == "2-lev-rc"
    assert found.plan.reason
    page = found._repr_html_()
    assert "data:image/png;base64," in page and str(found.components) in page
    assert np.array_equal(np.asarray(found), found.labels)


def test_labels_are_an_array(blobs):
    found = sextant.label(blobs)
    assert (found.shape, found.ndim, found.dtype) == (blobs.shape, 2, np.dtype("i4"))
    assert np.asarray(found) is found.labels and found.__array__(copy=False) is found.labels
    assert found.__array__(copy=True) is not found.labels
    assert np.asarray(found, "f8").dtype == found.__array__("f8", copy=None).dtype == np.float64
    with pytest.raises(ValueError, match="copied"):
        found.__array__("f8", copy=False)


@pytest.mark.parametrize("dtype", ["u1", "f4"])
def test_an_image_that_is_written_meanwhile(run_script, dtype):
    """The labels are arbitrary, but no other memory is read or written."""
    done = run_script(f"""
import threading, time
import numpy as np
import sextant

base = (np.random.default_rng(0).random((400, 400)) > .5).astype("{dtype}")
image = base.copy()
ends = threading.Event()


def camera():
    while not ends.is_set():
        for frame in (base, 1, 0, base.T):
            image[...] = frame
        image[:, ::2] = 0


thread = threading.Thread(target=camera)
thread.start()
began = time.perf_counter()
while time.perf_counter() - began < 2:
    for neighbours in (4, 8):
        for ranks in (1, 3):
            found = sextant.label(image, measure=True, by_value=True, ranks=ranks,
                                  neighbours=neighbours)
            assert found.labels.min() >= 0 and found.labels.max() <= found.components
ends.set()
thread.join()
print("labelled")
""")
    assert "labelled" in done.stdout
