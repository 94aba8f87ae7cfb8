// The begin and end of one event of a Kineto file, and its thread or stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "formats/importers/kineto_json.hpp"
#include "sim/core/units.hpp"

namespace debubble {

// False where the event has none, which is added to `problems` (P004, P006, P007) or, where it ends before it begins,
// counted in `losses`. `index` is its place in traceEvents.
[[nodiscard]] bool read_event_times(std::size_t index, const KinetoFields& fields, ProblemList& problems,
                                    std::map<std::string, std::int64_t>& losses, Nanoseconds& begin, Nanoseconds& end);

// Threads and streams, counted from 0 in the order of appearance.
class KinetoLanes {
 public:
  [[nodiscard]] std::uint32_t of(const KinetoFields& fields);

 private:
  std::map<std::pair<std::string, std::string>, std::uint32_t> known_;  // by process and thread, as the file has them
  std::pair<std::string, std::string> last_;  // most events are of the same thread as the one before
  std::uint32_t last_lane_ = 0;
};

// A JSON string's text; other values verbatim.
[[nodiscard]] std::string plain_value(std::string_view value);

}  // namespace debubble
