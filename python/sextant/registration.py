# SPDX-License-Identifier: BSD-3-Clause
"""Registers the frames of noisy series, and applies the motions that were found."""
from __future__ import annotations

import io
import json
import os
import warnings
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union
from typing import Unpack

import numpy as np

from . import _core
from ._arrays import (Progress, agreed, array_output, array_to_apply, as_array, check_overlap,
                      check_samples, check_type_of, computed_type, frames_of, image_of, progress_for,
                      sink_for)
from ._documented import documented
from ._effects import check_effects
from ._options import DEFAULTS, RegisterOptions
from ._results import Plan, Result, _axes, _contrast, _png
from .errors import InvalidFile, InvalidTask, WrongType

__all__ = ["Registration", "Transforms", "apply", "register"]


class Transforms:
    """The motions of the frames of a registered series, for `sextant.apply`.

    Attributes
    ----------
    shape : tuple of int
        Height and width of the registered frames.
    area : tuple of int
        x, y, width and height of aligned frames, in pixels of the reference.
    frames : list of int
        The numbers of the frames that have a motion.
    model : str
        The model of the motions.
    reference : int
        The number of the reference frame.
    """

    def __init__(self, handle: _core.Transforms, model: str, reference: int, motions: np.ndarray,
                 left_out: Mapping[int, str]) -> None:
        self._handle = handle
        self.model, self.reference = model, reference
        self._motions = motions  # rows alpha (radians), tx, ty; NaN for frames that are left out
        self._left_out = dict(left_out)

    @property
    def shape(self) -> Tuple[int, int]:
        """Height and width of the registered frames."""
        return self._handle.shape

    @property
    def area(self) -> Tuple[int, int, int, int]:
        """x, y, width and height of aligned frames, in pixels of the reference."""
        return self._handle.area

    @property
    def frames(self) -> List[int]:
        """The numbers of the frames that have a motion."""
        return list(self._handle.numbers)

    def field(self, frame: int) -> Optional[Tuple[np.ndarray, int]]:
        """The displacement field of a frame: an array (2, rows, columns) of displacements to the
        right and downward at nodes, and the distance between nodes in pixels; None without
        fields."""
        found = self._handle.field(frame)
        return None if found is None else (found[0][:2], found[1])

    def rows(self, frame: int) -> Optional[Tuple[np.ndarray, np.ndarray]]:
        """The displacements of the rows of a frame to the right and downward; None without them."""
        found = self._handle.rows(frame)
        return None if found is None else (found[:, 0], found[:, 1])

    def matrix(self, frame: int) -> Optional[np.ndarray]:
        """The 2x2 matrix of an affine motion; None for rigid ones."""
        found = self._handle.matrix(frame)
        return None if found is None else np.reshape(found, (2, 2))

    def __repr__(self) -> str:
        return f"<Transforms of {len(self.frames)} frames>"

    def __reduce__(self) -> Any:
        handle = self._handle
        matrices, fields, rows = (
            {frame: found for frame in self.frames if (found := part(frame)) is not None}
            for part in (handle.matrix, handle.field, handle.rows))
        return _transforms_of, (self.shape, self.area, handle.flyback, handle.row_shift, self.model,
                                self.reference, self._motions, self._left_out, matrices, fields,
                                rows)

    def write(self, path: Union[str, bytes, "os.PathLike[Any]"]) -> None:
        """Write a file such as transforms.json of ``sextant register``, for `read` and the command.

        Displacement fields are written to ``fields.npy``, and displacements of rows to
        ``rows.npy``, in the same folder. The files are replaced together; after an error, existing
        files are unchanged.
        """
        if not _is_path(path):
            raise WrongType(f"path is {path!r}, expected a path")
        _make, (shape, area, flyback, row_shift, model, reference, motions, left_out, matrices,
                fields, rows) = self.__reduce__()
        name = os.fsdecode(path)
        folder = os.path.dirname(name)
        files: List[Tuple[Any, bytes]] = []
        frames: List[Dict[str, Any]] = []
        for frame, (alpha, tx, ty) in enumerate(motions.tolist()):
            if np.isnan(tx):
                frames.append({"frame": frame, "left_out": left_out.get(frame, "unknown")})
                continue
            frames.append({"frame": frame, "alpha_rad": alpha, "alpha": alpha,  # alpha: until 0.11
                           "tx": tx, "ty": ty})
            if frame in matrices:
                frames[-1]["matrix"] = np.reshape(matrices[frame], (2, 2)).tolist()
        found = {"kind": "sextant transforms", "version": 1, "series": "", "model": model,
                 "reference": reference, "height": shape[0], "width": shape[1],
                 "canvas": dict(zip(("x", "y", "width", "height"), area)), "frames": frames}
        if row_shift:
            found["bidirectional"] = {"shift": row_shift}
        if fields:
            planes, spacing = next(iter(fields.values()))
            found["fields"] = {"file": "fields.npy", "spacing": spacing, "columns": planes.shape[2],
                               "rows": planes.shape[1]}
            files.append((os.path.join(folder, "fields.npy"),
                          _npy(np.concatenate([fields[frame][0] for frame in self.frames]))))
        if rows:
            found["rows"] = {"file": "rows.npy", "rows": shape[0], "flyback": flyback}
            files.append((os.path.join(folder, "rows.npy"),
                          _npy(np.stack([rows[each] for each in self.frames]))))
        _core.write_files([*files, (name, json.dumps(found, indent=1).encode())])

    @staticmethod
    def read(path: Union[str, bytes, "os.PathLike[Any]"]) -> "Transforms":
        """Read a transforms.json file that ``sextant register`` or `write` wrote."""
        found = _core.read_transforms(path)
        name = os.fsdecode(path)
        folder = os.path.dirname(name)
        motions = np.full((1 + max(each[0] for each in found["frames"]), 3), np.nan)
        left_out, matrices, kept = {}, {}, []
        for frame, why, *motion, matrix in found["frames"]:
            if why:
                left_out[frame] = why
                continue
            kept.append(frame)
            motions[frame] = motion
            if matrix is not None:
                matrices[frame] = matrix
        fields, rows = {}, {}
        if found["fields"]:
            file, spacing = found["fields"]
            planes = _tables(os.path.join(folder, file), 4 * len(kept), name)
            fields = {frame: (planes[4 * k:4 * k + 4], spacing) for k, frame in enumerate(kept)}
            used: Any = [each[:2] for each, _spacing in fields.values()]
        elif found["rows"]:
            tables = _tables(os.path.join(folder, found["rows"]), len(kept), name)
            if tables.shape[1:] != (found["shape"][0], 3):
                raise InvalidFile(f"{found['rows']}: has tables of {tables.shape[1:]}, expected "
                                  f"{(found['shape'][0], 3)} as stated in {name}")
            rows = dict(zip(kept, tables))
            used = tables[..., :2]
        if (fields or rows) and not np.isfinite(used).all():
            raise InvalidFile(f"{name}: refers to displacements that are not finite")
        return _transforms_of(found["shape"], found["area"], found["flyback"],
                              found["row_shift"], found["model"], found["reference"], motions,
                              left_out, matrices, fields, rows)


