#include "formats/frameworks/section_words.hpp"

#include <algorithm>
#include <array>

#include "formats/megatron/size_names.hpp"
#include "formats/text/text.hpp"
#include "sim/core/word_list.hpp"

namespace debubble {
namespace {

// Keys of NeMo and Megatron-Core's configuration whose argument is called otherwise. Others are alike but for hyphens.
struct ArgumentName {
  const char* key;
  const char* argument;
};
constexpr std::array<ArgumentName, 19> kArgumentNames{
    {{"virtual_pipeline_model_parallel_size", "num-virtual-stages-per-pipeline-rank"},
     {"encoder_seq_length", "seq-length"},
     {"data_max_seq_length", "seq-length"},
     {"activations_checkpoint_granularity", "recompute-granularity"},
     {"activations_checkpoint_method", "recompute-method"},
     {"activations_checkpoint_num_layers", "recompute-num-layers"},
     {"ub_tp_comm_overlap", "tp-comm-overlap"},
     {"bucket_size", "ddp-bucket-size"},
     {"num_moe_experts", "num-experts"},
     {"moe_ffn_hidden_size", "moe-ffn-hidden-size"},
     {"fp8", "fp8-format"},
     {"add_qkv_bias", "add-qkv-bias"},
     {"overlap_p2p_comm", "overlap-p2p-communication"},
     {"grad_reduce_in_fp32", "accumulate-allreduce-grads-in-fp32"},
     {"make_vocab_size_divisible_by", "make-vocab-size-divisible-by"},
     {"num_layers_in_first_pipeline_stage", "decoder-first-pipeline-num-layers"},
     {"num_layers_in_last_pipeline_stage", "decoder-last-pipeline-num-layers"},
     {"account_for_embedding_in_pipeline_split", "account-for-embedding-in-pipeline-split"},
     {"account_for_loss_in_pipeline_split", "account-for-loss-in-pipeline-split"}}};

// Keys that say the opposite of the argument, or that several arguments say; looked at by name.
constexpr std::string_view kNamedKeys =
    "bias pipeline_dtype add_bias_linear share_embeddings_and_output_weights activation gated_linear_unit "
    "activation_func normalization num_query_groups precision gradient_accumulation_fusion optim optimizer peft data "
    "position_embedding_type _target_";

}  // namespace

std::string SectionWords::argument_of(const std::string& key) {
  for (const ArgumentName& known : kArgumentNames) {
    if (key == known.key) return known.argument;
  }
  std::string name = key;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string known_model_text(const std::string& known) {
  return known.find('=') == std::string::npos ? "the preset " + known : "the published model of that name";
}

void SectionWords::copy_section(const std::string& section) {
  const JsonValue* values = tree_.find(section);
  if (values == nullptr) return;
  for (const JsonValue& one : values->children) {
    const bool named = is_word_in(kNamedKeys, one.key);
    if (!named && one.kind != JsonValue::Kind::kObject) words.copy(section + "." + one.key, argument_of(one.key));
  }
  const std::string prefix = section + ".";
  for (const char* key : {"bias", "add_bias_linear"}) {
    if (tree_.has(prefix + key) && !tree_.flag(prefix + key, true)) words.flag("disable-bias-linear");
  }
  if (tree_.has(prefix + "share_embeddings_and_output_weights") &&
      !tree_.flag(prefix + "share_embeddings_and_output_weights", true)) {
    words.flag("untie-embeddings-and-output-weights");
  }
  if (tree_.has(prefix + "gradient_accumulation_fusion") &&
      !tree_.flag(prefix + "gradient_accumulation_fusion", true)) {
    words.flag("no-gradient-accumulation-fusion");
  }
  const std::string exchange = resolved_word(tree_.word(prefix + "overlap_p2p_comm").value_or("true"));
  if (tree_.has(prefix + "virtual_pipeline_model_parallel_size") && (exchange == "false" || exchange == "False")) {
    words.flag("no-overlap-p2p-communication");
  }
  // Megatron-LM refuses the one without the other, so the other is the tool's default.
  if (resolved_word(tree_.word(prefix + "overlap_param_gather").value_or("")) == "true") {
    words.flag("use-distributed-optimizer");
  }
  read_block(prefix);
}

void SectionWords::read_block(const std::string& prefix) {
  const std::string activation = tree_.word(prefix + "activation").value_or("");
  (void)tree_.find(prefix + "activation_func");
  if (activation.find("swiglu") != std::string::npos || tree_.flag(prefix + "gated_linear_unit")) words.flag("swiglu");
  std::string norm = tree_.word(prefix + "normalization").value_or("");
  std::transform(norm.begin(), norm.end(), norm.begin(), [](unsigned char c) { return std::tolower(c); });
  if (norm == "rmsnorm") words.argument("normalization", std::string("RMSNorm"));
  // Latent attention has keys and values for every head, whatever this says.
  if (tree_.flag(prefix + "multi_latent_attention")) {
    (void)tree_.find(prefix + "num_query_groups");
  } else if (tree_.has(prefix + "num_query_groups")) {
    words.flag("group-query-attention");
    words.copy(prefix + "num_query_groups", "num-query-groups");
  }
  words.copy(prefix + "position_embedding_type", "position-embedding-type");
  if (const auto precision = tree_.word(prefix + "precision")) read_precision(*precision);
  (void)tree_.find(prefix + "_target_");
}

void SectionWords::read_precision(const std::string& text) {
  if (formats_read) return;
  formats_read = true;
  const auto says = [&text](const char* part) { return text.find(part) != std::string::npos; };
  // "bf16_with_fp8_current_scaling_mixed", or a call whose arguments may say that there is none: fp8=None.
  const bool call = says("(bf16") || says("(fp16");
  const bool eight = call ? says("fp8='") || says("fp8=\"") : says("fp8");
  const bool four = call ? says("fp4='") || says("fp4=\"") : says("fp4");
  words.flag(says("bf16") ? "bf16" : says("16") ? "fp16" : eight ? "bf16" : "fp32");
  if (eight) words.argument("fp8-format", std::string("hybrid"));
  const std::string recipe = says("mxfp8")                                   ? "mxfp8"
                             : says("current_scaling") || says("tensorwise") ? "tensorwise"
                             : says("subchannel") || says("blockwise")       ? "blockwise"
                                                                             : "";
  if (eight && !recipe.empty()) words.argument("fp8-recipe", recipe);
  if (four) count_four_bits("mixed_precision");
  if (says("grad_reduce_in_fp32=False")) words.flag("grad-reduce-in-bf16");
}

void SectionWords::count_four_bits(const std::string& path) {
  words.argument("fp8-format", std::string("e4m3"));
  words.argument("fp8-recipe", std::string("tensorwise"));
  words.find(in_quotes(path) + ": products in 4 bits count as products in 8 bits, which take longer");
}

void SectionWords::default_formats(const std::string& prefix) {
  if (formats_read || tree_.has(prefix + "bf16") || tree_.has(prefix + "fp16") || tree_.has(prefix + "precision")) {
    return;
  }
  words.flag("bf16");
  words.find("the number format is not given: bf16 is taken, as the tool's own default");
}

void SectionWords::copy_leaves(const std::string& section) {
  const JsonValue* values = section.empty() ? &tree_.root() : tree_.find(section);
  if (values == nullptr) return;
  for (const JsonValue& one : values->children) {
    const std::string path = section.empty() ? one.key : section + "." + one.key;
    one.kind == JsonValue::Kind::kObject ? copy_leaves(path) : copy_leaf(one, path);
  }
}

void SectionWords::copy_leaf(const JsonValue& leaf, const std::string& path) {
  const std::string argument = argument_of(leaf.key);
  const auto [first, added] = leaves_.try_emplace(argument, path, leaf.text);
  if (added || first->second.second == leaf.text) return words.copy(path, argument);
  if (!is_size_name(leaf.key)) return;
  require_key(
      tree_, path,
      in_quotes(path) + " is " + leaf.text + ", and " + in_quotes(first->second.first) + " is " + first->second.second,
      "keep one of the two");
}

}  // namespace debubble
