# SPDX-License-Identifier: BSD-3-Clause
"""Type hints and the file of options are current; calls leak nothing."""
import copy
import gc
import importlib.util
import inspect
import os
import pathlib
import pickle
import resource
import shutil
import subprocess
import sys

import numpy as np
import pytest

import sextant

PACKAGE = pathlib.Path(sextant.__file__).parent
SOURCE = pathlib.Path(__file__).parent.parent


def test_the_keywords_are_those_declared_in_cpp():
    spec = importlib.util.spec_from_file_location("generate", SOURCE / "generate_options.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    text = subprocess.run([sys.executable, SOURCE / "generate_options.py", "/dev/stdout", PACKAGE.parent],
                          check=True, capture_output=True, text=True).stdout
    assert (PACKAGE / "_options.py").read_text(encoding="utf-8") == text, (
        "run generate_options.py: options have changed")


def test_every_public_name_is_documented():
    assert (PACKAGE / "py.typed").exists()
    for name in sextant.__all__:
        item = getattr(sextant, name)
        assert item.__doc__, name
        if callable(item) and not isinstance(item, type):
            assert "Examples\n" in item.__doc__ and "{options}" not in item.__doc__, name
    assert "neighbours : {" in sextant.label.__doc__


FUNCTIONS = {name: getattr(sextant, name) for name in sextant.__all__
             if callable(getattr(sextant, name)) and not isinstance(getattr(sextant, name), type)}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signatures_list_all_options(name):
    signature = inspect.signature(FUNCTIONS[name])
    for each in signature.parameters.values():
        assert each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
        assert f"{each.name}" in FUNCTIONS[name].__doc__
        assert not isinstance(each.annotation, str)


def test_the_limits_of_border_value_are_documented():
    for function in sextant.filter, sextant.features:
        assert "-1e30 to 1e30" in function.__doc__
    image = np.ones((8, 8), "f8")
    for value in -1e30, 1e30:
        sextant.filter(image, border="constant", border_value=value)
        with pytest.raises(sextant.InvalidTask, match="border_value"):
            sextant.filter(image, border="constant", border_value=1.01 * value)


def test_options_have_their_defaults_in_signatures():
    parameters = inspect.signature(sextant.label).parameters
    assert parameters["memory"].default == "1G" and parameters["grid"].default is None
    assert inspect.signature(sextant.contours).parameters["quantiles"].default == (.8, .95)
    image = np.random.default_rng(1).normal(size=(40, 50))
    for function in (sextant.filter, sextant.label, sextant.contours, sextant.register):
        given = {name: each.default for name, each in inspect.signature(function).parameters.items()
                 if each.kind == each.KEYWORD_ONLY and name not in ("border_value", "checkpoint")}
        data = np.stack([image, image]) if function is sextant.register else image
        assert repr(function(data, **given)) == repr(function(data))




