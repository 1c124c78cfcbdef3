# SPDX-License-Identifier: BSD-3-Clause
"""Measures this machine, and predicts and simulates what runs on it would take."""
from __future__ import annotations

import html
import json
import os
import signal
import subprocess
import sys
import warnings as _warnings
from typing import Any, Dict, List, Mapping
from typing import Unpack

from ._documented import documented
from ._options import CalibrateOptions, ExplainOptions, SimulateOptions
from ._results import Plan, _axes, _facts_html, _seconds_text, plan_of
from .errors import Error, InvalidTask

__all__ = ["Calibration", "Simulation", "calibrate", "explain", "simulate"]


def _run(name: str, options: Mapping[str, Any]) -> Dict[str, Any]:
    """The JSON that a command writes."""
    from . import _command
    for output in ("json", "report"):
        if options.get(output) is not None:
            raise InvalidTask(f"{output} has no effect: the results are returned")
    code, text, notes = _command.run(name, {**options, "json": "-"})
    for note in notes:
        _warnings.warn(note.removeprefix("warning: "), stacklevel=4)
    if code:
        raise Error(f"{name} ended with code {code}")
    found: Dict[str, Any] = json.loads(text)
    return found


@documented(ExplainOptions)
def explain(what: str = "composite", **options: Unpack[ExplainOptions]) -> Plan:
    """Show which algorithm would be chosen, and why.

    Parameters
    ----------
    what : {"composite", "filter", "scan"}
        The operation to plan.
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
        """Draw the time at which each rank finishes by matplotlib, and return the axes."""
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
        A family of schedules, such as ``"compositing"`` (``sextant list algorithms``).
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

    The measurement runs in a process of its own, so that Ctrl-C ends it at once.

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
    from . import _command
    _command.check("calibrate", dict(options))
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
    lines = [_command.with_keywords("calibrate", line.removeprefix("sextant: "))
             for line in complaints.splitlines() if line]
    if process.returncode:
        message = "\n".join(line for line in lines if not line.startswith("warning: "))
        raise (InvalidTask if process.returncode == 2 else Error)(message)
    for line in lines:
        if line.startswith("warning: "):
            _warnings.warn(line.removeprefix("warning: "), stacklevel=3)
    return Calibration(json.loads(text))

