// The categories, keys and values of a trace that come again and again: a Perfetto trace writes each once. Keys of
// times end with their unit.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/analysis/report.hpp"
#include "sim/core/at.hpp"
#include "sim/core/op_words.hpp"

namespace debubble::trace_detail {

// A name that is written once and has a number from then on. Whoever writes it keeps it.
struct InternedName {
  std::string_view text;
  std::uint64_t number = 0;  // 0: not written yet
};

struct TraceWords {
  TraceWords() {
    for (int kind = 0; kind < kOpKinds; ++kind) at(kinds, kind).text = word_of(static_cast<OpKind>(kind));
    for (int cause = 0; cause < kIdleCauses; ++cause) {
      at(cause_texts, cause) = to_string(static_cast<IdleCause>(cause)) + std::string("_ns");
      at(causes, cause).text = at(cause_texts, cause);
    }
  }
  TraceWords(const TraceWords&) = delete;

  struct OfOp {
    InternedName stage, microbatch, kind, piece, slice;
  };
  OfOp op{{"stage"}, {"microbatch"}, {"kind"}, {"piece"}, {"slice"}};
  OfOp partner{{"partner_stage"}, {"partner_microbatch"}, {"partner_kind"}, {"partner_piece"}, {"partner_slice"}};
  InternedName compute{"compute"}, transfer{"transfer"}, copy{"copy"}, step{"step"}, extra_work{"extra work"};
  InternedName idle{"idle"}, critical_path{"critical path"}, facts{"facts"}, source{"source"};
  InternedName beyond{"beyond_its_cost_ns"}, slowed{"slowed_by_collectives_ns"}, ready{"ready_ns"};
  InternedName waited_for{"waited_for"}, wait{"wait_ns"}, bytes{"bytes"}, kept_on{"kept_on"}, part{"part"};
  InternedName from_device{"from_device"}, to_device{"to_device"}, device{"device"}, latency{"latency_ns"};
  InternedName contention{"contention_ns"}, replica{"waited_for_replica_ns"}, before{"before"}, idle_time{"idle_ns"};
  InternedName measured{"measured"}, modelled{"modelled"}, copy_out{"copy out"}, copy_back{"copy back"};
  InternedName waits{"wait"}, collective{"collective"};
  InternedName compute_kind{"compute"}, transfer_kind{"transfer"};  // values: numbered apart from categories
  std::array<InternedName, kOpKinds> kinds;
  std::array<std::string, kIdleCauses> cause_texts;
  std::array<InternedName, kIdleCauses> causes;
};

}  // namespace debubble::trace_detail
