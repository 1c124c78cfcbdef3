# SPDX-License-Identifier: BSD-3-Clause
"""The examples of all docstrings run and print what they state."""
import doctest
import importlib

import pytest

MODULES = ["sextant", "sextant.compositing", "sextant.images", "sextant.machine",
           "sextant.registration", "sextant.scanning", "sextant.series"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_state(name):
    module = importlib.import_module(name)
    failed, tried = doctest.testmod(module)
    assert tried > 0
    assert failed == 0
