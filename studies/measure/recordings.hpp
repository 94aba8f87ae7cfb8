// Recordings: what the processes of a measured program left in a folder, and the profile they make together.
//
//     rank0-4711.dbrec  rank1-4712.dbrec      records, one file per process
//     hooks-0-4711.json ...                   sizes from debubble_hooks
//     trouble-4711.txt ...                    why a process could not be recorded
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "profiler/attribution/attribution.hpp"
#include "sim/core/error.hpp"

namespace debubble {

// The folder for one measurement. Without a name it is a temporary one and goes when this does.
class RecordFolder {
 public:
  // Throws InputError (C050) when `keep` holds files already or cannot be made.
  explicit RecordFolder(const std::string& keep);
  ~RecordFolder();
  RecordFolder(const RecordFolder&) = delete;
  RecordFolder& operator=(const RecordFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool temporary_;
};

struct Recordings {
  std::vector<std::filesystem::path> records;
  std::vector<std::filesystem::path> sizes;
  std::vector<Diagnostic> troubles;  // of all processes, each once
};

// Everything in the folder, by name.
[[nodiscard]] Recordings find_recordings(const std::filesystem::path& folder);

// Attributes all of them as one profile, or those of one rank. A damaged file counts as far as it can be read, with a
// note. Throws UnavailableError (what a process itself complained of, else U041: nothing recorded, or no GPU work;
// U011: records that make no sense) and InputError (A002 with advice when no range is a layer, C012 when no recording
// is of this rank). `on_cpu`: layers are timed on the CPU, and what is missing is said of it (nothing_timed.hpp).
[[nodiscard]] Attribution attribute(const Recordings& recordings, const AttributionRules& rules,
                                    const std::vector<std::string>& program, const std::optional<int>& rank,
                                    bool on_cpu);

}  // namespace debubble
