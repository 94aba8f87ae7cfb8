// The record file: what is written comes back, what is damaged is told, what is cut off is kept.
#include <zlib.h>

#include <fstream>
#include <random>

#include "profiler/records/crc32.hpp"
#include "profiler/records/range_text.hpp"
#include "profiler/records/record_encoder.hpp"
#include "profiler/records/record_file.hpp"
#include "profiler/records/record_format.hpp"
#include "profiler/records/record_text.hpp"
#include "tests/recording/scratch.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

using testing::Scratch;

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Read {
  std::string text;
  RecordFileEnd end;
};

Read read_bytes(const std::string& bytes) {
  Read read;
  RecordText sink(read.text);
  read.end = read_records(bytes, "test.dbrec", sink);
  return read;
}

// The code and place of what reading these bytes throws.
std::string refusal(const std::string& bytes) {
  try {
    read_bytes(bytes);
  } catch (const InputError& error) {
    return error.diagnostics().front().code + " " + error.diagnostics().front().place;
  }
  return "nothing";
}

// One of every kind, twice, with fields at their limits.
void write_all_kinds(RecordSink& sink) {
  for (const std::int64_t base : {std::int64_t{0}, std::int64_t{1'700'000'000'000'000'000}}) {
    sink.on(RangePush{1, 7, base + 1, "debubble.layer:block.0", -1, 0, {}});
    sink.on(RangePush{2, 7, base + 2, "aten::mm, seq = 12, op_id = 3, sizes = [[8, 512], [512, 64]]", -1, 0, {}});
    sink.on(RangePush{std::numeric_limits<std::uint64_t>::max(), 4'000'000'000U, base + 3, "addmm", 5, 9, "[[1]]"});
    sink.on(RangePop{7, base + 4});
    sink.on(LinkRecord{std::numeric_limits<std::uint32_t>::max(), 2});
    sink.on(LaunchRecord{41, 7, base + 5, base + 9});
    sink.on(KernelRecord{GpuWork::kKernel, 41, 0, 1, 7, 0, base + 10, base + 20, 0, "gemm"});
    sink.on(KernelRecord{GpuWork::kCopy, 42, 1, 1, 7, 99, base, base, 1 << 20, "copy device to device"});
    sink.on(MemoryRecord{7, 0, base + 6, 0x7f0000000000U, -4096});
    sink.on(OverheadRecord{OverheadKind::kLazyLoading, 7, base + 7, base + 8});
    sink.on(ClockRecord{1, base + 8, 1980, 4});
    sink.on(SwitchRecord{base + 9, false});
    sink.on(FactRecord{"device.0.name", "NVIDIA H200"});
    sink.on(LossRecord{"dropped_records", 17});
  }
}

TEST_CASE("every kind of record comes back as it was written") {
  const Scratch scratch;
  const std::string path = scratch.path("a.dbrec");
  {
    RecordFileWriter writer(path);
    write_all_kinds(writer);
    CHECK_FALSE(writer.failed());
  }
  const Read read = read_bytes(slurp(path));
  CHECK(read.end.complete);
  CHECK(read.end.records == 28);
  CHECK(read.text.substr(0, read.text.find("pop")) ==
        "push range=1 thread=7 time=1 name=\"debubble.layer:block.0\"\n"
        "push range=2 thread=7 time=2 name=\"aten::mm\" sequence=12 sizes=\"[[8, 512], [512, 64]]\"\n"
        "push range=18446744073709551615 thread=4000000000 time=3 name=\"addmm\" sequence=5 forward_thread=9 "
        "sizes=\"[[1]]\"\n");
  // The second half, with times of today, is text for text what a sink is given directly, suffixes aside.
  std::string direct;
  RecordText text(direct);
  text.on(KernelRecord{GpuWork::kCopy, 42, 1, 1, 7, 99, 1'700'000'000'000'000'000, 1'700'000'000'000'000'000, 1 << 20,
                       "copy device to device"});
  text.on(MemoryRecord{7, 0, 1'700'000'000'000'000'006, 0x7f0000000000U, -4096});
  text.on(OverheadRecord{OverheadKind::kLazyLoading, 7, 1'700'000'000'000'000'007, 1'700'000'000'000'000'008});
  text.on(ClockRecord{1, 1'700'000'000'000'000'008, 1980, 4});
  text.on(SwitchRecord{1'700'000'000'000'000'009, false});
  text.on(FactRecord{"device.0.name", "NVIDIA H200"});
  text.on(LossRecord{"dropped_records", 17});
  CHECK(read.text.ends_with(direct));
}

TEST_CASE("a file cut off anywhere gives what it holds and says that it is incomplete") {
  const Scratch scratch;
  const std::string path = scratch.path("a.dbrec");
  {
    RecordFileWriter writer(path);
    for (int i = 0; i < 5; ++i) {
      writer.on(LaunchRecord{static_cast<std::uint32_t>(i), 1, i, i + 1});
      writer.flush();
    }
  }
  const std::string whole = slurp(path);
  std::uint64_t before = 0;
  for (std::size_t size = 8; size < whole.size(); ++size) {
    const Read read = read_bytes(whole.substr(0, size));
    CHECK_FALSE(read.end.complete);
    CHECK(read.end.records >= before);
    before = read.end.records;
  }
  CHECK(before == 5);
  CHECK(read_bytes(whole).end.complete);
}

TEST_CASE("a byte changed anywhere before the end is an error with its place") {
  const Scratch scratch;
  const std::string path = scratch.path("a.dbrec");
  {
    RecordFileWriter writer(path);
    writer.on(FactRecord{"rank", "0"});
    writer.flush();
    writer.on(FactRecord{"rank", "1"});
  }
  const std::string whole = slurp(path);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x20);
    INFO(at);
    if (at >= 8 && at < 16) continue;  // the first length: a chunk may become a cut-off one, see below
    if (at < 7) CHECK(refusal(changed) == "P010 test.dbrec: byte 0");
    if (at == 7) CHECK(refusal(changed) == "P010 test.dbrec: byte 7");
    if (at >= 16 && at < 24) CHECK(refusal(changed) == "K001 test.dbrec: byte 8");
  }
  std::string longer = whole;
  longer[11] = '\x7f';
  CHECK(refusal(longer) == "K001 test.dbrec: byte 8");
}

