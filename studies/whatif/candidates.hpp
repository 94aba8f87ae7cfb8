// The finite what-ifs: single changes that somebody could make, each simulated, and ranked by what they bring.
//
//     stage 3 10 % faster     every stage         -1.6 ms
//     no latency              all links           -0.9 ms
//     9 microbatches          one more or fewer   -1.8 % per microbatch
#pragma once

#include <string>
#include <vector>

#include "scenario/job/job.hpp"
#include "scenario/request/scenario.hpp"
#include "studies/whatif/changes.hpp"
#include "studies/whatif/sensitivity.hpp"

namespace debubble {

struct Candidate {
  std::string label;
  Nanoseconds step = 0;
  int microbatches = 0;
  // Of the time per microbatch, which the number of microbatches does not decide: 0.1 is 10 % less, below 0 it is more.
  double gain = 0;
};

// What is tried, and on what: a prepared run with changes of its own.
struct CandidateBase {
  const Scenario& scenario;
  const std::string& name;  // of the schedule
  const Job& prepared;
  Changes changes;
};

// Best first; those of equal gain in the order in which they are tried. Links are tried where `sensitivity`, of the
// changed run, finds them on the critical path. What the schedule refuses, and what deadlocks, is left out. `threads`
// 0: one per core.
[[nodiscard]] std::vector<Candidate> rank_candidates(const CandidateBase& base, const Sensitivity& sensitivity,
                                                     int threads, const RunsDone& tell = {});

}  // namespace debubble
