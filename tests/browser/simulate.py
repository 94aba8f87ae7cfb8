#!/usr/bin/env python3
"""`simulate --html` as people see it: the numbers of `--format json`, ops where they are drawn, keys, widths, foreign text.

    simulate.py BINARY
"""

import json
import pathlib
import sys
import tempfile

from checks import Checks, need_browser, run
from chromium import Chromium

CHART = "document.querySelector('canvas')"


def check_quiet(checks, page):
    for complaint in page.complaints():
        checks.true(f"{page.path.name}: {complaint}", False)
    checks.done += 1


def value_at(report, key):
    """Of "devices' rows" the keys are dotted: idle_by_cause_ns.fill"""
    for part in key.split("."):
        report = report[part]
    return report


def check_numbers(checks, page, report):
    """Every number with a data-key is the JSON's."""
    boxes = page.evaluate("[...document.querySelectorAll('dl [data-key]')].map(b => [b.dataset.key, +b.dataset.value])")
    checks.true("there are boxes", len(boxes) >= 4)
    worst = max(report["devices"], key=lambda device: device["peak_memory_bytes"])
    for key, shown in boxes:
        source = worst if key == "peak_memory_bytes" else report.get("memory_fit") if key == "spare_bytes" else report
        checks.equal(key, shown, source[key])
    rows = page.evaluate("[...document.querySelectorAll('tbody tr')].map(r => [r.cells[0].textContent, "
                         "[...r.querySelectorAll('[data-key]')].map(c => [c.dataset.key, +c.dataset.value])])")
    cells = [(name, key, shown) for name, pairs in rows for key, shown in pairs]
    checks.true("there are cells for every device", len(cells) >= 4 * len(report["devices"]))
    for name, key, shown in cells:
        checks.equal(f"{key} of {name}", shown, value_at(report["devices"][int(name[1:])], key))
    assumed = page.evaluate("[...document.querySelectorAll('.source')].length")
    checks.equal("assumptions", assumed, len(report["assumptions"]))
    text = page.evaluate("document.body.textContent")
    checks.true("the command is there", report["command_line"].replace(" --format json", "") in text)


def colour_at(page, x, y):
    """Of a pixel of the chart, read from a copy: Chromium warns of canvases that are read often."""
    return page.evaluate(f"""(() => {{
      const pen = Object.assign(document.createElement("canvas"), {{width: 1, height: 1}}).getContext("2d");
      pen.drawImage({CHART}, -{x}, -{y});
      return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
    }})()""")


def centre_of(page, span):
    """Where a span of the chart is on the screen, by the chart's own geometry."""
    return page.evaluate(f"""(() => {{
      const chart = debubbleChart, place = {CHART}.getBoundingClientRect();
      const {{begin, end, device}} = chart.run.spans;
      const x = chart.painter.x((begin[{span}] + end[{span}]) / 2);
      const row = chart.rows.devices[device[{span}]];
      return [place.left + x, place.top + row.y + row.compute / 2 - chart.surface.top, device[{span}]];
    }})()""")


def selected(page):
    return page.evaluate("(document.querySelector('.panel').dataset.op || '')")


def check_pointing(checks, page):
    """1f1b, forward 1 ms and backward 2 ms, 4 devices, no transfers: 2F0 runs from 2 to 3 ms on device 2."""
    page.evaluate(f"{CHART}.scrollIntoView()")
    place = page.evaluate(f"(() => {{ const r = {CHART}.getBoundingClientRect(); return [r.left, r.top, r.width]; }})()")
    left, right = 22, 4  # of the plot: names of devices, margin
    pixel = (place[2] - left - right) / 33
    row = 22 + 2 * 36  # below the axis; a row is 30 pixels and 6 apart
    page.click(place[0] + left + 2.5 * pixel, place[1] + row + 15)
    page.settle()
    checks.equal("the op at 2.5 ms of device 2", selected(page), "2F0 on d2")
    checks.equal("its colour", colour_at(page, round(left + 2.2 * pixel), row + 5), [0x00, 0x72, 0xB2])
    page.click(place[0] + left + 5 * pixel, place[1] + 22 + 15)
    page.settle()
    checks.equal("what is at 5 ms of device 0", selected(page), "idle time of d0")
    shown = page.evaluate("document.querySelector('.panel').textContent")
    checks.true(f"the cause is told: {shown}", "6.000 ms fill" in shown)
    for span in (0, 7, 20):
        x, y, device = centre_of(page, span)
        page.click(x, y)
        page.settle()
        checks.true(f"span {span} is where it is drawn", selected(page).endswith(f" on d{device}"))


