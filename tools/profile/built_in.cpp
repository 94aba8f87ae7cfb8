// `debubble profile --model`: the built-in workload.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "formats/files/output_file.hpp"
#include "formats/files/read_file.hpp"
#include "formats/profile/profile_json.hpp"
#include "formats/text/shell.hpp"
#include "formats/text/text.hpp"
#include "gpu/cuda_device.hpp"
#include "gpu/workload/self_check.hpp"
#include "profiler/measurement/session.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "sim/core/numbers.hpp"
#include "studies/live/model.hpp"
#include "studies/measure/apart.hpp"
#include "tools/output/stderr_line.hpp"
#include "tools/output/stderr_progress.hpp"
#include "tools/profile/options.hpp"
#include "tools/views/explanation.hpp"
#include "tools/views/profile_table.hpp"

namespace debubble {

namespace {

namespace fs = std::filesystem;

std::string described(const TransformerShape& shape, const WorkloadSize& size) {
  std::string text =
      fmt::format("{}, microbatch {} x {}, {}", shape.name, size.microbatch, size.sequence, to_string(size.type));
  if (size.tensor_parallel > 1) text += fmt::format(", tp {}", size.tensor_parallel);
  return text;
}

// The numbers of the workload's kernels on this device; a wrong one makes its times worthless.
void check_numbers(const ProfileFlags& flags, const WorkloadSize& size) {
  CudaDevice device(load_cuda_libraries(), gpu_index(flags.device), size.type);
  const std::vector<NumberCheck> checks = check_workload(device, size.type);
  std::size_t wrong = 0;
  for (const NumberCheck& check : checks) {
    if (check.ok) continue;
    ++wrong;
    std::fprintf(stderr, "debubble: wrong numbers: %s: error %.3g, tolerated %.3g\n", check.what.c_str(), check.error,
                 check.tolerance);
  }
  if (wrong > 0) {
    throw UnavailableError(Diagnostic{
        "U044", "--self-check", fmt::format("{} of {} passes compute wrong numbers on this GPU", wrong, checks.size()),
        "its times would mean nothing; please report it with `debubble doctor`"});
  }
  std::fprintf(stderr, "debubble: self check: %zu passes compute the right numbers\n", checks.size());
}

SessionResult measure_built_in(const ProfileFlags& flags, const TransformerShape& shape, const WorkloadSize& size,
                               const std::string& record_file) {
  SessionOptions options;
  options.shape = shape;
  options.size = size;
  options.device = gpu_index(flags.device);
  if (flags.iterations) options.steps = *flags.iterations;
  options.record_file = record_file;
  options.explain = flags.attribution.explain;
  const std::string what = described(shape, size);
  StderrProgress progress;
  return measure_workload(options, [&](int done, int total, const std::string& doing) {
    progress.phase(fmt::format("{}: {} ({} of {})", what, doing, done, total));
  });
}

void write_file(const std::string& path, const Profile& profile) {
  OutputFile file(path);
  file.write(write_profile(profile));
  file.commit();
}

// One line per pass, so that a script can compare the two clocks.
void write_checks(const std::string& path, const std::vector<SessionResult::Check>& checks) {
  constexpr std::array kLetters{'F', 'I', 'W'};
  std::string text = "{\n  \"schema_version\": 1,\n  \"checks\": [";
  for (const SessionResult::Check& check : checks) {
    text += fmt::format("{}\n    {{\"layer\": \"{}\", \"pass\": \"{}\", \"by_kernels_ns\": {}, \"by_events_ns\": {}}}",
                        text.ends_with('[') ? "" : ",", check.layer, at(kLetters, check.pass), check.by_kernels,
                        check.by_events);
  }
  OutputFile file(path);
  file.write(text + "\n  ]\n}\n");
  file.commit();
}

std::string record_file(const ProfileFlags& flags, const std::string& name) {
  if (flags.keep_records.empty()) return {};
  std::error_code error;
  fs::create_directories(flags.keep_records, error);
  if (error || !fs::is_directory(flags.keep_records)) {
    throw InputError(Diagnostic{"C050", "--keep-records", "cannot make the folder " + flags.keep_records,
                                "choose a place that you may write to"});
  }
  return (fs::path(flags.keep_records) / (name + ".dbrec")).string();
}

int measure_one(const ProfileFlags& flags, const TransformerShape& shape, const WorkloadSize& size) {
  const std::string name = size_name(shape.name, size);
  Output shown(flags.shown, "text|json");
  const bool json = shown.format() == Format::kJson;
  const std::string path = !flags.file.empty() || json ? flags.file : name + ".json";
  std::optional<OutputFile> file;
  if (!path.empty()) file.emplace(path);
  if (flags.self_check) {  // apart: recording must start before the first CUDA call of this process
    if (const auto failure = run_apart([&] { check_numbers(flags, size); })) throw UnavailableError(*failure);
  }
  const SessionResult result = measure_built_in(flags, shape, size, record_file(flags, name));
  const std::string text = write_profile(result.attribution.profile);
  if (!flags.checks.empty()) write_checks(flags.checks, result.checks);
  if (file) {
    file->write(text);
    file->commit();
  }
  if (path != "-") {
    shown.write(json ? text : profile_view(result.attribution.profile, result.attribution.notes, shown.style()));
    if (flags.attribution.explain && !json) {
      shown.write("\n" + explanation_view(result.attribution.explanations, shown.style()));
    }
    if (!json) shown.write(fmt::format("\nnext   debubble compare --profile {} -p 4 -m 8\n", shell_file(path)));
    shown.commit();
  }
  if (!path.empty() && path != "-") stderr_line("debubble: wrote " + path);
  return kExitOk;
}

fs::path sweep_folder(const ProfileFlags& flags, const TransformerShape& shape) {
  fs::path folder = flags.file.empty() ? fs::path(shape.name) : fs::path(flags.file);
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && fs::is_directory(folder)) return folder;
  throw InputError(Diagnostic{"C050", "-o", folder.string() + " is not a folder, and none can be made there",
                              "a sweep writes one profile per size: name a folder"});
}

// Everything that is wrong with one size makes a row; only when no size could be measured it is the run's failure.
SweepRow measure_apart(const ProfileFlags& flags, const TransformerShape& shape, const WorkloadSize& size,
                       const fs::path& folder, std::optional<Diagnostic>& failure) {
  const std::string name = size_name(shape.name, size);
  const std::string path = (folder / (name + ".json")).string();
  SweepRow row{size.microbatch, size.sequence, path, {}, {}};
  failure = run_apart([&] {
    if (flags.self_check) check_numbers(flags, size);
    write_file(path, measure_built_in(flags, shape, size, record_file(flags, name)).attribution.profile);
  });
  if (failure) {
    row.failure = failure->message;
  } else {
    row.profile = read_profile(read_file(path, "-o"), path);
  }
  return row;
}

// All of them together make any size in between: the largest is one that was measured.
std::string next_after_sweep(const fs::path& folder, const std::vector<SweepRow>& rows) {
  const auto last = std::find_if(rows.rbegin(), rows.rend(), [](const SweepRow& row) { return row.failure.empty(); });
  return fmt::format(
      "\nnext   debubble compare --profile {} --microbatch-size {} --sequence {} -p 4 -m 8\n"
      "       or any size between or beyond these\n",
      shell_file(folder.string()), last->microbatch, last->sequence);
}

int measure_sweep(const ProfileFlags& flags, const TransformerShape& shape, const std::vector<WorkloadSize>& sizes) {
  Output shown(flags.shown, "text|json");
  const fs::path folder = sweep_folder(flags, shape);
  std::vector<SweepRow> rows;
  std::optional<Diagnostic> last_failure;
  for (const WorkloadSize& size : sizes) {
    std::optional<Diagnostic> failure;
    rows.push_back(measure_apart(flags, shape, size, folder, failure));
    stderr_line(fmt::format("debubble: {} of {}: {}: {}", rows.size(), sizes.size(), described(shape, size),
                            failure ? failure->message : rows.back().file));
    // What is missing for one size by its memory may be there for the next; what the machine lacks is not.
    if (failure && failure->code != "U026" && failure->code != "U043") throw UnavailableError(*failure);
    if (failure) last_failure = failure;
  }
  std::size_t measured = 0;
  std::string json = "{\n  \"schema_version\": 1,\n  \"profiles\": [";
  for (const SweepRow& row : rows) {
    if (!row.failure.empty()) continue;
    json += (measured++ == 0 ? "\n" : ",\n") + write_profile(row.profile);
  }
  if (measured == 0 && last_failure) throw UnavailableError(*last_failure);
  shown.write(shown.format() == Format::kJson ? json + "  ]\n}\n"
                                              : fmt::format("profiles in {}\n\n", folder.string()) +
                                                    sweep_view(rows, shown.style()) + next_after_sweep(folder, rows));
  shown.commit();
  return measured == rows.size() ? kExitOk : kExitFinding;
}

}  // namespace

int gpu_index(const std::string& device) {
  if (const auto index = count_of(device)) return static_cast<int>(*index);
  throw InputError(Diagnostic{"C012", "--device",
                              "neither cpu nor the index of a GPU, from 0: got " + in_quotes(device),
                              "`debubble doctor` shows how many GPUs there are; a PyTorch script is measured on the "
                              "CPU with --device cpu"});
}

int profile_model(const ProfileFlags& flags) {
  const TransformerShape shape = model_shape(flags.model);
  const std::vector<WorkloadSize> sizes = workload_sizes(flags.sizes);
  return flags.sizes.sweeps.empty() ? measure_one(flags, shape, sizes.front()) : measure_sweep(flags, shape, sizes);
}

}  // namespace debubble
