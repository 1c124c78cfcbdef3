# SPDX-License-Identifier: BSD-3-Clause
"""filter, features, canny and contours, compared with SciPy and with what is drawn."""
import numpy as np
import pytest
from scipy import ndimage

import sextant

ORDERS = {"smooth": (0, 0), "x": (0, 1), "y": (1, 0), "xx": (0, 2), "xy": (1, 1), "yy": (2, 0),
          "xxy": (1, 2)}


@pytest.fixture(scope="module")
def image():
    rng = np.random.default_rng(5)
    return ndimage.gaussian_filter(rng.normal(size=(203, 311)), 1).astype("f4")


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("border, mode", [("replicate", "nearest"), ("mirror", "mirror"),
                                          ("reflect", "reflect"), ("constant", "constant"),
                                          ("wrap", "wrap")])
def test_derivatives_are_those_of_scipy(image, border, mode, ranks):
    found = sextant.filter(image, sigma=1.7, truncate=4, border=border, ranks=ranks,
                           derivatives=list(ORDERS))
    for name, order in ORDERS.items():
        expected = ndimage.gaussian_filter(image.astype("f8"), 1.7, order=order, truncate=4,
                                           mode=mode)
        np.testing.assert_allclose(found[name], expected, atol=1e-6)


@pytest.mark.parametrize("shape", [(1, 40), (3, 4), (61, 83), (5, 40, 33), (1, 2, 30)])
@pytest.mark.parametrize("scale", [0, .04, .3, .49, .7, (2, .3), (0, 1.5), (.2, 0), (7, 1)])
@pytest.mark.parametrize("ranks", [1, 3])
def test_scales_differ_between_axes_and_may_be_small_or_0_as_in_scipy(shape, scale, ranks):
    array = np.random.default_rng(6).normal(size=shape).astype("f4")
    if isinstance(scale, tuple) and len(shape) == 3:
        scale = (.45, *scale)
    for border, mode in (("reflect", "reflect"), ("mirror", "mirror"), ("wrap", "wrap")):
        found = sextant.filter(array, scale, truncate=4, border=border, ranks=ranks,
                               derivatives="smooth")
        expected = ndimage.gaussian_filter(array.astype("f8"), scale, truncate=4, mode=mode)
        np.testing.assert_allclose(found["smooth"], expected, atol=2e-6)
        usual = sextant.filter(array, scale, border=border, ranks=ranks, derivatives="smooth")
        expected = ndimage.gaussian_filter(array.astype("f8"), scale, truncate=8, mode=mode)
        np.testing.assert_allclose(usual["smooth"], expected, atol=2e-4)


@pytest.mark.parametrize("grid", ["1x1x2", "1x2x2", "2x1x2", "2x2x3", "1x3", "3x2"])
@pytest.mark.parametrize("distribute", ["any", "read", "scatter", "broadcast"])
def test_volumes_have_fewer_planes_than_layers_of_tiles(grid, distribute):
    for shape in ((1, 8, 9), (1, 1, 9), (1, 2, 1), (2, 5, 6)):
        array = np.random.default_rng(7).normal(size=shape).astype("f4")
        found = sextant.filter(array, .8, truncate=4, derivatives=["smooth", "x"], grid=grid,
                               distribute=distribute)
        for name, order in (("smooth", 0), ("x", (0, 0, 1))):
            expected = ndimage.gaussian_filter(array.astype("f8"), .8, order=order, truncate=4,
                                               mode="nearest")
            np.testing.assert_allclose(found[name], expected, atol=2e-6, err_msg=str(shape))


def test_derivatives_are_along_axes_that_are_filtered(image):
    found = sextant.filter(image, (0, 1.7), truncate=4, border="reflect", derivatives=["x", "xx"])
    for name, order in (("x", 1), ("xx", 2)):
        expected = ndimage.gaussian_filter1d(image.astype("f8"), 1.7, order=order, truncate=4)
        np.testing.assert_allclose(found[name], expected, atol=1e-6)
    for scale in ((0, 1.7), (.4, 2), 0, .49):
        with pytest.raises(sextant.InvalidTask, match="the scale along y is"):
            sextant.filter(image, scale, derivatives="y")
    with pytest.raises(sextant.InvalidTask, match="relative to sigma along x, which is 0"):
        sextant.filter(image, (1, 0), derivatives="smooth", before="smooth@2")
    with pytest.raises(sextant.InvalidTask, match="0.5 to 1000"):
        sextant.filter(image, .3, derivatives="smooth", kernel="p3pc")


def test_bits_do_not_depend_on_ranks_or_memory(image):
    expected = sextant.filter(image, sigma=2).planes
    for options in ({"ranks": 2}, {"ranks": 3, "grid": (3, 1)}, {"memory": "1M"},
                    {"grid": "1x2"}):
        np.testing.assert_array_equal(sextant.filter(image, sigma=2, **options).planes, expected)


def test_out_may_be_an_array_of_any_strides(image):
    expected = sextant.filter(image, sigma=2, derivatives=["x", "y"]).planes
    out = np.zeros((*image.shape, 2), "f8")
    planes = np.moveaxis(out, -1, 0)
    found = sextant.filter(image, sigma=2, derivatives=["x", "y"], out=planes)
    assert found.planes is planes
    np.testing.assert_array_equal(planes, expected)


