#include "tools/views/schedule_facts.hpp"

#include "tools/views/ansi.hpp"
#include "tools/views/param_facts.hpp"
#include "tools/views/table.hpp"

namespace debubble {

namespace {

using FactLines = std::vector<std::pair<std::string, std::string>>;

std::string certainty_text(const ScheduleEntry& entry) {
  const std::string word = to_string(entry.certainty);
  return entry.certainty_note.empty() ? word : word + ": " + entry.certainty_note;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> schedule_facts(const ScheduleEntry& entry) {
  FactLines facts{{"what", entry.summary}};
  if (!entry.advice.empty()) facts.emplace_back("use", entry.advice);
  facts.emplace_back("needs", entry.needs.empty() ? "nothing but one copy of the weights" : entry.needs);
  facts.emplace_back("legal", entry.constraints);
  for (const ParamSpec& param : entry.params) {
    facts.emplace_back("--param", param.name + "=" + param_words(param));
  }
  if (entry.uses_costs) facts.emplace_back("order", "follows from the times, sizes and links it is given");
  if (!entry.makespan.text.empty()) facts.emplace_back("makespan", entry.makespan.text);
  if (!entry.peak.text.empty()) facts.emplace_back("peak", entry.peak.text);
  facts.emplace_back("runs in", entry.frameworks.empty() ? "no framework that we know of" : entry.frameworks);
  facts.emplace_back("certainty", certainty_text(entry));
  facts.emplace_back("source", entry.citation);
  return facts;
}

std::string schedule_facts_text(const ScheduleEntry& entry, const ViewStyle& style) {
  Table table({{"", Table::Side::kLeft}, {"", Table::Side::kLeft}});
  for (const auto& [label, text] : schedule_facts(entry)) table.add_row({label, text});
  return paint(style.color, kBold, entry.name) + "\n" + table.text(static_cast<std::size_t>(style.width), 2);
}

std::string formula_letters() {
  return "p devices, d the device (0 first), m microbatches, v stages per device, S stages, s the stage (0 first), "
         "g the group, k the slices per microbatch; f, b, i, w: forward, whole backward, input and weight gradient of "
         "one device share, fb an overlapped pair; h the share of an activation held from I to W (--w-share); peaks in "
         "activations of one device share";
}

}  // namespace debubble
