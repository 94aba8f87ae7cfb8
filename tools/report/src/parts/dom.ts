// Nodes of a page. Text is always text: what comes from names and files can never become markup.

type Child = Node | string;
type Attributes = Record<string, string | number | boolean | ((event: Event) => void)>;

export function node<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (typeof value === "boolean") element.toggleAttribute(name, value);
    else element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

let sections = 0;

// A part of a page with a heading, which names it for screen readers.
export function section(title: string, ...children: Child[]): HTMLElement {
  const id = `section-${++sections}`;
  return node("section", { "aria-labelledby": id }, node("h2", { id }, title), ...children);
}

// A label that is a sign only is read out as its title.
export function button(label: string, title: string, action: () => void): HTMLButtonElement {
  const name: Attributes = /[a-z]/i.test(label) ? {} : { "aria-label": title };
  return node("button", { type: "button", title, ...name, click: action }, label);
}

// Text as it is, which scrolls on its own; so it takes the focus, for who has no mouse.
export function pre(label: string, text: string, look = ""): HTMLPreElement {
  return node("pre", { tabindex: 0, role: "region", "aria-label": label, class: look }, text);
}

export function checkbox(label: string, checked: boolean, change: (on: boolean) => void): HTMLLabelElement {
  const box = node("input", { type: "checkbox" });
  box.checked = checked;
  box.addEventListener("change", () => change(box.checked));
  return node("label", { class: "check" }, box, label);
}

// Closed at first, and filled when it is opened.
export function details(title: string, fill: () => Node): HTMLDetailsElement {
  const all = node("details", {}, node("summary", {}, title));
  all.addEventListener("toggle", () => {
    if (all.open && all.children.length === 1) all.append(fill());
  });
  return all;
}
