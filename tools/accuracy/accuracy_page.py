"""docs/accuracy.md: predictions of published results against what was measured."""
import json
import statistics

from words import (PUBLISHED, QUANTITIES, Published, answer_of, counted, escaped, number, percent, signed, step_times,
                   table, template, with_unit)


def words_for(summary):
    return QUANTITIES[summary["quantity"]] + (f", {summary['group']}" if summary["group"] else "")


def target_text(summary):
    if summary["target"] is None:
        return ""
    verdict = "met" if summary["mean_absolute_error"] <= summary["target"] else "missed"
    return f"{100 * summary['target']:g} %: {verdict}"


def machine_text(machine):
    return f"{machine[0]} in {machine[1]}"


def constant_text(one):
    return (f"{machine_text((one['hardware'], one['format']))}: {number(one['compute'])}, from "
            f"{counted(one['records'], 'record')} of {counted(one['sources'], 'source')}")


def source_overview(sources):
    rows = []
    for source in sources:
        for one in source["without_constants"]:
            floor = source["noise"] and one["quantity"] == "step_time" and not one["group"]
            rows.append((source["source"], words_for(one), one["records"], percent(one["mean_absolute_error"]),
                         percent(one["median_absolute_error"]), signed(one["bias"]), signed(one["worst"]),
                         target_text(one), percent(source["noise"]["median_ratio"] - 1) if floor else ""))
    return table(("source", "what", ">records", ">mean absolute error", ">median", ">bias", ">worst", ">target",
                  ">noise floor"), rows)


def judged_with_constants(binary, published, sources, constants):
    """Of each source the records whose machine has a constant of other sources: what is predicted with it. None where no
    record has one."""
    data, used = published.flattened(), {}
    for record in data["records"]:
        machine = published.machine(published.records[record["id"]])
        for one in constants:
            if (one["hardware"], one["format"]) == machine and one["left_out"] == record["source"]:
                record["flags"]["calibrate"] = f"compute={number(one['compute'])}"
                used[record["id"]] = one
    data["records"] = [record for record in data["records"] if record["id"] in used]
    predicted = step_times(binary, data) if used else {}
    for source in sources:
        ids = [record["id"] for record in source["records"] if record["id"] in predicted]
        errors = [predicted[one]["error"] for one in ids]
        without = [one["error"] for record in source["records"] if record["id"] in ids for one in record["comparisons"]
                   if one["quantity"] == "step_time"]
        source["with_constant"] = ids and {
            "records": len(ids), "steps": {one: predicted[one] for one in ids}, "bias": statistics.fmean(errors),
            "constants": [one for one in constants if any(used[name] is one for name in ids)],
            "mean_absolute_error": statistics.fmean(map(abs, errors)), "worst": max(errors, key=abs),
            "median_absolute_error": statistics.median(map(abs, errors)),
            "mean_absolute_error_without": statistics.fmean(map(abs, without))}


def without_constant(source, published, constants):
    """Machines of its records that no other source has."""
    known = {(one["hardware"], one["format"]) for one in constants if one["left_out"] == source["source"]}
    machines = [published.machine(published.records[record["id"]]) for record in source["records"]]
    return [one for one in dict.fromkeys(machines) if one and one not in known]


def constant_overview(sources, published, constants):
    text = table(("source", "constants, of other sources", ">records", ">mean absolute error", ">without", ">median",
                  ">bias", ">worst"), [])
    for source in sources:
        name, one = source["source"], source["with_constant"]
        if one:
            used = "; ".join(map(constant_text, one["constants"]))
            text += (f"| {name} | {used} | {one['records']} | {percent(one['mean_absolute_error'])} | "
                     f"{percent(one['mean_absolute_error_without'])} | {percent(one['median_absolute_error'])} | "
                     f"{signed(one['bias'])} | {signed(one['worst'])} |\n")
        missing = ", ".join(map(machine_text, without_constant(source, published, constants)))
        if missing:
            text += f"| {name} | no other source has {missing}: no constant is used | | | | | | |\n"
    shared = [f"- {constant_text(one)}\n" for one in constants if one["left_out"] is None and one["sources"] > 1]
    return text + ("\nOver all sources, where there are several:\n\n" + "".join(shared) if shared else "")


def noise_section(sources, published):
    rows, setups = [], []
    for source in sources:
        noise = source["noise"]
        if not noise:
            continue
        rows.append((source["source"], len(noise["setups"]), f"{noise['median_ratio']:.3f}",
                     f"{noise['largest_ratio']:.3f}"))
        for setup in noise["setups"]:
            steps = []
            for name in setup["records"]:
                record = published.records[name]
                software = f" ({record['software']})" if record.get("software") else ""
                steps.append(f"{name}{software} {with_unit('step_time', record['measured']['step_time_s'])}")
            setups.append((source["source"], escaped(", ".join(steps)), f"{setup['ratio']:.3f}"))
    if not rows:
        return ""
    return template("noise", sources=table(("source", ">set-ups measured more than once", ">median ratio",
                                            ">largest ratio"), rows),
                    setups=table(("source", "records of one set-up", ">ratio"), setups))


def whole(share):
    return f"{100 * share:.0f} %"


def all_of(counts):
    return counts["inside"] + counts["below"] + counts["above"]


