// Hugging Face accelerate's YAML.
#include <algorithm>

#include "formats/frameworks/framework_scenario.hpp"
#include "formats/text/text.hpp"

namespace debubble {
namespace {

class AccelerateReader {
 public:
  AccelerateReader(ConfigTree& tree, const FrameworkRequest& request) : tree_(tree), request_(request) {}

  FrameworkScenario run() {
    tree_.pass_words(
        "compute_environment debug downcast_bf16 enable_cpu_affinity machine_rank main_process_ip main_process_port "
        "main_training_function num_machines rdzv_backend same_network tpu_env tpu_use_cluster tpu_use_sudo use_cpu "
        "gpu_ids commands fp8_config deepspeed_multinode_launcher");
    if (request_.model.empty()) {
      require_key(tree_, "--model", "accelerate's configuration does not say which model it trains",
                  "add --model NAME or --model config.json");
    }
    scenario_.set("model", request_.model);
    const auto processes = tree_.number("num_processes", 1);
    world_ = request_.world_size ? *request_.world_size : processes.value_or(0);
    if (world_ == 0) require_key(tree_, "num_processes", "the file does not say how many ranks there are", "write it");
    if (request_.sequence) scenario_.set("sequence", *request_.sequence);
    read_kind();
    const std::string type = tree_.word("mixed_precision").value_or("no");
    scenario_.set("dtype", std::string(type == "no" ? "fp32" : type));
    read_states(type == "fp16" || type == "bf16" ? type : "");
    if (type != "no" && type != "fp16" && type != "bf16" && type != "fp8") {
      tree_.complain("P011", "mixed_precision", in_quotes(type) + " is none of no, fp16, bf16 and fp8",
                     "write one of them");
    }
    scenario_.find("accelerate's file has no batch: microbatches of one sample; write microbatch-size = N");
    return std::move(scenario_);
  }

 private:
  // `half`: the 16-bit format of products, if any. DeepSpeed has the whole model in it and sums gradients in it, all
  // others but Megatron-LM cast 32-bit weights (torch.autocast, FSDP's mixed precision).
  void read_states(const std::string& half) {
    const std::string kind = tree_.word("distributed_type").value_or("NO");
    if (kind == "DEEPSPEED") {
      if (!half.empty()) scenario_.set("grad-dtype", half);
      if (half.empty() && stage_ > 0) scenario_.set("master-weights", std::string("fp32"));
    } else if (kind != "MEGATRON_LM" && !half.empty()) {
      scenario_.set("weight-dtype", std::string("fp32"));
    }
  }

  void read_kind() {
    const std::string kind = tree_.word("distributed_type").value_or("NO");
    std::int64_t model = 1;
    if (kind == "DEEPSPEED") {
      read_deepspeed_section();
    } else if (kind == "FSDP") {
      read_fsdp();
    } else if (kind == "MEGATRON_LM") {
      model = read_megatron_section();
    } else if (kind != "MULTI_GPU" && kind != "NO") {
      tree_.complain("F033", "distributed_type", "the distributed type " + in_quotes(kind) + " is not modelled",
                     "it has NO, MULTI_GPU, DEEPSPEED, FSDP and MEGATRON_LM");
    }
    for (const char* section :
         {"deepspeed_config", "fsdp_config", "megatron_lm_config", "parallelism_config", "dynamo_config"}) {
      if (std::string(section) == "dynamo_config" &&
          tree_.word("dynamo_config.dynamo_backend").value_or("NO") != "NO") {
        scenario_.find("dynamo_config: passes count one by one, and the host as in eager mode");
      }
      tree_.pass(section);
    }
    if (model == 1) scenario_.set("devices", std::int64_t{1});
    if (world_ % model != 0) {
      tree_.complain("P012", "num_processes",
                     std::to_string(world_) + " ranks are no multiple of " + std::to_string(model),
                     "tensor x pipeline ranks must divide it");
    }
    if (world_ / model > 1) scenario_.set("dp", world_ / model);
  }

  void read_deepspeed_section() {
    const std::string section = "deepspeed_config.";
    if (const auto file = tree_.word(section + "deepspeed_config_file")) {
      require_key(tree_, section + "deepspeed_config_file", "the batch and ZeRO's stage are in " + in_quotes(*file),
                  "import that file: --from deepspeed --world-size N --model NAME");
    }
    stage_ = tree_.number(section + "zero_stage", 0, 3).value_or(2);
    if (stage_ > 0 && world_ > 1) scenario_.set("zero", stage_);
    scenario_.set("microbatches", tree_.number(section + "gradient_accumulation_steps", 1).value_or(1));
    for (const char* key : {"offload_optimizer_device", "offload_param_device"}) {
      if (tree_.word(section + key).value_or("none") != "none") scenario_.find(section + key + " is not modelled");
    }
  }

  void read_fsdp() {
    const std::string section = "fsdp_config.";
    const std::string strategy = tree_.word(section + "fsdp_sharding_strategy").value_or("FULL_SHARD");
    const std::string again = tree_.word(section + "fsdp_reshard_after_forward").value_or("true");
    if (strategy == "NO_SHARD" || strategy == "3") return;
    scenario_.set("zero", std::string("3"));
    if (strategy == "SHARD_GRAD_OP" || strategy == "2" || again == "false" || again == "SHARD_GRAD_OP") {
      scenario_.set("keep-whole", std::string("true"));
    }
    if (strategy.starts_with("HYBRID"))
      scenario_.find("fsdp_sharding_strategy " + strategy + ": sharded over all ranks");
    if (tree_.flag(section + "fsdp_offload_params")) scenario_.find(section + "fsdp_offload_params is not modelled");
    if (tree_.flag(section + "fsdp_activation_checkpointing")) scenario_.set("recompute", std::string("full"));
  }

  std::int64_t read_megatron_section() {
    const std::string section = "megatron_lm_config.megatron_lm_";
    const std::int64_t tensor = tree_.number(section + "tp_degree", 1, kMostMeshRanks).value_or(1);
    const std::int64_t pipeline = tree_.number(section + "pp_degree", 1, kMostMeshRanks).value_or(1);
    scenario_.set("devices", pipeline);
    if (tensor > 1) scenario_.set("tp", tensor);
    if (tree_.flag(section + "sequence_parallelism") && tensor > 1)
      scenario_.set("sequence-parallel", std::string("true"));
    if (tree_.flag(section + "recompute_activations")) scenario_.set("recompute", std::string("selective"));
    if (tree_.flag(section + "use_distributed_optimizer")) scenario_.set("zero", std::string("1"));
    scenario_.set("microbatches", tree_.number(section + "num_micro_batches", 1).value_or(1));
    return tensor * pipeline;
  }

  ConfigTree& tree_;
  const FrameworkRequest& request_;
  FrameworkScenario scenario_;
  std::int64_t world_ = 1;
  std::int64_t stage_ = 0;
};

}  // namespace

FrameworkScenario read_accelerate(ConfigTree& tree, const FrameworkRequest& request) {
  return AccelerateReader(tree, request).run();
}

}  // namespace debubble
