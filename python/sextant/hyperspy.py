# SPDX-License-Identifier: BSD-3-Clause
"""Aligns hyperspy signals, which keep their axes and metadata.

>>> import sextant.hyperspy                         # doctest: +SKIP
>>> aligned = sextant.hyperspy.align2D(signal)      # doctest: +SKIP
>>> scan = sextant.hyperspy.apply(found, scan, by="splat")  # doctest: +SKIP
"""
from __future__ import annotations

import os
from typing import Any, Optional

import numpy as np
from typing import Unpack

from . import _core, registration
from ._arrays import Progress, fails_on_all_ranks
from ._documented import documented
from ._options import RegisterOptions
from .errors import InvalidTask, WrongType
from .registration import Registration, Transforms, register

__all__ = ["align2D", "apply", "registered"]


def _check(signal: Any) -> None:
    axes = getattr(signal, "axes_manager", None)
    if axes is None:
        raise WrongType(f"signal is a {type(signal).__name__}, expected a hyperspy signal")
    if axes.signal_dimension != 2 or axes.navigation_dimension != 1:
        raise InvalidTask(f"signal has {axes.navigation_dimension} navigation and "
                          f"{axes.signal_dimension} signal axes, expected 1 and 2: a series of "
                          "images")


def _check_uniform(axes: Any, first: Any, size: Any) -> None:
    for axis, start, pixels in zip(axes, first, size):
        if not axis.is_uniform and (start, pixels) != (0, axis.size):
            raise InvalidTask(f"the axis {axis.name} is not uniform, so only canvas=\"reference\" is "
                              "possible")


def _move_axes(axes: Any, first: Any, size: Any) -> None:
    for axis, start, pixels in zip(axes, first, size):
        if axis.is_uniform:
            axis.offset += start * axis.scale
            axis.size = pixels


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
    with fails_on_all_ranks(options.get("comm"), "register"):
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
        Align the images with the motions of another signal that has as many images of the same
        size, for example from a second detector, or with the motions of a registration.
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
    with fails_on_all_ranks(comm, "register"):
        _check(signal)
        inplace = _core.truth("inplace", inplace)
        if by is not None and not isinstance(by, (Registration, Transforms)):
            _check(by)
            if by.data.shape != signal.data.shape:
                raise InvalidTask(f"by has shape {by.data.shape}, expected {signal.data.shape} as "
                                  "in signal")
    if isinstance(by, (Registration, Transforms)):
        _core.check_options("register", options)
        for name, value in [*options.items(), ("ranks", ranks)]:
            if value is not None:
                raise InvalidTask(f"{name} has no effect: by is a registration")
        found: Any = by
    else:
        found = register(signal.data if by is None else by.data, comm=comm, ranks=ranks,
                         progress=progress, **options)
    if comm is not None and comm.Get_rank() != 0:
        return None
    x, y, *size = (found.transforms if isinstance(found, Registration) else found).area
    _check_uniform(signal.axes_manager.signal_axes, (x, y), size)
    data = registration.apply(found, signal.data, progress=progress)
    if inplace:
        aligned = signal
        aligned.data = data
    else:
        aligned = signal._deepcopy_with_new_data(data)
    if getattr(aligned, "_lazy", False):
        aligned._lazy = False
        aligned._assign_subclass()
    _move_axes(aligned.axes_manager.signal_axes, (x, y), size)
    if isinstance(found, Registration):
        aligned.metadata.add_node("Sextant")
        aligned.metadata.Sextant.add_dictionary({
            "motions": found.motions, "reference": found.reference, "model": found.model,
            "deviations": np.stack([found.frames["sigma_tx"], found.frames["sigma_ty"]], axis=1)})
    aligned.events.data_changed.trigger(aligned)
    return aligned


@documented()
def apply(transforms: Any, signal: Any, *, axes: Optional[str] = None, by: str = "bilinear",
          sum: bool = False, dtype: Any = None, memory: Optional[str] = None, out: Any = None,
          progress: Progress = None) -> Any:
    """Apply the transforms of a registered series to a signal with any number of axes.

    Each spectrum or diffraction pattern moves with its pixel; see `sextant.apply`.

    Parameters
    ----------
    transforms : sextant.Registration, Transforms or path
        The registration of another signal with the same frames, such as the images of a virtual
        detector.
    signal : hyperspy.signals.BaseSignal
        Spectra, images or patterns, in memory or lazy.
    axes : str, optional
        Names of the axes of ``signal.data``, such as ``"t,y,x,ky,kx"``. Default: those of the
        signal, which must include t (frames), y (rows) and x (columns).
    by, sum, dtype, memory, progress
        As in `sextant.apply`.
    out : array, optional
        Array to which the result is written, such as a zarr array. The signal is then lazy, unless
        `out` is a NumPy array.

    Returns
    -------
    hyperspy.signals.BaseSignal
        The aligned signal, or with `sum` the sum of its frames, with the axes and metadata of
        `signal`.
    """
    manager = getattr(signal, "axes_manager", None)
    if manager is None:
        raise WrongType(f"signal is a {type(signal).__name__}, expected a hyperspy signal")
    if isinstance(out, (str, bytes, os.PathLike)):
        raise InvalidTask("out is a path, expected an array; sextant.apply writes files")
    if axes is None:
        axes = ",".join(str(axis.name) for axis in manager._axes)
    names = _core.axis_names(axes)
    if not {"x", "y"} <= set(names) or len(names) != len(manager._axes):
        raise InvalidTask(f"signal has the axes {axes}, expected y (rows) and x (columns): name them "
                          "with axes, such as \"t,y,x,energy\"")
    if isinstance(transforms, (str, bytes, os.PathLike)):
        transforms = Transforms.read(transforms)
    x, y, *size = (transforms.transforms if isinstance(transforms, Registration)
                   else transforms).area
    moved = [manager._axes[names.index("x")], manager._axes[names.index("y")]]
    _check_uniform(moved, (x, y), size)
    data = registration.apply(transforms, signal.data, axes=axes, by=by, sum=sum, dtype=dtype,
                              memory=memory, out=out, progress=progress)
    if sum:
        data = data[0]
    is_lazy = not isinstance(data, np.ndarray)
    if is_lazy:
        import dask.array
        arrays: Any = dask.array  # has no type hints
        data = arrays.from_array(data)
    frames = "t" if "t" in names else "z"
    kept = [name for name in names if not sum or name != frames]
    described = [dict(manager._axes[names.index(name)].get_axis_dictionary(), size=length)
                 for name, length in zip(kept, data.shape)]
    from hyperspy.signals import BaseSignal
    result = BaseSignal(data, axes=described, metadata=signal.metadata.as_dictionary(),
                        original_metadata=signal.original_metadata.as_dictionary())
    result._lazy = is_lazy
    result._assign_subclass()
    _move_axes([result.axes_manager._axes[kept.index(name)] for name in ("x", "y")], (x, y), size)
    return result
