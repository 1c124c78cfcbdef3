# SPDX-License-Identifier: BSD-3-Clause
# Voxel sizes, their units and the orientation of a volume, from each format that states them to each that can hold
# them: volumes are written by nibabel, zarr, tifffile, h5py and mrcfile, labelled or filtered by Sextant, and the
# outputs are read by the same packages.
import itertools
import os
import re
import sys
import tempfile

from peer import fail, finish, sextant

try:
    import h5py
    import mrcfile
    import nibabel
    import numpy
    import scipy.ndimage
    import tifffile
    import zarr
except ImportError as missing:
    print("skipped: needs Python's h5py, mrcfile, nibabel, scipy, tifffile and zarr (%s)" % missing)
    sys.exit(77)

nibabel.imageglobals.logger.setLevel(50)
micrometres = {"m": 1e6, "mm": 1e3, "micron": 1, "µm": 1, "nm": 1e-3, "Å": 1e-4, "meter": 1e6, "millimeter": 1e3,
               "micrometer": 1, "nanometer": 1e-3, "angstrom": 1e-4}


# --- Sources. Each function writes the volume, and returns the size of a voxel in µm along z, y and x.
affine = numpy.array([[.7, .1, 0, 5], [0, .8, .2, 6], [.1, 0, -2, 7], [0, 0, 0, 1]])


def write_nifti(path, volume):
    image = nibabel.Nifti1Image(volume.transpose(2, 1, 0), affine)
    image.header.set_xyzt_units("mm")
    image.set_qform(affine, 1)
    image.set_sform(affine, 4)
    nibabel.save(image, path)
    return [1e3 * float(zoom) for zoom in image.header.get_zooms()[::-1]]


def write_zarr(path, volume):
    group = zarr.open_group(path, "w")
    group.array("0", volume, chunks=(8, 16, 16), dimension_separator="/")
    # The distance of slices has another unit than pixels.
    axes = [{"name": name, "type": "space", "unit": unit}
            for name, unit in (("z", "micrometer"), ("y", "nanometer"), ("x", "nanometer"))]
    scale = [{"type": "scale", "scale": [1.5, 350., 300.]}]
    group.attrs["multiscales"] = [{"version": "0.4", "axes": axes,
                                   "datasets": [{"path": "0", "coordinateTransformations": scale}]}]
    return [1.5, .35, .3]


def write_imagej(path, volume):
    tifffile.imwrite(path, volume.astype("u1"), imagej=True, resolution=(1 / .3, 1 / .35),
                     metadata={"axes": "ZYX", "spacing": 1.5, "unit": "micron"})
    return [1.5, .35, .3]


def write_ome(path, volume):
    tifffile.imwrite(path, volume, ome=True,
                     metadata={"axes": "ZYX", "PhysicalSizeX": 300., "PhysicalSizeXUnit": "nm", "PhysicalSizeY": 350.,
                               "PhysicalSizeYUnit": "nm", "PhysicalSizeZ": 1.5, "PhysicalSizeZUnit": "µm"})
    return [1.5, .35, .3]


def write_hdf5(path, volume):
    with h5py.File(path, "w") as file:
        data = file.create_dataset("volume", data=volume, chunks=(8, 16, 16), compression="gzip")
        data.attrs["element_size_um"] = numpy.array([1.5, .35, .3], "f4")
    return [1.5, .35, .3]


def write_mrc(path, volume):
    with mrcfile.new(path, overwrite=True) as file:
        file.set_data(volume.astype("i1"))
        file.set_volume()
        file.voxel_size = (300., 350., 1500.)
    return [.15, .035, .03]


# --- Outputs. Each function returns samples, and the size of a voxel in µm along z, y and x.
def read_nifti(path):
    image = nibabel.load(path)
    unit = micrometres[{"meter": "m", "mm": "mm", "micron": "µm"}[image.header.get_xyzt_units()[0]]]
    return numpy.asarray(image.dataobj).transpose(2, 1, 0), [float(zoom) * unit for zoom in image.header.get_zooms()[::-1]]


def read_zarr(path):
    group = zarr.open_group(path, "r")
    image = group.attrs["multiscales"][0]
    scale = image["datasets"][0]["coordinateTransformations"][0]["scale"]
    return group["0"][:], [size * micrometres[axis["unit"]] for size, axis in zip(scale, image["axes"])]


