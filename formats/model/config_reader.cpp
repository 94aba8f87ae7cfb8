#include "formats/model/config_reader.hpp"

#include <algorithm>

#include "formats/text/text.hpp"
#include "sim/core/suggest.hpp"
#include "sim/core/word_list.hpp"

namespace debubble {
namespace {

constexpr std::int64_t kLargestConfigNumber = std::int64_t{1} << 24;

// What a config says that changes no size, no step and no order of the computation: names, tokens, randomness,
// constants of the norms, and how text is generated.
constexpr std::string_view kIrrelevantKeys =
    "_attn_implementation _attn_implementation_autoset _commit_hash _name_or_path architectures attention_dropout "
    "attn_pdrop begin_suppress_tokens bos_token_id chunk_size_feed_forward classifier_dropout decoder_start_token_id "
    "diversity_penalty do_sample dtype early_stopping embd_pdrop encoder_no_repeat_ngram_size eos_token_id "
    "exponential_decay_length_penalty finetuning_task forced_bos_token_id forced_eos_token_id gradient_checkpointing "
    "hidden_dropout id2label initializer_range is_decoder label2id layer_norm_eps layer_norm_epsilon length_penalty "
    "max_length max_position_embeddings max_window_layers min_length model_type n_ctx name_or_path "
    "no_repeat_ngram_size num_beam_groups num_beams num_return_sequences output_attentions output_hidden_states "
    "output_past output_scores pad_token_id prefix pretraining_tp problem_type remove_invalid_values "
    "repetition_penalty resid_pdrop return_dict return_dict_in_generate rms_norm_eps rope_scaling sep_token_id "
    "summary_activation summary_first_dropout summary_proj_to_labels summary_type summary_use_proj suppress_tokens "
    "task_specific_params temperature tf_legacy_loss tokenizer_class top_k top_p torch_dtype torchscript "
    "transformers_version typical_p _num_labels auto_map bad_words_ids max_sequence_length num_labels unk_token_id "
    "use_bfloat16 use_cache";

}  // namespace

const JsonDialect& config_dialect() {
  static constexpr JsonDialect kDialect{
      .what = "model config",
      .description = "the model's page on Hugging Face",
  };
  return kDialect;
}

void ConfigReader::complain(const char* code, std::string_view key, const std::string& message,
                            const std::string& help) {
  problems_.add_at_pointer(code, prefix_ + (key.empty() ? "" : "/" + std::string(key)), message, help);
}

const JsonValue* ConfigReader::find(std::string_view key) {
  known_.emplace_back(key);
  for (const JsonValue& member : object_.children) {
    if (member.key == key) return member.kind == JsonValue::Kind::kNull ? nullptr : &member;
  }
  return nullptr;
}

std::int64_t ConfigReader::size(std::string_view key, std::optional<std::int64_t> fallback) {
  const JsonValue* value = find(key);
  if (value == nullptr) {
    if (!fallback) complain("P006", "", in_quotes(key) + " is missing", "the size of the model depends on it");
    return fallback.value_or(1);
  }
  if (value->kind == JsonValue::Kind::kInteger && value->integer >= 1 && value->integer <= kLargestConfigNumber) {
    return value->integer;
  }
  const bool whole = value->kind == JsonValue::Kind::kInteger || value->kind == JsonValue::Kind::kHugeInteger;
  complain(whole ? "P004" : "P007", key,
           in_quotes(key) + " must be a whole number from 1 to 2^24; got " + describe(*value),
           "it is a number of layers, heads, positions, or numbers in a vector");
  return 1;
}

bool ConfigReader::flag(std::string_view key, bool fallback) {
  const JsonValue* value = find(key);
  if (value == nullptr) return fallback;
  if (value->kind == JsonValue::Kind::kBoolean) return value->text == "true";
  complain("P007", key, in_quotes(key) + " must be true or false; got " + describe(*value), "without quotes");
  return fallback;
}

std::string ConfigReader::word(std::string_view key, const std::string& fallback) {
  const JsonValue* value = find(key);
  if (value == nullptr) return fallback;
  if (value->kind == JsonValue::Kind::kString) return value->text;
  complain("P007", key, in_quotes(key) + " must be a string; got " + describe(*value), "in double quotes");
  return fallback;
}

double ConfigReader::positive(std::string_view key, double fallback) {
  const JsonValue* value = find(key);
  if (value == nullptr) return fallback;
  const double number = number_of(*value).value_or(0);
  if (number > 0) return number;
  complain("P007", key, in_quotes(key) + " must be a number above 0; got " + describe(*value), "for example 10000.0");
  return fallback;
}

void ConfigReader::insist(std::string_view key, bool expected, bool fallback, const std::string& meaning) {
  if (flag(key, fallback) == expected) return;
  complain("W012", key, meaning + " is not part of the built-in workload",
           "it computes models with " + in_quotes(key) + ": " + (expected ? "true" : "false") +
               "; profile the real script instead: debubble profile -- python train.py");
}

void ConfigReader::refuse(std::string_view key, const std::string& meaning) {
  const JsonValue* value = find(key);
  if (value == nullptr || (value->children.empty() &&
                           (value->kind == JsonValue::Kind::kArray || value->kind == JsonValue::Kind::kObject))) {
    return;
  }
  complain("W012", key, meaning + " is not part of the built-in workload",
           "profile the real script instead: debubble profile -- python train.py");
}

std::vector<std::string> ConfigReader::unknown_keys() const {
  std::vector<std::string> unknown;
  for (const JsonValue& member : object_.children) {
    if (is_word_in(kIrrelevantKeys, member.key) || std::find(known_.begin(), known_.end(), member.key) != known_.end())
      continue;
    unknown.push_back(member.key);
  }
  return unknown;
}

void ConfigReader::finish() {
  for (const std::string& key : unknown_keys()) {
    const std::string meant = closest_name(key, known_);
    complain("P005", "", "unknown key " + in_quotes(key) + ", which may change what is computed",
             meant.empty() ? "remove it if it does not change the sizes or steps of the model"
                           : "did you mean " + in_quotes(meant) + "? else remove it if it changes no size or step");
  }
}

}  // namespace debubble
