// How plans against published layouts are shown: as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "studies/accuracy/published_plans.hpp"
#include "tools/views/style.hpp"

namespace debubble {

[[nodiscard]] std::string plans_text(const std::vector<PlannedSource>& sources, const ViewStyle& style);
[[nodiscard]] std::string plans_json(const std::vector<PlannedSource>& sources, const std::string& command_line);

// "gpt3-175b on 64 GPUs, 64 samples of 2048 tokens".
[[nodiscard]] std::string job_title(const PublishedJob& job);
// "tp 4, pp 8; 1f1b; ...: step 12.60 s, memory 74.8 GiB, 3.75 GiB to spare".
[[nodiscard]] std::string plan_line(const PlannedRun& run);
// "0.92" of two step times; "" where one is missing.
[[nodiscard]] std::string plan_ratio(const std::optional<PlannedRun>& run, const PublishedLayout& layout);
// "12.60 s", or why there is none.
[[nodiscard]] std::string simulated_step(const PublishedLayout& layout);
// "full recomputation, ZeRO-1, sequence parallel": what a layout and its best alike share.
[[nodiscard]] std::string layout_kind(const PublishedLayout& layout);
// The best plans of each kind of the layouts, each once: "as published otherwise (full recomputation, ZeRO-1)".
struct AlikePlan {
  std::string kind;
  PlannedRun run;
};
[[nodiscard]] std::vector<AlikePlan> alike_plans(const PublishedJob& job);
// How much the search proves: "110532 ways to run it, 80 of them simulated; nothing is faster by more than 0.96 %".
[[nodiscard]] std::string plan_certainty(const PublishedJob& job);

}  // namespace debubble
