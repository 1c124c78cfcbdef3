# SPDX-License-Identifier: BSD-3-Clause
"""Blends images in visibility order."""
from __future__ import annotations

import errno
import json
import os
from typing import Any, Dict, List, Mapping, Optional, Tuple
from typing import Unpack

import numpy as np

from . import _core
from ._arrays import agreed, check_overlap, check_samples, ma, parsed, with_mask
from ._documented import documented
from ._effects import check_effects
from ._options import DEFAULTS, CompositeOptions
from ._results import ArrayResult, Plan, _axes, plan_of
from .errors import InvalidTask, NoSuchFile, WrongType

__all__ = ["Composite", "composite"]

_FORMATS = {("f4", 4): "rgba f32", ("f2", 4): "rgba f16", ("u1", 4): "rgba u8",
            ("f4", 5): "rgba+depth f32"}


class Composite(ArrayResult):
    """A composited image, which behaves like the array of its pixels.

    Attributes
    ----------
    image : ndarray
        Height, width and channels. None on ranks other than the root.
    warnings : list of str
        Remarks on pixels that are NaN or not premultiplied.
    """

    _title = "composited image"
    _array = "image"
    _compared = "this run"

    def __init__(self, image: Optional[np.ndarray], found: Mapping[str, Any]) -> None:
        super().__init__(found["plan"])
        self.image = image
        self.warnings: List[str] = found["warnings"]
        self._seconds: float = found["seconds"]
        self._text: str = found.get("text", "")

    @property
    def record(self) -> Dict[str, Any]:
        """The plan, the time and warnings, as in the JSON that the command writes."""
        if self._record is None:
            plan = None if self._lazy is None else json.loads(self._lazy.json())
            self._record = {"plan": plan, "seconds": {"composite": self._seconds} if self._seconds else {},
                            "warnings": self.warnings}
        return self._record

    @property
    def plan(self) -> Plan:
        """The algorithm that was used, and why; empty on ranks other than 0."""
        plan = self.record["plan"]
        return Plan("", "") if plan is None else plan_of(plan, self._seconds or None, self._text)

    def __repr__(self) -> str:
        shape = None if self.image is None else self.image.shape
        return f"<Composite {shape}: {self.plan.text}>"

    def _facts(self) -> List[Tuple[str, Any]]:
        return [("Warning", each) for each in self.warnings]

    def _images(self) -> List[Tuple[np.ndarray, str]]:
        return [] if self.image is None else [(self.image, "the composited image")]

    def plot(self, axes: Any = None) -> Any:
        """Draw the image with matplotlib, and return the axes."""
        axes = _axes(axes)
        if self.image is not None:
            colours = self.image[..., :4]
            axes.imshow(colours if colours.dtype == np.uint8 else np.clip(colours.astype("f4"), 0, 1))
        return axes


@documented(CompositeOptions)
def composite(images: Any, *, out: Optional[np.ndarray] = None, comm: Any = None,
              **options: Unpack[CompositeOptions]) -> Composite:
    """Blend images in visibility order.

    Parameters
    ----------
    images : array_like
        An array with the axes images, height, width and channels, or a list of images: RGBA,
        premultiplied by opacity, as float32, float16 or uint8; with ``operator="nearest"``, float32
        with a fifth channel, the depth. Images are ordered front to back. Without `comm`, each
        image is blended by its own thread.
    out : ndarray, optional
        Array to which the composited image is written, with the type and shape of one image.
    comm : mpi4py.MPI.Comm, optional
        Blend the images of all ranks of this communicator, in the order of the ranks. All ranks
        call the function, each with its own images of the same shape; an array without images is
        allowed. The result is on the rank `root`.
    {options}

    Returns
    -------
    Composite

    Examples
    --------
    >>> import numpy as np, sextant
    >>> front = np.zeros((2, 3, 4), "f4")
    >>> front[0, 0] = (.5, 0, 0, .5)                  # half transparent red
    >>> back = np.ones((2, 3, 4), "f4")               # white
    >>> sextant.composite([front, back]).image[0, 0].tolist()
    [1.0, 0.5, 0.5, 1.0]
    """
    with agreed(comm, "composite", options):
        try:
            array = with_mask(images)
        except ValueError:
            raise InvalidTask("images have different shapes, expected the same height, width and "
                              "channels") from None
        if ma.is_masked(array):
            raise InvalidTask("images have masked samples: fill them first, such as with "
                              "images.filled(0)")
        if array.ndim != 4:
            raise InvalidTask(f"images have shape {array.shape}, expected 4 axes: images, height, "
                              "width, channels")
        native = array.dtype.newbyteorder("=")
        element = _FORMATS.get((native.str[1:], array.shape[3]))
        if element is None:
            raise WrongType(f"images have {array.shape[3]} channels of {array.dtype}, expected 4 of "
                            "float32, float16 or uint8, or 5 of float32 with depth")
        if 0 in array.shape[1:] or (array.shape[0] == 0 and comm is None):
            raise InvalidTask(f"images have shape {array.shape}: it is empty")
        check_overlap(out, images, "images")
        array = np.ascontiguousarray(array, dtype=native)
        shape = array.shape[1:]
        check_samples(out)
        if out is not None:
            if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != native:
                fault = InvalidTask if getattr(out, "dtype", None) == native else WrongType
                raise fault(f"out has shape {getattr(out, 'shape', None)} and type "
                            f"{getattr(out, 'dtype', None)}, expected {shape} and {native}")
            if not out.flags.writeable:
                raise InvalidTask("out is read-only")
        keywords: Dict[str, Any] = dict(options)
        if element == "rgba+depth f32":
            keywords.setdefault("operator", "nearest")
        requested = keywords.pop("element", None)
        if requested not in (None, element):
            raise InvalidTask(f"element {requested}: the images have the element {element}")
        if keywords.get("root", 0) == -1:
            raise InvalidTask("root -1: the image is collected on one rank; name it")
        if keywords.get("operator") == "deep":
            raise InvalidTask("operator deep: images are flat, expected another operator")
        chosen = parsed(_core.CompositeOptions, keywords)
        check_effects("composite", options, DEFAULTS[CompositeOptions], comm=comm)
        plan = keywords.get("plan")
        if plan is not None and (comm is None or comm.Get_rank() == 0) and not os.path.exists(plan):
            raise NoSuchFile(errno.ENOENT, "no such file", os.fsdecode(plan))
    image = out if out is not None and out.flags.c_contiguous else np.empty(shape, native)
    found = _core.composite(array, element, chosen, image, comm)
    if not found["is_root"]:
        return Composite(None, found)
    if out is not None and image is not out:
        out[...] = image
        image = out
    return Composite(image, found)
