#include "tools/views/planner_facts.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "formats/json/json.hpp"
#include "studies/planners/catalog.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/catalog_facts.hpp"
#include "tools/views/paragraph.hpp"
#include "tools/views/table.hpp"

namespace debubble {

namespace {

constexpr std::string_view kPlannerPageHeader = R"(# Planners

<!-- Made by `debubble list planners --format markdown`; a test fails where it differs from the catalog. -->

Systems that decide where to cut a model and how many devices each part gets, each by its own objective and its own cost
model. A planner's predictions can be compared only with each other, so decisions are judged by simulating them.
`debubble list planners NAME` prints the same for one of them.

Where the authors' program has a known bug, there are two variants: the program as it is (`as published`), and the
corrected one, which is the default. Otherwise both are the same.

`debubble explain planner NAME --model llama3-8b -p 8 -m 32` adds what a planner decides for a job, and `debubble explain
planner all ...` asks all of them. Every decision is simulated as one step of 1F1B with a flush (optpipe's in the order
that it decides), in which each replica takes its share of every microbatch, and shown with its regret: how much longer
its step takes than that of the best decision that fits.

**Certainty** says how sure we are that a row is the algorithm of its name:

- *verified*: tests reproduce decisions of the authors' program;
- *derived*: built from the published description, and tested against brute force or closed forms;
- *recalled*: the full description was not available. We implemented what is known of it, and test that.

)";

using PlannerFacts = std::vector<std::pair<std::string, std::string>>;

PlannerFacts facts_of(const PlannerEntry& entry) {
  PlannerFacts facts{{"what", entry.summary},
                     {"use", entry.advice},
                     {"objective", entry.objective},
                     {"cost model", entry.cost_model},
                     {"assumes", entry.assumes},
                     {"published", entry.published},
                     {"faults", entry.faults.empty() ? "none known" : entry.faults}};
  for (const ParamSpec& param : entry.params) {
    facts.emplace_back(":" + param.name, param_words(param));
  }
  facts.emplace_back("certainty", std::string(to_string(entry.certainty)) + ": " + entry.certainty_note);
  facts.emplace_back("source", entry.citation);
  return facts;
}

}  // namespace

std::string planner_text(const PlannerEntry& entry, const ViewStyle& style) {
  Table table({{"", Table::Side::kLeft}, {"", Table::Side::kLeft}});
  for (const auto& [label, text] : facts_of(entry)) table.add_row({label, text});
  return paint(style.color, kBold, entry.name) + "\n" + table.text(static_cast<std::size_t>(style.width), 2);
}

std::string planners_text(const ViewStyle& style) {
  std::string text;
  for (const PlannerEntry& entry : planner_catalog()) {
    if (!text.empty()) text += "\n";
    text += planner_text(entry, style);
  }
  return text;
}

std::string planner_page() {
  std::string text(kPlannerPageHeader);
  for (const PlannerEntry& entry : planner_catalog()) {
    text += fmt::format("## {}\n\n", entry.name);
    for (const auto& [label, fact] : facts_of(entry)) {
      text += page_wrapped(fmt::format("- **{}**: {}", label, page_escaped(fact)), "  ");
    }
    text += "\n";
  }
  text.pop_back();  // one line end closes the file
  return text;
}

std::string planners_json() {
  Json list = json_list(planner_catalog(), [](const PlannerEntry& entry) -> Json {
    return {{"name", entry.name},
            {"summary", entry.summary},
            {"objective", entry.objective},
            {"cost_model", entry.cost_model},
            {"assumes", entry.assumes},
            {"published", entry.published},
            {"faults", entry.faults.empty() ? Json(nullptr) : Json(entry.faults)},
            {"params", params_json(entry.params)},
            {"certainty", to_string(entry.certainty)},
            {"certainty_note", entry.certainty_note},
            {"advice", entry.advice},
            {"citation", entry.citation}};
  });
  return Json{{"schema_version", 1}, {"planners", list}}.text(2) + "\n";
}

}  // namespace debubble
