#include "formats/frameworks/torchtitan_models.hpp"

#include <algorithm>
#include <string_view>

#include "formats/frameworks/known_models.hpp"
#include "schedules/catalog.hpp"
#include "sim/core/words.hpp"

namespace debubble {

const std::vector<TorchtitanFlavour>& torchtitan_flavours() {
  static const std::vector<TorchtitanFlavour> flavours = [] {
    std::vector<TorchtitanFlavour> read;
    for (const KnownModel& model : known_models()) {
      for (const std::string& name : model.names) {
        const std::size_t end = name.find('/');
        if (end != std::string::npos) read.push_back({name.substr(0, end), name.substr(end + 1), model.sizes});
      }
    }
    return read;
  }();
  return flavours;
}

namespace {

const std::vector<TitanConfiguration>& titan_configurations() {
  static const std::string deepseek =
      "--training.local_batch_size 4 --training.seq_len 4096 --training.disable_cuda_graphs "
      "--parallelism.pipeline_parallel_schedule Interleaved1F1B --compile.enable --compile.components loss "
      "--parallelism.expert_parallel_degree ";
  static const std::vector<TitanConfiguration> configurations{
      {"llama3_debugmodel", "llama3", "debugmodel", "", "--parallelism.pipeline_parallel_schedule Interleaved1F1B"},
      {"llama3_8b", "llama3", "8B", "", "--training.local_batch_size 1 --training.seq_len 8192"},
      {"llama3_8b_mxfp8", "llama3", "8B", "mxfp8",
       "--training.local_batch_size 1 --training.seq_len 8192 --compile.enable --compile.components model"},
      {"llama3_70b", "llama3", "70B", "",
       "--training.seq_len 8192 --parallelism.tensor_parallel_degree 8 activation-checkpoint:full"},
      {"llama3_405b", "llama3", "405B", "float8",
       "--training.local_batch_size 2 --training.seq_len 8192 --parallelism.tensor_parallel_degree 8 --compile.enable "
       "--compile.enable_async_tensor_parallel activation-checkpoint:full"},
      {"qwen3_debugmodel", "qwen3", "debugmodel", "", ""},
      {"qwen3_moe_debug", "qwen3", "debugmodel_moe", "", "--training.local_batch_size 4 --training.seq_len 4096"},
      {"qwen3_0_6b", "qwen3", "0.6B", "", "--training.local_batch_size 4 --training.seq_len 4096"},
      {"qwen3_1_7b", "qwen3", "1.7B", "", "--training.local_batch_size 4 --training.seq_len 4096"},
      {"qwen3_14b", "qwen3", "14B", "",
       "--training.local_batch_size 4 --training.seq_len 4096 activation-checkpoint:full"},
      {"qwen3_32b", "qwen3", "32B", "",
       "--training.local_batch_size 2 --training.seq_len 4096 activation-checkpoint:full"},
      {"qwen3_30b_a3b", "qwen3", "30B-A3B", "",
       "--training.local_batch_size 2 --training.seq_len 4096 activation-checkpoint:full"},
      {"deepseek_v3_debugmodel", "deepseek_v3", "debugmodel", "", ""},
      {"deepseek_v3_16b", "deepseek_v3", "16B", "", deepseek + "8"},
      {"deepseek_v3_671b", "deepseek_v3", "671B", "", deepseek + "2"},
      {"deepseek_v3_671b_float8", "deepseek_v3", "671B", "float8", deepseek + "2"},
      {"gpt_oss_20b", "gpt_oss", "20b", "",
       "--training.local_batch_size 1 --training.seq_len 8192 activation-checkpoint:full"},
      {"gpt_oss_120b", "gpt_oss", "120b", "",
       "--training.local_batch_size 1 --training.seq_len 8192 activation-checkpoint:full"}};
  return configurations;
}

template <typename Wanted>
const TitanConfiguration* first_configuration(const Wanted& wanted) {
  const auto& all = titan_configurations();
  const auto found = std::find_if(all.begin(), all.end(), wanted);
  return found == all.end() ? nullptr : &*found;
}

// What stands behind that in its frameworks: "GPipe" behind "torchtitan (".
std::string class_after(const ScheduleEntry& entry, std::string_view start) {
  const std::size_t begin = entry.frameworks.find(start);
  if (begin == std::string::npos) return "";
  const std::size_t name = begin + start.size();
  return entry.frameworks.substr(name, entry.frameworks.find_first_of(",)", name) - name);
}

}  // namespace

std::int64_t longest_sequence(const TorchtitanFlavour& flavour) {
  const std::string_view model = flavour.name;
  if (model == "llama3" || model == "gpt_oss") return 131072;
  if (model == "deepseek_v3") return 16384;
  if (model != "qwen3") return 0;
  return flavour.flavour.starts_with("debugmodel") ? 4096 : 40960;
}

const TitanConfiguration* torchtitan_configuration(const std::string& name) {
  return first_configuration([&](const TitanConfiguration& one) { return name == one.name; });
}

const TitanConfiguration* torchtitan_configuration(const TorchtitanFlavour& flavour, const std::string& eight_bits) {
  return first_configuration([&](const TitanConfiguration& one) {
    return one.model == flavour.name && one.flavour == flavour.flavour && eight_bits == one.eight_bits;
  });
}

std::string torchtitan_class(const ScheduleEntry& entry) { return class_after(entry, "torchtitan ("); }

std::string pytorch_class(const ScheduleEntry& entry) {
  const std::string both = torchtitan_class(entry);
  return both.empty() ? class_after(entry, "PyTorch (") : both;
}

const ScheduleEntry* schedule_of_torchtitan(const std::string& class_name) {
  if (class_name.empty()) return nullptr;
  for (const ScheduleEntry& one : schedule_catalog()) {
    const std::string known = torchtitan_class(one);
    const auto same = [](char a, char b) { return lower_case(a) == lower_case(b); };
    if (std::equal(known.begin(), known.end(), class_name.begin(), class_name.end(), same)) return &one;
  }
  return nullptr;
}

}  // namespace debubble
