// The events of a Kineto file (torch.profiler's Chrome JSON) that attribution needs, as values.
//
//     {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": 12.345, "dur": 3.2,
//      "args": {"External id": 7, "Sequence number": 4, "Input Dims": [[8, 512], [512, 64]]}}
//
// Field names and categories are compared without regard to case, and those of 2021 ("Operator", "Kernel", "external
// id") mean the same as today's. Field names: libkineto/src/output_json.cpp, torch/csrc/profiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/records/record.hpp"

namespace debubble {

enum class KinetoRangeKind : std::uint8_t { kOp, kAnnotation, kModule };

struct KinetoRange {
  std::string_view name;
  std::string_view sizes;  // "Input Dims" as in the file
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  std::int64_t sequence = -1;
  std::uint64_t external = 0;        // "External id"; 0: none
  std::uint32_t thread = 0;          // counted from 1 in the order of appearance
  std::uint32_t forward_number = 0;  // "Fwd thread id": PyTorch's own number of a thread, not a tid; 0: not a backward
  KinetoRangeKind kind = KinetoRangeKind::kOp;
};

struct KinetoLaunch {
  std::uint32_t correlation = 0;
  std::uint32_t thread = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};

struct KinetoWork {
  KernelRecord record;         // times 0 when the file has none
  std::uint64_t external = 0;  // 0: none, or only the correlation id again, as files of 2022 and 2023 have it
};

// One end of a forward-backward arrow.
struct KinetoArrowEnd {
  std::uint64_t id = 0;
  std::uint32_t thread = 0;
  Nanoseconds time = 0;
  bool forward = false;
};

struct KinetoEvents {
  std::vector<KinetoRange> ranges;  // in file order, as all of these
  std::vector<KinetoLaunch> launches;
  std::vector<KinetoWork> work;
  std::vector<MemoryRecord> memory;
  std::vector<OverheadRecord> overheads;
  std::vector<KinetoArrowEnd> arrows;
  std::vector<std::pair<std::string, std::string>> facts;
  std::map<std::string, std::int64_t> losses;
  std::map<std::string, std::int64_t> unknown;  // events with a duration whose category means nothing to us
  std::uint32_t threads = 0;
  std::int64_t base_time = 0;  // ns since 1970 that the file's times count from; 0: they are since 1970, or unknown
  bool whole_microseconds = true;
  std::shared_ptr<const void> text;  // what the views point into
};

// `bytes` is the file, plain or in gzip. Throws InputError, with all wrong events of the file at once: K001 and P017 as
// plain_text, P002 not UTF-8, P001 not JSON, P010 no traceEvents, A003 no GPU work, P007 a value of the wrong type,
// P006 a missing value, P004 a number too large, P022 further problems.
[[nodiscard]] KinetoEvents read_kineto_events(std::string bytes, const std::string& name);

}  // namespace debubble
