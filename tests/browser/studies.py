#!/usr/bin/env python3
"""The pages of whatif, diff, live, plan, check, accuracy: the numbers of `--format json`, both runs on one axis, what was asked for.

    studies.py BINARY
"""

import json
import pathlib
import re
import sys
import tempfile

from checks import ROOT, Checks, need_browser, run
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


def rows_of(page, key):
    return page.evaluate(f"[...document.querySelectorAll('table')[0].querySelectorAll('[data-key={key}]')].map(c => +c.dataset.value)")


def check_heat_map(checks, page):
    """A cell without a run says why: illegal, too large or not simulated; the signs are told to screen readers, too."""
    cells = page.evaluate("[...document.querySelectorAll('.heat tbody td')].map(c => c.textContent)")
    checks.true(f"the heat map has runs: {cells}", any(t.endswith("s") for t in cells))
    signs = {"illegal": "\u00d7", "too large": "\u25b2", "not simulated": "\u00b7"}
    known = {sign + words for words, sign in signs.items()}
    checks.equal("every other cell says how it stands", [t for t in cells if not t.endswith("s") and t not in known], [])
    titles = page.evaluate("[...document.querySelectorAll('.heat td.none')].map(c => c.className + '|' + c.title)")
    for one in titles:
        name, title = one.split("|")
        counts = dict((what, int(many)) for many, what in re.findall(r"(\d+) (fit|illegal|too large|not simulated)", title))
        wanted = "open" if "not simulated" in counts else "large" if "too large" in counts else "illegal"
        checks.equal(f"the sign of {title}", name.split()[1], wanted)
        checks.true(f"no run of a cell without one: {title}", "fit" not in counts)
    checks.true("some are illegal, as 4 tensor ranks of 4 stages are on 4 GPUs", any("none illegal" in t for t in titles))
    checks.true("some were not simulated", any("none open" in t for t in titles))
    legend = page.evaluate("[...document.querySelectorAll('.heat-legend li')].map(c => c.textContent)")
    checks.equal("the legend", [one.split(":")[0] for one in legend], [f"{signs[k]} {k}" for k in signs])


def check_plan(checks, browser, binary, folder):
    job = ("plan", "--model", "gpt-1.3b", "--gpus", 4, "--global-batch", 32)
    path = folder / "plan.html"
    run(binary, *job, "--html", path)
    result = json.loads(run(binary, *job, "--format", "json"))
    with browser.open(path) as page:
        for key in ("makespan_ns", "peak_memory_bytes", "mfu"):
            checks.equal(f"{key} of the runs", rows_of(page, key), [one[key] for one in result["runs"]])
        checks.true("the best is marked", page.evaluate("document.querySelectorAll('.point.marked').length") == 1)
        check_heat_map(checks, page)
        checks.true("the best, op by op", page.evaluate("debubbleChart.run.makespan") > 0)
        check_quiet(checks, page)


def check_accuracy(checks, browser, binary, folder):
    job = ("accuracy", "--records", ROOT / "traces/published/results.json", "--source", "sc21,bloom")
    path = folder / "accuracy.html"
    run(binary, *job, "--html", path)
    result = json.loads(run(binary, *job, "--format", "json"))
    with browser.open(path) as page:
        wanted = [one["mean_absolute_error"] for source in result["sources"] for one in source["without_constants"]]
        checks.equal("errors by source", rows_of(page, "mean_absolute_error"), wanted)
        figures_shown = page.evaluate("document.querySelectorAll('table')[1].querySelectorAll('tbody tr').length")
        compared = [one for source in result["sources"] for record in source["records"] for one in record["comparisons"]]
        checks.equal("figures", figures_shown, len(compared))
        times = [one for one in compared if one["quantity"] == "step_time"]
        checks.equal("points", page.evaluate("document.querySelectorAll('.point').length"), len(times))
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
        for check in (check_whatif, check_diff, check_live, check_plan, check_gate, check_accuracy, check_without_result):
            check(checks, browser, sys.argv[1], pathlib.Path(folder))
    return checks.status()


if __name__ == "__main__":
    sys.exit(main())
