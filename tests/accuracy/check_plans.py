#!/usr/bin/env python3
"""docs/plans-against-published.md is what `debubble accuracy --plans` prints, and no layout that fits beats its plan.

    tests/accuracy/check_plans.py --binary build/ci/bin/debubble [--source alpa] [--update]

Without --source those of the page, which takes minutes. --update writes the page, or the part of one source.
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "plans-against-published.md"
RECORDS = ROOT / "traces" / "published" / "results.json"


SOURCES = ["korthikanti", "sc21", "simumax-b200", "mlperf-gpt3", "alpa"]


def printed(binary, *arguments):
    command = [binary, "accuracy", "--plans", "--records", RECORDS, *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode()


def parts_of(page):
    """Introduction with the head of its table, rows of the table, sections: the last two by source."""
    introduction, *sections = re.split(r"(?m)^(?=## )", page)
    lines = introduction.rstrip("\n").split("\n")
    head = next(k for k, line in enumerate(lines) if line.startswith("|---")) + 1
    rows = {line.split(" | ")[0].strip("| "): line for line in lines[head:]}
    return lines[:head], rows, {section.split("\n")[0][3:]: section.rstrip("\n") for section in sections}


def beaten_plans(section):
    """Layouts that could not be simulated, and those that fit and are faster than their plan."""
    for line in section.split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 6 or cells[0] == "record" or cells[0].startswith("-"):
            continue
        record, simulated, plan = cells[0], cells[3], cells[5]
        if not re.match(r"[0-9.]+ [mu]?s", simulated):
            yield f"{record}: {simulated}"
        elif "lacks" not in simulated and float(plan) > 1:
            yield f"{record} is faster than the plan"


def update(binary, names):
    """What the page has of other sources stays."""
    _, rows, sections = parts_of(PAGE.read_text(encoding="utf-8")) if PAGE.exists() else ([], {}, {})
    for name in names:
        head, new_rows, new_sections = parts_of(printed(binary, "--source", name, "--format", "markdown"))
        rows[name], sections[name] = new_rows[name], new_sections[name]
    lines = [*head, *(rows[name] for name in SOURCES if name in rows)]
    text = "\n\n".join(["\n".join(lines), *(sections[name] for name in SOURCES if name in sections)])
    PAGE.write_text(text + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--source", action="append", default=[])
    parser.add_argument("--update", action="store_true")
    flags = parser.parse_args()
    names = flags.source or SOURCES
    if flags.update:
        update(flags.binary, names)
        return 0
    wanted_head, wanted_rows, wanted_sections = parts_of(PAGE.read_text(encoding="utf-8"))
    problems = []
    if list(wanted_sections) != SOURCES:
        problems.append(f"the page has the sources {list(wanted_sections)} instead of {SOURCES}")
    for name in names:
        head, rows, sections = parts_of(printed(flags.binary, "--source", name, "--format", "markdown"))
        same = head == wanted_head and rows[name] == wanted_rows.get(name) and sections[name] == wanted_sections.get(name)
        if not same:
            problems.append(f"{PAGE.name} does not say of {name} what the binary prints: run this with --update")
        problems += beaten_plans(sections[name])
    for problem in problems:
        print(problem)
    print(f"{len(names)} sources, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
