// RangeConstants: what turns the scatter of a step's kinds into ranges that hold 80 of 100 measured steps, and found
// from them (tools/accuracy/run): `debubble.ranges/1`, installed with the published records.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace debubble {

inline constexpr double kRangeCoverage = 0.8;
inline constexpr double kOrderShare = 0.9;

// Quantiles of log(measured / predicted) over its scatter, of all records of dense models, or of those with experts,
// but those of one source.
struct RangeEnds {
  bool experts = false;
  std::string left_out;  // empty: no source is
  double low = 0;        // one step in ten is shorter
  double high = 0;       // one in ten is longer
  int records = 0;
  int sources = 0;
};

struct RangeConstants {
  double repeat = 0;  // standard deviation of log(step) of one set-up that is measured again, the median over set-ups
  int repeated = 0;   // such set-ups
  // Scatters: of pairs of records whose log(predicted ratio) is larger, 90 in 100 ran in the predicted order.
  double apart = 0;
  int pairs = 0;  // 0: there are none, and nothing is said of two runs
  std::vector<RangeEnds> ends;

  // Of all sources but this one; empty: of all. Null where there are none.
  [[nodiscard]] const RangeEnds* ends_of(bool experts, const std::string& left_out = "") const;
};

// Throws InputError with everything that is wrong with it.
[[nodiscard]] RangeConstants read_ranges(std::string_view text, const std::string& file);

// Those that debubble brings, read once per process. Throws UnavailableError (U040) where the installation lacks them.
[[nodiscard]] const RangeConstants& installed_ranges();

}  // namespace debubble
