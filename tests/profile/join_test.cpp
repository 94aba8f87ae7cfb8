// Profiles of pipeline stages as one model, and which recordings are of one stage.
#include "profiler/ranks/join.hpp"
#include "profiler/ranks/block_name.hpp"
#include "profiler/ranks/differences.hpp"
#include "profiler/ranks/stages.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

using Names = std::vector<std::string>;

// Every layer ran for as many microseconds as `times` says; 0: nothing ran.
StagePart part(const std::string& label, const Names& names, Nanoseconds time = 1000) {
  StagePart part{label, {}};
  for (const std::string& name : names) {
    ProfileLayer layer;
    layer.name = name;
    layer.forward = {time, time, time, 4};
    layer.backward = TimeStatistics{2 * time, 2 * time, 2 * time, 4};
    if (time > 0) layer.kernels = {{"gemm", 12, 12 * time}};
    part.found.profile.layers.push_back(layer);
  }
  part.found.profile.dtype = "bf16";
  part.found.profile.microbatch_size = 2;
  Measurement measured;
  measured.kernels = 10;
  measured.kernel_time = 100;
  measured.layer_time = 60;
  measured.rest = {{"optimizer", 1, 30}, {label, 1, 10}};
  measured.steps = 5;
  part.found.profile.measurement = measured;
  part.found.notes = {"of every part", "of " + label};
  return part;
}

Names names_of(const Attribution& joined) {
  Names names;
  for (const ProfileLayer& layer : joined.profile.layers) names.push_back(layer.name);
  return names;
}

TEST_CASE("interleaved chunks stand in the order of the model") {
  const Attribution joined = joined_stages(
      {part("rank 0", {"embedding", "l.0", "l.1", "head", "GPT.embedding", "l.4", "l.5", "GPT.head"}),
       part("rank 1", {"embedding", "l.2", "l.3", "head", "GPT.embedding", "l.6", "l.7", "GPT.head", "loss"})});
  CHECK(names_of(joined) == Names{"embedding", "l.0", "l.1", "head of rank 0", "embedding of rank 1", "l.2", "l.3",
                                  "head of rank 1", "GPT.embedding of rank 0", "l.4", "l.5", "GPT.head of rank 0",
                                  "GPT.embedding of rank 1", "l.6", "l.7", "GPT.head", "loss"});
  const Measurement& measured = joined.profile.measurement.value();
  CHECK(measured.kernels == 20);
  CHECK(measured.kernel_time == 200);
  CHECK(measured.rest == std::vector<RestItem>{{"optimizer", 2, 60}, {"rank 0", 1, 10}, {"rank 1", 1, 10}});
  CHECK(joined.notes.front() ==
        "2 stages of a pipeline as one model: rank 0 (l.0 to l.1, l.4 to l.5), rank 1 (l.2 to l.3, l.6 to l.7)");
}

