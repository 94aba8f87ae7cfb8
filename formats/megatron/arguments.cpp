#include "formats/megatron/arguments.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string_view>
#include <utility>

namespace debubble {
namespace {

// A negative number is a value.
bool is_name(const std::string& word) {
  return word.size() > 2 && word.starts_with("--") && std::isalpha(static_cast<unsigned char>(word[2])) != 0;
}

// What changes neither sizes nor the order of the work: learning, data, files, logs, names of implementations that all
// do the same sums.
constexpr std::array<std::string_view, 26> kIrrelevantPrefixes{"adam-",
                                                               "apply-layernorm-1p",
                                                               "async-save",
                                                               "attention-softmax-in-fp32",
                                                               "auto-detect-ckpt",
                                                               "ckpt-",
                                                               "data-",
                                                               "dist-ckpt-",
                                                               "distributed",
                                                               "eval-",
                                                               "exit-",
                                                               "init-",
                                                               "initial-loss",
                                                               "log-",
                                                               "lr",
                                                               "min-lr",
                                                               "moe-aux-loss",
                                                               "moe-router-load",
                                                               "moe-z-loss",
                                                               "no-ckpt",
                                                               "no-load",
                                                               "no-save",
                                                               "num-workers",
                                                               "save",
                                                               "tensorboard",
                                                               "wandb-"};
constexpr std::array<std::string_view, 62> kIrrelevantArguments{"bias-dropout-fusion",
                                                                "bias-gelu-fusion",
                                                                "check-weight-hash-across-dp-replicas-interval",
                                                                "clip-grad",
                                                                "config-logger-dir",
                                                                "dataloader-type",
                                                                "decoupled-lr",
                                                                "deterministic-mode",
                                                                "empty-unused-memory-level",
                                                                "enable-experimental",
                                                                "exit-signal-handler",
                                                                "finetune",
                                                                "hysteresis",
                                                                "load",
                                                                "local-rank",
                                                                "loss-scale",
                                                                "loss-scale-window",
                                                                "manual-gc",
                                                                "manual-gc-interval",
                                                                "masked-softmax-fusion",
                                                                "merge-file",
                                                                "merges-file",
                                                                "min-loss-scale",
                                                                "mmap-bin-files",
                                                                "mock-data",
                                                                "moe-expert-score-correction-bias",
                                                                "moe-grouped-gemm",
                                                                "moe-permute-fusion",
                                                                "moe-router-bias-update-rate",
                                                                "moe-router-dtype",
                                                                "moe-router-enable-expert-bias",
                                                                "moe-router-group-topk",
                                                                "moe-router-num-groups",
                                                                "moe-router-pre-softmax",
                                                                "moe-router-score-function",
                                                                "moe-router-topk-scaling-factor",
                                                                "moe-token-dispatcher-type",
                                                                "mtp-loss-scaling-factor",
                                                                "no-bias-dropout-fusion",
                                                                "no-bias-gelu-fusion",
                                                                "no-bias-swiglu-fusion",
                                                                "no-create-attention-mask-in-dataloader",
                                                                "no-masked-softmax-fusion",
                                                                "no-mmap-bin-files",
                                                                "no-rope-fusion",
                                                                "norm-epsilon",
                                                                "optimizer",
                                                                "override-opt-param-scheduler",
                                                                "override-opt_param-scheduler",
                                                                "profile",
                                                                "rotary-base",
                                                                "rotary-scaling-factor",
                                                                "seed",
                                                                "split",
                                                                "te-rng-tracker",
                                                                "timing-log-level",
                                                                "timing-log-option",
                                                                "tokenizer-model",
                                                                "train-iters",
                                                                "train-samples",
                                                                "use-mcore-models",
                                                                "weight-decay"};
constexpr std::array<std::string_view, 20> kAlsoIrrelevantArguments{"decoupled-min-lr",
                                                                    "use-persistent-ckpt-worker",
                                                                    "apply-residual-connection-post-layernorm",
                                                                    "beta1",
                                                                    "bf16-scale",
                                                                    "create-attention-mask-in-dataloader",
                                                                    "decoder-seq-length",
                                                                    "inference-max-requests",
                                                                    "initialize-socket-timeout",
                                                                    "layernorm-epsilon",
                                                                    "moe-enable-deepep",
                                                                    "mscale",
                                                                    "mscale-all-dim",
                                                                    "no-check-for-nan-in-loss-and-grad",
                                                                    "qk-clip",
                                                                    "rotary-percent",
                                                                    "start-weight-decay",
                                                                    "end-weight-decay",
                                                                    "vocab-file",
                                                                    "weight-decay-incr-style"};

bool is_irrelevant_argument(const std::string& name) {
  const auto in = [&name](const auto& list) { return std::find(list.begin(), list.end(), name) != list.end(); };
  return in(kIrrelevantArguments) || in(kAlsoIrrelevantArguments) ||
         std::any_of(kIrrelevantPrefixes.begin(), kIrrelevantPrefixes.end(),
                     [&name](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

MegatronArguments::MegatronArguments(const std::vector<std::string>& words) {
  std::vector<std::string>* values = nullptr;
  for (const std::string& word : words) {
    if (!is_name(word)) {
      if (values != nullptr) values->push_back(word);
      continue;
    }
    const std::size_t equals = word.find('=');
    std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    std::replace(name.begin(), name.end(), '_', '-');
    values = &values_[name];
    values->clear();
    if (equals != std::string::npos) values->push_back(word.substr(equals + 1));
  }
}

bool MegatronArguments::flag(const std::string& name) {
  asked_.insert(name);
  return values_.contains(name);
}

std::optional<std::string> MegatronArguments::word(const std::string& name) {
  asked_.insert(name);
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  if (found->second.empty()) {
    find("--" + name + " has no value and is left out");
    return std::nullopt;
  }
  return found->second.front();
}

std::vector<std::string> MegatronArguments::words(const std::string& name) {
  (void)word(name);  // which says where there is none
  const auto found = values_.find(name);
  return found == values_.end() ? std::vector<std::string>{} : found->second;
}

std::optional<double> MegatronArguments::fraction(const std::string& name) {
  const std::optional<std::string> text = word(name);
  if (!text) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error == std::errc{} && end == text->data() + text->size()) return value;
  find("--" + name + " is \"" + *text + "\", which is not a number: left out" +
       (text->starts_with("$") ? "; the script does not set that variable" : ""));
  return std::nullopt;
}

std::optional<std::int64_t> MegatronArguments::number(const std::string& name) {
  const std::optional<std::string> text = word(name);
  if (!text) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  constexpr std::int64_t kLargest = std::int64_t{1} << 31;
  if (error == std::errc{} && end == text->data() + text->size() && value >= 0 && value <= kLargest) return value;
  find("--" + name + " is \"" + *text + "\", which is not a whole number: left out" +
       (text->starts_with("$") ? "; the script does not set that variable" : ""));
  return std::nullopt;
}

std::optional<std::int64_t> MegatronArguments::count(const std::string& name) {
  const std::optional<std::int64_t> value = number(name);
  if (value != 0) return value;
  find("--" + name + " is 0, and at least 1 is needed: left out");
  return std::nullopt;
}

std::vector<std::string> MegatronArguments::findings() const {
  std::vector<std::string> findings = findings_;
  for (const auto& [name, values] : values_) {
    if (asked_.contains(name) || is_irrelevant_argument(name)) continue;
    std::string text = "--" + name;
    for (const std::string& value : values) text += " " + value;
    findings.push_back(text + ": not known; it is left out, and may change time or memory");
  }
  return findings;
}

}  // namespace debubble
