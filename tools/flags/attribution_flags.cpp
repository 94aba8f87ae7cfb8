#include "tools/flags/attribution_flags.hpp"

#include "scenario/request/flag_row.hpp"
#include "sim/core/error.hpp"

namespace debubble {

FlagRows flag_rows(AttributionFlags& flags, std::string_view group) {
  const FlagGroup row(group);
  return {
      row("--layers", "REGEX", "layer ranges, named by group 1; or none: one layer", &flags.layers),
      row("--steps", "REGEX", "ranges that are training steps", &flags.steps),
      row("--warm-up", "STEPS", "warm-up steps to discard", &flags.warm_up, Default{"detect"}),
      row("--rank", "R", "of several ranks, this one alone", &flags.rank, Default{"all"}),
      row("--explain", "show which rule attributed which kernel", &flags.explain),
  };
}

AttributionRules attribution_rules(const AttributionFlags& flags) {
  if (flags.warm_up && *flags.warm_up < 0) {
    throw InputError(Diagnostic{"C012", "--warm-up",
                                "the number of steps to discard is at least 0; got " + std::to_string(*flags.warm_up),
                                "leave --warm-up out to have it detected"});
  }
  if (flags.rank && *flags.rank < 0) {
    throw InputError(Diagnostic{"C012", "--rank", "ranks count from 0; got " + std::to_string(*flags.rank),
                                "leave --rank out for all ranks"});
  }
  AttributionRules rules;
  if (!flags.layers.empty() && flags.layers != kNoLayers) rules.layers = flags.layers;
  if (!flags.steps.empty()) rules.steps = flags.steps;
  if (flags.warm_up) rules.warm_up_steps = *flags.warm_up;
  rules.explain = flags.explain;
  return rules;
}

}  // namespace debubble
