#!/usr/bin/env python3
"""PDF and PNG draw what SVG does: check_cairo_figures.py BINARY; exit code 77 (skipped) without cairo."""

import re
import struct
import subprocess
import sys
import unittest
import zlib

import figure_reader
from figure_reader import Figure, run


class Pixels:
    """An RGB picture of a PNG."""

    def __init__(self, png):
        self.width, self.height = struct.unpack(">II", png[16:24])
        data, at = b"", 8
        while at < len(png):
            length, kind = struct.unpack(">I4s", png[at:at + 8])
            if kind == b"IDAT":
                data += png[at + 8:at + 8 + length]
            at += 12 + length
        self.rows, raw, before = [], zlib.decompress(data), bytearray(3 * self.width)
        for row in range(self.height):
            start = row * (1 + 3 * self.width)
            before = self.unfiltered(raw[start], bytearray(raw[start + 1:start + 1 + 3 * self.width]), before)
            self.rows.append(before)

    @staticmethod
    def unfiltered(how, line, above):
        for k, value in enumerate(line):
            left, up, corner = (line[k - 3], above[k], above[k - 3]) if k >= 3 else (0, above[k], 0)
            guess = left + up - corner
            nearest = min((left, up, corner), key=lambda one: abs(guess - one))
            line[k] = (value + (0, left, up, (left + up) // 2, nearest)[how]) & 0xFF
        return line

    def at(self, x, y):
        return tuple(self.rows[y][3 * x:3 * x + 3])


def pdf_objects(pdf):
    """The objects of a PDF: since cairo 1.18 some are packed into streams."""
    packed = re.findall(rb"/Type\s*/ObjStm\b.*?stream\r?\n(.*?)endstream", pdf, re.S)
    return pdf + b"".join(zlib.decompressobj().decompress(stream) for stream in packed)


class Figures(unittest.TestCase):
    def test_pdf(self):
        command = ["export", "--to", "pdf", "--schedule", "zb-h1", "--show", "causes,idle,memory"]
        first = run(*command)
        self.assertEqual(first, run(*command))
        self.assertTrue(first.startswith(b"%PDF-1."))
        self.assertTrue(first.rstrip().endswith(b"%%EOF"))
        objects = pdf_objects(first)
        self.assertNotIn(b"/FontDescriptor", objects)
        box = re.search(rb"/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)\s*\]", objects)
        self.assertAlmostEqual(float(box[1]), 85 / 25.4 * 72, delta=0.02)

    def test_png(self):
        for width, pixels in (("600px", 600), ("85mm", 1004), ("7in", 2100)):
            command = ["export", "--to", "png", "--schedule", "zb-h1", "--width", width]
            first = run(*command)
            self.assertEqual(first, run(*command))
            self.assertEqual(first[:8], b"\x89PNG\r\n\x1a\n")
            self.assertEqual(struct.unpack(">I", first[16:20])[0], pixels)
        self.same_as_svg(run("export", "--to", "png", "--schedule", "zb-h1", "--width", "600px"),
                         Figure(run("export", "--to", "svg", "--schedule", "zb-h1", "--width", "600px")))

    def same_as_svg(self, png, figure):
        """The colour just inside the lower left corner of each box is that of its layer."""
        picture = Pixels(png)
        scale = picture.width / float(figure.root.get("viewBox").split()[2])
        for kind, colour in (("F", (0x00, 0x72, 0xB2)), ("I", (0xF0, 0xE4, 0x42)), ("W", (0x00, 0x9E, 0x73))):
            boxes = figure.boxes(kind)
            self.assertEqual(len(boxes), 32)
            for x, y, _, height in boxes:
                seen = picture.at(int((x + 1.2) * scale), int((y + height - 1.2) * scale))
                self.assertLess(max(abs(a - b) for a, b in zip(seen, colour)), 12, (kind, x, y, seen))


if __name__ == "__main__":
    if subprocess.run([sys.argv[1], "export", "--to", "png"], capture_output=True, check=False).returncode == 3:
        print("SKIPPED: no cairo (apt-get install libcairo2)")
        sys.exit(77)
    sys.exit(figure_reader.main(Figures))
