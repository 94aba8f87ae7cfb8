// What every transform promises: a pure function from a legal Schedule to another one that does the same training.
//
// It takes any complete, deadlock-free schedule - a row of the catalog, a file, the result of another transform - and
// gives a complete, deadlock-free one. It throws InputError where it makes no sense, e.g. to split a backward that
// is split already. The result is named "1f1b + recompute" and its params hold the transform's own after the
// schedule's, as "recompute.mode".
#pragma once

#include <map>
#include <string>
#include <vector>

#include "schedules/common/contract.hpp"

namespace debubble {

struct TransformRequest {
  std::map<std::string, std::string> params;
  const PlanningCosts* costs = nullptr;  // only for transforms with `uses_costs`; may be null even then
};

struct TransformEntry {
  std::string name;
  std::string summary;  // one line, for lists
  std::string citation;
  Certainty certainty = Certainty::kReproduced;
  std::string certainty_note;  // one sentence: against what it was tested, or what is not known
  std::string constraints;     // which schedules it refuses, to display
  std::vector<ParamSpec> params;
  std::string advice;  // one or two sentences: when to use it, and what it costs
  Schedule (*apply)(const Schedule&, const TransformRequest&) = nullptr;
  bool uses_costs = false;  // where ops are put depends on the times
};

}  // namespace debubble
