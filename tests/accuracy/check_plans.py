#!/usr/bin/env python3
"""docs/plans-against-published.md is what `debubble accuracy --plans` prints, and no layout that fits beats its plan.

    tests/accuracy/check_plans.py --binary build/ci/bin/debubble [--source mlperf-gpt3] [--update]

All sources take minutes, one source seconds to minutes. --update writes the page, of all sources.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "plans-against-published.md"
RECORDS = ROOT / "traces" / "published" / "results.json"


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


def sources_with_layouts():
    results = json.loads(RECORDS.read_text(encoding="utf-8"))
    flags = {source["name"]: source["flags"] for source in results["sources"]}
    with_model = {r["source"] for r in results["records"] if "model" in {**flags[r["source"]], **r["flags"]}}
    return [source["name"] for source in results["sources"] if source["name"] in with_model]


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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--source", action="append", default=[])
    parser.add_argument("--update", action="store_true")
    flags = parser.parse_args()
    if flags.update:
        PAGE.write_text(printed(flags.binary, "--format", "markdown"), encoding="utf-8")
        return 0
    names = flags.source or sources_with_layouts()
    wanted_head, wanted_rows, wanted_sections = parts_of(PAGE.read_text(encoding="utf-8"))
    problems = []
    if not flags.source and list(wanted_sections) != names:
        problems.append(f"the page has the sources {list(wanted_sections)}, the records {names}")
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
