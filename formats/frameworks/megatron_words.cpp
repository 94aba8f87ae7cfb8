#include "formats/frameworks/megatron_words.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "formats/frameworks/known_models.hpp"
#include "formats/megatron/argument_list.hpp"
#include "formats/megatron/argument_table.hpp"
#include "formats/megatron/scenario_of.hpp"
#include "formats/text/text.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

// "${oc.env:TP,1}", "${PRIMUS_TP:1}": the default inside, and the variable's name. Not one of these: false.
bool interpolated_default(const std::string& inside, std::string& variable, std::string& value) {
  const bool omega = inside.starts_with("oc.env:");
  const std::string rest = omega ? inside.substr(7) : inside;
  const std::size_t split = rest.find(omega ? ',' : ':');
  if (split == std::string::npos) return false;
  variable = rest.substr(0, split);
  value = rest.substr(split + 1);
  if (!omega && value.starts_with('-')) value.erase(0, 1);
  return !variable.empty() && variable.find_first_of(".{ ") == std::string::npos;
}

// Innermost interpolations first; "${oc.decode:X}" is X. False: one is left that only a run could resolve.
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
    } else if (interpolated_default(inside, variable, value)) {
      variables.push_back(variable);
    } else {
      return false;
    }
    text.replace(begin, end - begin + 1, value);
  }
  return false;
}

// Of a preset's name or of sizes as known_models.table has them; 0: another model.
std::int64_t layers_of_known(const std::string& known) {
  for (const KnownModel& one : known_models()) {
    if (known == one.sizes) return one.layers;
  }
  return 0;
}

bool has_known_experts(const std::string& known) {
  return known.find("experts=") != std::string::npos || known.starts_with("mixtral") || known.starts_with("deepseek");
}

// [[embedding, decoder], [decoder, loss]] as Megatron-LM writes it in one word: "Et|tL".
std::string listed_layout_text(const JsonValue& stages) {
  constexpr std::array<std::pair<const char*, char>, 4> kLetters{
      {{"embedding", 'E'}, {"decoder", 't'}, {"mtp", 'm'}, {"loss", 'L'}}};
  std::string text;
  for (const JsonValue& stage : stages.children) {
    if (&stage != &stages.children.front()) text += '|';
    for (const JsonValue& layer : stage.children) {
      for (const auto& [layer_name, letter] : kLetters) {
        if (layer.text == layer_name) text += letter;
      }
    }
  }
  return text;
}

// [0, 0, 1, 1, 1] as Python would write it shortly: "([0]*2+[1]*3)".
std::string runs_text(const JsonValue& list) {
  std::string text;
  for (std::size_t k = 0; k < list.children.size();) {
    std::size_t end = k;
    while (end < list.children.size() && list.children[end].text == list.children[k].text) ++end;
    text += (text.empty() ? "([" : "+[") + list.children[k].text + "]*" + std::to_string(end - k);
    k = end;
  }
  return text + ")";
}

