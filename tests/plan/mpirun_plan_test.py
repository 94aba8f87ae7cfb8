#!/usr/bin/env python3
"""`debubble plan` on four processes, as people start it: by mpirun.

    mpirun_plan_test.py MPIRUN DEBUBBLE [unittest's arguments]
"""

import os
import pathlib
import signal
import subprocess
import sys
import unittest

MPIRUN, DEBUBBLE = sys.argv[1:3]

# More ranks than cores, as root; Open MPI itself is not clean in the eyes of the sanitizers.
ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "ASAN_OPTIONS": "detect_leaks=0",
    "TSAN_OPTIONS": "ignore_noninstrumented_modules=1",
    "NO_COLOR": "1",
}
JOB = ["--model", "gpt2-large", "--gpus", "8", "--global-batch", "32", "--threads", "1"]
# Seconds of work, so that it is at it when a rank dies.
LONG = ["--model", "llama3-70b", "--gpus", "64", "--global-batch", "256", "--threads", "1"]


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=200, check=False,
                          env={**ENVIRONMENT, **more})


def plan(*flags):
    return run(DEBUBBLE, "plan", *flags)


def rank_of(process):
    """The MPI rank of a debubble that mpirun started, or None."""
    try:
        if b"debubble" not in (process / "cmdline").read_bytes().split(b"\0")[0]:
            return None
        for variable in (process / "environ").read_bytes().split(b"\0"):
            if variable.startswith(b"OMPI_COMM_WORLD_RANK="):
                return int(variable.split(b"=")[1])
    except OSError:
        pass
    return None


def ranks_at_work():
    """The processes of rank 2 of the long job."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if rank_of(path) == 2 and b"256" in (path / "cmdline").read_bytes():
                found.append(int(path.name))
        except OSError:
            continue  # it has just ended
    return found


class PlansOverMpi(unittest.TestCase):
    def test_four_processes_print_the_bytes_of_one(self):
        for form in ("text", "csv", "json"):
            one = plan(*JOB, "--format", form)
            four = run(MPIRUN, "-n", "4", DEBUBBLE, "plan", *JOB, "--format", form)
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
            mine = ranks_at_work()
            for pid in mine:
                os.kill(pid, signal.SIGKILL)
            try:
                out, rest = process.communicate(timeout=150)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        said += rest
        self.assertEqual(len(mine), 1, said)
        self.assertIn("silent for 2 s: others do its", said)
        self.assertEqual(out, plan(*LONG, "--format", "csv").stdout, said)

    def test_ranks_of_different_plans_are_told_apart(self):
        done = run(MPIRUN, "-n", "1", DEBUBBLE, "plan", *JOB, ":", "-n", "1", DEBUBBLE, "plan", *LONG)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("E011"), 1, done.stderr)
        self.assertIn("rank 1 on", done.stderr)

    def test_wrong_flags_are_told_once(self):
        done = run(MPIRUN, "-n", "4", DEBUBBLE, "plan", *JOB, "--fix", "nothing=2")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("C002"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
