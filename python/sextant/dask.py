# SPDX-License-Identifier: BSD-3-Clause
"""Labels and filters dask arrays; the results are dask arrays, too.

The functions compute immediately, not when ``compute()`` is called on the result. The image is
never in memory as a whole: a call reads it a few chunks at a time, and writes the result to an
unnamed temporary file on disk, from which the returned array reads.
"""
from __future__ import annotations

import tempfile
from typing import Any, Tuple

import numpy as np
from typing import Unpack

from . import _core, images
from ._arrays import _check_axes, computed_type
from ._documented import documented
from ._effects import check_effects
from ._options import DEFAULTS, FilterOptions, LabelOptions
from .errors import WrongType

__all__ = ["filter", "label"]


def _dask_array(image: Any) -> Any:
    """The module dask.array, after a check of the image or volume."""
    try:
        import dask.array
        array: Any = dask.array
    except ImportError:
        raise ImportError("sextant.dask needs dask (python3-dask)") from None
    if not isinstance(image, array.Array):
        raise WrongType(f"image is a {type(image).__name__}, expected a dask array")
    if images._unusual_shape(image, None) is None:
        _check_axes(image.shape, ("depth", "height", "width")[-2 if image.ndim < 3 else 0:],
                    "image")
    return array


def _on_disk(shape: Tuple[int, ...], dtype: str) -> np.ndarray:
    """An array in an unnamed file, which is removed with the last reference to it."""
    if 0 in shape:
        return np.empty(shape, dtype)
    with tempfile.TemporaryFile() as file:
        file.truncate(int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize)
        return np.memmap(file, dtype=dtype, mode="r+", shape=shape)


@documented(LabelOptions)
def label(image: Any, **options: Unpack[LabelOptions]) -> Tuple[Any, int]:
    """Label the connected components of a dask array immediately: the result is not lazy.

    Parameters
    ----------
    image : dask.array.Array
        With the axes height and width, or depth, height and width, and chunks of any size. An array
        with one axis is read as a whole.
    **options
        As in `sextant.label`. Images that need more than `memory` are processed in strips, volumes
        in slabs of planes.

    Returns
    -------
    dask.array.Array
        The labels, int32 (uint32 for a volume), with the chunks of the image.
    int
        The number of components.

    Examples
    --------
    >>> import dask.array, numpy as np, sextant.dask
    >>> image = dask.array.from_array(np.eye(8), chunks=3)
    >>> labels, count = sextant.dask.label(image)
    >>> count, labels.chunks == image.chunks
    (1, True)
    """
    array = _dask_array(image)
    _core.check_options("label", dict(options))
    check_effects("dask.label", options, DEFAULTS[LabelOptions])
    out = _on_disk(image.shape, "i4" if image.ndim < 3 else "u4")
    found = images.label(image, out=out, **options)
    return array.from_array(out, chunks=image.chunks), found.components


@documented(FilterOptions)
def filter(image: Any, sigma: images.Scale = 1, **options: Unpack[FilterOptions]) -> Any:
    """Filter a dask array immediately: the result is not lazy.

    Parameters
    ----------
    image : dask.array.Array
        With the axes height and width, or depth, height and width, and chunks of any size. An array
        with one axis is read as a whole.
    sigma, **options
        As in `sextant.filter`. Images that need more than `memory` are processed in windows.

    Returns
    -------
    dask.array.Array
        One image or volume per derivative, with the chunks of the image: float32, or float64 as in
        `sextant.filter`.

    Examples
    --------
    >>> import dask.array, numpy as np, sextant.dask
    >>> image = dask.array.from_array(np.eye(64), chunks=20)
    >>> sextant.dask.filter(image, sigma=2, derivatives="x,y").shape
    (2, 64, 64)
    """
    array = _dask_array(image)
    make = _core.FilterOptions if image.ndim < 3 else _core.FilterOptions.of_volume
    names = make(dict(options)).derivatives
    out = _on_disk((len(names), *image.shape), computed_type(image.dtype))
    images.filter(image, sigma, out=out, **options)
    return array.from_array(out, chunks=((1,) * len(names), *image.chunks))
