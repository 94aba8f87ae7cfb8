"""Runs the real command and reads the figures that it draws: boxes, axes and texts, layer by layer."""

import os
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree as tree

BINARY = ""  # set by main()
SVG = "{http://www.w3.org/2000/svg}"
XLINK = "{http://www.w3.org/1999/xlink}href"


def run(*arguments, folder=None, environment=None, status=0):
    ended = subprocess.run([BINARY, *arguments], cwd=folder, capture_output=True, timeout=120, check=False,
                           stdin=subprocess.DEVNULL, env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **(environment or {})})
    if ended.returncode != status:
        raise AssertionError(f"{arguments}: status {ended.returncode}\n{ended.stderr.decode()}")
    return ended.stdout if status == 0 else ended.stderr.decode("utf-8")


class Figure:
    """An SVG by layers, without legends."""

    def __init__(self, text):
        self.root = tree.fromstring(text)
        self.layers = [(group.get("class"), group) for group in self.root.findall(SVG + "g")]
        self.letters = {part.get("id"): part.get("d") for part in self.root.iter(SVG + "path") if part.get("id")}

    def boxes(self, name):
        """(x, y, width, height) of the boxes of every layer of that class."""
        found = []
        for layer, group in self.layers:
            if layer != name:
                continue
            for box in group.findall(SVG + "rect"):
                found.append(tuple(float(box.get(key)) for key in ("x", "y", "width", "height")))
            for path in group.findall(SVG + "path"):
                found += [tuple(map(float, numbers)) for numbers in
                          re.findall(r"M(-?[\d.]+)[ ]?(-?[\d.]+)h(-?[\d.]+)v(-?[\d.]+)h-?[\d.]+z", path.get("d"))]
        return found

    def axis(self, number=0):
        """(left, right) of an axis: its first line."""
        lines = [group.find(SVG + "path").get("d") for name, group in self.layers if name == "axis"]
        left, _, length = map(float, re.match(r"M(-?[\d.]+)[ ]?(-?[\d.]+)h(-?[\d.]+)$", lines[number]).groups())
        return left, left + length

    def texts(self, name):
        """(x, y, size, letters) of the texts of every layer of that class."""
        whole = {group.get("id"): group for group in self.root.iter(SVG + "g") if group.get("id")}

        def size_of(group):
            return 10 * float(re.search(r"scale\(([\d.]+)\)", group.get("transform"))[1])

        found = []
        for layer, group in self.layers:
            if layer != name:
                continue
            for use in group.findall(SVG + "use"):
                text = whole[use.get(XLINK)[1:]]
                found.append((float(use.get("x")), float(use.get("y")), size_of(text), len(text)))
            for text in group.findall(SVG + "g"):
                x, y = re.search(r"translate\((-?[\d.]+) (-?[\d.]+)\)", text.get("transform")).groups()
                found.append((float(x), float(y), size_of(text), len(text)))
        return found

    def uses(self, name):
        return sum(len(group) for layer, group in self.layers if layer == name)


def cells(row):
    """The ops of a device's cells: "0F0,(1F3;1B0)OVERLAP_F_B" as [["F"], ["F", "B"]]."""
    return [re.findall(r"[A-Z]", re.sub(r"OVERLAP.*", "", cell)) for cell in row.split(",") if cell]


def main(tests):
    """The exit code of these tests, for the command line BINARY."""
    global BINARY
    BINARY = os.path.abspath(sys.argv[1])
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(tests)
    return 0 if unittest.TextTestRunner().run(suite).wasSuccessful() else 1
