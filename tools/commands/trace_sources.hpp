// Recordings of any kind, each fed to the attribution as streams of records.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/importers/layer_guess.hpp"
#include "profiler/records/record.hpp"

namespace debubble {

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
