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

# Volumes: derivatives, and eigenvalues of the Hessian and of the structure tensor, in descending order as in
# scikit-image.
depth, height, width = 23, 31, 41
z, y, x = numpy.mgrid[:depth, :height, :width]
volumes = {
    "f32": random.random((depth, height, width)).astype(numpy.float32),
    "u16": (30000 + 2000 * numpy.sin(x / 6) * numpy.cos(y / 9) * numpy.sin(z / 4)
            + random.integers(0, 500, (depth, height, width))).astype(numpy.uint16),
    "u8": (200 * ((x // 10 + y // 7 + z // 5) % 2)
           + random.integers(0, 20, (depth, height, width))).astype(numpy.uint8)}
derivatives = ["smooth", "x", "y", "z", "xx", "xy", "xz", "yy", "yz", "zz", "xxyzz"]


def volume_filtered(volume, sigma, border, names, *options):
    numpy.save(folder + "/volume.npy", volume)
    text = ",".join(str(each) for each in sigma) if isinstance(sigma, tuple) else str(sigma)
    subprocess.run([command, "filter", folder + "/volume.npy", "-o", folder + "/out.npy", "--sigma", text,
                    "--derivatives", ",".join(names), "--border", border, "--ranks", "2", *options],
                   check=True, stdout=subprocess.DEVNULL)
    return {name: numpy.load(f"{folder}/out_{name}.npy") for name in names}


def by_scipy(volume, sigma, border, truncate, name):
    order = [0 if name == "smooth" else name.count(axis) for axis in "zyx"]
    return ndimage.gaussian_filter(volume.astype(numpy.float64), sigma, order=order, mode=borders[border],
                                   truncate=truncate)


def eigenvalues(tensor):
    rows = [[tensor["".join(sorted(a + b))] for b in "xyz"] for a in "xyz"]
    matrices = numpy.moveaxis(numpy.array(rows), (0, 1), (-2, -1))
    return numpy.moveaxis(numpy.linalg.eigvalsh(matrices)[..., ::-1], -1, 0)


def expect(what, made, wanted, within):
    error = numpy.abs(made - wanted).max() / numpy.abs(wanted).max()
    if not error <= within:
        sys.exit(f"FAILED: volume of {what}: {error:.1e} of the largest")


for kind, volume in volumes.items():
    for border in borders:
        for sigma in (.6, 2, (1.5, 1, .7)):
            for options, truncate, within in (((), 8, 1e-4), (("--truncate", "4"), 4, 1e-4 if kind == "u16" else 1e-5)):
                made = volume_filtered(volume, sigma, border, derivatives, *options)
                for name in derivatives:
                    expect(f"{kind}, {name} at sigma {sigma}, {border}, truncate {truncate}", made[name],
                           by_scipy(volume, sigma, border, truncate, name), within)
        sigma, integration = (1.5, 1, .75), (3, 2, 1.5)
        names = [f"hessian-{k}" for k in (1, 2, 3)] + [f"structure-{k}@1.5" for k in (1, 2, 3)]
        made = volume_filtered(volume, sigma, border, names + ["gradient-magnitude", "laplacian"], "--truncate", "4")
        second = {name: by_scipy(volume, sigma, border, 4, name) for name in ("xx", "xy", "xz", "yy", "yz", "zz")}
        first = {name: by_scipy(volume, sigma, border, 4, name) for name in "xyz"}
        products = {a + b: ndimage.gaussian_filter(first[a] * first[b], integration, mode=borders[border], truncate=4)
                    for a, b in second}
        for kinds, tensor in (("hessian-{}", second), ("structure-{}@1.5", products)):
            values = eigenvalues(tensor)
            for k in range(3):
                error = numpy.abs(made[kinds.format(k + 1)] - values[k]).max() / numpy.abs(values).max()
                if not error <= (1e-4 if kind == "u16" else 2e-5):
                    sys.exit(f"FAILED: volume of {kind}, {kinds.format(k + 1)}, {border}: {error:.1e} of the largest")
        expect(f"{kind}, gradient-magnitude, {border}", made["gradient-magnitude"],
               numpy.sqrt(sum(one ** 2 for one in first.values())), 1e-4)
        expect(f"{kind}, laplacian, {border}", made["laplacian"], second["xx"] + second["yy"] + second["zz"], 1e-4)
print("filters are those of SciPy")
X
