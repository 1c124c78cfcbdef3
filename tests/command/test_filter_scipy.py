# SPDX-License-Identifier: BSD-3-Clause
"""Filters compared with scipy.ndimage, if it is installed (python3-scipy)."""
from command_test import *

command, folder = SEXTANT, str(script("scipy"))
import numpy
from scipy import ndimage

borders = {"replicate": "nearest", "mirror": "mirror", "reflect": "reflect", "constant": "constant",
           "wrap": "wrap"}
random = numpy.random.default_rng(5)

derivatives = ["smooth", "x", "y", "z", "xx", "xy", "xz", "yy", "yz", "zz", "xxyzz"]

# Volumes: derivatives, and eigenvalues of the Hessian and of the structure tensor, in descending order as in scikit-image.
depth, height, width = 23, 31, 41
z, y, x = numpy.mgrid[:depth, :height, :width]
volumes = {
    "f32": random.random((depth, height, width)).astype(numpy.float32),
    "u16": (30000 + 2000 * numpy.sin(x / 6) * numpy.cos(y / 9) * numpy.sin(z / 4)
            + random.integers(0, 500, (depth, height, width))).astype(numpy.uint16),
    "u8": (200 * ((x // 10 + y // 7 + z // 5) % 2)
           + random.integers(0, 20, (depth, height, width))).astype(numpy.uint8)}


def volume_filtered(volume, sigma, border, names, *options):
    numpy.save(folder + "/volume.npy", volume)
    text = ",".join(str(each) for each in sigma) if isinstance(sigma, tuple) else str(sigma)
    ranks = () if "--ranks" in options or "--grid" in options else ("--ranks", "2")
    subprocess.run([command, "filter", folder + "/volume.npy", "-o", folder + "/out.npy", "--sigma", text,
                    "--derivatives", ",".join(names), "--border", border, *ranks, *options],
                   check=True, stdout=subprocess.DEVNULL)
    return {name: numpy.load(f"{folder}/out_{name}.npy") for name in names}


def by_scipy(volume, sigma, border, truncate, name):
    order = [0 if name == "smooth" else name.count(axis) for axis in "zyx"]
    return ndimage.gaussian_filter(volume.astype(numpy.float64), sigma, order=order, mode=borders[border],
                                   truncate=truncate)


def eigenvalues(tensor, axes="xyz"):
    rows = [[tensor["".join(sorted(a + b))] for b in axes] for a in axes]
    matrices = numpy.moveaxis(numpy.array(rows), (0, 1), (-2, -1))
    return numpy.moveaxis(numpy.linalg.eigvalsh(matrices)[..., ::-1], -1, 0)


def expect(what, made, wanted, within):
    error = numpy.abs(made - wanted).max() / numpy.abs(wanted).max()
    if not error <= within:
        sys.exit(f"FAILED: volume of {what}: {error:.1e} of the largest")


for kind, volume in volumes.items():
    for border in borders:
        sigma, integration = (1.5, 1, .75), (3, 2, 1.5)
        names = [f"hessian-{k}" for k in (1, 2, 3)] + [f"structure-{k}@1.5" for k in (1, 2, 3)]
        made = volume_filtered(volume, sigma, border, names + ["gradient-magnitude", "laplacian", *derivatives],
                               "--truncate", "4")
        for name in derivatives:
            expect(f"{kind}, {name}, {border}", made[name], by_scipy(volume, sigma, border, 4, name), 1e-4)
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

# Scales in a unit: along each axis they are divided by the size of a voxel, and derivatives are per unit.
def with_sizes(volume, unit, sizes):
    """Writes the volume with the sizes of its voxels along z, y and x."""
    numpy.save(folder + "/volume.npy", volume)
    shutil.rmtree(folder + "/volume.zarr", ignore_errors=True)
    subprocess.run([command, "filter", folder + "/volume.npy", "-o", folder + "/volume.zarr", "--derivatives", "smooth",
                    "--sigma", ".5", "--truncate", "0"], check=True, stdout=subprocess.DEVNULL)
    with open(folder + "/volume.zarr/zarr.json") as file:
        group = json.load(file)
    image = group["attributes"]["ome"]["multiscales"][0]
    for axis in image["axes"]:
        axis["unit"] = unit
    image["datasets"][0]["coordinateTransformations"][0]["scale"] = sizes
    with open(folder + "/volume.zarr/zarr.json", "w") as file:
        json.dump(group, file)


def in_units(names, *options):
    made = subprocess.run([command, "filter", folder + "/volume.zarr", "-o", folder + "/out.npy", "--derivatives",
                           ",".join(names), "--truncate", "4", "--border", "mirror", *options], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return made, {name: numpy.load(f"{folder}/out_{name}.npy") for name in names}


volume, sizes = volumes["f32"], numpy.array((.5, .2, .25))
with_sizes(volume, "micrometer", list(sizes))
names = ["smooth", "x", "y", "z", "xx", "xz", "yzz", "gradient-magnitude", "laplacian", "hessian-1", "hessian-3",
         "structure-1@0.6"]
for scale, factor in (("0.4um", 1), ("400nm", 1e-3), ("0.4 µm", 1), ("4e-4mm", 1e3), ("0.4,0.4,0.4um", 1)):
    said, made = in_units(["structure-1@" + str(.6 / factor) if "@" in name else name for name in names],
                          "--sigma", scale, "--ranks", "2")
    sigma = .4 / sizes
    if f"is {sigma[0]:.6g}, {sigma[1]:.6g}, {sigma[2]:.6g} voxels along z, y, x; derivatives are per" not in said:
        sys.exit("FAILED: the scale in voxels is not stated: " + said)
    units = sizes / factor

    def derivative(name):
        order = [name.count(axis) for axis in "zyx"] if name != "smooth" else [0, 0, 0]
        return by_scipy(volume, sigma, "mirror", 4, name) / numpy.prod(units ** order)

    second = {name: derivative(name) for name in ("xx", "xy", "xz", "yy", "yz", "zz")}
    first = {name: derivative(name) for name in "xyz"}
    products = {a + b: ndimage.gaussian_filter(first[a] * first[b], .6 / sizes, mode="mirror", truncate=4)
                for a, b in second}
    wanted = {name: derivative(name) for name in names[:7]}
    wanted["gradient-magnitude"] = numpy.sqrt(sum(one ** 2 for one in first.values()))
    wanted["laplacian"] = second["xx"] + second["yy"] + second["zz"]
    wanted["hessian-1"], _, wanted["hessian-3"] = eigenvalues(second)
    wanted["structure-1@0.6"] = eigenvalues(products)[0]
    for name, (label, values) in zip(names, made.items()):
        expect(f"sigma {scale}, {label}", values, wanted[name], 2e-5)
# Equal units along all axes are those of voxels, scaled.
_, by_unit = in_units(["smooth", "structure-2@3"], "--sigma", "2,2,2um", "--before", "smooth@1")
_, by_voxel = in_units(["smooth", "structure-2@12"], "--sigma", "4,10,8", "--before", "smooth@4")
if not numpy.array_equal(by_unit["smooth"], by_voxel["smooth"]):
    sys.exit("FAILED: scales of --before in a unit")
# Outputs keep the size of a voxel.
wanted = in_units(["z", "hessian-1"], "--sigma", "0.4um")[1]
for suffix in ("zarr", "tif", "mrc", "nii.gz"):
    subprocess.run([command, "filter", folder + "/volume.zarr", "-o", f"{folder}/kept.{suffix}", "--derivatives", "smooth",
                    "--sigma", ".5", "--truncate", "0"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([command, "filter", f"{folder}/kept.{suffix}", "-o", folder + "/out.npy", "--derivatives",
                    "z,hessian-1", "--truncate", "4", "--border", "mirror", "--sigma", "400nm"], check=True,
                   stdout=subprocess.DEVNULL)
    for name in wanted:
        expect(f"{suffix}, {name} at 400 nm", numpy.load(f"{folder}/out_{name}.npy"),
               wanted[name] / 1000 ** (1 if name == "z" else 2), 2e-5)
subprocess.run([command, "filter", folder + "/volume.zarr", "--frame", "3", "-o", folder + "/out.npy", "--sigma", "0.4um",
                "--derivatives", "xx,xy,yy,hessian-1,hessian-2,structure-1@0.6,structure-2@0.6,x,y", "--truncate", "4",
                "--border", "mirror"], check=True, stdout=subprocess.DEVNULL)


def of_image(name):
    order = [name.count(axis) for axis in "yx"]
    return ndimage.gaussian_filter(volume[3].astype(numpy.float64), .4 / sizes[1:], order=order, mode="mirror",
                                   truncate=4) / numpy.prod(sizes[1:] ** order)


second = {name: of_image(name) for name in ("xx", "xy", "yy")}
products = {a + b: ndimage.gaussian_filter(of_image(a) * of_image(b), .6 / sizes[1:], mode="mirror", truncate=4)
            for a, b in second}
wanted = [*second.values(), *eigenvalues(second, "xy"), *eigenvalues(products, "xy"), of_image("x"), of_image("y")]
for k, made in enumerate(numpy.load(folder + "/out.npy")):
    expect(f"an image in units, result {k}", made, wanted[k], 2e-5)


def refused(expected, *options):
    done = subprocess.run([command, "filter", folder + "/volume.zarr", "-o", folder + "/refused.npy", *options],
                          capture_output=True, text=True)
    if done.returncode == 0 or expected not in done.stderr:
        sys.exit(f"FAILED: {options}: {done.stderr}, expected {expected}")


refused("derivative z: the scale along z is 0.4 pixels, expected 0.5 to 1000", "--sigma", "0.2um",
        "--derivatives", "z")
refused("--derivatives structure-1@0.1µm: the scale along x is 0.4 pixels", "--sigma", "0.4um", "--derivatives",
        "structure-1@0.1")
with_sizes(volume, "second", list(sizes))
refused("volume.zarr states", "--sigma", "0.4um")

# Samples beyond the integers that floats hold, which differ from plane to plane only.
planes = numpy.mgrid[:40, :9, :11][0]
for kind, factor in (("int32", 1), ("uint32", 3), ("int64", 1), ("float64", .25)):
    volume = (10 ** 9 + planes * factor).astype(kind)
    every = []
    for options in (("--ranks", "1"), ("--ranks", "3"), ("--grid", "2x1x2"), ("--ranks", "2", "--memory", "200K")):
        made = volume_filtered(volume, 1, "replicate", ["z", "zz"], *options)
        every.append(made)
        for name in made:
            expect(f"{kind} beyond floats, {name}", made[name],
                   by_scipy(planes * factor, 1, "replicate", 8, name), 1e-4)
    for other in every[1:]:
        if not all(numpy.array_equal(every[0][name], other[name]) for name in other):
            sys.exit(f"FAILED: bits of {kind} beyond floats")
print("filters are those of SciPy")
