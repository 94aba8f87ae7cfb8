#!/usr/bin/env python3
"""`debubble profile --device cpu` with real PyTorch and the real command: profile, simulate, live, compare.

    cpu_profile_test.py DEBUBBLE [TEST...]

Prints "SKIPPED:" where this Python has no PyTorch. Times are compared with each other only as far as they must differ by
much, for machines have other work.
"""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

DEBUBBLE = None

MLP = """
import torch, torch.nn as nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 64))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(STEPS):
    optimizer.zero_grad()
    for _ in range(2):
        model(torch.randn(256, 256)).pow(2).mean().backward()
    optimizer.step()
print("trained", threads := torch.get_num_threads())
"""

GPT = """
import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.checkpoint import checkpoint
H, V, T, B, L = 128, 500, 32, 2, 3
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.qkv, self.proj = nn.LayerNorm(H), nn.Linear(H, 3 * H), nn.Linear(H, H)
        self.ln2, self.fc1, self.fc2 = nn.LayerNorm(H), nn.Linear(H, 4 * H), nn.Linear(4 * H, H)
    def forward(self, x):
        q, k, v = self.qkv(self.ln1(x)).chunk(3, -1)
        x = x + self.proj(torch.softmax(q @ k.transpose(1, 2), -1) @ v)
        return x + self.fc2(F.gelu(self.fc1(self.ln2(x))))
class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.blocks = nn.Embedding(V, H), nn.ModuleList(Block() for _ in range(L))
        self.norm, self.out = nn.LayerNorm(H), nn.Linear(H, V, bias=False)
    def forward(self, tokens):
        x = self.wte(tokens)
        for block in self.blocks: x = RUN(block, x)
        return self.out(self.norm(x))
torch.manual_seed(0)
model = GPT()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(8):
    tokens = torch.randint(0, V, (B, T))
    F.cross_entropy(model(tokens).view(-1, V), tokens.view(-1)).backward()
    optimizer.step(); optimizer.zero_grad()
"""


