#include "formats/megatron/size_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace debubble {
namespace {

constexpr std::array<std::string_view, 12> kSizeEndings{
    "parallel_size",     "parallel_degree", "parallel_world_size",
    "batch_size",        "per_gpu_batch",   "seq_len",
    "seq_length",        "sequence_length", "num_layers",
    "num_hidden_layers", "n_layers",        "per_device_train_batch_size"};
constexpr std::array<std::string_view, 9> kWholeSizeNames{
    "tp_size", "pp_size", "cp_size", "ep_size", "etp_size", "n_layer", "cutoff_len", "dp_replicate", "dp_shard"};
constexpr std::array<std::string_view, 8> kOtherPurposes{"eval",  "valid",   "val_",    "test",
                                                         "infer", "predict", "rollout", "generat"};

}  // namespace

bool is_of_evaluation(std::string_view path) {
  return std::any_of(kOtherPurposes.begin(), kOtherPurposes.end(),
                     [&path](std::string_view part) { return path.find(part) != std::string_view::npos; });
}

bool is_size_name(std::string_view name) {
  std::string plain(name);
  std::replace(plain.begin(), plain.end(), '-', '_');
  std::transform(plain.begin(), plain.end(), plain.begin(), [](unsigned char c) { return std::tolower(c); });
  if (is_of_evaluation(plain)) return false;
  if (plain.find("batch") != std::string::npos && plain.find("token") != std::string::npos) return true;
  return std::any_of(kSizeEndings.begin(), kSizeEndings.end(),
                     [&plain](std::string_view end) { return plain.ends_with(end); }) ||
         std::find(kWholeSizeNames.begin(), kWholeSizeNames.end(), plain) != kWholeSizeNames.end();
}

}  // namespace debubble
