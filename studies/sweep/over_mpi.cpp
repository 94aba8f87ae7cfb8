#include "studies/sweep/over_mpi.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "live/backends.hpp"
#include "live/cpu/cores.hpp"
#include "live/mpi/control_channel.hpp"
#include "live/mpi/join.hpp"
#include "live/mpi/message_codec.hpp"
#include "live/mpi/plugin_loader.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "studies/sweep/block.hpp"
#include "studies/sweep/crew.hpp"
#include "studies/sweep/dealt_blocks.hpp"

namespace debubble {

auto members(live::Like<SweepBest> auto& best) {
  auto& [merit, asynchronous, row, makespan, bubble_ratio, rate, in_samples, mfu, peak, spare, limit] = best;
  return std::tie(merit, asynchronous, row, makespan, bubble_ratio, rate, in_samples, mfu, peak, spare, limit);
}

auto members(live::Like<SweepTally> auto& tally) {
  auto& [rows, reason] = tally;
  return std::tie(rows, reason);
}

auto members(live::Like<SweepBlock> auto& block) {
  auto& [lines, tallies, best, asynchronous] = block;
  return std::tie(lines, tallies, best, asynchronous);
}

namespace {

using SweepClock = std::chrono::steady_clock;
constexpr std::chrono::seconds kBeat{1};

// The first number of every message.
enum class SweepWord : std::int64_t { kHello, kBlock, kDone, kAlive, kEnd };

// How many processes the launcher started, where it says so.
std::optional<int> size_of_environment() {
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read before any thread of ours
    if (value == nullptr) continue;
    const std::optional<std::int64_t> size = count_of(value);
    if (size && *size > 0) return static_cast<int>(*size);
  }
  return std::nullopt;
}

const live::MessagePassingPlugin& plugin_for_sweeps() {
  try {
    return live::load_message_passing();
  } catch (const UnavailableError& error) {
    Diagnostic problem = error.diagnostic();
    problem.help =
        "build debubble where Open MPI is installed (Debian, Ubuntu: apt-get install openmpi-bin "
        "libopenmpi-dev), or start one process, which uses all cores of its host";
    throw UnavailableError(problem);
  }
}

std::string ranks_name(int rank, const std::string& host) { return "rank " + std::to_string(rank) + " on " + host; }

// What rank 0 says to another. False: the sweep has ended.
bool obey(live::MessageReader& message, DealtBlocks& blocks) {
  const auto word = static_cast<SweepWord>(message.number());
  if (word == SweepWord::kEnd) {
    if (message.number() != 0) live::leave_alone();
    return false;
  }
  if (word != SweepWord::kBlock) return true;
  BlockRange range;
  range.number = message.number();
  range.first = message.number();
  range.end = message.number();
  range.task = message.text();
  blocks.add(range);
  return true;
}

[[noreturn]] void rank_0_has_gone(std::chrono::seconds silent, const std::string& verb) {
  live::leave_alone();
  throw UnavailableError({"E015", "", "rank 0 has been silent for " + std::to_string(silent.count()) + " s",
                          verb == "sweep" ? "what it has written is whole: go on with --resume" : "start it again"});
}

}  // namespace

class SweepRanks::Talk {
 public:
  explicit Talk(live::MessagePassing& joined) : passing(joined), channel(joined) {}

  live::MessagePassing& passing;
  live::ControlChannel channel;
};

// What rank 0 knows of the others.
class SweepRanks::Deal {
 public:
  Deal(int size, std::chrono::seconds patience, std::string verb)
      : verb_(std::move(verb)), patience_(patience), others_(static_cast<std::size_t>(size)) {
    for (Other& other : others_) other.heard = SweepClock::now();
  }

  std::string turn(Talk& talk, BlockDealer& board, std::uint64_t fingerprint) {
    while (std::optional<live::ControlChannel::Received> received = talk.channel.next()) {
      take(*received, board, fingerprint);
    }
    std::string news;
    for (std::size_t rank = 1; rank < others_.size(); ++rank) give_blocks(talk, static_cast<int>(rank), board);
    for (std::size_t rank = 1; rank < others_.size(); ++rank) news += look_after(static_cast<int>(rank), board);
    if (SweepClock::now() - beat_ > kBeat) {
      beat_ = SweepClock::now();
      tell_all(talk, SweepWord::kAlive);
    }
    return news;
  }

  // With whether a rank is lost.
  void tell_all(Talk& talk, SweepWord word) {
    live::MessageWriter message;
    message.number(static_cast<std::int64_t>(word)).number(lost_any() ? 1 : 0);
    for (std::size_t rank = 1; rank < others_.size(); ++rank) {
      if (!others_[rank].lost) talk.channel.send(static_cast<int>(rank), message);
    }
  }
  // Once all are known to mean the same sweep, or are lost.
  [[nodiscard]] bool all_agree() const {
    return std::all_of(others_.begin() + 1, others_.end(),
                       [](const Other& other) { return other.threads > 0 || other.lost; });
  }
  [[nodiscard]] bool lost_any() const {
    return std::any_of(others_.begin(), others_.end(), [](const Other& other) { return other.lost; });
  }

 private:
  struct Other {
    std::string host;
    std::int64_t threads = 0;  // 0: it has not said a word
    std::map<std::int64_t, BlockRange> open;
    SweepClock::time_point heard;
    bool lost = false;
  };

