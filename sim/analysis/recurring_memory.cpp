#include "sim/analysis/recurring_memory.hpp"

#include <algorithm>

namespace debubble {

bool RecurringMemory::change(const HeldThing& thing, Bytes bytes) {
  if (follows_) {
    const Made next = expected();
    if (next.thing == thing && next.bytes == bytes) {
      if (++place_ == made_.size()) place_ = 0, ++rounds_;
      return true;
    }
    stop_following();
  }
  if (!memory_.change(thing, bytes)) return false;
  learn(thing, bytes);
  return true;
}

// The change of the last period at this place, a period later.
RecurringMemory::Made RecurringMemory::expected() const {
  Made made = made_[place_];
  made.thing.piece += shift_ * (rounds_ + 1);
  return made;
}

void RecurringMemory::stop_following() {
  memory_.shift(shift_ * rounds_);
  const std::size_t so_far = place_;
  for (place_ = 0; place_ < so_far; ++place_) {
    const Made again = expected();
    static_cast<void>(memory_.change(again.thing, again.bytes));  // it fitted before
  }
  follows_ = false;
  has_snapshot_ = false;
  made_.clear();
}

void RecurringMemory::learn(const HeldThing& thing, Bytes bytes) {
  made_.push_back({thing, bytes});
  if (has_snapshot_ && bytes == last_.bytes && thing.what == last_.thing.what && thing.stage == last_.thing.stage &&
      thing.piece > last_.thing.piece && memory_.allocated() == allocated_ && memory_.state(thing.piece) == snapshot_) {
    follows_ = true;
    shift_ = thing.piece - last_.thing.piece;
    rounds_ = 0;
    place_ = 0;
    return;
  }
  if (made_.size() >= patience_) take_snapshot();
}

// Ever rarer, so that any period is short enough some time, and few are taken where there is none.
void RecurringMemory::take_snapshot() {
  constexpr std::size_t kMostPatience = std::size_t{1} << 16;
  last_ = made_.back();
  snapshot_ = memory_.state(last_.thing.piece);
  allocated_ = memory_.allocated();
  has_snapshot_ = true;
  made_.clear();
  patience_ = std::min(2 * patience_, kMostPatience);
}

}  // namespace debubble
