// torchtitan's configuration, TOML until 0.2 and since then the JSON that a job saves of itself: a model of its
// registry or written out, batches local to a data-parallel rank, degrees of its device mesh.
#include <algorithm>
#include <initializer_list>

#include "formats/frameworks/framework_scenario.hpp"
#include "formats/frameworks/torchtitan_models.hpp"
#include "formats/frameworks/torchtitan_pipeline.hpp"
#include "formats/frameworks/torchtitan_spec.hpp"
#include "formats/text/text.hpp"
#include "sim/core/model_presets.hpp"

namespace debubble {
namespace {

class TitanReader {
 public:
  TitanReader(ConfigTree& tree, const FrameworkRequest& request) : tree_(tree), request_(request) {}

  FrameworkScenario run() {
    pass_what_costs_nothing();
    read_model();
    read_mesh();
    read_batches();
    add_mesh_facts();
    read_titan_pipeline(tree_, {pipeline_, local_, steps_, layers_}, scenario_, facts_);
    read_precision();
    read_rest();
    refuse_by_rules(tree_, "torchtitan", facts_);
    return std::move(scenario_);
  }

 private:
  void pass_what_costs_nothing() {
    tree_.pass_words(
        "job profiling metrics lr_scheduler checkpoint validation comm memory_estimation profiler training.dataloader "
        "dataloader tokenizer validator override hf_assets_path dump_folder");
    pass_in("training", {"max_norm", "steps", "dataset", "dataset_path", "seed", "deterministic", "gc_freq", "gc_debug",
                         "data_parallel_type", "warmup_steps"});
    pass_in("parallelism",
            {"spmd_backend", "enable_compiled_autograd", "pipeline_parallel_expert_parallel_overlap",
             "enable_fsdp_symm_mem", "context_parallel_load_balancer", "context_parallel_ptrr_mask_key"});
    pass_in("activation_checkpoint",
            {"memory_budget", "preserve_rng_state", "determinism_check", "debug", "visualize_memory_budget_pareto"});
    pass_in("optimizer", {"optimizer_factory_kwargs_by_name", "lr", "eps", "beta1", "beta2", "weight_decay", "fused",
                          "implementation"});
    pass_in("model", {"tokenizer_path", "hf_assets_path", "norm_type", "print_after_conversion"});
    pass_in("experimental", {"custom_model_path", "custom_import", "custom_args_module"});
  }

  void pass_in(const std::string& section, std::initializer_list<const char*> keys) {
    for (const char* key : keys) tree_.pass(section + "." + key);
  }

  std::int64_t degree(const std::string& key, std::int64_t fallback = 1) {
    const std::string path = titan_path(tree_, key);
    return tree_.number(path, 1, kMostMeshRanks).value_or(fallback);
  }

  void mark(RuleName fact) { facts_.set(fact, RuleFacts::Words{}); }

  void read_model() {
    saved_ = has_titan_spec(tree_);
    since_0_3_ = saved_ || tree_.has("argument_list");
    configuration_ = tree_.word("argument_list.config").value_or("");
    if (!configuration_.empty() && torchtitan_configuration(configuration_) == nullptr) {
      scenario_.find("the configuration " + in_quotes(configuration_) +
                     " is not known: what the list does not set counts as torchtitan's defaults");
    }
    if (!request_.model.empty()) {
      tree_.pass_words("model model_spec");
      for (const ModelPreset& preset : model_presets()) {
        if (preset.shape.name == request_.model) layers_ = preset.shape.layers;
      }
      return scenario_.set("model", request_.model);
    }
    if (saved_) {
      layers_ = read_titan_spec(tree_, scenario_, facts_);
    } else {
      read_flavour();
    }
  }

  void read_flavour() {
    const auto given = tree_.word("model.name");
    if (!given) {
      return require_key(tree_, "model.name", "the configuration names no model: neither model.name nor model_spec",
                         "give the file that torchtitan is started with or saves, or add --model NAME");
    }
    const std::string& name = *given;
    std::string flavour = tree_.word("model.flavor").value_or("debugmodel");
    if (since_0_3_ && name == "gpt_oss") mark("VARLEN");
    for (const char* kind : {"_flex_attn", "_varlen_attn", "_flex", "_varlen", "_irope"}) {  // of attention's kernel
      if (flavour.ends_with(kind)) flavour.erase(flavour.size() - std::string(kind).size());
    }
    if (name == "flux") {
      return tree_.complain("F033", "model.name", "flux makes pictures: its blocks are not modelled",
                            "debubble simulates decoder-only language models");
    }
    std::string flavours;
    for (const TorchtitanFlavour& one : torchtitan_flavours()) {
      if (name != one.name) continue;
      flavours += (flavours.empty() ? "" : ", ") + one.flavour;
      if (flavour != one.flavour) continue;
      const std::string& sizes = one.sizes;
      layers_ = std::stoll(sizes.substr(sizes.find('=') + 1));  // they begin with layers=
      if (const std::int64_t longest = longest_sequence(one); since_0_3_ && longest > 0) facts_.set("LONGEST", longest);
      if (sizes.find("tied_embedding=yes") != std::string::npos) mark("TIED");
      scenario_.set("model", "llama");
      return scenario_.set("model-size", sizes + ",vocabulary_unit=1");
    }
    if (!configuration_.empty()) {
      return tree_.problems().add("P011", "--config",
                                  "the configuration " + in_quotes(configuration_) + " is not known",
                                  "give its model's sizes as a config.json: --model FILE.json");
    }
    const bool known = !flavours.empty();
    tree_.complain("P011", known ? "model.flavor" : "model.name",
                   "torchtitan's model " + in_quotes(name + (known ? " " + flavour : "")) + " is not known",
                   (known ? "known flavors: " + flavours + "; or " : std::string()) +
                       "give its sizes as a config.json: --model FILE.json");
  }

