// Flags about the memory; part of every verb that takes a scenario.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace debubble {

// As typed.
struct MemoryFlags {};

void add_memory_flags(CLI::App& verb, MemoryFlags& flags);

// The flags, checked.
struct MemoryScenario {};

// Throws InputError with everything that is wrong with them.
[[nodiscard]] MemoryScenario check_memory(const MemoryFlags& flags);

// Those that were given, quoted for a shell, to be repeated in a command that is suggested.
[[nodiscard]] std::string repeated_memory_flags(const MemoryFlags& flags);

}  // namespace debubble
