// torchtitan's command line since 0.3 (python -m torchtitan.train, behind it):
//
//     --module llama3 --config llama3_8b --parallelism.pipeline_parallel_degree 4 ... activation-checkpoint:full
#pragma once

#include <string>
#include <string_view>

namespace debubble {

// The arguments as a configuration in JSON, which read_torchtitan takes; empty where the text is no list of arguments.
// Throws InputError P031 where a shell cannot read it.
[[nodiscard]] std::string titan_arguments_as_json(std::string_view text, const std::string& name);

}  // namespace debubble
