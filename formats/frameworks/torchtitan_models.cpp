#include "formats/frameworks/torchtitan_models.hpp"

#include <algorithm>
#include <string_view>

#include "schedules/catalog.hpp"
#include "sim/core/words.hpp"

namespace debubble {

const std::vector<TorchtitanFlavour>& torchtitan_flavours() {
  static const std::vector<TorchtitanFlavour> flavours{
      {"llama3", "debugmodel", "layers=6,hidden=256,heads=16,feed_forward=768,vocabulary=2048"},
      {"llama3", "8B", "layers=32,hidden=4096,heads=32,kv_heads=8,feed_forward=14336,vocabulary=128256"},
      {"llama3", "70B", "layers=80,hidden=8192,heads=64,kv_heads=8,feed_forward=28672,vocabulary=128256"},
      {"llama3", "405B", "layers=126,hidden=16384,heads=128,kv_heads=8,feed_forward=53248,vocabulary=128256"},
      {"llama4", "17bx16e",
       "layers=48,hidden=5120,heads=40,kv_heads=8,feed_forward=16384,vocabulary=202048,experts=16,experts_per_token=1,"
       "expert_feed_forward=8192,shared_experts=1,shared_feed_forward=8192,window=8192,full_every=4,chunked_window="
       "yes"},
      {"llama4", "17bx128e",
       "layers=48,hidden=5120,heads=40,kv_heads=8,feed_forward=16384,vocabulary=202048,experts=128,"
       "experts_per_token=1,expert_feed_forward=8192,shared_experts=1,shared_feed_forward=8192,dense_layers=1,"
       "moe_every=2,window=8192,full_every=4,chunked_window=yes"},
      {"llama4", "debugmodel",
       "layers=6,hidden=256,heads=16,feed_forward=768,vocabulary=2048,experts=8,experts_per_token=1,"
       "expert_feed_forward=512,shared_experts=1,shared_feed_forward=512,dense_layers=1,moe_every=2"},
      {"deepseek_v3", "debugmodel",
       "layers=6,hidden=256,heads=16,kv_heads=16,head_size=128,feed_forward=1024,vocabulary=2048,experts=8,"
       "experts_per_token=3,expert_feed_forward=256,shared_experts=2,shared_feed_forward=512,dense_layers=1,kv_rank="
       "512,"
       "rope_size=64,value_size=128"},
      {"deepseek_v3", "16B",
       "layers=27,hidden=2048,heads=16,kv_heads=16,head_size=128,feed_forward=10944,vocabulary=102400,experts=64,"
       "experts_per_token=6,expert_feed_forward=1408,shared_experts=2,shared_feed_forward=2816,dense_layers=1,"
       "kv_rank=512,rope_size=64,value_size=128"},
      {"deepseek_v3", "236B",
       "layers=60,hidden=5120,heads=128,kv_heads=128,head_size=128,feed_forward=12288,vocabulary=102400,experts=160,"
       "experts_per_token=6,expert_feed_forward=1536,shared_experts=2,shared_feed_forward=3072,dense_layers=1,"
       "query_rank=1536,kv_rank=512,rope_size=64,value_size=128"},
      {"deepseek_v3", "671B",
       "layers=61,hidden=7168,heads=128,kv_heads=128,head_size=128,feed_forward=18432,vocabulary=129280,experts=256,"
       "experts_per_token=8,expert_feed_forward=2048,shared_experts=1,shared_feed_forward=2048,dense_layers=3,"
       "query_rank=1536,kv_rank=512,rope_size=64,value_size=128"},
      {"qwen3", "debugmodel",
       "layers=8,hidden=256,heads=16,kv_heads=8,head_size=128,feed_forward=3072,vocabulary=2048,qk_norm=head,"
       "tied_embedding=yes"},
      {"qwen3", "debugmodel_moe",
       "layers=8,hidden=256,heads=16,kv_heads=8,head_size=128,feed_forward=3072,vocabulary=2048,qk_norm=head,"
       "experts=64,experts_per_token=8,expert_feed_forward=768"},
      {"qwen3", "0.6B",
       "layers=28,hidden=1024,heads=16,kv_heads=8,head_size=128,feed_forward=3072,vocabulary=151936,qk_norm=head,"
       "tied_embedding=yes"},
      {"qwen3", "1.7B",
       "layers=28,hidden=2048,heads=16,kv_heads=8,head_size=128,feed_forward=6144,vocabulary=151936,qk_norm=head,"
       "tied_embedding=yes"},
      {"qwen3", "4B",
       "layers=36,hidden=2560,heads=32,kv_heads=8,head_size=128,feed_forward=9728,vocabulary=151936,qk_norm=head,"
       "tied_embedding=yes"},
      {"qwen3", "8B",
       "layers=36,hidden=4096,heads=32,kv_heads=8,head_size=128,feed_forward=12288,vocabulary=151936,qk_norm=head"},
      {"qwen3", "14B",
       "layers=40,hidden=5120,heads=40,kv_heads=8,head_size=128,feed_forward=17408,vocabulary=151936,qk_norm=head"},
      {"qwen3", "32B",
       "layers=64,hidden=5120,heads=64,kv_heads=8,head_size=128,feed_forward=25600,vocabulary=151936,qk_norm=head"},
      {"qwen3", "30B-A3B",
       "layers=48,hidden=2048,heads=32,kv_heads=4,head_size=128,feed_forward=6144,vocabulary=151936,qk_norm=head,"
       "experts=128,experts_per_token=8,expert_feed_forward=768"},
      {"qwen3", "235B-A22B",
       "layers=94,hidden=4096,heads=64,kv_heads=4,head_size=128,feed_forward=12288,vocabulary=151936,qk_norm=head,"
       "experts=128,experts_per_token=8,expert_feed_forward=1536"},
      {"gpt_oss", "20b",
       "layers=24,hidden=2880,heads=64,kv_heads=8,head_size=64,feed_forward=2880,vocabulary=201088,experts=32,"
       "experts_per_token=4,expert_feed_forward=2880,qkv_biases=yes,output_bias=yes,mlp_biases=yes,router_bias=yes,"
       "attention_sinks=yes,window=128,full_every=2"},
      {"gpt_oss", "120b",
       "layers=36,hidden=2880,heads=64,kv_heads=8,head_size=64,feed_forward=2880,vocabulary=201088,experts=128,"
       "experts_per_token=4,expert_feed_forward=2880,qkv_biases=yes,output_bias=yes,mlp_biases=yes,router_bias=yes,"
       "attention_sinks=yes,window=128,full_every=2"}};
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
  return std::string_view(flavour.flavour).starts_with("debugmodel") ? 4096 : 40960;
}

const TitanConfiguration* torchtitan_configuration(const std::string& name) {
  return first_configuration([&](const TitanConfiguration& one) { return name == one.name; });
}

const TitanConfiguration* torchtitan_configuration(const TorchtitanFlavour& flavour, const std::string& eight_bits) {
  return first_configuration([&](const TitanConfiguration& one) {
    return std::string_view(one.model) == flavour.name && std::string_view(one.flavour) == flavour.flavour &&
           eight_bits == one.eight_bits;
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
