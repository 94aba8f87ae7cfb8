#include "profiler/cupti/record_stream.hpp"

#include <chrono>

#include "profiler/cupti/buffer_pool.hpp"
#include "profiler/cupti/no_signals.hpp"

namespace debubble {

namespace {

constexpr std::chrono::milliseconds kLongestWait{100};

}  // namespace

RecordStream::RecordStream(const std::string& file) : ranges_(queue_), file_(file) {
  const NoSignals blocked;
  writer_ = std::thread([this] { run(); });
}

RecordStream::~RecordStream() { close(); }

void RecordStream::close() {
  if (!writer_.joinable()) return;
  queue_.close();
  writer_.join();
}

void RecordStream::run() {
  EventBatch batch;
  for (bool last = false; !last;) {
    last = queue_.closed();  // asked before: what was queued until then is taken below
    const std::uint64_t flushes = queue_.take(batch, kLongestWait);
    write(batch);
    batch.clear();
    if (last) attempt([&] { file_.close(); });
    queue_.done(flushes);
  }
  queue_.end();
}

// What fails is lost and counted; the rest is written all the same.
void RecordStream::write(EventBatch& batch) {
  attempt([&] { batch.replay(file_); });
  ActivityDecoder* const decoder = decoder_;
  for (const FullBuffer& buffer : batch.buffers) {
    if (decoder != nullptr) attempt([&] { decoder->decode(buffer.data, buffer.valid, file_); });
    BufferPool::instance().give_back(buffer.data, buffer.valid);
  }
  attempt([&] { report_losses(); });
  attempt([&] { file_.flush(); });
}

void RecordStream::report_losses() {
  ranges_.report(file_);
  if (const std::int64_t count = queue_.take_refused_facts(); count > 0) file_.on(LossRecord{"refused_facts", count});
  if (const std::int64_t count = failures_.exchange(0); count > 0) file_.on(LossRecord{"writer_failures", count});
}

}  // namespace debubble
