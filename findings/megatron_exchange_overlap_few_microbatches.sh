#!/usr/bin/env bash
# How much of the experts' exchange --overlap-moe-expert-parallel-comm can hide in a pipeline.
#
# One would guess: it runs the exchange of each microbatch beside computing of another, so all but the first and the last are
# hidden on every rank, and only time changes.
# What happens: passes run side by side in the steady phase alone, and every rank begins with one forward pass more than
# without it, so that its memory grows by what a pass keeps. With 8 ranks, 2 stages each and as many microbatches as ranks, the
# least that is accepted, half of the ranks have no steady phase and hide nothing, the others 1 to 7 of 16. With twice as many
# microbatches the first rank pairs 9 of 32, with eight times as many 105 of 128.
# Why it matters here: a forecast that hides every exchange is too good where microbatches are few, and one with the usual
# order says too little memory.
#
# Needs PyPI and pip; the package is unpacked, not installed, for it asks for Python 3.12. Fails where what is seen is not what is written here.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip download --quiet --no-deps --only-binary :all: --python-version 3.12 --dest "$folder" megatron-core==0.19.2 2>"$folder/pip" || { cat "$folder/pip" >&2; exit 1; }
python3 -m zipfile -e "$folder"/megatron_core-*.whl "$folder"

cat >"$folder/pairs.py" <<'PYTHON'
import ast
import pathlib
import types
import typing

source = pathlib.Path("megatron/core/pipeline_parallel/schedules.py").read_text(encoding="utf-8")
name = "get_pp_rank_microbatches"  # the one function, as it is in the package; its module needs a GPU's libraries
found = next(one for one in ast.parse(source).body if getattr(one, "name", "") == name)
scope = {"Optional": typing.Optional, "P2PCommunicator": object}
exec(compile(ast.Module([found], []), name, "exec"), scope)


def rank_of(rank, ranks, stages):
    group = types.SimpleNamespace(size=lambda: ranks, rank=lambda: rank)
    return types.SimpleNamespace(pp_group=group, virtual_pipeline_model_parallel_size=stages)


print("megatron-core 0.19.2, 8 ranks, 2 stages each")
for microbatches in (8, 16, 64):
    for overlap in (False, True):
        counts = [scope[name](microbatches, 2, 8, False, overlap, rank_of(rank, 8, 2)) for rank in range(8)]
        print(f"{microbatches} microbatches, overlap {'on: ' if overlap else 'off:'} first forward passes",
              [first for _, _, first, _ in counts], "pairs", [left for *_, left in counts], "of", counts[0][0])
PYTHON
seen=$(cd "$folder" && python3 pairs.py)
echo "$seen"
diff - <(echo "$seen") <<'EXPECTED'
megatron-core 0.19.2, 8 ranks, 2 stages each
8 microbatches, overlap off: first forward passes [16, 16, 16, 16, 14, 12, 10, 8] pairs [0, 0, 0, 0, 2, 4, 6, 8] of 16
8 microbatches, overlap on:  first forward passes [16, 16, 16, 16, 15, 13, 11, 9] pairs [0, 0, 0, 0, 1, 3, 5, 7] of 16
16 microbatches, overlap off: first forward passes [22, 20, 18, 16, 14, 12, 10, 8] pairs [10, 12, 14, 16, 18, 20, 22, 24] of 32
16 microbatches, overlap on:  first forward passes [23, 21, 19, 17, 15, 13, 11, 9] pairs [9, 11, 13, 15, 17, 19, 21, 23] of 32
64 microbatches, overlap off: first forward passes [22, 20, 18, 16, 14, 12, 10, 8] pairs [106, 108, 110, 112, 114, 116, 118, 120] of 128
64 microbatches, overlap on:  first forward passes [23, 21, 19, 17, 15, 13, 11, 9] pairs [105, 107, 109, 111, 113, 115, 117, 119] of 128
EXPECTED
