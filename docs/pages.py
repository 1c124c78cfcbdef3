# SPDX-License-Identifier: BSD-3-Clause
"""The code blocks of the documentation. pages.py [PAGE...] runs those of pages, without building the site.

SEXTANT_BUILD names the build tree (default: build/release).
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

source = Path(__file__).resolve().parent
build = Path(os.environ.get("SEXTANT_BUILD", source.parent / "build" / "release")).resolve()


class Block(NamedTuple):
    page: Path
    line: int
    kind: str  # the name of a directive in {}, or a language
    argument: str
    text: str

    def __str__(self):
        return f"{self.page.name}:{self.line}"


def blocks_of(page):
    """The fenced blocks of a page."""
    found, lines = [], page.read_text(encoding="utf-8").splitlines()
    number = 0
    while number < len(lines):
        fence = re.fullmatch(r"```(\{?)([\w-]*)\}?(?: (.*))?", lines[number])
        number += 1
        if not fence:
            continue
        first = number
        while lines[number] != "```":
            number += 1
        kind = f"{{{fence[2]}}}" if fence[1] else fence[2]
        text = "\n".join(each for each in lines[first:number] if not each.startswith(":alt:"))
        found.append(Block(page, first, kind, fence[3] or "", text))
        number += 1
    return found


def folder_of(page):
    """The folder in which the blocks of a page run; each process makes its own."""
    folder = Path(tempfile.gettempdir()) / f"sextant-pages-{os.getpid()}" / page.replace("/", "-")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def remove_folders():
    shutil.rmtree(Path(tempfile.gettempdir()) / f"sextant-pages-{os.getpid()}", ignore_errors=True)


def run(page, script, language="sh"):
    """Runs a script in the folder of a page. Returns what it prints; raises if it fails."""
    folder = folder_of(page)
    environment = {**os.environ, "PATH": f"{build}:{Path(sys.executable).parent}:{os.environ['PATH']}",
                   "SEXTANT_PROBE": "off", "OMPI_MCA_rmaps_base_oversubscribe": "1",
                   "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "XDG_CONFIG_HOME": str(folder / ".config"), "EXAMPLES": str(source.parent / "examples"),
                   "PYTHONPATH": str(build / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = {"sh": ["bash", "-euo", "pipefail", "-c", script], "python": [sys.executable, "-c", script]}[language]
    found = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if found.returncode != 0:
        raise RuntimeError(f"{page}: {script!r} failed with {found.returncode}:\n{found.stdout}")
    return found.stdout.replace(str(folder) + "/", "").rstrip()


def write(page, name, text):
    """Writes a file that a page shows into the folder of the page."""
    (folder_of(page) / name).write_text(text + "\n", encoding="utf-8")


def run_pages(names):
    """Runs the blocks of pages."""
    wrong, count = [], 0
    for page in sorted(source.rglob("*.md")):
        name = str(page.relative_to(source).with_suffix(""))
        if names and name not in names:
            continue
        began = time.monotonic()
        for block in blocks_of(page):
            try:
                if block.kind == "{run}":
                    run(name, block.text, block.argument or "sh")
                elif block.kind == "{picture}":
                    run(name, block.text)
                    if not (folder_of(name) / block.argument).stat().st_size:
                        wrong.append(f"{block}: {block.argument} is empty")
                elif block.kind == "{file}":
                    write(name, block.argument, block.text)
                count += block.kind in ("{run}", "{picture}", "{file}")
            except (RuntimeError, OSError) as error:
                wrong.append(f"{block}: {error}")
        if (took := time.monotonic() - began) > .1:
            print(f"{name}: {took:.1f} s")
    print(f"{count} blocks")
    return wrong


def main(arguments):
    try:
        wrong = run_pages(arguments)
    finally:
        remove_folders()
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
