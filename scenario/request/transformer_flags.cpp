#include "scenario/request/transformer_flags.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>
#include <utility>

#include "formats/files/read_file.hpp"
#include "scenario/request/checks.hpp"
#include "scenario/request/efficiency_file.hpp"
#include "scenario/request/hardware_file.hpp"
#include "scenario/request/kernel_file.hpp"
#include "scenario/request/model_choice.hpp"
#include "scenario/request/recompute_modules.hpp"
#include "scenario/request/stage_list.hpp"
#include "sim/core/error.hpp"
#include "sim/core/keyed_list.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/suggest.hpp"

namespace debubble {
namespace {

// Tokens of a sample where neither a flag nor the model says.
constexpr std::int64_t kUsualSequence = 4096;

// `like` is how one is written.
double number_in_range(const std::string& text, const char* place, double least, double most,
                       const char* like = "1.2") {
  if (const auto number = number_of(text); number && *number >= least && *number <= most) return *number;
  std::ostringstream range;
  range << least << " to " << most;
  fail("C012", place, "\"" + text + "\" is not a number from " + range.str(),
       std::string("write it like ") + place + " " + like);
}

void check_hardware(const TransformerFlags& flags, TransformerScenario& scenario) {
  if (flags.hardware.empty()) return;
  scenario.hardware = flags.hardware;
  scenario.named = hardware_named(flags.hardware, "--hardware");
}

void check_calibration(const std::string& text, TransformerScenario& scenario) {
  if (text.empty()) return;
  const KeyedForm form{
      .place = "--calibrate",
      .example = "write it like --calibrate compute=0.95,network=0.9: all such times are divided by it",
      .unkeyed = "\"{}\" is neither compute=FACTOR nor network=FACTOR",
      .once = "give each factor once",
      .keys = {"compute", "network"},
      .unknown = "\"{}\" is neither compute=FACTOR nor network=FACTOR"};
  read_keyed_list(text, form, [&](const std::string& key, const std::string& value) {
    const double factor = number_in_range(value, "--calibrate", 0.01, 100, "compute=0.95");
    (key == "compute" ? scenario.calibration.compute_scale : scenario.calibration.network_scale) = factor;
  });
  scenario.assumptions.push_back({"calibration", text, Source::kGiven});
}

void read_table(const std::string& file, TransformerScenario& scenario) {
  if (file.empty()) return;
  EfficiencyTable table = read_efficiency(read_file(file, "--efficiency"), file);
  scenario.assumptions.push_back(
      {"kernel efficiency where a measured shape fits",
       table.device + ", " + std::to_string(table.shapes.size()) + " shapes, " + table.source, Source::kMeasured});
  scenario.measured = std::move(table.shapes);
  scenario.measured_passes = table.passes;
  scenario.measured_hardware = std::move(table.hardware);
}

void read_kernel_tables(const std::string& file, TransformerScenario& scenario) {
  scenario.no_kernels = file == "off";
  if (file.empty() || scenario.no_kernels) return;
  scenario.kernels = std::make_shared<const KernelTables>(read_kernels(read_file(file, "--kernels"), file));
}

std::string moments_in_words(const TrainingSetup& setup) {
  if (setup.moments == 0) return "none";
  const std::string first = std::string("in ") + to_string(setup.moment_format);
  if (setup.moments == 1) return "one per number, " + first;
  const std::string second = std::string("in ") + to_string(setup.second_format);
  if (setup.matrix_momentum) return "one per number of blocks' matrices, " + first + "; two of others, " + second;
  return first == second ? first : first + ", the second " + second;
}

// What the setup is made of, where it comes from.
void explain_setup(const TransformerFlags& flags, const ChosenModel& model, const TrainingSetup& setup,
                   TransformerScenario& scenario) {
  const auto given = [](bool is_given) { return is_given ? Source::kGiven : Source::kDefault; };
  const auto add = [&scenario](std::string_view key, std::string amount, Source source) {
    scenario.assumptions.push_back({.key = std::string(key), .amount = std::move(amount), .source = source});
  };
  const bool file = flags.model.ends_with(".json") || flags.model.find('/') != std::string::npos;
  add("model", setup.shape.name + (flags.model_size.empty() ? "" : ", with " + flags.model_size),
      file || !flags.model_size.empty() ? Source::kGiven : Source::kPublished);
  if (setup.shape.name != model.source)
    scenario.assumptions.back().citation = model.source;  // a file is its own source
  add("sample", std::to_string(setup.sequence) + " tokens", given(flags.sequence.has_value()));
  add(assumption_key::kMicrobatch,
      std::to_string(setup.microbatch_size) + (setup.microbatch_size == 1 ? " sample" : " samples"),
      given(flags.microbatch_size.has_value()));
  add("number formats",
      std::string(to_string(setup.compute)) + " matmuls, " + to_string(setup.gradients) + " gradients",
      given(!flags.dtype.empty()));
  if (setup.compute == NumberFormat::kFp8) {
    add("scales of 8-bit products", to_string(setup.fp8_recipe), given(!flags.fp8_recipe.empty()));
    add("weights of 8-bit matmuls",
        setup.eight_bit_weights_alone ? "in 8 bits alone, as they are and transposed"
                                      : "in 16 bits, and in 8 bits as they are and transposed",
        given(!flags.fp8_weights.empty()));
  }
  if (!flags.optimizer.empty() || !flags.moment_dtype.empty() || !flags.second_moment_dtype.empty()) {
    add("the optimizer's moments", moments_in_words(setup), Source::kGiven);
  }
  if (!flags.weight_dtype.empty() && casts_weights(setup)) {
    add("weights", "stored in 32 bits, cast for products", Source::kGiven);
  }
  if (!flags.master_weights.empty()) {
    add("the optimizer's copy of the weights",
        setup.master_weights ? std::string("in ") + to_string(setup.master_format) : "none", Source::kGiven);
  }
  if (setup.keeps_low_gradients) {
    add("16-bit gradients", "stay beside the sums that they are added to", Source::kGiven);
  }
  add("attention", setup.flash_attention ? "fused (flash)" : "scores in memory", given(!flags.attention.empty()));
  if (!setup.fused_accumulation) add("weight gradients", "summed in a pass of their own", Source::kGiven);
  if (setup.user_buffers != UserBuffers{}) {
    const char* parts = !setup.user_buffers.sums      ? "gathers beside parts of products"
                        : !setup.user_buffers.gathers ? "sums beside parts of products"
                                                      : "gathers and sums beside parts of products";
    scenario.assumptions.push_back({.key = "user buffers",
                                    .amount = parts,
                                    .source = Source::kGiven,
                                    .citation = "Transformer Engine's defaults for --tp-comm-overlap, recalled"});
  }
  if (setup.recompute != Recompute::kNone) {
    const bool full = setup.recompute == Recompute::kFull;
    std::string text = full ? to_string(scenario.recompute_blocks) : recomputation_words(setup.modules);
    if (!full && scenario.recompute_blocks.some()) text += ", " + to_string(scenario.recompute_blocks);
    add("recomputation", text + (full ? ", inside B" : ""), Source::kGiven);
    if (!flags.recompute_stages.empty()) scenario.assumptions.back().amount += ", on stages " + flags.recompute_stages;
  }
  if (setup.shape.experts > 0) {
    std::ostringstream text;
    if (setup.capacity_factor > 0) {
      text << "every expert works on " << setup.capacity_factor << " times the mean";
    } else {
      text << "the busiest rank's experts get " << setup.expert_imbalance << " times the mean";
    }
    const std::array<const char*, 4> ways{
        "all-to-all: every copy of a token by itself",
        "DeepEP: a token crosses to a machine once, rates as measured on H100 and B200",
        "hybrid: a token crosses to an NVLink domain once, rates as measured with DeepEP and on NVL72",
        "all-gather: every rank gets every token"};
    add("exchange of tokens", ways.at(static_cast<std::size_t>(setup.dispatch)), given(!flags.moe_dispatch.empty()));
    if (setup.exchange_overlap)
      add("exchange of tokens beside", "the other pass of another microbatch", Source::kGiven);
    add("tokens of experts", text.str(), given(!flags.expert_imbalance.empty() || !flags.capacity_factor.empty()));
  }
}

NumberFormat moment_format(std::size_t word) {
  constexpr std::array<NumberFormat, 4> kFormats{NumberFormat::kFp32, NumberFormat::kBf16, NumberFormat::kFp16,
                                                 NumberFormat::kFp8};
  return kFormats.at(word);
}

// What updates the weights, and in which formats it keeps what.
void set_optimizer(const TransformerFlags& flags, const FlagRows& rows, TrainingSetup& setup) {
  const std::size_t optimizer = word_index(rows, "--optimizer");
  const std::size_t master = word_index(rows, "--master-weights");
  constexpr std::array<int, 4> kMoments{2, 0, 1, 2};
  constexpr std::array<NumberFormat, 3> kMasters{NumberFormat::kFp32, NumberFormat::kBf16, NumberFormat::kFp16};
  setup.moments = kMoments.at(optimizer);
  setup.matrix_momentum = flags.optimizer == "muon";
  setup.moment_format = moment_format(word_index(rows, "--moment-dtype"));
  const char* second = flags.second_moment_dtype.empty() ? "--moment-dtype" : "--second-moment-dtype";
  setup.second_format = moment_format(word_index(rows, second));
  setup.weights = setup.compute == NumberFormat::kFp8 ? NumberFormat::kBf16 : setup.compute;
  if (flags.weight_dtype == "fp32") setup.weights = NumberFormat::kFp32;
  setup.master_weights = flags.master_weights.empty() ? setup.weights != NumberFormat::kFp32 : master < kMasters.size();
  if (setup.master_weights) setup.master_format = kMasters.at(master);
}

// on, off, and what user buffers add to on: both ways, gathers alone, sums alone.
void set_tensor_overlap(std::size_t word, TrainingSetup& setup) {
  constexpr std::array<UserBuffers, 5> kBuffers{{{}, {}, {true, true}, {true, false}, {false, true}}};
  setup.tensor_overlap = word != 1;
  setup.user_buffers = kBuffers.at(word);
}

// Flags about numbers that only some formats have.
void refuse_idle_formats(const TransformerFlags& flags, const TrainingSetup& setup) {
  std::vector<Diagnostic> found;
  if (!flags.fp8_weights.empty() && setup.compute != NumberFormat::kFp8) {
    found.push_back({"C004", "--fp8-weights", "no matmul is in 8 bits", "add --dtype fp8"});
  }
  if (setup.keeps_low_gradients && setup.compute == NumberFormat::kFp32) {
    found.push_back(
        {"C004", "--low-gradients", "matmuls give gradients in 32 bits", "leave it out, or add --dtype bf16"});
  }
  if (setup.master_weights && bytes_of(setup.master_format) < bytes_of(setup.weights)) {
    found.push_back(
        {"C004", "--master-weights", "the weights themselves are in 32 bits", "leave it out, or add --dtype bf16"});
  }
  const std::string moments = std::string("--optimizer ") + flags.optimizer + " keeps ";
  if (!flags.moment_dtype.empty() && setup.moments == 0) {
    found.push_back({"C004", "--moment-dtype", moments + "no moments", "leave it out"});
  }
  if (!flags.second_moment_dtype.empty() && setup.moments < 2) {
    found.push_back({"C004", "--second-moment-dtype", moments + "no second moment", "leave it out"});
  }
  if (!found.empty()) throw InputError(std::move(found));
}

void set_setup(const TransformerFlags& flags, TransformerScenario& scenario) {
  ChosenModel model = choose_model(flags.model, flags.model_size);
  TrainingSetup setup;
  setup.shape = std::move(model.shape);
  setup.sequence =
      flags.sequence.value_or(model.longest > 0 ? std::min(model.longest, 2 * kUsualSequence) : kUsualSequence);
  setup.microbatch_size = flags.microbatch_size.value_or(1);
  TransformerFlags copy = flags;
  const FlagRows rows = flag_rows(copy);
  Checks checks;
  checks.run([&] {
    if (flags.dtype.empty()) return;
    setup.compute = static_cast<NumberFormat>(word_index(rows, "--dtype"));
  });
  checks.run([&] { setup.gradients = static_cast<NumberFormat>(word_index(rows, "--grad-dtype")); });
  checks.run([&] { setup.flash_attention = word_index(rows, "--attention") == 0; });
  checks.run([&] { setup.recompute = static_cast<Recompute>(word_index(rows, "--recompute")); });
  checks.run([&] {
    if (flags.recompute_stages.empty()) return;
    scenario.recompute_stages = parse_stage_list(flags.recompute_stages, "--recompute-stages");
    if (setup.recompute != Recompute::kNone) return;
    fail("C004", "--recompute-stages", "no stage recomputes anything", "add --recompute full");
  });
  checks.run([&] {
    if (flags.recompute_blocks.empty()) return;
    RecomputeRule rule = parse_recompute_rule(flags.recompute_blocks, setup.shape.layers);
    if (flags.recompute.empty()) return;  // a plan says later what recomputes
    scenario.recompute_blocks = std::move(rule);
    const bool chunks = scenario.recompute_blocks.how == RecomputeRule::How::kChunks;
    if (setup.recompute == Recompute::kNone || (chunks && setup.recompute != Recompute::kFull))
      fail("C004", "--recompute-blocks", chunks ? "only whole blocks share an input" : "no block recomputes anything",
           "add --recompute full");
  });
  checks.run([&] {
    if (flags.recompute_modules.empty()) return;
    setup.modules = parse_recompute_modules(flags.recompute_modules, setup.shape);
    if (setup.recompute == Recompute::kSelective || flags.recompute.empty()) return;
    fail("C004", "--recompute-modules", "--recompute " + flags.recompute + " is not about modules",
         "write --recompute selective, or leave the modules out");
  });
  checks.run([&] { set_optimizer(flags, rows, setup); });
  checks.run([&] { setup.keeps_low_gradients = word_index(rows, "--low-gradients") == 1; });
  checks.run([&] { setup.eight_bit_weights_alone = word_index(rows, "--fp8-weights") == 1; });
  checks.run([&] { setup.fused_loss = word_index(rows, "--loss") == 1; });
  checks.run([&] { setup.fp8_recipe = static_cast<Fp8Recipe>(word_index(rows, "--fp8-recipe")); });
  checks.run([&] { scenario.cuda_graphs = word_index(rows, "--cuda-graphs") == 1; });
  checks.run([&] {
    if (flags.host_launch.empty()) return;
    scenario.host_launch = parse_duration(flags.host_launch, "--host-launch");
    if (!scenario.cuda_graphs) return;
    fail("C004", "--host-launch", "with --cuda-graphs on the host launches no single kernel", "leave one of them out");
  });
  checks.run([&] { setup.fused_accumulation = word_index(rows, "--grad-accumulation") == 0; });
  checks.run([&] { set_tensor_overlap(word_index(rows, "--tensor-overlap"), setup); });
  checks.run([&] { setup.context_all_to_all = word_index(rows, "--context-exchange") == 1; });
  checks.run([&] { setup.dispatch = static_cast<MoeDispatch>(word_index(rows, "--moe-dispatch")); });
  checks.run([&] { setup.exchange_overlap = word_index(rows, "--moe-overlap") == 1; });
  checks.run([&] {
    if (!setup.exchange_overlap || setup.dispatch != MoeDispatch::kAllGather) return;
    fail("C004", "--moe-overlap", "an all-gather of tokens does not overlap with the other pass",
         "leave it out, or take --moe-dispatch alltoall");
  });
  checks.run([&] {
    if ((flags.moe_dispatch.empty() && flags.moe_overlap.empty()) || setup.shape.experts > 0) return;
    const std::string flag = flags.moe_dispatch.empty() ? "--moe-overlap" : "--moe-dispatch";
    fail("C004", flag, setup.shape.name + " has no experts that tokens are sent to",
         "leave " + flag + " out, or take a model with experts");
  });
  checks.run([&] {
    if (flags.expert_imbalance.empty()) return;
    setup.expert_imbalance = number_in_range(flags.expert_imbalance, "--expert-imbalance", 1, 1e4);
  });
  checks.run([&] {
    if (flags.capacity_factor.empty()) return;
    setup.capacity_factor = number_in_range(flags.capacity_factor, "--capacity-factor", 0.01, 1e4);
  });
  checks.finish();
  refuse_idle_formats(flags, setup);
  setup.dropout = flags.dropout;
  setup.effects = flags.effects;
  scenario.scatter_gather = flags.scatter_gather;
  if (!flags.fp8_recipe.empty() && setup.compute != NumberFormat::kFp8) {
    fail("C004", "--fp8-recipe", "there are no 8-bit products to scale", "add --dtype fp8");
  }
  scenario.notes = model.notes;
  if (setup.matrix_momentum) scenario.notes.emplace_back("Muon's orthogonalisation of its updates takes no time here");
  explain_setup(flags, model, setup, scenario);
  scenario.setup = std::move(setup);
}

}  // namespace

std::vector<bool> recomputing_stages(const TransformerScenario& transformer, int stages) {
  if (transformer.recompute_stages.empty()) return std::vector<bool>(static_cast<std::size_t>(stages), true);
  return named_stages(transformer.recompute_stages, stages, "--recompute-stages");
}

TransformerScenario check_transformer(const TransformerFlags& flags) {
  TransformerScenario scenario;
  if (flags.model.empty()) return scenario;
  Checks checks;
  checks.run([&] { set_setup(flags, scenario); });
  checks.run([&] { check_hardware(flags, scenario); });
  checks.run([&] { check_calibration(flags.calibrate, scenario); });
  checks.run([&] { read_table(flags.efficiency, scenario); });
  checks.run([&] { read_kernel_tables(flags.kernels, scenario); });
  checks.finish();
  return scenario;
}

}  // namespace debubble
