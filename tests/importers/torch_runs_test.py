#!/usr/bin/env python3
"""Recordings of real PyTorch runs, against what the ranks measured of themselves: steps, bubbles and ops.

    torch_runs_test.py BINARY
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BINARY = str(pathlib.Path(sys.argv.pop(1)).resolve())
RUNS = pathlib.Path(__file__).parent / "torch_runs"
MS = 1_000_000


def step_and_bubble(rows):
    ops = [op for row in rows for op in row]
    step = max(op[4] for op in ops) - min(op[3] for op in ops)
    return step, 1 - sum(op[4] - op[3] for op in ops) / (len(rows) * step)


class TorchRuns(unittest.TestCase):
    def imported(self, name):
        """What import says, and of each iteration the rows, as truth.json has them."""
        with tempfile.TemporaryDirectory() as folder:
            made = pathlib.Path(folder) / "run.json"
            files = sorted(str(path) for path in (RUNS / name).glob("rank*.json.gz"))
            done = subprocess.run([BINARY, "import", "--from", "run", *files, "-o", str(made)], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            run = json.loads(made.read_text(encoding="utf-8"))
        cells = [[(int(stage), kind, int(microbatch)) for stage, kind, microbatch in re.findall(r"(\d+)([FBIW])(\d+)", row)]
                 for row in run["schedule"]["rows"]]
        return done.stderr, [[[(*cell, begin, end) for cell, begin, end in zip(*row)]
                              for row in zip(cells, iteration["begin_ns"], iteration["end_ns"])] for iteration in run["iterations"]]

    def check(self, name, ranks, longest_off, left_out=0):
        said, found = self.imported(name)
        truth = json.loads((RUNS / name / "truth.json").read_text(encoding="utf-8"))["ranks"]
        iterations = [list(rows) for rows in zip(*(truth[rank] for rank in ranks))][left_out:]
        self.assertEqual(len(found), len(iterations))
        for rows, right in zip(found, iterations):
            step, bubble = step_and_bubble(rows)
            right_step, right_bubble = step_and_bubble(right)
            self.assertLess(abs(step - right_step), MS)
            self.assertLess(abs(bubble - right_bubble), 0.01)
            zero = min(op[3] for row in right for op in row)
            for row, right_row in zip(rows, right):
                self.assertEqual([op[:3] for op in row], [tuple(op[:3]) for op in sorted(right_row, key=lambda op: op[3])])
                for op, right_op in zip(row, sorted(right_row, key=lambda op: op[3])):
                    off = max(abs(op[3] - right_op[3] + zero), abs(op[4] - right_op[4] + zero))
                    self.assertLess(off, longest_off, op)
        return said

    def test_one_f_one_b_scales_its_gradients_between_iterations(self):
        self.assertNotIn("lost:", self.check("1f1b-p2-m4-scale-grads", "01", 0.7 * MS))

    def test_the_last_backward_waits_for_the_replicas(self):
        self.check("1f1b-p2-dp2-ddp", "01", 0.2 * MS)

    def test_an_evaluation_is_said_to_be_one(self):
        self.assertIn("an evaluation, no training", self.check("gpipe-p2-m4-eval", "01", 0.1 * MS, left_out=1))

    def test_waits_for_receives_are_no_work_and_the_rest_of_the_runtime_is_no_loss(self):
        self.assertNotIn("lost:", self.check("interleaved-p2-m4-torch215", "01", 1.1 * MS))


if __name__ == "__main__":
    unittest.main()
