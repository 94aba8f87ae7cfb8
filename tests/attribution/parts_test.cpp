// The parts of attribution, one by one: windows, histories, shapes, sequences, statistics, names.
#include "profiler/attribution/correlations.hpp"
#include "profiler/attribution/name_table.hpp"
#include "profiler/attribution/range_names.hpp"
#include "profiler/attribution/sequences.hpp"
#include "profiler/attribution/shapes.hpp"
#include "profiler/attribution/statistics.hpp"
#include "profiler/attribution/steps.hpp"
#include "profiler/attribution/stream_selection.hpp"
#include "profiler/attribution/tallies.hpp"
#include "profiler/attribution/thread_history.hpp"
#include "profiler/attribution/window.hpp"
#include "tests/support/test.hpp"

namespace debubble::attribution {
namespace {

TEST_CASE("a window keeps the newest numbers and knows which are gone") {
  Window<int> window(8, 2);
  for (std::uint64_t k = 0; k < 20; ++k) window.at(k) = static_cast<int>(k);
  CHECK(window.capacity() == 8);
  for (std::uint64_t k = 0; k < 20; ++k) {
    CAPTURE(k);
    REQUIRE((window.find(k) != nullptr) == (k >= 12));
    if (k >= 12) CHECK(*window.find(k) == static_cast<int>(k));
  }
  CHECK(window.find(100) == nullptr);
  window.at(19) += 1;
  CHECK(*window.find(19) == 20);
}

TEST_CASE("a window grows only for numbers that share a place") {
  Window<int> window(1024, 4);
  for (std::uint64_t k = 0; k < 4; ++k) window.at(k) = 1;
  CHECK(window.capacity() == 4);
  window.at(4) = 1;
  CHECK(window.capacity() == 8);
  CHECK(window.find(0) != nullptr);
}

TEST_CASE("a thread's history answers for every time it remembers") {
  ThreadHistory history;
  CHECK(history.slot_at(5) == rest_slot(Rest::kOutsideRanges));
  const auto slot = [](std::uint32_t instance) { return layer_slot(instance, Phase::kForward, Rule::kForward); };
  history.add(10, slot(1));
  history.add(20, slot(2));
  history.add(20, slot(3));
  history.add(30, slot(4));
  CHECK(history.slot_at(9) == rest_slot(Rest::kOutsideRanges));
  CHECK(history.slot_at(10)->instance == 1);
  CHECK(history.slot_at(19)->instance == 1);
  CHECK(history.slot_at(20)->instance == 3);
  CHECK(history.slot_at(29)->instance == 3);
  CHECK(history.slot_at(1000)->instance == 4);
}

TEST_CASE("a thread's history forgets the oldest, and says so") {
  ThreadHistory history;
  const auto most = static_cast<Nanoseconds>(ThreadHistory::kMostEvents);
  for (Nanoseconds time = 0; time < most + 100; ++time) {
    history.add(time, layer_slot(static_cast<std::uint32_t>(time), Phase::kForward, Rule::kForward));
  }
  CHECK_FALSE(history.slot_at(99));
  CHECK(history.slot_at(100)->instance == 100);
  CHECK(history.slot_at(most)->instance == most);
  CHECK(history.slot_at(most + 99)->instance == most + 99);
}

TEST_CASE("operands are read from recorded sizes") {
  const auto check = [](OpKind op, const char* sizes, Matrix input, Matrix weight) {
    CAPTURE(sizes);
    const Matmul matmul = matmul_of(op, sizes);
    CHECK(matmul.input == input);
    CHECK(matmul.weight == weight);
  };
  check(OpKind::kLinear, "[[8, 512], [64, 512], [64]]", {8, 512}, {64, 512});
  check(OpKind::kLinear, "[[2, 4, 512], [64, 512], []]", {8, 512}, {64, 512});
  check(OpKind::kBiasedMatmul, "[[64], [8, 512], [512, 64], [], []]", {8, 512}, {512, 64});
  check(OpKind::kMatmul, "[[8,512],[512,64]]", {8, 512}, {512, 64});
  check(OpKind::kMatmul, "[[], [512, 64]]", {}, {512, 64});
  check(OpKind::kMatmul, "[[8, 512]]", {8, 512}, {});
  check(OpKind::kOther, "[[8, 512], [512, 64]]", {}, {});
  check(OpKind::kBatchedMatmul, "[[4, 8, 512], [4, 512, 64]]", {}, {});
  for (const char* bad : {"", "x", "[", "[[", "[[8", "[[8,", "[[-8, 5], [1, 2]]", "[[8, 99999999999999999999], [1, 2]]",
                          "[[1099511627776, 1099511627776, 1099511627776, 2], [1, 2]]"}) {
    CHECK_FALSE(matmul_of(OpKind::kMatmul, bad).known());
  }
  CHECK(result_of(OpKind::kMatmul, "[[2, 5], [5, 3]]") == Matrix{2, 3});
  CHECK(result_of(OpKind::kBiasedMatmul, "[[3], [2, 5], [5, 3]]") == Matrix{2, 3});
  CHECK(result_of(OpKind::kMatmul, "[[2, 5], [4, 3]]") == Matrix{});
}

TEST_CASE("gradients are told apart by shape, and by order only where shapes are equal") {
  const Matmul linear{{2, 3}, {5, 3}};
  const auto shape = [&](Matrix result) { return gradient_of(linear, result, NodeKind::kInputFirst, 0); };
  CHECK(shape({2, 3}).phase == Phase::kInputGrad);
  CHECK(shape({2, 3}).rule == Rule::kShape);
  CHECK(shape({5, 3}).phase == Phase::kWeightGrad);
  CHECK(shape({3, 5}).phase == Phase::kWeightGrad);
  CHECK(shape({7, 7}).rule == Rule::kUnsplit);
  CHECK(shape({}).rule == Rule::kUnsplit);
  CHECK(gradient_of({}, {2, 3}, NodeKind::kInputFirst, 0).phase == Phase::kBackward);
  const Matmul square{{4, 3}, {4, 3}};
  const auto ordered = [&](NodeKind kind, int earlier) { return gradient_of(square, {4, 3}, kind, earlier); };
  CHECK(ordered(NodeKind::kInputFirst, 0).phase == Phase::kInputGrad);
  CHECK(ordered(NodeKind::kInputFirst, 1).phase == Phase::kWeightGrad);
  CHECK(ordered(NodeKind::kWeightFirst, 0).phase == Phase::kWeightGrad);
  CHECK(ordered(NodeKind::kWeightFirst, 1).phase == Phase::kInputGrad);
  CHECK(ordered(NodeKind::kWeightFirst, 1).rule == Rule::kOrder);
}

TEST_CASE("the op with the latest start made the node, whatever order the ops are told in") {
  Sequences sequences(8);
  sequences.add(1, 5, {10, 100, 1, false, {}});
  sequences.add(1, 5, {12, 300, 2, false, {}});
  sequences.add(1, 5, {11, 200, 3, false, {}});
  CHECK(sequences.find({9, 1, 5, 0})->instance == 2);
  CHECK(sequences.find({9, 0, 5, 0})->instance == 2);
  CHECK(sequences.find({9, 2, 5, 0}) == nullptr);
  CHECK(sequences.find({9, 0, 6, 0}) == nullptr);
  CHECK(sequences.ambiguous() == 0);
  for (int k = 6; k < 20; ++k) sequences.add(1, k, {20, 400, 4, false, {}});
  CHECK(sequences.find({9, 1, 5, 0}) == nullptr);
}

TEST_CASE("nearest-rank percentiles are values that were measured") {
  CHECK(statistics_of({}) == TimeStatistics{});
  CHECK(statistics_of({7}) == TimeStatistics{7, 7, 7, 1});
  CHECK(statistics_of({4, 1, 3, 2}) == TimeStatistics{2, 1, 4, 4});
  CHECK(statistics_of({10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 11}) == TimeStatistics{6, 2, 10, 11});
  CHECK(change_ppm(1000, 1030) == 30'000);
  CHECK(change_ppm(1000, 970) == -30'000);
  CHECK_FALSE(change_ppm(0, 5));
}

TEST_CASE("warm-up ends where the times settle, in the first half at the latest") {
  const auto length = [](const std::vector<Nanoseconds>& times) {
    return warm_up_length(times, std::vector<bool>(times.size()));
  };
  CHECK(length({}) == 0);
  CHECK(length({900, 100, 100}) == 0);  // too few to tell
  CHECK(length({900, 100, 100, 100}) == 1);
  CHECK(length({105, 100, 100, 100}) == 0);
  CHECK(length({106, 100, 100, 100}) == 1);
  CHECK(length({94, 100, 100, 100}) == 1);
  CHECK(length({95, 100, 100, 100}) == 0);
  CHECK(length({900, 800, 700, 600, 500, 400, 300, 200}) == 4);
  CHECK(warm_up_length({1, 1, 1}, {false, true, false}) == 2);
  CHECK(warm_up_length({1, 1, 1}, {false, false, true}) == 0);
}

TEST_CASE("drift compares the medians of the last and the first third") {
  CHECK_FALSE(drift_of({1, 2, 3, 4, 5}));
  CHECK(drift_of({100, 100, 999, 1, 110, 110}) == 100'000);
  CHECK(drift_of({100, 100, 100, 1, 1, 1, 90, 90, 90}) == -100'000);
}

TEST_CASE("a step is recorded, unrecorded or neither") {
  Steps steps;
  steps.on(SwitchRecord{300, true});
  steps.on(SwitchRecord{100, false});
  steps.settle();
  CHECK(steps.recorded(0, 100));
  CHECK_FALSE(steps.recorded(50, 150));
  CHECK_FALSE(steps.unrecorded(50, 150));
  CHECK(steps.unrecorded(100, 300));
  CHECK(steps.recorded(300, 400));
  steps.on(OverheadRecord{OverheadKind::kCompiler, 1, 10, 20});
  steps.on(OverheadRecord{OverheadKind::kCompiler, 1, 11, 12});
  steps.on(OverheadRecord{OverheadKind::kCompiler, 1, 40, 50});
  steps.settle();
  CHECK(steps.loading(45, 46));
  CHECK_FALSE(steps.loading(51, 60));
  CHECK(steps.loading(15, 30));
  CHECK(steps.loading(20, 30));
  CHECK_FALSE(steps.loading(21, 30));
  CHECK_FALSE(steps.loading(0, 10));
}

TEST_CASE("names are numbered once, even when the same memory holds another") {
  NameTable names;
  std::string buffer = "first";
  const std::uint32_t first = names.intern(buffer);
  buffer = "other";
  const std::uint32_t other = names.intern(buffer);
  CHECK(first != other);
  CHECK(names.intern(std::string("first")) == first);
  for (int k = 0; k < 5000; ++k) CHECK(names.intern("n" + std::to_string(k)) != kOverflowName);
  CHECK(names.text(other) == "other");
  CHECK(names.intern("other") == other);
  CHECK(demangled("_Z4gemmPfS_") == "gemm(float*, float*)");
  CHECK(demangled("_Zbroken") == "_Zbroken");
  CHECK(demangled("gemm") == "gemm");
}

TEST_CASE("made-up names cannot fill the memory") {
  NameTable names;
  for (std::size_t k = 0; k < kMostNames + 10; ++k) (void)names.intern("n" + std::to_string(k));
  CHECK(names.size() == kMostNames + 1);
  CHECK(names.intern("n0") != kOverflowName);
  CHECK(names.intern("brand new") == kOverflowName);
}

TEST_CASE("tallies come back as they were entered, layers before the rest") {
  Tallies tallies;
  for (std::uint32_t layer = 0; layer < 3000; ++layer) {
    tallies.add(layer_slot(0, Phase::kRecompute, Rule::kRecompute), layer, layer % 7, layer);
    tallies.add(layer_slot(0, Phase::kRecompute, Rule::kRecompute), layer, layer % 7, 1);
  }
  tallies.add(rest_slot(Rest::kUnlinked), 0, 9, 5);
  const std::vector<Tally> all = tallies.sorted();
  REQUIRE(all.size() == 3001);
  CHECK(all[2999].layer == 2999);
  CHECK(all[2999].kernel == 2999 % 7);
  CHECK(all[2999].phase == Phase::kRecompute);
  CHECK(all[2999].rule == Rule::kRecompute);
  CHECK(all[2999].count == 2);
  CHECK(all[2999].total == 3000);
  CHECK_FALSE(all[3000].in_layer);
  CHECK(all[3000].rest == Rest::kUnlinked);
  CHECK(all[3000].total == 5);
}

struct Matching {
  Instances instances;
  Ledger ledger{instances};
  Correlations correlations{ledger, 8, 4};

  void work(std::uint32_t correlation, Nanoseconds duration) {
    correlations.work(correlation, {2'000'000, 2'000'000 + duration, ledger_name(), 0, GpuWork::kKernel});
  }
  std::uint32_t ledger_name() {
    Work work;
    KernelRecord record;
    record.begin = record.end = 1;
    record.name = "k";
    REQUIRE(ledger.take(record, work));
    return work.kernel;
  }
  [[nodiscard]] Nanoseconds total(Rest rest) const {
    Nanoseconds sum = 0;
    for (const Tally& tally : ledger.tallies().sorted()) sum += !tally.in_layer && tally.rest == rest ? tally.total : 0;
    return sum;
  }
};

TEST_CASE("link, launch and kernel come in any order") {
  const Slot slot = rest_slot(Rest::kOptimizer);
  for (const char* order : {"lak", "lka", "alk", "akl", "kla", "kal"}) {
    CAPTURE(order);
    Matching matching;
    for (const char* record = order; *record != '\0'; ++record) {
      CHECK(matching.ledger.entered() == 0);
      if (*record == 'l') matching.correlations.link(5, slot);
      if (*record == 'a') matching.correlations.launch(5, 1'999'999, rest_slot(Rest::kOutsideRanges));
      if (*record == 'k') matching.work(5, 10);
    }
    CHECK(matching.total(Rest::kOptimizer) == 10);
  }
}

TEST_CASE("a kernel before its launch is refused in any order") {
  for (const bool launch_first : {true, false}) {
    Matching matching;
    const auto launch = [&] { matching.correlations.launch(5, 3'000'001, rest_slot(Rest::kOutsideRanges)); };
    if (launch_first) launch();
    matching.work(5, 10);
    if (!launch_first) launch();
    matching.correlations.flush();
    CHECK(matching.ledger.entered() == 0);
    CHECK(matching.ledger.losses().at("kernels before their launch") == 1);
  }
}

TEST_CASE("work that waits too long is entered as far as it is known") {
  Matching matching;
  matching.work(1, 10);
  matching.correlations.launch(2, 0, rest_slot(Rest::kOptimizer));
  matching.work(2, 20);
  for (std::uint32_t k = 3; k < 9; ++k) matching.correlations.link(k, rest_slot(Rest::kCommunication));
  CHECK(matching.ledger.entered() == 0);
  matching.correlations.link(9, rest_slot(Rest::kCommunication));   // takes the place of 1
  matching.correlations.link(10, rest_slot(Rest::kCommunication));  // takes the place of 2
  CHECK(matching.total(Rest::kUnlinked) == 10);
  CHECK(matching.total(Rest::kOptimizer) == 20);
  matching.correlations.link(1, rest_slot(Rest::kCommunication));  // too late
  matching.correlations.flush();
  CHECK(matching.ledger.entered() == 2);
}

TEST_CASE("no more than so much work waits, the rest is counted") {
  Matching matching;
  for (int k = 0; k < 6; ++k) matching.work(7, 1);
  CHECK(matching.ledger.entered() == 2);
  CHECK(matching.ledger.losses().at("kernels that could not wait for their link") == 2);
  matching.correlations.flush();
  CHECK(matching.ledger.entered() == 6);
  CHECK(matching.total(Rest::kUnlinked) == 6);
}

}  // namespace
}  // namespace debubble::attribution
