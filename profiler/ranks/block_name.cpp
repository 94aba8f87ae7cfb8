#include "profiler/ranks/block_name.hpp"

#include <algorithm>
#include <cstddef>

#include "sim/core/words.hpp"

namespace debubble {

std::optional<BlockName> block_name(std::string_view layer) {
  constexpr std::size_t kMostDigits = 9;
  for (std::size_t begin = 0; begin < layer.size();) {
    const std::size_t end = std::min(layer.find('.', begin), layer.size());
    const std::string_view part = layer.substr(begin, end - begin);
    if (!part.empty() && part.size() <= kMostDigits && std::all_of(part.begin(), part.end(), is_digit)) {
      return BlockName{std::string(layer.substr(0, begin)), std::stoll(std::string(part))};
    }
    begin = end + 1;
  }
  return std::nullopt;
}

}  // namespace debubble
