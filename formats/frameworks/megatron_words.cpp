#include "formats/frameworks/megatron_words.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "formats/megatron/scenario_of.hpp"
#include "formats/text/shell.hpp"
#include "formats/text/text.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

struct NamedPreset {
  const char* name;    // in lower case, letters and digits alone
  const char* preset;  // a preset's name, or the sizes of a "llama"
};
constexpr std::array<NamedPreset, 24> kNamedPresets{
    {{"llama27b", "llama2-7b"},
     {"llama213b", "llama2-13b"},
     {"llama270b", "llama2-70b"},
     {"llama38b", "llama3-8b"},
     {"llama318b", "llama3-8b"},
     {"llama370b", "llama3-70b"},
     {"llama3170b", "llama3-70b"},
     {"llama3370b", "llama3-70b"},
     {"llama3405b", "llama3-405b"},
     {"llama31405b", "llama3-405b"},
     {"llama321b",
      "layers=16,hidden=2048,heads=32,kv_heads=8,head_size=64,feed_forward=8192,vocabulary=128256,tied_embedding=yes"},
     {"llama323b",
      "layers=28,hidden=3072,heads=24,kv_heads=8,head_size=128,feed_forward=8192,vocabulary=128256,tied_embedding=yes"},
     {"mistral7b", "mistral-7b"},
     {"mixtral8x7b", "mixtral-8x7b"},
     {"mixtral8x22b",
      "layers=56,hidden=6144,heads=48,kv_heads=8,feed_forward=16384,vocabulary=32000,experts=8,experts_per_token=2,"
      "expert_feed_forward=16384"},
     {"deepseekv2", "deepseek-v2"},
     {"deepseekv3", "deepseek-v3"},
     {"qwen27b", "qwen2-7b"},
     {"qwen38b",
      "layers=36,hidden=4096,heads=32,kv_heads=8,head_size=128,feed_forward=12288,vocabulary=151936,qk_norm=head"},
     {"qwen332b",
      "layers=64,hidden=5120,heads=64,kv_heads=8,head_size=128,feed_forward=25600,vocabulary=151936,qk_norm=head"},
     {"qwen330ba3b",
      "layers=48,hidden=2048,heads=32,kv_heads=4,head_size=128,feed_forward=6144,vocabulary=151936,qk_norm=head,"
      "experts=128,experts_per_token=8,expert_feed_forward=768"},
     {"qwen3235ba22b",
      "layers=94,hidden=4096,heads=64,kv_heads=4,head_size=128,feed_forward=12288,vocabulary=151936,qk_norm=head,"
      "experts=128,experts_per_token=8,expert_feed_forward=1536"},
     {"gpt3175b", "gpt3-175b"},
     {"gpt2xl", "gpt2-xl"}}};

// "${oc.env:TP,1}", "${PRIMUS_TP:1}": the default inside, and the variable's name. Not one of these: false.
bool placeholder_default(const std::string& inside, std::string& variable, std::string& value) {
  const bool omega = inside.starts_with("oc.env:");
  const std::string rest = omega ? inside.substr(7) : inside;
  const std::size_t split = rest.find(omega ? ',' : ':');
  if (split == std::string::npos) return false;
  variable = rest.substr(0, split);
  value = rest.substr(split + 1);
  if (!omega && value.starts_with('-')) value.erase(0, 1);
  return !variable.empty() && variable.find_first_of(".{ ") == std::string::npos;
}

// Innermost placeholders first; "${oc.decode:X}" is X. False: one is left that only a run could resolve.
bool resolve(std::string& text, std::vector<std::string>& variables) {
  for (int turn = 0; turn < 100; ++turn) {
    const std::size_t end = text.find('}');
    const std::size_t begin = end == std::string::npos ? std::string::npos : text.rfind("${", end);
    if (begin == std::string::npos) return text.find("${") == std::string::npos;
    const std::string inside = text.substr(begin + 2, end - begin - 2);
    std::string variable;
    std::string value;
    if (inside.starts_with("oc.decode:")) {
      value = inside.substr(10);
    } else if (placeholder_default(inside, variable, value)) {
      variables.push_back(variable);
    } else {
      return false;
    }
    text.replace(begin, end - begin + 1, value);
  }
  return false;
}

// Files and folders, which cost nothing.
bool is_place_of_data(const std::string& path) {
  constexpr std::array<std::string_view, 14> kEndings{"-path",   "_path", "-dir",        "_dir",           "save",
                                                      "load",    "-file", "_file",       "-model",         "prompts",
                                                      "-prefix", "_name", "-checkpoint", "checkpoint_path"};
  return std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view end) { return path.ends_with(end); });
}

// What the reader of arguments says is for scripts.
MegatronScenario read_argument_words(const std::string& text, const std::string& name) {
  try {
    return read_megatron(text, name);
  } catch (const InputError& error) {
    std::vector<Diagnostic> problems = error.diagnostics();
    for (Diagnostic& problem : problems) {
      if (problem.code != "F001") continue;
      problem.help =
          "what the file takes from elsewhere (a recipe, another file) is not in it: add --model NAME or --model "
          "config.json for the model's sizes, --sequence N for --seq-length";
    }
    throw InputError(std::move(problems));
  }
}

}  // namespace

