# SPDX-License-Identifier: BSD-3-Clause
# Volumes exchanged with nibabel and h5py: Sextant reads the NIfTI files that nibabel writes, of random types, byte
# orders, shapes and scales, and nibabel and h5py read the files that Sextant writes. All samples are compared. The
# labels of a NIfTI volume are those of SciPy, and have the orientation of the volume.
import itertools
import random
import subprocess
import sys
import tempfile

from peer import fail, finish, frames, sextant

try:
    import h5py
    import nibabel
    import numpy
    import scipy.ndimage
except ImportError:
    print("skipped: needs python3-nibabel, python3-h5py and python3-scipy (./test --peers installs them)")
    sys.exit(77)

numpy.seterr(over="ignore")  # f64 samples beyond the range of f32 become infinite
files = int(sys.argv[1]) if len(sys.argv) > 1 else 200
chance = random.Random(2028)
nibabel.imageglobals.logger.setLevel(50)
types = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"]


def name_of(dtype):
    return "%s%d" % (dtype.kind, 8 * dtype.itemsize)


def values(shape, dtype):
    """Values of all bits, except NaN."""
    generator = numpy.random.default_rng(chance.randrange(1 << 30))
    raw = generator.integers(0, 256, int(numpy.prod(shape)) * dtype.itemsize, dtype="u1").tobytes()
    flat = numpy.frombuffer(raw, dtype).copy()
    if dtype.kind == "f":
        flat[~numpy.isfinite(flat)] = 1
    return flat.reshape(shape)


def nifti_bytes(kind, order, array, slope, shift):
    """The header by nibabel, then the array, whose first axis varies fastest."""
    header = (nibabel.Nifti1Header if kind == 1 else nibabel.Nifti2Header)(endianness=order)
    header.set_data_dtype(array.dtype)
    header.set_data_shape(array.shape)
    header.set_data_offset(352 if kind == 1 else 544)
    header["magic"] = b"n+1" if kind == 1 else b"n+2\0\r\n\x1a\n"
    header.set_slope_inter(slope, shift)
    header.set_xyzt_units("mm", "sec")
    extension = b"\0\0\0\0"
    return header.binaryblock + extension + array.tobytes(order="F")


def check_reading(folder):
    combinations = list(itertools.product(types, "<>", (1, 2), (".nii", ".nii.gz"), (False, True)))
    chance.shuffle(combinations)
    lines, expected = [], []
    for number, (sample, order, kind, extension, scaled) in enumerate((combinations * 9)[:files]):
        dtype = numpy.dtype(order + sample)
        axes = chance.randint(2, 5)
        shape = tuple(chance.randint(1, 40 if axes < 4 else 7) for _ in range(axes))
        array = values(shape, dtype)
        slope, shift = (.5, -3) if scaled else (1, 0)
        path = "%s/%d%s" % (folder, number, extension)
        plain = path.removesuffix(".gz")
        with open(plain, "wb") as file:
            file.write(nifti_bytes(kind, order, array, slope, shift))
        if extension == ".nii.gz":
            subprocess.run(["gzip", "-1", plain], check=True)
        # All samples as nibabel reads them, with five axes: channels, times, slices, rows, columns.
        every = numpy.asarray(nibabel.load(path).dataobj.get_unscaled())
        if scaled:
            every = every.astype("f8") * slope + shift
            if dtype.itemsize <= 2 or sample == "f4":  # the significant bits of floats suffice
                every = every.astype("f4")
        every = every.reshape(shape + (1,) * (5 - axes)).transpose(4, 3, 2, 1, 0)
        channel = chance.randrange(every.shape[0])
        z = chance.randrange(every.shape[2]) if every.shape[1] > 1 else -1
        chosen = every[channel, :, z] if z >= 0 else every[channel, 0]
        lines.append("%s %d %d %s.raw\n" % (path, channel, z, path))
        expected.append((path, numpy.ascontiguousarray(chosen).astype(every.dtype.newbyteorder("="))))
    found = frames("store-samples", lines)
    if len(found) != len(lines):
        fail("%d series, expected %d" % (len(found), len(lines)))
    for line, (path, array) in zip(found, expected):
        header = "%d %d %d %s" % (*array.shape, name_of(array.dtype))
        same = line == header and numpy.fromfile(path + ".raw", array.dtype).tobytes() == array.tobytes()
        if not same:
            fail("%s: %s, expected %s, or other samples" % (path, line, header))


