#include "studies/whatif/result.hpp"

#include <algorithm>

#include "sim/core/at.hpp"

namespace debubble {

Nanoseconds idle_by(const Report& report, IdleCause cause) {
  Nanoseconds sum = 0;
  for (const DeviceReport& device : report.devices) sum += at(device.idle_by_cause, cause);
  return sum;
}

std::string in_words(IdleCause cause) {
  std::string text = to_string(cause);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

}  // namespace debubble
