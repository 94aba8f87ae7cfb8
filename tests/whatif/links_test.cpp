// Changed links: which there are, what a change does to a transfer, and what is refused.
#include "sim/topologies/catalog.hpp"
#include "studies/whatif/link_changes.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

std::string code_of(const auto& work) {
  return first_problem([&] { work(); }).code;
}

Topology changed(const Topology& topology, const std::vector<std::string>& links, int devices = 4) {
  return changed_topology(topology, parse_links(links), devices);
}

constexpr Nanoseconds kHop = 1000;
constexpr std::int64_t kRate = 1'000'000'000;  // a byte per nanosecond
constexpr Bytes kSize = 5000;

Nanoseconds time(const Topology& topology, int from, int to) { return topology.transfer(from, to, kSize).total(); }

TEST_CASE("without a change the topology stays what it is") {
  const Topology ideal = Topology::ideal(kHop, kRate);
  CHECK(changed_topology(ideal, {}, 4).network() == nullptr);
}

TEST_CASE("one link of the ideal topology changes, and no other") {
  const Topology ideal = Topology::ideal(kHop, kRate);
  const Topology half = changed(ideal, {"1-2:x0.5"});
  CHECK_FALSE(half.contended());
  for (int from = 0; from < 4; ++from) {
    for (int to = 0; to < 4; ++to) {
      const bool it = (from == 1 && to == 2) || (from == 2 && to == 1);
      CHECK(time(half, from, to) == (from == to ? 0 : kHop + (it ? 2 : 1) * kSize));
    }
  }
  const Topology one_way = changed(ideal, {"1>2:latency=x3"});
  CHECK(time(one_way, 1, 2) == 3 * kHop + kSize);
  CHECK(time(one_way, 2, 1) == kHop + kSize);
  CHECK(time(changed(ideal, {"1>2:latency=7us,x2"}), 1, 2) == 7 * kHop + kSize / 2);
}

TEST_CASE("what a failed ideal link carried travels over a third device") {
  const Topology ideal = Topology::ideal(kHop, kRate);
  const Topology failed = changed_topology(ideal, parse_failures({"link", "1-2"}), 4);
  CHECK(time(failed, 1, 2) == 2 * kHop + kSize);
  CHECK(time(failed, 2, 1) == 2 * kHop + kSize);
  CHECK(time(failed, 0, 1) == kHop + kSize);
  const Topology alone = changed_topology(ideal, parse_failures({"link=0-1"}), 2);
  CHECK(code_of([&] { (void)time(alone, 0, 1); }) == "B028");
}

TEST_CASE("all links at once keep the ideal topology ideal") {
  LinkChange change;
  change.latency = 2;
  change.bandwidth = 0.5;
  const Topology all = changed_topology(Topology::ideal(kHop, kRate), {change}, 4);
  CHECK(all.network() == nullptr);
  CHECK(all.latency() == 2 * kHop);
  CHECK(all.bandwidth() == kRate / 2);
}

TEST_CASE("in a cluster a link is named by its nodes or by two devices") {
  auto network = std::make_shared<Network>();
  network->graph = build_topology("ring:4,bandwidth=1GB/s,latency=1us");
  network->layout.sizes.pipeline = 4;
  const Topology ring = Topology::over(network);
  const Nanoseconds before = time(ring, 0, 1);
  const Topology half = changed(ring, {"0-1:x0.5"});
  CHECK(time(half, 0, 1) == before + kSize);
  CHECK(time(half, 1, 0) == before + kSize);
  CHECK(time(half, 1, 2) == before);
  const Topology one_way = changed(ring, {"gpu0>gpu1:latency=x3"});
  CHECK(time(one_way, 0, 1) == before + 2 * kHop);
  CHECK(time(one_way, 1, 0) == before);
  const Topology around = changed_topology(ring, parse_failures({"0-1"}), 4);
  CHECK(time(around, 0, 1) == before + 2 * kHop);  // three hops the other way
}

TEST_CASE("a change that is none is refused") {
  const auto parse = [](const std::string& text) { return code_of([&] { (void)parse_links({text}); }); };
  CHECK(parse("3-4") == "C006");
  CHECK(parse("3-4:") == "C006");
  CHECK(parse(":x2") == "C006");
  CHECK(parse("3-4:2") == "C006");
  CHECK(parse("3-4:x0") == "C006");
  CHECK(parse("3-4:x0.5").empty());
  CHECK(parse("3-4:latency=x0").empty());
  CHECK(parse("3-4:latency=fast") == "C011");
  CHECK(code_of([] { (void)parse_failures({"link"}); }) == "C006");
  CHECK(code_of([] { (void)parse_scale("2", "--latency"); }) == "C006");
  CHECK(code_of([] { (void)parse_scale("x0", "--bandwidth-scale"); }) == "C006");
  CHECK(parse_scale("x0", "--latency") == 0);
}

TEST_CASE("a change that changes nothing is refused") {
  const Topology free = Topology::ideal(0, 0);
  const auto change = [&](const std::string& text, const Topology& of) {
    return code_of([&] { (void)changed(of, {text}); });
  };
  CHECK(change("1-2:x0.5", free) == "O024");
  CHECK(change("1-2:latency=x2", free) == "O024");
  CHECK(change("1-2:latency=1us", free).empty());
  CHECK(change("1-2:latency=1us,x0.5", free) == "O024");
  CHECK(change("1-2:x1", Topology::ideal(kHop, kRate)) == "O024");
  CHECK(change("1>4:x2", Topology::ideal(kHop, kRate)) == "B008");
  CHECK(change("1>1:x2", Topology::ideal(kHop, kRate)) == "B008");
  CHECK(change("1-4:x2", Topology::ideal(kHop, kRate)) == "B008");
  const auto change_of_many = [] {
    (void)changed_topology(Topology::ideal(kHop, kRate), parse_links({"1-2:x2"}), 1025);
  };
  CHECK(code_of(change_of_many) == "X005");
  LinkChange all;
  all.latency = 2;
  CHECK(code_of([&] { (void)changed_topology(free, {all}, 4); }) == "O024");
}

}  // namespace
}  // namespace debubble::testing
