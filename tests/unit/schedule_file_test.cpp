// Schedules in our own JSON and as the zero-bubble authors' node list: what is written is read back, and runs the same.
#include "formats/schedule/schedule_file.hpp"
#include "formats/schedule/node_list.hpp"
#include "schedules/catalog.hpp"
#include "schedules/exchange/comms_lowering.hpp"
#include "schedules/exchange/comms_table.hpp"
#include "schedules/exchange/compute_table.hpp"
#include "schedules/exchange/expressible.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/rows/check.hpp"
#include "tests/support/catalog_requests.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

std::string native_text(const Schedule& schedule) {
  std::string text;
  write_schedule_file(schedule, [&](std::string_view piece) { text += piece; });
  return text;
}

std::string node_text(const Schedule& schedule, const Timeline& timeline) {
  std::string text;
  write_node_list(schedule, timeline, [&](std::string_view piece) { text += piece; });
  return text;
}

// Every number that a run of the schedule with these costs has, as text; "" when it deadlocks.
std::string replay(const Schedule& schedule, const StageCosts& costs) {
  const Topology links = Topology::ideal(1234, 1'000'000'007);
  const auto lowered = lower(schedule, P2p::kOverlapped);
  const auto* program = std::get_if<Program>(&lowered);
  if (program == nullptr) return "";
  const Totals totals = simulate_totals(*program, costs, links);
  std::string text = std::to_string(totals.makespan);
  for (const DeviceTotals& device : totals.devices) text += " " + std::to_string(device.busy);
  const Timeline timeline = simulate(*program, schedule, costs, links);
  for (const Span& span : timeline.spans) text += " " + std::to_string(span.begin) + "-" + std::to_string(span.end);
  for (const CopySpan& copy : timeline.copies)
    text += " " + std::to_string(copy.begin) + "-" + std::to_string(copy.end);
  return text;
}

Timeline timeline_of(const Schedule& schedule, const StageCosts& costs) {
  return simulate(std::get<Program>(lower(schedule, P2p::kOverlapped)), schedule, costs, Topology::ideal(0, 0));
}

void check_same(const Schedule& back, const Schedule& schedule) {
  CHECK(back.rows == schedule.rows);
  CHECK(back.placement == schedule.placement);
  CHECK(back.replica_of == schedule.replica_of);
  CHECK(back.stages == schedule.stages);
  CHECK(back.sliced == schedule.sliced);
  CHECK(back.pieces == schedule.pieces);
}

// A few requests of every row: the first legal ones, and some in between.
template <typename Use>
void for_some_of_every_row(const Use& use) {
  for (const ScheduleEntry& entry : schedule_catalog()) {
    const std::vector<Schedule> schedules = testing::schedules_of(entry);
    REQUIRE(!schedules.empty());
    for (std::size_t k = 0; k < schedules.size(); k += 1 + schedules.size() / 8) {
      CAPTURE(testing::describe(schedules[k]));
      testing::Dice dice(k);
      use(schedules[k], testing::random_costs(schedules[k].stages, dice));
    }
  }
}

TEST_CASE("our own file keeps every schedule whole, and it replays to the nanosecond") {
  for_some_of_every_row([](const Schedule& schedule, const StageCosts& costs) {
    const std::string text = native_text(schedule);
    const Schedule back = read_schedule_text(text, "s.json");
    check_same(back, schedule);
    CHECK(native_text(back) == text);
    CHECK(back.name == schedule.name);
    CHECK(back.copies == schedule.copies);
    CHECK(back.asynchrony == schedule.asynchrony);
    CHECK(back.piece_shares == schedule.piece_shares);
    CHECK(back.pairs_run_side_by_side == schedule.pairs_run_side_by_side);
    CHECK(back.replicas_share_weights == schedule.replicas_share_weights);
    CHECK(replay(back, costs) == replay(schedule, costs));
  });
}

TEST_CASE("PyTorch's tables replay to the nanosecond, wherever they can say the schedule") {
  int tables = 0;
  for_some_of_every_row([&](const Schedule& schedule, const StageCosts& costs) {
    if (!not_expressible(schedule, ExchangeFormat::kPytorchTable).empty() || schedule.pieces > 1) return;
    const Schedule back = read_schedule_text(write_compute_table(schedule), "s.csv");
    CHECK(back.rows == schedule.rows);
    CHECK(replay(back, costs) == replay(schedule, costs));
    ++tables;
    if (schedule.placement.replicas() > 1) return;
    const Schedule comms = read_schedule_text(write_action_table(lower_as_pytorch(schedule, "")), "s.csv");
    CHECK(comms.rows == schedule.rows);
    CHECK(comms.notes.empty());
    CHECK(replay(comms, costs) == replay(schedule, costs));
  });
  CHECK(tables > 20);
}

TEST_CASE("the node list replays to the nanosecond, wherever it can say the schedule") {
  int lists = 0;
  for_some_of_every_row([&](const Schedule& schedule, const StageCosts& costs) {
    if (!not_expressible(schedule, ExchangeFormat::kNodeList).empty()) return;
    const std::string text = node_text(schedule, timeline_of(schedule, costs));
    const Schedule back = read_schedule_text(text, "nodes.json");
    check_same(back, schedule);
    CHECK(replay(back, costs) == replay(schedule, costs));
    ++lists;
  });
  CHECK(lists > 20);
}

Schedule with_everything() {
  Schedule schedule = build_schedule("1f1b", {2, 2, 0, {}});
  schedule.copies = {{{Copy::Way::kOut, 0, 1, -1, -1}, {Copy::Way::kBack, 0, 1, -1, 2}}, {}};
  schedule.asynchrony = Asynchrony{Asynchrony::Versions::kPredicted, 2, 1, true};
  schedule.replicas_share_weights = true;
  schedule.pairs_run_side_by_side = true;
  schedule.piece_shares = {5};
  schedule.notes = {"a note"};
  return schedule;
}

TEST_CASE("what few schedules have is written and read") {
  const Schedule schedule = with_everything();
  const std::string text = native_text(schedule);
  CHECK(text.find(R"("0OUT1,0BACK1@2")") != std::string::npos);
  const Schedule back = read_schedule_text(text, "s.json");
  CHECK(back.copies == schedule.copies);
  CHECK(back.asynchrony == schedule.asynchrony);
  CHECK(back.replicas_share_weights);
  CHECK(back.pairs_run_side_by_side);
  CHECK(back.piece_shares == schedule.piece_shares);
  CHECK(back.notes == schedule.notes);
}

TEST_CASE("what is wrong with a schedule file is said with its place") {
  const std::string good = native_text(with_everything());
  const auto complaint = [&](const std::string& from, const std::string& to) {
    return problems_of([&] { (void)read_schedule_text(replaced(good, from, to), "s.json"); });
  };
  CHECK(complaint("0BACK1@2", "0BACK1@")
            .find("error[T024]: \"0BACK1@\" is not a copy of an activation\n"
                  "  --> s.json#/schedule/copies/0") == 0);
  CHECK(complaint("\"predicted\"", "\"guessed\"").find("error[P011]: \"versions\" must be one of") == 0);
  CHECK(complaint("debubble.schedule/1", "debubble.run/1").find("error[P010]") == 0);
  CHECK(complaint("\"replicas_share_weights\": true", "\"replicas_share_weights\": 1").find("error[P007]") == 0);
  CHECK(complaint("\"pairs_run_side_by_side\"", "\"pairs_run_side\"").find("error[P005]: unknown key") == 0);
  CHECK(complaint("\"piece_shares\": [5]", "\"piece_shares\": [5,5]").find("error[P012]") == 0);
  CHECK(problems_of([] { (void)read_schedule_text("{", "s.json"); }).find("error[P001]") == 0);
}

TEST_CASE("times of nodes are whole microseconds of the run") {
  const Schedule schedule = build_schedule("zb-h1", {2, 2, 0, {}});
  StageCosts costs;
  costs.stages.assign(2, {});
  for (StageCost& cost : costs.stages) cost.forward = cost.input_grad = cost.weight_grad = 1'000'000;
  const std::string text = node_text(schedule, timeline_of(schedule, costs));
  CHECK(contains(text,
                 R"({"type": "F", "stage": 1, "microbatch": 0, "chunk": 0, "seq_split_idx": 0, "layer_group_idx": 1, )"
                 R"("start_time": 1000, "completion_time": 2000, "recv_peer_stage": 0, "send_peer_stage": null, )"
                 R"("comm_direction": null, "comm_peer_stage": null, "comm_pair_id": null, "rollback": false, )"
                 R"("need_recompute": false, "should_offload": false})"));
}

// One device, one microbatch, in the fewest words.
const std::string kNodes =
    R"([[{"type": "F", "stage": 0, "microbatch": 0}, {"type": "B", "stage": 0, "microbatch": 0},)"
    R"( {"type": "W", "stage": 0, "microbatch": 0}]])";

std::string node_complaint(const std::string& from, const std::string& to) {
  return problems_of([&] { (void)read_schedule_text(replaced(kNodes, from, to), "n.json"); });
}

TEST_CASE("a node list in the fewest words is read") {
  const Schedule schedule = read_schedule_text(kNodes, "n.json");
  CHECK(write_compute_table(schedule) == "0F0,0I0,0W0\n");
  CHECK(schedule.name == "n.json");
  CHECK(schedule.notes.empty());
}

TEST_CASE("nodes that are no compute are refused, and so is what compute cannot honour") {
  const std::string node = R"({"type": "W", "stage": 0, "microbatch": 0})";
  CHECK(node_complaint("\"W\"", "\"SEND_FORWARD\"")
            .find("error[J021]: SEND_FORWARD is not a compute node\n"
                  "  --> n.json#/0/2/type") == 0);
  CHECK(node_complaint("\"W\"", "\"OFFLOAD_SEND_START\"").find("error[J021]") == 0);
  CHECK(node_complaint("\"W\"", "\"X\"").find("error[P011]: \"X\" is not a type of node") == 0);
  CHECK(node_complaint(node, R"({"type": "W", "stage": 0, "microbatch": 0, "rollback": true})").find("error[J021]") ==
        0);
  CHECK(contains(node_complaint(node, R"({"type": "W", "stage": 0, "microbatch": 0, "comm_pair_id": 3})"), "[J021]"));
  CHECK(contains(node_complaint(node, R"({"type": "W", "stage": 0, "microbatch": 0, "need_recompute": true})"),
                 "[P012]"));
  CHECK(contains(node_complaint(node, R"({"type": "W", "stage": 0, "microbatch": 0, "colour": 1})"), "[P005]"));
}

TEST_CASE("numbers of nodes agree with their lists, and leave no gaps") {
  const std::string node = R"({"type": "W", "stage": 0, "microbatch": 0})";
  const auto instead = [&](const std::string& text) { return node_complaint(node, text); };
  CHECK(instead(R"({"type": "W", "stage": 1, "microbatch": 0})").find("error[T008]") == 0);
  CHECK(instead(R"({"type": "W", "stage": 0, "microbatch": 0, "chunk": 1})").find("error[P012]") == 0);
  CHECK(instead(R"({"type": "W", "stage": 0, "microbatch": 0, "layer_group_idx": 2})").find("error[P012]") == 0);
  CHECK(instead(R"({"type": "W", "stage": 0, "microbatch": 9})").find("error[T030]") == 0);
  CHECK(contains(instead(R"({"type": "W", "stage": 0, "microbatch": 2147483646, "seq_split_idx": 2147483646})"),
                 "[T030]"));
  CHECK(instead(R"({"type": "W", "stage": 0, "microbatch": 1})").find("error[T0") == 0);
}

TEST_CASE("times and peers of nodes are checked") {
  const std::string node = R"({"type": "W", "stage": 0, "microbatch": 0})";
  const auto instead = [&](const std::string& text) { return node_complaint(node, text); };
  const auto times = [](int begin, int end) {
    return R"({"type": "W", "stage": 0, "microbatch": 0, "start_time": )" + std::to_string(begin) +
           ", \"completion_time\": " + std::to_string(end) + "}";
  };
  CHECK(instead(times(3, 2)).find("error[V023]: it completes before it starts") == 0);
  CHECK(instead(R"({"type": "W", "stage": 0, "microbatch": 0, "send_peer_stage": 1})").find("error[T008]") == 0);
  CHECK(read_schedule_text(replaced(kNodes, node, times(2, 3)), "n.json").notes.size() == 1);
}

TEST_CASE("lists that are none") {
  for (const char* text : {"[]", "[1]", "[[]]", "[[1]]", "[{}]"}) {
    CAPTURE(text);
    CHECK(problems_of([&] { (void)read_schedule_text(text, "n.json"); }).find("error[P010]") == 0);
  }
}

}  // namespace
}  // namespace debubble
