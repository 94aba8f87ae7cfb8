#!/usr/bin/env python3
"""A flag means the same in every verb that has it, and commands that are printed run and give the number beside them.

    check_flag_meanings.py DEBUBBLE [FLAG ...]

Every flag that describes the job of `simulate`, with each of its words or an example, is given to `sweep`, `compare`,
`explain step` and `whatif`: the step time is that of `simulate`, or all refuse. A flag without words needs an example
here. What `explain step` and `plan` print as commands, what `simulate` and `compare` say to try, and what refusals of
stages per device and of parameters say to write, is run as it stands.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROFILE = str(ROOT / "traces" / "published" / "zb-a100-1.5b-m24.json")
SMALL = "--model gpt2-small --model-size layers=4 "
MODEL = SMALL + "-p 2 -m 2 --dp 2 --topology dgx-h100:1"
EXPERTS = (
    "--model mixtral-8x7b --model-size layers=2,hidden=512,feed_forward=1024,expert_feed_forward=1024 -p 2 -m 2 --dp 2 "
    "--ep 2 --topology dgx-h100:1"
)
TP = SMALL + "-p 2 -m 2 --dp 2 --tp 2 --topology dgx-h100:1"
TOY = "-p 2 -m 4"

# By flag: values, and the job in which they mean something. None: a switch, or the words of the table.
EXAMPLES = {
    "--schedule": (["zb-h1", "breadth-first"], MODEL),
    "--devices": (["3"], "-m 4"),
    "--microbatches": (["6"], "-p 2"),
    "--chunks": (["1", "3"], "--schedule breadth-first " + TOY),
    "--param": (["group=2"], "--schedule interleaved " + TOY),
    "--transform": (["recompute", "vocabulary-parallel"], TOY + " --comm 0.1"),
    "--global-batch": (["16"], SMALL + "-p 2 --dp 2"),
    "--times": (["f=2,b=3"], TOY),
    "--w-share": (["0.5"], "--schedule zb-h1 " + TOY),
    "--profile": ([PROFILE], TOY),
    "--partition": (["even", "auto", "3,3"], SMALL + "-p 2 -m 2"),
    "--comm": (["0.5"], TOY),
    "--bandwidth": (["1GB/s"], "-p 2 -m 2 --profile " + PROFILE),
    "--host-bandwidth": (["5GB/s"], "--transform offload " + SMALL + "-p 2 -m 4"),
    "--p2p": (None, TOY + " --comm 0.3"),
    "--model": (["gpt2-small"], "-p 2 -m 2"),
    "--model-size": (["layers=6"], "--model gpt2-small -p 2 -m 2"),
    "--hardware": (["a100-80"], SMALL + "-p 2 -m 2"),
    "--sequence": (["512"], MODEL),
    "--microbatch-size": (["2"], MODEL),
    "--fp8-recipe": (None, MODEL + " --dtype fp8"),
    "--fp8-weights": (None, MODEL + " --dtype fp8"),
    "--recompute-stages": (["0"], MODEL + " --recompute full"),
    "--recompute-blocks": (["first:1"], MODEL + " --recompute full"),
    "--recompute-modules": (["mlp"], MODEL + " --recompute selective"),
    "--tensor-overlap": (None, TP + " --sequence-parallel"),
    "--context-exchange": (None, SMALL + "-p 2 -m 2 --cp 2 --topology dgx-h100:1"),
    "--expert-imbalance": (["1.5"], EXPERTS),
    "--capacity-factor": (["1.25"], EXPERTS),
    "--moe-dispatch": (None, EXPERTS),
    "--moe-overlap": (None, EXPERTS + " --schedule interleaved"),
    "--etp": (["1"], EXPERTS + " --tp 2"),
    "--ep": (["2"], EXPERTS.replace("--ep 2 ", "")),
    "--efficiency": ([str(ROOT / "traces" / "efficiency" / "v100-aceso.json")], SMALL + "-p 2 -m 2 --hardware v100"),
    "--kernels": (["off"], MODEL),
    "--host-launch": (["100us"], MODEL),
    "--calibrate": (["compute=0.9"], MODEL),
    "--scatter-gather": (None, TP),
    "--topology": (["dgx-a100:1", "ideal"], SMALL + "-p 2 -m 2 --dp 2"),
    "--network": (None, MODEL),
    "--tp": (["2"], MODEL),
    "--cp": (["2"], MODEL),
    "--dp": (["4"], MODEL.replace("--dp 2", "")),
    "--zero": (["1", "2", "3"], MODEL),
    "--sequence-parallel": (None, TP),
    "--rank-order": (["pp,dp,cp,tp"], MODEL),
    "--rank-devices": (["0,4,1,5"], MODEL),
    "--transfer-latency": (["50us"], MODEL),
    "--transfer-bandwidth": (["1GB/s"], MODEL),
    "--step": (["off", "on"], MODEL),
    "--collective": (["ring", "tree"], MODEL),
    "--density": (["0.1"], MODEL + " --collective sparse"),
    "--bucket-size": (["1000000"], MODEL + " --overlap-grad-reduce"),
    "--overlap-param-gather": (None, MODEL + " --zero 1"),
    "--gather": (None, MODEL + " --zero 1"),
    "--keep-whole": (None, MODEL + " --zero 2"),
    "--slow-down": (["0.2"], MODEL + " --overlap-grad-reduce"),
    "--optimizer-bandwidth": (["100GB/s"], MODEL),
    "--tied-embedding": (["100MiB"], "-p 2 -m 2 --dp 2 --topology dgx-h100:1 --profile " + PROFILE),
    "--memory": (["40GiB"], MODEL),
    "--memory-outside": (["2GiB"], MODEL),
    "--allocator-reserve": (["0.05"], MODEL),
    "--slow": (["device=1:1.5"], MODEL),
    "--factors": (["lognormal:0.3"], TOY),
    "--jitter": (["lognormal:0.05"], TOY),
    "--seed": (["7"], TOY + " --jitter lognormal:0.05"),
}
# Of fewer GPUs than a pipeline usually has, too.
PLANS = [
    "--gpus 1 --global-batch 8",
    "--gpus 2 --global-batch 8",
    "--gpus 2 --global-batch 8 --topology switch:2",
    "--gpus 2 --global-batch 8 --topology pcie:2",
    "--gpus 3 --global-batch 9 --topology switch:3",
    "--gpus 8 --global-batch 16",
    "--schedule-only -p 4 -m 4 -v 1 --schedules breadth-first,1f1b --param memory_limit=2p",
]
CHANGES = ("--slow", "--jitter", "--factors", "--seed")  # `whatif` changes the run by them


# Refused for a number of stages per device or for parameters that contradict each other: each named remedy runs.
REFUSED = [
    *(f"--schedule {name} -v {v} -p 4 -m 8" for name in ("hanayo", "zb-v", "bitpipe", "v-half") for v in (1, 3)),
    *(f"--schedule {name} -v 1 -p 4 -m 8" for name in ("interleaved", "depth-first", "interleaved-zb", "gis")),
    *(f"--schedule {name} -v 3 -p 4 -m 8" for name in ("dualpipe-v", "1f1b", "zb-h1", "zb-v-auto", "v-min")),
    "--schedule dualpipe -v 2 -p 4 -m 8",
    "--schedule dualpipe -v 3 -p 4 -m 8",
    "--schedule hanayo -v 3 --param waves=2",
    "--schedule hanayo -v 2 --param waves=2",
    "--schedule chimera --param pairs=2 --param mode=doubling",
    "--schedule chimera --param fused=true",
    "--schedule interleaved --param group=4 --param rounding=pytorch",
    "--schedule pipelined-backprop --param engines=1 --param turnaround=1",
    "--schedule seq1f1b --param slice_costs=1,2 --param slices=3",
    "--schedule seq1f1b --param slice_costs=1,2 --param attention=1",
    "--schedule seq1f1b --param slice_costs=1,2 --param tokens=64",
    "--schedule seq1f1b --param attention=1",
    "--schedule terapipe --param overhead=1",
    "--schedule terapipe --param slices=7,5 --param tokens=12",
    "--transform recompute:mode=selective",
    "--transform recompute:memory_limit=4",
    "--transform recompute:mario=true,when=late",
    "--transform recompute:mode=selective,time=0.1,keep=0.4 --times f=1,b=2,r=1",
    "--transform offload:share=0.5,memory_limit=4",
]


def keyed(flag, value):
    """What a value replaces: of --param the same key, of --transform the same name."""
    if flag == "--param":
        return value.split("=")[0]
    return value.split(":")[0] if flag == "--transform" else ""


def remedies(words, text):
    """Command lines by a help text: what it says to leave out, and what it says to write."""
    pairs = list(zip(words[::2], words[1::2]))

    def line(pairs):
        return [word for pair in pairs for word in pair]

    for key, flag, name in re.findall(r"(\w+)= out of (--\w+)(?: (\w+))?", text):
        kept = []
        for given, value in pairs:
            head, colon, rest = value.partition(":") if name else ("", "", value)
            if given == flag and (not name or head == name):
                rest = ",".join(one for one in rest.split(",") if not one.startswith(key + "="))
                value = head + (colon if rest else "") + rest
            kept.append((given, value))
        yield line(kept)
    text = re.sub(r"\w+= out of --\w+(?: recompute| offload)?", "", text)
    short = {"--chunks": "-v"}
    for leave, out in re.findall(r"leave (out )?(--\w+(?: (?!out)\w+)?)", text):
        flag, _, key = out.partition(" ")
        flag = short.get(flag, flag)
        yield line([pair for pair in pairs if pair[0] != flag or (key and keyed(*pair) != key)])
    said = r"(?:use|write|add|like|values?:|or) (--param|--schedule|--transform|-v) ([\w:=,.-]*[\w])"
    for flag, value in re.findall(said, text):
        yield line([pair for pair in pairs if pair[0] != flag or keyed(*pair) != keyed(flag, value)] + [(flag, value)])


class Checks:
    def __init__(self, command):
        self.command = command
        self.failures = []
        self.cases = 0
        self.ran = 0
        self.printed = set()

    def run(self, *words):
        return subprocess.run([self.command, *words], capture_output=True, text=True, check=False, timeout=120)

    def times(self, words, flag):
        """The step time by each verb; None where it is refused."""
        found = {}

        def note(verb, result, pattern):
            if result.returncode not in (0, 1, 2):
                self.failures.append(f"{verb} {shlex.join(words)} ended with {result.returncode}: {result.stderr}")
            match = re.search(pattern, result.stdout) if result.returncode != 2 else None
            found[verb] = int(match.group(1)) if match else None

        plain = '"makespan_ns": ?([0-9]+)'
        simulated = self.run("simulate", *words, "--format", "json")
        note("simulate", simulated, plain)
        note("sweep", self.run("sweep", *words, "--format", "json"), plain)
        schedules = [] if "--schedule" in words else ["--schedules", "1f1b"]
        note("compare", self.run("compare", *words, *schedules, "--format", "json"), plain)
        explained = self.run("explain", "step", *words, "--format", "json")
        note("explain", explained, plain)
        if flag in CHANGES:
            note("whatif", self.run("whatif", *words, "--format", "json"), r'(?s)"changed": \{.*?' + plain)
        else:
            note("whatif", self.run("whatif", *words, "--slow", "device=0:1.3", "--format", "json"), plain)
        if explained.returncode == 0 and flag not in CHANGES:
            self.collect(json.loads(explained.stdout))
        return found

    def collect(self, value):
        if isinstance(value, dict):
            command, step = value.get("command"), value.get("makespan_ns")
            if isinstance(command, str) and command.startswith("debubble ") and isinstance(step, int):
                self.printed.add((command, step))
            for one in value.values():
                self.collect(one)
        elif isinstance(value, list):
            for one in value:
                self.collect(one)

    def same(self, flag, value, job):
        words = shlex.split(job) + [flag] + ([] if value is None else [value])
        found = self.times(words, flag)
        self.cases += 1
        self.ran += found["simulate"] is not None
        if len(set(found.values())) > 1:
            self.failures.append(f"{shlex.join(words)}: {found}")
        for text in (self.run("simulate", *words), self.run("compare", *words)):
            for line in re.findall(r"(?m)^try +(debubble (?:.*\n(?:       .*\n)*))", text.stdout):
                self.printed.add((" ".join(line.replace("\\\n", " ").split()), None))
        return found["simulate"] is not None

    def switch_in_file(self, flag, job):
        file = flag[2:] + ".toml"
        pathlib.Path(file).write_text(f"{flag[2:]} = true\n", encoding="utf-8")
        words = shlex.split(job)
        plain = '"makespan_ns": ?([0-9]+)'
        by = [
            re.search(plain, self.run(*line, "--format", "json").stdout)
            for line in (["sweep", *words, flag], ["sweep", "--config", file, *words])
        ]
        if not all(by) or by[0].group(1) != by[1].group(1):
            self.failures.append(f"{flag} in a file and alone: sweep differs")

    def plan(self, job):
        model = [] if "--schedule-only" in job else ["--model", "gpt2-small"]
        planned = self.run("plan", *model, *shlex.split(job), "--format", "json")
        if planned.returncode != 0:
            self.failures.append(f"plan {job}: {planned.stderr}")
        else:
            self.collect(json.loads(planned.stdout))

    def refused(self, line):
        words = shlex.split(line)
        result = self.run("simulate", *words)
        said = re.search(r"(?s)^error\[(S005|S075)\].*?= help: (.*?)\n", result.stderr)
        if result.returncode != 2 or not said:
            self.failures.append(f"not refused with S005 or S075: {line}\n{result.stderr}")
            return
        lines = list(remedies(words, said.group(2)))
        if not lines:
            self.failures.append(f"no remedy that can be typed: {said.group(2)}")
        for other in lines:
            tried = self.run("simulate", *other)
            if tried.returncode not in (0, 1):
                self.failures.append(f"{line}: {said.group(2)}\n  does not help: {shlex.join(other)}\n{tried.stderr}")

    def printed_command(self, command, step):
        words = shlex.split(command)[1:]
        result = self.run(*words, *(["--format", "json"] if step is not None else []))
        if result.returncode not in (0, 1):
            self.failures.append(f"printed, and does not run: {command}\n{result.stderr}")
        elif step is not None:
            found = re.search('"makespan_ns": ([0-9]+)', result.stdout)
            if not found or int(found.group(1)) != step:
                self.failures.append(f"printed with {step} ns, gives {found and found.group(1)}: {command}")


def check_row(checks, row):
    flag = row["name"]
    values, job = EXAMPLES.get(flag, (None, MODEL))
    if values is None:
        values = row["words"] or ([None] if row["kind"] == "switch" else [])
    if not values:
        checks.failures.append(f"{flag} needs an example in {pathlib.Path(__file__).name}")
        return
    ran = [checks.same(flag, value, job) for value in values]
    if not any(ran):
        checks.failures.append(f"{flag}: no example of it runs")
    if row["kind"] == "switch":
        checks.switch_in_file(flag, job)


def main():
    checks = Checks(str(pathlib.Path(sys.argv[1]).resolve()))
    listed = json.loads(checks.run("list", "commands", "--format", "json").stdout)
    rows = next(verb["flags"] for verb in listed["commands"] if verb["name"] == "simulate")
    rows = [row for row in rows if row["group"] != "Output" and row["name"] != "--config"]
    rows = [row for row in rows if len(sys.argv) < 3 or row["name"] in sys.argv[2:]]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda row: check_row(checks, row), rows))
            list(pool.map(checks.plan, PLANS if len(sys.argv) < 3 else []))
            list(pool.map(checks.refused, REFUSED if len(sys.argv) < 3 else []))
            list(pool.map(lambda one: checks.printed_command(*one), sorted(checks.printed, key=str)))
        os.chdir("/")
    print(f"{len(rows)} flags, {checks.cases} examples, {checks.ran} run; {len(checks.printed)} printed commands")
    for failure in checks.failures:
        print(failure, file=sys.stderr)
    return 1 if checks.failures else 0


if __name__ == "__main__":
    sys.exit(main())