TEST_CASE("what is not a record file is told apart from an old or foreign one") {
  CHECK(refusal("") == "P010 test.dbrec: byte 0");
  CHECK(refusal("{\"schemaVersion\": 1}") == "P010 test.dbrec: byte 0");
  CHECK(refusal(std::string("DBREC\0\0\2", 8)) == "P010 test.dbrec: byte 7");
  std::string text;
  RecordText sink(text);
  CHECK(first_problem([&] { read_record_file("/nonexistent/a.dbrec", sink); }).code == "C005");
  CHECK(first_problem([&] { RecordFileWriter writer("/nonexistent/a.dbrec"); }).code == "C051");
}

TEST_CASE("records with a right checksum and no sense are refused at their byte") {
  const auto with_records = [](const std::string& records) {
    std::string bytes("DBREC\0\0\1", 8);
    const std::uint32_t size = static_cast<std::uint32_t>(records.size());
    const std::uint32_t sum = crc32_of(records);
    bytes.append(reinterpret_cast<const char*>(&size), 4).append(reinterpret_cast<const char*>(&sum), 4);
    return bytes + records;
  };
  CHECK(refusal(with_records("\x63")) == "P012 test.dbrec: byte 16");                                  // no such record
  CHECK(refusal(with_records(std::string("\x0b\x02\x01\x06\x00", 5))) == "P012 test.dbrec: byte 19");  // no such place
  CHECK(refusal(with_records("\x0c\x05")) == "P012 test.dbrec: byte 16");  // a text over the end
  CHECK(refusal(with_records(std::string("\x11\x0b\x02\x01", 4))) == "P012 test.dbrec: byte 17");  // behind the end
  CHECK(refusal(with_records(std::string("\x0b\x01\x01", 3))) == "P012 test.dbrec: byte 16");      // a time before 1970
}

