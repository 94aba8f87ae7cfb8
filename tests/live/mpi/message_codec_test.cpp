// What ranks tell each other arrives as it was written.
#include "live/mpi/device_run_codec.hpp"
#include "live/mpi/device_status_codec.hpp"
#include "live/mpi/failure.hpp"
#include "live/mpi/frame.hpp"
#include "live/mpi/message_passing.hpp"
#include "tests/support/engine_run.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

namespace debubble::live {
namespace {

Message message_with(std::size_t payload_bytes) {
  Message message{Message::Kind::kPayload, {true, 3, 17}, 2, 5, 0xFEDCBA9876543210U, 42, 1'000'000'007, -3, {}};
  for (std::size_t k = 0; k < payload_bytes; ++k) message.payload.push_back(static_cast<std::byte>(k * 7));
  return message;
}

bool same(const Message& a, const Message& b) {
  return a.kind == b.kind && a.tensor == b.tensor && a.iteration == b.iteration && a.from == b.from &&
         a.chain == b.chain && a.checksum == b.checksum && a.time == b.time && a.arrival == b.arrival &&
         a.payload == b.payload;
}

TEST_CASE("A message survives its frame, whatever its payload's size") {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{1000}}) {
    const std::vector<std::byte> frame = to_frame(message_with(bytes));
    CHECK(frame.size() % MessagePassing::kBlock == 0);
    CHECK(same(from_frame(frame), message_with(bytes)));
  }
}

TEST_CASE("A frame that is cut short is refused") {
  std::vector<std::byte> frame = to_frame(message_with(1000));
  frame.resize(frame.size() - MessagePassing::kBlock);
  CHECK_THROWS_AS((void)from_frame(frame), std::logic_error);
  frame.resize(MessagePassing::kBlock);
  CHECK_THROWS_AS((void)from_frame(frame), std::logic_error);
}

TEST_CASE("A message is read as it was written, and not beyond its end") {
  MessageWriter writer;
  writer.number(-1).text("").text("rank 2 on a\nhost").number(INT64_MIN);
  MessageReader reader(writer.bytes());
  CHECK(reader.number() == -1);
  CHECK(reader.text().empty());
  CHECK(reader.text() == "rank 2 on a\nhost");
  CHECK(reader.number() == INT64_MIN);
  CHECK_THROWS_AS((void)reader.number(), std::logic_error);
}

TEST_CASE("A status that the schedule does not have is refused") {
  const Schedule schedule = testing::build("gpipe", 2, 2);
  const DeviceStatus good{3, true, Message::Kind::kPayload, {false, 0, 1}, 0};
  CHECK_NOTHROW(check(good, schedule, 1));
  std::vector<DeviceStatus> bad(6, good);
  bad[0].position = 5;
  bad[1].position = -2;
  bad[2].from = 2;
  bad[3].tensor.stage = 1;
  bad[4].tensor.piece = 2;
  bad[5].from = -1;
  for (const DeviceStatus& status : bad) CHECK_THROWS_AS(check(status, schedule, 1), std::logic_error);
}

TEST_CASE("What a device did survives its message, and can be put on another clock") {
  DeviceRun run;
  run.ops.push_back({{OpKind::kForward, true, 1, 2}, {OpKind::kBackward, false, 3, 4}, true, 5, 100, 250});
  run.transfers.push_back({{OpKind::kInputGrad, false, 6, 7}, 1, 2, 90, 100, 5, 4096});
  run.peak_activation = 11;
  run.peak_memory = 12;
  run.tensors_checked = 13;
  MessageWriter writer;
  write(writer, std::vector<DeviceRun>{run, DeviceRun{}});
  MessageReader reader(writer.bytes());
  std::vector<DeviceRun> read = live::read<std::vector<DeviceRun>>(reader);
  translate(read, [](Nanoseconds time) { return time + 1000; });
  REQUIRE(read.size() == 2);
  CHECK(read[1].ops.empty());
  const ObservedOp& op = read[0].ops.at(0);
  CHECK(op.op == run.ops[0].op);
  CHECK(op.partner == run.ops[0].partner);
  CHECK((op.paired && op.device == 5 && op.begin == 1100 && op.end == 1250));
  const ObservedTransfer& transfer = read[0].transfers.at(0);
  CHECK(transfer.op == run.transfers[0].op);
  CHECK((transfer.from_device == 1 && transfer.to_device == 2 && transfer.begin == 1090 && transfer.end == 1100));
  CHECK((transfer.latency == 5 && transfer.bytes == 4096));
  CHECK((read[0].peak_activation == 11 && read[0].peak_memory == 12 && read[0].tensors_checked == 13));
}

TEST_CASE("A failure is raised again elsewhere with its kind and words") {
  const auto sent = [](auto error) {
    const Failure failure = failure_of(std::make_exception_ptr(error), "rank 2 on b");
    MessageWriter writer;
    write(writer, failure);
    MessageReader reader(writer.bytes());
    return live::read<Failure>(reader);
  };
  CHECK_THROWS_WITH_AS(raise(sent(WrongDataError("1F3 got 0F2"))), "1F3 got 0F2", WrongDataError);
  CHECK_THROWS_WITH_AS(raise(sent(InputError(Diagnostic{"L006", "here", "too long", "shorten"}))),
                       doctest::Contains("error[L006]: too long"), InputError);
  CHECK_THROWS_WITH_AS(raise(sent(UnavailableError(Diagnostic{"U021", "", "no GPU", "add one"}))),
                       doctest::Contains("error[U021]: rank 2 on b: no GPU"), UnavailableError);
  CHECK_THROWS_WITH_AS(raise(sent(std::bad_alloc())),
                       doctest::Contains("error[U051]: rank 2 on b has not enough memory"), UnavailableError);
  CHECK_THROWS_WITH_AS(raise(sent(std::runtime_error("odd"))), "rank 2 on b: odd", std::runtime_error);
}

TEST_CASE("A place is told in words") {
  Schedule schedule;
  schedule.rows = {{{OpKind::kForward, false, 0, 0}, {OpKind::kForward, false, 0, 1}}};
  CHECK(place_of(schedule, 0, {1, false, {}, {}, 0}) == "at 0F1, op 2 of 2 of device 0, at work");
  CHECK(place_of(schedule, 0, {-1, false, {}, {}, 0}) == "past the last op of device 0");
  const DeviceStatus waits{0, true, Message::Kind::kPayload, {true, 0, 3}, 1};
  MessageWriter writer;
  write(writer, waits);
  MessageReader reader(writer.bytes());
  CHECK(place_of(schedule, 0, live::read<DeviceStatus>(reader)) ==
        "at 0F0, op 1 of 2 of device 0, waiting for the gradient 1B3 of device 1");
}

}  // namespace
}  // namespace debubble::live
