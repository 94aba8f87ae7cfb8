#include "live/mpi/watch.hpp"

#include <algorithm>
#include <utility>

namespace debubble::live {

namespace {

LetterWriter standing_letter(std::int64_t news, const Standing& standing) {
  LetterWriter letter;
  letter.number(news);
  write(letter, standing);
  return letter;
}

}  // namespace

Watch::Watch(MessagePassing& passing, ControlLine& line, Mailbox& mailbox, Nanoseconds patience)
    : passing_(passing),
      line_(line),
      mailbox_(mailbox),
      patience_(patience),
      ranks_(static_cast<std::size_t>(passing.size()), News::kMoving),
      standings_(static_cast<std::size_t>(passing.size())) {}

std::optional<Outcome> Watch::turn() {
  look_at_own_work();
  while (!outcome_.has_value()) {  // what follows an outcome belongs to the next phase
    std::optional<ControlLine::Mail> mail = line_.next();
    if (!mail.has_value()) break;
    read(std::move(*mail));
  }
  return outcome_;
}

void Watch::look_at_own_work() {
  if (told_ == News::kEnded || told_ == News::kFailed) return;
  if (mailbox_.has_ended()) return tell(News::kEnded);
  const auto since = mailbox_.waiting_since();
  const bool stuck = since.has_value() && std::chrono::steady_clock::now() - *since > patience_;
  const News now = stuck ? News::kStuck : News::kMoving;
  if (now != told_) tell(now);
}

void Watch::tell(News news) {
  told_ = news;
  if (passing_.rank() == 0) return take(0, news, mailbox_.standing());
  line_.send(0, standing_letter(static_cast<std::int64_t>(news), mailbox_.standing()));
}

void Watch::failed(const Failure& failure) {
  told_ = News::kFailed;
  if (passing_.rank() == 0) return decide({Outcome::Kind::kFailed, standings_, failure});
  LetterWriter letter = standing_letter(static_cast<std::int64_t>(News::kFailed), mailbox_.standing());
  write(letter, failure);
  line_.send(0, letter);
}

bool Watch::nobody_moves() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [](News n) { return n == News::kEnded || n == News::kStuck; });
}

void Watch::take(int rank, News news, const Standing& standing) {
  ranks_[static_cast<std::size_t>(rank)] = news;
  standings_[static_cast<std::size_t>(rank)] = standing;
  if (answers_.has_value() || !nobody_moves()) return;
  if (std::find(ranks_.begin(), ranks_.end(), News::kStuck) == ranks_.end()) {
    return decide({Outcome::Kind::kComplete, standings_, {}});
  }
  ask_all();
}

void Watch::ask_all() {
  answers_ = 0;
  line_.send_to_all_others(standing_letter(static_cast<std::int64_t>(News::kQuestion), {}));
  if (passing_.size() == 1) decide({Outcome::Kind::kStalled, standings_, {}});
}

void Watch::answer() {
  look_at_own_work();
  LetterWriter letter = standing_letter(static_cast<std::int64_t>(News::kAnswer), mailbox_.standing());
  letter.number(static_cast<std::int64_t>(told_));
  line_.send(0, letter);
}

void Watch::read(ControlLine::Mail mail) {
  News news{};
  mail.letter.into(news);
  if (news == News::kOutcome) return read_outcome(mail.letter);
  const Standing standing = read_standing(mail.letter);
  if (news == News::kQuestion) return answer();
  if (news == News::kFailed) return failed(read_failure(mail.letter));
  if (news != News::kAnswer) return take(mail.from, news, standing);
  mail.letter.into(ranks_[static_cast<std::size_t>(mail.from)]);
  standings_[static_cast<std::size_t>(mail.from)] = standing;
  if (++*answers_ < passing_.size() - 1) return;
  look_at_own_work();
  answers_.reset();
  if (!nobody_moves()) return;
  const bool stuck = std::find(ranks_.begin(), ranks_.end(), News::kStuck) != ranks_.end();
  decide({stuck ? Outcome::Kind::kStalled : Outcome::Kind::kComplete, standings_, {}});
}

void Watch::read_outcome(LetterReader& letter) {
  Outcome outcome;
  letter.into(outcome.kind);
  for (int rank = 0; rank < passing_.size(); ++rank) outcome.standings.push_back(read_standing(letter));
  outcome.failure = read_failure(letter);
  outcome_ = std::move(outcome);
}

// A goodbye is a rank's last letter, and it comes behind all others.
void Watch::part() {
  if (passing_.rank() == 0) {
    for (int left = passing_.size() - 1; left > 0;) {
      News news{};
      line_.wait().letter.into(news);
      if (news == News::kGoodbye) --left;
    }
  } else {
    line_.send(0, standing_letter(static_cast<std::int64_t>(News::kGoodbye), {}));
  }
  line_.flush();
}

// Rank 0 only; the first decision counts.
void Watch::decide(Outcome outcome) {
  if (outcome_.has_value()) return;
  outcome_ = std::move(outcome);
  LetterWriter letter;
  letter.number(static_cast<std::int64_t>(News::kOutcome)).number(static_cast<std::int64_t>(outcome_->kind));
  for (const Standing& standing : outcome_->standings) write(letter, standing);
  write(letter, outcome_->failure);
  line_.send_to_all_others(letter);
}

}  // namespace debubble::live
