// PyTorch's pipeline traces as runs. The traces are made here: two ranks, GPipe's order, one transfer each way and
// microbatch, each rank with a clock and a base of its own.
#include "formats/importers/kineto_run.hpp"
#include "formats/importers/clock_alignment.hpp"
#include "tests/support/test.hpp"

using namespace debubble;

namespace {

struct Slice {
  std::string name;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  const char* category = "user_annotation";
  int thread = 1;
};

std::string microseconds(Nanoseconds time) {
  std::string digits = std::to_string(time % 1000);
  return std::to_string(time / 1000) + "." + std::string(3 - digits.size(), '0') + digits;
}

std::string trace_text(int rank, const std::vector<Slice>& slices, Nanoseconds clock = 0, std::int64_t base = 0) {
  std::string text = "{\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": " + std::to_string(rank) +
                     ", \"world_size\": 2},\n\"baseTimeNanoseconds\": " + std::to_string(base) +
                     ",\n\"traceEvents\": [\n";
  for (const Slice& slice : slices) {
    const bool gpu = std::string(slice.category) == "gpu_user_annotation";
    text += std::string(&slice == slices.data() ? "" : ",\n") + "{\"ph\": \"X\", \"cat\": \"" + slice.category +
            "\", \"name\": \"" + slice.name + "\", \"pid\": " + (gpu ? "0" : "4711") +
            ", \"tid\": " + std::to_string(slice.thread) + ", \"ts\": " + microseconds(slice.begin + clock) +
            ", \"dur\": " + microseconds(slice.end - slice.begin) + "}";
  }
  return text + "]}";
}

PipelineTrace read(const std::string& text, const std::string& file) { return read_pipeline_trace(text, file); }

// One step of GPipe on two ranks with two microbatches on GPUs, in true time from `t` on; a transfer takes `wire`.
//   rank 0  F0 F1 ............ B0 .. B1         each op 1 ms, F of rank 1 begins when its input is there
//   rank 1     F0 F1 B0 B1
struct Step {
  std::vector<Slice> rank0;
  std::vector<Slice> rank1;
};
constexpr Nanoseconds kMs = 1'000'000;

Step gpipe_step(Nanoseconds t, Nanoseconds wire, int number) {
  Step step;
  const auto op = [&](std::vector<Slice>& rank, const char* name, Nanoseconds begin) {
    rank.push_back({name, t + begin, t + begin + kMs, "gpu_user_annotation"});
  };
  // The receiver posts early and waits: its range begins long before the sender's.
  const auto send = [&](std::vector<Slice>& from, std::vector<Slice>& to, const char* sent, const char* received,
                        Nanoseconds begin, Nanoseconds posted) {
    from.push_back({sent, t + begin, t + begin + wire, "gpu_user_annotation", 2});
    to.push_back({received, t + posted, t + begin + wire, "gpu_user_annotation", 2});
  };
  op(step.rank0, "PP:0F0", 0);
  op(step.rank0, "PP:0F1", kMs);
  send(step.rank0, step.rank1, "PP:0SEND_F0", "PP:1RECV_F0", kMs, 0);
  send(step.rank0, step.rank1, "PP:0SEND_F1", "PP:1RECV_F1", 2 * kMs, kMs + wire);
  op(step.rank1, "PP:1F0", kMs + wire);
  op(step.rank1, "PP:1F1", 2 * kMs + wire);
  op(step.rank1, "PP:1B0", 3 * kMs + wire);
  op(step.rank1, "PP:1B1", 4 * kMs + wire);
  send(step.rank1, step.rank0, "PP:1SEND_B0", "PP:0RECV_B0", 4 * kMs + wire, 3 * kMs);
  send(step.rank1, step.rank0, "PP:1SEND_B1", "PP:0RECV_B1", 5 * kMs + wire, 4 * kMs + 2 * wire);
  op(step.rank0, "PP:0B0", 4 * kMs + 2 * wire);
  op(step.rank0, "PP:0B1", 5 * kMs + 2 * wire);
  const std::string name = "ProfilerStep#" + std::to_string(number);
  for (auto* rank : {&step.rank0, &step.rank1}) rank->push_back({name, t, t + 8 * kMs});
  return step;
}

// The same without a GPU, as PyTorch's runtime labels it on the host: sends and receives only post, and an op's range
// begins with the wait for its input. `ops_on_gpu`: GPU ranges of ops and none of transfers.
Step posted_step(Nanoseconds t, Nanoseconds wire, int number, bool ops_on_gpu = false) {
  Step step = gpipe_step(t, wire, number);
  for (auto* rank : {&step.rank0, &step.rank1}) {
    Nanoseconds free = t;
    for (Slice& slice : *rank) {
      if (!slice.name.starts_with("PP:")) continue;
      const bool post = contains(slice.name, "SEND") || contains(slice.name, "RECV");
      if (post) slice.end = slice.begin + 1000;
      if (post || !ops_on_gpu) slice.category = "user_annotation";
      if (post || ops_on_gpu) continue;
      slice.begin = free;
      free = slice.end;
    }
  }
  return step;
}

std::string refusal(const std::function<void()>& action) {
  return problems_of([&] { action(); });
}

std::vector<PipelineTrace> traces_of(const std::vector<Step>& steps, Nanoseconds skew = 0, std::int64_t base = 0) {
  std::vector<Slice> zero;
  std::vector<Slice> one;
  for (const Step& step : steps) {
    zero.insert(zero.end(), step.rank0.begin(), step.rank0.end());
    one.insert(one.end(), step.rank1.begin(), step.rank1.end());
  }
  // Given in the wrong order, to be sorted by rank.
  return {read(trace_text(1, one, skew + kMs, base), "one.json"), read(trace_text(0, zero, kMs, base), "zero.json")};
}

const ObservedOp& op_of(const Observation& observation, std::string_view name) {
  return *std::find_if(observation.ops.begin(), observation.ops.end(),
                       [&](const ObservedOp& op) { return to_string(op.op) == name; });
}

}  // namespace

