// The queue in front of the writer thread: bounded, and nobody waits for a writer that is gone.
#include <chrono>

#include "profiler/cupti/buffer_pool.hpp"
#include "profiler/cupti/event_queue.hpp"
#include "profiler/cupti/record_stream.hpp"
#include "tests/recording/recorded_run.hpp"
#include "tests/recording/scratch.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

using testing::Scratch;
using testing::Tally;

TEST_CASE("ranges and facts are refused when the texts that wait are too long, and taken again once written") {
  RecordQueue queue(1000);
  const std::string half(500, 'x');
  CHECK(queue.push(7, half) == 1);
  CHECK(queue.push(7, half) == 2);
  CHECK(queue.push(7, "one more") == 0);
  queue.add(FactRecord{"key", "value"});
  queue.pop(7);
  CHECK(queue.take_refused_facts() == 1);
  CHECK(queue.take_refused_facts() == 0);
  EventBatch batch;
  queue.take(batch, std::chrono::milliseconds(0));
  CHECK(batch.events.size() == 3);
  CHECK(batch.texts.size() == 1000);
  CHECK(queue.push(7, "one more") == 3);
  CHECK(queue.push(7, std::string(1001, 'x')) == 0);
}

TEST_CASE("a flush does not wait for a writer that has ended") {
  RecordQueue queue;
  queue.push(7, "never written");
  queue.end();
  queue.flush();
  const Scratch scratch;
  RecordStream stream(scratch.path("a.dbrec"));
  stream.close();
  stream.flush();
}

TEST_CASE("what fails on a thread of ours is counted in the file") {
  const Scratch scratch;
  const std::string path = scratch.path("a.dbrec");
  RecordStream stream(path);
  for (int i = 0; i < 3; ++i) stream.attempt([] { throw std::runtime_error("no memory, for one"); });
  stream.ranges().push("after", nullptr);
  stream.ranges().pop(nullptr);
  stream.close();
  Tally tally;
  tally.end = read_record_file(path, tally);
  CHECK(tally.end.complete);
  CHECK(tally.losses.at("writer_failures") == 3);
  CHECK(tally.range_names.at("after") == 1);
}

TEST_CASE("a decoder that throws loses its buffer, not the file") {
  const Scratch scratch;
  const std::string path = scratch.path("a.dbrec");
  RecordStream stream(path);
  const auto next = [](std::uint8_t*, std::size_t, cupti_abi::Activity**) -> cupti_abi::Result {
    throw std::runtime_error("no memory");
  };
  ActivityDecoder decoder(next, 130001, [](std::uint32_t, const std::string&) {});
  stream.decode_with(&decoder);
  std::uint8_t* const buffer = BufferPool::instance().take(true);
  REQUIRE(buffer != nullptr);
  stream.queue().add(FullBuffer{buffer, 64});
  stream.flush();
  stream.ranges().push("after", nullptr);
  stream.ranges().pop(nullptr);
  stream.close();
  Tally tally;
  tally.end = read_record_file(path, tally);
  CHECK(tally.end.complete);
  CHECK(tally.losses.at("writer_failures") == 1);
  CHECK(tally.range_names.at("after") == 1);
  CHECK(BufferPool::instance().take(true) == buffer);  // it came back
  BufferPool::instance().give_back(buffer, 0);
}

}  // namespace
}  // namespace debubble
