#include "tools/output/kineto_folder.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <vector>

#include "formats/exporters/kineto_trace.hpp"
#include "formats/files/output_file.hpp"
#include "sim/core/error.hpp"
#include "tools/output/trace.hpp"

namespace debubble {

namespace {

namespace fs = std::filesystem;

// All with as many digits, so that they sort by rank.
std::vector<std::string> rank_files(std::int32_t ranks) {
  const std::size_t digits = std::to_string(ranks - 1).size();
  std::vector<std::string> names;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    const std::string number = std::to_string(rank);
    names.push_back("rank_" + std::string(digits - number.size(), '0') + number + ".json.gz");
  }
  return names;
}

// Readers take every trace of a folder for a rank of one run.
void refuse_other_traces(const std::string& folder, const std::vector<std::string>& names) {
  const std::set<std::string> ours(names.begin(), names.end());
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (ours.contains(name) || (!name.ends_with(".json") && !name.ends_with(".gz"))) continue;
    throw InputError(Diagnostic{"C050", folder, "there is another trace in this folder, " + name,
                                "readers would take it for one of the run's: name a new folder"});
  }
}

// The folder, which goes again if nothing came to be in it.
class MadeFolder {
 public:
  explicit MadeFolder(const std::string& path) {
    std::error_code error;
    const fs::path whole = fs::path(path).has_filename() ? fs::path(path) : fs::path(path).parent_path();
    if (fs::create_directory(whole, error)) made_ = whole;
    if (error || !fs::is_directory(whole, error)) {
      throw InputError(Diagnostic{"C050", path, "cannot make this folder" + (error ? ": " + error.message() : ""),
                                  "choose a place that you may write to; the folder that it is in must be there"});
    }
  }
  ~MadeFolder() {
    std::error_code ignored;
    if (!made_.empty()) fs::remove(made_, ignored);  // only if it is empty
  }
  MadeFolder(const MadeFolder&) = delete;
  MadeFolder& operator=(const MadeFolder&) = delete;

 private:
  fs::path made_;
};

// All files are open until all are written.
void allow_open_files(std::int32_t files) {
  constexpr rlim_t kOthers = 64;
  struct rlimit limit {};
  const rlim_t needed = static_cast<rlim_t>(files) + kOthers;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
  limit.rlim_cur = std::min(limit.rlim_max, needed);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

void require_kineto_folder(const std::string& folder) {
  if (folder != "-") return;
  throw InputError(Diagnostic{"C004", "--to", "kineto is a file for each rank, and they go into a folder",
                              "add -o FOLDER, which is made if it is not there"});
}

void write_kineto_folder(const Simulated& run, const std::string& command_line, const std::string& folder) {
  const TraceInfo info = trace_info(run, command_line);
  const RankTraces trace(run.result.timeline, run.job.schedule, info);
  const std::vector<std::string> names = rank_files(trace.ranks());
  const MadeFolder made(folder);
  refuse_other_traces(folder, names);
  allow_open_files(trace.ranks());
  std::vector<OutputFile> files;
  for (const std::string& name : names) files.emplace_back((fs::path(folder) / name).string());
  for (std::int32_t rank = 0; rank < trace.ranks(); ++rank) {
    trace.write(rank, [&](std::string_view text) { files[static_cast<std::size_t>(rank)].write(text); });
  }
  for (OutputFile& file : files) file.commit();
}

}  // namespace debubble
