// What a plan may recompute: nothing, attention's core, every block, or every block of the first stages only, which
// hold most under 1F1B.
#pragma once

#include <string>
#include <vector>

namespace debubble {

struct RecomputeMode {
  int word = 0;        // of kRecomputeWords
  std::string stages;  // "0-2": on these only; empty: on all
};

// Those that --fix and --only name ("none", "full", "full:0-2"); where they name none (null), all words, and every
// block of the first half as many stages as devices. Throws InputError C002 and C012 for what is none.
[[nodiscard]] std::vector<RecomputeMode> recompute_modes(const std::vector<std::string>* named, int devices,
                                                         const std::string& place);

}  // namespace debubble
