#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares frames of IceT's interface over IceT and over Sextant: icet_frame.py BUILD [RANKS [LAUNCHES]].
SEXTANT_SHARED_MEMORY=off: by messages.

Method: bench/icet_frame.cpp, launched alternately over both libraries; each launch gives the median of
30 frames. The table states medians of the launches, and the quartiles of the ratios of neighbouring
launches. "stated" is what the library itself reports, relative to the clock of the program.
"""
import os
import statistics
import subprocess
import sys

build = os.path.abspath(sys.argv[1])
ranks = int(sys.argv[2]) if len(sys.argv) > 2 else 2
launches = int(sys.argv[3]) if len(sys.argv) > 3 else 5


def launch(case, ours):
    """The median of a frame's time in ms, and of what the library states."""
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    if ours:
        environment["LD_LIBRARY_PATH"] = next(
            os.path.join(build, name) for name in os.listdir(build) if name.startswith("paraview-"))
    done = subprocess.run(["mpirun", "--oversubscribe", "-n", str(ranks),
                           os.path.join(build, "bench", "icet_frame"), *case, "30"],
                          env=environment, capture_output=True, text=True, check=True)
    return [1e3 * float(number) for number in done.stdout.split()]


print(f"{ranks} ranks\n\n| frame | IceT, ms | Sextant, ms | ratio | quartiles | stated |\n|---|---|---|---|---|---|")
for size in ("2048 2048", "3840 2160"):
    for mode in ("z", "blend"):
        for part in ("full", "half", "moving"):
            case = [*size.split(), mode, part]
            pairs = [(launch(case, False), launch(case, True)) for _ in range(launches)]
            ratios = sorted(ours[0] / theirs[0] for theirs, ours in pairs)
            quartiles = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else [ratios[0]] * 3
            middle = [statistics.median(values) for values in (
                [theirs[0] for theirs, _ in pairs], [ours[0] for _, ours in pairs], ratios,
                [ours[1] / ours[0] for _, ours in pairs])]
            print(f"| {size.replace(' ', 'x')}, {mode}, {part} | {middle[0]:.1f} | {middle[1]:.1f} "
                  f"| {middle[2]:.2f} | [{quartiles[0]:.2f}, {quartiles[2]:.2f}] | {middle[3]:.3f} |", flush=True)
