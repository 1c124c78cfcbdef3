# SPDX-License-Identifier: BSD-3-Clause
"""Series and images that several tests use."""
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from scipy import ndimage


@pytest.fixture(scope="session")
def specimen():
    """A smooth random image, larger than the frames that are cut from it."""
    rng = np.random.default_rng(7)
    image = ndimage.gaussian_filter(rng.normal(size=(320, 320)), 2)
    return image / image.std()


def cut(specimen, motions, size=128, noise=0.3, seed=0):
    """Frames that show the specimen moved by these motions (tx, ty), with noise."""
    rng = np.random.default_rng(seed)
    frames = []
    for tx, ty in motions:
        moved = ndimage.shift(specimen, (ty, tx), order=3, mode="reflect")
        frames.append(moved[64:64 + size, 64:64 + size])
    stack = np.stack(frames)
    return (stack + noise * rng.normal(size=stack.shape)).astype("f4")


def write_transforms(folder, motions, shape, left_out=()):
    """Writes a file of rigid motions (alpha, tx, ty) of frames of this shape, and returns its path."""
    path = pathlib.Path(folder, "transforms.json")
    frames = [{"frame": i, "left_out": "dark"} if i in left_out else
              {"frame": i, "alpha": alpha, "tx": tx, "ty": ty} for i, (alpha, tx, ty) in enumerate(motions)]
    path.write_text(json.dumps({"kind": "sextant transforms", "version": 1, "series": "", "model": "rigid",
                                "reference": 0, "height": shape[0], "width": shape[1], "frames": frames}))
    return path


@pytest.fixture(scope="session")
def motions():
    """The true motions (tx, ty) of the frames of `movie`."""
    rng = np.random.default_rng(3)
    steps = rng.normal(scale=1.5, size=(8, 2))
    steps[0] = 0
    return np.cumsum(steps, axis=0)


@pytest.fixture(scope="session")
def movie(specimen, motions):
    """A series of eight frames, float32."""
    return cut(specimen, motions)


@pytest.fixture(scope="session")
def blobs():
    """A binary image with many components, uint8."""
    rng = np.random.default_rng(11)
    return (ndimage.gaussian_filter(rng.normal(size=(301, 407)), 2) > 0.05).astype("u1")


@pytest.fixture
def run_script(tmp_path):
    """Runs a Python program in a process of its own, with arguments before the interpreter."""
    def run(text, *launcher, timeout=120, check=True, **options):
        script = tmp_path / "script.py"
        script.write_text(text)
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1",
                           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", SEXTANT_PROBE="off",
                           PYTHONPATH=os.pathsep.join(path for path in sys.path if path))
        done = subprocess.run([*launcher, sys.executable, str(script)], env=environment,
                              capture_output=True, text=True, timeout=timeout, **options)
        if check:
            assert done.returncode == 0, done.stdout + done.stderr
        return done
    return run


@pytest.fixture(scope="session")
def program():
    """The command `sextant` of the same build."""
    import sextant
    folder = os.path.dirname(os.path.dirname(os.path.dirname(sextant.__file__)))
    path = os.path.join(folder, "sextant")
    if not os.path.exists(path):
        pytest.skip("the command sextant is not next to the module")
    return path
