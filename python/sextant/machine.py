# SPDX-License-Identifier: BSD-3-Clause
"""Measures this machine, predicts and simulates run times, and synthesizes series."""
from __future__ import annotations

import html
import json
import os
import signal
import subprocess
import sys
import tempfile
import warnings as _warnings
from typing import Any, Dict, List, Mapping, Tuple
from typing import Unpack

import numpy as np

from . import _core
from ._documented import documented
from ._effects import check_effects
from ._options import DEFAULTS, CalibrateOptions, ExplainOptions, SimulateOptions, SynthesizeOptions
from ._results import Plan, _axes, _facts_html, _seconds_text, plan_of
from .errors import Error, InvalidTask

__all__ = ["Calibration", "Simulation", "calibrate", "explain", "simulate", "synthesize"]


def _run(name: str, options: Mapping[str, Any]) -> Dict[str, Any]:
    """The JSON that a command writes."""
    for output in ("json", "report"):
        if options.get(output) is not None:
            raise InvalidTask(f"{output} has no effect: the results are returned")
    if name == "explain":
        check_effects(name, options, DEFAULTS[ExplainOptions])
    code, text, notes = _core.run_command(name, {**options, "json": "-"})
    for note in notes:
        _warnings.warn(note.removeprefix("warning: "), stacklevel=4)
    if code:
        raise Error(f"{name} ended with code {code}")
    found: Dict[str, Any] = json.loads(text)
    return found


@documented(SynthesizeOptions)
def synthesize(**options: Unpack[SynthesizeOptions]) -> Tuple[np.ndarray, np.ndarray]:
    """Make a series of noisy frames of a moving specimen with known motions.

    Parameters
    ----------
    {options}

    Returns
    -------
    ndarray of float32
        Electron counts, with the axes frames, height and width.
    structured ndarray
        The true motion of the content of each frame relative to frame 0, as in
        ``sextant.register(...).frames``: ``frame``, ``tx``, ``ty`` and ``alpha``.

    Examples
    --------
    >>> import sextant
    >>> movie, truth = sextant.synthesize(frames=3, width=96, height=64, drift_x=2, random_step=0)
    >>> movie.shape, truth["tx"].tolist()
    ((3, 64, 96), [0.0, 2.0, 4.0])
    """
    with tempfile.TemporaryDirectory() as folder:
        path, truth = os.path.join(folder, "movie.npy"), os.path.join(folder, "truth.json")
        _core.run_command("synthesize", {**options, "output": path, "truth": truth})
        with open(truth, encoding="utf-8") as file:
            frames = json.load(file)["frames"]
        motions = [(each["frame"], each["to_first"]["tx"], each["to_first"]["ty"],
                    np.degrees(each["to_first"]["alpha_rad"])) for each in frames]
        return np.load(path), np.array(motions, [("frame", "i8"), ("tx", "f8"), ("ty", "f8"),
                                                 ("alpha", "f8")])


@documented(ExplainOptions)
def explain(what: str = "composite", **options: Unpack[ExplainOptions]) -> Plan:
    """Show which algorithm would be chosen, and why.

    Parameters
    ----------
    what : {"composite", "filter", "scan", "collective", "label", "contours", "apply", "register"}
        The operation to plan. ``details["assumptions"]`` of the result states what the
        predictions assume.
    {options}

    Returns
    -------
    Plan

    Examples
    --------
    >>> import sextant
    >>> plan = sextant.explain("composite", ranks=8, size=(256, 256), machine="das")
    >>> plan.predicted > 0
    True
    """
    found = _run("explain", {**options, "what": what})
    return plan_of(found.get("plan", found))


class Simulation:
    """A simulated run: the time of the whole run and of each rank, in seconds."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        self.record = dict(found)
        self.seconds: float = found["seconds"]
        self.finished: List[float] = list(found["finished"])
        self.algorithm: str = found["algorithm"]

    def __repr__(self) -> str:
        return f"<Simulation of {self.algorithm}: {_seconds_text(self.seconds)}>"

    def _repr_html_(self) -> str:
        return _facts_html([("Schedule", self.algorithm), ("Ranks", len(self.finished)),
                            ("Platform", self.record.get("platform")),
                            ("Time", _seconds_text(self.seconds))])

    def plot(self, axes: Any = None) -> Any:
        """Draw, with matplotlib, the time at which each rank finishes, and return the axes."""
        axes = _axes(axes)
        axes.bar(range(len(self.finished)), [1e3 * each for each in self.finished], width=1)
        axes.set_xlabel("rank")
        axes.set_ylabel("finished after (ms)")
        return axes


@documented(SimulateOptions)
def simulate(family: str, **options: Unpack[SimulateOptions]) -> Simulation:
    """Simulate a schedule on a network, with link contention.

    Parameters
    ----------
    family : str
        A family of schedules, such as ``"compositing"`` (``sextant list algorithms``), or a file with a schedule.
    {options}

    Returns
    -------
    Simulation

    Examples
    --------
    >>> import sextant
    >>> run = sextant.simulate("compositing", algorithm="shift-based", ranks=16, clock=True,
    ...                        platform="fat-tree-144-calibrated")
    >>> len(run.finished)
    16
    """
    return Simulation(_run("simulate", {**options, "family": family}))


class Calibration:
    """A measured profile of this machine."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        self.record = dict(found)
        self.states: List[Dict[str, Any]] = list(found["states"])

    @property
    def path(self) -> str:
        """The file of the profile, for the option `machine` of other functions."""
        return str(self.states[0]["file"])

    def __repr__(self) -> str:
        first = self.states[0]
        return (f"<Calibration {first['name']}: {first['values']} values, round trip of 64 KiB "
                f"{_seconds_text(first['probe_round_trip'])}>")

    def _repr_html_(self) -> str:
        return "".join(_facts_html(list(state.items())) for state in self.states) or html.escape("-")


@documented(CalibrateOptions)
def calibrate(**options: Unpack[CalibrateOptions]) -> Calibration:
    """Measure messages and computation on this machine, and write its profile.

    The measurement runs in a separate process, so that Ctrl-C ends it immediately.

    Parameters
    ----------
    {options}

    Returns
    -------
    Calibration

    Examples
    --------
    >>> import sextant, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "here.json")
    >>> found = sextant.calibrate(output=path, budget="300ms", launches=1)
    >>> found.path == path
    True
    """
    _core.check_command("calibrate", dict(options))
    words = [sys.executable, "-m", "sextant", "calibrate", "--json", "-"]
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            words += [option, str(value)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    try:
        text, complaints = process.communicate()
    except BaseException:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()
        raise
    lines = [_core.with_keywords("calibrate", line.removeprefix("sextant: "))
             for line in complaints.splitlines() if line]
    if process.returncode:
        message = "\n".join(line for line in lines if not line.startswith("warning: "))
        raise (InvalidTask if process.returncode == 2 else Error)(message)
    for line in lines:
        if line.startswith("warning: "):
            _warnings.warn(line.removeprefix("warning: "), stacklevel=3)
    return Calibration(json.loads(text))

