// The cpu backend's watchdog and calibration: what counts as silence, what is kept when things go wrong, and that long
// ops take no longer to calibrate than short ones.
#include "live/backends.hpp"
#include "live/cpu/calibration.hpp"
#include "live/cpu/fabric.hpp"
#include "live/cpu/first_error.hpp"
#include "live/cpu/time_limits.hpp"
#include "live/device_runner.hpp"
#include "tests/live/agreement.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

constexpr Nanoseconds kSecond = 1'000'000'000;

live::LiveRequest work_of(const Schedule& schedule, Nanoseconds op, live::Clock clock, Nanoseconds hop = 0) {
  StageCosts costs;
  costs.stages.assign(static_cast<std::size_t>(schedule.stages), {});
  for (StageCost& cost : costs.stages) cost.forward = cost.backward = op;
  live::LiveRequest request = request_for(schedule, costs, {hop, 0}, P2p::kOverlapped);
  request.clock = clock;
  return request;
}

// Does no work.
class IdleWorker final : public live::Worker {
 public:
  void start(live::Ledger&) override {}
  void begin(const Op&) override {}
  live::Payload work(const Op&, std::span<const std::byte>) override { return live::Payload(4); }
  void end(const Op&) override {}
};

// Loops back: device 1 gets what the test hands it, arriving in a year.
class SlowLink final : public live::Transport {
 public:
  void send(std::int32_t, live::Message) override {}
  live::Message receive(live::Message::Kind kind, const live::Tensor& tensor, std::int32_t from,
                        std::int32_t iteration) override {
    live::Message message;
    message.kind = kind;
    message.tensor = tensor;
    message.from = from;
    message.iteration = iteration;
    message.chain = live::expected_chain(schedule, tensor, iteration);
    message.payload = live::Payload(4);
    message.checksum = live::checksum_of(message.payload) ^ (wrong_bytes ? 1 : 0);
    message.arrival = year_long ? 365 * 24 * 3600 * kSecond : 0;
    return message;
  }
  void at(std::int32_t) override {}
  void barrier() override {}
  // After a few looks.
  [[nodiscard]] bool stopped() const override { return year_long && ++looks > 3; }

  Schedule schedule = build("gpipe", 2, 2);
  bool year_long = false;
  bool wrong_bytes = false;
  mutable int looks = 0;
};

void run_on(SlowLink& link, const live::LiveRequest& request, int iteration) {
  const live::Job job(request);
  IdleWorker worker;
  live::DeviceRunner runner(job, 1, link, worker, [] { return Nanoseconds{0}; });
  (void)runner.run(iteration);
}

}  // namespace

TEST_CASE(
    "silence is as long as patience, or as a slow machine with its longest op, and its longest link on the wall "
    "clock") {
  const Schedule schedule = build("1f1b", 2, 2);
  CHECK_EQ(live::watchdog_timeout(live::Job(work_of(schedule, 1000, live::Clock::kWall)), false), 10 * kSecond);
  CHECK_EQ(live::watchdog_timeout(live::Job(work_of(schedule, kSecond, live::Clock::kWall)), false), 20 * kSecond);
  CHECK_EQ(live::watchdog_timeout(live::Job(work_of(schedule, 1000, live::Clock::kWall, 15 * kSecond)), false),
           25 * kSecond);
  live::LiveRequest impatient = work_of(schedule, 1000, live::Clock::kWall, 2 * kSecond);
  impatient.patience = kSecond;
  CHECK_EQ(live::watchdog_timeout(live::Job(impatient), false), 3 * kSecond);
  CHECK_EQ(live::watchdog_timeout(live::Job(impatient), true), kSecond);
  impatient.clock = live::Clock::kLogicalCpuTime;  // messages carry their time, nobody waits for it
  CHECK_EQ(live::watchdog_timeout(live::Job(impatient), false), kSecond);
}

TEST_CASE("an op that takes longer than people's patience is not stuck") {
  const Schedule schedule = build("gpipe", 1, 1);
  live::LiveRequest request = work_of(schedule, 300'000'000, live::Clock::kLogicalCpuTime);
  request.patience = 1;
  const live::LiveResult result = live::run_on_cpu(request, {});
  CHECK_FALSE(result.stall.has_value());
  CHECK_EQ(result.iterations.size(), 1);
}

TEST_CASE(
    "a device that does nothing for longer than its work can explain is reported, with the place where it stood") {
  const Schedule schedule = build("1f1b", 2, 64);
  live::LiveRequest request = work_of(schedule, 1, live::Clock::kLogicalCpuTime);
  for (StageCost& cost : request.costs.stages) cost.output = Bytes{1} << 24;  // to hash: far longer than 20 ns
  request.patience = 1;
  const live::LiveResult result = live::run_on_cpu(request, {});
  REQUIRE(result.stall.has_value());
  CHECK_EQ(result.stall->cause, "no progress for 0 s");
  REQUIRE_EQ(result.stall->devices.size(), 2);
  CHECK_FALSE(result.stall->devices[0].finished);
  CHECK(result.iterations.empty());
}

