#!/usr/bin/env python3
"""How long a page takes to appear and to zoom, in processor time of its main thread: machines that do other things, too,
measure the same. Prints; judges only that it works.

    speed.py BINARY [--large]      with --large also 500,000 ops
"""

import pathlib
import sys
import tempfile

from checks import Checks, need_browser, run
from chromium import Chromium, Page
from simulate import check_quiet

JOBS = {100_000: (16, 3_125), 500_000: (8, 31_250)}
ZOOMS = 12


def metrics(page):
    found = {one["name"]: 1000 * one["value"] for one in page.call("Performance.getMetrics")["metrics"]}
    return found["ScriptDuration"], found["TaskDuration"]


def measure(checks, browser, binary, folder, ops):
    devices, microbatches = JOBS[ops]
    path = folder / f"{ops}.html"
    run(binary, "simulate", "-p", devices, "-m", microbatches, "--comm", "0.05", "--html", path)
    with Page(browser, 1600, 900) as page:
        page.call("Performance.enable", timeDomain="threadTicks")
        page.go(path)
        page.settle()
        script, task = metrics(page)
        page.evaluate(f"""(async () => {{ for (let k = 0; k < {ZOOMS}; ++k) {{
          debubbleChart.window.zoom(k % 2 ? 4 : 0.25, debubbleChart.run.makespan * 0.4);
          await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))); }} }})()""")
        zoomed, _ = metrics(page)
        drawn = page.evaluate("debubbleChart.run.spans.table.rows")
        checks.equal("ops in the page", drawn, 2 * devices * microbatches)
        check_quiet(checks, page)
    print(f"{drawn} ops: file {path.stat().st_size / 1e6:.1f} MB; first paint {task:.0f} ms, {script:.0f} ms of it script; "
          f"a zoom {(zoomed - script) / ZOOMS:.1f} ms of script")


def main():
    need_browser()
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder, Chromium() as browser:
        for ops in JOBS if "--large" in sys.argv else list(JOBS)[:1]:
            measure(checks, browser, sys.argv[1], pathlib.Path(folder), ops)
    return checks.status()


if __name__ == "__main__":
    sys.exit(main())
