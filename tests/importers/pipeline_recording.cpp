#include "tests/importers/pipeline_recording.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "tests/importers/database.hpp"

namespace debubble::testing {
namespace {

using Json = nlohmann::json;
constexpr std::int64_t kUs = 1000;
constexpr std::int64_t kWire = 100 * kUs;

struct PlannedOp {
  bool forward = true;
  int microbatch = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// Each rank's ops of one iteration in 1F1B's order, as early as their inputs allow.
std::vector<std::vector<PlannedOp>> planned(const RecordingStyle& style, std::int64_t from, bool first) {
  std::vector<std::vector<PlannedOp>> rows(static_cast<std::size_t>(style.ranks));
  for (int r = 0; r < style.ranks; ++r) {
    const int ahead = std::min(style.microbatches, style.ranks - 1 - r);
    auto& row = rows[static_cast<std::size_t>(r)];
    for (int k = 0; k < ahead; ++k) row.push_back({true, k});
    for (int k = ahead; k < style.microbatches; ++k) row.push_back({true, k}), row.push_back({false, k - ahead});
    for (int k = style.microbatches - ahead; k < style.microbatches; ++k) row.push_back({false, k});
  }
  std::map<std::tuple<bool, int, int>, std::int64_t> ends;  // forward, rank, microbatch
  std::vector<std::size_t> next(rows.size(), 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (int r = 0; r < style.ranks; ++r) {
      auto& row = rows[static_cast<std::size_t>(r)];
      std::size_t& at = next[static_cast<std::size_t>(r)];
      if (at == row.size()) continue;
      PlannedOp& op = row[at];
      const int source = op.forward ? r - 1 : r + 1;
      std::int64_t ready = from;
      if (source >= 0 && source < style.ranks) {
        const auto made = ends.find({op.forward, source, op.microbatch});
        if (made == ends.end()) continue;
        ready = made->second + kWire;
      }
      op.begin = std::max(ready, at == 0 ? from : row[at - 1].end + 10 * kUs);
      op.end = op.begin + (op.forward ? 1000 : 2000) * kUs;
      if (first && r == 0 && at == 0) op.end += style.slow_first;
      ends[{op.forward, r, op.microbatch}] = op.end;
      ++at;
      moved = true;
    }
  }
  return rows;
}

// Writes down one rank.
class Recorder {
 public:
  Recorder(const RecordingStyle& style, int rank) : style_(style), rank_(rank) {}

  void iteration(const std::vector<std::vector<PlannedOp>>& rows, int number) {
    const auto& row = rows[static_cast<std::size_t>(rank_)];
    const std::int64_t begin = row.front().begin - 450 * kUs;
    for (const PlannedOp& op : row) {
      receive(rows, op);
      compute(op);
      send(op);
    }
    const std::int64_t end = row.back().end + 200 * kUs;
    if (style_.optimizer) host("Optimizer.step#SGD.step", 1, end - 100 * kUs, end - 20 * kUs);
    if (style_.steps) host("ProfilerStep#" + std::to_string(number), 1, begin, end);
  }

  std::vector<RecordedItem> items;

 private:
  void host(const std::string& name, int thread, std::int64_t begin, std::int64_t end, std::int64_t sequence = -1) {
    items.push_back({RecordedItem::Kind::kHost, name, thread, begin, end, 0, sequence});
  }
  void kernel(const std::string& name, int thread, std::int64_t launched, std::int64_t begin, std::int64_t end) {
    if (!style_.kernels) return;
    ++id_;
    items.push_back({RecordedItem::Kind::kLaunch, "cudaLaunchKernel", thread, launched, launched + 2 * kUs, id_});
    items.push_back({RecordedItem::Kind::kKernel, name, 7, begin, end, id_});
  }

