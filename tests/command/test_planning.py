# SPDX-License-Identifier: BSD-3-Clause
"""Plans, predictions, simulations, profiles and probes of machines. Measured values are not checked, because tests run on
busy machines."""
from command_test import *


def seconds(line):
    found = facts(line)
    return found["seconds"] if "seconds" in found else found["predictions"][0]["seconds"]


class Plans(CommandTest):
    @classmethod
    def prepare(cls):
        Path("threads.json").write_text(json.dumps({
            "version": 1, "name": "threads", "transport": "threads", "date": "2026", "method": "made up", "links": [
                {"link": link, "hockney": {"latency": latency, "seconds_per_byte": 1e-9}}
                for link, latency in (("same process", 1e-6), ("other node", 1e-3))]}))

    def test_machines(self):
        for machine in ("das", "delta256", "ddr-infiniband", "blue-gene-p"):
            sextant(f"explain composite --ranks 16 --distributed --machine $MACHINES/{machine}.json",
                    f"fastest of ... on {machine}", *[" by c3 on delta256"] * (machine == "delta256"))
        sextant("explain --ranks 4096 --distributed", "bound only")
        sextant("explain --ranks 4", "on das", env={"SEXTANT_MACHINE": os.environ["MACHINES"] + "/das.json"})
        self.assertEqual(sextant("explain --ranks 9 --machine das").out, sextant("explain --ranks 9 --machine $MACHINES/das.json").out)
        # Ranks are placed as in the profile, unless options say otherwise.
        for what in ("composite", "filter --size 64 --sigma 1"):
            own, threads, processes = (facts(f"explain {what} --ranks 2 --machine threads.json {options}")
                                       for options in ("", "--transport threads", "--transport mpi"))
            for found in (own, threads, processes):
                found.pop("date", None)
            self.assertEqual(own, threads)
            self.assertNotEqual(own, processes)
        # Platforms: their links count, ranks fill nodes, and they have no costs of filters.
        sextant("explain --ranks 128 --distributed --machine cluster-64x128", "radix-k...by p3pc-extended on cluster-64x128")

    def test_sparse_images_and_scans(self):
        sextant("explain --ranks 64 --distributed --density .05 --machine das", ", sparse: ...; 5 % of pixels active: sparse ... ms, dense ... ms")
        self.assertNotIn("sparse", sextant("explain --ranks 64 --distributed").out)
        sextant("explain scan --values 64 --cores 4 --times correlated", "rank")
        self.assertIn("candidates", facts("explain scan --values 16 --cores 2"))

    def test_every_operation_is_explained(self):
        """The examples of the help cover all operations. Each states its choice, the candidates and the assumptions."""
        help_text = sextant("explain --help").out
        examples = re.findall("^  sextant (explain .*)", help_text, re.M)
        operations = re.search(r"WHAT .*?: ([\w, ]+)", " ".join(help_text.split()))[1]
        operations = [re.search(r"\w+", each)[0] for each in operations.split(",")]
        self.assertEqual([each.split()[1] for each in examples], operations)
        for example, operation in zip(examples, operations):
            shown, found = sextant(example).out, facts(example)
            plan = found.get("plan", found)
            named = plan.get("candidates") or plan["alternatives"]
            self.assertGreater(len(named), 0, example)
            measured = operation in ("label", "contours", "apply", "register")
            self.assertEqual("seconds" in named[0], not measured, example)  # SEXTANT_PROBE is off
            self.assertGreater(len(found["assumptions"]), 0, example)
            for each in found["assumptions"]:
                self.assertIn(f"  assumed: {each}\n", shown)
            self.assertRegex(shown, r"(?m)^ +predicted\b")
            if found["operation"] == "explain":
                self.assertEqual(found["what"], operation)
                times = [each["seconds"] for each in named if "seconds" in each]
                self.assertEqual(times, sorted(times), example)
                for each in named:
                    low, high = each["interval"] if "interval" in each else (0, 0)
                    self.assertTrue(low <= each.get("seconds", 0) <= high, each)
                self.assertIn(f"{found['choice']}: {found['reason']}", shown)
                self.assertEqual(found["choice"], named[0]["name"])

    def test_operations_without_schedules(self):
        commands = ("label --size 100 --depth 8", "label --size 300x1200", "contours --size 100x90", "apply --frames 3 --size 64 --by cubic",
                    "register --frames 3 --size 64")
        # The commands are not run if the machine may not be measured; the candidates without messages come first.
        for command in commands:
            found = facts(f"explain {command} --cores 4")
            self.assertRegex(found["candidates"][0]["remark"], "not measured: SEXTANT_PROBE is off")
            self.assertTrue(all("seconds" not in each for each in found["candidates"]))
        sextant("explain label --cores 4", "1 rank of 4 threads, strips: not predicted; first of", "p3pc-extended")
        files = set(Path(".").iterdir())
        for command in commands:
            found = facts(f"explain {command} --cores 4", env={"SEXTANT_PROBE": ""})
            self.assertRegex(" ".join(found["assumptions"]), "scaled from short runs")
            for each in found["candidates"]:
                self.assertGreater(each["seconds"], 0, each)
                self.assertLessEqual(each["interval"][0], each["seconds"])
                self.assertLessEqual(each["seconds"], each["interval"][1])
        names = {", ".join(each["name"].split(", ")[:2]) for each in facts("explain contours --size 1000 --cores 4")["candidates"]}
        self.assertEqual(names, {"1 rank, no messages", "2 ranks, 2x1 tiles", "4 ranks, 2x2 tiles"})
        # With a given density, the time does not depend on the data.
        sextant("explain label --density .3", "noise, 30 % of it foreground")
        self.assertNotIn("the interval covers", sextant("explain label --density .3").out)
        sextant("explain label", "2.5 % of it foreground (--density); the interval covers")
        self.assertEqual(files, set(Path(".").iterdir()))

    def test_collectives(self):
        for kind in ("broadcast", "scatter", "gather", "all-gather", "all-to-all", "reduce", "all-reduce", "scan", "exclusive-scan"):
            for ranks in (1, 5):
                found = facts(f"explain collective --kind {kind} --ranks {ranks} --count 1000 --machine das")
                self.assertGreater(len(found["candidates"]), 0)
        own = facts("explain collective --kind gather --ranks 5 --count 1000 --machine das")["candidates"][-1]
        self.assertEqual(own, {"name": "mpi", "remark": "not predicted: ranks over MPI measure it"})
        sextant("explain collective --operator max --machine das", "operator max takes no time")
        sextant("explain collective --operator max --machine das --operator-seconds 1e-6", "all-reduce")
        slow, fast = (facts(f"explain collective --operator max --machine das --operator-seconds {seconds}")["candidates"][0]["seconds"]
                      for seconds in (1e-5, 1e-9))
        self.assertGreater(slow, 2 * fast)
        reproducible = facts("explain collective --kind reduce --reproducible --machine das")["candidates"]
        self.assertEqual({each["name"].split(",")[0] for each in reproducible}, {"direct-send", "shift-based"})
        # A platform's links are shared.
        sextant("explain collective --kind broadcast --ranks 64 --machine torus-4x4x4", "on torus-4x4x4")

    def test_saved_plans(self):
        composite = "composite $SAMPLE -o brain.exr"
        sextant(f"{composite} --plan plan.json", "on a built-in machine")
        self.assertIn("candidates", load("plan.json"))
        Path("other.json").write_text(json.dumps({**load("plan.json"), "algorithm": "binary-tree", "window": 0, "radices": []}))
        sextant(f"{composite} --plan other.json", "binary-tree (the plan of other.json")
        # A race is decided by measured medians, which are stored in the plan.
        sextant(f"{composite} --race --plan raced.json", "raced over ... frames: ... ms; ... ms")
        self.assertIn("raced_seconds", read("raced.json"))
        sextant(f"{composite} --plan raced.json", "the plan of ...: raced over")
        sextant(f"{composite} --race --algorithm direct-send", "warning: no race")

    def test_profiles_of_other_machines_are_used_with_a_warning(self):
        composite = "composite $SAMPLE -o brain.exr"
        sextant(f"{composite} --machine $MACHINES/das.json", "warning: ...das.json does not describe this machine: ...calibrate")
        profile = Path(".config/sextant/machines/threads.json")
        profile.parent.mkdir(parents=True)
        profile.write_text("{")
        sextant(composite, "warning: ...threads.json")
        # A user who calibrated threads only is told that the plan for MPI does not use this profile.
        shutil.copy("threads.json", profile)
        sextant("explain --ranks 2", "sextant: planned for MPI...--transport threads to plan with ...threads.json")
        sextant("explain --ranks 2 --transport threads", "on threads")
        profile.unlink()

    def test_filters(self):
        paper = "explain filter --machine das --model p3pc --kernel p3pc --ranks 16 --size 512x512"
        sextant(f"{paper} --sigma 3", "filter 512x512 pixels, x, y, xx, xy, yy at sigma 3, kernel p3pc, margin 12",
                "1x16 tiles, ...: fastest of 35", "in the file -> in 1x16 tiles: each rank reads its own tile",
                "in 1x16 tiles -> on rank 0: planes sent directly to rank 0")
        every = sextant(f"{paper} --sigma 3 --all").out
        self.assertEqual(len(re.findall("^  [0-9]+x[0-9]+ ", every, re.M)), 35)
        sextant(f"{paper} --sigma 3 --distribute scatter", "on rank 0 -> in ... tiles: ...-scatter")
        sextant(f"{paper} --sigma 1 --before smooth@2,x@3", "in 1x16 tiles -> in 1x16 tiles: borders, filter, 3 times")
        sextant("explain filter --machine das --kernel p3pc --ranks 64 --size 512 --sigma 3 --before smooth@3,smooth@3",
                "8x8 tiles, then 1x64 from filter 3, ", "in 8x8 tiles -> in 8x8 tiles: borders, filter, 2 times",
                "in 8x8 tiles -> in 1x64 tiles: redistribution", "in 1x64 tiles -> in 1x64 tiles: filter")
        self.assertEqual(facts(f"{paper} --grid 4x4 --derivatives xx")["plan"]["columns"], 4)
        for cost, text in ((1e-9, "rank 0 alone: "), (1e-3, "1x4 tiles, ")):
            profile = json.loads((SOURCE / "machines/das.json").read_text())
            profile["kernels"] = [{"name": "gaussian-derivatives", "seconds_per_element": cost}]
            Path("quick.json").write_text(json.dumps(profile))
            sextant("explain filter --ranks 4 --size 64 --machine quick.json", text)
        for options, margin in (("", 27), ("--kernel p3pc", 19), ("--truncate 4", 20)):
            found = facts(f"explain filter --ranks 4 --size 512 --sigma 5 {options}")
            self.assertEqual(found["margin"], margin)

    def test_volumes(self):
        volume = "explain filter --size 64x48 --depth 40 --sigma 4,2,2 --derivatives x,zz"
        sextant(f"{volume} --ranks 4", "filter 64x48x40 voxels, x, zz at sigma 4,2,2, margin 10 in planes, 22 along z",
                "1 window of 40 planes, ...MiB for all ranks together", "predicted:...filter ")
        sextant(f"{volume} --ranks 4 --grid 1x2x2 --memory 2200K", "in 1x2x2 tiles -> on rank 0", "windows of ...plane")
        npy("zeros.npy", (40, 48, 64), bytes(4 * 40 * 48 * 64), "<f4")
        for options in ("--ranks 1", "--ranks 4", "--ranks 4 --memory 2", "--ranks 3 --memory 3 --distribute scatter"):
            planned = facts(f"{volume} --transport threads {options}")["plan"]
            run = facts(f"filter zeros.npy -o out.npy --sigma 4,2,2 --derivatives x,zz {options}")["plan"]
            for field in ("columns", "rows", "layers", "window"):
                self.assertEqual(planned.get(field), run.get(field), f"{field} with {options}")

    def test_errors(self):
        Path("wrong.json").write_text("{}")
        refuses("""
        2 --density <- explain --density 1.01
        1 none.json <- composite $SAMPLE -o x.exr --machine none.json
        2 size <- explain --size 10x
        2 size <- explain --size 0
        2 did you mean hockney <- explain --model hocney
        2 derivative 'z' <- explain filter --derivatives x,z
        2 the scale along x <- explain filter --sigma .1
        2 9 tiles, expected one for each of the 16 ranks <- explain filter --ranks 16 --grid 3x3
        2 did you mean flat-scatter <- explain filter --ranks 4 --distribute flat-scater
        2 distribute has no effect here: nothing to plan for one rank <- explain filter --ranks 1 --distribute scatter
        2 times <- explain scan --times sometimes
        2 speedup <- explain scan --speedup 1,x
        1 no C3 parameters <- explain --model c3 --machine das
        2 --memory 20K is too small for one plane of 64x48 samples <- explain filter --size 64x48 --depth 40 --sigma 4,2,2 --memory 20K
        2 memory ...--depth <- explain filter --memory 20M
        2 depth <- explain filter --depth 1
        2 --sigma 2um: the size of a pixel is unknown <- explain filter --sigma 2um
        2 8 tiles, expected one for each of the 4 ranks <- explain filter --size 64 --depth 40 --ranks 4 --grid 2x2x2
        2 unknown machine or platform 'torus-4x4x5'; did you mean <- explain --machine torus-4x4x5
        2 13 ranks, but ... has 12 cores <- explain --ranks 13 --machine crossbar-12-calibrated
        2 transport ...: the platform specifies where ranks run <- explain --transport mpi --machine torus-4x4x4
        2 a platform has no filter costs <- explain filter --machine torus-4x4x4
        2 did you mean reduce <- explain collective --kind reduces
        2 root 8: expected 0 to 7 <- explain collective --kind reduce --root 8
        2 root has no effect here: all-reduce has no root <- explain collective --root 1
        2 element-size has no effect here: all-reduce combines elements <- explain collective --element-size 8
        2 operator has no effect here: gather only moves elements <- explain collective --kind gather --operator max
        2 --operator-seconds has no effect here: ...has the cost of over <- explain collective --operator-seconds 1
        2 only explain collective uses this option <- explain label --kind gather
        2 only explain composite, filter, collective use this option <- explain label --ranks 2
        2 only explain apply uses this option <- explain register --by cubic
        2 machine has no effect here: <- explain register --machine das
        2 cores has no effect here: <- explain collective --cores 2
        2 frames <- explain register --frames 1
        """)


