#include "formats/megatron/older_arguments.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/text/printable.hpp"
#include "sim/core/error.hpp"
#include "sim/core/word_list.hpp"

namespace debubble {
namespace {

using DeepSpeedJson = nlohmann::json;

constexpr const char* kStandIn = "987654321987";  // for what is not known: nobody means this number

constexpr std::string_view kKnownKeys =
    "train_batch_size train_micro_batch_size_per_gpu gradient_accumulation_steps zero_optimization bf16 bfloat16 fp16 "
    "steps_per_print gradient_clipping prescale_gradients gradient_predivide_factor scheduler tensorboard wandb "
    "csv_monitor comet dump_state seed zero_allow_untested_optimizer checkpoint";
constexpr std::string_view kKnownKeysOfZero =
    "stage offload_optimizer offload_param cpu_offload allgather_partitions load_from_fp32_weights elastic_checkpoint "
    "ignore_unused_parameters legacy_stage1 round_robin_gradients stage3_gather_16bit_weights_on_model_save "
    "stage3_gather_fp16_weights_on_model_save";

std::string without_marks(const std::string& text) {
  std::string result;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text[k] != '\x01') {
      result += text[k];
      continue;
    }
    result += kStandIn;
    k = std::min(text.find('\x02', k), text.size() - 1);
  }
  return result;
}

class DeepSpeedConfig {
 public:
  DeepSpeedConfig(MegatronArguments& arguments, const MegatronLaunch& launch, const std::string& name)
      : arguments_(arguments), launch_(launch), place_(name + " -> " + launch.config_path) {
    root_ = DeepSpeedJson::parse(without_marks(launch.config), nullptr, false, true);
    if (root_.is_discarded() || !root_.is_object()) {
      fail("P001", printable(place_), "DeepSpeed's configuration is no JSON object",
           "give the file as the training reads it: --file " + printable(launch.config_path) + "=PATH");
    }
  }

  void apply() {
    number("train_batch_size", "global-batch-size");
    number("train_micro_batch_size_per_gpu", "micro-batch-size");
    number("gradient_accumulation_steps", "gas");
    if (root_.contains("zero_optimization") && root_["zero_optimization"].is_object()) {
      zero(root_["zero_optimization"]);
    } else {
      stage(0);
    }
    format("bf16", "fp16");
    format("bfloat16", "fp16");
    format("fp16", "bf16");
    name_others();
  }

 private:
  std::optional<std::int64_t> whole(const DeepSpeedJson& object, const char* key) const {
    if (!object.contains(key)) return std::nullopt;
    const DeepSpeedJson& value = object[key];
    if (value.is_string() && value.get<std::string>() == "auto") return std::nullopt;
    const bool unknown = value.dump().find(kStandIn) != std::string::npos;
    if (unknown) {
      fail("P030", printable(place_), std::string("\"") + key + "\" depends on what the script does not say",
           "give the file with its values: --file " + printable(launch_.config_path) + "=PATH");
    }
    const double number = value.is_number() ? value.get<double>() : -1;
    if (number < 0 || number > 1e9 || number != std::floor(number)) {
      fail("P004", printable(place_),
           std::string("\"") + key + "\" must be a whole number; got " + printable(value.dump()),
           "write a whole number");
    }
    return static_cast<std::int64_t>(number);
  }

  static bool is_off(const DeepSpeedJson& value) {
    if (value.is_null() || (value.is_boolean() && !value.get<bool>())) return true;
    if (!value.is_object()) return false;
    const auto enabled = value.find("enabled");
    return value.empty() || (enabled != value.end() && *enabled == false);
  }

  static bool is_adam(const DeepSpeedJson& optimizer) {
    const DeepSpeedJson type = optimizer.is_object() ? optimizer.value("type", DeepSpeedJson()) : DeepSpeedJson();
    return type == "Adam" || type == "AdamW" || type == "FusedAdam";
  }

  static void add_others(const DeepSpeedJson& object, std::string_view known, std::string& others) {
    for (const auto& [key, value] : object.items()) {
      if (is_word_in(known, key) || is_off(value)) continue;
      if (key == "optimizer" && is_adam(value)) continue;
      others += (others.empty() ? "\"" : ", \"") + key + "\"";
    }
  }

