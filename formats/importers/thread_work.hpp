// When an op ran on a host, by what its thread did around it: a range also holds waits, and autograd's first and last
// node are not all of it.
//
//     |........PP:1F0.................................|      a range, or from the first to the last node
//      unshard ->|   gloo:recv ->|  .linear...tanh. .detach.
//                                |<----- 1F0 ----->|
//
// - An op begins when the last transfer that ended before its first event has ended, without a range not long before
//   that event. Without such a wait it begins halfway between what came before (the range's begin, a parameter's
//   unsharding, the thread's last event) and it.
// - It ends halfway between its last event and what comes next; a forward where its output is detached to be sent or
//   handed on. Behind autograd's last node a backward's own closing events and collectives belong to it. Where a send
//   ended in that gap the thread may have waited for it: whether, the other end's arrival says (kineto_run.cpp).
// - The last stage's forward ends where the loss begins: behind the longest pause (its median over all forwards) among
//   the events that follow its last op with a parameter, if all its forwards have as many.
//
// Without events in it a range is what it is. All times are of one file's clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/importers/kineto_ranges.hpp"
#include "sim/core/units.hpp"

namespace debubble {

// An op as far as it is known: a range that names it, or the time from its first to its last node.
struct ThreadOp {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  std::uint32_t lane = 0;  // thread
  bool forward = false;
  bool named = false;  // a range
  bool loss = false;   // a forward of the last stage, which the loss follows
  // After bound: when the op ended, if the send whose wait ended between its last event and the next one had not held
  // the thread; 0: there was none.
  Nanoseconds held_until = 0;
};

class ThreadWork {
 public:
  // Whether an event of this name says when a thread was at work; `name` without quotes.
  [[nodiscard]] static bool wants(std::string_view name);
  // `sequence`: autograd's, or -1.
  void add(std::string_view name, std::uint32_t lane, Nanoseconds begin, Nanoseconds end, std::int64_t sequence);
  // Behind the last add.
  void sort();

  // Of one thread and in order of begin: sets begin and end.
  void bound(std::vector<ThreadOp>& ops) const;

  // Of a receive that was posted within this time: when the last of its tensors was there.
  [[nodiscard]] std::optional<Nanoseconds> arrival(Nanoseconds begin, Nanoseconds end) const;

  [[nodiscard]] bool any_node() const { return any_node_; }
  [[nodiscard]] bool any_work() const { return !events_.empty(); }

 private:
  enum class Kind : std::uint8_t { kWork, kNode, kCall, kUnshard, kHandOver, kClosing };
  struct Event {
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
    std::int64_t sequence = -1;
    std::uint32_t lane = 0;
    Kind kind = Kind::kWork;
  };
  using EventPlace = std::vector<Event>::const_iterator;

  [[nodiscard]] static Kind kind_of(std::string_view name);
  void find_parameters();
  [[nodiscard]] EventPlace first_from(std::uint32_t lane, Nanoseconds time) const;
  [[nodiscard]] std::optional<Nanoseconds> last_done(Nanoseconds after, Nanoseconds until) const;
  void bound_named(ThreadOp& op) const;
  void begin_found(ThreadOp& op, Nanoseconds before, Nanoseconds next) const;
  void end_found(ThreadOp& op, Nanoseconds next) const;
  [[nodiscard]] Nanoseconds closed(const ThreadOp& op, Nanoseconds last, Nanoseconds next, EventPlace& at) const;
  void end_at_loss(std::vector<ThreadOp>& ops) const;
  [[nodiscard]] std::vector<TimeRange> behind_parameters(const ThreadOp& op) const;

  std::vector<Event> events_;                  // by lane, then begin, outer ones first
  std::vector<Nanoseconds> done_;              // when what runs beside the threads ended, and let one go on; sorted
  std::vector<TimeRange> received_;            // by begin
  std::vector<TimeRange> collectives_;         // by begin
  std::vector<std::int64_t> with_parameters_;  // sequence numbers of nodes that add to a parameter's gradient; sorted
  bool any_node_ = false;
};

}  // namespace debubble
