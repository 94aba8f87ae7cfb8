#include "scenario/request/memory_flags.hpp"

#include <CLI/CLI.hpp>
#include <utility>

#include "formats/text/quantities.hpp"
#include "formats/text/shell.hpp"
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

void add_memory_flags(CLI::App& verb, MemoryFlags& flags) {
  const std::string group = "Memory";
  verb.add_option(kMemoryFlag, flags.memory, "of a device, or one each; auto (with --model), off")
      ->group(group)
      ->type_name("SIZE,|auto|off");
  verb.add_option(kOutside, flags.outside, "of it, not the allocator's (with auto: 1GiB)")
      ->group(group)
      ->type_name("SIZE");
  verb.add_option(kAllocator, flags.allocator, "caching (PyTorch's; default) or exact")
      ->group(group)
      ->type_name("KIND");
}

MemoryScenario check_memory(const MemoryFlags& flags) {
  MemoryScenario scenario;
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
  if (flags.allocator == "exact") {
    scenario.allocator = AllocatorKind::kExact;
  } else if (!flags.allocator.empty() && flags.allocator != "caching") {
    checks.add(
        {"C002", kAllocator, "\"" + flags.allocator + "\" is not one of: caching, exact", "write --allocator caching"});
  }
  checks.finish();
  return scenario;
}

std::string repeated_memory_flags(const MemoryFlags& flags) {
  FlagLine line;
  line.add(kMemoryFlag, flags.memory);
  line.add(kOutside, flags.outside);
  line.add(kAllocator, flags.allocator);
  return line.text();
}

}  // namespace debubble
