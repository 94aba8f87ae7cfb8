// A Kineto file becomes records: nesting, links, launches, memory, facts.
#include "profiler/importers/kineto.hpp"

#include "tests/importers/trace_text.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

const std::string kKinetoKernel =
    event("kernel", "gemm", 7, "50.5", "3.25",
          R"("External id": 2, "device": 0, "context": 1, "stream": 7, "correlation": 41)");

TEST_CASE("a kernel is linked to the op that its External id names") {
  const std::string events = event("cpu_op", "aten::linear", 5, "10", "20", R"("External id": 1)") + "," +
                             event("cpu_op", "aten::mm", 5, "12.125", "10",
                                   R"("External id": 2, "Sequence number": 4, "Fwd thread id": 0,
                                      "Input Dims": [[8,512], [512, 64],[]])") +
                             "," + event("cuda_runtime", "cudaLaunchKernel", 5, "14", "2", R"("correlation": 41)") +
                             "," + kKinetoKernel;
  CHECK(records_of(events) == R"(push range=1 thread=1 time=10000 name="aten::linear"
push range=2 thread=1 time=12125 name="aten::mm" sequence=4 sizes="[[8, 512], [512, 64], []]"
link correlation=41 range=2
launch correlation=41 thread=1 begin=14000 end=16000
work kind=kernel correlation=41 device=0 context=1 stream=7 begin=50500 end=53750 name="gemm"
pop thread=1 time=22125
pop thread=1 time=30000
)");
}

TEST_CASE("without an External id, the thread and time of the launch say it") {
  const std::string launch = event("cuda_driver", "cuLaunchKernelEx", 5, "14", "2", R"("correlation": 41)");
  const std::string ops = event("cpu_op", "a", 5, "10", "20", "") + "," + event("cpu_op", "b", 6, "10", "20", "");
  const std::string kernel = event("kernel", "k", 7, "50", "3", R"("correlation": 41)");
  const KinetoTrace trace(kineto_file(ops + "," + launch + "," + kernel), "t.json");
  CHECK(contains(records_of(trace), "link correlation=41 range=1\n"));
  CHECK(trace.notes() == std::vector<std::string>{
                             "1 GPU event linked by the thread and time of the launch: the file names no op for them",
                             "times are whole microseconds: a short kernel's may be off by as much as its length"});
}

TEST_CASE("an External id that is the correlation again, or of an op at another time, is not believed") {
  const std::string ops = event("cpu_op", "early", 5, "1.5", "2", R"("External id": 41)") + "," +
                          event("cpu_op", "other", 5, "4.5", "2", R"("External id": 3)") + "," +
                          event("cpu_op", "right", 5, "10.5", "9", R"("External id": 2)");
  const std::string launch = event("cuda_runtime", "cudaLaunchKernel", 5, "14", "2", R"("correlation": 41)");
  const auto kernel = [](const char* id) {
    return event("kernel", "k", 7, "50", "3", std::string(R"("correlation": 41, "External id": )") + id);
  };
  const KinetoTrace again(kineto_file(ops + "," + launch + "," + kernel("41")), "t.json");
  CHECK(contains(records_of(again), "link correlation=41 range=3\n"));
  const KinetoTrace other(kineto_file(ops + "," + launch + "," + kernel("3")), "t.json");
  CHECK(contains(records_of(other), "link correlation=41 range=3\n"));
  REQUIRE(other.notes().size() == 2);
  CHECK(other.notes()[1] == "1 GPU event named an op that was not running at the launch: linked by time instead");
}

TEST_CASE("a range inside of the named op says more than the op") {
  const std::string events = event("cpu_op", "CustomFunction", 5, "10", "20", R"("External id": 2)") + "," +
                             event("user_annotation", "debubble.layer:x", 5, "12.5", "10", R"("External id": 3)") +
                             "," + event("cuda_runtime", "cudaLaunchKernel", 5, "14", "2", R"("correlation": 41)") +
                             "," + kKinetoKernel;
  CHECK(contains(records_of(events), "link correlation=41 range=2\n"));
}

TEST_CASE("modules become ranges, other Python functions do not") {
  const std::string events = event("python_function", "nn.Module: Block_0", 5, "1", "9", R"("Python id": 1)") + "," +
                             event("python_function", "train.py(3): <module>", 5, "0", "90", R"("Python id": 2)") +
                             "," + kKinetoKernel;
  const std::string records = records_of(events);
  CHECK(contains(records, "name=\"nn.Module: Block_0\""));
  CHECK_FALSE(contains(records, "train.py"));
}

