// Flags about the cluster; part of every verb that takes a scenario.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace debubble {

// As typed.
struct ClusterFlags {};

void add_cluster_flags(CLI::App& verb, ClusterFlags& flags);

// The flags, checked.
struct ClusterScenario {};

// Throws InputError with everything that is wrong with them.
[[nodiscard]] ClusterScenario check_cluster(const ClusterFlags& flags);

// Those that were given, quoted for a shell, to be repeated in a command that is suggested.
[[nodiscard]] std::string repeated_cluster_flags(const ClusterFlags& flags);

}  // namespace debubble
