#include "tools/memory/memory_flags.hpp"

namespace debubble {

void add_memory_flags(CLI::App&, MemoryFlags&) {}

MemoryScenario check_memory(const MemoryFlags&) { return {}; }

std::string repeated_memory_flags(const MemoryFlags&) { return {}; }

}  // namespace debubble
