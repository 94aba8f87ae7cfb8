// Manual pages, in the man macros that groff and mandoc read.
//
//     DEBUBBLE-SIMULATE(1)        General Commands Manual        DEBUBBLE-SIMULATE(1)
//
//     NAME
//            debubble-simulate - one schedule: step time, bubbles, ...
//     SYNOPSIS
//            debubble simulate [FLAG ...]
//     OPTIONS
//        -p, --devices P
//            devices in the pipeline (default: 4)
#pragma once

#include <span>
#include <string>

#include "tools/reference/documented_verb.hpp"

namespace debubble {

// debubble(1): what the command is, its verbs, exit statuses, the environment and files.
[[nodiscard]] std::string overview_man_page(std::span<const DocumentedVerb> verbs);
// debubble-VERB(1).
[[nodiscard]] std::string verb_man_page(const DocumentedVerb& verb);

}  // namespace debubble
