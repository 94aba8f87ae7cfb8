#!/usr/bin/env python3
"""Decodes Perfetto traces with a reader of its own and compares them, event by event, with the Chrome trace of the same run.

    tests/cli/check_perfetto.py BINARY

The reader knows the wire format and the fields of perfetto/trace/track_event/*.proto, and nothing of how they are written:
packets sorted by time in file order, as Perfetto sorts them; slices by begin and end on a stack per track; names by number.
"""
import collections
import gzip
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

RUNS = [
    "-p 2 -m 1 --comm 0.3",
    "-p 4 -m 8 --comm 0.25 --schedule zb-h1",
    "-p 4 -m 8 --comm 0.25 --schedule interleaved",
    "-p 4 -m 8 --comm 0.7 --p2p blocking",
    "-p 4 -m 8 --schedule dualpipe --comm 0.1",
    "-p 4 -m 8 --schedule zb-v --transform offload --comm 0.1",
    "-p 4 -m 8 --transform fill-bubbles:curvature=2,inverse=5",
    "-p 8 -m 16 --model gpt-1.3b --hardware a100-80 --topology dgx-h100:1 --dp 1",
    "-p 4 -m 8 --model llama3-8b --hardware h100 --tp 2 --dp 2 --topology dgx-h100:2",
]


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data):
    """(number, value) of a message: integers for varints and fixed64, bytes for the rest."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
            assert len(value) == size, "a field ends beyond its message"
        else:
            raise AssertionError(f"wire type {kind}")
        yield key >> 3, value


def one(data):
    return dict(fields(data))


class Reader:
    def __init__(self, data):
        self.tracks, self.names = {}, collections.defaultdict(dict)
        packets = []
        for number, packet in fields(data):
            assert number == 1
            packets.append(self.packet(packet))
        events = sorted((p for p in packets if p), key=lambda p: p["at"])  # stable, as Perfetto's
        self.slices, self.counts, self.points = [], [], []
        open_slices = collections.defaultdict(list)
        for event in events:
            if event["type"] == 1:
                open_slices[event["track"]].append(event)
            elif event["type"] == 2:
                begun = open_slices[event["track"]].pop()
                begun["end"] = event["at"]
                self.slices.append(begun)
            elif event["type"] == 3:
                self.points.append(event)
            else:
                self.counts.append(event)
        assert not any(open_slices.values()), "slices that do not end"

    def packet(self, data):
        packet = one(data)
        assert packet[10] in (1, 2), "no sequence"
        if 60 in packet:
            self.describe(packet[60])
        if 12 in packet:
            for kind, entry in fields(packet[12]):
                entry = one(entry)
                self.names[packet[10], kind][entry[1]] = entry[2].decode()
        return self.event(packet) if 11 in packet else None

    def describe(self, data):
        track = one(data)
        process = one(track[3]) if 3 in track else {}
        assert track[1] not in self.tracks, "a track is described twice"
        name = process.get(6, track.get(2, b"")).decode()
        assert name
        self.tracks[track[1]] = (track.get(5), name)

    def event(self, packet):
        event = {"at": packet[8], "args": {}, "from": [], "to": []}
        for number, value in fields(packet[11]):
            if number == 3:
                event["category"] = self.names[packet[10], 1][value]
            elif number == 4:
                note = one(value)
                key = self.names[packet[10], 3][note[1]]
                text = note[6].decode() if 6 in note else None
                if 17 in note:
                    text = self.names[packet[10], 29][note[17]]
                event["args"][key] = text if text is not None else note[4]
            elif number == 23:
                event["name"] = value.decode()
            else:
                event[{9: "type", 11: "track", 30: "value", 47: "from", 48: "to"}[number]] = (
                    [*event[{47: "from", 48: "to"}[number]], value] if number in (47, 48) else value
                )
        assert event["track"] in self.tracks, "an event before its track"
        return event

    def place(self, track):
        parent, name = self.tracks[track]
        if parent is None:  # a process of the Chrome trace, with one thread: "measured critical path"
            return (name, name.removeprefix("predicted ").removeprefix("measured "))
        return (self.tracks[parent][1], name)


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


def of_perfetto(reader):
    slices, arrows, counts = [], collections.defaultdict(dict), []
    for event in reader.slices:
        slices.append((*reader.place(event["track"]), event["name"], event["category"], event["at"], event["end"],
                       same_args(event["args"])))
        for end in ("from", "to"):
            for arrow in event[end]:
                assert end not in arrows[arrow], "an arrow with two beginnings or ends"
                arrows[arrow][end] = slices[-1][:6]
    for event in reader.counts:
        process, name = reader.place(event["track"])
        if name == "memory":
            counts.append((process, event["at"], round(event["value"] / 2**20, 2)))
    return slices, {(e["from"], e["to"]) for e in arrows.values()}, counts


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


def check(binary, folder, words, verb):
    chrome, perfetto = folder / "t.json", folder / "t.pftrace"
    if verb == "export":
        subprocess.run([binary, "export", "--to", "chrome-trace", *words, "-o", chrome], check=True)
        subprocess.run([binary, "export", "--to", "perfetto-trace", *words, "-o", perfetto], check=True)
    else:
        report = folder / "r.txt"
        subprocess.run([binary, verb, *words, "--trace", chrome, "-o", report], check=True)
        subprocess.run([binary, verb, *words, "--trace", perfetto, "-o", report], check=True)
    trace = json.loads(chrome.read_text(encoding="utf-8"))
    reader = Reader(perfetto.read_bytes())
    for what, ours, theirs in zip(("slices", "arrows", "counts"), of_chrome(trace), of_perfetto(reader)):
        compare(what, ours, theirs)
    facts = reader.points[0]["args"]
    for key, value in trace["metadata"].items():
        if key not in ("command_line", "rows_are_not_all") and not key.startswith("row of device"):
            assert facts[key] == (value if isinstance(value, str) else json.dumps(value)), key
    return len(reader.slices), chrome.stat().st_size / perfetto.stat().st_size


def main():
    binary = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for run in RUNS:
            for words in (run.split(), [*run.split(), "--trace-ops-only"]):
                slices, ratio = check(binary, folder, words, "export")
                print(f"{' '.join(words)}: {slices} slices alike, {ratio:.1f} times smaller than JSON")
        check(binary, folder, RUNS[1].split(), "simulate")
        (folder / "run.json").write_bytes(
            subprocess.run([binary, "simulate", "--save-run", "/dev/stdout", "-o", "/dev/null"], check=True,
                           capture_output=True).stdout)
        check(binary, folder, [folder / "run.json", folder / "run.json"], "diff")
        packed = folder / "t.pftrace.gz"
        subprocess.run([binary, "export", "--to", "perfetto-trace", *RUNS[0].split(), "-o", packed], check=True)
        assert len(Reader(gzip.decompress(packed.read_bytes())).slices) == 17
    return 0


if __name__ == "__main__":
    sys.exit(main())