def check_keys(checks, page):
    page.evaluate(f"{CHART}.focus()")
    page.press("Escape")
    page.press("0")
    page.press(".")
    checks.equal("first op", selected(page), "0F0 on d0")
    page.press(".")
    checks.equal("next op", selected(page), "0F1 on d0")
    page.press(",")
    page.press("ArrowDown")
    checks.equal("the device below is idle then", selected(page), "idle time of d1")
    page.press("Escape")
    page.press("/")
    page.evaluate("document.activeElement.value = '3b0'")
    page.press("Enter")
    checks.equal("search", selected(page), "3B0 on d3")
    page.press("Escape")
    chain = []
    for _ in range(5):
        chain.append(selected(page).split(" ")[0])
        page.press("Enter")
    checks.equal("what it waited for", chain, ["3B0", "3F0", "the", "2F0", "the"])
    page.press("Escape")
    page.press("n")
    checks.equal("next idle time", selected(page), "idle time of d0")
    before = page.evaluate("debubbleChart.window.span")
    page.press("+")
    checks.true("+ zooms in", page.evaluate("debubbleChart.window.span") < before)
    begin = page.evaluate("debubbleChart.window.begin")
    page.press("ArrowRight")
    checks.true("right pans", page.evaluate("debubbleChart.window.begin") > begin)
    page.press("0")
    checks.true("0 shows all", page.evaluate("debubbleChart.window.isWhole"))


def check_mouse(checks, page):
    """Ctrl and the wheel zoom about the pointer, dragging pans and selects nothing, plain wheels are the page's."""
    page.evaluate("debubbleChart.window.whole()")
    time = page.evaluate("debubbleChart.painter.time(400)")
    for modifiers, smaller in ((0, False), (2, True)):
        page.evaluate(f"{CHART}.scrollIntoView()")
        page.settle()
        left, top = page.evaluate(f"(() => {{ const r = {CHART}.getBoundingClientRect(); return [r.left, r.top]; }})()")
        at = {"x": left + 400, "y": top + 40}
        page.call("Input.dispatchMouseEvent", type="mouseWheel", deltaX=0, deltaY=-200, modifiers=modifiers, **at)
        page.settle()
        checks.equal(f"zoomed with modifiers {modifiers}", not page.evaluate("debubbleChart.window.isWhole"), smaller)
    checks.true("about the pointer", abs(page.evaluate("debubbleChart.painter.time(400)") - time) < 1e4)
    before = page.evaluate("[debubbleChart.window.begin, debubbleChart.window.span, debubbleChart.selected.index]")
    page.call("Input.dispatchMouseEvent", type="mousePressed", button="left", clickCount=1, **at)
    for x in (left + 350, left + 300):
        page.call("Input.dispatchMouseEvent", type="mouseMoved", button="left", buttons=1, x=x, y=top + 40)
    page.call("Input.dispatchMouseEvent", type="mouseReleased", button="left", clickCount=1, x=left + 300, y=top + 40)
    page.settle()
    begin, span, index = page.evaluate(
        "[debubbleChart.window.begin, debubbleChart.window.span, debubbleChart.selected.index]")
    checks.true(f"dragging pans: {begin}, {span} after {before}", begin > before[0] and abs(span - before[1]) < 1)
    checks.equal("and selects nothing", index, before[2])
    page.evaluate("debubbleChart.window.whole()")


def shown_times(page):
    return page.evaluate("[debubbleChart.window.begin, debubbleChart.window.end]")


