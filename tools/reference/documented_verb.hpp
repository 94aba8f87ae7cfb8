// A verb as manual pages and completions show it: the facts and rows from which its --help is made.
#pragma once

#include "scenario/request/flag.hpp"
#include "tools/flags/command_line.hpp"

namespace debubble {

struct DocumentedVerb {
  VerbFacts facts;
  const FlagRows* rows = nullptr;  // --config among them, --help not
  bool takes_program = false;      // a program with its own arguments may follow "--"
};

}  // namespace debubble
