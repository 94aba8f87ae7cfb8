#!/usr/bin/env python3
"""Holds what is written about flags to their rows, which `debubble list commands --format json` prints.

    docs/commands.md        the tables between <!-- flags: VERB --> and <!-- end of flags -->, shared ones said once
    docs/suite.schema.json  the properties of "scenario" and "live" in a suite

    check_flags.py --binary PATH             fails with the difference, and where a flag is in no table
    check_flags.py --binary PATH --update    writes both
"""

import argparse
import collections
import difflib
import json
import pathlib
import re
import subprocess
import sys

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
MANUAL = DOCS / "commands.md"
SCHEMA = DOCS / "suite.schema.json"
TIMEOUT_S = 60
SECTION = re.compile(r"(<!-- flags: (.+?) -->\n)(.*?)(<!-- end of flags -->)", re.DOTALL)
KINDS = {"switch": {"type": "boolean"}, "list": {"$ref": "#/definitions/values"}, "whole": {"$ref": "#/definitions/whole"},
         "text": {"$ref": "#/definitions/value"}}


QUANTITIES = {"TIME": ", as in `1.5ms`", "SIZE": ", as in `76GiB`", "RATE": ", as in `25GB/s`"}


def any_of(unit):
    """"ns, us or ms" of "ns|us|ms"."""
    *units, last = unit.split("|")
    return f"{', '.join(units)} or {last}"


def cell(text):
    return text.replace("|", "\\|")


def usage(flag):
    """A positional argument as a command line shows it: several may follow each other."""
    return flag["name"] + "..." * (flag["kind"] == "list")


def takes(flag):
    """Its words, or its type as the help shows it: one that ends in a comma is that of a list."""
    return "|".join(flag["words"]) or flag["type"] + "..." * flag["type"].endswith(",")


def names_of(flag):
    if not flag["name"].startswith("-"):
        return f"`{usage(flag)}`"
    return "`" + "`, `".join(name for name in (flag["short_name"], flag["name"], *flag["aliases"]) if name) + "`"


def meaning(flag):
    text = flag["help"] + (f" (default: {flag['default']})" if flag["default"] else "")
    return text + (" *(required)*" if flag["required"] else "")


SHAPE = ("name", "short_name", "aliases", "group", "type", "words", "help", "default", "required")


def shape(flag):
    """What makes two rows of two verbs the same row."""
    return tuple(str(flag[key]) for key in SHAPE)


def table(flags):
    lines = []
    for group in dict.fromkeys(flag["group"] for flag in flags):
        lines += ["", f"| {group or 'Flag'} | takes | meaning |", "|---|---|---|"]
        for flag in flags:
            if flag["group"] == group:
                value = f"`{cell(takes(flag))}`" if flag["type"] else ""
                lines.append(f"| {cell(names_of(flag))} | {value} | {cell(meaning(flag))} |")
    return "\n".join(lines) + "\n\n"


def quoted(verbs):
    return ", ".join(f"`{verb}`" for verb in verbs)


