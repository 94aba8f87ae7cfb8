// Schedules, their tables, and the clusters they run on. Rows of docs/errors.md.
#include <array>

#include "tools/explain/error_table.hpp"

namespace debubble {

namespace {

constexpr std::array<ErrorRow, 23> kSchedules{{
    {"M007", "a transform that cannot be applied to this schedule", "choose another schedule or another transform"},
    {"M008", "the schedule has already what the transform would add",
     "leave the transform out, or say everything in one"},
    {"M014", "a transform that would change nothing", "give it work, or leave it out"},
    {"M030", "a finding: a transform raised a schedule above the `memory_limit` it was planned for",
     "lower the limit, or apply the transform without one"},
    {"S001", "no such schedule", "`debubble list schedules` shows what exists"},
    {"S002", "a parameter that the schedule does not have", "`debubble list schedules NAME` shows its parameters"},
    {"S003", "too few devices", "use at least as many as the message says"},
    {"S004", "too few microbatches", "use at least as many as the message says"},
    {"S005", "a number of stages per device that the schedule cannot have",
     "use one of the values of --chunks in the message"},
    {"S006", "a parameter that is not a number, or is out of its range",
     "use a value in the range that the message names"},
    {"S007", "a parameter that is not one of its words", "use one of the words in the message"},
    {"S009", "a number of microbatches that the schedule cannot divide",
     "use the nearest number that fits, as in the message"},
    {"S011", "a number of devices that the schedule cannot use: odd, too small, or not divisible",
     "use a number that fits, as in the message"},
    {"S015", "too many ops", "use fewer microbatches, devices or stages"},
    {"S016", "a group or a number of slices with which the order deadlocks",
     "use a larger group, or the number in the message"},
    {"S020", "a note: what a framework refuses, what is not charged, what was planned",
     "nothing has to be done; it does not change the exit status"},
    {"S042", "a memory limit with which the schedule cannot work", "use at least the limit in the message"},
    {"S044", "fewer microbatches than the order needs", "use at least as many as the message says"},
    {"S061", "not a list of numbers", "write it like the example in the message"},
    {"S062", "a list that does not add up to, or does not match, the devices",
     "give one number for each device, or numbers that add up to them"},
    {"S063", "too many routes, slices, layers or pieces of work to be planned in reasonable time", "use fewer of them"},
    {"S073", "a number of slices or tokens that cannot be cut or planned", "use fewer slices, or more tokens"},
    {"S075", "parameters that contradict or repeat each other, or one that needs another",
     "leave one out, or add what the message names"},
}};

constexpr std::array<ErrorRow, 20> kScheduleTables{{
    {"J021", "a node or field of a node list that a schedule of compute cannot hold",
     "remove it, or export the list without transfers"},
    {"J030", "a malformed pipeline layout", "correct the character at the position in the message"},
    {"J034", "a pipeline layout that does not fit the profile or the pipeline",
     "make its layers and stages those of the profile and the pipeline"},
    {"T001", "the parts of a schedule disagree", "make rows, stages and placement agree"},
    {"T002", "a number in a schedule is out of range", "use stages, microbatches and slices that the schedule has"},
    {"T003", "an op, a transfer or a copy appears twice", "remove one"},
    {"T004", "an op is missing: a forward, a backward or half of one",
     "add it: each microbatch needs F and B, or I and W, of every stage"},
    {"T007", "a backward that is both whole and split", "keep B, or I and W"},
    {"T008", "an op or a transfer on another device than its stage", "move it to the row of its stage's device"},
    {"T009", "an op that needs one later in its row", "change the order of the row"},
    {"T010", "a malformed overlapped pair", "pair two ops that do not need each other"},
    {"T011", "a deadlock: rows, transfers or copies that wait for each other",
     "change the order of one of the rows in the message"},
    {"T024", "a cell that is not an action", "write <stage><F, B, I or W><microbatch>, such as 3F12"},
    {"T030", "a stage or microbatch number is skipped", "number them from 0 without gaps"},
    {"T040", "a transfer or collective of something that computes nothing, or in a place where it has no meaning",
     "remove it"},
    {"T045", "sends and receives that do not match", "give every send its receive, in the same order on both devices"},
    {"T054", "the schedule or run has something that the wanted format or runtime cannot express",
     "choose another format: debubble.schedule/1 holds every schedule"},
    {"T071", "shares of a microbatch's pieces that are impossible", "give positive shares that add up to 1"},
    {"T072", "a split output layer with a missing or extra shard, without its barriers, or with several replicas",
     "give every device its shards and barriers"},
    {"T074", "a copy of an activation that does not match: of an op elsewhere, to nowhere, without its copy back",
     "copy out and back on the device that runs the op"},
}};

constexpr std::array<ErrorRow, 11> kClusters{{
    {"B001", "a topology's number of units, or a parameter of it, is missing or invalid",
     "write it like the example in the message"},
    {"B008", "a link that the topology does not have",
     "name a link that exists; `debubble list topologies NAME` describes them"},
    {"B015", "not an order of tp, cp, dp and pp, or not a list of the cluster's GPUs", "name each exactly once"},
    {"B017", "more ranks than GPUs", "use one of the sizes that fit, as in the message"},
    {"B028", "nodes and links that do not form a network in which all GPUs reach each other",
     "correct the node or link that the message names"},
    {"B030", "a collective algorithm that does not fit its group", "choose another algorithm or group size"},
    {"B050", "no way to run the job on so many GPUs has what `--fix` and `--only` ask for",
     "leave one of tp, cp, pp, dp and the microbatch open, or change --gpus or --global-batch"},
    {"O004", "`--slow` names a device, stage or replica that the run does not have", "count from 0"},
    {"O005", "a list of `--slow` with another number of factors", "give one factor for each"},
    {"O030", "a run file of `--slow` that does not tell how fast its devices are",
     "take a run with measured iterations, of the job that is asked about"},
    {"O024", "a change that changes nothing", "give a factor other than 1, or leave it out"},
}};

constexpr std::array<ErrorRow, 3> kPlanners{{
    {"Z001", "a job that no planner can be asked about: no layers or devices, or levels that do not make them up",
     "correct what the message names; all of the job's faults are shown at once"},
    {"Z002", "no plan of this planner fits the devices' memory", "do what the message says, or ask another planner"},
    {"Z003", "a job that this planner does not decide, or a decision that is not a partition of layers",
     "do what the message says, or ask another planner: `debubble list planners`"},
}};

constexpr std::array<ErrorFamily, 4> kScheduleFamilies{{
    {"what is asked of a schedule", kSchedules},
    {"schedule tables and files", kScheduleTables},
    {"clusters, links and variations", kClusters},
    {"planners", kPlanners},
}};

}  // namespace

std::span<const ErrorFamily> error_families_of_schedules() { return kScheduleFamilies; }

}  // namespace debubble