class Predictions(CommandTest):
    def test_values(self):
        # 12 nodes blend 4096 x 2048 pixels with Shift-Based: 11 messages of one twelfth each.
        self.assertAlmostEqual(seconds("predict compositing --algorithm shift-based --ranks 12 --elements 8388608 "
                                       "--machine ddr-infiniband --model hockney"), .06525, delta=5e-5)
        # Squares of 7 x 7 processors cannot be equal: C3 charges each separately; with equal squares, 13.4 ms.
        self.assertAlmostEqual(seconds("predict collective --algorithm 3-lev-sq-gather --ranks 49 --elements 65536 "
                                       "--element-size 1 --machine delta256 --model c3"), .0118, delta=3e-4)
        # On a platform messages share its links: the prediction equals the simulation.
        work = "compositing --algorithm radix-k --radices 4,4 --ranks 16 --elements 1048576"
        predicted, alone = (seconds(f"predict {work} --machine torus-4x4x2 --model {model}") for model in ("p3pc-extended", "p3pc"))
        simulated = seconds(f"simulate {work} --platform torus-4x4x2 --association in-order --clock")
        self.assertAlmostEqual(predicted / simulated, 1, delta=.02)
        self.assertLess(alone, .9 * simulated)
        # With gamma = .5, logp-lev-rec is logp-lev-sq; with 16 parts, 2-lev-rec divides 256 ranks into rows.
        rec, sq, gather, half, other = (
            seconds(f"predict collective --ranks 256 --elements 65536 --element-size 1 --machine delta256 --model c3 {options}")
            for options in ("--algorithm logp-lev-rec-scatter --gamma .5", "--algorithm logp-lev-sq-scatter",
                            "--algorithm 2-lev-rec-gather", "--algorithm 2-lev-rec-gather --alpha .5",
                            "--algorithm 2-lev-rec-gather --alpha .75"))
        self.assertTrue(rec == sq and gather == half != other)

    def test_every_model_predicts_or_states_why_it_cannot(self):
        text = sextant("predict collective --algorithm flat-scatter --ranks 16 --element-size 4 --machine das",
                       "c3 ...does not apply: the profile of das has no C3 parameters").out
        for model in ("hockney", "loggp", "loggp-star", "3pc", "p3pc", "p3pc-extended", "c3"):
            self.assertRegex(text, f"(?m)^{model} ")
        sextant("predict collective --machine das --model c3", code=1)
        refuses("""
        2 p4pc <- predict --machine das --model p4pc
        2 ovr...over <- predict --machine das --operator ovr
        1 none.json <- predict --machine ./none.json
        """)


