"""Numbers as the pages write them, tables, and what the command and the file of published results say."""
import copy
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "traces" / "published"
RECORDS = PUBLISHED / "results.json"
QUANTITIES = {"step_time": "step time", "peak_memory": "peak memory", "bubble": "bubble"}


def answer_of(binary, *arguments):
    """What `debubble accuracy` says, as JSON."""
    command = [str(binary), "accuracy", "--format", "json", *map(str, arguments)]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)


def step_times(binary, data):
    """What it says of the step times of these results, by record."""
    used = {record["source"] for record in data["records"]}
    sources = [{**one, "group_targets": {}} for one in data["sources"] if one["name"] in used]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "results.json"
        path.write_text(json.dumps({**data, "sources": sources, "unusable": []}), encoding="utf-8")
        answer = answer_of(binary, "--records", path)
    return {record["id"]: one for source in answer["sources"] for record in source["records"]
            for one in record["comparisons"] if one["quantity"] == "step_time"}


def template(name, **parts):
    text = (pathlib.Path(__file__).parent / "templates" / f"{name}.md").read_text(encoding="utf-8")
    for key, value in parts.items():
        text = text.replace("{{" + key + "}}", value)
    return text


def table(columns, rows):
    """Names of columns: numbers, to the right, begin with >."""
    head = "".join(f" {name.lstrip('>')} |" if name else " |" for name in columns)
    rule = "".join("--:|" if name.startswith(">") else "---|" for name in columns)
    lines = ["|" + head, "|" + rule] + ["|" + "".join(f" {cell} |" for cell in row) for row in rows]
    return "\n".join(lines) + "\n"


def escaped(text):
    """Markdown that shows the text as it is; an underscore within a word marks nothing."""
    def is_word(at):
        return 0 <= at < len(text) and text[at].isascii() and text[at].isalnum()

    out = ""
    for at, one in enumerate(text):
        within = one == "_" and is_word(at - 1) and is_word(at + 1)
        out += f"&#{ord(one)};" if one in "_\\`*[]<#|&~@$" and not within else one
    return out


def percent(share):
    return f"{100 * share:.2f} %"


def signed(share, digits=1):
    return f"{100 * share:+.{digits}f} %"


def counted(count, noun):
    return f"{count} {noun}{'' if count == 1 else 's'}"


def with_unit(quantity, value):
    if quantity == "step_time":
        return f"{value:#.4g} s"
    return f"{value:.2f} GiB" if quantity == "peak_memory" else f"{value:.4f}"


def scaled(value, unit, divisor, significant):
    whole = len(str(abs(value) // divisor))
    decimals = 0 if divisor == 1 else min(max(significant - whole, 0), significant - 1)
    power = 10**decimals
    rounded = (2 * abs(value) * power + divisor) // (2 * divisor)
    sign = "-" if value < 0 and rounded > 0 else ""
    number = f"{rounded // power}.{rounded % power:0{decimals}}" if decimals else str(rounded)
    return f"{sign}{number} {unit}"


def duration(value):
    for unit, divisor, limit in (("ns", 1, 1000), ("us", 10**3, 999_950), ("ms", 10**6, 999_950_000)):
        if abs(value) < limit:
            return scaled(value, unit, divisor, 4)
    return scaled(value, "s", 10**9, 4)


def size(value):
    units = ("B", "KiB", "MiB", "GiB", "TiB")
    index = 0
    while index < 4 and abs(value) >= 1024**(index + 1):
        index += 1
    return scaled(value, units[index], 1024**index, 3)


def number(value):
    """The shortest text of it: 0.975, and 1 for 1.0."""
    return repr(value).removesuffix(".0")


def nearest(value, digits):
    """Halves away from 0."""
    power = 10**digits
    return (int(abs(value) * power + 0.5) / power) * (-1 if value < 0 else 1)


class Published:
    """The file of published results: records by id, with the flags of their sources."""

    def __init__(self, path=RECORDS):
        self.path = pathlib.Path(path)
        self.data = json.loads(self.path.read_text(encoding="utf-8"))
        self.sources = {source["name"]: source for source in self.data["sources"]}
        self.records = {one["id"]: one for one in sorted(self.data["records"], key=lambda one: one["id"])}

    def flags(self, record):
        return {**self.sources[record["source"]]["flags"], **record["flags"]}

    def flattened(self):
        """A copy of the file for another folder: each record with all of its flags, files by their whole paths."""
        data = copy.deepcopy(self.data)
        for record in data["records"]:
            flags = self.flags(record)
            for name in ("model", "profile", "efficiency", "kernels"):
                if str(flags.get(name, "")).endswith((".json", ".csv")):
                    flags[name] = str(self.path.parent / flags[name])
            record["flags"] = flags
        for source in data["sources"]:
            source["flags"] = {}
        return data

    def machine(self, record):
        """Hardware and number format; None for what trains no model."""
        flags = self.flags(record)
        if "hardware" not in flags or "model" not in flags:
            return None
        wide = {"mxfp8": "mxfp8", "blockwise": "fp8-blockwise"}.get(flags.get("fp8-recipe"))
        return flags["hardware"], wide or flags.get("dtype", "bf16")

    def setup(self, record):
        """Equal for measurements of the same set-up."""
        return json.dumps([list(self.sources[record["source"]]["flags"].items()), list(record["flags"].items())])
