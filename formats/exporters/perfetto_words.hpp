// The categories, keys and values of a Perfetto trace that are written once. Used by perfetto_trace.cpp only.
#pragma once

#include "formats/exporters/perfetto_packets.hpp"

namespace debubble::trace_detail {

struct PerfettoWords {
  InternedName compute{"compute"}, transfer{"transfer"}, copy{"copy"}, step{"step"}, extra_work{"extra work"};
  InternedName idle{"idle"}, critical_path{"critical path"}, facts{"facts"};
  InternedName source{"source"}, stage{"stage"}, microbatch{"microbatch"}, kind{"kind"}, piece{"piece"}, slice{"slice"};
  InternedName partner_stage{"partner_stage"}, partner_microbatch{"partner_microbatch"}, partner_kind{"partner_kind"};
  InternedName beyond{"beyond_its_cost_ns"}, slowed{"slowed_by_collectives_ns"}, ready{"ready_ns"};
  InternedName waited_for{"waited_for"}, wait{"wait_ns"}, bytes{"bytes"}, kept_on{"kept_on"}, part{"part"};
  InternedName from_device{"from_device"}, to_device{"to_device"}, device{"device"}, latency{"latency_ns"};
  InternedName contention{"contention_ns"}, replica{"waited_for_replica_ns"}, before{"before"}, idle_time{"idle_ns"};
  InternedName measured{"measured"}, modelled{"modelled"}, copy_out{"copy out"}, copy_back{"copy back"};
  InternedName waits{"wait"}, collective{"collective"};
  InternedName compute_kind{"compute"}, transfer_kind{"transfer"};  // values: numbered apart from categories
};

}  // namespace debubble::trace_detail