def check_range(checks, page):
    """Dragging with Shift zooms into what it passes over, and selects nothing."""
    page.evaluate("debubbleChart.window.whole()")
    page.evaluate(f"{CHART}.scrollIntoView()")
    page.settle()
    left, top = page.evaluate(f"(() => {{ const r = {CHART}.getBoundingClientRect(); return [r.left, r.top]; }})()")
    wanted = page.evaluate("[200, 500].map(x => debubbleChart.painter.time(x))")
    index = page.evaluate("debubbleChart.selected.index")
    for kind, x in (("mousePressed", 500), ("mouseMoved", 300), ("mouseMoved", 200), ("mouseReleased", 200)):
        page.call("Input.dispatchMouseEvent", type=kind, button="left", buttons=1, clickCount=1, modifiers=8, x=left + x,
                  y=top + 40)
    page.settle()
    checks.true(f"Shift zooms into {wanted}: {shown_times(page)}",
                all(abs(one - two) < 1e5 for one, two in zip(shown_times(page), wanted)))
    checks.equal("nothing stays marked", page.evaluate("debubbleChart.window.marked === undefined"), True)
    checks.equal("nothing is selected by it", page.evaluate("debubbleChart.selected.index"), index)
    page.evaluate("debubbleChart.window.whole()")


def check_pinch(checks, page):
    """Two fingers: the times below them stay below them. One that is left pans on."""
    left, top = page.evaluate(f"(() => {{ const r = {CHART}.getBoundingClientRect(); return [r.left, r.top]; }})()")
    page.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
    wanted = page.evaluate("[400, 600].map(x => debubbleChart.painter.time(x))")

    def touch(kind, *places):
        points = [{"x": left + x, "y": top + 40, "id": number} for number, x in enumerate(places)]
        page.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)
        page.settle()

    touch("touchStart", 400)
    touch("touchStart", 400, 600)
    touch("touchMove", 350, 650)
    touch("touchMove", 300, 700)
    found = page.evaluate("[300, 700].map(x => debubbleChart.painter.time(x))")
    checks.true(f"two fingers zoom: {found} for {wanted}", all(abs(a - b) < 2e5 for a, b in zip(found, wanted)))
    touch("touchEnd", 300)
    span = page.evaluate("debubbleChart.window.span")
    touch("touchMove", 250)
    checks.true("one finger pans", abs(page.evaluate("debubbleChart.window.span") - span) < 1)
    touch("touchEnd")
    page.call("Emulation.setTouchEmulationEnabled", enabled=False)
    page.evaluate("debubbleChart.window.whole()")


def check_memory(checks, page):
    """Pointing at the memory of device 1 at 20 ms: the line is at that time in both charts, and what is held is told."""
    page.evaluate("document.querySelectorAll('canvas')[1].scrollIntoView()")
    place = page.evaluate("(() => { const r = document.querySelectorAll('canvas')[1].getBoundingClientRect();"
                          "return [r.left, r.top, r.width]; })()")
    page.move(place[0] + 22 + 20 * (place[2] - 26) / 33, place[1] + 64 + 30)
    page.settle()
    checks.true("the time", abs(page.evaluate("debubbleChart.window.cursor") - 20e6) < 1e5)
    told = page.evaluate("document.querySelectorAll('.panel')[1].textContent")
    checks.true(f"what is held: {told}", "d1 holds 3.00 MiB: activations 3.00 MiB" in told)



def check_themes(checks, page):
    """The button switches, paper is white whatever the theme, and charts follow."""
    corner = (10, 4)  # of the chart, where nothing is drawn
    checks.equal("light", colour_at(page, *corner), [255, 255, 255])
    page.evaluate("[...document.querySelectorAll('button')].find(b => b.textContent === 'light / dark').click()")
    page.settle()
    checks.true("dark", max(colour_at(page, *corner)) < 60)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.settle()
    checks.equal("on paper", colour_at(page, *corner), [255, 255, 255])
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    page.settle()
    checks.true("dark again", max(colour_at(page, *corner)) < 60)


