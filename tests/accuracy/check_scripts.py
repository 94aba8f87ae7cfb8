#!/usr/bin/env python3
"""tools/accuracy: measured runs against independent sums and the bounds that were reached, and plans for records of its own.

    check_scripts.py --binary PATH
"""
import argparse
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/accuracy"))

import measured_runs  # noqa: E402
import published_plans  # noqa: E402
import regret_page  # noqa: E402

# (source or all, level, what, its bound), as shares.
REACHED = [("", "replay", "bubble_mean_absolute_error", 0.0020), ("", "replay", "bubble_worst", 0.0053),
           ("", "replay", "step_worst", 0.0100), ("", "medians", "bubble_mean_absolute_error", 0.0035),
           ("", "medians", "step_mean_absolute_error", 0.0070), ("", "timers", "bubble_mean_absolute_error", 0.0390),
           ("", "timers", "step_mean_absolute_error", 0.0760), ("", "forecast", "bubble_mean_absolute_error", 0.0070),
           ("", "timers", "bubble_worst", 0.1300),  # 256 microbatches over a network that is not modelled
           ("vocabulary-parallelism", "forecast", "step_mean_absolute_error", 0.0100),
           ("sailor", "forecast", "step_mean_absolute_error", 0.0460),
           ("h100-parts", "forecast", "step_mean_absolute_error", 0.0225), ("h100-parts", "forecast", "step_worst", 0.0510),
           ("h100-parts", "forecast", "bubble_mean_absolute_error", 0.0095)]
RUNS = {"replay": 8, "medians": 8, "timers": 4, "forecast": 23}
failures = []


def expect(what, fine):
    if not fine:
        failures.append(what)


def near(a, b, by=1e-9):
    return a is not None and abs(a - b) <= by


def check_published_runs(binary):
    answer = measured_runs.judged_runs(binary)
    sources = {source["name"]: source for source in answer["sources"]}
    for name, level, what, bound in REACHED:
        summary = (sources[name] if name else answer)["summary"][level]
        expect(f"{name or 'all'}, {level}: {what} {summary[what]:.4f}, not below {bound}", abs(summary[what]) < bound)
    expect("runs by level", RUNS == {level: one["runs"] for level, one in answer["summary"].items()})
    expect("bubbles of forecasts", answer["summary"]["forecast"]["bubble_runs"] == 8)
    others = sources["sailor"]["summary_others"]["forecast"]  # the half that is blind to the constant
    expect("Sailor's other half", others["runs"] == 7 and others["step_mean_absolute_error"] < 0.0390)
    expected = json.loads((ROOT / "traces/measured/expected.json").read_text(encoding="utf-8"))
    compared = 0
    for run in answer["runs"]:
        p, m, v = run["devices"], run["microbatches"], 2 if run["schedule"] == "interleaved" else 1
        if run["schedule"] in ("1f1b", "interleaved", "gpipe"):
            expect(f"{run['id']}: the closed form", near(run["ideal_bubble_ratio"], (p - 1) / (m * v + p - 1)))
        straggler = run["id"].startswith("straggler")
        name = (run["id"][:-2] if straggler else run["id"]).replace("-", "_")
        if name in expected:
            steps = expected[name][run["id"][-1] if straggler else "0"]
            bubble = sum(step["bubble"] for step in steps) / len(steps)
            expect(f"{run['id']}: independent sums", near(run["bubble_ratio"], bubble, 1e-4) and run["steps"] == len(steps))
            compared += 1
    expect("12 runs have independent sums", compared == 12)


