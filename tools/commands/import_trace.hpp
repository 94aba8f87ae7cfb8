// debubble import --from kineto|nsys|records: recorded GPU work, attributed to layers and phases.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenario/request/flag.hpp"
#include "sim/core/profile.hpp"
#include "tools/flags/attribution_flags.hpp"
#include "tools/output/output.hpp"

namespace debubble {

// What the profile says about the model and no recording knows.
struct ModelFlags {
  std::string model;
  std::string dtype;
  std::optional<int> microbatch;
  std::optional<int> sequence;
  std::vector<std::string> hooks;  // files of debubble_hooks, one per rank
};

struct TraceImportFlags {
  std::string from;
  std::vector<std::string> files;
  AttributionFlags attribution;
  ModelFlags model;
  OutputFlags output;
  bool output_given = false;
};

// The flags that only traces have: how they are attributed, and what no recording knows.
[[nodiscard]] FlagRows trace_rows(TraceImportFlags& flags);

// Reads the files, one rank or several each; writes the profile, the explanation, or both; notes and the sum go to
// stderr. Throws InputError (C012 and C087 for the flags) and what the readers throw.
int import_traces(const TraceImportFlags& flags);

}  // namespace debubble
