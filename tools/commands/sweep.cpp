#include "tools/commands/command.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "formats/files/interrupt.hpp"
#include "formats/files/row_file.hpp"
#include "formats/text/choice.hpp"
#include "formats/text/printable.hpp"
#include "formats/version.hpp"
#include "scenario/request/flag_row.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "studies/parallel.hpp"
#include "studies/sweep/crew.hpp"
#include "studies/sweep/over_mpi.hpp"
#include "studies/sweep/pipeline.hpp"
#include "tools/output/output.hpp"
#include "tools/output/stderr_progress.hpp"
#include "tools/views/sweep/sweep_lines.hpp"
#include "tools/views/sweep/sweep_table.hpp"

namespace debubble {

namespace {

constexpr std::string_view kSweepFormats = "text|json|csv";

// What a sweep itself is asked for.
struct SweepOptions {
  std::optional<int> threads;
  std::optional<int> top;
  std::string best = "throughput";
  bool resume = false;
  std::optional<int> patience;
};

FlagRows flag_rows(SweepOptions& options) {
  const FlagGroup row("Sweep");
  return {
      row("--best,--objective", "WHAT", "text: ranked by throughput (default), step, ...", &options.best,
          OneOf{kSweepMerits}, Preset{"throughput"}),
      row("--top", "N", "text: rows shown", &options.top, Default{"10"}),
      row("--resume", "resume an interrupted sweep in --output FILE", &options.resume),
      row("--threads", "N", "threads of this process", &options.threads, Default{"all cores"}),
      row("--patience", FlagUnit::kSeconds, "MPI: silence until a rank is lost", &options.patience, Default{"20"}),
  };
}

int count_in_range(const std::optional<int>& flag, const char* name, int most, int otherwise) {
  if (!flag) return otherwise;
  if (*flag >= 1 && *flag <= most) return *flag;
  fail("C012", name, fmt::format("a number from 1 to {} is wanted; got {}", most, *flag),
       std::string("leave ") + name + " out, or write it like " + name + " 4");
}

class Sweep : public Command {
 public:
  [[nodiscard]] FlagRows flags() override {
    FlagRows rows = sweep_.rows();
    add_rows(rows, debubble::flag_rows(output_, kSweepFormats, "of the rows; text: the best"));
    add_rows(rows, flag_rows(options_));
    return rows;
  }

  int run(const Invocation& /*invocation*/) override {
    const SweepSpace space(sweep_);
    constexpr int kMostShown = 1000;
    threads_ = count_in_range(options_.threads, "--threads", kMostThreads, 0);
    const int top = count_in_range(options_.top, "--top", kMostShown, 10);
    form_.merit = static_cast<SweepMerit>(choice_of(options_.best, kSweepMerits, "--best"));
    require_one_of(output_.format, kSweepFormats, "--format");
    const bool as_text = output_.format == "text";
    form_.top = as_text ? top : 0;
    if (as_text && options_.resume) {
      fail("C004", "--resume", "a table of the best is not a file of rows", "add --format csv or --format json");
    }
    fingerprint_ = fingerprint_of(sweep_, space, std::string(kVersion));
    constexpr int kMostPatience = 86400;
    const int patience = count_in_range(options_.patience, "--patience", kMostPatience, 20);
    ranks_ = SweepRanks::join(std::chrono::seconds(patience));
    if (ranks_ != nullptr && ranks_->rank() > 0) return serve(space, as_text);
    return as_text ? run_as_text(space) : run_as_rows(space);
  }

 private:
  // A rank other than 0 prints nothing.
  int serve(const SweepSpace& space, bool as_text) {
    const SweepLines lines(space, fingerprint_, output_.format == "json");
    if (!as_text) form_.line = [&](const SweptRow& row) { return lines.line(row); };
    const InterruptWatch interrupt;  // rank 0 says when it is over
    ranks_->serve(sweep_workers(space, form_), fingerprint_, threads_ > 0 ? threads_ : ranks_->threads());
    return kExitOk;
  }

