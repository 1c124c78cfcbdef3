#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes sextant/_options.py: the keywords of the functions, as declared in C++ (core/record.hpp).

    PYTHONPATH=build/release/python python3 python/generate_options.py python/sextant/_options.py

A test checks that the file is current.
"""
import ast
import importlib.machinery
import importlib.util
import pathlib
import sys
import textwrap

HEAD = '''# SPDX-License-Identifier: BSD-3-Clause
"""The keywords of the functions. Written by generate_options.py; do not edit."""
from __future__ import annotations

from os import PathLike
from typing import Any, Dict, Literal, Sequence, Tuple, TypedDict, Union

Path = Union[str, "PathLike[str]"]
Size = Union[str, int, Tuple[int, int]]
Tiles = Union[str, int, Tuple[int, int], Tuple[int, int, int]]
Pair = Union[str, Tuple[float, float]]
Texts = Union[str, Sequence[str]]
Filters = Union[str, Sequence[Union[str, Tuple[str, float]]]]
Integers = Union[int, str, Sequence[int]]
Numbers = Union[float, str, Sequence[float]]
'''

#: The type of an option of this placeholder in help, and how it is documented.
TYPES = {"XxY": ("Tiles", "tuple of int, int or str"), "WxH": ("Size", "(int, int), int or str"),
         "LOW,HIGH": ("Pair", "(float, float)"), "D,D,...": ("Texts", "str or sequence of str"),
         "D@PIXELS,...": ("Filters", "str or sequence of str or (str, float)"),
         "sound|all|LIST": ("Integers", "str or sequence of int"),
         "SIGMA": ("Union[str, float]", "str or float"), "SIZE": ("Union[str, int]", "str or int"),
         "SHIFT": ("Union[str, float]", "str or float"),
         "COLOUR": ("Numbers", "str or sequence of float"),
         "X,X": ("Numbers", "float or sequence of float"),
         **dict.fromkeys(("FILE", "FOLDER", "PATH", "OUT"), ("Path", "path"))}

#: Functions that have some of the options of another function.
PARTS = {"features": ("filter", {"sigma", "derivatives"}),
         "canny": ("contours", {"directions", "min_length", "simplify", "memory", "scratch",
                                "timeline"})}

#: Declared options that are separate arguments of a function, or that it does not offer.
WITHOUT = {"filter": {"sigma"}, "explain": {"what", "json", "all"},
           "synthesize": {"output", "truth"}, "simulate": {"family", "json", "report"},
           "calibrate": {"json"}, "composite": {"element", "trace", "fragments", "frames"},
           "scan": {"trace", "names_elements", "commutative_samples"}, "label": {"timeline"},
           "contours": {"timeline"}}


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
    if field["choices"]:
        choices = []
        for choice in field["choices"]:
            choices.append(f'"{choice}"')
            if choice.isdigit():
                choices.append(choice)
        if "on" in field["choices"]:
            choices += ["True", "False"]
        return f"Literal[{', '.join(choices)}]"
    return TYPES.get(field["value_name"], ("str", "str"))[0]


def default_of(field):
    """The default of an option as a value in Python; None if there is none."""
    text = field["default"]
    if field["kind"] == "flag":
        return text == "true"
    if field["kind"] == "integer" or text.isdigit() and text in field["choices"]:
        return int(text) if text else None
    if field["kind"] == "number":
        return float(text) if text else None
    if text and field["value_name"] in ("LOW,HIGH", "WxH", "X,X"):
        return ast.literal_eval(text.replace("x", ","))
    return text or None


def range_of(field):
    """The range of a number in words; empty if the meaning states it or it is hardly limited."""
    least, most = (f"{field[end]:.15g}" for end in ("least", "most"))
    if field["kind"] not in ("integer", "number") or f"{least} to {most}" in field["meaning"]:
        return ""
    return f" ({least} to {most})" if field["least"] < field["most"] < 2**20 else ""


def documentation_of(field):
    """Lines of a docstring in the NumPy format."""
    shown = type_of(field)
    if shown.startswith("Literal["):
        shown = "{" + ", ".join(choice if choice.isdigit() else f'"{choice}"'
                                for choice in field["choices"]) + "}"
    elif field["kind"] == "integers":
        shown = "int or sequence of int"
    else:
        shown = TYPES.get(field["value_name"], (shown, shown))[1]
    default = default_of(field)
    default = ", optional" if default is None else f", default: {shown_default(default)}"
    meaning = field["meaning"][:1].upper() + field["meaning"][1:] + range_of(field)
    lines = textwrap.wrap(meaning + ".", 92, initial_indent="    ", subsequent_indent="    ")
    return [f'{field["name"]} : {shown}{default}', *lines]


def shown_default(default):
    """A default as it is written in a call."""
    if isinstance(default, str):
        return f'"{default}"'
    return f"{default:g}" if isinstance(default, float) else str(default)


def class_of(name, fields):
    """The TypedDict of a function's options."""
    lines = [f"class {name.capitalize()}Options(TypedDict, total=False):", '    r"""']
    for field in fields:
        lines += ["    " + line for line in documentation_of(field)]
    lines.append('    """')
    lines += [f'    {field["name"]}: {type_of(field)}' for field in fields]
    return "\n".join(lines)


def defaults_of(name, fields):
    """The entry of a function in the table of defaults."""
    lines = [f"    {name.capitalize()}Options: {{"]
    lines += [f'        "{field["name"]}": {shown_default(default)},' for field in fields
              if (default := default_of(field)) is not None]
    return "\n".join([*lines, "    },"])


def extension(folder):
    """Loads the extension of the package without importing the package, which reads _options.py."""
    path = next(pathlib.Path(folder).glob("_core.*so"))
    loader = importlib.machinery.ExtensionFileLoader("_core", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("_core", loader))
    loader.exec_module(module)
    return module


def text_of(folder):
    """The whole file, for the extension in a folder."""
    core = extension(folder)
    options = dict(core.declared_options())
    commands = core.declared_commands()
    for name in ("calibrate", "explain", "simulate", "synthesize"):
        options[name] = commands[name]
    for name, (whole, without) in PARTS.items():
        options[name] = [field for field in options[whole] if field["name"] not in without]
    options = {name: [field for field in fields if field["name"] not in WITHOUT.get(name, set())]
               for name, fields in options.items()}
    classes = [class_of(name, fields) for name, fields in options.items()]
    defaults = [defaults_of(name, fields) for name, fields in options.items()]
    return "\n\n".join([HEAD, *(text + "\n" for text in classes),
                        "\n".join(["#: The defaults of options that have one, by class.",
                                   "DEFAULTS: Dict[Any, Dict[str, Any]] = {", *defaults, "}\n"])])


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    folder = next(path for path in map(pathlib.Path, [*sys.argv[2:], *sys.path])
                  if list((path / "sextant").glob("_core.*so"))) / "sextant"
    pathlib.Path(sys.argv[1]).write_text(text_of(folder), encoding="utf-8")
