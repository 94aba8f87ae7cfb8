// The checksum chain: proof that the right data reached the right op.
//
// Each tensor has a chain value that follows from its maker's identity and from the chain of what the maker used, so it
// names the whole history of the tensor; the receiver computes independently what it must be (`expected_chain`). The
// payload has a checksum of its own, so that bytes changed on the way are found too.
//
//     chain(0F3) = mix(seed, 0F3)    chain(1F3) = mix(chain(0F3), 1F3)    ...    chain(1B3) = mix(chain(2B3),
//     chain(1F3))
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "live/plan.hpp"
#include "sim/core/schedule.hpp"

namespace debubble::live {

[[nodiscard]] std::uint64_t mix(std::uint64_t chain, std::uint64_t value);
// Of an op: its kind (B and I count alike), stage, microbatch and iteration, mixed with its inputs' chains.
[[nodiscard]] std::uint64_t forward_chain(std::uint64_t input, std::int32_t stage, std::int32_t piece,
                                          std::int32_t iteration);
[[nodiscard]] std::uint64_t backward_chain(std::uint64_t gradient, std::uint64_t forward, std::int32_t stage,
                                           std::int32_t piece, std::int32_t iteration);
// What enters the pipeline: the input of stage 0, and the gradient at the last stage.
[[nodiscard]] std::uint64_t pipeline_end_chain();
// A B or W's part in its stage's weight gradient, from the chain of the B or I. The parts are added, in any order.
[[nodiscard]] std::uint64_t weight_chain(std::uint64_t backward);

// What the chain of this tensor must be, from nothing but its name. Linear in the number of stages.
[[nodiscard]] std::uint64_t expected_chain(const Schedule& schedule, const Tensor& tensor, std::int32_t iteration);
// What the parts of a replica's stage must add up to at the end of an iteration.
[[nodiscard]] std::uint64_t expected_weight_chain(const Schedule& schedule, std::int32_t replica, std::int32_t stage,
                                                  std::int32_t iteration);

[[nodiscard]] std::uint64_t checksum_of(std::span<const std::byte> bytes);

}  // namespace debubble::live
