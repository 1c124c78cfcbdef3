# SPDX-License-Identifier: BSD-3-Clause
"""Joins the segmentations of blocks into one."""
from __future__ import annotations

import os
from typing import Any, List, Mapping, Optional, Tuple

import numpy as np
from typing import Unpack

from . import _core
from ._arrays import (Progress, Sink, agreed, check_overlap, check_samples, check_type_of, image_of,
                      parsed, progress_for, ranks_for, sink_for)
from ._documented import documented
from ._effects import check_effects
from ._options import DEFAULTS, StitchOptions
from ._results import ArrayResult, Plan
from .errors import InvalidTask, WrongType
from .images import _coloured, _is_root, _shown_plane, _table

__all__ = ["Stitched", "stitch"]


class Stitched(ArrayResult):
    """A segmentation joined from those of blocks, which behaves like the array of its labels.

    Attributes
    ----------
    labels : ndarray of uint32, or the array given as `out`
        1, 2, … in the order of the objects' first voxels; 0 is the background. None on ranks other
        than 0.
    objects : int
        The number of objects.
    table : structured ndarray
        One row per label of a block: ``label`` (its object, 0 if the object has no voxel left),
        ``z``, ``y``, ``x`` (the position of the block), ``block_label``, ``voxels`` in the block,
        and the number of these that the stitched volume contains (``kept``). Empty on ranks other
        than 0.
    joins : structured ndarray
        One row per pair of labels that meet, the best first: ``z_a``, ``y_a``, ``x_a``,
        ``label_a`` and the same for b, shared ``voxels``, their ``union``, ``iou``, and
        ``outcome``: joined, conflict (an object would have two labels of one block), or below (the
        threshold). Empty on ranks other than 0.
    ranks : int
        Number of ranks or threads that were used.
    """

    _title = "stitched labels"
    _array = "labels"

    def __init__(self, labels: Any, found: Mapping[str, Any]) -> None:
        super().__init__(found["record"])
        self.labels = labels
        self.objects: int = found["objects"]
        self.ranks: int = found["ranks"]
        self.table = _table(found["table"])
        outcome = np.array(found["joins"]["outcome"], "U8")
        self.joins = _table({**found["joins"], "outcome": outcome})

    def __repr__(self) -> str:
        return f"<Stitched: {self.objects} objects of {self.record['labels']} labels>"

    @property
    def plan(self) -> Plan:
        """The method of joining blocks, which is always the same."""
        return Plan("best matches first", "an object has at most one label of each block")

    def _facts(self) -> List[Tuple[str, Any]]:
        names = ("objects", "blocks", "labels", "joined", "conflicts", "below", "dropped", "clipped")
        return [*((name.capitalize(), self.record[name]) for name in names), ("Ranks", self.ranks)]

    def _images(self) -> List[Tuple[np.ndarray, str]]:
        if self.labels is None:
            return []
        plane = _shown_plane(self.labels)
        step = max(1, -(-max(plane.shape) // 480))
        return [(_coloured(plane[::step, ::step]), f"{self.objects} objects")]


@documented(StitchOptions)
def stitch(blocks: Any, *, out: Any = None, comm: Any = None, ranks: Optional[int] = None,
           progress: Progress = None, copy: Optional[bool] = None,
           **options: Unpack[StitchOptions]) -> Stitched:
    """Join the segmentations of blocks into one consistently labelled image or volume.

    Where blocks overlap or touch, labels of the same voxels are joined into one object: the best
    matches first, and never two labels of one block.

    Parameters
    ----------
    blocks : sequence of (labels, position), array_like, lazy array or path
        Labelled blocks, each an array of integers or a path, and the position (z, y, x) of its
        first voxel in the stitched volume; for images, (y, x). Or the path of a list of blocks
        (.csv). Or one labelled image or volume, which is cut into the blocks in which it was
        labelled (`block`). 0 is the background.
    out : array, optional
        NumPy, zarr or h5py array to which the labels are written: an integer type of 32 bits or
        more. If the call raises an exception, its content is unspecified.
    comm, ranks, progress, copy
        As in `sextant.label`.
    {options}

    Returns
    -------
    Stitched

    Notes
    -----
    Every voxel is read twice. Labels are the same for any order of blocks, number of ranks and
    memory.

    Examples
    --------
    >>> import numpy as np, sextant
    >>> left = np.array([[1, 1, 0, 2], [0, 0, 0, 2]])
    >>> right = np.array([[0, 5, 5], [0, 5, 0]])                     # overlaps by two columns
    >>> found = sextant.stitch([(left, (0, 0)), (right, (0, 2))])
    >>> found.labels
    array([[1, 1, 0, 2, 2],
           [0, 0, 0, 2, 0]], dtype=uint32)
    >>> found.joins["outcome"]
    array(['joined'], dtype='<U8')
    """
    with agreed(comm, "stitch", options):
        chosen = parsed(_core.StitchOptions, options)
        check_effects("stitch", options, DEFAULTS[StitchOptions], is_list=_is_list(blocks))
        show = progress_for(progress)
        listed, axes = _listed(blocks, copy, options)
        pixels = sum(frames.frames * frames.height * frames.width for _, frames, _ in listed)
        threads = ranks_for(pixels, ranks, options, comm)
        if _is_root(comm):
            check_samples(out)
            inputs = [each[0] for each in blocks] if isinstance(blocks, (list, tuple)) else [blocks]
            for each in inputs:
                check_overlap(out, each, "blocks")
            if out is not None:
                check_type_of(out, "u4", labels=True)
        else:
            out = None

    def open_sink(*shape: int) -> Sink:
        nonlocal out
        out, sink = sink_for(out, shape[-axes:], "u4")
        return sink
    found = _core.stitch(listed, chosen, axes == 2, open_sink, comm, threads, show)
    return Stitched(out, found)


Block = Tuple[str, _core.Frames, Tuple[int, int, int]]


def _is_list(blocks: Any) -> bool:
    """True for several blocks, or the path of a list of them; False for a single array."""
    if isinstance(blocks, (str, bytes, os.PathLike)):
        return os.fsdecode(blocks).endswith(".csv")
    return isinstance(blocks, (list, tuple))


def _listed(blocks: Any, copy: Optional[bool],
            options: Mapping[str, Any]) -> Tuple[List[Block], int]:
    """The name, labels and position of each block, and the number of axes of the result."""
    if _is_list(blocks) and not isinstance(blocks, (list, tuple)):
        files, of_images = _core.read_block_list(blocks)
        return [_block(file, file, position[1:] if of_images else position, copy)
                for file, position in files], 2 if of_images else 3
    if not _is_list(blocks):
        if options.get("block") is None:
            raise InvalidTask("blocks is one image or volume: expected block, the size of the "
                              "blocks in which it was labelled, or a sequence of (labels, position)")
        frames, is_volume = _labels_of(blocks, "blocks", copy)
        return [("blocks", frames, (0, 0, 0))], 3 if is_volume else 2
    listed: List[Block] = []
    axes = 0
    for number, each in enumerate(blocks):
        name = f"block {number}"
        if not isinstance(each, (list, tuple)) or len(each) != 2:
            raise WrongType(f"{name} is a {type(each).__name__}, expected a pair: labels, position")
        labels, position = each
        if np.ndim(position) != 1 or len(position) not in (2, 3):
            raise WrongType(f"{name} has position {position!r}, expected (z, y, x), or (y, x) for "
                            "an image")
        if axes not in (0, len(position)):
            raise InvalidTask(f"{name} has position {tuple(position)}, but other blocks have "
                              f"{axes} coordinates")
        axes = len(position)
        listed.append(_block(name, labels, position, copy))
    if not listed:
        raise InvalidTask("there are no blocks, expected one or more")
    return listed, axes


def _block(name: str, labels: Any, position: Any, copy: Optional[bool]) -> Block:
    frames, is_volume = _labels_of(labels, name, copy)
    if is_volume and len(position) == 2:
        raise InvalidTask(f"{name} is a volume, but its position {tuple(position)} has no z")
    if not is_volume and len(position) == 3 and np.ndim(labels) == 2:
        raise InvalidTask(f"{name} is an image, but its position {tuple(position)} has a z")
    z, y, x = (_core.whole_number(f"{axis} of {name}", value, 0, 2**40)
               for axis, value in zip("zyx", position if len(position) == 3 else (0, *position)))
    return name, frames, (z, y, x)


def _labels_of(labels: Any, name: str, copy: Optional[bool]) -> Tuple[_core.Frames, bool]:
    found = image_of(labels, name, copy=copy, masked=0, volumes="")
    if found[0].dtype.kind not in "iu":
        raise WrongType(f"{name} has type {found[0].dtype}, expected integers")
    return found
