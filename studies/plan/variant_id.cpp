#include "studies/plan/variant_id.hpp"

#include "cost_models/partition/partition.hpp"

namespace debubble {

std::vector<VariantId> variants_of_base(const PlanSpace& space, std::size_t base) {
  const std::size_t count = space.variants_of(space.bases[base]).size();
  std::vector<VariantId> ids;
  for (const int zero : space.zeros_of(space.bases[base])) {
    for (std::size_t v = 0; v < count; ++v) {
      ids.push_back(
          {static_cast<std::uint32_t>(base), static_cast<std::uint16_t>(zero), static_cast<std::uint16_t>(v)});
    }
  }
  return ids;
}

VariantId with_memory_cut(const PlanSpace& space, VariantId id) {
  id.base += static_cast<std::uint32_t>(space.bases.size());
  return id;
}

PlanChoice choice_of(const PlanSpace& space, const VariantId& id) {
  PlanChoice choice = space.bases[id.base % space.bases.size()];
  if (id.base >= space.bases.size()) choice.partition = kMemoryCut;
  if (id.blocks > 0) {
    choice.recompute = kFullRecomputation;
    choice.recompute_first = id.blocks;
  }
  const PlanVariant& variant = space.variants_of(choice)[id.variant];
  choice.schedule = variant.schedule;
  choice.chunks = variant.chunks;
  choice.params = variant.params;
  choice.zero = id.zero;
  return choice;
}

}  // namespace debubble
