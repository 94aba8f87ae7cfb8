#include "formats/importers/runs/unnamed_ranks.hpp"

#include <iterator>
#include <string>
#include <utility>

#include "formats/importers/recovery/kineto_rank.hpp"
#include "formats/importers/recovery/nsys_rank.hpp"
#include "formats/importers/recovery/recover_run.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

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

}  // namespace

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

}  // namespace debubble
