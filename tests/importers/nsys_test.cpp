// Nsight Systems exports, made here by SQL: every table and column that may be there, or may not.
#include "profiler/importers/nsys.hpp"

#include "profiler/records/record_text.hpp"
#include "tests/importers/database.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

// Process 9: its globalPid, and its threads 9 and 10.
constexpr std::int64_t kProcess = std::int64_t{9} << 24;
const std::string kPid = std::to_string(kProcess);
const std::string kMain = std::to_string(kProcess + 9);
const std::string kOther = std::to_string(kProcess + 10);

const std::string kTables = R"(
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'aten::mm, seq = 4, sizes = [[2, 3], []]');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName,
  shortName, graphNodeId);
CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid, endGlobalTid, textId, domainId);
)";

std::string nvtx(int start, const std::string& end, const std::string& text, const std::string& tid = kMain,
                 int type = 59, int domain = 0) {
  return "INSERT INTO NVTX_EVENTS VALUES (" + std::to_string(start) + "," + end + "," + std::to_string(type) + "," +
         text + "," + tid + ",NULL,NULL," + std::to_string(domain) + ");";
}
std::string launch(int start, int correlation, const std::string& tid = kMain) {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" + std::to_string(start) + "," + std::to_string(start + 2) +
         "," + tid + "," + std::to_string(correlation) + ",1);";
}
std::string kernel(int start, int end, int correlation, const std::string& pid = kPid) {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" + std::to_string(start) + "," + std::to_string(end) +
         ",0,1,7," + std::to_string(correlation) + "," + pid + ",1,1,NULL);";
}

std::string records_of(const std::string& sql, std::vector<std::string>* notes = nullptr) {
  const SqliteFile file(Database(sql).image(), "r.sqlite");
  NsysExport source(file);
  std::string out;
  RecordText text(out);
  for (const std::int64_t process : source.processes()) {
    if (source.processes().size() > 1) out += "process " + std::to_string(process >> 24) + "\n";
    source.replay(process, text);
  }
  if (notes != nullptr) *notes = source.notes();
  return out;
}

std::string nsys_refusal(const std::string& sql) {
  return problems_of([&] {
    const SqliteFile file(Database(sql).image(), "r.sqlite");
    const NsysExport source(file);
  });
}

TEST_CASE("launches belong to the innermost range that is open on their thread") {
  CHECK(records_of(kTables + nvtx(10, "40", "'step'") + nvtx(12, "20", "'aten::mm, seq = 4, sizes = [[2, 3], []]'") +
                   nvtx(11, "50", "'other thread'", kOther) + launch(14, 5) + launch(30, 6) + launch(31, 7, kOther) +
                   kernel(60, 70, 5) + kernel(70, 75, 6) + kernel(75, 77, 7)) ==
        R"(push range=1 thread=9 time=10 name="step"
push range=2 thread=10 time=11 name="other thread"
push range=3 thread=9 time=12 name="aten::mm" sequence=4 sizes="[[2, 3], []]"
link correlation=5 range=3
launch correlation=5 thread=9 begin=14 end=16
work kind=kernel correlation=5 device=0 context=1 stream=7 begin=60 end=70 name="gemm"
pop thread=9 time=20
link correlation=6 range=1
launch correlation=6 thread=9 begin=30 end=32
work kind=kernel correlation=6 device=0 context=1 stream=7 begin=70 end=75 name="gemm"
link correlation=7 range=2
launch correlation=7 thread=10 begin=31 end=33
work kind=kernel correlation=7 device=0 context=1 stream=7 begin=75 end=77 name="gemm"
pop thread=9 time=40
pop thread=10 time=50
)");
}

TEST_CASE("registered strings, start/end ranges and ranges that were never closed count too") {
  const std::string registered = "INSERT INTO NVTX_EVENTS VALUES (10, 20, 59, NULL, " + kMain + ", NULL, 2, 0);";
  std::vector<std::string> notes;
  CHECK(records_of(kTables + nvtx(1, "NULL", "'endless'") + registered + nvtx(11, "15", "'started'", kMain, 60) +
                       launch(12, 5) + kernel(60, 70, 5),
                   &notes) == R"(push range=1 thread=9 time=1 name="endless"
push range=2 thread=9 time=10 name="aten::mm" sequence=4 sizes="[[2, 3], []]"
push range=3 thread=9 time=11 name="started"
link correlation=5 range=3
launch correlation=5 thread=9 begin=12 end=14
work kind=kernel correlation=5 device=0 context=1 stream=7 begin=60 end=70 name="gemm"
pop thread=9 time=15
pop thread=9 time=20
pop thread=9 time=9223372036854775807
)");
  CHECK(notes.empty());
}

