#!/usr/bin/env python3
"""Checks docs/profile.schema.json: every profile in traces/ obeys it, and what a profile may not be, it refuses.

    python3 tests/unit/profile_schema.py ROOT [PROFILE...]

Exit code 77 (skipped) where the module jsonschema is missing (Debian: python3-jsonschema).
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from schemas import REMOVE, edited, errors_of, validator_of  # noqa: E402

TRANSFORMER = {"hidden": 64, "heads": 4, "kv_heads": 2, "head_size": 16, "feed_forward": 256, "vocabulary": 512,
               "gated": False, "flash_attention": True, "tensor_parallel": 1}

# Edits of a good profile that break it: a path, and the new value there (REMOVE takes the key away).
BROKEN = [
    (["schema"], "debubble.profile/2"),
    (["schema"], REMOVE),
    (["model"], ""),
    (["model"], 3),
    (["dtype"], REMOVE),
    (["microbatch_size"], 0),
    (["microbatch_size"], REMOVE),
    (["sequence_length"], "1024"),
    (["modell"], "unknown key"),
    (["hop", "latency_ns"], -1),
    (["hop", "latency"], 1),
    (["hop"], None),
    (["origin"], REMOVE),
    (["origin", "times"], "guessed"),
    (["origin", "memory"], REMOVE),
    (["origin", "citation"], REMOVE),
    (["origin", "citation"], ""),
    (["origin", "repetitions"], -1),
    (["origin", "gpu"], "unknown key"),
    (["layers"], []),
    (["layers"], {}),
    (["layers", 0], 1),
    (["layers", 0, "name"], REMOVE),
    (["layers", 0, "name"], "no number at the end"),
    (["layers", 0, "name"], "leading.zero.01"),
    (["layers", 0, "count"], 0),
    (["layers", 0, "count"], 100001),
    (["layers", 0, "forward"], REMOVE),
    (["layers", 0, "forward"], 5),
    (["layers", 0, "forward"], {}),
    (["layers", 0, "forward", "median_ns"], 1.5),
    (["layers", 0, "forward", "median_ns"], -5),
    (["layers", 0, "forward", "median_ns"], (1 << 52) + 1),
    (["layers", 0, "forward", "mean_ns"], 5),
    (["layers", 0, "input_grad"], REMOVE),
    (["layers", 0, "weight_grad"], REMOVE),
    (["layers", 0, "activation_bytes"], REMOVE),
    (["layers", 0, "activation_bytes"], None),
    (["layers", 0, "output_bytes"], "1 MiB"),
    (["layers", 0, "parameter_bytes"], True),
    (["layers", 0, "workspace_bytes"], -1),
    (["layers", 0, "kernels"], [{"name": "k", "count": 0, "total_ns": 1}]),
    (["layers", 0, "kernels"], [{"name": "k", "count": 1}]),
    (["layers", 0, "grad_split"], "guess"),
    (["layers", 0, "grad_split"], None),
    (["transformer"], {}),
    (["transformer"], None),
    (["transformer"], {**TRANSFORMER, "hidden": 0}),
    (["transformer"], {**TRANSFORMER, "vocabulary": 10_000_001}),
    (["transformer"], {**TRANSFORMER, "gated": 1}),
    (["transformer"], {**TRANSFORMER, "tp": 1}),
    (["measurement"], {}),
    (["measurement"], []),
    (["measurement"], {"kernels": 1, "kernel_time_ns": 1}),
    (["measurement"], {"kernels": -1, "kernel_time_ns": 1, "layer_time_ns": 1}),
]

# What a measurement may hold, and edits of it: good ones, then broken ones.
MEASUREMENT = {
    "kernels": 3,
    "kernel_time_ns": 100,
    "layer_time_ns": 60,
    "rest": [{"what": "optimizer", "count": 1, "total_ns": 40}],
    "losses": [{"what": "dropped records", "count": 2}],
    "steps": 20,
    "warm_up_steps": 3,
    "overhead_ppm": -120,
    "overhead_run_ppm": 120000,
    "clock": {"least_mhz": 1200, "most_mhz": 1980, "samples": 9, "slowed_samples": 1, "power_capped_samples": 8, "drift_ppm": -7, "throttled": True},
}
GOOD_MEASUREMENTS = [
    (["rest"], REMOVE),
    (["losses"], REMOVE),
    (["losses"], []),
    (["steps"], REMOVE),
    (["overhead_ppm"], REMOVE),
    (["overhead_run_ppm"], REMOVE),
    (["clock"], REMOVE),
    (["clock"], {}),
    (["clock", "throttled"], False),
    (["kernels"], 0),
]
BROKEN_MEASUREMENTS = [
    (["kernels"], REMOVE),
    (["kernel_time_ns"], REMOVE),
    (["kernel_time_ns"], (1 << 52) + 1),
    (["layer_time_ns"], -1),
    (["layer_time_ns"], 1.5),
    (["rest"], {}),
    (["rest", 0, "what"], ""),
    (["rest", 0, "count"], 0),
    (["rest", 0, "total_ns"], REMOVE),
    (["rest", 0, "layer"], "unknown key"),
    (["losses", 0, "count"], 0),
    (["losses", 0, "what"], REMOVE),
    (["losses", 0, "total_ns"], 5),
    (["steps"], -1),
    (["warm_up_steps"], "3"),
    (["overhead_ppm"], -1000001),
    (["overhead_ppm"], 0.5),
    (["overhead"], "unknown key"),
    (["clock"], None),
    (["clock", "throttled"], 1),
    (["clock", "least_mhz"], -1),
    (["clock", "samples"], 1.5),
    (["clock", "mhz"], 1),
]


def measured_without_device(profile):
    return edited(edited(profile, ["origin", "times"], "measured"), ["origin", "device"], REMOVE)


def main():
    root = pathlib.Path(sys.argv[1])
    validator = validator_of("profile")
    # Suites of the gate and their baselines are no profiles; tests/check looks after them, tests/accuracy after what
    # was published, measured and fitted, tests/transformer after tables of efficiency.
    others = {"results.json", "calibration.json", "ranges.json", "runs.json"}
    profiles = [
        path
        for path in (root / "traces").rglob("*.json")
        if ".suite." not in path.name and path.name not in others and path.parent.name != "efficiency"
    ]
    files = sorted(profiles) + [pathlib.Path(name) for name in sys.argv[2:]]
    profiles = {path: json.loads(path.read_text(encoding="utf-8")) for path in files}
    # traces/ may hold other recordings one day; profiles say what they are.
    profiles = {path: value for path, value in profiles.items() if "schema" in value}
    failures = []
    for path, profile in profiles.items():
        failures += errors_of(validator, profile, path)
    good = profiles[root / "traces/published/zb-a100-6.2b-m24.json"]
    cases = [edited(good, path, value) for path, value in BROKEN] + [measured_without_device(good)]
    names = [f"{path} = {value}" for path, value in BROKEN] + ["measured without device"]
    failures += [f"accepted although broken: {name}" for case, name in zip(cases, names) if validator.is_valid(case)]
    measured = edited(good, ["measurement"], MEASUREMENT)
    fine = [edited(measured, ["measurement"] + path, value) for path, value in GOOD_MEASUREMENTS]
    fine += [edited(good, ["layers", 0, "grad_split"], word) for word in ("none", "range", "shape", "name", "order")]
    failures += [f"refused although good: {case}" for case in [measured] + fine if not validator.is_valid(case)]
    for path, value in BROKEN_MEASUREMENTS:
        cases.append(edited(measured, ["measurement"] + path, value))
        if validator.is_valid(cases[-1]):
            failures.append(f"accepted although broken: measurement {path} = {value}")
    print("\n".join(failures) or f"{len(profiles)} profiles obey the schema, {len(cases)} broken ones do not")
    sys.exit(1 if failures or len(profiles) < 14 else 0)


if __name__ == "__main__":
    main()
