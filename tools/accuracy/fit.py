"""The constants that traces/published/calibration.json and ranges.json hold, found from the published records."""
import json
import math

from words import answer_of, nearest, number, step_times

CALIBRATION_RULE = (
    "Fitted by `tools/accuracy/run`: for each hardware and number format over all sources (left_out null), and for each "
    "source over all others. Made least is the mean over sources of the mean absolute error of their step times: a "
    "source counts once, however many records it has.")
RANGES_RULE = (
    "Found by `tools/accuracy/run`. A step's scatter is that of its kinds of work, each with its share, and of a set-up "
    "that is measured again, in squares. Its range is predicted x exp(low x scatter) to predicted x exp(high x "
    "scatter): low and high are the quantiles at 0.1 and 0.9 of log(measured / predicted) / scatter over all records "
    "(left_out null), and over those of all sources but one, of dense models and of models with experts. apart is the "
    "least number, in steps of 0.05, such that of two records of one job whose |log(predicted ratio)| is more than so "
    "many scatters 90 in 100 were measured in the predicted order.")
COVERAGE, ORDER = 0.8, 0.9


def document(schema, rule, facts, key, rows):
    """One row to a line."""
    lines = [f'  "schema": {json.dumps(schema)}', f'  "rule": {json.dumps(rule)}']
    lines += [f'  "{name}": {number(value)}' for name, value in facts.items()]
    listed = ",\n".join("    " + json.dumps(row) for row in rows)
    return "{\n" + ",\n".join([*lines, f'  "{key}": [\n{listed}\n  ]']) + "\n}\n"


class Lattice:
    """Step times of one machine's records, predicted with constants on a lattice of 0.005."""

    def __init__(self, binary, published, machine):
        self.binary, self.points = binary, {}
        self.data = published.flattened()
        self.data["records"] = [one for one in self.data["records"]
                                if published.machine(published.records[one["id"]]) == machine
                                and "step_time_s" in one["measured"]]

    def constant(self, point):
        return nearest(point * 0.005, 3)

    def errors(self, point):
        """Absolute, by record; without those that cannot be predicted."""
        if point not in self.points:
            for record in self.data["records"]:
                record["flags"]["calibrate"] = f"compute={number(self.constant(point))}"
            self.points[point] = {name: abs(one["error"]) for name, one in step_times(self.binary, self.data).items()}
        return self.points[point]


def least(lattice, ids, source_of):
    """The point at which the mean over sources of the mean error is least: a descent with ever finer steps."""
    def error(point):
        errors = lattice.errors(point)
        by_source = {}
        for one in ids:
            by_source.setdefault(source_of[one], []).append(errors[one])
        return sum(sum(one) / len(one) for _, one in sorted(by_source.items())) / len(by_source)

    here = 200
    for step in (32, 16, 8, 4, 2, 1):
        moved = True
        while moved:
            moved = False
            for by in (step, -step):
                there = min(max(here + by, 40), 600)
                if error(there) < error(here):
                    here, moved = there, True
    return here


def calibration(binary, published):
    source_of = {name: record["source"] for name, record in published.records.items()}
    machines = {published.machine(one) for one in published.records.values() if "step_time_s" in one["measured"]}
    rows = []
    for hardware, form in sorted(machines - {None}):
        lattice = Lattice(binary, published, (hardware, form))
        ids = lattice.errors(200)
        sources = sorted({source_of[one] for one in ids})
        for left_out in (None, *(sources if len(sources) > 1 else ())):
            used = [one for one in published.records if one in ids and source_of[one] != left_out]
            compute = lattice.constant(least(lattice, used, source_of))
            rows.append({"hardware": hardware, "format": form, "left_out": left_out,
                         "compute": int(compute) if compute == int(compute) else compute, "records": len(used),
                         "sources": len({source_of[one] for one in used})})
    return document("debubble.calibration/2", CALIBRATION_RULE, {}, "constants", rows)