  void take(live::ControlChannel::Received& received, BlockDealer& board, std::uint64_t fingerprint) {
    Other& other = others_[static_cast<std::size_t>(received.from)];
    other.heard = SweepClock::now();
    other.lost = false;
    const auto word = static_cast<SweepWord>(received.message.number());
    if (word == SweepWord::kHello) {
      other.threads = received.message.number();
      other.host = received.message.text();
      if (std::bit_cast<std::uint64_t>(received.message.number()) == fingerprint) return;
      throw InputError({"E011", "debubble " + verb_,
                        ranks_name(received.from, other.host) + " has another " + verb_ +
                            " than rank 0: other flags, other files, or another debubble",
                        "give every host the same files, the same command line and the same debubble"});
    }
    if (word != SweepWord::kDone) return;
    BlockRange range;
    range.number = received.message.number();
    other.open.erase(range.number);
    board.put(range, live::read<SweepBlock>(received.message));
  }

  // One block per thread, and one that waits, so that no thread does.
  void give_blocks(Talk& talk, int rank, BlockDealer& board) {
    Other& other = others_[static_cast<std::size_t>(rank)];
    if (other.threads == 0 || other.lost) return;
    while (static_cast<std::int64_t>(other.open.size()) < 2 * other.threads) {
      const std::optional<BlockRange> block = board.take_now();
      if (!block) return;
      other.open.emplace(block->number, *block);
      live::MessageWriter message;
      message.number(static_cast<std::int64_t>(SweepWord::kBlock)).number(block->number).number(block->first);
      talk.channel.send(rank, message.number(block->end).text(block->task));
    }
  }

  std::string look_after(int rank, BlockDealer& board) {
    Other& other = others_[static_cast<std::size_t>(rank)];
    if (other.lost || SweepClock::now() - other.heard < patience_) return "";
    other.lost = true;
    for (const auto& [number, range] : other.open) board.give_back(range);
    const std::size_t open = std::exchange(other.open, {}).size();
    const std::string name = other.host.empty() ? "rank " + std::to_string(rank) : ranks_name(rank, other.host);
    return name + " has been silent for " + std::to_string(patience_.count()) + " s: others do its " +
           std::to_string(open) + " open blocks\n";
  }

  std::string verb_;
  std::chrono::seconds patience_;
  std::vector<Other> others_;
  SweepClock::time_point beat_;
};

SweepRanks::SweepRanks(std::unique_ptr<Talk> talk, std::chrono::seconds patience, std::string verb)
    : verb_(std::move(verb)),
      patience_(patience),
      talk_(std::move(talk)),
      deal_(std::make_unique<Deal>(talk_->passing.size(), patience, verb_)) {}

SweepRanks::~SweepRanks() {
  if (rank() == 0 && !dismissed_) dismiss();
}

std::unique_ptr<SweepRanks> SweepRanks::join(std::chrono::seconds patience, std::string verb) {
  if (!live::mpi_rank_of_environment() || size_of_environment().value_or(2) == 1) return nullptr;
  live::MessagePassing& passing = live::join(plugin_for_sweeps());
  if (passing.size() == 1) return nullptr;
  return std::unique_ptr<SweepRanks>(
      new SweepRanks(std::make_unique<Talk>(passing), patience, std::move(verb)));  // NOLINT: a private constructor
}

int SweepRanks::rank() const { return talk_->passing.rank(); }
int SweepRanks::size() const { return talk_->passing.size(); }

int SweepRanks::threads() const {
  const int usable = live::usable_cores().usable();
  const auto online = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  // A launcher that binds ranks to cores has shared them out already.
  return std::max(1, usable < online ? usable : online / std::max(1, talk_->passing.ranks_on_host()));
}

std::string SweepRanks::deal(BlockDealer& board, std::uint64_t fingerprint) {
  std::string news = deal_->turn(*talk_, board, fingerprint);
  while (!deal_->all_agree()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    news += deal_->turn(*talk_, board, fingerprint);
  }
  return news;
}

void SweepRanks::dismiss() {
  dismissed_ = true;
  deal_->tell_all(*talk_, SweepWord::kEnd);
  if (!deal_->lost_any()) return talk_->channel.flush();
  // What goes to the lost rank never completes; what goes to the others needs a moment.
  const auto end = SweepClock::now() + std::chrono::milliseconds(500);
  while (SweepClock::now() < end) {
    (void)talk_->channel.next();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  live::leave_alone();
}

void SweepRanks::serve(const MakeBlockWorker& make_worker, std::uint64_t fingerprint, int threads) {
  live::ControlChannel& channel = talk_->channel;
  live::MessageWriter hello;
  hello.number(static_cast<std::int64_t>(SweepWord::kHello)).number(threads).text(talk_->passing.host());
  channel.send(0, hello.number(std::bit_cast<std::int64_t>(fingerprint)));
  DealtBlocks blocks;
  const SweepCrew crew(blocks, make_worker, threads);
  SweepClock::time_point heard = SweepClock::now();
  SweepClock::time_point beat = heard;
  for (;;) {
    bool idle = true;
    while (std::optional<live::ControlChannel::Received> received = channel.next()) {
      idle = false;
      heard = SweepClock::now();
      if (!obey(received->message, blocks)) return;
    }
    while (const std::optional<DealtBlocks::Done> done = blocks.next_done()) {
      idle = false;
      live::MessageWriter message;
      message.number(static_cast<std::int64_t>(SweepWord::kDone)).number(done->range.number);
      write(message, done->block);
      channel.send(0, message);
    }
    const auto now = SweepClock::now();
    if (now - beat > kBeat) {
      beat = now;
      channel.send(0, live::MessageWriter().number(static_cast<std::int64_t>(SweepWord::kAlive)));
    }
    if (now - heard > 3 * patience_) rank_0_has_gone(3 * patience_, verb_);
    if (idle) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

}  // namespace debubble