TEST_CASE("random records come back over many chunks, and tables start anew when they are full") {
  std::mt19937_64 random(7);
  std::string expected;
  RecordText text(expected);
  RecordEncoder encoder;
  std::string bytes("DBREC\0\0\1", 8);
  const auto both = [&](const auto& record) {
    text.on(record);
    encoder.on(record);
    if (encoder.pending() > 100'000) {
      bytes += encoder.chunk();
      encoder.restart();
    }
  };
  for (std::uint32_t i = 0; i < 150'000; ++i) {
    const std::string name = "kernel" + std::to_string(i);
    const auto begin = static_cast<Nanoseconds>(random() >> (2 + random() % 62));
    const auto end = static_cast<Nanoseconds>(random() >> (2 + random() % 62));
    both(KernelRecord{static_cast<GpuWork>(random() % 4), static_cast<std::uint32_t>(random()), i % 8, 1,
                      static_cast<std::uint32_t>(random()), random() % 2, begin, end, static_cast<Bytes>(random()),
                      name});
    both(LinkRecord{static_cast<std::uint32_t>(random()), random()});
    both(RangePush{random(), static_cast<std::uint32_t>(random()), begin, name, -1, 0, {}});
  }
  encoder.end();
  bytes += encoder.chunk();
  const Read read = read_bytes(bytes);
  CHECK(read.end.complete);
  CHECK(read.end.records == 450'000);
  CHECK(read.text == expected);
}

TEST_CASE("a table of long names starts anew before it is large") {
  RecordEncoder encoder;
  const auto bytes_of = [&](std::size_t number) {
    encoder.restart();
    std::string name(record_format::kMaxText, 'x');
    name.replace(0, 4, std::to_string(1000 + number));
    encoder.on(RangePush{1, 7, 1, name, -1, 0, {}});
    return encoder.pending();
  };
  const std::size_t names = record_format::kMaxTableBytes / record_format::kMaxText + 1;
  for (std::size_t i = 0; i + 1 < names; ++i) bytes_of(i);
  CHECK(bytes_of(0) < 100);  // known
  bytes_of(names - 1);
  CHECK(bytes_of(0) > record_format::kMaxText);  // forgotten, and written again
  CHECK(bytes_of(0) < 100);
}

TEST_CASE("texts longer than a record may hold are cut, and the file stays readable") {
  RecordEncoder encoder;
  const std::string longest(200'000, 'x');
  encoder.on(RangePush{1, 1, 1, longest, -1, 0, {}});
  encoder.on(FactRecord{longest, longest});
  std::string bytes("DBREC\0\0\1", 8);
  bytes += encoder.chunk();
  const Read read = read_bytes(bytes);
  CHECK(read.end.records == 2);
  CHECK(read.text.size() > 3 * 60'000);
  CHECK(read.text.size() < 3 * 60'000 + 200);
}

TEST_CASE("an abandoned writer leaves the file as it was") {
  const Scratch scratch;
  const std::string path = scratch.path("a.dbrec");
  {
    RecordFileWriter writer(path);
    writer.on(FactRecord{"rank", "0"});
    writer.abandon();
    writer.on(FactRecord{"rank", "1"});
  }
  CHECK(slurp(path).size() == 8);
}

TEST_CASE("a full disk is remembered, not thrown") {
  RecordFileWriter writer("/dev/full");
  for (int i = 0; i < 3; ++i) {
    writer.on(FactRecord{"rank", "0"});
    writer.flush();
  }
  CHECK(writer.failed());
}

TEST_CASE("our CRC-32 is zlib's") {
  std::mt19937 random(3);
  std::string bytes;
  for (std::size_t size = 0; size < 300; ++size) {
    const uLong theirs = crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(size));
    CHECK(crc32_of(bytes) == theirs);
    bytes.push_back(static_cast<char>(random()));
  }
}

TEST_CASE("PyTorch's suffixes are taken off a range's text, in old and new form") {
  const auto parts = [](std::string_view text) {
    const RangeText range = parse_range_text(text);
    return std::string(range.name) + "|" + std::to_string(range.sequence) + "|" + std::string(range.sizes);
  };
  CHECK(parts("aten::mm, seq = 12, op_id = 3, sizes = [[8, 512], [512, 64]], input_op_ids = [(1,0)]") ==
        "aten::mm|12|[[8, 512], [512, 64]]");
  CHECK(parts("aten::mm, op_id = 3, sizes = [[], [2]]") == "aten::mm|-1|[[], [2]]");
  CHECK(parts("aten::mm, seq = 7") == "aten::mm|7|");
  CHECK(parts("aten::mm, seq=7") == "aten::mm|7|");
  CHECK(parts("MmBackward0, stashed seq=7, sizes = []") == "MmBackward0|7|[]");
  CHECK(parts("autograd::engine::evaluate_function: MmBackward0") ==
        "autograd::engine::evaluate_function: MmBackward0|-1|");
  CHECK(parts("layer, seq.1") == "layer, seq.1|-1|");
  CHECK(parts("f(a, seq), seq = 3") == "f(a, seq)|3|");
  CHECK(parts("x, seq = ") == "x|-1|");
  CHECK(parts("x, seq = 99999999999999999999") == "x|-1|");
  CHECK(parts("x, seq = -1, sizes = [[1") == "x|-1|[[1");
  CHECK(parts("") == "|-1|");
  CHECK(parts(",") == ",|-1|");
}

}  // namespace
}  // namespace debubble