def coverage_cells(counts):
    if not counts:
        return "", "", "", ""
    return counts["inside"], counts["below"], counts["above"], whole(counts["coverage"]) if all_of(counts) else ""


def ranged_name(one):
    return one["source"] + (", experts" if one["experts"] else "")


def coverage_table(ranges):
    rows = []
    for one in ranges["sources"]:
        rows.append((ranged_name(one), all_of(one["counts"]), whole(one["median_width"]),
                     *coverage_cells(one["counts"]), *coverage_cells(one["by_other_sources"])))
    if all_of(ranges["experts"]) and all_of(ranges["dense"]):
        for name in ("dense", "experts"):
            rows.append((f"all {'with ' if name == 'experts' else ''}{name}", all_of(ranges[name]), "",
                         *coverage_cells(ranges[name]), "", "", "", ""))
    rows.append(("all", all_of(ranges["counts"]), "", *coverage_cells(ranges["counts"]),
                 *coverage_cells(ranges["by_other_sources"])))
    return table(("source", ">records", ">width, in the median", ">inside", ">below", ">above", ">coverage",
                  ">by other sources: inside", ">below", ">above", ">coverage"), rows)


def pairs_row(name, pairs):
    apart, close = pairs["told_apart"], pairs["not_told_apart"]

    def share(key, of):
        return whole(pairs[key] / of) if of else ""

    return (name, apart + close, apart, share("told_apart_in_order", apart), close,
            share("not_told_apart_in_order", close), share("measured_as_close", close))


def pairs_table(ranges):
    rows = [pairs_row(ranged_name(one), one["pairs"]) for one in ranges["sources"]]
    rows = [row for row in rows if row[1]] + [pairs_row("all", ranges["pairs"])]
    return table(("source", ">pairs", ">told apart", ">in the right order", ">not told apart", ">in the right order",
                  ">measured as close"), rows)


def ranges_section(ranges, constants):
    if not ranges:
        return ""

    def ends_text(experts):
        for one in constants["ends"]:
            if one["experts"] == experts and one["left_out"] is None:
                return f"{one['low']:.2f} to {one['high']:.2f}"
        return "none"

    return template("ranges", dense=ends_text(False), experts=ends_text(True), coverage=coverage_table(ranges),
                    apart=f"{ranges['apart']:g}", repeat=f"{100 * ranges['repeat']:.1f}",
                    count=str(constants["pairs"]), pairs=pairs_table(ranges))


def record_rows(source, software):
    columns = ["record", *(["software"] if software else []), "what", ">measured", ">predicted", ">error"]
    columns += ([""] if source["noise"] else []) + ([">with a constant", ">error"] if source["with_constant"] else [])
    rows = []
    for record in source["records"]:
        start = [record["id"], *([record.get("software", "")] if software else [])]
        if "refused" in record:
            rows.append([*start, escaped(record["refused"]), "", "", ""])
        for one in record["comparisons"]:
            row = [*start, QUANTITIES[one["quantity"]], with_unit(one["quantity"], one["measured"]),
                   with_unit(one["quantity"], one["predicted"]), signed(one["error"])]
            if source["noise"]:
                row.append("within noise" if one.get("within_noise") else "")
            if source["with_constant"]:
                step = source["with_constant"]["steps"].get(record["id"]) if one["quantity"] == "step_time" else None
                row += [with_unit("step_time", step["predicted"]), signed(step["error"])] if step else ["", ""]
            rows.append(row)
    return table(columns, rows)


def source_section(source, published):
    facts = published.sources[source["source"]]
    names = {record.get("software", "") for record in source["records"]}
    text = (f"\n## {source['source']}\n\n{source['title']}. From {source['where']}. Licence: {source['licence']}. "
            f"{facts['kind']}.\n")
    if len(names) == 1 and names != {""}:
        text += f"\nSoftware: {names.pop()}.\n"
        names = {""}
    if facts.get("assumed"):
        text += f"\nAssumed: {facts['assumed']}.\n"
    if source["not_modelled"]:
        text += "\nNot modelled:\n\n" + "".join(f"- {effect}\n" for effect in source["not_modelled"])
    return text + "\n" + record_rows(source, len(names) > 1)


def unusable_section(unusable):
    groups = {}
    for one in unusable:
        groups.setdefault((one["source"], one["reason"]), []).append(one["id"])
    rows = [(source, len(ids), reason, ", ".join(ids)) for (source, reason), ids in groups.items()]
    return template("unusable", records=table(("source", ">records", "reason", "ids"), rows)) if rows else ""


def accuracy_page(binary, published=None):
    published = published or Published()
    answer = answer_of(binary, "--records", published.path)
    constants = json.loads((PUBLISHED / "calibration.json").read_text(encoding="utf-8"))["constants"]
    ranges = json.loads((PUBLISHED / "ranges.json").read_text(encoding="utf-8"))
    sources = answer["sources"]
    judged_with_constants(binary, published, sources, constants)
    page = template("accuracy", overview=source_overview(sources),
                    constants=constant_overview(sources, published, constants))
    page += noise_section(sources, published) + ranges_section(answer["ranges"], ranges)
    page += "".join(source_section(source, published) for source in sources)
    return page + unusable_section(answer["unusable"])
