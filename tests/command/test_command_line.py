# SPDX-License-Identifier: BSD-3-Clause
"""The command line, help, progress, descriptions of files, synthetic series, images that are composited, and
`doctor`."""
from command_test import *

composite = "composite $SAMPLE --algorithm"


class CommandLine(CommandTest):
    def test_options_may_come_first(self):
        sextant("composite $SAMPLE -o a.exr --background white")
        sextant("composite -o b.exr --background white $SAMPLE")
        same("a.exr", "b.exr")
        sextant("composite --background white a.exr a.exr -o c.exr")
        sextant("prove --ranks 1..3 compositing", "1..3")

    @over_mpi
    def test_a_command_that_needs_no_other_rank_prints_once(self):
        for line in ("list formats", "prove scan --ranks 2", "draw scan --ranks 2 -o -", "--help"):
            self.assertEqual(len(sextant(line, processes=3).out.splitlines()), len(sextant(line).out.splitlines()), line)

    def test_libhdf5_is_loaded_only_to_read_files(self):
        needed = subprocess.run(["readelf", "-d", SEXTANT], capture_output=True, text=True).stdout
        self.assertNotIn("hdf5", needed)

    def test_help_is_short_and_has_an_example(self):
        commands = re.findall("^  ([a-z]+) ", sextant("--help").out, re.M)
        self.assertGreater(len(commands), 20)
        for command in commands:
            done = sextant(f"{command} --help", code=None)
            if "is not installed" in done.err:
                continue
            help = done.out
            lines = help.splitlines()
            self.assertLessEqual(len(lines), {"register": 72, "explain": 55}.get(command, 35), command)  # with the meaning of its flags
            self.assertLessEqual(max(map(len, lines)), 100, command)
            self.assertRegex(help, f"(?m)^Usage: sextant {command}")
            self.assertRegex(help, f"(?m)^  .*sextant {command}")
            self.assertNotRegex(help, "mpirun -n [^2]")  # examples run on two cores as printed
        for command in ("", "composite", "bench"):
            self.assertEqual(sextant(f"help {command}").out, sextant(f"{command} --help").out)
        sextant("composite --help", "Usage: sextant composite IN... --output OUT [OPTIONS]")
        self.assertRegex(sextant("--version").out, r"\Asextant [0-9]+\.[0-9]+\.[0-9]+\n\Z")
        for file in [SOURCE / "README.md", SOURCE / "run", *(SOURCE / "docs").glob("*.md")]:
            for line in read(file).splitlines():
                self.assertFalse(re.search("mpirun.* -n [3-9]", line) and "oversubscribe" not in line, line)

    def test_schedules_in_files(self):
        sextant("draw collective --algorithm ring-all-reduce --ranks 5 --elements 12 -o ring.json")
        sextant("prove ring.json", "ring ... 5..5 ... 1 ... 0 ... 8 ... 4")
        predicted = facts("predict ring.json --machine cluster-64x128")
        simulated = facts("simulate ring.json --platform fat-tree-144 --clock")
        for told in (predicted, simulated):
            self.assertEqual([told[name] for name in ("family", "algorithm", "ranks", "elements")], ["ring.json", "ring", 5, 12])
        for command, option in (("predict", "--machine cluster-64x128"), ("simulate", "--clock --platform fat-tree-144")):
            same = facts(f"{command} collective --algorithm ring-all-reduce --ranks 5 --elements 12 {option}")
            told = facts(f"{command} ring.json {option}")
            self.assertEqual(*(each.get("predictions", each.get("seconds")) for each in (told, same)))
        sextant("draw ring.json -o -", "<svg", "5 ranks, 12 elements")
        Path("in_order.json").write_text(Path("ring.json").read_text().replace('"commutative": true,', ""))
        sextant("prove in_order.json", "step 2 (fold): operands out of order", code=1)
        for family in ("collective", "compositing", "scan", "series", "halo", "merging"):
            sextant(f"draw {family} --ranks 6 --elements 50 -o family.json")
            proved = sextant("prove family.json", "family ... 6..6 ... 1 ... 0")
            self.assertEqual("has no claim" in proved.err, family not in ("collective", "scan"), family)
        steps = [[{"verb": "receive", "peer": 1 - rank, "regions": [[0, 0, 4]]},
                  {"verb": "send", "peer": 1 - rank, "regions": [[0, 0, 4]]}] for rank in (0, 1)]
        Path("wrong.json").write_text(json.dumps({"version": 1, "programs": [
            {"buffers": [{"role": "scratch", "size": 4}], "steps": own} for own in steps]}))
        big = {"buffers": [{"role": "input", "size": 1 << 40}], "steps": []}
        Path("wrong_size.json").write_text(json.dumps({"version": 1, "programs": [big]}))
        Path("wrong_text.json").write_text("x" * ((1 << 26) + 1))
        sextant("prove wrong.json", "rank 0, step 0 (receive from rank 1): deadlock", code=1)
        refuses("""
        1 wrong.json: rank 0, step 0 (receive from rank 1): waits forever <- predict wrong.json --machine cluster-64x128
        1 wrong.json: 2 of 2 ranks wait forever <- simulate wrong.json --platform fat-tree-144 --clock
        1 wrong.json: deadlock: the schedule never finishes <- draw wrong.json -o out.svg
        1 wrong_text.json: has 67108865 bytes, expected at most 67108864 <- draw wrong_text.json -o out.svg
        1 missing.json: no such file <- prove missing.json
        2 --ranks has no effect here: the file contains the whole schedule <- prove ring.json --ranks 4
        2 --algorithm has no effect here <- predict ring.json --algorithm ring --machine cluster-64x128
        2 --collect has no effect here <- draw ring.json --collect -o out.svg
        2 unknown family 'ring' <- prove ring
        1 wrong_size.json: the buffers and steps have 1099511627776 elements in total, expected at most <- prove wrong_size.json
        """)

    def test_lists_and_drawings(self):
        algorithms = sextant("list --json").out
        for name in ("radix-k", "kogge-stone", "binomial-scatter", "exchange", "stencil"):
            self.assertIn(f'"{name}"', algorithms)
        self.assertNotIn("kogge-stone", sextant("list formats", "BigTIFF").out)
        sextant("list models", "p3pc-extended")
        sextant("draw compositing --algorithm radix-k --radices 4,2 --ranks 8 -o -", "<svg")
        sextant("draw scan --ranks 16384 -o -", "16,384")
        self.assertIn("304 schedules are to be proved at 72 ranks",
                      sextant("prove compositing --algorithm radix-k --ranks 72").err)
        self.assertRegex(sextant("prove scan --ranks 16").out, "(?m)^brent-kung +inclusive +16 +6 +26 +2$")

    def test_every_platform_in_json_is_drawn(self):
        for folder in (SOURCE / "platforms", SOURCE / "papers/platforms"):
            for file in folder.glob("*.json"):
                drawing = sextant(f"draw --platform {file} -o -").out
                self.assertTrue(drawing.startswith("<svg") and "nan" not in drawing, file)
                self.assertLess(len(drawing), 1 << 20, file)
                self.assertGreater(drawing.count("<path") - drawing.count("M0 6h18"), 7, file)
        large = load(SOURCE / "platforms/dragonfly-72.json")
        large["network"] |= {"groups": 1, "routers": [1000], "hosts": 100}
        Path("large.json").write_text(json.dumps(large))
        sextant("draw --platform large.json -o large.svg")
        self.assertLess(os.path.getsize("large.svg"), 8 << 20)
        self.assertIn("A mark stands for 8 routers", Path("large.svg").read_text())
        drawn = sextant("draw --platform dragonfly-72 -o -").out
        for kind, count in {"mark open": 72 + 1, "mark": 36 + 1, "b0": 36 + 1, "b1": 72 + 1, "b2": 54 + 1}.items():
            self.assertEqual(drawn.count(f'class="{kind}"'), count, kind)  # with one in the legend
        sextant("draw --platform dgx-h100 -o -", "rank to switch: 450 GB/s", "A host of 8 ranks")
        sextant("draw --platform frontier-like -o -", "between groups: 4 × 25.0 GB/s", "74 groups", "Group 0, like all")
        refuses("""
        1 dragonfly-864.xml: is a SimGrid platform, whose routes only <- draw --platform dragonfly-864 -o out.svg
        2 --ranks has no effect here: --platform draws a network <- draw --platform dragonfly-72 --ranks 4 -o out.svg
        2 FAMILY|FILE.json has no effect here: --platform draws <- draw scan --platform dragonfly-72 -o out.svg
        2 out.json cannot be written: --platform draws SVG <- draw --platform dragonfly-72 -o out.json
        """)

    @unittest.skipUnless(shutil.which("script"), "no script(1), so no terminal")
    def test_progress_counts_up_to_the_total(self):
        def shown(line):
            return subprocess.run(["script", "-qec", f"{SEXTANT} {line}", "/dev/null"], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True).stdout
        said = re.findall("schedules proved: ([0-9]+) of ([0-9]+)", shown("prove compositing --ranks 1..24"))
        proved, (total,) = [int(n) for n, _ in said], {int(n) for _, n in said}
        self.assertTrue(proved[0] == 0 and proved[-1] <= total and proved == sorted(set(proved)), said)
        text = shown("bench --size 64 --ranks 2 --rounds 5")
        for each in ("warming up", "round 5 of 5"):
            self.assertIn(f"case 1 of 1: {each}", text)
        self.assertNotIn("round 0 of", text)
        sextant("synthesize -o series.tif --frames 12 --width 64 --height 64")
        self.assertIn("inspect frames on rank 0 of 2 (12 frames in all): 0 of 6",
                      shown("register series.tif -o out --ranks 2 --threads 1"))


