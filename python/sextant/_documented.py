# SPDX-License-Identifier: BSD-3-Clause
"""Adds the declared options of a function to its docstring."""
from __future__ import annotations

import textwrap
from typing import Any, Callable, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def documented(options: type) -> Callable[[Function], Function]:
    """Replace the line ``{options}`` of a docstring by the options in `options`, a TypedDict."""
    def decorate(function: Function) -> Function:
        if function.__doc__ and options.__doc__:
            text = textwrap.dedent(options.__doc__).strip("\n")
            lines = []
            for line in function.__doc__.split("\n"):
                if line.strip() == "{options}":
                    lines.append(textwrap.indent(text, line[:len(line) - len(line.lstrip())]))
                else:
                    lines.append(line)
            function.__doc__ = "\n".join(lines)
        return function
    return decorate
