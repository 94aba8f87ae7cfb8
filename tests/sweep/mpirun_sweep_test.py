#!/usr/bin/env python3
"""`debubble sweep` on four processes, as people start it: by mpirun.

    mpirun_sweep_test.py MPIRUN DEBUBBLE [unittest's arguments]
"""

import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from mpirun import ENVIRONMENT, PATIENCE, by_rank, kill_rank, run  # noqa: E402

MPIRUN, DEBUBBLE = sys.argv[1:3]

SMALL = ["--schedule", "1f1b,zb-h1,chimera", "-p", "2:7", "-m", "4:16:+2", "--comm", "0,0.1"]
LONG = ["-p", "8", "-m", "64", "--comm", "0.001:8:+0.001"]


def sweep(*flags):
    return run(DEBUBBLE, "sweep", *flags)


class SweepsOverMpi(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.file = pathlib.Path(self.folder.name) / "rows.csv"

    def tearDown(self):
        self.folder.cleanup()

    def start_and_kill(self, rank, *flags, options=()):
        """A long sweep on 4 processes, one of which is killed when rows have been written."""
        command = [MPIRUN, *options, "-n", "4", DEBUBBLE, "sweep", *LONG, "--format", "csv", "-o", str(self.file), *flags]
        with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True) as process:
            end = time.monotonic() + 60
            while time.monotonic() < end and not (self.file.exists() and self.file.stat().st_size > 20000):
                time.sleep(0.005)
            killed = kill_rank(rank, self.file.as_posix().encode())
            _, said = process.communicate(timeout=PATIENCE * 100)
        self.assertEqual(len(killed), 1, said)
        return process.returncode, said

    def test_four_processes_write_the_bytes_of_one(self):
        for form in ("csv", "json", "text"):
            one = sweep(*SMALL, "--format", form)
            four = run(MPIRUN, "-n", "4", DEBUBBLE, "sweep", *SMALL, "--format", form)
            self.assertEqual(one.returncode, 0, one.stderr)
            self.assertEqual(four.returncode, 0, four.stderr)
            self.assertEqual(four.stdout, one.stdout)
            self.assertGreater(len(one.stdout), 300)

    def test_more_processes_than_rows(self):
        one = sweep("-m", "8", "--format", "csv")
        four = run(MPIRUN, "-n", "4", DEBUBBLE, "sweep", "-m", "8", "--format", "csv")
        self.assertEqual((four.returncode, four.stdout), (0, one.stdout), four.stderr)

    def test_a_dead_rank_costs_its_open_work_only(self):
        code, said = self.start_and_kill(2)
        self.assertNotEqual(code, 0, said)
        whole = sweep(*LONG, "--format", "csv").stdout
        cut = self.file.read_text()
        self.assertTrue(whole.startswith(cut[:cut.rfind("\n") + 1]))
        rest = sweep(*LONG, "--format", "csv", "-o", str(self.file), "--resume")
        self.assertEqual(rest.returncode, 0, rest.stderr)
        self.assertEqual(self.file.read_text(), whole)

    def test_with_recovery_the_others_do_its_work(self):
        code, said = self.start_and_kill(2, "--patience", "2", options=("--enable-recovery",))
        self.assertIn("rank 2 on", said, code)
        self.assertIn("others do its", said)
        self.assertEqual(self.file.read_text(), sweep(*LONG, "--format", "csv").stdout)

    def test_ranks_of_different_sweeps_are_told_apart(self):
        done = run(MPIRUN, *by_rank([DEBUBBLE, "sweep", *SMALL], [DEBUBBLE, "sweep", *LONG]))
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("E011"), 1, done.stderr)
        self.assertIn("rank 1 on", done.stderr)

    def test_wrong_flags_are_told_once(self):
        done = run(MPIRUN, "-n", "4", DEBUBBLE, "sweep", "--tp", "4:2")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("C006"), 1, done.stderr)

    def test_without_mpi_it_says_what_to_install(self):
        done = run(MPIRUN, "-n", "2", DEBUBBLE, "sweep", *SMALL, DEBUBBLE_MPI_PLUGIN="/nowhere/libdebubble_mpi.so")
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("U052", done.stderr)
        alone = run(DEBUBBLE, "sweep", "-m", "8", DEBUBBLE_MPI_PLUGIN="/nowhere/libdebubble_mpi.so")
        self.assertEqual(alone.returncode, 0, alone.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
