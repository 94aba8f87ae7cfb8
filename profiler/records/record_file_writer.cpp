#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string_view>

#include "formats/files/system_reason.hpp"
#include "profiler/records/record_encoder.hpp"
#include "profiler/records/record_file.hpp"
#include "profiler/records/record_format.hpp"
#include "sim/core/error.hpp"

namespace debubble {

struct RecordFileWriter::State {
  int descriptor = -1;
  RecordEncoder encoder;
  std::atomic<bool> failed = false;  // asked for by other threads
};

namespace {

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

RecordFileWriter::RecordFileWriter(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    throw InputError({"C051", path, "the record file cannot be made: " + system_reason(errno),
                      "name a folder that exists and may be written"});
  }
  state_ = std::make_unique<State>();
  state_->descriptor = descriptor;
  if (!write_all(descriptor, record_format::kMagic)) state_->failed = true;
}

RecordFileWriter::~RecordFileWriter() { close(); }

void RecordFileWriter::close() {
  if (state_->descriptor < 0) return;
  state_->encoder.end();
  flush();
  ::close(state_->descriptor);
  state_->descriptor = -1;
}

void RecordFileWriter::flush() {
  if (state_->encoder.pending() == 0) return;
  // After a failed write the file ends in half a chunk; nothing may follow it.
  const bool open = state_->descriptor >= 0;
  if (open && !state_->failed && !write_all(state_->descriptor, state_->encoder.chunk())) state_->failed = true;
  state_->encoder.restart();
}

void RecordFileWriter::abandon() {
  if (state_->descriptor >= 0) ::close(state_->descriptor);
  state_->descriptor = -1;
  state_->failed = true;
}

bool RecordFileWriter::failed() const { return state_->failed; }

template <class Record>
void RecordFileWriter::add(const Record& record) {
  state_->encoder.on(record);
  if (state_->encoder.pending() > record_format::kChunkTarget) flush();
}

void RecordFileWriter::on(const RangePush& record) { add(record); }
void RecordFileWriter::on(const RangePop& record) { add(record); }
void RecordFileWriter::on(const LinkRecord& record) { add(record); }
void RecordFileWriter::on(const LaunchRecord& record) { add(record); }
void RecordFileWriter::on(const KernelRecord& record) { add(record); }
void RecordFileWriter::on(const MemoryRecord& record) { add(record); }
void RecordFileWriter::on(const OverheadRecord& record) { add(record); }
void RecordFileWriter::on(const ClockRecord& record) { add(record); }
void RecordFileWriter::on(const SwitchRecord& record) { add(record); }
void RecordFileWriter::on(const FactRecord& record) { add(record); }
void RecordFileWriter::on(const LossRecord& record) { add(record); }

}  // namespace debubble
