#include "formats/megatron/translation_model.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "formats/megatron/rule_facts.hpp"
#include "formats/text/printable.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

class ModelArguments {
 public:
  ModelArguments(MegatronArguments& arguments, const MegatronLaunch& launch) : in_(arguments), launch_(launch) {}

  MegatronModel run(const std::string& name) {
    read_model(name);
    return std::move(model_);
  }

 private:
  void set(const std::string& flag, std::string value) { model_.flags.emplace_back(flag, std::move(value)); }

  void size(const std::string& key, std::int64_t value) {
    sizes_ += (sizes_.empty() ? "" : ",") + key + "=" + std::to_string(value);
  }

  void copy_size(const char* argument, const char* key) {
    if (const auto value = in_.number(argument)) size(key, *value);
  }

  std::int64_t required(const char* argument, std::string& missing) {
    const auto value = in_.number(argument);
    if (!value || *value == 0) missing += (missing.empty() ? "--" : ", --") + std::string(argument);
    return value.value_or(0);
  }

  void read_model(const std::string& name) {
    read_program();
    for (const char* other : {"hybrid-override-pattern", "hybrid-layer-pattern", "yaml-cfg"}) {
      const auto value = in_.word(other);
      if (!value) continue;
      const bool file = std::string(other) == "yaml-cfg";
      fail("F001", launch_place(launch_, name),
           "--" + std::string(other) + " " + printable(*value) +
               (file ? ": the arguments lie in that file" : ": blocks of several kinds are not modelled"),
           file ? "import a script that has them" : "use a model of attention and MLP blocks");
    }
    std::string missing;
    model_.layers = required("num-layers", missing);
    hidden_ = required("hidden-size", missing);
    const std::int64_t heads = required("num-attention-heads", missing);
    sequence_ = required("seq-length", missing);
    if (!missing.empty()) {
      const std::string first = missing.substr(0, missing.find(','));
      fail("F001", launch_place(launch_, name),
           "the arguments do not say how large the model is: " + missing + launch_.missing_files,
           launch_.script
               ? "write them with --arguments-only -o args.txt, add " + first + " N there, and import that file"
               : "add " + first + " N");
    }
    const bool swish = in_.flag("swiglu");
    const bool quick = in_.flag("quick-geglu");
    gated_ = swish || quick;
    narrow_ = swish;
    const bool rms = root_mean_square();
    set("model", gated_ && rms ? "llama" : "gpt");
    size("layers", model_.layers);
    size("hidden", hidden_);
    size("heads", heads);
    read_heads(heads);
    read_mlp();
    read_vocabulary();
    read_switches(rms);
    read_experts();
    set("model-size", sizes_);
    set("sequence", std::to_string(sequence_));
  }

  // By DeepSpeed's spelling, too.
  bool root_mean_square() {
    const std::string norm = in_.word_or_default("normalization");
    if (norm == "RMSNorm" || norm == "rmsnorm") return true;
    if (norm != "LayerNorm" && norm != "layernorm") in_.find("--normalization " + norm + ": counts as LayerNorm");
    return false;
  }

  // pretrain_bert.py is another model.
  void read_program() {
    const std::string base = launch_.program.substr(launch_.program.rfind('/') + 1);
    for (const char* other : {"bert", "t5", "retro", "vlm", "vision", "ict", "mamba"}) {
      if (!base.starts_with(std::string("pretrain_") + other)) continue;
      in_.find(base + ": the model counts as a GPT, with causal attention and no parts of its own");
      return;
    }
  }

