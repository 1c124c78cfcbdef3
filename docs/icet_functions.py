# SPDX-License-Identifier: BSD-3-Clause
"""The functions of IceT, read from the headers and from their definitions in icet/src.

A comment above a definition states how the function differs from IceT's, and begins with `Differs:`
or `Hint:`; it also applies to the definitions below it, up to an empty line.
"""
import re
from pathlib import Path
from typing import NamedTuple

icet = Path(__file__).resolve().parent.parent / "icet"

# The sources that define functions of IceT, with their titles.
SOURCES = {"context": "Contexts, errors and time", "state": "State, tiles, bounds and modes",
           "frame": "Frames", "image": "Images", "gl": "OpenGL", "mpi": "MPI"}


class Function(NamedTuple):
    name: str
    prototype: str
    kind: str  # "differs", "hint", or "" for a function that does what IceT's does
    difference: str
    errors: list  # pairs of an error code and its text


def prototypes():
    """The prototypes in the headers, by the name of their function."""
    found = {}
    for header in sorted((icet / "include").glob("IceT*.h")):
        for match in re.finditer(r"^ICET\w*_EXPORT ([^;]*?\b(icet\w+)\s*\([^;]*\));", header.read_text(), re.M):
            found[match[2]] = re.sub(r"\s+", " ", match[1]).replace(" (", "(")
    return found


def bodies(text):
    """The bodies of the functions and classes at the outer level of a source, by name."""
    found, name, body = {}, "", ""
    for line in text.splitlines():
        if not name and (match := re.match(r"(?:class|struct) (\w+)|(?!using|namespace|extern|template|constexpr)\w[^=]*?(\w+)\(", line)):
            name, body = match[1] or match[2], ""
        body += line + "\n"
        if line in ("}", "};") or line.endswith(";") and line[0] != " " and "{" not in line:
            if name:
                found[name] = found.get(name, "") + body
            name = ""
    return found


# An error that is raised, or a warning; the text of a message; a call, of a constructor too, with its first text.
RAISED = re.compile(r'(?:Raised\(|report\((?=\s*ICET_\w+,\s*"icet))\s*(ICET_\w+),(?:\s*"icet\w+",)?\s*'
                    r'(?:fmt::format\()?\s*((?:"[^"]*"\s*)+)')
CALL = re.compile(r'(?<![.\w>])(?!return\b)(\w+)(?:<[^;()]*>)?(?: \w+)?\((?=([^;"{]*"([^"]*)")?)')


def errors_of(name, functions):
    """The errors that a function raises, in itself and in functions of its source that it calls."""
    seen, waiting, errors = {name}, [(name, None)], []
    while waiting:
        at, value = waiting.pop(0)
        for code, texts in RAISED.findall(functions[at]):
            text = re.sub(r"\{[^}]*\}", "…", "".join(re.findall(r'"([^"]*)"', texts)))
            if value:  # the last value of the message is given by the caller
                text = value.join(text.rsplit("…", 1))
            if (code, text) not in errors:
                errors.append((code, text))
        for called, _, text in CALL.findall(functions[at]):
            if called in functions and called not in seen and not called.startswith("icet"):
                seen.add(called)
                waiting.append((called, text))
    return errors


def functions_of(source, declared):
    """The functions of IceT that a source defines, in its order."""
    text = (icet / "src" / f"{source}.cpp").read_text()
    called = (icet / "src/planes.cpp").read_text() if source == "frame" else ""
    functions, found = bodies(called) | bodies(text), []
    comment = ""
    for line in text[text.index('extern "C" {'):].splitlines():
        if not line:
            comment = ""
        elif line.startswith("/// "):
            comment = f"{comment} {line[4:]}".strip()
        elif match := re.match(r"\w[\w*& ]*?(icet\w+)\(", line):
            kind, _, difference = comment.partition(": ")
            if comment and kind not in ("Differs", "Hint"):
                raise ValueError(f"{source}.cpp: the comment of {match[1]} does not begin with Differs: or Hint:")
            found.append(Function(match[1], declared[match[1]], kind.lower(), difference,
                                  errors_of(match[1], functions)))
    return found


def functions():
    """All functions, by the title of their section. Raises if one is not defined, or not compared with IceT."""
    declared = prototypes()
    sections = {title: functions_of(source, declared) for source, title in SOURCES.items()}
    defined = {each.name for section in sections.values() for each in section}
    if defined != set(declared):
        raise ValueError(f"not defined in icet/src: {sorted(set(declared) - defined)}")
    compared = "".join(path.read_text() for path in (icet / "tests").glob("conversation*.cpp"))
    if missing := [name for name in sorted(declared) if not re.search(rf"\b{name}\b", compared)]:
        raise ValueError(f"not called in icet/tests/conversation*.cpp: {missing}")
    return sections


def features():
    """The features of icetEnable, and whether each has an effect."""
    headers = "".join(path.read_text() for path in (icet / "include").glob("IceT*.h"))
    sources = "".join(path.read_text() for path in (icet / "src").glob("*.cpp"))
    names = re.findall(r"#define (ICET_\w+)\s+\(ICET_\w*ENABLE_START ", headers)
    return {name: bool(re.search(rf"enabled\({name}\)", sources)) for name in names
            if not name.endswith(("_START", "_END"))}
