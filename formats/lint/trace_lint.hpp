// The lint of Chrome traces: what Perfetto and chrome://tracing would drop, misplace or draw wrong in a trace, whoever
// wrote it. docs/traces.md lists the rules; each comes from what the viewers' importers do.
//
// Two kinds of findings: a problem loses or misplaces something; a remark, which only `strict` reports, works today but
// rests on how a viewer happens to read it (ids that are text, threads without a name, events out of order).
//
//     [{"name":"F0","ph":"X","pid":0,"tid":1,"ts":0,"dur":5},
//      {"name":"F1","ph":"X","pid":0,"tid":1,"ts":4,"dur":2}]       nesting: F1 begins within F0 and ends after it
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace debubble {

struct TraceFinding {
  std::string rule;     // "nesting"
  std::string place;    // "run.json#/traceEvents/17"
  std::string message;  // may quote names from the trace: not printable as it is
};

struct TraceLint {
  std::string file;
  std::int64_t events = 0;
  std::int64_t slices = 0;
  std::int64_t arrows = 0;
  std::int64_t counters = 0;  // counter events
  std::int64_t tracks = 0;    // threads with slices, and asynchronous tracks
  std::map<std::string, std::int64_t> by_rule;
  std::vector<TraceFinding> findings;  // in the order of the rules' checks; the first few of each rule

  [[nodiscard]] std::int64_t total() const;
};

struct TraceLintOptions {
  bool strict = false;
  std::int64_t most_per_rule = 10;  // findings that are kept with their place; all are counted
};

// `text` is the whole trace. Throws InputError P001, P002 or P010 for what is no trace at all. Time is linear in its
// length but for sorting the slices of each track, memory 2.5 times its length (measured).
[[nodiscard]] TraceLint lint_trace(std::string text, const std::string& name, const TraceLintOptions& options = {});

// Each rule with what it says, problems first: for `debubble list trace-rules`.
struct TraceRule {
  const char* name;
  bool strict;  // a remark
  const char* meaning;
};
[[nodiscard]] const std::vector<TraceRule>& trace_rules();

}  // namespace debubble