def quantile(values, share):
    """Between the two nearest."""
    values = sorted(values)
    at = share * (len(values) - 1)
    below = int(at)
    above = min(below + 1, len(values) - 1)
    return values[below] + (at - below) * (values[above] - values[below])


def parts(record):
    return {kind["kind"]: kind["share"] * kind["scatter"] for kind in record["kinds"]}


def root_of_squares(values, start):
    return math.sqrt(start + sum(value * value for value in values))


def job_of(published, record):
    """Equal for layouts of one job."""
    flags = published.flags(record)
    data = flags.get("dp", 1)
    gpus = data * flags.get("tp", 1) * flags.get("cp", 1) * flags.get("devices", 1)
    batch = data * flags.get("microbatch-size", 1) * flags.get("microbatches", 1)
    names = ("model", "model-size", "hardware", "dtype", "fp8-recipe", "topology", "sequence")
    return (record["source"], *(flags.get(name) for name in names), gpus, batch)


def repeats(steps, published):
    """How far apart measurements of each set-up are that was measured more than once."""
    setups = {}
    for one in steps:
        setups.setdefault(published.setup(published.records[one["id"]]), []).append(math.log(one["measured"]))
    scatters = []
    for logs in setups.values():
        if len(logs) > 1:
            total, squares = sum(logs), sum(one * one for one in logs)
            scatters.append(math.sqrt(max(0.0, (squares - total * total / len(logs)) / (len(logs) - 1))))
    return scatters


def ends_of(steps, repeat, experts, left_out):
    used = [one for one in steps if one["experts"] == experts and one["source"] != left_out]
    scatters = [math.log(one["measured"] / one["predicted"]) / root_of_squares(parts(one).values(), repeat * repeat)
                for one in used]
    if not scatters:
        return []
    return [{"experts": experts, "left_out": left_out, "low": nearest(quantile(scatters, (1 - COVERAGE) / 2), 4),
             "high": nearest(quantile(scatters, (1 + COVERAGE) / 2), 4), "records": len(used),
             "sources": len({one["source"] for one in used})}]


def pairs_of(steps, published, repeat):
    """Logarithms of the predicted and measured ratios of each two layouts of one job, and their scatter."""
    records = [published.records[one["id"]] for one in steps]
    keys = [(job_of(published, record), published.setup(record)) for record in records]
    for a, one in enumerate(steps):
        for b in range(a + 1, len(steps)):
            other = steps[b]
            if keys[a][0] != keys[b][0] or keys[a][1] == keys[b][1]:
                continue
            mine, theirs = parts(one), parts(other)
            differences = [mine.get(name, 0) - theirs.get(name, 0) for name in sorted({*mine, *theirs})]
            yield (math.log(one["predicted"] / other["predicted"]), math.log(one["measured"] / other["measured"]),
                   root_of_squares(differences, 2 * repeat * repeat))


def least_apart(pairs):
    for step in range(200):
        apart = nearest(step * 0.05, 4)
        told = [predicted * measured > 0 for predicted, measured, scatter in pairs if abs(predicted) > apart * scatter]
        if sum(told) >= ORDER * len(told):
            break
    return apart


def ranges(binary, published):
    answer = answer_of(binary, "--records", published.path)["ranges"]
    steps = [{**record, "source": source["source"], "experts": source["experts"]}
             for source in answer["sources"] for record in source["records"]]
    steps.sort(key=lambda one: one["id"])
    scatters = repeats(steps, published)
    repeat = nearest(quantile(scatters, 0.5), 4) if scatters else 0
    ends = []
    for experts in (False, True):
        sources = sorted({one["source"] for one in steps if one["experts"] == experts})
        for left_out in (None, *sources):
            ends += ends_of(steps, repeat, experts, left_out)
    pairs = list(pairs_of(steps, published, repeat))
    facts = {"repeat": repeat, "repeated": len(scatters), "apart": least_apart(pairs), "pairs": len(pairs)}
    return document("debubble.ranges/1", RANGES_RULE, facts, "ends", ends)
