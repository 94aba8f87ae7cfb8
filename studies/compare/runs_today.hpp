// Whether a run is one that a framework does, by the framework's own rules (formats/frameworks/run_rules.hpp): what
// makes the best of a comparison or a plan something that can be run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/frameworks/run_rules.hpp"
#include "scenario/job/job.hpp"

namespace debubble {

// What of a job the rules are about, however it is split and ordered.
[[nodiscard]] FrameworkJob framework_job(const Scenario& scenario);

// The first rule that a run breaks, as a diagnostic of that code at that place. Transforms other than recompute, which
// no framework has, are not looked at.
[[nodiscard]] std::optional<Diagnostic> refused_by(const std::string& framework, const Scenario& scenario,
                                                   const ScheduleFacts& schedule, const char* code, std::string place);

// Those of kFrameworks that do it: "Megatron-LM", "torchtitan", "DeepSpeed". `entry` null (a file): nobody knows.
[[nodiscard]] std::vector<std::string> frameworks_today(const ScheduleEntry* entry, const Scenario& scenario,
                                                        const Report& report);

// What an export calls first: throws InputError T054 with the rule where the framework refuses the run.
void require_runs_in(const std::string& framework, const Scenario& scenario, const Job& job);

}  // namespace debubble
