#include "formats/importers/recovery/find_ops.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "formats/importers/imported_run.hpp"

namespace debubble {
namespace {

using Kind = RangeMeaning::Kind;

// A piece of an op, or what ends a row of pieces.
struct OpPiece {
  enum class What : std::uint8_t { kForward, kBackward, kEnd };
  What what = What::kEnd;
  bool whole = false;  // a range that names the whole op
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  std::int32_t microbatch = -1;
  std::uint32_t lane = 0;
};

class OpFinder {
 public:
  explicit OpFinder(const RankEvents& events) : events_(events) {
    for (const MeantRange& range : events.ranges) {
      found_.forward_named |= range.meaning.kind == Kind::kForward;
      found_.backward_named |= range.meaning.kind == Kind::kBackward;
      if (range.meaning.kind != Kind::kNode || range.sequence < 0) continue;
      made_.insert(range.sequence);
    }
    found_.by_sequence = !made_.empty();
  }

  FoundOps find() {
    collect();
    join();
    if (found_.by_sequence) match_backwards();
    bound();
    return std::move(found_);
  }

 private:
  using Makers = std::map<std::pair<std::uint32_t, std::int64_t>, const HostOp*>;  // by thread and number

  void collect() {
    for (const MeantRange& range : events_.ranges) {
      switch (range.meaning.kind) {
        case Kind::kForward:
          named(range, OpPiece::What::kForward);
          break;
        case Kind::kBackward:
          named(range, OpPiece::What::kBackward);
          break;
        case Kind::kNode:
          if (!found_.backward_named) {
            pieces_.push_back({OpPiece::What::kBackward, false, range.begin, range.end, -1, range.lane});
          }
          break;
        case Kind::kOptimizer:
          optimizer_.push_back({OpPiece::What::kEnd, false, range.begin, range.end, -1});
          pieces_.push_back(optimizer_.back());
          break;
        case Kind::kDirected:
        case Kind::kTransfer:
          pieces_.push_back({OpPiece::What::kEnd, false, range.begin, range.begin, -1});
          break;
        case Kind::kNone:
        case Kind::kCollective:
        case Kind::kIteration:
          break;
      }
    }
    for (const LaunchedWork& work : events_.work) {
      if (work.kind != LaunchedWork::Kind::kSendRecv) continue;
      pieces_.push_back({OpPiece::What::kEnd, false, work.launched, work.launched, -1});
    }
    if (!found_.forward_named) collect_forwards();
    std::stable_sort(pieces_.begin(), pieces_.end(),
                     [](const OpPiece& a, const OpPiece& b) { return a.begin < b.begin; });
  }

  // A range within one of its kind (forward_step in forward_step_helper) is part of it.
  void named(const MeantRange& range, OpPiece::What what) {
    Nanoseconds& open = what == OpPiece::What::kForward ? forward_until_ : backward_until_;
    if (range.end <= open) return;
    open = range.end;
    pieces_.push_back({what, true, range.begin, range.end, range.meaning.microbatch, range.lane});
  }

  void collect_forwards() {
    Makers makers;
    for (const HostOp& op : events_.ops) {
      if (op.sequence >= 0 && made_.contains(op.sequence)) makers[{op.lane, op.sequence}] = &op;
    }
    auto optimizer = optimizer_.begin();
    for (const HostOp& op : events_.ops) {
      while (optimizer != optimizer_.end() && optimizer->end <= op.begin) ++optimizer;
      if (optimizer != optimizer_.end() && optimizer->begin <= op.begin) continue;
      const bool makes_node = found_.by_sequence
                                  ? is_maker(makers, op)
                                  : std::binary_search(events_.nodes.begin(), events_.nodes.end(), op.word);
      if (makes_node) pieces_.push_back({OpPiece::What::kForward, false, op.begin, op.end, -1, op.lane});
    }
  }

  // The last op with a number, or one that holds it.
  static bool is_maker(const Makers& makers, const HostOp& op) {
    const auto maker = makers.find({op.lane, op.sequence});
    return maker != makers.end() && maker->second->end <= op.end;
  }

