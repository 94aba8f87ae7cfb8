// The second half of the lint: what is on each track, in order of time. Internal to formats/lint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/lint/trace_lint.hpp"
#include "sim/core/units.hpp"

namespace debubble::trace_lint {

// Collects findings: all are counted, the first few of a rule are kept.
class FindingList {
 public:
  FindingList(TraceLint& lint, const TraceLintOptions& options) : lint_(lint), options_(options) {}

  void set_path(std::string path) { path_ = std::move(path); }
  [[nodiscard]] bool strict() const { return options_.strict; }
  void add(const char* rule, std::size_t event, std::string message);
  void remark(const char* rule, std::size_t event, std::string message) {
    if (options_.strict) add(rule, event, std::move(message));
  }
  // Of the trace as a whole.
  void add_whole(const char* rule, std::string message);

 private:
  void keep(const char* rule, std::string place, std::string message);

  TraceLint& lint_;
  TraceLintOptions options_;
  std::string path_ = "/traceEvents/";
};

// "\"PP:0F0\"", cut where it is long.
[[nodiscard]] std::string name_in_quotes(std::string_view name);

struct Mark {
  enum class Kind : std::uint8_t { kComplete, kBegin, kEnd, kArrow, kArrowToNext };
  Nanoseconds at = 0;
  Nanoseconds end = 0;  // of kComplete
  std::uint32_t track = 0;
  Kind kind = Kind::kComplete;
  std::size_t event = 0;
  std::string_view name;
};

// Marks of all tracks: nesting, begins and ends, arrows that have a slice to stand on.
class TrackChecker {
 public:
  explicit TrackChecker(FindingList& findings) : findings_(findings) {}

  // The number of a track; `slices` says whether it is a thread, where an arrow can stand.
  std::uint32_t thread(std::string_view pid, std::string_view tid) { return track("t", pid, tid); }
  std::uint32_t async(std::string_view category, std::string_view id) { return track("a", category, id); }
  void add(const Mark& mark) { marks_.push_back(mark); }
  void check();
  [[nodiscard]] std::int64_t tracks() const { return tracks_seen_; }

 private:
  std::uint32_t track(const char* kind, std::string_view first, std::string_view second);
  void check_track(std::size_t from, std::size_t to);
  void close_until(Nanoseconds at);
  void open_slice(const Mark& mark);
  void end_slice(const Mark& mark, const char* rule);

  FindingList& findings_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<bool> is_async_;  // by track
  std::vector<Mark> marks_;
  std::vector<Mark> open_;
  std::vector<std::size_t> wait_for_next_;  // arrows' ends that bind to the next slice
  std::int64_t tracks_seen_ = 0;
};

// Arrows by their two ends; Perfetto joins those of the same id, category and name.
class ArrowChecker {
 public:
  explicit ArrowChecker(FindingList& findings) : findings_(findings) {}

  void add(char phase, std::string_view id, std::string_view category, std::string_view name, Nanoseconds at,
           std::size_t event);
  void check();

 private:
  struct Arrow {
    std::size_t event = 0;  // the first of either end
    Nanoseconds begin = 0;
    Nanoseconds end = 0;  // the first
    std::int32_t begins = 0;
    std::int32_t ends = 0;
  };

  FindingList& findings_;
  std::unordered_map<std::string, Arrow> arrows_;  // by id, category and name
};

}  // namespace debubble::trace_lint
