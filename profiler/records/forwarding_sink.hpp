// ForwardingSink: hands every record on as it is. A sink that changes or notes some of them overrides those.
#pragma once

#include "profiler/records/record.hpp"

namespace debubble {

class ForwardingSink : public RecordSink {
 public:
  // `next` must outlive this.
  explicit ForwardingSink(RecordSink& next) : next_(next) {}

  using RecordSink::on;
  void on(const RangePush& record) override { next_.on(record); }
  void on(const RangePop& record) override { next_.on(record); }
  void on(const LinkRecord& record) override { next_.on(record); }
  void on(const LaunchRecord& record) override { next_.on(record); }
  void on(const KernelRecord& record) override { next_.on(record); }
  void on(const MemoryRecord& record) override { next_.on(record); }
  void on(const OverheadRecord& record) override { next_.on(record); }
  void on(const ClockRecord& record) override { next_.on(record); }
  void on(const SwitchRecord& record) override { next_.on(record); }
  void on(const FactRecord& record) override { next_.on(record); }
  void on(const LossRecord& record) override { next_.on(record); }

 protected:
  [[nodiscard]] RecordSink& next() const { return next_; }

 private:
  RecordSink& next_;
};

}  // namespace debubble
