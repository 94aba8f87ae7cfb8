#include "gpu/workload/device.hpp"

#include <array>

#include "sim/core/at.hpp"

namespace debubble {

const char* to_string(DataType type) { return at(std::array{"bf16", "fp16", "fp32"}, type); }

Bytes bytes_of(DataType type) { return type == DataType::kFp32 ? 4 : 2; }

}  // namespace debubble
