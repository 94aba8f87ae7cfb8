// A card per schedule of the catalog: what it is, what it asks for, and a place to take it from.
import { button, node, section } from "../../report/src/parts/dom";
import { Schedule } from "./catalog";

export interface CardActions {
  choose: (side: 0 | 1, schedule: string) => void;
  explain: (schedule: string) => void;
}

function line(word: string, text: string | null): Node[] {
  return text === null || text === "" ? [] : [node("dt", {}, word), node("dd", {}, text)];
}

function card(schedule: Schedule, { choose, explain }: CardActions): HTMLElement {
  const params = schedule.params.map((param) => `${param.name} (${param.default})`).join(", ");
  return node(
    "li",
    { class: "card" },
    node("h3", {}, schedule.name),
    node("p", {}, schedule.summary),
    node(
      "dl",
      {},
      ...line("legal", schedule.constraints),
      ...line("step", schedule.makespan),
      ...line("needs", schedule.needs),
      ...line("params", params),
      ...line("certainty", schedule.certainty)
    ),
    node(
      "div",
      { class: "tools" },
      button("first", `show ${schedule.name} as the first schedule`, () => choose(0, schedule.name)),
      button("second", `show ${schedule.name} as the second schedule`, () => choose(1, schedule.name)),
      button("explain", `explain ${schedule.name}`, () => explain(schedule.name))
    )
  );
}

export function cards(catalog: Schedule[], actions: CardActions): HTMLElement {
  const list = node("ul", { class: "cards" });
  const search = node("input", { type: "search", size: 16 });
  const fill = (): void => {
    const wanted = search.value.trim().toLowerCase();
    const text = (one: Schedule): string => `${one.name} ${one.summary} ${one.family} ${one.citation}`.toLowerCase();
    list.replaceChildren(...catalog.filter((one) => text(one).includes(wanted)).map((one) => card(one, actions)));
  };
  search.addEventListener("input", fill);
  fill();
  return section(
    "Schedules",
    node("div", { class: "tools" }, node("label", {}, "find one, by a word of its name, summary or paper: ", search)),
    list
  );
}
