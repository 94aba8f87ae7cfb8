"""docs/bubbles.md: predicted and measured bubbles of the runs of traces/measured."""
from measured_runs import LEVELS, judged_runs
from words import duration, escaped, percent, signed, table, template


def points(share):
    return f"{100 * share:+.2f}"


def summary_rows(level, groups):
    for name, summaries in groups:
        one = summaries[level]
        if not one["runs"] and name != "all":
            continue
        bubble = ("not measured", "", "")
        if one["bubble_runs"]:
            some = f" ({one['bubble_runs']} runs)" if one["bubble_runs"] < one["runs"] else ""
            bubble = (f"{100 * one['bubble_mean_absolute_error']:.2f} points{some}", points(one["bubble_bias"]),
                      points(one["bubble_worst"]))
        yield (level, name, one["runs"], *bubble, percent(one["step_mean_absolute_error"]), signed(one["step_bias"], 2),
               signed(one["step_worst"], 2))


def summary_table(answer):
    groups = [("all", answer["summary"])]
    for source in answer["sources"]:
        groups.append((source["name"], source["summary"]))
        if source.get("calibrated"):
            groups.append((source["name"] + ", calibrated on", source["summary_calibrated_on"]))
            groups.append((source["name"] + ", others", source["summary_others"]))
    return table(("level", "source", ">runs", ">bubble: mean absolute error", ">bias", ">worst",
                  ">step: mean absolute error", ">bias", ">worst"),
                 [row for level in LEVELS for row in summary_rows(level, groups)])


def errors_of(run, level):
    one = run["predicted"][level]
    if one is None:
        return ""
    step = signed(one["step_error"], 2)
    return f"step {step}" if run["bubble_ratio"] is None else f"{points(one['bubble_error'])} / {step}"


def run_row(run, levels):
    bubble = "not measured" if run["bubble_ratio"] is None else percent(run["bubble_ratio"])
    return (run["id"], f"{run['schedule']}, p={run['devices']}, m={run['microbatches']}", run["steps"] or "",
            duration(int(run["step_ns"] + 0.5)), percent(run["ideal_bubble_ratio"]), bubble,
            *(errors_of(run, level) for level in levels))


def source_section(source, runs):
    text = (f"\n## {source['name']}\n\n{escaped(source['title'])}. From {escaped(source['where'])}. "
            f"Licence: {escaped(source['licence'])}.\n\n")
    if source.get("calibrated"):
        text += f"Calibrated: {escaped(source['calibrated'])}.\n\n"
    if source.get("counted_apart"):
        text += f"Not counted with the others: {escaped(source['counted_apart'])}.\n\n"
    text += "Not modelled:\n\n" + "".join(f"- {escaped(effect)}\n" for effect in source["not_modelled"])
    levels = [level for level in LEVELS if any(run["predicted"][level] for run in runs)]
    columns = ("run", "schedule", ">steps", ">step", ">ideal bubble", ">measured bubble", *(">" + one for one in levels))
    return text + "\n" + table(columns, [run_row(run, levels) for run in runs])


def bubbles_page(binary):
    answer = judged_runs(binary)
    text = template("bubbles", summary=summary_table(answer))
    for source in answer["sources"]:
        text += source_section(source, [run for run in answer["runs"] if run["source"] == source["name"]])
    return text
