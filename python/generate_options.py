#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes sextant/_options.py: the keywords of the functions, as declared in C++ (core/record.hpp).

    PYTHONPATH=build/release/python python3 python/generate_options.py python/sextant/_options.py

A test checks that the file is current.
"""
import importlib.machinery
import importlib.util
import pathlib
import sys
import textwrap

HEAD = '''# SPDX-License-Identifier: BSD-3-Clause
"""The keywords of the functions. Written by generate_options.py; do not edit."""
from __future__ import annotations

from os import PathLike
from typing import Literal, Sequence, Tuple, TypedDict, Union

Path = Union[str, "PathLike[str]"]
Size = Union[str, int, Tuple[int, int]]
Texts = Union[str, Sequence[str]]
Integers = Union[int, str, Sequence[int]]
Text = Union[str, float, Sequence[Union[str, float, Tuple[str, float]]]]
'''

#: Arguments that a function has besides the declared options, or that it does not offer.
WITHOUT = {"explain": {"what", "json"}, "simulate": {"family", "json", "report"},
           "calibrate": {"json"}, "composite": {"element", "trace"}}


def type_of(field):
    """The Python type of an option's value."""
    kind = field["kind"]
    if kind == "flag":
        return "bool"
    if kind == "integer":
        return "int"
    if kind == "number":
        return "float"
    if kind == "integers":
        return "Integers"
    if kind == "texts":
        return "Texts"
    if field["choices"]:
        choices = []
        for choice in field["choices"]:
            choices.append(f'"{choice}"')
            if choice.isdigit():
                choices.append(choice)
        return f"Literal[{', '.join(choices)}]"
    if field["value_name"] in ("XxY", "WxH"):
        return "Size"
    if field["value_name"] == "SIZE":
        return "Union[str, int]"
    if field["value_name"] in ("FILE", "FOLDER", "PATH", "OUT"):
        return "Path"
    return "Text"


def documentation_of(field):
    """Lines of a docstring in NumPy's form."""
    shown = type_of(field)
    if shown.startswith("Literal["):
        shown = "{" + ", ".join(f'"{choice}"' for choice in field["choices"]) + "}"
    else:
        shown = {"Integers": "int or sequence of int", "Texts": "str or sequence of str",
                 "Size": "str, int or (int, int)", "Path": "path", "Union[str, int]": "str or int",
                 "Text": "str"}.get(shown, shown)
    default = f', default: {field["default"]}' if field["default"] else ", optional"
    if field["kind"] == "flag":
        default = f', default: {field["default"] == "true"}'
    meaning = field["meaning"][:1].upper() + field["meaning"][1:]
    if field["kind"] in ("integer", "number") and field["least"] != field["most"] and (
            field["most"] < 2**31 - 1 and abs(field["least"]) < 2**31):
        meaning += f' ({field["least"]:g} to {field["most"]:g})'
    lines = textwrap.wrap(meaning + ".", 92, initial_indent="    ", subsequent_indent="    ")
    return [f'{field["name"]} : {shown}{default}', *lines]


def class_of(name, fields):
    """The TypedDict of a function's options."""
    lines = [f"class {name.capitalize()}Options(TypedDict, total=False):", '    r"""']
    kept = [field for field in fields if field["name"] not in WITHOUT.get(name, set())]
    for field in kept:
        lines += ["    " + line for line in documentation_of(field)]
    lines.append('    """')
    lines += [f'    {field["name"]}: {type_of(field)}' for field in kept]
    return "\n".join(lines)


def extension(folder, name):
    """Loads an extension of the package without importing the package, which reads _options.py."""
    path = next(pathlib.Path(folder).glob(f"{name}.*so"))
    loader = importlib.machinery.ExtensionFileLoader(name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


def text_of(folder):
    """The whole file, for the extensions in a folder."""
    options = dict(extension(folder, "_core").declared_options())
    commands = extension(folder, "_command").declared_options()
    for name in ("calibrate", "explain", "simulate"):
        options[name] = commands[name]
    classes = [class_of(name, fields) for name, fields in options.items()]
    return HEAD + "\n\n" + "\n\n\n".join(classes) + "\n"


if __name__ == "__main__":
    folder = next(path for path in map(pathlib.Path, [*sys.argv[2:], *sys.path])
                  if list((path / "sextant").glob("_core.*so"))) / "sextant"
    pathlib.Path(sys.argv[1]).write_text(text_of(folder), encoding="utf-8")
