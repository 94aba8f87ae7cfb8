#include "tools/catalog/schedule_page.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "formats/exporters/report_json.hpp"
#include "scenario/check_scenario.hpp"
#include "schedules/catalog.hpp"
#include "schedules/common/contract.hpp"
#include "sim/core/at.hpp"
#include "sim/core/quantities.hpp"
#include "studies/simulate/simulate.hpp"
#include "tools/output/stderr_progress.hpp"
#include "tools/views/catalog_facts.hpp"
#include "tools/views/gantt.hpp"
#include "tools/views/paragraph.hpp"
#include "tools/views/style.hpp"

namespace debubble {

namespace {

struct ScheduleExample {
  std::string command;  // "debubble simulate --schedule zb-h1 -p 4 -m 8"
  std::string drawing;  // the chart of that command
  std::string numbers;  // "step 27.00 ms, bubble 11.1 % of the step, peak 4.00 activations"
};

// Small enough to read, large enough for every row: DualPipe needs two microbatches per device.
constexpr int kExampleDevices = 4;
constexpr int kExampleMicrobatches = 8;

std::string example_numbers(const Report& report) {
  double peak = 0;
  for (const DeviceReport& device : report.devices) peak = std::max(peak, device.peak_activation_shares);
  return fmt::format("step {}, bubble {} of the step, peak {:.2f} activations of a device share",
                     format_duration(report.makespan), format_percent(report.bubble_ratio), peak);
}

// Throws InputError when the row refuses its own example: a fault of the row.
ScheduleExample schedule_example(const ScheduleEntry& entry, const ViewStyle& style) {
  ScenarioFlags flags;
  flags.devices = kExampleDevices;
  flags.microbatches = kExampleMicrobatches;
  StderrProgress progress;
  const Simulated run = simulate(check_scenario(flags), entry.name, progress);
  ScheduleExample example;
  example.command =
      fmt::format("debubble simulate --schedule {} -p {} -m {}", entry.name, kExampleDevices, kExampleMicrobatches);
  if (!has_result(run.result.report)) return example;
  example.drawing = gantt(run.result.timeline, style, {&run.job.schedule, &run.job.costs});
  example.numbers = example_numbers(run.result.report);
  return example;
}

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
  return at(std::array{"Synchronous", "Zero bubble", "Asynchronous (no flush)"}, family);
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
