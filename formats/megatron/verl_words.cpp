#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>

#include "formats/megatron/argument_table.hpp"
#include "formats/megatron/wrapper_words.hpp"
#include "formats/shell/unknowns.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/split.hpp"
#include "sim/core/word_list.hpp"

namespace debubble {
namespace {

using VerlValues = std::map<std::string, std::string>;

constexpr std::int64_t kMostOfVerl = 1 << 30;

struct VerlName {
  const char* name;
  const char* argument;
};
constexpr std::array<VerlName, 4> kVerlNames{
    {{"virtual-pipeline-model-parallel-size", "num-virtual-stages-per-pipeline-rank"},
     {"num-layers-in-first-pipeline-stage", "decoder-first-pipeline-num-layers"},
     {"num-layers-in-last-pipeline-stage", "decoder-last-pipeline-num-layers"},
     {"microbatch-group-size-per-vp-stage", "microbatch-group-size-per-virtual-pipeline-stage"}}};

// What stands at the top of an engine's section and is no argument of Megatron's; all of these move or save what lies
// still between two steps.
constexpr std::string_view kBetweenSteps =
    "param-offload optimizer-offload grad-offload use-mbridge vanilla-mbridge use-dist-checkpointing dtype "
    "forward-only use-remove-padding";

bool is_no(const std::string& text) { return text == "False" || text == "false"; }

class VerlReader {
 public:
  explicit VerlReader(const VerlValues& values) : values_(values) {
    const bool actor = std::any_of(values.begin(), values.end(),
                                   [](const auto& one) { return one.first.starts_with("actor_rollout_ref."); });
    if (!actor) return;
    root_ = "actor_rollout_ref.actor.";
    model_ = "actor_rollout_ref.model.";
  }

  WrapperWords run() {
    refuse_parts();
    if (!sft()) {
      result_.notes.emplace_back(
          "verl: one update of the actor is simulated; answers, the critic and the reference model are not");
    }
    const bool megatron = is_megatron();
    megatron ? read_megatron_engine() : read_fsdp_engine();
    read_ranks();
    read_batch();
    const std::string optimizer = megatron ? value(optimizer_ + "optimizer").value_or("adam") : "adam";
    if (optimizer != "adam") add("optimizer", optimizer);
    if (!yes(model_ + "mtp.enable", false)) add("mtp-num-layers", "0");
    if (!open_.empty()) add("global-batch-size", open_);
    return std::move(result_);
  }

 private:
  std::optional<std::string> value(const std::string& key) const {
    const auto found = values_.find(key);
    const bool none = found == values_.end() || found->second == "null" || found->second == "None";
    return none ? std::nullopt : std::optional(found->second);
  }

  // What is not known of a script is asked for behind --global-batch-size.
  std::int64_t count(const std::string& key, std::int64_t fallback) {
    const auto given = value(key);
    if (given && shell::has_mark(*given)) open_ = *given;
    if (!given || shell::has_mark(*given)) return fallback;
    const auto number = count_of(*given, kMostOfVerl);
    const std::int64_t least = fallback == 0 ? 0 : 1;
    if (number && *number >= least) return *number;
    refuse_size(key + "=" + *given + " is no count");
    return fallback;
  }

  void refuse_size(const std::string& what) {
    result_.refused = "verl: " + what;
    result_.help = "1 to " + std::to_string(kMostOfVerl) + " is read";
  }

  bool yes(const std::string& key, bool fallback) const {
    const auto given = value(key);
    return given ? !is_no(*given) : fallback;
  }

  bool sft() const { return root_.empty(); }

  // Hydra's choice of a file, or the strategy that such a file names; without either verl trains by FSDP.
  bool is_megatron() const {
    const std::string named = value("actor_rollout_ref.actor.strategy").value_or("");
    if (!named.empty()) return named == "megatron";
    for (const char* key : {"model_engine", "engine", "--config-name"}) {
      if (const auto given = value(key)) return given->find("megatron") != std::string::npos;
    }
    return std::any_of(values_.begin(), values_.end(), [this](const auto& one) {
      return one.first.starts_with(root_ + "megatron.") || one.first == "engine.tensor_model_parallel_size" ||
             one.first == "engine.pipeline_model_parallel_size";
    });
  }

