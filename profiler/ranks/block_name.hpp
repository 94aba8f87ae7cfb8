// Blocks: layers that carry their number in the model, such as "decoder.layers.12".
//
//     "decoder.layers.12"      list "decoder.layers.", number 12
//     "layers.3.attention"     list "layers.", number 3
//     "embedding", "Block_3"   no block: profilers count classes from 0 in every process
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace debubble {

struct BlockName {
  std::string list;
  std::int64_t number = 0;
};

// Of the first part between dots that is a number of at most nine digits.
[[nodiscard]] std::optional<BlockName> block_name(std::string_view layer);

}  // namespace debubble
