#!/usr/bin/env python3
"""The package debubble_torch by itself, on this Python's PyTorch: the split of a backward, cuts, plans, one small run.

Command line: FOLDER_OF_THE_PACKAGE [TEST...]. Prints "SKIPPED:" where this Python has no PyTorch.
"""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

if importlib.util.find_spec("torch") is None:
    print("SKIPPED: this python3 has no PyTorch")
    sys.exit(77)
FOLDER = os.path.abspath(sys.argv[1])
sys.path.insert(0, FOLDER)
sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
import torch
from torch import nn

from debubble_torch import models, plan
from debubble_torch.stage import Stage, WrongOrder

SIZE = 6


class Tied(nn.Module):
    """Uses one module twice."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(SIZE, SIZE)

    def forward(self, x):
        return self.inner(torch.tanh(self.inner(x)))


class Aside(nn.Module):
    """Uses a module's parameters without calling it: no hook sees that."""

    def __init__(self):
        super().__init__()
        self.inner, self.scale = nn.Linear(SIZE, SIZE), nn.Parameter(torch.ones(SIZE))

    def forward(self, x):
        return nn.functional.linear(self.inner(x), self.inner.weight) * self.scale


class Unused(nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.spare = nn.Linear(SIZE, SIZE), nn.Linear(SIZE, SIZE)

    def forward(self, x):
        return self.used(x).relu_()


def gradients(module, ways, number=1, loss=None):
    stage = Stage(number, module.double(), loss)
    source = torch.randn(4, SIZE, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    arrived = None if loss else torch.randn(4, SIZE, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    stage.settle_split(source, arrived)
    inputs = []
    for piece, split in enumerate(ways):
        stage.forward(piece, source)
        inputs.append(stage.input_gradient(piece, arrived) if split else stage.backward(piece, arrived))
    for piece, split in enumerate(ways):
        if split:
            stage.weight_gradient(piece)
    return stage, inputs


class Split(unittest.TestCase):
    def check(self, module, whole_again, **more):
        whole, inputs = gradients(module, [False, False], **more)
        parts, split_inputs = gradients(module, [True, True], **more)
        self.assertEqual(parts.differentiates_whole, whole_again)
        for a, b in zip([*whole.sums, *inputs], [*parts.sums, *split_inputs]):
            self.assertTrue((a is None and b is None) or torch.equal(a, b))

    def test_input_and_weight_gradients_are_those_of_the_whole_backward_bit_for_bit(self):
        torch.manual_seed(0)
        self.check(models.Block(SIZE), False)
        self.check(nn.Sequential(nn.Linear(SIZE, SIZE), nn.GELU(), nn.LayerNorm(SIZE)), False, loss=models.mean_square)
        self.check(models.Block(SIZE), False, number=0)

    def test_a_module_that_is_used_twice_is_differentiated_whole(self):
        torch.manual_seed(0)
        self.check(Tied(), True)

    def test_parameters_that_no_call_shows_are_noticed(self):
        torch.manual_seed(0)
        self.check(Aside(), True)

    def test_parameters_without_a_gradient_stay_so(self):
        torch.manual_seed(0)
        self.check(Unused(), False)
        self.assertIsNone(gradients(Unused(), [True])[0].sums[2])

    def test_an_op_before_what_it_needs_is_refused(self):
        stage = Stage(3, nn.Linear(SIZE, SIZE), None)
        for work, text in ((stage.backward, "3B5 runs before 3F5"), (stage.input_gradient, "3I5 runs before 3F5")):
            with self.assertRaisesRegex(WrongOrder, text):
                work(5, None)
        stage.forward(5, torch.zeros(2, SIZE))
        with self.assertRaisesRegex(WrongOrder, "3W5 runs before 3I5"):
            stage.weight_gradient(5)


class Models(unittest.TestCase):
    def test_layers_are_cut_evenly_or_as_asked(self):
        layers = nn.Sequential(*(nn.Linear(2, 2) for _ in range(7)))
        self.assertEqual([len(stage) for stage in models.cut(layers, 3, [])], [2, 2, 3])
        self.assertEqual([len(stage) for stage in models.cut(layers, 3, [1, 5, 1])], [1, 5, 1])
        for wrong in ([1, 5], [1, 5, 2], [0, 6, 1]):
            with self.assertRaisesRegex(models.StagesError, "7 layers cannot be cut into 3 stages"):
                models.cut(layers, 3, wrong)

    def test_stages_that_share_a_parameter_are_refused(self):
        made = plan.Plan(stages=2)
        shared = nn.Linear(2, 2)
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "shared_model.py").write_text("def make(stages): return STAGES\n", encoding="utf-8")
            made.factory, made.folder = "shared_model:make", folder
            sys.path.insert(0, folder)
            importlib.import_module("shared_model").STAGES = [shared, nn.Sequential(shared)]
            with self.assertRaisesRegex(models.StagesError, "stages 0 and 1 share the parameter 0.weight"):
                models.Model(made)


def cells(rows, holder):
    """Lines of a plan, from rows such as ["0F0 0B0", "1F0,1B0"]; holder: the device of each stage."""
    lines = []
    for device, row in enumerate(rows):
        position = 0
        for cell in row.split():
            sends, receives = [], []
            for stage, kind, piece in re.findall(r"(\d+)([FBIWR])(\d+)", cell):
                stage, step = int(stage), 1 if kind == "F" else -1
                name = {"F": ("a", stage, stage - 1), "B": ("g", stage - 1, stage), "I": ("g", stage - 1, stage)}
                for other, place, hops in ((stage + step, 1, sends), (stage - step, 2, receives)):
                    if kind in "FBI" and 0 <= other < len(holder) and holder[other] != device:
                        hops.append(f"{name[kind][0]}{name[kind][place]}.{piece}:{holder[other]}")
            lines.append(f"cell {device} {position} {cell} {','.join(sends) or '-'} {','.join(receives) or '-'}")
            position += 1 + cell.count(",")
    return lines


class Run(unittest.TestCase):
    def run_plan(self, rows, holder, pieces, *more):
        with tempfile.TemporaryDirectory() as folder:
            lines = [plan.FORMAT, f"sizes {len(rows)} {len(holder)} {pieces} 2", "costs 1", *more,
                     "replica " + " 0" * pieces, f"place 0 {' '.join(map(str, holder))}", *cells(rows, holder), "end"]
            pathlib.Path(folder, "plan.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
            pathlib.Path(folder, "status.bin").write_bytes(bytes(64 * len(rows)))
            ranks = [subprocess.Popen([sys.executable, "-m", "debubble_torch", folder, str(rank)], env={
                **os.environ, "PYTHONPATH": FOLDER, "PYTHONDONTWRITEBYTECODE": "1", "GLOO_SOCKET_IFNAME": "lo",
                "OMP_NUM_THREADS": "1", "DEBUBBLE_TORCH_PARENT": str(os.getpid())}) for rank in range(len(rows))]
            codes = [rank.wait(timeout=120) for rank in ranks]
            return codes, {path.name: path.read_text(encoding="utf-8") for path in pathlib.Path(folder).glob("rank*.*")}

    def test_a_v_shaped_split_schedule_has_the_unsplit_models_gradients_bit_for_bit(self):
        codes, files = self.run_plan(["0F0 0F1 3F0 3I0 3W0 3F1 3B1 0B0 0I1 0W1", "1F0 2F0 1F1 2F1,2B0 1B0 2B1 1I1 1W1"],
                                     [0, 1, 1, 0], 2)
        self.assertEqual(codes, [0, 0], files)
        self.assertRegex(files["rank0.txt"], r"\nproof 24 \d+ 24 0.0 0.0 1e-10 2 2\n")
        self.assertEqual(files["rank0.txt"].count("\nop "), 2 * 10)
        self.assertTrue(files["rank1.txt"].endswith("\nend\n"))

    def test_a_forward_that_is_run_again_changes_nothing(self):
        codes, files = self.run_plan(["0F0 0F1 0R0,0B0 0R1 0I1 0W1", "1F0 1R0,1B0 1F1 1B1"], [0, 1], 2)
        self.assertEqual(codes, [0, 0], files)
        self.assertRegex(files["rank0.txt"], r"\nproof 12 \d+ 12 0.0 0.0 1e-10 2 2\n")

    def test_changed_bits_change_the_proof(self):
        codes, files = self.run_plan(["0F0 0B0", "1F0 1B0"], [0, 1], 1, "fault corrupt 0F0")
        self.assertEqual(codes, [0, 0])
        self.assertIn("\nwrong 1 ", files["rank0.txt"])
        self.assertNotIn("iteration 1 ", files["rank0.txt"])

    def test_a_row_in_a_wrong_order_says_so(self):
        codes, files = self.run_plan(["0F0 0W0 0I0"], [0], 1)
        self.assertEqual((codes, files["rank0.error"]), ([76], "0W0 runs before 0I0\n"))

    def test_a_plan_of_another_version_is_refused(self):
        with self.assertRaisesRegex(plan.PlanError, "must be of one version"):
            plan.read_plan("debubble.torch-plan/2\nend\n")
        with self.assertRaisesRegex(plan.PlanError, "line 2 of the plan, 'cell 0 x': "):
            plan.read_plan("debubble.torch-plan/1\ncell 0 x\nend\n")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