  void refuse_parts() {
    for (const char* name : {"lora_rank", "lora.rank"}) {
      if (count(model_ + name, 0) == 0) continue;
      result_.refused = "verl: " + model_ + name + "=" + *value(model_ + name) +
                        " trains a part of the weights, which is not modelled";
      result_.help = "0 is";
    }
    const std::string strategy = value("actor_rollout_ref.actor.strategy").value_or("fsdp");
    const std::string engine = value("model_engine").value_or(value("engine").value_or("fsdp"));
    for (const std::string& name : {strategy, engine}) {
      if (name == "megatron" || name == "fsdp" || name == "fsdp2" || name == "dp") continue;
      result_.refused = "verl: the engine " + name + " is not modelled";
      result_.help = "megatron, fsdp and fsdp2 are";
    }
  }

  void flag(const std::string& name) { result_.words.push_back("--" + name); }
  void add(const std::string& name, const std::string& text) {
    flag(name);
    result_.words.push_back(text);
  }

  void add_key(std::string name, std::string text) {
    std::replace(name.begin(), name.end(), '_', '-');
    for (const VerlName& known : kVerlNames) {
      if (name == known.name) name = known.argument;
    }
    if (is_word_in(kBetweenSteps, name)) return;
    const auto row = megatron_argument(name);
    if (row && row->values == ArgumentValues::kNone) {
      if (!is_no(text)) flag(name);
      return;
    }
    if (!row || row->values != ArgumentValues::kMany || !text.starts_with("[")) return add(name, text);
    flag(name);
    for (const char sign : {'[', ']', '"', '\''}) std::erase(text, sign);
    for (std::string& part : split(text)) {
      if (!part.empty()) result_.words.push_back(std::move(part));
    }
  }

  void read_megatron_engine() {
    const std::string engine = sft() ? "engine." : root_ + "megatron.";
    optimizer_ = sft() ? "optim." : root_ + "optim.";
    const std::array<std::string, 3> sections{engine + "override_transformer_config.", engine,
                                              optimizer_ + "override_optimizer_config."};
    for (const auto& [key, text] : values_) {
      if (text == "null" || text == "None") continue;
      for (const std::string& section : sections) {
        if (!key.starts_with(section)) continue;
        const std::string name = key.substr(section.size());
        if (name.find('.') == std::string::npos) add_key(name, text);
        break;
      }
    }
    for (const char* name :
         {"use_precision_aware_optimizer", "main_grads_dtype", "exp_avg_dtype", "exp_avg_sq_dtype"}) {
      if (const auto given = value(optimizer_ + name)) add_key(name, *given);
    }
    if (is_no(value(engine + "override_ddp_config.grad_reduce_in_fp32").value_or(""))) flag("grad-reduce-in-bf16");
    if (!value(sections.front() + "moe_token_dispatcher_type")) add("moe-token-dispatcher-type", "alltoall");
    if (!value(engine + "sequence_parallel")) flag("sequence-parallel");
    if (!value(engine + "use_distributed_optimizer")) flag("use-distributed-optimizer");
    flag(value(engine + "dtype").value_or("bfloat16") == "float16" ? "fp16" : "bf16");
    tensor_ = count(engine + "tensor_model_parallel_size", 1);
    pipeline_ = count(engine + "pipeline_model_parallel_size", 1);
    context_ = count(engine + "context_parallel_size", 1);
    chunks_ = count(engine + "virtual_pipeline_model_parallel_size", 1);
    group_ = count(engine + "override_transformer_config.microbatch_group_size_per_vp_stage", pipeline_);
  }

  void read_fsdp_engine() {
    const std::string engine = sft() ? "engine." : root_ + "fsdp_config.";
    flag("bf16");
    flag("use-megatron-fsdp");
    add("data-parallel-sharding-strategy",
        yes(engine + "reshard_after_forward", true) ? "optim_grads_params" : "optim_grads");
    context_ = count(engine + "ulysses_sequence_parallel_size",
                     sft() ? 1 : count(root_ + "ulysses_sequence_parallel_size", 1));
    if (context_ > 1) add("ds-sequence-parallel-size", std::to_string(context_));
    if (yes(model_ + "enable_gradient_checkpointing", true)) {
      add("recompute-granularity", "full");
      add("recompute-method", "uniform");
      add("recompute-num-layers", "1");
    }
    if (yes(engine + "offload_policy", false)) {
      result_.notes.push_back(
          "verl: offload_policy: weights, gradients and the optimizer's state count as lying on the GPU");
    }
    if (yes(model_ + "enable_activation_offload", false)) {
      result_.notes.push_back(
          "verl: enable_activation_offload: what is kept counts as lying on the GPU; see --transform offload");
    }
  }

