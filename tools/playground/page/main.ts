// The playground: settings on top, two runs on one time axis under them, then cards, the table, and what can be saved.
import { TimeWindow } from "../../report/src/charts/window";
import { button, node, pre, section } from "../../report/src/parts/dom";
import { themeButton } from "../../report/src/parts/theme";
import { duration } from "../../report/src/text/format";
import { cards } from "./cards";
import { readCatalog, Schedule } from "./catalog";
import { jobControls, sideControls } from "./controls";
import { Engine } from "./engine";
import { besides, Outcome, outcomeOf, pageFile, Result, stepOf } from "./result";
import { saveButtons } from "./saving";
import { commandLine, filesOf, fromFragment, jobWords, ownTable, Settings, toFragment } from "./settings";
import { tableEditor } from "./table_editor";

const names = ["First", "Second"] as const;

class Playground {
  private readonly results = names.map((name) => new Result(name));
  private outcomes: Outcome[] = [];
  private readonly controls = node("div", { class: "controls" });
  private readonly beside = node("div", {});
  private readonly difference = node("p", { role: "status" });
  private readonly commands = node("div", {});
  private readonly explanation = node("div", {});
  private readonly saving = node("div", {});
  private readonly editor = node("div", {});
  private busy = false;
  private wanted: number | undefined; // when the newest change came

  constructor(
    private readonly engine: Engine,
    private readonly catalog: Schedule[],
    private readonly main: HTMLElement,
    private settings: Settings
  ) {}

  build(): void {
    const note = "The simulator of the command line runs in this page. Nothing is sent anywhere.";
    this.main.append(
      node(
        "header",
        {},
        node("div", { class: "top" }, node("h1", {}, "debubble playground"), themeButton()),
        node("p", { class: "faint" }, note)
      ),
      this.controls,
      this.difference,
      ...this.results.map((result) => result.node),
      section("In numbers", this.beside),
      this.explanation,
      this.editor,
      cards(this.catalog, {
        choose: (side, schedule) => this.choose(side, schedule),
        explain: (schedule) => void this.explain(schedule),
      }),
      section("Save and share", this.saving, this.commands)
    );
    this.fillControls();
  }

  fillControls(): void {
    const change = (): void => this.change();
    this.controls.replaceChildren(
      jobControls(this.settings, change),
      ...this.settings.sides.map((side, k) =>
        sideControls(names[k]!, side, this.catalog, change, (schedule) => void this.explain(schedule))
      )
    );
    this.editor.replaceChildren(
      tableEditor(this.engine, this.settings, change, (side) => this.choose(side, ownTable))
    );
    const shared = node("span", { role: "status", class: "faint" });
    const share = button("copy the address", "copy an address that shows just this", () => {
      navigator.clipboard.writeText(location.href).then(
        () => (shared.textContent = "copied"),
        () => (shared.textContent = "the address bar has it")
      );
    });
    this.saving.replaceChildren(
      ...this.settings.sides.map((side, k) =>
        saveButtons(names[k]!, this.engine, this.settings, side, () => this.outcomes[k])
      ),
      node("div", { class: "tools" }, share, shared)
    );
  }

  load(settings: Settings): void {
    this.settings = settings;
    this.fillControls();
    this.change();
  }

  private choose(side: 0 | 1, schedule: string): void {
    Object.assign(this.settings.sides[side], { schedule, chunks: "", params: {} });
    this.fillControls();
    this.change();
    this.results[side]!.node.scrollIntoView({ block: "nearest" });
  }

  private async explain(schedule: string): Promise<void> {
    const { devices, microbatches } = this.settings;
    const sized = ["explain", "schedule", schedule, "-p", String(devices), "-m", String(microbatches)];
    let result = await this.engine.one(sized);
    if (result.status !== 0) result = await this.engine.one(sized.slice(0, 3)); // at a size that it has
    this.explanation.replaceChildren(
      section(`What ${schedule} is`, pre(`what ${schedule} is`, result.out || result.error, "report"))
    );
    this.explanation.scrollIntoView({ block: "nearest" });
  }

  // Of changes that come while one is drawn, only the newest is drawn next.
  change(): void {
    this.wanted ??= performance.now();
    history.replaceState(null, "", `#${toFragment(this.settings)}`);
    if (!this.busy) void this.draw();
  }

  private async draw(): Promise<void> {
    this.busy = true;
    while (this.wanted !== undefined) {
      const since = this.wanted;
      this.wanted = undefined;
      const { settings } = this;
      const words = settings.sides.map((side) => ["simulate", ...jobWords(settings, side)]);
      const jobs = settings.sides.map((side, k) => ({
        words: [...words[k]!, "--html", pageFile, "-o", "/dev/null"],
        write: filesOf(settings, side),
        read: [pageFile],
      }));
      const answers = await this.engine.run(jobs);
      const computed = performance.now();
      this.show(answers.map(outcomeOf), words.map(commandLine));
      const { dataset } = document.documentElement;
      dataset["computed"] = (computed - since).toFixed(1);
      dataset["redrawn"] = (performance.now() - since).toFixed(1);
      dataset["drawings"] = String(Number(dataset["drawings"] ?? 0) + 1);
    }
    this.busy = false;
  }

  private show(outcomes: Outcome[], lines: string[]): void {
    this.outcomes = outcomes;
    const [a, b] = outcomes as [Outcome, Outcome];
    const window = new TimeWindow(Math.max(stepOf(a), stepOf(b)));
    this.results.forEach((result, k) => result.show(outcomes[k]!, window));
    this.difference.textContent = differenceOf(stepOf(a), stepOf(b));
    this.beside.replaceChildren(besides(a, b));
    this.commands.replaceChildren(pre("the same on the command line", lines.join("\n")));
    Object.assign(globalThis, { debubbleCharts: this.results.map((result) => result.pipeline) });
  }
}

// Empty where one of the two has no step.
function differenceOf(first: number, second: number): string {
  if (first === 0 || second === 0) return "";
  const more = second - first;
  const share = `${((100 * Math.abs(more)) / first).toFixed(1)} %`;
  const how =
    more === 0 ? "The second takes the same time" : `The second is ${duration(Math.abs(more))} (${share}) ${more < 0 ? "shorter" : "longer"}`;
  return `${how}. Both are on one time axis: zoom and pan move both.`;
}

async function start(): Promise<void> {
  const main = document.getElementById("page")!;
  try {
    const engine = await Engine.start();
    const listed = await engine.one(["list", "schedules", "--format", "json"]);
    const catalog = readCatalog(listed.out);
    const schedules = catalog.map((one) => one.name);
    main.replaceChildren();
    const playground = new Playground(engine, catalog, main, fromFragment(location.hash, schedules));
    playground.build();
    playground.change();
    window.addEventListener("hashchange", () => playground.load(fromFragment(location.hash, schedules)));
    Object.assign(window, { debubbleEngine: engine });
    document.documentElement.dataset["ready"] = "yes";
  } catch (error) {
    const told = error instanceof Error ? error.message : String(error);
    main.replaceChildren(
      node("p", { class: "error" }, `The playground cannot start: ${told}. It needs a browser of 2023 or later.`)
    );
    document.documentElement.dataset["ready"] = "failed";
    throw error;
  }
}

void start();
