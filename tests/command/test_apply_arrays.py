# SPDX-License-Identifier: BSD-3-Clause
"""Compares `sextant apply` to arrays of 3 to 6 axes with NumPy and SciPy."""
from command_test import *

FOLDER, PEAK_MEMORY = script("numpy", "scipy", "zarr", "h5py", "tifffile"), os.environ["PEAK_MEMORY"]
import h5py
import numcodecs
import numpy as np
import scipy.ndimage
import tifffile
import zarr

rng = np.random.default_rng(7)


def fail(text):
    sys.exit(f"FAILED: {text}")


def run(*arguments, expect=0):
    """Runs a command. Stores are written in version 2, which Debian's zarr reads."""
    words = list(map(str, arguments))
    if "-o" in words and words[words.index("-o") + 1].endswith(".zarr"):
        words += ["--zarr", "2"]
    done = subprocess.run([SEXTANT, *words], capture_output=True, text=True)
    if done.returncode not in ((1, 2) if expect else (0,)):
        fail(f"exit code {done.returncode}: {arguments}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def motions(path, frames, width, height, canvas=None, rows=None, model="rigid"):
    """Writes transforms: `frames` are (alpha, tx, ty), a 2x2 matrix with (tx, ty), or None."""
    out = []
    for number, frame in enumerate(frames):
        if frame is None:
            out.append({"frame": number, "left_out": "dark"})
        elif model == "affine":
            (a, b, c, d), tx, ty = frame
            out.append({"frame": number, "alpha": 0.0, "tx": tx, "ty": ty, "matrix": [[a, b], [c, d]]})
        else:
            out.append({"frame": number, "alpha": frame[0], "tx": frame[1], "ty": frame[2]})
    found = {"kind": "sextant transforms", "version": 1, "series": "movie", "model": model,
             "reference": next(i for i, f in enumerate(frames) if f is not None),
             "width": width, "height": height, "frames": out}
    if canvas:
        found["canvas"] = dict(zip(("x", "y", "width", "height"), canvas))
    if rows is not None:
        np.save(path.with_suffix(".rows.npy"), rows.astype(np.float32))
        found["rows"] = {"file": path.with_suffix(".rows.npy").name, "rows": height}
    path.write_text(json.dumps(found))
    return path


def positions(motion, shape, area):
    """φ of the pixels of an area: rows and columns in the frame."""
    x, y, width, height = area
    alpha, tx, ty = motion
    cx, cy = (shape[1] - 1) / 2, (shape[0] - 1) / 2
    ys, xs = np.mgrid[y:y + height, x:x + width].astype(float)
    cos, sin = np.cos(alpha), np.sin(alpha)
    return (sin * (xs - cx) + cos * (ys - cy) + cy + ty, cos * (xs - cx) - sin * (ys - cy) + cx + tx)


def weights(kind, u):
    if kind == "bilinear":
        return [(0, 1 - u), (1, u)]
    if kind == "cubic":
        def keys(t):
            t = abs(t)
            return 1.5 * t**3 - 2.5 * t**2 + 1 if t <= 1 else -.5 * t**3 + 2.5 * t**2 - 4 * t + 2 if t < 2 else 0
        return [(i, keys(u - i)) for i in range(-1, 3)]
    taps = [(i, np.sinc(u - i) * np.sinc((u - i) / 3)) for i in range(-2, 4)]
    total = sum(w for _, w in taps)
    return [(i, w / total) for i, w in taps]


def interpolated(plane, motion, area, kind, gap):
    """A readable reference, pixel by pixel: plane is (rows, columns, ...)."""
    height, width = plane.shape[:2]
    ys, xs = positions(motion, plane.shape, area)
    out = np.full(ys.shape + plane.shape[2:], gap, float)
    for i, j in np.ndindex(ys.shape):
        y, x = ys[i, j], xs[i, j]
        if not (0 <= y <= height - 1 and 0 <= x <= width - 1):
            continue
        fy, fx = int(np.floor(y)), int(np.floor(x))
        value = 0.
        for dy, wy in weights(kind, y - fy):
            for dx, wx in weights(kind, x - fx):
                if wy * wx != 0:
                    value = value + wy * wx * plane[np.clip(fy + dy, 0, height - 1),
                                                    np.clip(fx + dx, 0, width - 1)].astype(float)
        out[i, j] = value
    return out


def splatted(plane, motion, area):
    """Distributes each pixel to four; returns the result, the weights, and what fell outside."""
    x0, y0, width, height = area
    alpha, tx, ty = motion
    rows, columns = plane.shape[:2]
    cx, cy = (columns - 1) / 2, (rows - 1) / 2
    out, hits, lost = np.zeros((height, width) + plane.shape[2:]), np.zeros((height, width)), 0.
    for r, c in np.ndindex(rows, columns):
        dx, dy = c - cx - tx, r - cy - ty
        x = np.cos(alpha) * dx + np.sin(alpha) * dy + cx - x0
        y = -np.sin(alpha) * dx + np.cos(alpha) * dy + cy - y0
        fx, fy = int(np.floor(x)), int(np.floor(y))
        for i, wy in ((fy, 1 - (y - fy)), (fy + 1, y - fy)):
            for j, wx in ((fx, 1 - (x - fx)), (fx + 1, x - fx)):
                if 0 <= i < height and 0 <= j < width:
                    out[i, j] += wy * wx * plane[r, c]
                    hits[i, j] += wy * wx
                else:
                    lost += wy * wx * plane[r, c].sum(dtype=float)
    return out, hits, lost


def refuse(text, *arguments, out="gone.npy"):
    printed = run("apply", *arguments, "-o", FOLDER / out, expect=1)
    for part in text if isinstance(text, tuple) else (text,):
        if part not in printed:
            fail(f"expected {part} in: {printed}")
    if (FOLDER / out).exists() or list(FOLDER.glob(".sextant-*")):
        fail(f"{text}: something is left")


def close(found, wanted, tolerance, what):
    if found.shape != wanted.shape:
        fail(f"{what}: the shape is {found.shape}, expected {wanted.shape}")
    if not np.allclose(found, wanted, rtol=tolerance, atol=tolerance, equal_nan=True):
        worst = np.nanmax(np.abs(found.astype(float) - wanted))
        fail(f"{what}: differs by {worst}, gaps {np.isnan(found).sum()} and {np.isnan(wanted).sum()}")


def same(found, wanted, what):  # of arrays
    if found.shape != wanted.shape or found.dtype != wanted.dtype or not np.array_equal(
            found, wanted, equal_nan=found.dtype.kind == "f"):
        fail(f"{what}: {found.dtype} {found.shape} differs from {wanted.dtype} {wanted.shape}")


def write(path, array, chunks=None, axes=None, fill=0):
    if path.suffix == ".npy":
        np.save(path, array)
    elif path.suffix == ".h5":
        with h5py.File(path, "w") as file:
            file.create_dataset("data", data=array, chunks=chunks, compression="gzip")
    elif path.suffix == ".tif":
        tifffile.imwrite(path, array, imagej=True, metadata={"axes": axes})
    else:
        group = zarr.open_group(str(path), "w")
        made = group.create_dataset("0", shape=array.shape, dtype=array.dtype, chunks=chunks, fill_value=fill)
        made[...] = array
        if axes:
            group["0"].attrs["_ARRAY_DIMENSIONS"] = list(axes)


def read(path):  # of arrays
    if path.suffix == ".npy":
        return np.load(path)
    if path.suffix == ".h5":
        with h5py.File(path, "r") as file:
            return file["data"][...]
    if path.suffix == ".tif":
        return tifffile.imread(path)
    return zarr.open_group(str(path), "r")["0"][...]


# The positions agree with SciPy's affine_transform, plane by plane.
HEIGHT, WIDTH, FRAMES = 19, 23, 4
AREA = (0, 0, WIDTH, HEIGHT)
found = [(0, 0, 0), None, (.05, 1.3, -2.25), (0, -2.5, 3.75)]
moved = [0, 2, 3]
transforms = motions(FOLDER / "motions.json", found, WIDTH, HEIGHT)
shapes = {3: ((FRAMES, HEIGHT, WIDTH), "TYX", (1, 8, 8)),
          4: ((FRAMES, HEIGHT, WIDTH, 5), "TYXE", (1, 8, 8, 2)),
          5: ((FRAMES, 3, HEIGHT, WIDTH, 4), "TCYXE", (1, 2, 8, 8, 4)),
          6: ((FRAMES, 2, HEIGHT, WIDTH, 3, 2), "t,c,y,x,ky,kx", (2, 1, 7, 9, 2, 2))}


def leading(array, axes):
    """The array as (frames, loops, rows, columns, vectors)."""
    shape = array.shape
    row = axes.lower().replace(",", "").index("y") if "," not in axes else axes.split(",").index("y")
    return array.reshape(shape[0], -1, shape[row], shape[row + 1], int(np.prod(shape[row + 2:], initial=1)))


def by_scipy(array, axes, order):
    full, out = leading(array, axes), []
    for frame in moved:
        ys, xs = positions(found[frame], (HEIGHT, WIDTH), AREA)
        outside = (ys < 0) | (ys > HEIGHT - 1) | (xs < 0) | (xs > WIDTH - 1)
        planes = []
        for loop in range(full.shape[1]):
            vectors = [scipy.ndimage.map_coordinates(full[frame, loop, :, :, i].astype(float), [ys, xs],
                                                     order=order, mode="nearest")
                       for i in range(full.shape[4])]
            plane = np.stack(vectors, axis=-1)
            plane[outside] = np.nan
            planes.append(plane)
        out.append(np.stack(planes))
    return np.stack(out).reshape((len(moved),) + array.shape[1:])


for dimensions, (shape, axes, chunks) in shapes.items():
    array = rng.normal(100, 20, shape).astype(np.float32)
    wanted = by_scipy(array, axes, 1)
    for suffix in (".npy", ".zarr", ".h5"):
        data = FOLDER / f"data{dimensions}{suffix}"
        write(data, array, chunks)
        for target in (".npy", ".zarr", ".h5"):
            out = FOLDER / f"out{target}"
            run("apply", transforms, data, "-o", out, "--axes", axes)
            result = read(out)
            if target == ".h5":
                with h5py.File(out, "r") as file:
                    layout = file["data"].chunks, file["data"].compression
                if layout[0] is None or (dimensions > 3 and layout[0][0] != 1) or layout[1] is not None:
                    fail(f"{data.name} to {out.name}: chunks and compression are {layout}")
            if result.dtype != np.float32:
                fail(f"{data.name} to {out.name}: {result.dtype}")
            close(result, wanted, 1e-4, f"{data.name} to {out.name}")
            if target == ".npy":
                first = result
            same(result, first, f"{data.name} to {out.name}")
        # Names separated by commas, and an axis of length 1 after the columns.
        if dimensions == 3:
            run("apply", transforms, data, "-o", FOLDER / "out.npy", "--axes", "time,row,column")
            same(np.load(FOLDER / "out.npy"), first, f"{data.name} with words for its axes")
            single = FOLDER / f"single{suffix}"
            write(single, array[..., None], chunks + (1,))
            run("apply", transforms, single, "-o", FOLDER / "out.npy", "--axes", "TYXE")
            same(np.load(FOLDER / "out.npy")[..., 0], first, f"{single.name}, spectra of one energy")
        # The same bits for every memory limit.
        run("apply", transforms, data, "-o", FOLDER / "small.npy", "--axes", axes, "--memory", "1")
        same(read(FOLDER / "small.npy"), first, f"{data.name} in 1 MiB")
    # Integers are rounded and clamped, gaps are 0.
    integers = rng.integers(0, 250, shape).astype(np.uint8)
    write(FOLDER / "bytes.npy", integers)
    run("apply", transforms, FOLDER / "bytes.npy", "-o", FOLDER / "out.npy", "--axes", axes)
    result = np.load(FOLDER / "out.npy")
    wanted = np.nan_to_num(by_scipy(integers, axes, 1))
    run("apply", transforms, FOLDER / "bytes.npy", "-o", FOLDER / "out.h5", "--axes", axes)
    same(read(FOLDER / "out.h5"), result, f"bytes of {dimensions} axes in HDF5")
    with h5py.File(FOLDER / "out.h5", "r") as file:
        if file["data"].compression != "gzip":
            fail(f"bytes of {dimensions} axes in HDF5: the compression is {file['data'].compression}")
    if result.dtype != np.uint8 or np.abs(result - wanted).max() > .5 + 1e-6:
        fail(f"bytes of {dimensions} axes: {result.dtype}, {np.abs(result - wanted).max()}")

# Cubic and Lanczos against the reference above; bilinear too.
array = rng.normal(10, 3, (FRAMES, HEIGHT, WIDTH, 2)).astype(np.float64)
write(FOLDER / "data.npy", array)
for kind in ("bilinear", "cubic", "lanczos"):
    run("apply", transforms, FOLDER / "data.npy", "-o", FOLDER / "out.npy", "--axes", "TYXE", "--by", kind)
    wanted = np.stack([interpolated(array[i], found[i], AREA, kind, np.nan) for i in moved])
    close(np.load(FOLDER / "out.npy"), wanted, 1e-12, kind)
    write(FOLDER / "scalars.npy", array[..., 0].copy())
    run("apply", transforms, FOLDER / "scalars.npy", "-o", FOLDER / "out.npy", "--by", kind)
    close(np.load(FOLDER / "out.npy"), wanted[..., 0], 1e-12, f"{kind} of images")
# Cubic convolution reproduces parabolas, away from the borders.
ys, xs = np.mgrid[:HEIGHT, :WIDTH].astype(float)
parabola = np.stack([.3 * xs**2 - .2 * xs * ys + ys**2 - 7 * xs] * FRAMES)
write(FOLDER / "parabola.npy", parabola)
run("apply", transforms, FOLDER / "parabola.npy", "-o", FOLDER / "out.npy", "--by", "cubic")
py, px = positions(found[2], (HEIGHT, WIDTH), AREA)
inner = (py > 1) & (py < HEIGHT - 2) & (px > 1) & (px < WIDTH - 2)
exact = .3 * px**2 - .2 * px * py + py**2 - 7 * px
if np.abs(np.load(FOLDER / "out.npy")[1] - exact)[inner].max() > 1e-9:
    fail("cubic convolution does not reproduce a parabola")

# Shifts by whole pixels keep bits of every type, and say how far pixels are from their positions.
for kind in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8"):
    raw = rng.integers(0, 256, FRAMES * HEIGHT * WIDTH * 3 * np.dtype(kind).itemsize, dtype=np.uint8)
    array = raw.view(kind).reshape(FRAMES, HEIGHT, WIDTH, 3)
    write(FOLDER / "data.npy", array)
    text = run("apply", transforms, FOLDER / "data.npy", "-o", FOLDER / "out.npy", "--axes", "TYXE", "--by", "shift")
    result = np.load(FOLDER / "out.npy")
    gap = np.nan if kind[0] == "f" else 0
    for number, (dx, dy) in enumerate([(0, 0), (1, -2), (-2, 4)]):
        wanted = np.full((HEIGHT, WIDTH, 3), gap, kind)
        source = array[moved[number]]
        y0, y1 = max(0, -dy), min(HEIGHT, HEIGHT - dy)
        x0, x1 = max(0, -dx), min(WIDTH, WIDTH - dx)
        wanted[y0:y1, x0:x1] = source[y0 + dy:y1 + dy, x0 + dx:x1 + dx]
        bits = f"u{np.dtype(kind).itemsize}"
        inside = np.zeros((HEIGHT, WIDTH), bool)
        inside[y0:y1, x0:x1] = True
        if not np.array_equal(result[number].view(bits)[inside], wanted.view(bits)[inside]):
            fail(f"shifts of {kind} change bits of frame {moved[number]}")
        outside = result[number][~inside]
        if not (np.isnan(outside).all() if kind[0] == "f" else (outside == 0).all()):
            fail(f"shifts of {kind}: no gaps")
    if "misplace pixels by up to" not in text:
        fail("no warning that motions are not shifts: " + text)

# Splats keep the sum of counts, with what falls outside.
array = rng.poisson(3, (FRAMES, HEIGHT, WIDTH, 4)).astype(np.uint16)
write(FOLDER / "counts.npy", array)
write(FOLDER / "counts.zarr", array, (1, 4, 23, 2))
area = (-2, 1, WIDTH + 3, HEIGHT - 2)
canvas = motions(FOLDER / "canvas.json", found, WIDTH, HEIGHT, area)
for motion_file, where in ((transforms, AREA), (canvas, area)):
    parts = [splatted(array[i], found[i], where) for i in moved]
    wanted = np.stack([p[0] for p in parts])
    lost = sum(p[2] for p in parts)
    for data in ("counts.npy", "counts.zarr"):
        for memory in ("1024", "1"):
            text = run("apply", motion_file, FOLDER / data, "-o", FOLDER / "out.npy", "--axes", "TYXE", "--by",
                       "splat", "--memory", memory)
            result = np.load(FOLDER / "out.npy")
            if result.dtype != np.float32:
                fail(f"splats are {result.dtype}")
            close(result, wanted, 1e-5, f"splat of {data}")
            total = array[moved].sum(dtype=float)
            if abs(result.sum(dtype=float) + lost - total) > 1e-6 * total:
                fail(f"splat: {result.sum(dtype=float)} + {lost} is not {total}")
            stated = [float(word) for word in text.replace(",", " ").split() if word.replace(".", "").isdigit()]
            if not any(abs(s - lost) < 1e-4 * lost for s in stated) or not any(
                    abs(s - total) < 1e-6 * total for s in stated):
                fail(f"splat: expected {total} and {lost} in: {text}")
    # The sum of frames in one pass, and the weights.
    for memory in ("1024", "1"):
        run("apply", motion_file, FOLDER / "counts.zarr", "-o", FOLDER / "sum.npy", "--axes", "TYXE", "--by", "splat",
            "--sum", "--count", FOLDER / "count.npy", "--memory", memory)
        close(np.load(FOLDER / "sum.npy"), wanted.sum(axis=0), 1e-5, "sum of splats")
        close(np.load(FOLDER / "count.npy"), sum(p[1] for p in parts), 1e-5, "weights of splats")

# Sums of interpolated frames, with the number of frames.
run("apply", transforms, FOLDER / "counts.npy", "-o", FOLDER / "sum.zarr", "--axes", "TYXE", "--sum", "--count",
    FOLDER / "count.npy")
each = np.stack([interpolated(array[i], found[i], AREA, "bilinear", np.nan) for i in moved])
close(read(FOLDER / "sum.zarr"), np.nansum(each, axis=0), 1e-5, "sum of frames")
close(np.load(FOLDER / "count.npy"), (~np.isnan(each[..., 0])).sum(axis=0), 0, "number of frames")
run("apply", transforms, FOLDER / "counts.npy", "-o", FOLDER / "sum.npy", "--axes", "TYXE", "--sum", "--by", "shift")
if np.load(FOLDER / "sum.npy").dtype != np.uint64:
    fail("sums of shifted integers are not u64")

# 4-D STEM: each pattern encodes its true position, at which it ends.
NY, NX = 12, 14
drift = [(0, 0, 0), (0, 2, -1), (0, -3, 2)]
whole = motions(FOLDER / "whole.json", drift, NX, NY)
patterns = np.zeros((3, NY, NX, 5, 6), np.float32)
for t, (_, tx, ty) in enumerate(drift):
    for y, x in np.ndindex(NY, NX):
        patterns[t, y, x] = 1000 * (y - ty) + (x - tx) + np.arange(30).reshape(5, 6) / 64
write(FOLDER / "scan.zarr", patterns, (1, 4, 5, 5, 3), ("time", "y", "x", "ky", "kx"))
for by in ("shift", "splat", "bilinear"):
    run("apply", whole, FOLDER / "scan.zarr", "-o", FOLDER / "out.zarr", "--by", by)
    result = read(FOLDER / "out.zarr")
    for t, y, x in np.ndindex(3, NY, NX):
        tx, ty = drift[t][1:]
        if 0 <= y + ty < NY and 0 <= x + tx < NX:
            if not np.array_equal(result[t, y, x], 1000 * y + x + np.arange(30, dtype=np.float32).reshape(5, 6) / 64):
                fail(f"{by}: the pattern at {y}, {x} of frame {t} is that of another position")
if list(zarr.open(str(FOLDER / "out.zarr"), "r")["0"].attrs["_ARRAY_DIMENSIONS"]) != ["t", "y", "x", "ky", "kx"]:
    fail("the names of axes are lost")
# Splats by fractions keep the total of each pattern.
fractions = [(0, .3, -.6), (.1, 1.25, .5), (-.2, -.75, .125)]
moving = motions(FOLDER / "moving.json", fractions, NX, NY, (-6, -6, NX + 12, NY + 12))
for t, y, x in ((0, 3, 4), (1, 11, 13), (2, 0, 7)):
    single = np.zeros((3, NY, NX, 5, 6), np.float32)
    single[t, y, x] = rng.poisson(40, (5, 6))
    write(FOLDER / "single.zarr", single, (1, 4, 5, 5, 6), ("time", "y", "x", "ky", "kx"))
    run("apply", moving, FOLDER / "single.zarr", "-o", FOLDER / "out.zarr", "--by", "splat")
    result = read(FOLDER / "out.zarr").astype(float)
    close(result[t].sum(axis=(0, 1)), single[t, y, x].astype(float), 1e-6, "the total of a pattern")
    if np.count_nonzero(result.sum(axis=(3, 4))) > 4:
        fail("a pattern is on more than four positions")

# Affine motions and displacements of rows.
affine = [((1, 0, 0, 1), 0., 0.), ((1.02, .03, -.01, .97), .5, -.25)]
file = motions(FOLDER / "affine.json", affine, WIDTH, HEIGHT, model="affine")
array = rng.normal(5, 1, (2, HEIGHT, WIDTH, 3))
write(FOLDER / "data.npy", array)
run("apply", file, FOLDER / "data.npy", "-o", FOLDER / "out.npy", "--axes", "TYXE")
matrix = np.array(affine[1][0]).reshape(2, 2)[::-1, ::-1]  # rows first
centre = np.array([(HEIGHT - 1) / 2, (WIDTH - 1) / 2])
offset = centre + np.array(affine[1][2:0:-1]) - matrix @ centre
wanted = np.stack([scipy.ndimage.affine_transform(array[1, ..., i], matrix, offset, order=1, cval=np.nan)
                   for i in range(3)], axis=-1)
result = np.load(FOLDER / "out.npy")[1]
both = ~np.isnan(result) & ~np.isnan(wanted)  # at the very border, SciPy interpolates with the outside
if both.mean() < .8 or not np.allclose(result[both], wanted[both], rtol=1e-9):
    fail("an affine motion differs from SciPy's affine_transform")
rows = np.zeros((2, HEIGHT, 3))
rows[1, :, 0] = rng.normal(0, 1, HEIGHT).astype(np.float32)
file = motions(FOLDER / "rows.json", [(0, 0, 0), (0, .5, 0)], WIDTH, HEIGHT, rows=rows)
run("apply", file, FOLDER / "data.npy", "-o", FOLDER / "out.npy", "--axes", "TYXE")
result = np.load(FOLDER / "out.npy")[1]
for y in range(HEIGHT):
    wanted = np.full((WIDTH, 3), np.nan)
    xs = np.arange(WIDTH) + .5 + rows[1, y, 0]
    inside = (xs >= 0) & (xs <= WIDTH - 1)
    for i in range(3):
        wanted[inside, i] = np.interp(xs[inside], np.arange(WIDTH), array[1, y, :, i])
    close(result[y], wanted, 1e-9, f"row {y} of a scan")

# Hyperstacks: all channels and slices, or one; the same planes in other formats.
stack = rng.integers(0, 60000, (FRAMES, 2, 3, HEIGHT, WIDTH)).astype(np.uint16)
write(FOLDER / "hyper.tif", stack, axes="TZCYX")
write(FOLDER / "hyper.npy", stack)
run("apply", transforms, FOLDER / "hyper.tif", "-o", FOLDER / "out.tif")
run("apply", transforms, FOLDER / "hyper.npy", "-o", FOLDER / "out.npy", "--axes", "TZCYX")
same(read(FOLDER / "out.tif"), np.load(FOLDER / "out.npy"), "a hyperstack")
with tifffile.TiffFile(FOLDER / "out.tif") as file:
    if file.series[0].axes != "TZCYX":
        fail(f"a hyperstack has the axes {file.series[0].axes}")
run("apply", transforms, FOLDER / "hyper.tif", "-o", FOLDER / "one.tif", "--channel", 1, "--slice", 0)
close(read(FOLDER / "one.tif"), np.load(FOLDER / "out.npy")[:, 0, 1], 1.01, "channel 1 of slice 0")
write(FOLDER / "other.zarr", stack.transpose(0, 2, 1, 3, 4), (1, 1, 2, 9, 9), ("t", "c", "z", "y", "x"))
run("apply", transforms, FOLDER / "other.zarr", "-o", FOLDER / "ome.tif", "--by", "shift")
with tifffile.TiffFile(FOLDER / "ome.tif") as file:
    if file.series[0].axes != "TCZYX" or not file.is_ome:
        fail(f"slices before channels have the axes {file.series[0].axes}")
run("apply", transforms, FOLDER / "hyper.npy", "-o", FOLDER / "one.npy", "--axes", "TZCYX", "--channel", 1, "--slice", 0)
close(np.load(FOLDER / "one.npy"), np.load(FOLDER / "out.npy")[:, 0, 1], 1.01, "channel 1 of slice 0 of NPY")
if "cannot hold an array" not in run("apply", transforms, FOLDER / "hyper.npy", "-o", FOLDER / "gone.mrc", "--axes",
                                     "TZCYX", "--sample", "f32", expect=1):
    fail("a hyperstack in MRC")
# One frame with channels and slices.
write(FOLDER / "frame.npy", stack[2])
run("apply", transforms, FOLDER / "frame.npy", "-o", FOLDER / "one.npy", "--axes", "ZCYX", "--frame", 2)
same(np.load(FOLDER / "one.npy"), np.load(FOLDER / "out.npy")[1], "one frame")

# The pixel size and the distance of slices are kept, however frames move; a warning says if the output has no place for
# them.
still = motions(FOLDER / "still.json", [(0, 0, 0)] * FRAMES, WIDTH, HEIGHT)
left_out = motions(FOLDER / "left-out.json", [(0, 0, 0), None] + [(0, 0, 0)] * (FRAMES - 2), WIDTH, HEIGHT)
slices = rng.integers(0, 9, (FRAMES, HEIGHT, WIDTH)).astype(np.uint16)
for name, data, axes in (("z.tif", slices, "ZYX"), ("tz.tif", np.stack([slices] * FRAMES), "TZYX"),
                         ("zc.tif", np.stack([slices, slices], axis=1), "ZCYX")):
    tifffile.imwrite(FOLDER / name, data, imagej=True, resolution=(2, 2),
                     metadata={"axes": axes, "unit": "nm", "spacing": 3})
tifffile.imwrite(FOLDER / "z.ome.tif", slices, metadata={
    "axes": "ZYX", "PhysicalSizeX": .5, "PhysicalSizeXUnit": "nm", "PhysicalSizeY": .5, "PhysicalSizeYUnit": "nm",
    "PhysicalSizeZ": 3, "PhysicalSizeZUnit": "nm"})
nifti = bytearray(352)
for at, kind, values in ((0, "<i4", [348]), (40, "<i2", [5, WIDTH, HEIGHT, FRAMES, 1, 2, 1, 1]), (70, "<i2", [512, 16]),
                         (76, "<f4", [1, .5, .5, 3, 1, 1, 1, 1]), (108, "<f4", [352, 1]), (123, "u1", [3])):
    packed = np.array(values, kind).tobytes()
    nifti[at:at + len(packed)] = packed
nifti[344:348] = b"n+1\0"
(FOLDER / "cz.nii").write_bytes(bytes(nifti) + np.stack([slices, slices]).tobytes())
for name, outputs in (("z.tif", "tif zarr mrc nii h5"), ("z.ome.tif", "tif zarr mrc nii h5"), ("tz.tif", "tif zarr"),
                      ("zc.tif", "tif"), ("cz.nii", "tif zarr")):
    for suffix in outputs.split():
        for how in ((), ("--by", "shift")):
            out = FOLDER / f"sized.{suffix}"
            run("apply", still, FOLDER / name, "-o", out, *how)
            told = json.loads(run("info", out, "--json", *(("--time", 0) if name == "tz.tif" else ())))
            size = told["pixel_size"] or {"x": 0, "unit": ""}
            unit = 1 if name == "cz.nii" else {"nm": 1, "µm": 1000, "Å": .1}.get(size["unit"], 0)
            if not np.allclose([size["x"] * unit, (told["slice_distance"] or 0) * unit], [.5, 3], rtol=1e-6):
                fail(f"{name} to {out.name} {how}: {size}, distance {told['slice_distance']}")
    if name.startswith("z."):
        run("apply", left_out, FOLDER / name, "-o", FOLDER / "uneven.tif")
        if json.loads(run("info", FOLDER / "uneven.tif", "--json"))["slice_distance"]:
            fail("slices of which one is left out have one distance")
for name, suffix, lost in (("zc.tif", "zarr", True), ("zc.tif", "h5", False), ("z.tif", "zarr", False)):
    text = run("apply", still, FOLDER / name, "-o", FOLDER / f"sized.{suffix}", "--by", "shift")
    if ("the pixel size of 0.5 nm is not stored" in text) != lost:
        fail(f"{name} to .{suffix}: {text}")
    if ("the slice distance, 3 nm, is not stored" in text) != (suffix == "h5"):
        fail(f"{name} to .{suffix}: {text}")

# A sparse array stays sparse, in little memory.
big = motions(FOLDER / "big.json", [(0, 0, 0), (.01, 5.5, -3), (0, 2, 7)], 256, 256)
store = zarr.open_group(str(FOLDER / "sparse.zarr"), "w")
array = store.create_dataset("0", shape=(3, 4, 256, 256, 1024), chunks=(1, 1, 32, 32, 256), dtype="u2", fill_value=0)
store["0"].attrs["_ARRAY_DIMENSIONS"] = ["t", "c", "y", "x", "energy"]
array[1, 2, 40:60, 100:130, 300:400] = rng.integers(1, 1000, (20, 30, 100))
for by in ("bilinear", "shift", "splat"):
    done = subprocess.run([PEAK_MEMORY, SEXTANT, "apply", big, FOLDER / "sparse.zarr", "-o", FOLDER / "out.zarr",
                           "--by", by, "--memory", "128", "--zarr", "2"], capture_output=True, text=True)
    if done.returncode != 0:
        fail(done.stdout + done.stderr)
    peak = int([word for word in (done.stdout + done.stderr).split() if word.isdigit()][-1])
    if peak > 200 << 10 and not os.environ.get("SEXTANT_SANITIZE"):
        fail(f"sparse: {peak} KiB in memory\n{done.stdout}{done.stderr}")
    chunks = [p for p in (FOLDER / "out.zarr" / "0").rglob("*") if p.is_file() and not p.name.startswith(".")]
    if not 1 <= len(chunks) <= 24:
        fail(f"sparse: {len(chunks)} chunks are stored")
    plane = read(FOLDER / "out.zarr")[1, 2, :, :, 300:400]
    source = array[1, 2, :, :, 300:400]
    if by == "bilinear":
        wanted = np.nan_to_num(interpolated(source, (.01, 5.5, -3), (0, 0, 256, 256), "bilinear", np.nan)[20:90, 70:150])
        if np.abs(plane[20:90, 70:150] - wanted).max() > .5 + 1e-6:
            fail("sparse: other samples")
    elif by == "splat" and abs(plane.sum(dtype=float) - source.sum(dtype=float)) > 1e-6 * source.sum(dtype=float):
        fail("sparse: the sum of splats")
    # The same in HDF5: chunks of zeros are not stored.
    run("apply", big, FOLDER / "sparse.zarr", "-o", FOLDER / "out.h5", "--by", by, "--memory", "128")
    with h5py.File(FOLDER / "out.h5", "r") as file:
        data = file["data"]
        if data.id.get_num_chunks() > 24 or not np.array_equal(data[1, 2, :, :, 300:400], plane):
            fail(f"sparse: {data.id.get_num_chunks()} chunks are stored in HDF5, or they hold other samples")
# A fill value other than 0, and gaps.
store = zarr.open_group(str(FOLDER / "nan.zarr"), "w")
array = store.create_dataset("0", shape=(FRAMES, HEIGHT, WIDTH, 4), chunks=(1, 5, 5, 2), dtype="f4", fill_value=np.nan)
store["0"].attrs["_ARRAY_DIMENSIONS"] = ["t", "y", "x", "energy"]
array[2, 3:9, 4:12] = rng.normal(0, 1, (6, 8, 4))
write(FOLDER / "nan.npy", array[...])
run("apply", transforms, FOLDER / "nan.zarr", "-o", FOLDER / "out.zarr")
run("apply", transforms, FOLDER / "nan.npy", "-o", FOLDER / "out.npy", "--axes", "TYXE")
run("apply", transforms, FOLDER / "nan.zarr", "-o", FOLDER / "out.h5")
for name in ("out.zarr", "out.h5"):
    same(read(FOLDER / name), np.load(FOLDER / "out.npy"), f"a fill value of NaN in {name}")
store = zarr.open_group(str(FOLDER / "seven.zarr"), "w")
store.create_dataset("0", shape=(FRAMES, HEIGHT, WIDTH, 4), chunks=(1, 5, 5, 2), dtype="f4", fill_value=7)
store["0"].attrs["_ARRAY_DIMENSIONS"] = ["t", "y", "x", "energy"]
run("apply", transforms, FOLDER / "seven.zarr", "-o", FOLDER / "out.npy")
result = np.load(FOLDER / "out.npy")
if not np.array_equal(np.isnan(result), np.isnan(by_scipy(np.zeros((FRAMES, HEIGHT, WIDTH, 4)), "TYXE", 1))) or \
        set(result[~np.isnan(result)]) != {7}:
    fail("a fill value of 7")

# Bad input: both files are named, and nothing is left.


write(FOLDER / "short.npy", np.zeros((FRAMES - 1, HEIGHT, WIDTH, 2), np.float32))
refuse(("short.npy has 3 frames, expected the 4", "motions.json"), transforms, FOLDER / "short.npy", "--axes", "TYXE")
write(FOLDER / "wide.npy", np.zeros((FRAMES, HEIGHT, WIDTH + 1, 2), np.float32))
refuse(("wide.npy: is 24×19, expected 23×19", "motions.json"), transforms, FOLDER / "wide.npy", "--axes", "TYXE")
write(FOLDER / "good.npy", np.zeros((FRAMES, HEIGHT, WIDTH, 2), np.float32))
write(FOLDER / "far.npy", rng.integers(0, 1000, (FRAMES, HEIGHT, WIDTH)) + 2**40)
refuse(("far.npy: has samples near", "f32 cannot represent"), transforms, FOLDER / "far.npy", "--by", "shift", out="far.mrc")
refuse("expected names for them, such as --axes TYXE", transforms, FOLDER / "good.npy")
refuse("expected a name for each of 4 axes", transforms, FOLDER / "good.npy", "--axes", "TYX")
refuse("expected a letter for each axis", transforms, FOLDER / "good.npy", "--axes", "TYYX")
refuse("next to each other", transforms, FOLDER / "good.npy", "--axes", "TYEX")
refuse("has no channel 1, expected channel 0", transforms, FOLDER / "good.npy", "--axes", "TYXE", "--channel", 1)
refuse("cannot hold an array with the axes t,y,x,e", transforms, FOLDER / "good.npy", "--axes", "TYXE", out="gone.tif")
(FOLDER / "cut.npy").write_bytes((FOLDER / "good.npy").read_bytes()[:-10])
refuse("cut.npy: is truncated", transforms, FOLDER / "cut.npy", "--axes", "TYXE")
write(FOLDER / "torn.zarr", np.ones((FRAMES, HEIGHT, WIDTH, 2), np.float32), (1, 8, 8, 2), "tyxe")
victim = FOLDER / "torn.zarr" / "0" / "2.1.1.0"
victim.write_bytes(victim.read_bytes()[:20])
refuse("2.1.1.0", transforms, FOLDER / "torn.zarr", out="gone.zarr")
refuse("expected --sum, because it counts the frames summed in each pixel", transforms, FOLDER / "good.npy", "--count",
       FOLDER / "no.npy")
text = run("apply", transforms, FOLDER / "good.npy", "--axes", "TYXE", "-o", FOLDER / "no-such-folder" / "out.npy", expect=1)
if os.path.exists("/dev/full"):
    limit = subprocess.run(["sh", "-c", f"ulimit -f 8; exec {SEXTANT} apply {transforms} {FOLDER}/good.npy --axes TYXE "
                            f"-o {FOLDER}/full.npy"], capture_output=True, text=True)
    if limit.returncode == 0 or (FOLDER / "full.npy").exists() or list(FOLDER.glob(".sextant-*")):
        fail(f"a full disk: {limit.returncode} {limit.stderr}")

text = run("info", FOLDER / "good.npy", "--axes", "T,Y,X,ky")
if "t 4 × y 19 × x 23 × ky 2" not in text:
    fail("info does not show the axes: " + text)
text = run("info", FOLDER / "scan.zarr")
if "t 3 × y 12 × x 14 × ky 5 × kx 6" not in text:
    fail("info does not show the axes of the file: " + text)
# Register the sum of the patterns, and apply the motions to the patterns: their sum is the average of the series.
run("synthesize", "-o", FOLDER / "movie.npy", "--frames", 4, "--width", 96, "--height", 80, "--dose", 100)
movie = np.load(FOLDER / "movie.npy").astype(np.float32)
shares = rng.dirichlet(np.ones(6)).reshape(3, 2)
write(FOLDER / "stem.npy", (movie[..., None, None] * shares).astype(np.float32))
run("register", FOLDER / "movie.npy", "-o", FOLDER / "out", "--format", "npy")
run("apply", FOLDER / "out" / "transforms.json", FOLDER / "stem.npy", "--axes", "t,y,x,ky,kx", "--sum", "-o",
    FOLDER / "sum.npy", "--count", FOLDER / "count.npy")
summed, count = np.load(FOLDER / "sum.npy"), np.load(FOLDER / "count.npy")
same(count, np.load(FOLDER / "out" / "count.npy"), "the count of register")
average = np.load(FOLDER / "out" / "average.npy")
close(summed.sum(axis=(2, 3)), average * count, 1e-3, "the sum of patterns and the average of register")

# Signals of HyperSpy in Zarr, in its layout.


def write_zspy(path, signals, scale=.5):
    """`signals` are (title, array, names of axes)."""
    store = zarr.open_group(zarr.NestedDirectoryStore(str(path)), "w")
    store.attrs.update(file_format="ZSpy", file_format_version="3.1")
    for title, array, axes in signals:
        group = store.require_group("Experiments").require_group(title)
        for number, name in enumerate(axes):
            group.create_group(f"axis-{number}").attrs.update(
                _type="UniformDataAxis", name=name, units="nm" if len(name) < 3 else "s", scale=scale, offset=0.,
                size=array.shape[number], navigate=number < 2, is_binned=False)
        group.create_dataset("data", data=array, chunks=(1,) + tuple(max(2, n // 2) for n in array.shape[1:]))
        group.create_group("metadata").create_group("General").attrs["title"] = title
        group.create_group("original_metadata").create_dataset("_list_words", data=np.array(["a", "b"], object),
                                                               object_codec=numcodecs.JSON())
        group.create_group("learning_results").create_dataset("factors", data=np.ones((3, 3)))


SCAN = ("time", "y", "x", "ky", "kx")
write_zspy(FOLDER / "scan.zspy", [("4-D STEM", patterns, SCAN)])
text = run("info", FOLDER / "scan.zspy")
if "HyperSpy Zarr" not in text or "t 3 × y 12 × x 14 × ky 5 × kx 6" not in text or "0.5 nm" not in text:
    fail("info does not show the signal in Zarr: " + text)
run("apply", whole, FOLDER / "scan.zarr", "-o", FOLDER / "wanted.npy", "--by", "shift")
run("apply", whole, FOLDER / "scan.zspy", "-o", FOLDER / "out.npy", "--by", "shift")
same(np.load(FOLDER / "out.npy"), np.load(FOLDER / "wanted.npy"), "a signal of HyperSpy in Zarr")
write_zspy(FOLDER / "two.zspy", [("movie", movie, ("time", "y", "x")), ("scan", patterns, SCAN)])
for command in (["info"], ["register", "-o", FOLDER / "refused"], ["apply", whole, "-o", FOLDER / "refused.npy"]):
    text = run(*command, FOLDER / "two.zspy", expect=1)
    if "two.zspy: holds several signals" not in text or "Experiments/movie/data, Experiments/scan/data" not in text:
        fail(f"{command[0]}: two signals: {text}")
run("apply", whole, f"{FOLDER}/two.zspy::Experiments/scan", "-o", FOLDER / "out.npy", "--by", "shift")
same(np.load(FOLDER / "out.npy"), np.load(FOLDER / "wanted.npy"), "one of two signals in Zarr")
np.save(FOLDER / "movie32.npy", movie)
run("register", FOLDER / "movie32.npy", "-o", FOLDER / "of-npy", "--format", "npy")
run("register", f"{FOLDER}/two.zspy::Experiments/movie/data", "-o", FOLDER / "of-zspy", "--format", "npy")
same(np.load(FOLDER / "of-zspy" / "average.npy"), np.load(FOLDER / "of-npy" / "average.npy"), "register of a .zspy")
if json.loads((FOLDER / "of-zspy" / "transforms.json").read_text())["frames"][3]["tx"] != json.loads(
        (FOLDER / "of-npy" / "transforms.json").read_text())["frames"][3]["tx"]:
    fail("register finds other motions in a .zspy")
refuse("no.zspy", transforms, FOLDER / "good.npy", "--axes", "TYXE", out="no.zspy")

# HyperSpy's own names of axes; it reads the result chunk by chunk.
try:
    import dask.array
    import hyperspy.api as hs
except ImportError:
    hs = None
if hs:
    signal = hs.signals.Signal2D(patterns)
    for axis, name in zip(signal.axes_manager._axes, ("time", "y", "x", "ky", "kx")):
        axis.name = name
    for extension in ("zspy", "hspy"):
        name = FOLDER / f"saved.{extension}"
        signal.save(name, overwrite=True)
        if "t 3 × y 12 × x 14 × ky 5 × kx 6" not in run("info", name):
            fail(f"info does not show HyperSpy's axes in .{extension}")
        run("apply", whole, name, "-o", FOLDER / "aligned.zarr", "--by", "shift")
        same(read(FOLDER / "aligned.zarr"), np.load(FOLDER / "wanted.npy"), f"a signal that HyperSpy saved as .{extension}")
    aligned = hs.signals.Signal2D(dask.array.from_zarr(str(FOLDER / "aligned.zarr"), "0")).as_lazy()
    if aligned.axes_manager.navigation_shape != (NX, NY, 3) or aligned.axes_manager.signal_shape != (6, 5):
        fail(f"HyperSpy reads {aligned}")
    pattern = aligned.inav[6, 4, 2].data.compute()
    if not np.array_equal(pattern, 1000 * 4 + 6 + np.arange(30, dtype=np.float32).reshape(5, 6) / 64):
        fail("HyperSpy reads another pattern")

print("all agree")
