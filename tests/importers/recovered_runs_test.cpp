// Runs recovered from recordings without PP: names: made-up ones whose every time is known, and two real ones of
// PyTorch on a CPU (traces/measured), set beside what each rank saw on its own stopwatch.
#include <nlohmann/json.hpp>

#include "formats/files/plain_text.hpp"
#include "formats/importers/recovery/find_transfers.hpp"
#include "formats/importers/recovery/range_words.hpp"
#include "formats/importers/recovery/rank_events.hpp"
#include "studies/runs/imported_record.hpp"
#include "tests/importers/database.hpp"
#include "tests/importers/pipeline_recording.hpp"
#include "tests/support/places.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

using Json = nlohmann::json;

ImportedRun recovered(std::vector<RunText> files, int replica = 0) {
  const RunReader* const reader = reader_of(files.front().text);
  REQUIRE(reader != nullptr);
  return reader->read(std::move(files), {replica});
}

RunRecord record_of(const std::vector<RunText>& files, int replica = 0) {
  return record_of_imported(recovered(files, replica), "run", nullptr);
}

bool says(const ImportedRun& run, const std::string& text) {
  return std::any_of(run.notes.begin(), run.notes.end(), [&](const std::string& note) { return contains(note, text); });
}

std::string refused(const std::vector<RunText>& files, int replica = 0) {
  return problems_of([&] { (void)record_of(files, replica); });
}

// Every op takes what it took; the step is that of the plan.
void check_times(const ImportedRun& run, const RecordingStyle& style) {
  CHECK(run.devices == style.ranks);
  REQUIRE(run.iterations.size() == static_cast<std::size_t>(style.iterations));
  const auto ops = static_cast<std::size_t>(2 * style.ranks * style.microbatches);
  for (const ImportedIteration& iteration : run.iterations) {
    REQUIRE(iteration.observation.ops.size() == ops);
    for (const ObservedOp& op : iteration.observation.ops) {
      CHECK(op.op.stage == op.device);
      CHECK(op.end - op.begin == (op.op.kind == OpKind::kForward ? 1'000'000 : 2'000'000));
    }
  }
}

// 1F1B of 3 ranks and 4 microbatches: (m + p - 1) (F + B) and the transfers and launch gaps on the longest path.
void check_step(const std::vector<RunText>& files) {
  const RunRecord record = record_of(files);
  CHECK(record.schedule.name == "1f1b");
  CHECK(record.iterations.front().timeline.makespan >= 18'000'000);
  CHECK(record.iterations.front().timeline.makespan < 19'500'000);
}

TEST_CASE("a send that begins with its call, before a receive, hides that receive from no function around it") {
  const auto transfer = [](std::uint8_t ends, bool dispatched, Nanoseconds begin, Nanoseconds end) {
    MeantRange range;
    range.meaning = {.kind = RangeMeaning::Kind::kTransfer, .ends = ends, .dispatched = dispatched};
    range.begin = begin;
    range.end = end;
    return range;
  };
  MeantRange function;
  function.meaning = {.kind = RangeMeaning::Kind::kDirected, .ends = kReceivesBackward};
  function.begin = 9;
  function.end = 15;
  RankEvents events;
  // The send is called at 5 and recorded at 20; the receive between them is of the function from 9 to 15.
  events.ranges = {transfer(kSends, true, 5, 6), function, transfer(kReceives, false, 10, 11),
                   transfer(kSends, false, 20, 21)};
  const std::vector<FoundOp> ops{{.kind = OpKind::kForward, .begin = 0, .end = 4},
                                 {.kind = OpKind::kForward, .begin = 31, .end = 35},
                                 {.kind = OpKind::kBackward, .begin = 40, .end = 50}};
  const FoundEnds found = find_ends(events, ops, std::nullopt);
  REQUIRE(found.ends.size() == 2);
  CHECK(found.ends[0].sends);
  CHECK(found.ends[0].begin == 5);
  CHECK(found.ends[0].op == 0);
  CHECK_FALSE(found.ends[1].sends);
  CHECK(found.ends[1].certain);
  CHECK(found.ends[1].op == 2);
}

