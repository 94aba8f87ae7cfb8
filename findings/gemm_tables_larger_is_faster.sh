#!/usr/bin/env bash
# Published GEMM times, and products that get faster as they grow.
#
# One would guess: in a table of measured products, twice the rows, columns or depth never takes less time but for the noise of
# a few percent.
# What happens: of the pairs in the H100 tables of aiconfigurator-core 0.12 that differ by one doubled side, the larger is
# faster by more than 5 % in 0.2 to 16 of 100, by library and number format; in the worst pair by nine tenths.
# Why it matters here: a forecast that takes the nearest row, or interpolates through it, takes over one slow measurement: the
# same layer is then much slower at one microbatch size than at the next. A table is worth a check before it is used.
#
# Needs PyPI (80 MB) and Python 3.10 or newer with venv. Fails where what is seen is not what is written here.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
pip() { "$folder/venv/bin/pip" "$@" 2>"$folder/pip" || { cat "$folder/pip" >&2; exit 1; }; }
pip install --quiet pyarrow==22.0.0
pip download --quiet --no-deps --python-version 3.11 --only-binary :all: --dest "$folder" aiconfigurator-core==0.12.0
"$folder/venv/bin/python" -m zipfile -e "$folder"/aiconfigurator_core-*.whl "$folder/data"

cat >"$folder/doubled.py" <<'PYTHON'
import collections
import pathlib
import sys

import pyarrow.parquet

print("aiconfigurator-core 0.12.0, h100_sxm")
for path in sorted(pathlib.Path(sys.argv[1]).glob("aiconfigurator_core/systems/data/h100_sxm/gemm/*/*/gemm_perf.parquet")):
    times = collections.defaultdict(dict)
    for row in pyarrow.parquet.read_table(path).to_pylist():
        times[row["gemm_dtype"]][row["m"], row["n"], row["k"]] = float(row["latency"])
    for number_format, table in sorted(times.items()):
        ratios = [
            table[larger] / time
            for (m, n, k), time in table.items()
            for larger in ((2 * m, n, k), (m, 2 * n, k), (m, n, 2 * k))
            if larger in table
        ]
        faster = sum(ratio < 0.95 for ratio in ratios)
        print(*path.parts[-3:-1], number_format, f"{faster} of {len(ratios)}, fastest {min(ratios):.2f}")
PYTHON
seen=$("$folder/venv/bin/python" "$folder/doubled.py" "$folder/data")
echo "$seen"
diff - <(echo "$seen") <<'EXPECTED'
aiconfigurator-core 0.12.0, h100_sxm
sglang 0.5.14 bfloat16 3542 of 65137, fastest 0.44
sglang 0.5.14 fp8 4553 of 65137, fastest 0.51
sglang 0.5.14 fp8_block 3247 of 52213, fastest 0.20
sglang 0.5.6.post2 bfloat16 355 of 22032, fastest 0.69
sglang 0.5.6.post2 fp8 421 of 22032, fastest 0.55
sglang 0.5.6.post2 fp8_block 762 of 17652, fastest 0.40
sglang 0.5.6.post2 int8_wo 230 of 22032, fastest 0.75
trtllm 1.3.0rc20 bfloat16 667 of 65063, fastest 0.65
trtllm 1.3.0rc20 fp8 153 of 65063, fastest 0.65
trtllm 1.3.0rc20 fp8_block 262 of 52068, fastest 0.63
vllm 0.24.0 bfloat16 996 of 65137, fastest 0.63
vllm 0.24.0 fp8 1539 of 65137, fastest 0.11
vllm 0.24.0 fp8_block 10438 of 65107, fastest 0.10
EXPECTED
