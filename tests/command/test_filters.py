# SPDX-License-Identifier: BSD-3-Clause
"""Filters of images and volumes: the same bits for all ranks, tiles, memory limits, plans and formats; their memory."""
import random

from command_test import *


def noise(name, shape, kind="|u1"):
    length = array.array(types[kind]).itemsize
    for side in shape:
        length *= side
    npy(name, shape, random.Random(5).randbytes(length), kind)


def plan(source, target, **fields):
    """Writes a plan with other fields."""
    Path(target).write_text(json.dumps({**load(source), **fields}))
    return target


class Images(CommandTest):
    @classmethod
    def prepare(cls):
        noise("u8.npy", (307, 411))
        noise("u16.npy", (60, 50), "<u2")
        noise("i8.npy", (20, 30), "|i1")
        noise("wide.npy", (1, 200000), "<f4")

    def all_the_same(self, image, what, *ways):
        """Filters an image on one rank, and in each of these ways, which are options or tuples of options and texts."""
        sextant(f"filter {image} -o one.npy {what} --ranks 1")
        for way in ways:
            options, *expected = [way] if isinstance(way, str) else way
            sextant(f"filter {image} -o many.npy {what} {options}", *expected)
            same("one.npy", "many.npy", what=f"{image} {what} {options}")

    def test_ranks_tiles_and_memory(self):
        for image in ("u8.npy", "u16.npy"):
            self.all_the_same(image, "--sigma 3", "--ranks 2", "--ranks 3", ("--ranks 4", "(fastest of"), "--ranks 6 --grid 1x6",
                              "--ranks 6 --grid 3x2", "--ranks 6 --grid 6x1")
        self.assertEqual(len(content("one.npy")), 128 + 5 * 4 * 60 * 50)
        sextant("filter u8.npy -o one.npy --ranks 1", "nothing to choose")
        self.all_the_same("u8.npy", "--sigma 3", ("--ranks 2 --memory 1", "windows of ... rows, ...MiB"),
                          ("--grid 3x5", "on 15 ranks of threads"))
        sextant("filter u8.npy -o one.npy --border constant --border-value -3.5")  # below all samples
        for kernel in ("p3pc", "gaussian --truncate 4", "gaussian --truncate 0"):
            self.all_the_same("u8.npy", f"--sigma 3 --kernel {kernel}",
                              ("--ranks 6 --grid 2x3", f"at sigma 3, kernel {kernel.split()[0]}"))
        found = facts("filter u8.npy -o many.npy --ranks 2 --kernel p3pc", code=0)
        self.assertTrue(found["kernel"].startswith("p3pc"))
        sextant("filter u8.npy -o many.npy --ranks 2", "filter ... ms (predicted ")

    def test_threads_of_a_rank(self):
        for image in ("u8.npy", "u16.npy"):
            self.all_the_same(image, "--sigma 3", "", "--threads 1", "--threads 3", "--ranks 3 --threads 2", "--threads 64",
                              "--memory 1 --threads 2")
        sextant("filter u8.npy -o one.npy --threads 3", "on 3 threads")
        found = facts("filter u8.npy -o one.npy --ranks 2 --threads 3", code=0)
        self.assertEqual((found["ranks"], found["threads"]), (2, 3))
        found = facts("filter u8.npy -o one.npy", code=0)
        self.assertEqual((found["ranks"], found["threads"]), (1, len(os.sched_getaffinity(0))))
        if MPIRUN:
            sextant("filter u8.npy -o many.npy --sigma 3 --threads 2", "on 2 ranks of ..., 2 threads each", processes=2)
            sextant("filter u8.npy -o one.npy --sigma 3 --ranks 1")
            same("one.npy", "many.npy")

    def test_features_and_processes(self):
        features = "--derivatives gradient-magnitude,laplacian,hessian-1,structure-2@5,smooth,xxy --border mirror"
        self.all_the_same("u8.npy", features, "--ranks 4")
        if not MPIRUN:
            return
        for shared, used in (("on", [True]), ("off", [False]), ("auto", [True, False])):
            sextant(f"filter u8.npy -o mpi.npy {features} --memory 2 --shared-memory {shared} --json=run.json",
                    "within nodes (", processes=3)
            same("one.npy", "mpi.npy", what=shared)
            self.assertIn(load("run.json")["shared_memory"]["used"], used)
        # Only rank 0 finds the image: the other ranks run in another folder.
        os.mkdir("here")
        os.mkdir("there")
        shutil.copy("u16.npy", "here")
        sextant("filter u16.npy -o one.npy --ranks 1")
        done = subprocess.run([*MPIRUN, "-n", "1", "-wdir", "here", SEXTANT, "filter", "u16.npy", "-o", "out.npy", ":", "-n", "2",
                               "-wdir", "there", SEXTANT, "filter", "u16.npy", "-o", "out.npy"], capture_output=True, text=True)
        self.assertIn("warning: u16.npy is available on rank 0 only", done.stderr)
        same("one.npy", "here/out.npy")

    def test_plans(self):
        sextant("filter u16.npy -o one.npy --ranks 4 --plan plan.json --report page.html")
        self.assertIn("2x2 tiles", read("page.html"))
        for fields, text in (({"columns": 4, "rows": 1}, "4x1 tiles, ... (the plan of other.json)"),
                             ({"columns": 2, "rows": 1, "packs": True, "distribute": "binomial-scatter", "collect": "flat-gather"},
                              "2x1 tiles, binomial-scatter, flat-gather, packed ("),
                             ({"columns": 2, "rows": 1, "packs": True, "distribute": None, "collect": "flat-gather"},
                              "2x1 tiles, each rank reads its own tile, ")):
            plan("plan.json", "other.json", **fields)
            sextant("filter u16.npy -o many.npy --ranks 4 --plan other.json", text)
            same("one.npy", "many.npy", what=fields)
            sextant("filter u16.npy -o many.npy --plan other.json", f"on {fields['columns'] * fields['rows']} ranks of threads")
            same("one.npy", "many.npy", what=fields)
        for how in ("scatter", "broadcast", "2-lev-rec-scatter"):
            sextant(f"filter u16.npy -o many.npy --ranks 4 --grid 2x2 --distribute {how}", "2x2 tiles, ..." + how.split("-")[-1])
            same("one.npy", "many.npy", what=how)

    def test_several_filters_and_tiles_that_change(self):
        chain = "filter u8.npy --before smooth@2,x@1.5 --sigma 1 --derivatives laplacian,y"
        sextant(f"{chain} -o one.npy --ranks 1")
        sextant(f"{chain} -o many.npy --ranks 6 --grid 2x3 --memory 1", "windows of")
        same("one.npy", "many.npy")
        sextant(f"{chain} -o many.npy --ranks 6 --grid 2x3 --plan chain.json")
        tiles = [{"filter": 2, "columns": 6, "rows": 1}, {"filter": 3, "columns": 1, "rows": 5}]
        for window in (307, 100):
            plan("chain.json", "tiles.json", retilings=tiles, window=window)
            sextant(f"{chain} -o many.npy --ranks 6 --plan tiles.json --report page.html",
                    "2x3 tiles, then 6x1 from filter 2, then 1x5 from filter 3, each rank")
            same("one.npy", "many.npy", what=f"windows of {window} rows")
            self.assertIn("The tiles of filter 3 and of later filters", read("page.html"))
            if MPIRUN:
                sextant(f"{chain} -o mpi.npy --plan tiles.json", processes=6)
                same("one.npy", "mpi.npy")
        sextant("filter u8.npy -o first.tif --sigma 2 --derivatives smooth")
        sextant("filter first.tif -o second.tif --sigma 1.5 --derivatives x")
        sextant("filter second.tif -o many.npy --sigma 1 --derivatives laplacian,y")
        same("one.npy", "many.npy", what="its filters one after another")
        refuses("1 retilings[0].filter is 2, expected a whole number from 1 to 1 <- filter u8.npy -o x.npy --ranks 6 --plan tiles.json")

    def test_formats(self):
        for name in ("planes.tif", "planes.npy"):
            sextant(f"filter u16.npy -o {name} --derivatives smooth,x --ranks 1")
        self.assertEqual(facts("info planes.tif")["frames"], 2)
        for frame in (0, 1):
            sextant(f"filter planes.tif --frame {frame} -o one.npy --ranks 1")
            sextant(f"filter planes.npy --frame {frame} -o many.npy --ranks 3")
            same("one.npy", "many.npy", what=frame)
        Path("i8.raw").write_bytes(content("i8.npy")[-600:])
        self.all_the_same("i8.npy", "", "--ranks 4")
        sextant("filter i8.raw::30x20,i8 -o many.npy --ranks 2")
        same("one.npy", "many.npy")
        npy("nan.npy", (8, 8), [0] * 63 + [float("nan")], "<f4")
        sextant("filter nan.npy -o out.npy --ranks 2", "1 samples are not numbers (NaN)")
        sextant("filter nan.npy -o out.npy --ranks 9 --grid 1x9 --sigma 5", "some ranks are idle")

    def test_errors(self):
        noise("u8x.npy", (8, 8))
        cut("u8x.npy", "short.npy", 128 + 63)
        cut("u8.npy", "cut.npy", 40)
        npy("complex.npy", (8, 8), bytes(512), "<c8")
        sextant("filter u16.npy -o one.npy --ranks 4 --grid 2x2 --plan fresh.json")
        Path("wrong.json").write_text('{"plan_version": 1, "operation": "filter", "columns": 3, "rows": 2, "window": 5}')
        Path("wrong_image.json").write_text('{"plan_version": 1, "operation": "composite"}')
        table = f"""
        2 derivative x: the scale along x is 0.1 pixels, expected 0.5 to 1000 <- u8.npy --sigma .1
        2 sigma 2000: expected a number from 0 to 1000 <- u8.npy --sigma 2000
        2 truncate 30: expected a number from 0 to 20 <- u8.npy --truncate 30
        2 --truncate has no effect here: the kernel p3pc has a fixed size <- u8.npy --truncate 4 --kernel p3pc
        2 kernel <- u8.npy --kernel box
        2 derivative 'xz' <- u8.npy --derivatives x,xz
        2 is requested twice <- u8.npy --derivatives xy,yx
        2 expected an order of at most 4 along each axis <- u8.npy --derivatives yyyyy
        2 --grid 2x2: 4 tiles, expected one for each of the 3 ranks <- u8.npy --ranks 3 --grid 2x2
        2 --grid 4x1: the plan ...fresh.json has 2x2 tiles; omit <- u16.npy --ranks 4 --grid 4x1 --plan fresh.json
        2 --grid 99x99: 9801 tiles, expected 1024 or fewer <- u8.npy --grid 99x99
        2 --grid 2by2: expected WIDTHxHEIGHT <- u8.npy --ranks 4 --grid 2by2
        2 --border-value has no effect here: expected --border constant <- u8.npy --border mirror --border-value 3
        2 unknown collective algorithm 'pigeon' <- u8.npy --ranks 2 --distribute pigeon
        2 flat-gather cannot distribute: it performs gather <- u8.npy --ranks 2 --distribute flat-gather
        2 --before smooth: expected <- u8.npy --before smooth
        2 --before smooth@x: expected <- u8.npy --before smooth@x
        2 --before smooth@9000: the scale along x is 9000 pixels, expected 0 to 1000 <- u8.npy --before smooth@9000
        2 derivative 'z' <- u8.npy --before z@1
        2 one row of 200000 samples <- wide.npy --memory 1
        1 <c8 <- complex.npy
        1 short.npy <- short.npy
        1 cut.npy <- cut.npy
        1 is not in a known frame format <- {SEXTANT}
        1 nothing.npy <- nothing.npy
        1 3x2 tiles: expected at most one tile for each of the 4 ranks <- u8.npy --ranks 4 --plan wrong.json
        1 wrong_image.json: operation is "composite", expected "filter" <- u8.npy --plan wrong_image.json
        2 shared-memory off: ranks are threads <- u8.npy --ranks 2 --shared-memory off"""
        refuses(table.replace("<- ", "<- filter -o x.npy "), lines=0)
        refuses("\n".join(f"2 {name} <- filter u8.npy -o {name}" for name in ("x.png", "x.jpg", "x.txt")))

    def test_a_file_that_shrinks_while_it_is_read(self):
        for ranks in (1, 3):
            npy("tall.npy", (4000000, 50), b"")  # tens of thousands of windows, without data on the disk
            os.truncate("tall.npy", 200000128)
            process = start(f"filter tall.npy -o x.npy --derivatives smooth --memory 1 --sigma 100 --ranks {ranks}")
            opened = Path(f"/proc/{process.pid}/fd")  # the output has no name until it is complete
            wait_for(lambda: any("deleted" in os.readlink(file) for file in opened.iterdir() if os.path.lexists(file)), process)
            os.truncate("tall.npy", 5000)
            finish(process, "tall.npy: ...", code=1)
            self.assertRegex(process.err, "the file shrank while it was read|truncated")
            self.assertFalse(os.path.exists("x.npy"))
        os.remove("tall.npy")