  void read_mesh() {
    tensor_ = degree("tensor_parallel_degree");
    pipeline_ = degree("pipeline_parallel_degree");
    context_ = degree("context_parallel_degree");
    expert_ = degree("expert_parallel_degree");
    replicas_ = degree("data_parallel_replicate_degree");
    const std::string old = "training.data_parallel_degree";
    const std::string path = tree_.has(old) ? old : titan_path(tree_, "data_parallel_shard_degree");
    const auto given = tree_.number(path, -1);
    const std::int64_t others = replicas_ * tensor_ * pipeline_ * context_;
    shards_ = given.value_or(-1);
    if (shards_ == 0) tree_.complain("P004", path, "0 shards", "-1 takes the rest of the ranks");
    if (shards_ < 0) shards_ = shards_of_world(path, others);
    scenario_.set("devices", pipeline_);
    const bool sequence = tree_.flag("parallelism.enable_sequence_parallel", true);
    if (tensor_ > 1) {
      scenario_.set("tp", tensor_);
      if (sequence) scenario_.set("sequence-parallel", "true");
    }
    if (context_ > 1) scenario_.set("cp", context_);
    if (expert_ > 1) scenario_.set("ep", expert_);
    if (replicas_ * shards_ > 1) scenario_.set("dp", replicas_ * shards_);
    read_sharding();
    // Expert ranks reach over tensor ranks, which split no expert unless an older version's file says so.
    const std::int64_t split = tree_.number("parallelism.expert_tensor_parallel_degree", 1).value_or(1);
    if (expert_ > 1 && split != tensor_) scenario_.set("etp", split);
    if (tree_.flag("compile.enable_async_tensor_parallel") || tree_.flag("parallelism.enable_async_tensor_parallel") ||
        tree_.flag("experimental.enable_async_tensor_parallel")) {
      scenario_.set("tensor-overlap", "userbuffers");
      scenario_.find("enable_async_tensor_parallel counts as Transformer Engine's user buffers");
    }
    const auto rotate = tree_.word(titan_path(tree_, "context_parallel_rotate_method"));
    if (rotate && *rotate != "allgather" && *rotate != "alltoall") {
      scenario_.find("context_parallel_rotate_method " + *rotate + ": counts as a ring");
    }
    if (tree_.word("parallelism.expert_parallel_comm_backend").value_or("standard") == "deepep") {
      scenario_.set("moe-dispatch", "deepep");
    }
  }

  std::int64_t shards_of_world(const std::string& path, std::int64_t others) {
    if (!request_.world_size) {
      require_key(tree_, "--world-size",
                  in_quotes(path) + " is -1, the rest of the ranks, and the file does not say how many there are",
                  "add --world-size N, at least " + std::to_string(others));
      return 1;
    }
    const std::int64_t world = *request_.world_size;
    if (world % others == 0) return world / others;
    require_key(tree_, "--world-size",
                std::to_string(world) +
                    " ranks are no multiple of replicas x tensor x context x pipeline = " + std::to_string(others),
                "give a multiple of it");
    return 1;
  }

  // fully_shard: weights, gradients and optimizer; what is gathered stays whole where a pipeline runs several
  // microbatches, unless the file says otherwise.
  void read_sharding() {
    const std::string when = tree_.word(titan_path(tree_, "fsdp_reshard_after_forward")).value_or("default");
    if (shards_ * context_ < 2) return;
    scenario_.set("zero", "3");
    const bool whole = when == "never" || (when == "default" && pipeline_ > 1);
    if (whole) scenario_.set("keep-whole", "true");
    if (when != "default" && when != "never" && when != "always") {
      tree_.complain("P011", titan_path(tree_, "fsdp_reshard_after_forward"),
                     in_quotes(when) + " is none of default, never and always", "write one of them");
    }
    if (replicas_ > 1) {
      scenario_.find("data_parallel_replicate_degree " + std::to_string(replicas_) +
                     ": sharding is modelled over all " + std::to_string(replicas_ * shards_) +
                     " data ranks, the file shards over " + std::to_string(shards_));
    }
  }