TEST_CASE("NCCL's own ranges and ranges between threads are left out, and overlaps are cut and counted") {
  std::vector<std::string> notes;
  const std::string across =
      "INSERT INTO NVTX_EVENTS VALUES (10, 20, 60, 'across', " + kMain + ", " + kOther + ", NULL, 0);";
  const std::string records =
      records_of(kTables + nvtx(0, "NULL", "'NCCL'", kMain, 75, 3) + nvtx(1, "NULL", "'ncclAllReduce'", kMain, 59, 3) +
                     across + nvtx(5, "15", "'a'") + nvtx(8, "18", "'b'") + kernel(60, 70, 5),
                 &notes);
  CHECK(records == R"(push range=1 thread=9 time=5 name="a"
push range=2 thread=9 time=8 name="b"
pop thread=9 time=15
pop thread=9 time=15
work kind=kernel correlation=5 device=0 context=1 stream=7 begin=60 end=70 name="gemm"
)");
  CHECK(notes == std::vector<std::string>{
                     "1 GPU event without a launch in the export, or launched outside of any range: not linked",
                     "1 range overlapping without nesting: cut off where the range around it ends"});
}

TEST_CASE("a number is NCCL's only in the process that made it so") {
  const std::int64_t second = std::int64_t{11} << 24;
  const std::string tid = std::to_string(second + 12);
  const std::string records =
      records_of(kTables + nvtx(0, "NULL", "'NCCL'", kMain, 75, 3) + nvtx(1, "9", "'ncclAllReduce'", kMain, 59, 3) +
                 nvtx(2, "30", "'block'", tid, 59, 3) + launch(4, 5) + launch(5, 5, tid) + kernel(60, 70, 5) +
                 kernel(61, 72, 5, std::to_string(second)));
  CHECK_FALSE(contains(records, "ncclAllReduce"));
  CHECK(records.find("link correlation=5 range=1") > records.find("\"block\""));
  CHECK(contains(records, "\"block\""));
}

TEST_CASE("what was read twice is noted once") {
  const std::string graph =
      "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end); INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES "
      "(1, 2);";
  const SqliteFile file(
      Database(kTables + graph + nvtx(5, "15", "'a'") + nvtx(8, "18", "'b'") + kernel(60, 70, 5)).image(), "r.sqlite");
  NsysExport source(file);
  std::string first;
  std::string second;
  RecordText first_text(first);
  RecordText second_text(second);
  source.replay(source.processes().front(), first_text);
  const std::vector<std::string> notes = source.notes();
  source.replay(source.processes().front(), second_text);
  CHECK(contains(first, "loss CUDA graphs recorded as a whole=1"));
  CHECK(second == first);
  CHECK(source.notes() == notes);
}

TEST_CASE("processes are streams of their own, for their correlation ids repeat") {
  const std::int64_t second = std::int64_t{11} << 24;
  const std::string tid = std::to_string(second + 12);
  std::vector<std::string> notes;
  const std::string records =
      records_of(kTables + nvtx(10, "40", "'a'") + nvtx(10, "40", "'b'", tid) + launch(14, 5) + launch(15, 5, tid) +
                     kernel(60, 70, 5) + kernel(61, 72, 5, std::to_string(second)),
                 &notes);
  CHECK(records == R"(process 9
push range=1 thread=9 time=10 name="a"
link correlation=5 range=1
launch correlation=5 thread=9 begin=14 end=16
work kind=kernel correlation=5 device=0 context=1 stream=7 begin=60 end=70 name="gemm"
pop thread=9 time=40
process 11
push range=1 thread=12 time=10 name="b"
link correlation=5 range=1
launch correlation=5 thread=12 begin=15 end=17
work kind=kernel correlation=5 device=0 context=1 stream=7 begin=61 end=72 name="gemm"
pop thread=12 time=40
)");
  CHECK(notes.empty());
}

