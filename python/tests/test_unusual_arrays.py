# SPDX-License-Identifier: BSD-3-Clause
"""Rows, arrays without samples, and objects with DLPack are taken as SciPy and NumPy take them."""

import numpy as np
import pytest

import sextant


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
