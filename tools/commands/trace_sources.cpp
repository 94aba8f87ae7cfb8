#include "tools/commands/trace_sources.hpp"

#include <cstdint>

#include "formats/files/file_roles.hpp"
#include "formats/files/read_file.hpp"
#include "formats/files/sqlite_file.hpp"
#include "profiler/importers/kineto.hpp"
#include "profiler/importers/nsys.hpp"
#include "profiler/records/record_file.hpp"

namespace debubble {
namespace {

class KinetoSource : public TraceSource {
 public:
  explicit KinetoSource(const std::string& path) : trace_(read_text_file(path, "FILE", kMostRecordingBytes), path) {}
  bool replay(std::size_t, RecordSink& sink) override {
    trace_.replay(sink);
    return true;
  }
  [[nodiscard]] std::optional<LayerGuess> guess_layers() const override { return trace_.guess_layers(); }
  [[nodiscard]] std::vector<std::string> notes() const override { return trace_.notes(); }

 private:
  KinetoTrace trace_;
};

class NsysSource : public TraceSource {
 public:
  explicit NsysSource(const std::string& path) : file_(path), export_(file_) {}
  [[nodiscard]] std::size_t streams() const override { return export_.processes().size(); }
  bool replay(std::size_t stream, RecordSink& sink) override {
    export_.replay(export_.processes()[stream], sink);
    return true;
  }
  [[nodiscard]] std::vector<std::string> notes() const override { return export_.notes(); }

 private:
  SqliteFile file_;
  NsysExport export_;
};

class RecordsSource : public TraceSource {
 public:
  explicit RecordsSource(std::string path) : path_(std::move(path)) {}
  bool replay(std::size_t, RecordSink& sink) override {
    claim_input_path(path_, path_);
    const RecordFileEnd end = read_record_file(path_, sink);
    complete_ = end.complete;
    return end.complete;
  }
  [[nodiscard]] std::vector<std::string> notes() const override {
    if (complete_) return {};
    return {"the file is cut off: the program was killed, or is still running"};
  }

 private:
  std::string path_;
  bool complete_ = true;
};

}  // namespace

bool holds_several(const std::string& from) { return from == "nsys"; }

std::unique_ptr<TraceSource> open_trace(const std::string& from, const std::string& path) {
  if (from == "kineto") return std::make_unique<KinetoSource>(path);
  if (from == "nsys") return std::make_unique<NsysSource>(path);
  return std::make_unique<RecordsSource>(path);
}

}  // namespace debubble
