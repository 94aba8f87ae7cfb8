// One row of a sweep: what `debubble simulate` would find with these flags, or why it would refuse them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scenario/request/scenario.hpp"
#include "sim/analysis/report.hpp"
#include "studies/sweep/space.hpp"

namespace debubble {

struct SweptRow {
  std::int64_t number = 0;
  std::vector<std::size_t> places;  // of the space's axes
  int status = 0;                   // exit status of `simulate`: 0, 1 deadlock or out of memory, 2 refused, 3, 70
  Report report;                    // of status 0 and 1
  std::vector<Diagnostic> reasons;  // of any other; place and message may be all there is
  [[nodiscard]] bool has_numbers() const { return !report.deadlock && !report.devices.empty(); }
};

// Runs rows, one after the other. Each thread has its own. Rows that differ in their schedule alone share what was
// read, modelled and checked for the others: profile, transformer, topology.
class SweepRunner {
 public:
  explicit SweepRunner(const SweepSpace& space) : space_(space), point_(space) {}
  // Throws nothing but what ends the whole sweep (never InputError or UnavailableError).
  [[nodiscard]] SweptRow run(std::int64_t row);

 private:
  // The scenario of the point. Throws what check_scenario does.
  [[nodiscard]] const Scenario& scenario();

  const SweepSpace& space_;
  SweepPoint point_;
  std::map<std::vector<std::size_t>, Scenario> known_;  // by the places of all axes but the schedule's
};

// Microbatches per second of all replicas, times samples per microbatch where they are known: what rows of any shape
// are compared by. 0 without numbers.
[[nodiscard]] double sweep_rate(const Report& report);

}  // namespace debubble
