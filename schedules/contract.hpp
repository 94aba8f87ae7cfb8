// What every schedule file promises, and what it is asked.
//
// A builder is a pure function from a request to a Schedule: every (stage, microbatch) runs forward once and completely
// backward once, no times, no randomness. It throws InputError for a request it cannot honour, with the nearest legal
// values in the help line, and leaves a note where physics allows what a framework would refuse.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/core/schedule.hpp"

namespace debubble {

struct ScheduleRequest {
  int devices = 1;
  int microbatches = 1;
  int chunks = 0;  // stages per device; 0: the schedule's own default
  std::map<std::string, std::string> params;
};

struct ParamSpec {
  std::string name;
  std::string values;         // "1..p/2" or "direct|doubling|halving", for people
  std::string default_value;  // as text, for people: "p"
  std::string help;           // one sentence
};

struct ScheduleEntry {
  std::string name;
  std::string summary;  // one line, for lists
  std::string citation;
  std::string constraints;  // "p >= 2, v >= 2", for people
  std::string needs;  // what it costs beside time: "splits the backward", "two copies of the weights"; may be empty
  bool splits_backward = false;
  int default_chunks = 1;
  std::vector<ParamSpec> params;
  Schedule (*build)(const ScheduleRequest&) = nullptr;
};

}  // namespace debubble
