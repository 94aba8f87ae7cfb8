#include "tools/commands/import_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <utility>

#include "formats/files/file_roles.hpp"
#include "formats/files/read_file.hpp"
#include "formats/files/sqlite_file.hpp"
#include "formats/profile/profile_json.hpp"
#include "formats/text/shell.hpp"
#include "formats/text/text.hpp"
#include "profiler/attribution/attribution.hpp"
#include "profiler/hooks_file.hpp"
#include "profiler/importers/kineto.hpp"
#include "profiler/importers/nsys.hpp"
#include "profiler/importers/whole_model.hpp"
#include "profiler/ranks/attribute_ranks.hpp"
#include "profiler/records/forwarding_sink.hpp"
#include "profiler/records/record_file.hpp"
#include "scenario/request/flag_row.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "sim/core/quantities.hpp"
#include "tools/output/stderr_line.hpp"
#include "tools/output/stderr_progress.hpp"
#include "tools/views/explanation.hpp"

namespace debubble {
namespace {

// The file's name without the endings that say its format: "rank0" of "traces/rank0.pt.trace.json.gz".
std::string file_stem(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  bool cut = true;
  while (cut) {
    cut = false;
    for (const std::string ending : {".gz", ".json", ".trace", ".pt", ".sqlite", ".dbrec"}) {
      if (!name.ends_with(ending) || name.size() == ending.size()) continue;
      name.resize(name.size() - ending.size());
      cut = true;
    }
  }
  return name.empty() || first_bad_utf8(name) ? "imported" : name;
}

void check_positive(const std::optional<int>& value, const char* flag) {
  if (!value || *value > 0) return;
  throw InputError(Diagnostic{"C012", flag, "must be at least 1; got " + std::to_string(*value),
                              std::string("leave ") + flag + " out when it is not known"});
}

// Remembers which rank a stream was of, and hands everything on.
class RankNoter : public ForwardingSink {
 public:
  using ForwardingSink::ForwardingSink;
  using ForwardingSink::on;
  void on(const FactRecord& record) override {
    if (record.key == "rank") rank = record.value;
    if (record.key == "world_size") world = record.value;
    ForwardingSink::on(record);
  }

  std::string rank;
  std::string world;
};

class TraceImport {
 public:
  explicit TraceImport(const TraceImportFlags& flags)
      : flags_(flags), whole_(flags.attribution.layers == kNoLayers), rules_(attribution_rules(flags.attribution)) {
    if (!whole_) return;
    rules_.layers = "^debubble\\.layer:(model)$";  // none that the recording has, whose phases are the model's parts
    rules_.phases_add_up = true;
  }

  Attribution run(const std::vector<HooksFile>& hooks) {
    if (flags_.attribution.layers.empty()) choose_layers(source(0));
    std::vector<RankStream> streams;
    for (std::size_t file = 0; file < flags_.files.size(); ++file) {
      const std::size_t count = holds_several(flags_.from) ? source(file).streams() : 1;
      for (std::size_t stream = 0; stream < count; ++stream) {
        const std::string part = count == 1 ? "" : ", process " + std::to_string(stream + 1);
        streams.push_back(
            {flags_.files[file] + part, [this, file, stream](RecordSink& sink) { return replay(file, stream, sink); }});
      }
    }
    const std::size_t several = streams.size();
    Attribution found = attribute_ranks(std::move(streams), {rules_, flags_.attribution.rank, hooks});
    close();
    note_ranks(several);
    found.notes.insert(found.notes.begin(), notes_.begin(), notes_.end());
    return found;
  }

 private:
  // Of all files one is open at a time: traces are large.
  TraceSource& source(std::size_t file) {
    if (source_ && file_ == file) return *source_;
    close();
    progress_.phase("reading " + flags_.files[file]);
    source_ = open_trace(flags_.from, flags_.files[file]);
    file_ = file;
    return *source_;
  }

  void close() {
    if (!source_) return;
    const std::string prefix = flags_.files.size() > 1 ? flags_.files[file_] + ": " : "";
    for (const std::string& note : source_->notes()) note_once(prefix + note);
    source_.reset();
  }

  bool replay(std::size_t file, std::size_t stream, RecordSink& sink) {
    TraceSource& opened = source(file);
    progress_.phase("attributing " + flags_.files[file]);
    RankNoter noter(sink);
    const bool complete = feed(opened, stream, noter);
    ranks_[{file, stream}] = noter.rank;
    if (!noter.world.empty()) world_ = noter.world;
    return complete;
  }

  void note_ranks(std::size_t streams) {
    std::map<std::string, int> said;
    for (const auto& [place, rank] : ranks_) {
      if (!rank.empty()) ++said[rank];
    }
    for (const auto& [rank, count] : said) {
      if (count > 1) notes_.push_back(fmt::format("{} streams say that they are rank {}", count, rank));
    }
    const std::optional<int>& one = flags_.attribution.rank;
    if (!one && (streams > 1 || world_.empty() || world_ == "1")) return;
    const std::string rank = one ? std::to_string(*one) : said.empty() ? "?" : said.begin()->first;
    notes_.push_back(fmt::format("rank {} of {} only", rank, world_.empty() ? "several" : world_));
  }

