#include "studies/whatif/result.hpp"

#include <algorithm>

namespace debubble {

std::string in_words(IdleCause cause) {
  std::string text = to_string(cause);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

}  // namespace debubble