// What the reader of arguments says is for scripts.
MegatronScenario read_argument_words(const std::string& text, const std::string& name, const std::string& cut) {
  try {
    LaunchGiven given;
    given.shell.path = name;
    given.cut = cut;
    given.as_megatron = false;  // configurations have defaults of their own
    return read_megatron(text, name, given);
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
  for (const KnownModel& known : known_models()) {
    if (std::find(known.names.begin(), known.names.end(), plain) != known.names.end()) return known.sizes;
  }
  return {};
}

void MegatronWords::argument(const std::string& name, const std::string& value) {
  words_.push_back(shell_quoted("--" + name));
  words_.push_back(shell_quoted(value));
}

void MegatronWords::add(const std::vector<std::string>& words) {
  for (const std::string& word : words) words_.push_back(shell_quoted(word));
}

std::string MegatronWords::value_text(const JsonValue& value, const std::string& path) {
  std::string text = value.text;
  std::vector<std::string> variables;
  if (text.find("${") == std::string::npos) return text;
  const std::string written = text;
  if (!resolve(text, variables)) {
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

void MegatronWords::values(const std::string& name, const JsonValue& list) {
  if (list.children.empty()) return;
  if (name == "pipeline-model-parallel-layout") return argument(name, listed_layout_text(list));
  if (name == "moe-layer-freq") return argument(name, runs_text(list));
  for (const JsonValue& item : list.children) {
    if (item.kind != JsonValue::Kind::kArray && item.kind != JsonValue::Kind::kObject) continue;
    return find(in_quotes(name) + " is a list of lists, and left out");
  }
  words_.push_back(shell_quoted("--" + name));
  for (const JsonValue& item : list.children) words_.push_back(shell_quoted(item.text));
}

std::string MegatronWords::value_after(const std::string& word) const {
  std::string value;  // the last one counts
  for (std::size_t k = 0; k + 1 < words_.size(); ++k) {
    if (words_[k] == word) value = words_[k + 1];
  }
  return value;
}

void MegatronWords::drop(const std::string& name) {
  const std::string word = shell_quoted("--" + name);
  for (auto at = std::find(words_.begin(), words_.end(), word); at != words_.end();
       at = std::find(words_.begin(), words_.end(), word)) {
    const auto end = std::find_if(at + 1, words_.end(), [](const std::string& next) { return next.starts_with("--"); });
    words_.erase(at, end);
  }
}

bool MegatronWords::has(const std::string& name) const {
  return std::find(words_.begin(), words_.end(), shell_quoted("--" + name)) != words_.end();
}

void MegatronWords::copy(const std::string& path, const std::string& name) {
  const std::optional<ArgumentRow> row = megatron_argument(todays_name(name));
  if (!row) return;
  const JsonValue* value = tree_.find(path);
  if (value == nullptr) return;
  if (value->kind == JsonValue::Kind::kObject || row->effect == ArgumentEffect::kNothing) return;
  if (value->kind == JsonValue::Kind::kArray) return values(name, *value);
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
  const bool named = request_.model.empty() && !model.empty();  // by the file
  const bool sizes = named && model.find('=') != std::string::npos;
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
  const std::string layers = value_after("--num-layers");
  const std::string predicted = named ? value_after("--mtp-num-layers") : "";
  const std::int64_t own = named ? layers_of_known(model) : request_.layers;
  // Sizes that are replaced at once: the reader wants some. Chunks and blocks with experts follow from the layers.
  if (!model.empty()) {
    if (layers.empty() && own == 0 && !value_after("--num-layers-per-virtual-pipeline-stage").empty()) {
      require_key(tree_, "--model",
                  "how many stages a device has follows from the model's layers, which the file lacks",
                  "write num_layers there, or virtual_pipeline_model_parallel_size");
      return scenario;
    }
    const bool experts = named ? has_known_experts(model) : request_.experts;
    if (!experts) drop_expert_arguments(words_);
    text = "--num-layers " + (layers.empty() ? std::to_string(own > 0 ? own : 64) : layers) +
           " --hidden-size 4096 --num-attention-heads 32 --vocab-size 32000 ";
    for (const char* size : {"--hidden-size", "--num-attention-heads", "--ffn-hidden-size", "--num-query-groups",
                             "--kv-channels", "--num-experts", "--moe-router-topk", "--moe-ffn-hidden-size"}) {
      const std::string value = named ? value_after(size) : "";
      if (!value.empty()) find(std::string(size) + " " + value + " is left out: the model's own is taken");
    }
    // Published models are trained without it; arguments about experts are asked for where there are some.
    const auto given = [this](const char* start) {
      return std::any_of(words_.begin(), words_.end(),
                         [&](const std::string& word) { return word.starts_with(start); });
    };
    if (!given("--hidden-dropout")) text += "--hidden-dropout 0.0 ";
    if (!given("--attention-dropout")) text += "--attention-dropout 0.0 ";
    if (experts && !given("--num-experts")) text += "--num-experts 8 ";
    for (std::size_t k = 0; k < words_.size(); ++k) {
      const std::string& word = words_[k];
      const bool size = word == "--num-layers" || word == "--hidden-size" || word == "--num-attention-heads";
      size ? ++k : (text += word + " ", k);
    }
  } else {
    for (const std::string& word : words_) text += word + " ";
  }
  MegatronScenario read = read_argument_words(text, tree_.problems().name(), cut_);
  for (auto& [flag, value] : read.flags) {
    if (!model.empty() && flag == "model") value = sizes ? "llama" : model;
    if (!model.empty() && flag == "model-size") {
      std::string changed = sizes ? model : "";
      if (named && !layers.empty()) {
        changed = "layers=" + layers + (sizes ? model.substr(model.find(',')) : "");
      }
      if (changed.find("predicted_tokens=") != std::string::npos && !predicted.empty()) {
        changed.erase(changed.find(",predicted_tokens="));
      }
      if (!predicted.empty()) changed += (changed.empty() ? "predicted_tokens=" : ",predicted_tokens=") + predicted;
      if (changed.empty()) continue;
      value = changed;
    }
    scenario.set(flag, value);
  }
  scenario.findings = std::move(read.findings);
  scenario.findings.insert(scenario.findings.begin(), findings_.begin(), findings_.end());
  return scenario;
}

}  // namespace debubble
