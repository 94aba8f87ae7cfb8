// The names that flags take from a catalog, in its order: what a shell completes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace debubble {

[[nodiscard]] std::vector<std::string> schedule_names();
[[nodiscard]] std::vector<std::string> transform_names();
[[nodiscard]] std::vector<std::string> topology_names();  // without the number of units, "ideal" among them
[[nodiscard]] std::vector<std::string> model_names();
[[nodiscard]] std::vector<std::string> workload_names();  // models that can be run on a GPU
[[nodiscard]] std::vector<std::string> hardware_names();

// The framework that a flag names, as catalog rows write it: "Megatron-LM" of "megatron". Throws InputError C002.
[[nodiscard]] std::string parse_framework(const std::string& text, std::string_view place);

}  // namespace debubble
