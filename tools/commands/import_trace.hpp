// debubble import --from kineto|nsys|records: recorded GPU work, attributed to layers and phases.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/core/profile.hpp"
#include "tools/flags/attribution_flags.hpp"
#include "tools/output/output.hpp"

namespace CLI {
class App;
}

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

void add_model_flags(CLI::App& verb, ModelFlags& flags);

// Reads the files, one rank or several each; writes the profile, the explanation, or both; notes and the sum go to
// stderr. Throws InputError (C012 and C087 for the flags) and what the readers throw.
int import_traces(const TraceImportFlags& flags);

}  // namespace debubble
