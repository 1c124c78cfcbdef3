# SPDX-License-Identifier: BSD-3-Clause
"""Prefix scans of arbitrary objects with an arbitrary operator."""
from __future__ import annotations

import pickle
from typing import Any, Callable, Iterable, List, Optional, TypeVar
from typing import Unpack

from . import _core
from ._arrays import Progress, agreed, progress_for
from ._documented import documented
from ._effects import check_effects
from ._options import DEFAULTS, ScanOptions
from .errors import InvalidTask, WrongType

__all__ = ["scan"]

Value = TypeVar("Value")


@documented(ScanOptions)
def scan(values: Iterable[Value], op: Callable[[Value, Value], Value], *, exclusive: bool = False,
         comm: Any = None, capacity: Optional[int] = None, progress: Progress = None,
         **options: Unpack[ScanOptions]) -> List[Optional[Value]]:
    """Combine each value with all values before it.

    Parameters
    ----------
    values : iterable
        Any objects. With `comm`, the values of this rank; the series consists of the values of all
        ranks, in rank order.
    op : callable
        ``op(left, right)`` combines two neighbouring values. It must be associative, but need not
        be commutative, and must not change its arguments.
    exclusive : bool
        Result k combines the values before value k; the first result is None.
    comm : mpi4py.MPI.Comm, optional
        Scan over the ranks of this communicator; values are pickled.
    capacity : int, optional
        The largest size of a pickled result in bytes, the same on all ranks. Default: four times
        the size of the largest value on any rank, plus 4096.
    progress : callable or True, optional
        As in `sextant.label`.
    {options}

    Returns
    -------
    list
        One result per value.

    Notes
    -----
    Scans are meant for operators that take milliseconds or more. With ``threads=2``, two threads
    call the operator concurrently. This is faster only if the operator releases the GIL, as NumPy
    and Sextant do in long computations; an operator in pure Python gains nothing. On p threads, a
    scan takes at least 2/(p + 1) of the serial time if all applications take equally long. With
    `threads`, the defaults are ``strategy="reduce-then-scan"`` and ``boundaries="look-ahead"``.

    Examples
    --------
    >>> import sextant
    >>> sextant.scan(["a", "b", "c"], lambda left, right: left + right)
    ['a', 'ab', 'abc']
    """
    largest = 0
    with agreed(comm, "scan", options):
        show = progress_for(progress)
        if not callable(op):
            raise WrongType(f"op is {op!r}, expected a function of two values")
        exclusive = _core.truth("exclusive", exclusive)
        if capacity is not None:
            capacity = _core.whole_number("capacity", capacity, 1, 2**40)
        _core.check_options("scan", dict(options))
        check_effects("scan", options, DEFAULTS[ScanOptions], comm=comm, capacity=capacity)
        own = list(values)
        if comm is not None and capacity is None:
            largest = max((len(pickle.dumps(value, 5)) for value in own), default=0)
    if comm is not None:
        exclusives, capacities, sizes = zip(*comm.allgather((exclusive, capacity, largest)))
        for name, all_ranks in (("exclusive", exclusives), ("capacity", capacities)):
            for rank, other in enumerate(all_ranks):
                if other != all_ranks[0]:
                    raise InvalidTask(f"{name}: rank 0 has {all_ranks[0]}, rank {rank} has {other}")
        capacity = capacity or 4 * max(sizes) + 4096
    if not own and comm is None:
        return []
    found: List[Optional[Value]] = _core.scan(own, op, dict(options), exclusive, capacity or 0, comm,
                                              show)
    return found
