// Records as lines of text, one a record, in the order they come: for tests and for looking into a file.
//
//     push range=1 thread=7 time=100 name="debubble.step:0"
//     work kind=kernel correlation=5 device=0 context=1 stream=7 begin=120 end=150 name="gemm"
//
// Fields that are empty or 0 where that means "none" are left out.
#pragma once

#include <string>

#include "profiler/records/record.hpp"

namespace debubble {

class RecordText : public RecordSink {
 public:
  explicit RecordText(std::string& out) : out_(out) {}

  using RecordSink::on;
  void on(const RangePush& record) override;
  void on(const RangePop& record) override;
  void on(const LinkRecord& record) override;
  void on(const LaunchRecord& record) override;
  void on(const KernelRecord& record) override;
  void on(const MemoryRecord& record) override;
  void on(const OverheadRecord& record) override;
  void on(const ClockRecord& record) override;
  void on(const SwitchRecord& record) override;
  void on(const FactRecord& record) override;
  void on(const LossRecord& record) override;

 private:
  std::string& out_;
};

}  // namespace debubble
