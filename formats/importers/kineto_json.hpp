// One walk over a Kineto file: every event's fields as the file writes them, nothing interpreted yet.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "formats/problems/problem_list.hpp"

namespace debubble {

// The longest text that can be read: simdjson's limit, less its padding.
inline constexpr std::size_t kLongestKineto = 0xFFFFFFFF - 64;

// Values as JSON has them: 12.5, "stream 7" with its quotes; empty where the event lacks the field. `name` and `cat`
// are without quotes and escapes.
struct KinetoFields {
  std::string_view ph, cat, name, pid, tid, ts, dur, id;
  // Of "args":
  std::string_view external, correlation, device, context, stream, bytes, graph_node;  // of GPU work
  std::string_view sequence, forward, sizes;                                           // of host ops
  std::string_view address, device_type, device_id;                                    // of allocations
  std::string_view latency;                                                            // of our own transfers
};

class KinetoVisitor {
 public:
  virtual ~KinetoVisitor() = default;
  virtual void event(std::size_t index, const KinetoFields& fields) = 0;
  // What the file holds in addition to traceEvents: {"cupti_version", "22"}, {"distributedInfo/rank", "3"},
  // {"deviceProperties/0/name", "\"NVIDIA H100\""}.
  virtual void fact(std::string_view key, std::string_view value) = 0;
};

// Throws InputError P001 or P002 unless all of the text is JSON. The walk looks at what it reads only.
void require_json(std::string_view text, const std::string& name);

// Visits all of `text`. The views stay valid for as long as the result lives. What is no event is added to `problems`.
// Throws InputError P002, P001 or P010.
[[nodiscard]] std::shared_ptr<const void> walk_kineto(std::string text, ProblemList& problems, KinetoVisitor& visitor);

}  // namespace debubble
