#!/usr/bin/env python3
"""Arguments: values of Python become the flags that they mean, and scenarios are the same in every form.

Usage: check_arguments.py BINARY
"""

import pathlib
import tempfile

import debubble
import numpy
from support import require_error, require_same_json, run_checks

BASE = {"schedule": "zb-h1", "devices": 4, "microbatches": 8}


def command(**flags):
    return debubble.simulate(**flags).command


def check_names():
    assert command(p=2, m=3) == "debubble simulate --devices 2 --microbatches 3 --format json"
    assert command(pp=2) == "debubble simulate --pp 2 --format json", command(pp=2)
    assert command(p=2, model="gpt-1.3b", hardware="h100", microbatch_size=2) == \
        "debubble simulate --devices 2 --model gpt-1.3b --hardware h100 --microbatch-size 2 --format json"


def check_values():
    same = [({"times": "f=1,b=2.5"}, {"times": {"f": 1, "b": 2.5}}),
            ({"comm": "0.05"}, {"comm": 0.05}), ({"comm": "0.05"}, {"comm": numpy.float64(0.05)}),
            ({"comm": "0.00001"}, {"comm": 1e-5}), ({"devices": "4"}, {"devices": numpy.int32(4)}),
            ({"param": "group=4", "schedule": "interleaved", "chunks": 2, "microbatches": 8},
             {"param": {"group": 4}, "schedule": "interleaved", "v": 2, "m": 8}),
            ({"slow": "device=1:1.5"}, {"slow": ["device=1:1.5"]}), ({"p2p": "blocking"}, {"p2p": "Blocking"})]
    for texts, values in same:
        first, second = debubble.simulate(**texts), debubble.simulate(**values)
        assert first.data["makespan_ns"] == second.data["makespan_ns"], (texts, values)
        require_same_json(first)
        require_same_json(second)


def check_left_out():
    assert command(p=2, comm=None, sequence_parallel=False, profile=[]) == "debubble simulate --devices 2 --format json"


def check_scenarios():
    text = 'schedule = "zb-h1"\ndevices = 4\nmicrobatches = 8\n[compare]\nequal = "stages"\n'
    plain = debubble.simulate(**BASE)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "scenario.toml"
        path.write_text(text)
        forms = [text, path, str(path), BASE, {**BASE, "compare": {"equal": "stages"}},
                 {"schedule": "gpipe", "simulate": {"schedule": "zb-h1"}, "devices": 4, "microbatches": 8}]
        for form in forms:
            run = debubble.simulate(form)
            assert run.makespan_ns == plain.makespan_ns and run.schedule == "zb-h1", form
            require_same_json(run)
            assert debubble.simulate(form, m=12).microbatches == 12, form
        require_same_json(debubble.simulate(config=path))
        alone = pathlib.Path(folder) / "alone.toml"
        alone.write_text('schedule = "zb-h1"\ndevices = 4\n')
        require_same_json(debubble.compare(alone, str(alone)))
        require_error("C060", f"{path}:4", debubble.compare, path, alone)
        require_same_json(debubble.compare(scenario=text, schedules=["1f1b", "gpipe"]))


def check_one_flag_counts_once():
    run = debubble.simulate({"devices": 4, "schedule": "gpipe"}, p=2, schedules=["zb-h1"])
    assert (run.devices, run.schedule) == (2, "zb-h1"), run.command
    require_same_json(run)


def check_wrong_ones():
    simulate = debubble.simulate
    require_error("C061", "debubble simulate", simulate, schedul="1f1b")
    assert "did you mean --schedule?" in require_error("C061", "debubble simulate", simulate, schedul="1f1b").remedy
    require_error("C061", "--devices", simulate, devices="four")
    require_error("C061", "--devices", simulate, devices=10**30)
    require_error("C061", "--devices", simulate, devices=2.5)
    require_error("C061", "--devices", simulate, devices=True)
    require_error("C061", "--devices", simulate, devices=b"4")
    require_error("C061", "--times", simulate, times={"f": object()})
    require_error("C061", "--comm", simulate, comm=1j)
    require_error("C065", "--times", simulate, times="")
    require_error("C061", "--schedule", simulate, schedule="zb-h1\0")
    require_error("C061", "--schedule", simulate, schedule="\ud800")
    require_error("C061", "--profile", simulate, profile="-")
    require_error("C061", "--config", simulate, config="-")
    require_error("C061", "scenario", simulate, "1f1b")
    require_error("C061", "scenario", simulate, 3)
    require_error("C061", "scenario", simulate, {1: 2})
    require_error("C061", "config", simulate, {}, config="a.toml")
    require_error("C005", "--config", simulate, "nowhere.toml")
    require_error("P005", "scenario:2", simulate, "devices = 2\nnonsense = 4\n")
    require_error("G002", "scenario:1", simulate, "[simulate\n")
    require_error("C061", "debubble simulate", simulate, format="csv")
    require_error("C061", "debubble simulate", simulate, help=True)
    require_error("C061", "debubble simulate", simulate, **{"--devices": 3})
    require_error("C061", "debubble simulate", simulate, **{"": 3})
    require_error("C061", "FILE", debubble.diff, 3)
    require_error("C061", "FILE", debubble.diff, "-")
    require_error("C061", "debubble diff", debubble.diff)
    require_error("C009", "schedule", debubble.schedule, "1f1b", schedule="gpipe")


if __name__ == "__main__":
    run_checks(globals())
