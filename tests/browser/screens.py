#!/usr/bin/env python3
"""Pages look as they did: screenshots in cells of 16 x 16 pixels against golden/, where fonts may differ and charts may not.

    screens.py BINARY [--update] [--keep FOLDER]    --keep: the whole screenshots, to be looked at
"""

import argparse
import pathlib
import sys
import tempfile

import picture
from checks import Checks, need_browser, run
from chromium import Chromium

GOLDEN = pathlib.Path(__file__).resolve().parent / "golden"
FAR = 36      # of 255, in any channel: beyond what another font makes of a cell
MOST = 0.04   # of the cells may be so far off: a line of text that breaks elsewhere
PAGES = {
    "simulate": ("simulate", "--schedule", "zb-v", "-p", "4", "-m", "8", "--comm", "0.1"),
    "compare": ("compare", "--schedules", "gpipe,1f1b,interleaved,zb-h1,zb-v", "-p", "4", "-m", "8"),
    "whatif": ("whatif", "--schedule", "1f1b", "-p", "4", "-m", "8", "--slow", "device=2:1.3", "--to", "-m 16"),
    "plan": ("plan", "--model", "gpt2-small", "--gpus", "4", "--global-batch", "16"),
}


def check_picture(checks, name, found, update):
    path = GOLDEN / f"{name}.png"
    columns, lines, colours = found
    if update:
        path.write_bytes(picture.encode(*found))
        return
    _, _, rows = picture.decode(path.read_bytes())
    wanted = b"".join(rows)
    checks.equal(f"{name}: cells", columns * lines * 3, len(wanted))
    far = sum(max(abs(a - b) for a, b in zip(colours[k:k + 3], wanted[k:k + 3])) > FAR for k in range(0, len(wanted), 3))
    checks.true(f"{name}: {far} of {columns * lines} cells look otherwise; look at it (--keep FOLDER), then --update",
                far <= MOST * columns * lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("binary")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    need_browser()
    checks = Checks()
    with tempfile.TemporaryDirectory() as scratch, Chromium() as browser:
        for name, arguments in PAGES.items():
            path = pathlib.Path(scratch) / f"{name}.html"
            run(options.binary, *arguments, "--html", path)
            for dark in (False, True) if name == "simulate" else (False,):
                shown = name + ("-dark" if dark else "")
                with browser.open(path, 1280, 1600, dark) as page:
                    page.settle()
                    shot = (options.keep or pathlib.Path(scratch)) / f"{shown}.png"
                    page.screenshot(shot)
                    check_picture(checks, shown, picture.grid(shot.read_bytes()), options.update)
    return checks.status()


if __name__ == "__main__":
    sys.exit(main())