TEST_CASE("names of PyTorch's pipeline runtime") {
  using Kind = PipelineName::Kind;
  const auto f = parse_pipeline_name("PP:10F345");
  CHECK_EQ(f.kind, Kind::kOp);
  CHECK_EQ(to_string(f.op), "10F345");
  CHECK_EQ(to_string(parse_pipeline_name("PP:1W2").op), "1W2");
  const auto pair = parse_pipeline_name("PP:(0F3;1B2)OVERLAP_F_B");
  CHECK(pair.paired);
  CHECK_EQ(to_string(pair.op) + to_string(pair.partner), "0F31B2");
  const auto sent = parse_pipeline_name("PP:0SEND_F3");
  const auto received = parse_pipeline_name("PP:1RECV_F3");
  CHECK_EQ(sent.kind, Kind::kSend);
  CHECK_EQ(received.kind, Kind::kReceive);
  CHECK_EQ(to_string(sent.op), to_string(received.op));
  CHECK_EQ(to_string(parse_pipeline_name("PP:0RECV_B3").op), "1B3");
  for (const char* beside :
       {"PP:0UNSHARD", "PP:1RESHARD", "PP:1REDUCE_GRAD", "PP:0WAIT_SEND_F3", "PP:0WAIT_REDUCE_GRAD"}) {
    CAPTURE(beside);
    CHECK_EQ(parse_pipeline_name(beside).kind, Kind::kBeside);
  }
  for (const char* other : {"PP:0WAIT_SEND_F", "PP:UNSHARD", "PP:", "PP:F3", "PP:0F", "PP:0F3x", "PP:-1F0",
                            "PP:(0F3;1B2)", "PP:0SEND_3", "PP:99999999999F0", "PP:(0F3 1B2)OVERLAP_F_B"}) {
    CAPTURE(other);
    CHECK_EQ(parse_pipeline_name(other).kind, Kind::kOther);
  }
  CHECK_EQ(parse_pipeline_name("aten::mm").kind, Kind::kNone);
}