class CpuProfile(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def run_command(self, *arguments, **environment):
        base = {name: value for name, value in os.environ.items()
                if not name.startswith(("DEBUBBLE", "RANK", "CUDA", "PYTHONPATH"))}
        return subprocess.run([DEBUBBLE, *arguments], cwd=self.folder, text=True, capture_output=True, timeout=300,
                              stdin=subprocess.DEVNULL, check=False,
                              env={**base, "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "200", "OMP_NUM_THREADS": "1", **environment})

    def script(self, text, name="train.py"):
        (self.folder / name).write_text(textwrap.dedent(text), encoding="utf-8")

    def profile(self, *flags, hooks=("-m", "debubble_hooks"), arguments=("train.py",), status=0, **environment):
        done = self.run_command("profile", "--device", "cpu", "-o", "p.json", *flags, "--", sys.executable, *hooks,
                                *arguments, **environment)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def read(self):
        return json.loads((self.folder / "p.json").read_text(encoding="utf-8"))

    def layers(self):
        """By name, with runs of equal layers written out."""
        found = {}
        for layer in self.read()["layers"]:
            for number in range(layer.get("count", 1)):
                stem = layer["name"].rstrip("0123456789")
                first = layer["name"][len(stem):]
                found[stem + str(int(first) + number) if number else layer["name"]] = layer
        return found

    # ---- what is measured

    def test_every_layer_has_its_forward_and_both_gradients_and_all_add_up_to_the_steps(self):
        self.script(MLP.replace("STEPS", "12"))
        done = self.profile("--warm-up", "2")
        self.assertIn("trained", done.stdout)
        layers = self.layers()
        self.assertEqual(list(layers), ["0", "1", "2", "3", "4"])
        first, relu, second = layers["0"], layers["1"], layers["2"]
        self.assertEqual(first["input_grad"]["median_ns"], 0)  # its input needs no gradient
        self.assertEqual(relu["weight_grad"]["median_ns"], 0)
        for layer, phase in ((first, "forward"), (first, "weight_grad"), (relu, "forward"), (relu, "input_grad"),
                             (second, "forward"), (second, "input_grad"), (second, "weight_grad")):
            self.assertGreater(layer[phase]["median_ns"], 1000, (layer["name"], phase))
        for name in ("0", "2", "4"):
            self.assertIn(layers[name]["grad_split"], ("shape", "name", "order"))
        self.assertEqual(second["forward"]["n"], 2 * 8)  # 12 steps without 2 of warm-up and two that ran unrecorded
        profile = self.read()
        measured = profile["measurement"]
        self.assertEqual(measured["processor"], "cpu")
        self.assertEqual(measured["steps"], 12)
        self.assertEqual(measured["layer_time_ns"] + sum(item["total_ns"] for item in measured["rest"]),
                         measured["kernel_time_ns"])
        self.assertGreater(measured["layer_time_ns"], measured["kernel_time_ns"] // 5)
        self.assertIn("optimizer", [item["what"] for item in measured["rest"]])
        origin = profile["origin"]
        threads = done.stdout.split()[-1]
        self.assertRegex(origin["device"], rf".+, {threads} threads?$")
        self.assertRegex(origin["method"], r"^own time of the operators of PyTorch \d+\.\d+.* on the CPU \(torch\.profiler"
                                           r"\), input and weight gradient by the operators inside backward nodes: ")
        self.assertEqual((origin["times"], profile["dtype"], profile["microbatch_size"]), ("measured", "fp32", 256))
        self.assertIn("CPU time", done.stderr)
        self.assertNotIn("GPU", done.stderr)
        self.assertNotIn("CUPTI", done.stderr)

    def test_the_wall_clock_of_a_step_is_what_its_layers_and_the_rest_are(self):
        self.script(MLP.replace("STEPS", "12") + textwrap.dedent("""
            import time
            def step():
                begin = time.perf_counter()
                model(torch.randn(256, 256)).pow(2).mean().backward()
                return time.perf_counter() - begin
            print(min(step() for _ in range(9)))"""))
        done = self.profile(DEBUBBLE_RECORD_STEPS="all")
        fastest = float(done.stdout.split()[-1])
        one = sum(layer["forward"]["median_ns"] + layer["backward"]["median_ns"] for layer in self.layers().values())
        self.assertGreater(one, 0.4e9 * fastest)
        self.assertLess(one, 20e9 * fastest)  # other work on the machine may slow down either

    def test_a_transformer_through_the_whole_chain(self):
        self.script(GPT.replace("RUN(block, x)", "block(x)"))
        self.profile()
        layers = self.layers()
        self.assertEqual(list(layers), ["embedding", "blocks.0", "blocks.1", "blocks.2", "head", "loss"])
        for name in ("blocks.0", "blocks.1", "blocks.2", "head"):
            for phase in ("forward", "input_grad", "weight_grad"):
                self.assertGreater(layers[name][phase]["median_ns"], 0, (name, phase))
            self.assertGreater(layers[name]["activation_bytes"], 0)
        self.assertEqual(layers["embedding"]["input_grad"]["median_ns"], 0)
        self.assertGreater(layers["embedding"]["weight_grad"]["median_ns"], 0)
        for verb in (("simulate", "-p", "2", "-m", "4", "--format", "json"),
                     ("simulate", "--schedule", "zb-h1", "-p", "2", "-m", "4", "--format", "json")):
            done = self.run_command(verb[0], "--profile", "p.json", *verb[1:])
            self.assertEqual(done.returncode, 0, done.stderr)
            report = json.loads(done.stdout)
            self.assertGreater(report["makespan_ns"], 0)
            device = self.read()["origin"]["device"]
            self.assertTrue(any(a["source"] == "measured" and device in a["value"] for a in report["assumptions"]))
        for verb in (("compare", "-p", "2", "-m", "4"), ("live", "-p", "2", "-m", "4")):
            done = self.run_command(verb[0], "--profile", "p.json", *verb[1:])
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_a_checkpoint_computes_again_counts_with_the_backward(self):
        self.script(GPT.replace("RUN(block, x)", "block(x)"))
        self.profile()
        plain = self.layers()["blocks.1"]["input_grad"]["median_ns"]
        self.script(GPT.replace("RUN(block, x)", "checkpoint(block, x, use_reentrant=True)"))
        done = self.profile("--explain")
        layers = self.layers()
        self.assertIn("of recomputed forward are counted in its backward", done.stderr)
        self.assertIn("recompute", done.stderr)
        self.assertGreater(layers["blocks.1"]["input_grad"]["median_ns"], plain)
        self.assertGreater(layers["head"]["weight_grad"]["median_ns"], 0)
        self.assertEqual(self.read()["measurement"].get("losses", []), [])

    def test_steps_in_which_sizes_are_counted_are_warm_up(self):
        self.script(MLP.replace("STEPS", "6"))
        self.profile(DEBUBBLE_RECORD_STEPS="all")
        self.assertGreaterEqual(self.read()["measurement"]["warm_up_steps"], 1)

    def test_a_run_without_the_profiler_tells_what_it_costs(self):
        self.script(MLP.replace("STEPS", "12"))
        done = self.profile("--overhead", "run")
        self.assertEqual(done.stdout.count("trained"), 2)
        self.assertIn("overhead_run_ppm", self.read()["measurement"])
        self.assertIn("without the profiler", done.stderr)

    def test_which_steps_are_left_out_is_checked(self):
        self.script(MLP.replace("STEPS", "4"))
        done = self.profile(DEBUBBLE_RECORD_STEPS="often")
        self.assertIn('U009: DEBUBBLE_RECORD_STEPS: "often" is neither "all" nor a number from 2 on', done.stderr)

    def test_several_ranks_are_one_profile_and_one_alone_is_its_own(self):
        self.script(MLP.replace("STEPS", "6"))
        both = 'RANK=0 "$0" -m debubble_hooks train.py & RANK=1 "$0" -m debubble_hooks train.py & wait'
        for flags, times in (((), 2), (("--rank", "1"), 1)):
            done = self.run_command("profile", "--device", "cpu", "--warm-up", "1", "-o", "p.json", *flags, "--", "sh",
                                    "-c", both, sys.executable)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.layers()["2"]["forward"]["n"], times * 2 * 4)  # steps 1, 2, 3 and 5

    def test_kept_records_give_the_same_profile_again(self):
        self.script(MLP.replace("STEPS", "6"))
        self.profile("--keep-records", "kept")
        kept = sorted(path.name for path in (self.folder / "kept").iterdir())
        self.assertEqual(len(kept), 2, kept)
        done = self.run_command("import", "--from", "records", "kept/" + kept[1], "--hooks", "kept/" + kept[0], "-o",
                                "again.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        again = json.loads((self.folder / "again.json").read_text(encoding="utf-8"))
        self.assertEqual(again["layers"], self.read()["layers"])
        self.assertEqual(again["origin"]["device"], self.read()["origin"]["device"])

    def test_whose_work_it_is_must_be_known(self):
        self.script(MLP.replace("STEPS", "4"))
        self.profile()
        text = (self.folder / "p.json").read_text(encoding="utf-8")
        (self.folder / "p.json").write_text(text.replace('"processor": "cpu"', '"processor": "abacus"'), encoding="utf-8")
        done = self.run_command("simulate", "--profile", "p.json")
        self.assertEqual(done.returncode, 2)
        self.assertIn("error[P007]: \"abacus\" is not a processor whose work is measured\n"
                      "  --> p.json#/measurement/processor\n", done.stderr)

    def test_gpus_are_hidden_from_the_script(self):
        self.script(MLP.replace("STEPS", "4") + "import os; print('sees', os.environ.get('CUDA_VISIBLE_DEVICES'))")
        self.assertIn("sees -1\n", self.profile(CUDA_VISIBLE_DEVICES="0").stdout)

    # ---- what goes wrong

    def test_a_record_file_that_cannot_be_made_is_told_of_once(self):
        self.script(MLP.replace("STEPS", "4"))
        taken = 'mkdir "$DEBUBBLE_RECORD_DIR/pid$$.dbrec" && exec "$0" -m debubble_hooks train.py'
        done = self.run_command("profile", "--device", "cpu", "-o", "p.json", "--keep-records", "kept", "--", "sh", "-c",
                                taken, sys.executable)
        self.assertIn("trained", done.stdout)
        self.refused(done, 2, "error[C051]: ")
        told = [path.read_text(encoding="utf-8") for path in (self.folder / "kept").glob("trouble-*.txt")]
        self.assertEqual([text.count("code: ") for text in told], [1])

    def test_what_cannot_be_read_of_a_step_does_not_end_the_script(self):
        self.script("from debubble_hooks import cpu\ncpu._Events.times = lambda *_: 1 / 0\n" + MLP.replace("STEPS", "4"))
        done = self.profile(status=3)
        self.refused(done, 3, "error[U041]: what PyTorch's profiler saw cannot be read: division by zero\n")
        self.assertIn("trained", done.stdout)

    def test_a_script_that_fails_leaves_what_was_recorded(self):
        self.script(MLP.replace("STEPS", "12").replace("    optimizer.step()",
                                                       "    optimizer.step()\n    if step == 7: raise SystemExit(5)"))
        done = self.profile(status=1)
        self.assertIn("ended with status 5", done.stderr)
        self.assertEqual(self.read()["measurement"]["steps"], 8)

    def refused(self, done, status, text):
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(text, done.stderr)
        self.assertFalse((self.folder / "p.json").exists())

    def test_a_script_without_the_hooks_is_told_of_them(self):
        self.script(MLP.replace("STEPS", "2"))
        self.refused(self.profile(hooks=(), status=2), 2, """\
error[A002]: no layer was seen: debubble_hooks did not run in the program, or found no script to run
  --> --
  = help: on the CPU it is what times the layers: debubble profile --device cpu -- python3 -m debubble_hooks train.py
""")

    def test_a_script_without_a_training_step_is_told_what_one_is(self):
        self.script("import torch\nwith torch.no_grad(): torch.nn.Linear(4, 4)(torch.ones(2, 4))")
        self.refused(self.profile(status=2), 2, "error[A003]: no training step was timed\n  --> --\n  = help: a step is ")

    def test_a_python_without_pytorch_is_named(self):
        self.script("print('not reached')")
        (self.folder / "torch.py").write_text("raise ImportError('no torch here')\n", encoding="utf-8")
        done = self.profile(status=3)
        self.refused(done, 3, f"error[U041]: {sys.executable} has no PyTorch that can be imported (no torch here)\n"
                              "  = help: install it there (Debian: apt install python3-torch), or start the script with "
                              "the python that has it\n")
        self.assertNotIn("not reached", done.stdout)

    def test_a_script_that_profiles_itself_is_told_so(self):
        self.script("import torch\nwith torch.profiler.profile():\n" + textwrap.indent(MLP.replace("STEPS", "4"), "    "))
        done = self.profile(status=3)
        self.refused(done, 3, "error[U003]: the script runs PyTorch's profiler itself")
        self.assertIn("trained", done.stdout)  # the script itself is not disturbed

    def test_operators_are_not_left_out(self):
        self.script(MLP.replace("STEPS", "2"))
        self.refused(self.profile(arguments=("--no-operators", "train.py"), status=2), 2,
                     "--no-operators leaves nothing that could be timed on the CPU")

    def test_rank_that_is_not_there(self):
        self.script(MLP.replace("STEPS", "2"))
        self.refused(self.profile("--rank", "3", status=2), 2, "error[C012]: no process of rank 3 was recorded")

    def test_a_step_without_end_is_given_up(self):
        self.script("""
            import torch
            model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
            x = torch.ones(1, 2)
            for _ in range(10_100): y = model(x)
            print("survived")""")
        done = self.profile(status=2)
        self.assertIn("survived", done.stdout)
        self.refused(done, 2, "more than 20000 layers ran in one step: it is not recorded")

    def test_a_forked_worker_writes_nothing(self):
        # It ends as workers of data loaders do: with exit() PyTorch 2.6 waits for threads that a fork does not have.
        self.script(MLP.replace("STEPS", "4") + "import atexit, os\n"
                    "if os.fork() == 0: atexit._run_exitfuncs(), os._exit(0)\nos.wait()\n")
        self.profile("--keep-records", "kept")
        self.assertEqual(len(list((self.folder / "kept").glob("*.dbrec"))), 1)
        self.assertEqual(self.read()["measurement"].get("losses", []), [])


if __name__ == "__main__":
    if importlib.util.find_spec("torch") is None:
        print("SKIPPED: this python3 has no PyTorch")
        sys.exit(77)
    DEBUBBLE = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
