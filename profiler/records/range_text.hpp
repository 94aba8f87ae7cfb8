// Text of an NVTX range as PyTorch's emit_nvtx writes it, taken apart:
//
//     aten::mm, seq = 12, op_id = 3, sizes = [[8, 512], [512, 64]], input_op_ids = [(1,0)]
//     name      sequence             sizes
//
// Any suffix may be missing; text in another form is a name as a whole. Older releases write "seq=12" and, in backward,
// "stashed seq=12". Source: torch/csrc/profiler/util.cpp.
#pragma once

#include <cstdint>
#include <string_view>

namespace debubble {

struct RangeText {
  std::string_view name;  // always the beginning of the text
  std::int64_t sequence = -1;
  std::string_view sizes;
};

[[nodiscard]] RangeText parse_range_text(std::string_view text);

}  // namespace debubble
