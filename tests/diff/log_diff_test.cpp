// `debubble diff --log` on a training log of BigScience (traces/measured), as people run it.
#include "tests/cli/inputs.hpp"
#include "tests/support/command.hpp"
#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

using Json = nlohmann::json;

const std::string kTrainingLog = source_directory() + "/traces/measured/bigscience_p4.log";

std::string training_log() { return contents_of(kTrainingLog); }

// The lines that do not have the words.
std::string without_lines(const std::string& text, const std::string& words) {
  std::string kept;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string line = text.substr(at, end - at);
    if (!contains(line, words)) kept += line;
    at = end;
  }
  return kept;
}

Json log_difference(const Folder& folder, const std::string& log, const Words& more = {}) {
  Words arguments{"diff", "--log", log, "--format", "json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return folder.json(arguments);
}

TEST_CASE("a log is predicted from its own arguments, and set beside its iterations, timers and memory") {
  const Json diff = log_difference(Folder(), kTrainingLog);
  CHECK(diff["hardware"] == Json{{"name", "v100"}, {"source", "log"}});
  CHECK(diff["schedule"] == Json{{"name", "1f1b"}, {"devices", 4}, {"microbatches", 4}, {"chunks", 1}});
  CHECK(diff["lines"] == 17);  // of 20: the first warms up, in two more iterations skipped the optimizer
  CHECK(diff["lines_left_out"] == 3);
  CHECK(diff["step_ns"]["measured"] == 1'380'600'000);
  CHECK(diff["predicted_step_ns"] == diff["step_ns"]["predicted"]);
  // 4 samples an iteration.
  CHECK(std::abs(diff["samples_per_s"]["measured"].get<double>() - 4 / 1.3806) < 1e-9);
  CHECK(std::abs(diff["tokens_per_s"]["measured"].get<double>() - 4096 / 1.3806) < 1e-6);
  REQUIRE(diff["timers"].size() == 2);
  CHECK(diff["timers"][0]["timer"] == "forward-compute");
  CHECK(diff["timers"][0]["device"] == 3);
  CHECK(diff["timers"][0]["time_ns"]["measured"] == 175'990'000);
  REQUIRE(diff["idle"].size() == 1);
  CHECK(std::abs(diff["idle"][0]["idle_share"]["measured"].get<double>() - 0.5) < 0.001);
  REQUIRE(diff["memory"].size() == 4);
  CHECK(diff["memory"][0]["ranks"] == 4);
  CHECK(diff["memory"][0]["measured_bytes"] == 27'477'472'256);  // 26204.5595703125 MiB
  CHECK(diff["peak_memory"]["measured_bytes"] == 27'477'472'256);
  // What the model of a V100 reaches, without a fit: the A100's shares of the peak, and a network that is not known.
  CHECK(std::abs(diff["step_ns"]["predicted"].get<double>() / 1'380'600'000 - 0.739) < 0.01);
}

TEST_CASE_IN_FOLDER("text says what was predicted, measured and assumed, in 80 columns") {
  folder.write("train.log", training_log());
  const std::string text = folder.data("diff --log train.log --width 80");
  for (const char* const part :
       {"1f1b on 4 devices, 4 microbatches: predicted and measured\n", "on v100 (named in the log)",
        "train.log: 17 lines of iterations, up to iteration 200, 3 left out", "\nstep ", "\nbubble/step ",
        "\nsamples/s ", "\nforward d3 ", "\nidle share d3 ", "\npeak memory ", "most of all ranks", "\n  of d0 ",
        "most of 4 ranks", "not in the log, and taken to be\n", "--use-distributed-optimizer  off",
        "the network between pipeline ranks is not in the log",
        "2 lines with iterations that skipped the optimizer are left out"}) {
    CAPTURE(std::string(part));
    CAPTURE(text);
    CHECK(contains(text, part));
  }
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    CHECK(end - at <= 80);
    at = end + 1;
  }
  const std::string csv = folder.data({"diff", "--log", kTrainingLog, "--format", "csv"});
  CHECK(csv.find("quantity,device,unit,predicted,measured,gap,p10,p90\nstep,,ns,") == 0);
  CHECK(contains(csv, "\nbackward-compute,3,ns,"));
  CHECK(contains(csv, "\npeak_memory,3,bytes,"));
}

TEST_CASE_IN_FOLDER("of a log with only one of time and memory the other is not known") {
  folder.write("memory.log", without_lines(without_lines(training_log(), "elapsed time"), "time (ms)"));
  const Json memory = log_difference(folder, "memory.log");
  CHECK(memory["step_ns"].is_null());
  CHECK(memory["predicted_step_ns"].get<double>() > 0);
  CHECK(memory["memory"][3]["measured_bytes"].is_number());
  const std::string text = folder.data("diff --log memory.log --width 90");
  CHECK(contains(text, "memory only, no line of iterations"));
  folder.write("time.log", without_lines(training_log(), "max allocated"));
  const Json time = log_difference(folder, "time.log");
  CHECK(time["memory"][0]["measured_bytes"].is_null());
  CHECK(time["memory"][0]["ranks"] == 0);
  CHECK(contains(folder.data("diff --log time.log --format csv"), "\npeak_memory,0,bytes,228"));
  CHECK(folder.refusal("diff --log time.log --tolerance memory=5%").find("error[D013]") == 0);
  CHECK(folder.refusal("diff --log memory.log --tolerance step=5%").find("error[D013]") == 0);
}

TEST_CASE_IN_FOLDER("a tolerance makes a gap of a log a finding") {
  const Outcome outcome = folder.run({"diff", "--log", kTrainingLog, "--tolerance", "step=10%,memory=20.5%"});
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.err,
                 "debubble: --tolerance: step: the median of 17 lines and predicted differ by 34.9 %, more than "
                 "10.0 %\n"));
  CHECK(contains(outcome.err,
                 "debubble: --tolerance: memory: the peaks of device 1 differ by 21.1 %, more than 20.5 %\n"));
  CHECK_FALSE(contains(outcome.err, "device 0"));
  CHECK(folder.run({"diff", "--log", kTrainingLog, "--tolerance", "step=40%,memory=40%"}).status == 0);
}

TEST_CASE_IN_FOLDER("a scenario takes the place of the log's arguments") {
  CHECK(folder.run({"import", "--from", "megatron", kTrainingLog, "-o", "plan.toml"}).status == 0);
  folder.write("plan.toml", folder.read("plan.toml") + "hardware = \"v100\"\nstep = \"on\"\n");
  const Json own = log_difference(folder, kTrainingLog);
  const Json planned = folder.json({"diff", "plan.toml", "--log", kTrainingLog, "--format", "json"});
  CHECK(planned["step_ns"] == own["step_ns"]);
  CHECK(planned["predicted_from"] == "plan.toml");
  CHECK(planned["hardware"]["source"] == "scenario");
}

TEST_CASE_IN_FOLDER("timers of all ranks are set beside the least and the most of the devices") {
  std::string text = without_lines(training_log(), "time (ms)");
  for (std::size_t at = text.find(" iteration "); at != std::string::npos; at = text.find(" iteration ", at)) {
    at = text.find('\n', at) + 1;
    text.insert(at,
                "(min, max) time across ranks (ms):\n    forward-compute ....: (170.00, 176.50)\n"
                "    backward-compute ...: (500.00, 515.00)\n");
  }
  folder.write("train.log", text);
  const Json diff = log_difference(folder, "train.log");
  REQUIRE(diff["timers"].size() == 4);
  CHECK(diff["timers"][0]["of"] == "least rank");
  CHECK(diff["timers"][1]["of"] == "most rank");
  CHECK(diff["timers"][1]["time_ns"]["measured"] == 176'500'000);
  CHECK(diff["timers"][1]["time_ns"]["predicted"].get<double>() >
        diff["timers"][0]["time_ns"]["predicted"].get<double>());
  CHECK(diff["idle"].empty());
}

TEST_CASE_IN_FOLDER("logs that cannot be compared are refused, with the place and the remedy") {
  const std::string log = training_log();
  const auto refused = [&](const std::string& text, const std::string& code, const std::string& words) {
    folder.write("train.log", text);
    const std::string refusal = folder.refusal("diff --log train.log");
    CAPTURE(words);
    CAPTURE(refusal);
    CHECK(refusal.find("error[" + code + "]") == 0);
    CHECK(contains(refusal, words));
  };
  const std::string iterations = log.substr(log.find(" iteration "));
  refused(iterations, "P010", "no block of arguments");
  refused(log.substr(0, 2000), "P010", "the block of arguments has no end");
  refused(log + log.substr(0, 2000), "P010", "the block of arguments has no end");
  refused(log.substr(0, log.find(" iteration ")), "P016", "nothing was measured");
  refused(log + iterations, "P012", "iteration 10 comes after iteration 200: lines are repeated or not in order");
  const std::string pipeline = "pipeline_model_parallel_size .................... 4";
  refused(replaced(log, pipeline, pipeline.substr(0, pipeline.size() - 1) + "1"), "P016", "the job has no pipeline");
  refused(replaced(log, pipeline, pipeline + "000000"), "P012", "more than 1000000");
  refused(replaced(log, pipeline, pipeline + "000000000"), "P012", "which is not a whole number");
  refused(replaced(log, pipeline, pipeline.substr(0, pipeline.size() - 1) + "3"), "P012",
          "world_size 16 is not a multiple");
  refused(replaced(log, "[Rank 7]", "[Rank 77]"), "P012", "there is memory of rank 77, and the job has 16 ranks");
  refused(replaced(log, "  global_batch_size ............................... 4",
                   "  global_batch_size ............................... 8"),
          "P012", "the arguments have a global batch of 8 samples, and no iteration has: the last one's is 4");
  refused(replaced(log, "  hidden_size", "  hidden_sizes"), "F001", "--hidden-size");
  refused(replaced(log, "num_layers ...................................... 40",
                   "num_layers ...................................... 2000000000"),
          "C006", "train.log, as --model-size");
  std::string many = without_lines(log, "  global_batch_size");
  many = replaced(many, "  hidden_size", "  global_batch_size ..... 2000000000\n  hidden_size");
  for (std::size_t at = many.find("global batch size:     4"); at != std::string::npos;
       at = many.find("global batch size:     4")) {
    many.replace(at, 24, "global batch size: 2000000000");
  }
  refused(many, "S015", "train.log, as --microbatches");
  refused(replaced(log, "Tesla V100-SXM2", "Riva TNT2"), "C004", "whose figures are not known");
  refused(without_lines(log, "|   0  "), "C004", "does not say on which GPUs");
}

TEST_CASE_IN_FOLDER("a log that grows while it is read, and one of a job that was restarted") {
  const std::string log = training_log();
  folder.write("cut.log", log.substr(0, log.find("elapsed time per iteration (ms): 1382.2") + 36));
  const Json cut = log_difference(folder, "cut.log");
  CHECK(cut["last_iteration"] == 190);
  CHECK(contains(cut.dump(), "ends within a line of an iteration, which is left out"));
  folder.write("twice.log", log + log);
  const Json twice = log_difference(folder, "twice.log");
  CHECK(twice["lines"] == 17);
  CHECK(contains(twice.dump(), "2 starts of the job: the last counts"));
}

}  // namespace
}  // namespace debubble::testing
