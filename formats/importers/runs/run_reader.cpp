#include "formats/importers/runs/run_reader.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "formats/importers/recovery/kineto_rank.hpp"
#include "formats/importers/recovery/nsys_rank.hpp"
#include "formats/importers/recovery/recover_run.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

// Recordings of several ranks whose ops have no PP: names, or whose format has a reader here only.
//
//     torch   torch.profiler's traces without PP: ranges, one file per rank
//     nsys    Nsight Systems exports (nsys export --type sqlite), one file per rank, or one of all ranks of a machine
//
// How ops are found is in recovery/recover_run.hpp.

// What is wrong with any of the files, at once.
template <typename Read>
std::vector<RankEvents> read_all_ranks(std::vector<RunText>& files, Read read) {
  std::vector<RankEvents> ranks;
  std::vector<Diagnostic> problems;
  for (RunText& file : files) {
    try {
      std::vector<RankEvents> found = read(file);
      ranks.insert(ranks.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
    } catch (const InputError& error) {
      problems.insert(problems.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return ranks;
}

// Throw what recover_run, read_kineto_rank and read_nsys_ranks throw.
ImportedRun read_unnamed_traces(std::vector<RunText> files, const RunReaderOptions& options) {
  const auto read = [](RunText& file) {
    std::vector<RankEvents> one;
    one.push_back(read_kineto_rank(std::move(file.text), file.file));
    return one;
  };
  return recover_run(read_all_ranks(files, read), options.replica, "torch.profiler");
}

ImportedRun read_nsys_exports(std::vector<RunText> files, const RunReaderOptions& options) {
  const bool several = files.size() > 1;
  const auto read = [&](RunText& file) { return read_nsys_ranks(file.text, file.file, several); };
  return recover_run(read_all_ranks(files, read), options.replica, "Nsight Systems");
}

constexpr std::array kRunReaders{
    RunReader{"torch", "torch.profiler, without PP: ranges", is_trace_without_names, read_unnamed_traces},
    RunReader{"nsys", "Nsight Systems", is_sqlite, read_nsys_exports},
};

}  // namespace

std::span<const RunReader> run_readers() { return kRunReaders; }

const RunReader* reader_of(std::string_view text) {
  const auto found = std::find_if(kRunReaders.begin(), kRunReaders.end(),
                                  [&](const RunReader& reader) { return reader.recognises(text); });
  return found == kRunReaders.end() ? nullptr : &*found;
}

}  // namespace debubble