def read_tiff(path):
    with tifffile.TiffFile(path) as file:
        if file.is_ome:
            pixels = re.search("<Pixels [^>]*>", file.ome_metadata)[0]
            stated = dict(re.findall('(PhysicalSize[XYZ](?:Unit)?)="([^"]*)"', pixels))
            sizes = [float(stated["PhysicalSize" + axis]) * micrometres[stated["PhysicalSize%sUnit" % axis]]
                     for axis in "ZYX"]
            return file.asarray(), sizes
        unit = micrometres[file.imagej_metadata["unit"].encode().decode("unicode_escape")]
        tags = file.pages[0].tags
        sizes = [tags[name].value[1] / tags[name].value[0] for name in ("YResolution", "XResolution")]
        return file.asarray(), [size * unit for size in [file.imagej_metadata["spacing"]] + sizes]


def read_hdf5(path):
    with h5py.File(path, "r") as file:
        return file["data"][:], list(file["data"].attrs["element_size_um"])


def read_mrc(path):
    with mrcfile.open(path) as file:
        if not file.is_volume():
            fail("%s is no volume" % path)
        size = file.voxel_size
        return file.data, [float(length) * 1e-4 for length in (size.z, size.y, size.x)]


sources = {"v.nii": write_nifti, "v.nii.gz": write_nifti, "v.zarr": write_zarr, "imagej.tif": write_imagej,
           "ome.tif": write_ome, "v.h5": write_hdf5, "v.mrc": write_mrc}
outputs = {"nii": read_nifti, "nii.gz": read_nifti, "zarr": read_zarr, "tif": read_tiff, "h5": read_hdf5, "mrc": read_mrc}


def check_orientation(path, source, size):
    """The orientation is that of the source, or else the axes are those of the voxels."""
    image = nibabel.load(path)
    expected = affine
    if not source.startswith("v.nii"):
        unit = micrometres[{"mm": "mm", "micron": "µm"}[image.header.get_xyzt_units()[0]]]
        expected = numpy.diag([length / unit for length in size[::-1]] + [1])
    if not numpy.allclose(image.affine, expected, rtol=1e-5, atol=1e-6):
        fail("%s from %s: the affine is\n%s, expected\n%s" % (path, source, image.affine, expected))


def check_size(what, found, expected):
    if not numpy.allclose(found, expected, rtol=1e-5, atol=0):
        fail("%s: voxels of %s µm, expected %s" % (what, found, expected))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    volume = (numpy.random.default_rng(3).random((20, 33, 47)) < .2).astype("u1")
    expected, count = scipy.ndimage.label(volume, numpy.ones((3, 3, 3)))
    sizes = {name: write(name, volume) for name, write in sources.items()}
    pairs = 0
    for source, (output, read) in itertools.product(sources, outputs.items()):
        what = "%s to %s" % (source, output)
        version = ["--zarr", "2"] if output == "zarr" else []  # Debian's zarr reads no version 3
        filtered = "f." + output
        if sextant("filter", source, "-o", filtered, *version, "--derivatives", "smooth", "--sigma", "1"):
            pairs += 1
            check_size("filter " + what, read(filtered)[1], sizes[source])
        if output == "mrc":  # has no labels
            continue
        labelled = "l." + output
        if not sextant("label", source, "-o", labelled, *version, "--report", "page.html"):
            continue
        pairs += 1
        found, size = read(labelled)
        check_size("label " + what, size, sizes[source])
        numbers = numpy.unique(numpy.stack([numpy.asarray(found).ravel(), expected.ravel()]), axis=1).shape[1]
        if found.shape != expected.shape or numbers != count + 1 or found.max() != count:
            fail("label %s: other labels than SciPy's" % what)
        if output.startswith("nii"):
            check_orientation(labelled, source, sizes[source])
        # Once more, to the format of the source: nothing is lost on the way.
        if output != "tif" and source.startswith("v.nii"):
            sextant("label", labelled, "--by-value", "-o", "back.nii")
            check_size("label %s and back" % what, read_nifti("back.nii")[1], sizes[source])
        # Blocks that are stitched.
        sextant("stitch", labelled, "--block", "10,0,0", "-o", "s." + output, *version)
        check_size("stitch " + what, read("s." + output)[1], sizes[source])
finish("%d pairs" % pairs)
