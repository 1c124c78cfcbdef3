# SPDX-License-Identifier: BSD-3-Clause
"""Bad input gives one short line and the right exit code: 2 if options do not fit one another or the kind of the input,
1 for data. Nothing is left, nothing hangs, and inputs are kept."""
from command_test import *


class BadInput(CommandTest):
    @classmethod
    def prepare(cls):
        shutil.copytree(Path(os.environ["SAMPLE"]).parent, "scene")
        shutil.copytree("scene", "broken")
        shutil.copy(f"{os.environ['MACHINES']}/das.json", "das.json")
        sextant("composite $SAMPLE -o front.png")
        sextant("composite $SAMPLE -o good.exr --trace trace.json")
        for _ in range(2):
            sextant("composite $SAMPLE -o planned.exr --algorithm direct-send --plan plan.json")
        sextant("synthesize -o one.npy --frames 1 --width 64 --height 64")
        sextant("synthesize -o noise.npy --frames 4 --width 64 --height 64 --contrast 0")
        sextant("synthesize -o movie.tif --frames 3 --width 64 --height 64")
        sextant("register movie.tif -o motions --aligned off")
        sextant("label noise.npy -o planes.npy")
        sextant("label one.npy -o labels.npy")
        Path("zeros.raw").write_bytes(bytes(4096))  # also directions, each of which leads to the right

    def test_options(self):
        refuses("""
        2 unknown compositing algorithm 'radixk'; did you mean radix-k <- composite $SAMPLE -o out.exr --algorithm radixk
        2 radices 3,2 multiply to 6, but 8 <- composite $SAMPLE -o out.exr --algorithm radix-k --radices 3,2
        2 radices 4,x: expected a whole number <- composite $SAMPLE -o out.exr --radices 4,x
        2 binary-swap does not support 5 ...power of two <- composite $SAMPLE -o out.exr --algorithm binary-swap --ranks 5
        2 direct-send does not use radices <- composite $SAMPLE -o out.exr --algorithm direct-send --radices 4,2
        2 radix-k does not use a window <- composite $SAMPLE -o out.exr --algorithm radix-k --window 2
        2 unknown operator 'ovr'; did you mean over <- composite $SAMPLE -o out.exr --operator ovr
        2 'nearest' does not support rgba f16; it supports rgba...depth f32 <- composite $SAMPLE -o out.exr --operator nearest --element f16
        2 element...did you mean <- composite $SAMPLE -o out.exr --element f61
        2 --order lists 2 of 8 images <- composite $SAMPLE -o out.exr --order 0,1
        2 --order lists image 9: expected 0 to 7 <- composite $SAMPLE -o out.exr --order 0,1,2,3,4,5,6,9
        2 --order lists image 1 twice <- composite $SAMPLE -o out.exr --order 0,1,1,3,4,5,6,7
        2 background mauve: expected white <- composite $SAMPLE -o out.exr --background mauve
        2 --background 0x1,1,1: expected <- composite $SAMPLE -o out.exr --background 0x1,1,1
        2 ranks 0: expected a whole number from 1 to <- composite $SAMPLE -o out.exr --ranks 0
        2 window 0: expected a whole number from 1 to 1073741824 <- composite $SAMPLE -o out.exr --window 0
        2 association...did you mean in-order <- composite $SAMPLE -o out.exr --association in-orde
        2 --shared-memory off: ranks are threads...expected processes <- composite $SAMPLE -o out.exr --shared-memory off
        2 output <- composite $SAMPLE
        2 output is empty: expected a name <- composite $SAMPLE --output ''
        2 IN... is empty: expected a name <- composite '' -o out.exr
        2 front.png holds values encoded for display (sRGB), ...good.exr holds linear values <- composite front.png good.exr -o out.exr
        2 front.png holds values encoded for display (sRGB), ...good.exr holds linear values <- composite good.exr front.png -o out.exr --ranks 1
        2 unknown option '--orderr'; did you mean --order <- composite $SAMPLE -o out.exr --orderr 0,1
        2 unknown command 'compsite'; did you mean composite <- compsite $SAMPLE -o out.exr
        2 unknown option '--verison'; did you mean --version <- --verison
        2 a command is missing; expected one of ...composite <-
        2 unknown value for WHAT: 'algoritms'; did you mean algorithms <- list algoritms
        2 unexpected argument '3' <- list formats --json=- 3
        2 direct-send on 2048 ranks has more than 2,000,000 messages <- draw --ranks 2048 -o out.svg
        2 nothing to prove: binary-swap requires a power of two <- prove --algorithm binary-swap --ranks 3
        2 out.xyz...expected one of .exr <- composite $SAMPLE -o out.xyz
        2 out.exr is given for two outputs <- composite $SAMPLE -o out.exr --report ./out.exr
        2 - is given for two outputs <- composite $SAMPLE -o out.exr --json - --report -
        2 expected --model NAME <- predict --machine das.json --trace out.json
        2 title is empty: expected TEXT <- report trace.json -o out.html --title ''
        2 launcher is empty: expected COMMAND <- calibrate --transport mpi --launcher '' -o out.json
        """)

    def test_options_without_effect(self):
        refuses("""
        2 sigma has no effect here: only explain filter uses this option <- explain --sigma 3
        2 operator has no effect here: only explain composite, collective use this option <- explain filter --operator max
        2 ranks has no effect here: only explain composite, filter, collective use this option <- explain scan --ranks 3
        2 cores has no effect here: only explain scan, label, contours, apply, register use this option <- explain filter --cores 3
        2 size has no effect here: only the built-in case of bench composite uses this option <- bench scan --size 64
        2 launcher has no effect here: ...--transport mpi <- calibrate --launcher 'mpirun -n 2' -o out.json
        2 cases has no effect here: nothing is measured <- evaluate --platform crossbar-12-calibrated --cases 2
        2 clock has no effect here: expected --platform <- evaluate --clock
        2 operator has no effect here: expected --machine <- simulate --platform crossbar-12 --operator max
        2 budget has no effect here: --check <- calibrate --check das --budget 1s
        2 pattern has no effect here: noise.npy is a volume <- label noise.npy -o out.npy --pattern 2-lev-rc
        2 no-probe has no effect here: --machine names a profile <- label one.npy -o out.npy --grid 2x1 --machine x --no-probe
        2 algorithm radix-k: the plan plan.json has direct-send; omit <- composite $SAMPLE -o out.exr --plan plan.json --algorithm radix-k
        2 sparse on: the plan plan.json has direct-send; omit <- composite $SAMPLE -o out.exr --plan plan.json --sparse on
        2 --thread-work has no effect here: <- register noise.npy --thread-work rows -o out
        2 --allow-gaps has no effect here: one volume has no gaps <- stitch planes.npy --block 1,0,0 --allow-gaps -o out.npy
        2 --allow-external has no effect here: only HDF5 and Zarr <- filter one.npy --allow-external -o out.npy
        2 out.npy: NPY files cannot hold a pyramid <- label one.npy --pyramid -o out.npy
        2 out.npy: NPY files cannot hold a pyramid <- label noise.npy --pyramid -o out.npy
        2 out.npy: NPY files cannot hold a pyramid <- apply motions/transforms.json movie.tif --pyramid -o out.npy
        """)

    def test_data_and_what_is_asked_of_them(self):
        refuses("""
        1 zeros.raw: none of 4 frames could be registered <- register zeros.raw::32x32,u8 -o out
        1 one.npy has 1 frame, expected at least two <- register one.npy -o out
        1 zeros.raw: the frames have 8x8 pixels, expected at least 16x16 <- register zeros.raw::8x8,u8 -o out
        1 zeros.raw has 32x128 pixels, expected 64x64 <- register noise.npy -o out --dark zeros.raw::32x128,u8
        1 zeros.raw::64x64,i8: direction 0 at (63, 0) leads to (64, 0) <- contours zeros.raw::64x64,i8 --directions -o out.csv
        1 noise.npy holds f32, expected labels <- measure noise.npy -o out.csv
        1 zeros.raw has 4x32x32 voxels, expected 4x64x64 <- label noise.npy -o out.npy --table out.csv --intensity zeros.raw::32x32,u8
        1 mean brightness of the specimen is 0 <- synthesize --image zeros.raw::64x64,u8 -o out.npy
        1 frame 1 of one.npy does not exist: the series has 1 frames <- filter one.npy --frame 1 -o out.npy
        1 frame 1 of one.npy does not exist: the series has 1 frames <- label one.npy --frame 1 -o out.npy
        1 frame 1 of one.npy does not exist: the series has 1 frames <- contours one.npy --frame 1 -o out.csv
        1 --reference 99: expected 0 to 3 <- register noise.npy --reference 99 -o out
        1 --frames 0,99: there is no frame 99 <- register noise.npy --frames 0,99 -o out
        2 --frames 0,0,1: frame 0 is listed twice <- register noise.npy --frames 0,0,1 -o out
        2 --frames 0-2,1: frame 1 is listed twice <- register noise.npy --frames 0-2,1 -o out
        1 --sigma in µm: one.npy states no pixel size <- filter one.npy --sigma 2um -o out.npy
        1 one.npy: has no channel 3, expected channel 0 <- filter one.npy --channel 3 -o out.npy
        2 time 0: one.npy is an image, which has no times or slices <- filter one.npy --time 0 -o out.npy
        2 axes TYX: movie.tif is not an NPY, HDF5 or Zarr array <- filter movie.tif --axes TYX --frame 0 -o out.npy
        1 --size: planes.npy ends at z 4, expected 3 or less <- stitch planes.npy --block 1,0,0 --size 3,64,64 -o out.npy
        2 --block 0,0,0: does not cut along any axis <- stitch planes.npy --block 0,0,0 -o out.npy
        2 --neighbours 6: one.npy is an image, expected 4 or 8 <- label one.npy --neighbours 6 -o out.npy
        2 out.xyz: <- apply motions/transforms.json movie.tif -o out.xyz
        2 out.xyz: <- label one.npy -o out.xyz
        2 out.xyz: <- contours one.npy -o out.xyz
        2 out.xyz: <- synthesize --image one.npy -o out.xyz
        """, lines=0)

    def test_numbers(self):
        refuses(f"""
        2 --dose 4294967296: expected a number from 1e-06 to 1000000 <- synthesize -o out.tif --dose 4294967296
        2 --contrast 1e18: expected a number from 0 to 10 <- synthesize -o out.tif --contrast 1e18
        2 --detail 1e-320: expected a number from 1.5 to 1000 <- synthesize -o out.tif --specimen particles --detail 1e-320
        2 --blanks 4294967296: expected a whole number from 0 to 16777216 <- synthesize -o out.tif --blanks 4294967296
        2 --before lists 40 names, expected 16 or fewer <- filter movie.tif --frame 0 -o out.npy --before {','.join(['smooth@2'] * 40)}
        2 --before smooth@1e-320: expected a derivative or feature, @ and a sigma from 0.5 to 1000 <- filter movie.tif --frame 0 -o out.npy --before smooth@1e-320
        2 --ci 1e-320%: expected a fraction from 0.01% to 100% <- calibrate -o out.json --ci 1e-320%
        2 --budget 0x5s: expected a time from 1ms to 1440m <- calibrate -o out.json --budget 0x5s
        2 --thresholds 0x1,nan: expected two numbers, LOW,HIGH, from 0 to 1e+38 <- contours movie.tif --frame 0 -o out.svg --thresholds 0x1,nan
        2 --speedup 1e-320: expected up to 4096 numbers from 0.001 to 1000000 <- explain scan --speedup 1e-320
        """)
        for overhead in ("1e-320", "0", "1"):
            sextant(f"simulate --platform crossbar-12-calibrated --clock --ranks 2 --send-overhead {overhead}")

    def test_files(self):
        replaced("plan.json", "wrong_many.json", '"window": 0', '"window": 9999999999')
        replaced("plan.json", "wrong_name.json", '"algorithm": "direct-send"', '"algorithm": "direct-sned"')
        Path("wrong_binary.json").write_bytes(b"\x93PNG")
        Path("wrong_empty.json").write_text("")
        cut("trace.json", "wrong_cut.json", 5000)
        cut("good.exr", "cut.exr", 2000)
        refuses(f"""
        1 wrong_many.json: window is 9999999999, expected a whole number from 0 to 1073741824 <- composite $SAMPLE -o out.exr --plan wrong_many.json
        1 wrong_name.json: algorithm names an unknown compositing algorithm 'direct-sned'; did you mean direct-send <- composite $SAMPLE -o out.exr --plan wrong_name.json
        1 wrong_binary.json: is not JSON: parse error at line 1, column 1: <- composite wrong_binary.json -o out.exr
        1 scene: is a folder, expected a file <- composite $SAMPLE -o out.exr --machine scene
        1 sextant: /proc/out.exr: cannot be written: No such file or directory <- composite $SAMPLE -o /proc/out.exr
        1 missing.exr <- composite missing.exr -o out.exr
        1 cut.exr <- composite good.exr cut.exr -o out.exr
        1 good.exr: has no depth <- composite good.exr -o out.exr --operator nearest
        1 sextant: nowhere/out.exr <- composite $SAMPLE -o nowhere/out.exr
        1 nowhere <- composite $SAMPLE -o out.exr --report nowhere/page.html
        1 nowhere <- composite $SAMPLE -o out.exr --json=nowhere/run.json
        1 nowhere <- draw scan -o nowhere/scan.svg
        1 wrong_empty.json: is empty, expected a trace <- report wrong_empty.json -o out.html
        1 wrong_cut.json: is not JSON: unexpected end of the text: the file is truncated <- report wrong_cut.json -o out.html
        1 partial_0.rgba32f.zst: is not JSON <- report scene/partial_0.rgba32f.zst -o out.html
        """)
        refuses("1 SEXTANT_MACHINE: none.json: no such file <- composite $SAMPLE -o out.exr", env={"SEXTANT_MACHINE": "none.json"})
        partial = "broken/partial_3.rgba32f.zst"
        cut(partial, partial, 30000)
        refuses("1 partial_3.rgba32f.zst <- composite broken/manifest.json -o out.exr")
        os.remove(partial)
        refuses("1 partial_3 <- composite broken/manifest.json -o out.exr")
        Path("broken/manifest.json").write_text('{"size": [512')
        refuses("1 manifest.json <- composite broken/manifest.json -o out.exr")
        os.remove("broken/manifest.json")

    def test_files_of_other_versions(self):
        sextant("filter movie.tif -o smooth.npy --sigma 3 --ranks 2 --plan filter-plan.json")
        text = read(os.environ["SAMPLE"])
        Path("manifest.json").write_text(text.replace("{", '{"version": 1,', 1))
        shutil.copy(SOURCE / "platforms/fat-tree-144.json", "platform.json")
        for field, file, line in (
                ("version", "manifest.json", "composite wrong.json -o out.exr"),
                ("version", "das.json", "explain composite --ranks 8 --machine wrong.json"),
                ("version", "platform.json", "simulate --platform wrong.json --algorithm radix-k --ranks 8"),
                ("plan_version", "plan.json", "composite $SAMPLE -o out.exr --plan wrong.json"),
                ("plan_version", "filter-plan.json", "filter movie.tif -o out.npy --sigma 3 --plan wrong.json"),
                ("sextant_trace", "trace.json", "report wrong.json -o out.html"),
                ("version", "motions/transforms.json", "apply wrong.json movie.tif -o out.tif")):
            for version, expected in (("7", "7, expected 1: the file was written by a newer version of Sextant"),
                                      ("0", "0, expected 1"), ('"1.0"', '"1.0", expected 1')):
                replaced(file, "wrong.json", rf'"{field}": *1(?=[,}}]|$)', f'"{field}": {version}', regex=True)
                refuses(f"1 {field} is {expected} <- {line}")

    def test_small_files_cannot_exhaust_memory(self):
        Path("wrong_deep.json").write_text('{"cases": ' + "[" * 100000 + "]" * 100000 + "}")
        Path("wrong_digits.json").write_text('{"cases": [{"width": ' + "9" * 10000000 + "}]}")
        Path("wrong_many.json").write_text('{"cases": [' + "1," * 200000 + "1]}")
        Path("wrong_keys.json").write_text('{"frames": 0' + "".join(f',"k{i}":1' for i in range(1001)) + "}")
        Path("wrong_twice.json").write_text('{"cases": [{"width": 1, "width": 2}]}')
        Path("wrong_large.json").write_text('{"cases": [{"width": 18446744073709551615}]}')
        for what in ("composite", "collective", "filter", "scan"):
            refuses(f"""
            1 wrong_deep.json: is nested more than 100 levels deep <- bench {what} --cases wrong_deep.json
            1 wrong_digits.json: is not JSON: number overflow parsing '999 <- bench {what} --cases wrong_digits.json
            1 wrong_many.json: holds more than 100000 values <- bench {what} --cases wrong_many.json
            1 wrong_twice.json: has the key "width" twice in one object <- bench {what} --cases wrong_twice.json
            """)
        refuses("""
        1 wrong_large.json: cases[0].width is 18446744073709551615, expected a whole number from 1 to <- bench composite --cases wrong_large.json
        1 wrong_deep.json: is nested more than 100 levels deep <- composite wrong_deep.json -o out.exr
        1 wrong_deep.json: is nested more than 100 levels deep <- apply wrong_deep.json movie.tif -o out.npy
        1 wrong_keys.json: has an object of more than 1000 keys <- apply wrong_keys.json movie.tif -o out.npy
        1 wrong_deep.json: is nested more than 100 levels deep <- report wrong_deep.json -o out.html
        """)

    def test_messages_quote_only_parts_of_long_inputs(self):
        Path("long.txt").write_text("x" * 10000000)
        for given in ("long.txt", "x" * 100000, "x" * 90000 + ".txt"):
            for line in ("info", "register -o out", "filter -o out.npy"):
                done = sextant([*line.split(), given], code=None)
                self.assertNotEqual(done.returncode, 0)
                self.assertLess(len(done.text), 4000, line)

    def test_files_without_end_and_pipes(self):
        os.mkfifo("pipe")
        for file in ("/dev/zero", "pipe"):
            refuses("\n".join(f"1 {file}: is not a regular file <- {line}" for line in (
                f"composite $SAMPLE -o out.exr --plan {file}", f"filter movie.tif --frame 0 -o out.npy --plan {file}",
                f"bench composite --cases {file}", f"apply {file} movie.tif -o out.npy", f"report {file} -o out.html",
                f"predict --ranks 4 --machine {file}", f"evaluate --judge {file}", f"explain scan --times {file}")))
        refuses("1 pipe: cannot be written: the path is a pipe without a reader <- draw scan --ranks 2 -o pipe")
        reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
        drawn = start("draw scan --ranks 2 -o pipe")
        text = b""
        while drawn.poll() is None:
            try:
                text += os.read(reader, 1 << 16)
            except BlockingIOError:
                time.sleep(.01)
        finish(drawn)
        self.assertIn(b"<svg", text + os.read(reader, 1 << 16))
        os.symlink("/dev/null", "null.json")
        sextant("composite $SAMPLE -o kept.png --json=null.json")
        self.assertTrue(os.path.getsize("kept.png") and Path("/dev/null").is_char_device())

    def test_control_sequences_and_bytes_that_are_not_utf8(self):
        name = os.fsdecode(b"b\xff\x1b[31m")
        shutil.copy("noise.npy", name + ".npy")
        self.assertEqual(facts(["info", name + ".npy"])["file"], "b\ufffd\x1b[31m.npy")
        sextant(["info", name + ".npy"], r"b\xff\x1b[31m.npy: NPY")
        for line in ("composite $SAMPLE", "label noise.npy --frame 0", "filter noise.npy --frame 0"):
            suffix = ".png" if "composite" in line else ".tif"
            done = sextant([*words_of(line), "-o", name + suffix, "--json", "-"])
            self.assertNotRegex(done.out, "[\x1b\udcff]")
        Path("points.csv").write_text("frame,x,y\n\x1b]0;title\x07,1,2\n")
        refuses(r"""
        1 none\x1b[31m.npy: <- info 'none[31m.npy'
        2 unknown option '--\x1b[31m' <- info '--[31m'
        1 points.csv: line 2: "\x1b]0;title\x07,1,2", expected <- apply motions/transforms.json points.csv -o out.csv
        """.replace("[31m.npy'", "\x1b[31m.npy'").replace("'--[31m'", "'--\x1b[31m'"))

    def test_full_disks_and_limits(self):
        refuses("1 sextant: out.exr: cannot be written: File too large <- composite $SAMPLE -o out.exr", preexec_fn=file_limit(4))
        os.mkdir("full")
        if subprocess.run("mount -t tmpfs -o size=64k tmpfs full", shell=True, capture_output=True).returncode == 0:
            try:
                refuses("1 full/out.exr...o space <- composite $SAMPLE -o full/out.exr")
            finally:
                subprocess.run(["umount", "full"])

    def test_standard_output_that_is_full_or_closed(self):
        for line in ("list", "--version", "--help", "label --help", "draw scan -o -", "info one.npy", "info one.npy --json",
                     "label one.npy -o l.npy", "label one.npy -o l.npy --json", "filter one.npy -o f.npy --json",
                     "contours one.npy -o c.csv --json", "measure labels.npy -o -", "machine show das.json",
                     "predict --machine das.json --model p3pc", "composite $SAMPLE -o whole.png --json -"):
            with open("/dev/full", "w") as full:
                finish(start(line, stdout=full), "sextant: standard output: cannot be written", code=1)
            finish(start(line, preexec_fn=lambda: os.close(1)), "sextant: standard output: cannot be written", code=1)
        # The first opened file would get the number of a closed stream.
        sextant("composite $SAMPLE -o closed.png", code=1, preexec_fn=lambda: os.closerange(0, 3))
        same("front.png", "closed.png", "whole.png")

    def test_invalid_pixels_are_used_and_counted(self):
        folder = Path("odd", "0" * 200, "1" * 200)  # the warning is complete however long the path is
        folder.mkdir(parents=True)
        pixels = array.array("f", [float("nan"), 0, 0, 0, 1, 0, 0, .5] + [0] * 4)
        (folder / "partial_0.rgba32f").write_bytes(pixels.tobytes())
        (folder / "manifest.json").write_text('{"size": [3, 1], "order_front_to_back": [0], '
                                              '"bricks": [{"id": 0, "file": "partial_0.rgba32f"}]}')
        sextant(["composite", folder / "manifest.json", "-o", "odd.png"],
                f"{folder}...not a number: 1 pixel;...not premultiplied (...): 1 pixel; these pixels are used unchanged")

    def test_inputs_are_kept(self):
        shutil.copy("front.png", "back.png")
        os.symlink("front.png", "link.png")
        os.mkdir("deeper")
        os.mkdir("frames")
        for i in range(3):
            shutil.copy("one.npy", f"frames/a_{i}.npy")
        Path("coordinates.csv").write_text("frame,x,y\n1,2,3\n")
        sextant("synthesize -o stack.zarr --frames 2 --width 32 --height 32")
        os.symlink("stack.zarr", "link.zarr")
        before = {path: content(path) for path in paths() if os.path.isfile(path) and "long" not in path}
        kept = "is an input: expected another name"
        refuses(f"""
        2 front.png {kept} <- composite front.png back.png link.png -o front.png
        2 link.png {kept} <- composite front.png back.png -o link.png
        2 deeper/../back.png {kept} <- composite front.png back.png -o deeper/../back.png
        2 scene/manifest.json {kept} <- composite scene/manifest.json -o x.png --json=scene/manifest.json
        2 scene/partial_3.rgba32f.zst {kept} <- composite scene/manifest.json -o scene/partial_3.rgba32f.zst
        2 scene/manifest.json {kept} <- composite scene/partial_1.rgba32f.zst -o x.png --report scene/manifest.json
        2 plan.json {kept} <- composite scene/manifest.json -o x.png --plan plan.json --json=plan.json
        2 one.npy {kept} <- filter one.npy -o one.npy
        2 frames/a_2.npy {kept} <- filter frames --frame 0 -o frames/a_2.npy
        2 one.npy {kept} <- label one.npy -o x.npy --table one.npy
        2 one.npy {kept} <- contours one.npy -o one.npy
        2 --json movie.tif: expected the name of a new file <- register movie.tif -o other --json movie.tif
        2 motions/average.tif {kept} <- register 'motions/*.tif' -o motions
        2 motions/transforms.json is given for two outputs <- register movie.tif -o motions --json=motions/transforms.json
        2 movie.tif {kept} <- apply motions/transforms.json movie.tif -o movie.tif
        2 coordinates.csv {kept} <- apply motions/transforms.json coordinates.csv -o coordinates.csv
        2 out.tif: coordinates are written as .csv <- apply motions/transforms.json coordinates.csv -o out.tif
        2 one.npy {kept} <- synthesize --image one.npy -o one.npy
        2 das.json {kept} <- machine show das.json --json=das.json
        2 --json movie.tif: expected the name of a new file <- info movie.tif --json=movie.tif
        2 das.json {kept} <- predict --machine das.json --model p3pc --trace das.json
        2 trace.json {kept} <- report trace.json -o trace.json
        2 stack.zarr {kept} <- filter stack.zarr --frame 0 -o stack.zarr
        2 link.zarr {kept} <- filter stack.zarr::0 --frame 0 -o link.zarr
        2 stack.zarr/ {kept} <- filter stack.zarr/ --frame 0 -o stack.zarr/
        """)
        if MPIRUN:
            refuses(f"2 back.png {kept} <- composite front.png back.png -o back.png", processes=2)
        for path, old in before.items():
            self.assertEqual(content(path), old, path)

    @over_mpi
    def test_launchers_of_another_mpi(self):
        banner = subprocess.run([*MPIRUN, "--version"], capture_output=True, text=True).stdout
        here = "Open MPI" if re.search("Open MPI|OpenRTE", banner) else "MPICH"
        other, env, launcher = {
            "Open MPI": ("MPICH", {"PMI_FD": "3", "PMI_SIZE": "2", "PMI_RANK": "0"}, "mpirun.mpich"),
            "MPICH": ("Open MPI", {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0"}, "mpirun.openmpi")}[here]
        text = f"{other}'s mpirun...built with {here}"
        refuses(f"2 {text} <- composite $SAMPLE -o out.exr", env=env)
        refuses("2 2 tasks without MPI <- composite $SAMPLE -o out.exr",
                env={"SLURM_STEP_ID": "0", "SLURM_PROCID": "0", "SLURM_NTASKS": "2"})
        if shutil.which(launcher):
            done = subprocess.run([launcher, "-n", "2", SEXTANT, "composite", os.environ["SAMPLE"], "-o", "out.exr"],
                                  capture_output=True, text=True, timeout=250)
            self.assertTrue(done.returncode == 2 and matches(text, done.stderr), done.stderr)
        refuses("1 launcher env: a launch measured transport threads, expected mpi <- "
                "calibrate --transport mpi --launcher env --launches 1 --budget 100ms -o out.json")

    @over_mpi
    def test_one_line_from_all_processes(self):
        cut("good.exr", "cut.exr", 2000)
        shutil.copy("one.npy", "other.npy")
        shutil.copy("noise.npy", "others.npy")
        shutil.copy("good.exr", "other.exr")
        refuses("""
        1 cut.exr <- composite good.exr good.exr cut.exr -o out.exr
        2 radices 3,2 multiply to 6 <- composite $SAMPLE -o out.exr --algorithm radix-k --radices 3,2
        1 nowhere <- composite $SAMPLE -o nowhere/out.exr
        2 ranks 5: the launcher started 3 <- composite $SAMPLE -o out.exr --ranks 5
        """, processes=3)
        refuses("""
        2 --sigma: rank 0 has 2, rank 1 has 3 <- filter one.npy -o out.npy --sigma 2 : filter one.npy -o out.npy --sigma 3
        2 --memory: rank 0 has 9M, rank 1 has 64M <- filter one.npy -o out.npy --memory 9 : filter one.npy -o out.npy
        2 --grid: rank 0 has none, rank 1 has 1x2 <- filter one.npy -o out.npy : filter one.npy -o out.npy --grid 1x2
        2 IN...: rank 0 has ..., rank 1 has <- composite good.exr other.exr -o out.exr : composite other.exr good.exr -o out.exr
        2 --plan: rank 0 has none, rank 1 has p <- composite good.exr -o out.exr : composite good.exr -o out.exr --plan p
        """, processes=1)
        # Ranks that name different inputs or outputs would each read or write a part of them.
        for row in ("label one.npy other.npy .npy", "filter one.npy other.npy .npy", "contours one.npy other.npy .csv",
                    "measure noise.npy others.npy .csv", "stitch one.npy other.npy .npy",
                    "register noise.npy others.npy .d", "composite good.exr other.exr .exr"):
            command, one, other, to = row.split()
            refuses(f"""
            2 rank 0 has ...{one}, rank 1 has ...{other} <- {command} {one} -o out{to} : {command} {other} -o out{to}
            2 --output: rank 0 has out{to}, rank 1 has out{to}{to} <- {command} {one} -o out{to} : {command} {one} -o out{to}{to}
            """, processes=1)


if __name__ == "__main__":
    unittest.main()
