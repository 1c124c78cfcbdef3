# SPDX-License-Identifier: BSD-3-Clause
"""label, measure, filter and stitch of volumes, compared with SciPy, scikit-image and the command."""
import csv
import subprocess

import numpy as np
import pytest
from scipy import ndimage

import sextant

STRUCTURES = {6: 1, 18: 2, 26: 3}


@pytest.fixture(scope="module")
def volume():
    """A binary volume with components of many sizes, and with holes."""
    rng = np.random.default_rng(4)
    smooth = ndimage.gaussian_filter(rng.normal(size=(31, 47, 53)), 1.2)
    return (smooth > .05) & (rng.random(smooth.shape) > .02)


@pytest.fixture(scope="module")
def intensity(volume):
    return np.random.default_rng(5).normal(size=volume.shape).astype("f4")


def scipy_labels(volume, neighbours=26):
    return ndimage.label(volume, ndimage.generate_binary_structure(3, STRUCTURES[neighbours]))


class Lazy:
    """An array that is read by slices."""

    def __init__(self, array):
        self._array, self.shape, self.dtype = array, array.shape, array.dtype

    def __getitem__(self, index):
        return self._array[index]


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("neighbours", [6, 18, 26])
def test_labels_are_those_of_scipy(volume, neighbours, ranks):
    expected, count = scipy_labels(volume, neighbours)
    found = sextant.label(volume, neighbours=neighbours, ranks=ranks)
    assert (found.components, found.ranks, found.dtype) == (count, ranks, np.dtype("u4"))
    np.testing.assert_array_equal(found.labels, expected)


@pytest.mark.parametrize("read", [
    lambda a: a.astype(">f8"), lambda a: np.asfortranarray(a), lambda a: a[::-1, ::-1][::-1, ::-1],
    Lazy, lambda a: np.ma.array(np.ones(a.shape, "u1"), mask=~a),
    lambda a: np.where(a, 1, np.nan)])
def test_any_array_gives_the_same_labels(volume, read):
    expected, _ = scipy_labels(volume)
    np.testing.assert_array_equal(sextant.label(read(volume), ranks=2).labels, expected)


def test_a_large_volume_is_labelled_in_slabs(volume, intensity):
    large, samples = np.tile(volume, (3, 5, 5)), np.tile(intensity, (3, 5, 5))
    expected, count = scipy_labels(large)
    found = sextant.label(Lazy(large), memory="2M", measure=True, ranks=2, intensity=Lazy(samples))
    assert found.record["slabs"] > 1 and "slabs of" in found.plan.text
    assert found.components == count
    np.testing.assert_array_equal(found.labels, expected)
    whole = sextant.label(large, measure=True, intensity=samples)
    assert "fit in memory" in whole.plan.reason
    np.testing.assert_array_equal(found.table, whole.table)


def test_the_table_is_that_of_scipy(volume, intensity):
    labels, count = scipy_labels(volume)
    numbers = np.arange(1, count + 1)
    found = sextant.label(volume, measure=True, intensity=intensity)
    for table in (found.table, sextant.measure(found, intensity),
                  sextant.measure(labels, Lazy(intensity))):
        np.testing.assert_array_equal(table["label"], numbers)
        np.testing.assert_array_equal(table["voxels"], np.bincount(labels.ravel())[1:])
        boxes = ndimage.find_objects(labels)
        for axis, (first, side) in enumerate((("z", "depth"), ("y", "height"), ("x", "width"))):
            np.testing.assert_array_equal(table[first], [box[axis].start for box in boxes])
            np.testing.assert_array_equal(table[first] + table[side],
                                          [box[axis].stop for box in boxes])
        centres = np.array(ndimage.center_of_mass(volume, labels, numbers))
        for axis, name in enumerate(("centroid_z", "centroid_y", "centroid_x")):
            np.testing.assert_allclose(table[name], centres[:, axis])
        np.testing.assert_allclose(table["mean"], ndimage.mean(intensity, labels, numbers),
                                   atol=1e-6)
        np.testing.assert_array_equal(table["minimum"], ndimage.minimum(intensity, labels, numbers))
        np.testing.assert_array_equal(table["maximum"], ndimage.maximum(intensity, labels, numbers))
        np.testing.assert_allclose(table["sum"], table["mean"] * table["voxels"])


