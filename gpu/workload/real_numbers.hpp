// Numbers in device memory as doubles and back, for checks: written apart from the kernels' own conversions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/workload/device.hpp"
#include "gpu/workload/layer_buffers.hpp"

namespace debubble {

// The value of a stored number; bf16 and fp16 are the low 16 bits.
[[nodiscard]] double decode(DataType type, std::uint32_t bits);

// The stored number nearest to a value, ties to even; too large a value becomes infinity.
[[nodiscard]] std::uint32_t encode(DataType type, double value);

// The largest relative error of one rounding: 2^-8 for bf16, 2^-11 for fp16, 2^-24 for fp32.
[[nodiscard]] double unit_roundoff(DataType type);

[[nodiscard]] std::vector<double> download_numbers(WorkDevice& device, DeviceAddress from, std::int64_t count,
                                                   DataType type);
void upload_numbers(WorkDevice& device, DeviceAddress to, const std::vector<double>& numbers, DataType type);

// All of a layer's buffer; integers become doubles too.
[[nodiscard]] std::vector<double> download_buffer(WorkDevice& device, const LayerBuffers& buffers,
                                                  const LayerBuffer& buffer);

}  // namespace debubble