TEST_CASE("names of ranges: what they mean") {
  using Kind = RangeMeaning::Kind;
  CHECK(meaning_of("forward_step").kind == Kind::kForward);
  CHECK(meaning_of("megatron.core.pipeline_parallel.schedules.forward_step").kind == Kind::kForward);
  CHECK(meaning_of("backward-compute").kind == Kind::kBackward);
  CHECK(meaning_of("PipelineEngine._exec_backward_pass").kind == Kind::kBackward);
  CHECK(meaning_of("Forward 3").microbatch == 3);
  CHECK(meaning_of("Forward").kind == Kind::kNone);
  CHECK(meaning_of("forward_step mb 2").kind == Kind::kNone);
  CHECK(meaning_of("P2PCommunicator.send_forward_recv_backward").ends == (kSendsForward | kReceivesBackward));
  CHECK(meaning_of("RecvGrad").ends == kReceivesBackward);
  CHECK(meaning_of("nccl:send 0->1").peer == 1);
  CHECK(meaning_of("nccl:recv 3<-2").self == 3);
  CHECK(meaning_of("nccl:recv 3<-").peer == -1);
  CHECK(meaning_of("nccl:send").peer == -1);
  CHECK(meaning_of("gloo:recv").completes);
  CHECK(meaning_of("c10d::recv_").dispatched);
  CHECK(meaning_of("nccl:all_to_all").kind == Kind::kCollective);
  CHECK(meaning_of("nccl:coalesced").kind == Kind::kNone);
  CHECK(meaning_of("autograd::engine::evaluate_function: AddmmBackward0, seq = 4").kind == Kind::kNode);
  CHECK(sequence_in("aten::mm, seq = 41, op_id = 7") == 41);
  CHECK(sequence_in("aten::mm") == -1);
  CHECK(meaning_of("ProfilerStep#12").kind == Kind::kIteration);
  CHECK(meaning_of("iteration 7").kind == Kind::kIteration);
  CHECK(iteration_name("train.\xff.iteration 7, op_id = 3") == "iteration 7");
  CHECK(meaning_of("step").kind == Kind::kNone);
  CHECK(meaning_of("Optimizer.step#AdamW.step").kind == Kind::kOptimizer);
  for (const char* const odd : {"", ".", "::", "Forward 99999999999", "nccl:", "nccl:send ->", "c10d::", ", seq = "}) {
    CAPTURE(odd);
    const Kind kind = meaning_of(odd).kind;
    CHECK((kind == Kind::kNone || kind == Kind::kTransfer || kind == Kind::kCollective));
  }
}

TEST_CASE("ranks in the names of files, and autograd's words") {
  CHECK(rank_in_file_name("a/rank3.json") == 3);
  CHECK(rank_in_file_name("trace_rank-12.json.gz") == 12);
  CHECK(rank_in_file_name("report.rank_0.sqlite") == 0);
  CHECK(rank_in_file_name("rank.json") == std::nullopt);
  CHECK(rank_in_file_name("frank/trace.json") == std::nullopt);
  CHECK(autograd_word("aten::add_") == "add");
  CHECK(autograd_word("NativeLayerNormBackward0") == autograd_word("aten::native_layer_norm"));
}

