# SPDX-License-Identifier: BSD-3-Clause
"""Labels and filters images and volumes; finds edges and contours in images."""
from __future__ import annotations

import os
import warnings
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union, overload

import numpy as np
from typing import Unpack

from . import _core
from ._arrays import (Progress, Sink, agreed, as_array, check_overlap, check_samples, checked_out,
                      computed_type, contained, fails_on_all_ranks, image_of, is_lazy, parsed,
                      progress_for, ranks_for, sink_for, volume_sinks_for)
from ._documented import documented
from ._effects import check_effects
from ._options import (DEFAULTS, CannyOptions, ContoursOptions, FeaturesOptions, FilterOptions,
                       LabelOptions, MeasureOptions)
from ._results import ArrayResult, Plan, Result, _axes, _contrast, _png, plan_of
from .errors import InvalidTask, WrongType

#: The scale of a filter: one number, or one per axis (y and x, or z, y and x).
Scale = Union[float, Tuple[float, float], Tuple[float, float, float]]

__all__ = ["Contours", "Filtered", "Labels", "canny", "contours", "features", "filter", "label",
           "measure"]


def _is_root(comm: Any) -> bool:
    return comm is None or comm.Get_rank() == 0


def _prepare(image: Any, frame: Optional[int], channel_axis: Optional[int], comm: Any,
             ranks: Optional[int], options: Mapping[str, Any], copy: Optional[bool],
             masked: float = np.nan,
             volumes: Optional[str] = None) -> Tuple[_core.Frames, Optional[int], int]:
    """The image, its frame number (None for a volume), and the number of threads."""
    if copy is not None:
        copy = _core.truth("copy", copy)
    frames, is_volume = image_of(image, channel_axis=channel_axis, copy=copy, masked=masked,
                                 volumes=volumes if frame is None else "")
    if frame is None and volumes is None and frames.frames != 1:
        raise InvalidTask(f"the series has {frames.frames} frames: expected one, or frame=N")
    number: Optional[int] = 0
    if frame is not None:
        number = _core.whole_number("frame", frame, 0, frames.frames - 1)
    elif is_volume:
        number = None
    pixels = frames.height * frames.width * (frames.frames if number is None else 1)
    return frames, number, ranks_for(pixels, ranks, options, comm)


def _prepare_image(image: Any, frame: Optional[int], channel_axis: Optional[int], comm: Any,
                   ranks: Optional[int], options: Mapping[str, Any],
                   copy: Optional[bool]) -> Tuple[_core.Frames, int, int]:
    """The same as `_prepare`, for functions that do not accept volumes."""
    frames, number, threads = _prepare(image, frame, channel_axis, comm, ranks, options, copy)
    return frames, number or 0, threads


def _unusual_shape(image: Any, channel_axis: Optional[int]) -> Optional[Tuple[int, ...]]:
    """The shape of a row of samples or of an array without samples; None for images and volumes."""
    if isinstance(image, (str, bytes, os.PathLike)) or channel_axis is not None:
        return None
    try:
        shape = image.shape if hasattr(image, "shape") else np.shape(image)
    except ValueError:  # lists of different lengths
        return None
    if not isinstance(shape, tuple) or not all(isinstance(n, (int, np.integer)) for n in shape):
        return None
    return shape if len(shape) == 1 or len(shape) in (2, 3) and 0 in shape else None


def _usual(image: Any, shape: Tuple[int, ...], name: str = "image",
           copy: Optional[bool] = None) -> np.ndarray:
    """An image of one row for a row of samples; a background image for an array without samples."""
    if copy is not None and not _core.truth("copy", copy):
        image = as_array(image, name, False)
    array = as_array(image, name) if 0 in shape else np.asanyarray(contained(image))
    return (np.zeros((1,) * max(2, len(shape)), array.dtype) if 0 in shape
            else array[np.newaxis])


def _usual_intensity(intensity: Any, shape: Tuple[int, ...], name: str) -> Any:
    """Intensities for the image that `_usual` returns; None if there are none."""
    if intensity is None:
        return None
    own = _unusual_shape(intensity, None)
    if own != shape:
        found = np.shape(intensity) if own is None else own
        raise InvalidTask(f"intensity has shape {found}, expected {shape} as {name}")
    return _usual(intensity, shape, "intensity")


def _unusual(array: Any, row: Any, out: Any, shape: Tuple[int, ...]) -> Any:
    """The result for a row of samples (`out` or a row of `array`), or for an empty array."""
    if out is not None or 0 in shape:
        computed = array.dtype.kind == "f"
        dtype = computed_type(array.dtype, out) if computed else array.dtype.str[1:]
        return checked_out(out, shape, dtype)[0]
    return array[row]


