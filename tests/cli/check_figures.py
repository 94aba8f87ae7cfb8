#!/usr/bin/env python3
"""What figures draw is what the same run's JSON says, read back from the SVG: check_figures.py BINARY"""

import json
import os
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree as tree

import figure_reader
from figure_reader import SVG, XLINK, Figure, cells, run

ROUNDING = 0.011  # hundredths of a point are drawn; and what is read from them
HOSTILE = "a<b>&\"'\x1b[31m\n</desc><script>alert(1)</script>]]>\u202e"


class Figures(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = made.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def near(self, got, wanted, what):
        self.assertEqual(len(got), len(wanted), what)
        for one, other in zip(sorted(got), sorted(wanted)):
            for a, b in zip(one, other):
                self.assertLess(abs(a - b), ROUNDING, (what, one, other))

    def test_every_op_is_a_box_where_the_run_file_has_it(self):
        for schedule in ("1f1b", "zb-h1", "interleaved", "zb-v", "chimera", "gpipe"):
            scenario = ["--schedule", schedule, "-p", "4", "-m", "8", "--comm", "0.3"]
            run("simulate", *scenario, "--save-run", "r.json", "-o", "r.txt", folder=self.folder)
            with open(self.path("r.json"), encoding="utf-8") as file:
                record = json.load(file)
            figure = Figure(run("export", "--to", "svg", *scenario, folder=self.folder))
            left, right = figure.axis()
            iteration = record["iterations"][0]
            makespan = max(max(row) for row in iteration["end_ns"])
            wanted = {}
            for device, row in enumerate(record["schedule"]["rows"]):
                for ops, begin, end in zip(cells(row), iteration["begin_ns"][device], iteration["end_ns"][device]):
                    self.assertEqual(len(ops), 1)
                    x = left + (right - left) * begin / makespan
                    wanted.setdefault(ops[0], []).append((device, x, (right - left) * (end - begin) / makespan))
            tops = sorted({box[1] for kind in wanted for box in figure.boxes(kind) + figure.boxes(kind + " light")})
            self.assertEqual(len(tops), 4)
            for kind, boxes in wanted.items():
                drawn = [(tops.index(y), x, width) for x, y, width, _ in
                         figure.boxes(kind) + figure.boxes(kind + " light")]
                self.near(drawn, boxes, (schedule, kind))
            # --run draws the same but for the command.
            again = run("export", "--to", "svg", "--run", "r.json", folder=self.folder)
            without = re.compile(rb"<desc>.*</desc>")
            self.assertEqual(without.sub(b"", again),
                             without.sub(b"", run("export", "--to", "svg", *scenario, folder=self.folder)))

    def test_numbers_are_in_every_box_that_has_room(self):
        figure = Figure(run("export", "--to", "svg", "--schedule", "zb-h1"))
        self.assertEqual(figure.uses("microbatch"), 4 * 8 * 3)
        narrow = Figure(run("export", "--to", "svg", "--schedule", "zb-h1", "-m", "60"))
        self.assertEqual(narrow.uses("microbatch"), 0)

    def test_numbers_stay_in_their_boxes(self):
        digit = 0.573  # of the size
        for scenario in (["--schedule", "zb-v"], ["--schedule", "1f1b", "-m", "20"], ["--schedule", "dualpipe"]):
            for width in ("85mm", "170mm"):
                figure = Figure(run("export", "--to", "svg", "--width", width, *scenario))
                kinds = [kind + light for kind in "FBIW" for light in ("", " light")]
                boxes = [box for kind in kinds for box in figure.boxes(kind)]
                texts = figure.texts("microbatch")
                self.assertGreater(len(texts), 20)
                for x, y, size, letters in texts:
                    inside = [box for box in boxes if box[0] <= x + 0.02 and x + letters * digit * size <= box[0] + box[2] + 0.03
                              and box[1] < y - 0.7 * size and y < box[1] + box[3]]
                    self.assertEqual(len(inside), 1, (scenario, width, x, y))

    def test_text_stays_on_the_paper(self):
        for words in (["export", "--to", "svg", "--width", "50mm", "--show", "causes,idle,memory", "--comm", "0.3"],
                      ["export", "--to", "svg", "--width", "50mm", "-p", "1200", "-m", "2"],
                      ["compare", "--figure-width", "50mm", "--figure", "c.svg"],
                      ["compare", "--figure-width", "50mm", "--figure", "c.svg", "--show", "front"]):
            text = run(*words, folder=self.folder)
            if words[0] == "compare":
                with open(self.path("c.svg"), "rb") as file:
                    text = file.read()
            figure = Figure(text)
            _, _, wide, high = map(float, figure.root.get("viewBox").split())
            for name in {name for name, _ in figure.layers}:
                for x, y, size, letters in figure.texts(name):
                    self.assertTrue(0 <= x and x + letters * 0.35 * size <= wide, (words, name, x, letters))
                    self.assertTrue(0 <= y - 0.5 * size and y <= high, (words, name, y))

    def test_pairs_are_two_halves(self):
        figure = Figure(run("export", "--to", "svg", "--schedule", "dualpipe", "-p", "4", "-m", "8"))
        heights = {box[3] for kind in "FB" for box in figure.boxes(kind) + figure.boxes(kind + " light")}
        self.assertEqual(len(heights), 2)
        self.assertAlmostEqual(max(heights), 2 * min(heights), delta=0.02)

    def test_idle_bars_are_the_reports_numbers(self):
        scenario = ["--schedule", "1f1b", "-p", "4", "-m", "8", "--comm", "0.3", "--slow", "device=1:1.5"]
        report = json.loads(run("simulate", *scenario, "--format", "json"))
        figure = Figure(run("export", "--to", "svg", "--show", "idle", *scenario))
        left, right = figure.axis()
        largest = max(device["idle_ns"] for device in report["devices"])
        per_ns = (right - left) / largest
        causes = 0
        for cause in report["devices"][0]["idle_by_cause_ns"]:
            wanted = [round(device["idle_by_cause_ns"][cause] * per_ns, 2) for device in report["devices"]]
            drawn = [box[2] for box in figure.boxes("cause-" + cause)]
            self.near([(width,) for width in drawn], [(width,) for width in wanted if width > 0], cause)
            causes += bool(drawn)
        self.assertGreater(causes, 2)

    def test_memory_reaches_the_reports_peaks(self):
        scenario = ["--schedule", "interleaved", "-p", "4", "-m", "8"]
        report = json.loads(run("simulate", *scenario, "--format", "json"))
        figure = Figure(run("export", "--to", "svg", "--show", "memory", *scenario))
        peaks = [device["peak_memory_bytes"] for device in report["devices"]]
        heights = []
        for name, group in figure.layers:
            if name != "memory-activations":
                continue
            for path in group.findall(SVG + "path"):
                y, reached = 0.0, 0.0
                for rise in re.findall(r"v(-?[\d.]+)", path.get("d")):
                    y += float(rise)
                    reached = max(reached, -y)
                heights.append(reached)
        for height, peak in zip(heights, peaks):
            self.assertAlmostEqual(height / max(heights), peak / max(peaks), delta=0.002)
        self.assertEqual(len(heights), 4)

    def test_bars_are_the_reports_steps_and_peaks(self):
        names = "1f1b,zb-h1,gpipe"
        runs = json.loads(run("compare", "--schedules", names, "--format", "json", "--figure", "c.svg",
                              folder=self.folder))["runs"]
        with open(self.path("c.svg"), encoding="utf-8") as file:
            figure = Figure(file.read())
        longest = max(one["makespan_ns"] for one in runs)
        left, right = figure.axis()
        busy, bubble = figure.boxes("busy"), figure.boxes("bubble")
        for one, work, idle in zip(runs, busy, bubble):
            self.assertAlmostEqual(work[2] + idle[2], (right - left) * one["makespan_ns"] / longest, delta=0.02)
            self.assertAlmostEqual(idle[2] / (work[2] + idle[2]), one["bubble_ratio"], delta=0.001)
        most = max(device["peak_memory_bytes"] for one in runs for device in one["devices"])
        left, right = figure.axis(1)
        for one, bar in zip(runs, figure.boxes("memory")):
            peak = max(device["peak_memory_bytes"] for device in one["devices"])
            self.assertAlmostEqual(bar[2], (right - left) * peak / most, delta=0.05)

    def test_the_front_is_what_no_other_run_beats(self):
        runs = json.loads(run("compare", "--format", "json", "--figure", "f.svg", "--show", "front",
                              folder=self.folder))["runs"]
        with open(self.path("f.svg"), encoding="utf-8") as file:
            figure = Figure(file.read())
        points = sorted({(one["makespan_ns"], max(device["peak_memory_bytes"] for device in one["devices"]))
                         for one in runs if one.get("makespan_ns") and one["devices"]})
        front = [point for point in points
                 if not any(other != point and other[0] <= point[0] and other[1] <= point[1] for other in points)]
        marks = [group for name, group in figure.layers if name == "front"]
        self.assertEqual(len(marks[0].findall(SVG + "path")), len(front))
        self.assertGreater(len(front), 2)

    def test_the_same_input_gives_the_same_bytes(self):
        command = ["export", "--to", "svg", "--schedule", "zb-v", "--show", "causes,idle,memory"]
        self.assertEqual(run(*command), run(*command))
        self.assertNotEqual(run(*command), run(*command, "--mono"))

    def test_nothing_is_fetched_and_every_reference_is_inside(self):
        for more in ([], ["--mono"], ["--show", "causes,idle,memory"]):
            text = run("export", "--to", "svg", "--schedule", "zb-v", *more).decode("utf-8")
            figure = Figure(text)
            for word in ("<script", "<style", "<image", "font-family", "url(", "<text"):
                self.assertNotIn(word, text)
            ids = {part.get("id") for part in figure.root.iter() if part.get("id")}
            uses = {use.get(XLINK) for use in figure.root.iter(SVG + "use")}
            self.assertEqual({use[1:] for use in uses} - ids, set())

    def test_mono_has_no_colour(self):
        for more in (["--show", "causes,idle,memory"],):
            text = run("export", "--to", "svg", "--schedule", "interleaved", "--comm", "0.2", "--mono", *more).decode()
            for colour in re.findall(r"#([0-9a-f]{6})", text):
                self.assertEqual(len({colour[:2], colour[2:4], colour[4:]}), 1, colour)
        with_mono = run("compare", "--mono", "--figure", "m.svg", folder=self.folder)
        self.assertTrue(with_mono)

    def test_no_text_is_smaller_than_six_points(self):
        text = run("export", "--to", "svg", "--schedule", "zb-v", "-p", "8", "-m", "16", "--show",
                   "causes,idle,memory").decode()
        self.assertGreater(text.count("scale("), 30)
        sizes = {float(size) * 10 for size in re.findall(r"scale\(([\d.]+)\)", text)}
        self.assertGreaterEqual(min(sizes), 6)

    def test_nothing_is_drawn_outside(self):
        for width in ("50mm", "85mm", "170mm"):
            for scenario in (["--schedule", "zb-v"], ["--schedule", "1f1b", "-p", "64", "-m", "64"],
                             ["--schedule", "dualpipe"], ["--schedule", "chimera", "-p", "4", "-m", "8"]):
                figure = Figure(run("export", "--to", "svg", "--width", width, "--show", "causes,idle,memory", *scenario))
                _, _, wide, high = map(float, figure.root.get("viewBox").split())
                for name, _ in figure.layers:
                    for x, y, width_of, height_of in figure.boxes(name):
                        self.assertTrue(x >= 0 and x + width_of <= wide + 0.01, (name, x, width_of))
                        self.assertTrue(y >= 0 and y + height_of <= high + 0.01, (name, y, height_of))

    def test_boxes_of_a_device_do_not_overlap(self):
        for scenario in (["--schedule", "zb-v"], ["--schedule", "dualpipe"]):
            figure = Figure(run("export", "--to", "svg", "-p", "4", "-m", "8", *scenario))
            rows = {}
            for kind in "FBIW":
                for x, y, width, _ in figure.boxes(kind) + figure.boxes(kind + " light"):
                    rows.setdefault(y, []).append((x, x + width))
            for row in rows.values():
                row.sort()
                for (_, end), (begin, _) in zip(row, row[1:]):
                    self.assertLessEqual(end, begin + 0.001)

    def test_a_long_run_stays_small(self):
        text = run("export", "--to", "svg", "--schedule", "interleaved", "-p", "8", "-m", "6400")  # 204800 ops
        self.assertLess(len(text), 1_500_000)
        figure = Figure(text)
        shown = sum(width * height for kind in "FB" for _, _, width, height in
                    figure.boxes(kind) + figure.boxes(kind + " light"))
        whole = sum(width * height for _, _, width, height in figure.boxes("idle"))
        report = json.loads(run("simulate", "--schedule", "interleaved", "-p", "8", "-m", "6400", "--format", "json"))
        self.assertAlmostEqual(1 - shown / whole, report["bubble_ratio"], delta=0.02)

    def test_hostile_names_stay_text(self):
        name = HOSTILE.replace("/", "|") + ".csv"
        table = run("export", "--to", "pytorch-csv", "-p", "2", "-m", "2")
        with open(self.path(name), "wb") as file:
            file.write(table)
        text = run("export", "--to", "svg", "--schedule", name, folder=self.folder).decode("utf-8")
        self.assertNotIn("<script", text)
        self.assertNotIn("\x1b", text)
        self.assertNotIn("\u202e", text)
        figure = Figure(text)
        self.assertIn("<script>alert(1)<", figure.root.find(SVG + "title").text)
        run("compare", "--schedules", name + ",1f1b" if "," not in name else "1f1b", "-p", "2", "-m", "2", "--figure",
            "h.svg", folder=self.folder)
        with open(self.path("h.svg"), encoding="utf-8") as file:
            text = file.read()
        tree.fromstring(text)
        self.assertNotIn("<script", text)

    def test_a_plan(self):
        job = ["plan", "--model", "gpt2-large", "--gpus", "4", "--global-batch", "8", "--fix", "pp=4", "--front"]
        csv = run(*job, "--format", "csv", "--figure", "p.svg", folder=self.folder).decode("utf-8").splitlines()
        with open(self.path("p.svg"), encoding="utf-8") as file:
            figure = Figure(file.read())
        marks = [group for name, group in figure.layers if name == "front"]
        self.assertEqual(len(marks[0].findall(SVG + "path")), len(csv) - 1)
        self.assertGreater(len(csv), 3)

    def test_a_measured_run(self):
        run("live", "-p", "2", "-m", "4", "--costs", "cpu-time", "--times", "f=0.1,b=0.2", "--save-run", "live.json", "-o",
            "live.txt", folder=self.folder)
        figure = Figure(run("export", "--to", "svg", "--run", "live.json", "--show", "causes,idle,memory",
                            folder=self.folder))
        self.assertEqual(len(figure.boxes("F")), 8)
        self.assertIn("measured", figure.root.find(SVG + "desc").text)

    def test_without_cairo(self):
        for kind in ("pdf", "png"):
            said = run("export", "--to", kind, "-o", self.path("no." + kind), status=3,
                       environment={"DEBUBBLE_CAIRO": "/nonexistent.so"})
            self.assertIn("error[U065]", said)
            self.assertIn("apt-get install libcairo2", said)
            run("compare", "--figure", self.path("no." + kind), status=3,
                environment={"DEBUBBLE_CAIRO": "/nonexistent.so"})
        self.assertEqual(os.listdir(self.folder), [])
        run("export", "--to", "svg", environment={"DEBUBBLE_CAIRO": "/nonexistent.so"})

    def test_a_library_that_is_not_cairo(self):
        other = next((path for path in ("/lib/x86_64-linux-gnu/libc.so.6", "/lib/aarch64-linux-gnu/libc.so.6")
                      if os.path.exists(path)), None)
        if other is None:
            self.skipTest("no libc.so.6 where Debian has it")
        said = run("export", "--to", "png", "-o", self.path("no.png"), status=3, environment={"DEBUBBLE_CAIRO": other})
        self.assertIn("error[U065]", said)
        self.assertIn("has no cairo_", said)


if __name__ == "__main__":
    sys.exit(figure_reader.main(Figures))
