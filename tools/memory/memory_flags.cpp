#include "tools/memory/memory_flags.hpp"

#include <CLI/CLI.hpp>
#include <sstream>
#include <utility>

#include "sim/core/error.hpp"
#include "tools/quantities.hpp"
#include "tools/shell.hpp"

namespace debubble {
namespace {

constexpr const char* kMemory = "--memory";
constexpr const char* kOutside = "--memory-outside";
constexpr const char* kAllocator = "--allocator";

void add_problems(const InputError& error, std::vector<Diagnostic>& found) {
  found.insert(found.end(), error.diagnostics().begin(), error.diagnostics().end());
}

std::vector<Bytes> parse_sizes(const std::string& text) {
  std::vector<Bytes> sizes;
  std::vector<Diagnostic> found;
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    try {
      sizes.push_back(parse_size(item, kMemory));
      if (sizes.back() > 0) continue;
      found.push_back({"F041", kMemory, "a device without memory runs nothing", "write it like --memory 80GiB"});
    } catch (const InputError& error) {
      add_problems(error, found);
    }
  }
  if (!found.empty()) throw InputError(std::move(found));
  return sizes;
}

}  // namespace

void add_memory_flags(CLI::App& verb, MemoryFlags& flags) {
  const std::string group = "Memory";
  verb.add_option(kMemory, flags.memory, "of a device, or one each; auto (with --model), off")
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
  std::vector<Diagnostic> found;
  try {
    if (flags.memory == "auto") {
      scenario.from = MemoryScenario::From::kHardware;
    } else if (flags.memory == "off") {
      scenario.from = MemoryScenario::From::kNothing;
    } else if (!flags.memory.empty()) {
      scenario.from = MemoryScenario::From::kGiven;
      scenario.sizes = parse_sizes(flags.memory);
    }
  } catch (const InputError& error) {
    add_problems(error, found);
  }
  try {
    if (!flags.outside.empty()) scenario.outside = parse_size(flags.outside, kOutside);
  } catch (const InputError& error) {
    add_problems(error, found);
  }
  if (flags.allocator == "exact") {
    scenario.allocator = AllocatorKind::kExact;
  } else if (!flags.allocator.empty() && flags.allocator != "caching") {
    found.push_back(
        {"C002", kAllocator, "\"" + flags.allocator + "\" is not one of: caching, exact", "write --allocator caching"});
  }
  if (!found.empty()) throw InputError(std::move(found));
  return scenario;
}

std::string repeated_memory_flags(const MemoryFlags& flags) {
  std::string text;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += (text.empty() ? "" : " ") + (name + (" " + shell_quoted(value)));
  };
  add(kMemory, flags.memory);
  add(kOutside, flags.outside);
  add(kAllocator, flags.allocator);
  return text;
}

}  // namespace debubble