TEST_CASE("steps become iterations, receives' waiting is not a transfer, and ranks are sorted") {
  const Nanoseconds wire = 50'000;
  const ImportedRun run = import_kineto_run(traces_of({gpipe_step(0, wire, 7), gpipe_step(20 * kMs, wire, 8)}));
  REQUIRE_EQ(run.iterations.size(), 2);
  CHECK_EQ(run.iterations[0].name, "ProfilerStep#7");
  CHECK_EQ(run.iterations[1].name, "ProfilerStep#8");
  CHECK(run.losses.empty());
  CHECK(run.on_gpu);
  for (const ImportedIteration& iteration : run.iterations) {
    const Observation& seen = iteration.observation;
    CHECK_EQ(seen.ops.size(), 8);
    REQUIRE_EQ(seen.transfers.size(), 4);
    for (const ObservedTransfer& transfer : seen.transfers) CHECK_EQ(transfer.end - transfer.begin, wire);
    CHECK_EQ(op_of(seen, "0F0").device, 0);
    CHECK_EQ(op_of(seen, "1B1").device, 1);
    CHECK_EQ(op_of(seen, "1F0").end - op_of(seen, "1F0").begin, kMs);
  }
  const bool waited = std::any_of(run.notes.begin(), run.notes.end(),
                                  [](const std::string& note) { return contains(note, "not counted as transfer"); });
  CHECK(waited);
}

TEST_CASE("skewed clocks are aligned to within the stated residual") {
  const Nanoseconds wire = 50'000;
  for (const Nanoseconds skew : {Nanoseconds{0}, 700 * kMs, Nanoseconds{123'456}, -kMs / 2}) {
    CAPTURE(skew);
    const ImportedRun run = import_kineto_run(traces_of({gpipe_step(0, wire, 1)}, skew, 1'700'000'000'000'000'000));
    CHECK_EQ(run.clocks.method, "send/recv pairs");
    REQUIRE_EQ(run.clocks.offsets.size(), 2);
    CHECK_EQ(run.clocks.offsets[0], 0);
    CHECK_LE(run.clocks.residual, wire);
    CHECK_LE(std::abs(run.clocks.offsets[1] + skew), run.clocks.residual);
  }
}

TEST_CASE("clocks over a chain of ranks: errors add up, and the stated one holds between all of them") {
  // Three ranks; true offsets 0, -1000, 5000; messages take 30 one way and 50 the other.
  const std::vector<Nanoseconds> ahead{0, 1000, -5000};
  std::vector<MessageTimes> messages;
  const auto message = [&](int from, int to, Nanoseconds at, Nanoseconds takes) {
    const auto a = ahead[static_cast<std::size_t>(from)];
    const auto b = ahead[static_cast<std::size_t>(to)];
    messages.push_back({from, to, at + a, at + takes + a, at + b, at + takes + b});
  };
  message(0, 1, 100, 30);
  message(1, 0, 300, 50);
  message(1, 2, 500, 30);
  message(2, 1, 900, 70);
  std::vector<std::string> notes;
  const ClockAlignment clocks = align_clocks(3, messages, notes);
  CHECK(notes.empty());
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) {
      const Nanoseconds error = clocks.offsets[a] + ahead[a] - clocks.offsets[b] - ahead[b];
      CHECK_LE(std::abs(error), clocks.residual);
    }
  }
  CHECK_EQ(clocks.residual, (30 + 50) / 2 + (30 + 70) / 2);
}

TEST_CASE("messages one way only, and none at all, are said, and then no error is claimed") {
  std::vector<std::string> notes;
  const ClockAlignment clocks = align_clocks(3, {{0, 1, 1000, 1100, 10, 20}}, notes);
  CHECK_EQ(clocks.offsets, std::vector<Nanoseconds>{0, 980, 0});
  CHECK_FALSE(clocks.bounded);
  CHECK_EQ(clocks.method, "not aligned");
  CHECK_EQ(clocks.residual, 0);
  REQUIRE_EQ(notes.size(), 2);
  CHECK(contains(notes[0], "ranks 0 and 1 were sent in one direction only"));
  CHECK(contains(notes[1], "no message joins rank 2"));
}

