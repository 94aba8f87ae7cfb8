"""What the tests of this folder share: what the command makes of a file, and the count of what agrees with the package."""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib


class Door:
    """`check` counts; `finish` prints the counts and says whether all agrees but what is known not to."""

    def __init__(self, name, known=()):
        parser = argparse.ArgumentParser()
        parser.add_argument("binary")
        parser.add_argument("frameworks", help="folder of the unpacked packages")
        parser.add_argument("--only", default="", help="cases whose name has this in it")
        given = parser.parse_args()
        self.name, self.binary, self.frameworks, self.only = name, given.binary, given.frameworks, given.only
        self.known = known  # patterns of what is known to differ
        self.counts, self.differences, self.mended = {}, [], []
        self.folder = tempfile.TemporaryDirectory()
        self.began = time.time()

    def wanted(self, case):
        return self.only in case

    def check(self, fact, case, package, ours):
        agreed, of = self.counts.get(fact, (0, 0))
        known = any(re.search(pattern, f"{fact}: {case}") for pattern in self.known)
        self.counts[fact] = (agreed + (package == ours), of + 1)
        if package != ours:
            self.differences.append((known, f"{fact}: {case}: the package says {package}, debubble {ours}"))
        elif known:
            self.mended.append(f"{fact}: {case}")

    def finish(self):
        for known, text in self.differences:
            print("known:" if known else "DIFFERS:", text)
        for text in self.mended:
            print("agrees now, though listed as known:", text)
        facts = ", ".join(f"{fact} {agreed} of {of}" for fact, (agreed, of) in self.counts.items())
        known = sum(known for known, _ in self.differences)
        print(f"{self.name}: {facts}{f', {known} known to differ' if known else ''} ({time.time() - self.began:.0f} s)")
        sys.exit(len(self.differences) > known or not self.counts)

    def run(self, *words):
        done = subprocess.run([self.binary, *words], capture_output=True, text=True, cwd=self.folder.name)
        assert done.returncode in (0, 1, 2), f"{words}: {done.returncode} {done.stderr}"
        return done

    def imported(self, tool, name, text, *words, hardware="h100"):
        """The scenario that import makes of a file and what simulate says of it, or what refused it."""
        path = os.path.join(self.folder.name, name)
        with open(path, "w") as file:
            file.write(text)
        done = self.run("import", "--from", tool, path, "-o", path + ".toml", *words)
        if done.returncode:
            return Refused("import", done.stderr)
        ran = self.run("simulate", "--config", path + ".toml", "--hardware", hardware, "--format", "json")
        if ran.returncode == 2:
            return Refused("simulate", ran.stderr)
        with open(path + ".toml", "rb") as file:
            return Taken(tomllib.load(file), json.loads(ran.stdout), done.stderr)

    def of_all(self, function, cases):
        """function(case) of each, two at a time: each waits for the command."""
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return list(pool.map(function, cases))

    def exports(self, framework, *words):
        """Whether the command has a paste of the run for the framework: what the framework refuses has none."""
        done = self.run("export", "--to", framework, "-o", os.devnull, *words)
        assert done.returncode == 0 or "refuses this" in done.stderr, f"{words}: {done.stderr}"
        return done.returncode == 0

    def order(self, *words):
        """Each device's ops, as 0F0: of stage 0, microbatch 0, both where two overlap; or None where the command refuses."""
        done = self.run("export", "--to", "pytorch-csv", *words)
        return [re.findall(r"\d+[A-Z]\d+", row) for row in done.stdout.splitlines()] if done.returncode == 0 else None


class Refused:
    starts = False

    def __init__(self, verb, text):
        self.verb, self.text = verb, text

    def __str__(self):
        return f"{self.verb}: {self.text.splitlines()[0]}"


class Taken:
    starts = True

    def __init__(self, scenario, report, said):
        self.scenario, self.report, self.said = scenario, report, said

    def size(self, name):
        found = re.search(rf"(?:^|,){name}=([^,]*)", self.scenario.get("model-size", ""))
        return int(found.group(1)) if found else None

    def layers(self):
        """Layers of each stage, the embedding and the head among them."""
        for row in self.report["assumptions"]:
            if row["what"] == "partition":
                return [int(count) for count in row["value"].split(" ")[0].split(",")]
        return None

    def weights(self):
        """Bytes of weights on each device."""
        return [device["peak_by_category_bytes"]["weights"] for device in self.report["devices"]]
