#include "profiler/cupti/record_stream.hpp"

#include <chrono>

#include "profiler/cupti/buffer_pool.hpp"

namespace debubble {

namespace {

constexpr std::chrono::milliseconds kLongestWait{100};

}  // namespace

RecordStream::RecordStream(const std::string& file) : ranges_(queue_), file_(file), writer_([this] { run(); }) {}

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
    if (last) file_.close();
    queue_.done(flushes);
  }
}

void RecordStream::write(EventBatch& batch) {
  batch.replay(file_);
  ActivityDecoder* const decoder = decoder_;
  for (const FullBuffer& buffer : batch.buffers) {
    if (decoder != nullptr) decoder->decode(buffer.data, buffer.valid, file_);
    BufferPool::instance().give_back(buffer.data, buffer.valid);
  }
  ranges_.report(file_);
  file_.flush();
}

}  // namespace debubble
