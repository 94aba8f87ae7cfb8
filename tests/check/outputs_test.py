#!/usr/bin/env python3
"""The gate's outputs, read back by programs that are not ours: XML, JSON against its schema, workflow commands.

    outputs_test.py DEBUBBLE

Exit codes: 0 all right; 1 each problem is printed; 77 skipped, since python3-jsonschema is not installed.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

try:
    import jsonschema
except ImportError:
    print("SKIPPED: python3-jsonschema is not installed")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOSTILE = 'a "quoted" <b>|pipe|</b> & 100 %, x: [l](u) `c`\n::error::two\tlines'
CONTROL = "bell\x07 and escape\x1b[31m"
problems = []


def expect(condition, what):
    if not condition:
        problems.append(what)


def suite(scenarios):
    return {"schema": "debubble.suite/1", "name": "outputs <&\">", "scenarios": scenarios}


def scenario(name, times):
    return {"name": name, "scenario": {"schedule": "1f1b", "times": times}}


class Run:
    """One `debubble check` in a folder, with every output there is."""

    def __init__(self, binary, folder, suites, *flags):
        summary = folder / "summary.md"
        summary.write_text("before\n", encoding="utf-8")
        environment = {"PATH": os.environ["PATH"], "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_WORKSPACE": str(folder)}
        done = subprocess.run(
            [str(binary), "check", *suites, "--format", "json", "--junit", "j.xml", "--markdown", "m.md", "--github",
             *flags], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.status = done.returncode
        self.stderr = done.stderr.decode()
        self.json = json.loads(done.stdout)
        self.xml = xml.etree.ElementTree.parse(folder / "j.xml").getroot()
        self.markdown = (folder / "m.md").read_text(encoding="utf-8")
        self.summary = summary.read_text(encoding="utf-8")
        schema = json.loads((ROOT / "docs/check.schema.json").read_text(encoding="utf-8"))
        jsonschema.Draft7Validator.check_schema(schema)
        for error in jsonschema.Draft7Validator(schema).iter_errors(self.json):
            problems.append(f"{suites}: /{'/'.join(map(str, error.absolute_path))}: {error.message}")
        self.check_counts()
        self.check_tables()
        expect(self.json["exit_status"] == self.status, f"{suites}: exit_status is not {self.status}")
        expect(self.summary == "before\n" + self.markdown, f"{suites}: the step summary is not the Markdown, appended")

    def check_counts(self):
        for element in [self.xml, *self.xml.iter("testsuite")]:
            cases = list(element.iter("testcase"))
            for name, tag in (("tests", None), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
                found = len(cases) if tag is None else sum(case.find(tag) is not None for case in cases)
                expect(int(element.get(name)) == found, f"JUnit counts {element.get(name)} {name}, has {found}")

    def check_tables(self):
        """A row with a pipe or a line end too many would not have its four cells."""
        for line in self.markdown.splitlines():
            if line.startswith("|"):
                expect(line.count("|") == 5, f"not a row of four cells: {line}")

    def case(self, name):
        found = [case for case in self.xml.iter("testcase") if case.get("name") == name]
        expect(len(found) == 1, f"{len(found)} testcases named {name!r}")
        return found[0] if found else xml.etree.ElementTree.Element("testcase")

    def annotations(self):
        """(level, properties, message) as GitHub's runner reads them."""
        for line in self.stderr.splitlines():
            match = re.match(r"::(error|warning|notice) ([^:]*)::(.*)$", line)
            if not match:
                continue
            properties = dict(part.split("=", 1) for part in match[2].split(","))
            yield match[1], {key: plain(value) for key, value in properties.items()}, plain(match[3])


