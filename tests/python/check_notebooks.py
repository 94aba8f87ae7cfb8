#!/usr/bin/env python3
"""The notebooks of python/examples run from top to bottom and show what they show in the tree.

Usage: check_notebooks.py BINARY            compares text that was printed or returned, and whether there is a figure
       check_notebooks.py BINARY --update   writes the outputs anew

Cells are run by this program, which takes no Jupyter; where nbclient and ipykernel are installed (apt-get install
python3-nbclient python3-ipykernel), by a kernel as well.
"""

import ast
import contextlib
import importlib.util
import io
import json
import os
import pathlib
import subprocess
import sys

from support import run_checks

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "python" / "examples").glob("*.ipynb"))


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run_cell(source, names):
    """The outputs of a cell, as a notebook stores them."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    out, value = io.StringIO(), None
    with contextlib.redirect_stdout(out):
        exec(compile(tree, "<cell>", "exec"), names)  # noqa: S102: the notebook's own text
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)  # noqa: S307
    outputs = []
    if out.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": out.getvalue().splitlines(keepends=True)})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_().splitlines(keepends=True)
        outputs.append({"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return outputs


def run_notebook(notebook):
    names = {"__name__": "__main__"}
    for number, cell in enumerate(code_cells(notebook), 1):
        cell["outputs"] = run_cell("".join(cell["source"]), names)
        cell["execution_count"] = number
        for output in cell["outputs"]:
            if "execution_count" in output:
                output["execution_count"] = number


def as_text(value):
    return value if isinstance(value, str) else "".join(value)


def told(cell):
    """What a cell's outputs say: (printed, returned, has it a figure)."""
    printed, returned, figure = "", "", False
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            printed += as_text(output["text"])
        elif "data" in output:
            returned += as_text(output["data"].get("text/plain", ""))
            figure = figure or "<svg" in as_text(output["data"].get("text/html", ""))
        else:
            raise AssertionError(f"a cell ended in {output}")
    return printed, returned, figure


def require_same(path, stored, run):
    for number, (old, new) in enumerate(zip(code_cells(stored), code_cells(run), strict=True), 1):
        assert told(old) == told(new), f"{path.name}, cell {number}: {told(old)} in the tree, {told(new)} now"


def check_outputs():
    cells = figures = 0
    for path in NOTEBOOKS:
        stored, run = json.loads(path.read_text()), json.loads(path.read_text())
        run_notebook(run)
        require_same(path, stored, run)
        cells += len(code_cells(run))
        figures += sum(told(cell)[2] for cell in code_cells(run))
    assert len(NOTEBOOKS) >= 3 and figures >= 3, (NOTEBOOKS, figures)
    return f"{len(NOTEBOOKS)} notebooks, {cells} cells, {figures} figures"


def check_in_jupyter():
    if any(importlib.util.find_spec(name) is None for name in ("nbclient", "nbformat", "ipykernel")):
        return "not done: there is no nbclient with ipykernel"
    # A process of its own, without -X dev: Debian 13's pyzmq reads memory that it has freed, and Python's debugging shows it.
    run = subprocess.run([sys.executable, __file__, sys.argv[1], "--in-jupyter"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout.strip()


def run_in_jupyter():
    import warnings

    warnings.simplefilter("ignore")
    import nbclient
    import nbformat

    for path in NOTEBOOKS:
        notebook = nbformat.read(path, as_version=4)
        nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3",
                                resources={"metadata": {"path": str(ROOT)}}).execute()
        require_same(path, json.loads(path.read_text()), notebook)
    return f"{len(NOTEBOOKS)} notebooks in a kernel"


def check_format():
    """As Jupyter writes them, so that opening one changes nothing."""
    for path in NOTEBOOKS:
        assert path.read_text() == written(json.loads(path.read_text())), path.name


def written(notebook):
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    os.chdir(ROOT)
    if "--update" in sys.argv:
        for path in NOTEBOOKS:
            notebook = json.loads(path.read_text())
            run_notebook(notebook)
            path.write_text(written(notebook))
        sys.exit(0)
    if "--in-jupyter" in sys.argv:
        print(run_in_jupyter())
        sys.exit(0)
    run_checks(globals())
