// Light or dark: what the system says, until the button says otherwise.
import { button } from "./dom";

const system = window.matchMedia("(prefers-color-scheme: dark)");

function apply(theme: "light" | "dark"): void {
  document.documentElement.dataset["theme"] = theme;
  document.dispatchEvent(new Event("themechange"));
}

function isDark(): boolean {
  const chosen = document.documentElement.dataset["theme"];
  return chosen === undefined ? system.matches : chosen === "dark";
}

export function themeButton(): HTMLElement {
  system.addEventListener("change", () => document.dispatchEvent(new Event("themechange")));
  let before: string | undefined;
  window.addEventListener("beforeprint", () => {
    before = document.documentElement.dataset["theme"];
    apply("light"); // paper is white
  });
  window.addEventListener("afterprint", () => {
    if (before === undefined) delete document.documentElement.dataset["theme"];
    else apply(before as "light" | "dark");
    document.dispatchEvent(new Event("themechange"));
  });
  return button("light / dark", "switch between light and dark colours", () => apply(isDark() ? "light" : "dark"));
}
