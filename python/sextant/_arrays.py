# SPDX-License-Identifier: BSD-3-Clause
"""Converts arrays, lazy arrays, files and generators to inputs and outputs of the extension."""
from __future__ import annotations

import functools
import math
import os
import tempfile
import threading
import types
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import product
from typing import Any, Callable, Dict, List, Optional, Set, Tuple, TypeVar, Union

import numpy as np

from . import _core
from ._results import ArrayResult
from .errors import InvalidFile, InvalidTask, RunFailed, WrongType

#: Memory limit for the cached blocks of a lazy array.
_BLOCK_BYTES = 32 << 20


def contained(source: Any) -> Any:
    """The array in a result or a DLPack object; anything else is returned unchanged."""
    if isinstance(source, ArrayResult):
        return source._held()
    if not hasattr(source, "__dlpack__") or hasattr(source, "__array__") or _has_buffer(source):
        return source
    try:
        return np.from_dlpack(source)
    except (BufferError, RuntimeError, TypeError) as error:  # for example, GPU memory
        raise WrongType(f"a {type(source).__name__} cannot be read via DLPack: {error}") from None


def is_lazy(source: Any) -> bool:
    """True for arrays that are read on demand: zarr, h5py and dask arrays, and Series."""
    return (hasattr(source, "shape") and hasattr(source, "dtype") and
            hasattr(source, "__getitem__") and not isinstance(source, (np.ndarray, np.generic)) and
            not hasattr(source, "__array_interface__") and not _has_buffer(source))


def _has_buffer(source: Any) -> bool:
    try:
        memoryview(source)
    except (TypeError, ValueError):
        return False
    return True


ma: Any = np.ma  # has no type hints


def with_mask(source: Any) -> Any:
    """Any array_like as an array, which is masked if the source or an item of a list is masked."""
    source = contained(source)
    if isinstance(source, (list, tuple)):
        source = [contained(each) for each in source]
        source = [np.asanyarray(each) if hasattr(each, "__array__") else each for each in source]
        if any(isinstance(each, np.ma.MaskedArray) for each in source):
            return ma.array(source)
    return np.asanyarray(source)


def as_array(source: Any, name: str, copy: Optional[bool] = None,
             masked: float = np.nan) -> np.ndarray:
    """An array that shares the memory of `source`, or a copy if there is no memory to share.

    A masked array becomes a copy in which masked samples have the value `masked`.
    """
    source = contained(source)
    has_memory = (isinstance(source, np.ndarray) or hasattr(source, "__array_interface__") or
                  _has_buffer(source))
    if copy is False and not has_memory:
        raise InvalidTask(f"{name} is a {type(source).__name__}, which has no memory to share: its "
                          "samples must be copied, but copy is False")
    try:
        array = with_mask(source)
    except ValueError as error:  # lists of lists of different lengths
        raise WrongType(f"{name}: {error}") from None
    _check_type(array.dtype, name)
    if ma.isMaskedArray(array):
        if copy is False:
            raise InvalidTask(f"{name} is a masked array: its samples must be copied to fill "
                              "masked ones, but copy is False")
        array = array.astype(_type_with(masked, array.dtype)).filled(masked)
    return np.asarray(array)


def _type_with(masked: float, dtype: np.dtype) -> np.dtype:
    """The sample type that can also represent the value `masked`."""
    return np.promote_types(dtype, "f4") if np.isnan(masked) and dtype.kind != "f" else dtype


def _check_type(dtype: np.dtype, name: str) -> None:
    if dtype.kind not in "buif" or dtype.itemsize > 8:
        raise WrongType(f"{name} has samples of type {dtype}, expected integers or floating-point "
                        "numbers of up to 64 bits")


def _check_axes(shape: Any, axes: Tuple[str, ...], name: str) -> None:
    if not isinstance(shape, (tuple, list)) or not all(hasattr(n, "__index__") and n < 2**40
                                                       for n in shape):
        raise WrongType(f"{name} has shape {shape}, expected a tuple of whole numbers below 2**40")
    if len(shape) != len(axes):
        raise InvalidTask(f"{name} has shape {tuple(shape)}, expected {len(axes)} axes: "
                          f"{', '.join(axes)}")
    if min(shape) < 1:
        raise InvalidTask(f"{name} has shape {tuple(shape)}: it is empty")


def _check_like(array: np.ndarray, shape: Tuple[int, ...], dtype: np.dtype, name: str) -> None:
    if array.shape != shape or array.dtype.newbyteorder("=") != dtype:
        raise InvalidTask(f"{name} has shape {array.shape} and type {array.dtype}, expected {shape} "
                          f"and {dtype} as in frame 0")


