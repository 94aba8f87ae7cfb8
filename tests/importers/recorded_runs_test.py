#!/usr/bin/env python3
"""traces/measured/recorded_runs.py: made-up recordings whose every number is known, and what it refuses.

    recorded_runs_test.py ROOT BINARY
"""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT, BINARY = pathlib.Path(sys.argv.pop(1)).resolve(), str(pathlib.Path(sys.argv.pop(1)).resolve())
SCRIPT = ROOT / "traces/measured/recorded_runs.py"


def threads(replica=0):
    return [{"name": "thread_name", "ph": "M", "pid": replica, "tid": 10 * replica + 2 * rank + place,
             "args": {"name": f"PP rank {rank}, TP rank 0, {stream}"}}
            for rank in range(2) for place, stream in enumerate(("compute", "pp-comm"))]


def span(name, rank, place, begin, length, step, replica=0):
    computes = name.endswith("compute")
    return {"name": name, "ph": "X", "pid": replica, "tid": 10 * replica + 2 * rank + (0 if computes else 1), "ts": begin,
            "dur": length, "args": {"step": step, "seq_id": place, "model_chunk": 0 if computes else -1,
                                    "mb_id": place if computes else -1}}


def step_of(step, replica=0, longer=0):
    """Two ranks, two microbatches, in us: F 10 and B 20 on both, 1 us for each transfer.  0: F0 F1 . . B0 . B1;
    1: . F0 B0 F1 B1"""
    at, events = 1000 * step, []
    for k in range(2):
        wait = at + 30 * k
        events += [span("forward-compute", 0, k, at + 10 * k, 10, step, replica),
                   span("forward-send", 0, k, at + 10 * k + 10, 1.5, step, replica),
                   span("forward-recv", 1, k, wait + 1, 2 if k else 10, step, replica),
                   span("forward-compute", 1, k, wait + 11, 10, step, replica),
                   span("backward-compute", 1, k, wait + 21, 20, step, replica),
                   span("backward-send", 1, k, wait + 41, 1, step, replica),
                   span("backward-recv", 0, k, wait + 30, 12, step, replica),
                   span("backward-compute", 0, k, wait + 42, 20 + longer, step, replica)]
    return events


def rank_of(*iterations):
    """A file of Primus: of each iteration its number, how many microbatches, and the ms of a forward and a backward."""
    rank = {}
    for number, count, forward, backward in iterations:
        begins = [k * (forward + backward) for k in range(count)]
        rank[str(number)] = {"total": 1.0, "memory": 1.0, "fwd_start": begins, "fwd_end": [at + forward for at in begins],
                             "bwd_start": [at + forward for at in begins],
                             "bwd_end": [at + forward + backward for at in begins]}
    return rank


def config(devices, chunks, microbatches):
    return {"pp_size": devices, "vp_size": chunks, "num_mbs": microbatches, "train_iters": 3}


