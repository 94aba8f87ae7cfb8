"""docs/plans-against-published.md: plans for the jobs of published records, against the layouts that were run."""
import re

from published_plans import planned_sources
from words import counted, duration, escaped, percent, size, table, template, with_unit

SOURCES = ["korthikanti", "sc21", "simumax-b200", "mlperf-gpt3", "alpa"]


def ratio(run, layout):
    simulated = layout["simulated"]
    return f"{run['step_ns'] / simulated['step_ns']:.3f}" if run and simulated and simulated["step_ns"] else ""


def simulated_step(layout):
    run = layout["simulated"]
    if not run:
        return layout["refused"]
    return duration(run["step_ns"]) + ("" if layout["fits"] else f", lacks {size(-run['spare_bytes'])}")


def plan_line(run):
    spare = f", {size(run['spare_bytes'])} to spare" if "spare_bytes" in run else ""
    return f"{run['plan']}: step {duration(run['step_ns'])}, memory {size(run['peak_bytes'])}{spare}"


def overview(sources):
    rows = []
    for source in sources:
        jobs = source["jobs"]
        layouts = [(job, layout) for job in jobs for layout in job["layouts"]]
        fit = [job["plan"]["step_ns"] / one["simulated"]["step_ns"] for job, one in layouts if one["fits"] and job["plan"]]
        error = source["mean_absolute_error"]
        rows.append((source["source"], len(jobs), len(layouts), len(fit), f"{sum(fit) / len(fit):.3f}" if fit else "",
                     sum("plan_is_record" in job for job in jobs), "" if error is None else percent(error)))
    return table(("source", ">jobs", ">layouts", ">that fit", ">mean plan / simulated", ">plan is a published layout",
                  ">mean error of the model"), rows)


def job_section(job):
    rows = [(one["record"], one["layout"], with_unit("step_time", one["measured_s"]), escaped(simulated_step(one)),
             ratio(one["alike"], one), ratio(job["plan"], one)) for one in job["layouts"]]
    text = (f"\n### {job['model']} on {counted(job['gpus'], 'GPU')}, {counted(job['global_batch'], 'sample')} of "
            f"{job['sequence']} tokens\n\n")
    text += table(("record", "layout", ">measured", ">simulated", ">alike", ">plan"), rows) + "\n"
    alike = {}
    for layout in job["layouts"]:
        if layout["alike"]:
            alike.setdefault(layout["kind"], layout["alike"])
    text += "".join(f"Alike, {kind}: {plan_line(run)}.\n\n" for kind, run in alike.items())
    if not job["plan"]:
        return text + "Plan: nothing fits.\n"
    line = plan_line(job["plan"])
    text += f"Plan: the layout of {job['plan_is_record']} itself: {line}.\n" if "plan_is_record" in job else f"Plan: **{line}**.\n"
    return text + ("\n" if job["notes"] else "") + "".join(f"- {note}\n" for note in job["notes"])


def source_section(source):
    text = f"\n## {source['source']}\n\n{source['title']}.\n"
    if source["not_modelled"]:
        text += "\nNot modelled, on either side:\n\n" + "".join(f"- {effect}\n" for effect in source["not_modelled"])
    return text + "".join(map(job_section, source["jobs"]))


def beaten_plans(source):
    """Layouts that could not be simulated, and those that fit and are faster than their plan."""
    for job in source["jobs"]:
        for layout in job["layouts"]:
            if not layout["simulated"]:
                yield f"{layout['record']}: {layout['refused']}"
            elif layout["fits"] and layout["simulated"]["step_ns"] < job["plan"]["step_ns"]:
                yield f"{layout['record']} is faster than the plan"


def parts_of(page):
    """Introduction with the head of its table, rows of the table, sections: the last two by source."""
    introduction, *sections = re.split(r"(?m)^(?=## )", page)
    lines = introduction.rstrip("\n").split("\n")
    head = next(k for k, line in enumerate(lines) if line.startswith("|---")) + 1
    rows = {line.split(" | ")[0].strip("| "): line for line in lines[head:]}
    return lines[:head], rows, {section.split("\n")[0][3:]: section.rstrip("\n") for section in sections}


def plans_page(binary, names, page):
    """With what `page` says of other sources, and what is wrong with the plans of these."""
    _, rows, sections = parts_of(page) if page else ([], {}, {})
    answer = list(planned_sources(binary, names or SOURCES))
    text = template("plans", overview=overview(answer)) + "".join(map(source_section, answer))
    head, new_rows, new_sections = parts_of(text)
    rows.update(new_rows)
    sections.update(new_sections)
    lines = "\n".join([*head, *(rows[name] for name in SOURCES if name in rows)])
    text = "\n\n".join([lines, *(sections[name] for name in SOURCES if name in sections)]) + "\n"
    return text, [problem for source in answer for problem in beaten_plans(source)]
