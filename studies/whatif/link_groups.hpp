// LinkGroups: the links of a cluster that a run uses, those of one part in it taken together. The eight network cards
// through which eight tensor ranks hand a stage's output on are one group: a derivative of one of them alone says
// little, since all wait for the slowest.
//
// Links are of one group where they have the same kind of name (digits aside, and the two directions of a link alike),
// the same figures, and carry the same things: transfers between the same devices of the pipeline, the same tasks of
// the step, collectives inside the same stages; of all replicas of the pipeline together. Where that leaves too many
// groups to look at each, those of one machine, or of one kind, go together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "scenario/job/job.hpp"
#include "sim/engine/program.hpp"
#include "studies/whatif/follow_links.hpp"

namespace debubble {

struct LinkGroup {
  std::vector<std::int32_t> links;  // ascending
  std::string name;                 // "nic0>rail0", "nic0-7>rail0-7", "gpu0-7<>nvswitch0"
  std::int32_t carries = -1;        // groups with the same number carry the same things, in each replica
  bool inside = false;              // collectives inside stages take it
  bool never_tight = false;         // another group carries the same over less bandwidth: its own makes no difference
};

class LinkGroups {
 public:
  // The run must be over a cluster's graph; on ideal links there are no groups.
  LinkGroups(const Job& job, const Program& program, const LinkFollower& follower);

  [[nodiscard]] const std::vector<LinkGroup>& groups() const { return groups_; }
  // By link: its group; -1: the run does not use it. Empty on ideal links.
  [[nodiscard]] const std::vector<std::int32_t>& group_of() const { return group_of_; }

 private:
  // Something that a link carries, and how much of it; `what` is a number of this class.
  struct Use {
    std::int64_t what = 0;
    double weight = 0;
    std::int32_t replica = 0;

    friend bool operator<(const Use& a, const Use& b) {
      return std::tie(a.what, a.weight, a.replica) < std::tie(b.what, b.weight, b.replica);
    }
  };
  static constexpr std::size_t kMost = 64;

  void find_uses(const Job& job, const Program& program, const LinkFollower& follower);
  void number_uses();
  template <typename Key>
  void group_by(const Key& key);
  void describe(const LinkGraph& graph);
  void find_loose(const Job& job);

  std::vector<std::vector<Use>> uses_;  // by link
  std::vector<std::int32_t> role_;      // by link: what it carries, whichever replica's, numbered; -1: nothing
  std::vector<std::int32_t> carries_;   // by link: the same, replica by replica
  std::vector<bool> inside_;            // by link
  std::vector<LinkGroup> groups_;
  std::vector<std::int32_t> group_of_;
};

// "nic0-7>rail0-7": names that differ in their numbers only; "nic0..56" where numbers in between are missing.
[[nodiscard]] std::string common_name(const std::vector<std::string>& names);

}  // namespace debubble
