#include "formats/frameworks/torchtitan_spec.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "formats/text/text.hpp"

namespace debubble {
namespace {

constexpr const char* kModel = "model_spec.model";

const JsonValue* member_at(const JsonValue* value, std::string_view path) {
  while (value != nullptr && !path.empty()) {
    const std::size_t end = std::min(path.find('.'), path.size());
    const auto named = [&](const JsonValue& member) { return member.key == path.substr(0, end); };
    const auto found = std::find_if(value->children.begin(), value->children.end(), named);
    if (found == value->children.end() || found->kind == JsonValue::Kind::kNull) return nullptr;
    value = &*found;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return value;
}

std::int64_t size_in(const JsonValue* value, std::string_view path, std::int64_t otherwise = 0) {
  const JsonValue* const found = member_at(value, path);
  return found != nullptr && found->kind == JsonValue::Kind::kInteger ? found->integer : otherwise;
}

bool switch_in(const JsonValue* value, std::string_view path, bool otherwise = false) {
  const JsonValue* const found = member_at(value, path);
  return found == nullptr || found->kind != JsonValue::Kind::kBoolean ? otherwise : found->text == "true";
}

// MinimalAsyncEP's settings alone name a device; the value may be null.
bool waits_for_no_host(const JsonValue& dispatcher) {
  if (member_at(&dispatcher, "non_blocking_capacity_factor") != nullptr) return true;
  return std::any_of(dispatcher.children.begin(), dispatcher.children.end(),
                     [](const JsonValue& member) { return member.key == "device"; });
}

class TitanSpec {
 public:
  TitanSpec(ConfigTree& tree, FrameworkScenario& scenario, RuleFacts& facts)
      : tree_(tree),
        scenario_(scenario),
        facts_(facts),
        model_(tree.find(kModel)),
        layers_(member_at(model_, "layers")) {}

  std::int64_t read() {
    tree_.pass("model_spec");
    name_ = tree_.word("model_spec.name").value_or("");
    hidden_ = size_in(model_, "dim");
    if (layers_ == nullptr || layers_->children.empty() || hidden_ < 1 || size_in(model_, "vocab_size") < 1) {
      tree_.complain("F001", kModel, "the model's sizes are missing: dim, vocab_size and layers",
                     "give what torchtitan saved whole, or the model: --model FILE.json");
      return 0;
    }
    if (!modelled()) return 0;
    add("layers", count());
    add("hidden", hidden_);
    add_attention();
    add_feed_forward();
    add("vocabulary", size_in(model_, "vocab_size"));
    add("vocabulary_unit", 1);
    add_experts();
    add_windows();
    if (switch_in(model_, "enable_weight_tying")) {
      add("tied_embedding", "yes");
      facts_.set("TIED", RuleFacts::Words{});
    }
    if (const JsonValue* mtp = member_at(model_, "mtp_layers"); mtp != nullptr && !mtp->children.empty()) {
      const auto predictors = static_cast<std::int64_t>(mtp->children.size());
      add("predicted_tokens", predictors);
      facts_.set("PREDICTORS", predictors);
    }
    if (const std::int64_t longest = size_in(first("attention.rope"), "max_seq_len"); longest > 0) {
      facts_.set("LONGEST", longest);
    }
    // The settings of this kernel alone are a window.
    if (first("attention.inner_attention.window_size") != nullptr) facts_.set("VARLEN", RuleFacts::Words{});
    say_what_is_left_out();
    scenario_.set("model", std::string("llama"));
    scenario_.set("model-size", sizes_);
    return count();
  }

 private:
  void add(const char* key, const std::string& value) {
    sizes_ += (sizes_.empty() ? "" : ",") + std::string(key) + "=" + value;
  }
  void add(const char* key, std::int64_t value) { add(key, std::to_string(value)); }
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(layers_->children.size()); }
  [[nodiscard]] const JsonValue* first(std::string_view path) const {
    for (const JsonValue& layer : layers_->children) {
      if (const JsonValue* const found = member_at(&layer, path)) return found;
    }
    return nullptr;
  }

  [[nodiscard]] bool modelled() {
    for (const JsonValue& layer : layers_->children) {
      if (member_at(&layer, "attention") == nullptr || member_at(&layer, "delta_net") != nullptr) {
        tree_.complain("F033", std::string(kModel) + ".layers",
                       "blocks without attention (linear attention, state spaces) are not modelled",
                       "transformers are: give one with --model FILE.json");
        return false;
      }
    }
    constexpr std::array<const char*, 6> kAlike{"attention.n_heads",  "attention.n_kv_heads",
                                                "attention.head_dim", "feed_forward.w1.out_features",
                                                "moe.router.top_k",   "moe.routed_experts.inner_experts.hidden_dim"};
    for (const JsonValue& layer : layers_->children) {
      for (const char* size : kAlike) {
        const JsonValue* const own = member_at(&layer, size);
        if (own == nullptr || own->integer == size_in(first(size), "")) continue;
        tree_.complain("F033", std::string(kModel) + ".layers",
                       "blocks of several sizes are not read: " + std::string(size),
                       "give the model as a config.json: --model FILE.json");
        return false;
      }
    }
    return true;
  }

  void add_attention() {
    const JsonValue* const attention = first("attention");
    const std::int64_t heads = size_in(attention, "n_heads");
    add("heads", heads);
    if (const std::int64_t rank = size_in(attention, "kv_lora_rank"); rank > 0) {
      add("kv_heads", heads);
      add("head_size", size_in(attention, "qk_nope_head_dim"));
      if (const std::int64_t queries = size_in(attention, "q_lora_rank"); queries > 0) add("query_rank", queries);
      add("kv_rank", rank);
      add("rope_size", size_in(attention, "qk_rope_head_dim"));
      return add("value_size", size_in(attention, "v_head_dim"));
    }
    const std::int64_t head = size_in(attention, "head_dim", heads > 0 ? hidden_ / heads : 0);
    add("kv_heads", size_in(attention, "n_kv_heads", heads));
    add("head_size", head);
    for (const char* weights : {"qkv_linear.wqkv.bias", "qkv_linear.wq.bias", "wq.bias"}) {
      if (!switch_in(attention, weights)) continue;
      add("qkv_biases", "yes");
      break;
    }
    if (switch_in(attention, "wo.bias")) add("output_bias", "yes");
    const JsonValue* norm = member_at(attention, "qk_norm");
    if (norm == nullptr) norm = member_at(attention, "q_norm");
    if (norm != nullptr) {
      const bool weights = switch_in(norm, "elementwise_affine", true);
      add("qk_norm", !weights ? "plain" : size_in(norm, "normalized_shape", head) > head ? "whole" : "head");
    }
    if (name_ == "gpt_oss") add("attention_sinks", "yes");
    if (first("post_attention_norm") != nullptr) add("block_norms", 4);
  }

  void add_feed_forward() {
    const JsonValue* const dense = first("feed_forward");
    // Where every block has experts, nothing is as wide as the model says; its place holds the experts' width.
    add("feed_forward", dense != nullptr ? size_in(dense, "w1.out_features")
                                         : size_in(first("moe"), "routed_experts.inner_experts.hidden_dim"));
    if (dense != nullptr && member_at(dense, "w3") == nullptr) add("gated", "no");
  }

  void add_experts() {
    const JsonValue* const moe = first("moe");
    if (moe == nullptr) return;
    const std::int64_t width = size_in(moe, "routed_experts.inner_experts.hidden_dim");
    add("experts", size_in(moe, "num_experts"));
    add("experts_per_token", size_in(moe, "router.top_k"));
    add("expert_feed_forward", width);
    if (const std::int64_t shared = size_in(moe, "shared_experts.w1.out_features"); shared > 0) {
      add("shared_experts", width > 0 && shared % width == 0 ? shared / width : 1);
      add("shared_feed_forward", shared);
    }
    if (const std::int64_t groups = size_in(moe, "router.num_expert_groups"); groups > 1) {
      add("expert_groups", groups);
      add("groups_per_token", size_in(moe, "router.num_limited_groups", groups));
    }
    if (switch_in(moe, "router.gate.bias")) add("router_bias", "yes");
    if (name_ == "gpt_oss") add("mlp_biases", "yes");
    std::string blocks;
    for (const JsonValue& layer : layers_->children) blocks += member_at(&layer, "moe") != nullptr ? '1' : '0';
    const std::size_t dense = blocks.find('1');
    if (blocks.find('0', dense) != std::string::npos) return add("expert_blocks", blocks);
    if (dense > 0) add("dense_layers", static_cast<std::int64_t>(dense));
  }

  void add_windows() {
    std::vector<std::int64_t> windows;
    for (const JsonValue& layer : layers_->children) {
      windows.push_back(size_in(&layer, "attention.sliding_window_size", size_in(&layer, "attention.window_size")));
    }
    const std::int64_t window = *std::max_element(windows.begin(), windows.end());
    if (window < 1) return;
    add("window", window);
    const auto full = std::find(windows.begin(), windows.end(), 0);
    const std::int64_t every = full == windows.end() ? 0 : full - windows.begin() + 1;
    if (every > 0) add("full_every", every);
    for (std::int64_t k = 0; k < count(); ++k) {
      const bool whole = every > 0 && (k + 1) % every == 0;
      if (windows[static_cast<std::size_t>(k)] == (whole ? 0 : window)) continue;
      return scenario_.find("windows: blocks are taken to see " + std::to_string(window) + " tokens" +
                            (every > 0 ? ", every " + std::to_string(every) + "th all" : ""));
    }
  }

  void say_what_is_left_out() {
    if (member_at(model_, "vision_encoder") != nullptr) {
      scenario_.find("vision_encoder: images are not modelled, the model is its decoder");
    }
    if (first("attention.o_gate") != nullptr) {
      scenario_.find("attention.o_gate: the product that gates attention's output is left out");
    }
    if (first("attention.wo.rank") != nullptr || first("attention.qkv_linear.wqkv.rank") != nullptr) {
      scenario_.find("LoRA: its adapters are left out, and all weights count as trained");
    }
    scenario_.find(
        "converters to 8 or 4 bits are not in what torchtitan saves: products count in training's "
        "mixed_precision_param; write dtype = \"fp8\" where they are converted");
  }

  ConfigTree& tree_;
  FrameworkScenario& scenario_;
  RuleFacts& facts_;
  const JsonValue* model_;
  const JsonValue* layers_;
  std::string name_;
  std::string sizes_;
  std::int64_t hidden_ = 0;
};

}  // namespace

bool has_titan_spec(ConfigTree& tree) { return tree.has(kModel); }

bool exchanges_by_device(ConfigTree& tree) {
  const JsonValue* const layers = member_at(tree.find(kModel), "layers");
  if (layers == nullptr) return false;
  return std::all_of(layers->children.begin(), layers->children.end(), [](const JsonValue& layer) {
    if (member_at(&layer, "moe") == nullptr) return true;
    const JsonValue* const dispatcher = member_at(&layer, "moe.routed_experts.token_dispatcher");
    return dispatcher != nullptr && waits_for_no_host(*dispatcher);
  });
}

std::int64_t read_titan_spec(ConfigTree& tree, FrameworkScenario& scenario, RuleFacts& facts) {
  return TitanSpec(tree, scenario, facts).read();
}

}  // namespace debubble
