#!/usr/bin/env python3
"""Checks docs/run.schema.json: a run file that simulate wrote obeys it, and what a run file may not be, it refuses.

    python3 tests/unit/run_schema.py ROOT

Exit code 77 (skipped) where the module jsonschema is missing (Debian: python3-jsonschema).
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from schemas import REMOVE, edited, errors_of, validator_of  # noqa: E402

# Edits of a good run file: a path, and the new value there (REMOVE takes the key away).
FIRST = ["iterations", 0]
GOOD = [
    (["assumptions"], REMOVE),
    (["clocks"], REMOVE),
    (["clocks", "offsets_ns"], [0, -12]),
    (["tensors_checked"], REMOVE),
    (["samples_per_microbatch"], 4),
    (["losses"], [{"what": "ops", "count": 3}]),
    (["schedule", "params"], {"group": "4"}),
    (["schedule", "replica_of"], [0, 0]),
    (["schedule", "rows", 0], "0F0,(0F1;0B0)OVERLAP_F_B,0B1"),
    (["schedule", "rows", 0], "0F0,0R0,0B0,0S0,0T0"),
    (["schedule", "sliced"], True),
    (["schedule", "piece_shares"], [3, 2]),
    (["schedule", "asynchrony"], {"versions": "stashed"}),
    (["schedule", "copies"], ["0OUT1,0BACK1@7", "1OUT0:0", ""]),
    (["costs", "stages", 0, "recompute_ns"], 1),
    (["costs", "stages", 0, "activation_tensors"], 34),
    (["costs", "vocabulary"], {"logits_ns": 1, "gradient_ns": 1, "barrier_ns": 0, "held_bytes": 0}),
    (["origin", "notes"], ["a note"]),
    (["costs", "overlapped_pair_ns"], 5),
    (["links", "bandwidth_bytes_per_s"], 1),
    (FIRST + ["peak_memory_bytes"], [1, 2]),
    (FIRST + ["transfers", "ops"], ""),
]
BROKEN = [
    (["format"], "debubble.run/2"),
    (["format"], REMOVE),
    (["forma"], "unknown key"),
    (["origin"], REMOVE),
    (["origin", "backend"], ""),
    (["origin", "clock"], REMOVE),
    (["origin", "gpu"], "unknown key"),
    (["origin", "notes"], [1]),
    (["schedule", "name"], ""),
    (["schedule", "devices"], 0),
    (["schedule", "devices"], 2.5),
    (["schedule", "pieces"], REMOVE),
    (["schedule", "params"], {"group": 4}),
    (["schedule", "placement"], []),
    (["schedule", "placement"], [0, 1]),
    (["schedule", "rows"], []),
    (["schedule", "rows", 0], ""),
    (["schedule", "rows", 0], "0F0,,0B0"),
    (["schedule", "rows", 0], "0X0"),
    (["schedule", "rows", 0], ["0F0"]),
    (["schedule", "sliced"], "yes"),
    (["schedule", "asynchrony"], {"versions": "newest"}),
    (["schedule", "asynchrony"], {"update_every": 1}),
    (["schedule", "copies"], ["OUT1"]),
    (["schedule", "copies"], ["0OUT1,"]),
    (["schedule", "vocabulary_barriers"], 3),
    (["costs", "vocabulary"], {"logits_ns": 1}),
    (["costs", "stages"], []),
    (["costs", "stages", 0, "forward_ns"], REMOVE),
    (["costs", "stages", 0, "forward_ns"], -1),
    (["costs", "stages", 0, "workspace_bytes"], (1 << 52) + 1),
    (["costs", "stages", 0, "forward"], 1),
    (["links", "p2p"], "both"),
    (["links", "latency_ns"], REMOVE),
    (["links", "bandwidth_bytes_per_s"], 0),
    (["assumptions", 0, "source"], "guessed"),
    (["assumptions", 0, "what"], REMOVE),
    (["clocks", "residual_ns"], -1),
    (["losses"], [{"what": "ops", "count": 0}]),
    (["samples_per_microbatch"], 0),
    (["tensors_checked"], -1),
    (["measured"], 1),
    (["measured"], REMOVE),
    (["iterations"], []),
    (FIRST + ["begin_ns"], REMOVE),
    (FIRST + ["begin_ns"], [1, 2]),
    (FIRST + ["begin_ns", 0, 0], -1),
    (FIRST + ["begin_ns", 0, 0], "0"),
    (FIRST + ["end_ns", 0, 0], 0.5),
    (FIRST + ["transfers"], REMOVE),
    (FIRST + ["transfers", "ops"], "0W0"),
    (FIRST + ["transfers", "bytes"], REMOVE),
    (FIRST + ["transfers", "from"], [0]),
    (FIRST + ["peak_memory_bytes"], [-1]),
]


def main():
    root = pathlib.Path(sys.argv[1])
    validator = validator_of("run")
    run = json.loads((root / "tests/cli/golden/simulate-run.json").read_text(encoding="utf-8"))
    failures = errors_of(validator, run, "the golden run")
    failures += [f"refused although good: {path}" for path, value in GOOD if not validator.is_valid(edited(run, path, value))]
    failures += [f"accepted although broken: {path} = {value}" for path, value in BROKEN
                 if validator.is_valid(edited(run, path, value))]
    print("\n".join(failures) or f"the golden run obeys the schema, {len(BROKEN)} broken ones do not")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