def test_axes_are_those_of_scikit_image(volume):
    measure = pytest.importorskip("skimage.measure")
    found = sextant.label(volume, measure=True)
    expected = measure.regionprops(found.labels.astype("i8"))
    large = [each for each in expected if each.area > 20]
    assert large
    for each in large:
        own = np.sort([found.table[f"axis_{k}"][each.label - 1] for k in (1, 2, 3)])
        points = each.coords - each.coords.mean(axis=0)
        moments = np.linalg.eigvalsh(points.T @ points / len(points))
        np.testing.assert_allclose(own ** 2, moments, atol=1e-9)


def test_components_are_chosen_by_size(volume):
    labels, _ = scipy_labels(volume, 6)
    sizes = np.bincount(labels.ravel())
    sizes[0] = 0
    found = sextant.label(volume, neighbours=6, min_size=5)
    np.testing.assert_array_equal(found.labels, scipy_labels((sizes >= 5)[labels], 6)[0])
    assert found.record["removed"] == ((sizes > 0) & (sizes < 5)).sum()
    largest = sextant.label(volume, neighbours=6, keep_largest=1)
    np.testing.assert_array_equal(np.asarray(largest) == 1, labels == sizes.argmax())


def test_holes_are_filled(volume):
    filled = ndimage.binary_fill_holes(volume)
    assert filled.sum() > volume.sum()
    found = sextant.label(volume, fill_holes=True)
    np.testing.assert_array_equal(found.labels, scipy_labels(filled)[0])
    assert found.record["holes"] > 0


def test_voxels_are_connected_by_value():
    measure = pytest.importorskip("skimage.measure")
    values = np.random.default_rng(1).integers(0, 4, (9, 11, 13)).astype("u2")
    expected, count = measure.label(values, connectivity=1, return_num=True)
    found = sextant.label(values, by_value=True, neighbours=6)
    assert found.components == count
    np.testing.assert_array_equal(found.labels, expected)


@pytest.mark.parametrize("dtype", ["u4", "i4", "i8", ">u8"])
def test_labels_are_written_to_out(volume, dtype):
    expected, _ = scipy_labels(volume)
    out = np.zeros((*volume.shape, 2), dtype)[..., 1]
    found = sextant.label(volume, out=out)
    assert found.labels is out
    np.testing.assert_array_equal(out, expected)


def test_chunked_arrays_are_read_and_written(tmp_path, volume):
    h5py = pytest.importorskip("h5py")
    expected, _ = scipy_labels(volume)
    with h5py.File(tmp_path / "volume.h5", "w") as file:
        read = file.create_dataset("volume", data=volume.astype("u1"), chunks=(8, 16, 16))
        out = file.create_dataset("labels", volume.shape, "u4", chunks=(8, 16, 16))
        smooth = file.create_dataset("smooth", (1, *volume.shape), "f4", chunks=(1, 8, 16, 16))
        sextant.label(read, out=out, ranks=2)
        np.testing.assert_array_equal(out[...], expected)
        sextant.filter(read, 2, derivatives="smooth", out=smooth)
        np.testing.assert_array_equal(
            smooth[...], sextant.filter(volume, 2, derivatives="smooth").planes)


def test_planes_of_colours_or_volumes_of_few_columns(volume):
    narrow = volume[..., :3].astype("u1")
    np.testing.assert_array_equal(sextant.label(narrow, neighbours=26).labels,
                                  scipy_labels(narrow)[0])
    assert sextant.label(narrow, channel_axis=-1).ndim == 2
    plane = sextant.label(volume, frame=3)
    np.testing.assert_array_equal(plane.labels, sextant.label(volume[3]).labels)
    assert sextant.filter(narrow, sigma=(1, 1, 1), derivatives="z").planes.shape[1:] == narrow.shape


def test_one_plane_is_a_volume(volume):
    found = sextant.label(volume[:1], measure=True)
    assert found.shape == (1, *volume.shape[1:])
    np.testing.assert_array_equal(found.labels[0], sextant.label(volume[0]).labels)
    assert "voxels" in found.table.dtype.names


