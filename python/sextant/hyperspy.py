# SPDX-License-Identifier: BSD-3-Clause
"""Aligns hyperspy signals, which keep their axes and metadata.

>>> import sextant.hyperspy                         # doctest: +SKIP
>>> aligned = sextant.hyperspy.align2D(signal)      # doctest: +SKIP
"""
from __future__ import annotations

from typing import Any, Optional

import numpy as np
from typing import Unpack

from . import _core
from ._arrays import Progress
from ._documented import documented
from ._options import RegisterOptions
from .errors import InvalidTask, WrongType
from .registration import Registration, Transforms, apply, register

__all__ = ["align2D", "registered"]


def _check(signal: Any) -> None:
    axes = getattr(signal, "axes_manager", None)
    if axes is None:
        raise WrongType(f"signal is a {type(signal).__name__}, expected a hyperspy signal")
    if axes.signal_dimension != 2 or axes.navigation_dimension != 1:
        raise InvalidTask(f"signal has {axes.navigation_dimension} navigation and "
                          f"{axes.signal_dimension} signal axes, expected 1 and 2: a series of "
                          "images")


@documented(RegisterOptions)
def registered(signal: Any, **options: Unpack[RegisterOptions]) -> Registration:
    """Register the images of a signal, without aligning them.

    Parameters
    ----------
    signal : hyperspy.signals.Signal2D
        A series of images, in memory or lazy.
    **options
        As in `sextant.register`.

    Returns
    -------
    sextant.Registration
    """
    _check(signal)
    return register(signal.data, **options)


@documented(RegisterOptions)
def align2D(signal: Any, *, by: Any = None, inplace: bool = False, comm: Any = None,
            ranks: Optional[int] = None, progress: Progress = None,
            **options: Unpack[RegisterOptions]) -> Any:
    """Align the images of a signal.

    Parameters
    ----------
    signal : hyperspy.signals.Signal2D
        A series of images, in memory or lazy. The images of a lazy signal are read a few chunks at
        a time; the aligned images are in memory.
    by : hyperspy.signals.Signal2D or sextant.Registration, optional
        Align the images by the motions of another signal of as many images of the same size, such
        as that of a second detector, or by a registration.
    inplace : bool
        Replace the data of `signal` instead of returning a new signal.
    comm, ranks, progress, **options
        As in `sextant.register`.

    Returns
    -------
    hyperspy.signals.Signal2D
        The aligned images, float32, NaN outside the data. Axes and metadata are those of `signal`;
        with ``canvas="union"`` or ``"common"``, the offsets of the signal axes are moved. The
        registration is stored as ``metadata.Sextant`` (motions, deviations, reference, model).
    """
    _check(signal)
    if isinstance(by, (Registration, Transforms)):
        _core.check_options("register", options)
        for name, value in [*options.items(), ("ranks", ranks)]:
            if value is not None:
                raise InvalidTask(f"{name} has no effect: by is a registration")
        found: Any = by
    else:
        if by is not None:
            _check(by)
            if by.data.shape != signal.data.shape:
                raise InvalidTask(f"by has shape {by.data.shape}, expected {signal.data.shape} as "
                                  "signal")
        found = register(signal.data if by is None else by.data, comm=comm, ranks=ranks,
                         progress=progress, **options)
    if comm is not None and comm.Get_rank() != 0:
        return None
    x, y, *size = (found.transforms if isinstance(found, Registration) else found).area
    for axis, first, pixels in zip(signal.axes_manager.signal_axes, (x, y), size):
        if not axis.is_uniform and (first, pixels) != (0, axis.size):
            raise InvalidTask(f"the axis {axis.name} is not uniform, so only canvas=\"reference\" is "
                              "possible")
    data = apply(found, signal.data, progress=progress)
    if inplace:
        aligned = signal
        aligned.data = data
    else:
        aligned = signal._deepcopy_with_new_data(data)
    if getattr(aligned, "_lazy", False):
        aligned._lazy = False
        aligned._assign_subclass()
    for axis, first, pixels in zip(aligned.axes_manager.signal_axes, (x, y), size):
        if axis.is_uniform:
            axis.offset += first * axis.scale
            axis.size = pixels
    if isinstance(found, Registration):
        aligned.metadata.add_node("Sextant")
        aligned.metadata.Sextant.add_dictionary({
            "motions": found.motions, "reference": found.reference, "model": found.model,
            "deviations": np.stack([found.frames["sigma_tx"], found.frames["sigma_ty"]], axis=1)})
    aligned.events.data_changed.trigger(aligned)
    return aligned
