// MeasuredList: measured pipeline runs whose bubbles are predicted, `debubble.measured/1` (traces/measured/runs.json).
//
// A run is a recording, by its files, or a row: what each stage took when it was measured apart, and the step of the
// real run, or a training log of Megatron-LM with the timers of its last rank. Where more than stage times is known, a
// row has a scenario instead, in the flags of `debubble simulate`: layer times, the cluster, the training step. Files
// are next to the list.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/request/scenario.hpp"
#include "sim/core/units.hpp"

namespace debubble {

struct MeasuredSource {
  std::string name;
  std::string title;
  std::string where;
  std::string licence;
  std::vector<std::string> not_modelled;
  // A constant that was taken from half of the runs, in words, and the ids of these; empty: nothing was.
  std::string calibrated;
  std::vector<std::string> calibrated_on;
};

struct MeasuredRow {
  std::string id;
  std::string source;
  // A recording:
  std::vector<std::string> files;  // paths as they are opened
  int replica = 0;
  // A training log:
  std::string log;  // path as it is opened; empty: none
  // Stage times:
  std::string schedule;  // empty: a recording or a log
  int microbatches = 0;
  std::vector<Nanoseconds> forward;  // of one microbatch, by stage; one stage per device
  std::vector<Nanoseconds> backward;
  // A scenario:
  std::optional<ScenarioFlags> flags;
  std::vector<std::string> arguments;  // the same as typed: "--devices=4"
  std::string pointer;                 // where it stands: "runs.json#/runs/3"
  Nanoseconds step = 0;                // of stage times and scenarios
};

struct MeasuredList {
  std::vector<MeasuredSource> sources;
  std::vector<MeasuredRow> runs;
};

// Whether the source's constant was taken from this run, among others.
[[nodiscard]] bool is_calibrated_on(const MeasuredSource& source, const std::string& id);

// Throws InputError with everything that is wrong with it.
[[nodiscard]] MeasuredList read_measured_list(std::string_view text, const std::string& file);

}  // namespace debubble