class Simulations(CommandTest):
    @classmethod
    def prepare(cls):
        cls.clock = "" if "libsimgrid-dev" not in sextant("simulate --platform dragonfly-864", code=None).text else "--clock"
        if cls.clock:
            sextant("simulate --ranks 4 --platform crossbar-12-calibrated", "own clock")

    def test_values(self):
        # 11 messages of a twelfth of 4096 x 2048 pixels at 1827 x 2^20 bytes per second.
        shift = "simulate compositing --algorithm shift-based --ranks 12 --elements 8388608"
        self.assertAlmostEqual(seconds(f"{shift} --platform crossbar-12"), .0643, delta=1e-4)
        self.assertGreater(seconds(f"{shift} --platform crossbar-12-calibrated --blend-rate 1e6"), 7.6)
        # Operands are combined by arrival, as in the papers, unless in-order is requested.
        for options, association, least, most in (("", "by-arrival", 13.9, 14.4), ("--association in-order", "in-order", 7.2, 7.8)):
            text = sextant("simulate --algorithm shift-based --ranks 144 --elements 8388608 --platform fat-tree-144-calibrated "
                           + options, f"operands combined {association}").out
            frames = float(re.search("([0-9.]+) runs per second", text)[1])
            self.assertTrue(least < frames < most, frames)
        direct = "simulate --algorithm direct-send --ranks 12 --platform crossbar-12-calibrated"
        self.assertAlmostEqual(seconds(direct) / seconds(f"{direct} --clock"), 1, delta=.01)

    def test_outputs(self):
        sextant("simulate --algorithm shift-based --ranks 144 --platform fat-tree-144 --order fat-tree-144-alphabetical")
        sextant("simulate --ranks 4 --platform crossbar-12 --trace run.svg --report run.html")
        self.assertTrue("<svg" in read("run.svg") and 'class="timeline"' in read("run.html"))
        sextant("simulate --ranks 4 --platform crossbar-12 --trace -", '"name": "send"')
        sextant("simulate --ranks 1 --platform crossbar-12", "on 1 rank of")
        for ranks in (4, 6):
            sextant(f"evaluate --platform crossbar-12-calibrated --ranks {ranks} -o {ranks}.json",
                    f"4 cases on {ranks} ranks of crossbar-12-calibrated", "the planner")
        sextant("evaluate --platform crossbar-12-calibrated --ranks 6 --clock --ways 4", "the planner")
        sextant("evaluate --judge 4.json 6.json --map map.svg", "| 6 ranks |")
        self.assertIn("<svg", read("map.svg"))

    def test_the_simulator_ends_with_the_command(self):
        if self.clock or not shutil.which("pgrep"):
            self.skipTest("no SimGrid, or no pgrep")
        process = start("simulate --algorithm direct-send --ranks 256 --platform torus-8x8x4")  # takes minutes
        children = lambda: subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()
        wait_for(children)
        child = Path("/proc", children()[0], "status")
        process.kill()
        process.communicate()
        wait_for(lambda: not child.exists() or re.search(r"State:\s*[ZX]", read(child)))

    def test_errors(self):
        Path("twice.txt").write_text("n0\nn0\n")
        Path("nowhere.txt").write_text("n0\nnowhere\n")
        Path("wrong.json").write_text("{")
        for clock in ("", "--clock"):
            refuses(f"""
            2 nowhere.txt: line 2 names 'nowhere', expected a host of <- simulate --platform crossbar-12-calibrated --order nowhere.txt {clock}
            2 13 ranks, but <- simulate --ranks 13 --platform crossbar-12-calibrated {clock}
            """)
        refuses("""
        2 did you mean crossbar-12 <- simulate --platform crossbar-13
        2 expected a number from 0 to 1 <- simulate --platform crossbar-12 --send-overhead nan
        1 twice.txt: line 2 lists 'n0' again <- simulate --platform crossbar-12 --order twice.txt
        1 dragonfly-864.xml: is a SimGrid platform, whose routes only SimGrid can compute; expected a platform in JSON <- simulate --platform dragonfly-864 --clock
        1 wrong.json: is not JSON <- simulate --platform wrong.json
        2 13 ranks, but <- evaluate --platform crossbar-12-calibrated --ranks 13
        """)


