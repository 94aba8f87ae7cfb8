#!/usr/bin/env python3
"""Cuts public recordings of GPUs down to what the tests of the importers need, and adds up what must come out.

    reduce.py FOLDER          FOLDER holds the whole recordings (README.md says where they come from)

Of a Kineto trace a window is kept: host events inside it and the GPU work that they launched, without Python frames,
stacks and facts of the machine they ran on. Of an Nsight Systems export one of its processes is kept, in the tables and
columns that hold events, and of calls those that launched work.
expected.json is computed here, from the reduced files alone, by rules of its own: none of it comes from debubble.
"""

import collections
import decimal
import gzip
import json
import pathlib
import sqlite3
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
GPU = {"kernel", "gpu_memcpy", "gpu_memset"}
HOST = {"cpu_op", "user_annotation", "cuda_runtime", "cuda_driver"}
ARGUMENTS = ["correlation", "External id", "Sequence number", "Fwd thread id", "Input Dims", "device", "context", "stream",
             "bytes", "graph node id"]
# Name, begin and end of the window after the first event, in microseconds; None: all of it.
WINDOWS = {
    "kineto_a100_rank3of8_shapes": (152_000, 229_500),  # one step
    "kineto_v100_ddp_ns": (35_100, 107_200),            # one step
    "kineto_v100_compiled": (0, 40_000),
    "kineto_b200_inference": (0, None),
    "kineto_mi300x_recompute": (0, 34_000),             # two steps
}
NSYS = ["nsys_h100_mfu_2gpu_before", "nsys_h100_mfu_2gpu_after"]
NSYS_TABLES = {
    "CUPTI_ACTIVITY_KIND_KERNEL": ["start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
                                   "demangledName", "shortName", "graphNodeId"],
    "CUPTI_ACTIVITY_KIND_MEMCPY": ["start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
                                   "bytes", "copyKind", "graphNodeId"],
    "CUPTI_ACTIVITY_KIND_MEMSET": ["start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
                                   "bytes", "graphNodeId"],
    "CUPTI_ACTIVITY_KIND_RUNTIME": ["start", "end", "globalTid", "correlationId", "nameId"],
    "NVTX_EVENTS": ["start", "end", "eventType", "text", "textId", "globalTid", "endGlobalTid", "domainId"],
    "TARGET_INFO_GPU": ["id", "name", "computeMajor", "computeMinor"],
}


def nanoseconds(microseconds):
    """A decimal text of microseconds, to the nearest nanosecond, halves up."""
    return int((decimal.Decimal(str(microseconds)) * 1000).to_integral_value(decimal.ROUND_HALF_UP))


def read_json(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file, parse_float=decimal.Decimal)


def write_gz(path, data):
    """The same bytes every time: no date, no name."""
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as file:
        file.write(data)


def reduced_event(event):
    kept = {key: event[key] for key in ("ph", "cat", "name", "pid", "tid", "ts", "dur", "id", "bp") if key in event}
    arguments = {key: event["args"][key] for key in ARGUMENTS if key in event.get("args", {})}
    if arguments:
        kept["args"] = arguments
    return kept


def reduce_kineto(source, name, window):
    document = read_json(source)
    events = [event for event in document["traceEvents"] if event.get("ph") == "X"]
    host = [event for event in events if event.get("cat") in HOST]
    origin = min(event["ts"] for event in host)
    first = origin + window[0]
    last = origin + window[1] if window[1] is not None else max(event["ts"] for event in events) + 1
    host = [event for event in host if first <= event["ts"] and event["ts"] + event["dur"] <= last]
    launches = {event["args"]["correlation"] for event in host
                if event["cat"].startswith("cuda") and "correlation" in event.get("args", {})}
    work = [event for event in events if event.get("cat") in GPU and event["args"].get("correlation") in launches]
    inside = {(event["tid"], event["ts"]) for event in host}
    flows = [event for event in document["traceEvents"]
             if event.get("cat") == "fwdbwd" and (event["tid"], event["ts"]) in inside]
    kept = [reduced_event(event) for event in host + work + flows]
    head = {"schemaVersion": 1}
    if "baseTimeNanoseconds" in document:
        head["baseTimeNanoseconds"] = document["baseTimeNanoseconds"]
    text = json.dumps({**head, "traceEvents": kept}, separators=(",", ":"), default=lambda number: Number(number))
    return text, kept


class Number(float):
    """A decimal as it was written."""

    def __new__(cls, number):
        made = super().__new__(cls, number)
        made.text = str(number)
        return made

    def __repr__(self):
        return self.text


def chain_of(spans, at):
    """The spans of one thread, (begin, end, event), that hold that time."""
    return [event for begin, end, event in spans if begin <= at < end]


def matrix(dimensions):
    rows = 1
    for size in dimensions[:-1]:
        rows *= size
    return (rows, dimensions[-1])


def result_of(event):
    """Dimensions of what a product of two matrices makes."""
    dimensions = event["args"].get("Input Dims", [])
    offset = 1 if event["name"] == "aten::addmm" else 0
    if len(dimensions) < offset + 2 or len(dimensions[offset]) != 2 or len(dimensions[offset + 1]) != 2:
        return None
    return (dimensions[offset][0], dimensions[offset + 1][1])