  void read_heads(std::int64_t heads) {
    const auto groups = in_.number("num-query-groups");
    // Megatron-DeepSpeed has the number alone, and as many as heads by default.
    const bool deepspeed = in_.by_name("num-query-groups", "num-key-value-heads") && groups && *groups != heads;
    if (in_.flag("group-query-attention") || deepspeed) size("kv_heads", groups.value_or(1));
    const bool latent = in_.flag("multi-latent-attention");  // whose norms are always counted
    const auto channels = in_.number("kv-channels");         // which latent attention has by other names
    if (channels && !latent) size("head_size", *channels);
    if (in_.flag("qk-layernorm") && !latent) sizes_ += ",qk_norm=head";
    if (!latent) return;
    copy_size("q-lora-rank", "query_rank");
    size("kv_rank", in_.number_or_default("kv-lora-rank"));
    size("head_size", in_.number_or_default("qk-head-dim"));
    size("rope_size", in_.number_or_default("qk-pos-emb-head-dim"));
    size("value_size", in_.number_or_default("v-head-dim"));
    size("kv_heads", heads);
  }

  // Megatron narrows the MLP of --swiglu, and of no other gate, to two thirds, rounded down to a multiple of 64.
  void read_mlp() {
    const auto given = in_.number("ffn-hidden-size");
    feed_forward_ = given.value_or(narrow_ ? 4 * hidden_ * 2 / 3 / 64 * 64 : 4 * hidden_);
    size("feed_forward", feed_forward_);
    if (in_.flag("squared-relu")) in_.find("--squared-relu counts as GELU");
  }

  // The embedding is padded so that it can be split evenly.
  void read_vocabulary() {
    const auto padded = in_.number("padded-vocab-size");
    auto vocabulary = in_.number("vocab-size");
    const std::string tokenizer = in_.word("tokenizer-type").value_or("");
    const std::int64_t unit = in_.count_or_default("make-vocab-size-divisible-by");
    const auto target = in_.number("pad-vocab-size-to");
    const std::int64_t tensor = in_.count_or_default("tensor-model-parallel-size");
    if (padded) return set_vocabulary(*padded, tensor);
    if (target) return set_vocabulary(*target, tensor);
    if (!vocabulary && tokenizer == "GPT2BPETokenizer") vocabulary = 50257;
    if (!vocabulary && tokenizer.starts_with("Llama2")) vocabulary = 32000;
    if (!vocabulary) {
      in_.find(
          "the size of the vocabulary lies in the tokenizer's files, which are not here: 50,257 is taken; write "
          "--model-size vocabulary=N to change it");
      vocabulary = 50257;
    }
    const std::int64_t multiple = unit * tensor;
    set_vocabulary((*vocabulary + multiple - 1) / multiple * multiple, tensor);
  }

  // It is padded here, once.
  void set_vocabulary(std::int64_t padded, std::int64_t tensor) {
    constexpr std::int64_t kUsual = 128;
    size("vocabulary", padded);
    if (padded % (kUsual * tensor) != 0) size("vocabulary_unit", 1);
  }

  void read_switches(bool rms) {
    const std::string positions = in_.word_or_default("position-embedding-type");
    const bool rotary = positions == "rope" || in_.flag("use-rotary-position-embeddings");
    if (!rotary && positions != "learned_absolute") {
      in_.find("--position-embedding-type " + positions + ": counts as rotary positions");
    }
    const auto longest = in_.number("max-position-embeddings");
    if (!rotary && positions == "learned_absolute") size("positions", longest.value_or(sequence_));
    const auto yes = [this](const char* key, bool value) {
      sizes_ += std::string(",") + key + "=" + (value ? "yes" : "no");
    };
    const bool llama = gated_ && rms;
    if (!llama) {
      yes("gated", gated_);
      sizes_ += rms ? ",norm=rms" : ",norm=layer";
    }
    yes("biases", !in_.flag("disable-bias-linear"));
    if (in_.flag("add-qkv-bias")) yes("qkv_biases", true);
    yes("tied_embedding", !in_.flag("untie-embeddings-and-output-weights"));
  }

