// The flags of `debubble whatif` in addition to a scenario's: what is changed, and what is asked about it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenario/request/flag.hpp"
#include "scenario/request/scenario.hpp"
#include "studies/whatif/changes.hpp"

namespace debubble {

// As typed.
struct WhatIfFlags {
  std::string base = "plain";
  std::string to;
  std::vector<std::string> links;
  std::vector<std::string> fail;
  std::string latency;
  std::string bandwidth_scale;
  std::string overlap;
  std::optional<int> seeds;
  std::optional<int> threads;
  bool sensitivity = false;
};

[[nodiscard]] FlagRows flag_rows(WhatIfFlags& flags);

// The flags, checked.
struct WhatIfQuestion {
  Scenario base;
  std::string to;                    // the other flags of the changed run, as typed; empty: it has the base's
  Scenario changed_flags;            // with `to` only: the base with these
  std::vector<NamedChange> changes;  // in the order: variation, links, overlap
  int seeds = 0;                     // 0: not asked for
  int threads = 0;                   // 0: one per core
  bool sensitivity = false;
};

// `scenario` with its own --slow, --factors and --jitter. Throws InputError with everything that is wrong.
[[nodiscard]] WhatIfQuestion check_whatif(const WhatIfFlags& flags, const Scenario& scenario);

// The scenario that the changes are made to.
[[nodiscard]] inline const Scenario& changed_base(const WhatIfQuestion& question) {
  return question.to.empty() ? question.base : question.changed_flags;
}

}  // namespace debubble