class Volumes(CommandTest):
    names = ("z", "hessian-1", "structure-2@1.5", "xy")
    what = "--sigma 1.2,.8,1 --derivatives z,hessian-1,structure-2@1.5,xy --before smooth@.7 --border mirror"
    unchanged = "--derivatives smooth --sigma .5 --truncate 0"

    @classmethod
    def prepare(cls):
        sextant("synthesize -o series.tif --frames 12 --width 22 --height 25 --period 8 --seed 3")
        sextant(f"filter series.tif -o volume.npy {cls.unchanged}")
        os.mkdir("frames")
        for frame in range(12):
            sextant(f"filter volume.npy --frame {frame} -o frames/{frame}.tif {cls.unchanged}")

    def test_the_same_bits(self):
        sextant(f"filter volume.npy -o one.npy {self.what} --ranks 1")
        self.assertFalse(os.path.exists("one.npy"))
        for format in ("zarr", "tif", "mrc"):
            sextant(f"filter volume.npy -o volume.{format} {self.unchanged}")
        runs = [f"{source} --ranks 2" for source in ("volume.zarr", "volume.tif", "volume.mrc", "frames")]
        runs += [f"volume.npy --grid {grid} {how}" for grid in ("1x1x6", "2x3x1", "3x1x2", "2x2x2")
                 for how in ("--memory 60 --distribute scatter", "--distribute broadcast")]
        runs += ["volume.npy --grid 1x2x2", "volume.npy --ranks 3 --memory 1780K --plan plan.json",
                 "volume.npy --ranks 3 --plan plan.json", "volume.npy --grid 1x1x3 --plan boxes.json",
                 "volume.npy --ranks 3 --plan boxes.json --json=run.json"] + ["volume.npy --grid 1x3"] * bool(MPIRUN)
        for run in runs:
            texts = ["windows of"] if "1780K" in run else []
            sextant(f"filter {run} -o other.npy {self.what}", *texts, processes=3 if run.endswith("--grid 1x3") else 0)
            for name in self.names:
                same(f"one_{name}.npy", f"other_{name}.npy", what=run)
                os.remove(f"other_{name}.npy")
        self.assertEqual((load("boxes.json")["layers"], load("run.json")["depth"]), (3, 12))
        self.assertEqual(len(load("run.json")["outputs"]), 4)

    def test_names_of_outputs(self):
        # The names of derivatives go before all of an extension; one derivative has the name of the output.
        for name in ("v.npy", "v.nii", "v.nii.gz", "V.NII.GZ", "v.mrc.gz", "v.zarr", "v.zarr/", "v.h5"):
            sextant(f"filter volume.npy -o {name} --derivatives smooth,x --sigma 1")
            stem, extension = name.rstrip("/").split(".", 1)
            for derivative in ("smooth", "x"):
                sextant(f"info {stem}_{derivative}.{extension}")
            self.assertFalse(os.path.exists(name))
        sextant("filter volume.npy -o one.zarr --derivatives zz")
        self.assertTrue(os.path.isdir("one.zarr"))
        sextant("filter volume.npy --frame 3 -o image.npy")
        sextant("filter frames/3.tif -o image2.npy")
        same("image.npy", "image2.npy")

    def test_errors(self):
        os.mkdir("x_y.npy")
        table = """
        1 x_smooth.mrc.bz2: cannot be written <- volume.npy -o x.mrc.bz2 --derivatives smooth,x
        2 unknown derivative 'hessian-3' <- frames/3.tif -o x.npy --derivatives hessian-3
        2 unknown derivative 'z' <- frames/3.tif -o x.npy --derivatives z
        2 after @, such as structure-1@3 <- volume.npy -o x.npy --derivatives structure-1
        2 expected one number, or one each for y,x, for an image <- frames/3.tif -o x.npy --sigma 2,1,1
        2 expected one number, or one each for z,y,x, for a volume <- volume.npy -o x.npy --sigma 2,1
        2 from 0 to 1000 <- volume.npy -o x.npy --sigma 2,1,-.1
        2 derivative x: the scale along x is 0.1 pixels, expected 0.5 to 1000 <- volume.npy -o x.npy --sigma 2,1,.1
        2 only volumes have layers of tiles <- frames/3.tif -o x.npy --grid 1x1x2
        1 --sigma in µm: ...volume.npy states no pixel size <- volume.npy -o x.npy --sigma 2um
        2 --sigma: unknown unit "xx", expected pm, A, nm, um, mm, cm or m, or a number without a unit (pixels) <- volume.npy -o x.npy --sigma 2xx
        2 or with a unit, such as 2um <- volume.npy -o x.npy --sigma -2um
        2 --derivatives structure-1@2: the scale along y is 0.25 pixels, expected 0.5 to 1000 <- volume.npy -o x.npy --sigma 8,1,8 --derivatives structure-1@2
        2 derivative z: the scale along z is 0.25 pixels, expected 0.5 to 1000 <- volume.npy -o x.npy --sigma 1,8,8 --derivatives x --before z@2
        2 --before smooth@2: scales after @ are relative to sigma along x, which is 0 <- volume.npy -o x.npy --sigma 1,8,0 --derivatives y --before smooth@2
        2 volume.npy <- volume.npy -o volume.npy --derivatives x
        1 x_y.npy <- volume.npy -o x.npy --derivatives x,y"""
        refuses(table.replace("<- ", "<- filter "), lines=0)
        os.rmdir("x_y.npy")
        for ranks in (1, 3):  # the least memory is named, and is enough
            line = f"filter volume.npy -o x.npy --sigma 4 --ranks {ranks} --memory"
            done = sextant(f"{line} 20K", "--memory 20K is too small for one plane of 22x25 samples, the planes needed around it "
                           "and 5 results on", code=2)
            least = int(re.search("expected ([0-9]+)K or more", done.err)[1])
            refuses(f"2 too small <- {line} {least - 1}K")
            sextant(f"{line} {least}K")
        if MPIRUN:
            refuses("2 --memory 20K <- filter volume.npy -o y.npy --memory 20K --sigma 4\n"
                    "1 --sigma in <- filter volume.npy -o y.npy --sigma 2um", processes=2)
        cut("volume.npy", "short.npy", 128 + 22 * 25 * 4 * 11)  # the header promises one more plane
        done = sextant("filter short.npy -o s.npy --derivatives x,z", code=None)
        self.assertTrue(done.returncode or "11" in done.text, done.text)