  void read_experts() {
    copy_size("mtp-num-layers", "predicted_tokens");
    const auto experts = in_.number("num-experts");
    if (!experts || *experts < 2) return;  // DeepSpeed's 1 is a dense model
    const std::vector<std::string> by_layer = in_.words("num-experts");
    if (std::adjacent_find(by_layer.begin(), by_layer.end(), std::not_equal_to<>()) != by_layer.end()) {
      in_.find("--num-experts differs from layer to layer: " + by_layer.front() + " count everywhere");
    }
    size("experts", *experts);
    const bool deepspeed = in_.flag("deepspeed");  // whose defaults are others
    const auto top = in_.number("topk");
    size("experts_per_token", in_.number("moe-router-topk").value_or(top.value_or(deepspeed ? 1 : 2)));
    if (const auto groups = in_.number("moe-router-num-groups"); groups > 1) {
      size("expert_groups", *groups);
      size("groups_per_token", in_.number("moe-router-group-topk").value_or(*groups));
    }
    size("expert_feed_forward", in_.number("moe-ffn-hidden-size").value_or(feed_forward_));
    copy_size("moe-shared-expert-intermediate-size", "shared_feed_forward");
    const auto interval = in_.number("expert-interval");
    if (in_.flag("moe-layer-freq")) {
      std::string every;  // a list may be written with blanks
      for (const std::string& word : in_.words("moe-layer-freq")) every += word;
      read_expert_blocks(every);
    } else if (deepspeed || interval) {
      if (const std::int64_t every_so_many = interval.value_or(2); every_so_many > 1) size("moe_every", every_so_many);
    }
    if (const auto factor = in_.word("moe-expert-capacity-factor")) set("capacity-factor", *factor);
    if (!in_.flag("moe-pad-expert-input-to-capacity") && in_.flag("moe-token-drop-policy")) {
      in_.find("tokens beyond the capacity are dropped, missing ones are not padded: they count as padded");
    }
    const bool deep = in_.flag("moe-enable-deepep");
    const std::string backend = in_.word_or_default("moe-flex-dispatcher-backend");
    if (deep || in_.word("moe-token-dispatcher-type") == "flex") {
      set("moe-dispatch", backend == "hybridep" ? "hybrid" : "deepep");
    }
    const std::string dispatcher = in_.word_or_default("moe-token-dispatcher-type");
    if (!deepspeed && !deep && in_.count_or_default("expert-model-parallel-size") > 1 && dispatcher == "allgather") {
      set("moe-dispatch", "allgather");
    }
    if (in_.flag("overlap-moe-expert-parallel-comm")) set("moe-overlap", "on");
    if (in_.flag("moe-shared-expert-overlap")) in_.find("--moe-shared-expert-overlap: nothing overlaps with it");
  }

  void read_expert_blocks(const std::string& text) {
    const auto blocks = expert_blocks(text, model_.layers);
    if (!blocks || static_cast<std::int64_t>(blocks->size()) != model_.layers) {
      return in_.find("--moe-layer-freq " + text + " is not understood: all blocks count with experts");
    }
    const auto first = std::find(blocks->begin(), blocks->end(), true);
    const std::int64_t dense = first - blocks->begin();
    if (std::find(first, blocks->end(), false) == blocks->end()) {
      if (dense > 0) size("dense_layers", dense);
      return;
    }
    std::string pattern;
    for (const bool experts : *blocks) pattern += experts ? '1' : '0';
    std::size_t period = 1;
    while (pattern.compare(period, std::string::npos, pattern, 0, pattern.size() - period) != 0) ++period;
    sizes_ += ",expert_blocks=" + pattern.substr(0, period);
  }

  MegatronArguments& in_;
  const MegatronLaunch& launch_;
  MegatronModel model_;
  std::string sizes_;
  bool gated_ = false;
  bool narrow_ = false;
  std::int64_t hidden_ = 0;
  std::int64_t feed_forward_ = 0;
  std::int64_t sequence_ = 0;
};

}  // namespace

MegatronModel read_megatron_model(MegatronArguments& arguments, const MegatronLaunch& launch, const std::string& name) {
  return ModelArguments(arguments, launch).run(name);
}

}  // namespace debubble
