// On what terms schedules are compared.
//
//     devices  every schedule runs the same job on the same p devices
//     stages   every schedule cuts the model into the same number of stages, p of them: one of v stages per device
//              takes p/v devices, and speed counts per device
//     memory   every schedule has the memory of the limit: one that needs more runs microbatches of half the size,
//              twice as many, until it fits
#pragma once

#include <optional>
#include <string>

#include "scenario/request/scenario.hpp"
#include "schedules/common/contract.hpp"
#include "sim/core/units.hpp"

namespace debubble {

enum class Equal { kDevices, kStages, kMemory };
inline constexpr std::string_view kEqualWords = "devices|stages|memory";  // in that order

// "devices", "stages" or "memory"; throws InputError C002.
[[nodiscard]] Equal parse_equal(const std::string& text);

// `--memory-limit`: a size, or (without a profile) activations of one device share. Throws InputError.
[[nodiscard]] Bytes parse_memory_limit(const std::string& text, bool has_profile);

// The scenario for a schedule of `chunks` stages per device whose stages are as many as the devices asked for.
// Throws InputError where `chunks` does not divide them.
[[nodiscard]] Scenario with_equal_stages(const Scenario& scenario, const ScheduleEntry* entry);

// The scenario with microbatches of half the size and twice as many of them. A modelled transformer is modelled again,
// a profile of several sizes asked for that one (profile_at.hpp, throws what that does); without either, times,
// activations and messages halve. Nothing where a profile's microbatch is a single sample, or of odd size.
[[nodiscard]] std::optional<Scenario> with_half_microbatches(const Scenario& scenario, int microbatches);

// A row's own `memory_limit`, where it has one and none was given.
[[nodiscard]] Scenario with_memory_limit(Scenario scenario, const ScheduleEntry* entry, const std::string& limit);

}  // namespace debubble
