// `debubble explain step`: what it found, for people.
#pragma once

#include <string>
#include <vector>

#include "studies/explain/improvements.hpp"
#include "studies/simulate/simulate.hpp"
#include "tools/views/advice.hpp"
#include "tools/views/explain/step_story.hpp"
#include "tools/views/style.hpp"

namespace debubble {

struct StepStory {
  std::vector<PathGroup> path;
  std::vector<PathShare> shares;
  Limit limit;
  Advice advice;
  std::vector<std::string> also;          // other limits: memory, uneven devices, collectives inside stages
  std::vector<Improvement> improvements;  // all that help
};

// Of a run with a result.
[[nodiscard]] StepStory story_of_step(const ImprovementBase& base, const AdviceContext& context);

[[nodiscard]] std::string step_story_text(const StepStory& story, const Simulated& run, const ViewStyle& style);

}  // namespace debubble
