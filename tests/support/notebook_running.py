"""Notebooks, run by a kernel of their own, without a network and without traces in the home.

`python notebook_running.py FILE` runs a notebook in place. `run_notebook` does that in a process of
its own: the sockets of Jupyter's client are not closed before it ends, which tests would refuse.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from processes import environment

SECONDS = 300  # of a cell, on the busiest machine


def run_notebook(notebook: Any, folder: Path) -> Any:
    """The notebook with its outputs; a cell that fails is an error that shows it."""
    file = folder / "notebook.ipynb"
    nbformat.write(notebook, file)
    own = {name: str(folder / name) for name in ("IPYTHONDIR", "MPLCONFIGDIR")}
    own |= {f"JUPYTER_{name}_DIR": str(folder / name) for name in ("CONFIG", "RUNTIME")}
    done = subprocess.run(
        [sys.executable, __file__, str(file)],
        capture_output=True,
        text=True,
        timeout=3 * SECONDS,
        check=False,
        env=environment(**own),
        cwd=folder,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return nbformat.read(file, as_version=4)


def main(file: str) -> None:
    notebook = nbformat.read(file, as_version=4)
    with tempfile.TemporaryDirectory() as sockets:  # whose paths must be short
        manager = KernelManager(kernel_name="python3", transport="ipc", ip=f"{sockets}/kernel")
        try:
            NotebookClient(notebook, km=manager, timeout=SECONDS).execute()
        finally:
            manager.shutdown_kernel(now=True)
    nbformat.write(notebook, file)


def notebook_of(*cells: str) -> Any:
    """A notebook of code."""
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in cells])


def outputs(notebook: Any, kind: str) -> list[Any]:
    """The outputs of a kind: stream, display_data, execute_result, error."""
    found = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return [output for output in found if output["output_type"] == kind]


if __name__ == "__main__":
    main(sys.argv[1])
