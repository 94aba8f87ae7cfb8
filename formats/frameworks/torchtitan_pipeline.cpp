#include "formats/frameworks/torchtitan_pipeline.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/frameworks/torchtitan_models.hpp"
#include "formats/text/text.hpp"
#include "sim/core/numbers.hpp"

namespace debubble {
namespace {

// "layers.17": 17.
std::optional<std::int64_t> block_number(std::string_view name) {
  constexpr std::string_view kBlock = "layers.";
  return name.starts_with(kBlock) ? read_whole<std::int64_t>(name.substr(kBlock.size())) : std::nullopt;
}

class TitanPipelineReader {
 public:
  TitanPipelineReader(ConfigTree& tree, const TitanPipeline& pipeline, FrameworkScenario& scenario, RuleFacts& facts)
      : tree_(tree), pipeline_(pipeline), scenario_(scenario), facts_(facts) {}

  void read() {
    if (pipeline_.ranks < 2) return read_without_stages();
    read_microbatches();
    if (!tree_.problems().empty()) return;
    read_schedule();
    if (entry_ == nullptr || !tree_.problems().empty()) return;
    read_stages();
  }

 private:
  [[nodiscard]] std::string path(const std::string& key) const { return titan_path(tree_, "pipeline_parallel_" + key); }

  void refuse(const std::string& key, const std::string& message, const std::string& help) {
    tree_.complain("P012", key, message, help);
  }

  void read_without_stages() {
    for (const char* key : {"schedule", "microbatch_size", "microbatches", "first_stage_less_layers",
                            "last_stage_less_layers", "layers_per_stage", "schedule_csv", "split_points"}) {
      (void)tree_.find(path(key));
    }
    (void)tree_.find(titan_path(tree_, "module_fqns_per_model_part"));
    scenario_.set("microbatch-size", pipeline_.samples);
    scenario_.set("microbatches", pipeline_.runs);
  }

  void read_microbatches() {
    std::int64_t size = tree_.number(path("microbatch_size"), 1).value_or(1);
    if (const auto count = tree_.number(path("microbatches"), 1)) {
      size = std::max<std::int64_t>(1, pipeline_.samples / *count);
    }
    facts_.set("SAMPLES", pipeline_.samples);
    facts_.set("MICROBATCH_SIZE", size);
    microbatches_ = std::max<std::int64_t>(1, pipeline_.samples / size);
    scenario_.set("microbatch-size", size);
    scenario_.set("microbatches", microbatches_);
    facts_.set("MICROBATCHES", microbatches_);
    facts_.set("ROUNDS", std::max<std::int64_t>(1, microbatches_ / pipeline_.ranks));
    if (pipeline_.runs > 1) {
      scenario_.find("a step is " + std::to_string(pipeline_.runs) +
                     " runs of the pipeline one after another (global_batch_size); one of them is simulated, with the "
                     "whole optimizer step");
    }
  }

  void read_schedule() {
    const std::string name = tree_.word(path("schedule")).value_or("1F1B");
    const auto table = tree_.word(path("schedule_csv"));
    if (table && !table->empty()) {
      scenario_.set("schedule", *table);
      scenario_.set("p2p", std::string("late"));
      return scenario_.set("partition", std::string("torchtitan"));  // its stages are the table's
    }
    entry_ = schedule_of_torchtitan(name);
    if (entry_ == nullptr) {
      return tree_.complain(
          "P011", path("schedule"), "the schedule " + in_quotes(name) + " is not known",
          "`debubble list schedules` shows what there is; a table of it can be given as --schedule FILE.csv");
    }
    class_ = torchtitan_class(*entry_);
    facts_.set("CLASS", RuleFacts::Words{class_});
    scenario_.set("schedule", std::string(entry_->name));
    if (class_ == "Interleaved1F1B") scenario_.set("param", std::string("rounding=pytorch"));
    if (class_ == "GPipe") scenario_.set("param", std::string("backward=ascending"));
    if (pipeline_.ranks > 1) scenario_.set("p2p", std::string(class_ == "1F1B" ? "coupled" : "late"));
  }

  [[nodiscard]] bool one_stage_class() const { return class_ == "1F1B" || class_ == "GPipe"; }

  void read_stages() {
    set_stages((one_stage_class() ? 1 : 2) * pipeline_.ranks);
    first_ = tree_.number(path("first_stage_less_layers")).value_or(1);
    last_ = tree_.number(path("last_stage_less_layers")).value_or(1);
    const auto each = tree_.number(path("layers_per_stage"), 1);
    const std::string parts = titan_path(tree_, "module_fqns_per_model_part");
    const JsonValue* const modules = tree_.find(parts);
    const JsonValue* const points = tree_.find(path("split_points"));
    if (each) read_layers_per_stage(*each);
    if (modules != nullptr && !modules->children.empty()) {
      read_modules(parts, *modules);
    } else if (points != nullptr && !points->children.empty()) {
      read_points(*points);
    } else {
      add_cut();
      scenario_.set("partition", first_ == 1 && last_ == 1
                                     ? std::string("torchtitan")
                                     : "torchtitan:" + std::to_string(first_) + "," + std::to_string(last_));
    }
    if (chunks_ > 1) scenario_.set("chunks", chunks_);
  }

