# SPDX-License-Identifier: BSD-3-Clause
"""The objects that functions return, such as plans, and their display in notebooks."""
from __future__ import annotations

import base64
import html
import json
import struct
import zlib
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from . import _core
from .errors import InvalidTask, WrongType

__all__ = ["ArrayLike", "ArrayResult", "Plan", "Result", "Shown"]


def _seconds_text(seconds: Optional[float]) -> str:
    if seconds is None:
        return ""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def _contrast(image: np.ndarray) -> Tuple[float, float]:
    """The values that are shown as black and as white."""
    finite = image[np.isfinite(image)]
    low, high = np.percentile(finite, (0.5, 99.5)) if finite.size else (0.0, 1.0)
    return float(low), float(high if high > low else low + 1)


def _png(image: np.ndarray, most: int = 480,
         contrast: Optional[Tuple[float, float]] = None) -> bytes:
    """An image as PNG, reduced to at most `most` pixels per side: grey, or RGBA."""
    image = np.asarray(image)
    step = max(1, -(-max(image.shape[:2]) // most))
    image = image[::step, ::step]
    if image.ndim == 2:
        low, high = contrast or _contrast(image)
        scaled = np.clip((image.astype("f8") - low) / (high - low), 0, 1)
        pixels = (np.nan_to_num(scaled) * 255 + 0.5).astype("u1")[..., np.newaxis]
    elif image.dtype == np.uint8:
        pixels = image[..., :4]
    else:
        pixels = (np.clip(np.nan_to_num(image[..., :4].astype("f8")), 0, 1) * 255 + 0.5).astype("u1")
    height, width, channels = pixels.shape
    lines = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(pixels))

    def chunk(name: bytes, data: bytes) -> bytes:
        return (struct.pack(">I", len(data)) + name + data +
                struct.pack(">I", zlib.crc32(name + data)))
    colour = {1: 0, 3: 2, 4: 6}[channels]
    return (b"\x89PNG\r\n\x1a\n" +
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(lines, 6)) + chunk(b"IEND", b""))


def _image_html(image: np.ndarray, caption: str, most: int = 480) -> str:
    data = base64.b64encode(_png(image, most)).decode()
    return (f'<figure style="display:inline-block;margin:0 1em 1em 0"><img alt="{html.escape(caption)}" '
            f'src="data:image/png;base64,{data}"><figcaption>{html.escape(caption)}</figcaption>'
            '</figure>')


def _facts_html(facts: Sequence[Tuple[str, Any]]) -> str:
    rows = "".join(f"<tr><th style='text-align:left'>{html.escape(str(name))}</th>"
                   f"<td style='text-align:left'>{html.escape(str(value))}</td></tr>"
                   for name, value in facts if value not in (None, ""))
    return f"<table>{rows}</table>"


def _axes(axes: Any) -> Any:
    """The given matplotlib axes, or new ones."""
    if axes is not None:
        return axes
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plots need matplotlib (python3-matplotlib)") from None
    return plt.subplots()[1]


