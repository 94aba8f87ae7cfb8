// Verification of an iteration from the trace buffers of its devices: chain values show that every op got the tensors
// that it should have, payload checksums, where they were taken, that no byte changed in the transfer.
#pragma once

#include <cstdint>

#include "live/cuda/clocks.hpp"
#include "live/cuda/executor.hpp"
#include "sim/rows/observed.hpp"

namespace debubble::live {

// Number of tensors that travelled and were right. Throws WrongDataError at the first that was not, in the order of
// running.
[[nodiscard]] std::int64_t check_chains(const Job& job, const Executor& executor, std::int32_t iteration);
void check_payloads(const Job& job, const Executor& executor);

// Who ran when, on each device's own clock.
[[nodiscard]] Observation observe(const Job& job, const Executor& executor, Bytes payload);
void use_common_clock(Observation& seen, const ClockFit& clocks);

}  // namespace debubble::live
