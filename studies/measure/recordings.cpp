#include "studies/measure/recordings.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "formats/files/file_roles.hpp"
#include "formats/files/read_file.hpp"
#include "formats/text/columns.hpp"
#include "formats/text/shell.hpp"
#include "profiler/hooks_file.hpp"
#include "profiler/ranks/attribute_ranks.hpp"
#include "profiler/records/record_file.hpp"
#include "profiler/records/trouble_file.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

// What a process complained of. Throws UnavailableError for what the machine lacks (U codes), else InputError.
void throw_trouble(const Diagnostic& trouble) {
  if (trouble.code.starts_with('U')) throw UnavailableError(trouble);
  throw InputError(trouble);
}

// Of the processes, or of --rank. Returns where that explains nothing. Throws as throw_trouble, and InputError C012
// where no process of this rank was recorded.
void throw_what_was_said(const Recordings& recordings, const std::optional<int>& rank) {
  if (!recordings.troubles.empty()) throw_trouble(recordings.troubles.front());
  if (rank && recordings.records.empty()) {
    fail("C012", "--rank", "no process of rank " + std::to_string(*rank) + " was recorded",
         "ranks count from 0; leave --rank out to see which there are");
  }
}

// The most likely reason, with what the processes said themselves first. Throws UnavailableError (U003, U009, U041) and
// InputError: C012 no process of this rank, A002 no debubble_hooks in the program, A003 no training step.
void nothing_timed(const Recordings& recordings, const std::optional<int>& rank) {
  throw_what_was_said(recordings, rank);
  if (recordings.sizes.empty() && recordings.records.empty()) {
    fail("A002", "--", "no layer was seen: debubble_hooks did not run in the program, or found no script to run",
         "on the CPU it is what times the layers: debubble profile --device cpu -- python3 -m debubble_hooks train.py");
  }
  fail("A003", "--", "no training step was timed",
       "a step is a forward of the model with gradients, a backward and optimizer.step(), on the CPU and in the "
       "process that debubble_hooks started");
}

namespace fs = std::filesystem;

fs::path make_temporary() {
  std::error_code error;
  const std::string wildcard(6, 'X');  // mkdtemp puts letters of its own there
  std::string name = (fs::temp_directory_path(error) / ("debubble-profile-" + wildcard)).string();
  if (::mkdtemp(name.data()) != nullptr) return name;
  throw InputError(Diagnostic{"C050", "--keep-records", "cannot make a temporary folder for the recording",
                              "name a folder with --keep-records, or set TMPDIR"});
}

fs::path make_kept(const std::string& name) {
  std::error_code error;
  fs::create_directories(name, error);
  if (error || !fs::is_directory(name)) {
    throw InputError(
        Diagnostic{"C050", "--keep-records", "cannot make the folder " + name, "choose a place that you may write to"});
  }
  if (!fs::is_empty(name, error) || error) {
    throw InputError(Diagnostic{"C050", "--keep-records", "the folder " + name + " is not empty",
                                "an older recording would be counted in: name a new folder"});
  }
  return fs::absolute(name);
}

std::string without_line_end(std::string text) {
  text.erase(text.find_last_not_of("\r\n\t ") + 1);
  return text;
}

bool driver_is_there() { return ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE) != nullptr; }

// A CUPTI whose records made no sense has told nothing that could be believed, in no process.
void refuse_nonsense(const Recordings& recordings) {
  for (const Diagnostic& trouble : recordings.troubles) {
    if (trouble.code == "U011") throw_trouble(trouble);
  }
}

// Whether CUDA was ever started in a recorded process: only then does the driver call the injection.
bool used_cuda(const Recordings& recordings) {
  struct Facts : RecordSink {
    using RecordSink::on;
    void on(const FactRecord& record) override { unused = unused || (record.key == "gpu" && is_unused(record.value)); }
    static bool is_unused(std::string_view value) { return value.starts_with("not used"); }
    bool unused = false;
  };
  for (const fs::path& path : recordings.records) {
    Facts facts;
    claim_input_path(path.string(), path.string());
    try {
      static_cast<void>(read_record_file(path.string(), facts));
    } catch (const InputError&) {
      continue;  // reported already
    }
    if (!facts.unused) return true;
  }
  return false;
}

// No GPU work: the most likely reason, with what the processes said themselves first.
[[noreturn]] void nothing_recorded(const Recordings& recordings, const std::optional<int>& rank) {
  throw_what_was_said(recordings, rank);
  if (used_cuda(recordings)) {
    throw UnavailableError(Diagnostic{
        "U041", "", "the recording holds no GPU work",
        "another profiler in the program (torch.profiler, nsys, ncu) takes CUPTI for itself: take it out; or the "
        "program ended before it used the GPU"});
  }
  if (!driver_is_there()) {
    throw UnavailableError(Diagnostic{
        "U041", "", "nothing was recorded: this machine has no CUDA driver, so the program used no GPU",
        "run it on a machine with an NVIDIA GPU; in a container, start that with its GPUs (docker run --gpus all)"});
  }
  throw UnavailableError(
      Diagnostic{"U041", "", "nothing was recorded: the program made no CUDA call that the injection could see",
                 "check that it trains on the GPU (model.cuda()), does not start its work in a container or on another "
                 "machine, and does not clean its environment"});
}