  // The host launches an op 0.3 ms before it runs; a backward's kernels on autograd's thread.
  void compute(const PlannedOp& op) {
    const std::int64_t begin = op.begin - 300 * kUs;
    const std::int64_t end = op.begin - 100 * kUs;
    const std::string letter = op.forward ? "F" : "B";
    if (style_.pp_names) {
      host("PP:" + std::to_string(rank_) + letter + std::to_string(op.microbatch), op.forward ? 1 : 2, begin, end);
    } else if (style_.around) {
      host((op.forward ? "Forward " : "Backward ") + std::to_string(op.microbatch), 1, op.begin - 410 * kUs,
           op.begin - 60 * kUs);
    } else if (style_.named) {
      host(op.forward ? "megatron.core.pipeline_parallel.schedules.forward_step" : "backward_step", 1, begin, end);
    }
    const int thread = op.forward ? 1 : 2;
    if (op.forward && style_.nodes) sequence_[op.microbatch] = ++newest_;
    const std::int64_t sequence = style_.nodes ? sequence_[op.microbatch] : -1;
    if (op.forward) {
      host("aten::addmm", 1, begin + 10 * kUs, end - 10 * kUs, sequence);
    } else if (style_.nodes) {
      host("autograd::engine::evaluate_function: AddmmBackward0", 2, begin + 10 * kUs, end - 10 * kUs, sequence);
    }
    const std::int64_t middle = (op.begin + op.end) / 2;
    kernel("sgemm_64x64", thread, begin + 20 * kUs, op.begin, middle);
    if (op.forward && style_.alltoall) {
      host("nccl:all_to_all", 1, begin + 40 * kUs, begin + 60 * kUs);
      kernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage)", 1, begin + 50 * kUs, middle, middle + 10 * kUs);
    }
    kernel("sgemm_64x64", thread, end - 20 * kUs, middle + 20 * kUs, op.end);
  }

  void transfer(const char* name, const PlannedOp& op, int peer, std::int64_t host_begin, std::int64_t begin,
                std::int64_t end) {
    const std::string function = std::string(name) + (op.forward ? "_forward" : "_backward");
    const bool sends = std::string(name) == "send";
    if (style_.directions) host(function, 1, host_begin - 2 * kUs, host_begin + 14 * kUs);
    if (style_.transfers) {
      host(std::string("nccl:") + name + " " + std::to_string(rank_) + (sends ? "->" : "<-") + std::to_string(peer), 1,
           host_begin, host_begin + 10 * kUs);
    }
    if (style_.pp_names) {
      host("PP:" + std::to_string(rank_) + (sends ? "SEND_" : "RECV_") + (op.forward ? "F" : "B") +
               std::to_string(op.microbatch),
           1, host_begin, host_begin + 10 * kUs);
    }
    kernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage)", 1, host_begin + 5 * kUs, begin, end);
  }

  void receive(const std::vector<std::vector<PlannedOp>>& rows, const PlannedOp& op) {
    const int peer = op.forward ? rank_ - 1 : rank_ + 1;
    const std::int64_t posted = op.begin - 400 * kUs;
    if (peer < 0 || peer >= style_.ranks) {
      if (style_.directions) host(op.forward ? "recv_forward" : "recv_backward", 1, posted, posted + kUs);
      return;  // the function returns at once
    }
    const std::int64_t sent = end_of(rows, peer, op);
    transfer("recv", op, peer, posted, sent - 50 * kUs, sent + kWire);
  }

  void send(const PlannedOp& op) {
    const int peer = op.forward ? rank_ + 1 : rank_ - 1;
    const std::int64_t posted = op.begin - 80 * kUs;
    if (peer < 0 || peer >= style_.ranks) return;
    transfer("send", op, peer, posted, op.end, op.end + kWire);
  }

  static std::int64_t end_of(const std::vector<std::vector<PlannedOp>>& rows, int rank, const PlannedOp& op) {
    const auto& row = rows[static_cast<std::size_t>(rank)];
    return std::find_if(
               row.begin(), row.end(),
               [&](const PlannedOp& made) { return made.forward == op.forward && made.microbatch == op.microbatch; })
        ->end;
  }

  const RecordingStyle& style_;
  int rank_;
  std::int64_t id_ = 0;
  std::int64_t newest_ = 0;
  std::map<int, std::int64_t> sequence_;
};

std::string micros(std::int64_t time) {
  const std::string digits = std::to_string(time % 1000);
  return std::to_string(time / 1000) + "." + std::string(3 - digits.size(), '0') + digits;
}

}  // namespace