class Manual:
    """The tables of each verb: rows that several verbs have are said once, under `shared`."""

    def __init__(self, commands):
        self.verbs = [command["name"] for command in commands]
        self.commands = {command["name"]: command for command in commands}
        self.rows = {command["name"]: command["flags"] for command in commands}
        verbs_of = collections.defaultdict(list)
        for verb, flags in self.rows.items():
            for flag in flags:
                verbs_of[shape(flag)].append(verb)
        self.shared = collections.defaultdict(list)
        self.own = {}
        for verb, flags in self.rows.items():
            self.own[verb] = [flag for flag in flags if len(verbs_of[shape(flag)]) == 1]
            for flag in flags:
                verbs = tuple(verbs_of[shape(flag)])
                if len(verbs) > 1 and verbs[0] == verb:
                    self.shared[verbs].append(flag)

    def section(self, name):
        if name == "shared":
            units = {flag["type"]: flag["unit"] for flags in self.rows.values() for flag in flags
                     if flag["type"] in QUANTITIES}
            said = "".join(f"- `{name}` is a number with {any_of(unit)}{QUANTITIES[name]}.\n" for name, unit in sorted(units.items()))
            parts = sorted(self.shared.items(), key=lambda part: (-len(part[0]), part[0]))
            return "\n" + said + "\n" + "".join(f"{self.heading(verbs)}\n{table(flags)}" for verbs, flags in parts)
        if name not in self.own:
            raise SystemExit(f"{MANUAL.name}: there is no verb {name}")
        command = self.commands[name]
        arguments = "".join(" " + usage(flag) if flag["required"] else f" [{usage(flag)}]"
                            for flag in self.rows[name] if not flag["name"].startswith("-"))
        summary = command["summary"].removesuffix(", ...")
        head = f"`debubble {name} [flags]{arguments}`: {summary}.\n"
        example = f"\n```text\n{command['example'].replace(chr(10) + '  ', chr(10))}\n```\n"
        shared = f"Shared flags: {self.shared_by(name)}.\n"
        return head + example + (table(self.own[name]) if self.own[name] else "\n") + shared

    def heading(self, verbs):
        if len(verbs) == len(self.verbs):
            return "**Every verb:**"
        missing = [verb for verb in self.verbs if verb not in verbs]
        return f"**{quoted(verbs)}:**" if len(verbs) <= len(missing) + 4 else f"**All but {quoted(missing)}:**"

    def shared_by(self, verb):
        groups = []
        for verbs, flags in self.shared.items():
            if verb in verbs:
                groups += [flag["group"] or names_of(flag) for flag in flags]
        return ", ".join(dict.fromkeys(groups))

    def text(self, kept):
        return SECTION.sub(lambda match: match[1] + self.section(match[2]) + match[4], kept)

    def missing(self, text):
        """Sections that the manual has not: the flags in them would be in no table."""
        sections = set(match[2] for match in SECTION.finditer(text))
        return [verb for verb in ["shared", *self.verbs] if verb not in sections]


def properties(flags):
    lines = []
    for flag in flags:
        key = flag["name"].removeprefix("--")
        value = {"type": "string", "minLength": 1} if key == "schedule" else KINDS[flag["kind"]]
        if flag["words"]:
            value = {"enum": flag["words"]}
        lines.append(f'            {json.dumps(key)}: {json.dumps(value)}')
    return ",\n".join(lines)


def schema_text(kept, commands):
    rows = {command["name"]: command["flags"] for command in commands}
    scenario = [flag for flag in rows["simulate"] if flag["group"] != "Output" and flag["name"] != "--config"]
    live = [flag for flag in rows["live"] if flag["group"] in ("Live", "GPUs")]
    for of, flags in ((r"the flags of `debubble simulate`", scenario), (r"a fresh run, by the flags", live)):
        pattern = re.compile(r'("description": "' + of + r'[^\n]*\n\s*"additionalProperties": false,\n\s*"properties": \{\n)'
                             r"(.*?)(\n          \})", re.DOTALL)
        kept, count = pattern.subn(lambda match, flags=flags: match[1] + properties(flags) + match[3], kept)
        if count != 1:
            raise SystemExit(f"{SCHEMA.name}: the properties of \"{of}\" are not found")
    return kept


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    printed = subprocess.run([options.binary, "list", "commands", "--format", "json"], check=True, timeout=TIMEOUT_S,
                             capture_output=True).stdout
    commands = json.loads(printed)["commands"]
    manual = Manual(commands)
    status = 0
    for path, make in ((MANUAL, manual.text), (SCHEMA, lambda kept: schema_text(kept, commands))):
        kept = path.read_text(encoding="utf-8")
        made = make(kept)
        if options.update:
            path.write_text(made, encoding="utf-8")
        elif kept != made:
            sys.stdout.writelines(difflib.unified_diff(kept.splitlines(True), made.splitlines(True), path.name, "rows"))
            status = 1
    for name in manual.missing(MANUAL.read_text(encoding="utf-8")):
        print(f"{MANUAL.name}: there is no section <!-- flags: {name} -->")
        status = 1
    if status:
        print("to accept: tests/docs/check_flags.py --update --binary PATH")
    else:
        print(f"{sum(len(command['flags']) for command in commands)} flags of {len(commands)} verbs")
    return status


if __name__ == "__main__":
    sys.exit(main())