  [[nodiscard]] static bool has(TraceSource& source, std::size_t stream, const std::string& regex) {
    RangeFinder finder(regex);
    source.replay(stream, finder);
    return finder.found();
  }

  // Names of ours first; else what the recording suggests; else the attribution says what there is.
  void choose_layers(TraceSource& source) {
    const std::optional<LayerGuess> guess = source.guess_layers();
    if (!guess || has(source, 0, rules_.layers)) return;
    rules_.layers = guess->layers;
    notes_.push_back(guess->note);
  }

  bool feed(TraceSource& source, std::size_t stream, RecordSink& sink) {
    if (!whole_) return source.replay(stream, sink);
    const bool steps = has(source, stream, rules_.steps);
    WholeModel whole(steps ? rules_.steps : "", sink);
    const bool complete = source.replay(stream, whole);
    whole.end_of_stream();
    note_once(steps ? "--layers none: one layer, whose times are those of a whole step; nothing is said of its parts"
                    : "--layers none: one layer, whose times are those of the whole recording, which has no steps");
    return complete;
  }

  void note_once(const std::string& note) {
    if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(note);
  }

  const TraceImportFlags& flags_;
  bool whole_;
  AttributionRules rules_;
  std::vector<std::string> notes_;
  std::unique_ptr<TraceSource> source_;  // the open one, of the file number `file_`
  std::size_t file_ = 0;
  std::map<std::pair<std::size_t, std::size_t>, std::string> ranks_;  // by file and stream
  std::string world_;
  StderrProgress progress_;
};

// What a flag says counts, then what the hooks saw.
void complete(Profile& profile, const TraceImportFlags& flags, const std::vector<HooksFile>& hooks) {
  const std::optional<int>& rank = flags.attribution.rank;
  const auto one =
      std::find_if(hooks.begin(), hooks.end(), [&](const HooksFile& file) { return !rank || file.rank == *rank; });
  const HooksFile seen = one == hooks.end() ? HooksFile{} : *one;
  const auto first = [](std::initializer_list<std::string> texts) {
    return *std::find_if(texts.begin(), texts.end() - 1, [](const std::string& text) { return !text.empty(); });
  };
  profile.model = first({flags.model.model, seen.model, file_stem(flags.files.front())});
  profile.dtype = first({flags.model.dtype, seen.dtype, "unknown"});
  // Not value_or: it would cut the file's numbers to the flag's type.
  const auto given = [](const std::optional<int>& flag, std::int64_t other) { return flag ? *flag : other; };
  profile.microbatch_size = given(flags.model.microbatch, seen.microbatch_size);
  profile.sequence_length = given(flags.model.sequence, seen.sequence_length);
}

std::string share_text(Nanoseconds part, Nanoseconds whole) {
  return format_percent(whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole));
}

// "bert: 12.3 ms of GPU time: 92.1 % in 24 layers; optimizer 5.0 %, communication 2.9 %"
std::string import_verdict(const Profile& profile) {
  std::string text = profile.model + ": ";
  if (!profile.measurement) return text + fmt::format("{} layers", profile.layers.size());
  const Measurement& measured = *profile.measurement;
  text += fmt::format("{} of {} time: {} in {} layer{}", format_duration(measured.kernel_time),
                      measured.on_cpu ? "CPU" : "GPU", share_text(measured.layer_time, measured.kernel_time),
                      profile.layers.size(), profile.layers.size() == 1 ? "" : "s");
  const char* separator = "; ";
  for (const RestItem& item : measured.rest) {
    text += separator + item.what + " " + share_text(item.total, measured.kernel_time);
    separator = ", ";
  }
  return text;
}

// What takes no time has no schedule.
void require_times(const Profile& profile, const std::string& file) {
  const bool timed = std::any_of(profile.layers.begin(), profile.layers.end(), [](const ProfileLayer& layer) {
    const auto some = [](const std::optional<TimeStatistics>& part) { return part && part->median > 0; };
    return layer.forward.median > 0 || some(layer.backward) || some(layer.input_grad) || some(layer.weight_grad);
  });
  if (timed) return;
  fail("A004", file, "no layer takes any time: the kernels in them end when they begin",
       "record with times of kernels; --explain shows what each range has");
}

// When nothing is a layer, this verb has one more remedy.
Attribution attribute(const TraceImportFlags& flags, const std::vector<HooksFile>& hooks) {
  try {
    return TraceImport(flags).run(hooks);
  } catch (const InputError& error) {
    std::vector<Diagnostic> problems = error.diagnostics();
    for (Diagnostic& problem : problems) {
      if (problem.code != "A002") continue;
      problem.place = "--layers";
      problem.help += "; --layers none takes the whole model as one layer";
    }
    throw InputError(std::move(problems));
  }
}

}  // namespace