def _row_of(out: Any, shape: Tuple[int, ...]) -> Any:
    """`out`, given for a row of samples, as an output for an image of one row; None without it."""
    if out is None or 0 in shape:
        return None
    if not isinstance(out, np.ndarray) or out.ndim < 1:
        raise WrongType(f"out is a {type(out).__name__}, expected a NumPy array for a row of "
                        "samples")
    return out[..., np.newaxis, :]


def _table(columns: Mapping[str, Any]) -> np.ndarray:
    """A structured array of columns. If they contain no labels, labels from 1 are added."""
    arrays = {name: np.asarray(values) for name, values in columns.items()}
    count = len(next(iter(arrays.values())))
    if "label" not in arrays and "label_a" not in arrays:
        arrays = {"label": np.arange(1, count + 1), **arrays}
    table = np.empty(count, dtype=[(name, values.dtype) for name, values in arrays.items()])
    for name, values in arrays.items():
        table[name] = values
    return table


def _shown_plane(planes: Any) -> np.ndarray:
    """An image, or the middle plane of a volume."""
    return np.asarray(planes if len(planes.shape) == 2 else planes[len(planes) // 2])


class Labels(ArrayResult):
    """The labelled components of an image or volume, which behave like the array of labels.

    Attributes
    ----------
    labels : ndarray of int32 (uint32 or uint64 for a volume), or the array given as `out`
        1, 2, … in the order of the components' first pixels, row by row (and plane by plane); 0 is
        the background. None on ranks other than 0.
    components : int
        The number of components.
    not_a_number : int
        Number of samples that are NaN, and therefore background.
    ranks : int
        Number of ranks or threads that were used.
    table : structured ndarray or None
        With ``measure=True``, the columns of `sextant.measure`: one row per component. For an image
        that was labelled in tiles, sizes, boxes and centroids only.
    """

    _title = "labelled image"
    _array = "labels"

    def __init__(self, labels: Any, found: Mapping[str, Any]) -> None:
        super().__init__(found["record"])
        self.labels = labels
        self.components: int = found["components"]
        self.not_a_number: int = found["not_a_number"]
        self.ranks: int = found["ranks"]
        self.table: Optional[np.ndarray] = _table(found["table"]) if "table" in found else None

    def __repr__(self) -> str:
        return f"<Labels: {self.components} components>"

    @property
    def plan(self) -> Plan:
        if "plan" in self.record:
            return plan_of(self.record["plan"], measured=None)
        if "strips" in self.record:
            names = ("strip", "rows", "image")
            slabs, planes = self.record["strips"], self.record["strip_rows"]
        else:
            names = ("slab", "planes", "volume")
            slabs, planes = self.record["slabs"], self.record["slab_planes"]
        if slabs == 1:
            return Plan(f"one {names[0]}", f"the {names[2]} and its labels fit in memory")
        return Plan(f"{slabs} {names[0]}s of {planes} {names[1]}",
                    f"the {names[2]} and its labels exceed memory")

    def _facts(self) -> List[Tuple[str, Any]]:
        return [("Components", self.components), ("Ranks", self.ranks),
                ("NaN samples", self.not_a_number or None)]

    def _images(self) -> List[Tuple[np.ndarray, str]]:
        if self.labels is None:
            return []
        plane = _shown_plane(self.labels)
        step = max(1, -(-max(plane.shape) // 480))
        return [(_coloured(plane[::step, ::step]),
                 f"{self.components} components, each in its own colour")]

    def plot(self, axes: Any = None) -> Any:
        """Draw the labels in colours with matplotlib, and return the axes.

        For a volume, the middle plane is drawn.
        """
        axes = _axes(axes)
        axes.imshow(_coloured(_shown_plane(self.labels)), interpolation="nearest")
        axes.set_title(f"{self.components} components")
        return axes


def _grey(plane: np.ndarray) -> np.ndarray:
    """A plane, reduced in size, as grey values that are scaled to its own contrast."""
    step = max(1, -(-max(plane.shape) // 340))
    low, high = _contrast(plane[::step, ::step])
    return np.nan_to_num((plane[::step, ::step].astype("f8") - low) / (high - low)).clip(0, 1)


def _coloured(labels: np.ndarray) -> np.ndarray:
    """Labels as colours; with many components, some colours are similar."""
    hashed = labels.astype("u4") * np.uint32(2654435761)
    colours = np.empty((*labels.shape, 4), "u1")
    for channel in range(3):
        colours[..., channel] = 64 + (hashed >> (8 * channel + 4) & 0xbf)
    colours[..., 3] = 255
    colours[labels == 0] = (0, 0, 0, 255)
    return colours


@documented(LabelOptions)
def label(image: Any, *, intensity: Any = None, out: Any = None, frame: Optional[int] = None,
          channel_axis: Optional[int] = None, comm: Any = None, ranks: Optional[int] = None,
          progress: Progress = None, copy: Optional[bool] = None,
          **options: Unpack[LabelOptions]) -> Labels:
    """Find and number the connected components of an image or a volume.

    An array with three axes (depth, height, width) or a file with several frames is a volume.

    Parameters
    ----------
    image : array_like, path or lazy array
        Samples other than 0 are foreground; masked samples and NaN are background. Arrays are not
        copied; they may have any strides and byte order. zarr, h5py and dask arrays are read a few
        chunks at a time. An array with one axis is an image with one row; an array without samples
        has no components.
    intensity : array_like, path or lazy array, optional
        With ``measure=True``, samples with the shape of `image`, whose sum, mean and extremes in
        each component are added to the table.
    out : array, optional
        NumPy, zarr or h5py array to which the labels are written: an integer type of 32 bits or
        more. If the call raises an exception, its content is unspecified.
    frame : int, optional
        The frame of a series, if `image` is one.
    channel_axis : int, optional
        The axis of the channels of a colour image.
    comm : mpi4py.MPI.Comm, optional
        Run on the ranks of this communicator. All ranks call the function with the same arguments;
        the labels are on rank 0.
    ranks : int, optional
        Number of threads among which the image is divided. Default: one per tile of `grid`, or one
        per core; one for images with fewer than 131072 pixels.
    progress : callable or True, optional
        Called with the name of a part of the work, the number of steps done, and the total number
        of steps. True shows a tqdm progress bar.
    copy : bool, optional
        False raises an exception if the samples would have to be copied to be read.
    {options}

    Returns
    -------
    Labels

    Notes
    -----
    An image or volume that exceeds `memory` is read twice, in strips of rows or slabs of planes;
    with `fill_holes`, four or five times. Labels depend neither on the number of ranks nor on
    `memory`. With ``measure=True``, computing the table takes about 600 bytes per component.

    Examples
    --------
    >>> import numpy as np, sextant
    >>> image = np.zeros((4, 6), "u1")
    >>> image[0, :2] = image[3, 4:] = 1
    >>> found = sextant.label(image, measure=True)
    >>> found.components
    2
    >>> found.labels
    array([[1, 1, 0, 0, 0, 0],
           [0, 0, 0, 0, 0, 0],
           [0, 0, 0, 0, 0, 0],
           [0, 0, 0, 0, 2, 2]], dtype=int32)
    >>> found.table["area"]
    array([2, 2])
    >>> volume = np.zeros((5, 6, 7), "u1")
    >>> volume[1:3, 2, 3] = volume[4, 5, 6] = 1
    >>> found = sextant.label(volume, neighbours=6, min_size=2, measure=True)
    >>> found.components, found.table["voxels"], found.table["centroid_z"]
    (1, array([2]), array([1.5]))
    """
    usual, usual_out, usual_intensity = image, out, intensity
    with fails_on_all_ranks(comm, "label"):
        unusual = _unusual_shape(image, channel_axis)
        if unusual is not None:
            usual, usual_out = _usual(image, unusual, copy=copy), _row_of(out, unusual)
            usual_intensity = _usual_intensity(intensity, unusual, "image")
        elif isinstance(image, np.ma.MaskedArray) and copy is not False:
            image = as_array(image, "image", masked=0)
    if unusual is not None:
        row = label(usual, intensity=usual_intensity, out=usual_out, frame=frame, comm=comm,
                    ranks=ranks, progress=progress, **options)
        if row.labels is not None:
            row.labels = _unusual(row.labels, 0, out, unusual)
        return row
    with agreed(comm, "label", options):
        is_certain = str(options.get("neighbours")) in ("6", "18", "26")
        frames, number, threads = _prepare(image, frame, channel_axis, comm, ranks, options, copy,
                                           masked=0, volumes="" if is_certain else "neighbours=26")
        show = progress_for(progress)
        chosen = parsed(_core.LabelOptions, options)
        of_image = number is not None
        shape: Tuple[int, ...] = (frames.height, frames.width)
        if not of_image:
            shape = (frames.frames, *shape)
        check_effects("label" if of_image else "label of a volume", options,
                      DEFAULTS[LabelOptions], intensity=intensity, comm=comm, tiles=threads)
        intensities = _intensity_of(intensity, not of_image, frames, "image", copy)
        if _is_root(comm):
            check_samples(out)
            check_overlap(out, image, "image")
            check_overlap(out, intensity, "intensity")
            if out is not None:  # checked early
                (sink_for if of_image else volume_sinks_for)(out, shape, "i4" if of_image else "u4")
        else:
            out = None

    def open_sink(bits: int, components: int) -> Sink:
        nonlocal out
        if of_image and bits == 32:
            out, sink = sink_for(out, shape, "i4")
            return sink
        if out is not None and components > np.iinfo(out.dtype).max:
            raise InvalidTask(f"out has type {out.dtype}, which cannot hold {components} labels")
        out, sinks = volume_sinks_for(out, shape, f"u{bits // 8}")
        return sinks[0]
    found = _core.label(frames, number, intensities, chosen, open_sink, comm, threads, show)
    _warn_of(found.get("losses", ()))
    return Labels(out, found)


def _warn_of(losses: Iterable[str]) -> None:
    """Warns the caller of a public function."""
    for loss in losses:
        warnings.warn(loss, stacklevel=4)


def _intensity_of(intensity: Any, is_volume: bool, frames: _core.Frames, name: str,
                  copy: Optional[bool] = None) -> Optional[_core.Frames]:
    """Intensities with the shape of an image or volume; None if there are none."""
    if intensity is None:
        return None
    found, _ = image_of(intensity, "intensity", copy=copy, volumes="")
    shape, own = ((*((each.frames,) if is_volume or each.frames > 1 else ()), each.height,
                   each.width) for each in (frames, found))
    if not is_volume:
        shape = (frames.height, frames.width)
    if own != shape:
        raise InvalidTask(f"intensity has shape {own}, expected {shape} as {name}")
    return found


@documented(MeasureOptions)
def measure(labels: Any, intensity: Any = None, *, ranks: Optional[int] = None,
            progress: Progress = None, **options: Unpack[MeasureOptions]) -> np.ndarray:
    """Measure the regions of a labelled image or volume: size, bounding box, centroid and more.

    Parameters
    ----------
    labels : array_like of int, path or lazy array
        0 and masked samples are background. Regions need not be connected.
    intensity : array_like, path or lazy array, optional
        Samples with the shape of `labels`. NaN makes the sum and mean of a region NaN.
    ranks : int, optional
        Number of threads among which the labels are divided. Default: one per core.
    progress : callable or True, optional
        As in `sextant.label`.
    {options}

    Returns
    -------
    structured ndarray
        One row per label that occurs, in ascending order. Labels may be any integers but 0.

        For an image, the fields are ``label``, ``area``, ``x``, ``y``, ``width``, ``height`` (the
        bounding box), ``centroid_x`` and ``centroid_y``, in pixels; with ``columns="all"``, also
        ``axis_1`` and ``axis_2`` (standard deviations along the axes of the ellipse with the same
        second moments), ``axis_1_y``, ``axis_1_x`` (the direction of the longer one), ``perimeter``
        (sides between a pixel of the region and one outside) and ``at_border``.

        For a volume, the fields are ``label``, ``voxels``, ``z``, ``y``, ``x``, ``depth``,
        ``height``, ``width`` (the bounding box), ``centroid_z``, ``centroid_y``, ``centroid_x``, in
        voxels; unless ``columns="sizes"``, also ``axis_1`` to ``axis_3`` (standard deviations along
        the axes of the ellipsoid with the same second moments, longest first), ``axis_1_z``,
        ``axis_1_y``, ``axis_1_x`` (the direction of the longest), ``faces`` (between a voxel of the
        region and one outside) and ``at_border``.

        With `intensity`, both also have ``sum``, ``mean``, ``minimum`` and ``maximum`` as float64.
        For 64-bit integers, however, all except ``mean`` have the type of the intensities; if a sum
        exceeds 64 bits, ``sum`` is float64, and a warning states how many sums are rounded. The
        extremes of a region whose samples are all NaN are NaN.

    Notes
    -----
    A volume is read once, in slabs that fit in `memory`.

    Examples
    --------
    >>> import numpy as np, sextant
    >>> table = sextant.measure(np.array([[0, 1, 1], [2, 0, 0]]))
    >>> table["area"], table["centroid_x"]
    (array([2, 1]), array([1.5, 0. ]))
    >>> volume = np.zeros((4, 4, 4), int)
    >>> volume[1:3, 1:3, 1:3] = 7
    >>> table = sextant.measure(volume, intensity=np.full((4, 4, 4), .5))
    >>> table["label"], table["voxels"], table["faces"], table["sum"]
    (array([7]), array([8]), array([24]), array([4.]))
    """
    labels = contained(labels)
    unusual = _unusual_shape(labels, None)
    if unusual is not None:
        labels = _usual(labels, unusual, "labels")
        intensity = _usual_intensity(intensity, unusual, "labels")
    chosen = parsed(_core.MeasureOptions, options)
    show = progress_for(progress)
    is_file = isinstance(labels, (str, bytes, os.PathLike))
    is_read_in_chunks = is_file or is_lazy(labels) and len(labels.shape or ()) == 3
    array = labels if is_read_in_chunks else as_array(labels, "labels", masked=0)
    dtype = None if is_file else np.dtype(array.dtype)
    if dtype is not None and dtype.kind not in "iub":
        raise WrongType(f"labels has type {dtype}, expected integers")
    frames, is_volume = image_of(array, "labels", masked=0, volumes="")
    intensities = _intensity_of(intensity, is_volume, frames, "labels")
    if not is_volume and (frames.channels > 1 or frames.dtype.kind not in "iu"):
        shape = (frames.height, frames.width, frames.channels)[:3 if frames.channels > 1 else 2]
        raise WrongType(f"labels has shape {shape} and type {frames.dtype}, expected integers of "
                        "an image without colours")
    pixels = frames.height * frames.width * (frames.frames if is_volume else 1)
    found = _core.measure(frames, None if is_volume else 0, intensities, chosen,
                          ranks_for(pixels, ranks, options, None), show)
    _warn_of(found["losses"])
    return _table(found["table"])


class Filtered(ArrayResult, Mapping[str, Any]):
    """Derivatives and features of an image or volume: a mapping from their names to arrays.

    In all other respects, it behaves like the array `planes`: ``filtered > 0`` compares all planes,
    and ``filtered[0]`` is the first one.

    Attributes
    ----------
    planes : ndarray of float32, or the array given as `out`
        One image or volume per derivative, along the first axis. None on ranks other than 0.
    derivatives : list of str
        The names of the planes. ``filtered["xx"]`` is an image or a volume.
    not_a_number : int
        Number of NaN samples in the image.
    warnings : list of str
        Remarks of the planner, such as that the machine profile lacks a value, and warnings about
        NaN samples, results that are not finite and losses of precision, which are also issued as
        Python warnings.
    ranks : int
        Number of ranks or threads that were used.
    """

    _title = "filtered image"
    _array = "planes"

    def __init__(self, planes: Any, names: List[str], is_plane: bool,
                 found: Mapping[str, Any]) -> None:
        super().__init__(found["record"])
        self.planes, self.derivatives, self._is_plane = planes, names, is_plane
        self.ranks: int = found["ranks"]
        self.not_a_number: int = found["not_a_number"]
        self.warnings: List[str] = list(found["warnings"])

    def __getitem__(self, name: Any) -> Any:
        if not isinstance(name, str):
            return super().__getitem__(name)
        try:
            plane = self.derivatives.index(name)
        except ValueError:
            raise KeyError(f"{name}: expected one of {', '.join(self.derivatives)}") from None
        return self.planes if self._is_plane else self.planes[plane]

    def __iter__(self) -> Iterator[str]:
        return iter(self.derivatives)

    def __len__(self) -> int:
        return len(self.derivatives)

    def __contains__(self, name: Any) -> bool:
        if not isinstance(name, str):
            raise WrongType(f"a Filtered cannot be searched for a {type(name).__name__}, expected "
                            "the name of a derivative; or use filtered.planes")
        return name in self.derivatives

    def __repr__(self) -> str:
        return f"<Filtered: {', '.join(self.derivatives)}>"

    @property
    def plan(self) -> Plan:
        """The tiles and collectives that were used, and why."""
        return plan_of(self.record["plan"], measured=self.seconds.get("filter"))

    def _facts(self) -> List[Tuple[str, Any]]:
        return [("Derivatives", ", ".join(self.derivatives)), ("Ranks", self.ranks),
                ("NaN samples", self.not_a_number or None)]

    def _images(self) -> List[Tuple[np.ndarray, str]]:
        if self.planes is None:
            return []
        most = 6
        shown = [_grey(_shown_plane(self[name])) for name in self.derivatives[:most]]
        columns = -(-len(shown) // 2) if len(shown) > 3 else len(shown)
        shown += [np.zeros_like(shown[0])] * (-len(shown) % columns)
        rows = [np.hstack(shown[k:k + columns]) for k in range(0, len(shown), columns)]
        return [(np.vstack(rows), ", ".join(self.derivatives[:most]))]

    def plot(self, axes: Any = None) -> Any:
        """Draw the first derivative with matplotlib, and return the axes.

        For a volume, the middle plane is drawn.
        """
        axes = _axes(axes)
        axes.imshow(_shown_plane(self[self.derivatives[0]]), cmap="gray")
        axes.set_title(self.derivatives[0])
        return axes


@documented(FilterOptions)
def filter(image: Any, sigma: Scale = 1, *, out: Any = None, frame: Optional[int] = None,
           channel_axis: Optional[int] = None, comm: Any = None, ranks: Optional[int] = None,
           progress: Progress = None, copy: Optional[bool] = None,
           **options: Unpack[FilterOptions]) -> Filtered:
    """Compute Gaussian derivatives of an image or a volume, and features based on them.

    By default, these are the first and second derivatives along x and y; ``derivatives="smooth"``
    blurs the image. An array with three axes is a volume, as in `sextant.label`.

    Parameters
    ----------
    image, frame, channel_axis, comm, ranks, progress, copy
        As in `sextant.label`.
    sigma : float, (float, float) or (float, float, float), default: 1
        Scale of the filter in pixels, 0.5 to 1000, or one each for the axes y and x of an image and
        z, y and x of a volume. It may be smaller along axes along which no derivative is computed;
        0: not filtered along this axis.
    out : array, optional
        NumPy, zarr or h5py array to which the derivatives are written: float32 or float64,
        with the axes derivatives, (depth,) height and width; the first axis may be missing for one
        derivative. If the call raises an exception, its content is unspecified.
    {options}

    Returns
    -------
    Filtered

    Notes
    -----
    ``truncate=4, border="reflect"`` computes what ``scipy.ndimage.gaussian_filter`` computes by
    default; its modes "nearest", "mirror", "wrap" and "constant" are the borders "replicate",
    "mirror", "wrap" and "constant". The weights of derivatives are sampled derivatives of the
    Gaussian, as in SciPy. Samples within reach of a NaN become NaN.

    Results are float32, or float64 if the samples are float64 or integers of 32 or 64 bits. They
    are computed in float32, after an offset is subtracted from samples that are far from 0, and are
    accurate to about 10⁻⁶ of the range of the samples, and to the precision of their type. float64
    samples may have any magnitude.

    Examples
    --------
    >>> import numpy as np, sextant
    >>> ramp = np.arange(64, dtype="f4") * np.ones((32, 1), "f4")
    >>> filtered = sextant.filter(ramp, 2, derivatives=["x", "smooth"])
    >>> bool(abs(filtered["x"][16, 32] - 1) < 1e-4)
    True
    >>> volume = np.arange(30, dtype="f4")[:, np.newaxis, np.newaxis] * np.ones((30, 8, 9), "f4")
    >>> slope = sextant.filter(volume, sigma=(3, 1, 1), derivatives="z")["z"]
    >>> slope.shape, bool(abs(slope[15, 4, 4] - 1) < 1e-4)
    ((30, 8, 9), True)
    """
    return _filter(image, sigma, out, frame, channel_axis, comm, ranks, progress, copy,
                   {name: value for name, value in options.items() if value is not None})


_FEATURES = ("smooth", "gradient-magnitude", "laplacian", "hessian-1", "hessian-2", "hessian-3")


def _filter(image: Any, sigma: Scale, out: Any, frame: Optional[int], channel_axis: Optional[int],
            comm: Any, ranks: Optional[int], progress: Progress, copy: Optional[bool],
            options: Mapping[str, Any], called: str = "filter") -> Filtered:
    """The same as `filter`; if the option derivatives is None, computes the usual features."""
    usual, usual_out = image, out
    with fails_on_all_ranks(comm, "filter", called):
        unusual = _unusual_shape(image, channel_axis)
        if unusual is not None:
            if 0 not in unusual and options.get("border") == "constant":
                raise InvalidTask("border constant: expected an image or a volume, because a row "
                                  "of samples has no rows next to it")
            usual, usual_out = _usual(image, unusual, copy=copy), _row_of(out, unusual)
    if unusual is not None:
        row = _filter(usual, sigma, usual_out, frame, channel_axis, comm, ranks, progress, copy,
                      options, called)
        if row.planes is not None:
            row._is_plane = len(getattr(out, "shape", ())) == len(unusual)
            all_planes = unusual if row._is_plane else (len(row.derivatives), *unusual)
            row.planes = _unusual(row.planes, (slice(None), 0), out, all_planes)
        return row
    sink: Any = None
    is_plane = False
    dtype = "f4"
    given: Dict[str, Any] = {"sigma": sigma, **options}
    with agreed(comm, "filter", given, called):
        is_certain = np.shape(sigma) == (3,)
        frames, number, threads = _prepare(image, frame, channel_axis, comm, ranks, given, copy,
                                           volumes="" if is_certain else "sigma=(z, y, x)")
        if "derivatives" in given and given["derivatives"] is None:
            given["derivatives"] = _FEATURES if number is None else _FEATURES[:-1]
        chosen = parsed(_core.FilterOptions if number is not None
                        else _core.FilterOptions.of_volume, given)
        check_effects("filter", options, DEFAULTS[FilterOptions], comm=comm, tiles=threads)
        names = chosen.derivatives
        show = progress_for(progress)
        if _is_root(comm):
            check_samples(out)
            check_overlap(out, image, "image")
            shape: Tuple[int, ...] = (frames.height, frames.width)
            if number is None:
                shape = (frames.frames, *shape)
            is_plane = (out is not None and len(names) == 1 and
                        len(getattr(out, "shape", ())) == len(shape))
            make_sink = sink_for if number is not None else volume_sinks_for
            dtype = computed_type(frames.dtype, out)
            out, sink = make_sink(out, shape if is_plane else (len(names), *shape), dtype)
        else:
            out = None
    found = _core.filter(frames, number or 0, chosen, sink, dtype == "f8", comm, threads, show)
    for loss in found["losses"]:
        warnings.warn(loss, stacklevel=4)
    return Filtered(out, names, is_plane, found)


@documented(FeaturesOptions)
def features(image: Any, features: Union[str, Sequence[str], None] = None, *, sigma: Scale = 1,
             out: Any = None, frame: Optional[int] = None, channel_axis: Optional[int] = None,
             comm: Any = None, ranks: Optional[int] = None, progress: Progress = None,
             copy: Optional[bool] = None,
             **options: Unpack[FeaturesOptions]) -> Dict[str, np.ndarray]:
    """Compute features of an image or volume, such as the gradient magnitude or the Laplacian.

    Parameters
    ----------
    image, frame, channel_axis, comm, ranks, progress, copy
        As in `sextant.label`.
    features : str or sequence of str, optional
        ``"smooth"``, ``"gradient-magnitude"``, ``"laplacian"``, and the eigenvalues of the Hessian
        in descending order: ``"hessian-1"``, ``"hessian-2"``, of a volume also ``"hessian-3"``. By
        default, these are computed. Or derivatives such as ``"xy"``, or eigenvalues of the
        structure tensor at an integration scale, such as ``"structure-1@3"``.
    sigma, out
        As in `sextant.filter`.
    {options}

    Returns
    -------
    dict of ndarray
        One array per feature, with the shape of the image or volume: float32, or float64 as in
        `sextant.filter`.

    Examples
    --------
    >>> import numpy as np, sextant
    >>> ramp = np.arange(64, dtype="f4") * np.ones((32, 1), "f4")
    >>> found = sextant.features(ramp, ["gradient-magnitude"], sigma=2)
    >>> bool(abs(found["gradient-magnitude"][16, 32] - 1) < 1e-4)
    True
    """
    with fails_on_all_ranks(comm, "filter", "features"):
        if "derivatives" in options:
            raise InvalidTask("derivatives has no effect: name the features in the argument "
                              "features")
        names = None if features is None else (
            [features] if isinstance(features, str) else list(features))
    filtered = _filter(image, sigma, out, frame, channel_axis, comm, ranks, progress, copy,
                       {**options, "derivatives": names}, "features")
    return {} if filtered.planes is None else dict(filtered)


class Contours(Result):
    """The contours of an image, each an array of points in order along the contour.

    ``contours[k]`` has the rows (y, x) of contour k, as indices of the image. Contours can be
    iterated, and sliced into lists.

    Attributes
    ----------
    points : ndarray of int, (points, 2)
        The points of all contours, one contour after another.
    first : ndarray of int
        The row of `points` at which each contour begins, and the number of points.
    closed : ndarray of bool
        True for contours whose last point is next to the first one.
    thresholds : (float, float) or None
        The gradient magnitudes that were used as thresholds; None for a direction map.
    ranks : int
        Number of ranks or threads that were used.
    """

    _title = "contours"

    def __init__(self, found: Mapping[str, Any]) -> None:
        super().__init__(found["record"])
        self.points: np.ndarray = found["points"]
        self.first: np.ndarray = found["first"]
        self.closed: np.ndarray = found["closed"]
        self.ranks: int = found["ranks"]

    def __len__(self) -> int:
        return len(self.first) - 1

    @overload
    def __getitem__(self, index: int) -> np.ndarray: ...
    @overload
    def __getitem__(self, index: slice) -> List[np.ndarray]: ...

    def __getitem__(self, index: Union[int, slice]) -> Any:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"contour {index} of {len(self)}")
        index %= len(self)
        return self.points[self.first[index]:self.first[index + 1]]

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[k] for k in range(len(self)))

    def __contains__(self, value: Any) -> bool:
        raise WrongType("contours are arrays, which are compared point by point: use "
                        "any(np.array_equal(value, each) for each in contours)")

    def __eq__(self, other: Any) -> bool:
        raise WrongType("contours are arrays, which are compared point by point: compare the "
                        "attributes points and first")

    __hash__ = Result.__hash__

    def __repr__(self) -> str:
        return f"<Contours: {len(self)} contours of {len(self.points)} points>"

    @property
    def thresholds(self) -> Optional[Tuple[float, float]]:
        """The gradient magnitudes that were used as thresholds; None for a direction map."""
        found = self.record["thresholds"]
        return None if found is None else (found["low"], found["high"])

    def _facts(self) -> List[Tuple[str, Any]]:
        record = self.record
        return [("Contours", len(self)), ("Points", len(self.points)),
                ("Closed", int(self.closed.sum())), ("Junctions", record["junctions"]),
                ("Thresholds", self.thresholds), ("Ranks", self.ranks)]

    def _images(self) -> List[Tuple[np.ndarray, str]]:
        step = max(1, -(-max(self.record["height"], self.record["width"]) // 200))
        shape = (-(-self.record["height"] // step), -(-self.record["width"] // step))
        drawn = np.zeros(shape, "f4")
        drawn[tuple((self.points // step).T)] = 1
        return [(drawn, "contours")] if len(self) else []

    def _content(self) -> Dict[str, Any]:
        height, width = self.record["height"], self.record["width"]
        step = max(1, -(-max(height, width) // 480))
        black = np.zeros((-(-height // step), -(-width // step), 4), "u1")
        black[..., 3] = 255
        longest = np.argsort(-np.diff(self.first), kind="stable")[:300]
        outlines = []
        for number in longest:
            points = self[int(number)]
            thinned = points[::max(1, -(-len(points) // 300))]
            outlines.append((np.ascontiguousarray(thinned, "i8"), len(points),
                             bool(self.closed[number])))
        return {**super()._content(), "size": (width, height), "outlines": outlines,
                "pictures": [(_png(black), "contours", "")]}

    def plot(self, axes: Any = None) -> Any:
        """Draw the contours with matplotlib, and return the axes."""
        axes = _axes(axes)
        for k, line in enumerate(self):
            if self.closed[k]:
                line = np.concatenate([line, line[:1]])
            axes.plot(line[:, 1], line[:, 0], linewidth=0.8)
        axes.set_aspect("equal")
        axes.set_xlim(0, self.record["width"])
        axes.set_ylim(self.record["height"], 0)
        return axes


@documented(ContoursOptions)
def contours(image: Any, *, frame: Optional[int] = None, channel_axis: Optional[int] = None,
             comm: Any = None, ranks: Optional[int] = None, progress: Progress = None,
             copy: Optional[bool] = None, **options: Unpack[ContoursOptions]) -> Contours:
    """Trace the edges that Canny's method finds, as contours of ordered points.

    `skimage.measure.find_contours` traces lines of equal value instead.

    Parameters
    ----------
    image, frame, channel_axis, comm, ranks, progress, copy
        As in `sextant.label`.
    {options}

    Returns
    -------
    Contours
        Empty on ranks other than 0.

    Examples
    --------
    >>> import numpy as np, sextant
    >>> image = np.zeros((64, 64), "f4")
    >>> image[16:48, 16:48] = 1
    >>> found = sextant.contours(image, sigma=2, min_length=10)
    >>> len(found), bool(found.closed[0])
    (1, True)
    """
    with agreed(comm, "contours", options):
        frames, number, threads = _prepare_image(image, frame, channel_axis, comm, ranks, options,
                                                 copy)
        show = progress_for(progress)
        chosen = parsed(_core.ContoursOptions, options)
        check_effects("contours", options, DEFAULTS[ContoursOptions], comm=comm, tiles=threads)
    found = Contours(_core.contours(frames, number, chosen, comm, threads, show))
    check_effects("contours in memory", options, DEFAULTS[ContoursOptions],
                  strips=found.record["strips"])
    return found


@documented(CannyOptions)
def canny(image: Any, *, directions: bool = False, frame: Optional[int] = None,
          channel_axis: Optional[int] = None, comm: Any = None, ranks: Optional[int] = None,
          progress: Progress = None, copy: Optional[bool] = None,
          **options: Unpack[CannyOptions]) -> Any:
    """Find the edges of an image with Canny's method, as lines one pixel wide.

    Parameters
    ----------
    image, frame, channel_axis, comm, ranks, progress, copy
        As in `sextant.label`.
    directions : bool
        Return the map of directions that `sextant.contours` accepts with ``directions=True``,
        instead of a mask.
    {options}

    Returns
    -------
    ndarray of bool, or of int8 with ``directions=True``
        None on ranks other than 0.

    Examples
    --------
    >>> import numpy as np, sextant
    >>> image = np.zeros((64, 64), "f4")
    >>> image[:, 32:] = 1
    >>> edges = sextant.canny(image, sigma=2, quantiles=(.8, .95))
    >>> edges.any(axis=0).nonzero()[0]
    array([31])
    """
    with agreed(comm, "canny", options):
        chosen = parsed(_core.CannyOptions, options)
        directions = _core.truth("directions", directions)
        frames, number, threads = _prepare_image(image, frame, channel_axis, comm, ranks, options,
                                                 copy)
        check_effects("canny", options, DEFAULTS[CannyOptions], comm=comm, tiles=threads)
        show = progress_for(progress)
    found = _core.canny(frames, number, chosen, comm, threads, show)
    if found is None or directions:
        return found
    return found != -1
