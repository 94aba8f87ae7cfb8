#include "tools/catalog/schedule_page.hpp"

#include <fmt/format.h>

#include "schedules/catalog.hpp"
#include "tools/catalog/schedule_example.hpp"
#include "tools/views/page_text.hpp"
#include "tools/views/schedule_facts.hpp"

namespace debubble {

namespace {

constexpr int kChartWidth = 100;

constexpr std::string_view kHeader = R"(# Schedules

<!-- Made by `debubble list schedules --format markdown`; a test fails where it differs from the catalog. -->

Every schedule that debubble knows, family by family. `debubble explain schedule NAME` explains one of them
for your own numbers of devices and microbatches; `debubble compare --schedules all` ranks them.

)";

constexpr std::string_view kCertainties =
    R"(**Certainty** says how we know that an order is the one its name stands for:

- *reproduced*: tests reproduce the authors' own order or numbers;
- *derived*: built from the published description, and tested against closed forms, brute force or invariants;
- *proposal*: the published order is not known to us; ours is a construction after the published idea.

)";

std::string title_of(ScheduleFamily family) {
  switch (family) {
    case ScheduleFamily::kSynchronous:
      break;
    case ScheduleFamily::kZeroBubble:
      return "Zero bubble";
    case ScheduleFamily::kAsynchronous:
      return "Asynchronous (no flush)";
  }
  return "Synchronous";
}

std::string section_of(const ScheduleEntry& entry) {
  std::string text = fmt::format("### {}\n\n", entry.name);
  for (const auto& [label, fact] : schedule_facts(entry)) {
    text += page_wrapped(fmt::format("- **{}**: {}", label, page_escaped(fact)), "  ");
  }
  ViewStyle style;
  style.width = kChartWidth;
  const ScheduleExample example = schedule_example(entry, style);
  text += "\n" + page_wrapped(fmt::format("`{}`: {}.", example.command, example.numbers), "");
  text += "\n```text\n" + example.drawing + "```\n\n";
  return text;
}

}  // namespace

std::string schedule_page() {
  std::string text(kHeader);
  text += page_wrapped("In formulas: " + page_escaped(formula_letters()) + ".", "") + "\n";
  text += kCertainties;
  std::string family;
  for (const ScheduleEntry& entry : schedule_catalog()) {
    if (const std::string title = title_of(entry.family); title != family) {
      text += fmt::format("## {}\n\n", title);
      family = title;
    }
    text += section_of(entry);
  }
  text.pop_back();  // one line end closes the file
  return text;
}

}  // namespace debubble
