// CheckResult: what the gate found. Views and reports (text, JSON, JUnit, Markdown, annotations) only print it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "live/live.hpp"
#include "sim/core/error.hpp"
#include "sim/core/units.hpp"

namespace debubble {

// One number of a prediction that is not what the baseline holds. Values are JSON; empty where it is absent.
struct NumberChange {
  std::string number;  // "makespan_ns", "devices[2].idle_ns"
  std::string before;
  std::string after;
};

// What a scenario's prediction is, seen from the baseline.
struct PredictionResult {
  enum class State : std::uint8_t {
    kSame,
    kChanged,
    kNew,       // the baseline does not know the scenario
    kNone,      // there is no baseline yet
    kDeadlock,  // it has no numbers at all
  };
  State state = State::kSame;
  std::vector<NumberChange> changes;  // of kChanged; the most telling first
  std::string deadlock;               // of kDeadlock: the cycle
};

enum class Verdict : std::uint8_t { kPass, kWarn, kFail };

// Median of errors and the interval in which it lies with 95 % confidence. Errors are measured - predicted: in
// percentage points for the bubble, in per cent of the predicted value for the others.
struct ErrorEstimate {
  double median = 0;
  double low = 0;
  double high = 0;
};

// One number, predicted and measured. Values are a ratio, nanoseconds or bytes.
struct MetricResult {
  enum class Kind : std::uint8_t { kBubble, kStep, kMemory };
  Kind kind = Kind::kBubble;
  double predicted = 0;
  double measured = 0;  // median over the repetitions
  ErrorEstimate error;
  double tolerance = 0;
  int device = -1;      // memory: the one judged worst
  bool counted = true;  // no: the run did not count it; measured and error mean nothing
  Verdict verdict = Verdict::kPass;
};

// A recorded or fresh run against the prediction.
struct MeasurementResult {
  enum class State : std::uint8_t {
    kJudged,
    kMissing,  // this machine lacks what it takes; `missing` says what
    kStuck,    // the run did not end (`stall` says where), or went wrong (`failure` says how)
  };
  State state = State::kJudged;
  bool fresh = false;
  std::string file;     // of a recorded run
  std::string backend;  // "cpu", "cuda", ...
  std::string clock;    // "logical", "wall", "gpu"
  std::string device;
  std::string date;
  enum class Times : std::uint8_t {
    kMeasured,
    kGiven,      // a real run on the logical clock, each op takes the time it was given: exact by construction
    kSimulated,  // nothing ran at all
  };
  Times times = Times::kMeasured;
  int repetitions = 0;
  int calibrations = 1;  // of a fresh run: how often its costs were calibrated anew
  std::vector<MetricResult> metrics;
  std::vector<std::string> notes;  // "1 repetition: no interval, the error is judged as it is"
  Diagnostic missing;
  std::optional<Stall> stall;
  std::string failure;
  std::vector<std::string> next;  // commands that explain a failure
};

struct ScenarioResult {
  std::string name;
  int line = 1;  // of the suite file
  bool required = true;
  PredictionResult prediction;
  std::optional<MeasurementResult> measurement;
};

struct SuiteResult {
  std::string file;
  std::string name;
  std::string baseline;
  std::vector<int> lines;          // of the scenarios, for errors in them
  bool accepted = false;           // the baseline was written anew
  bool rewritten_by_hand = false;  // the baseline's numbers are right, its bytes are not
  std::vector<ScenarioResult> scenarios;
  std::vector<std::string> gone;   // in the baseline, not in the suite
  std::vector<Diagnostic> errors;  // wrong input; the scenarios may be empty then
};

struct CheckResult {
  bool accept = false;
  std::vector<SuiteResult> suites;
};

// How many scenarios end how; each counts once, under the worst of what was found.
struct Tally {
  int scenarios = 0;
  int pass = 0;
  int warn = 0;
  int fail = 0;
  int skipped = 0;  // something is missing, and was not required
  int missing = 0;  // something is missing, and was required
  int bad_suites = 0;
};
enum class Outcome : std::uint8_t { kPass, kWarn, kSkipped, kMissing, kFail };
[[nodiscard]] Outcome outcome_of(const ScenarioResult& scenario, bool accept);
[[nodiscard]] Tally tally_of(const CheckResult& result);

// 2 for a suite that could not be read, else 1 for a finding, else 3 for what is missing and required, else 0: what is
// known to be wrong comes before what could not be looked at.
[[nodiscard]] int status_of(const CheckResult& result);

// "bubble", "step", "memory".
[[nodiscard]] const char* to_string(MetricResult::Kind kind);
[[nodiscard]] const char* to_string(MeasurementResult::Times times);  // "measured", "given", "simulated"
[[nodiscard]] const char* to_string(Verdict verdict);                 // "pass", "warn", "fail"
[[nodiscard]] const char* to_string(Outcome outcome);                 // "pass", "warn", "skipped", "missing", "fail"
[[nodiscard]] const char* to_string(PredictionResult::State state);   // "same", "changed", "new", "none", "deadlock"

}  // namespace debubble
