#include "gpu/workload/device.hpp"

namespace debubble {

const char* to_string(DataType type) {
  switch (type) {
    case DataType::kBf16:
      return "bf16";
    case DataType::kFp16:
      return "fp16";
    case DataType::kFp32:
      return "fp32";
  }
  return "";
}

Bytes bytes_of(DataType type) { return type == DataType::kFp32 ? 4 : 2; }

}  // namespace debubble