class RecordedRuns(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def convert(self, tool, files, *more):
        names = []
        for place, content in enumerate(files):
            names.append(str(self.path / f"{place}.json"))
            pathlib.Path(names[-1]).write_text(json.dumps(content), encoding="utf-8")
        return subprocess.run([sys.executable, SCRIPT, tool, *names, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True)

    def run_of(self, *arguments):
        """The run file, which debubble reads."""
        done = self.convert(*arguments)
        self.assertEqual(done.stderr, "")
        (self.path / "run.json").write_text(done.stdout, encoding="utf-8")
        read = subprocess.run([BINARY, "diff", "run.json", "--format", "json"], cwd=self.path, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        self.assertEqual((read.returncode, read.stderr), (0, ""))
        self.shown = json.loads(read.stdout)
        return json.loads(done.stdout)

    def refused(self, said, *arguments):
        done = self.convert(*arguments)
        self.assertEqual((done.returncode, done.stdout), (1, ""), arguments)
        self.assertIn(said, done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_spans_every_op_and_transfers_from_the_later_start_of_their_two_ends(self):
        other = {"name": "optimizer", "ph": "X", "pid": 0, "tid": 0, "ts": 1, "dur": 2}
        run = self.run_of("straggler", [step_of(7) + step_of(9) + threads() + [other]])  # the names may come last
        self.assertEqual(run["schedule"]["rows"], ["0F0,0F1,0B0,0B1", "1F0,1B0,1F1,1B1"])
        self.assertEqual((run["schedule"]["name"], self.shown["schedule"]["name"]), ("1f1b", "1f1b"))
        self.assertEqual(len(run["iterations"]), 2)
        first = run["iterations"][0]
        self.assertEqual(first["begin_ns"], [[0, 10000, 42000, 72000], [11000, 21000, 41000, 51000]])
        self.assertEqual(first["end_ns"], [[10000, 20000, 62000, 92000], [21000, 41000, 51000, 71000]])
        # 0F0: sent at 10 us; the receiver waited from 1 us on. 0F1: sent at 20 us, and received from 31 us on.
        self.assertEqual(first["transfers"]["ops"], "0F0,0F1,1B0,1B1")
        self.assertEqual(first["transfers"]["begin_ns"], [10000, 31000, 41000, 71000])
        self.assertEqual(first["transfers"]["end_ns"], [11000, 33000, 42000, 72000])
        self.assertEqual([(one["forward_ns"], one["backward_ns"]) for one in run["costs"]["stages"]], [(10000, 20000)] * 2)
        self.assertEqual((run["links"]["latency_ns"], run["losses"]), (1000, []))
        self.assertEqual(self.shown["transfers_matched"], 4)

    def test_spans_steps_that_lack_an_op_are_left_out_and_overlaps_trimmed(self):
        events = threads() + step_of(7) + step_of(8) + [span("forward-compute", 0, 0, 9000, 10, 9)]
        self.assertEqual(self.run_of("straggler", [events])["losses"],
                         [{"what": "iterations that are not whole", "count": 1}])
        events = threads() + step_of(7)
        events[4]["dur"] = 10.4  # rank 0's first forward
        run = self.run_of("straggler", [events])
        self.assertEqual(run["iterations"][0]["end_ns"][0][0], 10000)
        self.assertEqual([one["count"] for one in run["losses"]], [1])
        events[4]["dur"] = 13
        self.refused("rank 0 begins 0F1 before the op before it ends", "straggler", [events])

    def test_spans_a_slow_worker_is_named_with_its_factor(self):
        events = [event for replica in range(3) for event in threads(replica) + step_of(7, replica, 10 if replica == 1 else 0)]
        run = self.run_of("straggler", [events], "2")
        self.assertEqual(run["origin"]["notes"][1:], [
            "replica 2 of 3 data-parallel pipelines",
            "rank 0 of replica 1 is 1.50 times slower than in the other replicas (B 30.00 us against 20.00 us), in 1 of 1 "
            "steps"])

    def test_spans_that_cannot_be_read_are_refused(self):
        good = threads() + step_of(7)
        self.refused("there is no replica 1; the trace has 1", "straggler", [good], "1")
        self.refused("no compute span is of a thread with a name", "straggler", [step_of(7)])
        self.refused("the trace has no op of pipeline rank 0", "straggler",
                     [[event for event in good if event["ph"] == "M" or event["tid"] > 1]])
        late, twice = copy.deepcopy(good), copy.deepcopy(good)
        late[4]["ts"] = "late"
        self.refused("'late' is no time", "straggler", [late])
        twice[7 + 5]["args"]["mb_id"] = 0
        self.refused("twice", "straggler", [twice])

    def test_primus_times_in_ms_and_warm_up_left_out(self):
        rank = rank_of((1, 2, 10, 20), (2, 2, 1, 2.5), (3, 2, 1, 2.5))
        run = self.run_of("primus", [config(1, 1, 2), rank])
        self.assertEqual(len(run["iterations"]), 2)
        self.assertEqual(run["schedule"]["rows"], ["0F0,0B0,0F1,0B1"])
        self.assertEqual(run["iterations"][0]["begin_ns"], [[0, 1000000, 3500000, 4500000]])
        self.assertEqual(run["iterations"][0]["end_ns"], [[1000000, 3500000, 4500000, 7000000]])
        self.assertEqual(run["origin"]["notes"][1],
                         "1 iteration at the start, more than a quarter longer than the median, left out as warm-up")
        self.assertEqual(self.shown["clocks"]["residual_ns"], None)

    def test_primus_transfers_take_what_ops_begin_after_their_inputs(self):
        first, last = rank_of((2, 1, 1, 2)), rank_of((2, 1, 1, 2))
        for key, shift in (("bwd_start", 3.5), ("bwd_end", 3.5)):
            first["2"][key] = [time + shift for time in first["2"][key]]
        for key in ("fwd_start", "fwd_end", "bwd_start", "bwd_end"):
            last["2"][key] = [time + 1.25 for time in last["2"][key]]
        run = self.run_of("primus", [config(2, 1, 1), first, last])
        self.assertEqual(run["links"], {"latency_ns": 250000, "p2p": "coupled"})
        self.assertEqual(run["iterations"][0]["transfers"]["ops"], "")
        self.assertEqual((self.shown["links"], self.shown["transfers_matched"]), ([], 0))

    def test_primus_chunks_are_of_the_interleaved_order(self):
        """Two ranks, two chunks, two microbatches: all forwards, then all backwards, 10 ms for each step of the order."""
        ranks = []
        for rank in range(2):
            begins = [10 * (k + rank) for k in range(4)]
            backwards = [100 + 10 * (k + 1 - rank) for k in range(4)]
            ranks.append({"2": {"fwd_start": begins, "fwd_end": [at + 9 for at in begins], "bwd_start": backwards,
                                "bwd_end": [at + 9 for at in backwards]}})
        run = self.run_of("primus", [config(2, 2, 2), *ranks])
        self.assertEqual(run["schedule"]["rows"], ["0F0,0F1,2F0,2F1,2B0,2B1,0B0,0B1", "1F0,1F1,3F0,3F1,3B0,3B1,1B0,1B1"])
        self.assertEqual((run["schedule"]["stages"], run["schedule"]["placement"]), (4, [[0, 1, 0, 1]]))
        self.assertEqual(run["links"], {"latency_ns": 1000000, "p2p": "overlapped"})

    def test_primus_files_that_do_not_belong_together_are_refused(self):
        rank = rank_of((2, 4, 1, 2))
        self.refused("1 rank are given, but pp_size of config.json is 2", "primus", [config(2, 1, 4), rank])
        self.refused("2 ranks are given, but pp_size of config.json is 1", "primus", [config(1, 1, 4), rank, rank])
        self.refused("iteration 2 has 4 forwards, but num_mbs * vp_size is 5", "primus", [config(1, 1, 5), rank])
        self.refused("1 are no multiple of 2", "primus", [config(2, 4, 1), rank, rank])
        self.refused("no iteration is in the files of all ranks", "primus",
                     [config(2, 1, 4), rank, rank_of((3, 4, 1, 2))])
        uneven, wrong = copy.deepcopy(rank), copy.deepcopy(rank)
        del uneven["2"]["bwd_end"][0]
        self.refused("the four lists of times of rank 0 are not equally long", "primus", [config(1, 1, 4), uneven])
        wrong["2"]["fwd_end"][1] = "soon"
        self.refused("'soon' is no time", "primus", [config(1, 1, 4), wrong])


if __name__ == "__main__":
    unittest.main()