FlagRows trace_rows(TraceImportFlags& flags) {
  const FlagGroup row("Model");
  FlagRows rows = flag_rows(flags.attribution);
  add_rows(rows,
           {
               row("--model", "NAME", "model name", &flags.model.model, Default{"the file's"}),
               row("--dtype", "TYPE", "data type: bf16, fp32, ...", &flags.model.dtype, Default{"unknown"}),
               row("--microbatch-size,--mbs,--microbatch", "B", "samples per microbatch", &flags.model.microbatch),
               row("--sequence,--seq-length,--seq", "S", "tokens per sample", &flags.model.sequence),
               row("--hooks", "FILE ...", "sizes that debubble_hooks wrote, one file per rank", &flags.model.hooks,
                   FlagCount::kSingly),
           });
  return rows;
}

int import_traces(const TraceImportFlags& flags) {
  check_positive(flags.model.microbatch, "--microbatch-size");
  check_positive(flags.model.sequence, "--sequence");
  const bool explain = flags.attribution.explain;
  const bool profile_wanted = !explain || flags.output_given;
  if (explain && flags.output_given && flags.output.output == "-") {
    throw InputError(Diagnostic{"C066", "--output", "the profile and the explanation cannot both go to -",
                                "give -o a file's name, or leave it out for the explanation alone"});
  }
  OutputFlags explanation_flags = flags.output;
  explanation_flags.output = "-";
  Output explanation(explanation_flags, "text|json");
  OutputFile output(profile_wanted ? flags.output.output : "-");
  std::vector<HooksFile> hooks;
  for (const std::string& file : flags.model.hooks) hooks.push_back(read_hooks_file(read_file(file, "--hooks"), file));
  Attribution found = attribute(flags, hooks);
  complete(found.profile, flags, hooks);
  require_times(found.profile, flags.files.front());
  for (const HooksFile& file : hooks) found.notes.insert(found.notes.end(), file.notes.begin(), file.notes.end());
  if (profile_wanted) output.write(write_profile(found.profile));
  if (explain) {
    explanation.write(explanation.format() == Format::kJson
                          ? explanation_json(found.explanations)
                          : explanation_view(found.explanations, explanation.style(), measured_on_cpu(found.profile)));
  }
  if (profile_wanted) output.commit();
  explanation.commit();
  for (const std::string& note : found.notes) stderr_line("note: " + note);
  stderr_line(import_verdict(found.profile));
  if (profile_wanted && found.any_backward && flags.output.output != "-") {
    stderr_line("next: debubble compare --profile " + shell_file(flags.output.output) + " -p 4 -m 8");
  }
  return kExitOk;
}

namespace {

class KinetoSource : public TraceSource {
 public:
  explicit KinetoSource(const std::string& path) : trace_(read_text_file(path, "FILE", kMostRecordingBytes), path) {}
  bool replay(std::size_t, RecordSink& sink) override {
    trace_.replay(sink);
    return true;
  }
  [[nodiscard]] std::optional<LayerGuess> guess_layers() const override { return trace_.guess_layers(); }
  [[nodiscard]] std::vector<std::string> notes() const override { return trace_.notes(); }

 private:
  KinetoTrace trace_;
};

class NsysSource : public TraceSource {
 public:
  explicit NsysSource(const std::string& path) : file_(path), export_(file_) {}
  [[nodiscard]] std::size_t streams() const override { return export_.processes().size(); }
  bool replay(std::size_t stream, RecordSink& sink) override {
    export_.replay(export_.processes()[stream], sink);
    return true;
  }
  [[nodiscard]] std::vector<std::string> notes() const override { return export_.notes(); }

 private:
  SqliteFile file_;
  NsysExport export_;
};

class RecordsSource : public TraceSource {
 public:
  explicit RecordsSource(std::string path) : path_(std::move(path)) {}
  bool replay(std::size_t, RecordSink& sink) override {
    claim_input_path(path_, path_);
    const RecordFileEnd end = read_record_file(path_, sink);
    complete_ = end.complete;
    return end.complete;
  }
  [[nodiscard]] std::vector<std::string> notes() const override {
    if (complete_) return {};
    return {"the file is cut off: the program was killed, or is still running"};
  }

 private:
  std::string path_;
  bool complete_ = true;
};

}  // namespace

bool holds_several(const std::string& from) { return from == "nsys"; }

std::unique_ptr<TraceSource> open_trace(const std::string& from, const std::string& path) {
  if (from == "kineto") return std::make_unique<KinetoSource>(path);
  if (from == "nsys") return std::make_unique<NsysSource>(path);
  return std::make_unique<RecordsSource>(path);
}

}  // namespace debubble