@unittest.skipIf("SEXTANT_SANITIZE" in os.environ, "sanitizers need additional memory")
class Memory(CommandTest):
    @staticmethod
    def peak(line):
        done = subprocess.run([os.environ["PEAK_MEMORY"], SEXTANT, "filter", "-o", "out.npy", *line.split()],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return int(done.stdout)

    @staticmethod
    def zeros(name, shape, size, kind="|u1"):
        npy(name, shape, b"", kind)
        os.truncate(name, 128 + size)

    def takes(self, line, ranks, threads=1):
        """Peak memory beyond that of a command which filters a tiny image, in KiB."""
        self.zeros("dot.npy", (8, 8), 256, "<f4")
        who = f"--ranks {ranks} --threads {threads}"
        return self.peak(f"{line} {who}") - self.peak(f"dot.npy {who}")

    def test_the_image_the_results_and_little_more(self):
        # Ranks hold the image, and compute five planes of floats directly in rank 0's memory.
        for kind, size in (("<f4", 4), ("|u1", 1)):
            self.zeros("image.npy", (1024, 1024), size << 20, kind)
            for ranks, threads in ((1, 1), (1, 4), (2, 1), (3, 1), (4, 1)):
                expected = (5 * 4 + size) * 1024
                more = self.takes(f"image.npy --memory 64 --grid 1x{ranks} --json=run.json", ranks, threads)
                self.assertLessEqual(load("run.json")["memory"] / 1024, 1.02 * expected)
                # The kernels' strips, half a MiB per thread, and file buffers are added.
                self.assertLessEqual(more, 1.05 * expected + ranks * threads * 1024)
                self.assertGreaterEqual(more, expected / 2)

    def test_windows_stay_within_the_limit(self):
        self.zeros("image.npy", (16384, 4096), 64 << 20)
        self.assertLessEqual(self.takes("image.npy --memory 8 --sigma .5 --derivatives x", 2), 1.05 * 8192 + 2048)
        self.zeros("volume.npy", (96, 512, 512), 24 << 20)
        for ranks, threads in ((1, 1), (1, 2), (2, 1), (3, 1)):
            more = self.takes("volume.npy --memory 24 --derivatives x,hessian-1 --sigma 1.5,1,1 --json=run.json", ranks, threads)
            self.assertGreater(load("run.json")["windows"], 1)
            most = 1.05 * 24 * 1024 + (ranks * threads + 1) * 1024
            self.assertTrue(10 * 1024 <= more <= most, f"{more} KiB on {ranks} ranks, {threads} threads")


if __name__ == "__main__":
    unittest.main()
