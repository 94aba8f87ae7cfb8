#!/usr/bin/env python3
"""Results: arrays and dataclasses say what the JSON says, and figures are there.

Usage: check_results.py BINARY
"""

import dataclasses
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import debubble
import numpy
from support import printed_by, require_error, require_same_json, run_checks

RUN = debubble.simulate(schedule="zb-h1", p=4, m=8, times={"f": 1, "i": 1.1, "w": 0.9}, comm=0.05)


def check_numbers():
    data = RUN.data
    for name in ("makespan_ns", "ideal_ns", "bubble_ratio", "bubble_over_ideal", "span_bubble_ratio", "mfu", "p2p_bytes"):
        assert getattr(RUN, name) == data[name], name
    for device, row in zip(RUN.per_device, data["devices"], strict=True):
        for field in dataclasses.fields(device):
            assert getattr(device, field.name) == row[field.name], field.name
    for cause, time in RUN.idle_by_cause_ns.items():
        assert time == sum(device.idle_by_cause_ns[cause] for device in RUN.per_device)
    assert RUN.peak_memory_bytes == max(device.peak_memory_bytes for device in RUN.per_device)


def check_spans():
    spans = RUN.spans
    assert spans.dtype.names == ("device", "kind", "stage", "microbatch", "paired", "ready_ns", "begin_ns", "end_ns")
    assert spans.size == 4 * 8 * 3 and set(spans["kind"]) == {"F", "I", "W"}
    for device in RUN.per_device:
        mine = spans[spans["device"] == device.device]
        assert (mine["end_ns"] - mine["begin_ns"]).sum() == device.busy_ns
        assert (mine["begin_ns"][1:] >= mine["end_ns"][:-1]).all() and (mine["ready_ns"] <= mine["begin_ns"]).all()
    assert spans["end_ns"].max() == RUN.makespan_ns
    assert not spans.flags.writeable
    paired = debubble.simulate(schedule="dualpipe", p=4, m=8).spans
    assert paired["paired"].any() and paired.size == 4 * 8 * 2 * 2 or paired.size > 0


def check_transfers():
    transfers = RUN.transfers
    assert transfers.size == RUN.data["p2p_messages"] and (transfers["latency_ns"] == 50000).all()
    assert (transfers["from_device"] != transfers["to_device"]).all()


def check_memory():
    assert len(RUN.memory) == 4
    for device, curve in zip(RUN.per_device, RUN.memory, strict=True):
        assert curve["total_bytes"].max() == device.peak_memory_bytes
        first = curve[curve["total_bytes"] == device.peak_memory_bytes][0]
        assert first["at_ns"] == device.peak_memory_at_ns
        parts = [name for name in curve.dtype.names if name not in ("at_ns", "total_bytes")]
        assert (sum(curve[name] for name in parts) == curve["total_bytes"]).all()
        assert {name.removesuffix("_bytes") for name in parts} == set(device.peak_by_category_bytes)
        assert (numpy.diff(curve["at_ns"]) >= 0).all()


def check_long_run():
    """Of a run of so many ops the report keeps no spans; they are there when they are asked for."""
    run = debubble.simulate(schedule="1f1b", p=8, m=13_000)
    require_same_json(run)
    assert run.spans.size == 8 * 13_000 * 2 and run.spans["end_ns"].max() == run.makespan_ns
    assert "<svg" not in run._repr_html_()


def check_figures():
    for show in ("pipeline", "causes", "idle", "memory", "pipeline,memory"):
        root = xml.etree.ElementTree.fromstring(RUN.svg(show))
        assert root.tag.endswith("svg"), show
    assert RUN.svg("pipeline", width="85mm") != RUN.svg("pipeline") != RUN.svg("pipeline", mono=True)
    drawn = printed_by("debubble export --to svg --schedule zb-h1 -p 4 -m 8 --times f=1,i=1.1,w=0.9 --comm 0.05 --width 180mm")
    plain = drawn.replace(drawn[drawn.index("<desc"):drawn.index("</desc>")], "")
    mine = RUN.svg()
    assert mine.replace(mine[mine.index("<desc"):mine.index("</desc>")], "") == plain
    html = RUN._repr_html_()
    assert html.startswith("<div>") and "<svg" in html and "<?xml" not in html and html.count("<svg") == 1
    require_error("C002", "show", RUN.svg, "nothing")
    require_error("C014", "width", RUN.svg, "pipeline", "10 miles")
    comparison = debubble.compare(schedules="1f1b,zb-h1", p=4, m=8)
    assert "<svg" in comparison._repr_html_() and xml.etree.ElementTree.fromstring(comparison.svg()) is not None
    assert debubble.compare(schedules="1f1b,zb-h1", p=4, m=8, equal="stages").svg() == ""


