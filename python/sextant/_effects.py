# SPDX-License-Identifier: BSD-3-Clause
"""States when keywords have an effect, if this depends on the inputs of a call from Python.

What depends only on other options is stated next to the options in C++ (core/effects.hpp). Keywords
without effect are rejected, not ignored.
"""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Tuple

import numpy as np

from .errors import InvalidTask

#: Keywords, the reason why they have no effect, and a function that is true if they have an effect.
#: Its argument contains the values of all keywords, and further facts from the caller.
Effect = Tuple[Tuple[str, ...], str, Callable[[Mapping[str, Any]], Any]]


def _never(_: Mapping[str, Any]) -> bool:
    return False


def _has_ranks(v: Mapping[str, Any]) -> bool:
    """True if tiles are divided among ranks, including a communicator with a single rank."""
    return v["comm"] is not None or bool(v["tiles"] > 1)


_MERGING: Effect = (("pattern", "machine", "probe"),
                    "one rank has no tiles to merge: expected ranks or grid", _has_ranks)

_TIMELINE: Effect = (("timeline",), "timelines are not returned", _never)

_MEASURES: Effect = (("intensity", "columns"), "add measure=True", lambda v: v["measure"])

_EFFECTS: Dict[str, List[Effect]] = {
    "label": [
        _MERGING, _TIMELINE, _MEASURES,
        (("intensity",), "not supported for tiles: omit grid and pattern",
         lambda v: v.get("grid") is None and v["pattern"] == "auto")],
    "label of a volume": [_TIMELINE, _MEASURES],
    "dask.label": [(("measure",), "tables are not returned: call sextant.measure", _never)],
    "filter": [
        (("machine", "distribute", "probe"), "nothing to plan for one rank: expected ranks or grid",
         _has_ranks)],
    "contours": [_MERGING, _TIMELINE],
    "contours in memory": [
        (("scratch",), "the image fits in memory", lambda v: v["strips"] > 1)],
    "canny": [_MERGING],
    "composite": [
        (("algorithm", "radices", "window", "sparse", "interlace", "density", "machine", "probe"),
         "the plan file specifies it", lambda v: v.get("plan") is None),
        (("machine", "probe"), "the algorithm is given", lambda v: v["algorithm"] == "auto"),
        (("root",), "the image is returned: expected comm", lambda v: v["comm"] is not None),
        (("fragments",), "images are flat", _never),
        (("frames",), "a call composites one frame", _never),
        (("trace",), "traces are not returned", _never)],
    "scan": [
        (("capacity", "algorithm", "k", "gives_last", "association"),
         "there is one rank: expected comm", lambda v: v["comm"] is not None),
        (("k",), "expected algorithm=\"ladner-fischer\"",
         lambda v: v["algorithm"] == "ladner-fischer"),
        (("strategy",), "there is one rank with one thread: expected comm or threads",
         lambda v: v["comm"] is not None or v["threads"] > 1),
        (("association",), "threads combine values in order", lambda v: v["threads"] == 1),
        (("boundaries",), "there is one thread per rank: expected threads",
         lambda v: v["threads"] > 1),
        (("trace",), "traces are not returned", _never),
        (("names_elements",), "exceptions of op are raised unchanged", _never),
        (("commutative_samples",), "op need not be commutative", _never)],
    "register": [
        (("restart",), "expected checkpoint", lambda v: v.get("checkpoint") is not None)],
    "stitch": [
        (("allow_gaps",), "one array has no gaps: expected size, or several blocks",
         lambda v: v["is_list"] or v.get("size") is not None)],
    "apply": [
        (("channel", "slice"), "data is not a file", lambda v: v["is_file"]),
        (("frame",), "each point has a frame number", lambda v: not v["is_points"]),
        (("from_reference",), "data is not an array of points", lambda v: v["is_points"]),
        (("out", "axes", "by", "sum", "dtype", "memory"), "data is an array of points",
         lambda v: not v["is_points"]),
        (("zarr",), "out is not the path of a store (.zarr)", lambda v: v["is_store"])],
    "explain": [(("all",), "all candidates are returned", _never)],
}


def _is_given(value: Any, default: Any) -> bool:
    if default is None:
        return value is not None and value is not False
    return value is not None and not np.array_equal(value, default)


def check_effects(function: str, options: Mapping[str, Any], defaults: Mapping[str, Any],
                  **facts: Any) -> None:
    """Rejects a keyword that differs from its default but has no effect here.

    `facts`: other keywords of the function, and further facts that the effects depend on.
    """
    given = {**{name: value for name, value in options.items()
                if value is not None and (name, value) != ("probe", "off")}, **facts}
    values = {**defaults, **given}
    for names, why, has_effect in _EFFECTS[function]:
        for name in names:
            if (name in given and _is_given(given[name], defaults.get(name))
                    and not has_effect(values)):
                raise InvalidTask(f"{name} has no effect here: {why}")
