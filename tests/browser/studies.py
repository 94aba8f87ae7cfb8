#!/usr/bin/env python3
"""The pages of whatif, diff, live, check: the numbers of `--format json`, both runs on one axis, what was asked for.

    studies.py BINARY
"""

import json
import pathlib
import sys
import tempfile

from checks import Checks, need_browser, run
from chromium import Chromium
from simulate import check_quiet

SUITE = {"schema": "debubble.suite/1", "name": "pages", "scenarios": [
    {"name": "<b>today</b>", "scenario": {"schedule": "1f1b", "devices": 4, "microbatches": 8}}]}


def figures(page):
    """The rows of the first table: name to first and second number."""
    rows = page.evaluate("[...document.querySelectorAll('table')[0].querySelectorAll('tbody tr')].map(r => "
                         "[r.cells[0].textContent, ...[...r.querySelectorAll('[data-key]')].map(c => +c.dataset.value)])")
    return {name: numbers for name, *numbers in rows}


def check_whatif(checks, browser, binary, folder):
    job = ("whatif", "-p", 4, "-m", 8, "--slow", "device=2:1.25", "--slow", "device=1:1.1")
    path = folder / "whatif.html"
    run(binary, *job, "--html", path)
    result = json.loads(run(binary, *job, "--format", "json"))
    with browser.open(path) as page:
        shown = figures(page)
        for what, key in (("step time", "makespan_ns"), ("bubble / step", "bubble_ratio")):
            before, after = result["base"][key], result["changed"][key]
            checks.equal(what, shown[what], [before, after, after - before])
        stragglers = sum(device["idle_by_cause_ns"]["straggler"] for device in result["changed"]["devices"])
        checks.equal("stragglers", shown["idle, all devices: straggler"][1], stragglers)
        checks.equal("labels", page.evaluate("debubblePair.charts.map(c => c.run.header.label)"), ["base", "changed"])
        checks.true("each change alone", page.evaluate("document.body.textContent.includes('Each change alone')"))
        check_quiet(checks, page)


def check_diff(checks, browser, binary, folder):
    runs = [folder / "predicted.json", folder / "measured.json"]
    run(binary, "simulate", "-p", 4, "-m", 8, "--save-run", runs[0])
    run(binary, "simulate", "-p", 4, "-m", 8, "--slow", "device=2:1.2", "--save-run", runs[1])
    path = folder / "diff.html"
    run(binary, "diff", *runs, "--html", path)
    result = json.loads(run(binary, "diff", *runs, "--format", "json"))
    with browser.open(path) as page:
        page.settle()
        step = result["makespan_ns"]
        checks.equal("step", figures(page)["step"], [step["predicted"], step["measured"], step["gap"]])
        text = page.evaluate("document.body.textContent")
        for part in result["gap_parts"]:
            checks.true(f"the page tells: {part['text']}", part["gap_ns"] == 0 or part["text"] in text)
        first = result["first_divergence"]
        checks.true("the first difference is told", first["text"] in text)
        marked = page.evaluate("[...document.querySelectorAll('.panel')].map(p => p.dataset.op)")
        checks.equal("and marked in both", marked, [f"{first['op']} on d{first['device']}"] * 2)
        check_quiet(checks, page)


def check_live(checks, browser, binary, folder):
    path = folder / "live.html"
    run(binary, "live", "-p", 2, "-m", 4, "--clock", "logical", "--html", path)
    with browser.open(path) as page:
        checks.equal("ops of the live run", page.evaluate("debubbleChart.run.spans.table.rows"), 16)
        checks.true("its assumptions", page.evaluate("document.querySelectorAll('.source').length") > 3)
        check_quiet(checks, page)


def check_gate(checks, browser, binary, folder):
    suite = folder / "pages.suite.json"
    suite.write_text(json.dumps(SUITE))
    path = folder / "check.html"
    run(binary, "check", "--accept", suite)
    run(binary, "check", suite, "--html", path)
    with browser.open(path) as page:
        cells = page.evaluate("[...document.querySelector('tbody tr').cells].slice(0, 3).map(c => c.textContent)")
        checks.equal("the scenario, its name as it is", cells, ["<b>today</b>", "pass", "same"])
        check_quiet(checks, page)


def check_without_result(checks, browser, binary, folder):
    """A deadlock has a page, too: it says so, and has no chart."""
    path = folder / "stuck.html"
    run(binary, "simulate", "--schedule", "zb-v", "--p2p", "coupled", "--html", path, status=1)
    with browser.open(path) as page:
        checks.equal("charts", page.evaluate("document.querySelectorAll('canvas').length"), 0)
        checks.true("the finding is told", page.evaluate("document.querySelectorAll('.findings li.error').length") > 0)
        check_quiet(checks, page)


def main():
    need_browser()
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder, Chromium() as browser:
        for check in (check_whatif, check_diff, check_live, check_gate, check_without_result):
            check(checks, browser, sys.argv[1], pathlib.Path(folder))
    return checks.status()


if __name__ == "__main__":
    sys.exit(main())
