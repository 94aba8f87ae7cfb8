#include "tools/flags/attribution_flags.hpp"

#include <CLI/CLI.hpp>

#include "sim/core/error.hpp"

namespace debubble {

void add_attribution_flags(CLI::App& verb, AttributionFlags& flags) {
  verb.add_option("--layers", flags.layers, "layer ranges, named by group 1; or none: one layer")->type_name("REGEX");
  verb.add_option("--steps", flags.steps, "ranges that are training steps")->type_name("REGEX");
  verb.add_option("--warm-up", flags.warm_up, "first steps to discard (default: detect)")->type_name("STEPS");
  verb.add_flag("--explain", flags.explain, "show which rule attributed which kernel");
}

AttributionRules attribution_rules(const AttributionFlags& flags) {
  if (flags.warm_up && *flags.warm_up < 0) {
    throw InputError(Diagnostic{"C012", "--warm-up",
                                "the number of steps to discard is at least 0; got " + std::to_string(*flags.warm_up),
                                "leave --warm-up out to have it detected"});
  }
  AttributionRules rules;
  if (!flags.layers.empty() && flags.layers != kNoLayers) rules.layers = flags.layers;
  if (!flags.steps.empty()) rules.steps = flags.steps;
  if (flags.warm_up) rules.warm_up_steps = *flags.warm_up;
  rules.explain = flags.explain;
  return rules;
}

}  // namespace debubble
