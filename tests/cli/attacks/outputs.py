#!/usr/bin/env python3
"""No result takes the place of what it was made from, and none is left half written: outputs.py BINARY."""

import json
import os
import signal
import stat
import subprocess

import attack
from attack import InFolder

PROFILE = json.dumps({
    "schema": "debubble.profile/1", "model": "tiny", "dtype": "bf16", "microbatch_size": 2, "sequence_length": 128,
    "origin": {"times": "modelled", "memory": "modelled", "method": "made up"},
    "layers": [{"name": name, "kind": "block", "forward": {"median_ns": 1000}, "backward": {"median_ns": 2000},
                "activation_bytes": 10, "output_bytes": 5, "parameter_bytes": 7} for name in "abcd"]})


class OutputOverInput(InFolder):
    def setUp(self):
        super().setUp()
        self.write("p.json", PROFILE)
        self.made("simulate", "-p", "2", "-m", "2", "--save-run", "run.json", "-o", "/dev/null")
        self.made("export", "--to", "pytorch-csv", "-p", "2", "-m", "2", "-o", "s.csv")
        self.made("export", "--to", "topology-json", "--topology", "dgx-h100:1", "-o", "t.json")
        self.write("job.toml", "devices = 2\nmicrobatches = 2\n")

    def refused(self, name, *arguments):
        before = self.read(name)
        ended = self.run_here(*arguments)
        self.assertEqual(ended.status, 2, (arguments, ended.out, ended.err))
        self.assertIn(b"error[C066]", ended.err)
        self.assertEqual(ended.out, b"")
        self.assertEqual(self.read(name), before)
        self.assertEqual([file for file in os.listdir(self.folder) if file.endswith(".part")], [])
        return ended.err.decode()

    def test_every_verb_refuses_to_write_over_what_it_reads(self):
        profile = ["--profile", "p.json", "-p", "2", "-m", "2"]
        schedule = ["--schedule", "s.csv", "-o", "s.csv"]
        for arguments in (["simulate", *profile, "-o", "p.json"],
                          ["simulate", *profile, "--trace", "p.json"],
                          ["simulate", *profile, "--save-run", "p.json"],
                          ["simulate", *profile, "--export-schedule", "p.json"],
                          ["compare", *profile, "-o", "p.json"],
                          ["whatif", *profile, "--slow", "device=0:2", "-o", "p.json"],
                          ["explain", "step", *profile, "-o", "p.json"],
                          ["live", *profile, "-o", "p.json"],
                          ["export", "--to", "schedule-json", *profile, "-o", "p.json"],
                          ["export", "--to", "chrome-trace", *profile, "-o", "p.json"],
                          ["import", "--from", "profiles", "p.json", "p.json", "-o", "p.json"]):
            self.refused("p.json", *arguments)
        for arguments in (["simulate", *schedule], ["export", "--to", "schedule-json", *schedule],
                          ["whatif", *schedule, "--slow", "device=0:2"]):
            self.refused("s.csv", *arguments)
        for arguments in (["diff", "run.json", "-o", "run.json"], ["diff", "run.json", "run.json", "--trace", "run.json"],
                          ["diff", "run.json", "--bundle", "run.json"],
                          ["import", "--from", "run", "run.json", "-o", "run.json"]):
            self.refused("run.json", *arguments)
        self.refused("t.json", "simulate", "--topology", "t.json", "-p", "8", "-o", "t.json")
        self.refused("job.toml", "simulate", "--config", "job.toml", "-o", "job.toml")

    def test_a_link_does_not_hide_that_it_is_the_same_file(self):
        os.symlink("p.json", self.path("symbolic"))
        os.link(self.path("p.json"), self.path("hard"))
        os.mkdir(self.path("sub"))
        for name in ("symbolic", "hard", "./p.json", "sub/../p.json", self.path("p.json")):
            said = self.refused("p.json", "simulate", "--profile", "p.json", "-p", "2", "-m", "2", "-o", name)
            self.assertIn("the result would take the place of what it is made from: " + name, said)
        self.assertIn("which is the file hard", self.refused("p.json", "simulate", "--profile", "hard", "-p", "2", "-m",
                                                             "2", "--trace", "symbolic"))

    def test_standard_output_that_is_the_input_is_refused_too(self):
        before = self.read("run.json")
        with open(self.path("run.json"), "ab") as same:
            ended = self.run_here("diff", "run.json", stdout=same)
        self.assertEqual(ended.status, 2, ended.err)
        self.assertIn(b"standard output, which is the file run.json", ended.err)
        self.assertEqual(self.read("run.json"), before)

    def test_the_name_of_standard_output_does_not_replace_what_it_goes_to(self):
        ended = attack.run("-c", '{ echo first; "$0" simulate -p 2 -m 2 -o /dev/stdout; } > all.txt', attack.BINARY,
                           binary="/bin/bash", folder=self.folder)
        self.assertEqual(ended.status, 0, ended.err)
        with open(os.path.join(self.folder, "all.txt"), encoding="utf-8") as file:
            self.assertTrue(file.read().startswith("first\n1f1b on 2 devices"))

    def test_two_results_for_one_file_are_refused_whatever_they_are_called(self):
        self.write("old", "old")
        os.link(self.path("old"), self.path("hard"))
        os.symlink("new", self.path("dangling"))
        for one, other in (("old", "hard"), ("old", "./old"), ("new", "dangling")):
            ended = self.run_here("simulate", "-p", "2", "-m", "2", "--trace", one, "--save-run", other)
            self.assertEqual(ended.status, 2, (one, other, ended.err))
            self.assertIn(b"error[C066]", ended.err)
        self.assertEqual(self.read("old"), b"old")

    def test_a_result_beside_the_input_is_written_and_may_be_read_back(self):
        self.made("simulate", "--profile", "p.json", "-p", "2", "-m", "2", "-o", "out.txt", "--trace", "t", "--save-run",
                  "r.json")
        self.made("diff", "r.json", "-o", "out.txt")
        self.write("s.json", json.dumps({"schema": "debubble.suite/1", "name": "s", "baseline": "b.json", "scenarios": [
            {"name": "a", "scenario": {"devices": 2, "microbatches": 2}}]}))
        for _ in range(2):  # the second time over a baseline that was read
            self.made("check", "--accept", "s.json")
        self.made("check", "s.json")


