// Files that are no Kineto traces, or broken ones: refused with place and reason, all wrong events at once.
#include <zlib.h>

#include "formats/files/plain_text.hpp"
#include "tests/importers/trace_text.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

std::string refusal(const std::string& bytes) {
  return problems_of([&] { const KinetoTrace trace(bytes, "t.json"); });
}

std::string gzipped(const std::string& text) {
  z_stream stream{};
  constexpr int kGzip = 15 + 16;
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string in = text;
  std::string out(deflateBound(&stream, static_cast<uLong>(in.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

const std::string kKernel = event("kernel", "k", 7, "1", "2", R"("correlation": 1)");

TEST_CASE("what is not JSON is refused with the place where it stops being JSON") {
  CHECK(refusal("") ==
        "error[P001]: the file ends in the middle, after byte 0\n  --> t.json:1:1\n  = help: was the "
        "program killed while it wrote?\n");
  CHECK(refusal(R"({"traceEvents": [)") ==
        "error[P001]: the file ends in the middle, after byte 17\n  --> t.json:1:18\n  = help: was the program killed "
        "while it wrote?\n");
  CHECK(refusal("{\"traceEvents\": [\n{\"ph\": }]}") == "error[P001]: not JSON from byte 26 on\n  --> t.json:2:8\n");
  CHECK(refusal("{\"traceEvents\": []} trailing") == "error[P001]: not JSON from byte 23 on\n  --> t.json:1:23\n");
  CHECK(refusal("{\"traceEvents\": [\"\xff\"]}") ==
        "error[P002]: not UTF-8 at byte 19\n  --> t.json:1:19\n  = help: is this a Chrome trace in JSON?\n");
}

TEST_CASE("a tar archive is recognised, for that is how several ranks come") {
  std::string archive(512, '\0');
  archive.replace(0, 9, "rank0.json");
  archive.replace(257, 5, "ustar");
  CHECK(refusal(gzipped(archive)) ==
        "error[P001]: not JSON from byte 1 on\n  --> t.json:1:1\n  = help: this is a tar archive: unpack it and import "
        "the files in it\n");
}

TEST_CASE("JSON that is no trace is refused") {
  const std::string no_events =
      "error[P010]: there is no array \"traceEvents\"\n  --> t.json\n  = help: is this what torch.profiler's "
      "export_chrome_trace wrote?\n";
  CHECK(refusal("{}") == no_events);
  CHECK(refusal("17") == no_events);
  CHECK(refusal(R"({"traceEvents": {"a": 1}})") == no_events);
  CHECK(refusal(kineto_file("")) ==
        "error[A003]: no kernel, copy or memset: nothing ran on a GPU while this was recorded\n  --> t.json\n  = help: "
        "give torch.profiler ProfilerActivity.CUDA among its activities\n");
}

TEST_CASE("every wrong event is named, with a pointer to it") {
  const std::string events = kKernel + ",5," + event("cpu_op", "a", 5, "\"soon\"", "1", "") + "," +
                             event("kernel", "k", 7, "1", "2", R"("correlation": 4294967296)") + "," +
                             event("cpu_op", "b", 5, "1", "9e20", "") + "," +
                             R"({"ph": "X", "cat": "kernel", "name": "c", "pid": 0, "tid": 7, "ts": 3})" + "," +
                             event("cpu_op", "d", 5, "1", "1", R"("Sequence number": 1.5)") + "," +
                             R"({"ph": "X", "cat": "cpu_op", "name": "e", "ts": 3, "dur": 1})";
  CHECK(refusal(kineto_file(events)) == R"(error[P007]: an event must be an object
  --> t.json#/traceEvents/1
error[P007]: "ts" must be a number of microseconds; got "soon"
  --> t.json#/traceEvents/2/ts
  = help: times are decimal microseconds, such as 12.345
error[P007]: this must be a whole number from 0 to 4294967295; got 4294967296
  --> t.json#/traceEvents/3/args/correlation
error[P007]: "dur" must be a number of microseconds; got 9e20
  --> t.json#/traceEvents/4/dur
  = help: times are decimal microseconds, such as 12.345
error[P006]: an event of this kind needs "dur"
  --> t.json#/traceEvents/5/dur
error[P007]: this must be a whole number from -9223372036854775808 to 9223372036854775807; got 1.5
  --> t.json#/traceEvents/6/args/Sequence number
error[P006]: an event of this kind needs "tid"
  --> t.json#/traceEvents/7/tid
)");
}

TEST_CASE("times that cannot be added are refused") {
  CHECK(refusal(kineto_file(event("kernel", "k", 7, "1", "4503599627371", ""))) ==
        "error[P004]: this time is too large\n  --> t.json#/traceEvents/0/dur\n  = help: no event takes longer than 52 "
        "days\n");
}

TEST_CASE("after a hundred problems the rest is counted only") {
  std::string events = kKernel;
  for (int k = 0; k < 150; ++k) events += ",0";
  const std::string text = refusal(kineto_file(events));
  CHECK(contains(text, "error[P022]: and 50 more problems like these\n  --> t.json\n"));
  CHECK(contains(text, "traceEvents/100\n"));
  CHECK_FALSE(contains(text, "traceEvents/101\n"));
}

TEST_CASE("gzip is recognised by its bytes, in one member or several") {
  const std::string file = kineto_file(kKernel);
  const std::string records = records_of(KinetoTrace(file, "t"));
  CHECK(records_of(KinetoTrace(gzipped(file), "t.json")) == records);
  CHECK(records_of(KinetoTrace(gzipped(file.substr(0, 40)) + gzipped(file.substr(40)), "t")) == records);
}

TEST_CASE("a damaged or cut-off gzip file is refused") {
  const std::string whole = gzipped(kineto_file(kKernel));
  CHECK(
      refusal(whole.substr(0, whole.size() - 9)) ==
      "error[K001]: not a whole gzip file: it ends too early\n  --> t.json\n  = help: was the program killed while it "
      "wrote? try `gzip -t` on the file\n");
  std::string damaged = whole;
  for (std::size_t k = 20; k < 40; ++k) damaged[k] = '\x55';
  CHECK(refusal(damaged).starts_with("error[K001]: not a whole gzip file: damaged near byte "));
}

TEST_CASE("a text beyond the limit is refused, compressed or not") {
  const std::string text(5'000'000, ' ');
  const auto refused = [](std::string bytes) {
    return problems_of([&] { static_cast<void>(plain_text(std::move(bytes), "t.json", 1000)); });
  };
  const std::string wanted =
      "error[P017]: longer than 1000 bytes of text\n  --> t.json\n  = help: profile fewer steps, or without "
      "with_stack: "
      "that is what makes traces long\n";
  CHECK(refused(text) == wanted);
  CHECK(refused(gzipped(text)) == wanted);
  CHECK(plain_text(gzipped("abc"), "t", 3) == "abc");
}

}  // namespace
}  // namespace debubble::testing
