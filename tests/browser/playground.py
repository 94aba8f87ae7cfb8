#!/usr/bin/env python3
"""The playground as people see it: numbers of the command, sliders by keyboard, addresses, own tables, saved files, names
of anybody in them, both themes, widths, and how long a redraw takes.

    playground.py BINARY
"""

import functools
import http.server
import json
import statistics
import sys
import threading

from accessible import AXE, check_axe, check_names
from checks import Checks, need_browser, run
from chromium import Chromium, Page
from playground_build import need_playground

TIMES = ("--times", "f=1,i=1,w=1")
DRAWN = "Number(document.documentElement.dataset.drawings || 0)"
CIRCLE = "0F0,0B0,0F1,0B1\n1F1,1F0,1B0,1B1\n"


class Opened(Page):
    """A page of the playground, once its first drawing is there."""

    def __init__(self, browser, path, fragment="", width=1280, dark=False, url=None):
        super().__init__(browser, width, 900, dark)
        self.path = path
        self.own = url or path.resolve().as_uri()
        self.call("Page.navigate", url=self.own + fragment)
        self.wait_for("document.documentElement && document.documentElement.dataset.ready !== undefined")
        self.wait_for(f"{DRAWN} > 0")

    def after(self, action):
        """Does it, and waits until what changed is drawn."""
        before = self.evaluate(DRAWN)
        action()
        self.wait_for(f"{DRAWN} > {before}")
        self.settle()

    def quiet(self, checks, *own):
        complaints = [one for one in self.complaints()
                      if not one.startswith((f"requests {self.own}", *(f"requests {url}" for url in own)))]
        checks.equal(f"{self.path.name}: complaints and requests", complaints, [])


def click(page, text, scope="document"):
    page.evaluate(f"[...{scope}.querySelectorAll('button')].find(one => one.textContent === {json.dumps(text)}).click()")


def check_numbers(checks, binary, page):
    for column, name in (("first", "1f1b"), ("second", "zb-h1")):
        report = json.loads(run(binary, "simulate", "--schedule", name, "-p", 4, "-m", 8, *TIMES, "--format", "json"))
        shown = page.evaluate(f"[...document.querySelectorAll('[data-key={column}]')].map(one => Number(one.dataset.value))")
        checks.equal(f"step, ideal and bubbles of {name}", shown[:4],
                     [report[key] for key in ("makespan_ns", "ideal_ns", "bubble_ratio", "bubble_over_ideal")])
        checks.equal(f"messages of {name}", shown[5], report["p2p_messages"])
    checks.equal("ops of the first chart", page.evaluate("debubbleCharts[0].run.spans.table.rows"), 64)
    checks.equal("one time axis", page.evaluate("debubbleCharts[0].window === debubbleCharts[1].window"), True)


def check_sliders(checks, page):
    page.evaluate("document.querySelector('input[name=devices]').focus()")
    page.after(lambda: page.press("ArrowRight"))
    checks.equal("devices after a key", page.evaluate("debubbleCharts.map(one => one.run.devices)"), [5, 5])
    checks.equal("the address", page.evaluate("location.hash"), "#p=5")
    page.evaluate("document.querySelector('input[name=memory]').value = 3")
    page.after(lambda: page.evaluate(
        "document.querySelector('input[name=memory]').dispatchEvent(new Event('input', {bubbles: true}))"))
    checks.true("what does not fit is said", "out of memory" in page.evaluate("document.body.textContent"))


def check_cards(checks, binary, page):
    names = [one["name"] for one in json.loads(run(binary, "list", "schedules", "--format", "json"))["schedules"]]
    checks.equal("cards", page.evaluate("[...document.querySelectorAll('.card h3')].map(one => one.textContent)"), names)
    card = "[...document.querySelectorAll('.card')].find(one => one.querySelector('h3').textContent === 'zb-v')"
    page.after(lambda: click(page, "second", card))
    checks.equal("the second schedule", page.evaluate("document.querySelectorAll('.side select')[1].value"), "zb-v")
    checks.equal("its stages", page.evaluate("debubbleCharts[1].run.header.stages"), 10)
    click(page, "explain", card)
    page.wait_for("document.body.textContent.includes('What zb-v is')")
    checks.true("its explanation", "two chunks in a V" in page.evaluate("document.body.textContent"))


def type_table(page, text):
    page.after(lambda: page.evaluate(
        f"(() => {{ const t = document.querySelector('textarea'); t.value = {json.dumps(text)};"
        "t.dispatchEvent(new Event('input', {bubbles: true})); })()"))


