// Reads the data of the page that this script is in and builds the page of its verb.
import { PageData, readPage } from "./data/page";
import { accuracyPage } from "./pages/accuracy";
import { checkPage } from "./pages/check";
import { comparePage } from "./pages/compare";
import { diffPage } from "./pages/diff";
import { planPage } from "./pages/plan";
import { runPage } from "./pages/simulate";
import { whatIfPage } from "./pages/whatif";
import { node } from "./parts/dom";

const pages: Record<string, (page: PageData, main: HTMLElement) => void> = {
  accuracy: accuracyPage,
  check: checkPage,
  compare: comparePage,
  diff: diffPage,
  live: runPage,
  plan: planPage,
  simulate: runPage,
  whatif: whatIfPage,
};

async function start(): Promise<void> {
  const main = document.getElementById("page")!;
  const block = document.getElementById("debubble-data")!;
  try {
    const page = await readPage(block.textContent!);
    block.remove(); // the text is not needed again
    const started = performance.now();
    pages[page.header.verb]!(page, main);
    document.documentElement.dataset["ready"] = (performance.now() - started).toFixed(1);
  } catch (error) {
    const told = error instanceof Error ? error.message : String(error);
    main.append(
      node("p", { class: "error" }, `This page cannot be shown: ${told}. It needs a browser of 2023 or later.`)
    );
    throw error;
  }
}

void start();