TEST_CASE("equal begins: the longer event is outside, and events that end together nest too") {
  const std::string events =
      event("cpu_op", "inner", 5, "1", "5", "") + "," + event("cpu_op", "outer", 5, "1", "9", "") + "," +
      event("cpu_op", "last", 5, "8", "2", "") + "," + event("cpu_op", "next", 5, "10", "1", "") + "," + kKinetoKernel;
  CHECK(records_of(events).substr(0, 400) == R"(push range=1 thread=1 time=1000 name="outer"
push range=2 thread=1 time=1000 name="inner"
pop thread=1 time=6000
push range=3 thread=1 time=8000 name="last"
pop thread=1 time=10000
pop thread=1 time=10000
push range=4 thread=1 time=10000 name="next"
pop thread=1 time=11000
work kind=kernel correlation=41 device=0 context=1 stream=7 begin=50500 end=53750 name="gemm"
)");
}

TEST_CASE("an event that overlaps without nesting ends with the one around it, and is counted") {
  const std::string events = event("cpu_op", "a", 5, "1", "4", "") + "," +
                             event("user_annotation", "b", 5, "3", "7", "") + "," + kKinetoKernel;
  const KinetoTrace trace(kineto_file(events), "t.json");
  CHECK(contains(records_of(trace), "pop thread=1 time=5000\npop thread=1 time=5000\n"));
  REQUIRE(trace.notes().size() == 2);
  CHECK(trace.notes()[1] == "1 host event overlapping without nesting: cut off where the event around it ends");
}

TEST_CASE("threads are merged by time, and a backward op names its forward op's thread") {
  const std::string events =
      event("cpu_op", "MulBackward0", 8, "30", "5", R"("Sequence number": 4, "Fwd thread id": 3)") + "," +
      event("cpu_op", "aten::mul", 5, "10", "5", R"("Sequence number": 4, "Fwd thread id": 0)") + "," + kKinetoKernel;
  const std::string records = records_of(events);
  CHECK(records.substr(0, records.find("work")) == R"(push range=1 thread=2 time=10000 name="aten::mul" sequence=4
pop thread=2 time=15000
push range=2 thread=1 time=30000 name="MulBackward0" sequence=4 forward_thread=2
pop thread=1 time=35000
)");
}

TEST_CASE("a number fits the thread whose ops came before, and each thread has one number") {
  // Thread 8, number 2, recomputes in the backward of thread 5, number 1; both count from 0.
  const auto op = [](const char* name, int tid, const char* ts, int sequence, int number) {
    return event(
               "cpu_op", name, tid, ts, "5",
               "\"Sequence number\": " + std::to_string(sequence) + ", \"Fwd thread id\": " + std::to_string(number)) +
           ",";
  };
  const std::string main = op("CheckpointFunction", 5, "10", 0, 0) + op("CheckpointFunction", 5, "20", 1, 0);
  const std::string engine = op("CheckpointFunctionBackward", 8, "300", 1, 1) + op("aten::relu", 8, "310", 0, 0) +
                             op("ReluBackward0", 8, "320", 0, 2) + op("CheckpointFunctionBackward", 8, "600", 0, 1) +
                             op("aten::relu", 8, "610", 1, 0) + op("ReluBackward0", 8, "620", 1, 2);
  for (const bool engine_first : {false, true}) {
    const std::string records = records_of((engine_first ? engine + main : main + engine) + kKinetoKernel);
    const std::string own = engine_first ? "1" : "2";
    const std::string other = engine_first ? "2" : "1";
    for (const std::string sequence : {"0", "1"}) {
      const std::string number = "sequence=" + sequence + " forward_thread=";
      CHECK(contains(records, "\"CheckpointFunctionBackward\" " + number + other));
      CHECK(contains(records, "\"ReluBackward0\" " + number + own));
    }
  }
}

TEST_CASE("several kernels of one launch, as CUDA graphs have them, share its link") {
  const auto node = [](const char* name, const char* ts) {
    return event("kernel", name, 7, ts, "3.5", R"("correlation": 41, "graph node id": 12884901889)");
  };
  const std::string events = event("cpu_op", "a", 5, "10", "20", "") + "," +
                             event("cuda_runtime", "cudaGraphLaunch", 5, "14", "2", R"("correlation": 41)") + "," +
                             node("k1", "50") + "," + node("k2", "54");
  CHECK(records_of(events) == R"(push range=1 thread=1 time=10000 name="a"
link correlation=41 range=1
launch correlation=41 thread=1 begin=14000 end=16000
work kind=kernel correlation=41 device=0 context=0 stream=7 begin=50000 end=53500 node=12884901889 name="k1"
work kind=kernel correlation=41 device=0 context=0 stream=7 begin=54000 end=57500 node=12884901889 name="k2"
pop thread=1 time=30000
)");
}