def test_labels_of_a_volume_are_shown(volume):
    found = sextant.label(volume)
    assert str(found.components) in found._repr_html_()
    assert "data:image/png;base64," in sextant.filter(volume, derivatives="z")._repr_html_()


def test_a_program_raises_where_labels_are_written(volume):
    class Out:
        shape, dtype = volume.shape, np.dtype("u4")

        def __setitem__(self, index, planes):
            raise KeyError("no space")
    with pytest.raises(KeyError, match="no space"):
        sextant.label(volume, out=Out(), ranks=2)
    seen = []
    sextant.label(volume, progress=lambda part, done, all: seen.append((part, done, all)))
    assert seen


# Measures

@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u8"])
def test_labels_of_any_type_are_measured(dtype):
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    labels = np.zeros((3, 4, 5), dtype)
    labels[0, 0, 0], labels[2, 3, 4], labels[1] = most, most, 1
    labels[0, 1, 1] = least
    table = sextant.measure(labels)
    found = dict(zip(table["label"].tolist(), table["voxels"].tolist()))
    assert found == {1: 20, most: 2, **({least: 1} if least else {})}


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"])
@pytest.mark.parametrize("shape", [(5, 8), (3, 5, 8)])
@pytest.mark.parametrize("options", [{}, {"ranks": 3}, {"memory": "2K"}])
def test_rows_are_in_the_order_of_labels(dtype, shape, options):
    least, most = (0, 1) if dtype == "?" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    values = np.array([7, most, 0, 1, least, 2, 100] + [-5, -1, -128] * (least < 0), dtype)
    labels = np.random.default_rng(2).choice(values, shape).astype(dtype)
    labels.flat[:len(values)] = values
    table = sextant.measure(labels, **options)
    expected, counts = np.unique(labels[labels != 0], return_counts=True)
    assert table["label"].tolist() == expected.tolist()
    assert table["voxels" if len(shape) == 3 else "area"].tolist() == counts.tolist()


def test_nan_makes_a_mean_nan(volume, intensity):
    holed = intensity.copy()
    holed[tuple(np.argwhere(volume)[0])] = np.nan
    table = sextant.label(volume, measure=True, intensity=holed).table
    assert np.isnan(table["mean"][0]) and np.isnan(table["sum"][0])
    assert np.isfinite(table["mean"][1:]).all()


def test_tables_and_labels_are_those_of_the_command(tmp_path, program, volume, intensity):
    paths = {name: str(tmp_path / f"{name}.npy") for name in ("volume", "intensity", "labels")}
    np.save(paths["volume"], volume.astype("u1"))
    np.save(paths["intensity"], intensity)
    table = tmp_path / "table.csv"
    subprocess.run([program, "label", paths["volume"], "-o", paths["labels"], "--table", table,
                    "--intensity", paths["intensity"]], check=True, capture_output=True)
    found = sextant.label(paths["volume"], measure=True, intensity=paths["intensity"])
    np.testing.assert_array_equal(found.labels, np.load(paths["labels"]))
    rows = list(csv.reader(table.open()))
    assert tuple(rows[0]) == found.table.dtype.names
    np.testing.assert_array_equal(np.array(rows[1:], "f8"),
                                  np.array(found.table.tolist(), "f8"))
    np.testing.assert_array_equal(sextant.measure(paths["labels"], paths["intensity"]), found.table)


# Filters

@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("sigma", [1.3, (2.5, 1.5, .8)])
def test_derivatives_are_those_of_scipy(intensity, sigma, ranks):
    orders = {"smooth": (0, 0, 0), "z": (1, 0, 0), "x": (0, 0, 1), "zy": (1, 1, 0),
              "xx": (0, 0, 2)}
    found = sextant.filter(intensity, sigma, derivatives=list(orders), truncate=4, ranks=ranks)
    for name, order in orders.items():
        expected = ndimage.gaussian_filter(intensity.astype("f8"), sigma, order=order, truncate=4,
                                           mode="nearest")
        np.testing.assert_allclose(found[name], expected, atol=2e-6)