def check_words():
    assert str(RUN) == "zb-h1 on 4 devices: 4 stages, 8 microbatches\n" + str(RUN).split("\n")[1]
    assert repr(RUN).startswith("<debubble.Simulation: zb-h1 on 4 devices") and "\n" not in repr(RUN)


def check_plan_and_comparison():
    comparison = debubble.compare(p=4, m=8)
    rows = comparison.data["runs"]
    assert [run.schedule for run in comparison.runs] == [row["schedule"]["name"] for row in rows]
    able = [run.makespan_ns for run in comparison.runs
            if run.makespan_ns and not any(found.severity == "error" for found in run.findings)]
    assert comparison.best.makespan_ns == min(able)
    job = {"p": 4, "m": 16, "times": "f=1,b=2", "comm": "0.4"}
    mixed = debubble.compare(schedules=["pipelined-backprop", "1f1b"], **job)
    assert mixed.best.schedule == "1f1b" and mixed.runs[0].asynchronous and not mixed.best.asynchronous
    assert mixed.runs[0].makespan_ns < mixed.best.makespan_ns
    assert debubble.compare(schedules=["pipelined-backprop", "pipedream"], **job).best.schedule == "pipelined-backprop"
    plan = debubble.plan(model="gpt-1.3b", hardware="h100", gpus=4, global_batch=16, topology="dgx-h100:1", top=2)
    assert len(plan.runs) == 2 and plan.best.text == plan.data["runs"][0]["choice"]["text"] and plan.certainty
    again = debubble.simulate(model="gpt-1.3b", hardware="h100", topology="dgx-h100:1",
                              **{key: plan.best.choice[key] for key in ("tp", "dp", "zero", "schedule")},
                              p=plan.best.choice["pp"], m=plan.best.choice["microbatches"],
                              microbatch_size=plan.best.choice["microbatch"])
    assert again.makespan_ns == plan.best.makespan_ns


def check_diff():
    with tempfile.TemporaryDirectory() as folder:
        first, second = (pathlib.Path(folder) / name for name in ("predicted.json", "measured.json"))
        debubble.simulate(schedule="1f1b", p=4, m=8).save_run(first)
        debubble.simulate(schedule="1f1b", p=4, m=8, comm=0.1).save_run(second)
        diff = debubble.diff(first, second)
        require_same_json(diff)
        assert diff.makespan_ns.gap == diff.makespan_ns.measured - diff.makespan_ns.predicted == 1600000
        require_same_json(debubble.diff(second))
        require_error("C003", "--iteration", debubble.diff, first, second, iteration="last")
        require_error("C003", "--iteration", debubble.diff, first, second, iteration=7)
    require_error("T054", "save_run", debubble.simulate(model="gpt-1.3b", hardware="h100", topology="dgx-h100:1", p=2,
                                                        tp=4, m=8).save_run, "/nowhere")


def check_profile():
    profile = debubble.profile("traces/published/zb-a100-1.5b-m24.json")
    assert profile.json == pathlib.Path(profile.path).read_text() and profile.model == "gpt-1.5b"
    assert [layer.name for layer in profile.layers] == [layer["name"] for layer in profile.data["layers"]]
    require_same_json(debubble.simulate(profile=profile, p=8, m=24))
    require_same_json(debubble.simulate(profile=[profile], p=8, m=24))


def check_pandas():
    if importlib.util.find_spec("pandas") is None:
        return "SKIPPED here: no pandas"
    frame = RUN.to_pandas()
    assert len(frame) == RUN.spans.size and frame.duration_ns.sum() == sum(d.busy_ns for d in RUN.per_device)
    assert list(debubble.compare(schedules="1f1b,zb-h1", p=4, m=8).to_pandas().schedule) == ["1f1b", "zb-h1"]
    assert len(debubble.schedule("1f1b", p=2, m=2).to_pandas()) == 8
    assert len(debubble.profile("traces/published/zb-a100-1.5b-m24.json").to_pandas()) > 1


def check_without_pandas_and_numpy():
    """Numbers need neither; what does says so."""
    code = """
import sys
sys.modules["numpy"] = sys.modules["pandas"] = None
import debubble
run = debubble.simulate(p=4, m=8)
print(run.makespan_ns, len(run.json) > 0, "<svg" in run.svg())
for look in (lambda: run.spans, lambda: debubble.compare(schedules="1f1b", p=2, m=2).to_pandas()):
    try:
        look()
    except ImportError as error:
        print("ImportError", error)
"""
    lines = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.splitlines()
    assert lines[0] == "33000000 True True" and len(lines) == 3, lines
    assert "numpy" in lines[1] and "apt-get install python3-pandas" in lines[2], lines


if __name__ == "__main__":
    run_checks(globals())
