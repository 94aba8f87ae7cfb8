#!/usr/bin/env python3
"""Every reader refuses what is too much while it reads, at bounded memory: readers.py BINARY."""

import gzip
import os

import attack
import outputs
from attack import InFolder

MOST_MEMORY = 200  # MiB, of the whole process
MEBI = 1 << 20


class Readers(InFolder):
    def refused(self, code, *arguments):
        ended = self.run_here(*arguments)
        said = (arguments, ended.err[:400])
        self.assertEqual(ended.status, 2, said)
        self.assertIn(b"error[" + code.encode() + b"]", ended.err, said)
        self.assertLess(len(ended.err), 100_000, arguments)
        self.assertLess(ended.memory, MOST_MEMORY, said)

    def write_repeated(self, name, head, piece, times, tail):
        """In pieces: a child's peak memory begins with that of the process that forked it."""
        with open(self.path(name), "w") as file:
            file.write(head)
            for _ in range(times // 1024):
                file.write(piece * 1024)
            file.write(piece * (times % 1024) + tail)

    # One that reads each kind of file, and the flags that go with it.
    READERS = (["simulate", "--profile"], ["simulate", "--topology"], ["simulate", "--config"],
               ["simulate", "-p", "2", "--model"], ["plan", "--gpus", "8", "--global-batch", "8", "--script"],
               ["import", "--from", "megatron"], ["import", "--from", "profiles", "p.json"],
               ["import", "--from", "kineto"], ["import", "--from", "nsys"], ["import", "--from", "records"],
               ["import", "--from", "run"], ["diff"], ["diff", "--log"], ["check"],
               ["simulate", "-p", "2", "--model", "gpt2-small", "--hardware", "h100", "--efficiency"],
               ["simulate", "-p", "2", "--model", "gpt2-small", "--hardware", "h100", "--kernels"],
               ["simulate", "-p", "2", "--model", "gpt2-small", "--hardware"],
               ["import", "--from", "gemm-table", "--hardware", "h100"])

    def test_a_device_is_no_file(self):
        self.write("p.json", outputs.PROFILE)
        for reader in self.READERS:
            ended = self.run_here(*reader, "/dev/zero")
            self.assertEqual(ended.status, 2, (reader, ended.err[:300]))
            self.assertIn(b"/dev/zero", ended.err, reader)
            self.assertLess(ended.memory, 50, reader)

    def test_a_file_beyond_the_limit_is_refused_by_its_size(self):
        self.write("p.json", outputs.PROFILE)
        for end in (".json", ""):
            with open(self.path("large" + end), "wb") as file:
                file.truncate(20 << 30)  # holds no blocks
        for reader in self.READERS:
            name = "large.json" if reader[-1] in ("--topology", "--model", "--profile", "--hardware") else "large"
            ended = self.run_here(*reader, name)
            self.assertEqual(ended.status, 2, (reader, ended.err[:300]))
            self.assertLess(ended.memory, 50, reader)

    def test_a_small_file_of_much_text(self):
        bomb = gzip.compress(b" " * MEBI, 9) * 4096
        self.write("bomb.csv.gz", bomb)
        for reader in (["simulate", "--schedule"], ["import", "--from", "kineto"], ["import", "--from", "run"], ["diff"],
                       ["diff", "--log"]):
            self.refused("P017", *reader, "bomb.csv.gz")
        self.write("zeros.csv.gz", gzip.compress(b"\0" * MEBI, 9) * 200)
        self.refused("P017", "simulate", "--schedule", "zeros.csv.gz")

    def test_a_pipe_that_never_ends(self):
        os.mkfifo(self.path("pipe.json"))
        for reader in (["simulate", "--profile"], ["simulate", "--config"], ["check"], ["simulate", "--schedule"]):
            ended = attack.run("-c", 'yes > pipe.json & "$0" "$@" pipe.json; status=$?; kill %1; exit $status', attack.BINARY, *reader,
                               binary="/bin/bash", folder=self.folder)
            self.assertEqual(ended.status, 2, (reader, ended.err))
            self.assertIn(b"error[P017]", ended.err)
            self.assertLess(ended.memory, MOST_MEMORY)

    def test_more_values_than_a_file_may_hold(self):
        for name, head, piece, times, tail in (
                ("layers.json", '{"layers":[', '{"name":"a"},', 1_000_000, "{}]}"),
                ("flat.json", "[", "1,", 2 * MEBI, "1]"),
                ("texts.json", '["', 'a","', 2 * MEBI, '"]'),
                ("objects.json", "[", "{},", 2 * MEBI, "{}]"),
                ("nested.json", "[", '[[1,2],{"b":[1]}],', MEBI, "{}]")):
            self.write_repeated(name, head, piece, times, tail)
            self.refused("P017", "simulate", "--profile", name)
            self.refused("P017", "simulate", "--topology", name)
        with open(self.path("keys.json"), "w") as file:
            file.write("{")
            for number in range(1_000_000):
                file.write(f'"{number}":1,')
            file.write('"a":1}')
        self.refused("P017", "simulate", "--profile", "keys.json")

    def test_json_that_is_too_deep(self):
        self.write("deep.json", b"[" * MEBI + b"]" * MEBI)
        self.refused("P018", "simulate", "--profile", "deep.json")
        self.refused("P018", "simulate", "--schedule", "deep.json")
        self.write("s.json", '{"schema": "debubble.suite/1", "name": "s", "baseline": "deep.json", '
                             '"scenarios": [{"name": "a", "scenario": {"devices": 2}}]}')
        self.refused("P010", "check", "s.json")

    def test_tables_of_nothing_but_separators_and_faults(self):
        self.write_repeated("rows.csv", "", "\n", 30 * MEBI, "")
        self.write_repeated("cells.csv", "", ",", 30 * MEBI, "")
        for name in ("rows.csv", "cells.csv"):
            self.refused("P017", "simulate", "--schedule", name)
        self.write_repeated("words.csv", "", "x,", 4_000_000, "")
        self.write_repeated("twice.csv", "", "0F0,", 2_000_000, "")
        self.write_repeated("word.csv", "", "x", 30 * MEBI, "")
        self.refused("T024", "simulate", "--schedule", "words.csv")
        self.refused("T003", "simulate", "--schedule", "twice.csv")
        self.refused("T024", "simulate", "--schedule", "word.csv")

    def test_a_missing_file_is_called_missing(self):
        for reader in self.READERS:
            name = "missing.json" if reader[-1] in ("--topology", "--model", "--profile", "--hardware") else "missing"
            ended = self.run_here(*reader, name)
            self.assertEqual(ended.status, 2, reader)
            self.assertIn(b"No such file", ended.err, reader)

    def test_what_is_within_the_limits_is_read(self):
        self.made("export", "--to", "pytorch-csv", "-p", "64", "-m", "2000", "-o", "s.csv")
        self.made("simulate", "--schedule", "s.csv")
        with open(self.path("s.csv"), "rb") as table:
            self.write("s.csv.gz", gzip.compress(table.read()))
        self.made("simulate", "--schedule", "s.csv.gz")
        self.write("half.csv.gz", self.read("s.csv.gz")[:-100])
        self.refused("K001", "simulate", "--schedule", "half.csv.gz")


class NoMemory(InFolder):
    def limited(self, kibibytes, *arguments):
        return attack.run("-c", f'ulimit -v {kibibytes}; "$0" simulate -p 2 -m 600000 "$@"', attack.BINARY, *arguments,
                          binary="/bin/bash", folder=self.folder)

    def test_a_run_or_a_trace_too_large_for_the_machine_is_refused_before_it_is_tried(self):
        run = self.limited(400_000, "-o", "o")
        self.assertEqual(run.status, 2)
        self.assertIn(b"error[X005]: 2400000 ops take about 378 MiB of memory", run.err)
        trace = self.limited(900_000, "-o", "o", "--trace", "t.json")
        self.assertEqual(trace.status, 2)
        self.assertIn(b"error[X005]: 2400000 ops take about 938 MiB of memory", trace.err)
        self.assertIn(b"a run without a trace", trace.err)
        self.assertEqual(os.listdir(self.folder), [])
        self.assertEqual(self.limited(900_000).status, 0)


if __name__ == "__main__":
    attack.main()
