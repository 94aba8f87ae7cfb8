#include "formats/exporters/kineto_trace.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "formats/exporters/chrome_trace_names.hpp"
#include "formats/exporters/chrome_trace_stream.hpp"
#include "formats/json/json_text.hpp"
#include "sim/core/at.hpp"
#include "sim/core/op_words.hpp"

namespace debubble {
namespace {

using trace_detail::process_name;
using trace_detail::TraceNames;
using trace_detail::TraceStream;
using StreamWork = RankTraces::Work;

constexpr std::int64_t kComputeStream = 7;  // PyTorch's default stream
constexpr std::int64_t kFirstOtherStream = 20;
constexpr std::int64_t kFirstHost = 100'000;  // processes: above all devices

// NCCL's kernel for a task of the step. Its algorithm and protocol are not modelled, so the name ends before them.
const char* collective_kernel(const StepSpan& step) {
  const auto says = [&](std::string_view word) { return step.what.find(word) != std::string::npos; };
  if (step.kind == StepTask::Kind::kParameterGather || says("all-gather")) return "ncclDevKernel_AllGather";
  if (says("reduce-scatter")) return "ncclDevKernel_ReduceScatter_Sum";
  return "ncclDevKernel_AllReduce_Sum";
}
const char* collective_name(const StepSpan& step) {
  const std::string_view kernel = collective_kernel(step);
  if (kernel == "ncclDevKernel_AllGather") return "_allgather_base";
  return kernel == "ncclDevKernel_AllReduce_Sum" ? "allreduce" : "_reduce_scatter_base";
}

class RankTraceWriter : private TraceNames {
 public:
  RankTraceWriter(const Timeline& timeline, const Schedule& schedule, TraceStream& stream, std::int32_t rank)
      : TraceNames(timeline, schedule, stream, 0),
        timeline_(timeline),
        schedule_(schedule),
        scratch_([](std::string_view) {}),
        names_(timeline, schedule, scratch_, 0),
        rank_(rank),
        host_(kFirstHost + rank) {}

  void write_head(const TraceInfo& info) {
    out << "{\n\"schemaVersion\": 1,\n\"deviceProperties\": [\n  {\"id\": " << rank_
        << ", \"name\": \"simulated device\"}\n],\n\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": " << rank_
        << ", \"world_size\": " << timeline_.devices
        << "},\n\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": 0,\n\"source\": \"modelled by debubble\","
        << "\n\"version\": ";
    append_json_string(out.text(), info.version);
    out << ",\n\"command_line\": ";
    append_json_string(out.text(), info.command_line);
    out << ",\n\"traceEvents\": [";
  }

  void write_names(const std::vector<TraceLanes::Lane>& lanes, std::int64_t first_thread) {
    name_process(host_, "rank " + std::to_string(rank_), "CPU", rank_);
    name_thread(host_, host_, "main thread");
    name_process(rank_, process_name(schedule_.placement, rank_), "GPU " + std::to_string(rank_),
                 std::int64_t{5'000'000} + rank_);
    for (const TraceLanes::Lane& lane : lanes) {
      const std::int64_t stream = stream_of(lane.thread - first_thread);
      name_thread(rank_, stream, "stream " + std::to_string(stream) + " (" + lane.name + ")");
    }
  }

  // The step on the host, and on the compute stream from its first work to its last.
  void write_steps(const std::vector<StreamWork>& works) {
    write_range("user_annotation", host_, host_, {0, timeline_.makespan}, "ProfilerStep#0");
    Interval on_gpu{timeline_.makespan, 0};
    for (const StreamWork& work : works) {
      if (work.stream != kComputeStream) continue;
      on_gpu = {std::min(on_gpu.begin, work.begin), std::max(on_gpu.end, work.end)};
    }
    if (on_gpu.begin > on_gpu.end) return;
    write_range("gpu_user_annotation", rank_, kComputeStream, on_gpu, "ProfilerStep#0");
  }

  void write_work(const StreamWork& work, Nanoseconds launch) {
    ++number_;
    const std::string name = name_of(work);
    const bool copies = work.kind == StreamWork::Kind::kCopy;
    write_range("user_annotation", host_, host_, {launch, launch}, name);
    open_slice("cuda_runtime", host_, host_, {launch, launch}, copies ? "cudaMemcpyAsync" : "cudaLaunchKernel");
    out << ",\"args\":{\"External id\":" << number_ << ",\"cbid\":" << (copies ? 41 : 211)
        << ",\"correlation\":" << number_;
    close_event();
    write_arrow("s", host_, host_, launch, "");
    write_range("gpu_user_annotation", rank_, work.stream, {work.begin, work.end}, name);
    write_kernel(work);
    write_arrow("f", rank_, work.stream, work.begin, ",\"bp\":\"e\"");
  }

