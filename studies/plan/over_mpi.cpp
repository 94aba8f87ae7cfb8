#include "studies/plan/over_mpi.hpp"

#include <functional>
#include <map>
#include <span>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "live/backends.hpp"
#include "scenario/check_scenario.hpp"
#include "studies/parallel.hpp"
#include "studies/plan/evaluation_codec.hpp"
#include "studies/plan/pieces_board.hpp"
#include "studies/plan/variant_id.hpp"
#include "studies/sweep/study_hash.hpp"

namespace debubble {
namespace {

live::MessageReader message_in(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return live::MessageReader({bytes.begin(), bytes.end()});
}

std::string packed(const live::MessageWriter& message) {
  std::string text;
  for (const std::byte byte : message.bytes()) text += static_cast<char>(byte);
  return text;
}

// Evaluates what rank 0 asks for. Each thread has its own.
class PlanServant {
 public:
  PlanServant(const PlanRequest& request, const PlanSpace& space) : request_(request), space_(space) {}

  std::string run(const std::string& text) {
    live::MessageReader task = message_in(text);
    live::MessageWriter done;
    switch (static_cast<PlanTask>(task.number())) {
      case PlanTask::kBase: {
        const PlanChoice& base = space_.bases[static_cast<std::size_t>(task.number())];
        write(done, evaluate_base(request_, base, space_.zeros_of(base).back()));
        break;
      }
      case PlanTask::kBounds:
        write_bounds(task, done);
        break;
      case PlanTask::kStep: {
        const PlanChoice choice = choice_of(space_, live::read<VariantId>(task));
        write(done, make_step_costs(request_, choice, pattern_of(choice).shape));
        break;
      }
      case PlanTask::kSimulation: {
        const PlanChoice choice = choice_of(space_, live::read<VariantId>(task));
        Evaluation one = live::read<Evaluation>(task);
        simulate_choice(request_, choice, one, live::read<Interest>(task));
        write(done, one);
        break;
      }
    }
    return packed(done);
  }

 private:
  void write_bounds(live::MessageReader& task, live::MessageWriter& done) {
    std::vector<PlanChoice> choices;
    for (std::int64_t left = task.number(); left > 0; --left) {
      choices.push_back(choice_of(space_, live::read<VariantId>(task)));
      (void)pattern_of(choices.back());
    }
    for (const Evaluation& one : bounded(request_, choices, patterns_)) write(done, one);
  }

  const Pattern& pattern_of(const PlanChoice& choice) {
    const auto [place, is_new] = patterns_.try_emplace(pattern_key(choice));
    if (is_new) place->second = make_pattern(request_, choice);
    return place->second;
  }

  const PlanRequest& request_;
  const PlanSpace& space_;
  std::map<PatternKey, Pattern> patterns_;
};

// Ends the threads at a board where something throws.
class BoardStop {
 public:
  explicit BoardStop(PiecesBoard& board) : board_(board) {}
  ~BoardStop() { board_.stop(); }
  BoardStop(const BoardStop&) = delete;
  BoardStop& operator=(const BoardStop&) = delete;

 private:
  PiecesBoard& board_;
};

// What all ranks must agree on: flags with their files, space, and what the layers of the job cost.
std::uint64_t agreed(const PlanJob& asked, const PlanSpace& space, const std::string& version) {
  StudyHash hash;
  hash.add_text(version);
  PlanJob copy = asked;
  FlagRows rows = flag_rows(copy.flags);
  add_rows(rows, flag_rows(copy.request.job, ScenarioVerb::kSeveralSchedules));
  for (const Flag& flag : rows) {
    if (!is_given(flag) || flag.name == "--threads") continue;  // hosts may differ in their cores
    hash.add_text(flag.name);
    for (const std::string& value : values_of(flag)) add_value(flag, value, hash);
  }
  for (const PlanChoice& base : space.bases) hash.add_text(to_string(base));
  for (const int zero : space.zeros) hash.add_text(std::to_string(zero));
  for (const PlanVariant& variant : space.variants) {
    hash.add_text(variant.schedule + " " + std::to_string(variant.chunks));
    for (const std::string& param : variant.params) hash.add_text(param);
  }
  const Scenario probe = check_scenario(asked.request.job);
  for (const ProfileLayer& layer : probe.profile->layers) {
    hash.add_text(std::to_string(layer.forward.median) + " " + std::to_string(layer.activation) + " " +
                  std::to_string(layer.parameters));
  }
  return hash.value();
}

}  // namespace

PlanRanks::PlanRanks(PlanJob asked, const std::string& version)
    : asked_(std::move(asked)), space_(plan_space(asked_.request)), fingerprint_(agreed(asked_, space_, version)) {}

std::unique_ptr<PlanRanks> PlanRanks::join(const ScenarioFlags& job, const PlanFlags& flags, const std::string& version,
                                           std::chrono::seconds patience,
                                           std::function<void(const std::string&)> tell) {
  if (!live::mpi_rank_of_environment()) return nullptr;
  // What is wrong with the flags is wrong on all ranks, and comes out before they meet.
  std::unique_ptr<PlanRanks> made(new PlanRanks(read_plan(job, flags), version));  // NOLINT: a private constructor
  made->ranks_ = SweepRanks::join(patience, "plan");
  made->tell_ = std::move(tell);
  return made->ranks_ == nullptr ? nullptr : std::move(made);
}

void PlanRanks::serve() {
  const auto make_worker = [this]() -> BlockWorker {
    return [servant = std::make_shared<PlanServant>(asked_.request, space_)](const BlockRange& block) {
      SweepBlock done;
      done.lines = servant->run(block.task);
      return done;
    };
  };
  ranks_->serve(make_worker, fingerprint_, asked_.options.threads > 0 ? asked_.options.threads : ranks_->threads());
}

void PlanRanks::do_all(std::size_t pieces, int threads, const PlanWork& work) {
  using namespace std::chrono_literals;
  const int own = threads_for(pieces, threads > 0 ? threads : ranks_->threads());
  if (dismissed_) return for_each_index(pieces, own, work.here);
  std::function<std::string(std::size_t)> ask;
  if (work.ask) {
    ask = [&](std::size_t k) {
      live::MessageWriter task;
      work.ask(k, task);
      return packed(task);
    };
  }
  const auto take = [&](std::size_t k, const std::string& text) {
    live::MessageReader done = message_in(text);
    work.take(k, done);
  };
  PiecesBoard board(pieces_, pieces, ask, take);
  pieces_ += static_cast<std::int64_t>(pieces);
  // Threads of our own, not tasks of oneTBB: they wait for what another rank may give back, and this one speaks for
  // all.
  std::vector<std::jthread> helpers;
  const BoardStop stop(board);  // before the helpers join: nobody does a piece that another rank no longer does
  try {
    for (int k = 0; k < own; ++k) helpers.emplace_back([&] { board.do_here(work.here); });
  } catch (const std::system_error&) {
    fail_to_start(own);
  }
  while (!board.finished()) {
    const std::string news = ranks_->deal(board, fingerprint_);
    if (!news.empty() && tell_) tell_(news);
    board.wait_for(200us);
  }
  helpers.clear();
  board.rethrow();
}

void PlanRanks::dismiss() {
  if (!std::exchange(dismissed_, true)) ranks_->dismiss();
}

void do_pieces(PlanRanks* ranks, std::size_t pieces, int threads, const PlanWork& work) {
  if (ranks != nullptr) return ranks->do_all(pieces, threads, work);
  for_each_index(pieces, threads_for(pieces, threads), work.here);
}

}  // namespace debubble
