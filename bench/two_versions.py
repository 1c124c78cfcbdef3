# SPDX-License-Identifier: BSD-3-Clause
# Compares the times of two builds of the command, run in turn: the ratio of CPU times (new / old), which a loaded machine
# affects less than wall times, as the median over pairs with its 95 % interval (bootstrap). A case fails if the whole
# interval is above 1.03. Names the output files that differ, except .json files, which hold times.
#
#   two_versions.py OLD NEW [--pairs N] [--only TEXT]   OLD, NEW: programs `sextant`; needs NumPy
import argparse
import hashlib
import os
import pathlib
import random
import resource
import statistics
import subprocess
import sys
import tempfile

import numpy

# name: arguments. OUT is a folder that is emptied before each run.
cases = {
    "composite": "composite brain/manifest.json -o OUT/brain.exr --ranks 2 --no-probe",
    "composite-8": "composite brain/manifest.json -o OUT/brain.rgba32f --no-probe",
    "filter": "filter image.npy -o OUT/x.npy --sigma 2 --ranks 2 --no-probe",
    "filter-f32": "filter float.npy -o OUT/x.npy --sigma 3 --derivatives gradient-magnitude",
    "filter-volume": "filter volume.npy -o OUT/x.npy --sigma 1.5 --derivatives smooth",
    "filter-streamed": "filter volume.npy -o OUT/x.npy --derivatives hessian-1 --memory 8M",
    "label": "label noise.npy -o OUT/x.npy --ranks 2",
    "label-half": "label half.npy -o OUT/x.npy --ranks 2",
    "label-table": "label blobs.npy -o OUT/x.npy --table OUT/x.csv",
    "label-streamed": "label blobs.npy -o OUT/x.npy --memory 4M --ranks 2",
    "label-volume": "label volume_mask.npy -o OUT/x.npy --table OUT/x.csv",
    "label-volume-zarr": "label volume_mask.zarr -o OUT/x.zarr --min-size 5",
    "label-volume-holes": "label volume_mask.npy -o OUT/x.npy --fill-holes --keep-largest 100",
    "measure": "measure regions.npy -o OUT/x.csv --intensity volume.npy",
    "stitch": "stitch regions.npy -o OUT/x.npy --block 32,64,64 --by voxels",
    "contours": "contours image.npy -o OUT/x.csv --sigma 2 --no-probe",
    "contours-ranks": "contours image.npy -o OUT/x.geojson --sigma 1.5 --simplify 1 --ranks 2 --no-probe",
    "register": "register series.npy -o OUT/x --ranks 2 --reproducible",
    "register-tif": "register series.tif -o OUT/x --aligned --threads 2 --reproducible",
    "register-affine": "register few.npy -o OUT/x --model affine --ranks 2 --reproducible",
    "register-nonrigid": "register few.npy -o OUT/x --model nonrigid --ranks 2 --reproducible",
    "register-rows": "register few.npy -o OUT/x --scan-rows --ranks 2 --reproducible",
    "register-large": "register pair.npy -o OUT/x --ranks 1 --reproducible",
    "apply": "apply aligned/transforms.json series.npy -o OUT/x.npy",
    "apply-lanczos": "apply aligned/transforms.json series.npy -o OUT/x.tif --by lanczos",
    "apply-sum": "apply aligned/transforms.json series.npy -o OUT/x.mrc --by splat --sum",
    "info-tif": "info series.tif",
    "explain": "explain composite --ranks 64 --machine ddr-infiniband",
    "explain-filter": "explain filter --ranks 12 --machine ddr-infiniband",
    "simulate": "simulate compositing --algorithm radix-k --ranks 144 --platform fat-tree-144-calibrated --clock",
    "prove": "prove compositing --ranks 1..24",
}


def prepare(folder, old):
    source = pathlib.Path(__file__).parent.parent
    subprocess.run(["cp", "-r", source / "examples/data/brain", folder], check=True)
    random_numbers = numpy.random.default_rng(1)
    image = random_numbers.random((2048, 2048), numpy.float32)
    for _ in range(6):
        image = (image + numpy.roll(image, 1, 0) + numpy.roll(image, 1, 1)) / 3
    image = (image - image.min()) / (image.max() - image.min())
    volume = random_numbers.random((128, 192, 192), numpy.float32)
    for _ in range(3):
        volume = (volume + numpy.roll(volume, 1, 0) + numpy.roll(volume, 1, 1) + numpy.roll(volume, 1, 2)) / 4
    arrays = {
        "image": (image * 255).astype("u1"), "float": image, "noise": (random_numbers.random((2048, 2048)) < .3).astype("u1"),
        "half": (random_numbers.random((2048, 2048)) < .5).astype("u1"),
        "blobs": (image > numpy.median(image)).astype("u1"), "volume": volume,
        "volume_mask": (volume > numpy.median(volume)).astype("u1"),
        "regions": (numpy.arange(volume.size, dtype="u4") // 300 % 9000).reshape(volume.shape) * (volume > .5),
    }
    for name, array in arrays.items():
        numpy.save(folder / f"{name}.npy", array)
    def run(*arguments):
        subprocess.run([old, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    run("synthesize", "-o", "series.npy", "--frames", "32", "--width", "256", "--height", "256", "--drift-x", "1")
    run("synthesize", "-o", "series.tif", "--frames", "32", "--width", "256", "--height", "256", "--drift-x", "1")
    run("synthesize", "-o", "few.npy", "--frames", "8", "--width", "192", "--height", "192")
    run("synthesize", "-o", "pair.npy", "--frames", "2", "--width", "1536", "--height", "1536")
    run("register", "series.npy", "-o", "aligned")
    run("label", "volume_mask.npy", "-o", "volume_mask.zarr")


def seconds(program, arguments, folder):
    out = folder / "out"
    subprocess.run(["rm", "-rf", out])
    out.mkdir()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run([program, *arguments.replace("OUT", "out").split()], cwd=folder, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode:
        raise RuntimeError(f"{program} {arguments}: {run.stdout}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def hashes(out):
    return {path.relative_to(out): hashlib.sha256(path.read_bytes()).digest()
            for path in out.rglob("*") if path.is_file() and path.suffix != ".json"}


def interval(ratios):
    chance = random.Random(1)
    medians = sorted(statistics.median(chance.choices(ratios, k=len(ratios))) for _ in range(2000))
    return medians[50], medians[1949]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    programs = [os.path.abspath(options.old), os.path.abspath(options.new)]
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ |= {"SEXTANT_PROBE": "off", "HOME": name, "XDG_CACHE_HOME": "", "XDG_CONFIG_HOME": ""}
        prepare(folder, programs[0])
        for case, arguments in cases.items():
            if options.only not in case:
                continue
            times, files = [[], []], [{}, {}]
            for pair in range(options.pairs):
                for which in ((0, 1), (1, 0))[pair % 2]:
                    times[which].append(seconds(programs[which], arguments, folder))
                    if pair == 0:
                        files[which] = hashes(folder / "out")
            ratios = [new / old for old, new in zip(*times)]
            low, high = interval(ratios)
            slower = low > 1.03
            failed += slower
            differing = sorted(str(path) for path in files[0].keys() | files[1].keys()
                               if files[0].get(path) != files[1].get(path))
            print(f"{case:20} {statistics.median(times[0]):8.3f} s {statistics.median(times[1]):8.3f} s  "
                  f"{statistics.median(ratios):5.2f} [{low:.2f}, {high:.2f}]{'  SLOWER' if slower else ''}"
                  f"{'  differ: ' + ', '.join(differing[:5]) if differing else ''}", flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
