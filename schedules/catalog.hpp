// The catalog: one row per schedule. Lists, help, spelling hints, property tests and docs follow from the row.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] std::span<const ScheduleEntry> schedule_catalog();

// The row of that name, or nullptr.
[[nodiscard]] const ScheduleEntry* find_schedule(std::string_view name);

// The same; throws InputError S001 at that place, with a suggestion, where there is none.
[[nodiscard]] const ScheduleEntry& known_schedule(std::string_view name, std::string_view place);

[[nodiscard]] bool has_param(const ScheduleEntry& entry, std::string_view name);

// Throws InputError where p, m, v or a parameter's name is not valid for the row; its builder finds what else is wrong.
void check_request(const ScheduleEntry& entry, const ScheduleRequest& request);

// Checks the request (known name, p, m, v and parameters in range) and builds. Throws InputError; a misspelt name or
// parameter gets a suggestion.
[[nodiscard]] Schedule build_schedule(std::string_view name, const ScheduleRequest& request);

// " -v 2", as a command has to say it; nothing of a file, of 0, and where the schedule has one stage per device anyway.
[[nodiscard]] std::string chunks_flag(const std::string& schedule, int chunks);

}  // namespace debubble
