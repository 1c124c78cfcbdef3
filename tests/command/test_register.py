# SPDX-License-Identifier: BSD-3-Clause
"""Registration of series: results, resumed runs, imperfect input, corrections, outputs, and transforms applied."""
import base64

from command_test import *

FLOAT = 4  # bytes


def shifts(transforms):
    return [frame[axis] for frame in load(transforms)["frames"] if "left_out" not in frame for axis in ("tx", "ty")]


def register(line, *expected, **options):
    return sextant(f"register {line}", *expected, **options)


class Register(CommandTest):
    @classmethod
    def prepare(cls):
        sextant("synthesize -o movie.mrc --frames 12 --width 128 --height 120 --specimen carbon")
        cls.truth = [frame["to_first"][axis] for frame in load("movie.mrc.json")["frames"] for axis in ("tx", "ty")]
        register("movie.mrc -o out --reproducible --ranks 2 --aligned")
        register("movie.mrc -o whole --reproducible --ranks 2 --stages 8")

    def expect_near(self, transforms, truth=None, within=.5):
        for found, wanted in zip(shifts(transforms), truth or self.truth, strict=True):
            self.assertAlmostEqual(found, wanted, delta=within)

    def expect_whole(self, folder):
        for name in ("average.tif", "median.tif", "count.tif", "transforms.csv", "transforms.json"):
            same(f"whole/{name}", f"{folder}/{name}")

    def test_results(self):
        self.expect_near("out/transforms.json")
        self.assertEqual(sorted(os.listdir("out")), ["aligned.tif", "average.tif", "count.tif", "median.tif", "transforms.csv",
                                                     "transforms.json"])
        self.assertEqual(facts("info out/aligned.tif")["frames"], 12)
        sextant("info out/average.tif", "128×120")
        lines = [line.split(",") for line in read("out/transforms.csv").splitlines() if not line.startswith("#")]
        self.assertEqual({len(line) for line in lines}, {16})
        self.assertEqual(lines[0][:2], ["frame", "alpha_deg"])
        for line, frame in zip(lines[1:], load("out/transforms.json")["frames"], strict=True):
            self.assertAlmostEqual(float(line[1]), frame["alpha_rad"] * 57.29577951308232, delta=1e-6)
            self.assertIn("sigma_alpha_rad", frame)
        register("movie.mrc -o team --reproducible --ranks 2 --threads 2 --aligned")
        same("team/aligned.tif", "out/aligned.tif")

    def test_the_pixels_that_are_compared(self):
        corners = [[16, 8], [116, 8], [116, 108], [16, 108]]
        Path("region.geojson").write_text(json.dumps({"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [corners]}}))
        done = register("movie.mrc -o masked --mask region.geojson --json=masked.json --report masked.html --reproducible")
        self.assertIn("compared: 65.1 % of the pixels, in 100x100 pixels at (16, 8)", done.out)
        os.remove("region.geojson")  # is not a file of Sextant
        self.assertIn("65.1 % of the pixels", read("masked.html"))
        self.assertEqual(load("masked.json")["compared"], {"x": 16, "y": 8, "width": 100, "height": 100, "pixels": 10000})
        register("movie.mrc -o cut --roi 16,8,100,100 --reproducible")
        same("masked/average.tif", "cut/average.tif")
        self.expect_near("masked/transforms.json")
        register("movie.mrc -o near --max-shift 20 --reproducible")
        self.expect_near("near/transforms.json")
        sextant("synthesize -o wide.mrc --frames 1 --width 130 --height 120")
        refuses("""
        1 wide.mrc has 130x120 pixels, expected 128x120 as in the frames of movie.mrc <- register movie.mrc --mask wide.mrc -o refused
        1 which have 128x120 pixels <- register movie.mrc --roi 100,0,40,40 -o refused
        1 30 % with displacement fields <- register movie.mrc --roi 0,0,40,40 --model nonrigid -o refused
        1 region.geojson: no such file <- register movie.mrc --mask missing/region.geojson -o refused
        2 --roi -1,0,40,40: expected <- register movie.mrc --roi=-1,0,40,40 -o refused
        """, lines=0)

    def test_rows_of_bidirectional_scans_are_aligned(self):
        header = 1024
        samples = bytearray(content("movie.mrc"))
        row = (len(samples) - header) // (12 * 120)
        for y in range(1, 12 * 120, 2):  # odd rows, displaced by four pixels
            first = header + y * row
            samples[first:first + row] = samples[first:first + 4 * (row // 128)] + samples[first:first + row - 4 * (row // 128)]
        Path("scanned.mrc").write_bytes(samples)
        done = register("scanned.mrc -o aligned --aligned --format npy --json=aligned.json --report aligned.html")
        self.assertRegex(done.out, r"odd rows are displaced by (3\.9|4\.0)")
        self.assertIn("odd rows are displaced by", read("aligned.html"))
        self.assertAlmostEqual(load("aligned.json")["bidirectional"]["shift"], 4, delta=.1)
        self.expect_near("aligned/transforms.json")
        sextant("apply aligned/transforms.json scanned.mrc -o applied.npy")
        same("applied.npy", "aligned/aligned.npy")
        refuses("2 rows of a bidirectional scan <- apply aligned/transforms.json scanned.mrc --by shift -o refused.npy", lines=0)
        register("scanned.mrc -o off --bidirectional off --json=off.json")
        self.assertNotIn("bidirectional", load("off.json"))

    def test_killed_runs_resume_to_the_same_bits(self):
        for _ in range(10):
            shutil.rmtree("killed", ignore_errors=True)
            process = start("register movie.mrc -o killed --reproducible --ranks 2 --stages 8")
            checkpoint = Path("killed/checkpoint.0")
            wait_for(lambda: process.poll() is not None or (checkpoint.exists() and checkpoint.stat().st_size))
            process.kill()
            process.communicate()
            if checkpoint.exists() and not os.path.exists("killed/average.tif"):
                break
        sextant("synthesize -o other.mrc --frames 12 --width 128 --height 120 --specimen carbon --seed 2")
        refuses("""
        1 whose stages is 8, expected 7 <- register movie.mrc -o killed --reproducible --ranks 2 --stages 7
        1 whose content is <- register other.mrc -o killed --reproducible --ranks 2 --stages 8
        1 whose despike is auto, expected off <- register movie.mrc -o killed --reproducible --ranks 2 --stages 8 --despike off
        1 reproducible on 2 ranks, expected reproducible on 3 <- register movie.mrc -o killed --reproducible --ranks 3 --stages 8
        1 whose model is rigid, expected nonrigid <- register movie.mrc -o killed --reproducible --ranks 2 --stages 8 --model nonrigid
        1 whose reference is the default, expected 3 <- register movie.mrc -o killed --reproducible --ranks 2 --stages 8 --reference 3
        """, lines=0)
        register("movie.mrc -o killed --reproducible --ranks 2 --stages 8")  # the first result may not have been stored
        self.expect_whole("killed")

    def test_full_disks_and_truncated_checkpoints(self):
        line = "movie.mrc -o full --reproducible --ranks 2 --stages 8"
        register(line, "full/checkpoint.", "cannot be written", code=1, preexec_fn=file_limit(8))
        self.assertTrue(os.path.getsize("full/checkpoint.0") and not os.path.exists("full/average.tif"))
        os.symlink("/dev/full", "full/average.tif")
        register(line, "full/average.tif", code=1)
        os.remove("full/average.tif")
        cut("full/checkpoint.1", "full/checkpoint.1", os.path.getsize("full/checkpoint.1") - 7)
        register(line, "resuming an earlier run")
        self.expect_whole("full")

    def test_transforms_are_applied(self):
        found = facts("register movie.mrc -o fields --model nonrigid --format npy")
        self.assertEqual(found["left_out"], [])
        self.expect_near("fields/transforms.json")
        sextant("apply fields/transforms.json movie.mrc -o shown.npy")
        register("movie.mrc -o affine --format npy --model affine --aligned --report affine.html")
        self.expect_near("affine/transforms.json")
        self.assertIn("matrix", load("affine/transforms.json")["frames"][1])
        for run in ("affine", "fields"):
            sextant(f"apply {run}/transforms.json movie.mrc -o again.npy")
            same("again.npy", f"{run}/aligned.npy" if run == "affine" else "shown.npy")
        found = facts("register movie.mrc -o auto --model auto")
        self.assertTrue(found["model_reason"] and found["model"] != "auto" and load("auto/transforms.json")["model"] != "auto")
        Path("points.csv").write_text("# of particles\nframe,x,y\n0,20,30\n11,64.5,60\n")
        for run in ("out", "fields"):
            sextant(f"apply {run}/transforms.json points.csv -o there.csv")
            sextant(f"apply {run}/transforms.json there.csv -o back.csv --from-reference")
            (there, back) = ([float(word) for word in read(name).splitlines()[2].split(",")] for name in ("there.csv", "back.csv"))
            self.assertLess((back[1] - 64.5) ** 2 + (back[2] - 60) ** 2, 1e-4)
            self.assertGreater((there[1] - 64.5) ** 2 + (there[2] - 60) ** 2, 25)
        Path("letter.csv").write_text("0,1,2\n0,1,x\n")
        Path("no_frame.csv").write_text("99,1,2\n")
        refuses("""
        1 letter.csv: line 2: "0,1,x" <- apply out/transforms.json letter.csv -o no.csv
        1 line 1: ...no frame 99 <- apply out/transforms.json no_frame.csv -o no.csv
        1 movie.mrc.json: is not of kind <- apply movie.mrc.json movie.mrc -o no.tif
        2 has 1 frames, expected the 12 that were registered <- apply out/transforms.json out/average.tif -o no.tif
        """)

    def test_ranks_and_processes(self):
        # Ranks combine results in different orders of association: shifts differ by less than a tenth of their deviations.
        for ranks in (1, 2, 3, 4):
            for run, options in ((f"in_order{ranks}", "--reproducible"), (f"arriving{ranks}", "")):
                register(f"movie.mrc -o {run} --ranks {ranks} {options}")
                self.expect_near(f"{run}/transforms.json", shifts("in_order1/transforms.json"), .005)
            if MPIRUN:
                register(f"movie.mrc -o mpi{ranks} --reproducible", processes=ranks)
                same(f"mpi{ranks}/transforms.json", f"in_order{ranks}/transforms.json")
        self.expect_near("in_order1/transforms.json")
        if MPIRUN:
            refuses("1 missing.mrc <- register missing.mrc -o refused", processes=2)
            register("movie.mrc -o mpi --model nonrigid --report mpi.html", processes=2)
            self.assertRegex(read("mpi.html"), "rank 1: .* registration")
            self.assertIn("idle in the scan", read("mpi.html"))

    def test_refused_input(self):
        cut("movie.mrc", "cut.mrc", 1024)
        sextant("synthesize -o dark.tif --frames 3 --width 32 --height 32 --contrast 0 --amorphous 0 --dose .00001")
        Path("file.csv").write_text("")
        refuses("""
        1 missing.mrc <- register missing.mrc -o refused
        1 has 1 frame, expected at least two <- register out/average.tif -o refused
        2 'pear' <- register movie.mrc --model pear -o refused
        1 cut.mrc <- register cut.mrc -o refused
        1 none of 3 frames could be registered; at least 2 are needed; frame 0: every sample is 0 <- register dark.tif -o refused
        1 none does not exist <- register movie.mrc -o none/deeper
        1 file.csv: is not a folder <- register movie.mrc -o file.csv
        """, lines=0)

    def test_frames_that_resemble_no_other(self):
        def advice(line, *expected):
            return [each for each in register(line, *expected, code=1).err.splitlines() if each.startswith("sextant: advice: ")]

        small = "--frames 5 --width 96 --height 96 --specimen carbon"
        sextant(f"synthesize -o rotated.npy {small} --dose 100 --rotation 40")
        self.assertEqual(advice("rotated.npy -o turned"),
                         ["sextant: advice: frame 0 resembles frame 1 if it is rotated by -40 degrees: try --rotation 180"])
        register("rotated.npy -o turned --rotation 180", "5 frames used")
        sextant(f"synthesize -o noise.npy {small} --dose .2 --contrast .02")
        self.assertEqual([each[:58] for each in advice("noise.npy -o noise")],
                         ["sextant: advice: frame 0 shows hardly more than noise: reg"])
        frames = b""
        for seed in (1, 2, 3):
            sextant(f"synthesize -o other.npy --frames 2 --seed {seed} --width 64 --height 64 --specimen carbon")
            frames += content("other.npy")[128:128 + 64 * 64 * FLOAT]
        Path("unlike.raw").write_bytes(frames)
        said = advice("unlike.raw::64x64,f32 -o unlike --report unlike.html", "unlike.html shows the frames")
        self.assertIn("resemble none of the others: record at shorter intervals", said[0])
        self.assertEqual(len(said), 3)
        self.assertIn("--dark", said[2])
        self.assertEqual(read("unlike.html").count("left out: no"), 3)
        self.assertFalse(os.path.exists("unlike/average.tif"))


class ImperfectInput(CommandTest):
    size, header = 64 * 64 * FLOAT, 128

    @classmethod
    def prepare(cls):
        for kind in ("mrc", "npy", "tif"):
            sextant(f"synthesize -o movie.{kind} --frames 8 --width 64 --height 64 --specimen carbon")
        data = content("movie.npy")
        cls.head, cls.frames = data[:cls.header], [data[cls.header + i * cls.size:][:cls.size] for i in range(8)]

    def registered(self, series, *expected):
        shutil.rmtree("out", ignore_errors=True)
        return facts(f"register {series} -o out --stages 1 --ranks 2", *expected)

    def write(self, name, frames):
        Path(name).write_bytes(self.head + b"".join(frames))

    def test_parts_that_can_be_used(self):
        self.write("stalled.npy", self.frames[:1] + self.frames[7:] * 7)
        self.registered("stalled.npy", "stalled.npy: 6 of 8 frames are identical to the frame before them, the first is frame 2")
        cut("movie.mrc", "cut.mrc", 1024 + 5 * self.size + 100)
        found = self.registered("cut.mrc", "cut.mrc: truncated: 5 of 8 frames are complete")
        self.assertEqual(found["registered"], 5)
        changed("movie.mrc", "absurd.mrc", 40, b"\xca\xf2\x49\x71")  # 1e30 Å per cell
        self.registered("absurd.mrc", "absurd.mrc: the pixel size of ... is implausible and is ignored")
        self.assertNotIn("pixel", load("out/transforms.json"))
        nan = array.array("f", [float("nan")])
        self.write("nan.npy", [*self.frames[:1], nan.tobytes() * 4096, *self.frames[2:5],
                               nan.tobytes() * 100 + self.frames[5][400:], *self.frames[6:]])
        self.registered("nan.npy", "frame 1 is left out: none of the 4096 samples is a finite number")
        frame5 = next(line for line in read("out/transforms.csv").splitlines() if line.startswith("5,")).split(",")
        self.assertEqual((frame5[14], "gaps" in frame5[15]), ("100", True))
        sextant("info out/average.tif --check")

    def test_one_channel_of_a_hyperstack(self):
        data = content("movie.tif")
        hyper = data.replace(b"ImageJ=1.53t\nimages=8\nframes=8\n", b"ImageJ=1\nchannels=2\nframes=4\n\n\n")
        self.assertTrue(hyper != data and len(hyper) == len(data), "the TIFF file is not laid out as this test expects")
        Path("hyper.tif").write_bytes(hyper)
        found = self.registered("hyper.tif", "hyper.tif: has 2 channels per frame, of which channel 0 is read; --channel N selects")
        self.assertEqual(found["registered"], 4)
        first = content("out/average.tif")
        self.assertEqual(register("hyper.tif -o out --channel 1 --stages 1 --ranks 2").err, "")
        self.assertNotEqual(content("out/average.tif"), first)
        sextant("apply out/transforms.json hyper.tif --channel 0 -o shown.tif")
        self.assertEqual(facts("info shown.tif")["frames"], 4)
        sextant("info hyper.tif", "channels...2, reading 0")
        self.assertEqual(facts("info hyper.tif --channel 1")["channels"], 2)
        sextant("filter hyper.tif --frame 0 --channel 1 -o smooth.tif --derivatives smooth")
        sextant("filter movie.tif --frame 1 -o same.tif --derivatives smooth")
        same("smooth.tif", "same.tif")
        refuses("""
        1 hyper.tif: has no channel 2, expected 0 to 1 <- register hyper.tif --channel 2 -o refused
        1 movie.mrc: has no slice 1, expected slice 0 <- register movie.mrc --slice 1 -o refused
        """)

    def test_bad_frames_are_left_out(self):
        os.mkdir("frames")
        one = self.head.replace(b"(8,", b"(1,")
        for i, frame in enumerate(self.frames[:6]):
            Path(f"frames/f_{i}.npy").write_bytes(one + (bytes(self.size) if i == 4 else frame))
        cut("frames/f_2.npy", "frames/f_2.npy", 9000)
        sextant("synthesize -o frames/f_6.npy --frames 1 --width 64 --height 60")
        os.remove("frames/f_6.npy.json")
        found = self.registered("frames", "frame 6 is 64×60, expected 64×64", "frame 4 is left out: every sample is 0",
                                "frame 2 is left out: ")
        self.assertEqual(found["registered"], 4)

    def test_no_usable_frame(self):
        self.write("constant.npy", [array.array("f", [7]).tobytes() * 8 * 4096])
        os.mkdir("empty")
        for name, data in (("empty.mrc", b""), ("list.txt", b""), ("bad.h5", b"no HDF5")):
            Path(name).write_bytes(data)
        cut("movie.mrc", "headless.mrc", 1024)
        changed("movie.mrc", "none.mrc", 8, bytes(4))
        table = """
        1 none of 8 frames could be registered; at least 2 are needed; frame 0: every sample is 7 <- constant.npy
        1 empty: is a folder without frame files <- empty
        1 matches no file <- 'nothing_*.tif'
        1 empty.mrc: has 0 bytes, expected an MRC header of 1024 <- empty.mrc
        1 headless.mrc: has no frame that can be read <- headless.mrc
        1 none.mrc: has 0 frames <- none.mrc
        1 list.txt: lists no file <- list.txt
        1 bad.h5: cannot be read as HDF5 <- bad.h5"""
        refuses(table.replace("<- ", "<- register -o refused "), lines=0)


class Corrections(CommandTest):
    width, height = 96, 80

    @classmethod
    def set_samples(cls, name, *samples):
        """Sets floats of an MRC file, which are (frame, x, y, value)."""
        for frame, x, y, value in samples:
            changed(name, name, 1024 + FLOAT * ((frame * cls.height + y) * cls.width + x), array.array("f", [value]).tobytes())

    @classmethod
    def prepare(cls):
        size = f"--width {cls.width} --height {cls.height}"
        sextant(f"synthesize -o clean.mrc --frames 6 {size} --specimen carbon")
        shutil.copy("clean.mrc", "faulty.mrc")
        cls.set_samples("faulty.mrc", (2, 51, 40, 3000), *((i, x, y, 400) for i in range(6) for x, y in ((20, 30), (70, 11))))
        sextant(f"synthesize -o gain.mrc --frames 1 {size}")
        changed("gain.mrc", "gain.mrc", 1024, array.array("f", [1]).tobytes() * cls.width * cls.height)
        cls.set_samples("gain.mrc", (0, 20, 30, 0), (0, 70, 11, float("nan")))
        shutil.copy("gain.mrc", "dark.mrc")
        cls.said = register("faulty.mrc -o faulty --json=faulty.json --reproducible --ranks 2")

    def test_a_clean_series_is_unchanged(self):
        done = register("clean.mrc -o clean --json=clean.json --reproducible")
        self.assertEqual(load("clean.json")["defects"], 0)
        self.assertNotIn("ignored", done.err)
        register("clean.mrc -o raw --despike off --reproducible")
        same("clean/average.tif", "raw/average.tif")

    def test_outliers_and_defects_are_found(self):
        self.assertIn("ignored: 2 defective pixels of the detector, and 1 outlier in 1 frame", self.said.err)
        self.assertEqual(load("faulty.json")["defects"], 2)
        frame = load("faulty/transforms.json")["frames"][2]
        self.assertEqual([frame["outliers"][name] for name in ("count", "largest", "x", "y")], [1, 3000, 51, 40])
        self.assertNotIn("gaps", read("faulty/transforms.json"))
        sextant("apply faulty/transforms.json clean.mrc -o applied.mrc")

    def test_defects_gain_and_dark_that_are_given(self):
        Path("defects.txt").write_text("x,y\n20,30\n\n# the other\n70, 11\r\n")
        for options in ("--defects defects.txt", "--gain gain.mrc"):  # a gain of 1; its pixels of 0 and NaN are defects
            register(f"faulty.mrc -o given {options} --reproducible --ranks 2")
            same("faulty/average.tif", "given/average.tif", what=options)
        register("faulty.mrc -o darker --dark dark.mrc --reproducible --ranks 2")
        self.assertNotEqual(content("faulty/average.tif"), content("darker/average.tif"))

    def test_errors(self):
        sextant("synthesize -o other.mrc --frames 1 --width 64 --height 80")
        for name, text in (("word.txt", "1,2\none\n"), ("outside.csv", "1,80\n"), ("empty.csv", "")):
            Path(name).write_text(text)
        os.mkdir("kept")
        shutil.copy("gain.mrc", "kept/average.mrc")
        refuses("""
        1 other.mrc has 64x80 pixels, expected 96x80 as in the frames of faulty.mrc <- register faulty.mrc --gain other.mrc -o refused
        1 other.mrc has 64x80 pixels, expected 96x80 as in the frames of faulty.mrc <- register faulty.mrc --dark other.mrc -o refused
        1 clean.mrc has 6 frames, expected one image of 96x80 pixels <- register faulty.mrc --dark clean.mrc -o refused
        1 missing.mrc: no such file <- register faulty.mrc --defects missing.mrc -o refused
        1 word.txt: line 2: "one", expected the column and the row of a pixel, x,y <- register faulty.mrc --defects word.txt -o refused
        1 outside.csv: line 1: pixel (1, 80) is outside the frames, which have 96x80 pixels <- register faulty.mrc --defects outside.csv -o refused
        1 empty.csv: has no pixels, expected lines of x,y <- register faulty.mrc --defects empty.csv -o refused
        2 --despike none: expected auto, off, or a number from 4 to 1000 <- register faulty.mrc --despike none -o refused
        2 --despike 0: expected auto, off, or a number from 4 to 1000 <- register faulty.mrc --despike 0 -o refused
        2 --despike nan: expected auto, off, or a number from 4 to 1000 <- register faulty.mrc --despike nan -o refused
        2 is an input: expected another name <- register faulty.mrc -o kept --format mrc --gain kept/average.mrc
        """, lines=0)


class Outputs(CommandTest):
    @classmethod
    def prepare(cls):
        sextant("synthesize -o movie.npy --frames 8 --width 96 --height 80 --specimen carbon")

    def test_the_aligned_stack(self):
        register("movie.npy -o out --stages 1", "aligned: 8 frames of 96x80 f32, NaN without data", "relative to frame 0",
                 "8 frames used, 0 left out, 0 flagged; standard deviation of a position 0...px (median)")
        self.assertEqual(facts("info out/aligned.tif")["samples"], "f32")
        self.assertIn(b"frame 6frame 7", content("out/aligned.tif").replace(b"\0", b""))
        # All images have the area that all frames cover, and the stack is a named file; those of the earlier run go away.
        done = register("movie.npy -o out --stages 1 --aligned stack.npy --canvas common --gap -1 --json=run.json",
                        "canvas: ...x... pixels; the first pixel of all images is (")
        size = "×".join(re.search(r"canvas: (\d+)x(\d+)", done.out).groups())
        for image in ("stack.npy", "out/average.tif", "out/median.tif", "out/count.tif"):
            sextant(f"info {image}", size)
        self.assertEqual(load("run.json")["aligned"]["file"], "stack.npy")
        self.assertIn('"file": "stack.npy"', read("out/transforms.json"))
        self.assertIn("canvas", load("out/transforms.json"))
        self.assertFalse(os.path.exists("out/aligned.tif"))
        sextant("apply out/transforms.json movie.npy -o shown.npy")
        sextant("info shown.npy", size)
        done = register("movie.npy -o out --stages 1 --canvas union")
        width, height = re.search(r"canvas: (\d+)x(\d+)", done.out).groups()
        self.assertTrue(int(width) > 96 and int(height) > 80)
        sextant("info out/average.tif", f"{width}×{height}")

    def test_integers(self):
        from math import sin
        samples = bytes(int(63 + 25 * sin((x - f) * .61 + y * .23) * sin(y * .37 - (x - f) * .11) + 12 * sin((x - f) * y * .013))
                        for f in range(4) for y in range(64) for x in range(64))
        npy("bytes.npy", (4, 64, 64), samples)
        register("bytes.npy -o bytes --stages 1", "aligned: 4 frames of 64x64 u8, 0 without data")
        self.assertEqual(facts("info bytes/aligned.tif")["samples"], "u8")
        refuses("""
        2 gap 300: expected a whole number from 0 to 255 <- register bytes.npy -o no --gap 300
        2 --gap has no effect here: --aligned=off writes no frames <- register bytes.npy -o no --aligned off --gap 1
        2 expected auto, on, off or a file <- register bytes.npy -o no --aligned maybe
        2 is an input <- register movie.npy -o no --aligned movie.npy
        1 nowhere/a.tif <- register movie.npy -o no --aligned nowhere/a.tif
        2 given for two outputs <- register movie.npy -o no --aligned no/average.tif
        2 given for two outputs <- register movie.npy -o no --report - --json -
        1 nowhere/page.html <- register movie.npy -o no --report nowhere/page.html
        2 canvas union: displacement fields are defined only in the area of the reference <- register movie.npy -o no --canvas union --model nonrigid
        2 --scan-rows: the rows of frames are registered with the model rigid or translation, but the model is affine <- register movie.npy -o no --scan-rows --model affine
        """, lines=0)

    def test_a_run_removes_only_results_of_an_earlier_one(self):
        register("movie.npy -o again --stages 1 --model nonrigid --report again/page.html --json=again/run.json")
        self.assertTrue({"fields.npy", "page.html"} <= set(os.listdir("again")))
        for name in ("notes.html", "average.mrc"):
            Path("again", name).write_text("mine")
        register("movie.npy -o again --stages 1 --format npy --aligned off")
        register("movie.npy -o again --reference 99", code=1)  # a failed run removes nothing
        self.assertEqual(sorted(os.listdir("again")), ["average.mrc", "average.npy", "count.npy", "median.npy", "notes.html",
                                                       "transforms.csv", "transforms.json"])

    def test_warnings_and_advice(self):
        sextant("synthesize -o blank.npy --frames 16 --width 64 --height 64 --specimen carbon --blanks 2,4,6,8,9,10,12")
        done = register("blank.npy -o blank --stages 2", "… and 2 more left out for the same reason", "9 frames used, 7 left out",
                        "relative to the average of stage 1")
        self.assertEqual(done.err.count("is left out: the mean"), 5)
        self.assertEqual(load("blank/transforms.json")["relative_to"], "the average of stage 1")
        sextant("synthesize -o hot.npy --frames 10 --width 64 --height 64 --specimen carbon --drift-x 0 --drift-y 0 "
                "--random-step 0")
        changed("hot.npy", "spoilt.npy", 128 + 5 * 16384 + 4 * 2080, array.array("f", [400]).tobytes())
        self.assertNotIn("mean and median differ", register("hot.npy -o hot --stages 1", ).text)
        self.assertNotIn("parts of frames still move", register("hot.npy -o hot --stages 1", ).text)
        register("spoilt.npy -o spoilt --stages 1 --despike off", "mean and median differ by more than noise")
        sextant("synthesize -o warped.npy --frames 8 --width 128 --height 128 --specimen carbon --warp 6")
        register("warped.npy -o warped --stages 1", "parts of frames still move relative to one another, by 0...px (RMS, ...: "
                 "try --model auto, or --scan-rows if rows are scanned slowly")
        self.assertNotIn("parts of frames", register("warped.npy -o warped --stages 1 --model nonrigid").text)

    def test_rows_of_scanned_frames(self):
        register("movie.npy -o scanned --stages 1 --scan-rows --format npy --json=rows.json --report rows.html",
                 "rows jitter by 0...px and drift by (...) px within a frame (RMS); standard deviation of a row 0")
        self.assertIn("jitter", load("rows.json")["rows"])
        self.assertIn("Motion within frames", read("rows.html"))
        sextant("apply scanned/transforms.json movie.npy -o shown.npy")
        same("shown.npy", "scanned/aligned.npy")
        register("movie.npy -o scanned --stages 1")
        self.assertFalse(os.path.exists("scanned/rows.npy"))

    @unittest.skipUnless(importlib.util.find_spec("PIL"), "Pillow is not installed")
    def test_the_animated_picture(self):
        import PIL.Image

        def levels(name):
            with PIL.Image.open(name) as image:
                self.assertEqual(image.info["duration"], 100)
                return image.size, [(image.seek(i), image.convert("L").tobytes())[1] for i in range(image.n_frames)]

        register("movie.npy -o moving --stages 1 --aligned off --movie moving/m.gif", "moving/m.gif")
        self.assertIn("m.gif", load("moving/transforms.json")["files"])
        self.assertFalse(os.path.exists("moving/aligned.tif"))
        size, pictures = levels("moving/m.gif")
        self.assertEqual((size, len(pictures)), ((96, 80), 8))
        # The pictures are the aligned frames, with black gaps and one grey scale.
        register("movie.npy -o moving --stages 1 --format npy --movie m.png --report moving.html")
        self.assertEqual(levels("m.png"), (size, pictures))
        self.assertFalse(os.path.exists("moving/m.gif"), "a file of an earlier run")
        samples, seen = values("moving/aligned.npy"), b"".join(pictures)
        pairs = sorted((value, level) for value, level in zip(samples, seen) if value == value)
        self.assertEqual([level for _, level in pairs], sorted(level for _, level in pairs))
        self.assertTrue(all(level == 0 for value, level in zip(samples, seen) if value != value))
        self.assertEqual((pairs[0][1], pairs[-1][1]), (0, 255))
        self.assertEqual(read("moving.html").count("<h2>The aligned frames</h2>"), 1)
        self.assertTrue(base64.b64encode(content("m.png")).decode() in read("moving.html"))
        # A long, noisy series has fewer pictures, each the mean of several frames, and large frames are reduced.
        sextant("synthesize -o long.npy --frames 110 --width 128 --height 128 --specimen carbon --dose 2 --drift-x 0 --drift-y 0")
        register("long.npy -o long --stages 1 --movie m.png --report long.html")
        self.assertTrue("Each picture is the mean of 2 frames." in read("long.html"))
        self.assertEqual(len(levels("m.png")[1]), 55)
        sextant("synthesize -o large.npy --frames 2 --width 1200 --height 700 --specimen carbon")
        register("large.npy -o large --movie m.gif")
        self.assertEqual(levels("m.gif")[0], (400, 234))
        refuses("""
        2 --movie m.mp4: expected a name that ends in .gif or .png <- register movie.npy -o no --movie m.mp4
        1 nowhere/m.gif <- register movie.npy -o no --movie nowhere/m.gif
        2 given for two outputs <- register movie.npy -o no --movie m.gif --report m.gif
        2 --movie m.gif: one file for 2 series <- register movie.npy large.npy -o no --movie m.gif
        """)

    def test_pages(self):
        register("movie.npy -o paged --stages 1 --report paged/page.html --json=paged/run.json")
        page = register("movie.npy -o out --stages 1 --report -").out
        Path("page.html").write_text(page)
        self.assertRegex(page, r"\A<!DOCTYPE html>(?s:.*)</html>\n\Z")
        self.assertEqual(re.findall("<h2>(.*?)</h2>", page)[:5], ["Drift", "The average, before and after", "What ran, and why",
                                                                  "Where the time went", "Rotation and flags"])
        self.assertNotIn("<table", page[:page.index("What ran")])
        sextant("report paged/page.html page.html -o both.html")
        self.assertEqual(read("both.html").count('figure class="compare"'), 2)
        cut("page.html", "cut.html", 5000)
        refuses("""
        2 paged/run.json is not a page <- report paged/page.html paged/run.json -o no.html
        1 cut.html: is not a complete page <- report cut.html page.html -o no.html
        """)

    def test_examples_of_the_help_run_as_printed(self):
        examples = [line.removeprefix("  sextant ") for line in sextant("register --help").out.splitlines()
                    if line.startswith("  sextant")]
        self.assertEqual(len(examples), 2)
        for example in examples:
            sextant(example)
        self.assertTrue(os.path.exists("out.html"))


class SeveralSeries(CommandTest):
    @classmethod
    def prepare(cls):
        size = "--frames 4 --width 64 --height 64 --specimen carbon --dose 50"
        for folder in ("x", "y", "z"):
            os.mkdir(folder)
        for seed, name in enumerate(("x/a.npy", "y/a.npy", "b.npy")):
            sextant(f"synthesize -o {name} {size} --seed {seed}")
        sextant(f"synthesize -o blank.npy {size} --blanks 0,1,2")
        sextant("synthesize -o one.npy --frames 1 --width 64 --height 64")
        for copy in ("z/0.npy", "z/1.npy"):
            shutil.copy("one.npy", copy)

    def setUp(self):
        shutil.rmtree("out", ignore_errors=True)

    def expect_single(self, series, folder, options):
        shutil.rmtree("single", ignore_errors=True)
        register(f"{series} -o single --reproducible {options}")
        for name in os.listdir("single"):
            if name != "transforms.json":  # names its files
                same(f"single/{name}", f"{folder}/{name}", what=f"{series} {options}")
        self.assertEqual(shifts("single/transforms.json"), shifts(f"{folder}/transforms.json"))

    def test_each_series_has_the_results_of_a_single_run(self):
        all_series = "x/a.npy y/a.npy b.npy"
        for options, single, processes in (("--ranks 2", "--ranks 1", 0), ("--ranks 3", "--ranks 1", 0),
                                           ("--ranks 4", "--ranks 4", 0), ("", "--ranks 1", 2), ("", "--ranks 4", 4)):
            if processes and not MPIRUN:
                continue
            done = register(f"{all_series} -o out --reproducible {options}", "3 of 3 series registered", processes=processes)
            self.assertEqual(len(done.out.splitlines()), 4)
            self.assertEqual(sorted(os.listdir("out")), ["b", "x_a", "y_a"])
            for series, folder in (("x/a.npy", "out/x_a"), ("y/a.npy", "out/y_a"), ("b.npy", "out/b")):
                self.expect_single(series, folder, single)

    def test_a_failure_does_not_end_the_others(self):
        for ranks in (1, 2, 5):
            done = register(f"blank.npy b.npy missing.npy 'z/*.npy' -o out --ranks {ranks} --report out/all.html --json=all.json",
                            "2 of 4 series registered", "blank.npy (1 of 4): advice: frame 0 shows hardly more than noise", "missing.npy: no such file", code=1)
            found = load("all.json")["runs"]
            self.assertEqual([one["series"] for one in found], ["blank.npy", "b.npy", "missing.npy", "z/*.npy"])
            self.assertEqual([one["error"] is None for one in found], [False, True, False, True])
            self.assertEqual([one["run"] and one["run"]["registered"] for one in found], [None, 4, None, 2])
            self.assertIn("only 1 of 4 frames", found[0]["error"])
            page = read("out/all.html")
            self.assertEqual(re.findall('<a href="([^"]*)"', page), ["blank/report.html", "b/report.html", "z/report.html"])
            self.assertTrue("not registered: missing.npy: no such file" in page)
            self.assertTrue(all(os.path.exists(f"out/{name}/report.html") for name in ("blank", "b", "z")))

    def test_an_interrupted_call_continues(self):
        line = "b.npy x/a.npy y/a.npy -o out --ranks 1 --reproducible"
        done = Path("out/b/checkpoint.done")
        for _ in range(10):
            self.setUp()
            process = start(f"register {line}")
            wait_for(lambda: process.poll() is not None or done.exists())
            process.kill()
            process.communicate()
            if done.exists():
                break
        stored, before = done.read_text(), os.stat("out/b/average.tif").st_mtime_ns
        register(line, "b.npy (1 of 3): was registered before an interruption", "3 of 3 series registered")
        self.assertEqual(os.stat("out/b/average.tif").st_mtime_ns, before)
        self.assertFalse(list(Path("out").rglob("checkpoint.*")))
        self.assertNotIn("interruption", register(line).err, "a call that has ended is not continued")
        for text, options, continues in ((stored, "", True), ("{}", "", False), (stored, "--stages 1", False),
                                         (stored, "--restart", False)):
            done.write_text(text)
            self.assertEqual("interruption" in register(f"{line} {options}").err, continues, options)
        done.write_text(stored)
        later = done.stat().st_mtime + 9
        os.utime("out/b/transforms.json", (later, later))
        self.assertNotIn("interruption", register(line).err, "another call has written the results since")

    def test_refused_calls(self):
        refuses("""
        2 one.npy: has one frame; if the 2 files are one series, quote their pattern, such as '*.npy' <- register one.npy b.npy -o out
        2 b.npy is given twice <- register b.npy ./b.npy -o out
        2 --follow: follows one series, but 2 are given <- register b.npy x/a.npy -o out --follow
        2 --aligned all.tif: one file for 2 series, expected auto, on or off <- register b.npy x/a.npy -o out --aligned=all.tif
        1 page.html <- register b.npy x/a.npy -o out --report nowhere/page.html
        2 is an input <- register b.npy x/a.npy -o out --report x/a.npy
        1 does not exist <- register b.npy x/a.npy -o nowhere/out
        1 blank.npy: is not a folder <- register b.npy x/a.npy -o blank.npy
        2 their results would have the same folder x_a <- register x/a.npy x/a.mrc -o out
        """)


if __name__ == "__main__":
    unittest.main()
