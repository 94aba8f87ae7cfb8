// What would make a step shorter, each simulated: things that a person can ask debubble for (another schedule, more
// microbatches, transfers that overlap compute), and things that would need other machines or a better program (faster
// links, collectives that take half as long).
#pragma once

#include <string>
#include <vector>

#include "scenario/request/scenario.hpp"
#include "studies/simulate/simulate.hpp"

namespace debubble {

struct Improvement {
  std::string what;                  // "schedule zb-v"
  std::string price;                 // "the peak memory grows from 4.00 to 8.00 MiB"; may be empty
  std::vector<std::string> runs_in;  // of a schedule: the frameworks that do this run today
  std::string command;               // that simulates it; empty: there are no flags for it
  Nanoseconds step = 0;
  int microbatches = 0;
  double gain = 0;  // of the time per microbatch: 0.1 is 10 % less
};

// The run that they are to improve, and how it was asked for.
struct ImprovementBase {
  const ScenarioFlags& flags;
  const Scenario& scenario;
  const std::string& name;  // of the schedule
  const Simulated& run;
};

// Best first, but layers moved off slow stages before all, and faster ops last; of each kind the best one, of other
// schedules also the best that each framework runs today, and only what gains 0.1 % at least. What the schedule
// refuses, deadlocks, or has nothing to gain from, is left out.
[[nodiscard]] std::vector<Improvement> improvements(const ImprovementBase& base);

}  // namespace debubble