def _transforms_of(shape: Tuple[int, int], area: Sequence[int], flyback: int, row_shift: float,
                   model: str, reference: int, motions: np.ndarray, left_out: Mapping[int, str],
                   matrices: Mapping[int, Sequence[float]],
                   fields: Mapping[int, Tuple[np.ndarray, int]],
                   rows: Mapping[int, np.ndarray]) -> Transforms:
    """Transforms from numbers, as `Transforms.__reduce__` returns them."""
    handle = _core.Transforms(shape[1], shape[0], list(area), flyback, row_shift)
    for frame, (alpha, tx, ty) in enumerate(motions.tolist()):
        if np.isnan(tx):
            continue
        if frame in fields:
            handle.add_field(frame, fields[frame][1], fields[frame][0])
        elif frame in rows:
            handle.add_rows(frame, alpha, tx, ty, rows[frame])
        elif frame in matrices:
            handle.add_affine(frame, list(matrices[frame]), tx, ty)
        else:
            handle.add_rigid(frame, alpha, tx, ty)
    return Transforms(handle, model, reference, motions, left_out)


def _npy(array: np.ndarray) -> bytes:
    """The content of a .npy file."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _tables(path: str, count: int, stated_in: str) -> np.ndarray:
    frames = _core.Frames.of_files(path, None, None, False)
    if frames.frames != count:
        raise InvalidFile(f"{path}: has {frames.frames} planes, expected {count} as stated in "
                          f"{stated_in}")
    return np.stack([frames.read(number) for number in range(count)])


_FLAGS = ("ambiguous", "unrelated", "mended", "in_doubt", "implausible", "static")


class Registration(Result):
    """A registered series.

    Attributes
    ----------
    average, median : ndarray
        Mean and median of the aligned frames; NaN where no frame shows a pixel.
    count : ndarray of float32
        Number of frames that show each pixel.
    frames : structured ndarray
        One row per frame, with the fields:

        ``frame``
            Number of the frame.
        ``registered``, ``averaged``
            True if the frame has a motion, and if it contributes to the average.
        ``tx``, ``ty``, ``alpha``
            Motion of the content to the right and downward in pixels, and clockwise about the
            centre of the frame in degrees, relative to `relative_to`; NaN if not registered.
        ``sigma_tx``, ``sigma_ty``, ``sigma_alpha``
            Estimated standard deviations of these.
        ``ncc_before``, ``ncc_after``
            Normalised cross-correlation with the reference without and with the motion.
        ``overlap``
            Fraction of the reference that the frame shows.
        ``ambiguous``
            Another motion was nearly as likely, such as one lattice period further.
        ``unrelated``
            The frame is no more similar to the reference than noise.
        ``converged``
            The search converged.
        ``mended``
            The motion disagreed with those of neighbouring frames; the frame was registered again,
            starting from their motion.
        ``in_doubt``
            The motions relative to neighbouring frames disagree.
        ``static``
            A static pattern of the detector seems to bias the motion towards zero.
        ``implausible``
            The motion relative to a neighbouring frame is outside the range of the search, or
            `ncc_after` is lower than `ncc_before` by more than noise explains.
        ``gaps``
            Number of samples that are not finite, or in blank rows or columns.
    left_out, not_averaged : dict of int to str
        Why frames were not registered, or not averaged.
    reference : int
        The number of the reference frame.
    relative_to : str
        The image that motions are relative to: ``"frame 3"`` with one stage, or ``"the average of
        stage 1"`` with two. With two, the motion of the reference frame is not exactly 0.
    recorded_mean : ndarray or None
        Mean of the frames as recorded, if requested.
    static_pattern : ndarray or None
        Pattern that is fixed to the detector and was subtracted from the frames; NaN at pixels that
        have the same sample in all frames, which are gaps. None if there is none.
    model : str
        The model of the motions.
    stages : int
        Number of registration stages.
    ranks, threads : int
        Number of ranks that were used, and number of threads per rank.
    transforms : Transforms
        The motions, for `sextant.apply`.
    aligned : ndarray, or the array given as `out`, or None
        The aligned frames, if requested.
    warnings : list of str
        Remarks on the whole series.
    """

    _title, _compared = "registered series", "this run"

    def __init__(self, found: Mapping[str, Any], aligned: Any) -> None:
        super().__init__(found["record"])
        self.average: np.ndarray = found["average"]
        self.median: Optional[np.ndarray] = found["median"]
        self.count: np.ndarray = found["count"]
        self.recorded_mean: Optional[np.ndarray] = found["recorded_mean"]
        self.static_pattern: Optional[np.ndarray] = found["static_pattern"]
        columns: Dict[str, Any] = dict(found["frames"])
        self.left_out: Dict[int, str] = columns.pop("left_out")
        radians = columns.pop("radians")
        self.not_averaged: Dict[int, str] = columns.pop("not_averaged")
        self.frames = np.empty(len(columns["frame"]),
                               dtype=[(name, values.dtype) for name, values in columns.items()])
        for name, values in columns.items():
            self.frames[name] = values
        self.reference: int = found["reference"]
        self.model: str = found["model"]
        self.stages: int = found["stages"]
        self.relative_to = (f"frame {self.reference}" if self.stages == 1 else
                            f"the average of stage {self.stages - 1}")
        self.ranks: int = found["ranks"]
        self.threads: int = found["threads"]
        self.warnings: List[str] = list(found["warnings"])
        self.transforms = Transforms(found["transforms"], self.model, self.reference,
                                     np.stack([radians, columns["tx"], columns["ty"]], axis=1),
                                     self.left_out)
        self.aligned = aligned
        self._plan_text: str = found["plan"]
        self._candidates: List[Tuple[int, int, float]] = found["candidates"]

    @property
    def motions(self) -> np.ndarray:
        """The motion of the content of each frame, in pixels: an array (frames, 2) of (tx, ty)."""
        return np.stack([self.frames["tx"], self.frames["ty"]], axis=1)

    @property
    def shifts(self) -> np.ndarray:
        """The shifts that align frames, in the convention of `scipy.ndimage.shift`, scikit-image
        and hyperspy: an array (frames, 2) of (-ty, -tx)."""
        return -self.motions[:, ::-1]

    @property
    def plan(self) -> Plan:
        """The use of ranks and threads, and the reason for it."""
        times = self.seconds

        def some(count: int, what: str) -> str:
            return f"{count} {what}" if count == 1 else f"{count} {what}s"

        def text(ranks: int, threads: int) -> str:
            return f"{some(ranks, 'rank')} with {some(threads, 'thread')} each"

        candidates = [{"name": text(ranks, threads), "ranks": ranks, "threads": threads,
                       "seconds": seconds or None} for ranks, threads, seconds in self._candidates]
        predicted = self._candidates[0][2] or None
        return Plan(text(self.ranks, self.threads), self._plan_text or "as requested",
                    predicted=predicted, measured=sum(times.values()),
                    model="times per pixel (docs/registration.md)" if predicted else "",
                    alternatives=candidates if len(candidates) > 1 else (),
                    details=self.record.get("threads") or {})

    def apply(self, series: Any, **options: Any) -> Any:
        """Align other frames with the motions of this series; see `sextant.apply`."""
        return apply(self, series, **options)

    def __repr__(self) -> str:
        return (f"<Registration: {int(self.frames['registered'].sum())} of {len(self.frames)} frames, "
                f"{self.model}, to frame {self.reference}>")

    def _facts(self) -> List[Tuple[str, Any]]:
        frames = self.frames
        flags = [f"{int(frames[flag].sum())} {flag.replace('_', ' ')}"
                 for flag in _FLAGS if frames[flag].any()]
        moved = np.hypot(frames["tx"], frames["ty"])
        return [("Frames", f"{int(frames['registered'].sum())} of {len(frames)} registered, "
                           f"{int(frames['averaged'].sum())} averaged"),
                ("Reference", f"frame {self.reference}"), ("Model", self.model),
                ("Largest motion", f"{np.nanmax(moved):.2f} px" if len(moved) else ""),
                ("Median deviation", f"{np.nanmedian(frames['sigma_tx']):.3f} px"),
                ("Flags", ", ".join(flags)),
                ("Static pattern", self.static_pattern is not None and "subtracted"),
                ("Shading", self.record.get("flattened") and "removed before registration"),
                ("Weak frames", self.record.get("frames_per_sum") and
                 f"sums of {self.record['frames_per_sum']} frames were registered first"),
                ("Rows", self.record.get("rows") and
                 f"jitter by {self.record['rows']['jitter']:.2f} px, which is corrected"),
                *(("Left out", f"frame {frame}: {why}")
                  for frame, why in list(self.left_out.items())[:5]),
                *(("Warning", warning) for warning in self.warnings)]

    def _images(self) -> List[Tuple[np.ndarray, str]]:
        return [(self.average, "the average")]

    def _content(self) -> Dict[str, Any]:
        content = super()._content()
        columns: Dict[str, Any] = {name: self.frames[name] for name in self.frames.dtype.names or ()}
        columns["sigma"] = np.hypot(columns["sigma_tx"], columns["sigma_ty"])
        flags = [[name.replace("_", "-") for name in _FLAGS if row[name]] +
                 ([] if row["converged"] else ["not-converged"])
                 if row["registered"] else [] for row in self.frames]
        content.update(
            frames=columns, flags=flags, reference=self.reference,
            left_out=[self.left_out.get(int(frame), "") for frame in columns["frame"]],
            likeness="with rigid motions only" if self.model == "nonrigid" else "as recorded")
        if self.recorded_mean is not None and self.recorded_mean.shape == self.average.shape:
            recorded, average = (_png(image, 1024, _contrast(self.average))
                                 for image in (self.recorded_mean, self.average))
            content["before_after"] = (
                recorded, average, "With the same grey scale: the mean of the frames as recorded, "
                "and after registration.", float(self.average.shape[1]))
        return content

    def plot(self, axes: Any = None) -> Any:
        """Draw the motions of the frames with matplotlib, and return the axes."""
        axes = _axes(axes)
        for name, label in (("tx", "to the right"), ("ty", "downward")):
            axes.errorbar(self.frames["frame"], self.frames[name],
                          yerr=self.frames[f"sigma_{name}"], label=label, linewidth=1)
        axes.set_xlabel("frame")
        axes.set_ylabel("motion (px)")
        axes.legend()
        return axes


@documented(RegisterOptions)
def register(series: Any, *, aligned: bool = False, out: Any = None, dark: Any = None,
             gain: Any = None, defects: Any = None, mask: Any = None, comm: Any = None, ranks: Optional[int] = None,
             progress: Progress = None, copy: Optional[bool] = None, channel: Optional[int] = None,
             slice: Optional[int] = None, **options: Unpack[RegisterOptions]) -> Registration:
    """Align the frames of a noisy series, and average them.

    A call registers one series; for several, call the function for each.

    Motions are those of the content of frames, to the right and downward. With more than one stage,
    they are relative to the average of the stage before the last one (``found.relative_to``), so
    the motion of the reference frame is a few hundredths of a pixel instead of 0.

    Parameters
    ----------
    series : array_like, list of arrays, iterator, lazy array, path or Series
        The frames: an array with the axes frames, height and width, a list of images, an iterator
        of images (stored in an unnamed file), a zarr, h5py or dask array (read a few chunks at a
        time), or anything that `sextant.open_series` opens.
    aligned : bool
        Also return the aligned frames, as an array with the axes frames, height and width: float32,
        or float64 if the samples are float64 or integers of 32 or 64 bits; NaN outside the data, and
        in frames that are left out. Averages have the same type.
    out : array, optional
        NumPy, zarr or h5py array to which the aligned frames are written, frame by frame. With
        ``canvas="reference"`` it has the shape of the series. If the call raises an exception, its
        content is unspecified.
    dark, gain, defects : array_like or path, optional
        Images of the detector: samples without beam, relative sensitivity, and a mask of defective
        pixels.
    mask : array_like or path, optional
        The pixels to compare: an image of the frames' shape in which they are not 0, or the path of
        a file with polygons (.json or .geojson, for example from QuPath). Results cover whole
        frames.
    comm : mpi4py.MPI.Comm, optional
        Run on the ranks of this communicator. All ranks call the function with the same series and
        options; `aligned`, `out` and displacement fields are on rank 0.
    ranks : int, optional
        Number of ranks among which the frames are divided, each with `threads` threads. By default,
        both are chosen automatically for this machine and series.
    progress : callable or True, optional
        Called with the name of a part of the work, the number of steps done, and the total number
        of steps. True shows a tqdm progress bar.
    copy : bool, optional
        False raises an exception if the samples would have to be copied to be read.
    channel, slice : int, optional
        The plane of a hyperstack, if `series` is a path.
    {options}

    Returns
    -------
    Registration

    Examples
    --------
    >>> import numpy as np, sextant
    >>> movie, truth = sextant.synthesize(frames=4, width=96, height=96, dose=100)
    >>> found = sextant.register(movie)
    >>> np.allclose(found.frames["tx"], truth["tx"], atol=.2)
    True
    """
    with agreed(comm, "register", options):
        aligned = _core.truth("aligned", aligned)
        _core.check_options("register", dict(options))
        check_effects("register", options, DEFAULTS[RegisterOptions])
        frames = frames_of(series, copy=copy, channel=channel, slice=slice)
        if ranks is not None and comm is not None:
            raise InvalidTask("ranks has no effect: the ranks are those of comm")
        if ranks is not None:
            ranks = _core.whole_number("ranks", ranks, 1, 1024)
        detector: Dict[str, Any] = {
            name: image_of(image, name)[0]
            for name, image in (("dark", dark), ("gain", gain), ("defects", defects))
            if image is not None}
        if _is_path(mask) and os.fsdecode(mask).endswith((".json", ".geojson")):
            detector["polygons"] = os.fsdecode(mask)
        elif mask is not None:
            detector["mask"] = image_of(mask, "mask")[0]
        for name, source in {"series": series, "dark": dark, "gain": gain, "defects": defects,
                             "mask": mask}.items():
            check_overlap(out, source, name)
        check_samples(out)
        dtype = computed_type(frames.dtype, out)
        if out is not None:
            check_type_of(out, dtype)
        if out is not None and options.get("canvas") in (None, "reference"):
            sink_for(out, (frames.frames, frames.height, frames.width), dtype)  # checks it early
        show = progress_for(progress)
    made: List[Any] = []
    make = None
    if out is not None or aligned:
        def make(count: int, height: int, width: int) -> Any:
            array = np.full((count, height, width), np.nan, dtype) if out is None else out
            array, sink = sink_for(array, (count, height, width), dtype)
            made.append(array)
            return sink
    found = _core.register_series(frames, dict(options), detector, make, dtype == "f8", comm, ranks,
                                  show)
    if comm is not None and found["model"] == "nonrigid":
        _broadcast_fields(found["transforms"], comm)
    return Registration(found, made[0] if made else None)


def _broadcast_fields(transforms: _core.Transforms, comm: Any) -> None:
    """Copies the displacement fields of rank 0 to all ranks, one frame at a time."""
    is_root = comm.Get_rank() == 0
    for frame in comm.bcast(transforms.numbers if is_root else None):
        field = comm.bcast(transforms.field(frame) if is_root else None)
        if field is not None and not is_root:
            transforms.add_field(frame, field[1], field[0])


@documented()
def apply(transforms: Union[Registration, Transforms, str, bytes, "os.PathLike[Any]"], data: Any, *,
          out: Any = None, frame: Optional[int] = None, from_reference: bool = False,
          axes: Optional[str] = None, by: str = "bilinear", sum: bool = False, dtype: Any = None,
          memory: Optional[str] = None, zarr: Optional[int] = None, progress: Progress = None,
          channel: Optional[int] = None, slice: Optional[int] = None) -> Any:
    """Apply the transforms of a registered series to other images, arrays or points.

    Images are interpolated bilinearly by default. Pixels without data are NaN, or 0 in arrays of
    integers, splats and sums. In an array with more axes, such as a 4-D STEM scan, every channel,
    spectrum or diffraction pattern moves with its pixel; `axes` names the axes.

    Parameters
    ----------
    transforms : Registration, Transforms or path
        The result of `sextant.register`, or a transforms.json file written by ``sextant register``
        or `Transforms.write`.
    data : array_like, list, lazy array, path or Series
        One of these: a series with as many frames as the registered one; one image, if `frame` is
        given; points, an array (points, 3) with the columns frame, x, y, where pixel centres have
        integer coordinates; with `axes`, an array, lazy array (zarr, h5py, dask) or path with up
        to 32 axes, which is read in blocks.
    out : array or path, optional
        Array or file to which the result is written. For a series: an array of float32 or float64
        with the axes frames, height and width. With `axes`: an array with the shape and type of the
        result, or the path of a file (.zarr, .h5, .npy, .tif), which contains only the frames that
        were registered.
    frame : int, optional
        The frame whose transform is applied; `data` is then one image.
    from_reference : bool
        Map points from the average to the frames, instead of from the frames to the average.
    axes : str, optional
        Names of the axes of `data`, one letter per axis (``"TYXE"``) or separated by commas
        (``"t,y,x,ky,kx"``). t (or z) is the axis of the frames; y (rows) and x (columns) must be
        adjacent; all other axes are carried along. Default: the names in the file, or those of an
        xarray or hyperspy object.
    by : str
        Resampling method. ``"bilinear"`` (default), ``"cubic"`` and ``"lanczos"`` interpolate;
        ``"shift"`` moves a frame by whole pixels, so samples of the same type keep their bits;
        ``"splat"`` distributes each pixel among the pixels that it overlaps, so sums of counts are
        preserved.
    sum : bool
        Add up the aligned frames in one pass, without storing them.
    dtype : dtype, optional
        Type of the result, integers or floating-point numbers of up to 64 bits. Default with
        `axes`, `sum` or a `by` other than bilinear: the type of the data, or uint8 for booleans;
        for splats and sums, float32 (float64 for float64 data and integers of 32 or 64 bits), or
        uint64 or int64 for sums of shifted integers. Samples beyond the range of integers are
        clamped, and counted in a warning.
    memory : str, optional
        Memory limit for blocks of the data, such as ``"512M"``. Default: 1 GiB.
    zarr : int, optional
        Version of Zarr's format, if `out` is a path that ends in .zarr: 3 (default), or 2 for
        programs that do not read version 3.
    progress : callable or True, optional
        As in `sextant.register`.
    channel, slice : int, optional
        The plane of a hyperstack, if `data` is a path.

    Returns
    -------
    ndarray
        Aligned frames (float32, or float64 if the samples are float64 or integers of 32 or 64 bits;
        NaN outside the data), one aligned image, or points. With `axes`, `dtype` or a `by` other
        than bilinear: the aligned array, in which frames that were left out have no data. With
        `sum`: a tuple of the sum and an image of the number of frames per pixel. `out`, if given,
        is returned in place of a new array.

    Examples
    --------
    >>> import numpy as np, sextant
    >>> movie, truth = sextant.synthesize(frames=4, width=96, height=96, dose=100, random_step=0,
    ...                                   drift_x=0, drift_y=-1)
    >>> found = sextant.register(movie)
    >>> sextant.apply(found, movie).shape
    (4, 96, 96)
    >>> np.round(sextant.apply(found, [[3, 10, 20]])).tolist()
    [[3.0, 10.0, 23.0]]
    >>> spectra = np.ones((4, 96, 96, 8), "u2")
    >>> total, count = sextant.apply(found, spectra, axes="TYXE", by="splat", sum=True)
    >>> total.shape, count.shape
    ((96, 96, 8), (96, 96))
    """
    if isinstance(transforms, Registration):
        transforms = transforms.transforms
    elif isinstance(transforms, (str, bytes, os.PathLike)):
        check_overlap(out, transforms, "transforms")
        transforms = Transforms.read(transforms)
    elif not isinstance(transforms, Transforms):
        raise WrongType(f"transforms is a {type(transforms).__name__}, expected a result of "
                        "register, or a path")
    handle = transforms._handle
    if frame is not None:
        frame = _core.whole_number("frame", frame, 0, 2**40)
    data, named = _named_axes(data)
    sum = _core.truth("sum", sum)
    from_reference = _core.truth("from_reference", from_reference)
    given = {"channel": channel, "slice": slice, "frame": frame, "out": out, "axes": axes, "by": by,
             "sum": sum, "dtype": dtype, "memory": memory, "zarr": zarr,
             "from_reference": from_reference}
    check_effects("apply", given, {"by": "bilinear", "sum": False, "from_reference": False},
                  is_file=_is_path(data), is_points=_is_points(data), is_store=_is_store(out))
    several = len(getattr(data, "shape", ())) > 3
    if axes is None and several:
        axes = named
    if (several or by != "bilinear" or sum or _is_path(out) or
            any(each is not None for each in (axes, dtype, memory))):
        return _apply_to_array(transforms, data, axes, out, frame,
                               {"by": by, "sum": sum, "memory": memory, "zarr": zarr}, dtype,
                               channel, slice, progress)
    if _is_points(data):
        points = np.ascontiguousarray(as_array(data, "data"), dtype="f8")
        if not np.isfinite(points).all():
            raise InvalidTask("points have coordinates that are not finite")
        known = np.isin(points[:, 0], transforms.frames)
        if not known.all():
            raise InvalidTask(f"points has the frame {points[~known][0, 0]:g}, which was left out or "
                              "is not in the series")
        return _core.apply_to_points(handle, points, from_reference)
    shape: Tuple[int, ...]
    is_image = frame is not None and getattr(data, "ndim", len(getattr(data, "shape", ()))) == 2
    frames = image_of(data, "data")[0] if is_image else frames_of(data, "data", channel=channel,
                                                               slice=slice)
    if frame is None:
        expected = len(transforms._motions)
        if frames.frames != expected:
            raise InvalidTask(f"data has {frames.frames} frames, expected {expected} as in the "
                              "registered series; for one image, add frame=N")
    shape = (frames.height, frames.width)
    if shape != transforms.shape:
        raise InvalidTask(f"data has frames of shape {shape}, expected {transforms.shape} as in "
                          "the registered series")
    check_overlap(out, data, "data")
    _x, _y, width, height = handle.area
    shape = (frames.frames, height, width)
    if frames.channels == 1 and computed_type(frames.dtype) == "f8":
        return _apply_in_doubles(transforms, frames, data, out, frame, is_image, progress)
    if out is None:
        out = np.full(shape, np.nan, "f4")
    elif is_image and getattr(out, "ndim", 0) == 2:
        shape = shape[1:]
    out, sink = sink_for(out, shape, "f4")
    _core.apply_to_frames(handle, frames, frame, sink, progress_for(progress))
    return out[0] if is_image and out.ndim == 3 else out


def _apply_in_doubles(transforms: Transforms, frames: _core.Frames, data: Any, out: Any,
                      frame: Optional[int], is_image: bool, progress: Progress) -> Any:
    """Aligned frames, or an aligned image, whose samples float32 cannot represent."""
    plane = out[0] if frame is not None and isinstance(out, np.ndarray) and out.ndim == 3 else out
    result = _apply_to_array(transforms, data, None, plane, frame,
                             {"by": "bilinear", "sum": False, "memory": None, "zarr": None},
                             computed_type(frames.dtype, out), None, None, progress, frames)
    if frame is None or is_image:
        return result
    return result[np.newaxis] if out is None else out


def _apply_to_array(transforms: Transforms, data: Any, axes: Optional[str], out: Any,
                    frame: Optional[int], options: Dict[str, Any], dtype: Any, channel: Optional[int],
                    slice: Optional[int], progress: Progress,
                    frames: Optional[_core.Frames] = None) -> Any:
    """The same as `apply`; `frames`, if given, are the frames of the data."""
    if axes is not None and not isinstance(axes, str):
        raise WrongType(f"axes is {axes!r}, expected names such as \"TYXE\"")
    if dtype is not None:
        dtype = np.dtype(dtype)
        if dtype.kind not in "iuf" or dtype.itemsize > 8:
            raise WrongType(f"dtype is {dtype}, expected integers or floating-point numbers of up to "
                            "64 bits")
    given = array_to_apply(data, "data", 256 << 20) if frames is None else frames
    check_overlap(out, data, "data")
    made: List[Any] = []

    def open_out(shape: Tuple[int, ...], sample: np.dtype, gap: float) -> Tuple[Any, Any]:
        if _is_path(out):
            made.append(out)
            return os.fspath(out), None
        some_left_out = len(transforms.frames) < len(transforms._motions)
        result, sink, chunk = array_output(out, shape, sample, gap, some_left_out)
        made.append(result)
        return sink, chunk
    found = _core.apply_to_array(transforms._handle, given, axes, options, frame, channel, slice,
                                 dtype, len(transforms._motions), open_out, progress_for(progress))
    if found["farthest"] > .71:
        warnings.warn("the motions are not shifts: whole-pixel shifts misplace pixels by up to "
                      f"{found['farthest']:.2f} pixels; by=\"splat\" or "
                      "\"bilinear\" follows rotation and distortion", stacklevel=3)
    if found["vanished"]:
        warnings.warn(f"{found['vanished']} nonzero samples are too small for the output type and are "
                      "written as 0", stacklevel=3)
    for loss in (found["rounded"], found["lost_pixel"]):
        if loss:
            warnings.warn(loss, stacklevel=3)
    return (made[0], found["count"]) if options["sum"] else made[0]


def _is_path(data: Any) -> bool:
    return isinstance(data, (str, bytes, os.PathLike))


def _is_store(out: Any) -> bool:
    return _is_path(out) and os.fsdecode(out).rstrip("/").lower().endswith(".zarr")


def _named_axes(data: Any) -> Tuple[Any, Optional[str]]:
    """The array in an xarray or hyperspy object, and the names of its axes, if any."""
    manager = getattr(data, "axes_manager", None)
    if manager is not None:  # hyperspy
        names = [str(axis.name) for axis in manager._axes]
        return data.data, ",".join(names) if all(name.isidentifier() for name in names) else None
    dims = getattr(data, "dims", None)
    if isinstance(dims, tuple) and hasattr(data, "variable"):  # xarray
        return data.data, ",".join(map(str, dims))
    return data, None


def _is_points(data: Any) -> bool:
    if isinstance(data, (list, tuple)):
        return bool(data) and all(hasattr(row, "__len__") and len(row) == 3 and
                                  not any(np.ndim(each) for each in row) for row in data)
    return getattr(data, "ndim", 0) == 2 and data.shape[1] == 3
