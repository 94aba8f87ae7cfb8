#include "tools/commands/command.hpp"

#include <utility>
#include <vector>

#include "scenario/request/catalog_names.hpp"
#include "scenario/request/flag_row.hpp"
#include "sim/core/error.hpp"
#include "tools/profile/options.hpp"

namespace debubble {

namespace {

// NOLINTNEXTLINE(readability-function-size): a table
FlagRows model_rows(ProfileFlags& flags) {
  const FlagGroup row("Built-in transformer");
  return {
      row("--model", "NAME|FILE", "a preset (`debubble list models`) or a config.json", &flags.model, workload_names),
      row("--microbatch-size,--mbs,--microbatch", "B", "samples per microbatch", &flags.sizes.microbatch, Default{"1"}),
      row("--sequence,--seq-length,--seq", "S", "tokens per sample", &flags.sizes.sequence, Default{"1024"}),
      row("--tp", "N", "tensor-parallel ranks", &flags.sizes.tensor_parallel, Default{"1"}),
      row("--dtype", "TYPE", "matmul data type: bf16 (default), fp16 or fp32", &flags.sizes.type, OneOf{kMatmulTypes},
          Preset{"bf16"}),
      row("--iterations,--repetitions", "N", "steps to record", &flags.iterations, Default{"20"}),
      row("--sweep", "KEY=LIST", "several sizes: microbatch=1,2,4 or seq=1024,2048", &flags.sizes.sweeps,
          FlagCount::kSingly),
      row("--self-check", "first check the numbers it computes", &flags.self_check),
      row("--checks", "FILE", "also write each pass timed by events, as JSON", &flags.checks),
  };
}

// Where the profile goes, and what is shown on stdout.
FlagRows output_rows(ProfileFlags& flags) {
  const FlagGroup row("Output");
  FlagRows rows{
      row("-o,--output", "FILE", "the profile; of a sweep the folder", &flags.file),
      row("--keep-records", "DIR", "keep the recording in this folder", &flags.keep_records),
  };
  FlagRows shown = flag_rows(flags.shown, "text|json", "format on stdout, with --model");
  std::erase_if(shown, [](const Flag& flag) { return flag.name == "--output"; });
  add_rows(rows, std::move(shown));
  return rows;
}

// Of a program; the built-in transformer takes turns with recording on and off.
FlagRows program_rows(ProfileFlags& flags) {
  return {FlagGroup("Program")("--overhead", OneOf{"least|run"}, "least (default), or run: once more without CUPTI",
                               &flags.overhead, Preset{"least"})};
}

// Of the machine, not of a model.
FlagRows calibration_rows(ProfileFlags& flags) {
  return {
      FlagGroup("Hardware")("--calibrate-hardware", "measure the machine: a file for --hardware", &flags.calibrate)};
}

// The GPU of the built-in transformer, or the CPU of a program; a program chooses its GPU itself.
FlagRows device_rows(ProfileFlags& flags) {
  return {FlagGroup("Device")("--device", "D|cpu", "GPU's index, or cpu", &flags.device, Default{"0"}, Preset{"0"})};
}

class ProfileCommand : public Command {
 public:
  [[nodiscard]] FlagRows flags() override {
    FlagRows rows = model_rows(flags_);
    add_rows(rows, device_rows(flags_));
    add_rows(rows, program_rows(flags_));
    add_rows(rows, calibration_rows(flags_));
    add_rows(rows, flag_rows(flags_.attribution, "Attribution"));
    add_rows(rows, output_rows(flags_));
    return rows;
  }

  [[nodiscard]] bool takes_program() const override { return true; }

  int run(const Invocation& invocation) override {
    const bool model = !flags_.model.empty();
    const bool program = !invocation.program.empty();
    if (flags_.calibrate) return calibrate(program);
    if (model == program) {
      throw InputError(Diagnostic{model ? "C009" : "C061", "debubble profile",
                                  model ? "both --model and a program are given" : "nothing is given to measure",
                                  "give either --model NAME, or a program: -- python train.py"});
    }
    check_numbers();
    if (model && !flags_.checks.empty() && !flags_.sizes.sweeps.empty()) {
      throw InputError(Diagnostic{"C087", "--checks", "it is about one size, and several are measured",
                                  "leave --checks or --sweep out"});
    }
    if (model && flags_.attribution.rank) {
      throw InputError(
          Diagnostic{"C087", "--rank", "the built-in transformer runs in one process", "leave --rank out"});
    }
    if (model && on_cpu(flags_)) {
      throw InputError(
          Diagnostic{"C087", "--device", "the built-in transformer's kernels are CUDA's, and run on a GPU only",
                     "measure a PyTorch script on the CPU: --device cpu -- python3 -m debubble_hooks train.py"});
    }
    if (model) {
      refuse(program_rows(flags_), "it is about a program, and the built-in transformer is measured", "");
      return profile_model(flags_);
    }
    flags_.overhead_run = word_index(program_rows(flags_), "--overhead") == 1;
    refuse(model_rows(flags_), "it is about the built-in transformer, and a program is measured",
           "; the program's own arguments follow its name");
    if (!on_cpu(flags_)) refuse(device_rows(flags_), "a program chooses its GPU itself", ", or write --device cpu");
    return profile_program(flags_, invocation.program);
  }

 private:
  int calibrate(bool program) {
    if (program) {
      throw InputError(Diagnostic{"C009", "--calibrate-hardware", "the machine is measured, and a program is given",
                                  "leave one of them out"});
    }
    const std::string why = "it is about a model or a program, and the machine is measured";
    refuse(model_rows(flags_), why, "");
    refuse(program_rows(flags_), why, "");
    refuse(flag_rows(flags_.attribution, "Attribution"), why, "");
    if (!flags_.keep_records.empty()) {
      throw InputError(Diagnostic{"C087", "--keep-records", why, "leave --keep-records out"});
    }
    if (!on_cpu(flags_)) static_cast<void>(gpu_index(flags_.device));
    return calibrate_this_machine(flags_);
  }

  void check_numbers() const {
    if (flags_.iterations.value_or(1) < 1) {
      throw InputError(Diagnostic{"C012", "--iterations",
                                  "at least 1 is needed; got " + std::to_string(*flags_.iterations),
                                  "leave it out for the default"});
    }
    if (!on_cpu(flags_)) static_cast<void>(gpu_index(flags_.device));
  }

  // A program brings its own model, and a model is no program.
  static void refuse(const FlagRows& rows, const std::string& why, const std::string& more_help) {
    for (const Flag& row : rows) {
      if (!is_given(row)) continue;
      const std::string flag(row.name);
      throw InputError(Diagnostic{"C087", flag, why, "leave " + flag + " out" + more_help});
    }
  }

  ProfileFlags flags_;
};

}  // namespace

std::unique_ptr<Command> make_profile() { return std::make_unique<ProfileCommand>(); }

}  // namespace debubble
