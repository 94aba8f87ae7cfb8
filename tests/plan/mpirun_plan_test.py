#!/usr/bin/env python3
"""`debubble plan` on four processes, as people start it: by mpirun.

    mpirun_plan_test.py MPIRUN DEBUBBLE [unittest's arguments]
"""

import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from mpirun import ENVIRONMENT, PATIENCE, by_rank, kill_rank, run  # noqa: E402

MPIRUN, DEBUBBLE = sys.argv[1:3]

JOB = ["--model", "gpt2-large", "--gpus", "8", "--global-batch", "32", "--threads", "1"]
# Seconds of work, so that it is at it when a rank dies.
LONG = ["--model", "llama3-70b", "--gpus", "64", "--global-batch", "256", "--threads", "1"]


def plan(*flags):
    return run(DEBUBBLE, "plan", *flags, timeout=200)


class PlansOverMpi(unittest.TestCase):
    def test_four_processes_print_the_bytes_of_one(self):
        for form in ("text", "csv", "json"):
            one = plan(*JOB, "--format", form)
            four = run(MPIRUN, "-n", "4", DEBUBBLE, "plan", *JOB, "--format", form, timeout=200)
            self.assertEqual(one.returncode, 0, one.stderr)
            self.assertEqual(four.returncode, 0, four.stderr)
            self.assertEqual(four.stdout, one.stdout)
            self.assertGreater(len(one.stdout), 300)

    def test_a_job_that_fits_nowhere_is_the_same_too(self):
        flags = [*JOB, "--memory", "1GiB", "--format", "csv"]
        one = plan(*flags)
        four = run(MPIRUN, "-n", "4", DEBUBBLE, "plan", *flags)
        self.assertEqual((one.returncode, four.returncode), (1, 1), four.stderr)
        self.assertEqual(four.stdout, one.stdout)

    def test_with_recovery_the_others_do_the_work_of_a_dead_rank(self):
        command = [MPIRUN, "--enable-recovery", "-n", "4", DEBUBBLE, "plan", *LONG, "--format", "csv", "--patience", "2"]
        with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            said = ""
            # Rank 0 tells of its search once all have met; who dies earlier takes MPI_Init with him.
            for line in process.stderr:
                said += line
                if "searching" in line:
                    break
            killed = kill_rank(2, b"256")
            try:
                out, rest = process.communicate(timeout=PATIENCE * 150)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        said += rest
        self.assertEqual(len(killed), 1, said)
        self.assertIn("silent for 2 s: others do its", said)
        self.assertEqual(out, plan(*LONG, "--format", "csv").stdout, said)

    def test_ranks_of_different_plans_are_told_apart(self):
        done = run(MPIRUN, *by_rank([DEBUBBLE, "plan", *JOB], [DEBUBBLE, "plan", *LONG]))
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("E011"), 1, done.stderr)
        self.assertIn("rank 1 on", done.stderr)

    def test_a_third_rank_with_another_plan_ends_the_job_though_the_second_has_work(self):
        done = run(MPIRUN, *by_rank(*[[DEBUBBLE, "plan", *LONG, *more] for more in ([], [], ["--zero", "1"])]), timeout=40)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("E011", done.stderr)

    def test_wrong_flags_are_told_once(self):
        done = run(MPIRUN, "-n", "4", DEBUBBLE, "plan", *JOB, "--fix", "nothing=2")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("C002"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