  void add_mesh_facts() {
    facts_.set("PIPELINE", pipeline_);
    facts_.set("TENSOR", tensor_);
    facts_.set("CONTEXT", context_);
    facts_.set("EXPERT", expert_);
    facts_.set("SHARDS", shards_);
    facts_.set("SEQUENCE", sequence_);
    const std::int64_t split = tree_.flag("parallelism.enable_sequence_parallel", true) ? tensor_ : 1;
    facts_.set("SEQUENCE_PARTS", split * (context_ > 1 ? 2 * context_ : 1));
  }

  void read_batches() {
    const std::string path =
        tree_.has("training.local_batch_size") ? "training.local_batch_size" : "training.batch_size";
    local_ = tree_.number(path, 1).value_or(8);
    if (!tree_.has(path)) scenario_.find("training.local_batch_size is not given: torchtitan's default of 8");
    sequence_ = tree_.number("training.seq_len", 1, std::int64_t{1} << 24).value_or(2048);
    if (!tree_.has("training.seq_len")) scenario_.find("training.seq_len is not given: torchtitan's default of 2048");
    if (request_.sequence) sequence_ = *request_.sequence;
    scenario_.set("sequence", sequence_);
    const std::int64_t each = local_ * replicas_ * shards_;
    const auto global = tree_.number("training.global_batch_size", -1);
    if (!global || *global < 0) return;
    if (*global > 0 && *global % each == 0) {
      steps_ = *global / each;
      return;
    }
    tree_.complain(
        "P012", "training.global_batch_size",
        std::to_string(*global) + " samples are no multiple of local batch x data ranks = " + std::to_string(each),
        "torchtitan refuses it, too");
  }

  void read_precision() {
    bool eight = tree_.flag("float8.enable_float8_linear");
    bool blocks = false;
    if (const JsonValue* converters = tree_.find("model.converters"); converters != nullptr) {
      for (const JsonValue& one : converters->children) {
        eight = eight || one.text == "float8" || one.text.find("float8") != std::string::npos;
        blocks = blocks || one.text.find("mx") != std::string::npos;
      }
    }
    const std::string recipe =
        tree_.word("quantize.linear.float8.recipe_name").value_or(since_0_3_ ? "rowwise" : "tensorwise");
    tree_.pass_words("quantize float8 mx");
    const std::string type = tree_.word("training.mixed_precision_param").value_or("bfloat16");
    const std::string dtype = eight || blocks     ? "fp8"
                              : type == "float32" ? "fp32"
                              : type == "float16" ? "fp16"
                                                  : "bf16";
    scenario_.set("dtype", dtype);
    if (dtype == "fp8") {
      scenario_.set("fp8-recipe", blocks ? "mxfp8" : "tensorwise");
      if (!blocks && recipe != "tensorwise") {
        scenario_.find("recipe_name " + recipe + " of float8: counts as scales of whole tensors");
      }
    }
    if (tree_.word("training.mixed_precision_reduce").value_or("float32") == "bfloat16") {
      scenario_.set("grad-dtype", "bf16");
    }
    const std::string weights = tree_.word("training.dtype").value_or("float32");
    if (weights == "float32") return;
    // Parameters, their gradients and the optimizer's moments have one format.
    scenario_.set("master-weights", "none");
    scenario_.set("moment-dtype", "bf16");
    scenario_.find("training.dtype " + weights + ": gradients count as they are summed, in mixed_precision_reduce");
  }

  // What a job saves does not name its policy, which its settings tell apart; none has none.
  std::string recomputation() {
    if (!saved_) return tree_.word("activation_checkpoint.mode").value_or("selective");
    if (!tree_.has("activation_checkpoint")) return "none";
    if (tree_.has("activation_checkpoint.memory_budget")) return "memory_budget";
    return tree_.has("activation_checkpoint.force_recompute_mm_shapes_by_fqns") ? "selective" : "full";
  }

  // Since 0.3 a step without a pipeline runs as CUDA graphs unless that is turned off.
  void read_graphs() {
    const std::string key = "training.disable_cuda_graphs";
    if (tree_.flag(key, !since_0_3_)) return;
    mark("GRAPHS");
    if (exchanges_by_device(tree_)) mark("BY_DEVICE");
    scenario_.set("cuda-graphs", "on");
  }

