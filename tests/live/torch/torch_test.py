#!/usr/bin/env python3
"""`debubble live --backend torch`, whole: the real command and real PyTorch, on this Python.

Command line: DEBUBBLE [TEST...]. Prints "SKIPPED:" where this Python has no PyTorch.
"""

import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

if importlib.util.find_spec("torch") is None:
    print("SKIPPED: this python3 has no PyTorch")
    sys.exit(77)
DEBUBBLE = os.path.abspath(sys.argv[1])
QUICK = ["--repetitions", "1", "--warm-up", "0"]
STAGES = """
import time
import torch
from torch import nn

def layers(stages):
    return nn.Sequential(*(nn.Sequential(nn.Linear(16, 16), nn.GELU()) for _ in range(8)))

class Slow(nn.Linear):
    def forward(self, x):
        time.sleep(0.2)
        return super().forward(x)

def slow(stages):
    return [Slow(4, 4) for _ in range(stages)]

class Own:
    def __init__(self, stages):
        self.stages = [nn.Conv1d(2, 2, 3, padding=1) for _ in range(stages)]
    def inputs(self, microbatch):
        return torch.full((1, 2, 5), 0.1 * microbatch)
    def loss(self, output, microbatch):
        return (output - microbatch).abs().sum()

def mismatched(stages):
    return [nn.Linear(4, 3) for _ in range(stages)]
"""
MINE = ["--stages-from", "my_stages:layers"]


class TorchTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "my_stages.py").write_text(STAGES, encoding="utf-8")
        (self.folder / "tmp").mkdir()
        self.environment = {**os.environ, "DEBUBBLE_PYTHON": sys.executable, "TMPDIR": str(self.folder / "tmp")}

    def debubble(self, *words, before=None):
        done = subprocess.run([DEBUBBLE, *words], cwd=self.folder, env=self.environment, capture_output=True, text=True,
                              timeout=120, check=False, preexec_fn=before)
        self.assertEqual(list((self.folder / "tmp").iterdir()), [], "a run leaves nothing behind")
        return done

    def live(self, *words):
        return self.debubble("live", "--backend", "torch", *words)

    def gradients_of(self, words, *more):
        """The report of a run that must end well, and what it says about the gradients."""
        done = self.live(*MINE, *QUICK, *words, *more, "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        found = {each["what"]: each for each in report["assumptions"]}
        self.assertEqual(found["gradients"]["source"], "measured")
        return report, found["gradients"]["value"]

    def finding(self, *words):
        done = self.live("-p", "2", "-m", "4", *MINE, *QUICK, *words)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        return " ".join(done.stdout.split())


class Schedules(TorchTest):
    def check(self, name, devices, chunks=1):
        report, text = self.gradients_of(["--schedule", name, "-p", str(devices), "-m", "8"], "--save-run", "run.json",
                                         "--trace", "trace.json")
        self.assertIn("unsplit model on one process: 16 parameters", text)
        self.assertIn("bit for bit; sums in the order of the rows; losses: 8 of 8 bit for bit", text)
        self.assertEqual(report["schedule"]["stages"], chunks * devices)
        run = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))
        self.assertEqual((run["origin"]["backend"], run["origin"]["clock"], run["measured"]), ("torch", "wall", True))
        self.assertIn("PyTorch ", run["origin"]["libraries"])
        json.loads((self.folder / "trace.json").read_text(encoding="utf-8"))
        told = self.debubble("diff", "run.json")
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertIn("bubble/step", told.stdout)

    def test_gpipe(self):
        self.check("gpipe", 2)

    def test_1f1b(self):
        self.check("1f1b", 2)

    def test_interleaved(self):
        self.check("interleaved", 2, chunks=2)

    def test_zb_h1(self):
        self.check("zb-h1", 2)

    def test_dualpipe_v(self):
        self.check("dualpipe-v", 2, chunks=2)

    def test_chimera(self):
        self.check("chimera", 2)

    def test_zb_v_on_four_devices(self):
        self.check("zb-v", 4, chunks=2)

    def test_four_replicas_agree_to_rounding_and_pieces_and_recomputation_bit_for_bit(self):
        _, text = self.gradients_of(["--schedule", "chimera", "-p", "4", "-m", "8", "--param", "pairs=2"])
        self.assertIn("of their largest gradient", text)
        _, text = self.gradients_of(["--schedule", "chimera", "-p", "2", "-m", "4", "--param", "mode=halving",
                                     "--transform", "recompute:when=early"])
        self.assertIn("losses: 8 of 8 bit for bit", text)

    def test_without_any_stages_a_built_in_chain_runs(self):
        done = self.live("-p", "2", "-m", "2", "--precision", "float32", *QUICK)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the built-in chain of equal blocks", " ".join(done.stdout.split()))
        self.assertIn("torch, wall clock", done.stdout)
        self.assertIn("4 crossed processes in the first iteration", done.stdout)

    def test_own_inputs_and_loss_and_a_partition(self):
        done = self.live("-p", "2", "-m", "3", "--stages-from", "my_stages:Own", *QUICK)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("4 parameters (28 numbers), bit for bit", " ".join(done.stdout.split()))
        self.assertEqual(self.live("-p", "2", "-m", "3", *MINE, "--partition", "1,7", *QUICK).returncode, 0)