  [[nodiscard]] static std::int64_t stream_of(std::int64_t lane) {
    return lane == 0 ? kComputeStream : kFirstOtherStream + lane - 1;
  }

 private:
  struct Interval {
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
  };

  void open_named(std::string_view name, std::int64_t process, std::int64_t thread) {
    next_line();
    out << "{\"name\":\"" << name << R"(","ph":"M","ts":0.000,"pid":)" << process << ",\"tid\":" << thread
        << ",\"args\":{";
  }

  void name_process(std::int64_t process, std::string_view name, std::string_view label, std::int64_t order) {
    open_named("process_name", process, 0);
    out << "\"name\":";
    append_json_string(out.text(), name);
    close_event();
    open_named("process_labels", process, 0);
    out << "\"labels\":\"" << label << "\"";
    close_event();
    open_named("process_sort_index", process, 0);
    out << "\"sort_index\":" << order;
    close_event();
  }

  void name_thread(std::int64_t process, std::int64_t thread, std::string_view name) {
    open_named("thread_name", process, thread);
    out << "\"name\":";
    append_json_string(out.text(), name);
    close_event();
    open_named("thread_sort_index", process, thread);
    out << "\"sort_index\":" << thread;
    close_event();
  }

  void open_slice(std::string_view category, std::int64_t process, std::int64_t thread, const Interval& time,
                  std::string_view name) {
    next_line();
    out << R"({"ph":"X","cat":")" << category << "\",\"name\":";
    append_json_string(out.text(), name);
    out << ",\"pid\":" << process << ",\"tid\":" << thread;
    write_time("ts", time.begin);
    write_time("dur", time.end - time.begin);
  }

  void write_range(std::string_view category, std::int64_t process, std::int64_t thread, const Interval& time,
                   std::string_view name) {
    open_slice(category, process, thread, time, name);
    out << ",\"args\":{\"External id\":" << number_;
    close_event();
  }

  void write_arrow(std::string_view phase, std::int64_t process, std::int64_t thread, Nanoseconds time,
                   std::string_view bind) {
    next_line();
    out << "{\"ph\":\"" << phase << "\",\"id\":" << number_ << ",\"pid\":" << process << ",\"tid\":" << thread;
    write_time("ts", time);
    out << R"(,"cat":"ac2g","name":"ac2g")" << bind << "}";
    out.end_record();
  }

  void write_kernel(const StreamWork& work) {
    const bool copies = work.kind == StreamWork::Kind::kCopy;
    open_slice(copies ? "gpu_memcpy" : "kernel", rank_, work.stream, {work.begin, work.end}, kernel_name(work));
    out << ",\"args\":{\"External id\":" << number_;
    if (!copies) out << ",\"queued\":0";
    out << ",\"device\":" << rank_ << ",\"context\":1,\"stream\":" << work.stream << ",\"correlation\":" << number_;
    switch (work.kind) {
      case StreamWork::Kind::kCompute:
        break;
      case StreamWork::Kind::kSend:
      case StreamWork::Kind::kReceive: {
        const Transfer& transfer = at(timeline_.transfers, work.index);
        write_message(work.kind == StreamWork::Kind::kSend ? "send" : "recv", transfer.bytes);
        out << ",\"Src Rank\":" << transfer.from_device << ",\"Dst Rank\":" << transfer.to_device;
        break;
      }
      case StreamWork::Kind::kCopy:
        out << ",\"bytes\":" << at(timeline_.copies, work.index).bytes;
        break;
      case StreamWork::Kind::kStep: {
        const StepSpan& step = at(timeline_.steps, work.index);
        if (step.lane == StepTask::Lane::kCollective) write_message(collective_name(step), step.bytes);
        break;
      }
    }
    close_event();
  }

  // What the tensor holds is not known, only how large it is.
  void write_message(std::string_view collective, Bytes bytes) {
    out << R"(,"Collective name":")" << collective << R"(","In msg nelems":)" << bytes << R"(,"Out msg nelems":)"
        << bytes << R"(,"Group size":)" << timeline_.devices << R"(,"dtype":"Byte","In split size":"[]",)"
        << R"("Out split size":"[]","Process Group Name":"0","Process Group Description":"pipeline")";
  }