  void read_ranks() {
    if (sft() && !value("trainer.n_gpus_per_node")) return;  // torchrun's, which the launch says
    const std::int64_t nodes = count("trainer.nnodes", 1);
    const std::int64_t each = count("trainer.n_gpus_per_node", 8);
    add("actor-num-nodes", std::to_string(nodes));
    add("actor-num-gpus-per-node", std::to_string(each));
    result_.ranks = nodes * each;
    if (result_.ranks > kMostOfVerl)
      refuse_size(std::to_string(nodes) + " x " + std::to_string(each) + " ranks are too many");
  }

  void read_batch() {
    const std::int64_t length = sft() ? count("data.max_length", 1024)
                                      : count("data.max_prompt_length", 512) + count("data.max_response_length", 512);
    std::int64_t samples = sft() ? count("data.train_batch_size", 256)
                                 : count(root_ + "ppo_mini_batch_size", 256) * count("actor_rollout_ref.rollout.n", 1);
    if (samples > kMostOfVerl) {
      refuse_size("a batch of " + std::to_string(samples) + " samples is too large");
      samples = kMostOfVerl;
    }
    add("seq-length", std::to_string(length));
    add("global-batch-size", std::to_string(samples));
    const std::int64_t replicas = std::max<std::int64_t>(1, result_.ranks / tensor_ / pipeline_ / context_);
    const std::string batch = sft() ? "data." : root_;
    if (yes(batch + "use_dynamic_bsz", sft())) {
      const std::int64_t tokens =
          sft() ? count("data.max_token_len_per_gpu", 8192) : count(root_ + "ppo_max_token_len_per_gpu", 16384);
      return pack(length, tokens * context_, std::max<std::int64_t>(1, samples / replicas));
    }
    if (const auto micro = value(sft() ? "data.micro_batch_size_per_gpu" : root_ + "ppo_micro_batch_size_per_gpu")) {
      return add("micro-batch-size", *micro);
    }
    if (sft()) return add("micro-batch-size", "4");
    if (const auto all = value(root_ + "ppo_micro_batch_size")) {  // of all ranks
      add("micro-batch-size",
          std::to_string(std::max<std::int64_t>(1, count(root_ + "ppo_micro_batch_size", 1) / replicas)));
    }
  }

  // As few microbatches as hold all tokens, and with several stages on a rank a multiple of their group. All samples
  // count as the longest, and microbatches as equal.
  void pack(std::int64_t length, std::int64_t tokens, std::int64_t samples) {
    const std::int64_t fit = std::max<std::int64_t>(1, tokens / length);
    std::int64_t least = std::min(samples, (samples * length + tokens - 1) / tokens);
    if (chunks_ > 1) least = (least + group_ - 1) / group_ * group_;
    std::int64_t size = std::max<std::int64_t>(1, std::min(fit, samples / least));
    while (size > 1 && (samples % size != 0 || (chunks_ > 1 && samples / size % group_ != 0))) --size;
    add("micro-batch-size", std::to_string(size));
    result_.notes.push_back("verl: use_dynamic_bsz: " + std::to_string(size) +
                            " samples of full length in each microbatch, equal ones; shorter samples would be more");
  }

  const VerlValues& values_;
  WrapperWords result_;
  std::string root_;
  std::string model_ = "model.";
  std::string optimizer_;
  std::string open_;
  std::int64_t tensor_ = 1;
  std::int64_t pipeline_ = 1;
  std::int64_t context_ = 1;
  std::int64_t chunks_ = 1;
  std::int64_t group_ = 1;
};

}  // namespace

WrapperWords verl_words(const VerlValues& values) { return VerlReader(values).run(); }

VerlValues verl_values(const std::vector<std::string>& given) {
  VerlValues values;
  for (std::size_t k = 0; k < given.size(); ++k) {
    std::string word = given[k];
    if ((word == "--config-name" || word == "-cn") && k + 1 < given.size()) values["--config-name"] = given[k + 1];
    while (word.starts_with("+")) word.erase(0, 1);
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos) values[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return values;
}

}  // namespace debubble
