# SPDX-License-Identifier: BSD-3-Clause
"""Rows, arrays without samples, and objects with DLPack are taken as SciPy and NumPy take them."""

import numpy as np
import pytest

import sextant


class Exchanged:
    """An object that has only DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OnACard(Exchanged):
    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, **options):
        raise BufferError("the memory is that of a graphics card")


def test_objects_with_dlpack_are_read_where_they_are(movie):
    image = np.random.default_rng(0).random((40, 50)).astype("f4")
    for call in (lambda image: sextant.label(image > .5 if image is None else image, copy=False),
                 lambda image: sextant.filter(image, 2, copy=False),
                 lambda image: sextant.features(image, sigma=2)["laplacian"]):
        np.testing.assert_array_equal(call(Exchanged(image)), call(image))
    labels = (image * 9).astype("i4")
    np.testing.assert_array_equal(sextant.measure(Exchanged(labels)), sextant.measure(labels))
    assert len(sextant.contours(Exchanged(image))) == len(sextant.contours(image))
    np.testing.assert_array_equal(sextant.canny(Exchanged(image)), sextant.canny(image))
    stitched = sextant.stitch([(Exchanged(labels), (0, 0))])
    np.testing.assert_array_equal(stitched, sextant.stitch([(labels, (0, 0))]))
    images = np.zeros((2, 3, 4, 4), "u1")
    np.testing.assert_array_equal(sextant.composite(Exchanged(images)), sextant.composite(images))
    np.testing.assert_array_equal(sextant.composite([Exchanged(each) for each in images]),
                                  sextant.composite(images))
    options = {"reproducible": True, "ranks": 1, "threads": 1}
    found = sextant.register(movie, **options)
    for series in (Exchanged(movie), [Exchanged(frame) for frame in movie]):
        np.testing.assert_array_equal(sextant.register(series, **options).motions, found.motions)
    np.testing.assert_array_equal(sextant.apply(found, Exchanged(movie)),
                                  sextant.apply(found, movie))
    np.testing.assert_array_equal(sextant.apply(found, Exchanged(movie), by="shift"),
                                  sextant.apply(found, movie, by="shift"))
    with pytest.raises(sextant.WrongType, match="DLPack: the memory is that of a graphics card"):
        sextant.label(OnACard(image))
    with pytest.raises(sextant.InvalidTask, match="shares memory"):
        sextant.label(Exchanged(labels), out=labels)


def test_results_are_exchanged_by_dlpack():
    for result in (sextant.label(np.eye(3)), sextant.filter(np.eye(9)),
                   sextant.composite(np.zeros((2, 3, 4, 4), "f4"))):
        np.testing.assert_array_equal(np.from_dlpack(result), np.asarray(result))


RESULTS = {
    "label": lambda movie: sextant.label(movie[0] > 0),
    "label of a volume": lambda movie: sextant.label(movie > 0),
    "filter": lambda movie: sextant.filter(movie[0], 2),
    "stitch": lambda movie: sextant.stitch(sextant.label(movie[0] > 0), block=(64, 64)),
    "contours": lambda movie: sextant.contours(movie[0], sigma=3),
    "no contours": lambda movie: sextant.contours(np.zeros((50, 40))),
    "composite": lambda movie: sextant.composite(np.ones((2, 900, 700, 4), "f4")),
    "register": lambda movie: sextant.register(movie),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_notebook_shows_a_line_and_a_small_picture_and_the_page_on_request(name, movie):
    result = RESULTS[name](movie)
    shown = result._repr_html_()
    assert "<iframe" not in shown and len(shown) < 150_000
    assert shown.count("<img ") == (name != "no contours")
    assert result.__repr__()[1:20].split(":")[0] in shown and "page()" in shown
    page = result.page()
    assert isinstance(page, str) and page.startswith("<!DOCTYPE html>")
    assert page._repr_html_().startswith("<iframe srcdoc=")
