# SPDX-License-Identifier: BSD-3-Clause
"""TIFF series between Sextant, ImageJ and tifffile: each reads what another wrote."""
import json
import os
import struct
import subprocess
import tempfile
import unittest

import numpy
import tifffile

here = os.path.dirname(os.path.abspath(__file__))
folder = tempfile.TemporaryDirectory()
environment = dict(os.environ, LC_ALL="C.UTF-8")


def path(name):
    return os.path.join(folder.name, name)


def run(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(words)}: {done.stderr}")
    return done.stdout


def sextant(*words):
    return run(os.environ["SEXTANT"], *words)


def ours(name, *plane, verb="show"):
    """What Sextant reads of a file, of one channel and slice of it."""
    return json.loads(run(os.environ["FRAMES"], verb, path(name), *map(str, plane)))


def imagej(*words):
    return run("java", "-Djava.awt.headless=true", "-Dfile.encoding=UTF-8", "-cp", "/usr/share/java/ij.jar",
               os.path.join(here, "ImageJ.java"), *words)


def values(planes):
    """Mean, least and largest value of each plane of an array."""
    return [[float(plane.mean(dtype=float)), float(plane.min()), float(plane.max())] for plane in planes]


class SeriesOfSextant(unittest.TestCase):
    """Frames that Sextant writes."""

    @classmethod
    def setUpClass(cls):
        for sample in ("u8", "u16", "u32", "f32"):
            run(os.environ["FRAMES"], "write", path(sample + ".tif"), sample, "5", "37", "23")
        run(os.environ["FRAMES"], "write", path("two.tif"), "u8", "2", "33", "21")
        run(os.environ["FRAMES"], "write", path("one.tif"), "f32", "1", "33", "21")
        run(os.environ["FRAMES"], "sparse", path("long.tif"), "f32", "90", "4096", "4096")
        run(os.environ["FRAMES"], "sparse", path("labels.tif"), "u32", "70", "4096", "4096")
        sextant("synthesize", "-o", path("plain.tif"), "--frames", "6", "--width", "96", "--height", "80",
                "--specimen", "carbon", "--dose", "200")
        movie = tifffile.imread(path("plain.tif"))
        tifffile.imwrite(path("movie.tif"), movie, imagej=True, resolution=(4, 4),
                         metadata={"axes": "TYX", "unit": "nm", "finterval": 0.2})
        sextant("register", path("movie.tif"), "-o", path("out"), "--aligned", "--stages", "1")
        sextant("apply", path("out/transforms.json"), path("movie.tif"), "-o", path("applied.tif"))
        sextant("filter", path("movie.tif"), "--frame", "0", "-o", path("planes.tif"), "--derivatives", "smooth,x,y")
        sextant("label", path("u8.tif"), "--frame", "0", "-o", path("components.tif"))
        cls.for_imagej = ["u8.tif", "u16.tif", "f32.tif", "two.tif", "one.tif", "plain.tif", "out/aligned.tif",
                          "applied.tif", "out/average.tif", "planes.tif"]
        cls.of_imagej = dict(zip(cls.for_imagej + ["long.tif"],
                                 map(json.loads, imagej(*map(path, cls.for_imagej + ["long.tif"])).splitlines())))

    def assert_alike(self, found, expected, name):
        self.assertEqual(len(found), len(expected), name)
        for plane, (one, other) in enumerate(zip(found, expected)):
            for a, b in zip(one, other):
                self.assertTrue(a == b or abs(a - b) <= 1e-5 * max(abs(a), abs(b)) or a != a, (name, plane, one, other))

    def test_imagej_reads_every_frame_as_it_was_written(self):
        for name in self.for_imagej:
            expected, found = ours(name), self.of_imagej[name]
            self.assertEqual([found[key] for key in ("width", "height", "channels")],
                             [expected["width"], expected["height"], 1], name)
            self.assertEqual(found["slices" if name == "planes.tif" else "frames"], expected["frames"], name)
            if name not in ("out/aligned.tif", "applied.tif"):  # not a number outside
                self.assert_alike(found["values"], expected["values"], name)

    def test_imagej_reads_aligned_frames_as_tifffile_does(self):
        for name in ("out/aligned.tif", "applied.tif"):
            frames = tifffile.imread(path(name))
            self.assertEqual(frames.shape, (6, 80, 96))
            self.assertEqual(len(self.of_imagej[name]["values"]), 6)
            for frame, (mean, least, largest) in zip(frames, self.of_imagej[name]["values"]):
                self.assertAlmostEqual(largest, float(numpy.nanmax(frame)), delta=1e-4 * largest)
                self.assertAlmostEqual(least, float(numpy.nanmin(frame)), delta=1e-3)

    def test_imagej_knows_pixel_size_unit_and_frame_interval(self):
        for name in ("u8.tif", "u16.tif", "f32.tif", "two.tif"):
            found = self.of_imagej[name]
            self.assertEqual((found["pixel"], found["unit"], found["interval"]), ([0.25, 0.5], "µm", 0.05), name)
        for name in ("out/aligned.tif", "applied.tif"):
            found = self.of_imagej[name]
            self.assertEqual((found["pixel"], found["unit"], found["interval"]), ([0.25, 0.25], "nm", 0.2), name)
        self.assertEqual(self.of_imagej["out/average.tif"]["unit"], "nm")

    def test_tifffile_reads_every_frame_as_it_was_written(self):
        for name in self.for_imagej + ["u32.tif", "components.tif"]:
            frames = tifffile.imread(path(name))
            expected = ours(name)
            frames = frames.reshape(-1, expected["height"], expected["width"])
            if name not in ("out/aligned.tif", "applied.tif"):
                self.assert_alike(values(frames), expected["values"], name)

    def test_tifffile_knows_the_axes(self):
        for name, axes in (("u8.tif", "TYX"), ("two.tif", "TYX"), ("out/aligned.tif", "TYX"), ("planes.tif", "ZYX"),
                           ("u32.tif", "TYX"), ("one.tif", "YX")):
            with tifffile.TiffFile(path(name)) as file:
                self.assertEqual(file.series[0].axes, axes, name)
                self.assertEqual(bool(file.is_imagej), name != "u32.tif", name)
                self.assertEqual(bool(file.is_ome), name == "u32.tif", name)

    def test_imagej_reads_beyond_4_gib(self):
        self.assertGreater(os.path.getsize(path("long.tif")), 1 << 32)
        found = self.of_imagej["long.tif"]
        self.assertEqual((found["frames"], found["width"], found["bits"]), (90, 4096, 32))
        mean, least, largest = found["values"][-1]
        self.assertAlmostEqual(largest / 1.0789e-43, 1, delta=1e-3)  # the byte 77 as a float

    def test_tifffile_reads_beyond_4_gib(self):
        for name, sample, frames in (("long.tif", "<u4", 90), ("labels.tif", "<u4", 70)):
            with tifffile.TiffFile(path(name)) as file:
                series = file.series[0]
                self.assertEqual(series.shape, (frames, 4096, 4096), name)
                self.assertEqual(series.axes, "TYX", name)
                self.assertEqual(file.is_bigtiff, name == "labels.tif", name)
            stack = tifffile.memmap(path(name), mode="r")
            self.assertEqual(stack.shape, (frames, 4096, 4096), name)
            self.assertEqual(int(stack[-1, 0, :1].view(sample)[0]), 77, name)
            self.assertEqual(float(stack[-2, 0, 0]), 0, name)


