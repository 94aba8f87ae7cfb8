#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "formats/megatron/argument_list.hpp"
#include "formats/megatron/argument_table.hpp"
#include "formats/megatron/wrapper_words.hpp"
#include "sim/core/word_list.hpp"

namespace debubble {
namespace {

using Strings = std::vector<std::string>;

struct SwiftName {
  const char* name;
  const char* argument;
};
constexpr std::array<SwiftName, 5> kSwiftNames{
    {{"virtual-pipeline-model-parallel-size", "num-virtual-stages-per-pipeline-rank"},
     {"microbatch-group-size-per-vp-stage", "microbatch-group-size-per-virtual-pipeline-stage"},
     {"max-length", "seq-length"},
     {"packing-length", "seq-length"},
     {"train-type", "tuner-type"}}};

// What a step of the decoder does not depend on: data and its order, files, what is reported, a picture's encoder, and
// fused kernels that its default leaves as Megatron-LM has them.
constexpr std::string_view kSwiftNothing = R"(
add-non-thinking-prefix add-version agent-template aligner-lr apply-rope-fusion attn-impl bias-activation-fusion bridge-backend
cached-dataset cached-val-dataset callbacks check-model columns create-checkpoint-symlink custom-dataset-info
custom-register-path data-seed dataloader-multiprocessing-context dataloader-num-workers
dataloader-persistent-workers dataloader-pin-memory dataloader-prefetch-factor dataset dataset-num-proc
dataset-shuffle ddp-backend ddp-timeout decision-drop-instructions decision-shuffle-fields decision-state-as-text
decision-subsample-options device-map dsa-indexer-loss-coeff disable-auto-column-mapping disable-ignore-empty-think download-mode
enable-channel-loss enable-dft-loss enable-npu-model-patch enable-thinking experts-impl external-plugins
freeze-aligner freeze-vit greater-is-better hub-token ignore-args-error init-strategy interleave-prob
is-binary-loss-scale language-model-only lazy-tokenize load-args load-data-args load-from-cache-file
local-repo-path logging-steps logprobs loss-scale manual-gc-steps max-memory max-model-len max-new-tokens max-pixels
max-shard-size mcore-model merge-lora metric-for-best-model model-author model-kwargs model-name model-revision
model-type modules-to-save nccl-comm-warmup norm-bbox num-beams num-train-epochs output-dir packing packing-num-proc
packing-strategy padding-free padding-side preserve-thinking remove-unused-columns repetition-penalty report-to
response-prefix rope-scaling save-missing-weights save-safetensors save-steps save-strategy save-total-limit
shuffle-buffer-size skip-megatron-init split-dataset-ratio stop-words stopping-strategy stream streaming strict
strict-fsdp-dtensor-load structured-outputs-regex swanlab-exp-name swanlab-project system target-modules
target-regex task-type temperature template template-backend top-k top-logprobs top-p train-dataloader-shuffle
truncation-strategy tuner-backend use-chat-template use-hf val-dataset val-dataset-shuffle vit-attn-impl
vit-gradient-checkpointing vit-gradient-checkpointing-kwargs vit-lr
)";

bool is_off(const std::string& value) {
  return value == "false" || value == "False" || value == "none" || value == "None" || value == "null";
}

class SwiftReader {
 public:
  WrapperWords run(const Strings& given) {
    for (std::size_t k = 0; k < given.size();) {
      if (!given[k].starts_with("--")) {
        result_.words.push_back(given[k++]);
        continue;
      }
      const std::size_t equals = given[k].find('=');
      std::string name = given[k].substr(2, equals == std::string::npos ? equals : equals - 2);
      std::replace(name.begin(), name.end(), '_', '-');
      Strings values;
      if (equals != std::string::npos) values.push_back(given[k].substr(equals + 1));
      for (++k; equals == std::string::npos && k < given.size() && !given[k].starts_with("--"); ++k) {
        values.push_back(given[k]);
      }
      add(name, values);
    }
    add_defaults();
    return std::move(result_);
  }

