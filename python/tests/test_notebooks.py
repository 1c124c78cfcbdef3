# SPDX-License-Identifier: BSD-3-Clause
"""The notebooks run from top to bottom."""
import os
import pathlib
import sys

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

HEAD = pathlib.Path("/usr/share/mricron/templates/ch2.nii.gz")
NOTEBOOKS = pathlib.Path(__file__).parent.parent / "notebooks"


@pytest.mark.parametrize("name", sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")))
def test_a_notebook_runs(name, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    if name == "align_a_4d_scan":
        pytest.importorskip("hyperspy.api")
        pytest.importorskip("zarr")
    if name == "parts_of_a_head":
        pytest.importorskip("nibabel")
        if not HEAD.exists():
            pytest.skip("mricron-data is not installed")
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3",
                            resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("text/html" in output.get("data", {}) for output in shown)