  int run_as_text(const SweepSpace& space) {
    Output output(output_, kSweepFormats);
    SweepBlock sum;
    const int signal = sweep(space, 0, sum, [](const std::string& /*lines*/) {});
    output.write(sweep_table(sum, space, options_.best, output.style()));
    output.commit();
    return status_of(sum, signal);
  }

  int run_as_rows(const SweepSpace& space) {
    const SweepLines lines(space, fingerprint_, output_.format == "json");
    RowFile file(
        output_.output,
        {lines.header(), [&](std::int64_t row) { return lines.prefix(row); }, lines.ending(), space.rows(), "sweep"},
        options_.resume);
    form_.line = [&](const SweptRow& row) { return lines.line(row); };
    SweepBlock sum;
    const int signal = sweep(space, file.rows(), sum, [&](const std::string& text) { file.append(text); });
    if (signal != 0) {
      std::fprintf(stderr, "debubble: interrupted after %lld of %lld rows%s\n",
                   static_cast<long long>(file.rows() + sum.rows()), static_cast<long long>(space.rows()),
                   output_.output == "-" ? "" : "; --resume goes on from there");
    }
    return status_of(sum, signal);
  }

  // From row `first` on. Returns the signal that ended it early, or 0.
  template <typename Take>
  int sweep(const SweepSpace& space, std::int64_t first, SweepBlock& sum, const Take& take) {
    const InterruptWatch interrupt;
    SweepProgress progress(first, space.rows());
    const auto take_block = [&](const SweepBlock& block) {
      take(block.lines);
      add_block(sum, block, form_.top);
      progress.done(first + sum.rows(), sum.rows() - sum.rows_with(kExitOk));
    };
    const auto rows = space.rows() - first;
    if (ranks_ != nullptr) {
      sweep_over_mpi(space, first, interrupt, take_block);
    } else {
      const int threads = threads_for(static_cast<std::size_t>(rows), threads_);
      pipe_blocks(
          {first, space.rows(), rows_per_block(rows, threads)}, threads, sweep_workers(space, form_),
          [&] { return interrupt.noted() == 0; }, take_block);
    }
    return interrupt.noted();
  }

  // Rank 0: its own threads and the other ranks do the blocks, while this one hears and reads.
  template <typename Take>
  void sweep_over_mpi(const SweepSpace& space, std::int64_t first, const InterruptWatch& interrupt, const Take& take) {
    using namespace std::chrono_literals;
    const auto rows = space.rows() - first;
    const int threads = threads_for(static_cast<std::size_t>(rows), threads_ > 0 ? threads_ : ranks_->threads());
    const int all = threads * ranks_->size();
    BlockBoard board(first, space.rows(), rows_per_block(rows, all), kBlocksAhead * all);
    const SweepCrew crew(board, space, form_, threads);
    tell(ranks_->deal(board, fingerprint_));
    while (!board.finished() && interrupt.noted() == 0) {
      tell(ranks_->deal(board, fingerprint_));
      if (const std::optional<SweepBlock> block = board.next(1ms)) take(*block);
    }
    ranks_->dismiss();
  }

  static void tell(const std::string& news) {
    if (!news.empty()) std::fputs(("debubble: " + printable_lines(news, false)).c_str(), stderr);
  }

  // A row that did not run is a row like any other; that none ran is a finding, or wrong usage where all were refused.
  static int status_of(const SweepBlock& sum, int signal) {
    if (signal != 0) return 128 + signal;
    if (sum.rows_with(kExitInternal) > 0) return kExitInternal;
    if (sum.rows() == 0 || sum.rows_with(kExitOk) > 0) return kExitOk;
    return sum.rows_with(kExitUsage) == sum.rows() ? kExitUsage : kExitFinding;
  }

  SweepFlags sweep_;
  OutputFlags output_;
  SweepOptions options_;
  SweepForm form_;
  int threads_ = 0;
  std::uint64_t fingerprint_ = 0;
  std::unique_ptr<SweepRanks> ranks_;  // null: this process alone
};

}  // namespace

std::unique_ptr<Command> make_sweep() { return std::make_unique<Sweep>(); }

}  // namespace debubble