class Composite(CommandTest):
    def test_the_bits_of_the_serial_fold(self):
        subprocess.run([os.environ["SERIAL_FOLD"], os.environ["SAMPLE"], "serial.exr"], check=True)
        runs = [(f"{algorithm} --ranks {ranks}", 0) for algorithm in ("direct-send", "shift-based") for ranks in (1, 2, 3, 5, 8)]
        runs += [(f"direct-send --{option} {value}", 0) for option in ("sparse", "interlace") for value in ("on", "off")]
        runs += [("auto", 0)]
        if MPIRUN:
            runs += [(algorithm, ranks) for algorithm in ("direct-send", "shift-based") for ranks in (2, 3, 5)]
            runs += [(f"direct-send --sparse {sparse} --interlace {interlace}", 3)
                     for sparse, interlace in (("on", "off"), ("on", "on"), ("off", "auto"))]
        for options, processes in runs:
            sextant(f"{composite} {options} -o run.exr", processes=processes)
            same("serial.exr", "run.exr", what=options)
        for shared, used in (("on", True), ("off", False), ("auto", True)) if MPIRUN else ():
            sextant(f"{composite} shift-based --shared-memory {shared} -o run.exr --json=run.json", processes=3)
            same("serial.exr", "run.exr", what=shared)
            self.assertIn(f'"used": {json.dumps(used)}', read("run.json"))
        if MPIRUN:
            sextant("composite $SAMPLE -o run.exr", "within nodes (predicted ... ms, ... ms)", processes=2)

    def test_elements(self):
        for element in ("f32", "f16", "u8"):
            found = facts(f"composite $SAMPLE -o {element}.exr --element {element}")
            self.assertEqual(found["element"], f"rgba {element}")
            sextant(f"composite {element}.exr -o again.exr --element {element}")
            same(f"{element}.exr", "again.exr")
        self.assertEqual(len({content(f"{element}.exr") for element in ("f32", "f16", "u8")}), 3)
        self.assertLess(len(content("f16.exr")), len(content("f32.exr")))
        sextant("composite $SAMPLE -o u8.png --element u8 --background white")


