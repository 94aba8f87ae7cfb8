#!/usr/bin/env python3
"""The job files in docs/ci: they are YAML, say what their services understand, and every debubble command in them runs.

    job_files_test.py DEBUBBLE

Exit codes: 0 all right; 1 each problem is printed; 77 skipped, since python3-yaml is not installed.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:
    print("SKIPPED: python3-yaml is not installed")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUITE = '{"schema": "debubble.suite/1", "name": "s", "scenarios": [{"name": "a", "scenario": {"schedule": "zb-h1"}}]}\n'
GITHUB_STEP = {"name", "run", "uses", "if", "with", "env", "shell"}
GITLAB_JOB = {"stage", "script", "artifacts", "tags", "rules", "extends"}
problems = []


def expect(condition, what):
    if not condition:
        problems.append(what)


def load(name):
    text = (ROOT / "docs/ci" / name).read_text(encoding="utf-8")
    expect("\t" not in text, f"{name}: a tab")
    return yaml.safe_load(text)


def github_commands():
    jobs = load("github.yml")
    expect(True in jobs or "on" in jobs, "github.yml: no trigger")  # YAML 1.1 reads the key `on` as true
    for name, job in jobs["jobs"].items():
        expect("runs-on" in job, f"github.yml: {name} has no runs-on")
        for step in job["steps"]:
            expect(("run" in step) != ("uses" in step), f"github.yml: {name}: a step runs or uses, not both")
            expect(set(step) <= GITHUB_STEP, f"github.yml: {name}: unknown {set(step) - GITHUB_STEP}")
            if "run" in step:
                yield f"github.yml: {name}", jobs["env"], step["run"]


def gitlab_commands():
    jobs = load("gitlab.yml")
    variables = jobs.pop("variables")
    for name, job in jobs.items():
        expect(set(job) <= GITLAB_JOB, f"gitlab.yml: {name}: unknown {set(job) - GITLAB_JOB}")
        expect(job.get("extends", name) in jobs, f"gitlab.yml: {name} extends nothing")
        expect(name.startswith(".") or "script" in job, f"gitlab.yml: {name} has no script")
        for line in job.get("script", []):
            yield f"gitlab.yml: {name}", variables, line
    reports = jobs[".bubbles"]["artifacts"]
    expect(reports["reports"]["junit"] in reports["paths"], "gitlab.yml: JUnit is no artifact")


def run(binary, place, variables, script):
    """The script as the service runs it, in a checkout with accepted suites of these names."""
    with tempfile.TemporaryDirectory(prefix="debubble-job-") as checkout:
        folder = pathlib.Path(checkout)
        environment = {**os.environ, **variables, "PATH": f"{binary.parent}{os.pathsep}{os.environ['PATH']}",
                       "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
        for suite in variables.values():
            (folder / suite).parent.mkdir(parents=True, exist_ok=True)
            (folder / suite).write_text(SUITE, encoding="utf-8")
            subprocess.run([str(binary), "check", "--accept", suite], cwd=folder, stdout=subprocess.DEVNULL, check=True)
        done = subprocess.run(["bash", "-e", "-c", script], cwd=folder, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        expect(done.returncode == 0, f"{place}: {script}: exit status {done.returncode}\n{done.stdout}")
        for output in ("junit.xml", "bubbles.md"):
            expect((folder / output).is_file(), f"{place}: {script} leaves no {output}")
        if "--github" in script:
            expect((folder / "summary.md").is_file(), f"{place}: {script} leaves no step summary")


def main():
    binary = pathlib.Path(sys.argv[1]).resolve()
    commands = [*github_commands(), *gitlab_commands()]
    expect(len(commands) == 4, f"{len(commands)} commands, not 4")
    for place, variables, script in commands:
        run(binary, place, variables, script)
    print("\n".join(problems) if problems else f"{len(commands)} commands run")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
