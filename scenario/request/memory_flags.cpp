#include "scenario/request/memory_flags.hpp"

#include <utility>

#include "formats/text/quantities.hpp"
#include "scenario/request/checks.hpp"
#include "sim/core/split.hpp"

namespace debubble {
namespace {

constexpr const char* kMemoryFlag = "--memory";
constexpr const char* kOutside = "--memory-outside";
constexpr const char* kAllocator = "--allocator";

std::vector<Bytes> parse_sizes(const std::string& text) {
  std::vector<Bytes> sizes;
  Checks checks;
  for (const std::string& item : split(text, ',')) {
    checks.run([&] {
      sizes.push_back(parse_size(item, kMemoryFlag));
      if (sizes.back() > 0) return;
      checks.add({"F041", kMemoryFlag, "a device without memory runs nothing", "write it like --memory 80GiB"});
    });
  }
  checks.finish();
  return sizes;
}

}  // namespace

FlagRows flag_rows(MemoryFlags& flags) {
  constexpr std::string_view kGroup = "Memory";
  return {
      {.name = kMemoryFlag,
       .group = kGroup,
       .type = "SIZE,|auto|off",
       .unit = FlagUnit::kSize,
       .help = "memory per device, or a list; auto (--model), off",
       .target = &flags.memory,
       .form = FlagForm::kCommas},
      {.name = kOutside,
       .group = kGroup,
       .unit = FlagUnit::kSize,
       .help = "memory outside the allocator (with auto: 1GiB)",
       .target = &flags.outside},
      {.name = kAllocator,
       .group = kGroup,
       .type = "KIND",
       .words = "caching|exact",
       .help = "allocator: caching (PyTorch's; default) or exact",
       .target = &flags.allocator},
  };
}

MemoryScenario check_memory(const MemoryFlags& flags) {
  MemoryScenario scenario;
  MemoryFlags copy = flags;
  const FlagRows rows = flag_rows(copy);
  Checks checks;
  checks.run([&] {
    if (flags.memory == "auto") {
      scenario.from = MemoryScenario::From::kHardware;
    } else if (flags.memory == "off") {
      scenario.from = MemoryScenario::From::kNothing;
    } else if (!flags.memory.empty()) {
      scenario.from = MemoryScenario::From::kGiven;
      scenario.sizes = parse_sizes(flags.memory);
    }
  });
  checks.run([&] {
    if (!flags.outside.empty()) scenario.outside = parse_size(flags.outside, kOutside);
  });
  checks.run([&] {
    if (word_index(rows, kAllocator) == 1) scenario.allocator = AllocatorKind::kExact;
  });
  checks.finish();
  return scenario;
}

}  // namespace debubble
