// From the flags of a scenario to its checked values.
#pragma once

#include <cstdint>
#include <string>

#include "scenario/request/flag.hpp"
#include "scenario/request/scenario.hpp"

namespace debubble {

// How a verb takes the shared flags: `live` runs what it measures, so that it has a --model of its own.
// `plan` has a --global-batch of its own.
enum class ScenarioVerb : std::uint8_t { kOneSchedule, kSeveralSchedules, kPlan, kLive };
[[nodiscard]] FlagRows flag_rows(ScenarioFlags& flags, ScenarioVerb verb = ScenarioVerb::kOneSchedule);

// Throws InputError with everything that is wrong with the flags, and for an unreadable or faulty profile.
[[nodiscard]] Scenario check_scenario(const ScenarioFlags& flags);

// The part of it that flags `of_schedule` have: with other values of these alone, a checked scenario need not be
// checked again. Throws InputError with everything that is wrong with them.
void check_schedule_flags(const ScenarioFlags& flags, Scenario& scenario);

// The flags that gave a run its parameters, costs and links, quoted for a shell, to be repeated in a command that is
// suggested: "--times f=1,b=2 --p2p blocking". The partition is not among them: it fits one number of stages only.
[[nodiscard]] std::string repeated_flags(const ScenarioFlags& flags);

}  // namespace debubble
