#include "studies/plan/variant_id.hpp"

#include "scenario/job/memory_cut.hpp"

namespace debubble {

VariantId with_memory_cut(const PlanSpace& space, VariantId id) {
  id.base += static_cast<std::uint32_t>(space.bases.size());
  return id;
}

PlanChoice choice_of(const PlanSpace& space, const VariantId& id) {
  PlanChoice choice = space.bases[id.base % space.bases.size()];
  if (id.base >= space.bases.size()) choice.partition = kMemoryCut;
  const PlanVariant& variant = space.variants_of(choice)[id.variant];
  choice.schedule = variant.schedule;
  choice.chunks = variant.chunks;
  choice.params = variant.params;
  choice.zero = id.zero;
  return choice;
}

void write(live::MessageWriter& writer, const VariantId& id) {
  writer.number(id.base).number(id.zero).number(id.variant);
}

VariantId read_variant_id(live::MessageReader& reader) {
  VariantId id;
  reader.into(id.base);
  reader.into(id.zero);
  reader.into(id.variant);
  return id;
}

}  // namespace debubble