def check_search_of_nothing(checks, page):
    page.evaluate("(() => { const s = document.querySelector('input[type=search]'); s.focus(); s.value = '9X9'; })()")
    page.press("Enter")
    checks.true("an op that is not there is said so", "no op 9X9" in page.evaluate("document.body.textContent"))


def check_tables(checks, page, report):
    """The table behind the chart has every op, a page at a time, and the CSV has all."""
    page.evaluate("[...document.querySelectorAll('details')].find(d => d.textContent.includes('as a table')).open = true")
    page.settle()
    text = page.evaluate("[...document.querySelectorAll('caption')].map(c => c.textContent).join('|')")
    checks.true(f"the table of ops: {text}", "Ops 1 to 64 of 64" in text)
    page.evaluate("(() => { window.saved = []; URL.createObjectURL = (blob) => { saved.push(blob); return 'blob:x'; };"
                  "HTMLAnchorElement.prototype.click = function () { saved.push(this.download); };"
                  "for (const b of document.querySelectorAll('button')) if (/\\.(json|csv)$/.test(b.textContent)) b.click(); })()")
    saved = page.evaluate("Promise.all(saved.map(s => typeof s === 'string' ? s : s.text()))")
    files = dict(zip(saved[1::2], saved[0::2]))
    checks.equal("files to save", sorted(files), ["devices.csv", "ops.csv", "report.json"])
    saved_report = json.loads(files["report.json"])
    checks.equal("report.json", {**saved_report, "command_line": ""}, {**report, "command_line": ""})
    checks.equal("lines of ops.csv", files["ops.csv"].count("\n"), 65)


def check_widths(checks, browser, path):
    for width in (360, 1280, 2560):
        with browser.open(path, width, 900) as page:
            page.settle()
            checks.true(f"no sideways scrolling at {width}", page.evaluate("document.documentElement.scrollWidth") <= width)
            canvas = page.evaluate(f"{CHART}.clientWidth")
            checks.true(f"the chart fills {width}: {canvas}", canvas > min(width, 1680) * 0.85)
            check_quiet(checks, page)


def check_foreign_text(checks, browser, binary, folder):
    """A name with the end of a script, markup, quotes and a terminal's escape in it stays a name."""
    name = "script><img src=x onerror=hit=1><b>&amp;\"'\x1b[31m.csv"
    table = folder / "x<" / name  # together: x</script>...
    table.parent.mkdir()
    table.write_text("0F0,,,0B0\n,1F0,1B0,\n")
    path = folder / "foreign.html"
    run(binary, "simulate", "--schedule", table, "--html", path)
    with browser.open(path) as page:
        checks.true("the command is shown as typed", "x</script><img src=x onerror=hit=1>" in
                    page.evaluate("document.querySelector('pre').textContent"))
        checks.equal("elements that names made", page.evaluate("document.querySelectorAll('img, pre b').length"), 0)
        checks.true("no script of a name ran", page.evaluate("window.hit === undefined"))
        check_quiet(checks, page)


def main():
    need_browser()
    binary = sys.argv[1]
    checks = Checks()
    with tempfile.TemporaryDirectory() as name, Chromium() as browser:
        folder = pathlib.Path(name)
        job = ("simulate", "--schedule", "1f1b", "-p", 4, "-m", 8)
        path = folder / "run.html"
        run(binary, *job, "--html", path)
        report = json.loads(run(binary, *job, "--format", "json"))
        with browser.open(path) as page:
            page.settle()
            check_numbers(checks, page, report)
            check_pointing(checks, page)
            check_keys(checks, page)
            check_search_of_nothing(checks, page)
            check_mouse(checks, page)
            check_range(checks, page)
            check_pinch(checks, page)
            check_memory(checks, page)
            check_themes(checks, page)
            check_tables(checks, page, report)
            check_quiet(checks, page)
        check_widths(checks, browser, path)
        check_foreign_text(checks, browser, binary, folder)
    return checks.status()


if __name__ == "__main__":
    sys.exit(main())
