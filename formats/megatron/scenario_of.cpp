#include "formats/megatron/scenario_of.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "formats/megatron/arguments.hpp"
#include "formats/megatron/log.hpp"
#include "formats/megatron/number_formats.hpp"
#include "formats/megatron/recompute_modules.hpp"
#include "formats/megatron/shell_words.hpp"
#include "formats/megatron/tensor_overlap.hpp"
#include "formats/text/printable.hpp"
#include "formats/text/quantities.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

class Translation {
 public:
  Translation(MegatronArguments& arguments, MegatronArguments& launcher) : in_(arguments), launcher_(launcher) {}

  MegatronScenario run(const std::string& name) {
    read_model(name);
    read_split();
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
    if (in_.flag("qk-layernorm")) in_.find("--qk-layernorm: the norms of queries and keys are not modelled");
    if (!in_.flag("multi-latent-attention")) return;
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
    if (!experts) return;
    size("experts", *experts);
    size("experts_per_token", in_.number("moe-router-topk").value_or(2));
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

  void read_split() {
    tensor_ = in_.count("tensor-model-parallel-size").value_or(1);
    pipeline_ = in_.count("pipeline-model-parallel-size").value_or(1);
    context_ = in_.count("context-parallel-size").value_or(1);
    const std::int64_t expert = in_.count("expert-model-parallel-size").value_or(1);
    if (tensor_ > 1) set_number("tp", tensor_);
    if (context_ > 1) set_number("cp", context_);
    const std::string exchange = in_.word("cp-comm-type").value_or("p2p");
    if (context_ > 1 && exchange == "a2a") set("context-exchange", "all-to-all");
    if (exchange != "a2a" && exchange != "p2p") in_.find("--cp-comm-type " + exchange + ": counts as p2p");
    if (expert > 1) set_number("ep", expert);
    if (in_.flag("sequence-parallel") && tensor_ > 1) set("sequence-parallel", "true");
    const std::int64_t world = world_size();
    const std::int64_t model = tensor_ * pipeline_ * context_;
    if (world == 0) {
      in_.find(
          "the number of ranks is not in the script (--nproc_per_node and --nnodes of torchrun): one replica of "
          "the pipeline is taken; write --dp N to change it");
    } else if (world % model != 0) {
      in_.find(std::to_string(world) + " ranks are no multiple of tensor x context x pipeline = " +
               std::to_string(model) + ": one replica of the pipeline is taken");
    } else {
      data_ = world / model;
    }
    data_ = std::max(data_, expert > context_ ? expert / context_ : 1);
    if (data_ > 1) set_number("dp", data_);
  }

  std::int64_t world_size() {
    const auto per_node = launcher_.count("nproc-per-node");
    const auto nodes = launcher_.count("nnodes");
    const auto world = in_.count("world-size");
    if (world) return *world;
    return per_node ? *per_node * nodes.value_or(1) : 0;
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
    } else {
      in_.find(
          "the global batch is not known or smaller than a microbatch on every replica: the default number of "
          "microbatches is taken");
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
    if ((sharded || deepspeed_bf16_) && data_ * context_ > 1) set("zero", "1");
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

  MegatronArguments& in_;
  MegatronArguments& launcher_;
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

namespace {

// A log's block has every argument, with its default: what is unknown of them is no finding.
MegatronScenario read_log(const std::string& text, const std::string& name) {
  const MegatronLog log = read_megatron_log(text);
  MegatronArguments arguments(log.words);
  MegatronArguments launcher({});
  MegatronScenario scenario = Translation(arguments, launcher).run(name);
  scenario.findings = arguments.found();
  scenario.measured_iteration = median_iteration_time(log);
  scenario.measured_lines = log.intervals.size();
  return scenario;
}

}  // namespace

MegatronScenario read_megatron(const std::string& text, const std::string& name) {
  if (is_megatron_log(text)) return read_log(text, name);
  const LaunchWords words = launch_words(text);
  MegatronArguments arguments(words.program);
  MegatronArguments launcher(words.launcher);
  if (arguments.empty()) {
    throw InputError(
        Diagnostic{"P010", name, "there are no arguments like --num-layers 24",
                   "give the script that starts Megatron-LM, its arguments in a file, or a whole training log"});
  }
  return Translation(arguments, launcher).run(name);
}

std::string write_scenario(const MegatronScenario& scenario, const std::string& name) {
  std::string text = "# From " + printable(name) + ", by debubble import --from megatron.\n";
  if (scenario.measured_iteration > 0) {
    text += "# measured: " + format_duration(scenario.measured_iteration) + " per iteration, the median of the log\n";
  }
  for (const std::string& finding : scenario.findings) text += "# note: " + printable(finding) + "\n";
  for (const auto& [flag, value] : scenario.flags) {
    const bool bare = value == "true" || value.find_first_not_of("0123456789") == std::string::npos;
    text += flag + " = " + (bare ? value : "\"" + printable(value) + "\"") + "\n";
  }
  return text;
}

}  // namespace debubble
