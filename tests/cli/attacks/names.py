#!/usr/bin/env python3
"""Foreign text cannot steer a terminal or forge a line, whatever it is the name of: names.py BINARY."""

import csv
import gzip
import io
import json
import os
import re
import subprocess

import attack
from attack import InFolder

MARK = "evil"
# A forged annotation, a colour and a clear screen, C1's CSI, an override of direction, a hidden character.
HOSTILE = MARK + "\n::error::forged\r\x1b[31m\x1b[2J\x9b31m\u202eright\u2066\u200b\ufeff"
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
COLOUR = re.compile("\x1b\\[[0-9;]*m")


def leaves(value, path=()):
    """Paths of all texts in a JSON value."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict):
        for key, child in value.items():
            yield from leaves(child, (*path, key))
    elif isinstance(value, list):
        for index, child in enumerate(value[:3]):
            yield from leaves(child, (*path, index))


def with_leaf(text, path, leaf):
    value = json.loads(text)
    where = value
    for key in path[:-1]:
        where = where[key]
    where[path[-1]] = leaf
    return json.dumps(value, ensure_ascii=False)


class Names(InFolder):
    def clean(self, ended, what, colour=False):
        self.assertIn(ended.status, (0, 1, 2, 3), (what, ended.err))
        for text in (ended.out, ended.err):
            text = text.decode("utf-8")  # bytes that are none do not come through either
            if colour:
                text = COLOUR.sub("", text)
            found = FORBIDDEN.search(text)
            self.assertIsNone(found, (what, text[max(0, found.start() - 60):found.end() + 20] if found else ""))
            for line in text.splitlines():
                self.assertFalse(line.startswith("::error::forged"), (what, text))

    def test_names_of_files_and_values_of_flags(self):
        name = HOSTILE.replace("/", "")
        for arguments in (["simulate", "--schedule", name + ".csv"], ["simulate", "--schedule", name],
                          ["simulate", "--profile", name], ["simulate", "--profile", name + ".json"],
                          ["simulate", "--topology", name], ["simulate", "--topology", name + ".json"],
                          ["simulate", "--config", name], ["simulate", "--model", name], ["simulate", "--hardware", name],
                          ["simulate", "--times", name], ["simulate", "-p", name], ["simulate", "--comm", name],
                          ["simulate", "--param", name], ["simulate", "--format", name], ["simulate", "--" + name],
                          ["simulate", "-o", "no/" + name], ["simulate", "--trace", "no/" + name],
                          ["simulate", "--transform", name], ["simulate", "--partition", name], ["simulate", "--p2p", name],
                          ["simulate", "--fail-if", name], ["simulate", "--slow", name], [name],
                          ["diff", name], ["diff", "--log", name], ["check", name], ["import", "--from", name, "x"],
                          ["import", "--from", "kineto", name], ["import", "--from", "nsys", name],
                          ["import", "--from", "records", name], ["import", "--from", "megatron", name],
                          ["explain", name], ["list", name],
                          ["list", "schedules", name], ["export", "--to", name], ["whatif", "--slow", name],
                          ["sweep", "--vary", name], ["plan", "--gpus", name], ["plan", "--script", name],
                          ["accuracy", "--records", name], ["live", "--fault", name], ["live", "--backend", name]):
            ended = self.run_here(*arguments)
            self.clean(ended, arguments)
            self.assertNotEqual(ended.status, 0, arguments)

    def test_bytes_of_another_kind_of_file(self):
        self.write("x.gz", gzip.compress(os.urandom(2000) + HOSTILE.encode()))
        self.write("x", b"a\x1b[31m = \xff\n\x9b\n" + HOSTILE.encode())
        self.write("job.toml", '"' + HOSTILE + '" = 3\nmodel = "' + HOSTILE.replace("\n", " ") + '"\n')
        for name in ("x.gz", "x", "job.toml"):
            for reader in (["simulate", "--config"], ["simulate", "--schedule"], ["simulate", "--profile"], ["diff"],
                           ["diff", "--log"], ["import", "--from", "megatron"],
                           ["import", "--from", "kineto"], ["import", "--from", "nsys"], ["import", "--from", "records"],
                           ["import", "--from", "run"], ["check"], ["plan", "--gpus", "8", "--script"]):
                self.clean(self.run_here(*reader, name), (reader, name))

    def all_leaves(self, name, text, *commands):
        """Each text of the file made hostile in its turn, then read by each command."""
        shown = 0
        for path in leaves(json.loads(text)):
            old = json.loads(text)
            for key in path:
                old = old[key]
            self.write(name, with_leaf(text, path, old + HOSTILE))
            for command in commands:
                ended = self.run_here(*command)
                if "json" not in command:
                    self.clean(ended, (command, path), colour="always" in command)
                    shown += (MARK in ended.out.decode()) and ended.status == 0
                elif ended.status == 0:
                    json.loads(ended.out)  # its own escapes
                self.clean(attack.Ended(ended.status, b"", ended.err, 0, 0), (command, path))
        return shown

    def test_every_text_of_a_profile(self):
        profile = json.dumps({
            "schema": "debubble.profile/1", "model": "tiny", "dtype": "bf16", "microbatch_size": 2, "sequence_length": 128,
            "origin": {"times": "published", "memory": "modelled", "method": "m", "citation": "c", "device": "d",
                       "notes": "n"},
            "layers": [{"name": "a", "kind": "block", "forward": {"median_ns": 1000}, "backward": {"median_ns": 2000},
                        "activation_bytes": 10, "output_bytes": 5, "parameter_bytes": 7},
                       {"name": "b", "kind": "block", "forward": {"median_ns": 1000}, "backward": {"median_ns": 2000},
                        "activation_bytes": 10, "output_bytes": 5, "parameter_bytes": 7}]})
        given = ["--profile", "p.json", "-p", "2", "-m", "2"]
        shown = self.all_leaves(
            "p.json", profile, ["simulate", *given], ["simulate", *given, "--format", "csv"],
            ["simulate", *given, "--format", "json"], ["simulate", *given, "--color", "always"], ["compare", *given],
            ["compare", *given, "--format", "csv"], ["whatif", *given, "--slow", "device=0:2"],
            ["whatif", *given, "--slow", "device=0:2", "--format", "csv"], ["explain", "step", *given],
            ["explain", "1F1", *given], ["sweep", *given, "--vary", "m=2,4"],
            ["import", "--from", "profiles", "p.json", "p.json", "-o", "/dev/null"])
        self.assertGreater(shown, 0)

    def test_every_text_of_a_topology(self):
        topology = self.made("export", "--to", "topology-json", "--topology", "dgx-h100:1")
        given = ["--topology", "t.json", "-p", "8", "-m", "8", "--comm-size", "1MB"]
        self.all_leaves("t.json", topology, ["simulate", *given], ["whatif", *given, "--slow", "device=0:2"],
                        ["explain", "step", *given])

    def test_every_text_of_a_schedule_and_a_run(self):
        schedule = self.made("export", "--to", "schedule-json", "--schedule", "zb-h1", "-p", "2", "-m", "3")
        self.all_leaves("s.json", schedule, ["simulate", "--schedule", "s.json"],
                        ["simulate", "--schedule", "s.json", "--format", "csv"],
                        ["export", "--to", "pytorch-csv", "--schedule", "s.json", "-o", "/dev/null"])
        run = self.made("simulate", "-p", "2", "-m", "2", "-o", "/dev/null", "--save-run", "-")
        shown = self.all_leaves("r.json", run, ["diff", "r.json"], ["diff", "r.json", "r.json"],
                                ["diff", "r.json", "--format", "csv"], ["import", "--from", "run", "r.json", "-o", "/dev/null"])
        self.assertGreater(shown, 0)

    def test_every_text_of_a_suite(self):
        suite = json.dumps({"schema": "debubble.suite/1", "name": "s", "baseline": "b.json", "scenarios": [
            {"name": "a", "scenario": {"devices": 2, "microbatches": 2, "schedule": "1f1b"}}]})
        self.all_leaves("s.json", suite, ["check", "s.json", "--github"],
                        ["check", "s.json", "-o", "/dev/null", "--junit", "/dev/stdout"],
                        ["check", "s.json", "-o", "/dev/null", "--markdown", "/dev/stdout"])

    def test_csv_stays_one_line_for_each_row(self):
        table = self.made("export", "--to", "pytorch-csv", "-p", "2", "-m", "2").decode()
        name = "a\nb,\"c\".csv"
        self.write(name, table)
        for arguments in (["simulate", "--schedule", name, "--format", "csv"], ["sweep", "--schedule", name, "--vary", "p=2"],
                          ["compare", "--schedules", name, "--format", "csv"]):
            out = self.run_here(*arguments).out.decode()
            for line in out.splitlines():
                self.assertEqual(len(list(csv.reader(io.StringIO(line)))), 1)
                self.assertEqual(line.count('"') % 2, 0, line)

    def test_what_is_written_for_another_reader_stays_one_thing(self):
        name = 'x\ndevices = 99\n#.sh'
        self.write(name, "torchrun --nproc_per_node 2 pretrain_gpt.py --pipeline-model-parallel-size 2 "
                         "--num-layers 4 --hidden-size 64 "
                         "--num-attention-heads 4 --seq-length 128 --micro-batch-size 1 --global-batch-size 8\n")
        ended = self.run_here("import", "--from", "megatron", name)
        self.assertEqual(ended.status, 0, ended.err)
        self.assertNotIn(b"\ndevices = 99", ended.out)


class SuggestedCommands(InFolder):
    def suggested(self, text):
        """Arguments of the command after "next", as a shell reads them."""
        command = re.search(r"next:? +(debubble .*)", text.decode()).group(1)
        words = subprocess.run(["bash", "-c", "printf '%s\\0' " + command], capture_output=True, check=True).stdout
        return [word.decode() for word in words.split(b"\0")[1:-1]]

    def test_a_suggested_command_can_be_pasted_whatever_the_file_is_called(self):
        for name in ("-x.json", "a b.json", "it's.json", "$(touch hacked).json", "a\nb.json", "plain.json", "\u202ex.json"):
            self.made("live", "--clock", "logical", "-p", "2", "-m", "2", "-o", "/dev/null", "--save-run=" + name)
            path = os.path.join(".", name) if name.startswith("-") else name
            ended = self.run_here("import", "--from", "run", path, "--output=out-" + name)
            self.assertEqual(self.suggested(ended.err), ["diff", "out-" + name])
            ended = self.run_here("import", "--from", "run", "out-" + name, "--output=" + name)
            self.assertEqual(self.suggested(ended.err), ["diff", path])
            self.assertEqual(self.run_here(*self.suggested(ended.err)).status, 0)
            ended = self.run_here("live", "--clock", "logical", "-p", "2", "-m", "2", "--save-run=" + name)
            self.assertEqual(self.suggested(ended.out), ["diff", path])
            self.assertNotIn("hacked", os.listdir(self.folder))

    def test_check_advises_what_it_then_does(self):
        self.write("s.json", json.dumps({"schema": "debubble.suite/1", "name": "s", "baseline": "b.json", "scenarios": [
            {"name": "a", "scenario": {"devices": 2, "microbatches": 2}}]}))
        for text in ("precious", "{}", "[1]", '{"schema": "debubble.profile/1"}'):
            self.write("b.json", text)
            ended = self.run_here("check", "s.json")
            self.assertEqual(ended.status, 2)
            self.assertNotIn(b"make it anew with --accept", ended.err)
            self.assertIn(b"--accept does not overwrite it", ended.err)
            self.assertEqual(self.run_here("check", "--accept", "s.json").status, 2)
        self.write("b.json", '{"schema": "debubble.baseline/1",\n<<<<<<< HEAD\n')
        self.assertIn(b"make it anew with --accept", self.run_here("check", "s.json").err)
        self.made("check", "--accept", "s.json")


if __name__ == "__main__":
    attack.main()
