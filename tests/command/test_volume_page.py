# SPDX-License-Identifier: BSD-3-Clause
"""The pages and pyramids of labelled and filtered volumes, compared with NumPy, and with zarr if it is installed."""
import base64
import csv
import struct
import zlib

from command_test import *

command, folder = SEXTANT, str(script("numpy"))
import numpy

random = numpy.random.default_rng(11)


def check(true, what):
    if not true:
        sys.exit("FAILED: " + what)


def run(where, *arguments):
    os.makedirs(where, exist_ok=True)
    return subprocess.run([command, *arguments], cwd=where, check=True, capture_output=True, text=True).stdout


def pixels(png):
    """The pixels of a PNG file of 8-bit RGBA."""
    at, data = 8, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", png[at + 8:at + 18])
            check((depth, colour) == (8, 6), "a picture is not RGBA")
        if kind == b"IDAT":
            data += png[at + 8:at + 8 + length]
        at += 12 + length
    rows = zlib.decompress(data)
    above, lines = bytes(4 * width + 4), []
    for y in range(height):
        kind, row = rows[y * (4 * width + 1)], rows[y * (4 * width + 1) + 1:(y + 1) * (4 * width + 1)]
        line = bytearray(4) + row  # after a pixel of zeros
        for i in range(4, len(line)):
            left, up, corner = line[i - 4], above[i], above[i - 4]
            if kind == 4:
                near = [abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)]
                guess = (left, up, corner)[near.index(min(near))]
            else:
                guess = (0, left, up, (left + up) // 2)[kind]
            line[i] = (line[i] + guess) % 256
        above = line
        lines.append(numpy.frombuffer(bytes(line[4:]), numpy.uint8).reshape(width, 4))
    image = numpy.array(lines)
    check((image[..., 3] == 255).all(), "a picture is transparent")
    return image[..., :3].astype(int)


def read_page(path):
    with open(path) as file:
        page = file.read()
    found = re.findall(r'<image class="(\w\w)"[^>]*base64,([^"]*)"', page)
    check([name for name, _ in found] == ["xy", "zy", "xz"] * 2, "six slices")
    pictures = [(name, pixels(base64.b64decode(text))) for name, text in found]
    return page, dict(pictures[:3]), dict(pictures[3:])


def slices(volume, through, most=700):
    """Every step-th voxel of three slices."""
    z, y, x = through
    dz, dy, dx = (-(-side // most) for side in volume.shape)
    return {"xy": volume[z, ::dy, ::dx], "xz": volume[::dz, y, ::dx], "zy": volume[::dz, ::dy, x].T}


def centre(table, shape):
    if not table:
        return [side // 2 for side in shape]
    first = max(table, key=lambda row: (int(row["voxels"]), -int(row["label"])))
    return [int(numpy.floor(float(first["centroid_" + axis]) + .5)) for axis in "zyx"]


def quantile(values, share):
    return numpy.sort(values)[max(0, int(numpy.ceil(share * len(values))) - 1)]


def compare(where, labels, shown, *options):
    """Labels a volume and compares its page; returns the page without what differs between runs."""
    run(where, "label", "../volume.npy", "-o", "labels.npy", "--table", "table.csv", "--report", "page.html", *options)
    with open(where + "/table.csv") as file:
        table = list(csv.DictReader(file))
    page, grey, coloured = read_page(where + "/page.html")
    labels = numpy.load(where + "/labels.npy") if labels is None else labels
    through = centre(table, labels.shape)
    for axis, at in zip("zyx", through):
        check(f"{axis} = {at}" in page, f"{where}: the position of the slice {axis}")
    # Labels: one colour for each, black for the background, and that of the table.
    keys = dict((int(label), colour) for colour, label in re.findall(r'background:#(\w{6})"></span>(\d+)<', page))
    colours = {0: (0, 0, 0)}
    colours.update((label, tuple(bytes.fromhex(text))) for label, text in keys.items())
    for name, wanted in slices(labels, through).items():
        check(coloured[name].shape[:2] == wanted.shape, f"{where}: the size of {name}: {coloured[name].shape}")
        for label in numpy.unique(wanted):
            seen = numpy.unique(coloured[name][wanted == label], axis=0)
            check(len(seen) == 1, f"{where}: label {label} in {name} has {len(seen)} colours")
            check(colours.setdefault(int(label), tuple(seen[0])) == tuple(seen[0]),
                  f"{where}: label {label} in {name} has another colour")
    check(len(set(colours.values())) > .9 * min(len(colours), 300), f"{where}: colours are not distinct")
    # Grey values, between quantiles of all three slices.
    wanted = slices(shown, through)
    every = numpy.concatenate([each.ravel() for each in wanted.values()]).astype(float)
    every = every[numpy.isfinite(every)]
    black, white = quantile(every, .003), quantile(every, .997)
    if black >= white:
        black, white = every.min(), every.max()
    if black == white:
        black, white = min(black, 0), max(black, 0)
    for name, each in wanted.items():
        share = (each.astype(float) - black) / max(white - black, 1e-300)
        level = numpy.rint(255 * numpy.clip(numpy.nan_to_num(share), 0, 1))
        check(abs(grey[name] - level[..., None]).max() <= 1, f"{where}: grey values of {name}")
    # The table and the histogram.
    largest = sorted(table, key=lambda row: (-int(row["voxels"]), int(row["label"])))[:20]
    check(list(keys) == [int(row["label"]) for row in largest], f"{where}: the largest components")
    for row in largest:
        for text in (f"{int(row['voxels']):,}", f"{row['depth']} × {row['height']} × {row['width']}",
                     f"{int(row['faces']):,}"):
            check(f">{text}</td>" in page, f"{where}: {text} is not in the table")
    for bit in range(40):
        count = sum(1 for row in table if int(row["voxels"]) >> bit == 1)
        check((f"<title>{1 << bit:,}: components {count:,}</title>" in page) == (count > 0),
              f"{where}: {count} components of {1 << bit} voxels or more")
    check(not re.search(r"(src|href)=\"(?!data:)|url\(", page), f"{where}: the page loads other files")
    # Times, ranks, slabs and the date differ between runs.
    for varying in (r"<dt>(Ranks|Slabs|Memory|Predicted from the first slab|Machine)</dt><dd>[^<]*</dd>\n?", r"<table>\n<thead><tr><th scope=\"col\">Phase.*?</table>"):
        check(re.search(varying, page, re.S), f"{where}: no {varying}")
        page = re.sub(varying, "", page, flags=re.S)
    return page, table


def balls(shape, count, most):
    volume = numpy.zeros(shape, numpy.uint8)
    for _ in range(count):
        at, radius = random.random(3) * shape, random.uniform(1, most)
        box = tuple(slice(max(0, int(c - most)), int(c + most) + 1) for c in at)
        grid = numpy.ogrid[tuple(slice(each.start, min(each.stop, side)) for each, side in zip(box, shape))]
        volume[box] |= sum((axis - c) ** 2 for axis, c in zip(grid, at)) < radius * radius
    return volume


# Odd sizes; along x every third voxel is shown.
volume = balls((37, 61, 1403), 90, 9)
numpy.save(folder + "/volume.npy", volume)
intensity = (random.random(volume.shape) * 3000 + 500 * volume).astype(numpy.float32)
intensity[:, 30] = numpy.nan
numpy.save(folder + "/intensity.npy", intensity)
page, _ = compare(folder + "/one", None, volume)
check("The largest components" in page and "smaller components are not listed." in page, "the table's length")
for where, options in (("ranks", ["--ranks", "3"]), ("slabs", ["--memory", "1"]), ("both", ["--ranks", "2", "--memory", "1"])):
    check(compare(f"{folder}/{where}", None, volume, *options)[0] == page, f"another page with {options}")
page, _ = compare(folder + "/one", None, intensity, "--intensity", "../intensity.npy", "--min-size", "9")
check("../intensity.npy" in page and ">Mean</th>" in page and "<dt>Removed</dt>" in page, "intensities")
check(compare(folder + "/ranks", None, intensity, "--intensity", "../intensity.npy", "--min-size", "9", "--ranks", "3")[0]
      == page, "another page of intensities on ranks")
page, _ = compare(folder + "/one", None, volume, "--fill-holes", "--neighbours", "6")
check("<dt>Holes</dt>" in page and "6 neighbours" in page, "the holes")

# Filtered volumes: slices of the volume and of each derivative, in grey.
volume = random.random((31, 45, 903)).astype(numpy.float32)
volume[8, 9, 10] = numpy.nan
numpy.save(folder + "/volume.npy", volume)
for where, options in (("one", ["--ranks", "1"]), ("boxes", ["--grid", "2x1x2"]), ("windows", ["--ranks", "2", "--memory", "18"])):
    run(f"{folder}/{where}", "filter", "../volume.npy", "-o", "out.npy", "--derivatives", "smooth,z,structure-1@1",
        "--report", "page.html", "--json", "run.json", *options)
    with open(f"{folder}/{where}/page.html") as file:
        page = file.read()
    found = re.findall(r'<image class="(\w\w)"[^>]*base64,([^"]*)"', page)
    names = ["smooth", "z", "structure-1@1"]
    shown = [volume] + [numpy.load(f"{folder}/{where}/out_{name}.npy") for name in names]
    check([name for name, _ in found] == ["xy", "zy", "xz"] * len(shown), f"filter, {where}: slices")
    through = [side // 2 for side in volume.shape]
    for k, each in enumerate(shown):
        wanted = slices(each, through)
        every = numpy.concatenate([part.ravel() for part in wanted.values()]).astype(float)
        every = every[numpy.isfinite(every)]
        black, white = quantile(every, .003), quantile(every, .997)
        for name, text in found[3 * k:3 * k + 3]:
            level = numpy.rint(255 * numpy.clip(numpy.nan_to_num((wanted[name] - black) / (white - black)), 0, 1))
            check(abs(pixels(base64.b64decode(text)) - level[..., None]).max() <= 1, f"filter, {where}: {name} of {k}")
    check(all(f"<h3>{name}</h3>" in page for name in ["../volume.npy"] + names), f"filter, {where}: names")
    check(all(f"{axis} = {at}" in page for axis, at in zip("zyx", through)), f"filter, {where}: positions")
    check("One voxel in 1, 1 and 2" in page, f"filter, {where}: the step")
    predicted = re.search(r"<dt>Predicted</dt><dd>([^<]*)</dd>", page)
    check(predicted and "filter " in predicted[1] and ", measured " in predicted[1], f"filter, {where}: the prediction")
    check(not re.search(r"(src|href)=\"(?!data:)|url\(", page), f"filter, {where}: the page loads other files")
    with open(f"{folder}/{where}/run.json") as file:
        windows = json.load(file)["windows"]
    check(f"{windows} window" in page, f"filter, {where}: {windows} windows")
    if where != "boxes":  # the plan of the boxes decides on packed planes, which need memory
        check((windows > 1) == (where == "windows"), f"filter, {where}: {windows} windows")

# A report without a table measures too.
numpy.save(folder + "/volume.npy", balls((37, 61, 1403), 90, 9))
run(folder + "/only", "label", "../volume.npy", "-o", "labels.npy", "--report", "page.html")
check(read_page(folder + "/only/page.html")[0].count('class="key"') == 20, "a report without a table")

# No component, and components only.
for name, volume in (("empty", numpy.zeros((5, 7, 9), numpy.uint8)), ("full", numpy.ones((2, 7, 801), numpy.uint8))):
    numpy.save(folder + "/volume.npy", volume)
    page, table = compare(f"{folder}/{name}", None, volume)
    check(len(table) == (name == "full"), f"components of {name}")
    check((">Sizes<" in page) == (name == "full"), f"sizes of {name}")

# The pyramid, read by zarr.
try:
    import zarr
except ImportError:
    print("pages are as expected; skipped pyramids: no zarr")
    sys.exit(0)
volume = balls((67, 301, 519), 300, 6)
numpy.save(folder + "/volume.npy", volume)
for ranks in ("1", "3"):
    run(folder, "label", "volume.npy", "-o", "labels.zarr", "--pyramid", "--ranks", ranks, "--zarr", "2")
    run(folder, "label", "volume.npy", "-o", "labels.npy")
    store, labels = zarr.open(folder + "/labels.zarr", mode="r"), numpy.load(folder + "/labels.npy")
    check(sorted(store.array_keys()) == ["0", "1", "2"], "three levels")
    for level in range(3):
        step = 2 ** level
        check(numpy.array_equal(store[str(level)][:], labels[::step, ::step, ::step]), f"level {level}")
attributes = store.attrs.asdict()
check(attributes["image-label"]["version"] == "0.4", "the metadata of labels")
image = attributes["multiscales"][0]
check((image["version"], image["type"]) == ("0.4", "nearest"), "the type of the pyramid")
check([axis["name"] for axis in image["axes"]] == ["z", "y", "x"], "the axes")
for level, dataset in enumerate(image["datasets"]):
    check(dataset == {"path": str(level), "coordinateTransformations": [{"type": "scale", "scale": [2. ** level] * 3}]},
          f"the metadata of level {level}")
check("259" not in run(folder, "info", "labels.zarr"), "info shows another level")
check("260×151" in run(folder, "info", "labels.zarr::1"), "info of a level")

# Labels have the scale of their volume.
with open(folder + "/labels.zarr/.zattrs") as file:
    text = json.load(file)
for axis in text["multiscales"][0]["axes"]:
    axis["unit"] = "micrometer"
for dataset in text["multiscales"][0]["datasets"]:
    dataset["coordinateTransformations"][0]["scale"] = [2, .5, .25]
with open(folder + "/labels.zarr/.zattrs", "w") as file:
    json.dump(text, file)
run(folder, "label", "labels.zarr", "-o", "again.zarr", "--by-value", "--report", "page.html", "--zarr", "2")
check("distance    2 µm from slice to slice" in run(folder, "info", "again.zarr"), "info of the distance of slices")
image = zarr.open(folder + "/again.zarr", mode="r").attrs["multiscales"][0]
check([axis.get("unit") for axis in image["axes"]] == ["micrometer"] * 3, "the units of labels")
check(image["datasets"][0]["coordinateTransformations"][0]["scale"] == [2, .5, .25], "the scale of labels")
with open(folder + "/page.html") as file:
    page = file.read()
box = [float(side) for side in re.search(r'<image class="xy"[^>]*width="([\d.]+)" height="([\d.]+)"', page).groups()]
check(abs(box[0] / box[1] - 519 * .25 / (301 * .5)) < .01, "the slice xy is not to scale")
box = [float(side) for side in re.search(r'<image class="xz"[^>]*width="([\d.]+)" height="([\d.]+)"', page).groups()]
check(abs(box[0] / box[1] - 519 * .25 / (67 * 2)) < .01, "the slice xz is not to scale")
check("2, 0.5, 0.25 µm" in page, "the size of a voxel")

refused = subprocess.run([command, "label", "volume.npy", "-o", "x.npy", "--pyramid"], cwd=folder, capture_output=True, text=True)
check(refused.returncode != 0 and "x.npy: NPY files cannot hold a pyramid" in refused.stderr, "a pyramid in NPY")
check(not os.path.exists(folder + "/x.npy"), "an output of a failed run")
print("pages and pyramids are as expected")
