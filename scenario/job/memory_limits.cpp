#include "scenario/job/memory_limits.hpp"

#include <sstream>
#include <string>
#include <vector>

#include "cost_models/transformer/hardware.hpp"
#include "scenario/job/model_profile.hpp"
#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"

namespace debubble {
namespace {

// The driver's context, the libraries' code and the communicators' buffers: about so much on data-centre GPUs.
constexpr Bytes kUsuallyOutside = 1024 * kMebibyte;

std::string memory_sizes_text(const std::vector<Bytes>& sizes) {
  std::string text;
  for (const Bytes size : sizes) text += (text.empty() ? "" : ", ") + format_size(size);
  return text;
}

void check_size_count(const std::vector<Bytes>& sizes, int devices) {
  if (sizes.size() == 1 || sizes.size() == static_cast<std::size_t>(devices)) return;
  throw InputError(Diagnostic{"F041", "--memory",
                              "there are " + std::to_string(sizes.size()) + " sizes for " + std::to_string(devices) +
                                  (devices == 1 ? " device" : " devices"),
                              "give one for all, or one each"});
}

// What the allocator may take where it takes so much more than its replay.
void leave_reserve(double share, Assumed<MemoryLimits>& made) {
  if (share == 0) return;
  std::vector<Bytes> reserves;
  for (Bytes& capacity : made.value.capacities) {
    const Bytes room = static_cast<Bytes>(static_cast<double>(capacity) / (1 + share));
    reserves.push_back(capacity - room);
    capacity = room;
  }
  std::ostringstream words;
  words << memory_sizes_text(reserves) << ", for what it takes beyond its replay: " << share * 100 << " % of that";
  assume(made.assumptions, "allocator's reserve", words.str(), Source::kGiven);
}

}  // namespace

Assumed<MemoryLimits> make_memory_limits(const Scenario& scenario, int devices) {
  Assumed<MemoryLimits> made;
  using From = MemoryScenario::From;
  const MemoryScenario& memory = scenario.memory;
  const bool modelled = scenario.transformer.setup.has_value();
  if (memory.from == From::kHardware && !modelled) {
    throw InputError(Diagnostic{"C004", "--memory", "without --model no hardware says how much memory there is",
                                "write it like --memory 80GiB"});
  }
  if (memory.from == From::kNothing || (memory.from == From::kModel && !modelled)) return made;
  Bytes outside = memory.outside.value_or(0);
  if (memory.from == From::kGiven) {
    check_size_count(memory.sizes, devices);
    made.value.capacities = memory.sizes;
    assume(made.assumptions, "memory", memory_sizes_text(memory.sizes) + " per device", Source::kGiven);
  } else {
    const Hardware& hardware = modelled_hardware(scenario);
    outside = memory.outside.value_or(kUsuallyOutside);
    made.value.capacities = {hardware.memory};
    assume(made.assumptions, "memory", format_size(hardware.memory) + " per GPU, " + hardware.name, Source::kPublished);
  }
  made.value.outside = outside;
  if (outside > 0) {
    assume(made.assumptions, "memory outside the allocator", format_size(outside),
           given_or_default(memory.outside.has_value()));
  }
  for (Bytes& capacity : made.value.capacities) {
    if (capacity <= outside) {
      throw InputError(
          Diagnostic{"F041", "--memory-outside",
                     format_size(outside) + " outside the allocator leaves nothing of " + format_size(capacity),
                     "write it like --memory-outside 1GiB"});
    }
    capacity -= outside;
  }
  made.value.allocator = memory.allocator;
  leave_reserve(memory.reserve, made);
  const char* words = memory.allocator == AllocatorKind::kExact ? "none: what is allocated is what is taken"
                      : memory.allocator == AllocatorKind::kExpandable
                          ? "caching, as PyTorch's with expandable segments"
                          : "caching, as PyTorch's";
  assume(made.assumptions, "allocator", words, given_or_default(memory.allocator != AllocatorKind::kCaching));
  return made;
}

}  // namespace debubble