// The rule's own complaint, with what usually helps a person who measures a script.
[[noreturn]] void no_layers(const InputError& error) {
  std::vector<Diagnostic> problems = error.diagnostics();
  for (Diagnostic& problem : problems) {
    if (problem.code != "A002") continue;
    problem.place = "--";
    problem.help =
        "a PyTorch script gets layer ranges from -- python -m debubble_hooks train.py; ranges of its own are "
        "named with --layers REGEX";
  }
  throw InputError(std::move(problems));
}

std::vector<HooksFile> read_hooks_files(const Recordings& recordings, const std::optional<int>& rank,
                                        std::vector<std::string>& notes) {
  std::vector<HooksFile> files;
  for (const fs::path& path : recordings.sizes) {
    try {
      files.push_back(read_hooks_file(read_file(path.string(), "--"), path.filename().string()));
    } catch (const InputError& error) {
      notes.push_back("sizes were not used: " + without_line_end(error.what()));
      continue;
    }
    if (rank && files.back().rank != *rank) {
      files.pop_back();
      continue;
    }
    for (const std::string& note : files.back().notes) {
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
    }
  }
  return files;
}

std::vector<RankStream> streams_of(const Recordings& recordings, std::vector<std::string>& notes) {
  std::vector<RankStream> streams;
  for (const fs::path& path : recordings.records) {
    const auto replay = [path, &notes](RecordSink& sink) {
      try {
        return read_record_file(path.string(), sink).complete;
      } catch (const InputError& error) {
        const std::string note = "counted up to where it is damaged: " + without_line_end(error.what());
        if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
        return false;
      }
    };
    streams.push_back({path.filename().string(), replay});
  }
  return streams;
}

// "train" of `torchrun --nproc-per-node 2 train.py --big`, else the program's own name.
std::string model_of(const std::vector<std::string>& program) {
  for (const std::string& word : program) {
    if (word.ends_with(".py")) return fs::path(word).stem().string();
  }
  return fs::path(program.front()).filename().string();
}

// What only the script knew: the model's name and the size of its input.
void describe_model(const std::vector<HooksFile>& files, const std::vector<std::string>& program, Profile& profile) {
  profile.model = model_of(program);
  profile.dtype = "unknown";
  for (const HooksFile& file : files) {
    if (file.model.empty()) continue;
    profile.model = file.model;
    if (!file.dtype.empty()) profile.dtype = file.dtype;
    profile.microbatch_size = file.microbatch_size;
    profile.sequence_length = file.sequence_length;
    return;
  }
}

std::string command_line(const std::vector<std::string>& program) {
  std::string line;
  for (const std::string& word : program) line += (line.empty() ? "" : " ") + shell_quoted(word);
  return shorten(line, 200);
}

void add_notes(const Recordings& recordings, std::vector<std::string> notes, Attribution& found) {
  for (const Diagnostic& trouble : recordings.troubles) notes.push_back(trouble.code + ": " + trouble.message);
  if (recordings.sizes.empty()) {
    notes.emplace_back("what layers keep and hand on is known exactly with -- python -m debubble_hooks SCRIPT");
  }
  found.notes.insert(found.notes.end(), notes.begin(), notes.end());
}

}  // namespace

RecordFolder::RecordFolder(const std::string& keep)
    : path_(keep.empty() ? make_temporary() : make_kept(keep)), temporary_(keep.empty()) {}

RecordFolder::~RecordFolder() {
  std::error_code ignored;
  if (temporary_) fs::remove_all(path_, ignored);
}

Recordings find_recordings(const fs::path& folder) {
  Recordings found;
  std::set<fs::path> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path());
  std::set<std::string> seen;  // ranks complain of the same
  for (const fs::path& path : names) {
    const std::string name = path.filename().string();
    if (name.ends_with(".dbrec")) {
      found.records.push_back(path);
    } else if (name.starts_with("hooks-") && name.ends_with(".json")) {
      found.sizes.push_back(path);
    } else if (name.starts_with("trouble-") && name.ends_with(".txt")) {
      for (Diagnostic& trouble : read_troubles(read_file(path.string(), "--"))) {
        if (seen.insert(trouble_text(trouble)).second) found.troubles.push_back(std::move(trouble));
      }
    }
  }
  return found;
}

Attribution attribute(const Recordings& recordings, const AttributionRules& rules,
                      const std::vector<std::string>& program, const std::optional<int>& rank, bool on_cpu) {
  const auto nothing = on_cpu ? nothing_timed : nothing_recorded;
  if (recordings.records.empty()) nothing(recordings, rank);
  refuse_nonsense(recordings);
  std::vector<std::string> notes;
  RanksRequest request{rules, rank, read_hooks_files(recordings, rank, notes)};
  try {
    Attribution found = attribute_ranks(streams_of(recordings, notes), request);
    describe_model(request.sizes, program, found.profile);
    found.profile.origin.method =
        (on_cpu ? found.profile.origin.method + ": " : "CUPTI activity records of ") + command_line(program);
    add_notes(recordings, std::move(notes), found);
    return found;
  } catch (const InputError& error) {
    for (const Diagnostic& problem : error.diagnostics()) {
      if (problem.code == "A003") nothing(recordings, rank);
    }
    no_layers(error);
  }
}

}  // namespace debubble
