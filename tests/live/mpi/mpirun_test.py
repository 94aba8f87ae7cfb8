#!/usr/bin/env python3
"""`debubble live --backend mpi` as people start it: by mpirun. With the fake GPU and the fake NCCL also on GPUs.

    mpirun_test.py MPIRUN DEBUBBLE WRONG_PLUGIN FAKE_CUDA FAKE_NCCL [unittest's arguments]
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from mpirun import ENVIRONMENT, PATIENCE, by_rank, is_running, run, signal_rank  # noqa: E402

MPIRUN, DEBUBBLE, WRONG_PLUGIN, FAKE_CUDA, FAKE_NCCL = sys.argv[1:6]

LIVE = [DEBUBBLE, "live", "--backend", "mpi"]
SMALL = ["--schedule", "1f1b", "-p", "4", "-m", "4", "--times", "f=1,b=2"]


def live(ranks, *flags, **more):
    return run(MPIRUN, "-n", str(ranks), *LIVE, *flags, **more)


class OverMpi(unittest.TestCase):
    def equals_simulation(self, ranks, *flags):
        measured = live(ranks, "--clock", "logical", *flags, "--format", "json")
        self.assertEqual(measured.returncode, 0, measured.stderr)
        predicted = run(DEBUBBLE, "simulate", *flags, "--format", "json")
        self.assertEqual(predicted.returncode, 0, predicted.stderr)
        reports = [json.loads(done.stdout) for done in (measured, predicted)]
        for report in reports:
            for key in ("command_line", "steady_period_ns", "assumptions", "notes"):
                report.pop(key, None)
            if report.get("limit"):
                report["limit"].pop("more_microbatches")  # a run is not simulated with others
        self.assertEqual(*reports)

    def test_4_ranks_equal_the_simulation(self):
        self.equals_simulation(4, *SMALL, "--comm", "5us")

    def test_5_ranks_with_a_split_backward_equal_the_simulation(self):
        self.equals_simulation(5, "--schedule", "zb-h1", "-p", "5", "-m", "10", "--times", "f=1,b=1,w=1")

    def test_blocking_transfers_equal_the_simulation(self):
        self.equals_simulation(3, "--schedule", "gpipe", "-p", "3", "-m", "4", "--times", "f=1,b=2", "--p2p",
                               "blocking", "--comm", "100us")

    def test_a_lost_message_is_reported_with_every_position(self):
        done = live(4, *SMALL, "--fault", "drop=1F2", "--watchdog", "1")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("a message was lost", done.stdout)
        self.assertIn("the activation 1F2 of device 1, which device 1 has sent", " ".join(done.stdout.split()))
        for device in range(4):
            self.assertIn(f"d{device} is at", done.stdout)

    def test_a_deadlock_is_reported_and_nobody_hangs(self):
        done = live(3, "--schedule", "gpipe", "-p", "3", "-m", "4", "--times", "f=1,b=2", "--fault", "swap=0F3",
                    "--watchdog", "1")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("deadlock", done.stdout)
        self.assertIn("d0 is at 0B3", done.stdout)

    def test_changed_bytes_are_found_and_named(self):
        done = live(4, *SMALL, "--fault", "corrupt=1F2")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("2F2 on device 2 expected the activation 1F2", " ".join(done.stdout.split()))
        self.assertEqual(done.stdout.count("2F2 on device 2"), 1)  # rank 0 speaks for all

    def test_messages_longer_than_mpi_sends_at_once_arrive_before_the_end(self):
        # Open MPI then hands a message over only when both ends are inside MPI.
        for fault, words in (("drop=1F2", "a message was lost"), ("corrupt=1F2", "2F2 on device 2 expected")):
            done = run(MPIRUN, "-n", "4", "--mca", "btl_vader_eager_limit", "128", *LIVE, *SMALL, "--fault", fault,
                       "--watchdog", "1")
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn(words, " ".join(done.stdout.split()))

    def test_a_slow_device_makes_the_run_longer(self):
        longer = live(4, *SMALL, "--clock", "logical", "--fault", "slow=2:2", "--format", "json")
        self.assertEqual(longer.returncode, 0, longer.stderr)
        usual = json.loads(run(DEBUBBLE, "simulate", *SMALL, "--format", "json").stdout)
        self.assertGreater(json.loads(longer.stdout)["makespan_ns"], usual["makespan_ns"])

    def test_when_a_rank_dies_the_others_say_where_they_were(self):
        done = live(4, *SMALL, "--fault", "kill=2F1")
        self.assertEqual(done.returncode, 137, done.stdout + done.stderr)  # mpirun's, for SIGKILL
        self.assertIn("process rank 2", done.stderr)  # mpirun's words
        last_words = [line for line in done.stderr.splitlines() if "was ended from outside" in line]
        self.assertGreaterEqual(len(last_words), 1, done.stderr)
        for line in last_words:
            self.assertRegex(line, r"^debubble: rank [013] on \S+ was ended from outside (at \d[FB]\d, op|behind)")
        self.assertEqual(len(set(last_words)), len(last_words))

    def with_a_rank_stopped(self, rank, in_the_start=False):
        """What it printed on stdout and stderr. Behind the abort, mpirun of Open MPI 4.1 crashes now and then in its own
        end (PMIx_server_finalize, says its own trace of calls): such a run is made again."""
        for _ in range(3):
            status, out, err = self.stop_a_rank(rank, in_the_start)
            if status != -signal.SIGSEGV or "PMIx_server_finalize" not in err:
                break
        self.assertEqual(status, 1, out + err)
        return " ".join(out.split()), err

    def stop_a_rank(self, rank, in_the_start):
        """A run of minutes, one rank of which is stopped: as soon as its process is there, or when all are at work."""
        mark = f"{os.getpid()}us"  # an emulated latency: this run's mark
        command = [MPIRUN, "-n", "4", *LIVE, "--schedule", "1f1b", "-p", "4", "-m", "64", "--times", "f=40,b=80",
                   "--clock", "logical", "--repetitions", "100000", "--comm", mark, "--watchdog", "2"]
        stopped = []
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as err:
            def said():
                return pathlib.Path(err.name).read_text(encoding="utf-8")

            with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=err, text=True) as run_of_4:
                try:
                    until = time.monotonic() + 60
                    while not in_the_start and not re.search("iteration [0-9]", said()) and time.monotonic() < until:
                        time.sleep(0.05)
                    while not stopped and run_of_4.poll() is None:
                        stopped = signal_rank(rank, mark.encode(), signal.SIGSTOP)
                    out, _ = run_of_4.communicate(timeout=PATIENCE * 60)
                finally:
                    for other in range(4):
                        signal_rank(other, mark.encode(), signal.SIGKILL)
                    run_of_4.kill()
            self.assertEqual(len(stopped), 1, said())
            for _ in range(50):
                if not is_running(stopped[0]):
                    break
                time.sleep(0.1)
            self.assertFalse(is_running(stopped[0]), "the stopped process is left behind")
            return run_of_4.returncode, out, said()

    def test_a_rank_that_is_stopped_is_named_and_the_others_end(self):
        out, _ = self.with_a_rank_stopped(2)
        self.assertIn("stuck: rank 2 has given no sign of life for 2 s", out)
        for device in range(4):  # between two iterations a row has ended
            self.assertRegex(out, f"d{device} (is at|has finished its row)")

    def test_when_rank_0_is_stopped_another_names_it(self):
        _, err = self.with_a_rank_stopped(0)
        self.assertRegex(err, r"rank 1 on \S+: rank 0 has given no sign of life for 2 s")

    def test_a_rank_that_is_stopped_in_the_start_is_named(self):
        for rank in (0, 1):
            out, err = self.with_a_rank_stopped(rank, in_the_start=True)
            self.assertEqual(out, "")
            self.assertRegex(err, rf"rank {rank} \(process \d+\) has been stopped for more than 2 s")

    def test_another_number_of_ranks_is_refused_once(self):
        done = live(3, *SMALL)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("E010"), 1, done.stderr)
        self.assertIn("4 devices", done.stderr)
        self.assertIn("mpirun started 3", done.stderr)
        self.assertIn("mpirun -n 4 debubble live --backend mpi", done.stderr)

    def test_without_mpirun_it_says_how_to_start(self):
        done = run(*LIVE, *SMALL)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("E010", done.stderr)
        self.assertIn("mpirun -n 4 debubble live --backend mpi", done.stderr)

    def test_ranks_with_different_costs_are_told_apart(self):
        flags = ["--schedule", "gpipe", "-p", "2", "-m", "2", "--times"]
        done = run(MPIRUN, *by_rank([*LIVE, *flags, "f=1,b=2"], [*LIVE, *flags, "f=1,b=3"]))
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("E011"), 1, done.stderr)
        self.assertIn("rank 1 on", done.stderr)
        self.assertIn("has other costs or links than rank 0", done.stderr)

    def test_without_mpi_it_says_what_to_install(self):
        for plugin, reason in (("/nowhere/libdebubble_mpi.so", "there is no /nowhere/libdebubble_mpi.so"),
                               (os.path.abspath(__file__), "cannot be loaded"),
                               (WRONG_PLUGIN, "another version")):
            done = run(*LIVE, *SMALL, DEBUBBLE_MPI_PLUGIN=plugin)
            self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
            self.assertIn("U052", done.stderr)
            self.assertIn(reason, " ".join(done.stderr.split()))
            self.assertIn("install", done.stderr)


class OnGpus(unittest.TestCase):
    MODEL = ["--gpus", "each", "--schedule", "1f1b", "-p", "2", "-m", "3", "--model", "tiny-gpt", "--seq", "32",
             "--repetitions", "2"]

    FAKES = {"DEBUBBLE_LIBCUDA": FAKE_CUDA, "DEBUBBLE_CUBLASLT": FAKE_CUDA, "DEBUBBLE_NVRTC": FAKE_CUDA,
             "DEBUBBLE_LIBNCCL": FAKE_NCCL, "FAKE_CUDA": "gpus=2"}

    def on_gpus(self, *flags, **more):
        return live(2, *self.MODEL, *flags, **{**self.FAKES, **more})

    def with_visible(self, *lists, fake_cuda="gpus=4"):
        """Every rank with its own CUDA_VISIBLE_DEVICES, as launchers set it."""
        ranks = [["env", f"CUDA_VISIBLE_DEVICES={visible}", *LIVE, *self.MODEL] for visible in lists]
        return run(MPIRUN, *by_rank(*ranks), **{**self.FAKES, "FAKE_CUDA": fake_cuda})

    def test_2_gpus_hand_each_other_every_tensor(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "run.json")
            done = self.on_gpus("--save-run", file)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(file, encoding="utf-8") as text:
                record = json.load(text)
        self.assertEqual(record["origin"]["backend"], "mpi+nccl")
        self.assertIn("NCCL 2.28.9", record["origin"]["libraries"])
        self.assertEqual(len(record["iterations"]), 2)

    def test_a_launcher_may_give_every_rank_one_gpu(self):
        # As srun --gpus-per-task=1 does: rank 1 sees one GPU, which is GPU 0 to it.
        for lists in (("0", "1"), ("3", "1"), ("2,3", "0,1")):
            done = self.with_visible(*lists)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_two_ranks_on_one_gpu_are_told_so(self):
        for lists in (("1", "1"), ("0,1", "1,0")):
            done = self.with_visible(*lists)
            said = " ".join(done.stderr.split())
            self.assertEqual(done.returncode, 3, done.stdout + said)
            self.assertEqual(said.count("error[U021]"), 1, said)
            self.assertIn("ranks 0 and 1 have the same GPU", said)
            self.assertIn("--gpus-per-task=1", said)

    def test_more_ranks_than_visible_gpus_are_told_so(self):
        done = run(MPIRUN, "-n", "3", *LIVE, "--gpus", "each", "--schedule", "gpipe", "-p", "3", "-m", "3", "--model",
                   "tiny-gpt", "--seq", "32", **{**self.FAKES, "FAKE_CUDA": "gpus=2"})
        said = " ".join(done.stderr.split())
        self.assertEqual(done.returncode, 3, done.stdout + said)
        self.assertEqual(said.count("error[U021]"), 1, said)
        self.assertIn("2 GPUs are visible to it, for 3 ranks", said)

    def test_a_tensor_changed_between_gpus_is_found(self):
        done = self.on_gpus("--fault", "corrupt=0F1")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        said = " ".join(done.stdout.split())
        self.assertIn("1F1 on device 1 expected the activation 0F1", said)
        self.assertIn("with changed bytes", said)  # of the payload, not of its tag

    def test_a_rank_that_cannot_connect_ends_all(self):
        for rank in range(2):
            done = self.on_gpus(FAKE_NCCL=f"fail={rank}")
            self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
            self.assertEqual(done.stderr.count("error[U027]"), 1, done.stderr)
            self.assertIn(f"rank {rank} on", done.stderr)

    def test_ranks_with_different_models_are_told_apart(self):
        flags = [*LIVE, *self.MODEL]
        done = run(MPIRUN, *by_rank(flags, [*flags[:-4], "--seq", "64", "--repetitions", "2"]))
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("another model, size, partition or kind of device", " ".join(done.stderr.split()))

    def test_a_gpu_is_not_made_faster(self):
        done = self.on_gpus("--fault", "slow=1:0.5")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("error[E003]"), 1, done.stderr)

    def test_a_tensor_lost_between_gpus_is_reported(self):
        done = self.on_gpus("--fault", "drop=0F1", "--watchdog", "1")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("a message was lost", done.stdout)

    def test_what_gpus_lack_is_said_once(self):
        for more, code in (({"DEBUBBLE_LIBNCCL": "/nowhere"}, "U054"), ({"FAKE_NCCL": "version=21705"}, "U054"),
                           ({"FAKE_NCCL": "fail"}, "U027"), ({"FAKE_CUDA": "gpus=1"}, "U021")):
            done = self.on_gpus(**more)
            self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
            self.assertEqual(done.stderr.count(f"error[{code}]"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]], verbosity=2)
