// debubble import --from kineto|nsys|records: recorded GPU work, attributed to layers and phases.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/importers/layer_guess.hpp"
#include "profiler/records/record.hpp"
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

// Recordings of any kind, each fed to the attribution as streams of records.
class TraceSource {
 public:
  virtual ~TraceSource() = default;
  // How many streams it holds: one per process.
  [[nodiscard]] virtual std::size_t streams() const { return 1; }
  // Feeds a stream; false when its end is missing. May be asked for the same one twice.
  virtual bool replay(std::size_t stream, RecordSink& sink) = 0;
  [[nodiscard]] virtual std::optional<LayerGuess> guess_layers() const { return std::nullopt; }
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
};

// Whether a file of this kind can hold more than one stream.
[[nodiscard]] bool holds_several(const std::string& from);

// "kineto", "nsys" or "records"; throws InputError for a file that cannot be read or is not one of these.
[[nodiscard]] std::unique_ptr<TraceSource> open_trace(const std::string& from, const std::string& path);

}  // namespace debubble
