// FailIf: the condition of `--fail-if`, by which a run becomes a finding (exit code 1).
//
//     bubble_ratio > 0.25 || peak_memory > 76GiB && makespan <= 1.2s
//     `----------- NAME OP VALUE, joined by || and && (which binds tighter) and parentheses
//
// Names are the keys of the JSON report, without their unit or with it (makespan, makespan_ns), nested ones with a dot
// (idle_by_cause.fill, critical_path.transfer); `bubble` and `mem` are short for bubble_ratio and peak_memory. What
// each device has of its own is taken from the device where it is largest. OP is < <= > >= == or !=. VALUE needs the
// unit of its name: a duration, a size, or for ratios a number or a percentage (0.25, 25%). A bare number is taken in
// the unit that the name spells out: makespan_ns > 1200000.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/request/flag.hpp"
#include "sim/analysis/report.hpp"

namespace debubble {

class FailIf {
 public:
  // What the expression says about one run. `because` holds every comparison that made it true, with the value found:
  // "bubble_ratio > 25%: it is 27.3 %".
  struct Verdict {
    bool fired = false;
    std::vector<std::string> because;
  };

  // Throws InputError (C031 to C033) for text that is not an expression; its place holds the column and the text with
  // a caret under it. Parse before simulating, so that a slip is found in the first second.
  static FailIf parse(std::string_view text, std::string_view place = "--fail-if");

  // Throws InputError C036 when a name has no value in this run (throughput without a profile), whether or not the
  // rest would decide. `report` must be of a run that ended: no deadlock, at least one device.
  [[nodiscard]] Verdict evaluate(const Report& report) const;

 private:
  friend class FailIfParser;

  enum class Compare : std::uint8_t { kLess, kLessEqual, kGreater, kGreaterEqual, kEqual, kNotEqual };

  // One node of the expression, children before parents. A comparison has no children.
  struct Node {
    enum class Kind : std::uint8_t { kComparison, kAnd, kOr };
    Kind kind = Kind::kComparison;
    std::size_t left = 0;
    std::size_t right = 0;
    std::size_t metric = 0;  // index into metric_catalog()
    Compare compare = Compare::kLess;
    std::int64_t integer = 0;  // the value for times, sizes and counts
    double real = 0;           // the value for ratios and rates
    std::string text;          // "bubble_ratio > 25%", as typed but for blanks
  };

  [[nodiscard]] bool holds(const Node& node, const Report& report) const;
  void collect(std::size_t index, const std::vector<bool>& truth, const Report& report, Verdict& verdict) const;

  std::string place_;
  std::vector<Node> nodes_;  // the last one is the whole expression
};

// --fail-if of a verb; `help` says of what it is asked.
[[nodiscard]] Flag fail_if_row(std::string& target, std::string_view help);

// Whether it holds; if so, why is said on stderr, so that stdout stays the same data.
[[nodiscard]] bool judge(const FailIf& fail_if, const Report& report);

}  // namespace debubble