class Calibration(CommandTest):
    @classmethod
    def prepare(cls):
        # Without -o, the profile is stored in the user's configuration folder.
        sextant("calibrate --budget 3s", "of 5 launches", "half-width of confidence intervals")
        cls.profile = ".config/sextant/machines/threads.json"
        assert not list(Path(".config").rglob(".sextant-*")), "left its work behind"

    def test_the_profile_can_be_shown_compared_used_and_extended(self):
        sextant(f"machine show {self.profile}", "same process, contiguous")
        sextant(f"machine diff {self.profile} {self.profile}", "all ... 1.000 ... 0.0 %")
        sextant(f"predict compositing --ranks 2 --machine {self.profile} --model p3pc-extended", "p3pc-extended ...s")
        shutil.copy(self.profile, "more.json")
        sextant("calibrate --launches 1 --budget 200ms --append -o more.json --json", "of 6 launches")

    def test_profiles_of_other_machines_and_states(self):
        replaced(self.profile, "other.json", '"host": "[^"]*"', '"host": "elsewhere"', regex=True)
        profile = load(self.profile)
        state = json.dumps(profile["state_probe"])
        for field, value in {"cores": 64, "topology": "2 packages", "host": "elsewhere"}.items():
            changed = json.dumps({**profile, field: value})
            Path("changed.json").write_text(changed)
            sextant("machine check changed.json", f"{field}: {value} in the profile", code=1)
            Path("config/sextant/machines").mkdir(parents=True, exist_ok=True)
            Path("config/sextant/machines/threads.json").write_text(changed)
            for line in ("explain composite --ranks 2 --transport threads",
                         "composite $SAMPLE -o a.png", "filter a.png -o b.npy --sigma 1 --grid 2x1"):
                sextant(line, "warning: ", f"does not describe this machine: {field}: {value} in the profile",
                        env={"XDG_CONFIG_HOME": os.getcwd() + "/config"})
        profile["state_probe"] = json.loads(re.sub(r"-?\d[\d.e-]*", "1", state))
        Path("slow.json").write_text(json.dumps(profile))
        sextant("machine check other.json", "host: elsewhere in the profile", "sextant calibrate", code=1)
        sextant("machine check slow.json", "state: a round trip of 64 KiB took 1000000.00 us, now it takes", code=None)
        sextant("evaluate --cases 1 --launches 1 --machine slow.json")
        sextant("evaluate --cases 1 --launches 2 --machine slow.json", "in every launch the machine", code=1)

    def test_errors(self):
        Path("file").write_text("")
        refuses("""
        2 budget <- calibrate --budget 0s -o x.json
        2 budget <- calibrate --budget soon -o x.json
        2 ci <- calibrate --ci 2 -o x.json
        2 launches <- calibrate --launches 0 -o x.json
        2 pigeons <- calibrate --transport pigeons -o x.json
        2 seed <- calibrate --seed -1 -o x.json
        1 file <- calibrate --budget 1s -o file/x.json
        1 new.json/ <- calibrate --budget 1s -o new.json/
        1 das.json: has no launches <- calibrate --launches 1 --append -o $MACHINES/das.json
        2 diff <- machine diff das
        1 x.json <- machine show ./x.json
        """)
        refuses("1 /dev/null/sextant/machines: ...; name another file for the profile with --output <- calibrate --budget 3s",
                env={"XDG_CONFIG_HOME": "/dev/null"})

    @over_mpi
    def test_over_mpi(self):
        launcher = " ".join(MPIRUN)
        sextant(f"calibrate --transport mpi --launcher '{launcher} -n 2' --launches 2 --budget 3s -o mpi.json", "of 2 launches")
        sextant("machine show mpi.json", "same node, contiguous")
        sextant("calibrate --budget 500ms --append -o mpi.json", "of 3 launches", processes=3)
        refuses("2 threads <- calibrate --append -o mpi.json --launches 1\n"
                "1 false <- calibrate --transport mpi --launcher false --budget 1s -o x.json")
        self.assertNotEqual(sextant("calibrate --budget 1s -o x.json", code=None, processes=1).returncode, 0)
        # A benchmark of filters over processes compares with predictions from that profile: every configuration runs once,
        # and the predicted fastest is chosen and listed first.
        Path("cases.json").write_text('{"cases": [{"width": 600, "height": 400, "sigma": 1, "derivatives": ["x"]}]}')
        text = sextant("bench filter --cases cases.json --rounds 5 --json=filters.json", processes=2,
                       env={"SEXTANT_MACHINE": "mpi.json"}).out
        case = load("filters.json")["cases"][0]
        reason = json.dumps(case)
        configurations, evaluated = re.search(f'fastest of ([0-9]+) [^"]* on {re.escape(load("mpi.json")["name"])}[^"]*; ([0-9]+) evaluated',
                                              reason).groups()
        names = [result["name"] for result in case["results"]]
        predicted = [result["predicted"] for result in case["results"] if isinstance(result.get("predicted"), float)]
        self.assertTrue(len(names) == len(set(names)) == int(configurations), names)
        self.assertEqual(len(predicted), int(evaluated))
        self.assertEqual(predicted, sorted(predicted))
        self.assertRegex(text, r"(?m)\A(?:(?!  \S).*\n)*  \S.* 1\.000 \[1\.000, 1\.000\]")


