#include "studies/compare/runs_today.hpp"

#include <algorithm>
#include <variant>

#include "schedules/frameworks.hpp"

namespace debubble {

bool runs_today(const ScheduleEntry* entry, const Scenario& scenario, const Report& report,
                const std::string& framework) {
  if (entry == nullptr || !scenario.params.empty()) return false;
  const bool plain = std::all_of(scenario.transforms.begin(), scenario.transforms.end(),
                                 [](const TransformSpec& spec) { return spec.name == "recompute"; });
  if (!plain) return false;
  std::vector<std::string> notes;
  for (const Finding& finding : report.findings) {
    if (const auto* note = std::get_if<ScheduleNote>(&finding)) notes.push_back(note->note);
  }
  return runs_schedule(*entry, notes, framework);
}

std::vector<std::string> frameworks_today(const ScheduleEntry* entry, const Scenario& scenario, const Report& report) {
  std::vector<std::string> found;
  for (const char* const framework : kFrameworks) {
    if (runs_today(entry, scenario, report, framework)) found.emplace_back(framework);
  }
  return found;
}

}  // namespace debubble
