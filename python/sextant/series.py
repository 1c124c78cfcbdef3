# SPDX-License-Identifier: BSD-3-Clause
"""Files of frames as lazy sequences of NumPy arrays."""
from __future__ import annotations

import os
from typing import Any, Iterator, List, Optional, Tuple, Union

import numpy as np

from . import _core
from ._documented import documented
from ._results import ArrayLike, _facts_html, _image_html
from .errors import InvalidFile, WrongType, printable

__all__ = ["Info", "PixelSize", "Series", "info", "open_series"]

#: Memory limit for frames of which only a part is needed.
_BLOCK_BYTES = 32 << 20


class PixelSize(Tuple[float, float, str]):
    """The size of a pixel: ``x``, ``y`` and ``unit``; x and y are 0 if it is unknown."""

    @property
    def x(self) -> float:
        """Width of a pixel."""
        return self[0]

    @property
    def y(self) -> float:
        """Height of a pixel."""
        return self[1]

    @property
    def unit(self) -> str:
        """Unit of x and y in the file, such as ``"nm"``."""
        return self[2]

    @property
    def known(self) -> bool:
        """True if the file states the size."""
        return self[0] > 0 and self[1] > 0


class Series(ArrayLike):
    """A series of frames in files, whose samples are read when they are indexed.

    ``series[k]`` is a frame and ``series[a:b:c]`` an array of frames; further indices select
    samples, as in a NumPy array. All functions of Sextant accept a series. Operators and methods of
    arrays, such as ``series > 5`` and ``series.max()``, first read all frames.

    A single file stays open between reads, until the series is deleted or closed, and is opened
    again if it has changed. Several threads may read one series. A pickled series contains only the
    path and the arguments, and forked processes open the file again.
    """

    def __init__(self, path: Any, channel: Optional[int] = None, slice: Optional[int] = None,
                 allow_external: bool = False, time: Optional[int] = None, axes: str = "") -> None:
        allow_external = _core.truth("allow_external", allow_external)
        self._frames = _core.Frames.of_files(path, channel, slice, allow_external, time, axes)
        self.path = os.fsdecode(path)
        self._arguments = (self.path, channel, slice, allow_external, time, axes)

    def __reduce__(self) -> Any:
        return Series, self._arguments

    def close(self) -> None:
        """Close the file. The next read opens it again."""
        self._frames.close()

    def __enter__(self) -> "Series":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    @property
    def shape(self) -> Tuple[int, ...]:
        """Number of frames, height, width and, for colours, channels."""
        shape = (self._frames.frames, self._frames.height, self._frames.width)
        return shape if self._frames.channels == 1 else (*shape, self._frames.channels)

    @property
    def dtype(self) -> np.dtype:
        """Type of the samples, in the byte order of this machine."""
        return self._frames.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of samples."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """Bytes of all samples as an array."""
        return self.size * self.dtype.itemsize

    @property
    def chunks(self) -> Tuple[int, ...]:
        """One frame, the unit in which samples are read."""
        return (1, *self.shape[1:])

    @property
    def pixel_size(self) -> PixelSize:
        """Size of a pixel and its unit."""
        return PixelSize(self._frames.pixel_size)

    @property
    def frame_interval(self) -> Optional[float]:
        """Seconds between frames; None if unknown."""
        return self._frames.interval or None

    @property
    def remarks(self) -> List[str]:
        """Messages about the file, such as that it is truncated."""
        return list(self._frames.remarks)

    def __len__(self) -> int:
        return self._frames.frames

    def _read(self, numbers: Any) -> np.ndarray:
        """Whole frames as one array."""
        frames = np.empty((len(numbers), *self.shape[1:]), self.dtype)
        self._frames.read_into([int(number) for number in numbers], frames)
        return frames

    def _blocks(self, numbers: Any) -> Iterator[Tuple[slice, np.ndarray]]:
        """Whole frames in blocks, and the positions of each block in `numbers`."""
        frame_bytes = int(np.prod(self.shape[1:], dtype=np.int64)) * self.dtype.itemsize
        step = max(1, _BLOCK_BYTES // frame_bytes)
        for first in range(0, len(numbers), step):
            yield slice(first, first + step), self._read(numbers[first:first + step])

    def __getitem__(self, index: Any) -> np.ndarray:
        if type(index) is int:
            count = self._frames.frames
            if -count <= index < count:
                return self._frames.read(index % count)
        parts = index if isinstance(index, tuple) else (index,)
        for part in parts:
            kind = np.asarray(part) if not isinstance(part, slice) and part is not Ellipsis else None
            if kind is not None and (kind.dtype == object or kind.dtype == bool and kind.ndim != 1):
                raise IndexError("a series is indexed with integers, slices, ..., arrays of integers "
                                 "and masks of one axis; use np.asarray(series) for other indices")
        # NumPy checks the index on an array that takes no memory.
        chosen = np.empty(np.broadcast_to(np.empty((), self.dtype), self.shape)[index].shape,
                          self.dtype)
        if not any(part is Ellipsis for part in parts):
            parts = (*parts, Ellipsis)
        at = [part is Ellipsis for part in parts].index(True)
        parts = (*parts[:at], *[slice(None)] * (self.ndim - len(parts) + 1), *parts[at + 1:])
        first, rest = parts[0], parts[1:]
        numbers = np.arange(len(self))[first]
        if chosen.size and any(np.ndim(part) for part in rest if not isinstance(part, slice)):
            own = (slice(None) if isinstance(first, slice) else
                   np.arange(numbers.size).reshape(numbers.shape))
            return np.asarray(self._read(numbers.ravel())[(own, *rest)])
        if not chosen.size:
            return chosen[()]
        if all(part == slice(None) for part in rest):
            self._frames.read_into(numbers.ravel().tolist(), chosen)
            return chosen[()]
        flat = chosen.reshape(numbers.size, *chosen.shape[numbers.ndim:])
        for block, frames in self._blocks(numbers.ravel()):
            flat[block] = frames[(slice(None), *rest)]
        return chosen[()]

    def __iter__(self) -> Iterator[np.ndarray]:
        for number in range(len(self)):
            yield self[number]

    def __contains__(self, value: Any) -> bool:
        raise WrongType("a series cannot be searched, because all frames would be read: use "
                        "np.asarray(series)")

    def _held(self) -> Any:
        raise WrongType("a series is read-only: np.asarray(series) is a copy that can be changed")

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray:
        if copy is False:
            raise ValueError("the samples of a series must be copied to become an array")
        if dtype is None or np.dtype(dtype) == self.dtype:
            return self._read(range(len(self)))
        array = np.empty(self.shape, dtype)
        for block, frames in self._blocks(range(len(self))):
            array[block] = frames
        return array

    def __repr__(self) -> str:
        return f"<Series {printable(self.path)}: {self.shape} of {self.dtype}>"

    def _repr_html_(self) -> str:
        pixel = self.pixel_size
        size = f"{pixel.x:.6g} × {pixel.y:.6g} {pixel.unit}" if pixel.known else "unknown"
        middle = self[len(self) // 2] if len(self) else None
        image = "" if middle is None else _image_html(middle if middle.ndim == 2 else middle[..., 0],
                                                      f"frame {len(self) // 2}")
        return image + _facts_html([("File", self.path), ("Shape", self.shape),
                                    ("Samples", self.dtype), ("Pixel size", size),
                                    ("Interval", self.frame_interval),
                                    *(("Remark", remark) for remark in self.remarks)])


@documented()
def open_series(path: Union[str, bytes, "os.PathLike[Any]"], *, channel: Optional[int] = None,
                slice: Optional[int] = None, allow_external: bool = False,
                time: Optional[int] = None, axes: str = "") -> Series:
    """Open a file of frames, a folder, a pattern or a list as a lazy series.

    Parameters
    ----------
    path : str, bytes or path
        A file (MRC, TIFF, SER, DM, HDF5, NPY, NIfTI, Zarr …), ``file.h5::/dataset``, a folder, a pattern such as
        ``frames/a_*.tif`` or ``frame_%04d.png``, or a list of files (.txt).
    channel, slice : int, optional
        The plane of a hyperstack, counted from 0.
    allow_external : bool
        Let an HDF5 file or a Zarr store refer to samples in any other file.
    time : int, optional
        Read the slices at this time of a hyperstack, counted from 0, as frames.
    axes : str
        Names for the axes of an array (NPY, HDF5, Zarr), such as ``"TCZYX"``.

    Returns
    -------
    Series

    Examples
    --------
    >>> import numpy as np, sextant, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "movie.npy")
    >>> np.save(path, np.zeros((3, 16, 20), "u2"))
    >>> series = sextant.open_series(path)
    >>> series.shape, series.dtype, series[1].shape
    ((3, 16, 20), dtype('uint16'), (16, 20))
    """
    return Series(path, channel, slice, allow_external, time, axes)


class Info:
    """The properties of a file of frames, as `sextant.info` returns them."""

    def __init__(self, series: Series) -> None:
        self.file = series.path
        self.format: str = _core.format_of(series.path)
        self.frames, self.height, self.width = series.shape[:3]
        self.channels: int = series._frames.hyperstack[0]
        self.slices: int = series._frames.hyperstack[1]
        self.times: int = series._frames.hyperstack[2]
        self.samples_per_pixel: int = series._frames.channels
        self.dtype = series.dtype
        self.pixel_size: Optional[PixelSize] = series.pixel_size if series.pixel_size.known else None
        self.frame_interval = series.frame_interval
        self.remarks = series.remarks

    def __repr__(self) -> str:
        facts = [f"{self.frames} frames", f"{self.width}x{self.height}", str(self.dtype)]
        if self.pixel_size:
            facts.append(f"{self.pixel_size.x:.6g} {self.pixel_size.unit} per pixel")
        return f"<{printable(self.file)}: {self.format}, {', '.join(facts)}>"

    def _repr_html_(self) -> str:
        return _facts_html([(name, value) for name, value in vars(self).items() if value])


@documented()
def info(path: Union[str, bytes, "os.PathLike[Any]"], *, check: bool = False,
         channel: Optional[int] = None, slice: Optional[int] = None,
         allow_external: bool = False, time: Optional[int] = None, axes: str = "") -> Info:
    """Return the format, size, samples and pixel size of an image or series.

    Parameters
    ----------
    path, channel, slice, allow_external, time, axes
        As in `sextant.open_series`.
    check : bool
        Read every frame, and raise `InvalidFile` if one cannot be read.

    Returns
    -------
    Info

    Examples
    --------
    >>> import numpy as np, sextant, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "movie.npy")
    >>> np.save(path, np.zeros((3, 16, 20), "u2"))
    >>> found = sextant.info(path, check=True)
    >>> found.frames, found.format
    (3, 'NPY')
    """
    check = _core.truth("check", check)
    series = open_series(path, channel=channel, slice=slice, allow_external=allow_external,
                         time=time, axes=axes)
    if check:
        for number in range(len(series)):
            try:
                series[number]
            except InvalidFile as error:
                raise InvalidFile(f"frame {number} cannot be read: {error}") from None
    return Info(series)