def check_own_table(checks, page):
    page.after(lambda: click(page, "show as first"))
    checks.equal("devices of the table", page.evaluate("debubbleCharts[0].run.devices"), 2)
    type_table(page, CIRCLE)
    text = page.evaluate("document.querySelector('.half').textContent")
    checks.true(f"a deadlock: {text[:300]}", "the devices wait for each other: 0B0" in text)
    type_table(page, "0F0,0X0\n")
    text = page.evaluate("document.querySelector('.half').textContent")
    checks.true(f"a cell that is none: {text[:300]}", "error[" in text and "0X0" in text)
    page.after(lambda: click(page, "copy the second here"))
    checks.true("a schedule as a table", page.evaluate("document.querySelector('textarea').value").startswith("0F0,"))


def check_saved(checks, binary, page):
    page.evaluate("(() => { window.saved = []; URL.createObjectURL = (blob) => { saved.push(blob); return 'blob:x'; };"
                  "HTMLAnchorElement.prototype.click = function () { saved.push(this.download); }; })()")
    job = ("--schedule", "1f1b", "-p", 4, "-m", 8, *TIMES)
    wanted = {"SVG": ("1f1b.svg", ("export", "--to", "svg", "--width", "170mm", *job)),
              "trace": ("1f1b.trace.json", ("export", "--to", "chrome-trace", *job)),
              "JSON": ("1f1b.json", ("simulate", "--format", "json", *job)),
              "devices as CSV": ("1f1b.csv", ("simulate", "--format", "csv", *job)),
              "table for PyTorch": ("1f1b.schedule.csv", ("export", "--to", "pytorch-csv", *job))}
    for label, (name, words) in wanted.items():
        click(page, label)
        page.wait_for(f"saved.includes({json.dumps(name)})")
        text = page.evaluate(f"saved[saved.indexOf({json.dumps(name)}) - 1].text()")
        checks.true(f"{name} is the command's", text == run(binary, *words))


def check_foreign_text(checks, browser, path):
    markup = "%3Cimg src=x onerror=hit=1%3E"
    with Opened(browser, path, f"#p=0&m=nonsense&a=interleaved&a.group={markup}&b=own table&table={markup}") as page:
        text = page.evaluate("document.body.textContent")
        checks.true("refusals are shown", text.count("error[") >= 2)
        checks.equal("elements that names made", page.evaluate("document.querySelectorAll('img').length"), 0)
        checks.true("no script of a name ran", page.evaluate("window.hit === undefined"))
        page.quiet(checks)


def check_looks(checks, browser, path):
    for width in (360, 1280, 2560):
        with Opened(browser, path, width=width) as page:
            checks.true(f"no sideways scrolling at {width}", page.evaluate("document.documentElement.scrollWidth") <= width)
    for theme in ("light", "dark"):
        with Opened(browser, path, "#b=zb-v", dark=theme == "dark") as page:
            page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
            page.settle()
            check_names(checks, page)
            if AXE.exists():
                check_axe(checks, page, theme)


def check_speed(checks, browser, path):
    """Of 16 devices and 128 microbatches; printed, not judged."""
    with Opened(browser, path, "#p=16&m=128") as page:
        drawn, computed = [], []
        for k in range(30):
            page.after(lambda value=128 - k % 2: page.evaluate(
                f"(() => {{ const s = document.querySelector('input[name=microbatches]'); s.value = {value};"
                "s.dispatchEvent(new Event('input')); })()"))
            drawn.append(page.evaluate("Number(document.documentElement.dataset.redrawn)"))
            computed.append(page.evaluate("Number(document.documentElement.dataset.computed)"))
        checks.equal("microbatches", page.evaluate("debubbleCharts[0].run.spans.table.rows"), 16 * 2 * 127)
        late = slice(10, None)  # by then the browser has compiled what runs often
        print(f"p=16 m=128, two schedules: a change is drawn after {statistics.median(drawn[late]):.0f} ms, "
              f"{statistics.median(computed[late]):.0f} ms of it simulation; the quickest {min(drawn):.0f} ms")


def check_folder(checks, browser, folder):
    """From a web host, with nothing but the folder's own files asked for."""
    handler = functools.partial(type("Quiet", (http.server.SimpleHTTPRequestHandler,),
                                     {"log_message": lambda *_: None}), directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/"
        with Opened(browser, folder / "index.html", url=url) as page:
            checks.equal("charts of the folder's page", page.evaluate("debubbleCharts.length"), 2)
            page.quiet(checks)
        server.shutdown()


def main():
    need_browser()
    site = need_playground() / "site"
    binary = sys.argv[1]
    checks = Checks()
    with Chromium() as browser:
        path = site / "debubble-playground.html"
        with Opened(browser, path) as page:
            check_numbers(checks, binary, page)
            check_saved(checks, binary, page)
            page.quiet(checks)
        with Opened(browser, path) as page:
            check_sliders(checks, page)
            check_cards(checks, binary, page)
            check_own_table(checks, page)
            page.quiet(checks)
        check_foreign_text(checks, browser, path)
        check_looks(checks, browser, path)
        check_folder(checks, browser, site)
        check_speed(checks, browser, path)
    return checks.status()


if __name__ == "__main__":
    sys.exit(main())
