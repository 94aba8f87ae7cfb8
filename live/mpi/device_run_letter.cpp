#include "live/mpi/device_run_letter.hpp"

namespace debubble::live {

namespace {

void write_record(LetterWriter& letter, const Op& op) {
  letter.number(static_cast<std::int64_t>(op.kind)).number(op.paired_with_next ? 1 : 0);
  letter.number(op.stage).number(op.microbatch);
}

void read_part(LetterReader& letter, Op& op) {
  letter.into(op.kind);
  letter.into(op.paired_with_next);
  letter.into(op.stage);
  letter.into(op.microbatch);
}

void write_record(LetterWriter& letter, const ObservedOp& op) {
  write_record(letter, op.op);
  write_record(letter, op.partner);
  letter.number(op.paired ? 1 : 0).number(op.device).number(op.begin).number(op.end);
}

void read_part(LetterReader& letter, ObservedOp& op) {
  read_part(letter, op.op);
  read_part(letter, op.partner);
  letter.into(op.paired);
  letter.into(op.device);
  letter.into(op.begin);
  letter.into(op.end);
}

void write_record(LetterWriter& letter, const ObservedTransfer& transfer) {
  write_record(letter, transfer.op);
  letter.number(transfer.from_device).number(transfer.to_device).number(transfer.begin).number(transfer.end);
  letter.number(transfer.latency).number(transfer.bytes);
}

void read_part(LetterReader& letter, ObservedTransfer& transfer) {
  read_part(letter, transfer.op);
  letter.into(transfer.from_device);
  letter.into(transfer.to_device);
  letter.into(transfer.begin);
  letter.into(transfer.end);
  letter.into(transfer.latency);
  letter.into(transfer.bytes);
}

template <typename Item>
void write_all(LetterWriter& letter, const std::vector<Item>& items) {
  letter.number(static_cast<std::int64_t>(items.size()));
  for (const Item& item : items) write_record(letter, item);
}

template <typename Item>
void read_all(LetterReader& letter, std::vector<Item>& items) {
  for (std::int64_t left = letter.number(); left > 0; --left) read_part(letter, items.emplace_back());
}

}  // namespace

void write_record(LetterWriter& letter, const std::vector<DeviceRun>& runs) {
  letter.number(static_cast<std::int64_t>(runs.size()));
  for (const DeviceRun& run : runs) {
    write_all(letter, run.ops);
    write_all(letter, run.transfers);
    letter.number(run.peak_activation).number(run.peak_memory).number(run.tensors_checked);
  }
}

std::vector<DeviceRun> read_device_runs(LetterReader& letter) {
  std::vector<DeviceRun> runs(static_cast<std::size_t>(letter.number()));
  for (DeviceRun& run : runs) {
    read_all(letter, run.ops);
    read_all(letter, run.transfers);
    letter.into(run.peak_activation);
    letter.into(run.peak_memory);
    letter.into(run.tensors_checked);
  }
  return runs;
}

void translate(std::vector<DeviceRun>& runs, const std::function<Nanoseconds(Nanoseconds)>& clock) {
  for (DeviceRun& run : runs) {
    for (ObservedOp& op : run.ops) {
      op.begin = clock(op.begin);
      op.end = clock(op.end);
    }
    for (ObservedTransfer& transfer : run.transfers) {
      transfer.begin = clock(transfer.begin);
      transfer.end = clock(transfer.end);
    }
  }
}

}  // namespace debubble::live