 private:
  void add(std::string name, const Strings& values) {
    if (is_word_in(kSwiftNothing, name)) return;
    if (name == "megatron-extra-kwargs") return add_object(values.empty() ? "" : values.front());
    for (const SwiftName& known : kSwiftNames) {
      if (name == known.name) name = known.argument;
    }
    const std::string value = values.empty() ? "" : values.front();
    if (name == "torch-dtype") return read_dtype(value);
    if (name == "recompute-granularity" && is_off(value)) return (void)(recomputes_ = false);
    if (name == "bf16" || name == "fp16") formats_given_ = formats_given_ || !is_off(value);
    if (name == "use-distributed-optimizer") shares_ = values.empty() || !is_off(value);
    if (name == "overlap-p2p-comm") return is_off(value) ? flag("no-overlap-p2p-communication") : void();
    if (name == "gradient-accumulation-fusion") return is_off(value) ? flag("no-" + name) : void();
    if (name == "cross-entropy-loss-fusion") fuses_loss_ = values.empty() || !is_off(value);
    if (name == "cross-entropy-loss-fusion" || name == "use-distributed-optimizer") return;
    if (name == "attention-backend" && value.starts_with("flash")) return;  // flash_2, flash_3: its own default
    if (name == "moe-router-dtype" && is_off(value)) return;
    if ((name == "tuner-type" && value != "full") ||
        ((name == "adapters" || name == "mcore-adapter") && !is_off(value))) {
      return refuse(name, value, "trains a part of the weights", "--tuner_type full is");
    }
    if (name.starts_with("freeze-")) {
      if (is_off(value) || value == "0" || value == "0.0") return;
      return refuse(name, value, "trains a part of the weights", "leave it out: all are trained");
    }
    if (name == "tuner-type" || name == "adapters" || name == "mcore-adapter") return;
    if (name == "rlhf-type")
      return refuse(name, value, "trains with a second model", "megatron sft and megatron pt are");
    const auto row = megatron_argument(todays_name(name));
    if (row && row->values == ArgumentValues::kNone) return is_off(value) ? void() : flag(name);
    if (is_off(value) || name.starts_with("lora-")) return;
    flag(name);
    result_.words.insert(result_.words.end(), values.begin(), values.end());
  }

  // {"moe_enable_deepep": true}: more of the core's names, in JSON without objects inside.
  void add_object(std::string text) {
    for (const char sign : {'{', '}', '"', '\'', ' '}) std::erase(text, sign);
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      const std::string pair = text.substr(begin, end - begin);
      std::string name = pair.substr(0, pair.find(':'));
      std::replace(name.begin(), name.end(), '_', '-');
      if (pair.find(':') != std::string::npos) add(name, {pair.substr(pair.find(':') + 1)});
      begin = end + 1;
    }
  }

  void refuse(const std::string& name, const std::string& value, const char* what, const char* help) {
    result_.refused = "ms-swift: --" + name + " " + value + " " + what + ", which is not modelled";
    result_.help = help;
  }

  void flag(const std::string& name) { result_.words.push_back("--" + name); }

  void read_dtype(const std::string& value) {
    formats_given_ = true;
    flag(value == "float16" || value == "float32" ? "fp16" : "bf16");
  }

  bool given(const char* name) const { return has_argument(result_.words, name); }

  void otherwise(const char* name, const char* value) {
    if (given(name)) return;
    flag(name);
    if (*value != '\0') result_.words.emplace_back(value);
  }

  void add_defaults() {
    if (!formats_given_) flag("bf16");
    otherwise("micro-batch-size", "1");
    otherwise("global-batch-size", "16");
    if (recomputes_) otherwise("recompute-granularity", "selective");
    otherwise("expert-tensor-parallel-size", "1");
    otherwise("moe-token-dispatcher-type", "alltoall");
    otherwise("mtp-num-layers", "0");
    if (fuses_loss_) flag("cross-entropy-loss-fusion");
    const auto& words = result_.words;
    const bool muon = std::any_of(words.begin(), words.end(),
                                  [](const std::string& word) { return word == "muon" || word == "dist_muon"; });
    if (shares_ && !muon) flag("use-distributed-optimizer");
  }

  WrapperWords result_;
  bool formats_given_ = false;
  bool recomputes_ = true;
  bool shares_ = true;
  bool fuses_loss_ = true;
};

}  // namespace

WrapperWords swift_words(const Strings& given) { return SwiftReader().run(given); }

}  // namespace debubble
