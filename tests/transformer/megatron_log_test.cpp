// Training logs of Megatron-LM: the block of arguments and the iterations' times. The first is of bigscience's log
// meg_gpt2_base_n4_dp1_tp4_pp4 (bigscience-workshop/bigscience, commit 9e64edec2ad1fb9263bf39ba616a84ff64b4d947,
// Apache-2.0), without the arguments that change nothing.
#include "formats/megatron/log_iterations.hpp"

#include "formats/megatron/scenario_of.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

const std::string kLog = R"(| N/A   32C    P0    43W / 300W |      0MiB / 32510MiB |
using world size: 16, data-parallel-size: 1, tensor-model-parallel size: 4, pipeline-model-parallel size: 4 
------------------------ arguments ------------------------
  accumulate_allreduce_grads_in_fp32 .............. False
  attention_dropout ............................... 0.1
  checkpoint_activations .......................... True
  data_path ....................................... ['/data/a b ... c']
  ffn_hidden_size ................................. 24576
  fp16 ............................................ True
  bf16 ............................................ False
  global_batch_size ............................... 4
  hidden_dropout .................................. 0.1
  hidden_size ..................................... 6144
  kv_channels ..................................... 192
  make_vocab_size_divisible_by .................... 128
  max_position_embeddings ......................... 1024
  micro_batch_size ................................ 1
  num_attention_heads ............................. 32
  num_layers ...................................... 40
  num_layers_per_virtual_pipeline_stage ........... None
  pipeline_model_parallel_size .................... 4
  seq_length ...................................... 1024
  some_new_argument ............................... 7
  tensor_model_parallel_size ...................... 4
  world_size ...................................... 16
-------------------- end of arguments ---------------------
 > padded vocab (size: 50257) with 431 dummy tokens (new size: 50688)
 iteration       10/    1000 | consumed samples:           40 | elapsed time per iteration (ms): 2152.2 | learning rate: 0.000E+00 |
time (ms) | forward-compute: 306.62 | forward-recv: 527.58
 iteration       20/    1000 | consumed samples:           80 | elapsed time per iteration (ms): 1354.9 | learning rate: 3.750E-05 |
 iteration       30/    1000 | consumed samples:          120 | elapsed time per iteration (ms): 1376.1 | learning rate: 1.500E-04 |
 iteration       40/    1000 | consumed samples:          160 | elapsed time per iteration (ms): 1379.8 | learning rate: 1.499E-04 |
)";

std::string flag_of(const MegatronScenario& scenario, const std::string& name) {
  const auto found =
      std::find_if(scenario.flags.begin(), scenario.flags.end(), [&](const auto& flag) { return flag.first == name; });
  return found == scenario.flags.end() ? "" : found->second;
}

bool has_word(const MegatronLog& log, const std::string& word) {
  return std::find(log.words.begin(), log.words.end(), word) != log.words.end();
}