TEST_CASE("a run on GPUs is recovered from whatever its ranges tell") {
  RecordingStyle named;
  RecordingStyle autograd;
  autograd.named = false;
  RecordingStyle kernels_only = named;
  kernels_only.transfers = false;
  RecordingStyle megatron = named;
  megatron.directions = true;
  RecordingStyle functions = megatron;
  functions.transfers = false;
  RecordingStyle experts = autograd;
  experts.alltoall = true;
  RecordingStyle around = named;
  around.around = true;
  for (RecordingStyle style : {named, autograd, kernels_only, megatron, functions, experts, around}) {
    CAPTURE(style.named);
    CAPTURE(style.around);
    CAPTURE(style.transfers);
    CAPTURE(style.directions);
    CAPTURE(style.alltoall);
    style.skew = {0, 700'000, -1'300'000};
    for (const bool nsys : {false, true}) {
      CAPTURE(nsys);
      const std::vector<RunText> files = nsys ? nsys_files(style) : kineto_files(style);
      const ImportedRun run = recovered(files);
      check_times(run, style);
      CHECK(run.on_gpu);
      CHECK(run.clocks.bounded);
      REQUIRE(run.clocks.offsets.size() == 3);
      for (std::size_t r = 1; r < 3; ++r) {
        CHECK(std::abs(run.clocks.offsets[r] + style.skew[r]) <= run.clocks.residual);
      }
      CHECK(run.clocks.residual <= 200'000);
      CHECK(run.iterations.front().observation.transfers.size() == 16);
      CHECK(says(run,
                 style.named ? "named: forwards and backwards, by their ranges" : "inferred: forwards and backwards"));
      CHECK(says(run, "named: iterations, by the steps"));
      check_step(files);
    }
  }
}

TEST_CASE("sequence numbers say of which microbatch a backward is, order only assumes it") {
  RecordingStyle style;
  CHECK(says(recovered(kineto_files(style)),
             "inferred: the k-th forward of a rank is of microbatch k; backwards by the"));
  style.around = true;
  CHECK(says(recovered(kineto_files(style)), "named: microbatches, by the numbers in the names of ranges"));
  style.around = style.nodes = false;
  CHECK(says(recovered(kineto_files(style)), "assumed: the k-th forward and the k-th backward"));
}

TEST_CASE("iterations by the optimizer, and by repetition") {
  RecordingStyle style;
  style.steps = false;
  const ImportedRun by_optimizer = recovered(kineto_files(style));
  check_times(by_optimizer, style);
  CHECK(says(by_optimizer, "inferred: an iteration ends where the optimizer runs"));
  style.optimizer = false;
  const ImportedRun by_repetition = recovered(nsys_files(style));
  check_times(by_repetition, style);
  CHECK(says(by_repetition, "inferred: an iteration is 4 forwards of each rank"));
}

TEST_CASE("without kernels times are the host's, and a note says so") {
  RecordingStyle style;
  style.kernels = false;
  const ImportedRun run = recovered(nsys_files(style));
  CHECK_FALSE(run.on_gpu);
  CHECK(says(run, "op times are the host's"));
  CHECK(run.iterations.front().observation.transfers.empty());
}

TEST_CASE("PP: ranges of an Nsight Systems export are taken as they are, with the GPU's times") {
  RecordingStyle style;
  style.pp_names = true;
  style.named = false;
  const ImportedRun run = recovered(nsys_files(style));
  check_times(run, style);
  CHECK(run.on_gpu);
  CHECK(run.iterations.front().observation.transfers.size() == 16);
  CHECK(run.method == "PP: ranges as Nsight Systems recorded them");
}

TEST_CASE("one export of all ranks of a machine: processes in the order of their GPUs") {
  const RecordingStyle style;
  const std::vector<RunText> one{{"node.sqlite", Database(nsys_sql(recorded(style))).image()}};
  const ImportedRun run = recovered(one);
  check_times(run, style);
  CHECK(says(run, "assumed: processes of one export are ranks in the order of their GPUs"));
  CHECK(contains(refused({one.front(), {"other.sqlite", one.front().text}}), "error[D005]: it is of 3 processes"));
}

TEST_CASE("replicas: either numbering, and which is read") {
  RecordingStyle style;
  style.replicas = 2;
  for (const bool stages_first : {false, true}) {
    style.replicas_first = stages_first;
    const auto files = kineto_files(style);
    for (int replica = 0; replica < 2; ++replica) {
      const ImportedRun run = recovered(files, replica);
      check_times(run, style);
      CHECK(says(run, "replica " + std::to_string(replica) + " of 2 data-parallel pipelines"));
    }
    CHECK(contains(refused(files, 2), "error[C003]: there is no replica 2; the files are of 2 pipelines"));
    CHECK(contains(refused({files.begin(), files.end() - 1}), "D005"));
  }
}

TEST_CASE("the first iteration is left out where it is far longer") {
  RecordingStyle style;
  style.iterations = 4;
  style.slow_first = 9'000'000;
  const ImportedRun run = recovered(kineto_files(style));
  CHECK(run.iterations.size() == 3);
  CHECK(says(run, "1 iteration at the start, more than a quarter longer than the median of 18."));
  CHECK(says(run, "left out as warm-up: ProfilerStep#3 (27."));
}

TEST_CASE("iterations that lack an op are left out and counted") {
  RecordingStyle style;
  style.iterations = 3;
  auto files = kineto_files(style);
  std::string& text = files[1].text;
  const std::size_t at = text.find("backward_step");
  text.replace(at, 13, "nothing_at_al");
  const ImportedRun run = recovered(files);
  CHECK(run.iterations.size() == 2);
  REQUIRE(run.losses.size() >= 1);
  CHECK(run.losses.front().what == "iterations that are not whole");
}

TEST_CASE("what cannot be told is refused, with what to add") {
  RecordingStyle style;
  auto files = kineto_files(style);
  CHECK(contains(refused({files[0], files[1]}),
                 "error[D005]: rank 1, the highest that is given, sends after its forwards"));
  CHECK(contains(refused({files[1], files[2]}), "error[D005]: rank 1, the lowest that is given, receives before its"));
  CHECK(contains(refused({files[0], files[1], files[2], files[2]}),
                 "error[D005]: rank 2 is also the rank of rank2.json"));
  CHECK(contains(refused({files[0], files[2]}), "error[D005]: ranks 0, 2 are no whole pipeline of a run of 3 ranks"));
  auto other = files;
  other[1].text.replace(other[1].text.find("\"world_size\": 3"), 15, "\"world_size\": 8");
  CHECK(contains(refused(other), "error[D010]: it is of a run of 8 ranks, rank0.json of one of 3"));
  RecordingStyle bare;
  bare.named = bare.nodes = false;
  CHECK(contains(refused(kineto_files(bare)), "error[D004]: nothing tells its forwards"));
  RecordingStyle silent;
  silent.named = silent.transfers = silent.kernels = false;
  CHECK(contains(refused(kineto_files(silent)), "error[D004]: no send or receive was recorded"));
  RecordingStyle endless;
  endless.steps = endless.optimizer = false;
  auto cut = kineto_files(endless);
  for (RunText& file : cut) {
    const std::size_t first = file.text.find("{\"ph\"");
    const std::size_t half = file.text.find("backward_step");
    file.text.erase(first, file.text.rfind("{\"ph\"", half) - first);
  }
  CHECK(contains(refused(cut), "D006"));
}

TEST_CASE("a rank in the middle that is missing shows in the numbers of the others") {
  RecordingStyle style;
  style.ranks = 4;
  auto files = kineto_files(style);
  CHECK(contains(refused({files[0], files[1], files[3]}),
                 "error[D005]: ranks 0, 1, 3 are no pipeline: their numbers are not evenly apart"));
}

std::string recording(const std::string& name) { return contents_of(source_directory() + "/traces/measured/" + name); }

std::vector<RunText> real_files(const std::string& folder, int ranks) {
  std::vector<RunText> files;
  for (int r = 0; r < ranks; ++r) {
    const std::string name = folder + "/rank" + std::to_string(r) + ".json.gz";
    files.push_back({name, plain_text(recording(name), name, 1 << 24)});
  }
  return files;
}

// The recording's times are whole microseconds, and a stopwatch within a range is a little shorter than it.
TEST_CASE("real runs of PyTorch on a CPU: every op of every rank is what that rank's stopwatch saw") {
  for (const std::string name : {"named", "autograd"}) {
    CAPTURE(name);
    const std::string folder = "torch_cpu_" + name;
    const Json expected = Json::parse(recording(folder + "/expected.json"));
    const auto ranks = static_cast<int>(expected["ranks"].size());
    const ImportedRun run = recovered(real_files(folder, ranks));
    CHECK(run.devices == ranks);
    CHECK(run.clocks.bounded);
    CHECK(record_of(real_files(folder, ranks)).schedule.name == "1f1b");
    const std::size_t dropped = expected["ranks"][0].size() - run.iterations.size();
    CHECK(dropped <= 2);
    CHECK((dropped == 0 || says(run, "left out as warm-up")));
    double worst = 0;
    for (std::size_t k = 0; k < run.iterations.size(); ++k) {
      std::map<int, std::size_t> next;
      for (const ObservedOp& op : run.iterations[k].observation.ops) {
        const Json& seen = expected["ranks"][static_cast<std::size_t>(op.device)][k + dropped][next[op.device]++];
        CHECK(seen[0] == (op.op.kind == OpKind::kForward ? "F" : "B"));
        CHECK(seen[1] == op.op.microbatch);
        const double difference = static_cast<double>(op.end - op.begin) / 1000 - seen[2].get<double>();
        worst = std::max(worst, std::abs(difference));
      }
    }
    MESSAGE(name, ": an op differs by at most ", worst, " us");
    CHECK(worst < 1000);
    CHECK_FALSE(run.iterations.front().observation.transfers.empty());
  }
}

}  // namespace
}  // namespace debubble::testing
