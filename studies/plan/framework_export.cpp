#include "studies/plan/framework_export.hpp"

#include <algorithm>

#include "formats/frameworks/torchtitan_models.hpp"
#include "scenario/request/model_choice.hpp"
#include "sim/core/error.hpp"
#include "studies/compare/runs_today.hpp"
#include "studies/plan/framework_flags.hpp"
#include "studies/plan/rank_orders.hpp"

namespace debubble {
namespace {

PlanChoice exported_choice(const ScenarioFlags& flags, const Scenario& scenario, const Job& job) {
  const TrainingSetup& setup = *scenario.transformer.setup;
  PlanChoice choice;
  choice.tensor = job.sizes.tensor;
  choice.context = job.sizes.context;
  choice.expert = job.sizes.expert;
  choice.pipeline = job.schedule.devices;
  choice.data = job.sizes.data;
  choice.zero = job.sizes.zero;
  choice.sequence = job.sizes.sequence;
  choice.microbatch = setup.microbatch_size;
  choice.microbatches = job.schedule.microbatches;
  choice.recompute = static_cast<int>(setup.recompute);
  choice.recompute_stages = flags.transformer.recompute_stages;
  choice.schedule = scenario.schedules.empty() ? "1f1b" : scenario.schedules.front();
  choice.chunks = job.schedule.stages / std::max(1, job.schedule.devices);
  choice.params = flags.params;
  choice.rank_order = flags.cluster.rank_order;
  std::replace(choice.rank_order.begin(), choice.rank_order.end(), ',', '-');
  if (choice.rank_order == kUsualRankOrder) choice.rank_order.clear();
  choice.partition = flags.partition;
  return choice;
}

class ArgumentLines {
 public:
  void flag(const std::string& name) { text_ += "--" + name + "\n"; }
  void value(const std::string& name, std::int64_t number) {
    text_ += "--" + name + " " + std::to_string(number) + "\n";
  }
  void word(const std::string& name, const std::string& value) { text_ += "--" + name + " " + value + "\n"; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void add_attention_arguments(const TransformerShape& shape, ArgumentLines& lines) {
  if (shape.kv_rank > 0) {
    lines.flag("multi-latent-attention");
    if (shape.query_rank > 0) lines.value("q-lora-rank", shape.query_rank);
    lines.value("kv-lora-rank", shape.kv_rank);
    lines.value("qk-head-dim", shape.head_size);
    lines.value("qk-pos-emb-head-dim", shape.rope_size);
    lines.value("v-head-dim", shape.value_size);
    lines.flag("qk-layernorm");  // of the narrow spaces
    return;
  }
  lines.value("kv-channels", shape.head_size);
  if (shape.kv_heads != shape.heads) {
    lines.flag("group-query-attention");
    lines.value("num-query-groups", shape.kv_heads);
  }
  if (shape.qk_norm != QueryKeyNorm::kNone) lines.flag("qk-layernorm");
}

void add_expert_arguments(const TransformerShape& shape, ArgumentLines& lines) {
  if (shape.experts == 0) return;
  lines.value("num-experts", shape.experts);
  lines.value("moe-router-topk", shape.experts_per_token);
  if (shape.expert_groups > 1) {
    lines.value("moe-router-num-groups", shape.expert_groups);
    lines.value("moe-router-group-topk", shape.groups_per_token);
  }
  lines.value("moe-ffn-hidden-size", shape.expert_feed_forward);
  if (shape.shared_feed_forward > 0) lines.value("moe-shared-expert-intermediate-size", shape.shared_feed_forward);
  if (shape.moe_every > 1) {
    lines.value("moe-layer-freq", shape.moe_every);
  } else if (shape.dense_layers > 0) {
    lines.word("moe-layer-freq", "'([0]*" + std::to_string(shape.dense_layers) + "+[1]*" +
                                     std::to_string(shape.layers - shape.dense_layers) + ")'");
  }
  if (shape.predicted_tokens > 0) lines.value("mtp-num-layers", shape.predicted_tokens);
}

// The model, its numbers and its batch as Megatron-LM's arguments; the split is framework_flags'.
std::string megatron_model(const TrainingSetup& setup) {
  const TransformerShape& shape = setup.shape;
  ArgumentLines lines;
  lines.value("num-layers", shape.layers);
  lines.value("hidden-size", shape.hidden);
  lines.value("num-attention-heads", shape.heads);
  lines.value("ffn-hidden-size", shape.feed_forward);
  lines.value("seq-length", setup.sequence);
  lines.value("max-position-embeddings", std::max(setup.sequence, shape.positions));
  lines.value("vocab-size", shape.vocabulary);
  add_attention_arguments(shape, lines);
  add_expert_arguments(shape, lines);
  if (shape.positions == 0) lines.word("position-embedding-type", "rope");
  if (shape.norm == NormKind::kRmsNorm) lines.word("normalization", "RMSNorm");
  if (shape.gated) lines.flag("swiglu");
  if (!shape.biases) lines.flag("disable-bias-linear");
  if (!shape.biases && shape.qkv_biases) lines.flag("add-qkv-bias");
  if (!shape.tied_embedding) lines.flag("untie-embeddings-and-output-weights");
  if (setup.compute == NumberFormat::kFp16) lines.flag("fp16");
  if (setup.compute == NumberFormat::kBf16 || setup.compute == NumberFormat::kFp8) lines.flag("bf16");
  if (setup.compute == NumberFormat::kFp8) {
    lines.word("fp8-format", "hybrid");
    lines.word("fp8-recipe", to_string(setup.fp8_recipe));
  }
  if (setup.gradients == NumberFormat::kBf16) lines.flag("grad-reduce-in-bf16");
  if (!setup.dropout) {
    lines.word("hidden-dropout", "0.0");
    lines.word("attention-dropout", "0.0");
  }
  lines.word("attention-backend", setup.flash_attention ? "flash" : "unfused");
  if (setup.fused_loss) lines.flag("cross-entropy-loss-fusion");
  if (!setup.fused_accumulation) lines.flag("no-gradient-accumulation-fusion");
  return lines.text();
}

void note_megatron_losses(const TransformerShape& shape, std::vector<std::string>& notes) {
  if (shape.window > 0)
    notes.emplace_back("windows: --window-size and --window-attn-skip-freq of recent Megatron-Core");
  if (!shape.kind_of_block.empty()) notes.emplace_back("blocks of several kinds need a specification in Python");
  if (shape.qk_norm == QueryKeyNorm::kWhole || shape.qk_norm == QueryKeyNorm::kPlain)
    notes.emplace_back("--qk-layernorm norms each head of queries and keys, the model all heads, or without weights");
  if (shape.attention_sinks) notes.emplace_back("attention sinks: --softmax-type learnable of recent Megatron-Core");
  if (!shape.biases && (shape.output_bias || shape.mlp_biases || shape.router_bias || shape.head_bias))
    notes.emplace_back(
        "biases of attention's output, MLPs, routers or logits alone have no argument, and are left out");
  if (shape.shared_gate)
    notes.emplace_back("the shared experts' gate: --moe-shared-expert-gate of recent Megatron-Core");
  if (shape.moe_every > 1 && shape.dense_layers > 0)
    notes.emplace_back("blocks with experts: as many, from the first block on");
  if (shape.block_norms != 2)
    notes.emplace_back("its blocks have two norms, the model's " + std::to_string(shape.block_norms));
}

// One argument a line, as `import --from megatron` reads them back.
std::string one_a_line(std::string arguments) {
  for (std::size_t at = arguments.find(" --"); at != std::string::npos; at = arguments.find(" --", at))
    arguments[at] = '\n';
  return arguments.empty() ? arguments : arguments + "\n";
}

bool is_flavour(const TorchtitanFlavour& flavour, const TransformerShape& shape) {
  TransformerShape known = choose_model("llama", flavour.sizes).shape;
  known.name = shape.name;
  known.rotary_base = shape.rotary_base;
  known.predicted_tokens = shape.predicted_tokens;
  known.expert_balance = shape.expert_balance;
  known.expert_groups = shape.expert_groups;  // as its code has them
  known.groups_per_token = shape.groups_per_token;
  return known == shape;
}

std::string torchtitan_model(const TrainingSetup& setup, std::vector<std::string>& notes) {
  const auto& flavours = torchtitan_flavours();
  const auto found = std::find_if(flavours.begin(), flavours.end(),
                                  [&](const TorchtitanFlavour& one) { return is_flavour(one, setup.shape); });
  std::string text = "[model]\n";
  if (found != flavours.end()) {
    text += "name = \"" + std::string(found->name) + "\"\nflavor = \"" + found->flavour + "\"\n";
  } else {
    notes.push_back("its registry has no flavor of " + setup.shape.name +
                    "'s sizes: add one to torchtitan/models, and name it under [model]");
  }
  if (setup.compute == NumberFormat::kFp8) text += "converters = [\"float8\"]\n";
  if (setup.compute == NumberFormat::kFp16) notes.emplace_back("trains in bf16, not in fp16");
  if (setup.compute == NumberFormat::kFp32) {
    notes.emplace_back("trains in bf16 unless mixed_precision_param says float32");
  }
  if (setup.dropout) notes.emplace_back("its models have no dropout");
  if (!setup.flash_attention) notes.emplace_back("its attention is fused");
  return found == flavours.end() && text == "[model]\n" ? "" : text;
}

std::string deepspeed_formats(const TrainingSetup& setup, std::vector<std::string>& notes) {
  notes.push_back("the model, its sequence length and its precision's kernels are the training script's: " +
                  setup.shape.name + ", " + std::to_string(setup.sequence) + " tokens");
  if (setup.compute == NumberFormat::kFp8) notes.emplace_back("has no products in 8 bits: bf16 is written");
  if (setup.recompute == Recompute::kFull) {
    notes.emplace_back(
        "recomputation is the script's (deepspeed.checkpointing), PipelineModule's activation_checkpoint_interval");
  }
  if (setup.recompute == Recompute::kSelective) notes.emplace_back("selective recomputation is the model's own");
  if (setup.compute == NumberFormat::kFp32) return "";
  return std::string(", \"") + (setup.compute == NumberFormat::kFp16 ? "fp16" : "bf16") + "\": {\"enabled\": true}";
}

struct SplitToTell {
  const std::string& framework;
  const PlanChoice& choice;
  const std::string& partition;
};

bool cuts_itself_so(const std::string& framework, const std::string& partition) {
  return framework == "torchtitan" ? partition.starts_with("torchtitan") : partition == "deepspeed";
}

// What of the cut and of the tensor ranks' split `written` does not say.
void note_cut_and_split(const SplitToTell& split, const std::string& written, std::vector<std::string>& notes) {
  const bool has_layout = written.find("pipeline-model-parallel-layout") != std::string::npos;
  if (split.choice.pipeline > 1 && !has_layout) {
    if (split.framework == "Megatron-LM") {
      notes.emplace_back("its layout cannot say a cut inside the embedding or the head: it cuts the layers evenly");
    } else if (!split.partition.empty() && !cuts_itself_so(split.framework, split.partition)) {
      notes.push_back("cuts the layers its own way: --partition " + split.partition + " is not among what is written");
    }
  }
  if (split.framework == "torchtitan" && split.choice.tensor > 1 && !split.choice.sequence) {
    notes.emplace_back(
        "its tensor ranks always split activations by sequence, too; this run does not (--sequence-parallel)");
  }
}

}  // namespace

FrameworkExport export_to_framework(const std::string& framework, const ScenarioFlags& flags, const Scenario& scenario,
                                    const Job& job) {
  if (!scenario.transformer.setup) {
    throw InputError(
        Diagnostic{"C004", "--to", "a framework's configuration is of a model, and there is none", "add --model NAME"});
  }
  require_runs_in(framework, scenario, job);
  const TrainingSetup& setup = *scenario.transformer.setup;
  const PlanChoice choice = exported_choice(flags, scenario, job);
  const std::int64_t batch = choice.microbatch * choice.microbatches * choice.data;
  const ChosenRun run{job,
                      *scenario.profile,
                      batch,
                      flags.transformer.recompute_modules,
                      setup.user_buffers,
                      flags.transformer.recompute_blocks};
  const FrameworkFlags made = framework_flags(framework, choice, run);
  FrameworkExport out;
  if (!made.note.empty()) out.notes.push_back(made.note);
  if (framework == "Megatron-LM") {
    out.text = megatron_model(setup) + one_a_line(made.text);
    if (choice.chunks > 1 && choice.pipeline > 1 && made.text.find("layout") == std::string::npos) {
      out.text += "--num-virtual-stages-per-pipeline-rank " + std::to_string(choice.chunks) + "\n";
    }
    note_megatron_losses(setup.shape, out.notes);
  } else if (framework == "torchtitan") {
    out.text = torchtitan_model(setup, out.notes) + made.text;
  } else {
    out.text = made.text;
    out.text.insert(out.text.size() - 1, deepspeed_formats(setup, out.notes));
    out.text += "\n";
  }
  note_cut_and_split({framework, choice, flags.partition}, made.text, out.notes);
  if (!flags.transforms.empty()) out.notes.emplace_back("the transforms of the schedule are not among what is written");
  return out;
}

}  // namespace debubble
