// What schedule files need to read their request and to refuse it well.
#pragma once

#include <string>
#include <string_view>

#include "schedules/common/contract.hpp"

namespace debubble {

// Stages x microbatches (or slices of them). Each becomes two ops or more; a program of this size takes gigabytes.
inline constexpr double kMostCells = 20'000'000;

// The parameter as a whole number, or `fallback` when it was not given. Throws InputError for anything else.
[[nodiscard]] int int_param(const ScheduleRequest& request, std::string_view name, int fallback);

// The parameter as one of `choices` ("a|b|c"), or the first of them when it was not given.
[[nodiscard]] std::string choice_param(const ScheduleRequest& request, std::string_view name, std::string_view choices);

inline constexpr const char* kExtraWarmup = "extra_warmup";
// That parameter of 1f1b, interleaved and depth-first: forward passes of every device before its first backward pass
// that the order does not need. Throws InputError unless it is 0..m.
[[nodiscard]] int extra_warmup(const ScheduleRequest& request);
[[nodiscard]] const ParamSpec& extra_warmup_param();

// "nearest legal values: -p 2 or 4", or "nearest legal value: -p 2"; with `devices` also for which p.
[[nodiscard]] std::string nearest_legal(const std::string& flag, const std::string& values, int devices = 0);

// Refuses anything but one stage per device.
void require_one_chunk(const ScheduleRequest& request, std::string_view schedule);

// An empty schedule of the request's size, `chunks` stages per device in loop placement, one replica.
[[nodiscard]] Schedule start_schedule(const ScheduleRequest& request, std::string name, int chunks);

}  // namespace debubble