class _Blocks:
    """Reads a lazy array along its first axis, a few of its chunks at a time.

    The most recent blocks are cached, because several ranks and passes read neighbouring frames.
    """

    def __init__(self, source: Any, name: str, masked: float = np.nan) -> None:
        self._source, self._name, self._masked = source, name, masked
        self._shape, self.dtype = tuple(source.shape), np.dtype(source.dtype).newbyteorder("=")
        if isinstance(getattr(source, "_meta", None), np.ma.MaskedArray):  # of dask
            self.dtype = _type_with(masked, self.dtype)
        item = int(np.prod(self._shape[1:], dtype=np.int64)) * self.dtype.itemsize
        most = max(1, _BLOCK_BYTES // max(1, item))
        chunks = getattr(source, "chunks", None)
        first = chunks[0] if chunks else 1
        length = max(first) if isinstance(first, tuple) else int(first)
        if len(self._shape) == 2:  # rows of an image: several chunks at a time, if they are small
            self._length = max(1, min(most, max(length, most // max(1, length) * length)))
        else:
            self._length = max(1, min(length, most))
        self._kept: "OrderedDict[int, np.ndarray]" = OrderedDict()
        self._most_kept = max(2, min(4, most // self._length))
        self._lock = threading.Lock()

    def _block(self, index: int) -> np.ndarray:
        with self._lock:
            block = self._kept.pop(index, None)
            if block is None:
                while len(self._kept) >= self._most_kept:
                    self._kept.popitem(last=False)
                first = index * self._length
                last = min(first + self._length, self._shape[0])
                if tuple(self._source.shape) != self._shape:
                    raise InvalidFile(f"{self._name} has shape {tuple(self._source.shape)}, but had "
                                      f"{self._shape} when it was opened")
                block = self._filled(np.asanyarray(self._source[first:last]))
                if block.shape != (last - first, *self._shape[1:]):
                    raise InvalidFile(f"{self._name}[{first}:{last}] has shape {block.shape}, "
                                      f"expected {(last - first, *self._shape[1:])}")
            self._kept[index] = block
            return block

    def _filled(self, block: Any) -> np.ndarray:
        if ma.is_masked(block):
            if self.dtype != _type_with(self._masked, self.dtype):
                raise InvalidTask(f"{self._name} has masked samples of type {self.dtype}: convert "
                                  "it to float32 first")
            block = block.astype(self.dtype).filled(self._masked)
        return np.ascontiguousarray(block, dtype=self.dtype)

    def frame(self, number: int, first: int, last: int) -> np.ndarray:
        """Rows of a frame of a series."""
        block = self._block(number // self._length)
        return block[number % self._length, first:last]

    def rows(self, number: int, first: int, last: int) -> np.ndarray:
        """Rows of an image."""
        del number
        begin, end = first // self._length, (last - 1) // self._length
        parts = []
        for index in range(begin, end + 1):
            start = index * self._length
            parts.append(self._block(index)[max(first - start, 0):last - start])
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


class _Chunks:
    """Reads blocks of a lazy array with any number of axes; caches the most recent chunks."""

    def __init__(self, source: Any, name: str, memory: int) -> None:
        self._source, self._name = source, name
        self._shape, self.dtype = tuple(source.shape), np.dtype(source.dtype).newbyteorder("=")
        chunks = getattr(source, "chunks", None)
        if chunks is None:  # any block may be read: one position along the first axes at a time
            self.chunk = (1,) * (len(self._shape) - 2) + self._shape[-2:]
        else:
            self.chunk = tuple(max(each) if isinstance(each, tuple) else int(each) for each in chunks)
        # dask chunks may have different lengths; blocks of the greatest length are read instead.
        self.chunk = tuple(max(1, min(each, n)) for each, n in zip(self.chunk, self._shape))
        self._kept: "OrderedDict[Tuple[int, ...], np.ndarray]" = OrderedDict()
        self._most_kept = max(1, memory // (math.prod(self.chunk) * self.dtype.itemsize))
        self._lock = threading.Lock()

    def _chunk(self, at: Tuple[int, ...]) -> np.ndarray:
        found = self._kept.pop(at, None)
        if found is None:
            while len(self._kept) >= self._most_kept:
                self._kept.popitem(last=False)
            block = self._source[tuple(slice(i * c, min((i + 1) * c, n))
                                       for i, c, n in zip(at, self.chunk, self._shape))]
            if ma.is_masked(block):
                raise InvalidTask(f"{self._name} has masked samples: fill them first")
            found = np.ascontiguousarray(block, dtype=self.dtype)
        self._kept[at] = found
        return found

    def read(self, start: Tuple[int, ...], count: Tuple[int, ...]) -> np.ndarray:
        """The block that starts at `start` and has `count` samples along each axis."""
        block = np.empty(count, self.dtype)
        grid = [range(s // c, (s + n - 1) // c + 1) for s, n, c in zip(start, count, self.chunk)]
        with self._lock:
            for at in product(*grid):
                here = [i * c for i, c in zip(at, self.chunk)]
                first = [max(s, h) for s, h in zip(start, here)]
                last = [min(s + n, h + c) for s, n, h, c in zip(start, count, here, self.chunk)]
                part = self._chunk(at)[tuple(slice(f - h, e - h)
                                             for f, e, h in zip(first, last, here))]
                block[tuple(slice(f - s, e - s) for f, e, s in zip(first, last, start))] = part
        return block


def array_to_apply(data: Any, name: str, memory: int) -> Any:
    """The data as the extension aligns them: a path, an array, or a reader of a lazy array."""
    if isinstance(data, (str, bytes, os.PathLike)):
        return data
    data = contained(data)
    if is_lazy(data):
        _check_type(np.dtype(data.dtype), name)
        _check_lengths(data.shape, name)
        reader = _Chunks(data, name, memory)
        return reader.read, tuple(data.shape), reader.dtype, reader.chunk
    array = as_array(data, name)
    _check_lengths(array.shape, name)
    whole_steps = all(stride % array.itemsize == 0 for stride in array.strides)
    return array if array.dtype.isnative and whole_steps else np.ascontiguousarray(
        array, dtype=array.dtype.newbyteorder("="))


def _check_lengths(shape: Any, name: str) -> None:
    if len(shape) < 2 or min(shape) < 1:
        raise InvalidTask(f"{name} has shape {tuple(shape)}, expected 2 axes or more, none empty")


def frames_of(series: Any, name: str = "series", *, copy: Optional[bool] = None,
              channel: Optional[int] = None, slice: Optional[int] = None,
              allow_external: bool = False) -> _core.Frames:
    """The frames of anything that `register` accepts."""
    if copy is not None:
        copy = _core.truth("copy", copy)
    if isinstance(series, (str, bytes, os.PathLike)):
        return _core.Frames.of_files(series, channel, slice, allow_external)
    if channel is not None or slice is not None or allow_external:
        raise InvalidTask(f"channel, slice and allow_external have no effect: {name} is not a file")
    series = contained(series)
    own = getattr(series, "_frames", None)
    if isinstance(own, _core.Frames):
        return own
    if isinstance(series, Iterator):
        if copy is False:
            raise InvalidTask(f"{name} is an iterator, whose frames must be stored, but copy is "
                              "False")
        return _spooled(series, name)
    if is_lazy(series):
        _check_type(np.dtype(series.dtype), name)
        _check_axes(series.shape, ("frames", "height", "width"), name)
        reader = _Blocks(series, name)
        frames, height, width = series.shape
        return _core.Frames.of_reader(reader.frame, frames, height, width, reader.dtype, True)
    if isinstance(series, (list, tuple)) and any(_is_frame(frame) for frame in series):
        return _listed(series, name, copy)
    array = as_array(series, name, copy)
    _check_axes(array.shape, ("frames", "height", "width"), name)
    return _core.Frames.of_stack(array, False)


def _is_frame(item: Any) -> bool:
    return (hasattr(item, "__array__") or hasattr(item, "__array_interface__") or
            hasattr(item, "__dlpack__") or _has_buffer(item))


def _listed(frames: Iterable[Any], name: str, copy: Optional[bool]) -> _core.Frames:
    arrays = []
    for number, frame in enumerate(frames):
        array = as_array(frame, f"frame {number} of {name}", copy)
        _check_axes(array.shape, ("height", "width"), f"frame {number} of {name}")
        arrays.append(array)
    first = arrays[0]
    for number, each in enumerate(arrays):
        _check_like(each, first.shape, first.dtype.newbyteorder("="), f"frame {number} of {name}")
    alike = all(each.strides == first.strides and each.dtype == first.dtype for each in arrays)
    if not alike:  # all frames must have the same layout, so these are copied
        native = first.dtype.newbyteorder("=")
        if copy is False:
            raise InvalidTask(f"the frames of {name} have different strides or byte orders, so they "
                              "must be copied, but copy is False")
        arrays = [np.ascontiguousarray(each, dtype=native) for each in arrays]
    return _core.Frames.of_arrays(arrays, False)


def _spooled(frames: Iterator[Any], name: str) -> _core.Frames:
    """Frames of an iterator, stored in an unnamed file, because registration reads them again."""
    with tempfile.TemporaryFile() as file:
        shape: Optional[Tuple[int, ...]] = None
        dtype = np.dtype("f4")
        count = 0
        for frame in frames:
            array = as_array(frame, f"frame {count} of {name}")
            if shape is None:
                _check_axes(array.shape, ("height", "width"), f"frame 0 of {name}")
                shape, dtype = array.shape, array.dtype.newbyteorder("=")
            _check_like(array, shape, dtype, f"frame {count} of {name}")
            file.write(np.ascontiguousarray(array, dtype=dtype).data)
            count += 1
        if shape is None:
            raise InvalidTask(f"{name} has no frames")
        file.flush()
        stack = np.memmap(file, dtype=dtype, mode="r", shape=(count, *shape))
    return _core.Frames.of_stack(np.asarray(stack), False)


def _check_image(shape: Any, name: str, volumes: Optional[str]) -> bool:
    """Checks the shape of an image or volume, and returns True for a volume. See `image_of`."""
    axes = len(shape) if isinstance(shape, (tuple, list)) else 0
    may_be_colours = axes == 3 and shape[-1] in (3, 4)
    if volumes is None or axes != 3:
        if may_be_colours:
            raise InvalidTask(f"{name} has shape {tuple(shape)}, expected 2 axes: height, width; "
                              "for a colour image add channel_axis=-1")
        if volumes is not None and axes > 3:
            raise InvalidTask(f"{name} has shape {tuple(shape)}, expected 2 axes: height, width; or "
                              "3: depth, height, width")
        _check_axes(shape, ("height", "width"), name)
        return False
    _check_axes(shape, ("depth", "height", "width"), name)
    if volumes and may_be_colours:
        raise InvalidTask(f"{name} has shape {tuple(shape)}: for a colour image add "
                          f"channel_axis=-1; for a volume of {shape[-1]} columns add {volumes}")
    return True


def image_of(image: Any, name: str = "image", *, channel_axis: Optional[int] = None,
             copy: Optional[bool] = None, masked: float = np.nan,
             volumes: Optional[str] = None) -> Tuple[_core.Frames, bool]:
    """The image or volume of anything that `label` accepts, and True for a volume.

    A volume is a series of planes: an array with three axes, or files with several frames. Arrays
    with three axes are rejected if `volumes` is None. If `volumes` is a string, it is the argument
    that distinguishes a volume with 3 or 4 columns from a colour image, such as
    ``"neighbours=26"``.
    """
    image = contained(image)
    if copy is not None:
        copy = _core.truth("copy", copy)
    if isinstance(image, (str, bytes, os.PathLike)):
        frames = _core.Frames.of_files(image, None, None, False)
        return frames, frames.frames > 1
    own = getattr(image, "_frames", None)
    if isinstance(own, _core.Frames):
        return own, own.frames > 1
    if is_lazy(image):
        _check_type(np.dtype(image.dtype), name)
        is_volume = _check_image(image.shape, name, None if channel_axis is not None else volumes)
        reader = _Blocks(image, name, masked)
        count, height, width = image.shape if is_volume else (1, *image.shape)
        return _core.Frames.of_reader(reader.frame if is_volume else reader.rows, count, height,
                                      width, reader.dtype, is_volume), is_volume
    array = as_array(image, name, copy, masked)
    if channel_axis is not None:
        _check_axes(array.shape, ("height", "width", "channels"), name)
        channel_axis = _core.whole_number("channel_axis", channel_axis, -3, 2)
        return _core.Frames.of_arrays([np.moveaxis(array, channel_axis, -1)], True), False
    if _check_image(array.shape, name, volumes):
        return _core.Frames.of_stack(array, False), True
    return _core.Frames.of_arrays([array], False), False


def _is_path(source: Any) -> bool:
    return isinstance(source, (str, bytes, os.PathLike))


def _map_of(source: Any) -> Any:
    """The memmap that contains an array; None if the array is not in a file."""
    while isinstance(source, np.ndarray):
        if isinstance(source, np.memmap) and source.filename:
            return source
        source = source.base
    return None


def _is_h5py(source: Any) -> bool:
    return isinstance(getattr(getattr(source, "file", None), "filename", None), str)


def _places_of_h5py(dataset: Any) -> List[str]:
    """The other files that contain samples of an h5py dataset."""
    named = [each.file_name for each in dataset.virtual_sources()
             if each.file_name != "."] if getattr(dataset, "is_virtual", False) else []
    named += [each[0] for each in getattr(dataset, "external", None) or ()]
    own = os.path.realpath(dataset.file.filename)
    return [path for path in (_beside(own, each) for each in named) if os.path.realpath(path) != own]


def _beside(file: str, name: Any) -> str:
    """The path of a file that HDF5 looks for next to another file, then in the working folder."""
    path = os.path.join(os.path.dirname(file), os.fsdecode(name))
    return path if os.path.exists(path) else os.fsdecode(name)


def _datasets_of_h5py(dataset: Any, found: Optional[Set[Any]] = None) -> Set[Any]:
    """The files and addresses of an h5py dataset and, if it is virtual, of its sources."""
    import h5py
    found = set() if found is None else found
    if not isinstance(dataset, h5py.Dataset):
        return found
    own = os.path.realpath(dataset.file.filename)
    key = own, h5py.h5o.get_info(dataset.id).addr
    if key in found:
        return found
    found.add(key)
    for source in dataset.virtual_sources() if dataset.is_virtual else ():
        path = own if source.file_name == "." else os.path.realpath(_beside(own, source.file_name))
        try:
            if path == own:
                _datasets_of_h5py(dataset.file[source.dset_name], found)
            else:
                with h5py.File(path, "r") as file:
                    _datasets_of_h5py(file[source.dset_name], found)
        except (OSError, KeyError):  # a missing source is read as gaps
            pass
    return found


def _held(source: Any) -> List[Any]:
    """The arrays in memory or in files that a lazy array reads; anything else unchanged.

    Searches dask graphs, including the arguments, defaults and variables of their functions, and
    the attributes of lazy arrays from other libraries. Reads no samples.
    """
    if not is_lazy(source) or _is_stored(source):
        return [source]
    found: List[Any] = []
    seen: Dict[int, Any] = {}  # keeps the objects, so that no two have the same id
    waiting = [source]
    while waiting:
        each = waiting.pop()
        if id(each) in seen or isinstance(each, (str, bytes, int, float, np.generic, type)):
            continue
        seen[id(each)] = each
        if isinstance(each, np.ndarray):
            found.append(each)
            if each.dtype.hasobject:
                waiting += np.asarray(each).ravel().tolist()
        elif isinstance(each, Mapping):
            waiting += each.values()
        elif isinstance(each, (list, tuple, set, frozenset)):
            waiting += each
        elif hasattr(each, "__dask_graph__"):
            waiting.append(each.__dask_graph__())
        elif hasattr(each, "__array_interface__") or _has_buffer(each) or _is_stored(each):
            found.append(each)
        else:
            waiting += _parts_of(each)
    return found


def _is_stored(source: Any) -> bool:
    """True for h5py and zarr arrays, and for Series."""
    return (_is_h5py(source) or hasattr(source, "store") and hasattr(source, "path") or
            isinstance(getattr(source, "_frames", None), _core.Frames))


def _parts_of(item: Any) -> List[Any]:
    """The objects that a function uses, or the attributes of a lazy array or a dask object."""
    if isinstance(item, functools.partial):
        return [item.func, item.args, item.keywords]
    if isinstance(item, (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType)):
        owner = item.__self__
        return [getattr(item, "__func__", None),
                *([owner] if isinstance(owner, np.ndarray) or is_lazy(owner) else [])]
    if isinstance(item, types.FunctionType):
        used = [item.__globals__.get(name) for name in item.__code__.co_names]
        return [item.__defaults__, item.__kwdefaults__,
                *(each for each in used if isinstance(each, np.ndarray) or is_lazy(each)),
                *(cell.cell_contents for cell in item.__closure__ or ()
                  if cell != types.CellType())]
    if not is_lazy(item) and type(item).__module__.split(".")[0] not in ("dask", "toolz", "cytoolz"):
        return []
    names = list(getattr(item, "__dict__", ()))
    for kind in type(item).__mro__:
        slots = vars(kind).get("__slots__", ())
        names += [slots] if isinstance(slots, str) else slots
    return [getattr(item, name, None) for name in names if not name.startswith("__")]


def _places(source: Any) -> List[str]:
    """The files and Zarr folders that contain the samples of an input or an array."""
    if _is_path(source):
        return [os.fsdecode(each) for each in _core.files_read(source, True)]
    if isinstance(getattr(source, "_frames", None), _core.Frames) and hasattr(source, "path"):
        return _places(source.path)
    mapped = _map_of(source)
    if mapped is not None:
        return [os.fsdecode(mapped.filename)]
    if _is_h5py(source):
        return [source.file.filename, *_places_of_h5py(source)]
    store = getattr(source, "store", None)  # of zarr; a store in memory has no path
    root: Any = getattr(store, "path", None) or getattr(store, "root", None)
    if _is_path(root):
        root = os.fsdecode(root)
        return [os.path.join(root, source.path) if os.path.isdir(root) else root]
    return []


def _is_in(inner: str, outer: str) -> bool:
    """True if `inner` and `outer` are the same file or folder, or `inner` is inside `outer`."""
    try:
        if os.path.samefile(inner, outer):
            return True
    except OSError:  # one of them is missing
        pass
    return os.path.realpath(inner).startswith(os.path.join(os.path.realpath(outer), ""))


def _in_files_of(out: Any, source: Any) -> bool:
    """True if an output is, or would replace, a file or folder that the input is read from."""
    if _is_path(out):
        path = os.fsdecode(out)
        places = [path]
        if path.endswith(".zarr") and not os.path.exists(path):
            return False  # a new folder, such as labels inside the store of their image
    else:
        places = _places(out)
    if not places:
        return False
    mapped, read = _map_of(out), _map_of(source)
    if mapped is not None and read is not None and mapped._mmap is read._mmap:
        return False  # their memory has already been compared
    if _is_h5py(out) and _is_h5py(source):  # a different dataset of the same file may be written
        if _datasets_of_h5py(out) & _datasets_of_h5py(source):
            return True
        if any(_is_in(source.file.filename, place) for place in _places_of_h5py(out)):
            return True
        inputs = _places_of_h5py(source)
    else:
        inputs = _places(source)
    return any(_is_in(place, each) or _is_in(each, place) for place in places for each in inputs)


def check_overlap(out: Any, source: Any, name: str) -> None:
    """Rejects an output that shares memory or a file with the input.

    Such an array would be overwritten, and such a file replaced, while the input is read.
    """
    if out is None or source is None:
        return
    out, source = contained(out), contained(source)
    if isinstance(source, (list, tuple)):
        for each in source:
            if _is_frame(each):
                check_overlap(out, each, name)
        return
    if any(_overlap(target, each, name) for target in _held(out) for each in _held(source)):
        raise InvalidTask(f"out shares memory with {name}")


def _overlap(out: Any, source: Any, name: str) -> bool:
    """True if two arrays, or the files that contain them, overlap. See `check_overlap`."""
    if _is_path(out):
        if _in_files_of(out, source):
            raise InvalidTask(f"out: {os.fsdecode(out)} is a file that {name} is read from, "
                              "expected another name")
        return False
    if out is source:
        return True
    if isinstance(out, np.ndarray):
        if (hasattr(source, "__array_interface__") or _has_buffer(source) or
                hasattr(source, "__array__") and not is_lazy(source)):
            try:
                if np.shares_memory(out, np.asarray(source), max_work=10_000):
                    return True
            except np.TooHardError:
                return True
    elif type(out) is type(source) and is_lazy(out) and (out == source) is True:
        return True  # for example, two h5py objects for the same dataset
    return _in_files_of(out, source)


def check_samples(out: Any) -> None:
    """Rejects an output that is not an array, has a mask, or has samples that overlap in memory."""
    if out is None:
        return
    try:
        np.dtype(out.dtype), out.shape, out.__setitem__
    except (AttributeError, TypeError):
        raise WrongType(f"out is a {type(out).__name__}, expected a NumPy, zarr or h5py "
                        "array") from None
    if isinstance(out, np.ma.MaskedArray):
        raise WrongType("out is a masked array, whose mask would hide samples that are written, "
                        "expected an array without a mask, such as out.data")
    if not isinstance(out, np.ndarray) or out.size == 0:
        return
    extent = out.itemsize
    for stride, length in sorted((abs(stride), length)
                                 for stride, length in zip(out.strides, out.shape) if length > 1):
        if stride < extent:
            raise InvalidTask(f"out has shape {out.shape} and strides {out.strides}: its samples "
                              "overlap in memory, so not all of them can be written")
        extent += stride * (length - 1)


def check_type_of(out: Any, dtype: str, labels: bool = False) -> None:
    """Rejects an output whose type cannot hold all results of type `dtype`.

    Labels may have any integer type of 32 bits or more.
    """
    kind, expected = np.dtype(out.dtype), np.dtype(dtype)
    if labels:
        holds = kind.kind in "iu" and kind.itemsize >= 4
    else:
        holds = (kind.kind in "buif" and kind.itemsize <= 8) and np.can_cast(expected, kind)
    if not holds:
        wider = " or a wider integer type" if labels else " or float64" if dtype == "f4" else ""
        raise WrongType(f"out has type {kind}, expected {expected}{wider}")


def array_output(out: Any, shape: Tuple[int, ...], dtype: np.dtype, gap: float,
                 fill: bool) -> Tuple[Any, Any, Optional[List[int]]]:
    """An output with any number of axes, the sink for its blocks, and the lengths of blocks.

    The sink is the output itself, or a function with the arguments start and block. `fill`: true
    if some samples will not be written; all samples are first set to `gap`.
    """
    if out is None:
        out = np.full(shape, gap, dtype) if fill else np.empty(shape, dtype)
        return out, out, [1] * len(shape)
    out, _in_place = checked_out(out, shape, dtype.str[1:], len(shape))
    if fill:
        for first in range(shape[0]):
            out[first] = gap
    in_memory = (isinstance(out, np.ndarray) and out.dtype == dtype and out.dtype.isnative and
                 all(stride % out.itemsize == 0 for stride in out.strides))
    if in_memory:
        return out, out, [1] * len(shape)

    def write(start: Tuple[int, ...], block: np.ndarray) -> None:
        out[tuple(slice(s, s + n) for s, n in zip(start, block.shape))] = block
    chunks = getattr(out, "chunks", None)
    chunk = None if chunks is None or any(isinstance(each, tuple) for each in chunks) else chunks
    return out, write, list(chunk) if chunk else [1] * len(shape)


Sink = Any


@functools.lru_cache(maxsize=64)
def _exceeds_float32(dtype: np.dtype) -> bool:
    return np.can_cast("f8", np.result_type(dtype, np.float32))


def computed_type(dtype: np.dtype, out: Any = None) -> str:
    """The type of results that are computed from samples, by the promotion rules of NumPy.

    float64 if float32 cannot hold all samples of the type, unless `out` is given and cannot hold
    float64; otherwise float32.
    """
    given = getattr(out, "dtype", None)
    return "f8" if _exceeds_float32(dtype) and (given is None or np.can_cast("f8", given)) else "f4"


def checked_out(out: Any, shape: Tuple[int, ...], dtype: str,
                 axes: Optional[int] = None) -> Tuple[Any, bool]:
    """The output (a new array by default), and True if it is an array that is written in place."""
    if out is None:
        out = np.empty(shape, dtype)
    check_samples(out)
    if tuple(getattr(out, "shape", ())) != tuple(shape):
        raise InvalidTask(f"out has shape {tuple(getattr(out, 'shape', ()))}, expected "
                          f"{tuple(shape)}")
    check_type_of(out, dtype, axes is None and dtype[0] in "iu")
    kind = np.dtype(out.dtype)
    if not isinstance(out, np.ndarray):
        return out, False
    if not out.flags.writeable:
        raise InvalidTask("out is read-only")
    return out, (kind == np.dtype(dtype) and out.strides[-1] == kind.itemsize and
                 min(out.strides) > 0)


def sink_for(out: Any, shape: Tuple[int, ...], dtype: str) -> Tuple[Any, Sink]:
    """The output, and the sink through which the extension writes rows of planes to it.

    Returns the array and a sink with the axes planes, height and width: the array itself, or a
    function for arrays whose rows are not contiguous, and for zarr and h5py arrays. `shape` has two
    axes, or three with planes first.
    """
    out, in_place = checked_out(out, shape, dtype)
    if isinstance(out, np.ndarray):
        planes = out if out.ndim == 3 else out[np.newaxis]
        if in_place:
            return out, planes

        def write(plane: int, first: int, rows: np.ndarray) -> None:
            planes[plane, first:first + len(rows)] = rows
        return out, write
    if len(shape) == 2:
        def write_rows(plane: int, first: int, rows: np.ndarray) -> None:
            out[first:first + len(rows)] = rows
        return out, write_rows

    def write_planes(plane: int, first: int, rows: np.ndarray) -> None:
        out[plane, first:first + len(rows)] = rows
    return out, write_planes


def volume_sinks_for(out: Any, shape: Tuple[int, ...], dtype: str) -> Tuple[Any, List[Sink]]:
    """The output and, for each of its volumes, the sink for whole planes.

    A sink is an array with the axes depth, height and width, or a function whose arguments are the
    index of the first plane and the planes.
    `shape` has three axes, or four with volumes first.
    """
    out, in_place = checked_out(out, shape, dtype)
    if in_place:
        return out, list(out if out.ndim == 4 else out[np.newaxis])

    def sink(*volume: int) -> Sink:
        def write(first: int, planes: np.ndarray) -> None:
            out[(*volume, slice(first, first + len(planes)))] = planes
        return write
    return out, [sink(k) for k in range(shape[0])] if len(shape) == 4 else [sink()]


def ranks_for(pixels: int, ranks: Optional[int], options: Any, comm: Any) -> int:
    """The number of threads among which an image is divided: one per tile of a grid, or per core.

    Small images use one thread, because starting threads would take longer than the work.
    """
    if comm is not None:
        if ranks is not None:
            raise InvalidTask("ranks has no effect: the ranks are those of comm")
        return 1
    if ranks is not None:
        return _core.whole_number("ranks", ranks, 1, 1024)
    grid = options.get("grid")
    if grid is not None:
        sides = grid.split("x") if isinstance(grid, str) and "x" in grid else (
            grid if isinstance(grid, (list, tuple, np.ndarray)) and np.shape(grid) in ((2,), (3,))
            else (grid, grid))
        try:
            return min(1024, max(1, math.prod(int(side) for side in sides)))
        except (TypeError, ValueError, OverflowError):
            return 1  # the check of the option reports the invalid value
    blocks = pixels // 65536
    return 1 if blocks < 2 else min(_core.cores(), blocks)


Options = TypeVar("Options")

#: The options of recent calls, by class, names, values and types of values. They never change.
_parsed: Dict[Any, Any] = {}
_MOST_PARSED = 64


def parsed(make: Callable[[Dict[str, Any]], Options], options: Mapping[str, Any]) -> Options:
    """The keywords of a function as options of the extension. Caches those of recent calls."""
    values = []
    for value in options.values():
        if type(value) in (list, tuple) and all(type(part) is str for part in value):
            value = tuple(value)
        elif type(value) not in (str, int, bool) and (type(value) is not float or not value):
            return make(dict(options))  # not hashable, or equal to a value with another meaning
        values.append(value)
    key = (make, *options, *values, *map(type, values))
    found: Optional[Options] = _parsed.get(key)
    if found is None:
        found = make(dict(options))
        if len(_parsed) >= _MOST_PARSED:
            _parsed.clear()
        _parsed[key] = found
    return found


Progress = Union[bool, Callable[[str, int, int], object], None]


def progress_for(progress: Progress) -> Optional[Callable[[str, int, int], object]]:
    """The callable that `progress` stands for: itself, None, or a tqdm progress bar for True."""
    if progress is None or progress is False:
        return None
    if progress is True:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            raise InvalidTask("progress=True needs tqdm (python3-tqdm); pass a function of part, "
                              "done, all instead") from None
        bar = tqdm(leave=False)

        def show(part: str, done: int, all: int) -> None:
            bar.desc, bar.total, bar.n = part, all, done
            bar.refresh()
        return show
    if not callable(progress):
        raise WrongType(f"progress is {progress!r}, expected a function of part, done, all; True; "
                        "or None")
    return progress


def check_comm(comm: Any) -> None:
    """Rejects objects that are not communicators, and processes forked after MPI_Init()."""
    if comm is not None and not hasattr(comm, "Get_rank"):
        raise WrongType(f"comm is {comm!r}, expected an mpi4py communicator, or None")
    if comm is not None:
        _core.check_comm(comm)
    if comm is not None and not comm:
        raise InvalidTask("comm is MPI.COMM_NULL: this process is not in the communicator")
    if comm is not None and _forked_after_mpi:
        raise InvalidTask("this process was forked after MPI was initialised, so it cannot use a "
                          "communicator: start it with mpirun, or fork before importing mpi4py.MPI")


@contextmanager
def agreed(comm: Any, function: str, options: Mapping[str, Any],
           called: Optional[str] = None) -> Iterator[None]:
    """Runs code that may fail on some ranks. If it fails, all ranks raise an exception.

    With a communicator, this also checks the options of `function`, and that all ranks call the
    same function, whose name in errors is `called`. This must be the first use of the communicator
    in a function: calls of different functions are detected only if all ranks reach this check.
    """
    check_comm(comm)
    if comm is None:
        yield
        return
    error: Optional[BaseException] = None
    try:
        _core.check_options(function, dict(options))
        yield
    except BaseException as raised:  # raised again below, when all ranks know of it
        error = raised
    calls = comm.allgather((called or function,
                            None if error is None else f"{type(error).__name__}: {error}"))
    if error is not None and not isinstance(error, Exception):  # such as KeyboardInterrupt
        raise error
    first = calls[0][0]
    for rank, (other, _) in enumerate(calls):
        if other != first:
            raise InvalidTask(f"ranks call different functions: rank 0 calls {first}, rank {rank} "
                              f"calls {other}") from error
    if error is not None:
        raise error
    for rank, (_, text) in enumerate(calls):
        if text is not None:
            raise RunFailed(f"rank {rank}: {text}")


@contextmanager
def fails_on_all_ranks(comm: Any, function: str, called: Optional[str] = None) -> Iterator[None]:
    """Runs code before `agreed`. If it fails on some ranks, all ranks raise the error."""
    try:
        yield
    except Exception as error:
        with agreed(comm, function, {}, called):
            raise error


_forked_after_mpi = False


def _after_fork() -> None:
    global _forked_after_mpi
    import sys
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is not None and mpi.Is_initialized():
        _forked_after_mpi = True


os.register_at_fork(after_in_child=_after_fork)
