"""A notebook run through a real kernel: each result appears once, and prints as in a terminal."""

from __future__ import annotations

import json
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

import bulkedge

pytestmark = pytest.mark.notebook

CELLS = (
    "import bulkedge; law = bulkedge.mp('1/2')",
    "law",
    "str(law) == TEXT",
    "print(law)",
    "law.edges[1]",
    "bulkedge.gamma('relu', 'tanh(z)', n=200, m=100, d=50, step=1)",
    "law.figure()",
    "bulkedge.check(['H4'])",
    "bulkedge.mp(-1)",
)


# In a process of its own: what the client leaves open at its end is no business of other tests.
PROGRAM = """
import json, sys
import nbformat
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

class Here(KernelSpecManager):  # the one kernel is this interpreter, whatever is registered on the machine
    def get_kernel_spec(self, kernel_name):
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=command, display_name="here", language="python")

cells = [nbformat.v4.new_code_cell(source) for source in json.load(sys.stdin)]
notebook = nbformat.v4.new_notebook(cells=cells)
manager = AsyncKernelManager(kernel_name="here", kernel_spec_manager=Here())
NotebookClient(notebook, km=manager, timeout=120, allow_errors=True).execute()
print(json.dumps([[cell.source, cell.outputs] for cell in notebook.cells]))
"""


@pytest.fixture(scope="module")
def outputs() -> dict[str, list[Any]]:
    """What a kernel of this interpreter answers, cell by cell."""
    cells = [f"TEXT = {str(bulkedge.mp('1/2'))!r}", *CELLS]
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM]
    done = subprocess.run(command, input=json.dumps(cells), capture_output=True, text=True, check=True)
    answered = json.loads(done.stdout.splitlines()[-1], object_hook=lambda d: SimpleNamespace(**d) if _plain(d) else d)
    return dict(answered)


def _plain(found: dict[str, Any]) -> bool:
    """Whether the keys are names: an output, not its data by type."""
    return all(key.isidentifier() for key in found)


def test_a_result_appears_once_as_formula_and_table(outputs: dict[str, list[Any]]) -> None:
    for source in (CELLS[1], CELLS[5], CELLS[7]):
        (shown,) = outputs[source]
        assert shown.output_type == "execute_result"
        assert "<table>" in shown.data["text/html"]
        assert shown.data["text/latex"].startswith("$\\displaystyle")
    assert outputs[CELLS[1]][0].data["text/plain"] == str(bulkedge.mp("1/2"))
    assert "<math" in outputs[CELLS[1]][0].data["text/html"]


def test_text_is_what_the_terminal_prints(outputs: dict[str, list[Any]]) -> None:
    assert outputs[CELLS[2]][0].data["text/plain"] == "True"
    (printed,) = outputs[CELLS[3]]
    assert (printed.output_type, printed.name) == ("stream", "stdout")
    assert printed.text == str(bulkedge.mp("1/2")) + "\n"


def test_numbers_and_figures_show_themselves(outputs: dict[str, list[Any]]) -> None:
    (number,) = outputs[CELLS[4]]
    assert number.data["text/latex"] == bulkedge.mp("1/2").edges[1]._repr_latex_()
    (figure,) = outputs[CELLS[6]]
    assert {"image/png", "image/svg+xml"} & set(figure.data)


def test_a_mistake_is_one_line_and_its_remedy(outputs: dict[str, list[Any]]) -> None:
    (error,) = outputs[CELLS[8]]
    assert error.ename == "InputError"
    assert error.evalue.startswith("ratio: ")