std::string resolved_word(const std::string& text) {
  std::string word = text;
  std::vector<std::string> variables;
  (void)resolve(word, variables);
  return word;
}

std::string preset_of_model_name(std::string name) {
  if (const std::size_t slash = name.rfind('/'); slash != std::string::npos) name.erase(0, slash + 1);
  if (name.ends_with(".yaml")) name.erase(name.size() - 5);
  std::string plain;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) plain += static_cast<char>(std::tolower(c));
  }
  for (const char* dropped : {"meta", "instruct", "base", "hf"}) {
    if (const std::size_t at = plain.find(dropped); at != std::string::npos)
      plain.erase(at, std::string(dropped).size());
  }
  if (plain.starts_with("mixtral") && plain.ends_with("v01")) plain.erase(plain.size() - 3);
  for (const NamedPreset& known : kNamedPresets) {
    if (plain == known.name) return known.preset;
  }
  return {};
}

void MegatronWords::argument(const std::string& name, const std::string& value) {
  words_.push_back("--" + name);
  words_.push_back(shell_quoted(value));
}

std::string MegatronWords::value_text(const JsonValue& value, const std::string& path) {
  std::string text = value.text;
  std::vector<std::string> variables;
  if (text.find("${") == std::string::npos) return text;
  const std::string written = text;
  if (!resolve(text, variables)) {
    if (is_place_of_data(path)) return {};
    require_key(tree_, path,
                in_quotes(path) + " is " + in_quotes(shortened(written)) + ", which only its run would resolve",
                "write the number in its place");
    return {};
  }
  for (const std::string& variable : variables) {
    find(in_quotes(path) + ": the variable " + variable + " counts as its default; it is " +
         in_quotes(shortened(text)));
  }
  return text;
}

void MegatronWords::copy(const std::string& path, const std::string& name) {
  const JsonValue* value = tree_.find(path);
  if (value == nullptr) return;
  if (value->kind == JsonValue::Kind::kObject) return;
  if (value->kind == JsonValue::Kind::kArray) {
    if (value->children.empty()) return;
    words_.push_back("--" + name);
    for (const JsonValue& item : value->children) words_.push_back(shell_quoted(item.text));
    return;
  }
  std::string text = value_text(*value, path);
  if (text == "true" || text == "True") return flag(name);
  if (text == "false" || text == "False" || text == "null" || text == "None" || text.empty()) return;
  argument(name, dtype_word(text));
}

std::string dtype_word(std::string text) {
  if (text.starts_with("torch.")) text.erase(0, 6);
  if (text == "bfloat16") return "bf16";
  if (text == "float32") return "fp32";
  return text == "float16" ? "fp16" : text;
}

FrameworkScenario MegatronWords::scenario(std::int64_t world, const std::string& known_model) {
  FrameworkScenario scenario;
  const std::string model = request_.model.empty() ? known_model : request_.model;
  const bool sizes = model.find('=') != std::string::npos;
  if (request_.world_size) world = *request_.world_size;
  if (world == 0) {
    require_key(tree_, "--world-size", "the file does not say how many ranks there are", "add --world-size N");
  }
  if (request_.sequence) argument("seq-length", *request_.sequence);
  if (!tree_.problems().empty()) return scenario;
  argument("world-size", world);
  // The first 0 blocks of a stage: none.
  const auto count = std::find(words_.begin(), words_.end(), "--recompute-num-layers");
  const auto granularity = std::find(words_.begin(), words_.end(), "--recompute-granularity");
  if (count != words_.end() && *(count + 1) == "0" && granularity != words_.end()) {
    words_.erase(granularity, granularity + 2);
  }
  std::string text;
  // Sizes that are replaced at once: the reader wants some.
  if (!model.empty()) {
    text = "--num-layers 64 --hidden-size 4096 --num-attention-heads 32 --vocab-size 32000 ";
    // Published models are trained without it; arguments about experts are asked for where there are some.
    const auto given = [this](const char* start) {
      return std::any_of(words_.begin(), words_.end(),
                         [&](const std::string& word) { return word.starts_with(start); });
    };
    if (!given("--hidden-dropout")) text += "--hidden-dropout 0.0 ";
    if (!given("--attention-dropout")) text += "--attention-dropout 0.0 ";
    if (!given("--num-experts") && given("--moe-")) text += "--num-experts 8 ";
    for (std::size_t k = 0; k < words_.size(); ++k) {
      const std::string& word = words_[k];
      const bool size = word == "--num-layers" || word == "--hidden-size" || word == "--num-attention-heads";
      size ? ++k : (text += word + " ", k);
    }
  } else {
    for (const std::string& word : words_) text += word + " ";
  }
  MegatronScenario read = read_argument_words(text, tree_.problems().name());
  for (auto& [flag, value] : read.flags) {
    if (!model.empty() && flag == "model") value = sizes ? "llama" : model;
    if (!model.empty() && flag == "model-size") {
      if (!sizes) continue;
      value = model;
    }
    scenario.set(flag, value);
  }
  scenario.findings = std::move(read.findings);
  scenario.findings.insert(scenario.findings.begin(), findings_.begin(), findings_.end());
  return scenario;
}

}  // namespace debubble
