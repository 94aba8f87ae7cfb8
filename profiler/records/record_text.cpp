#include "profiler/records/record_text.hpp"

#include <array>
#include <cstddef>
#include <string_view>

#include "sim/core/at.hpp"

namespace debubble {

namespace {

constexpr std::array<std::string_view, 4> kWork = {"kernel", "copy", "peer-copy", "set"};
constexpr std::array<std::string_view, 7> kOverhead = {"compiler", "module-loading", "lazy-loading", "buffer-flush",
                                                       "profiler", "other",          "counting"};

// One line: a word, then fields.
class Line {
 public:
  Line(std::string& out, std::string_view word) : out_(out) { out_ += word; }
  ~Line() { out_ += '\n'; }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  template <class Int>
  Line& field(std::string_view key, Int value) {
    return raw(key, std::to_string(value));
  }
  Line& raw(std::string_view key, std::string_view value) {
    out_ += ' ';
    out_ += key;
    out_ += '=';
    out_ += value;
    return *this;
  }
  Line& text(std::string_view key, std::string_view value) {
    raw(key, "\"");
    for (const char c : value) out_ += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    out_ += '"';
    return *this;
  }

 private:
  std::string& out_;
};

}  // namespace

void RecordText::on(const RangePush& record) {
  Line line(out_, "push");
  line.field("range", record.range).field("thread", record.thread).field("time", record.time);
  line.text("name", record.name);
  if (record.sequence != -1) line.field("sequence", record.sequence);
  if (record.forward_thread != 0) line.field("forward_thread", record.forward_thread);
  if (!record.sizes.empty()) line.text("sizes", record.sizes);
}

void RecordText::on(const RangePop& record) {
  Line(out_, "pop").field("thread", record.thread).field("time", record.time);
}

void RecordText::on(const LinkRecord& record) {
  Line(out_, "link").field("correlation", record.correlation).field("range", record.range);
}

void RecordText::on(const LaunchRecord& record) {
  Line line(out_, "launch");
  line.field("correlation", record.correlation).field("thread", record.thread);
  line.field("begin", record.begin).field("end", record.end);
}

void RecordText::on(const KernelRecord& record) {
  Line line(out_, "work");
  line.raw("kind", at(kWork, record.work)).field("correlation", record.correlation);
  line.field("device", record.device).field("context", record.context).field("stream", record.stream);
  line.field("begin", record.begin).field("end", record.end);
  if (record.graph_node != 0) line.field("node", record.graph_node);
  if (record.bytes != 0) line.field("bytes", record.bytes);
  line.text("name", record.name);
}

void RecordText::on(const MemoryRecord& record) {
  Line line(out_, "memory");
  if (record.thread != 0) line.field("thread", record.thread);
  line.field("device", record.device).field("time", record.time);
  line.field("address", record.address).field("bytes", record.bytes);
}

void RecordText::on(const OverheadRecord& record) {
  Line line(out_, "overhead");
  line.raw("kind", at(kOverhead, record.kind)).field("thread", record.thread);
  line.field("begin", record.begin).field("end", record.end);
}

void RecordText::on(const ClockRecord& record) {
  Line line(out_, "clock");
  line.field("device", record.device).field("time", record.time);
  line.field("mhz", record.sm_mhz).field("slowed_by", record.slowed_by);
}

void RecordText::on(const SwitchRecord& record) {
  Line(out_, "switch").field("time", record.time).raw("recording", record.recording ? "on" : "off");
}

void RecordText::on(const FactRecord& record) { Line(out_, "fact").text(record.key, record.value); }

void RecordText::on(const LossRecord& record) { Line(out_, "loss").field(record.what, record.count); }

}  // namespace debubble
