# SPDX-License-Identifier: BSD-3-Clause
"""Parallel image computing: NumPy arrays in and out, on threads or over MPI.

Functions have the names, options and defaults of the commands of ``sextant``:

>>> import numpy as np, sextant
>>> image = np.zeros((4, 6)); image[1, 2:4] = 1
>>> sextant.label(image).components
1
"""
import importlib
from typing import Any, List

from . import errors
try:
    from ._core import version as _version
except ModuleNotFoundError as _error:
    if _error.name != f"{__name__}._core":
        raise
    raise ImportError(errors.why_not_built(__path__[0])) from None
from ._results import Plan
from .compositing import Composite, composite
from .errors import (CommunicationFailed, Error, InvalidFile, InvalidKeyword, InvalidTask,
                     NoSuchFile, PeerFailed, RunFailed, WrongType)
from .images import (Contours, Filtered, Labels, canny, contours, features, filter, label,
                     measure)
from .machine import Calibration, Simulation, calibrate, explain, simulate, synthesize
from .registration import Registration, Transforms, apply, register
from .scanning import scan
from .series import Info, Series, info, open_series
from .stitching import Stitched, stitch

__version__: str = _version()

__all__ = [
    "Calibration", "CommunicationFailed", "Composite", "Contours", "Error", "Filtered", "Info",
    "InvalidFile", "InvalidKeyword", "InvalidTask", "Labels", "NoSuchFile", "PeerFailed",
    "Plan", "Registration", "RunFailed", "Series", "Simulation", "Stitched", "Transforms",
    "WrongType", "apply", "calibrate", "canny", "composite", "contours", "errors", "explain",
    "features", "filter", "info", "label", "measure", "open_series", "register", "scan",
    "simulate", "stitch", "synthesize",
]

_LAZY = ("dask", "hyperspy")  # submodules that import other packages


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> List[str]:
    return [*__all__, *_LAZY, "__doc__", "__version__"]