  // What begins within a piece is part of it: ops of a backward run in its nodes.
  void join() {
    Nanoseconds until = std::numeric_limits<Nanoseconds>::min();
    bool open = false;  // the last op may grow
    for (const OpPiece& piece : pieces_) {
      if (piece.what == OpPiece::What::kEnd) {
        if (piece.begin >= until) open = false;
        continue;
      }
      if (piece.begin < until || is_rounded_out(piece, until)) continue;
      until = piece.end;
      const OpKind kind = piece.what == OpPiece::What::kForward ? OpKind::kForward : OpKind::kBackward;
      if (open && !piece.whole && found_.ops.back().kind == kind) {
        found_.ops.back().end = std::max(found_.ops.back().end, piece.end);
        continue;
      }
      found_.ops.push_back({.kind = kind,
                            .begin = piece.begin,
                            .end = piece.end,
                            .microbatch = piece.microbatch,
                            .lane = piece.lane,
                            .named = piece.whole});
      open = !piece.whole;
    }
  }

  // In whole microseconds an op within a node may begin where that ends.
  [[nodiscard]] bool is_rounded_out(const OpPiece& piece, Nanoseconds until) const {
    return piece.what == OpPiece::What::kForward && !piece.whole && !found_.ops.empty() &&
           found_.ops.back().kind == OpKind::kBackward && piece.begin <= until + kRangeRounding;
  }

  // Without kernels: from the begin of the work to its end, with what made no node. The last stage's forwards, after
  // which nothing is sent, end where the loss begins.
  void bound() {
    if (!events_.work.empty()) return;
    std::vector<ThreadOp> times;
    const bool last_stage = !sends_activations();
    for (const FoundOp& op : found_.ops) {
      const bool forward = op.kind == OpKind::kForward;
      times.push_back({op.begin, op.end, op.lane, forward, op.named, forward && !op.named && last_stage});
    }
    events_.host.bound(times);
    for (std::size_t k = 0; k < times.size(); ++k) {
      found_.ops[k].begin = times[k].begin;
      found_.ops[k].end = times[k].end;
      found_.ops[k].held_until = times[k].held_until;
    }
  }

  [[nodiscard]] bool sends_activations() const {
    return std::any_of(events_.ranges.begin(), events_.ranges.end(), [&](const MeantRange& range) {
      if (range.meaning.kind != Kind::kTransfer || (range.meaning.ends & kSends) == 0) return false;
      const auto behind = std::upper_bound(found_.ops.begin(), found_.ops.end(), range.begin,
                                           [](Nanoseconds time, const FoundOp& op) { return time < op.begin; });
      return behind != found_.ops.begin() && std::prev(behind)->kind == OpKind::kForward;
    });
  }

  // The op in which a time lies; -1: none.
  [[nodiscard]] std::int32_t op_at(Nanoseconds time) const {
    const auto behind = std::upper_bound(found_.ops.begin(), found_.ops.end(), time,
                                         [](Nanoseconds value, const FoundOp& op) { return value < op.begin; });
    if (behind == found_.ops.begin() || time >= std::prev(behind)->end) return -1;
    return static_cast<std::int32_t>(std::prev(behind) - found_.ops.begin());
  }

  // Nodes have the number of the op that made them: most of a backward's nodes say which forward it belongs to.
  void match_backwards() {
    std::unordered_map<std::int64_t, std::int32_t> maker;  // by sequence number
    for (const HostOp& op : events_.ops) {
      const std::int32_t place = op.sequence < 0 ? -1 : op_at(op.begin);
      if (place < 0 || found_.ops[static_cast<std::size_t>(place)].kind != OpKind::kForward) continue;
      maker[op.sequence] = place;
    }
    std::map<std::int32_t, std::map<std::int32_t, int>> votes;  // by backward
    for (const MeantRange& range : events_.ranges) {
      if (range.meaning.kind != Kind::kNode) continue;
      const auto made = maker.find(range.sequence);
      const std::int32_t place = made == maker.end() ? -1 : op_at(range.begin);
      if (place >= 0) ++votes[place][made->second];
    }
    for (const auto& [place, forwards] : votes) {
      FoundOp& op = found_.ops[static_cast<std::size_t>(place)];
      const auto most = std::max_element(forwards.begin(), forwards.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
      if (op.kind == OpKind::kBackward && most->first < place) op.of_forward = most->first;
    }
  }

  const RankEvents& events_;
  std::unordered_set<std::int64_t> made_;  // sequence numbers of nodes
  std::vector<OpPiece> pieces_;
  std::vector<OpPiece> optimizer_;
  Nanoseconds forward_until_ = std::numeric_limits<Nanoseconds>::min();
  Nanoseconds backward_until_ = std::numeric_limits<Nanoseconds>::min();
  FoundOps found_;
};

}  // namespace

FoundOps find_ops(const RankEvents& events) { return OpFinder(events).find(); }

}  // namespace debubble