def check_own_runs(binary, folder):
    measured_runs.FOLDER = folder
    arguments = {"num_layers": 4, "hidden_size": 64, "num_attention_heads": 4, "seq_length": 32, "world_size": 2,
                 "pipeline_model_parallel_size": 2, "micro_batch_size": 1, "global_batch_size": 3}
    log = ["--- arguments ---", *(f" {name} .. {value}" for name, value in arguments.items()), "--- end of arguments ---"]
    for number in (1, 2, 3):
        log += [f" iteration {number}/ 9 | elapsed time per iteration (ms): 15.0 | global batch size: 3 |",
                "time (ms) | forward-compute: 3.0 | backward-compute: 6.0 | optimizer: 2.0"]
    (folder / "train.log").write_text("\n".join(log) + "\n")
    flags = {"devices": 4, "microbatches": 8, "times": "f=1,b=2"}
    listed = {"sources": [{"name": "s", "calibrated_on": ["b"]}], "runs": [
        {"id": "a", "source": "s", "step_ns": 40_000_000, "scenario": {**flags, "step": "optimizer=1"}},
        {"id": "b", "source": "s", "step_ns": 34_000_000, "scenario": {**flags, "schedule": "gpipe"}},
        {"id": "even", "source": "s", "schedule": "1f1b", "microbatches": 6, "forward_ns": [1000, 1000],
         "backward_ns": [2000, 2000], "step_ns": 21500},
        {"id": "log", "source": "s", "log": "train.log"}]}
    answer = measured_runs.judged_runs(binary, listed)
    scenario, _, even, log = answer["runs"]
    forecast = scenario["predicted"]["forecast"]
    expect("a scenario is what simulate makes of it", forecast["step_ns"] == 34e6 and near(forecast["step_error"], -0.15))
    expect("its bubble was not measured", scenario["bubble_ratio"] is None and forecast["bubble_error"] is None)
    expect("its order's bubble", near(scenario["ideal_bubble_ratio"], 3 / 11))
    halves = answer["sources"][0]
    expect("halves", halves["summary_calibrated_on"]["forecast"]["runs"] == 1 and halves["summary_others"]["forecast"]["runs"] == 2)
    expect("stage times give the schedule's arithmetic", even["predicted"]["forecast"]["step_ns"] == 21000
           and near(even["bubble_ratio"], 1 - 36000 / 43000) and even["predicted"]["replay"] is None)
    timers = log["predicted"]["timers"]  # (3 + 1) microbatches of 3 ms
    expect("every stage is as the last one's timers say", log["steps"] == 2 and log["step_ns"] == 13e6
           and near(log["bubble_ratio"], 4 / 13) and timers["step_ns"] == 12e6 and timers["bubble_ratio"] == 0.25)


def check_own_plans(binary):
    job = {"model": "gpt2-small", "hardware": "a100-80", "sequence": 1024, "topology": "dgx-a100:1", "step": "on"}
    slow = {"schedule": "gpipe", "devices": 8, "microbatches": 4, "microbatch-size": 4, "recompute": "full",
            "partition": "1,1,1,1,1,1,1,7"}
    better = {"schedule": "1f1b", "devices": 2, "microbatches": 4, "dp": 4, "microbatch-size": 1}
    wrong = {**slow, "partition": "1,1,1,1,1,1,1,70"}
    layouts = [({"id": name, "measured": {"step_time_s": step}}, {**job, **flags})
               for name, step, flags in (("slow", 0.3, slow), ("better", 0.1, better), ("wrong", 0.4, wrong))]
    planned = published_plans.Job(binary, layouts).planned(None, {})
    expect("the job", (planned["gpus"], planned["global_batch"]) == (8, 16))
    first, second, third = planned["layouts"]
    expect("the layout that was measured as the fastest is first", (first["record"], second["record"]) == ("better", "slow"))
    expect("what it shares", second["kind"] == "full recomputation, no ZeRO")
    for layout in (first, second):
        expect(f"{layout['record']} does not beat the plan", planned["plan"]["step_ns"] <= layout["simulated"]["step_ns"])
        expect(f"{layout['record']}: all plans are a plan", planned["plan"]["step_ns"] <= layout["alike"]["step_ns"] * 1.01)
    # A cut that leaves most layers to one stage can be beaten without changing what is recomputed.
    expect("a better cut", second["alike"]["step_ns"] < second["simulated"]["step_ns"])
    expect("a run that does not exist says why", third["simulated"] is None and third["refused"].startswith("L"))
    expect("what they may know", planned["notes"])


def check_regret():
    ways = [(("a", 1), "slow", 30.0, 3.0), (("a", 1), "fast", 20.0, 2.5), (("a", 1), "chosen", 25.0, 2.0), (("a", 2), "alone", 9.0, 1.0),
            (("b", 1), "often", 10.0, 1.0), (("b", 1), "often", 14.0, 1.0), (("b", 1), "tie", 15.0, 1.0), (("b", 1), "equal", 15.0, 5.0)]
    sets = regret_page.sets_of(ways)
    expect("jobs with one way are none", {name: len(of) for name, of in sets.items()} == {"a": 1, "b": 1})
    expect("what the choice took longer", near(regret_page.regret(sets["a"][0]), 0.25))
    expect("pairs in the right order", regret_page.pairs(sets["a"][0]) == (2, 3))
    expect("runs of one way are their mean, and a tie is wrong", regret_page.pairs(sets["b"][0]) == (1, 2))
    expect("what is chosen does not tell jobs apart", regret_page.flags_of("debubble simulate --dropout --tp 8 --scatter-gather --model x")
           == {"dropout": "", "tp": "8", "scatter-gather": "", "model": "x"})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True, type=pathlib.Path)
    binary = parser.parse_args().binary.resolve()
    check_published_runs(binary)
    check_own_plans(binary)
    check_regret()
    with tempfile.TemporaryDirectory() as folder:
        check_own_runs(binary, pathlib.Path(folder))
    print("\n".join(failures) if failures else "fine")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
