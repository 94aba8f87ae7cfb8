// `debubble plan` on what limits a plan: the front of time against memory, and what to do where nothing fits.
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using Json = nlohmann::json;

Words front_of_small(const Words& more) {
  return joined("plan --model gpt2-medium --gpus 4 --global-batch 16 --schedules 1f1b --cp 1 --front", more);
}

// Of the commands here none has a quoted word.
Words arguments_of(const std::string& command) {
  std::istringstream stream(command);
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  REQUIRE(words.front() == "debubble");
  words.erase(words.begin());
  return words;
}

// Where nothing fits: every change that is offered fits when its command is run.
Json checked_changes(const Folder& folder, const Words& job) {
  const Outcome outcome = folder.run(joined(job, "--format json"));
  REQUIRE(outcome.status == 1);
  const Json plan = Json::parse(outcome.out);
  CHECK(plan["changes"].size() <= 4);
  for (const Json& change : plan["changes"]) {
    const auto command = change["command"].get<std::string>();
    CAPTURE(command);
    const Outcome again = folder.run(joined(arguments_of(command), "--format json"));
    REQUIRE(again.status == 0);
    const auto offered = change["run"]["makespan_ns"].get<double>();
    const Json found = Json::parse(again.out);
    double fastest = found["runs"][0]["makespan_ns"].get<double>();  // or one that it passed over, for want of records
    for (const Json& run : found["runs"]) fastest = std::min(fastest, run["makespan_ns"].get<double>());
    CHECK(fastest <= offered / 0.99);
  }
  return plan;
}

Words whats(const Json& plan) {
  Words all;
  for (const Json& change : plan["changes"]) all.push_back(change["what"]);
  return all;
}

TEST_CASE_IN_FOLDER("the front falls in memory as it rises in time, from the best step to the least memory") {
  const Json plan = folder.json(front_of_small("--gap 0"));
  const Json& points = plan["front"]["points"];
  REQUIRE(points.size() > 2);
  CHECK(plan["front"]["proven_to_ns"].is_null());
  CHECK(points.front()["run"]["makespan_ns"] == plan["runs"][0]["makespan_ns"]);
  for (std::size_t k = 1; k < points.size(); ++k) {
    CHECK(points[k]["run"]["makespan_ns"] > points[k - 1]["run"]["makespan_ns"]);
    CHECK(points[k]["run"]["peak_memory_bytes"] < points[k - 1]["run"]["peak_memory_bytes"]);
    CHECK_FALSE(points[k]["changes"].empty());
    CHECK(points[k]["proven"] == true);
  }
  const Json least = folder.json(front_of_small("--gap 0 --objective memory"));
  CHECK(least["runs"][0]["peak_memory_bytes"] == points.back()["run"]["peak_memory_bytes"]);
  CHECK(least["front"]["points"] == points);
}

TEST_CASE_IN_FOLDER("the front is a chart with a table, and CSV has all its points on any number of threads") {
  const Outcome text = folder.run(front_of_small("--width 80"));
  CHECK(text.status == 0);
  CHECK(contains(text.out, "\nfront      proven: nothing in this space beats a point"));
  CHECK(contains(text.out, "|a"));
  CHECK(contains(text.out, "what changes\na "));
  std::istringstream lines(text.out);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);
  const std::string csv = folder.data(front_of_small("--format csv --threads 1"));
  CHECK(csv == folder.data(front_of_small("--format csv --threads 3")));
  CHECK(csv.substr(0, csv.find('\n')).ends_with(",chunks,proven"));
  const Json plan = folder.json(front_of_small("--format json"));
  CHECK(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')) == plan["front"]["points"].size() + 1);
  CHECK(folder.json("plan --model gpt2-small --gpus 1")["front"].is_null());
}

TEST_CASE_IN_FOLDER("with a budget the front says which stretch is proven") {
  const Words job = front_of_small("--budget 0.2 --format json --threads 1");
  const Outcome outcome = folder.run(job);
  const Json plan = Json::parse(outcome.out);
  if (outcome.status == 1) return;  // a machine so slow that nothing was found
  const Json& front = plan["front"];
  for (const Json& point : front["points"]) {
    const bool below = front["proven_to_ns"].is_null() || point["run"]["makespan_ns"] < front["proven_to_ns"];
    CHECK(point["proven"] == below);
  }
  CHECK(front["points"][0]["run"]["makespan_ns"] == plan["runs"][0]["makespan_ns"]);
  const Json& search = plan["search"];
  CHECK(search["space"].get<int>() == search["simulated"].get<int>() + search["illegal"].get<int>() +
                                          search["excluded_by_time"].get<int>() +
                                          search["excluded_by_memory"].get<int>());
}

TEST_CASE_IN_FOLDER("what is short is told by device and by what takes it, and every change that is offered fits") {
  const Json plan = checked_changes(folder, "plan --model gpt-6.7b --gpus 1 --memory 60GiB --global-batch 8");
  const Json& shortage = plan["shortage"];
  CHECK(shortage["capacity_bytes"] == std::int64_t{60} << 30);
  CHECK(shortage["missing_bytes"].get<std::int64_t>() == shortage["reserved_bytes"].get<std::int64_t>() +
                                                             shortage["margin_bytes"].get<std::int64_t>() -
                                                             shortage["capacity_bytes"].get<std::int64_t>());
  CHECK(shortage["margin_bytes"] == (std::int64_t{60} << 30) / 20);
  CHECK(shortage["missing_bytes"] == plan["nearest"]["missing_bytes"]);
  std::int64_t sum = 0;
  for (const Json& bytes : shortage["peak_by_category_bytes"]) sum += bytes.get<std::int64_t>();
  CHECK(sum == shortage["peak_memory_bytes"]);
  CHECK(plan["changes"].size() == 2);
  CHECK(plan["enough_gpus"] == 2);
}

