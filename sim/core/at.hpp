// The one way to index by an id: devices, stages, microbatches and nodes are int32, containers count in std::size_t.
//
//     at(schedule.rows, device)             the row of a device, without a bounds check, as operator[]
//     counts[to_index(kind)]                where only the index is wanted, of a number or an enumerator
//
// An id that may be out of range is checked where it enters, not here.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace debubble {

template <typename Id>
requires(std::is_arithmetic_v<Id> || std::is_enum_v<Id>) [[nodiscard]] constexpr std::size_t to_index(Id id) {
  return static_cast<std::size_t>(id);
}

template <typename Values, typename Id>
requires(std::is_arithmetic_v<Id> || std::is_enum_v<Id>) [[nodiscard]] constexpr decltype(auto)
    at(Values&& values, Id id) {
  return std::forward<Values>(values)[to_index(id)];
}

}  // namespace debubble
