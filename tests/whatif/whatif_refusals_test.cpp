// What `whatif`, and the flags about variations, refuse: with the words people read.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using Arguments = std::vector<std::string>;

std::string refusal(const Arguments& more, const std::string& verb = "whatif") {
  const Folder folder;
  Arguments arguments{verb};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return folder.refusal(arguments);
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("without a change or a question there is nothing to say") {
  CHECK(refusal({}) ==
        "error[C061]: nothing is changed and nothing is asked\n"
        "  --> debubble whatif\n"
        "  = help: add --to '--recompute full', --slow device=3:1.25, --link 3-4:x0.5 or --sensitivity\n");
}

TEST_CASE("everything that is wrong is said at once") {
  const std::string text = refusal({"--slow", "gpu=1:2", "--jitter", "0.1"});
  CHECK(says(text, "error[C002]: \"gpu\" is not one of device, stage and replica"));
  CHECK(says(text, "error[C006]: \"0.1\" is not lognormal:SIGMA"));
  const std::string changes =
      refusal({"--link", "1-2", "--fail", "x", "--latency", "2", "--overlap", "no", "--seeds", "0", "--base", "other"});
  CHECK(says(refusal({"--latency", "x10000000"}), "is not xFACTOR, at most x1000000"));
  for (const char* code : {"C006", "C006", "C002", "C012", "C002"}) CHECK(says(changes, "error[" + std::string(code)));
}

TEST_CASE("what the run does not have is named, with what it has") {
  CHECK(says(refusal({"--slow", "device=4:1.25"}), "error[O004]: there is no device 4\n"));
  CHECK(says(refusal({"--slow", "device=4:1.25"}), "they are numbered 0 to 3"));
  CHECK(says(refusal({"--slow", "devices=1,2"}, "simulate"), "error[O005]"));
  CHECK(says(refusal({"--link", "3-7:latency=1us"}), "error[B008]"));
}

TEST_CASE("a change that changes nothing is a misunderstanding") {
  CHECK(says(refusal({"--link", "1-2:x0.5"}), "error[O024]: link 1-2 at 0.5 times the bandwidth changes nothing"));
  CHECK(says(refusal({"--latency", "x2"}), "error[O024]"));
  CHECK(says(refusal({"--bandwidth-scale", "x1"}), "error[O024]: \"x1\" changes nothing: a factor of 1"));
  CHECK(says(refusal({"--bandwidth-scale", "x1"}), "--> --bandwidth-scale"));
  CHECK(says(refusal({"--slow", "device=0:1"}), "error[O024]: device 0 takes 1 times as long: that changes nothing"));
  CHECK(says(refusal({"--overlap", "on"}), "error[O024]"));
  CHECK(says(refusal({"--p2p", "blocking", "--overlap", "off"}), "error[O024]"));
}

TEST_CASE("seeds need something to be drawn, and threads and seeds have limits") {
  CHECK(says(refusal({"--slow", "device=0:2", "--seeds", "5"}), "error[C004]: every seed gives the same run"));
  CHECK(says(refusal({"--jitter", "lognormal:0.1", "--seeds", "1000001"}), "error[C012]"));
  CHECK(says(refusal({"--jitter", "lognormal:0.1", "--seeds", "2", "--threads", "0"}), "error[C012]"));
}

TEST_CASE("a file of factors is judged where it stands") {
  const Folder folder;
  folder.write("f.csv", "microbatch,factor\n0,1\n1,0\n3,x\n");
  CHECK(folder.refusal({"simulate", "--factors", "f.csv"}) ==
        "error[P004]: \"0\" is not a factor from 0.001 to 1000\n"
        "  --> f.csv:3\n"
        "error[G002]: microbatch 2 is due, not \"3\"\n"
        "  --> f.csv:4\n"
        "  = help: number them from 0, each once and in order\n"
        "error[P004]: \"x\" is not a factor from 0.001 to 1000\n"
        "  --> f.csv:4\n"
        "3 errors\n");
  folder.write("f.csv", "microbatch,factor\n0,1\n1,1\n");
  CHECK(says(folder.refusal({"simulate", "--factors", "f.csv"}),
             "error[P012]: f.csv has 2 microbatches, and the run has 8"));
}

TEST_CASE("a run for real varies by itself") { CHECK(says(refusal({"--slow", "device=1:2"}, "live"), "error[C087]")); }

}  // namespace
}  // namespace debubble::testing