def plain(text):
    for code, character in (("%2C", ","), ("%3A", ":"), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        text = text.replace(code, character)
    return text


def visible(text):
    """As output shows it: characters that would act on a terminal as what they are."""
    return "".join(f"\\x{ord(one):02x}" if ord(one) < 0x20 and one != "\n" else one for one in text)


def check_hostile_names(binary, folder):
    names = [HOSTILE, CONTROL, "plain"]
    path = folder / "sub" / "s.json"
    path.parent.mkdir()
    path.write_text(json.dumps(suite([scenario(name, "f=1,b=2") for name in names]), indent=1), encoding="utf-8")
    accepted = subprocess.run([str(binary), "check", "--accept", "sub/s.json"], cwd=folder, stdout=subprocess.PIPE,
                              check=False)
    expect(accepted.returncode == 0, "--accept fails")
    expect(b"\x1b" not in accepted.stdout and b"\x07" not in accepted.stdout, "control characters reach the terminal")
    path.write_text(json.dumps(suite([scenario(name, "f=1,b=3") for name in names]), indent=1), encoding="utf-8")
    run = Run(binary, folder, ["sub/s.json"])
    expect(run.status == 1, f"exit status {run.status}, not 1")
    expect([one["name"] for one in run.json["suites"][0]["scenarios"]] == names, "JSON changes the names")
    run.case(HOSTILE + ": prediction")
    run.case(CONTROL.replace("\x07", "\ufffd").replace("\x1b", "\ufffd") + ": prediction")
    failure = run.case("plain: prediction").find("failure")
    expect(failure is not None and "makespan_ns 33000000 -> 44000000 (+33 %)" in (failure.text or ""), "no failure text")
    annotations = list(run.annotations())
    expect(len(annotations) == 3, f"{len(annotations)} annotations")
    for (level, properties, message), name in zip(annotations, names):
        expect(level == "error", f"level {level}")
        expect(properties.get("file") == "sub/s.json", f"file {properties.get('file')}")
        line = path.read_text(encoding="utf-8").splitlines()[int(properties["line"]) - 1]
        expect(line.strip() == "{", f"line {properties['line']} is no scenario's first")
        expect(properties.get("title") == "debubble: " + visible(name), f"title {properties.get('title')!r}")
        expect(message.startswith("the prediction is not the accepted one: makespan_ns"), message)
    expect("<b>" not in run.markdown, "HTML in the Markdown")


def check_errors(binary, folder):
    (folder / "bad.json").write_text('{"schema": "debubble.suite/1",\n "scenarios": [\n  {"name": "x|y"}]}')
    run = Run(binary, folder, ["bad.json", "absent|<&>.json"])
    expect(run.status == 2, f"exit status {run.status}, not 2")
    expect(run.xml.get("errors") == "3", f"{run.xml.get('errors')} errors in JUnit")
    lines = [properties["line"] for _, properties, _ in run.annotations()]
    expect(sorted(lines) == ["1", "1", "3"], f"annotations at lines {lines}")
    codes = [error["code"] for one in run.json["suites"] for error in one["errors"]]
    expect(codes == ["P006", "P006", "C005"], f"errors {codes}")


def check_missing(binary, folder):
    """No part of MPI or CUDA is needed for this: the run is not one of mpirun's."""
    for required, status, tag in ((True, 3, "error"), (False, 0, "skipped")):
        one = {**scenario("far", "f=1,b=2"), "live": {"backend": "mpi"}, "required": required}
        (folder / "m.json").write_text(json.dumps(suite([one])))
        subprocess.run([str(binary), "check", "--accept", "m.json"], cwd=folder, stdout=subprocess.DEVNULL, check=True)
        run = Run(binary, folder, ["m.json"])
        expect(run.status == status, f"required {required}: exit status {run.status}, not {status}")
        expect(run.case("far: run").find(tag) is not None, f"required {required}: no <{tag}>")
        levels = [level for level, _, _ in run.annotations()]
        expect(levels == ["error" if required else "notice"], f"required {required}: annotations {levels}")


def main():
    binary = pathlib.Path(sys.argv[1]).resolve()
    for check in (check_hostile_names, check_errors, check_missing):
        with tempfile.TemporaryDirectory(prefix="debubble-check-") as folder:
            check(binary, pathlib.Path(folder))
    print("\n".join(problems) if problems else "all read back")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