  // What is neither read nor known to be without effect.
  void name_others() {
    std::string others;
    add_others(root_, kKnownKeys, others);
    const auto zero = root_.find("zero_optimization");
    if (zero != root_.end() && zero->is_object()) add_others(*zero, kKnownKeysOfZero, others);
    if (others.empty()) return;
    arguments_.find(printable(others + " of " + launch_.config_path) + ": not modelled, and may change time or memory");
  }

  void number(const char* key, const std::string& name) {
    const auto value = whole(root_, key);
    if (!value || *value == 0) return;
    const auto given = arguments_.number(name);
    if (!given) {
      arguments_.set(name, std::to_string(*value));
    } else if (*given != *value) {
      arguments_.find("--" + name + " " + std::to_string(*given) + " and \"" + key + "\" " + std::to_string(*value) +
                      " of " + launch_.config_path + " differ: the command's counts, and DeepSpeed may refuse it");
    }
  }

  void stage(std::int64_t value) {
    const auto given = arguments_.number("zero-stage");
    if (given && *given != value) {
      arguments_.find("--zero-stage " + std::to_string(*given) + " and stage " + std::to_string(value) + " of " +
                      launch_.config_path + " differ: the file's counts, for DeepSpeed reads it");
    }
    arguments_.set("zero-stage", std::to_string(value));
  }

  void zero(const DeepSpeedJson& zero) {
    stage(whole(zero, "stage").value_or(0));
    for (const char* key : {"offload_optimizer", "offload_param"}) {
      if (!zero.contains(key) || !zero[key].is_object()) continue;
      const DeepSpeedJson device = zero[key].value("device", DeepSpeedJson("none"));
      if (device == "none") continue;
      arguments_.find(std::string("\"") + key + "\" of " + launch_.config_path +
                      ": not modelled (an optimizer or parameters on the host)");
    }
    if (zero.value("cpu_offload", false)) {
      arguments_.find("\"cpu_offload\" of " + launch_.config_path + ": not modelled (an optimizer on the host)");
    }
  }

  void format(const char* key, const char* other) {
    if (!root_.contains(key) || !root_[key].is_object()) return;
    const DeepSpeedJson enabled = root_[key].value("enabled", DeepSpeedJson(false));
    const bool on = enabled.is_boolean() && enabled.get<bool>();
    const std::string name = std::string(key) == "bfloat16" ? "bf16" : key;
    if (!on || arguments_.flag(name)) return;
    if (arguments_.flag(other)) {
      arguments_.find(std::string("--") + other + " and \"" + key + "\" of " + launch_.config_path +
                      " contradict each other: the command's counts");
      return;
    }
    arguments_.set(name, "");
  }

  MegatronArguments& arguments_;
  const MegatronLaunch& launch_;
  std::string place_;
  DeepSpeedJson root_;
};

}  // namespace

void apply_older_arguments(MegatronArguments& arguments) {
  const bool all = arguments.flag("checkpoint-activations");
  const bool method = arguments.by_name("recompute-method", "activations-checkpoint-method");
  if ((all || method) && !arguments.flag("recompute-granularity")) {
    arguments.set("recompute-granularity", "full");
    if (!arguments.flag("recompute-method")) arguments.set("recompute-method", "uniform");
  }
}

void apply_deepspeed_config(MegatronArguments& arguments, const MegatronLaunch& launch, const std::string& name) {
  const bool deepspeed = arguments.flag("deepspeed");
  if (!deepspeed) {
    if (!launch.config_path.empty()) {
      arguments.find("--deepspeed_config without --deepspeed: the file is not used");
    }
    return;
  }
  if (!launch.config.empty()) return DeepSpeedConfig(arguments, launch, name).apply();
  if (launch.config_path.empty()) return;
  const std::string path = printable(launch.config_path);
  if (!arguments.flag("zero-stage") || !arguments.flag("micro-batch-size")) {
    fail("P030", launch_place(launch, name),
         "ZeRO's stage and the batches are in " + path + ", which is not here" + launch.missing_files,
         "put it where the script finds it, or write --file " + path + "=PATH");
  }
  arguments.find(path + " is not here: --zero-stage of the command counts (--file " + path + "=PATH gives it)");
}

}  // namespace debubble
