// The last step of a measurement: from three measured layers to the profile of the whole model.
#pragma once

#include <map>
#include <string>

#include "profiler/attribution/attribution.hpp"
#include "profiler/measurement/session.hpp"
#include "profiler/measurement/session_steps.hpp"

namespace debubble {

// What CUPTI cannot see of the three layers: kind, parameters, bytes kept. By layer name.
[[nodiscard]] std::map<std::string, LayerFacts> layer_facts(TransformerModel& model);

// Makes the measured layers "embedding", "block" and "head" into a model: embedding, block.0 to block.N-1, head. Fills
// in model, sizes and origin. A gradient pass that launched nothing (an embedding has no input gradient) takes 0 ns.
void complete_profile(Attribution& attribution, const SessionOptions& options, const DeviceFacts& facts,
                      const WarmUp& warm_up);

// How the times were taken, one paragraph.
[[nodiscard]] std::string method_text(const SessionOptions& options, const WarmUp& warm_up);

// "2026-11-20", of now, UTC.
[[nodiscard]] std::string today();

}  // namespace debubble
