#include "tools/commands/profile.hpp"

#include <CLI/CLI.hpp>

#include "sim/core/error.hpp"
#include "tools/profile/options.hpp"

namespace debubble {

namespace {

void add_model_flags(CLI::App& verb, ProfileFlags& flags) {
  const std::string group = "Built-in transformer";
  const auto add = [&](const char* name, auto& target, const char* help, const char* type) {
    verb.add_option(name, target, help)->group(group)->type_name(type);
  };
  add("--model", flags.model, "a preset (`debubble list models`) or a config.json", "NAME|FILE");
  add("--microbatch", flags.sizes.microbatch, "samples of a microbatch (default: 1)", "B");
  add("--seq", flags.sizes.sequence, "tokens of a sample (default: 1024)", "S");
  add("--tp", flags.sizes.tensor_parallel, "devices of tensor parallelism (default: 1)", "N");
  add("--dtype", flags.sizes.type, "bf16 (default), fp16 or fp32", "TYPE");
  add("--iterations", flags.iterations, "steps to record (default: 20)", "N");
  add("--device", flags.device, "number of the GPU (default: 0)", "D");
  verb.add_option("--sweep", flags.sizes.sweeps, "several sizes: microbatch=1,2,4 or seq=1024,2048")
      ->group(group)
      ->type_name("KEY=LIST")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->expected(1)
      ->allow_extra_args(false);
  verb.add_flag("--self-check", flags.self_check, "first check the numbers it computes")->group(group);
  add("--checks", flags.checks, "also write each pass timed by events, as JSON", "FILE");
}

void add_output(CLI::App& verb, ProfileFlags& flags) {
  const std::string group = "Output";
  verb.add_option("-o,--output", flags.file, "the profile; of a sweep the folder")->group(group)->type_name("FILE");
  verb.add_option("--keep-records", flags.keep_records, "keep the recording in this folder")
      ->group(group)
      ->type_name("DIR");
  verb.add_option("--format", flags.shown.format, "on stdout, with --model (default: text)")
      ->group(group)
      ->type_name("text|json");
  verb.add_option("--color", flags.shown.color, "auto, always or never (default: auto)")
      ->group(group)
      ->type_name("WHEN");
  verb.add_option("--width", flags.shown.width, "columns of text (default: the terminal's)")
      ->group(group)
      ->type_name("N");
}

class ProfileCommand : public Command {
 public:
  void add_flags(CLI::App& verb) override {
    add_model_flags(verb, flags_);
    add_attribution_flags(verb, flags_.attribution);
    for (const char* name : {"--layers", "--steps", "--warm-up", "--explain"}) {
      verb.get_option(name)->group("Attribution");
    }
    add_output(verb, flags_);
  }

  [[nodiscard]] bool takes_program() const override { return true; }

  int run(const Invocation& invocation) override {
    const bool model = !flags_.model.empty();
    const bool program = !invocation.program.empty();
    if (model == program) {
      throw InputError(Diagnostic{"C009", "debubble profile",
                                  model ? "both --model and a program are given" : "nothing is given to measure",
                                  "give either --model NAME, or a program: -- python train.py"});
    }
    check_numbers();
    if (model && !flags_.checks.empty() && !flags_.sizes.sweeps.empty()) {
      throw InputError(Diagnostic{"C087", "--checks", "it is about one size, and several are measured",
                                  "leave --checks or --sweep out"});
    }
    if (model) return profile_model(flags_);
    refuse_model_flags();
    return profile_program(flags_, invocation.program);
  }

 private:
  void check_numbers() const {
    if (flags_.iterations.value_or(1) < 1) {
      throw InputError(Diagnostic{"C012", "--iterations",
                                  "at least 1 is needed; got " + std::to_string(*flags_.iterations),
                                  "leave it out for the default"});
    }
    if (flags_.device < 0) {
      throw InputError(Diagnostic{"C012", "--device", "devices count from 0; got " + std::to_string(flags_.device),
                                  "`debubble doctor` shows how many there are"});
    }
  }

  // A program brings its own model.
  void refuse_model_flags() const {
    const SizeFlags& sizes = flags_.sizes;
    const char* flag = sizes.microbatch         ? "--microbatch"
                       : sizes.sequence         ? "--seq"
                       : sizes.tensor_parallel  ? "--tp"
                       : !sizes.sweeps.empty()  ? "--sweep"
                       : sizes.type != "bf16"   ? "--dtype"
                       : flags_.iterations      ? "--iterations"
                       : flags_.device != 0     ? "--device"
                       : !flags_.checks.empty() ? "--checks"
                       : flags_.self_check      ? "--self-check"
                                                : nullptr;
    if (flag == nullptr) return;
    throw InputError(Diagnostic{"C087", flag, "it is about the built-in transformer, and a program is measured",
                                std::string("leave ") + flag + " out; the program's own arguments follow its name"});
  }

  ProfileFlags flags_;
};

}  // namespace

std::unique_ptr<Command> make_profile() { return std::make_unique<ProfileCommand>(); }

}  // namespace debubble
