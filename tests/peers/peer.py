# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts of this folder share: they count differences, which they print, and run programs."""
import os
import subprocess
import sys

wrong = 0


def fail(text):
    global wrong
    wrong += 1
    print(text)


def run(command, lines=()):
    """The lines that a program prints, which reads other lines. A program that fails is a difference."""
    done = subprocess.run(command, input="".join(lines), capture_output=True, text=True, timeout=900)
    if done.returncode != 0:
        fail("%s ended with %d: %s" % (" ".join(command), done.returncode, done.stderr))
    return done.stdout.splitlines()


def sextant(*words):
    """True if the command succeeds."""
    before = wrong
    run([os.environ["SEXTANT"], *words])
    return wrong == before


def frames(verb, lines):
    return run([os.environ["FRAMES"], *verb.split()], lines)


def finish(text):
    print("%s, %d differences" % (text, wrong))
    sys.exit(1 if wrong else 0)
