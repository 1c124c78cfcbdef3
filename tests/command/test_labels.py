# SPDX-License-Identifier: BSD-3-Clause
"""Labels of images and volumes, measures and stitched blocks: the same files for all ranks, tiles, memory limits and
formats."""
from command_test import *


class Labels(CommandTest):
    @classmethod
    def prepare(cls):
        cells = "##...#....## .#...#...#.. .#####..#... ........#..# ###...##...# #.#..##....# ###..#....##"
        npy("cells.npy", (7, 12), letters(cells, ".#"))
        npy("small.npy", (2, 3, 6), letters("###...###...###..##.#...#.#....##..#", ".#"))
        npy("large.npy", (500, 800), letters("ab.ba..ab.a.....b", ".ab", 400000))
        npy("volume.npy", (100, 125, 160), letters("ab.ba..ab.a.....b...", ".ab", 2000000))
        sextant("label small.npy -o plane.npy --frame 0", "of 6x3")

    def test_a_small_image(self):
        sextant("label cells.npy -o one.npy --table table.csv --ranks 1", "4 components of 12x7")
        self.assertEqual(read("table.csv").split(), [
            "label,area,x,y,width,height,centroid_x,centroid_y", "1,10,0,0,6,3,2.7,1.2", "2,10,5,0,7,7,7.5,3",
            "3,5,10,3,2,4,10.8,4.8", "4,8,0,4,3,3,1,5"])
        sextant("label cells.npy -o one.npy --table all.csv --columns all")
        sextant("measure one.npy -o measured.csv --columns all")
        same("all.csv", "measured.csv")
        rows = read("all.csv").split()
        self.assertEqual([row.split(",")[:8] for row in rows], [row.split(",") for row in read("table.csv").split()])
        self.assertTrue(rows[0].endswith(",centroid_y,axis_1,axis_2,axis_1_y,axis_1_x,perimeter,at_border"))
        self.assertRegex(rows[4], "^4,8,0,4,3,3,1,5,.*,16,1$")  # perimeter and border of a ring
        for options in ("--ranks 2 --pattern 1-lev-dir", "--ranks 3 --pattern 2-lev-rc", "--ranks 6 --pattern logp-lev-quad",
                        "--ranks 6 --pattern logp-lev-bal", "--ranks 6"):
            sextant(f"label cells.npy -o many.npy --table many.csv {options}")
            same("one.npy", "many.npy", what=options)
            same("table.csv", "many.csv", what=options)
        found = facts("label cells.npy -o some.npy --fill-holes --min-size 6 --keep-largest 2 --table some.csv "
                      "--intensity cells.npy")
        self.assertEqual((found["holes"], found["removed"]), (1, 2))
        self.assertEqual([row.split(",")[8:] for row in read("some.csv").split()],
                         [["sum", "mean", "minimum", "maximum"]] + [["10", "1", "1", "1"]] * 2)
        self.assertEqual(facts("label cells.npy -o labels.tif --neighbours 4 --ranks 4")["components"], 7)
        self.assertEqual(facts("info labels.tif")["samples"], "u32")
        npy("classes.npy", (3, 4), letters("abbcbcccabcb", "a....bc"))
        sextant("label classes.npy -o one.npy --by-value --neighbours 4 --ranks 3 --table one.csv")
        self.assertEqual([row.split(",")[1] for row in read("one.csv").split()], "area 2 5 1 1 1".split())

    def test_images_and_volumes_larger_than_the_memory(self):
        for image, parts, rules in (("large.npy", "strips", ("", "--neighbours 4", "--by-value")),
                                    ("volume.npy", "slabs", ("", "--neighbours 6 --fill-holes", "--by-value --neighbours 18",
                                                             "--min-size 3 --keep-largest 7"))):
            for rule in rules:
                line = f"label {image} --intensity {image} {rule}"
                whole = facts(f"{line} -o one.npy --table one.csv" + (" --ranks 1" if parts == "strips" else ""))
                self.assertIn(whole.get(parts), (None, 0, 1))
                many = facts(f"{line} -o many.npy --table many.csv --ranks 3 --memory 1")
                self.assertGreater(many[parts], 1)
                same("one.npy", "many.npy", what=rule)
                same("one.csv", "many.csv", what=rule)
        sextant("measure one.npy --intensity volume.npy -o regions.csv --ranks 2")
        same("one.csv", "regions.csv")

    @over_mpi
    def test_over_mpi(self):
        for options in ("cells.npy", "volume.npy --intensity volume.npy --min-size 3 --keep-largest 7"):
            sextant(f"label {options} -o one.npy --table one.csv --ranks 1")
            sextant(f"label {options} -o many.npy --table many.csv", processes=3)
            same("one.npy", "many.npy")
            same("one.csv", "many.csv")

    def test_pages_have_the_same_slices_on_processes(self):
        sextant("label volume.npy -o one.npy --report one.html")
        sextant("label volume.npy -o one.npy --report many.html", processes=3 if MPIRUN else 0)
        slices = [re.findall('<image class="[^>]*>', read(page)) for page in ("one.html", "many.html")]
        self.assertEqual(len(slices[0]), 6)
        self.assertEqual(*slices)

    def test_volumes(self):
        sextant("label small.npy -o one.npy --table one.csv", "2 components of 2x3x6 voxels")
        rows = read("one.csv").split()
        self.assertTrue(rows[0].startswith("label,voxels,z,y,x,depth,height,width,centroid_z") and len(rows) == 3)
        self.assertEqual(facts("label small.npy -o labels.tif --neighbours 6")["options"]["neighbours"], "6")
        nan = [float("nan")] * 36
        npy("nan.npy", (2, 3, 6), nan, "<f4")
        sextant("measure small.npy --intensity nan.npy -o nan.csv")
        self.assertTrue(read("nan.csv").split()[-1].endswith(",nan,nan,nan,nan"))
        for rule in ("", "--by-value", "--frame 0", "--frame 0 --by-value --ranks 2"):
            count, what = (18, "pixels") if "frame" in rule else (36, "voxels")
            found = facts(f"label nan.npy -o one.npy {rule}", f"{count} {what} are NaN and count as background")
            self.assertEqual((found["nan"], found["components"]), (count, 0))
        npy("signed.npy", (1, 2, 3), [2, 7, -5, -1, 0, 2], "|i1")
        sextant("measure signed.npy -o signed.csv")
        self.assertEqual([row.split(",")[0] for row in read("signed.csv").split()[1:]], "-5 -1 2 7".split())

    def test_stores(self):
        for _ in range(2):  # a slash after the name; a store is replaced
            sextant("label small.npy -o slash.zarr/")
        self.assertTrue(os.path.exists("slash.zarr/0/zarr.json") and not os.path.exists("slash.zarr.partial"))
        sextant("label small.npy -o slash.zarr --zarr 2")
        self.assertTrue(os.path.exists("slash.zarr/0/.zarray") and not os.path.exists("slash.zarr/zarr.json"))
        sextant("label small.npy -o slash.zarr")
        for part in ("0/2024", "labels"):  # what is not Sextant's in a folder is not lost
            os.makedirs(f"own.zarr/{part}")
            shutil.copy("slash.zarr/zarr.json", "own.zarr")
            Path(f"own.zarr/{part}/notes.txt").write_text("own")
            refuses(f"1 holds '{part.split('/')[0]}', which would be lost <- label small.npy -o own.zarr")
            shutil.rmtree("own.zarr")
        for output in ("x.zarr", "x.npy"):
            partial = Path(output + ".partial")
            partial.mkdir()
            (partial / "notes.txt").write_text("own")
            refuses(f"1 holds 'notes.txt' <- label small.npy -o {output}")
            self.assertTrue((partial / "notes.txt").exists())
            shutil.rmtree(partial)
            partial.write_text("own")
            refuses(f"1 {partial}: is not a folder <- label small.npy -o {output}")
            partial.unlink()
        os.mkdir("x.zarr.partial")
        done = subprocess.run(["flock", "x.zarr.partial", SEXTANT, "label", "small.npy", "-o", "x.zarr"],
                              capture_output=True, text=True)
        self.assertIn("x.zarr.partial: is in use", done.stderr)
        os.rmdir("x.zarr.partial")

    def test_a_full_disk_keeps_results_so_far(self):
        line = "label volume.npy -o full.npy --memory 1M"
        sextant(line, "labels.0: cannot be written: ...; results so far are kept in ...full.npy.partial: the same", code=1,
                preexec_fn=file_limit(100))
        sextant(line, "continued an earlier run")

    def test_formats(self):
        planes = letters("ab.ba..ab.a.....b...", ".ab", 60000)
        npy("v.npy", (20, 50, 60), planes)
        sextant("label v.npy -o l.npy --table one.csv --intensity v.npy")
        for format in ("nii", "nii.gz", "h5", "hdf5", "tif", "zarr"):
            sextant(f"label v.npy -o l.{format} --ranks 2")
            sextant(f"info l.{format} --check", "samples...u32", "frames...20")
            # Each rank forks a process that reads HDF5; AddressSanitizer's allocator is not safe while another thread forks.
            apart = "SEXTANT_SANITIZE" in os.environ and format in ("h5", "hdf5")
            sextant(f"label l.{format} --by-value -o again.npy --memory 1 --ranks {1 if apart else 3}")
            same("l.npy", "again.npy", what=format)
            sextant(f"measure l.{format} -o {format}.csv")
            same("nii.csv", f"{format}.csv")
        import gzip
        self.assertEqual(gzip.decompress(content("l.nii.gz")), content("l.nii"))
        if MPIRUN:  # decompressed once for all ranks of a node
            sextant("label l.nii.gz --by-value -o again.npy", processes=2)
            same("l.npy", "again.npy")
        self.assertFalse([path for path in paths() if ".sextant" in path])
        cut("l.nii.gz", "short.nii.gz", len(content("l.nii.gz")) // 2)
        refuses("""
        1 short.nii.gz: truncated: its compressed data end after <- label short.nii.gz -o x.npy --ranks 2
        2 u32 frames can be written as ....npy .nii .nii.gz .h5 .hdf5 .zarr <- label v.npy -o x.mrc
        2 is not an NPY, HDF5 or Zarr array <- info l.tif --axes ZYX
        1 the file names them ZYX <- info l.nii --axes TYX
        """)
        sextant("info l.nii", "axes...ZYX, 20×50×60")
        # A volume of a series, with and without channels.
        zeros, sevens = bytes(60000), planes.replace(b"\1", b"\7")
        npy("times.npy", (2, 20, 50, 60), zeros + planes)
        npy("channels.npy", (2, 2, 20, 50, 60), 2 * (zeros + planes))
        for options in ("times.npy --axes TZYX --time 1", "channels.npy --axes TCZYX --time 1 --channel 1",
                        "channels.npy --axes ctzyx --time 1"):
            sextant(f"label {options} -o again.npy")
            same("l.npy", "again.npy", what=options)
        sextant("label times.npy --axes TZYX --time 1 -o again.npy --table same.csv --intensity times.npy")
        same("one.csv", "same.csv")
        # Intensities of another channel of the same file, and of other files, with and without times.
        npy("sevens.npy", (20, 50, 60), sevens)
        npy("two.npy", (2, 2, 20, 50, 60), zeros + planes + zeros + sevens)
        npy("times_of_sevens.npy", (2, 20, 50, 60), zeros + sevens)
        npy("one_time.npy", (2, 20, 50, 60), planes + sevens)
        shutil.copy("one_time.npy", "other.npy")
        sextant("label one_time.npy --axes CZYX -o again.npy --table sevens.csv --intensity sevens.npy")
        self.assertNotEqual(content("one.csv"), content("sevens.csv"))
        for options in ("two.npy --axes CTZYX --time 1 --channel 0 --intensity two.npy --intensity-channel 1",
                        "two.npy --axes CTZYX --time 1 --channel 0 --intensity sevens.npy",
                        "times.npy --axes TZYX --time 1 --intensity times_of_sevens.npy",
                        "one_time.npy --axes CZYX --channel 0 --intensity one_time.npy --intensity-channel 1",
                        "one_time.npy --axes CZYX --channel 0 --intensity other.npy --intensity-channel 1 --ranks 2"):
            sextant(f"label {options} -o again.npy --table same.csv")
            same("sevens.csv", "same.csv", what=options)
        sextant("measure again.npy --intensity sevens.npy -o sevens.csv")
        sextant("measure again.npy --intensity sevens.npy --intensity-channel 0 -o same.csv")
        same("sevens.csv", "same.csv")
        sextant("label one_time.npy --axes CZYX --channel 1 -o again.npy --table same.csv --intensity other.npy",
                "intensity ...other.npy: has 2 channels ... --intensity-channel N selects")
        sextant("label times.npy --axes TZYX --slice 3 -o again.npy", "of 2x50x60 voxels")
        sextant("info times.npy", "axes...2×20×50×60", "name the axes, for example --axes TZYX")
        found = facts("info times.npy --axes tzyx --time 1")
        self.assertEqual((found["axes"], found["times"]), ("TZYX", 2))
        refuses("""
        1 two.npy: has no channel 2, expected 0 to 1 <- label two.npy --axes CTZYX --time 1 -o x.npy --table x.csv --intensity two.npy --intensity-channel 2
        2 intensity-channel <- label v.npy -o x.npy --intensity-channel 0
        1 axes "ZYX" were given, expected a letter for each of 4 axes (2×20×50×60) <- info times.npy --axes ZYX
        1 expected Y as axis 2 and X as axis 3 <- info times.npy --axes XYZT
        1 has no time 2, expected 0 to 1 <- label times.npy --axes TZYX --time 2 -o x.npy
        2 expected one of them <- label times.npy --axes TZYX --time 1 --slice 0 -o x.npy
        """)

    def test_errors(self):
        npy("empty.npy", (0, 0), b"")
        npy("wide.npy", (1, 100000), bytes(100000))
        refuses("""
        2 is a volume, expected 6, 18 or 26 <- label small.npy -o x.npy --neighbours 8
        2 100 frames, expected one <- label plane.npy -o x.npy --table x.csv --intensity volume.npy
        2 --fill-holes: ... connected --by-value <- label small.npy -o x.npy --fill-holes --by-value
        2 x.zarr/table.csv is in the output ...x.zarr <- label small.npy -o x.zarr --table x.zarr/table.csv
        2 x.zarr/0/x.json is in the output <- label small.npy -o x.zarr --json=x.zarr/0/x.json
        2 --grid has no effect here: small.npy is a volume, whose planes <- label small.npy -o x.npy --grid 2x2
        2 expected --table <- label small.npy -o x.npy --intensity small.npy
        2 --zarr has no effect here <- label small.npy -o x.npy --zarr 2
        1 expected positive numbers <- label empty.npy -o x.tif
        2 out.png: u32 frames can be written as .tif <- label cells.npy -o out.png
        2 --grid 2x2: 4 tiles, expected one for each of the 3 ranks <- label cells.npy -o x.npy --ranks 3 --grid 2x2
        2 --memory 100K is too small: a row of 100000 pixels and its labels take 489K <- label wide.npy -o x.npy --memory 100K
        2 MiB in tiles; without a grid or pattern, larger images are labelled in strips <- label wide.npy -o x.npy --memory 1 --grid 2x1
        2 --min-size has no effect here: not supported for tiles <- label cells.npy -o x.npy --min-size 3 --grid 2x1
        2 --machine has no effect here: merging is planned only for tiles: expected --grid <- label cells.npy -o x.npy --machine x
        """)
        for rule in ("--ranks 1", "--ranks 3 --fill-holes"):  # the least memory is named, and is enough
            done = sextant(f"label volume.npy -o x.npy --memory 1K {rule}", "--memory 1K is too small", code=2)
            least = int(re.search("takes? ([0-9]+)", done.err)[1])
            refuses(f"2 too small <- label volume.npy -o x.npy --memory {least - 1}K {rule}")
            sextant(f"label volume.npy -o least.npy --memory {least}K {rule}")


class Stitch(CommandTest):
    @classmethod
    def prepare(cls):
        cls.labels("left.npy", (2, 5), "a.bbba.bb.")
        cls.labels("right.npy", (2, 5), "ddd.addd.a")
        cls.labels("planes.npy", (3, 1, 4), "aa.bbb.acc..")
        cls.labels("whole.npy", (2, 6), "aa.aab......")
        Path("image.csv").write_text("file,y,x\nleft.npy,0,0\nright.npy,0,3\n")

    @staticmethod
    def labels(name, shape, text):
        npy(name, shape, letters(text, ".abcd"))

    def test_images_and_planes(self):
        sextant("stitch image.csv -o image.npy --joins joins.csv --table table.csv --json=image.json",
                "3 objects in a volume of 1x2x8 voxels, from 4 labels in 2 blocks")
        self.assertEqual(values("image.npy"), [1, 0, 2, 2, 2, 2, 0, 3] * 2)
        self.assertEqual(read("joins.csv").split(), ["z_a,y_a,x_a,label_a,z_b,y_b,x_b,label_b,voxels,union,iou,outcome",
                                                     "0,0,0,2,0,0,3,4,3,4,0.75,joined"])
        self.assertEqual(read("table.csv").split(), ["label,z,y,x,block_label,voxels,kept", "1,0,0,0,1,2,2", "2,0,0,0,2,5,4",
                                                     "2,0,0,3,4,6,4", "3,0,0,3,1,2,2"])
        self.assertEqual((load("image.json")["objects"], load("image.json")["joined"]), (3, 1))
        for options, field in (("--threshold .76", "below"), ("--by voxels --threshold 3", "joined"),
                               ("--by voxels --threshold 4", "below")):
            self.assertEqual(facts(f"stitch image.csv -o image.npy {options}")[field], 1)
        sextant("stitch whole.npy -o image.npy --block 2,3 --by voxels")
        self.assertEqual(values("image.npy"), [1, 1, 0, 2, 2, 3] + [0] * 6)
        sextant("stitch planes.npy -o image.npy --block 1,0,0")
        self.assertEqual(values("image.npy"), [1, 1, 0, 2] * 2 + [1, 1, 0, 0])

    def test_blocks_of_a_volume(self):
        voxels = letters("aa.bb..aa.b.....b..", ".a", 480000)
        rows, number = ["file,z,y,x"], 0
        for z in (0, 14, 28):
            for y, height in ((0, 50), (44, 56)):
                for x, width in ((0, 70), (64, 36)):
                    number += 1
                    npy("part.npy", (20, height, width), b"".join(
                        voxels[(k * 100 + j) * 100 + x:][:width] for k in range(z, z + 20) for j in range(y, y + height)))
                    sextant(f"label part.npy -o 'block {number}.tif' --neighbours 6")
                    rows.append(f'"block {number}.tif",{z},{y},{x}')
        Path("blocks.csv").write_text("\n".join(rows) + "\n")
        Path("reverse.csv").write_text("\n".join(rows[:1] + rows[:0:-1]) + "\n")
        Path("gap.csv").write_text("\n".join(row for row in rows if "block 7" not in row) + "\n")
        sextant("stitch blocks.csv -o one.npy --joins one.csv --table one_table.csv --ranks 1")
        for options in ("--ranks 1 --memory 300K", "--ranks 3", "--ranks 2 --memory 100K", "--ranks 5 --memory 64K", ""):
            if not options and not MPIRUN:
                continue
            sextant(f"stitch reverse.csv -o many.npy --joins many.csv --table many_table.csv {options}",
                    processes=0 if options else 3)
            for one, many in (("one.npy", "many.npy"), ("one.csv", "many.csv"), ("one_table.csv", "many_table.csv")):
                same(one, many, what=options)
        sextant("stitch blocks.csv -o one.zarr")
        Path("single.csv").write_text("file,z,y,x\none.zarr,0,0,0\n")
        sextant("stitch single.csv -o again.npy")
        same("one.npy", "again.npy")
        refuses("1 no block contains the voxels z 20 to 27, y 50 to 99, x 0 to 63 of 48x100x100 <- stitch gap.csv -o x.npy")
        sextant("stitch gap.csv -o gap.npy --allow-gaps")

    def test_errors(self):
        npy("floats.npy", (1, 2), [1, 1], "<f4")
        npy("negative.npy", (1, 2), [1, -1], "<i2")
        cut("planes.npy", "short.npy", 134)
        blocks = "file,y,x\nleft.npy,0,0\nright.npy,0,3\n"
        for text, expected in ((blocks + "right.npy,0,3", "right.npy and right.npy have the same position: z 0, y 0, x 3"),
                               (blocks + "right.npy,-1,3", 'list.csv: line 4: "right.npy,-1,3", expected y to be a whole number, 0 or more'),
                               (blocks + "other.npy,0,3", "other.npy: no such file"),
                               (blocks + "planes.npy,0,3", "planes.npy: has 3 planes, expected one"),
                               ("file,z", 'line 1: "file,z", expected the names of the columns: file,z,y,x'),
                               ("file,y,x", "list.csv: has no blocks"),
                               ('file,y,x\n"left.npy,0,0', 'line 2: ""left.npy,0,0", expected a file, y and x'),
                               ("file,y,x\nleft.npy,0,99999999999999999999", "expected x to be a whole number"),
                               ("file,y,x\nleft.npy,999999999999,999999999999", "expected 10^18 or fewer"),
                               ("file,y,x\nfloats.npy,0,0", "floats.npy: holds f32, expected labels, which are integers"),
                               ("file,y,x\nnegative.npy,0,0", "negative.npy: label -1 in plane 0, row 0, expected 0 or more"),
                               ("file,z,y,x\nshort.npy,0,0,0", "short.npy: truncated: 1 of 3 frames are complete")):
            Path("list.csv").write_text(text + "\n")
            refuses(f"1 {expected} <- stitch list.csv -o x.npy --joins x.csv --allow-gaps", lines=0)
        refuses("""
        2 whole.npy is one volume: expected --block <- stitch whole.npy -o x.npy
        2 --block: 1 numbers, expected depth, height and width <- stitch whole.npy -o x.npy --block 3
        2 --block: planes.npy has 3 planes, expected three numbers, D,H,W <- stitch planes.npy -o x.npy --block 1,2
        """)


if __name__ == "__main__":
    unittest.main()