def test_filters_do_not_depend_on_memory_tiles_or_reader(intensity):
    large = np.tile(intensity, (3, 2, 2))
    expected = sextant.filter(large, (2, 1, 1), derivatives=["z", "smooth"]).planes
    windows = sextant.filter(Lazy(large), (2, 1, 1), derivatives=["z", "smooth"], memory="3M")
    assert windows.record["windows"] > 1
    np.testing.assert_array_equal(windows.planes, expected)
    tiles = sextant.filter(large, np.array([2, 1, 1]), derivatives=["z", "smooth"], grid=(2, 1, 2))
    assert tiles.ranks == 4
    np.testing.assert_array_equal(tiles.planes, expected)
    out = np.zeros((*large.shape, 2), "f8")
    sextant.filter(large, (2, 1, 1), derivatives=["z", "smooth"], out=np.moveaxis(out, -1, 0))
    np.testing.assert_array_equal(np.moveaxis(out, -1, 0), expected)
    one = np.zeros(large.shape, "f4")
    assert sextant.filter(large, (2, 1, 1), derivatives="z", out=one)["z"] is one
    np.testing.assert_array_equal(one, expected[0])


def test_features_are_eigenvalues_of_the_hessian(intensity):
    found = sextant.features(intensity, sigma=1.5)
    names = [["zz", "zy", "zx"], ["zy", "yy", "yx"], ["zx", "yx", "xx"]]
    names = [["".join(sorted(name)) for name in row] for row in names]
    d = sextant.filter(intensity, 1.5, derivatives=sorted({name for row in names for name in row}))
    hessian = np.stack([np.stack([d[name] for name in row], -1) for row in names], -1)
    values = np.linalg.eigvalsh(hessian.astype("f8"))
    for k in (1, 2, 3):
        np.testing.assert_allclose(found[f"hessian-{k}"], values[..., 3 - k], atol=1e-5)
    np.testing.assert_allclose(found["laplacian"], values.sum(axis=-1), atol=1e-5)


def test_large_integers_of_a_volume_keep_their_differences():
    ramp = 10**9 + np.arange(40)[:, np.newaxis, np.newaxis] + np.arange(8 * 9).reshape(8, 9)
    found = sextant.filter(ramp, 2, derivatives=["z"])
    np.testing.assert_allclose(found["z"][12:28], 1, atol=1e-4)
    out = np.zeros((2, *ramp.shape), "f8")
    sextant.filter(ramp, 2, derivatives=["smooth", "z"], truncate=4, out=out)
    expected = ndimage.gaussian_filter(ramp.astype("f8"), 2, truncate=4, mode="nearest")
    np.testing.assert_allclose(out[0], expected, atol=1e-4, rtol=0)


# Blocks

def block_labels(volume, corners, sides):
    """Blocks of a volume, each labelled on its own."""
    for corner in corners:
        part = volume[tuple(slice(c, c + s) for c, s in zip(corner, sides))]
        yield scipy_labels(part, 6)[0].astype("i4"), corner


@pytest.mark.parametrize("ranks", [1, 3])
def test_blocks_that_overlap_are_joined_to_the_labels_of_the_whole(ranks):
    # Balls, which every block with a part of them shows as one component.
    centres = np.stack(np.meshgrid([6, 18, 30], [7, 20, 33], [8, 24, 39], indexing="ij"), -1)
    z, y, x = np.ogrid[:37, :41, :47]
    volume = np.zeros((37, 41, 47), bool)
    for a, b, c in centres.reshape(-1, 3):
        volume |= (z - a) ** 2 + (y - b) ** 2 + (x - c) ** 2 < 25
    expected, count = scipy_labels(volume, 6)
    assert count == 27
    corners = [(a, b, c) for a in (0, 15) for b in (0, 17) for c in (0, 20)]
    blocks = list(block_labels(volume, corners, (22, 24, 27)))
    options = {"by": "voxels", "ranks": ranks}
    found = sextant.stitch(blocks, **options)
    assert (found.objects, found.ranks) == (count, ranks)
    np.testing.assert_array_equal(found.labels, expected)
    np.testing.assert_array_equal(np.asarray(found) > 0, volume)
    assert found.table["voxels"].sum() == sum((labels > 0).sum() for labels, _ in blocks)
    assert set(found.joins["outcome"]) == {"joined"}
    again = sextant.stitch([(Lazy(labels), corner) for labels, corner in blocks[::-1]], **options)
    np.testing.assert_array_equal(again.labels, expected)
    np.testing.assert_array_equal(again.table, found.table)


