#include "scenario/request/memory_flags.hpp"

#include <utility>

#include "scenario/request/checks.hpp"
#include "scenario/request/flag_row.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/split.hpp"

namespace debubble {
namespace {

constexpr const char* kMemoryFlag = "--memory";
constexpr const char* kOutside = "--memory-outside";
constexpr const char* kAllocator = "--allocator";
constexpr const char* kReserve = "--allocator-reserve";

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

double parse_reserve(const std::string& text) {
  if (const auto share = number_of(text); share && *share >= 0 && *share <= 1) return *share;
  fail("C012", kReserve, "\"" + text + "\" is not a share from 0 to 1",
       "write it like --allocator-reserve 0.05: 5 % more than the replayed allocator takes");
}

}  // namespace

FlagRows flag_rows(MemoryFlags& flags) {
  const FlagGroup row("Memory");
  return {
      row(kMemoryFlag, "SIZE,|auto|off", "memory per GPU, or a list by device; auto, off", &flags.memory,
          FlagUnit::kSize, FlagForm::kCommas),
      row(kOutside, FlagUnit::kSize, "memory outside the allocator (with auto: 1GiB)", &flags.outside),
      row(kAllocator, "KIND", "caching (PyTorch's; default), expandable or exact", &flags.allocator,
          OneOf{"caching|exact|expandable"}),
      row(kReserve, FlagUnit::kShare, "share taken beyond --allocator's: 0.05 (default 0)", &flags.reserve),
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
  checks.run([&] { scenario.allocator = static_cast<AllocatorKind>(word_index(rows, kAllocator)); });
  checks.run([&] {
    if (flags.reserve.empty()) return;
    scenario.reserve = parse_reserve(flags.reserve);
    if (scenario.allocator != AllocatorKind::kExact) return;
    fail("C004", kReserve, "no allocator takes more than what is allocated", "leave it or --allocator exact out");
  });
  checks.finish();
  return scenario;
}

}  // namespace debubble
