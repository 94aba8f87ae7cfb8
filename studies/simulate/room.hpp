// Whether this machine has the memory for a run: asked before it is taken, for the kernel ends whoever takes too much
// without a word.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "scenario/job/job.hpp"
#include "sim/analysis/report.hpp"
#include "sim/core/timeline.hpp"
#include "sim/core/units.hpp"

namespace debubble {

// What this process may still take: of the machine's memory, of its control group's, of its own limit (ulimit -v).
// Where the system does not say, as much as can be counted.
[[nodiscard]] Bytes memory_left();

// Throws InputError X005 when so many ops, of so many bytes each, would take more. `help`: what to do.
void require_room(std::size_t ops, std::size_t bytes_each, const std::string& help);

// Whether a run fits. Nothing where no limits are set.
[[nodiscard]] std::optional<MemoryFit> judge_memory(const Job& job, const Timeline& timeline);

[[nodiscard]] bool out_of_memory(const Report& report);

}  // namespace debubble