class Probes(CommandTest):
    """A machine without a profile is probed once for each number of ranks, and not at all if that is disabled."""
    composite = "composite $SAMPLE -o frame.png"
    probed, built_in = "on this machine (probed on ..., provisional: run sextant calibrate to measure it)", "on a built-in machine"

    @classmethod
    def prepare(cls):
        del os.environ["SEXTANT_PROBE"]

    @staticmethod
    def stored(cache=".cache"):
        return [path for path in Path(cache).rglob("*") if path.is_file()]

    def test_probes_are_stored_and_used_again(self):
        sextant(f"{self.composite} --no-probe", self.built_in)
        sextant(self.composite, self.built_in, env={"SEXTANT_PROBE": "off"})
        sextant(f"{self.composite} --algorithm direct-send")
        self.assertEqual(self.stored(), [])
        sextant(self.composite, self.probed)
        (file,) = self.stored()
        self.assertRegex(file.name, "^threads-8-.*json$")
        inode = file.stat().st_ino
        sextant(self.composite, self.probed)
        self.assertEqual(file.stat().st_ino, inode)
        # Work that takes longer allows a longer probe, which replaces the first one.
        sextant(self.composite, self.probed, env={"SEXTANT_PROBE": "0.2"})
        self.assertNotEqual(file.stat().st_ino, inode)
        inode = file.stat().st_ino
        sextant(self.composite, self.probed)
        self.assertEqual(file.stat().st_ino, inode)
        sextant("explain --ranks 8 --transport threads", self.probed)
        sextant("explain --ranks 7 --transport threads", self.built_in)
        sextant(f"{self.composite} --no-probe", self.built_in)
        # A file that is damaged, of another version or of another machine is replaced by a new probe.
        whole = file.read_text()
        at = whole.index('"probe"')
        for spoilt in (whole[:300], whole[:at] + whole[at:].replace('"version": ', '"version": 9'),
                       whole.replace("ranks by threads; ", "ranks by threads; elsewhere")):
            self.assertNotEqual(spoilt, whole)
            file.write_text(spoilt)
            sextant(self.composite, self.probed)
            self.assertTrue(file.read_text() != spoilt and '"probe"' in file.read_text())
        # A symbolic link is replaced, not written through; a folder remains.
        Path("precious").write_text("precious")
        file.unlink()
        file.symlink_to(Path("precious").resolve())
        sextant(self.composite, self.probed)
        self.assertTrue(read("precious") == "precious" and not file.is_symlink())
        file.unlink()
        file.mkdir()
        sextant(self.composite)
        self.assertTrue(file.is_dir())

    def test_it_is_no_error_if_the_result_cannot_be_stored(self):
        Path("file").write_text("")
        sextant(self.composite, env={"XDG_CACHE_HOME": os.path.abspath("file")})
        self.assertTrue(os.path.isfile("file"))
        done = subprocess.run(["env", "-u", "HOME", "-u", "XDG_CACHE_HOME", SEXTANT, *words_of(self.composite)])
        self.assertEqual(done.returncode, 0)

    def test_concurrent_writers_and_processes(self):
        both = {"XDG_CACHE_HOME": os.path.abspath("both")}
        for process in [start(self.composite.replace("frame", f"frame{i}"), env=both) for i in range(2)]:
            finish(process)
        sextant(self.composite, self.probed, env=both)
        self.assertEqual(len(self.stored("both")), 1)
        if MPIRUN:  # processes are probed over the transport that the run uses
            processes = {"XDG_CACHE_HOME": os.path.abspath("processes")}
            sextant(f"{self.composite} --shared-memory off", self.probed, processes=2, env=processes)
            self.assertRegex(self.stored("processes")[0].name, "^mpi-2-.*json$")


if __name__ == "__main__":
    unittest.main()