  // As the range of the host and on the GPU.
  [[nodiscard]] std::string name_of(const StreamWork& work) {
    std::string& text = scratch_.out.text();
    text.clear();
    switch (work.kind) {
      case StreamWork::Kind::kCompute:
        names_.write_cell(at(timeline_.spans, work.index));
        break;
      case StreamWork::Kind::kSend:
      case StreamWork::Kind::kReceive:
        names_.write_transfer_name(at(timeline_.transfers, work.index), work.kind == StreamWork::Kind::kSend);
        break;
      case StreamWork::Kind::kCopy:
        names_.write_copy_name(at(timeline_.copies, work.index));
        break;
      case StreamWork::Kind::kStep: {
        const StepSpan& step = at(timeline_.steps, work.index);
        return step.what.empty() ? to_string(step.kind) : step.what;
      }
    }
    return text;
  }

  static std::string op_kernel(const Op& op) {
    return word_of(op.kind) + std::string(" of stage ") + std::to_string(op.stage);
  }

  [[nodiscard]] std::string kernel_name(const StreamWork& work) const {
    switch (work.kind) {
      case StreamWork::Kind::kCompute: {
        const Span& span = at(timeline_.spans, work.index);
        const Op* const partner = timeline_.partner(span);
        return partner == nullptr ? op_kernel(span.op) : op_kernel(span.op) + " with " + op_kernel(*partner);
      }
      case StreamWork::Kind::kCopy: {
        const CopySpan& copy = at(timeline_.copies, work.index);
        if (copy.peer >= 0) return "Memcpy PtoP (Device -> Device)";
        return copy.way == Copy::Way::kOut ? "Memcpy DtoH (Device -> Pinned)" : "Memcpy HtoD (Pinned -> Device)";
      }
      case StreamWork::Kind::kStep: {
        const StepSpan& step = at(timeline_.steps, work.index);
        return step.lane == StepTask::Lane::kCollective ? collective_kernel(step) : to_string(step.kind);
      }
      case StreamWork::Kind::kSend:
      case StreamWork::Kind::kReceive:
        break;
    }
    return "ncclDevKernel_SendRecv";
  }

  const Timeline& timeline_;
  const Schedule& schedule_;
  TraceStream scratch_;
  TraceNames names_;
  std::int32_t rank_;
  std::int64_t host_;
  std::int64_t number_ = 0;  // of the work: External id and correlation
};

}  // namespace

RankTraces::RankTraces(const Timeline& timeline, const Schedule& schedule, const TraceInfo& info)
    : timeline_(timeline),
      schedule_(schedule),
      info_(info),
      lanes_(timeline, false),
      works_(to_index(timeline.devices)) {
  for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
    const Span& span = timeline.spans[i];
    add(span.device, span.begin, span.end, lanes_.compute(span.device), Work::Kind::kCompute, i);
  }
  for (std::size_t i = 0; i < timeline.transfers.size(); ++i) {
    const Transfer& t = timeline.transfers[i];
    if (!TraceLanes::shows(timeline, t)) continue;
    add(t.from_device, t.begin, t.end, lanes_.send(t, i), Work::Kind::kSend, i);
    add(t.to_device, t.begin, t.end, lanes_.receive(t, i), Work::Kind::kReceive, i);
  }
  for (std::size_t i = 0; i < timeline.copies.size(); ++i) {
    const CopySpan& copy = timeline.copies[i];
    add(copy.device, copy.begin, copy.end, lanes_.copy(copy.device), Work::Kind::kCopy, i);
  }
  for (std::size_t i = 0; i < timeline.steps.size(); ++i) {
    const StepSpan& step = timeline.steps[i];
    add(step.device, step.begin, step.end, lanes_.step(step), Work::Kind::kStep, i);
  }
  for (std::vector<Work>& works : works_) {
    std::sort(works.begin(), works.end(), [](const Work& a, const Work& b) {
      return std::tie(a.begin, a.end, a.stream, a.kind, a.index) < std::tie(b.begin, b.end, b.stream, b.kind, b.index);
    });
  }
}

void RankTraces::add(std::int32_t device, Nanoseconds begin, Nanoseconds end, std::int64_t thread, Work::Kind kind,
                     std::size_t index) {
  const std::int64_t stream = RankTraceWriter::stream_of(thread - lanes_.compute(device));
  at(works_, device).push_back({begin, end, stream, kind, static_cast<std::int32_t>(index)});
}

void RankTraces::write(std::int32_t rank, const TextSink& sink) const {
  TraceStream stream(sink);
  RankTraceWriter writer(timeline_, schedule_, stream, rank);
  const std::vector<Work>& works = at(works_, rank);
  writer.write_head(info_);
  writer.write_names(lanes_.lanes(rank), lanes_.compute(rank));
  writer.write_steps(works);
  Nanoseconds launch = 0;
  for (const Work& work : works) {
    writer.write_work(work, launch);
    launch = work.begin;
  }
  stream.end();
}

}  // namespace debubble
