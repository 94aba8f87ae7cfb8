// Arguments of programs that start Megatron-LM, as Megatron-LM's: their names, and defaults of their own. The sources
// are ms-swift 4.6.0 (megatron/arguments/megatron_args.py, and mcore-bridge 1.6.5 for the model) and verl 0.9.1
// (trainer/config, workers/engine/megatron and fsdp, utils/seqlen_balancing.py).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace debubble {

struct WrapperWords {
  std::vector<std::string> words;  // Megatron-LM's
  std::vector<std::string> notes;
  std::string refused;  // what of it is not modelled (F033), and what is
  std::string help;
  std::int64_t ranks = 0;  // in all; 0: not said
};

// "--micro_batch_size 2 --sequence_parallel true" of `megatron sft` and `megatron pt`.
[[nodiscard]] WrapperWords swift_words(const std::vector<std::string>& given);

// "actor_rollout_ref.actor.megatron.tensor_model_parallel_size": "2". One update of the actor, or a step of its
// supervised training where the keys are those of verl.trainer.sft_trainer.
[[nodiscard]] WrapperWords verl_words(const std::map<std::string, std::string>& values);
// The keys of a command line: "key=value", "+key=value".
[[nodiscard]] std::map<std::string, std::string> verl_values(const std::vector<std::string>& given);

}  // namespace debubble
