#!/usr/bin/env python3
"""Every page in both themes for people who do not see it, or not well: names of what can be operated, a table behind each
chart, and axe-core without a serious finding where it is installed (npm ci in tools/report).

    accessible.py BINARY
"""

import json
import os
import pathlib
import sys
import tempfile

from checks import ROOT, Checks, need_browser, run
from chromium import Chromium

AXE = ROOT / "tools" / "report" / "node_modules" / "axe-core" / "axe.min.js"
OPERATED = {"button", "checkbox", "textbox", "searchbox", "combobox", "application", "link", "img"}


def check_names(checks, page):
    page.call("Accessibility.enable")
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    for node in nodes:
        role = node.get("role", {}).get("value")
        if node.get("ignored") or role not in OPERATED:
            continue
        checks.true(f"{page.path.name}: a {role} has a name", bool(node.get("name", {}).get("value")))
    page.call("Accessibility.disable")
    levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3')].map(h => +h.tagName[1])")
    checks.true(f"{page.path.name}: headings step by one: {levels}",
                levels[0] == 1 and all(b - a <= 1 for a, b in zip(levels, levels[1:])))
    tables = page.evaluate("[...document.querySelectorAll('table')].filter(t => !t.caption).length")
    checks.equal(f"{page.path.name}: tables without a caption", tables, 0)


def check_axe(checks, page, theme):
    page.evaluate(AXE.read_text())
    findings = page.evaluate("axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v => "
                             "[v.impact, v.id, v.nodes.slice(0, 3).map(n => n.html.slice(0, 120) + n.failureSummary)]))")
    for impact, rule, nodes in findings:
        if impact in ("serious", "critical"):
            checks.true(f"{page.path.name}, {theme}: {rule}: {json.dumps(nodes)}", False)
        else:
            print(f"{page.path.name}, {theme}: {impact}: {rule}")
    checks.done += 1


def main():
    need_browser()
    binary = sys.argv[1]
    jobs = {"run": ("simulate", "--schedule", "zb-v", "-p", 4, "-m", 8, "--comm", "0.1"),
            "whatif": ("whatif", "-p", 4, "-m", 8, "--slow", "device=1:1.5"),
            "plan": ("plan", "--model", "gpt-1.3b", "--gpus", 4, "--global-batch", 32),
            "compare": ("compare", "-p", 4, "-m", 8, "--schedules", "gpipe,1f1b,zb-h1,interleaved")}
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder, Chromium() as browser:
        for name, job in jobs.items():
            path = pathlib.Path(folder) / f"{name}.html"
            run(binary, *job, "--html", path)
            for theme in ("light", "dark"):
                with browser.open(path, dark=theme == "dark") as page:
                    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
                    page.evaluate("document.querySelectorAll('input[type=checkbox]').forEach(box => box.click())")
                    page.settle()
                    check_names(checks, page)
                    if AXE.exists():
                        check_axe(checks, page, theme)
    status = checks.status()
    if status == 0 and not AXE.exists():
        where = "; tools/test tried npm ci, which takes npm and its registry" if os.environ.get("CI") else ": npm ci in tools/report"
        print(f"without axe-core, which is not installed{where}")
    return status


if __name__ == "__main__":
    sys.exit(main())
