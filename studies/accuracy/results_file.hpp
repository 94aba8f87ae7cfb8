// ResultsFile: published results as traces/published/results.json holds them, `debubble.results/1`.
//
// A record gives the flags of `debubble simulate` that describe its run, and what was measured. The flags of its source
// hold for all of the source's records; a record's own come later and win. `"model": "models/x.json"` is a file next to
// the results.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace debubble {

enum class Quantity { kStepTime, kPeakMemory, kBubble };
[[nodiscard]] const char* to_string(Quantity quantity);  // "step_time", "peak_memory", "bubble": the JSON's words

struct MeasuredQuantity {
  Quantity quantity = Quantity::kStepTime;
  double value = 0;  // seconds; GiB; a ratio
};

struct ResultRecord {
  std::string id;
  std::string source;
  std::vector<std::string> arguments;  // "--schedule=1f1b", ...: of `debubble simulate`, the source's included
  std::vector<MeasuredQuantity> measured;
  std::string group;     // of the source's records that are also summed up apart; may be empty
  std::string software;  // with its version, where the source states it
  std::string note;
};

struct ResultTarget {
  std::string group;  // empty: of all records
  Quantity quantity = Quantity::kStepTime;
  double per_cent = 0;  // mean absolute error, without any constant
};

struct ResultSource {
  std::string name;
  std::string title;
  std::string where;  // publication or repository, commit, path
  std::string licence;
  std::string kind;  // "measured", ...
  std::vector<ResultTarget> targets;
  std::string assumed;                    // what the source leaves open and we assume
  std::vector<std::string> not_modelled;  // effects that the prediction leaves out
};

struct UnusableResult {
  std::string id;
  std::string source;
  std::string reason;
};

struct ResultsFile {
  std::vector<ResultSource> sources;
  std::vector<ResultRecord> records;  // of a source by id
  std::vector<UnusableResult> unusable;
};

// Throws InputError with everything that is wrong with it, and for flags that `simulate` does not know.
[[nodiscard]] ResultsFile read_results(std::string_view text, const std::string& file);

}  // namespace debubble