def test_planes_that_were_labelled_one_by_one_are_joined():
    z, y, x = np.ogrid[:9, :20, :30]
    volume = ((y - 6) ** 2 + (x - 6 - z) ** 2 < 20) | ((y - 15) ** 2 + (x - 22 + z) ** 2 < 15)
    planes = np.stack([sextant.label(plane).labels for plane in volume])
    out = np.zeros(volume.shape, "i8")
    found = sextant.stitch(planes, block=(1, 0, 0), threshold=.2, out=out)
    assert found.objects == 2 and found.labels is out
    np.testing.assert_array_equal(out, scipy_labels(volume)[0])


def test_gaps_and_sizes(tmp_path):
    block = np.ones((2, 3, 4), "u1")
    found = sextant.stitch([(block, (0, 0, 0)), (block, (4, 0, 0))], allow_gaps=True,
                           size=(7, 3, 5))
    assert found.labels.shape == (7, 3, 5) and found.objects == 2
    assert not found.labels[2:4].any() and not found.labels[6].any()
    np.save(tmp_path / "a.npy", block[0])
    (tmp_path / "blocks.csv").write_text("file,y,x\na.npy,0,0\na.npy,3,0\n")
    images = sextant.stitch(tmp_path / "blocks.csv", by="voxels")
    np.testing.assert_array_equal(images.labels, np.ones((6, 4)))
    paths = sextant.stitch([(tmp_path / "a.npy", (0, 0)), (block[1], (3, 0))], by="voxels")
    np.testing.assert_array_equal(paths.labels, images.labels)


def test_stitched_labels_and_tables_are_those_of_the_command(tmp_path, program, volume):
    planes = np.stack([ndimage.label(plane)[0] for plane in volume])
    np.save(tmp_path / "planes.npy", planes)
    names = {name: str(tmp_path / name) for name in ("planes.npy", "out.npy", "t.csv", "j.csv")}
    subprocess.run([program, "stitch", names["planes.npy"], "-o", names["out.npy"], "--block",
                    "1,0,0", "--table", names["t.csv"], "--joins", names["j.csv"]], check=True,
                   capture_output=True)
    found = sextant.stitch(planes, block=(1, 0, 0))
    np.testing.assert_array_equal(found.labels, np.load(names["out.npy"]))
    for table, name in ((found.table, "t.csv"), (found.joins, "j.csv")):
        rows = list(csv.reader(open(names[name])))
        assert tuple(rows[0]) == table.dtype.names
        assert len(table) == len(rows) - 1 > 100
        for column, values in zip(rows[0], zip(*rows[1:])):
            np.testing.assert_array_equal(np.array(values, table[column].dtype), table[column])


def test_two_labels_of_a_block_are_never_one_object():
    left = np.array([[1, 1, 1, 1]])
    right = np.array([[3, 4, 4, 0]])
    found = sextant.stitch([(left, (0, 0)), (right, (0, 2))], by="voxels")
    assert sorted(found.joins["outcome"]) == ["conflict", "joined"]
    assert found.record["conflicts"] == 1 and found.objects == 2


def test_dask_volumes(volume, intensity):
    array = pytest.importorskip("dask.array")
    import sextant.dask
    labels, count = sextant.dask.label(array.from_array(volume, chunks=(8, 20, 20)), neighbours=6)
    expected, total = scipy_labels(volume, 6)
    assert count == total and labels.chunks[0][0] == 8
    np.testing.assert_array_equal(labels.compute(), expected)
    masked = np.ma.array(np.ones(volume.shape, "u1"), mask=~volume)
    table = sextant.measure(array.from_array(masked, chunks=(8, 20, 20)))
    np.testing.assert_array_equal(table["voxels"], [volume.sum()])
    filtered = sextant.dask.filter(array.from_array(intensity, chunks=(8, 20, 20)), (2, 1, 1),
                                   derivatives="z")
    np.testing.assert_array_equal(filtered.compute(),
                                  sextant.filter(intensity, (2, 1, 1), derivatives="z").planes)
