# SPDX-License-Identifier: BSD-3-Clause
"""Gives each option to each command, with each kind of input and in each mode. It must be refused, or change what the
command prints or writes. A value that is empty or repeated, an empty value in a list, and a value of a flag other than
true and false must be refused, or change it too."""
import hashlib

from command_test import *

script("numpy")
import numpy as np

program, machines, sample = SEXTANT, os.environ["MACHINES"], os.environ["SAMPLE"]

# The inputs.
random = np.random.default_rng(1)
np.save("image.npy", random.choice([0, 0, 0, 5, 9], (40, 48)).astype("u1"))
np.save("volume.npy", random.choice([0, 0, 0, 0, 5, 9], (4, 20, 24)).astype("u1"))
np.save("brighter.npy", random.random((4, 20, 24)).astype("f4"))
directions = np.full((10, 10), -1, "i1")
directions[2, 2:4] = directions[5, 1:7] = 0
directions[2, 4] = directions[5, 7] = -2
np.save("directions.npy", directions)
np.save("labels.npy", ((np.arange(24) + np.zeros((4, 20, 1), int) + np.arange(4)[:, None, None]) // 6).astype("i4"))
np.save("series.npy", random.random((4, 32, 32)).astype("f4"))
np.save("dark.npy", np.ones((64, 64), "f4"))
defects = np.zeros((64, 64), "u1")
defects[3, 4] = 1
np.save("defects.npy", defects)
with open("blocks.csv", "w") as file:
    file.write("file,z,y,x\nlabels.npy,0,0,0\nlabels.npy,0,0,20\n")
with open("points.csv", "w") as file:
    file.write("frame,x,y\n0,3,4\n1,5,6\n")
with open("times.txt", "w") as file:
    file.write("0.1\n0.2\n")
np.save("gain.npy", 2 - random.random((64, 64)).astype("f4"))


def run(words, out):
    shutil.rmtree(out, ignore_errors=True)
    os.mkdir(out)
    words = [word.replace("OUT", out) for word in words]
    return subprocess.run([program, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)


def must(*words):
    done = run(words, "made")
    assert done.returncode == 0, (words, done.stderr)
    for name in os.listdir("made"):
        if os.path.exists(name):
            shutil.rmtree(name) if os.path.isdir(name) else os.remove(name)
        os.rename(f"made/{name}", name)


must("synthesize", "-o", "OUT/movie.npy", "--truth", "OUT/truth.json", "--frames", "4", "--width", "64", "--height",
     "64", "--dose", "50", "--specimen", "carbon")
must("register", "movie.npy", "-o", "OUT/registered")
must("composite", sample, "-o", "OUT/one.exr", "--plan", "OUT/plan.json", "--ranks", "2", "--algorithm", "radix-k")
must("filter", "image.npy", "-o", "OUT/planes.npy", "--ranks", "2", "--plan", "OUT/filter-plan.json")
must("composite", sample, "-o", "OUT/two.exr", "--trace", "OUT/trace.json")
das, platform, profile = f"{machines}/das.json", "crossbar-12-calibrated", f"{machines}/blue-gene-p.json"
transforms = "registered/transforms.json"

# Commands with each kind of input and in each mode.
modes = {
    "composite": ["composite", sample, "-o", "OUT/a.exr"],
    "composite, named algorithm": ["composite", sample, "-o", "OUT/a.exr", "--algorithm", "direct-send"],
    "composite, saved plan": ["composite", sample, "-o", "OUT/a.exr", "--ranks", "2", "--plan", "plan.json"],
    "filter, image": ["filter", "image.npy", "-o", "OUT/a.npy"],
    "filter, volume": ["filter", "volume.npy", "-o", "OUT/a.npy"],
    "filter, saved plan": ["filter", "image.npy", "-o", "OUT/a.npy", "--ranks", "2", "--plan", "filter-plan.json"],
    "label, image": ["label", "image.npy", "-o", "OUT/a.npy", "--ranks", "2"],
    "filter, one rank": ["filter", "image.npy", "-o", "OUT/a.npy", "--ranks", "1"],
    "filter, one tile": ["filter", "image.npy", "-o", "OUT/a.npy", "--grid", "1x1"],
    "label, one rank": ["label", "image.npy", "-o", "OUT/a.npy", "--ranks", "1"],
    "label, volume": ["label", "volume.npy", "-o", "OUT/a.npy"],
    "measure": ["measure", "labels.npy", "-o", "OUT/a.csv"],
    "stitch, list": ["stitch", "blocks.csv", "-o", "OUT/a.npy"],
    "stitch, volume": ["stitch", "labels.npy", "-o", "OUT/a.npy", "--block", "1,0,0"],
    "stitch, Zarr": ["stitch", "labels.npy", "-o", "OUT/a.zarr", "--block", "1,0,0"],
    "contours": ["contours", "image.npy", "-o", "OUT/a.csv", "--ranks", "2"],
    "contours, one rank": ["contours", "image.npy", "-o", "OUT/a.csv", "--ranks", "1"],
    "contours, thresholds": ["contours", "image.npy", "-o", "OUT/a.csv", "--thresholds", "0.1,0.2"],
    "contours, directions": ["contours", "directions.npy", "-o", "OUT/a.csv", "--directions"],
    "register": ["register", "movie.npy", "-o", "OUT/r"],
    "register, nonrigid": ["register", "movie.npy", "-o", "OUT/r", "--model", "nonrigid"],
    "register, threads": ["register", "movie.npy", "-o", "OUT/r", "--threads", "2"],
    "register, no stack": ["register", "movie.npy", "-o", "OUT/r", "--aligned=off"],
    "apply, series": ["apply", transforms, "movie.npy", "-o", "OUT/a.npy"],
    "apply, sum": ["apply", transforms, "movie.npy", "-o", "OUT/a.npy", "--sum"],
    "apply, points": ["apply", transforms, "points.csv", "-o", "OUT/a.csv"],
    "synthesize, lattice": ["synthesize", "-o", "OUT/a.npy", "--frames", "2", "--width", "32", "--height", "32"],
    "synthesize, one frame": ["synthesize", "-o", "OUT/a.npy", "--frames", "1", "--width", "32", "--height", "32"],
    "synthesize, carbon": ["synthesize", "-o", "OUT/a.npy", "--frames", "2", "--width", "32", "--height", "32",
                           "--specimen", "carbon"],
    "synthesize, image": ["synthesize", "-o", "OUT/a.npy", "--frames", "2", "--width", "32", "--height", "32",
                          "--image", "gain.npy"],
    "info": ["info", "movie.npy"],
    "calibrate, check": ["calibrate", "--check", das],
    "list": ["list", "models"],
    "explain composite": ["explain", "composite", "--machine", das],
    "explain filter": ["explain", "filter", "--machine", das],
    "explain filter, volume": ["explain", "filter", "--machine", das, "--depth", "40", "--size", "64"],
    "explain scan": ["explain", "scan"],
    "explain collective": ["explain", "collective", "--kind", "reduce"],
    "explain collective, moved": ["explain", "collective", "--kind", "scatter"],
    "explain label": ["explain", "label"],
    "explain contours": ["explain", "contours"],
    "explain apply": ["explain", "apply"],
    "explain register": ["explain", "register"],
    "explain, threads": ["explain", "composite", "--transport", "threads"],
    "predict": ["predict", "--machine", das],
    "predict, scan": ["predict", "scan", "--machine", das],
    "simulate": ["simulate", "--platform", platform, "--clock"],
    "simulate, profile": ["simulate", "--platform", platform, "--clock", "--machine", profile],
    "prove": ["prove", "--ranks", "3"],
    "prove, collective": ["prove", "collective", "--ranks", "3"],
    "draw": ["draw", "-o", "OUT/a.svg"],
    "draw, scan": ["draw", "scan", "-o", "OUT/a.svg"],
    "draw, platform": ["draw", "--platform", platform, "-o", "OUT/a.svg"],
    "machine show": ["machine", "show", das],
    "report": ["report", "trace.json", "-o", "OUT/a.html"],
}

# A value of each option, other than its default; by command if it differs. "" for an option without a value.
values = {
    "algorithm": "radix-k", "radices": "2", "window": "1", "sparse": "on", "interlace": "on", "operator": "max",
    "background": "#808080", "association": "by-arrival", "threads": "2", "machine": das, "no-probe": "", "plan": "OUT/plan",
    "reproducible": "", "element": "u8", "order": "7,6,5,4,3,2,1,0", "ranks": "3", "shared-memory": "on", "race": "",
    "json": "=OUT/j.json", "report": "OUT/p.html", "trace": "OUT/t.json", "frame": "0", "channel": "0", "slice": "0",
    "time": "0", "axes": "ZYX", "allow-external": "", "sigma": "3", "derivatives": "x", "kernel": "p3pc",
    "truncate": "1", "before": "smooth@1", "border": "mirror", "border-value": "7", "memory": "64M", "grid": "2x1",
    "distribute": "broadcast", "table": "OUT/table.csv", "pyramid": "", "zarr": "2", "neighbours": "4", "intensity": "brighter.npy",
    "intensity-channel": "0", "fill-holes": "", "min-size": "3", "keep-largest": "1", "columns": "sizes", "by-value": "",
    "pattern": "2-lev-rc", "block": "1,0,0", "size": "9,70,70", "allow-gaps": "", "by": "voxels",
    "threshold": "0.9", "joins": "OUT/joins.csv", "quantiles": "0.3,0.4", "thresholds": "1,2", "directions": "",
    "min-length": "4", "simplify": "1", "aligned": "=on", "gap": "5", "movie": "OUT/m.gif", "format": "npy", "model": "translation",
    "reference": "2", "stages": "3", "thread-work": "frames", "restart": "", "average": "weighted", "frames": "0,1,2",
    "min-registered": ".9", "despike": "off", "flatten": "on", "static": "off", "gain-rotate": "90", "gain-flip": "x", "contrast": "same", "canvas": "union", "scan-rows": "on", "rotation": "20",
    "dark": "dark.npy", "gain": "gain.npy", "defects": "defects.npy",
    "mask": "directions.npy", "roi": "8,8,48,48", "bidirectional": "2", "max-shift": "30", "follow": None, "idle": "3", "spool": "OUT/s.raw",
    "serve": "127.0.0.1:0", "from-reference": "", "sum": "", "count": "OUT/n.npy", "sample": "f64", "truth": "OUT/t",
    "specimen": "particles", "image": "movie.npy", "width": "40", "height": "40", "dose": "7", "period": "9",
    "amorphous": "0.5", "detail": "3", "drift-x": "2", "drift-y": "2", "random-step": "2", "random-rotation": "2",
    "warp": "1", "warp-length": "30", "blanks": "1", "jumps": "1,2,3", "seed": "9", "check": "", "budget": "1s",
    "ci": "5%", "launches": "2", "append": "", "transport": "threads", "launcher": "mpirun -n 2", "distributed": "",
    "density": "0.1", "all": "", "ranks-per-node": "2", "values": "9", "cores": "3", "times": "constant",
    "speedup": "1,2", "depth": "9", "gamma": "0.5", "alpha": "0.5", "elements": "77", "element-size": "4",
    "platform": None, "send-overhead": "0.1", "receive-overhead": "0.1", "blend-rate": "9", "clock": "",
    "collect": "", "title": "a title", "output": None,
    "filter grid": "1x2", "composite algorithm": "direct-send", "composite radices": "4", "explain size": "99x77", "explain radices": "2,4", "predict radices": "2,4",
    "simulate radices": "2,4", "draw radices": "2,4", "prove radices": "3", "explain ranks": "4",
    "draw interlace": "4", "predict interlace": "4", "simulate interlace": "4", "prove interlace": "4",
    "predict model": "p3pc", "explain model": "p3pc", "simulate order": None, "predict ranks": "4", "simulate ranks": "4",
    "prove ranks": None, "synthesize frames": "3", "synthesize rotation": "3", "synthesize contrast": "0.1",
    "apply axes": "TYX", "apply by": "shift", "apply frame": "1", "measure intensity": "brighter.npy",
    "filter axes": "YX", "label axes": "YX", "info axes": "TYX", "register axes": "TYX",
    "stitch axes": "ZYX", "prove elements": "9", "explain depth": "50",
    "explain kind": "gather", "explain count": "77", "explain frames": "9", "explain by": "cubic", "explain cores": "4",
    "explain root": "1", "explain element-size": "8", "explain operator-seconds": "1e-3",
}

# Options whose effect depends on the data, which have no hot pixels, for example; and those that only affect the speed, the memory, or which later runs or files are accepted: they change nothing here.
# Where they have no effect at all, they must be refused.
by_data = {"threshold", "min-registered", "despike", "flatten", "static", "contrast", "rotation", "max-shift", "aligned", "check", "allow-gaps", "density"}
unseen = by_data | {"threads", "thread-work", "memory", "machine", "no-probe", "reproducible", "allow-external", "restart", "sparse",
          "interlace", "association", "shared-memory", "race", "distribute", "pattern", "grid", "seed", "all"}
# Of these, the ones that can have an effect only in some modes; in others, they must be refused or change something.
# No input is HDF5 or Zarr, which refer to other files.
images = {mode for mode, words in modes.items() if words[1] in ("image.npy", "directions.npy")}
only_in = {"all": {mode for mode, words in modes.items() if words[0] == "explain" and words[1] not in ("composite", "filter", "scan")},
           "allow-external": set(), "allow-gaps": {"stitch, list"}, "thread-work": {"register, threads"},
           "time": set(modes) - images}
refused = {
    "composite, named algorithm": {"machine", "no-probe"}, "composite, saved plan": {"machine", "no-probe"},
    "filter, image": {"machine", "no-probe", "distribute"}, "filter, volume": {"machine", "no-probe", "distribute"},
    "filter, saved plan": {"distribute", "memory"},
    "label, image": {"machine", "no-probe", "intensity", "intensity-channel", "columns"},
    "filter, one rank": {"machine", "no-probe", "distribute"}, "filter, one tile": {"machine", "no-probe", "distribute"},
    "label, one rank": {"pattern", "machine", "no-probe", "intensity", "columns"},
    "contours, one rank": {"pattern", "machine", "no-probe"},
    "synthesize, one frame": {"drift-x", "drift-y", "rotation", "random-step", "random-rotation", "warp", "warp-length",
                              "jumps"},
    "label, volume": {"grid", "pattern", "machine", "no-probe", "intensity-channel", "columns"},
    "measure": {"intensity-channel"}, "contours, thresholds": {"quantiles"},
    "contours, directions": {"sigma", "quantiles", "thresholds"},
    "register": {"idle", "spool", "serve"}, "register, no stack": {"gap"},
    "apply, points": {"frame", "channel", "slice", "time", "axes", "allow-external", "by", "sum", "count", "sample", "memory",
                      "pyramid", "zarr"},
    "synthesize, lattice": {"warp-length"}, "synthesize, carbon": {"period", "amorphous"},
    "synthesize, image": {"specimen", "contrast", "period", "amorphous", "detail"},
    "calibrate, check": {"output", "budget", "ci", "launches", "append", "transport", "launcher"},
    "explain filter": {"memory"}, "explain, threads": {"ranks-per-node"}, "simulate": {"operator"},
}
# Choices that are those of the data themselves: the only channel, the names of unnamed axes.
same = {"frame", "channel", "slice", "time", "axes"}


# Values that ask for nothing.
neutral = {"block": "0,0,0"}


def options_of(command):
    """The options of a command, with the placeholder of their value in the help text; "" for flags."""
    help_text = subprocess.run([program, command, "--help"], capture_output=True, text=True).stdout
    return dict(re.findall(r"^  (?:-\w, )?--([a-z-]+)(?:\[?[= ]([^\s\]]+))?", help_text, re.M))


def is_list(placeholder):
    return "," in placeholder or placeholder.endswith("LIST") or placeholder == "SCALE"


def seen(done, out):
    """What a run printed and wrote, without times."""
    text = re.sub(r"[\d.]+ (ms|s|µs|ns|MB|kB)\b", "", done.stdout.replace(out, "OUT") + done.stderr.replace(out, "OUT"))
    files = {}
    for path, _, names in os.walk(out):
        for name in names:
            file = os.path.join(path, name)
            if name.endswith((".json", ".html")) or name == "transforms.csv":
                with open(file, encoding="utf-8") as opened:
                    title = re.search("<title>.*?</title>", opened.read())
                files[file.replace(out, "OUT")] = title.group() if title else "there"
            else:
                with open(file, "rb") as opened:
                    files[file.replace(out, "OUT")] = hashlib.sha256(opened.read()).hexdigest()
    return text, files


a_set = "A..B,C"  # numbers and ranges of which none counts twice
failures, runs, commands = [], 0, set()
for mode, words in modes.items():
    command = words[0]
    base = run(words, "base")
    if base.returncode != 0 and mode != "calibrate, check":
        failures.append(f"{mode}: {' '.join(words)}: {base.stderr}")
        continue
    expected = seen(base, "base")
    given = {word.split("=")[0].lstrip("-") for word in words if word.startswith("--")} | {"help", "output"}
    given -= {"output"} if "-o" not in words else set()
    first_mode = command not in commands
    commands.add(command)

    def is_refused_value(option, value, names_option):
        done = run([*words, f"--{option}={value}"], "base")
        return done.returncode == 2 and f"--{option}" in done.stderr if names_option else done.returncode != 0

    for option, placeholder in options_of(command).items():
        if first_mode and option != "help":
            names = ("FILE", "OUT", "DIR", "TEXT", "COMMAND", "FOLDER")
            some = values.get(f"{command} {option}", values.get(option)) or "1"
            wrong = [""]
            some = some.lstrip("=")
            if not placeholder:
                wrong += ["maybe", "1", "True"]
            elif placeholder not in names:
                wrong += [some + ",", "," + some, some + ",," + some]
            runs += len(wrong)
            failures += [f"{command} --{option}={value} is accepted" for value in wrong
                         if not is_refused_value(option, value, not value or not placeholder or is_list(placeholder))]
        value = values.get(f"{command} {option}", values.get(option))
        if option in given and option not in refused.get(mode, ()):
            continue
        if value is None and option not in refused.get(mode, ()):
            assert option in values or f"{command} {option}" in values, f"{command} --{option} has no value in this test"
            continue
        value = value if value is not None else "OUT/x"
        extra = [f"--{option}"] if not value else [f"--{option}{value}"] if value[0] == "=" else [f"--{option}", value]
        done = run(words + extra, "base")
        runs += 1
        is_refused = done.returncode == 2 and f"--{option}" in done.stderr
        what = f"{mode}: {' '.join(extra)}"
        if option in refused.get(mode, ()):
            if not is_refused or done.returncode != 2:
                failures.append(f"{what} is not refused: {done.returncode} {done.stderr}")
            continue
        exempt = option in unseen | same and mode in only_in.get(option, modes)
        seen_now = seen(done, "base")
        if not is_refused and done.returncode == 0 and not exempt and seen_now == expected:
            failures.append(f"{what} has no effect")
        if option in neutral:
            again = run([*words, f"--{option}", neutral[option]], "base")
            if again.returncode == 0 and seen(again, "base") == expected:
                failures.append(f"{mode}: --{option} {neutral[option]} has no effect")
        is_scale = option == "sigma"  # which may be equal along two axes
        if is_list(placeholder) and not is_refused and done.returncode == 0 and placeholder != a_set and not is_scale:
            again = run([*words, f"--{option}", value.split(",")[0] + "," + value], "base")
            runs += 1
            if again.returncode == 0 and seen(again, "base") == seen_now:
                failures.append(f"{what}: a repeated value has no effect")
for failure in failures:
    print("FAILED:", failure)
print(f"{runs} runs")
sys.exit(bool(failures))
