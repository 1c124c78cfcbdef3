# SPDX-License-Identifier: BSD-3-Clause
"""page.py PROGRAM PAGE: compares the tables and statements that PROGRAM computes with those of the page.

Sections that measure the machine are compared without their numbers. Fails with the lines that differ.
"""
import difflib
import re
import subprocess
import sys

MEASURED = re.compile(r"## .*(on this machine| here)\b|## All tables and figures")


def sections_of(text):
    """The lines of each section, by its heading; numbers are left out where the machine is measured."""
    sections, lines = {}, []
    for line in text[text.index("\n## "):].splitlines():
        if line.startswith("## "):
            lines = sections.setdefault(line, [])
            measured = MEASURED.match(line)
        if measured and not line.startswith("#"):
            # Only the names of rows and statements, without numbers, verdicts and reasons.
            if line.startswith("| "):
                lines.append(line.split("|")[1].strip())
        elif line.strip():
            lines.append(line)
    return sections


def main(program, page):
    run = subprocess.run([program, "reproduce", "--whole"], stdout=subprocess.PIPE, text=True, check=True)
    with open(page, encoding="utf-8") as file:
        written = sections_of(file.read())
    computed = sections_of("\n" + run.stdout)
    wrong = [f"{heading} is only on one side" for heading in written.keys() ^ computed.keys()]
    for heading in [each for each in written if each in computed]:
        wrong += [line for line in difflib.unified_diff(written[heading], computed[heading], "the page", heading,
                                                        lineterm="", n=0)]
    print(*wrong, f"{len(computed)} sections", sep="\n")
    return 1 if wrong or not computed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
