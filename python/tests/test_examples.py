# SPDX-License-Identifier: BSD-3-Clause
"""The examples of all docstrings and of docs/python.md run."""
import doctest
import importlib
import pathlib
import re

import pytest

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "python.md"
MODULES = ["sextant", "sextant.compositing", "sextant.images", "sextant.machine",
           "sextant.registration", "sextant.scanning", "sextant.series",
           "sextant.stitching"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_state(name):
    module = importlib.import_module(name)
    failed, tried = doctest.testmod(module)
    assert tried > 0
    assert failed == 0


BLOCKS = re.findall(r"^```\{(?:run|not-run)\} python[^\n]*\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_examples_of_the_page_run(number, run_script):
    block = BLOCKS[number]
    for package in set(re.findall(r"^(?:import|from) (\w+)", block, re.M)) - {"sextant"}:
        pytest.importorskip(package)
    run_script(block)
