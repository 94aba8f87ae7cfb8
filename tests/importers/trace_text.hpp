// Small Kineto files for tests, and what a trace says as lines of text.
#pragma once

#include <string>
#include <string_view>

#include "profiler/importers/kineto.hpp"
#include "profiler/records/record_text.hpp"

namespace debubble::testing {

// The events as a file: {"traceEvents": [EVENTS]}.
inline std::string kineto_file(std::string_view events, std::string_view beside = "") {
  return "{" + std::string(beside) + "\"traceEvents\": [\n" + std::string(events) + "\n]}\n";
}

// One event; `args` without braces.
inline std::string event(std::string_view category, std::string_view name, int tid, std::string_view ts,
                         std::string_view dur, std::string_view args) {
  return R"({"ph": "X", "cat": ")" + std::string(category) + R"(", "name": ")" + std::string(name) +
         R"(", "pid": 9, "tid": )" + std::to_string(tid) + R"(, "ts": )" + std::string(ts) + R"(, "dur": )" +
         std::string(dur) + R"(, "args": {)" + std::string(args) + "}}";
}

inline std::string records_of(const KinetoTrace& trace) {
  std::string out;
  RecordText text(out);
  trace.replay(text);
  return out;
}

inline std::string records_of(std::string_view events, std::string_view beside = "") {
  return records_of(KinetoTrace(kineto_file(events, beside), "t.json"));
}

}  // namespace debubble::testing
