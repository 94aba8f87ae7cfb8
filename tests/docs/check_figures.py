#!/usr/bin/env python3
"""Holds the figures in docs to what is drawn: README's docs/figures/1f1b.svg, and docs/figures/examples, which the commands
in docs/figures.md make. There are no others. Every schedule of the catalog is drawn, too, for its size.

    check_figures.py --binary PATH             fails with the names that differ
    check_figures.py --binary PATH --update    writes them
"""

import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
FIGURES = DOCS / "figures"
EXAMPLES = FIGURES / "examples"
README_FIGURE = FIGURES / "1f1b.svg"
TIMEOUT_S = 120
LARGEST = 40_000  # bytes, of one


def output_of(command, folder=None):
    return subprocess.run(command, check=True, timeout=TIMEOUT_S, capture_output=True, cwd=folder).stdout


def of_schedules(binary):
    """{path: SVG} of the catalog."""
    names = [row["name"] for row in json.loads(output_of([binary, "list", "schedules", "--format", "json"]))["schedules"]]
    command = [binary, "export", "--to", "svg", "--width", "600px", "-p", "4", "-m", "8", "--schedule"]
    return {FIGURES / f"{name}.svg": output_of([*command, name]) for name in names}


def of_examples(binary):
    """{path: SVG} of the commands in docs/figures.md whose last word is a file."""
    made = {}
    with tempfile.TemporaryDirectory() as folder:
        for block in re.findall(r"```text\n(.*?)```", (DOCS / "figures.md").read_text(encoding="utf-8"), re.DOTALL):
            for line in block.replace("\\\n", " ").splitlines():
                words = shlex.split(line)
                if words[:1] != ["debubble"] or not words[-1].endswith(".svg"):
                    continue
                output_of([binary, *words[1:]], folder)
                made[EXAMPLES / words[-1]] = (pathlib.Path(folder) / words[-1]).read_bytes()
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    drawn = of_schedules(options.binary.resolve())
    made = {**of_examples(options.binary.resolve()), README_FIGURE: drawn[README_FIGURE]}
    there = {path: path.read_bytes() for path in FIGURES.rglob("*.svg")}
    large = [path.name for path, text in {**drawn, **made}.items() if len(text) > LARGEST]
    if large:
        print(f"too large: {', '.join(large)}")
        return 1
    wrong = sorted(path for path in {*made, *there} if made.get(path) != there.get(path))
    if not options.update:
        print(f"{len(made)} figures, {len(drawn)} schedules drawn")
        for path in wrong:
            print(f"{path.relative_to(DOCS)} is not what is drawn")
        if wrong:
            print("to accept: tests/docs/check_figures.py --update --binary PATH")
        return 1 if wrong else 0
    EXAMPLES.mkdir(parents=True, exist_ok=True)
    for path in wrong:
        if path in made:
            path.write_bytes(made[path])
        else:
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
