// What a configuration of torchtitan says of its pipeline, and what torchtitan and PyTorch's schedule classes refuse.
#pragma once

#include <cstdint>

#include "formats/frameworks/framework_scenario.hpp"
#include "formats/rules/rule_facts.hpp"

namespace debubble {

struct TitanPipeline {
  std::int64_t ranks = 1;
  std::int64_t samples = 1;  // of a data-parallel rank in one run of the pipeline
  std::int64_t runs = 1;     // of the pipeline in a step
  std::int64_t layers = 0;   // blocks of the model; 0: not known
};

// The first of [parallelism], [experimental] and [training] that has the key: files of 2024 keep degrees in the latter.
[[nodiscard]] std::string titan_path(ConfigTree& tree, const std::string& key);

// Sets microbatches, schedule, chunks and partition, and what the rules of torchtitan and PyTorch are about. P012 for
// parts of the model that no stages are, P011 for an unknown schedule.
void read_titan_pipeline(ConfigTree& tree, const TitanPipeline& pipeline, FrameworkScenario& scenario,
                         RuleFacts& facts);

}  // namespace debubble
