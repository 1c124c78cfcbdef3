#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures `sextant apply` to large arrays.

apply.py [--sextant build/release/sextant] [--folder /tmp] [--gib 2] [--rounds 3]

Prints the rate of `sextant apply` to an array of random f32 spectra (frames, rows, columns, energy), relative to that
of `cp` of the same file, in interleaved rounds; then time and peak memory for a sparse array of 64 GiB with 5 axes, of
which one chunk in 4096 is stored, whose result is compared with NumPy. Needs NumPy and zarr, and three times `--gib` of
free disk space.
"""
import argparse
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import zarr

SIDE = 256


def motions(path, frames):
    """Writes the motions of frames: (alpha, tx, ty)."""
    rows = [{"frame": i, "alpha": a, "tx": x, "ty": y} for i, (a, x, y) in enumerate(frames)]
    path.write_text(json.dumps({"kind": "sextant transforms", "version": 1, "series": "", "model": "rigid",
                                "reference": 0, "width": SIDE, "height": SIDE, "frames": rows}))
    return path


# A small process measures the command: peak memory includes that of the process that starts it. Arguments: a file to
# remove from the page cache before, a file to write to the disk within the measured time (or "" for none), the command.
MEASURE = """
import json, os, subprocess, sys, time
if sys.argv[1]:
    with open(sys.argv[1], "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
begin = time.monotonic()
process = subprocess.Popen(sys.argv[3:], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
if sys.argv[2]:
    with open(sys.argv[2], "rb") as file:
        os.fsync(file.fileno())
print(json.dumps([status, time.monotonic() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""


def timed(*command, evict="", flush=""):
    """Runs a command; returns seconds, CPU seconds and peak memory in MiB."""
    found = subprocess.run([sys.executable, "-S", "-c", MEASURE, str(evict), str(flush), *map(str, command)],
                           capture_output=True, text=True)
    status, *figures = json.loads(found.stdout)
    if status != 0:
        sys.exit(f"failed: {command}\n{found.stderr}")
    return figures


def write_spectra(path, frames, energies):
    rng = np.random.default_rng(1)
    array = np.lib.format.open_memmap(path, "w+", np.float32, (frames, SIDE, SIDE, energies))
    noise = rng.normal(100, 10, (SIDE, SIDE, energies)).astype(np.float32)
    for frame in range(frames):
        array[frame] = np.roll(noise, 37 * frame, axis=0)


def dense(arguments, folder):
    energies, frames = 512, max(2, round(arguments.gib * 8))  # 128 MiB per frame
    data, out = folder / "data.npy", folder / "out.npy"
    # Another process writes the data: the peak memory of this one would be that of its children.
    writer = multiprocessing.Process(target=write_spectra, args=(data, frames, energies))
    writer.start()
    writer.join()
    shifts = motions(folder / "shifts.json", [(0, .37 * i, -.21 * i) for i in range(frames)])
    turns = motions(folder / "turns.json", [(.002 * i, .37 * i, -.21 * i) for i in range(frames)])
    apply = (arguments.sextant, "apply")
    common = (data, "-o", out, "--axes", "TYXE")
    runs = {"cp": ("cp", data, out), "bilinear, translations": (*apply, shifts, *common),
            "bilinear, rotations": (*apply, turns, *common), "whole shifts": (*apply, shifts, *common, "--by", "shift"),
            "splat": (*apply, shifts, *common, "--by", "splat"),
            "sum": (*apply, shifts, *common, "--sum")}
    print(f"{frames} x {SIDE} x {SIDE} x {energies} f32, {data.stat().st_size / 2**30:.2f} GiB, medians of {arguments.rounds}")
    compare(runs, data, out, arguments.rounds, "in the page cache")
    # As files that are larger than the memory:
    compare({name: runs[name] for name in ("cp", "bilinear, translations")}, data, out, arguments.rounds, "on the disk")
    data.unlink()
    out.unlink(missing_ok=True)


def compare(runs, data, out, rounds, where):
    times = {name: [] for name in runs}
    disk = where == "on the disk"
    for _ in range(rounds):
        for name, command in runs.items():
            out.unlink(missing_ok=True)
            os.sync()
            times[name].append(timed(*command, evict=data if disk else "", flush=out if disk else ""))
    print(f"{where:26}{'seconds':>9}{'CPU s':>8}{'MiB':>7}{'rate of cp':>12}")
    for name, found in times.items():
        seconds, cpu, memory = (np.median([t[i] for t in found]) for i in range(3))
        ratios = [c[0] / t[0] for c, t in zip(times["cp"], found)]
        print(f"{name:26}{seconds:9.2f}{cpu:8.2f}{memory:7.0f}{np.median(ratios):12.2f}")


def sparse(arguments, folder):
    shape, chunk = (16, 4, SIDE, SIDE, 8192), (1, 1, 32, 32, 1024)  # 64 GiB of u16
    store = zarr.open_group(str(folder / "sparse.zarr"), "w")
    array = store.create_dataset("0", shape=shape, chunks=chunk, dtype="u2", fill_value=0)
    array.attrs["_ARRAY_DIMENSIONS"] = ["t", "c", "y", "x", "energy"]
    rng = np.random.default_rng(2)
    stored = {}
    for _ in range(16):
        at = tuple(int(rng.integers(0, n // c)) for n, c in zip(shape, chunk))
        stored[at] = rng.integers(0, 1000, chunk).astype(np.uint16)
        array[tuple(slice(p * c, (p + 1) * c) for p, c in zip(at, chunk))] = stored[at]
    frames = [(0, 3 * i, -2 * i) for i in range(shape[0])]
    file = motions(folder / "sparse.json", frames)
    for by in ("shift", "bilinear", "splat"):
        out = folder / "out.zarr"
        shutil.rmtree(out, ignore_errors=True)
        seconds, _, memory = timed(arguments.sextant, "apply", file, folder / "sparse.zarr", "-o", out, "--by", by,
                                   "--zarr", "2")
        result = zarr.open_group(str(out), "r")["0"]
        total = expected = 0
        for (t, c, y, x, e), block in stored.items():
            tx, ty = frames[t][1:]
            full = np.zeros((SIDE, SIDE, chunk[4]), np.uint16)
            full[y * 32:(y + 1) * 32, x * 32:(x + 1) * 32] = block
            wanted = np.zeros_like(full)
            for row in range(max(0, -ty), min(SIDE, SIDE - ty)):
                columns = slice(max(0, -tx), min(SIDE, SIDE - tx))
                wanted[row, columns] = full[row + ty, columns.start + tx:columns.stop + tx]
            got = result[t, c, :, :, e * chunk[4]:(e + 1) * chunk[4]]
            # Neighbouring chunks of the data are compared in their own turn.
            if not np.array_equal(got[wanted > 0], wanted[wanted > 0]):
                sys.exit(f"{by}: the sparse result is wrong")
            expected += int(wanted.sum(dtype=np.int64))
        for path in (out / "0").rglob("*"):
            if path.is_file() and not path.name.startswith("."):
                at = [int(part) for part in path.relative_to(out / "0").parts]
                total += result[tuple(slice(p * c, (p + 1) * c) for p, c in zip(at, result.chunks))].sum(dtype=float)
        if total != expected:
            sys.exit(f"{by}: the sum is {total}, expected {expected}")
        print(f"sparse, 64 GiB, 5 axes, {by}: {seconds:.1f} s, {memory:.0f} MiB, correct")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sextant", default="build/release/sextant")
    parser.add_argument("--folder", default=tempfile.gettempdir())
    parser.add_argument("--gib", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        sparse(arguments, Path(folder))
        dense(arguments, Path(folder))


if __name__ == "__main__":
    main()