TEST_CASE("after a stop a device at work keeps the place where it stood") {
  live::Fabric fabric(2, 4, false);
  live::Transport& transport = fabric.transport(0);
  transport.at(3);
  CHECK_FALSE(transport.stopped());
  fabric.stop();
  CHECK(transport.stopped());
  CHECK_THROWS_AS(transport.at(4), live::Stalled);
  CHECK_EQ(fabric.status()[0].position, 3);
}

TEST_CASE("who waits for an emulated link ends when the run is stopped") {
  SlowLink link;
  link.year_long = true;
  CHECK_THROWS_AS(run_on(link, work_of(link.schedule, 1000, live::Clock::kWall), 0), live::Stalled);
  CHECK_EQ(link.looks, 4);
}

TEST_CASE("on the wall clock the bytes of tensors are hashed in the warm-up only, elsewhere always") {
  SlowLink link;
  link.wrong_bytes = true;
  live::LiveRequest request = work_of(link.schedule, 1000, live::Clock::kWall);
  CHECK_THROWS_AS(run_on(link, request, 0), live::WrongDataError);  // without a warm-up, in the first
  CHECK_NOTHROW(run_on(link, request, 1));
  request.warm_up = 2;
  CHECK_THROWS_AS(run_on(link, request, 1), live::WrongDataError);
  CHECK_NOTHROW(run_on(link, request, 2));
  request.clock = live::Clock::kLogicalGiven;
  CHECK_THROWS_AS(run_on(link, request, 2), live::WrongDataError);
}

TEST_CASE("of several errors the first in time is told") {
  live::FirstError errors;
  CHECK_NOTHROW(errors.rethrow());
  errors.keep(std::make_exception_ptr(std::runtime_error("first")));
  errors.keep(std::make_exception_ptr(std::logic_error("second")));
  CHECK_THROWS_WITH_AS(errors.rethrow(), "first", std::runtime_error);
}

TEST_CASE("an op of an hour is calibrated in seconds") {
  const Schedule schedule = build("gpipe", 1, 1);
  const live::LiveRequest request = work_of(schedule, 3600 * kSecond, live::Clock::kLogicalCpuTime);
  const live::Job job(request);
  live::CpuWorker worker(job, 0, live::choose_shape(job), live::MatmulLibrary::best());
  const Nanoseconds before = live::thread_cpu_time();
  const live::MeasuredTimes times = live::calibrate(job, 0, worker, live::thread_cpu_time);
  CHECK(live::thread_cpu_time() - before < 120 * kSecond);  // about one
  REQUIRE_EQ(times.size(), 2);
  for (const auto& [key, time] : times) {
    CHECK(time > 900 * kSecond);
    CHECK(time < 4 * 3600 * kSecond);
  }
}

TEST_CASE("an op that is calibrated by a part of its rows then takes about its time") {
  const Schedule schedule = build("gpipe", 1, 1);
  live::LiveRequest request = work_of(schedule, 200'000'000, live::Clock::kLogicalCpuTime);
  request.costs.stages[0].activation = request.costs.stages[0].output = Bytes{1} << 24;
  const live::LiveResult result = live::run_on_cpu(request, {});
  REQUIRE_EQ(result.iterations.size(), 1);
  for (const Span& span : result.iterations[0].timeline.spans) {
    CHECK(span.end - span.begin > 50'000'000);
    CHECK(span.end - span.begin < 800'000'000);
  }
}

TEST_CASE("a run that takes minutes says so before it begins") {
  const Schedule schedule = build("gpipe", 2, 4);
  const auto text = [&](Nanoseconds op, int repetitions, int cores) {
    live::LiveRequest request = work_of(schedule, op, live::Clock::kWall);
    request.repetitions = repetitions;
    return live::calibration_text(live::Job(request), cores);
  };
  CHECK_EQ(text(1000, 5, 4), "calibrating");
  CHECK_EQ(text(kSecond, 15, 4), "calibrating, then at least 2 min of work");
  CHECK_EQ(text(kSecond, 15, 1), "calibrating, then at least 4 min of work");
  CHECK_EQ(text(kSecond, 150, 4), "calibrating, then at least 20 min of work; --clock logical is quick");
  CHECK_EQ(text(3600 * kSecond, 6, 4), "calibrating, then at least 48 h of work; --clock logical is quick");
  std::vector<std::string> told;
  live::LiveRequest request = work_of(schedule, 100'000, live::Clock::kLogicalCpuTime);
  (void)live::run_on_cpu(request, [&](int, int, const std::string& what) { told.push_back(what); });
  REQUIRE_FALSE(told.empty());
  CHECK_EQ(told.front(), "calibrating");
}
