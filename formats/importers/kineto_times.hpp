// The begin and end of one event of a Kineto file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "formats/importers/kineto_json.hpp"
#include "sim/core/units.hpp"

namespace debubble {

// False where the event has none, which is added to `problems` (P004, P006, P007) or, where it ends before it begins,
// counted in `losses`. `index` is its place in traceEvents.
[[nodiscard]] bool read_event_times(std::size_t index, const KinetoFields& fields, ProblemList& problems,
                                    std::map<std::string, std::int64_t>& losses, Nanoseconds& begin, Nanoseconds& end);

// A JSON string's text; other values verbatim.
[[nodiscard]] std::string plain_value(std::string_view value);

}  // namespace debubble