class WhatIsReplaced(InFolder):
    def test_mode_is_kept_and_another_name_is_told(self):
        self.write("out.txt", "old")
        os.chmod(self.path("out.txt"), 0o640)
        self.assertEqual(self.run_here("simulate", "-p", "2", "-m", "2", "-o", "out.txt").err, b"")
        self.assertEqual(stat.S_IMODE(os.stat(self.path("out.txt")).st_mode), 0o640)
        os.link(self.path("out.txt"), self.path("other"))
        former = self.read("other")
        ended = self.run_here("simulate", "-p", "2", "-m", "3", "-o", "out.txt")
        self.assertEqual(ended.err, b"note: out.txt is a new file; the other names of the former one (hard links) keep the "
                                    b"former text\n")
        self.assertEqual(ended.status, 0)
        self.assertEqual(self.read("other"), former)
        self.assertNotEqual(self.read("out.txt"), former)

    def test_owner_and_group_are_kept_by_root(self):
        if os.getuid() != 0:
            self.skipTest("only root gives files away")
        self.write("out.txt", "old")
        os.chown(self.path("out.txt"), 12345, 23456)
        os.chmod(self.path("out.txt"), 0o664)
        ended = self.run_here("simulate", "-p", "2", "-m", "2", "-o", "out.txt")
        self.assertEqual((ended.status, ended.err), (0, b""))
        found = os.stat(self.path("out.txt"))
        self.assertEqual((found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)), (12345, 23456, 0o664))


class Interrupted(InFolder):
    def test_no_signal_that_ends_a_run_leaves_a_part_of_a_file(self):
        for one in (signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGALRM, signal.SIGUSR1,
                    signal.SIGUSR2, signal.SIGXCPU):
            child = subprocess.Popen([attack.BINARY, "simulate", "-p", "32", "-m", "4000", "--trace", "t.json", "-o", "o"],
                                     cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.wait_until(lambda: any(name.endswith(".part") for name in os.listdir(self.folder))
                            or child.poll() is not None)
            child.send_signal(one)
            status = child.wait(60)
            self.assertNotEqual(status, 0, one)
            self.assertEqual(os.listdir(self.folder), [], one)

    def test_a_file_that_may_not_grow_is_an_error_of_the_write(self):
        ended = attack.run("-c", 'ulimit -f 8; "$0" simulate -p 32 -m 400 --trace t.json -o o', attack.BINARY,
                           binary="/bin/bash", folder=self.folder)
        self.assertEqual(ended.status, 2)
        self.assertIn(b"error[C051]: cannot write: File too large", ended.err)
        self.assertEqual(os.listdir(self.folder), [])


class NothingToWriteTo(InFolder):
    def test_a_closed_or_full_standard_output_is_an_error_of_every_text(self):
        for arguments in (["--help"], ["--version"], ["help"], ["simulate", "--help"], ["import", "--help"],
                          ["list", "schedules"], ["explain", "C005"]):
            ended = self.run_here(*arguments, stdout=None, close=1)
            self.assertEqual(ended.status, 2, arguments)
            self.assertIn(b"error[C051]", ended.err)
            with open("/dev/full", "wb") as full:
                self.assertEqual(self.run_here(*arguments, stdout=full).status, 2, arguments)


if __name__ == "__main__":
    attack.main()