def check_writing(folder):
    shapes = [(1, 1, 1), (1, 300, 70), (5, 33, 47), (3, 1, 40000), (2, 4000, 1)]
    lines, expected = [], []
    for number, (kind, shape) in enumerate(itertools.product(types + ["f2"], shapes)):
        dtype = numpy.dtype(kind)
        array = values(shape, dtype)
        for extension in ["h5"] if kind == "f2" else ["nii", "nii.gz", "h5"]:
            path = "%s/written%d.%s" % (folder, number, extension)
            array.tofile(path + ".raw")
            lines.append("%s.raw %s %s %d %d %d\n" % (path, path, name_of(dtype), shape[0], shape[2], shape[1]))
            expected.append((path, array))
    frames("store-series", lines)
    for path, array in expected:
        if path.endswith(".h5"):
            with h5py.File(path, "r") as file:
                found = file["data"][...] if list(file) == ["data"] else numpy.zeros(0)
            array = array if array.shape[0] > 1 else array[0]
        else:
            image = nibabel.load(path)
            found = numpy.asarray(image.dataobj)
            found = found.transpose(*reversed(range(found.ndim))).reshape(array.shape)
            expected_kind = nibabel.Nifti2Image if max(array.shape) > 32767 else nibabel.Nifti1Image
            if type(image) is not expected_kind:
                fail("%s is a %s" % (path, type(image)))
        if found.dtype != array.dtype or numpy.ascontiguousarray(found).tobytes() != array.tobytes():
            fail("%s: other samples: %s %s" % (path, found.dtype, found.shape))


def same_regions(found, expected):
    """True if labels differ only by their order."""
    pairs = numpy.unique(numpy.stack([found.ravel(), expected.ravel()]), axis=1)
    return pairs.shape[1] == len(numpy.unique(found)) == len(numpy.unique(expected)) and (pairs[:, 0] == 0).all()


def check_labels(folder):
    generator = numpy.random.default_rng(3)
    volume = (generator.random((31, 20, 9)) < .2).astype("u1")
    expected, count = scipy.ndimage.label(volume, numpy.ones((3, 3, 3)))
    affine = numpy.array([[.7, .1, 0, 5], [0, .8, .2, 6], [.1, 0, -2, 7], [0, 0, 0, 1]])
    image = nibabel.Nifti1Image(volume, affine)
    image.header.set_xyzt_units("mm", "sec")
    image.set_qform(affine, 1)
    image.set_sform(affine, 4)
    for source, output in itertools.product(("v.nii", "v.nii.gz"), ("l.nii", "l.nii.gz")):
        nibabel.save(image, "%s/%s" % (folder, source))
        sextant("label", "%s/%s" % (folder, source), "-o", "%s/%s" % (folder, output))
        labels = nibabel.load("%s/%s" % (folder, output))
        if not same_regions(numpy.asarray(labels.dataobj), expected):
            fail("%s: other labels than SciPy's %d" % (source, count))
        read = nibabel.load("%s/%s" % (folder, source))
        for part in ("qform_code", "sform_code"):
            if labels.header[part] != read.header[part]:
                fail("%s: %s is %s" % (output, part, labels.header[part]))
        if not ((labels.affine == read.affine).all() and (labels.get_qform() == read.get_qform()).all()):
            fail("%s: another orientation" % output)
        if labels.header.get_zooms() != read.header.get_zooms() or labels.header.get_xyzt_units()[0] != "mm":
            fail("%s: another voxel size" % output)
    # The volume at a time of a series, and arrays with named axes.
    series = numpy.stack([volume * 0, volume, volume * 0], axis=3)
    nibabel.save(nibabel.Nifti1Image(series, affine), folder + "/s.nii.gz")
    sextant("label", folder + "/s.nii.gz", "--time", "1", "-o", folder + "/s1.nii")
    if not same_regions(numpy.asarray(nibabel.load(folder + "/s1.nii").dataobj), expected):
        fail("other labels of a volume of a series")
    arrays = series.transpose(3, 2, 1, 0)
    numpy.save(folder + "/s.npy", arrays)
    numpy.save(folder + "/f.npy", numpy.asfortranarray(arrays))
    with h5py.File(folder + "/s.h5", "w") as file:
        file.create_dataset("s", data=arrays, chunks=True, compression="gzip")
    for name in ("s.npy", "f.npy", "s.h5"):
        sextant("label", "%s/%s" % (folder, name), "--axes", "TZYX", "--time", "1", "-o", folder + "/t.h5")
        with h5py.File(folder + "/t.h5", "r") as file:
            if not same_regions(file["data"][...].transpose(2, 1, 0), expected):
                fail("%s: other labels" % name)


with tempfile.TemporaryDirectory() as folder:
    check_reading(folder)
    check_writing(folder)
    check_labels(folder)
finish("%d files read" % files)
