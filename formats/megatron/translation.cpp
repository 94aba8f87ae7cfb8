#include "formats/megatron/translation.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>

#include "formats/megatron/arguments.hpp"
#include "formats/megatron/expert_ranks.hpp"
#include "formats/megatron/launch.hpp"
#include "formats/megatron/number_formats.hpp"
#include "formats/megatron/recompute_modules.hpp"
#include "formats/megatron/tensor_overlap.hpp"
#include "formats/text/printable.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

class Translation {
 public:
  Translation(MegatronArguments& arguments, const MegatronLaunch& launch) : in_(arguments), launch_(launch) {}

  MegatronScenario run(const std::string& name) {
    read_model(name);
    read_split(name);
    read_schedule();
    read_training();
    read_step();
    scenario_.findings = in_.findings();
    return std::move(scenario_);
  }

 private:
  void set(const std::string& flag, std::string value) { scenario_.flags.emplace_back(flag, std::move(value)); }

  void set_number(const std::string& flag, std::int64_t value) { set(flag, std::to_string(value)); }

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
    for (const char* other : {"hybrid-override-pattern", "hybrid-layer-pattern", "yaml-cfg"}) {
      const auto value = in_.word(other);
      if (!value) continue;
      const bool file = std::string(other) == "yaml-cfg";
      fail("F001", name,
           "--" + std::string(other) + " " + printable(*value) +
               (file ? ": the arguments lie in that file" : ": blocks of several kinds are not modelled"),
           file ? "import a script that has them" : "use a model of attention and MLP blocks");
    }
    std::string missing;
    layers_ = required("num-layers", missing);
    hidden_ = required("hidden-size", missing);
    const std::int64_t heads = required("num-attention-heads", missing);
    sequence_ = required("seq-length", missing);
    if (!missing.empty()) {
      throw InputError(Diagnostic{"F001", name, "the arguments do not say how large the model is: " + missing,
                                  "a variable that only the environment sets must be filled in first"});
    }
    gated_ = in_.flag("swiglu");
    const bool rms = in_.word("normalization").value_or("LayerNorm") == "RMSNorm";
    set("model", gated_ && rms ? "llama" : "gpt");
    size("layers", layers_);
    size("hidden", hidden_);
    size("heads", heads);
    read_heads(heads);
    read_mlp();
    read_vocabulary();
    read_switches(rms);
    read_experts();
    set("model-size", sizes_);
    set_number("sequence", sequence_);
  }

  void read_heads(std::int64_t heads) {
    const bool grouped = in_.flag("group-query-attention");
    const auto groups = in_.number("num-query-groups");
    if (grouped) size("kv_heads", groups.value_or(1));
    copy_size("kv-channels", "head_size");
    const bool latent = in_.flag("multi-latent-attention");  // whose norms are always counted
    if (in_.flag("qk-layernorm") && !latent) sizes_ += ",qk_norm=head";
    if (!latent) return;
    copy_size("q-lora-rank", "query_rank");
    size("kv_rank", in_.number("kv-lora-rank").value_or(512));
    size("head_size", in_.number("qk-head-dim").value_or(128));
    size("rope_size", in_.number("qk-pos-emb-head-dim").value_or(64));
    size("value_size", in_.number("v-head-dim").value_or(128));
    size("kv_heads", heads);
  }

  // Megatron narrows a gated MLP to two thirds, rounded down to a multiple of 64.
  void read_mlp() {
    const auto given = in_.number("ffn-hidden-size");
    feed_forward_ = given.value_or(gated_ ? 4 * hidden_ * 2 / 3 / 64 * 64 : 4 * hidden_);
    size("feed_forward", feed_forward_);
    if (in_.flag("squared-relu")) in_.find("--squared-relu counts as GELU");
  }

  // The embedding is padded so that it can be split evenly.
  void read_vocabulary() {
    const auto padded = in_.number("padded-vocab-size");
    auto vocabulary = in_.number("vocab-size");
    const std::string tokenizer = in_.word("tokenizer-type").value_or("");
    const std::int64_t multiple =
        in_.count("make-vocab-size-divisible-by").value_or(128) * in_.count("tensor-model-parallel-size").value_or(1);
    if (padded) return size("vocabulary", *padded);
    if (!vocabulary && tokenizer == "GPT2BPETokenizer") vocabulary = 50257;
    if (!vocabulary && tokenizer.starts_with("Llama2")) vocabulary = 32000;
    if (!vocabulary) {
      in_.find(
          "the size of the vocabulary lies in the tokenizer's files, which are not here: 50,257 is taken; write "
          "--model-size vocabulary=N to change it");
      vocabulary = 50257;
    }
    size("vocabulary", (*vocabulary + multiple - 1) / multiple * multiple);
  }

  void read_switches(bool rms) {
    const std::string positions = in_.word("position-embedding-type").value_or("learned_absolute");
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
    const auto experts = in_.number("num-experts");
    if (!experts || *experts < 2) return;  // DeepSpeed's 1 is a dense model
    const std::vector<std::string> by_layer = in_.words("num-experts");
    if (std::adjacent_find(by_layer.begin(), by_layer.end(), std::not_equal_to<>()) != by_layer.end()) {
      in_.find("--num-experts differs from layer to layer: " + by_layer.front() + " count everywhere");
    }
    size("experts", *experts);
    size("experts_per_token", in_.number("moe-router-topk").value_or(2));
    if (const auto groups = in_.number("moe-router-num-groups"); groups > 1) {
      size("expert_groups", *groups);
      size("groups_per_token", in_.number("moe-router-group-topk").value_or(*groups));
    }
    size("expert_feed_forward", in_.number("moe-ffn-hidden-size").value_or(feed_forward_));
    copy_size("moe-shared-expert-intermediate-size", "shared_feed_forward");
    copy_size("mtp-num-layers", "predicted_tokens");
    if (const auto every = in_.word("moe-layer-freq")) read_expert_blocks(*every);
    if (const auto factor = in_.word("moe-expert-capacity-factor")) set("capacity-factor", *factor);
    if (!in_.flag("moe-pad-expert-input-to-capacity") && in_.flag("moe-token-drop-policy")) {
      in_.find("tokens beyond the capacity are dropped, missing ones are not padded: they count as padded");
    }
    const auto tensor = in_.number("expert-tensor-parallel-size");
    if (tensor && *tensor != in_.count("tensor-model-parallel-size").value_or(1)) {
      in_.find("--expert-tensor-parallel-size " + std::to_string(*tensor) +
               ": experts are modelled as split over all tensor ranks");
    }
    const bool deep = in_.flag("moe-enable-deepep");
    const std::string backend = in_.word("moe-flex-dispatcher-backend").value_or("deepep");
    if (deep || in_.word("moe-token-dispatcher-type") == "flex") {
      set("moe-dispatch", backend == "hybridep" ? "hybrid" : "deepep");
    }
    if (in_.flag("overlap-moe-expert-parallel-comm")) set("moe-overlap", "on");
    if (in_.flag("moe-shared-expert-overlap")) in_.find("--moe-shared-expert-overlap: nothing overlaps with it");
  }

  // "2", or Python's "([0]*3+[1]*58)": so many dense blocks first, then blocks with experts.
  void read_expert_blocks(const std::string& text) {
    if (!text.empty() && text.size() < 10 &&
        std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      return size("moe_every", std::stoll(text));
    }
    std::string plain = text;
    for (const char blank : {' ', '(', ')', '"', '\''}) std::erase(plain, blank);
    std::int64_t dense = 0;
    std::int64_t rest = 0;
    if (std::sscanf(plain.c_str(), "[0]*%ld+[1]*%ld", &dense, &rest) == 2 && dense + rest == layers_) {
      return size("dense_layers", dense);
    }
    if (std::sscanf(plain.c_str(), "[1]*%ld", &rest) == 1 && rest == layers_) return;
    in_.find("--moe-layer-freq " + text + " is not understood: all blocks count with experts");
  }

  void read_split(const std::string& name) {
    tensor_ = in_.count("tensor-model-parallel-size").value_or(1);
    pipeline_ = in_.count("pipeline-model-parallel-size").value_or(1);
    context_ = in_.count("context-parallel-size").value_or(1);
    if (tensor_ > 1) set_number("tp", tensor_);
    if (context_ > 1) set_number("cp", context_);
    const std::string exchange = in_.word("cp-comm-type").value_or("p2p");
    if (context_ > 1 && exchange == "a2a") set("context-exchange", "all-to-all");
    if (exchange != "a2a" && exchange != "p2p") in_.find("--cp-comm-type " + exchange + ": counts as p2p");
    if (in_.flag("sequence-parallel") && tensor_ > 1) set("sequence-parallel", "true");
    const std::int64_t model = tensor_ * pipeline_ * context_;
    const std::int64_t world = launch_.ranks.value_or(in_.count("world-size").value_or(0));
    if (world == 0 && launch_.script) {
      fail("P030", name, "the script does not say on how many ranks it runs (" + launch_.missing_ranks + ")",
           "say it: --gpus N, ranks in all");
    }
    if (world == 0) {
      in_.find(
          "the number of ranks is not among the arguments (--gpus N gives it): one replica of the pipeline is taken; "
          "write --dp N to change it");
    } else if (world % model != 0) {
      in_.find(std::to_string(world) + " ranks are no multiple of tensor x context x pipeline = " +
               std::to_string(model) + ": one replica of the pipeline is taken");
    } else {
      data_ = world / model;
    }
    const std::int64_t expert = expert_ranks(in_, tensor_, world > 0 ? data_ * context_ : 0);
    if (expert > 1) set_number("ep", expert);
    const std::int64_t least = expert > context_ ? expert / context_ : 1;
    if (world > 0 && data_ < least) {
      in_.find("--expert-model-parallel-size " + std::to_string(expert) + " needs " + std::to_string(least) +
               " replicas, and " + std::to_string(world) + " ranks have " + std::to_string(data_) + ": " +
               std::to_string(least) + " are taken");
    }
    data_ = std::max(data_, least);
    if (data_ > 1) set_number("dp", data_);
  }

  void read_schedule() {
    set_number("devices", pipeline_);
    const std::int64_t batch = in_.count("micro-batch-size").value_or(1);
    set_number("microbatch-size", batch);
    const auto global = in_.count("global-batch-size");
    if (global && *global >= batch * data_) {
      set_number("microbatches", *global / (batch * data_));
      if (*global % (batch * data_) != 0) {
        in_.find("--global-batch-size " + std::to_string(*global) + " is not a multiple of microbatch x replicas = " +
                 std::to_string(batch * data_) + ", which Megatron refuses: the rest is left out");
      }
    } else if (const auto steps = in_.count("gas"); steps && !global) {
      set_number("microbatches", *steps);
    } else {
      in_.find("the global batch is " + std::string(global ? "less than a microbatch on every replica, which Megatron "
                                                             "refuses: one microbatch a step is taken"
                                                           : "not given: one microbatch a step, as Megatron takes it"));
      set_number("microbatches", 1);
    }
    if (in_.flag("rampup-batch-size")) in_.find("--rampup-batch-size: the full batch is simulated");
    const auto layers = in_.number("num-layers-per-virtual-pipeline-stage");
    auto chunks = in_.number("num-virtual-stages-per-pipeline-rank");
    if (layers && *layers > 0) chunks = layers_ / pipeline_ / *layers;
    if (chunks && *chunks > 1 && pipeline_ > 1) {
      set("schedule", "interleaved");
      set_number("chunks", *chunks);
    } else {
      set("schedule", "1f1b");
    }
    const auto layout = in_.word("pipeline-model-parallel-layout");
    if (layout) set("partition", *layout);
    bool even = !layout && pipeline_ > 1;
    for (const char* uneven : {"decoder-first-pipeline-num-layers", "decoder-last-pipeline-num-layers",
                               "account-for-embedding-in-pipeline-split", "account-for-loss-in-pipeline-split"}) {
      if (!in_.flag(uneven)) continue;
      even = false;
      in_.find(std::string("--") + uneven + ": the partition is chosen by cost; write --partition a,b,c to set it");
    }
    if (even) set("partition", "even");
    // Then one exchange, which everything waits for, lies between two steps of the schedule.
    if (!in_.flag("overlap-p2p-communication") && in_.flag("no-overlap-p2p-communication")) set("p2p", "coupled");
  }

  void read_training() {
    const MegatronNumberFormats formats = number_formats(in_);
    for (const auto& [flag, value] : formats.flags) set(flag, value);
    deepspeed_bf16_ = formats.deepspeed_bf16;
    read_graphs();
    read_attention();
    read_recomputation();
    const double hidden = in_.fraction("hidden-dropout").value_or(0.1);
    const double attention = in_.fraction("attention-dropout").value_or(0.1);
    if (hidden > 0 || attention > 0) set("dropout", "true");
    (void)in_.word("cross-entropy-fusion-impl");
    if (in_.flag("cross-entropy-loss-fusion")) set("loss", "fused");
    const std::string overlap = tensor_overlap(in_, tensor_);
    if (!overlap.empty()) set("tensor-overlap", overlap);
    if (in_.flag("no-gradient-accumulation-fusion")) set("grad-accumulation", "separate");
  }

  void read_graphs() {
    const bool all = in_.flag("enable-cuda-graph");
    const bool outside = in_.flag("external-cuda-graph");
    const auto how = in_.word("cuda-graph-impl");
    if (all || outside || (how && *how != "none")) set("cuda-graphs", "on");
  }

  void read_attention() {
    const std::string backend = in_.word("attention-backend").value_or("auto");
    const bool engine = in_.word("transformer-impl").value_or("transformer_engine") == "transformer_engine";
    const bool flash = in_.flag("use-flash-attn") || (engine && backend != "unfused" && backend != "local");
    set("attention", flash ? "flash" : "unfused");
  }

  void read_recomputation() {
    const auto method = in_.word("recompute-method");
    const auto layers = in_.number("recompute-num-layers");
    const std::string modules = recompute_modules(in_);
    auto granularity = in_.word("recompute-granularity");
    if (in_.flag("recompute-activations")) granularity = "selective";  // Megatron-LM's validate_args
    (void)in_.flag("distribute-saved-activations");
    if (granularity == "selective" || granularity == "full") set("recompute", *granularity);
    if (granularity == "full") {
      if (method == "block" && layers) {
        in_.find("--recompute-method block: all blocks are recomputed, not the first " + std::to_string(*layers) +
                 " of a stage");
      }
      if (method == "uniform" && layers.value_or(1) > 1) {
        in_.find("--recompute-num-layers " + std::to_string(*layers) + ": every block keeps its own input");
      }
    }
    if (!modules.empty() && modules != "core_attn") {  // which selective recomputation is without them
      if (granularity == "selective") {
        set("recompute-modules", modules);
      } else {
        in_.find("--recompute-modules " + modules + ": nothing is recomputed by module without " +
                 "--recompute-granularity selective");
      }
    }
    if (in_.flag("cpu-offloading")) in_.find("--cpu-offloading: see --transform offload");
  }

  void read_step() {
    const bool sharded = in_.flag("use-distributed-optimizer");
    const std::int64_t stage = std::max<std::int64_t>(sharded || deepspeed_bf16_ ? 1 : 0, sharding_stage());
    if (stage > 0 && data_ * context_ > 1) set_number("zero", stage);
    const bool across = data_ * context_ > 1;
    const bool reduces = in_.flag("overlap-grad-reduce") && across;
    const bool gathers = in_.flag("overlap-param-gather") && across && sharded;
    if (reduces) set("overlap-grad-reduce", "true");
    if (gathers) set("overlap-param-gather", "true");
    const auto bucket = in_.number("ddp-bucket-size");
    if (bucket && *bucket > 0 && (reduces || gathers)) set_number("bucket-size", *bucket);
    (void)in_.flag("overlap-param-gather-with-optimizer-step");
    for (const char* detail : {"ddp-num-buckets", "align-grad-reduce", "align-param-gather"}) {
      (void)in_.flag(detail);
    }
  }

  // ZeRO's stage by DeepSpeed's or FSDP's arguments.
  std::int64_t sharding_stage() {
    const bool deepspeed = in_.flag("deepspeed");
    // Logs have "1.0".
    const auto stage = static_cast<std::int64_t>(std::clamp(in_.fraction("zero-stage").value_or(0), 0.0, 3.0));
    const std::string strategy = in_.word("data-parallel-sharding-strategy").value_or("no_shard");
    (void)in_.flag("no-pipeline-parallel");
    const bool megatron = in_.flag("use-megatron-fsdp");
    const bool custom = in_.flag("use-custom-fsdp");
    if (in_.flag("use-torch-fsdp2")) return 3;
    if (megatron || custom) {
      return strategy == "optim" ? 1 : strategy == "optim_grads" ? 2 : strategy == "optim_grads_params" ? 3 : 0;
    }
    return deepspeed ? std::min<std::int64_t>(stage, 3) : 0;
  }

  MegatronArguments& in_;
  const MegatronLaunch& launch_;
  MegatronScenario scenario_;
  std::string sizes_;
  bool gated_ = false;
  bool deepspeed_bf16_ = false;
  std::int64_t layers_ = 0;
  std::int64_t hidden_ = 0;
  std::int64_t feed_forward_ = 0;
  std::int64_t sequence_ = 0;
  std::int64_t tensor_ = 1;
  std::int64_t pipeline_ = 1;
  std::int64_t context_ = 1;
  std::int64_t data_ = 1;
};

}  // namespace

MegatronScenario translated(MegatronArguments& arguments, const MegatronLaunch& launch, const std::string& name) {
  return Translation(arguments, launch).run(name);
}

}  // namespace debubble