std::vector<std::vector<RecordedItem>> recorded(const RecordingStyle& style) {
  std::vector<std::vector<RecordedItem>> pipeline;
  for (int r = 0; r < style.ranks; ++r) {
    Recorder recorder(style, r);
    std::int64_t from = 1'000'000;
    for (int k = 0; k < style.iterations; ++k) {
      const auto rows = planned(style, from, k == 0);
      recorder.iteration(rows, k + 3);
      for (const auto& row : rows) from = std::max(from, row.back().end + 1'000'000);
    }
    const auto place = static_cast<std::size_t>(r);
    for (RecordedItem& item : recorder.items) {
      const std::int64_t skew = place < style.skew.size() ? style.skew[place] : 0;
      item.begin += skew, item.end += skew;
    }
    pipeline.push_back(std::move(recorder.items));
  }
  std::vector<std::vector<RecordedItem>> all;
  const int count = style.ranks * style.replicas;
  for (int k = 0; k < count; ++k) {
    all.push_back(pipeline[static_cast<std::size_t>(style.replicas_first ? k % style.ranks : k / style.replicas)]);
  }
  return all;
}

std::vector<RunText> kineto_files(const RecordingStyle& style) {
  std::vector<RunText> files;
  const auto ranks = recorded(style);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    std::string text = "{\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": " + std::to_string(r) +
                       ", \"world_size\": " + std::to_string(ranks.size()) + "},\n\"traceEvents\": [\n";
    bool first = true;
    for (const RecordedItem& item : ranks[r]) {
      const bool host = item.kind == RecordedItem::Kind::kHost;
      const bool op = item.name.starts_with("aten::") || item.name.starts_with("autograd::");
      const char* const category = !host ? (item.kind == RecordedItem::Kind::kLaunch ? "cuda_runtime" : "kernel")
                                   : op  ? "cpu_op"
                                         : "user_annotation";
      text += std::string(first ? "" : ",\n") + "{\"ph\": \"X\", \"cat\": \"" + category + "\", \"name\": \"" +
              item.name + "\", \"pid\": 11, \"tid\": " + std::to_string(item.thread) +
              ", \"ts\": " + micros(item.begin) + ", \"dur\": " + micros(item.end - item.begin) + ", \"args\": {";
      if (!host) text += "\"correlation\": " + std::to_string(item.id);
      if (item.sequence >= 0) text += "\"Sequence number\": " + std::to_string(item.sequence);
      text += "}}";
      first = false;
    }
    files.push_back({"rank" + std::to_string(r) + ".json", text + "]}"});
  }
  return files;
}

std::string nsys_sql(const std::vector<std::vector<RecordedItem>>& ranks, int first_rank) {
  std::string sql = R"(
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, globalPid, shortName);
CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid, textId);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);
CREATE TABLE TARGET_INFO_GPU (id, name);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000);
INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H100');
INSERT INTO StringIds VALUES (1, 'sgemm_64x64'), (2, 'ncclDevKernel_SendRecv'), (3, 'backward_step');
)";
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const auto process = (std::int64_t{100} + first_rank + static_cast<std::int64_t>(r)) << 24;
    for (const RecordedItem& item : ranks[r]) {
      const std::string times = std::to_string(item.begin) + "," + std::to_string(item.end);
      const std::string thread = std::to_string(process + item.thread);
      if (item.kind == RecordedItem::Kind::kLaunch) {
        sql += "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" + times + "," + thread + "," +
               std::to_string(item.id) + ",1);";
      } else if (item.kind == RecordedItem::Kind::kKernel) {
        sql += "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" + times + "," + std::to_string(r) + ",1,7," +
               std::to_string(item.id) + "," + std::to_string(process) + "," +
               (item.name.find("nccl") == 0 ? "2" : "1") + ");";
      } else {
        std::string text = item.name;
        if (item.sequence >= 0) text += ", seq = " + std::to_string(item.sequence) + ", op_id = 5";
        const bool by_id = text == "backward_step";
        sql += "INSERT INTO NVTX_EVENTS VALUES (" + times + ",59," + (by_id ? "NULL" : "'" + text + "'") + "," +
               thread + "," + (by_id ? "3" : "NULL") + ");";
      }
    }
  }
  return sql;
}

std::vector<RunText> nsys_files(const RecordingStyle& style) {
  std::vector<RunText> files;
  const auto ranks = recorded(style);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    files.push_back(
        {"report.rank" + std::to_string(r) + ".sqlite", Database(nsys_sql({ranks[r]}, static_cast<int>(r))).image()});
  }
  return files;
}

}  // namespace debubble::testing