TEST_CASE("of overhead the largest counts, and samples of the clock add up") {
  StagePart first = part("a", {"l.0"});
  StagePart second = part("b", {"l.1"});
  Measurement& one = first.found.profile.measurement.value();
  Measurement& other = second.found.profile.measurement.value();
  one.overhead_ppm = 20'000;
  other.overhead_ppm = 30'000;
  one.overhead_run_ppm = 145'000;
  one.clock.least_mhz = 1200;
  one.clock.most_mhz = 1980;
  one.clock.samples = 9;
  one.clock.slowed_samples = 1;
  one.clock.power_capped_samples = 7;
  other.clock.least_mhz = 1500;
  other.clock.most_mhz = 1900;
  other.clock.samples = 4;
  other.clock.slowed_samples = 2;
  other.clock.power_capped_samples = 3;
  const Measurement joined = joined_stages({first, second}).profile.measurement.value();
  CHECK(joined.overhead_ppm == 30'000);
  CHECK(joined.overhead_run_ppm == 145'000);
  CHECK(joined.clock.least_mhz == 1200);
  CHECK(joined.clock.most_mhz == 1980);
  CHECK(joined.clock.samples == 13);
  CHECK(joined.clock.slowed_samples == 3);
  CHECK(joined.clock.power_capped_samples == 10);
}

TEST_CASE("what ran nowhere within the pipeline is left out") {
  StagePart first = part("rank 0", {"embedding", "l.0"});
  StagePart empty = part("rank 0", {"head"}, 0);
  first.found.profile.layers.push_back(empty.found.profile.layers.front());
  StagePart last = part("rank 1", {"embedding"}, 0);
  for (const ProfileLayer& layer : part("rank 1", {"l.1", "head"}).found.profile.layers) {
    last.found.profile.layers.push_back(layer);
  }
  const Attribution joined = joined_stages({first, last});
  CHECK(names_of(joined) == Names{"embedding", "l.0", "l.1", "head"});
  CHECK(joined.profile.layers.front().forward.median == 1000);
  CHECK(joined.profile.layers.back().forward.median == 1000);
}

TEST_CASE("notes of every part are said once, the others with their part, and what no part has is said") {
  const Attribution joined = joined_stages({part("a", {"l.1"}), part("b", {"l.2"})});
  CHECK(joined.notes == Names{"2 stages of a pipeline as one model: a (l.1), b (l.2)",
                              "no recording has l.0: it is missing unless these layers count from 1", "of every part",
                              "a: of a", "b: of b"});
}

TEST_CASE("stages without numbers stand in the order in which they are given") {
  const Attribution joined =
      joined_stages({part("a", {"wte"}), part("b", {"l.0", "l.1"}), part("c", {"out", "loss"}), part("d", {"loss"})});
  CHECK(names_of(joined) == Names{"wte", "l.0", "l.1", "out", "loss of c", "loss"});
  CHECK(joined.notes.front() ==
        "4 stages of a pipeline as one model: a (no numbered layer: placed in this order), b (l.0 to l.1), c (no "
        "numbered layer: placed in this order), d (no numbered layer: placed in this order)");
}

TEST_CASE("profiles of different sizes are no stages of one model") {
  StagePart other = part("b.json", {"l.1"});
  other.found.profile.microbatch_size = 4;
  const Diagnostic problem = first_problem([&] { static_cast<void>(joined_stages({part("a.json", {"l.0"}), other})); });
  CHECK(problem.code == "L020");
  CHECK(problem.message == "the microbatch sizes of a.json and b.json differ");
}

TEST_CASE("recordings with a block in common are of one stage") {
  using Stages = std::vector<std::vector<std::size_t>>;
  CHECK(stages_of({{"embedding", "l.0", "l.1"}, {"l.1", "l.0", "head"}, {"embedding", "l.2"}, {"l.2"}}) ==
        Stages{{0, 1}, {2, 3}});
  CHECK(stages_of({{"a", "b"}, {"c"}}) == Stages{{0, 1}});          // no numbers at all
  CHECK(stages_of({{"l.0"}, {"out"}, {}}) == Stages{{0, 2}, {1}});  // a stage without blocks, a process without layers
  CHECK(stages_of({{}, {}}) == Stages{{0, 1}});
  CHECK(stages_of({{}, {"l.0"}, {"l.1"}}) == Stages{{0, 1}, {2}});
}

TEST_CASE("a block is numbered by the first part of its name that is a number") {
  CHECK(block_name("decoder.layers.12")->list == "decoder.layers.");
  CHECK(block_name("decoder.layers.12")->number == 12);
  CHECK(block_name("layers.3.blocks.1")->number == 3);
  CHECK(block_name("7")->number == 7);
  for (const char* other : {"embedding", "Block_3", "layer3", "", ".", "l.1234567890", "l.-1"}) {
    CHECK_FALSE(block_name(other).has_value());
  }
}

TEST_CASE("layers are apart from a quarter and 5 us on") {
  const auto apart = [](Nanoseconds one, Nanoseconds other) {
    const StagePart a = part("", {"l.0"}, one);
    const StagePart b = part("", {"l.0"}, other);
    return !differences_between({{"rank 0", &a.found.profile}, {"rank 1", &b.found.profile}}).empty();
  };
  CHECK_FALSE(apart(40'000, 40'000));
  CHECK_FALSE(apart(40'000, 50'000));
  CHECK(apart(40'000, 50'004));
  CHECK_FALSE(apart(1'000, 3'500));  // backward 5 us apart, not more
  CHECK(apart(1'000, 3'501));
  StagePart a = part("", {"l.0"});
  StagePart b = a;
  b.found.profile.layers.front().parameters = 4096;
  CHECK(differences_between({{"rank 0", &a.found.profile}, {"rank 3", &b.found.profile}}) ==
        "layers of one name differ between ranks: \"l.0\" (parameters 0 B on rank 0, 4.00 KiB on rank 3); if these are "
        "stages and no replicas, --rank N takes one alone");
}

}  // namespace
}  // namespace debubble::testing
