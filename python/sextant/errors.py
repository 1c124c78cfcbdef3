# SPDX-License-Identifier: BSD-3-Clause
"""The exceptions of Sextant. Their texts are those of the command and of the C++ library."""

import errno
import os

__all__ = [
    "CommunicationFailed", "Error", "InvalidFile", "InvalidKeyword", "InvalidTask", "NoSuchFile",
    "PeerFailed", "RunFailed", "WrongType",
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
    """A file or series that cannot be read or written, is damaged, or has changed.

    ``filename`` is its path.
    """

    def __str__(self) -> str:
        if not self.filename:
            return super().__str__()
        return f"{printable(self.filename)}: {self.strerror}"


class NoSuchFile(InvalidFile, FileNotFoundError):
    """A file that does not exist."""


def printable(path: str) -> str:
    """A path in which surrogates, which stand for bytes that are not UTF-8, are escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def invalid_file(path: str, reason: str) -> InvalidFile:
    """The exception for an error of the library."""
    if "no such file" in reason.lower() or reason == "matches no file":
        return NoSuchFile(errno.ENOENT, reason, path)
    return InvalidFile(None, reason, path)


class RunFailed(Error, RuntimeError):
    """A run failed on at least one rank. The same exception is raised on every rank."""


class PeerFailed(Error, RuntimeError):
    """Another rank failed, so this one stopped too."""


class CommunicationFailed(Error, RuntimeError):
    """Messages between ranks could not be delivered."""
