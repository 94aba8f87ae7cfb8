// The names that flags take from a catalog, in its order: what a shell completes.
#pragma once

#include <string>
#include <vector>

namespace debubble {

[[nodiscard]] std::vector<std::string> schedule_names();
[[nodiscard]] std::vector<std::string> transform_names();
[[nodiscard]] std::vector<std::string> topology_names();  // without the number of units, "ideal" among them
[[nodiscard]] std::vector<std::string> model_names();
[[nodiscard]] std::vector<std::string> workload_names();  // models that can be run on a GPU
[[nodiscard]] std::vector<std::string> hardware_names();

}  // namespace debubble
