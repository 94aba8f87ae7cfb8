// VariantId: one way to run a job by its place in a plan's space.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "live/mpi/message_codec.hpp"
#include "studies/plan/space.hpp"

namespace debubble {

// A variant of a base: its place in the space. Bases beyond the last are the same once more, with --partition memory.
struct VariantId {
  std::uint32_t base = 0;
  std::uint16_t zero = 0;
  std::uint16_t variant = 0;
  std::uint16_t blocks = 0;  // > 0: the same once more, and the first so many blocks of each stage recompute

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the compared 0 for a pointer
  friend auto operator<=>(const VariantId&, const VariantId&) = default;
};

// All variants of one of the space's bases, with each of its ZeRO stages.
[[nodiscard]] std::vector<VariantId> variants_of_base(const PlanSpace& space, std::size_t base);

[[nodiscard]] VariantId with_memory_cut(const PlanSpace& space, VariantId id);

[[nodiscard]] PlanChoice choice_of(const PlanSpace& space, const VariantId& id);

auto members(live::Like<VariantId> auto& id) {
  auto& [base, zero, variant, blocks] = id;
  return std::tie(base, zero, variant, blocks);
}

}  // namespace debubble