class Info(CommandTest):
    def axes(self, *names):
        Path("stack.zarr/.zattrs").write_text(json.dumps({"_ARRAY_DIMENSIONS": names}))

    def store(self, shape, kind):
        os.makedirs("stack.zarr", exist_ok=True)
        Path("stack.zarr/.zarray").write_text(json.dumps({
            "zarr_format": 2, "shape": shape, "chunks": shape, "dtype": kind, "compressor": None, "fill_value": 0, "order": "C",
            "filters": None}))

    def test_files_and_frames(self):
        Path("a.raw").write_bytes(bytes(24000))
        raw = "a.raw::100x60,u16"
        sextant(f"info {raw} --json=info.json", "frames      2", "size        100×60")
        found = facts(f"info {raw}")
        self.assertEqual((found["samples"], found["pixel_size"]), ("u16", None))
        self.assertEqual(load("info.json"), found)
        sextant(f"info {raw},frames=3 --check", "truncated: 2 of 3 frames are complete", code=None)
        for name, text in (("f1.png", "u8, 4 channels"), ("f.exr", "OpenEXR")):
            sextant(f"composite $SAMPLE -o {name}")
            sextant(f"info {name} --check", text)
        cut("f1.png", "f2.png", 1000)
        sextant("info f%d.png", "PNG files")  # headers alone are well
        sextant("info f%d.png --check", "frame 1 cannot be read: ...f2.png", code=1)
        refuses("1 none.mrc: no such file <- info none.mrc")

    def test_frames_are_those_that_other_commands_read(self):
        self.store([5, 20, 30], "<u2")
        Path("stack.zarr/0.0.0").write_bytes(bytes(6000))
        for first in "zct":
            self.axes(first, "y", "x")
            found = facts("info stack.zarr")
            self.assertEqual((found["frames"], found["width"], found["height"]), (5, 30, 20))
        # Axes of which neither or both of the last two are y and x, in this order. Other arrays are described only.
        for axes in ("y,x,wavelength", "t,x,y", "y,x,Time", "row,column,e", "x,y,z"):
            self.axes(*axes.split(","))
            sextant("info stack.zarr --check", "axes ... 5 × ... 20 × ... 30", "has the axes ... (5×20×30), of which ... are not those of a frame")
            for command in ("label", "filter", "register"):
                refuses(f"1 has the axes ... are not those of a frame, expected y (rows) and x (columns) as the last <- {command} stack.zarr -o none")
        for axes in ("y,ky,kx", "t,y,x", "e,row,column"):
            self.axes(*axes.split(","))
            sextant("filter stack.zarr --derivatives smooth -o filtered.mrc")
            found, filtered = facts("info stack.zarr"), facts("info filtered.mrc")
            for field in ("frames", "width", "height"):
                self.assertEqual(found[field], filtered[field], axes)
        os.remove("stack.zarr/.zattrs")
        for axes in ("z,y,x", "t,y,x", "zyx"):
            self.assertEqual(facts(f"info stack.zarr --axes {axes}")["frames"], 5)
        sextant("info stack.zarr --axes c,y,x", "channels    5, reading 0")
        for axes in ("CYQ", "c,y,q"):
            refuses(f"2 were given, expected y (rows) and x (columns) among them <- info stack.zarr --axes {axes}")
        self.store([2, 3, 4, 8, 9], "|u1")
        for axes in ("TCZYX", "T,C,Z,Y,X"):
            sextant(f"info stack.zarr --axes {axes}", "channels    3,", "slices      4,")


