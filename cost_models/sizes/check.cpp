#include <map>
#include <utility>

#include "cost_models/sizes/profile_at.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

std::string in_plain_quotes(const std::string& text) { return "\"" + text + "\""; }

std::string hop_words(const Profile& profile) {
  std::string text;
  if (profile.hop_latency) text += std::to_string(*profile.hop_latency) + " ns";
  if (profile.hop_bandwidth) text += " " + std::to_string(*profile.hop_bandwidth) + " bytes per second";
  return text.empty() ? "none" : text;
}

// Describes what decides which matmuls a layer makes.
std::string transformer_words(const Profile& profile) {
  if (!profile.transformer) return "none";
  const ProfiledTransformer& one = *profile.transformer;
  std::string text;
  const auto add = [&text](const char* what, std::int64_t number) {
    text += (text.empty() ? "" : ", ") + (what + (" " + std::to_string(number)));
  };
  add("hidden", one.hidden);
  add("heads", one.heads);
  add("kv_heads", one.kv_heads);
  add("head_size", one.head_size);
  add("feed_forward", one.feed_forward);
  add("vocabulary", one.vocabulary);
  add("tensor_parallel", one.tensor_parallel);
  return text + (one.gated ? ", gated" : "") + (one.flash_attention ? ", flash" : ", unfused");
}

// Which times and sizes a layer has.
std::string known_words(const ProfileLayer& layer) {
  return std::string(layer.backward ? "backward" : "") + (layer.input_grad ? " input_grad" : "") +
         (layer.weight_grad ? " weight_grad" : "") + (layer.weight_grad_held ? " weight_grad_held_bytes" : "");
}

class ModelCheck {
 public:
  explicit ModelCheck(const std::vector<NamedProfile>& measured) : measured_(measured) {}

  void run() {
    for (std::size_t k = 1; k < measured_.size(); ++k) {
      const bool same_model = compare_facts(measured_[k]);
      if (same_model) compare_layers(measured_[k]);
    }
    check_sizes();
    if (!found_.empty()) throw InputError(std::move(found_));
  }

 private:
  void complain(const char* code, const std::string& place, std::string message, std::string help) {
    found_.push_back({code, place, std::move(message), std::move(help)});
  }

  // Whether all facts but the layers agree.
  bool compare_facts(const NamedProfile& other) {
    const Profile& a = measured_.front().profile;
    const Profile& b = other.profile;
    const std::size_t before = found_.size();
    const auto same = [&](const char* what, const std::string& mine, const std::string& first, const char* help) {
      if (mine == first) return;
      complain("L020", other.name,
               "the profiles are not of one " + std::string(what) + ": " + mine + " here, " + first + " in " +
                   measured_.front().name,
               help);
    };
    const char* const leave = "only sizes of one measured model can be combined: leave one of the two out";
    same("model", in_plain_quotes(b.model), in_plain_quotes(a.model), leave);
    same("number format", in_plain_quotes(b.dtype), in_plain_quotes(a.dtype), leave);
    same("device", in_plain_quotes(b.origin.device), in_plain_quotes(a.origin.device), leave);
    same("source of times", to_string(b.origin.times), to_string(a.origin.times), leave);
    same("source of sizes", to_string(b.origin.memory), to_string(a.origin.memory), leave);
    same("transformer", transformer_words(b), transformer_words(a), leave);
    same("hop", hop_words(b), hop_words(a), "take \"hop\" out of the files, and give --comm and --bandwidth");
    return found_.size() == before;
  }

  void compare_layers(const NamedProfile& other) {
    const auto& first = measured_.front().profile.layers;
    const auto& layers = other.profile.layers;
    const std::string there = " in " + measured_.front().name;
    const char* const help =
        "profiles of one model at several sizes have the same layers; another --tp, another "
        "script or another way of measuring has others";
    if (layers.size() != first.size()) {
      return complain("L020", other.name,
                      std::to_string(layers.size()) + " layers here, " + std::to_string(first.size()) + there, help);
    }
    for (std::size_t k = 0; k < layers.size(); ++k) {
      const std::string which = "layer " + std::to_string(k) + ", " + in_plain_quotes(layers[k].name) + ": ";
      std::string message;
      if (layers[k].name != first[k].name) {
        message = which + "its name is " + in_plain_quotes(first[k].name) + there;
      } else if (layers[k].kind != first[k].kind) {
        message = which + "its kind is " + in_plain_quotes(layers[k].kind) + " here, " +
                  in_plain_quotes(first[k].kind) + there;
      } else if (layers[k].parameters != first[k].parameters) {
        message = which + "its parameters take " + std::to_string(layers[k].parameters) + " bytes here, " +
                  std::to_string(first[k].parameters) + there;
      } else if (known_words(layers[k]) != known_words(first[k])) {
        message =
            which + "it knows" + spaced(known_words(layers[k])) + " here," + spaced(known_words(first[k])) + there;
      }
      if (!message.empty()) return complain("L020", other.name, message, help);  // the first tells enough
    }
  }

  static std::string spaced(const std::string& words) { return (words.starts_with(' ') ? "" : " ") + words; }

  void check_sizes() {
    if (measured_.size() < 2) return;
    bool some_sequences = false;
    for (const NamedProfile& one : measured_) some_sequences = some_sequences || one.profile.sequence_length > 0;
    std::map<std::pair<std::int64_t, std::int64_t>, std::string> seen;
    for (const NamedProfile& one : measured_) {
      const Profile& profile = one.profile;
      if (profile.microbatch_size < 1 || (some_sequences && profile.sequence_length < 1)) {
        const char* const key = profile.microbatch_size < 1 ? "microbatch_size" : "sequence_length";
        complain("L020", one.name, in_plain_quotes(key) + " is null: which size this is of is not known",
                 "write the number there; `debubble import --microbatch-size N --sequence N` sets both");
        continue;
      }
      const auto [place, is_new] = seen.emplace(std::pair{profile.microbatch_size, profile.sequence_length}, one.name);
      if (is_new) continue;
      complain("L020", one.name,
               "the size " + to_string(RunSize{profile.microbatch_size, profile.sequence_length}) +
                   " was measured twice: " + place->second + " is of it, too",
               "leave one of the two out");
    }
  }

  const std::vector<NamedProfile>& measured_;
  std::vector<Diagnostic> found_;
};

}  // namespace

void check_one_model(const std::vector<NamedProfile>& measured) { ModelCheck(measured).run(); }

}  // namespace debubble