TEST_CASE("copies, sets, memory, graphs and facts are taken where the export has them") {
  const std::string more = R"(
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, streamId, correlationId, globalPid, bytes, copyKind);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, streamId, correlationId, globalPid, bytes);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end);
INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1, 2);
CREATE TABLE ENUM_CUDA_MEM_KIND (id, name, label);
INSERT INTO ENUM_CUDA_MEM_KIND VALUES (4, 'x', 'Device'), (5, 'y', 'Device static');
CREATE TABLE ENUM_CUDA_DEV_MEM_EVENT_OPER (id, name, label);
INSERT INTO ENUM_CUDA_DEV_MEM_EVENT_OPER VALUES (7, 'a', 'Allocation'), (8, 'b', 'Deallocation');
CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start, globalPid, deviceId, address, bytes, memKind, memoryOperationType);
CREATE TABLE TARGET_INFO_GPU (vmId, id, name);
INSERT INTO TARGET_INFO_GPU VALUES (0, 0, 'NVIDIA H200');
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1751410836000000000);
)" +
                           ("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (3, 4, 0, 7, 2, " + kPid +
                            ", 64, 1), (5, 6, 0, 7, 3, " + kPid + ", 32, 10), (6, 7, 0, 7, 3, " + kPid + ", 32, 99);") +
                           "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (8, 9, 0, 7, 4, " + kPid + ", 16);" +
                           "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (1, " + kPid +
                           ", 0, 4096, 512, 4, 7), (2, " + kPid + ", 0, 4096, 512, 4, 8), (2, " + kPid +
                           ", 0, 1, 1, 5, 7);";
  CHECK(records_of(kTables + more + nvtx(0, "1", "'a'")) == R"(fact device.0.name="NVIDIA H200"
fact date="2025-07-01"
push range=1 thread=9 time=0 name="a"
memory device=0 time=1 address=4096 bytes=512
pop thread=9 time=1
memory device=0 time=2 address=4096 bytes=-512
work kind=copy correlation=2 device=0 context=0 stream=7 begin=3 end=4 bytes=64 name="copy host to device"
work kind=peer-copy correlation=3 device=0 context=0 stream=7 begin=5 end=6 bytes=32 name="copy peer to peer"
work kind=copy correlation=3 device=0 context=0 stream=7 begin=6 end=7 bytes=32 name="copy"
work kind=set correlation=4 device=0 context=0 stream=7 begin=8 end=9 bytes=16 name="set"
loss CUDA graphs recorded as a whole=1
)");
}

TEST_CASE("an old export without processes, strings or graph nodes is read all the same") {
  CHECK(records_of(R"(
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, correlationId);
CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (2, 3, 9, 5);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (4, 6, 5);
INSERT INTO NVTX_EVENTS VALUES (1, 8, 59, 'a', 9);
)") == R"(push range=1 thread=9 time=1 name="a"
link correlation=5 range=1
launch correlation=5 thread=9 begin=2 end=3
work kind=kernel correlation=5 device=0 context=0 stream=0 begin=4 end=6 name=""
pop thread=9 time=8
)");
}

TEST_CASE("an export that lacks what is needed says all of it, and how to record it") {
  CHECK(nsys_refusal("CREATE TABLE StringIds (id, value);") ==
        R"(error[P006]: the export has no table NVTX_EVENTS: without ranges nobody knows what a kernel is for
  --> r.sqlite
  = help: record with: nsys profile --trace=cuda,nvtx ...
error[P006]: the export has no table CUPTI_ACTIVITY_KIND_RUNTIME: it joins kernels to threads
  --> r.sqlite
  = help: record with: nsys profile --trace=cuda,nvtx ...
error[A003]: the export has no GPU work: no kernels, copies or memsets
  --> r.sqlite
  = help: record with: nsys profile --trace=cuda,nvtx ...
)");
  CHECK(nsys_refusal(
            "CREATE TABLE NVTX_EVENTS (start, end, eventType); CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, "
            "correlationId, globalTid); CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, correlationId);") ==
        R"(error[P006]: the table has no column globalTid
  --> r.sqlite#NVTX_EVENTS
  = help: is this an export of Nsight Systems? nsys export --type sqlite report.nsys-rep
)");
  CHECK(nsys_refusal(kTables + kernel(1, 2, 3)) ==
        R"(error[D004]: the export has no NVTX ranges: nobody knows what a kernel is for
  --> r.sqlite
  = help: PyTorch: wrap the steps in torch.autograd.profiler.emit_nvtx(record_shapes=True)
)");
  CHECK(nsys_refusal(kTables + nvtx(1, "2", "'a'")) ==
        R"(error[A003]: the export has no GPU work: no kernels, copies or memsets
  --> r.sqlite
  = help: record with: nsys profile --trace=cuda,nvtx ...
)");
}

TEST_CASE("what is no database, or a view instead of a table, is refused") {
  CHECK(problems_of([] { const SqliteFile file(std::string(4096, 'x'), "r.nsys-rep"); }) ==
        R"(error[P010]: not an SQLite database: file is not a database
  --> r.nsys-rep
  = help: make one of a report: nsys export --type sqlite report.nsys-rep
)");
  CHECK(nsys_refusal("CREATE VIEW NVTX_EVENTS AS SELECT 1 AS start;")
            .starts_with("error[P006]: the export has no table NVTX"));
}

}  // namespace
}  // namespace debubble::testing