  void read_optimizer() {
    std::string name = tree_.word("optimizer.name").value_or("AdamW");
    if (const JsonValue* groups = tree_.find("optimizer.param_groups"); groups != nullptr) {
      for (const JsonValue& group : groups->children) {
        for (const JsonValue& member : group.children) {
          if (member.key == "optimizer_name" && !member.text.starts_with("Adam")) name = member.text;
        }
      }
      tree_.pass("optimizer.param_groups");
    }
    if (name.find("Muon") != std::string::npos) return scenario_.set("optimizer", "muon");
    if (name != "AdamW" && name != "Adam") {
      scenario_.find("optimizer.name " + name + ": counts as AdamW, with two moments");
    }
  }

  void read_rest() {
    const std::string mode = recomputation();
    const std::string option =
        tree_.word("activation_checkpoint.selective_ac_option").value_or(since_0_3_ ? "op" : "2");
    tree_.pass_words(
        "activation_checkpoint.per_op_sac_force_recompute_mm_shapes_by_fqns activation_checkpoint.early_stop "
        "activation_checkpoint.force_recompute_mm_shapes_by_fqns");
    if (mode == "full" || mode == "none") {
      scenario_.set("recompute", mode);
    } else if (mode == "selective" && option == "op") {
      scenario_.set("recompute", "selective");
      scenario_.set("recompute-modules", "op");
    } else if (mode == "selective") {
      scenario_.set("recompute", "full");
      if (option != "1") scenario_.set("recompute-blocks", "every:" + option);
    } else if (mode == "memory_budget") {
      scenario_.set("recompute", "selective");
      mark("BUDGET");
      scenario_.set("recompute-modules", "budget=" + tree_.word("activation_checkpoint.memory_budget").value_or("0.5"));
    } else {
      scenario_.find("activation_checkpoint.mode " + in_quotes(mode) + " is not modelled: nothing is made again");
      scenario_.set("recompute", "none");
    }
    read_compile();
    read_graphs();
    read_optimizer();
    if (tree_.flag("training.enable_cpu_offload")) {
      scenario_.find("training.enable_cpu_offload is not modelled: weights and optimizer stay on the GPU");
    }
    if (tree_.flag("optimizer.early_step_in_backward")) {
      scenario_.find("optimizer.early_step_in_backward is not modelled: the optimizer runs at the step's end");
    }
    if (tree_.flag("parallelism.disable_loss_parallel")) {
      scenario_.find("parallelism.disable_loss_parallel: the loss counts as split over the tensor ranks");
    }
    for (const char* key : {"debug.deterministic", "debug.detect_anomaly", "debug.batch_invariant"}) {
      if (tree_.flag(key)) scenario_.find(std::string(key) + ": slower kernels and checks are not counted");
    }
    tree_.pass("debug");
    if (tree_.flag("fault_tolerance.enable")) scenario_.find("fault_tolerance is not modelled: one replica group");
    tree_.pass("fault_tolerance");
    if (tree_.has("model.model_args") || tree_.has("model.args")) scenario_.find("model.args is left out");
  }

  void read_compile() {
    bool model = tree_.flag("training.compile");
    bool loss = model;
    const bool enabled = tree_.flag("compile.enable");
    const JsonValue* components = tree_.find("compile.components");
    if (enabled) {
      model = loss = components == nullptr;
      for (const JsonValue& one : components == nullptr ? std::vector<JsonValue>{} : components->children) {
        model = model || one.text == "model";
        loss = loss || one.text == "loss";
      }
    }
    tree_.pass("compile");
    if (tree_.number("loss.num_chunks").value_or(1) > 1) {
      scenario_.find("loss.num_chunks: the loss counts as of all tokens at once");
    }
    tree_.pass("loss");
    if (loss) scenario_.set("loss", "fused");
    if (model) {
      mark("COMPILED");
      scenario_.find(
          "torch.compile fuses passes and launches less: passes count one by one, and the host as in eager mode; write "
          "host-launch = \"20us\" where you measured it");
    }
  }

  ConfigTree& tree_;
  const FrameworkRequest& request_;
  FrameworkScenario scenario_;
  RuleFacts facts_;
  std::string configuration_;  // of an argument list
  std::int64_t tensor_ = 1;
  std::int64_t pipeline_ = 1;
  std::int64_t context_ = 1;
  std::int64_t expert_ = 1;
  std::int64_t replicas_ = 1;
  std::int64_t shards_ = 1;
  std::int64_t local_ = 1;
  std::int64_t sequence_ = 1;
  std::int64_t steps_ = 1;
  std::int64_t layers_ = 0;  // 0: not known
  bool saved_ = false;       // the JSON of 0.3
  bool since_0_3_ = false;   // that, or its arguments
};

}  // namespace

FrameworkScenario read_torchtitan(ConfigTree& tree, const FrameworkRequest& request) {
  return TitanReader(tree, request).run();
}

}  // namespace debubble