TEST_CASE("copies and sets are named as our own recorder names them") {
  const std::string events =
      event("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 7, "1", "2", R"("bytes": 64, "correlation": 1)") + "," +
      event("gpu_memcpy", "Memcpy PtoP (Device -> Device)", 7, "4", "2", R"("bytes": 32, "correlation": 2)") + "," +
      event("gpu_memset", "Memset (Device)", 7, "7", "2", R"("bytes": 16, "correlation": 3, "stream": -1)");
  CHECK(
      records_of(events) ==
      R"(work kind=copy correlation=1 device=0 context=0 stream=7 begin=1000 end=3000 bytes=64 name="copy host to device"
work kind=peer-copy correlation=2 device=0 context=0 stream=7 begin=4000 end=6000 bytes=32 name="copy peer to peer"
work kind=set correlation=3 device=0 context=0 stream=7 begin=7000 end=9000 bytes=16 name="set"
)");
}

TEST_CASE("memory of GPUs is taken, memory of hosts is not") {
  const auto memory = [](int type, const char* bytes) {
    return R"({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 9, "tid": 5, "ts": 11, "args":
              {"Addr": 18446744073709551615, "Bytes": )" +
           std::string(bytes) + R"(, "Device Id": 1, "Device Type": )" + std::to_string(type) + "}}";
  };
  const std::string records = records_of(memory(1, "-512") + "," + memory(0, "64") + "," + kKinetoKernel);
  CHECK(records.substr(0, records.find("work")) ==
        "memory thread=1 device=1 time=11000 address=18446744073709551615 bytes=-512\n");
}

TEST_CASE("GPU work without times is handed on as such, for the attribution to count") {
  CHECK(records_of(event("kernel", "k", 7, "50", "0", R"("correlation": 4)")) ==
        "work kind=kernel correlation=4 device=0 context=0 stream=7 begin=0 end=0 name=\"k\"\n");
}

TEST_CASE("what the file says about machine and run becomes facts") {
  const std::string records = records_of(
      kKinetoKernel, R"("deviceProperties": [{"id": 0, "name": "NVIDIA H100", "numSms": 132}], "cupti_version": 22,
                             "cuda_runtime_version": 12040, "cuda_driver_version": 12090,
                             "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8, "pg_config": []},
                             "baseTimeNanoseconds": 1751410836000000000, )");
  CHECK(records.substr(0, records.find("work")) == R"(fact device.0.name="NVIDIA H100"
fact cupti="22"
fact cuda="12.4"
fact driver.cuda="12.9"
fact rank="3"
fact world_size="8"
fact date="2025-07-01"
)");
}

TEST_CASE("events of unknown kinds and arrows that contradict the numbers are noted") {
  const auto arrow = [](const char* ph, int tid, const char* ts) {
    return R"({"ph": ")" + std::string(ph) + R"(", "id": 1, "pid": 9, "tid": )" + std::to_string(tid) + R"(, "ts": )" +
           ts + R"(, "cat": "fwdbwd", "name": "fwdbwd", "bp": "e"})";
  };
  const std::string ops = event("cpu_op", "aten::mul", 5, "10", "5", R"("Sequence number": 4)") + "," +
                          event("cpu_op", "MulBackward0", 8, "30", "5", R"("Sequence number": 4, "Fwd thread id": 1)") +
                          "," + event("cpu_op", "aten::add", 5, "16", "5", R"("Sequence number": 5)");
  const KinetoTrace good(kineto_file(ops + "," + arrow("s", 5, "10") + "," + arrow("f", 8, "30") + "," + kKinetoKernel),
                         "t");
  CHECK(good.notes() == std::vector<std::string>{"1 GPU event without a launch in the file, or launched outside of any "
                                                 "range: not linked"});
  const KinetoTrace bad(kineto_file(ops + "," + arrow("s", 5, "16") + "," + arrow("f", 8, "30") + "," +
                                    event("mtia", "x", 1, "1", "1", "") + "," + kKinetoKernel),
                        "t");
  REQUIRE(bad.notes().size() == 3);
  CHECK(bad.notes()[1] == "1 forward-backward arrow contradicting the sequence numbers, which were believed");
  CHECK(bad.notes()[2] == "1 event of the unknown category \"mtia\" left out");
}

TEST_CASE("an array of events without anything around it is a trace too") {
  CHECK(records_of(KinetoTrace("[" + kKinetoKernel + "]", "t.json")) ==
        "work kind=kernel correlation=41 device=0 context=1 stream=7 begin=50500 end=53750 name=\"gemm\"\n");
}

}  // namespace
}  // namespace debubble::testing
