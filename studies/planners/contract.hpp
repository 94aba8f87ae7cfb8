// What every planner of the catalog promises, and what it answers.
//
// A planner is a pure function from a PlannerJob to a PlannerDecision. It decides by its own objective and cost model,
// not by ours: what its decision is worth is found out by simulating it. No randomness but from a parameter `seed`;
// ties are broken openly, as each file says.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "schedules/common/contract.hpp"
#include "studies/planners/job.hpp"

namespace debubble {

// Consecutive layers [begin, end) on `replicas` devices, each of which takes 1/replicas of the work.
struct PlannerStage {
  int begin = 0;
  int end = 0;
  int replicas = 1;
  std::vector<int> devices;  // ids; empty: the planner does not say which

  friend bool operator==(const PlannerStage&, const PlannerStage&) = default;
};

struct PlannerDecision {
  std::string planner;
  bool as_published = false;
  std::vector<PlannerStage> stages;  // in model order; empty where the planner decides other things than stages
  double predicted = 0;              // by the planner's own cost model
  std::string unit;                  // of `predicted`: "ns per microbatch", "times one device", ...
  std::vector<std::pair<std::string, std::string>> choices;  // what it decides beside stages: ("recompute", "yes")
  std::vector<std::string> notes;                            // one sentence each
};

struct PlannerRequest {
  bool as_published = false;  // with the faults of the original, where it has any
  std::map<std::string, std::string> params;
};

// How sure we are that a row is the algorithm of that name.
enum class PlannerCertainty {
  kVerified,  // decisions of the authors' program come out of ours, in tests
  kDerived,   // built from the published description; tested against brute force or closed forms
  kRecalled,  // the description was not at hand: the rule is ours after what is known of it, and tested as such
};
[[nodiscard]] const char* to_string(PlannerCertainty certainty);  // "verified", "derived", "recalled"

struct PlannerEntry {
  std::string name;
  std::string summary;     // one line, for lists
  std::string objective;   // what it minimises or maximises
  std::string cost_model;  // how it computes that
  std::string assumes;     // what must hold for its answer to mean something
  std::string published;   // decisions that its authors print or ship; "none known to us"
  std::string faults;      // of the original, which as_published keeps; empty: none known, both decisions are the same
  PlannerCertainty certainty = PlannerCertainty::kRecalled;
  std::string certainty_note;  // one sentence: against what it was tested, or what is not known
  std::vector<ParamSpec> params;
  std::string advice;  // one or two sentences: when to ask it
  std::string citation;
  PlannerDecision (*decide)(const PlannerJob&, const PlannerRequest&) = nullptr;
  bool cuts_only = false;  // how many stages there are, and replicas of each, is not its question: one device per stage
};

// Those that have nothing but their row.
[[nodiscard]] const PlannerEntry& even_planner();
[[nodiscard]] const PlannerEntry& megatron_planner();
[[nodiscard]] const PlannerEntry& deepspeed_planner();
[[nodiscard]] const PlannerEntry& debubble_planner();
[[nodiscard]] const PlannerEntry& pipeedge_planner();

}  // namespace debubble