  void read_layers_per_stage(std::int64_t each) {
    const std::string key = path("layers_per_stage");
    if (pipeline_.layers < 1) {
      return require_key(tree_, "--model",
                         "how many stages " + in_quotes(key) + " makes follows from the model's layers",
                         "give a model of `debubble list models`, or leave --model out where the file names one");
    }
    set_stages((pipeline_.layers + first_ + last_ + each - 1) / each);
  }

  void set_stages(std::int64_t stages) {
    facts_.set("STAGES", stages);
    chunks_ = stages / pipeline_.ranks;
    facts_.set("CHUNKS", chunks_);
  }

  // What torchtitan's own cut has for each stage.
  void add_cut() {
    if (pipeline_.layers < 1) return;
    facts_.set("FIRST_LESS", first_);
    facts_.set("LAST_LESS", last_);
    facts_.set("STAGE_LAYERS",
               (pipeline_.layers + first_ + last_) / std::max<std::int64_t>(1, chunks_ * pipeline_.ranks));
  }

  // Parts as a layout, in which a stage may be without blocks.
  void read_modules(const std::string& key, const JsonValue& modules) {
    set_stages(static_cast<std::int64_t>(modules.children.size()));
    std::string layout;
    std::int64_t next = 0;
    for (const JsonValue& part : modules.children) {
      const bool last = &part == &modules.children.back();
      std::vector<std::int64_t> blocks;
      for (const JsonValue& name : part.children) {
        if (const auto block = block_number(name.text)) blocks.push_back(*block);
      }
      std::sort(blocks.begin(), blocks.end());
      for (const std::int64_t block : blocks) {
        if (block == next) ++next;
      }
      const auto of_part = static_cast<std::int64_t>(blocks.size());
      if (of_part > 0 && (blocks.back() != next - 1 || blocks.front() != next - of_part)) {
        return refuse(key, "blocks are not in the model's order, each once",
                      "stages of consecutive blocks are modelled");
      }
      if (&part == &modules.children.front()) layout += "E";
      if (of_part > 0) layout += "t*" + std::to_string(of_part);
      layout += last ? "L" : "|";
    }
    if (pipeline_.layers > 0 && next != pipeline_.layers) {
      return refuse(key, std::to_string(next) + " of " + std::to_string(pipeline_.layers) + " blocks have a stage",
                    "name each block once");
    }
    scenario_.set("partition", layout);
  }

  void read_points(const JsonValue& points) {
    const std::string key = path("split_points");
    set_stages(static_cast<std::int64_t>(points.children.size()) + 1);
    std::vector<std::int64_t> begins{0};
    for (const JsonValue& point : points.children) begins.push_back(block_number(point.text).value_or(-1));
    if (pipeline_.layers > 0) begins.push_back(pipeline_.layers);
    if (!std::is_sorted(begins.begin(), begins.end()) || begins[1] < 0 || pipeline_.layers < 1) {
      return refuse(key, "the points are no blocks in the model's order", "write them like layers.8, in order");
    }
    std::string layout = "E";
    for (std::size_t k = 1; k < begins.size(); ++k) {
      if (begins[k] > begins[k - 1]) layout += "t*" + std::to_string(begins[k] - begins[k - 1]);
      layout += k + 1 < begins.size() ? "|" : "L";
    }
    scenario_.set("partition", layout);
  }

  ConfigTree& tree_;
  const TitanPipeline& pipeline_;
  FrameworkScenario& scenario_;
  RuleFacts& facts_;
  const ScheduleEntry* entry_ = nullptr;
  std::string class_;
  std::int64_t microbatches_ = 1;
  std::int64_t chunks_ = 1;
  std::int64_t first_ = 1;
  std::int64_t last_ = 1;
};

}  // namespace

std::string titan_path(ConfigTree& tree, const std::string& key) {
  for (const char* section : {"parallelism.", "experimental.", "training."}) {
    if (tree.has(section + key)) return section + key;
  }
  return "parallelism." + key;
}

void read_titan_pipeline(ConfigTree& tree, const TitanPipeline& pipeline, FrameworkScenario& scenario,
                         RuleFacts& facts) {
  TitanPipelineReader(tree, pipeline, scenario, facts).read();
}

}  // namespace debubble
