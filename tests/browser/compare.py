#!/usr/bin/env python3
"""`compare --html` as people see it: every run in a table that sorts, the Pareto front, two runs on one time axis.

    compare.py BINARY
"""

import json
import pathlib
import sys
import tempfile

from checks import Checks, need_browser, run
from chromium import Chromium
from simulate import check_quiet

JOB = ("compare", "-p", 4, "-m", 8)


def names_in(page):
    return page.evaluate("[...document.querySelectorAll('table')[0].querySelectorAll('tbody th')].map(c => c.textContent)")


def label(run_of_json):
    schedule = run_of_json["schedule"]
    return schedule["name"] + (f" v={schedule['chunks']}" if schedule["chunks"] > 1 else "")


def check_table(checks, page, runs):
    checks.equal("rows", names_in(page), [label(one) for one in runs])
    rows = page.evaluate("[...document.querySelectorAll('table')[0].querySelectorAll('tbody tr')].map(r => "
                         "Object.fromEntries([...r.querySelectorAll('[data-key]')].map(c => [c.dataset.key, +c.dataset.value])))")
    for shown, one in zip(rows, runs):
        for key in ("makespan_ns", "bubble_ratio", "bubble_over_ideal", "weight_copies", "p2p_messages"):
            checks.equal(f"{key} of {label(one)}", shown[key], one[key])
        peak = max(device["peak_memory_bytes"] for device in one["devices"])
        checks.equal(f"peak memory of {label(one)}", shown["peak_memory_bytes"], peak)
    page.evaluate("[...document.querySelectorAll('.sort')].find(b => b.textContent === 'peak memory').click()")
    peaks = {label(one): max(device["peak_memory_bytes"] for device in one["devices"]) for one in runs}
    sorted_peaks = [peaks[name] for name in names_in(page)]
    checks.equal("sorted by memory", sorted_peaks, sorted(peaks.values()))


def check_front(checks, page, runs):
    """Squares are the runs that no other beats in time and memory."""
    points = [(one["makespan_ns"], max(d["peak_memory_bytes"] for d in one["devices"]), label(one)) for one in runs
              if not any(found["severity"] == "error" for found in one["findings"])]
    front = set()
    lowest = float("inf")
    for _, memory, name in sorted(points, key=lambda point: point[:2]):
        if memory < lowest:
            front.add(name)
            lowest = memory
    shown = page.evaluate("[...document.querySelectorAll('.point.front title')].map(t => t.textContent.split(':')[0])")
    checks.equal("the front", set(shown), front)
    checks.equal("points", page.evaluate("document.querySelectorAll('.point').length"), len(runs))


def check_pair(checks, page):
    spans = "[debubblePair.charts[0].window === debubblePair.charts[1].window, debubblePair.charts[1].run.header.label]"
    checks.equal("both on one axis, beside 1f1b", page.evaluate(spans), [True, "1f1b"])
    wanted = page.evaluate("debubblePair.charts[0].run.makespan < debubblePair.charts[1].run.makespan")
    checks.true("the best first", wanted)
    page.evaluate("(() => { const s = document.querySelectorAll('select')[1]; s.value = '2'; s.dispatchEvent(new Event('change')); })()")
    page.settle()
    checks.equal("another is chosen", page.evaluate("document.querySelectorAll('select')[1].selectedIndex"), 2)
    page.evaluate("document.querySelectorAll('.point')[0].dispatchEvent(new MouseEvent('click'))")
    page.settle()
    checks.true("canvases", page.evaluate("[...document.querySelectorAll('canvas')].every(c => c.width > 300)"))


def check_other_work(checks, browser, binary, folder):
    """Runs of different work: no front, and nothing is called the fastest."""
    path = pathlib.Path(folder) / "stages.html"
    run(binary, "compare", "-p", 4, "-m", 8, "--equal", "stages", "--schedules", "1f1b,interleaved,zb-v", "--html", path)
    with browser.open(path) as page:
        checks.equal("points", page.evaluate("document.querySelectorAll('.point').length"), 3)
        checks.equal("front", page.evaluate("document.querySelectorAll('.front, .frontline').length"), 0)
        checks.true("no row is the fastest", "over the fastest" not in page.evaluate("document.querySelector('thead').textContent"))
        check_quiet(checks, page)


def main():
    need_browser()
    binary = sys.argv[1]
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder, Chromium() as browser:
        path = pathlib.Path(folder) / "compare.html"
        text = run(binary, *JOB, "--html", path)
        runs = [one for one in json.loads(run(binary, *JOB, "--format", "json"))["runs"] if "makespan_ns" in one]
        with browser.open(path) as page:
            page.settle()
            check_table(checks, page, runs)
            check_front(checks, page, runs)
            check_pair(checks, page)
            answer = page.evaluate("document.querySelector('dl').textContent")
            checks.true("the answer is there", answer.startswith("best" + text.split("best", 1)[1].split()[0]))
            check_quiet(checks, page)
        check_other_work(checks, browser, binary, folder)
        for width in (360, 2560):
            with browser.open(path, width, 900) as page:
                checks.true(f"no sideways scrolling at {width}", page.evaluate("document.documentElement.scrollWidth") <= width)
                check_quiet(checks, page)
    return checks.status()


if __name__ == "__main__":
    sys.exit(main())