TEST_CASE("messages that contradict each other leave the clocks as they are") {
  std::vector<std::string> notes;
  const ClockAlignment clocks =
      align_clocks(2, {{0, 1, 10 * kMs, 11 * kMs, 0, 8 * kMs}, {1, 0, 30 * kMs, 31 * kMs, 0, 27 * kMs}}, notes);
  CHECK_EQ(clocks.offsets, std::vector<Nanoseconds>{0, 0});
  CHECK_FALSE(clocks.bounded);
  CHECK_EQ(clocks.method, "not aligned");
  REQUIRE_EQ(notes.size(), 1);
  CHECK(contains(notes[0], "contradict each other by 5000 us"));
  CHECK(contains(notes[0], "nothing can be concluded"));
}

TEST_CASE("on a host, ranges that only post do not tear equal clocks apart, and no transfer is timed") {
  const Nanoseconds wire = 50'000;
  for (const bool ops_on_gpu : {false, true}) {
    CAPTURE(ops_on_gpu);
    const ImportedRun run = import_kineto_run(traces_of({posted_step(0, wire, 1, ops_on_gpu)}));
    CHECK_EQ(run.on_gpu, ops_on_gpu);
    CHECK_EQ(run.clocks.offsets, std::vector<Nanoseconds>{0, 0});
    CHECK(run.clocks.bounded);
    const Observation& seen = run.iterations[0].observation;
    CHECK(seen.transfers.empty());
    // What lies before the send is cut off the wait within the op; the transfer stays in it.
    CHECK_EQ(op_of(seen, "1F0").end - op_of(seen, "1F0").begin, ops_on_gpu ? kMs : kMs + wire);
    CHECK_EQ(op_of(seen, "0B0").end - op_of(seen, "0B0").begin, ops_on_gpu ? kMs : kMs + wire);
    const bool said = std::any_of(run.notes.begin(), run.notes.end(),
                                  [](const std::string& note) { return contains(note, "which only post"); });
    CHECK(said);
  }
}

