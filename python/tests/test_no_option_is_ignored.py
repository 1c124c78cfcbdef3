# SPDX-License-Identifier: BSD-3-Clause
"""Every keyword of every function changes what the function returns or writes, or is refused by its name.

Each keyword is given alone, with a value that is valid but not the default, for each kind of input.
"""
import hashlib
import inspect
import json
import os
import pathlib
import shutil
import typing
import warnings

import numpy as np
import pytest

import sextant
from sextant import _core

random = np.random.default_rng(1)
IMAGE = random.choice([0, 0, 0, 0, 0, 5, 9], (40, 48)).astype("u1")
VOLUME = random.choice([0, 0, 0, 0, 5, 9], (4, 20, 24)).astype("u1")
BRIGHT = random.random(VOLUME.shape).astype("f4")
FLOATS = random.random((40, 48))
LABELS = ((np.arange(24) + np.zeros((4, 20, 1), int) + np.arange(4)[:, None, None]) // 6).astype("i4")
DIRECTIONS = np.full((10, 10), -1, "i1")
DIRECTIONS[2, 2:4] = DIRECTIONS[5, 1:7] = 0
DIRECTIONS[2, 4] = DIRECTIONS[5, 7] = -2
IMAGES = random.random((4, 12, 16, 4)).astype("f4")
IMAGES[..., :3] *= IMAGES[..., 3:]
MOVIE = sextant.synthesize(frames=4, width=64, height=64, dose=50, specimen="carbon")[0]
FOUND = sextant.register(MOVIE, ranks=1)
SPECTRA = np.stack([MOVIE, MOVIE + 1], axis=-1).astype("u2")
POINTS = np.array([[0, 3, 4], [1, 5, 6.]])
BLOCKS = [(LABELS, (0, 0, 0)), (LABELS, (0, 0, 20))]
ROOT = pathlib.Path(__file__).parents[2]
MACHINE = str(ROOT / "machines" / "das.json")


class Concatenation:
    """An operator that is not commutative, and counts how often it is applied."""

    def __init__(self):
        self.applied = []

    def __call__(self, left, right):
        self.applied.append((left, right))
        return left + right


# Functions, and modes in which they are called: the function, arguments, keywords.
MODES = {
    "label": (sextant.label, [IMAGE], {}),
    "label, ranks": (sextant.label, [IMAGE], {"ranks": 2}),
    "label, grid": (sextant.label, [IMAGE], {"grid": (2, 1)}),
    "label, pattern": (sextant.label, [IMAGE], {"ranks": 2, "pattern": "2-lev-rc"}),
    "label, volume": (sextant.label, [VOLUME], {}),
    "label, row": (sextant.label, [IMAGE[0]], {}),
    "label, colours": (sextant.label, [np.stack([IMAGE, 9 - IMAGE, IMAGE], axis=-1)], {"channel_axis": -1}),
    "measure": (sextant.measure, [LABELS[0]], {}),
    "measure, volume": (sextant.measure, [LABELS], {}),
    "stitch": (sextant.stitch, [BLOCKS], {}),
    "stitch, volume": (sextant.stitch, [LABELS], {"block": (1, 0, 0)}),
    "filter": (sextant.filter, [IMAGE], {}),
    "filter, ranks": (sextant.filter, [IMAGE], {"ranks": 2}),
    "filter, f64": (sextant.filter, [FLOATS], {"ranks": 2}),
    "filter, p3pc": (sextant.filter, [IMAGE], {"kernel": "p3pc"}),
    "filter, volume": (sextant.filter, [VOLUME], {}),
    "features": (sextant.features, [IMAGE], {}),
    "features, volume": (sextant.features, [VOLUME], {}),
    "contours": (sextant.contours, [IMAGE], {}),
    "contours, ranks": (sextant.contours, [IMAGE], {"ranks": 2}),
    "contours, pattern": (sextant.contours, [IMAGE], {"ranks": 2, "pattern": "2-lev-rc"}),
    "contours, thresholds": (sextant.contours, [IMAGE], {"thresholds": (.1, .2)}),
    "contours, directions": (sextant.contours, [DIRECTIONS], {"directions": True}),
    "canny": (sextant.canny, [IMAGE], {}),
    "canny, ranks": (sextant.canny, [IMAGE], {"ranks": 2}),
    "canny, thresholds": (sextant.canny, [IMAGE], {"thresholds": (.1, .2)}),
    "composite": (sextant.composite, [IMAGES], {}),
    "composite, algorithm": (sextant.composite, [IMAGES], {"algorithm": "direct-send"}),
    "composite, plan": (sextant.composite, [IMAGES], {"plan": "plan.json"}),
    "scan": (sextant.scan, [list("abcdefgh")], {}),
    "scan, threads": (sextant.scan, [list("abcdefgh")], {"threads": 2}),
    "register": (sextant.register, [MOVIE], {}),
    "register, file": (sextant.register, ["movie.npy"], {}),
    "register, aligned": (sextant.register, [MOVIE], {"aligned": True}),
    "register, checkpoint": (sextant.register, [MOVIE], {"checkpoint": "out/checkpoint"}),
    "apply": (sextant.apply, [FOUND, MOVIE], {}),
    "apply, f64": (sextant.apply, [FOUND, MOVIE.astype("f8")], {}),
    "apply, file": (sextant.apply, [FOUND, "movie.npy"], {}),
    "apply, image": (sextant.apply, [FOUND, MOVIE[1]], {"frame": 1}),
    "apply, points": (sextant.apply, [FOUND, POINTS], {}),
    "apply, spectra": (sextant.apply, [FOUND, SPECTRA], {"axes": "TYXE"}),
    "apply, sum": (sextant.apply, [FOUND, MOVIE], {"sum": True}),
    "synthesize": (sextant.synthesize, [], {"frames": 2, "width": 32, "height": 32}),
    "synthesize, one frame": (sextant.synthesize, [], {"frames": 1, "width": 32, "height": 32}),
    "synthesize, carbon": (sextant.synthesize, [],
                           {"frames": 2, "width": 32, "height": 32, "specimen": "carbon"}),
    "synthesize, image": (sextant.synthesize, [],
                          {"frames": 2, "width": 32, "height": 32, "image": "gain.npy"}),
    "open_series": (sextant.open_series, ["movie.npy"], {}),
    "open_series, hyperstack": (sextant.open_series, ["hyperstack.npy"], {"axes": "TCZYX"}),
    "info": (sextant.info, ["movie.npy"], {}),
    "explain": (sextant.explain, ["composite"], {}),
    "explain, filter": (sextant.explain, ["filter"], {"machine": "das"}),
    "explain, scan": (sextant.explain, ["scan"], {}),
    "explain, collective": (sextant.explain, ["collective"], {"kind": "reduce"}),
    "explain, scatter": (sextant.explain, ["collective"], {"kind": "scatter"}),
    "explain, label": (sextant.explain, ["label"], {}),
    "explain, contours": (sextant.explain, ["contours"], {}),
    "explain, apply": (sextant.explain, ["apply"], {}),
    "explain, register": (sextant.explain, ["register"], {}),
    "simulate": (sextant.simulate, ["compositing"],
                 {"platform": "crossbar-12-calibrated", "clock": True}),
    "calibrate, check": (sextant.calibrate, [], {"check": MACHINE}),
}

# A value of each keyword, by function if it differs.
VALUES = {
    "algorithm": "radix-k", "radices": 2, "window": 1, "sparse": "on", "interlace": "on", "operator": "max",
    "order": [3, 2, 1, 0], "background": "#808080", "association": "by-arrival", "threads": 2,
    "machine": MACHINE,
    "probe": "now", "plan": "plan.json", "reproducible": True, "ranks": 3, "shared_memory": "on", "root": 1,
    "density": .1,
    "frames": 3, "fragments": 3, "sigma": 3, "derivatives": "x", "kernel": "p3pc", "truncate": 1,
    "before": "smooth@1", "border": "mirror", "border_value": 7, "memory": "64M", "grid": (1, 2),
    "distribute": "broadcast",
    "neighbours": "4", "by_value": True, "measure": True, "fill_holes": True, "min_size": 3,
    "keep_largest": 1, "columns": "all",
    "pattern": "2-lev-rc", "timeline": True, "block": (1, 0, 0), "size": (4, 20, 45), "allow_gaps": True,
    "by": "voxels",
    "threshold": .9, "quantiles": (.3, .4), "thresholds": (1, 2), "directions": True, "min_length": 4,
    "simplify": 1,
    "scratch": "out/", "model": "translation", "reference": 2, "stages": 3, "recorded_mean": True,
    "thread_work": "frames",
    "checkpoint": "out/new", "restart": True, "prefilter": 2., "farthest": 1, "tolerance": .1,
    "min_registered": .9,
    "average": "weighted",
    "despike": "off", "flatten": "on", "static": "off", "contrast": "same", "canvas": "union", "scan_rows": "on",
    "rotation": 20,
    "dark": np.ones((64, 64), "f4"), "gain": 2 - random.random((64, 64)), "defects": np.eye(64, dtype="u1"),
    "mask": np.eye(64, dtype="u1") == 0, "roi": (8, 8, 48, 48), "max_shift": 30,
    "bidirectional": 2,
    "aligned": True, "copy": False, "channel": 0, "slice": 0, "time": 0, "axes": "ZYX",
    "allow_external": True,
    "frame": 0, "channel_axis": -1, "exclusive": True, "capacity": 999, "strategy": "reduce-then-scan",
    "k": 2,
    "gives_last": False, "trace": True, "boundaries": "fixed", "time_limit": 9., "names_elements": True,
    "commutative_samples": 2, "from_reference": True, "sum": True, "dtype": "f8", "check": True,
    "features": "laplacian",
    "specimen": "particles", "image": "gain.npy", "width": 40, "height": 40, "dose": 7, "period": 9,
    "amorphous": .5,
    "detail": 3, "drift_x": 2, "drift_y": 2, "random_step": 2, "random_rotation": 2, "warp": 1,
    "warp_length": 30,
    "blanks": 1, "jumps": (1, 2, 3), "seed": 9, "budget": "1s", "ci": "5%", "launches": 2, "append": True,
    "output": "out/profile",
    "transport": "threads", "launcher": "mpirun -n 3", "distributed": True, "all": True,
    "ranks_per_node": 2, "values": 9, "cores": 3, "times": "constant", "speedup": (1, 2), "depth": 9,
    "gamma": .5,
    "alpha": .5, "elements": 77, "element_size": 4, "platform": "mesh-8x8x4", "send_overhead": .1,
    "receive_overhead": .1,
    "blend_rate": 9, "clock": False,
    "filter derivatives": "xx", "label intensity": BRIGHT, "measure intensity": BRIGHT,
    "explain size": (99, 77),
    "explain radices": (2, 4), "simulate radices": (2, 4), "explain ranks": 4, "simulate ranks": 4,
    "explain model": "p3pc",
    "explain element": "u8", "simulate interlace": 4, "simulate trace": "out/trace.json",
    "simulate order": str(ROOT / "platforms" / "orders" / "blocks-8x8x4.txt"), "explain machine": MACHINE,
    "simulate machine": str(ROOT / "machines" / "blue-gene-p.json"), "scan algorithm": "sklansky",
    "apply by": "shift", "apply axes": "TYX", "apply zarr": 2, "calibrate check": "das",
    "register frames": "0,1,2", "synthesize frames": 3, "synthesize rotation": 3, "synthesize contrast": .1,
    "open_series axes": "ZYX", "explain threads": 2, "stitch by": "voxels", "apply frame": 1,
    "explain operator": "nearest", "explain kind": "gather", "explain count": 77, "explain frames": 9,
    "explain by": "cubic", "explain root": 1, "explain operator_seconds": 1e-3, "explain element_size": 8,
    "explain transport": "threads", "simulate algorithm": "shift-based", "explain memory": "1M",
}

# Keywords that need not change a result on these inputs, and why.
SPEED, LIMIT, PROMISE, DATA = ("they concern the speed", "limits, which are kept here",
                               "they state what is allowed, or how results are to be reproduced",
                               "their effect depends on the data")
UNSEEN = {
    **dict.fromkeys(("threads", "thread_work", "association", "boundaries", "sparse", "interlace",
                     "shared_memory", "probe", "density"), SPEED),
    # These return arrays without a record, which would state them.
    **dict.fromkeys(("measure ranks", "features ranks", "features grid", "canny ranks", "canny grid",
                     "canny pattern", "canny machine", "dask.label grid", "dask.filter grid",
                     "scan strategy"), SPEED),
    **dict.fromkeys(("memory", "time_limit", "checkpoint", "restart"), LIMIT),
    **dict.fromkeys(("copy", "allow_external", "reproducible", "check"), PROMISE),
    **dict.fromkeys(("tolerance", "min_registered", "despike", "flatten", "static", "contrast", "rotation", "max_shift", "allow_gaps", "threshold",
                     "fill_holes", "dtype", "frame", "channel", "slice", "time", "axes", "neighbours",
                     "progress", "label, colours min_size", "label, colours keep_largest",
                     "label, volume columns", "measure, volume columns"), DATA),
}

# Keywords that have no effect, by mode: they must be refused.
TILES = {"pattern", "machine", "probe", "timeline"}
POINTS = {"out", "axes", "by", "sum", "dtype", "memory", "frame", "channel", "slice"}
FILTER = {"machine", "distribute", "probe", "border_value"}
IGNORED = {
    "label": TILES | {"intensity", "columns"}, "label, row": TILES | {"intensity"},
    "label, pattern": {"machine", "probe"}, "label, volume": TILES | {"grid", "intensity"},
    "filter": FILTER, "filter, volume": FILTER, "features": FILTER, "filter, p3pc": FILTER | {"truncate"},
    "filter, ranks": {"border_value"},
    "contours": TILES | {"scratch"}, "contours, ranks": {"timeline", "scratch"},
    "contours, pattern": {"machine", "probe"}, "contours, thresholds": {"quantiles"},
    "contours, directions": {"sigma", "quantiles", "thresholds"},
    "canny": {"pattern", "machine", "probe"}, "canny, thresholds": {"quantiles"},
    "composite": {"root", "fragments", "frames", "trace"}, "composite, algorithm": {"machine", "probe", "radices"},
    "composite, plan": {"algorithm", "radices", "window", "sparse", "interlace", "density", "machine", "probe"},
    "scan": {"capacity", "strategy", "algorithm", "k", "gives_last", "association", "boundaries", "trace",
             "names_elements", "commutative_samples"},
    "scan, threads": {"capacity", "algorithm", "k", "gives_last", "association"},
    "register": {"restart", "channel", "slice", "thread_work"}, "register, file": {"restart", "thread_work"},
    "register, aligned": {"thread_work"}, "register, checkpoint": {"thread_work"}, "stitch, volume": {"allow_gaps"},
    "synthesize, one frame": {"drift_x", "drift_y", "rotation", "random_step", "random_rotation", "warp", "jumps"},
    "apply": {"channel", "slice", "from_reference", "zarr"},
    "apply, image": {"channel", "slice", "from_reference", "zarr"},
    "apply, points": POINTS | {"zarr"}, "apply, spectra": {"channel", "slice", "from_reference", "zarr"},
    "dask.label": {"measure", "timeline"},
    "explain": {"all", "values", "sigma"}, "explain, scan": {"all", "ranks", "memory"},
    "explain, filter": {"memory", "density"},
    "calibrate, check": {"output", "budget", "ci", "launches", "append", "transport", "launcher"},
}
#: Options of the command whose files functions return instead, and the format of images, which are its arguments.
RETURNED = {"json", "report", "output", "truth", "element"}
#: Keywords that errors describe in other words.
WORDS = {"channel_axis": "channels", "directions": "a direction", "size": "no block contains the voxels", "image": "the image",
         "blanks": "blank at frame"}


def flat(value, path=""):
    """What can be seen of a result: the values of its parts by their paths."""
    if type(value).__module__.startswith("dask"):
        value = np.asarray(value)
    if isinstance(value, np.ndarray):
        yield path, (value.shape, str(value.dtype), hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest())
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from flat(part, f"{path}/{key}")
    elif isinstance(value, (list, tuple)):
        yield path, len(value)
        for number, part in enumerate(value):
            yield from flat(part, f"{path}/{number}")
    elif isinstance(value, sextant.Series):
        yield from flat(np.asarray(value), path)
    elif type(value).__module__.startswith("sextant"):
        for name in dir(value):
            part = None if name.startswith("_") or name in dir(np.ndarray) else getattr(value, name)
            if not callable(part):
                yield from flat(part, f"{path}/{name}")
    else:
        yield path, repr(value)


def call(function, arguments, keywords):
    """The result of a call, and everything that can be seen of it."""
    shutil.rmtree("out", ignore_errors=True)
    os.mkdir("out")
    shown, operator = [], Concatenation()
    if keywords.get("progress"):
        keywords = {**keywords, "progress": lambda part, done, all: shown.append(part)}
    if function is sextant.scan:
        arguments = [*arguments, operator]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*arguments, **keywords)
    found = dict(flat(result))
    found["warnings"] = [str(each.message) for each in caught]
    found["progress"] = bool(shown)
    found["applied"] = sorted(operator.applied)
    found["files"] = sorted(str(path) for path in pathlib.Path("out").rglob("*") if path.is_file())
    out = keywords.get("out")
    found["written"] = out is not None and not (out == 777).all()
    return result, found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The working folder, with the files that calls read."""
    path, before = tmp_path_factory.mktemp("options"), os.getcwd()
    os.chdir(path)
    np.save("movie.npy", MOVIE)
    np.save("hyperstack.npy", np.arange(2 * 2 * 3 * 16 * 20, dtype="u2").reshape(2, 2, 3, 16, 20))
    np.save("gain.npy", 2 - random.random((64, 64)).astype("f4"))
    with open("plan.json", "w") as file:
        json.dump(sextant.composite(IMAGES, algorithm="direct-send").record["plan"], file)
    yield path
    os.chdir(before)


def keywords_of(function):
    """The keywords of a function, and the declared options that it does not offer."""
    parameters = inspect.signature(function).parameters
    names = [name for name, each in parameters.items() if each.default is not each.empty]
    declared = dict(_core.declared_options())
    declared.update((name, fields) for name, fields in _core.declared_commands().items()
                    if name in ("calibrate", "explain", "simulate", "synthesize"))
    hidden = [each["name"] for each in declared.get(function.__name__, []) if each["name"] not in parameters]
    return names + [name for name in hidden if name not in RETURNED]


def value_of(function, name, result):
    """A value of a keyword that is valid, but not its default."""
    if name != "out":
        return True if name == "progress" else VALUES.get(f"{function.__name__} {name}", VALUES.get(name))
    array = result.aligned if isinstance(result, sextant.Registration) else result
    array = array[0] if isinstance(array, tuple) else next(iter(array.values())) if type(array) is dict else array
    array = np.asarray(MOVIE if array is None else array)
    if function is sextant.features:
        array = np.stack([array] * 5)
    dtype = {"i": "i8", "u": "u8"}.get(array.dtype.kind, "f8") if function is not sextant.composite else array.dtype
    return np.full(array.shape, 777, dtype)


def modes():
    found = dict(MODES)
    try:
        import dask.array
    except ImportError:
        return found
    lazy = dask.array.from_array(IMAGE, chunks=16)
    found["dask.label"] = (sextant.dask.label, [lazy], {})
    found["dask.filter"] = (sextant.dask.filter, [lazy], {})
    return found


@pytest.mark.parametrize("mode", modes())
def test_every_keyword_has_an_effect_or_is_refused(mode, folder):
    function, arguments, keywords = modes()[mode]
    ignored = IGNORED.get(mode, set())
    result, expected, again = None, {}, {}
    if mode != "calibrate, check":  # the measurement takes minutes
        result, expected = call(function, arguments, keywords)
        again = call(function, arguments, keywords)[1]
    stable = [name for name in expected if expected[name] == again.get(name)]  # no times
    names = [name for name in keywords_of(function) if name not in keywords and name not in ("comm", "what")]
    assert ignored <= set(names), ignored - set(names)
    failures = []
    for name in names if expected else ignored:
        value = value_of(function, name, result)
        assert value is not None, f"{name} has no value in this test"
        try:
            found = call(function, arguments, {**keywords, name: value})[1]
        except sextant.Error as error:
            if name not in str(error) and WORDS.get(name, name) not in str(error):
                failures.append(f"{name}: the error does not name it: {error}")
            continue
        if name in ignored:
            failures.append(f"{name} is not refused")
        elif (not {name, f"{function.__name__} {name}", f"{mode} {name}"} & set(UNSEEN) and
              all(found.get(each) == expected[each] for each in stable)):
            failures.append(f"{name} has no effect")
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("mode", modes())
def test_lists_of_numbers_may_be_arrays(mode, folder):
    function, arguments, keywords = modes()[mode]
    for name in keywords_of(function):
        value = value_of(function, name, None) if name != "out" else None
        if name in keywords or not isinstance(value, (tuple, list)):
            continue
        outcomes = []
        for each in value, np.array(value):
            try:
                outcomes.append(call(function, arguments, {**keywords, name: each})[0])
            except sextant.Error as error:
                outcomes.append((type(error), name in str(error)))
        assert type(outcomes[0]) is type(outcomes[1]), (name, outcomes)
        if isinstance(outcomes[0], tuple) and isinstance(outcomes[0][0], type):
            assert outcomes[0] == outcomes[1], (name, outcomes)


def test_all_functions_are_called():
    functions = {name for name in sextant.__all__ if inspect.isfunction(getattr(sextant, name))}
    assert functions == {function.__name__ for function, _, _ in MODES.values()}


@pytest.mark.parametrize("mode", modes())
def test_true_or_false_is_not_any_text(mode, folder):
    function, arguments, keywords = modes()[mode]
    arguments = [*arguments, Concatenation()] if function is sextant.scan else arguments
    for name, parameter in inspect.signature(function).parameters.items():
        if isinstance(parameter.default, bool) or parameter.annotation in (bool, typing.Optional[bool]):
            for value in ("yes", "", 1, 0):
                with pytest.raises(sextant.InvalidTask, match=f"^{name} is .*expected True or False"):
                    function(*arguments, **{**keywords, name: value})
