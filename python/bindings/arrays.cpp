#include "python/bindings/arrays.hpp"

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

#include "sim/core/op.hpp"

namespace debubble::python {

namespace py = pybind11;

namespace {

// "<U1" of NumPy is one character of UCS4.
using Letter = std::uint32_t;

Letter letter_of(OpKind kind) { return static_cast<Letter>(letter(kind)); }

struct SpanRow {
  std::int64_t ready = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int32_t device = 0;
  std::int32_t stage = 0;
  std::int32_t microbatch = 0;
  Letter kind = 0;
  bool paired = false;
};

struct TransferRow {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t latency = 0;
  std::int64_t contention = 0;
  std::int64_t bytes = 0;
  std::int32_t stage = 0;
  std::int32_t microbatch = 0;
  std::int32_t from_device = 0;
  std::int32_t to_device = 0;
  Letter kind = 0;
};

struct OpRow {
  std::int32_t device = 0;
  std::int32_t position = 0;
  std::int32_t stage = 0;
  std::int32_t microbatch = 0;
  Letter kind = 0;
  bool paired = false;
};

// A column: its name, its type as NumPy spells it, where it is in the row.
struct Column {
  const char* name;
  const char* type;
  std::size_t offset;
};

py::dtype dtype_of(const std::vector<Column>& columns, std::size_t row_size) {
  py::list names;
  py::list types;
  py::list offsets;
  for (const Column& column : columns) {
    names.append(column.name);
    types.append(py::dtype(std::string(column.type)));
    offsets.append(column.offset);
  }
  return py::dtype(std::move(names), std::move(types), std::move(offsets), static_cast<py::ssize_t>(row_size));
}

// Takes a copy. Results do not change, so that two who share one cannot disturb each other. The size of a row is given,
// for pybind11 before 2.12 cannot ask a dtype of NumPy 2.
py::array fixed(const std::vector<Column>& columns, std::size_t row_size, const void* rows, std::size_t count) {
  py::array array(dtype_of(columns, row_size), {count}, {row_size}, rows);
  array.attr("flags").attr("writeable") = false;
  return array;
}

SpanRow row_of(const Span& span, const Op& op, bool paired) {
  return {span.ready, span.begin, span.end, span.device, op.stage, op.microbatch, letter_of(op.kind), paired};
}

}  // namespace

py::array spans_array(const Timeline& timeline) {
  std::vector<SpanRow> rows;
  rows.reserve(timeline.spans.size());
  for (const Span& span : timeline.spans) {
    const Op* const partner = timeline.partner(span);
    rows.push_back(row_of(span, span.op, partner != nullptr));
    if (partner != nullptr) rows.push_back(row_of(span, *partner, true));
  }
  return fixed({{"device", "<i4", offsetof(SpanRow, device)},
                {"kind", "<U1", offsetof(SpanRow, kind)},
                {"stage", "<i4", offsetof(SpanRow, stage)},
                {"microbatch", "<i4", offsetof(SpanRow, microbatch)},
                {"paired", "?", offsetof(SpanRow, paired)},
                {"ready_ns", "<i8", offsetof(SpanRow, ready)},
                {"begin_ns", "<i8", offsetof(SpanRow, begin)},
                {"end_ns", "<i8", offsetof(SpanRow, end)}},
               sizeof(SpanRow), rows.data(), rows.size());
}

py::array transfers_array(const Timeline& timeline) {
  std::vector<TransferRow> rows;
  rows.reserve(timeline.transfers.size());
  for (const Transfer& one : timeline.transfers) {
    rows.push_back({one.begin, one.end, one.latency, one.contention, one.bytes, one.op.stage, one.op.microbatch,
                    one.from_device, one.to_device, letter_of(one.op.kind)});
  }
  return fixed({{"kind", "<U1", offsetof(TransferRow, kind)},
                {"stage", "<i4", offsetof(TransferRow, stage)},
                {"microbatch", "<i4", offsetof(TransferRow, microbatch)},
                {"from_device", "<i4", offsetof(TransferRow, from_device)},
                {"to_device", "<i4", offsetof(TransferRow, to_device)},
                {"begin_ns", "<i8", offsetof(TransferRow, begin)},
                {"end_ns", "<i8", offsetof(TransferRow, end)},
                {"latency_ns", "<i8", offsetof(TransferRow, latency)},
                {"contention_ns", "<i8", offsetof(TransferRow, contention)},
                {"bytes", "<i8", offsetof(TransferRow, bytes)}},
               sizeof(TransferRow), rows.data(), rows.size());
}

py::array ops_array(const Schedule& schedule) {
  std::vector<OpRow> rows;
  rows.reserve(schedule.total_ops());
  for (std::size_t device = 0; device < schedule.rows.size(); ++device) {
    bool second = false;
    for (std::size_t k = 0; k < schedule.rows[device].size(); ++k) {
      const Op& op = schedule.rows[device][k];
      rows.push_back({static_cast<std::int32_t>(device), static_cast<std::int32_t>(k), op.stage, op.microbatch,
                      letter_of(op.kind), op.paired_with_next || second});
      second = op.paired_with_next;
    }
  }
  return fixed({{"device", "<i4", offsetof(OpRow, device)},
                {"position", "<i4", offsetof(OpRow, position)},
                {"kind", "<U1", offsetof(OpRow, kind)},
                {"stage", "<i4", offsetof(OpRow, stage)},
                {"microbatch", "<i4", offsetof(OpRow, microbatch)},
                {"paired", "?", offsetof(OpRow, paired)}},
               sizeof(OpRow), rows.data(), rows.size());
}

py::array memory_array(const std::vector<MemoryPoint>& points) {
  constexpr std::size_t kColumns = kMemoryCategories + 2;
  std::vector<std::int64_t> rows;
  rows.reserve(points.size() * kColumns);
  for (const MemoryPoint& point : points) {
    rows.push_back(point.at);
    rows.push_back(std::accumulate(point.bytes.begin(), point.bytes.end(), Bytes{0}));
    rows.insert(rows.end(), point.bytes.begin(), point.bytes.end());
  }
  std::vector<std::string> names{"at_ns", "total_bytes"};
  for (int k = 0; k < kMemoryCategories; ++k) {
    names.push_back(std::string(to_string(static_cast<MemoryCategory>(k))) + "_bytes");
  }
  std::vector<Column> columns;
  for (std::size_t k = 0; k < kColumns; ++k) columns.push_back({names[k].c_str(), "<i8", k * sizeof(std::int64_t)});
  return fixed(columns, kColumns * sizeof(std::int64_t), rows.data(), points.size());
}

}  // namespace debubble::python
