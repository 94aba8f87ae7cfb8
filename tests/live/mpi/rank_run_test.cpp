// A whole run of several ranks, each a thread, over messages that are no MPI: equal to the simulation where it
// completes, the same end on every rank where it does not.
#include <chrono>
#include <thread>

#include "live/mpi/agreement.hpp"
#include "live/mpi/gathered.hpp"
#include "live/mpi/rank_run.hpp"
#include "tests/live/mpi/thread_world.hpp"
#include "tests/support/engine_run.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

namespace debubble::live {
namespace {

// Does nothing, but hands on some bytes.
class IdleWorker final : public Worker {
 public:
  void start(Ledger&) override {}
  void begin(const Op&) override {}
  Payload work(const Op& op, std::span<const std::byte>) override {
    Payload payload(100, std::byte(op.microbatch));
    return payload;
  }
  void end(const Op&) override {}
};

Nanoseconds rank_run_steady() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

LiveRequest request_for(const Schedule& schedule, P2p p2p = P2p::kOverlapped) {
  LiveRequest request;
  request.schedule = schedule;
  request.costs = testing::split_costs(schedule, 1, 1, 1);
  for (StageCost& cost : request.costs.stages) {
    cost.backward = 2 * testing::kUnit;
    cost.output = 1000;
  }
  request.hop_latency = 1000;
  request.hop_bandwidth = 1'000'000'000;
  request.p2p = p2p;
  return request;
}

RankResult all_iterations(const Job& job, int device, Transport& transport, const WallClock& now) {
  IdleWorker worker;
  DeviceRunner runner(job, device, transport, worker, now);
  RankResult result;
  for (int k = 0; k < job.request().warm_up + job.request().repetitions; ++k) {
    transport.barrier();
    result.runs.push_back(runner.run(k));
  }
  result.more.number(100 + device);
  return result;
}

// Every rank's report.
std::vector<RankReport> run_all(const LiveRequest& request, bool hold = false) {
  const Job job(request);
  std::vector<RankReport> reports(static_cast<std::size_t>(request.schedule.devices));
  testing::ThreadWorld world(request.schedule.devices, hold);
  world.run([&](MessagePassing& passing) {
    ControlChannel channel(passing);
    agree(passing, channel, request, {});
    const WallClock now = [&passing] { return rank_run_steady() + passing.rank() * 1'000'000'000; };
    const auto work = [&](Transport& transport) -> RankResult {
      return all_iterations(job, passing.rank(), transport, now);
    };
    reports[static_cast<std::size_t>(passing.rank())] = run_rank(passing, channel, job, {work, now, false});
  });
  return reports;
}

// The first difference to the engine's timeline, "" when there is none.
std::string difference(const RankReport& report, const Timeline& timeline, int iteration) {
  std::map<std::tuple<std::string, Nanoseconds, Nanoseconds>, int> expected;
  for (const Transfer& t : timeline.transfers) {
    if (t.from_device != t.to_device) ++expected[{to_string(t.op), t.begin, t.end}];
  }
  for (int device = 0; device < timeline.devices; ++device) {
    const auto at = static_cast<std::size_t>(device);
    const DeviceRun& run = report.runs.at(at).at(static_cast<std::size_t>(iteration));
    const auto begin = static_cast<std::size_t>(timeline.device_begin[at]);
    if (run.ops.size() != static_cast<std::size_t>(timeline.device_begin[at + 1]) - begin) return "number of cells";
    for (std::size_t k = 0; k < run.ops.size(); ++k) {
      const Span& span = timeline.spans[begin + k];
      const ObservedOp& op = run.ops[k];
      if (op.op != span.op || op.begin != span.begin || op.end != span.end) return to_string(span.op);
    }
    for (const ObservedTransfer& t : run.transfers) --expected[{to_string(t.op), t.begin, t.end}];
  }
  for (const auto& [transfer, count] : expected) {
    if (count != 0) return "the transfer of " + std::get<0>(transfer);
  }
  return "";
}

TEST_CASE("A run of ranks equals the simulation to the nanosecond") {
  for (const std::string name : {"gpipe", "1f1b", "zb-h1", "interleaved", "chimera"}) {
    const Schedule schedule = testing::build(name, 4, 8, name == "interleaved" ? 2 : 0);
    for (const P2p p2p : {P2p::kOverlapped, P2p::kBlocking, P2p::kCoupled}) {
      LiveRequest request = request_for(schedule, p2p);
      request.repetitions = 2;
      CAPTURE(name);
      CAPTURE(testing::name_of(p2p));
      const testing::EngineRun engine =
          testing::run_engine(schedule, request.costs, {request.hop_latency, request.hop_bandwidth}, p2p);
      if (engine.deadlock.has_value()) request.patience = 200'000'000;
      const std::vector<RankReport> reports = run_all(request, name == "1f1b");
      if (engine.deadlock.has_value()) {
        CHECK(reports[0].outcome.kind == Outcome::Kind::kStalled);
        continue;
      }
      REQUIRE(reports[0].outcome.kind == Outcome::Kind::kComplete);
      CHECK(difference(reports[0], engine.timeline, 0) == "");
      CHECK(difference(reports[0], engine.timeline, 1) == "");
      for (int rank = 0; rank < 4; ++rank) {
        MessageReader more = reports[0].more.at(static_cast<std::size_t>(rank));
        CHECK(more.number() == 100 + rank);
      }
      for (std::size_t rank = 1; rank < reports.size(); ++rank) CHECK(reports[rank].runs.empty());
    }
  }
}

TEST_CASE("On the wall clock every tensor arrives before its use, on rank 0's clock") {
  LiveRequest request = request_for(testing::build("1f1b", 3, 4));
  request.clock = Clock::kWall;
  const std::vector<RankReport> reports = run_all(request);
  REQUIRE(reports[0].outcome.kind == Outcome::Kind::kComplete);
  CHECK(reports[0].clocks.method == "ping-pong");
  REQUIRE(reports[0].clocks.offsets.size() == 3);
  const Nanoseconds slack = reports[0].clocks.residual;
  CHECK(std::abs(reports[0].clocks.offsets[2] + 2'000'000'000) <= slack);
  std::map<std::string, Nanoseconds> ends;
  for (const auto& runs : reports[0].runs) {
    for (const ObservedOp& op : runs.at(0).ops) ends[to_string(op.op)] = op.end;
  }
  for (const auto& runs : reports[0].runs) {
    for (const ObservedTransfer& transfer : runs.at(0).transfers) {
      CHECK(transfer.end - transfer.begin >= request.hop_latency);
      CHECK(transfer.end >= ends.at(to_string(transfer.op)) - slack);
    }
  }
}

// Reads the clock where a message comes in, as a transport over NCCL does.
class StampedArrivals final : public Transport {
 public:
  StampedArrivals(Transport& inner, WallClock now) : inner_(inner), now_(std::move(now)) {}
  void send(std::int32_t to, Message message) override { inner_.send(to, std::move(message)); }
  Message receive(Message::Kind kind, const Tensor& tensor, std::int32_t from, std::int32_t iteration) override {
    Message message = inner_.receive(kind, tensor, from, iteration);
    message.arrival = now_();
    return message;
  }
  void at(std::int32_t position) override { inner_.at(position); }
  void barrier() override { inner_.barrier(); }
  [[nodiscard]] bool stopped() const override { return inner_.stopped(); }

 private:
  Transport& inner_;
  WallClock now_;
};

TEST_CASE("A rank that is held up in each round trip has a clock that is wrong within its error, and a timeline") {
  LiveRequest request = request_for(testing::build("1f1b", 2, 4));
  request.clock = Clock::kWall;
  const Job job(request);
  testing::ThreadWorld world(2);
  world.run([&](MessagePassing& passing) {
    ControlChannel channel(passing);
    agree(passing, channel, request, {});
    const WallClock held_up = [&passing] {
      const Nanoseconds time = rank_run_steady();
      if (passing.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(4));
      return time;
    };
    const auto work = [&](Transport& transport) -> RankResult {
      StampedArrivals stamped(transport, rank_run_steady);
      return all_iterations(job, passing.rank(), stamped, rank_run_steady);
    };
    RankReport report = run_rank(passing, channel, job, {work, held_up, false});
    if (passing.rank() != 0) return;
    CHECK(report.clocks.residual >= 2'000'000);
    CHECK(problems_of([&] { (void)result_of(job, std::move(report)); }) == "");
  });
}

TEST_CASE("A lost message ends the run on every rank, with where each stood") {
  LiveRequest request = request_for(testing::build("1f1b", 4, 4));
  request.patience = 200'000'000;
  request.faults.push_back(parse_fault("drop=1F2", request.schedule));
  for (const RankReport& report : run_all(request)) {
    REQUIRE(report.outcome.kind == Outcome::Kind::kStalled);
    const Job job(request);
    const Stall stall = explain_stall(job, report.outcome.statuses);
    CHECK(stall.cause == "a message was lost");
    CHECK(to_string(stall.devices.at(2).op) == "2F2");
    CHECK(stall.devices.at(2).waits_for == "the activation 1F2 of device 1, which device 1 has sent");
  }
}

TEST_CASE("A rank that is at work for long keeps the watchdog quiet") {
  const Schedule schedule = testing::build("gpipe", 2, 1);
  LiveRequest request = request_for(schedule);
  request.patience = 50'000'000;
  const Job job(request);
  std::vector<Outcome::Kind> kinds(2, Outcome::Kind::kStalled);
  testing::ThreadWorld world(2);
  world.run([&](MessagePassing& passing) {
    ControlChannel channel(passing);
    const auto work = [&](Transport& transport) -> RankResult {
      if (passing.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(500));
      return all_iterations(job, passing.rank(), transport, {});
    };
    kinds[static_cast<std::size_t>(passing.rank())] = run_rank(passing, channel, job, {work, {}, false}).outcome.kind;
  });
  CHECK(kinds == std::vector<Outcome::Kind>(2, Outcome::Kind::kComplete));
}

TEST_CASE("What one rank throws ends the run on every rank with the same words") {
  const LiveRequest request = request_for(testing::build("gpipe", 3, 2));
  const Job job(request);
  std::vector<std::string> said(3);
  testing::ThreadWorld world(3);
  world.run([&](MessagePassing& passing) {
    ControlChannel channel(passing);
    const auto work = [&](Transport& transport) -> RankResult {
      if (passing.rank() == 1) throw WrongDataError("1F0 got the wrong tensor");
      return all_iterations(job, passing.rank(), transport, {});
    };
    const RankReport report = run_rank(passing, channel, job, {work, {}, false});
    if (report.outcome.kind == Outcome::Kind::kFailed) {
      said[static_cast<std::size_t>(passing.rank())] = report.outcome.failure.text;
    }
  });
  CHECK(said == std::vector<std::string>(3, "1F0 got the wrong tensor"));
}

// One rank alone, whose message passing breaks as soon as the work has begun.
class Breaking final : public MessagePassing {
 public:
  bool aborted = false;
  int rank() const override { return 0; }
  int size() const override { return 1; }
  int rank_on_host() const override { return 0; }
  int ranks_on_host() const override { return 1; }
  const char* host() const override { return "here"; }
  const char* library() const override { return "none"; }
  int open_edge(int, int) override { return 1; }
  Request send(int, int, const std::byte*, std::size_t) override { return 0; }
  std::int64_t arrived(int, int&) override { return -1; }
  Request receive(std::byte*, std::size_t) override { return 0; }
  bool done(Request) override { return false; }
  Request start_barrier() override { throw std::runtime_error("the network is gone"); }
  void finish() override {}
  void abort() override { aborted = true; }
};

TEST_CASE("What breaks outside the work ends the whole job, and the worker's thread with it") {
  const LiveRequest request = request_for(testing::build("gpipe", 1, 2));
  const Job job(request);
  Breaking passing;
  ControlChannel channel(passing);
  const auto work = [&](Transport& transport) -> RankResult { return all_iterations(job, 0, transport, {}); };
  CHECK_THROWS_WITH_AS((void)run_rank(passing, channel, job, {work, {}, false}), "the network is gone",
                       std::runtime_error);
  CHECK(passing.aborted);
}

TEST_CASE("What MPI is still carrying is not called stuck, within reason") {
  Mailbox mailbox(2);
  mailbox.begin_wait();
  const auto idle = mailbox.waiting_since();
  REQUIRE(idle.has_value());
  mailbox.set_in_flight(10'000'000);
  CHECK(mailbox.waiting_since() == *idle + std::chrono::seconds(1));
  mailbox.set_in_flight(0);
  CHECK(mailbox.waiting_since() == idle);
}

// What `agree` says on each rank when rank 1 has another request, or all have the same for another number of devices.
std::vector<std::string> said_by_agree(const LiveRequest& request, const LiveRequest& of_rank_1,
                                       const MpiOptions& options_of_rank_1 = {}) {
  std::vector<std::string> said(3);
  testing::ThreadWorld world(3);
  world.run([&](MessagePassing& passing) {
    ControlChannel channel(passing);
    try {
      agree(passing, channel, passing.rank() == 1 ? of_rank_1 : request,
            passing.rank() == 1 ? options_of_rank_1 : MpiOptions{});
    } catch (const InputError& error) {
      said[static_cast<std::size_t>(passing.rank())] =
          error.diagnostics()[0].code + ": " + error.diagnostics()[0].message;
    }
  });
  return said;
}

TEST_CASE("Ranks that mean different runs are told so, everywhere") {
  const LiveRequest request = request_for(testing::build("gpipe", 3, 2));
  CHECK(said_by_agree(request, request) == std::vector<std::string>(3));
  LiveRequest other = request;
  std::swap(other.schedule.rows[1][0], other.schedule.rows[1][1]);
  CHECK(said_by_agree(request, other) ==
        std::vector<std::string>(3, "E011: rank 1 on host1 has another schedule than rank 0 on host0"));
  other = request;
  ++other.costs.stages[2].output;
  CHECK(said_by_agree(request, other) ==
        std::vector<std::string>(3, "E011: rank 1 on host1 has other costs or links than rank 0 on host0"));
  MpiOptions options;
  options.model.size.sequence = 64;
  CHECK(said_by_agree(request, request, options) ==
        std::vector<std::string>(3,
                                 "E011: rank 1 on host1 has another model, size, partition or kind of device than "
                                 "rank 0 on host0"));
  options.version = "0.0.1";  // explains whatever else differs
  CHECK(said_by_agree(request, request, options) ==
        std::vector<std::string>(3, "E011: rank 1 on host1 has another version of debubble than rank 0 on host0"));
  other = request;
  other.repetitions = 7;
  CHECK(said_by_agree(request, other) ==
        std::vector<std::string>(3, "E011: rank 1 on host1 has other settings than rank 0 on host0"));
}

TEST_CASE("As many ranks as devices are needed") {
  const LiveRequest request = request_for(testing::build("gpipe", 4, 2));
  CHECK(said_by_agree(request, request) ==
        std::vector<std::string>(3, "E010: the schedule has 4 devices and needs as many processes; mpirun started 3"));
  CHECK(wrong_number_of_ranks(4, 0).diagnostics()[0].help == "run: mpirun -n 4 debubble live --backend mpi ...");
}

}  // namespace
}  // namespace debubble::live