def expected_of_kineto(events):
    work = [event for event in events if event["cat"] in GPU]
    launches = {event["args"]["correlation"]: event for event in events
                if event["cat"].startswith("cuda") and "correlation" in event.get("args", {})}
    threads = collections.defaultdict(list)
    for event in events:
        if event["cat"] in ("cpu_op", "user_annotation") and event["ph"] == "X":
            threads[event["tid"]].append((event["ts"], event["ts"] + event["dur"], event))
    forward = {}
    for spans in threads.values():
        for _, _, event in spans:
            product = event["name"] in ("aten::addmm", "aten::mm") and "Sequence number" in event.get("args", {})
            if product and any(one["name"] == "aten::linear" for one in chain_of(spans, event["ts"])):
                forward[event["args"]["Sequence number"]] = event
    sums = collections.Counter()
    linked = 0
    for event in work:
        launch = launches[event["args"]["correlation"]]
        chain = chain_of(threads[launch["tid"]], launch["ts"])
        linked += bool(chain)
        nodes = [one for one in chain if one["name"] in ("AddmmBackward0", "MmBackward0")]
        products = [one for one in chain if one["name"] == "aten::mm"]
        if not nodes or not products:
            continue
        made_by = forward.get(nodes[-1].get("args", {}).get("Sequence number"))
        result = result_of(products[-1])
        if made_by is None or result is None:
            continue
        inputs, weight = [matrix(one) for one in made_by["args"]["Input Dims"][-4:] if len(one) == 2][:2]
        is_weight = result in (weight, weight[::-1])
        is_input = result in (inputs, inputs[::-1])
        if is_weight != is_input:
            sums["weight_grad_ns" if is_weight else "input_grad_ns"] += nanoseconds(event["dur"])
    expected = {"gpu_events": len(work), "gpu_ns": sum(nanoseconds(event["dur"]) for event in work), "linked": linked}
    return {**expected, **sums}


def reduce_nsys(source, folder):
    whole = pathlib.Path(folder) / "whole.sqlite"
    small = pathlib.Path(folder) / "small.sqlite"
    small.unlink(missing_ok=True)
    whole.write_bytes(gzip.decompress(source.read_bytes()))
    base = sqlite3.connect(small)
    base.execute("PRAGMA page_size = 1024")
    base.execute("ATTACH DATABASE ? AS whole", (str(whole),))
    tables = {row[0] for row in base.execute("SELECT name FROM whole.sqlite_master WHERE type = 'table'")}
    used = set()
    for table, wanted in NSYS_TABLES.items():
        if table not in tables:
            continue
        kinds = {row[1]: row[2] for row in base.execute(f"PRAGMA whole.table_info({table})")}
        columns = [column for column in wanted if column in kinds]
        base.execute(f"CREATE TABLE {table} (" + ", ".join(f"{column} {kinds[column]}" for column in columns) + ")")
        base.execute(f"INSERT INTO {table} SELECT {', '.join(columns)} FROM whole.{table}")
        for column in ("demangledName", "shortName", "nameId", "textId"):
            if column in columns:
                used |= {row[0] for row in base.execute(f"SELECT DISTINCT {column} FROM {table} WHERE {column} NOT NULL")}
    base.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
    base.executemany("INSERT INTO StringIds SELECT id, value FROM whole.StringIds WHERE id = ?", [(one,) for one in sorted(used)])
    keep_one_process(base)
    base.commit()
    expected = expected_of_nsys(base)
    base.execute("DETACH DATABASE whole")
    base.execute("VACUUM")
    base.close()
    return small.read_bytes(), expected


def keep_one_process(base):
    process = base.execute("SELECT MIN(globalPid) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()[0]
    work = list(NSYS_TABLES)[:3]
    for table in work:
        base.execute(f"DELETE FROM {table} WHERE globalPid <> ?", (process,))
    for table in ("CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"):
        base.execute(f"DELETE FROM {table} WHERE globalTid & ~16777215 <> ?", (process,))
    launched = " UNION ".join(f"SELECT correlationId FROM {table}" for table in work)
    base.execute(f"DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE correlationId NOT IN ({launched})")


def expected_of_nsys(base):
    """All GPU work, and what of it has no launch in the export."""
    expected = collections.Counter()
    launched = {(pid & ~0xFFFFFF, correlation)
                for pid, correlation in base.execute("SELECT globalTid, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME")}
    for table in list(NSYS_TABLES)[:3]:
        for start, end, pid, correlation in base.execute(f"SELECT start, end, globalPid, correlationId FROM {table}"):
            expected["gpu_events"] += 1
            expected["gpu_ns"] += end - start
            if (pid & ~0xFFFFFF, correlation) not in launched:
                expected["without_launch"] += 1
                expected["without_launch_ns"] += end - start
    return expected


def main():
    folder = pathlib.Path(sys.argv[1])
    expected = {}
    for name, window in WINDOWS.items():
        text, events = reduce_kineto(folder / f"{name}.json.gz", name, window)
        write_gz(HERE / f"{name}.json.gz", text.encode())
        expected[name] = expected_of_kineto(events)
    with tempfile.TemporaryDirectory() as scratch:
        for name in NSYS:
            data, found = reduce_nsys(folder / f"{name}.sqlite.gz", scratch)
            write_gz(HERE / f"{name}.sqlite.gz", data)
            expected[name] = found
    (HERE / "expected.json").write_text(json.dumps(expected, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