@pytest.mark.skipif(not shutil.which("mypy"), reason="mypy is not installed")
def test_mypy_accepts_the_package_and_a_program(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""
import numpy as np
import sextant

labels: sextant.Labels = sextant.label(np.zeros((3, 3)), neighbours=4, measure=True)
count: int = labels.components
volume = np.zeros((5, 6, 7), "u4")
large = sextant.label(volume, neighbours=26, min_size=9, measure=True, intensity=volume)
table: np.ndarray = sextant.measure(volume, volume, memory="64M")
whole: sextant.Stitched = sextant.stitch([(volume, (0, 0, 0))], by="voxels", size=(9, 9, 9))
smooth: sextant.Filtered = sextant.filter(volume, sigma=(2, 1, 1), grid=(1, 1, 2))
found = sextant.register("movie.mrc", model="affine", stages=3)
motions: np.ndarray = found.motions
plan: sextant.Plan = sextant.explain("composite", ranks=4)
""")
    wrong = tmp_path / "wrong.py"
    wrong.write_text("""
import numpy as np
import sextant
sextant.label(np.zeros((3, 3)), neighbour=4)
sextant.register("movie.mrc", model="stiff")
sextant.filter(np.zeros((3, 3)), sigma="wide")
sextant.stitch([], by="dice")
""")
    base = [shutil.which("mypy"), "--config-file", SOURCE / "mypy.ini", "--cache-dir",
            tmp_path / "cache", "--python-executable", sys.executable]
    environment = dict(os.environ, MYPYPATH=str(PACKAGE.parent))
    # Optional packages have type hints, or have none, or are not installed.
    hints = tmp_path / "hints"
    for name in ("tqdm/auto.pyi", "matplotlib/pyplot.pyi", "hyperspy/signals.pyi"):
        (hints / name).parent.mkdir(parents=True)
        (hints / name).write_text("class tqdm: ...\nclass BaseSignal: ...\ndef subplots() -> None: ...\n")
        (hints / name).with_name("__init__.pyi").touch()
    for path in (str(PACKAGE.parent), f"{PACKAGE.parent}:{hints}"):
        good = subprocess.run([*base, "-p", "sextant"], capture_output=True, text=True, cwd=tmp_path,
                              env=dict(environment, MYPYPATH=path))
        assert good.returncode == 0, good.stdout
    assert not [path for path in PACKAGE.glob("*.py") if "ignore[import" in path.read_text()]
    good = subprocess.run([*base, program],
                          capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert good.returncode == 0, good.stdout
    bad = subprocess.run([*base, wrong], capture_output=True, text=True, env=environment,
                         cwd=tmp_path)
    assert bad.stdout.count("error:") >= 4, bad.stdout


IMAGE = np.zeros((32, 40), "f4")
IMAGE[8:20, 10:30] = 1
VOLUME = np.stack([IMAGE] * 4)
LABELS = VOLUME.astype("i4")


@pytest.mark.parametrize("result", [
    lambda: sextant.label(IMAGE, measure=True), lambda: sextant.filter(IMAGE),
    lambda: sextant.label(VOLUME, measure=True),
    lambda: sextant.stitch(sextant.label(IMAGE), block=(8, 8)),
    lambda: sextant.contours(IMAGE), lambda: sextant.composite(np.ones((2, 4, 4, 4), "f4")),
    lambda: sextant.explain(machine="das"), lambda: sextant.label(IMAGE).plan])
def test_results_can_be_pickled_and_copied(result):
    result = result()
    for copied in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert repr(copied) == repr(result)
        assert getattr(copied, "record", None) == getattr(result, "record", None)
        assert copied._repr_html_() == result._repr_html_()


def test_series_can_be_pickled(tmp_path):
    np.save(tmp_path / "movie.npy", np.stack([IMAGE, 2 * IMAGE]))
    series = sextant.open_series(tmp_path / "movie.npy")
    for copied in (pickle.loads(pickle.dumps(series)), copy.copy(series)):
        np.testing.assert_array_equal(copied[1], series[1])
    found = pickle.loads(pickle.dumps(sextant.info(tmp_path / "movie.npy")))
    assert (found.frames, found.pixel_size) == (2, None)


def test_functions_run_in_a_pool_of_processes(run_script):
    done = run_script("""
import multiprocessing
import numpy as np
import sextant
with multiprocessing.Pool(2) as pool:
    found = pool.map(sextant.label, [np.eye(8), np.zeros((4, 4))])
print([each.components for each in found], found[0].labels.max())
""")
    assert done.stdout.split() == ["[1,", "0]", "1"]


def test_names_of_the_module():
    names = dir(sextant)
    assert set(sextant.__all__) < set(names) and {"dask", "hyperspy"} < set(names)
    assert not {"images", "machine", "series", "registration", "scanning"} & set(names)
    with pytest.raises(AttributeError, match="no attribute 'lable'"):
        sextant.lable


def test_submodules_are_imported_when_they_are_used(run_script):
    done = run_script("""
import sys
import sextant
print("sextant.dask" in sys.modules, sextant.dask.label.__name__, sextant.hyperspy.align2D.__name__)
from sextant import dask
print(dask is sextant.dask)
""")
    assert done.stdout.split() == ["False", "label", "align2D", "True"]


def failing():
    try:
        sextant.label(np.zeros((4, 4)), neighbour=1)
    except sextant.Error:
        pass


MOVIE = np.random.default_rng(0).normal(size=(2, 16, 16)).astype("f4")


@pytest.mark.parametrize("call, count", [
    (lambda: sextant.label(np.eye(8), measure=True), 10_000),
    (lambda: sextant.label(np.eye(8), ranks=2), 1000),
    (lambda: sextant.filter(np.eye(16)).record, 2000),
    (lambda: sextant.measure(np.eye(8, dtype=int)), 10_000),
    (lambda: sextant.contours(np.eye(16)), 1000),
    (lambda: sextant.composite(np.zeros((2, 4, 4, 4), "f4")), 1000),
    (lambda: sextant.scan([np.zeros(10), np.zeros(10)], np.add, threads=2), 1000),
    (failing, 10_000),
    (lambda: sextant.label(VOLUME, measure=True, intensity=VOLUME), 2000),
    (lambda: sextant.filter(VOLUME, (2, 1, 1), derivatives="z", ranks=1), 500),
    (lambda: sextant.stitch(LABELS, block=(1, 0, 0)), 1000),
])
def test_calls_leak_nothing(call, count):
    # CPython keeps the names of attributes looked up last, by address: some rounds grow by less
    # than a block per call until all addresses have been seen. A leak shows in every round.
    grown = []
    for _ in range(6):
        blocks = sys.getallocatedblocks()
        for _ in range(200):
            call()
        gc.collect()
        grown.append(sys.getallocatedblocks() - blocks)
    assert min(grown) < 100, grown
    rss = resident()
    for _ in range(count):
        call()
    assert resident() - rss < 8 << 20


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
