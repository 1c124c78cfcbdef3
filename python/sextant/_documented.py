# SPDX-License-Identifier: BSD-3-Clause
"""Adds the declared options of a function to its docstring and signature."""
from __future__ import annotations

import difflib
import functools
import inspect
import textwrap
import typing
from typing import Any, Callable, Optional, TypeVar

from ._options import DEFAULTS
from .errors import InvalidKeyword

Function = TypeVar("Function", bound=Callable[..., Any])


def documented(options: Optional[type] = None) -> Callable[[Function], Function]:
    """Replace the line ``{options}`` of a docstring, and ``**options`` of the signature, with the
    options in `options`, a TypedDict.

    Errors about unknown keywords suggest the most similar argument. Without options, only the
    annotations of the signature are evaluated.
    """
    def decorate(function: Function) -> Function:
        signature = _signature_of(function, options)
        if options is None:
            function.__signature__ = signature  # type: ignore[attr-defined]
            return function

        @functools.wraps(function)
        def call(*arguments: Any, **keywords: Any) -> Any:
            try:
                return function(*arguments, **keywords)
            except InvalidKeyword:
                unknown = [name for name in keywords if name not in signature.parameters]
                if not unknown:
                    raise
            raise InvalidKeyword(_unknown(unknown[0], list(signature.parameters)))
        call.__doc__ = _docstring_of(function, options)
        call.__signature__ = signature  # type: ignore[attr-defined]
        return typing.cast(Function, call)
    return decorate


def _unknown(name: str, names: typing.List[str]) -> str:
    near = difflib.get_close_matches(name, names, 1)
    if near:
        return f"unknown keyword '{name}'; did you mean {near[0]}?"
    return f"unknown keyword '{name}'; expected one of {', '.join(names)}"


def _docstring_of(function: Callable[..., Any], options: type) -> str:
    text = textwrap.dedent(options.__doc__ or "").strip("\n")
    lines = []
    for line in (function.__doc__ or "").split("\n"):
        indent = line[:len(line) - len(line.lstrip())]
        lines.append(textwrap.indent(text, indent) if line.strip() == "{options}" else line)
    return "\n".join(lines)


def _signature_of(function: Callable[..., Any], options: Optional[type]) -> inspect.Signature:
    """The signature with options as keywords, without the annotation Any, which says nothing."""
    hints = {name: inspect.Parameter.empty if hint is Any else hint
             for name, hint in typing.get_type_hints(function).items()}
    parameters = [each.replace(annotation=hints.get(name, each.empty))
                  for name, each in inspect.signature(function).parameters.items()
                  if each.kind != each.VAR_KEYWORD]
    for name, hint in typing.get_type_hints(options).items() if options else ():
        default = DEFAULTS[options].get(name)
        parameters.append(inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default,
            annotation=Optional[hint] if default is None else hint))
    return inspect.Signature(parameters, return_annotation=hints["return"])
