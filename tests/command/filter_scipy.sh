#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Filters compared with scipy.ndimage, if it is installed (python3-scipy).
. "$(dirname "$0")/start.sh"
python=/usr/bin/python3
"$python" -c 'import scipy.ndimage' 2>/dev/null || { echo "skipped: no SciPy"; exit 77; }
"$python" - "$SEXTANT" "$folder" <<'X'
import subprocess, sys
import numpy
from scipy import ndimage

command, folder = sys.argv[1:]
borders = {"replicate": "nearest", "mirror": "mirror", "constant": "constant"}
names = ["smooth", "x", "y", "xx", "xy", "yyy", "xxxx", "xxyy"]
orders = {name: (0, 0) if name == "smooth" else (name.count("y"), name.count("x")) for name in names}
random = numpy.random.default_rng(5)
height, width = 90, 131
y, x = numpy.mgrid[:height, :width]
images = {
    "f32": random.random((height, width)).astype(numpy.float32),
    "u16": (30000 + 2000 * numpy.sin(x / 6) * numpy.cos(y / 9)
            + random.integers(0, 500, (height, width))).astype(numpy.uint16),
    "u8": (200 * ((x // 20 + y // 17) % 2) + random.integers(0, 20, (height, width))).astype(numpy.uint8)}


def filtered(image, sigma, border, *options):
    numpy.save(folder + "/image.npy", image)
    subprocess.run([command, "filter", folder + "/image.npy", "-o", folder + "/out.npy", "--sigma", str(sigma),
                    "--derivatives", ",".join(names), "--border", border, "--ranks", "2", *options],
                   check=True, stdout=subprocess.DEVNULL)
    return numpy.load(folder + "/out.npy")


def compare(what, image, sigma, border, truncate, within, *options):
    for name, made in zip(names, filtered(image, sigma, border, *options)):
        wanted = ndimage.gaussian_filter(image.astype(numpy.float64), sigma, order=orders[name],
                                         mode=borders[border], truncate=truncate)
        error = numpy.abs(made - wanted).max() / numpy.abs(wanted).max()
        if not error <= within:
            sys.exit(f"FAILED: {what}, {name} at sigma {sigma}, {border}: {error:.1e} of the largest")


for kind, image in images.items():
    for border in borders:
        for sigma in (.5, 1, 1.3, 5, 5.5, 20):
            compare(kind, image, sigma, border, 8, 1e-4)
for truncate in (2, 3.3, 4):
    compare("truncated", images["f32"], 2.6, "mirror", truncate, 1e-5, "--truncate", str(truncate))
flat = numpy.full((40, 40), 3e38, numpy.float32)
if not numpy.allclose(filtered(flat, 2, "replicate")[0], 3e38, rtol=1e-6):
    sys.exit("FAILED: 3e38, smoothed, is not 3e38")
print("filters are those of SciPy")
X