TEST_CASE_IN_FOLDER("the memory that is offered is what is needed: less by a MiB does not fit") {
  // An allocator may take more where all blocks recompute than where one does not.
  const Words job = "plan --model gpt2-xl --gpus 1 --memory 10GiB --global-batch 4 --allocator exact";
  const Json plan = checked_changes(folder, joined(job, "--gap 0"));
  const auto needed = plan["shortage"]["reserved_bytes"].get<std::int64_t>();
  CHECK(needed > (std::int64_t{10} << 30));
  const std::int64_t with_margin = (needed * 20 / 19 >> 20) + 1;  // MiB of which a twentieth stays free
  Words less = job;
  less[6] = std::to_string(with_margin - 1) + "MiB";
  CHECK(folder.run(less).status == 1);
  const Words all = whats(plan);
  const std::string most = "with --memory " + std::to_string(with_margin) + "MiB per device";
  CHECK(std::find(all.begin(), all.end(), most) != all.end());
}

TEST_CASE_IN_FOLDER("of what was fixed, the flag that costs least is left out first") {
  const Json plan =
      checked_changes(folder, "plan --model gpt2-xl --gpus 4 --memory 12GiB --global-batch 16 --fix zero=0,tp=1,pp=1");
  const Words all = whats(plan);
  REQUIRE(all.size() >= 2);
  CHECK(all.front().starts_with("without "));
  for (std::size_t k = 1; k < all.size() && all[k].starts_with("without "); ++k) {
    CHECK(plan["changes"][k - 1]["run"]["makespan_ns"] <= plan["changes"][k]["run"]["makespan_ns"]);
  }
}

TEST_CASE_IN_FOLDER("where an order holds all microbatches, fewer samples are offered, as many as fit") {
  const Words job =
      "plan --model gpt2-medium --gpus 2 --global-batch 64 --memory 16GiB --fix "
      "tp=1,pp=2,microbatch=1,schedule=gpipe,recompute=none";
  const Json plan = checked_changes(folder, job);
  CAPTURE(plan["changes"].dump(1));
  const Words all = whats(plan);
  CHECK(std::find(all.begin(), all.end(), "without schedule=gpipe") != all.end());
  REQUIRE(std::find(all.begin(), all.end(), "with 16 samples per step") != all.end());
  Words twice = job;
  twice[6] = "32";
  CHECK(folder.run(twice).status == 1);
}

TEST_CASE_IN_FOLDER("where no flag alone is enough, all are left open at once") {
  const Json plan = checked_changes(folder,
                                    "plan --model gpt2-xl --gpus 4 --memory 8300MiB --global-batch 16 --fix "
                                    "tp=1,cp=1,dp=4,zero=1,recompute=none,microbatch=4");
  CHECK(whats(plan).front() == "with everything left open");
}

TEST_CASE_IN_FOLDER("a memory list keeps its devices apart") {
  const Json plan = checked_changes(
      folder,
      "plan --model gpt2-xl --gpus 2 -p 2 --memory 4GiB,40GiB --global-batch 8 --schedules 1f1b --partition auto");
  CHECK(plan["shortage"]["device"] == 0);
  CHECK(plan["shortage"]["capacity_bytes"] == std::int64_t{4} << 30);
  bool offered = false;
  for (const std::string& what : whats(plan)) offered = offered || contains(what, "MiB,40960MiB");
  CHECK(offered);
}

TEST_CASE_IN_FOLDER(
    "what limits the best plan adds up to its step, and what the limit of the memory costs was simulated") {
  const Words job = "plan --model gpt2-xl --gpus 4 --global-batch 64 --cp 1 --schedules 1f1b --memory 10GiB --gap 0";
  const Json plan = folder.json(joined(job, "--format json"));
  const Json& limit = plan["limit"];
  double sum = 0;
  for (const char* const part : {"compute", "inside_collectives", "communication", "waiting"}) {
    CHECK(limit[part].get<double>() >= 0);
    sum += limit[part].get<double>();
  }
  CHECK(sum == doctest::Approx(1));
  REQUIRE(limit["without_memory_limit"].is_object());
  const auto best = plan["runs"][0]["makespan_ns"].get<double>();
  const auto free = limit["without_memory_limit"]["makespan_ns"].get<double>();
  CHECK(free < best);
  CHECK(limit["most_gain"].get<double>() >= 1 - free / best);
  Words lifted = job;
  lifted[12] = "off";
  const Json unlimited = folder.json(joined(lifted, "--format json"));
  CHECK(unlimited["limit"]["most_gain"].is_null());
  const auto fastest = unlimited["runs"][0]["makespan_ns"].get<double>();
  CHECK(1 - fastest / best <= limit["most_gain"].get<double>() + 1e-9);
  CHECK(contains(folder.run(joined(job, "--width 200")).out, "memory: without its limit "));
}

}  // namespace
}  // namespace debubble::testing