class SeriesOfOthers(unittest.TestCase):
    """Hyperstacks that ImageJ and tifffile write."""

    def assert_planes(self, name, array):
        """Every plane of an array of frames, slices and channels is what Sextant reads."""
        for slice in range(array.shape[1]):
            for channel in range(array.shape[2]):
                found = ours(name, channel, slice)
                self.assertEqual(found["channels"], array.shape[2], name)
                self.assertEqual(found["slices"], array.shape[1], name)
                self.assertEqual(found["values"], values(array[:, slice, channel]), (name, slice, channel))

    def test_of_tifffile_are_read_plane_by_plane(self):
        planes = (numpy.arange(4 * 3 * 2 * 40 * 50) % 65521).astype(numpy.uint16).reshape(4, 3, 2, 40, 50)
        tcyx = planes[:, 0]
        kinds = {"": {}, "big-endian": {"byteorder": ">"}}
        for kind, options in kinds.items():
            for sample in (numpy.uint8, numpy.uint16, numpy.float32):
                name = f"ij_{kind}{numpy.dtype(sample).name}.tif"
                array = planes.astype(sample)
                tifffile.imwrite(path(name), array, imagej=True, metadata={"axes": "TZCYX"}, **options)
                self.assert_planes(name, array)
        options = {"": {}, "tiled": {"tile": (16, 32)}, "deflated": {"compression": "zlib"},
                   "tiled, deflated, big-endian": {"tile": (16, 16), "compression": "zlib", "byteorder": ">"},
                   "BigTIFF": {"bigtiff": True}, "predicted": {"compression": "zlib", "predictor": True}}
        for kind, option in options.items():
            for ome in (True, False):
                name = f"{kind}{ome}.tif"
                tifffile.imwrite(path(name), planes, ome=ome, metadata={"axes": "TZCYX"}, **option)
                self.assert_planes(name, planes)
                tifffile.imwrite(path(name), tcyx, ome=ome, metadata={"axes": "TCYX"}, **option)
                self.assert_planes(name, tcyx[:, None])
        for axes, order in (("CTYX", (1, 0, 2, 3)), ("TCYX", (0, 1, 2, 3))):
            tifffile.imwrite(path("order.tif"), numpy.ascontiguousarray(tcyx.transpose(order)), ome=True,
                             metadata={"axes": axes})
            self.assert_planes("order.tif", tcyx[:, None])

    def test_of_tifffile_keep_pixel_size_and_interval(self):
        frames = numpy.zeros((4, 8, 8), numpy.uint8)
        tifffile.imwrite(path("t.tif"), frames, imagej=True, resolution=(2, 4),
                         metadata={"axes": "TYX", "unit": "um", "finterval": 0.25})
        found = ours("t.tif")
        self.assertEqual((found["pixel"], found["unit"], found["interval"]), ([0.5, 0.25], "µm", 0.25))
        tifffile.imwrite(path("t.ome.tif"), frames,
                         metadata={"axes": "TYX", "PhysicalSizeX": 3, "PhysicalSizeXUnit": "nm", "PhysicalSizeY": 4,
                                   "PhysicalSizeYUnit": "nm", "TimeIncrement": 20, "TimeIncrementUnit": "ms"})
        found = ours("t.ome.tif")
        self.assertEqual((found["pixel"], found["unit"], found["interval"]), ([3, 4], "nm", 0.02))

    def test_of_samples_side_by_side_are_read_channel_by_channel(self):
        planes = (numpy.arange(3 * 2 * 40 * 50) % 65521).astype(numpy.uint16).reshape(3, 2, 40, 50)
        for kind, options in {"": {}, "tiled": {"tile": (16, 16)}, "deflated": {"compression": "zlib"}}.items():
            tifffile.imwrite(path("side.tif"), numpy.ascontiguousarray(planes.transpose(0, 2, 3, 1)),
                             photometric="minisblack", planarconfig="contig", metadata={"axes": "TYXS"}, **options)
            self.assert_planes("side.tif", planes[:, None])
            tifffile.imwrite(path("apart.tif"), planes, photometric="minisblack", planarconfig="separate",
                             metadata={"axes": "TSYX"}, **options)
            self.assert_planes("apart.tif", planes[:, None])

    def test_of_imagej_are_read_plane_by_plane(self):
        imagej("write", folder.name)
        stack = (numpy.arange(19 * 11)[None, :] + 7 * numpy.arange(24)[:, None]) % 200
        stack = stack.reshape(24, 11, 19)
        for bits in (8, 16, 32):
            self.assert_planes(f"hyperstack{bits}.tif", stack.reshape(4, 3, 2, 11, 19))
            found = ours(f"stack{bits}.tif")
            self.assertEqual(found["values"], values(stack))
            found = ours(f"hyperstack{bits}.tif")
            self.assertEqual((found["pixel"], found["unit"], found["interval"]), ([0.125, 0.25], "µm", 0.5))

    def test_of_imagej_beyond_4_gib_are_read_by_their_axes(self):
        """ImageJ's convention by hand: a big-endian classic TIFF with one directory."""
        width, height, channels, frames = 4096, 2048, 2, 150
        text = b"ImageJ=1.53t\nimages=%d\nchannels=%d\nframes=%d\nhyperstack=true\n\0" % (channels * frames, channels,
                                                                                       frames)
        tags = [(254, 4, 1, 0), (256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 16 << 16), (259, 3, 1, 1 << 16),
                (262, 3, 1, 1 << 16), (270, 2, len(text), 300), (273, 4, 1, 1024), (277, 3, 1, 1 << 16),
                (278, 3, 1, height << 16), (279, 4, 1, width * height * 2)]
        head = b"MM\0\x2a" + struct.pack(">IH", 8, len(tags))
        head += b"".join(struct.pack(">HHII", *tag) for tag in tags) + struct.pack(">I", 0)
        plane = width * height * 2
        with open(path("huge.tif"), "wb") as file:
            file.write(head)
            file.seek(300)
            file.write(text)
            file.seek(1024 + plane * (channels * frames - 1))
            file.write(struct.pack(">H", 4321))
            file.truncate(1024 + plane * channels * frames)
        self.assertGreater(os.path.getsize(path("huge.tif")), 1 << 32)
        found = ours("huge.tif", 1, 0, verb="show-last")
        self.assertEqual((found["frames"], found["channels"], found["remarks"]), (150, 2, []))
        self.assertEqual(found["values"][0][1:], [0, 4321])
        self.assertEqual(ours("huge.tif", 0, 0, verb="show-last")["values"][0], [0, 0, 0])


if __name__ == "__main__":
    unittest.main()
