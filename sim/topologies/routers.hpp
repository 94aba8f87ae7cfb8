// Ways that suit one kind of topology better than the fewest links. Each is deterministic.
#pragma once

#include "sim/core/link_graph.hpp"
