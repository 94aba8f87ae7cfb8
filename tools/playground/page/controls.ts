// Sliders of the job, and what is chosen for each of the two schedules.
import { button, node } from "../../report/src/parts/dom";
import { Schedule } from "./catalog";
import { NumberKey, ownTable, Settings, Side } from "./settings";

interface Slider {
  key: NumberKey;
  label: string;
  least: number;
  most: number;
  step: number;
  unit: string;
}

const sliders: Slider[] = [
  { key: "devices", label: "devices p", least: 1, most: 32, step: 1, unit: "" },
  { key: "microbatches", label: "microbatches m", least: 1, most: 256, step: 1, unit: "" },
  { key: "forward", label: "forward f", least: 0.1, most: 4, step: 0.1, unit: " ms" },
  { key: "input", label: "input gradient i", least: 0.1, most: 4, step: 0.1, unit: " ms" },
  { key: "weight", label: "weight gradient w", least: 0.1, most: 4, step: 0.1, unit: " ms" },
  { key: "latency", label: "latency of a hop", least: 0, most: 2, step: 0.05, unit: " ms" },
  { key: "memory", label: "memory limit", least: 0, most: 64, step: 1, unit: " MiB" },
];

function shown({ key, unit }: Slider, value: number): string {
  return key === "memory" && value === 0 ? "none" : `${value}${unit}`;
}

export function jobControls(settings: Settings, change: () => void): HTMLElement {
  const list = node("div", { class: "sliders" });
  for (const slider of sliders) {
    const value = node("output", {}, shown(slider, settings[slider.key]));
    const { least, most, step } = slider;
    const input = node("input", { type: "range", min: least, max: most, step, name: slider.key });
    input.value = String(settings[slider.key]);
    input.setAttribute("aria-valuetext", value.textContent!);
    input.addEventListener("input", () => {
      settings[slider.key] = Number(input.value);
      value.textContent = shown(slider, settings[slider.key]);
      input.setAttribute("aria-valuetext", value.textContent);
      change();
    });
    list.append(node("label", {}, node("span", {}, slider.label, " ", value), input));
  }
  const note = "Times are of a device share: a device's part of the model, whatever the number of stages it has.";
  return node("fieldset", {}, node("legend", {}, "Job"), list, node("p", { class: "faint" }, note));
}

// A text field, and what an empty one means; what it holds counts when it is left or Enter is pressed.
function field(label: string, value: string, hint: string, title: string, take: (value: string) => void): HTMLElement {
  const input = node("input", { type: "text", size: 9, title });
  input.value = value;
  input.addEventListener("change", () => take(input.value.trim()));
  const otherwise = hint === "" ? "" : node("span", { class: "faint" }, ` empty: ${hint}`);
  return node("label", {}, `${label} `, input, otherwise);
}

// The choice of one schedule with its parameters; made anew when another is chosen.
export function sideControls(
  name: string,
  side: Side,
  catalog: Schedule[],
  change: () => void,
  explain: (schedule: string) => void
): HTMLElement {
  const place = node("fieldset", { class: "side" });
  const fill = (): void => {
    const select = node("select", { "aria-label": `${name} schedule` });
    for (const schedule of [...catalog.map((one) => one.name), ownTable]) {
      const option = node("option", { value: schedule }, schedule);
      option.selected = schedule === side.schedule;
      select.append(option);
    }
    select.addEventListener("change", () => {
      Object.assign(side, { schedule: select.value, chunks: "", params: {} });
      fill();
      place.querySelector("select")!.focus();
      change();
    });
    const entry = catalog.find((one) => one.name === side.schedule);
    place.replaceChildren(node("legend", {}, name), node("div", { class: "tools" }, select));
    if (entry === undefined) {
      place.append(node("p", { class: "faint" }, "The table below: its devices and microbatches are its own."));
      return;
    }
    const fields = node("div", { class: "tools" });
    fields.append(
      field("chunks v", side.chunks, String(entry.default_chunks), "stages per device", (value) => {
        side.chunks = value;
        change();
      })
    );
    for (const param of entry.params) {
      const hint = `${param.default}`;
      fields.append(
        field(param.name, side.params[param.name] ?? "", hint, `${param.help} (${param.values})`, (value) => {
          if (value === "") delete side.params[param.name];
          else side.params[param.name] = value;
          change();
        })
      );
    }
    place.append(
      node("p", {}, entry.summary),
      fields,
      button("explain it", `what ${entry.name} is`, () => explain(entry.name))
    );
  };
  fill();
  return place;
}
