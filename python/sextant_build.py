# SPDX-License-Identifier: BSD-3-Clause
"""Builds the wheel: CMake compiles the extensions, setuptools packs them.

    python3 -m build --wheel --no-isolation

The wheel contains Sextant's libraries, but not those of the distribution (MPI, TIFF, HDF5 ...), so
it is tagged linux_x86_64 and works only on the distribution on which it was built.
"""
import os
import pathlib
import shutil
import subprocess
import sys

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F401,F403
from setuptools.dist import Distribution

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "wheel"


def compile_package():
    """Installs the package and Sextant's libraries into build/wheel/package/sextant."""
    package = BUILD / "package"
    subprocess.run(
        ["cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
         "-DSEXTANT_PRECOMPILE=ON", "-DSEXTANT_PYTHON=ON", "-DSEXTANT_LAB=OFF",
         "-DSEXTANT_TESTS=OFF", "-DSEXTANT_BENCHMARKS=OFF", "-DSEXTANT_EXAMPLES=OFF",
         f"-DSEXTANT_PYTHON_EXECUTABLE={sys.executable}", f"-DCMAKE_INSTALL_PREFIX={package}/sextant",
         "-DCMAKE_INSTALL_LIBDIR=.", "-DCMAKE_INSTALL_DATADIR=share",
         "-DSEXTANT_PYTHON_RPATH=$ORIGIN"], check=True)
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count()))
    subprocess.run(["cmake", "--build", BUILD, "--target", "sextant_python_wheel", "-j", jobs],
                   check=True)
    shutil.rmtree(package, ignore_errors=True)
    subprocess.run(["cmake", "--install", BUILD, "--component", "python", "--strip"], check=True)
    for link in (package / "sextant").glob("*.so.*"):  # a wheel has no links
        if link.is_symlink():
            target = link.resolve()
            link.unlink()
            target.rename(link)


Distribution.has_ext_modules = lambda self: True  # the wheel is specific to a platform


def get_requires_for_build_wheel(config_settings=None):
    """Nothing but what pyproject.toml lists."""
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Compiles the package and packs the wheel."""
    os.chdir(ROOT)
    compile_package()
    os.chdir(BUILD)  # setuptools writes its own files here
    for name in ("pyproject.toml", "docs"):
        link = BUILD / name
        if not link.exists():
            link.symlink_to(ROOT / name)
    return build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)