TEST_CASE("on a host, skewed clocks are aligned to within the stated residual, though ranges only post") {
  for (const Nanoseconds skew : {Nanoseconds{0}, 700 * kMs, -30 * kMs, kMs / 2}) {
    CAPTURE(skew);
    const ImportedRun run = import_kineto_run(traces_of({posted_step(0, 50'000, 1)}, skew));
    REQUIRE(run.clocks.bounded);
    CHECK_LE(std::abs(run.clocks.offsets[1] + skew), run.clocks.residual);
    CHECK_LE(run.clocks.residual, 3 * kMs);
  }
}

TEST_CASE("ranges that overlap by a rounded microsecond are trimmed and counted, wider ones are left to be refused") {
  Step step = gpipe_step(0, 50'000, 1);
  for (Slice& slice : step.rank0) {
    if (slice.name == "PP:0F0") slice.end += 1000;
    if (slice.name == "PP:0B0") slice.end += 1001;
  }
  const ImportedRun run = import_kineto_run(traces_of({step}));
  CHECK_EQ(op_of(run.iterations[0].observation, "0F0").end, op_of(run.iterations[0].observation, "0F1").begin);
  CHECK_GT(op_of(run.iterations[0].observation, "0B0").end, op_of(run.iterations[0].observation, "0B1").begin);
  REQUIRE_EQ(run.losses.size(), 1);
  CHECK_EQ(run.losses[0].count, 1);
  CHECK(contains(run.losses[0].what, "overlapped the next by up to 1 us"));
}

TEST_CASE("a rank that is missing is named, whichever it is") {
  const Step step = gpipe_step(0, 50'000, 1);
  const auto import = [](const std::string& text) {
    return refusal([&] { (void)import_kineto_run({read(text, "only.json")}); });
  };
  CHECK(contains(import(trace_text(0, step.rank0)), "D005"));
  CHECK(contains(import(trace_text(0, step.rank0)), "this one sends to stage 1"));
  CHECK(contains(import(trace_text(1, step.rank1)), "this one receives from stage 0"));
  std::vector<Slice> silent = step.rank1;
  std::erase_if(silent, [](const Slice& slice) { return slice.thread == 2; });
  CHECK(contains(import(trace_text(1, silent)), "the pipeline has stage 0"));
}

TEST_CASE("the GPU's ranges are preferred to the host's") {
  Step step = gpipe_step(0, 50'000, 1);
  for (auto* rank : {&step.rank0, &step.rank1}) {
    std::vector<Slice> host;
    for (const Slice& slice : *rank) {
      if (slice.name.starts_with("PP:")) host.push_back({slice.name, slice.begin / 10, slice.begin / 10 + 10});
    }
    rank->insert(rank->end(), host.begin(), host.end());
  }
  const ImportedRun gpu = import_kineto_run(traces_of({step}));
  CHECK(gpu.on_gpu);
  CHECK_EQ(gpu.iterations[0].observation.transfers.size(), 4);
  CHECK_EQ(op_of(gpu.iterations[0].observation, "1F0").end - op_of(gpu.iterations[0].observation, "1F0").begin, kMs);
}

TEST_CASE("what is lost is counted: half steps, ends without the other, ranges of other kinds") {
  Step whole = gpipe_step(0, 50'000, 1);
  Step half = gpipe_step(20 * kMs, 50'000, 2);
  std::erase_if(half.rank1, [](const Slice& slice) { return slice.name == "PP:1B1"; });
  std::erase_if(whole.rank0, [](const Slice& slice) { return slice.name == "PP:0RECV_B1"; });
  whole.rank0.push_back({"PP:0UNSHARD", 0, 10});
  whole.rank0.push_back({"PP:0SOMETHING", 0, 10});
  whole.rank0.push_back({"PP:0F0", 15 * kMs, 16 * kMs, "gpu_user_annotation"});
  const ImportedRun run = import_kineto_run(traces_of({whole, half}));
  CHECK_EQ(run.iterations.size(), 1);
  CHECK_EQ(run.iterations[0].observation.transfers.size(), 3);
  std::set<std::string> losses;
  for (const LossItem& loss : run.losses) losses.insert(std::to_string(loss.count) + " " + loss.what);
  CHECK(losses.contains("1 iterations that are not whole"));
  CHECK(losses.contains("1 transfers seen at one end only"));
  CHECK(losses.contains("1 PP: ranges that are neither op nor transfer"));
  CHECK(losses.contains("1 ranges outside of all steps"));
}

TEST_CASE("traces that are no run of a pipeline are refused") {
  const auto import = [](const std::vector<std::string>& texts) {
    return refusal([&] {
      std::vector<PipelineTrace> traces;
      for (const std::string& text : texts) traces.push_back(read(text, "t" + std::to_string(traces.size()) + ".json"));
      (void)import_kineto_run(std::move(traces));
    });
  };
  CHECK(contains(import({trace_text(0, {{"aten::mm", 0, 10}})}), "D004"));
  const Step step = gpipe_step(0, 50'000, 1);
  CHECK(contains(import({trace_text(0, step.rank0), trace_text(0, step.rank1)}), "rank 0 is also the rank of t0.json"));
  CHECK(contains(import({"{\"traceEvents\": []}", trace_text(0, step.rank1)}), "D005"));
  CHECK(contains(import({trace_text(0, {{"PP:0F0", 0, 10}, {"ProfilerStep#1", 5, 20}})}), "D006"));
  CHECK(contains(import({trace_text(0, step.rank0), trace_text(1, step.rank1, 0, 1'700'000'000'000'000'000)}), "V023"));
  CHECK(contains(refusal([] {
                   (void)read("{\"traceEvents\": [{\"ph\": \"X\", \"name\": \"PP:0F0\", \"ts\": \"x\"}]}", "bad.json");
                 }),
                 "P007"));
}
