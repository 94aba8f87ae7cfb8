// What a plan may recompute: nothing, attention's core, every block, every block of the first stages only, which hold
// most under 1F1B, or the first blocks of each stage only.
#pragma once

#include <string>
#include <vector>

namespace debubble {

struct RecomputeMode {
  int word = 0;          // of kRecomputeWords
  std::string stages{};  // "0-2": on these only; empty: on all
  int first = 0;         // the first so many blocks of each stage; 0: all of them
  // As few of the first blocks of each stage as it takes: where a choice that recomputes nothing does not fit.
  bool fewest = false;

  friend bool operator==(const RecomputeMode&, const RecomputeMode&) = default;
};

// Those that --fix and --only name ("none", "full", "full:0-2", "full:first:4", "full:first" for the fewest); where
// they name none (null), all words, every block of the first half as many stages as devices, and the fewest. Throws
// InputError C002, C004 and C012 for what is none.
[[nodiscard]] std::vector<RecomputeMode> recompute_modes(const std::vector<std::string>* named, int devices,
                                                         const std::string& place);

// What they leave out, where they are open, or the fewest blocks are among them.
void say_recompute_modes(bool open, bool fewest, std::vector<std::string>& restrictions);

}  // namespace debubble
