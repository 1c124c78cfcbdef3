# SPDX-License-Identifier: BSD-3-Clause
"""composite, compared with NumPy; scan, compared with itertools.accumulate."""
import itertools

import numpy as np
import pytest

import sextant


def random_images(count, dtype, shape=(21, 34)):
    rng = np.random.default_rng(count)
    alpha = rng.random((count, *shape, 1))
    images = np.concatenate([rng.random((count, *shape, 3)) * alpha, alpha], axis=-1)
    if dtype == "u1":
        return np.round(images * 255).astype("u1")
    return images.astype(dtype)


def over(images):
    result = images[0].astype("f8")
    for back in images[1:]:
        result = result + (1 - result[..., 3:4]) * back
    return result


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("dtype, tolerance", [("f4", 1e-6), ("f2", 4e-3), ("u1", 5 / 255)])
def test_images_are_blended_front_to_back(count, dtype, tolerance):
    images = random_images(count, dtype)
    scale = 255 if dtype == "u1" else 1
    found = sextant.composite(images)
    assert found.image.dtype == np.dtype(dtype)
    np.testing.assert_allclose(found.image / scale, over(images / scale), atol=tolerance)


@pytest.mark.parametrize("algorithm", ["direct-send", "binary-swap", "radix-k", "binary-tree"])
def test_algorithms_give_the_same_image(algorithm):
    images = random_images(4, "f4")
    found = sextant.composite(list(images), algorithm=algorithm)
    assert found.plan.text.startswith(algorithm)
    np.testing.assert_allclose(found.image, over(images), atol=1e-6)


def test_order_and_background():
    images = random_images(3, "f4")
    found = sextant.composite(images, order=[2, 0, 1])
    np.testing.assert_allclose(found.image, over(images[[2, 0, 1]]), atol=1e-6)
    found = sextant.composite(images, background="white")
    white = np.ones((1, *images.shape[1:]), "f4")
    np.testing.assert_allclose(found.image, over(np.concatenate([images, white])), atol=1e-6)


def test_the_nearest_sample_wins():
    images = np.concatenate([random_images(3, "f4"), np.random.default_rng(9).random((3, 21, 34, 1))],
                            axis=-1).astype("f4")
    found = sextant.composite(images)
    nearest = images[..., 4].argmin(axis=0)
    np.testing.assert_array_equal(found.image, np.take_along_axis(
        images, nearest[np.newaxis, ..., np.newaxis], axis=0)[0])


def test_out_and_plan():
    images = random_images(4, "f4")
    out = np.zeros(images.shape[1:], "f4")
    found = sextant.composite(images[:, ::-1], out=out)
    assert found.image is out
    np.testing.assert_allclose(out, over(images[:, ::-1]), atol=1e-6)
    assert found.plan.predicted > 0 and found.plan.measured > 0
    assert len(found.plan.alternatives) > 1
    assert found.plan.text.split(",")[0] in found.plan._repr_html_()


@pytest.mark.parametrize("options", [{}, {"threads": 2}, {"threads": 3},
                                     {"threads": 2, "boundaries": "fixed"}])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 64])
def test_scans_are_those_of_itertools(options, count):
    values = [chr(97 + k % 26) for k in range(count)]
    expected = list(itertools.accumulate(values))
    assert sextant.scan(values, lambda left, right: left + right, **options) == expected
    found = sextant.scan(values, lambda left, right: left + right, exclusive=True, **options)
    assert found == ([None] + expected[:-1] if values else [])


def test_scans_of_arrays():
    rng = np.random.default_rng(0)
    matrices = [rng.normal(size=(3, 3)) for _ in range(17)]
    found = sextant.scan(matrices, np.matmul, threads=2)
    for mine, expected in zip(found, itertools.accumulate(matrices, np.matmul)):
        np.testing.assert_allclose(mine, expected, rtol=1e-9)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_exception_of_an_operator_arrives(threads):
    class Odd(Exception):
        pass
    raised = Odd("the operator")

    def op(left, right):
        if right == 5:
            raise raised
        return left + right
    with pytest.raises(Odd) as caught:
        sextant.scan(range(16), op, threads=threads)
    assert caught.value is raised


def test_objects_of_scans_are_released():
    import weakref

    class Value:
        def __init__(self, number):
            self.number = number
    values = [Value(k) for k in range(9)]
    found = sextant.scan(values, lambda left, right: Value(left.number + right.number), threads=2)
    assert found[-1].number == 36
    alive = [weakref.ref(value) for value in found + values]
    del found, values
    assert all(each() is None for each in alive)