std::string replaced_in(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

TEST_CASE("a log's arguments are a scenario, and its iterations a measurement") {
  REQUIRE(is_megatron_log(kLog));
  const MegatronScenario scenario = read_megatron(kLog, "train.log");
  CHECK(flag_of(scenario, "model-size") ==
        "layers=40,hidden=6144,heads=32,head_size=192,feed_forward=24576,vocabulary=50688,positions=1024,gated=no,"
        "norm=layer,biases=yes,tied_embedding=yes");
  CHECK(flag_of(scenario, "devices") == "4");
  CHECK(flag_of(scenario, "tp") == "4");
  CHECK(flag_of(scenario, "dp").empty());
  CHECK(flag_of(scenario, "microbatches") == "4");
  CHECK(flag_of(scenario, "recompute") == "full");
  CHECK(flag_of(scenario, "dtype") == "fp16");
  CHECK(flag_of(scenario, "attention") == "unfused");  // no transformer_impl in those days
  CHECK(scenario.findings.empty());                    // some_new_argument is one of many defaults
  CHECK(scenario.measured_iteration == 1'376'100'000);
  CHECK(scenario.measured_lines == 3);  // of 4: the first warms up
  CHECK(contains(write_scenario(scenario, "train.log"),
                 "# measured: 1.376 s per iteration, the median of 3 lines of the log\n"));
}

TEST_CASE("lines may have something in front of them, and other line ends") {
  std::string text;
  for (std::size_t at = 0; at < kLog.size();) {
    const std::size_t end = kLog.find('\n', at);
    text += "[default3]: " + kLog.substr(at, end - at) + "\r\n";
    at = end + 1;
  }
  const MegatronScenario plain = read_megatron(kLog, "a");
  const MegatronScenario prefixed = read_megatron(text, "a");
  CHECK(plain.flags == prefixed.flags);
  CHECK(prefixed.measured_iteration == plain.measured_iteration);
}

TEST_CASE("of a job that was restarted the last start counts") {
  const std::string twice = kLog + replaced_in(kLog, "num_layers ...................................... 40",
                                               "num_layers ...................................... 48");
  const MegatronScenario scenario = read_megatron(twice, "a");
  CHECK(flag_of(scenario, "model-size").starts_with("layers=48,"));
  CHECK(scenario.measured_lines == 3);  // of 4: the first warms up
}

TEST_CASE("what newer releases store under the name of the opposite") {
  std::string text = replaced_in(kLog, "  fp16 ....",
                                 "  add_bias_linear ................................. False\n"
                                 "  overlap_p2p_comm ................................ False\n"
                                 "  gradient_accumulation_fusion .................... False\n"
                                 "  transformer_impl ................................ transformer_engine\n"
                                 "  fp16 ....");
  const MegatronLog log = read_megatron_log(text);
  for (const char* const word : {"--disable-bias-linear", "--no-overlap-p2p-communication",
                                 "--no-gradient-accumulation-fusion", "--transformer-impl"}) {
    CAPTURE(word);
    CHECK(has_word(log, word));
  }
  const MegatronScenario scenario = read_megatron(text, "a");
  CHECK(flag_of(scenario, "attention") == "flash");
  CHECK(flag_of(scenario, "p2p") == "coupled");
  CHECK(flag_of(scenario, "grad-accumulation") == "separate");
}

TEST_CASE("odd lines are no settings and no iterations") {
  const std::string odd = replaced_in(kLog, "  fp16 ....",
                                      "  ...\n .... 3\n two words ....... 4\n name ....\n name .......x\n  fp16 ....") +
                          " iteration  x/ 10 | elapsed time per iteration (ms): abc |\n"
                          " elapsed time per iteration (ms): 5.0 |\n"
                          " iteration 50/ 10 | elapsed time per iteration (ms): 1e999 |\n"
                          " iteration 60/ 10 | elapsed time per iteration (ms): 0 |\n";
  const MegatronLog log = read_megatron_log(odd);
  CHECK_FALSE(has_word(log, "--name"));
  CHECK(log.intervals.size() == 5);  // "1e999" is read up to its exponent, as 1 ms
  CHECK(flag_of(read_megatron(odd, "a"), "dtype") == "fp16");
}

TEST_CASE("timers and memory, in every form that Megatron-LM has printed them") {
  const std::string text =
      kLog +
      "[Rank 7] (after 20 iterations) memory (MB) | allocated: 1.0 | max allocated: 24432.009765625 | "
      "reserved: 2.0 | max reserved: 2.0[Rank 6] (after 20 iterations) memory (MB) | max allocated: 2\n"
      " iteration       50/    1000 | elapsed time per iteration (ms): 1400.0 | global batch size:  8 |\n"
      "(min, max) time across ranks (ms):\n"
      "    forward-compute ......: (173.61, 180.02)\n"
      "    bad ......: (3, 2)\n"
      " iteration       60/    1000 | elapsed time per iteration (ms): 1400.0 |\n"
      "    max time across ranks (ms):\n"
      "    optimizer ......: 5.5\n"
      " iteration       70/    1000 | elapsed time per iteration (ms): 1400.0 |\n"
      "times across ranks (ms):\n"
      "  forward-compute:\n"
      "     rank  0: 173.61\n"
      "     rank 12: 174.00\n"
      " iteration       80/    1000 | elapsed time per iter";
  const MegatronLog log = read_megatron_log(text);
  REQUIRE(log.intervals.size() == 7);
  using Of = LoggedTimer::Of;
  const std::vector<LoggedTimer> first{{"forward-compute", Of::kLastRank, 0, 306'620'000},
                                       {"forward-recv", Of::kLastRank, 0, 527'580'000}};
  CHECK(log.intervals[0].timers == first);
  CHECK(log.intervals[1].timers.empty());
  const std::vector<LoggedTimer> range{{"forward-compute", Of::kLeastRank, 0, 173'610'000},
                                       {"forward-compute", Of::kMostRank, 0, 180'020'000}};
  CHECK(log.intervals[4].timers == range);
  CHECK(log.intervals[4].global_batch == 8);
  CHECK(log.intervals[5].timers == std::vector<LoggedTimer>{{"optimizer", Of::kMostRank, 0, 5'500'000}});
  const std::vector<LoggedTimer> ranks{{"forward-compute", Of::kRank, 0, 173'610'000},
                                       {"forward-compute", Of::kRank, 12, 174'000'000}};
  CHECK(log.intervals[6].timers == ranks);
  REQUIRE(log.memory.size() == 2);
  CHECK(log.memory[0].rank == 7);
  CHECK(log.memory[0].max_allocated == 25'618'819'072);  // 24432.009765625 MiB
  CHECK(log.memory[1].max_allocated == 2 * 1024 * 1024);
  CHECK(log.cut);
  CHECK(log.blocks == 1);
}

TEST_CASE("the GPU is what nvidia-smi calls it, with its memory") {
  CHECK(read_megatron_log("|   0  Tesla V100-SXM2...  Off  | 00000000:1A:00.0 Off |   0 |\n"
                          "| N/A   46C    P0    44W / 300W |      0MiB / 32510MiB |\n" +
                          kLog)
            .device == "Tesla V100-SXM2... 32GB");
  CHECK(read_megatron_log("GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1)\n" + kLog).device == "NVIDIA A100-SXM4-40GB");
  CHECK(read_megatron_log(kLog).device.empty());
}

TEST_CASE("a block without its end, or without the model's size, is refused") {
  const std::string cut = kLog.substr(0, kLog.find("  world_size"));
  CHECK_FALSE(is_megatron_log(cut));
  const std::string small = replaced_in(kLog, "  hidden_size ", "  hidden_sizes ");
  const Diagnostic problem = first_problem([&] { (void)read_megatron(small, "train.log"); });
  CHECK(problem.code == "F001");
  CHECK(problem.place == "train.log");
  CHECK(median_iteration_time({}) == 0);
  MegatronLog one;
  one.intervals.push_back({100, 7, 0, 0, 0, {}});
  CHECK(median_iteration_time(measured_iterations(one, 0)) == 7);
}

}  // namespace
}  // namespace debubble
