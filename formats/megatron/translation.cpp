#include "formats/megatron/translation.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include "formats/megatron/arguments.hpp"
#include "formats/megatron/defaults.hpp"
#include "formats/megatron/launch.hpp"
#include "formats/megatron/number_formats.hpp"
#include "formats/megatron/pipeline_cut.hpp"
#include "formats/megatron/recompute_modules.hpp"
#include "formats/megatron/tensor_overlap.hpp"
#include "formats/megatron/translation_model.hpp"
#include "formats/megatron/wrapper_launch.hpp"
#include "formats/text/printable.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

class Translation {
 public:
  Translation(MegatronArguments& arguments, const MegatronLaunch& launch, const std::string& own_cut)
      : in_(arguments), launch_(launch), own_cut_(own_cut) {}

  MegatronScenario run(const std::string& name) {
    place_ = name;
    MegatronModel model = read_megatron_model(in_, launch_, name);
    scenario_.flags = std::move(model.flags);
    layers_ = model.layers;
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

  void read_split(const std::string& name) {
    tensor_ = in_.count_or_default("tensor-model-parallel-size");
    pipeline_ = in_.count_or_default("pipeline-model-parallel-size");
    context_ = in_.count_or_default("context-parallel-size");
    const std::int64_t shared = in_.count("ds-sequence-parallel-size").value_or(1);  // DeepSpeed-Ulysses
    if (tensor_ > 1) set_number("tp", tensor_);
    if (shared > 1 && context_ > 1) {
      in_.find("--ds-sequence-parallel-size " + std::to_string(shared) + ": its ranks count with those of " +
               "--context-parallel-size, with the all-to-all exchange");
    }
    context_ *= shared;
    if (context_ > 1) set_number("cp", context_);
    const std::string exchange = shared > 1 ? "a2a" : in_.word_or_default("cp-comm-type");
    if (context_ > 1 && exchange == "a2a") set("context-exchange", "all-to-all");
    if (exchange != "a2a" && exchange != "p2p") in_.find("--cp-comm-type " + exchange + ": counts as p2p");
    if (in_.flag("sequence-parallel") && tensor_ > 1) set("sequence-parallel", "true");
    const std::int64_t shards =
        std::max<std::int64_t>(1, in_.count("tensor-parallel-num-weight-shards").value_or(tensor_) / tensor_);
    if (shards > 1) {
      in_.find("--tensor-parallel-num-weight-shards: " + std::to_string(shards) +
               " ranks hold parts of each weight; that they gather them, and have fewer replicas beside, is left out");
    }
    if (in_.flag("use-tp-pp-dp-mapping")) set("rank-order", "tp,cp,pp,dp");
    const std::int64_t model = tensor_ * pipeline_ * context_ * shards;
    const std::int64_t world = launch_.ranks.value_or(in_.count("world-size").value_or(0));
    if (world == 0 && launch_.script) {
      fail("P030", launch_place(launch_, name),
           "the script does not say on how many ranks it runs (" + launch_.missing_ranks + ")" + launch_.missing_files,
           "say it: --gpus N, ranks in all");
    }
    if (world % model != 0 && launch_.script) {
      fail("P030", launch_place(launch_, name),
           std::to_string(world) + " ranks are no multiple of tensor x context x pipeline = " + std::to_string(model),
           "give the number that the training runs on: --gpus N, ranks in all");
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
    const std::int64_t expert = in_.count_or_default("expert-model-parallel-size");
    const std::int64_t split = in_.count("expert-tensor-parallel-size").value_or(tensor_);
    if (expert > 1) set_number("ep", expert);
    if (split != tensor_ && (expert > 1 || in_.number("num-experts"))) set_number("etp", split);
    const std::int64_t parts = std::max<std::int64_t>(1, expert * split);
    const std::int64_t least = parts / std::gcd(parts, tensor_ * context_);
    if (world > 0 && data_ < least && launch_.script) {
      fail("P030", launch_place(launch_, name),
           "--expert-model-parallel-size " + std::to_string(expert) + " needs " + std::to_string(least) +
               " replicas, and " + std::to_string(world) + " ranks have " + std::to_string(data_),
           "give the number that the training runs on: --gpus N, ranks in all");
    }
    if (world > 0 && data_ < least) {
      in_.find("--expert-model-parallel-size " + std::to_string(expert) + " needs " + std::to_string(least) +
               " replicas, and " + std::to_string(world) + " ranks have " + std::to_string(data_) + ": " +
               std::to_string(least) + " are taken");
    }
    data_ = std::max(data_, least);
    if (data_ > 1) set_number("dp", data_);
  }

  std::int64_t microbatch() {
    const auto given = in_.count("micro-batch-size");
    if (given) return *given;
    if (launch_.script) {
      fail("P030", launch_place(launch_, place_), "--micro-batch-size is not given" + launch_.missing_files,
           "write the arguments with --arguments-only -o args.txt, add --micro-batch-size N there, and import that "
           "file");
    }
    in_.find("--micro-batch-size is not given: 1 is taken; write --microbatch-size N to change it");
    return 1;
  }

  void read_schedule() {
    set_number("devices", pipeline_);
    const std::int64_t batch = microbatch();
    set_number("microbatch-size", batch);
    const auto global = in_.count("global-batch-size");
    if (global && *global >= batch * data_) {
      set_number("microbatches", *global / (batch * data_));
      if (*global % (batch * data_) != 0) {
        const std::string tool = wrapper_name(launch_.program);
        if (!tool.empty()) {
          fail("P035", launch_place(launch_, place_),
               tool + " refuses this: " + std::to_string(*global) + " samples on " + std::to_string(data_) +
                   " replicas with microbatches of " + std::to_string(batch),
               "microbatch x replicas must divide the global batch");
        }
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
    const MegatronCut cut = megatron_cut(in_, layers_, pipeline_, own_cut_);
    const bool interleaved = cut.chunks > 1 && pipeline_ > 1;
    set("schedule", interleaved ? "interleaved" : "1f1b");
    if (interleaved) set_number("chunks", cut.chunks);
    const auto group = in_.count("microbatch-group-size-per-virtual-pipeline-stage");
    if (interleaved && group && *group != pipeline_) set("param", "group=" + std::to_string(*group));
    if (!cut.partition.empty()) set("partition", cut.partition);
    const bool engine = cut.partition.starts_with("deepspeed") || cut.partition.starts_with("neox");
    read_transfers(interleaved, group.value_or(pipeline_) > pipeline_, engine);
  }

  // One stage per rank never overlaps its transfers: one exchange, which everything waits for, lies between two steps
  // of the schedule. With several that is an argument; where they overlap, exchanges of warm-up and cool-down are
  // joined without another one, which only larger groups notice.
  // `engine`: DeepSpeed's PipelineModule runs it.
  void read_transfers(bool interleaved, bool large_groups, bool engine) {
    const bool never = in_.flag("no-overlap-p2p-communication") && !in_.flag("overlap-p2p-communication");
    const bool flush = in_.flag("overlap-p2p-communication-warmup-flush");
    const bool megatron = !in_.flag("deepspeed") && !in_.flag("zero-stage");
    if (pipeline_ > 1 && engine) {
      set("p2p", "rendezvous");
    } else if (pipeline_ > 1 && (interleaved ? never : megatron || never)) {
      set("p2p", "coupled");
    } else if (interleaved && large_groups && !flush) {
      set("p2p", "joined");
    }
  }

  void read_training() {
    const MegatronNumberFormats formats = number_formats(in_);
    for (const auto& [flag, value] : formats.flags) set(flag, value);
    deepspeed_bf16_ = formats.deepspeed_bf16;
    read_graphs();
    read_attention();
    read_recomputation();
    const double hidden = in_.fraction_or_default("hidden-dropout");
    const double attention = in_.fraction_or_default("attention-dropout");
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
    const std::string backend = in_.word_or_default("attention-backend");
    const bool deepspeed = in_.flag("deepspeed");  // whose default is another
    const std::string blocks = in_.word("transformer-impl").value_or(deepspeed ? "local" : "transformer_engine");
    bool flash = blocks == "transformer_engine" && backend != "unfused" && backend != "local";
    for (const char* name : {"use-flash-attn", "use-flash-attn-v2", "use-flash-attn-triton", "use-flash-attn-cute"}) {
      flash = in_.flag(name) || flash;
    }
    set("attention", flash ? "flash" : "unfused");
    for (const char* name : {"attention-softmax-in-fp32", "apply-query-key-layer-scaling"}) {
      // The fused kernel reads and writes the format of the products whatever it computes in.
      if (!in_.flag(name) || flash || !in_.flag("no-masked-softmax-fusion")) continue;
      in_.find(std::string("--no-masked-softmax-fusion with --") + name +
               ": the softmax counts as fused, in the format of the products");
    }
  }

  void read_recomputation() {
    const auto method = in_.word("recompute-method");
    const auto layers = in_.number("recompute-num-layers");
    const std::string modules = recompute_modules(in_);
    auto granularity = in_.word("recompute-granularity");
    if (in_.flag("recompute-activations")) granularity = "selective";  // Megatron-LM's validate_args
    if (in_.flag("distribute-saved-activations") && tensor_ > 1) {
      in_.find("--distribute-saved-activations: every tensor rank counts with all of a block's input");
    }
    if (granularity == "selective" || granularity == "full") set("recompute", *granularity);
    if (granularity == "full" && layers) {
      if (method == "block") set("recompute-blocks", "first:" + std::to_string(*layers));
      if (method == "uniform" && *layers > 1) set("recompute-blocks", "chunks:" + std::to_string(*layers));
    }
    if (!modules.empty() && modules != "core_attn") {  // which selective recomputation is without them
      if (granularity == "selective") {
        set("recompute-modules", modules);
      } else {
        in_.find("--recompute-modules " + modules + ": nothing is recomputed by module without " +
                 "--recompute-granularity selective");
      }
    }
    read_offloading();
  }

  // Layer by layer within one pass, which no order of whole passes shows.
  void read_offloading() {
    const std::int64_t blocks = in_.number("cpu-offloading-num-layers").value_or(0);
    const bool parts = in_.flag("fine-grained-activation-offloading");
    if (blocks == 0 && !in_.flag("cpu-offloading") && !parts) return;
    std::string what = "activations of " + std::to_string(blocks) + " blocks";
    if (parts) {
      what = "the inputs of";
      for (const std::string& module : in_.words("offload-modules")) what += " " + module;
    }
    in_.find(what + " leave for the host" +
             (parts ? " (--fine-grained-activation-offloading)" : " (--cpu-offloading)") +
             ": they count as lying on the GPU, so it needs less memory than said here; their copies take no time");
  }

  void read_step() {
    const bool sharded = in_.flag("use-distributed-optimizer");
    const auto own = sharding_stage();
    const std::int64_t stage = own.value_or(sharded || deepspeed_bf16_ ? 1 : 0);
    const bool across = data_ * context_ > 1;
    if (stage > 0 && across) set_number("zero", stage);
    // What ZeRO-2 and 3 send lies inside every op already, but the weights that FSDP's optim_grads gathers.
    const bool reduces = in_.flag("overlap-grad-reduce") && across && stage < 2;
    const bool gathers =
        in_.flag("overlap-param-gather") && across && (stage == 1 || (stage == 2 && !in_.flag("deepspeed")));
    if (reduces) set("overlap-grad-reduce", "true");
    if (gathers) set("overlap-param-gather", "true");
    const auto bucket = in_.number("ddp-bucket-size");
    if (in_.fraction("clip-grad").value_or(1) == 0 && across) set("norm", "none");
    if (bucket && *bucket > 0 && (reduces || gathers)) set_number("bucket-size", *bucket);
    read_optimizer();
  }

  void read_optimizer() {
    const std::string optimizer = in_.word_or_default("optimizer");
    const double momentum = in_.fraction_or_default("sgd-momentum");
    if (optimizer.starts_with("adam")) return;
    if (optimizer == "sgd") return set("optimizer", momentum > 0 ? "momentum" : "sgd");
    if (optimizer == "lion") return set("optimizer", "momentum");
    if (optimizer == "muon" || optimizer == "dist_muon") return set("optimizer", "muon");
    in_.find("--optimizer " + optimizer + ": counts as Adam");
  }

  // ZeRO's stage by DeepSpeed's or FSDP's arguments; nothing: there are none.
  std::optional<std::int64_t> sharding_stage() {
    const bool deepspeed = in_.flag("deepspeed");
    // Logs have "1.0".
    const auto stage = static_cast<std::int64_t>(std::clamp(in_.fraction("zero-stage").value_or(0), 0.0, 3.0));
    const auto given = in_.word("data-parallel-sharding-strategy");
    (void)in_.flag("no-pipeline-parallel");
    const bool megatron = in_.flag("use-megatron-fsdp");
    const bool custom = in_.flag("use-custom-fsdp");  // its older name, which shards nothing by itself
    if (in_.flag("use-torch-fsdp2")) return 3;
    if (megatron || custom) {
      const std::string strategy =
          given.value_or(megatron ? megatron_default("data-parallel-sharding-strategy") : "no_shard");
      return strategy == "optim" ? 1 : strategy == "optim_grads" ? 2 : strategy == "optim_grads_params" ? 3 : 0;
    }
    if (deepspeed) return std::max<std::int64_t>(deepspeed_bf16_ ? 1 : 0, stage);
    return std::nullopt;
  }

  MegatronArguments& in_;
  const MegatronLaunch& launch_;
  const std::string& own_cut_;
  MegatronScenario scenario_;
  std::string place_;
  bool deepspeed_bf16_ = false;
  std::int64_t layers_ = 0;
  std::int64_t tensor_ = 1;
  std::int64_t pipeline_ = 1;
  std::int64_t context_ = 1;
  std::int64_t data_ = 1;
};

}  // namespace

MegatronScenario translated(MegatronArguments& arguments, const MegatronLaunch& launch, const std::string& name,
                            const std::string& own_cut) {
  return Translation(arguments, launch, own_cut).run(name);
}

}  // namespace debubble
