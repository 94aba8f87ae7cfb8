#!/usr/bin/env python3
"""Writes cost_models/collectives/measured_rows.inc and left_out.csv from the public tables of collectives.

    python3 traces/collectives/transcribe.py NCCL_FOLDER COLL_XLA.csv NET.csv

NCCL_FOLDER holds nccl_{a100_sxm,h100_sxm,h200_sxm,b200_sxm,gb200}.csv (op,dtype,ranks,bytes,latency_us), COLL_XLA.csv
has the columns gpu,op,pattern,dtype,ranks,groups,bytes,time_us,busbw_gbs, NET.csv the columns
system,op,ranks,devices_per_node,bytes,time_us,busbw_gbs: facts of the sources that README.md names, one row each, without
a change. Every other size (of transfers between machines: every other row) goes into the program, the sizes between into
left_out.csv, on which tests judge it. Nothing is fitted.
"""

import csv
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MACHINES = [("a100_sxm", "kA100"), ("h100_sxm", "kH100"), ("h200_sxm", "kH200"), ("b200_sxm", "kB200"),
            ("gb200", "kGb200")]
KINDS = {"all_reduce": "kAllReduce", "all_gather": "kAllGather", "reduce_scatter": "kReduceScatter",
         "alltoall": "kAllToAll", "all-to-all": "kAllToAll"}
POINTS = 11  # of a row, each of four times the bytes of the one before


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def series(nccl, xla):
    """(machine, kind, ranks) -> {bytes: microseconds}"""
    found = {}
    for name, machine in MACHINES:
        for row in rows_of(nccl / f"nccl_{name}.csv"):
            if row["dtype"] != "half":
                continue
            key = (machine, KINDS[row["op"]], int(row["ranks"]))
            found.setdefault(key, {})[int(row["bytes"])] = float(row["latency_us"])
    # Of NVL72 NCCL's own test knows up to four ranks; below 16 KiB these rows are rounded.
    for row in rows_of(xla):
        if row["gpu"] != "GB200" or int(row["ranks"]) not in (8, 16, 32, 64) or int(row["bytes"]) < 1 << 14:
            continue
        size = int(row["bytes"])
        if row["op"] == "collective-permute" or size & (size - 1):  # 72 ranks have other sizes
            continue
        kind = KINDS[row["op"].replace("-", "_").replace("all_to_all", "alltoall")]
        found.setdefault(("kGb200", kind, int(row["ranks"])), {})[int(row["bytes"])] = float(row["time_us"])
    return found


def transfers(xla, net):
    """Point to point: (machine, kNear|kFar, ranks) -> {bytes: microseconds}"""
    found = {}
    for row in rows_of(xla):
        known = {("H100", "one_way", "8"): "kH100", ("B200", "one_way", "8"): "kB200", ("GB200", "ring", "64"): "kGb200"}
        machine = known.get((row["gpu"], row["pattern"], row["ranks"]))
        if row["op"] == "collective-permute" and machine and int(row["bytes"]) >= 1 << 18:  # below, these rows jitter
            found.setdefault((machine, "kNear", int(row["ranks"])), {})[int(row["bytes"])] = float(row["time_us"])
    for row in rows_of(net):
        if row["op"] != "send_recv":
            continue
        machine = {"a100_dgx": "kA100", "h100_dgx": "kH100"}[row["system"]]
        near = row["devices_per_node"] == "2"
        if machine == "kA100" and not near:
            continue  # 7.8 GB/s: no fabric of such machines
        key = (machine, "kNear" if near else "kFar", 2)
        found.setdefault(key, {})[int(row["bytes"])] = float(row["time_us"])
    return found


def main():
    nccl, xla, net = (Path(argument) for argument in sys.argv[1:4])
    lines = ["// Written by traces/collectives/transcribe.py; traces/collectives/README.md says where the figures are from.",
             "// Machine, operation, ranks, bytes of the first figure; nanoseconds, each of four times the bytes."]
    out = []
    left = [("machine", "operation", "ranks", "bytes", "time_ns")]
    for key, points in sorted(series(nccl, xla).items(), key=lambda one: ([m for _, m in MACHINES].index(one[0][0]), one[0])):
        sizes = sorted(points)
        kept = sizes[0:2 * POINTS - 1:2]
        assert len(kept) == POINTS and all(b == 4 * a for a, b in zip(kept, kept[1:])), (key, sizes)
        machine, kind, ranks = key
        times = ", ".join(str(round(points[size] * 1000)) for size in kept)
        out.append(f"{{MeasuredMachine::{machine}, CollectiveKind::{kind}, {ranks}, {kept[0]}, {{{times}}}}},")
        left += [(machine[1:], kind[1:], ranks, size, round(points[size] * 1000)) for size in sizes[1:2 * POINTS - 2:2]]
    ways = []
    for (machine, way, ranks), points in sorted(transfers(xla, net).items()):
        sizes = sorted(points)
        kept = [size for k, size in enumerate(sizes) if k % 2 == 0 or k == len(sizes) - 1]
        text = ", ".join(f"{{{size}, {round(points[size] * 1000)}}}" for size in kept)
        ways.append(f"{{MeasuredMachine::{machine}, TransferReach::{way}, {ranks}, {{{text}}}}},")
        left += [(machine[1:], "Transfer" + way[1:], ranks, size, round(points[size] * 1000))
                 for size in sizes if size not in kept]
    folder = ROOT / "cost_models" / "collectives"
    (folder / "measured_collectives.inc").write_text("\n".join(lines + out) + "\n")
    lines[1] = "// Machine, within a machine or between two, ranks of the communicator; bytes and nanoseconds."
    (folder / "measured_transfers.inc").write_text("\n".join(lines + ways) + "\n")
    text = "\n".join(",".join(str(cell) for cell in row) for row in left) + "\n"
    (ROOT / "tests" / "collectives" / "left_out.csv").write_text(text)


if __name__ == "__main__":
    main()
