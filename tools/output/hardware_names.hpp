// What files of hardware that this command writes are called inside, and the tables beside them.
#pragma once

#include <string>

namespace debubble {

// The hardware's name for a file of that name: "my" of "out/my.json"; `otherwise` where that is no name, or a preset's.
[[nodiscard]] std::string own_name(const std::string& file, const std::string& otherwise);

// "my.kernels.csv" of "out/my.json".
[[nodiscard]] std::string table_beside(const std::string& file);

}  // namespace debubble