class Faults(TorchTest):
    def test_a_lost_message_is_named_with_every_rank(self):
        text = self.finding("--fault", "drop=0F1", "--watchdog", "1")
        self.assertIn("stuck: a message was lost", text)
        self.assertIn("d1 is at 1F1 (position 2 of its row) and waits for the activation 0F1 of device 0, which device 0 "
                      "has sent", text)

    def test_changed_bits_are_a_finding_and_so_are_the_gradients_they_spoil(self):
        text = self.finding("--fault", "corrupt=1B2")
        self.assertIn("error[E031]: the gradient 1B2, which device 0 received from device 1, is not what was sent", text)
        self.assertIn("so the gradients are wrong: ", text)

    def test_a_rank_that_dies_is_named(self):
        self.assertIn("stuck: rank 1 has gone: it was ended by signal 9 (Killed)", self.finding("--fault", "kill=1F2"))

    def test_ops_in_a_wrong_order_are_named(self):
        self.assertIn("error[E031]: device 1: 1B1 runs before 1F1", self.finding("--fault", "swap=1F1"))

    def test_a_slow_device_is_slow(self):
        done = self.live("-p", "2", "-m", "4", *QUICK, "--fault", "slow=1:20", "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        fast, slow = (device["busy_ns"] for device in json.loads(done.stdout)["devices"])
        self.assertGreater(slow, 3 * fast)


class Surroundings(TorchTest):
    @staticmethod
    def ignore_children():
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    def test_ends_of_processes_are_seen_where_the_one_who_started_debubble_ignores_those_of_its_own(self):
        words = ("live", "--backend", "torch", "-p", "2", "-m", "2", *QUICK)
        done = self.debubble(*words, before=self.ignore_children)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.debubble(*words, "--fault", "kill=1F1", before=self.ignore_children)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("stuck: rank 1 has gone: it was ended by signal 9", " ".join(done.stdout.split()))
        self.environment["DEBUBBLE_PYTHON"] = "/bin/false"
        self.assertEqual(self.debubble(*words, before=self.ignore_children).returncode, 3)


class Errors(TorchTest):
    def test_errors_of_the_stages_are_the_users_with_their_place(self):
        done = self.live("-p", "2", "-m", "2", "--stages-from", "my_stages:mismatched")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"error\[E013\]: RuntimeError: .*\n  --> rank \d\n  = help: mend the stages")
        done = self.live("-p", "2", "-m", "2", "--stages-from", "no_module:make")
        self.assertIn("error[E013]: cannot import 'no_module'", done.stderr)
        done = self.live("-p", "2", "-m", "2", *MINE, "--partition", "1,2")
        self.assertIn("8 layers cannot be cut into 2 stages of 1,2 layers", done.stderr)

    def test_a_machine_without_pytorch_is_told_so(self):
        self.environment["DEBUBBLE_PYTHON"] = "/bin/false"
        done = self.live("-p", "2")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn('error[U058]: "/bin/false" does not start, or has no PyTorch', done.stderr)

    def test_gpus_that_are_not_there_are_what_the_machine_lacks(self):
        self.environment["CUDA_VISIBLE_DEVICES"] = ""
        done = self.live("-p", "2", "--gpus", "each")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertRegex(done.stderr, r"error\[U058\]: (this PyTorch .* is without|2 devices take as many GPUs)")

    def ranks_of(self, process):
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        return [int(word) for word in children.read_text(encoding="ascii").split()]

    def end_by(self, number):
        """Sends a signal in the middle of a run; the exit status."""
        with subprocess.Popen([DEBUBBLE, "live", "--backend", "torch", "-p", "2", "-m", "50", "--stages-from",
                               "my_stages:slow"], cwd=self.folder, env=self.environment, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            until = time.monotonic() + 60
            ranks = []
            while len(ranks) < 2 and time.monotonic() < until:
                ranks = self.ranks_of(process)
                time.sleep(0.05)
            time.sleep(1.5)
            process.send_signal(number)
            status = process.wait(timeout=20)
        until = time.monotonic() + 10
        while any(os.path.exists(f"/proc/{rank}") for rank in ranks) and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual([rank for rank in ranks if os.path.exists(f"/proc/{rank}")], [])
        self.assertEqual(len(ranks), 2)
        return status

    def test_an_interrupt_ends_all_processes_and_leaves_nothing(self):
        self.assertEqual(self.end_by(signal.SIGINT), 130)
        self.assertEqual(list((self.folder / "tmp").iterdir()), [])

    def test_no_process_outlives_a_killed_command(self):
        self.assertEqual(self.end_by(signal.SIGKILL), -signal.SIGKILL)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
