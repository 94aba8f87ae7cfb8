// The arguments of Megatron-LM, Megatron-DeepSpeed and the forks that scripts in public use, by name: how many values
// each takes, and whether it changes what a step takes in time or memory.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace debubble {

enum class ArgumentEffect {
  kUsed,     // becomes part of the scenario
  kNamed,    // changes time or memory, and is not modelled: named when it is given
  kNothing,  // learning, data, files, logs, names of implementations that do the same sums
};

enum class ArgumentValues { kNone, kOne, kMany };

struct ArgumentRow {
  ArgumentEffect effect = ArgumentEffect::kNamed;
  ArgumentValues values = ArgumentValues::kOne;
  std::string_view reason{};  // of kNamed: what is not modelled
};

// Nothing for a name that is not known. Without dashes in front, with dashes inside.
[[nodiscard]] std::optional<ArgumentRow> megatron_argument(const std::string& name);

// Today's name of an older one; the name itself where there is none.
[[nodiscard]] std::string todays_name(const std::string& name);

// The known name that is nearest to a misspelt or shortened one; "" where none is near.
[[nodiscard]] std::string nearest_argument(const std::string& name);

}  // namespace debubble
