# SPDX-License-Identifier: BSD-3-Clause
"""Runs that are killed, or find the disk full (programs/kill_at.cpp): nothing of an earlier run is lost, the same command
continues, and what killed runs leave is removed. KILLS: the number of kills for each set of options."""
import random

from command_test import *

LIBRARY, KILLS = os.environ["KILL_AT_LIBRARY"], int(os.environ.get("KILLS", "9"))


def preloaded(line, **variables):
    """Runs a command with the library; the exit code may be any."""
    env = {"LD_PRELOAD": LIBRARY, **{name.upper(): str(value) for name, value in variables.items()}}
    return sextant(line, code=None, env=env)


def calls_of(line):
    """The number of calls of the command that change files."""
    assert preloaded(line, count_calls=os.path.abspath("counted")).returncode == 0, line
    return int(read("counted"))


class Volumes(CommandTest):
    line = "label volume.npy -o labels.zarr --table labels.csv --memory 1"

    @classmethod
    def prepare(cls):
        # 300 planes, labelled in about 12 slabs, and written as 5 layers of chunks.
        npy("volume.npy", (300, 80, 100), letters("ab.ba..ab.a.....b....a.......", ".ab", 2400000))

    def setUp(self):
        self.remove("labels.*", "expected", "older")

    def remove(self, *names):
        for path in (path for name in names for path in Path().glob(name)):
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def expect(self, options):
        """Makes the expected files, and returns the number of calls."""
        os.mkdir("expected")
        calls = calls_of(f"{self.line} {options} --json=expected/run.json")
        self.assertGreater(load("expected/run.json")["slabs"], 1)
        self.assertGreater(calls, 40)
        for name in ("labels.zarr", "labels.csv"):
            os.rename(name, f"expected/{name}")
        return calls

    def expect_same(self, what):
        for name in ("labels.zarr", "labels.csv"):
            same(name, f"expected/{name}", what=what)

    def test_kills(self):
        numbers = random.Random(7)
        for options in ("", "--fill-holes --neighbours 6", "--min-size 3 --keep-largest 9 --ranks 2", "--by-value --ranks 3"):
            self.setUp()
            calls, continued, kills, begin = self.expect(options), 0, 0, True
            while kills < KILLS:
                if begin:  # with an older result, which must remain until the new one replaces it
                    self.remove("labels.*", "older")
                    sextant("label volume.npy -o labels.zarr --neighbours 18")
                    shutil.copytree("labels.zarr", "older")
                    Path("labels.csv").write_text("older")
                done = preloaded(f"{self.line} {options}", kill_at=numbers.randint(1, calls))
                what = f"'{options}' after {kills} kills"
                begin = done.returncode == 0  # what is left to do takes fewer calls
                if begin:
                    continued += "continued an earlier run" in done.text
                    self.expect_same(what)
                    self.assertFalse(os.path.exists("labels.zarr.partial") or list(Path().rglob(".sextant-*")), what)
                    continue
                kills += 1
                self.assertIn(content("labels.zarr"), (content("older"), content("expected/labels.zarr")), what)
                self.assertIn(content("labels.csv"), (b"older", content("expected/labels.csv")), what)
            self.assertGreater(continued, 0, options)

    def test_full_disks_and_other_runs(self):
        options = "--by-value --ranks 3"
        calls, full = self.expect(options), 0
        line = f"{self.line} {options}"
        for part in (10, 30, 50, 70, 90):
            done = preloaded(line, full_at=calls * part // 100)
            if done.returncode == 0:
                self.expect_same("after a full disk")
                self.remove("labels.*")
                continue
            full += 1
            self.assertRegex(done.text, "(?i)no space left")
            self.assertFalse(os.path.exists("labels.zarr"))
        self.assertGreater(full, 2)
        sextant(line)
        self.expect_same("after a full disk")
        # What is left of a full disk does not stop a run with another input, but one with other options.
        self.remove("labels.*")
        preloaded(line, full_at=calls // 2)
        self.assertTrue(os.path.exists("labels.zarr.partial/labels.0"))
        sextant("label volume.npy --memory 1 -o labels.zarr --ranks 3", code=1)
        os.utime("volume.npy", (0, 10 ** 9))
        sextant(line, "the results of a failed run with other inputs were removed")
        self.expect_same("after another run that failed")
        # Another run in the folder of an interrupted one is refused, and says why.
        self.remove("labels.*")
        preloaded(line, kill_at=calls // 2)
        sextant(f"{self.line} --ranks 3", "labels.zarr.partial/labels...another run...by_value", code=1)
        sextant(line)
        self.expect_same("after a run that was refused")
        # A chunk of the input that changes after the interruption is noticed; an output within the input is not.
        sextant("label volume.npy -o source.zarr")
        for output in ("source.zarr/labels.zarr", "labels.zarr"):
            self.remove("labels.*")
            line = f"label source.zarr -o {output} {options} --memory 1"
            preloaded(line, kill_at=calls // 2)
            self.assertTrue(os.path.exists(f"{output}.partial/labels.0"))
            if output == "labels.zarr":
                os.utime(next(file for file in Path("source.zarr/0/c").rglob("*") if file.is_file()), (0, 10 ** 9))
                sextant(line, "another run...input: ...source.zarr", code=1)
            else:
                sextant(line, "continued an earlier run")
                shutil.rmtree(output)


class SeveralOutputs(CommandTest):
    """On a full disk, all files of an earlier run remain."""
    commands = {  # with what differs between the older and the newer run
        "register movie.npy -o out --ranks 1": ("--aligned on --frames 0-2", "--aligned off --frames 0-3"),
        "register movie.npy -o out --ranks 1 --aligned out/stack.zarr": ("--frames 0-2", "--frames 0-3"),
        "filter volume.npy -o out/f.zarr --derivatives x,zz --ranks 1 --json out/run.json": ("--sigma 1", "--sigma 2"),
        "filter volume.npy --frame 1 -o out/f.tif --ranks 1 --report out/page.html": ("--sigma 1", "--sigma 2"),
        "apply moved/transforms.json movie.npy -o out/a.zarr --sum --count out/count.npy": ("--by shift", "--by splat"),
        "label volume.npy --frame 1 -o out/l.tif --table out/t.csv --json out/run.json --ranks 1": ("--neighbours 4", "--neighbours 8"),
        "label volume.npy -o out/l.zarr --table out/t.csv --ranks 1": ("--min-size 1", "--min-size 2"),
        "stitch volume.npy -o out/s.zarr --block 1,0,0 --table out/t.csv --joins out/j.csv --ranks 1": ("--threshold .1", "--threshold .2"),
        "contours volume.npy --frame 1 -o out/c.geojson --json out/run.json --ranks 1": ("--sigma 1", "--sigma 2"),
        "synthesize -o out/s.mrc --frames 2 --width 32 --height 32": ("--seed 1", "--seed 2"),
        "measure volume.npy -o out/t.csv --json out/run.json": ("--ranks 1", "--ranks 2"),
    }

    @classmethod
    def prepare(cls):
        sextant("synthesize -o movie.npy --frames 4 --width 64 --height 64 --specimen carbon --dose 50")
        sextant("register movie.npy -o moved --ranks 1")
        npy("volume.npy", (6, 30, 40), letters("ab.ba..ab.a.....b....a.......", ".ab", 7200))

    def test_full_disks_and_kills(self):
        temporaries = 0
        for command, (older, newer) in self.commands.items():
            for folder in ("out", "old"):
                shutil.rmtree(folder, ignore_errors=True)
            os.mkdir("out")
            sextant(f"{command} {older}")
            shutil.copytree("out", "old")
            line, full = f"{command} {newer}", 0
            calls = calls_of(line)
            self.assertNotEqual(content("out"), content("old"))
            for call in range(max(1, calls - 24), calls + 1):
                shutil.rmtree("out")
                shutil.copytree("old", "out")
                done = preloaded(line, full_at=call)
                if done.returncode == 0:
                    break  # the last calls write nothing
                full += 1
                self.assertRegex(done.text, "(?i)no space left")
                for checkpoint in Path("out").glob("checkpoint.*"):
                    checkpoint.unlink()
                same("out", "old", what=f"{command}: after call {call} of {calls}")
            self.assertGreater(full, 0, command)
            for call in range(1, calls + 1, calls // 12 + 1):
                preloaded(line, kill_at=call)
                temporaries += len(list(Path("out").rglob(".sextant-*")))
            sextant(line)
            self.assertFalse(list(Path("out").rglob(".sextant-*")), f"{command}: temporaries of killed runs remain")
        self.assertGreater(temporaries, 0, "no killed run left anything, so nothing was tested")


if __name__ == "__main__":
    unittest.main()
