# SPDX-License-Identifier: BSD-3-Clause
"""The exceptions of Sextant. Messages are the same as those of the command and the C++ library."""

import errno
import os
import re
import sys

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
    """A path for display: bytes that are not UTF-8 are escaped, and a long path is shortened."""
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return text if len(text) <= 2000 else f"{text[:1000]} ... {text[-1000:]}"


def invalid_file(path: str, reason: str) -> InvalidFile:
    """The exception for an InvalidFile error of the library."""
    if "no such file" in reason.lower() or reason == "matches no file":
        return NoSuchFile(errno.ENOENT, reason, path)
    return InvalidFile(None, reason, path)


class RunFailed(Error, RuntimeError):
    """A run failed on at least one rank. The same exception is raised on every rank."""


class PeerFailed(Error, RuntimeError):
    """Another rank failed, so this one stopped too."""


class CommunicationFailed(Error, RuntimeError):
    """Messages between ranks could not be delivered."""


def why_not_built(package: str) -> str:
    """The reason why the folder of the package has no extension for this interpreter."""
    own = f"{sys.implementation.name} {sys.version_info[0]}.{sys.version_info[1]}"
    built = [f"{match[1]}.{match[2]}" for name in sorted(os.listdir(package))
             if (match := re.match(r"_core\.(?:cpython-|cp)(\d)(\d+)", name))]
    if not built:
        return f"{package} has no extension _core: Sextant is not built, or not installed completely"
    return (f"{package} was built for cpython {' and '.join(built)}, but {sys.executable} is {own}: "
            f"start python{built[-1]}, or build Sextant with SEXTANT_PYTHON_EXECUTABLE={sys.executable}")
