#include "tools/flags/attribution_flags.hpp"

#include "sim/core/error.hpp"

namespace debubble {

FlagRows flag_rows(AttributionFlags& flags, std::string_view group) {
  return {
      {.name = "--layers",
       .group = group,
       .type = "REGEX",
       .help = "layer ranges, named by group 1; or none: one layer",
       .target = &flags.layers},
      {.name = "--steps",
       .group = group,
       .type = "REGEX",
       .help = "ranges that are training steps",
       .target = &flags.steps},
      {.name = "--warm-up",
       .group = group,
       .type = "STEPS",
       .help = "warm-up steps to discard",
       .default_text = "detect",
       .target = &flags.warm_up},
      {.name = "--rank",
       .group = group,
       .type = "R",
       .help = "of several ranks, this one alone",
       .default_text = "all",
       .target = &flags.rank},
      {.name = "--explain",
       .group = group,
       .help = "show which rule attributed which kernel",
       .target = &flags.explain},
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
