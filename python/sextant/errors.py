# SPDX-License-Identifier: BSD-3-Clause
"""The exceptions of Sextant. Their texts are those of the command and of the C++ library."""

__all__ = [
    "CommunicationFailed", "Error", "InvalidFile", "InvalidKeyword", "InvalidTask", "PeerFailed",
    "RunFailed", "WrongType",
]


class Error(Exception):
    """Base class of all exceptions of Sextant."""


class InvalidTask(Error, ValueError):
    """A request that cannot be fulfilled: an invalid value, shape or combination of arguments."""


class WrongType(InvalidTask, TypeError):
    """An argument of a type that the function does not accept."""


class InvalidKeyword(WrongType):
    """A keyword that the function does not have, or a value of the wrong type for it."""


class InvalidFile(Error, OSError):
    """A file or series that cannot be read or written, is damaged, or has changed."""


class RunFailed(Error, RuntimeError):
    """A run failed on at least one rank. The same exception is raised on every rank."""


class PeerFailed(Error, RuntimeError):
    """Another rank failed, so this one stopped too."""


class CommunicationFailed(Error, RuntimeError):
    """Messages between ranks could not be delivered."""