def test_features_are_made_of_derivatives(image):
    found = sextant.features(image, sigma=2)
    d = sextant.filter(image, sigma=2)
    np.testing.assert_allclose(found["gradient-magnitude"], np.hypot(d["x"], d["y"]), atol=1e-6)
    np.testing.assert_allclose(found["laplacian"], d["xx"] + d["yy"], atol=1e-6)
    hessian = np.stack([np.stack([d["xx"], d["xy"]], -1), np.stack([d["xy"], d["yy"]], -1)], -1)
    values = np.linalg.eigvalsh(hessian.astype("f8"))
    np.testing.assert_allclose(found["hessian-2"], values[..., 0], atol=1e-6)
    np.testing.assert_allclose(found["hessian-1"], values[..., 1], atol=1e-6)
    assert list(sextant.features(image, "smooth")) == ["smooth"]


def test_filters_are_applied_one_after_another(image):
    found = sextant.filter(image, sigma=1, derivatives="x", before=[("smooth", 2.5)], truncate=4)
    first = ndimage.gaussian_filter(image, 2.5, truncate=4, mode="nearest")
    expected = ndimage.gaussian_filter(first, 1, order=(0, 1), truncate=4, mode="nearest")
    np.testing.assert_allclose(found["x"], expected, atol=1e-6)


def test_large_integers_keep_their_differences():
    ramp = (10**9 + np.arange(64)) * np.ones((32, 1), "i8")
    found = sextant.filter(ramp, sigma=2, derivatives=["x"])
    np.testing.assert_allclose(found["x"][:, 16:48], 1, atol=1e-4)
    out = np.zeros((2, *ramp.shape), "f8")  # resolves the values, too
    sextant.filter(ramp + 57, sigma=2, derivatives=["smooth", "x"], out=out)
    np.testing.assert_allclose(out[0, :, 16:48] - 57, ramp[:, 16:48], atol=1e-2, rtol=0)


def test_a_filtered_image_is_a_mapping_of_planes(image):
    found = sextant.filter(image, derivatives=["x", "yy"])
    assert list(found) == list(found.keys()) == ["x", "yy"] and "x" in found and len(found) == 2
    for name, plane in found.items():
        np.testing.assert_array_equal(plane, found[name])
    assert dict(found)["yy"].shape == image.shape and (found == found).all()
    with pytest.raises(KeyError, match="expected one of x, yy"):
        found["xy"]


def test_one_plane_is_written_to_an_array_of_the_shape_of_the_image(image):
    expected = sextant.filter(image, derivatives="xy")["xy"]
    for dtype in ("f4", "f8"):
        out = np.zeros(image.shape, dtype)
        found = sextant.filter(image, derivatives="xy", out=out)
        assert found.planes is out and found["xy"] is out
        np.testing.assert_array_equal(out, expected)
    large = np.full((32, 40), 2**40 + 1)
    sextant.filter(large, derivatives="smooth", out=out[:32, :40])
    np.testing.assert_allclose(out[:32, :40], 2**40 + 1)
    with pytest.raises(sextant.InvalidTask, match="out has shape"):
        sextant.filter(image, derivatives="x,y", out=out)


def test_nan_spreads_and_is_counted(image):
    holed = image.copy()
    holed[100, 100] = np.nan
    found = sextant.filter(holed, sigma=1, derivatives="smooth", truncate=4)
    assert found.not_a_number == 1
    assert np.isnan(found.planes[0][100, 100]) and np.isfinite(found.planes[0][50, 50])
    masked = np.ma.array(image, mask=np.isnan(holed))
    again = sextant.filter(masked, sigma=1, derivatives="smooth", truncate=4)
    np.testing.assert_array_equal(again.planes, found.planes)


@pytest.fixture(scope="module")
def disc():
    image = np.zeros((160, 200), "f4")
    y, x = np.ogrid[:160, :200]
    image[(y - 80) ** 2 + (x - 100) ** 2 < 50 ** 2] = 1
    return image


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_edges_and_contours_are_at_the_drawn_circle(disc, ranks):
    edges = sextant.canny(disc, sigma=2, quantiles=(.9, .95), ranks=ranks)
    y, x = np.nonzero(edges)
    assert len(y) > 200
    assert abs(np.hypot(y - 80, x - 100) - 50).max() < 2
    found = sextant.contours(disc, sigma=2, quantiles=(.9, .95), ranks=ranks)
    drawn = np.zeros_like(edges)
    drawn[found.points[:, 0], found.points[:, 1]] = True
    np.testing.assert_array_equal(drawn, edges)
    assert len(found) == 1 and found.closed[0]
    steps = np.abs(np.diff(found[0], axis=0)).max(axis=1)
    assert (steps == 1).all()  # each point is next to the one before it


def test_a_direction_map_has_the_same_contours(disc):
    directions = sextant.canny(disc, sigma=2, directions=True)
    found = sextant.contours(directions, directions=True)
    expected = sextant.contours(disc, sigma=2)
    np.testing.assert_array_equal(found.points, expected.points)
    np.testing.assert_array_equal(found.first, expected.first)
    assert found.thresholds is None and expected.thresholds is not None


def test_contours_can_be_indexed_and_shown(disc):
    found = sextant.contours(np.tile(disc, (1, 2)), sigma=2, quantiles=(.9, .95))
    assert len(found) == 2 and len(found[0:2]) == 2 and len(list(found)) == 2
    np.testing.assert_array_equal(found[-1], found[1])
    with pytest.raises(IndexError):
        found[2]
    with pytest.raises(TypeError):
        found[0] in found
    assert "2 contours" in found._repr_html_()
