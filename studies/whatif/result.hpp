// What `debubble whatif` found: the base, the changed run, and what was asked about it. Views print it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/report.hpp"
#include "studies/whatif/candidates.hpp"
#include "studies/whatif/seeds.hpp"
#include "studies/whatif/sensitivity.hpp"

namespace debubble {

// One of several changes, alone.
struct AloneChange {
  std::string label;
  std::optional<Nanoseconds> step;  // nothing: it deadlocks
};

struct WhatIfResult {
  Report base;
  std::vector<std::string> changes;    // what the changed run differs in; empty: there is none
  Report changed;                      // with `changes` only
  std::string note;                    // on what does not follow the changes; empty: nothing
  std::vector<std::string> no_effect;  // why, where the changed run is the same; empty: it is not
  std::vector<AloneChange> alone;      // where there are several
  std::optional<SeedTimes> seeds;
  std::string drawn;  // what the seeds draw: "jitter lognormal:0.05"
  std::optional<Sensitivity> sensitivity;
  std::vector<Candidate> candidates;  // with `sensitivity` only

  // The run that seeds and sensitivity speak of.
  [[nodiscard]] const Report& subject() const { return changes.empty() ? base : changed; }
};

// "transfer_latency" as people read it: "transfer latency".
[[nodiscard]] std::string in_words(IdleCause cause);

}  // namespace debubble
