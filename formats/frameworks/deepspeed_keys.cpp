#include "formats/frameworks/deepspeed_keys.hpp"
#include "sim/core/word_list.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace debubble {
namespace {

constexpr std::string_view kRemovedKeys =
    "nebula compression_training amp quantize_training sparse_gradients eigenvalue sparse_attention elasticity "
    "graph_harvesting curriculum_learning progressive_layer_drop";
constexpr std::string_view kRemovedOfZero = "mics_shard_size mics_hierarchical_params_gather zeropp_loco_param";
constexpr std::string_view kFreeKeys =
    "steps_per_print wall_clock_breakdown scheduler dump_state tensorboard wandb csv_monitor comet monitor_config "
    "flops_profiler comms_logger memory_breakdown checkpoint data_sampling aio autotuning zero_force_ds_cpu_optimizer "
    "disable_allgather timers dataloader_drop_last seed use_node_local_storage datastates_ckpt "
    "load_universal_checkpoint disable_python_gc log_level vocabulary_size data_before_expert_parallel";
constexpr std::string_view kOlderOfZero =
    "cpu_offload_params stage3_param_persitence_threshold stage3_param_persitance_threshold "
    "stage3_model_persitence_threshold";
// With and without "stage3_".
constexpr std::string_view kOfStage3 =
    "prefetch_bucket_size param_persistence_threshold model_persistence_threshold max_live_parameters "
    "max_reuse_distance gather_16bit_weights_on_model_save module_granularity_threshold "
    "use_all_reduce_for_fetch_params allgather_sequential";
constexpr std::string_view kOfZero =
    "stage contiguous_gradients reduce_scatter reduce_bucket_size use_multi_rank_bucket_allreduce allgather_partitions "
    "allgather_bucket_size overlap_comm compute_grad_norm load_from_fp32_weights elastic_checkpoint offload_param "
    "offload_optimizer zenflow sub_group_size cpu_offload_param cpu_offload_use_pin_memory cpu_offload "
    "stage3_gather_fp16_weights_on_model_save ignore_unused_parameters legacy_stage1 round_robin_gradients "
    "parameter_alignment zero_hpz_partition_size zero_quantized_weights zero_quantized_nontrainable_weights "
    "zero_quantized_gradients memory_efficient_linear pipeline_loading_checkpoint override_module_apply "
    "log_trace_cache_warnings enable_sanity_checks save_muon_momentum_buffer_in_memory leaf_module";
constexpr std::string_view kOfFp16 =
    "enabled auto_cast loss_scale initial_scale_power hysteresis loss_scale_window min_loss_scale "
    "consecutive_hysteresis fp16_master_weights_and_grads";
constexpr std::string_view kOfBf16 =
    "enabled immediate_grad_update check_grad_overflow bf16_master_weights_and_grads bf16_optimizer_states";
constexpr std::string_view kOfOffload =
    "device nvme_path buffer_count buffer_size max_in_cpu pin_memory pipeline_read pipeline_write fast_init ratio "
    "super_offload cpuadam_cores_perc";

DeepSpeedKey of_section(bool known) { return known ? DeepSpeedKey::kUsed : DeepSpeedKey::kUnknown; }

}  // namespace

DeepSpeedKey deepspeed_key(std::string_view section, std::string_view key) {
  if (section.empty()) {
    if (is_word_in(kRemovedKeys, key)) return DeepSpeedKey::kRemoved;
    return is_word_in(kFreeKeys, key) ? DeepSpeedKey::kFree : DeepSpeedKey::kUsed;
  }
  if (section == "fp16") return of_section(is_word_in(kOfFp16, key));
  if (section == "bf16") return of_section(is_word_in(kOfBf16, key));
  if (section != "zero_optimization") return of_section(is_word_in(kOfOffload, key));
  if (is_word_in(kRemovedOfZero, key)) return DeepSpeedKey::kRemoved;
  if (is_word_in(kOlderOfZero, key)) return DeepSpeedKey::kOlder;
  const std::string_view plain = key.starts_with("stage3_") ? key.substr(7) : key;
  return of_section(is_word_in(kOfZero, key) || is_word_in(kOfStage3, plain));
}

std::string deepspeed_format(const std::string& name) {
  constexpr std::array<std::pair<const char*, const char*>, 10> kNames{{{"torch.float32", "fp32"},
                                                                        {"float32", "fp32"},
                                                                        {"float", "fp32"},
                                                                        {"torch.bfloat16", "bf16"},
                                                                        {"bfloat16", "bf16"},
                                                                        {"torch.float16", "fp16"},
                                                                        {"float16", "fp16"},
                                                                        {"half", "fp16"},
                                                                        {"torch.int8", "int8"},
                                                                        {"", "fp32"}}};
  for (const auto& [long_name, short_name] : kNames) {
    if (name == long_name) return short_name;
  }
  return name;
}

std::string deepspeed_lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

std::optional<DeepSpeedOptimizer> deepspeed_optimizer(const std::string& type) {
  static constexpr std::array<DeepSpeedOptimizer, 21> kKnown{
      {{"adam", "adam", true, false},      {"adamw", "adam", true, false},       {"adagrad", "momentum", true, false},
       {"lamb", "adam", false, false},     {"muadam", "adam", false, false},     {"muadamw", "adam", false, false},
       {"musgd", "sgd", false, true},      {"lion", "momentum", true, false},    {"muon", "muon", true, false},
       {"SGD", "sgd", false, true},        {"RMSprop", "momentum", false, true}, {"ASGD", "momentum", false, false},
       {"Adadelta", "adam", false, false}, {"Adamax", "adam", false, false},     {"NAdam", "adam", false, false},
       {"RAdam", "adam", false, false},    {"Rprop", "adam", false, false},      {"SparseAdam", "adam", false, false},
       {"Adafactor", "", false, false},    {"LBFGS", "", false, false},          {"", "adam", true, false}}};
  const std::string lower = deepspeed_lower(type);
  for (const DeepSpeedOptimizer& known : kKnown) {
    const bool own = std::none_of(known.name.begin(), known.name.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
    if (known.name == (own ? lower : type)) return known;
  }
  return std::nullopt;
}

}  // namespace debubble