class Plan:
    """The configuration that was chosen for a run, and why.

    Attributes
    ----------
    text : str
        The configuration, such as ``"radix-k, radices 8,4"``.
    reason : str
        Why it was chosen.
    predicted : float or None
        The predicted time in seconds, if there was a choice.
    measured : float or None
        The measured time in seconds of the part that the prediction describes.
    machine, model : str
        The machine profile and the cost model of the prediction.
    alternatives : list of dict
        The other configurations, with their predictions.
    details : dict
        All fields of the plan, as in the JSON that the commands write.
    """

    def __init__(self, text: str, reason: str, *, predicted: Optional[float] = None,
                 measured: Optional[float] = None, machine: str = "", model: str = "",
                 alternatives: Sequence[Mapping[str, Any]] = (),
                 details: Optional[Mapping[str, Any]] = None) -> None:
        self.text, self.reason = text, reason
        self.predicted, self.measured = predicted, measured
        self.machine, self.model = machine, model
        self.alternatives: List[Dict[str, Any]] = [dict(each) for each in alternatives]
        self.details: Dict[str, Any] = dict(details or {})

    def __repr__(self) -> str:
        return f"<Plan {self.text}: {self.reason}>"

    @staticmethod
    def _name_of(alternative: Mapping[str, Any]) -> str:
        for key in ("name", "text", "pattern"):
            if alternative.get(key):
                return str(alternative[key])
        parts = [str(alternative.get("algorithm", ""))]
        if alternative.get("radices"):
            parts.append("radices " + ",".join(str(each) for each in alternative["radices"]))
        if alternative.get("window"):
            parts.append(f"window {alternative['window']}")
        if "columns" in alternative:
            parts.append(f"{alternative['columns']}x{alternative['rows']} tiles")
            parts += [str(alternative[key]) for key in ("distribute", "collect")
                      if alternative.get(key)]
        return ", ".join(part for part in parts if part)

    @staticmethod
    def _time_of(alternative: Mapping[str, Any]) -> Optional[float]:
        found = alternative.get("seconds")
        if found is None and isinstance(alternative.get("predicted"), Mapping):
            found = alternative["predicted"].get("seconds")
        return None if found is None else float(found)

    def _repr_html_(self) -> str:
        facts = [("Chosen", self.text), ("Why", self.reason),
                 ("Predicted", _seconds_text(self.predicted)),
                 ("Measured", _seconds_text(self.measured)), ("Machine", self.machine),
                 ("Model", self.model)]
        text = _facts_html(facts)
        if self.alternatives:
            rows = "".join(
                f"<tr><td style='text-align:left'>{html.escape(self._name_of(each))}</td>"
                f"<td>{html.escape(_seconds_text(self._time_of(each)))}</td></tr>"
                for each in self.alternatives[:12])
            text += ("<table><tr><th style='text-align:left'>Configuration</th>"
                     f"<th>Predicted</th></tr>{rows}</table>")
        return text

    def plot(self, axes: Any = None) -> Any:
        """Draw the predicted times of the configurations, the chosen one first.

        Parameters
        ----------
        axes : matplotlib.axes.Axes, optional
            Where to draw; new axes by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        axes = _axes(axes)
        timed = [(self._name_of(each), self._time_of(each)) for each in self.alternatives]
        shown = [(name, time) for name, time in timed if time is not None][:12]
        if not shown:
            shown = [(self.text, self.predicted or 0.0)]
        names, times = zip(*shown)
        places = range(len(names))
        axes.barh(places, [1e3 * time for time in times],
                  color=["tab:blue"] + ["lightgray"] * (len(names) - 1))
        axes.set_yticks(places, names)
        axes.invert_yaxis()
        axes.set_xlabel("predicted time (ms)")
        if self.measured is not None:
            axes.axvline(1e3 * self.measured, color="tab:orange", label="measured")
            axes.legend()
        return axes


def plan_of(json_plan: Mapping[str, Any], measured: Optional[float] = None,
            text: str = "") -> Plan:
    """The plan in a record."""
    predicted = json_plan.get("predicted")
    seconds = predicted.get("seconds") if isinstance(predicted, Mapping) else predicted
    alternatives = json_plan.get("alternatives") or json_plan.get("candidates") or []
    if seconds is None and alternatives:
        seconds = Plan._time_of(alternatives[0])
    return Plan(text or str(json_plan.get("choice") or Plan._name_of(json_plan)), str(json_plan.get("reason", "")),
                predicted=seconds, measured=measured, machine=str(json_plan.get("machine") or ""),
                model=str(json_plan.get("model") or ""), alternatives=alternatives,
                details=json_plan)


class Page(str):
    """A self-contained HTML page. A notebook shows it in a frame."""

    def _repr_html_(self) -> str:
        fit = "this.style.height=this.contentDocument.documentElement.scrollHeight+'px'"
        return (f'<iframe srcdoc="{html.escape(self)}" onload="{fit}" '
                'style="width:100%;height:45em;border:0"></iframe>')


class Shown:
    """Base class of results that have a page. A notebook shows a summary and a small image."""

    _title = "Sextant"
    #: The part of the run that the prediction of the plan describes.
    _compared = "this part of the run"

    plan: Any  # a Plan; declared by derived classes as a property

    def _facts(self) -> List[Tuple[str, Any]]:
        return []

    def _images(self) -> List[Tuple[np.ndarray, str]]:
        return []

    def _content(self) -> Dict[str, Any]:
        """The content of the page; see python/src/page.cpp."""
        plan: Plan = self.plan
        facts = [*self._facts(), ("Plan", plan.text), ("Why", plan.reason),
                 ("Predicted", _seconds_text(plan.predicted)),
                 ("Measured", _seconds_text(plan.measured)), ("Machine", plan.machine)]
        timed: List[Tuple[str, Optional[float], Optional[float]]] = [
            (plan._name_of(each), plan._time_of(each), None) for each in plan.alternatives]
        if timed and plan.measured is not None:
            timed[0] = (timed[0][0], timed[0][1], plan.measured)
        found: Dict[str, Any] = {
            "title": f"Sextant: {self._title}", "subtitle": repr(self)[1:-1].partition(" ")[2],
            "facts": [(name, str(value)) for name, value in facts if value not in (None, "")],
            "pictures": [(_png(image, 1024), caption, caption) for image, caption in self._images()]}
        if len(timed) > 1:
            found["alternatives"] = timed
            model = f"predicted by {plan.model}" if plan.model else "predicted"
            machine = f" on {plan.machine}" if plan.machine else ""
            found["compared"] = f"{model}{machine}; measured: {self._compared}"
        return found

    def page(self) -> Page:
        """Return the result as a self-contained HTML page, which a notebook shows."""
        return Page(_core.page(self._content()))

    def _repr_html_(self) -> str:
        small = 200
        pictures = "".join(_image_html(image, caption, small)
                           for image, caption in self._images()[:1])
        return (f"<div>{html.escape(repr(self)[1:-1])} (<code>page()</code> shows the report)</div>"
                f"{pictures}")


class Result(Shown):
    """Base class of results of operations.

    Attributes
    ----------
    record : dict
        All declared fields of the result, as in the JSON that the command writes.
    """

    def __init__(self, record: Any) -> None:
        self._lazy = record
        self._record: Optional[Dict[str, Any]] = None

    def __getstate__(self) -> Dict[str, Any]:
        return {**vars(self), "_record": self.record, "_lazy": None}

    @property
    def record(self) -> Dict[str, Any]:
        """All declared fields of the result, as in the JSON that the command writes."""
        if self._record is None:
            self._record = json.loads(self._lazy.json())
        return self._record

    @property
    def plan(self) -> Plan:
        """The configuration that was used, and why."""
        return plan_of(self.record.get("plan") or {})

    @property
    def seconds(self) -> Dict[str, float]:
        """The times of the parts of the run on this rank."""
        return dict(self.record.get("seconds") or {})

    def _content(self) -> Dict[str, Any]:
        return {**super()._content(), "phases": list(self.seconds.items())}


#: Public attributes of arrays.
_OF_ARRAYS = frozenset(name for name in dir(np.ndarray) if not name.startswith("_"))


#: Array methods that modify the array.
_CHANGING = frozenset({"fill", "itemset", "partition", "put", "resize", "setfield", "setflags",
                       "sort"})


#: Array attributes that modify the samples when they are set.
_SET_IN_PLACE = frozenset({"flat", "real", "imag"})


_COMPARISONS = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)


class ArrayLike(NDArrayOperatorsMixin):
    """Base class of objects that contain an array and behave like this array.

    Operators, comparisons, indices, the functions of NumPy, and the attributes and methods of
    `numpy.ndarray` act on the array. Like an array, such an object is not hashable.
    """

    __hash__ = None  # type: ignore[assignment]

    def _held(self) -> Any:
        """The array, which may be a zarr or h5py array. Raises an exception if there is none."""
        raise NotImplementedError

    def _changeable(self) -> np.ndarray:
        """The array, for changes in place."""
        held = self._held()
        if not isinstance(held, np.ndarray):
            raise WrongType(f"{type(self).__name__} holds a {type(held).__name__}, which cannot be "
                            "changed in place: np.asarray returns a copy that can be changed")
        return held

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray:
        held = self._held()
        array = np.asarray(held, dtype=dtype)
        if copy is False and array is not held:
            raise ValueError("the array must be copied, but copy is False")
        return np.array(array) if copy and array is held else array

    def __array_ufunc__(self, ufunc: Callable[..., Any], method: str, *inputs: Any,
                        out: Tuple[Any, ...] = (), **keywords: Any) -> Any:
        def plain(each: Any) -> Any:
            return np.asarray(each) if isinstance(each, ArrayLike) else each
        arrays = [plain(each) for each in inputs]
        if method == "at" and isinstance(inputs[0], ArrayLike):
            arrays[0] = inputs[0]._changeable()
        if out:
            keywords["out"] = tuple(each._changeable() if isinstance(each, ArrayLike) else each
                                    for each in out)
        try:
            result = getattr(ufunc, method)(*arrays, **keywords)
        except TypeError:
            if ufunc not in _COMPARISONS:
                raise
            kinds = " and a ".join(type(each).__name__ for each in inputs)
            raise WrongType(f"a {kinds} cannot be compared: expected numbers") from None
        return out[0] if len(out) == 1 else result

    def __dlpack__(self, *, stream: Any = None, **options: Any) -> Any:
        return np.asarray(self).__dlpack__(stream=stream, **options)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return np.asarray(self).__dlpack_device__()

    def __pow__(self, exponent: Any) -> Any:
        return np.asarray(self) ** exponent  # which NumPy computes more exactly than np.power

    def __getattr__(self, name: str) -> Any:
        if name not in _OF_ARRAYS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._changeable() if name in _CHANGING else np.asarray(self), name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _SET_IN_PLACE:
            setattr(self._changeable(), name, value)
        elif name in _OF_ARRAYS and not hasattr(type(self), name):
            raise AttributeError(f"{name} of {type(self).__name__!r} object cannot be set: the "
                                 "array has an attribute of this name")
        else:
            super().__setattr__(name, value)

    def __dir__(self) -> List[str]:
        return sorted({*super().__dir__(), *_OF_ARRAYS})

    @property
    def shape(self) -> Tuple[int, ...]:
        """The lengths of the axes of the array."""
        return tuple(self._held().shape)

    @property
    def ndim(self) -> int:
        """The number of axes of the array."""
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype:
        """The type of the samples of the array."""
        return np.dtype(self._held().dtype)

    def __getitem__(self, index: Any) -> Any:
        return self._held()[index]

    def __setitem__(self, index: Any, values: Any) -> None:
        self._held()[index] = values

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._held())

    def __contains__(self, value: Any) -> bool:
        found = np.asarray(value)
        if found.dtype.kind not in "buifc":
            raise WrongType(f"{type(self).__name__} cannot be searched for a "
                            f"{type(value).__name__}, expected a number")
        return bool(np.equal(np.asarray(self), found).any())

    def __bool__(self) -> bool:
        if np.prod(self.shape) != 1:
            raise ValueError(f"{type(self).__name__} has shape {self.shape}, whose truth "
                             "value is ambiguous: use any() or all()")
        return bool(np.asarray(self))


class ArrayResult(ArrayLike, Result):
    """Base class of results that behave like the array in the attribute that `_array` names."""

    _array: str

    def _held(self) -> Any:
        held = vars(self).get(self._array)
        if held is None:
            raise InvalidTask(f"{type(self).__name__}.{self._array} is None on this rank, expected "
                              "an array: only the root has it")
        return held