class Synthesize(CommandTest):
    def test_a_series_and_its_truth_are_reproducible(self):
        for name in ("one.tif", "two.tif"):
            sextant(f"synthesize -o {name} --frames 3 --width 60 --height 44 --jumps 1,10,-20 --blanks 2 --warp 2")
        same("one.tif", "two.tif")
        same("one.tif.json", "two.tif.json")
        frames = load("one.tif.json")["frames"]
        self.assertEqual(([frame["blank"] for frame in frames].count(True), len(frames)), (1, 3))
        sextant("synthesize -o shown.tif --image one.tif --frames 2 --width 40 --height 40")
        refuses("\n".join(f"{row} --width 40 --height 40" for row in """
        2 blank at frame 99: expected a frame from 0 to 3 <- synthesize -o bad.tif --frames 4 --blanks 99
        2 dose 0: expected a number from 1e-06 to 1000000 <- synthesize -o bad.tif --dose 0
        2 a number from 0 to 1048576 <- synthesize -o bad.tif --random-step -1
        2 --jumps has 2 numbers <- synthesize -o bad.tif --jumps 1,2
        1 missing.png <- synthesize -o bad.tif --image missing.png
        2 drift-x 1e30: expected a number from -1048576 to 1048576 <- synthesize -o bad.tif --drift-x 1e30
        2 frame 10...is 1.07e+09 pixels from the first, expected less than <- synthesize -o bad.tif --drift-x 1048576 --frames 2000
        2 frame 10...is 1.07e+09 pixels from the first <- synthesize -o bad.tif --drift-x 1048576 --frames 2000 --image one.tif
        2 warp 1e30: expected a number from <- synthesize -o bad.tif --warp 1e30
        2 --period has no effect here: only the lattice uses this option <- synthesize -o bad.tif --specimen carbon --period 30
        2 --contrast has no effect here: the image is used unchanged <- synthesize -o bad.tif --image one.tif --contrast 1
        2 these frames drift over ... pixels, which need <- synthesize -o bad.tif --frames 30000
        2 bad.xyz <- synthesize -o bad.xyz""".strip().splitlines()))


