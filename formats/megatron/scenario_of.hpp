// What a Megatron-LM command means as a scenario of ours: the flags of `debubble simulate`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/megatron/launch.hpp"
#include "formats/megatron/log_bubble.hpp"
#include "sim/core/units.hpp"

namespace debubble {

struct MegatronScenario {
  std::vector<std::pair<std::string, std::string>> flags;  // name without dashes, value; "true" for a bare flag
  std::vector<std::string> findings;                       // what is left out, unknown or assumed
  // Of a training log: the median time of an iteration, over so many lines of it; 0: no log, or no line but that of the
  // first iteration, whose time is `measured_first`.
  Nanoseconds measured_iteration = 0;
  std::size_t measured_lines = 0;
  Nanoseconds measured_first = 0;
  std::optional<BubbleBounds> measured_bubble;  // of the pipeline, the medians over these lines
};

// "379.0 ms per iteration, the median of 4 lines of the log; bubble of the pipeline 31.2 %"; "" where nothing was.
[[nodiscard]] std::string measured_words(const MegatronScenario& scenario);

// `text`: a launch script, a list of arguments, or a training log, which has all arguments in a block: of those only
// the ones that matter are named when they are left out. Throws InputError P010 where the text has no arguments, F001
// where it does not say how large the model is.
[[nodiscard]] MegatronScenario read_megatron(const std::string& text, const std::string& name);

// The same with what is said about the script beside its text. Throws P030 where it depends on more than that.
[[nodiscard]] MegatronScenario read_megatron(const std::string& text, const std::string& name,
                                             const LaunchGiven& given);

// The same of a launch that is read already.
[[nodiscard]] MegatronScenario megatron_scenario(const MegatronLaunch& launch, const std::string& name,
                                                 const LaunchGiven& given = {});

// The scenario as a file for --config.
[[nodiscard]] std::string write_scenario(const MegatronScenario& scenario, const std::string& name);
// Its lines behind the first: what was found as notes, and the flags.
[[nodiscard]] std::string scenario_lines(const std::vector<std::pair<std::string, std::string>>& flags,
                                         const std::vector<std::string>& findings);

}  // namespace debubble