class Doctor(CommandTest):
    """`doctor` starts two processes and reports what the launcher requires."""

    def test_profiles_and_instruction_sets(self):
        text = sextant("doctor", code=None).out
        sextant("doctor", "note  profile  ...none", code=None, env={"XDG_CONFIG_HOME": "/nowhere"})
        sextant("doctor", code=1, env={"SEXTANT_MACHINE": "/nowhere.json"})
        chosen = re.search("good  SIMD +kernels run with ([A-Z0-9_]+), ", text)[1]
        flags = re.search("^flags.*", read("/proc/cpuinfo"), re.M)
        for flag, sets in (("avx512bw", "AVX3 AVX3_DL AVX3_ZEN4 AVX3_SPR"), ("avx2", "AVX2")):
            if flags and f" {flag} " in flags[0] + " ":
                self.assertIn(chosen, sets.split())
                break

    @over_mpi
    def test_processes_and_broken_launchers(self):
        text = sextant("doctor", code=None).out
        if not re.search("^good  launcher", text, re.M) or not re.search("built with [OM]", text):
            self.skipTest("mpirun belongs to another MPI")
        self.assertTrue(matches("two processes ...mpirun ...-n 2: 2 processes exchanged messages", text), text)
        text = sextant("doctor", "started by a launcher (...); 2 processes exchanged messages", code=None, processes=2).out
        self.assertEqual(text.count("good  this process "), 1)
        # Each process may be bound to some of the machine's cores, and pages of benchmarks show these.
        cores = os.cpu_count()
        self.assertRegex(text, f"(?m)^good  cores +([0-9]+ of the )?{cores}")
        self.assertIn(f'"cores": {cores},', sextant("bench --size 64 --rounds 5 --json -", processes=2).out)
        mpirun = shutil.which("mpirun")
        is_open = "Open MPI" in subprocess.run([mpirun, "--version"], capture_output=True, text=True).stdout
        if is_open and os.getuid() == 0:
            root = {name: os.environ.pop(name) for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
                    if name in os.environ}
            sextant("doctor", "-> as root: export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", code=None)
            os.environ.update(root)
        # A launcher with one slot, and one that fails with its own message.
        os.mkdir("bin")
        for condition, script, hint in (
                (is_open, f'--oversubscribe*) exec {mpirun} "$@" ;; *) echo "There are not enough slots available in the system" ;;',
                 "-> for more processes than cores: mpirun --oversubscribe"),
                (True, '*) echo -----; echo "no daemon answers" ;;', "-> no daemon answers")):
            Path("bin/mpirun").write_text(f'#!/bin/sh\n[ "$1" = --version ] && exec {mpirun} --version\n'
                                          f'case "$*" in {script} esac >&2\nexit 1\n')
            os.chmod("bin/mpirun", 0o755)
            if condition:
                sextant("doctor", hint, code=None, env={"PATH": f"{self.folder}/bin:{os.environ['PATH']}"})


if __name__ == "__main__":
    unittest.main()
