// libdebubble_cbc.so: MixedSolver by COIN-OR's CBC, the only code of ours that is linked to it.
#include <coin/Cbc_C_Interface.h>

#include <csignal>
#include <mutex>
#include <string>

#include "schedules/optimal/program/mixed_program.hpp"

namespace debubble {

namespace {

const char* cbc_name() {
  static const std::string name = std::string("CBC ") + Cbc_getVersion();
  return name.c_str();
}

void solve_with_cbc(const MixedQuestion& question, MixedAnswer& answer) {
  static std::mutex one_at_a_time;  // CBC's main program keeps state of its own
  const std::lock_guard lock(one_at_a_time);
  struct sigaction interrupt {};
  sigaction(SIGINT, nullptr, &interrupt);  // which CBC takes for itself
  Cbc_Model* const model = Cbc_newModel();
  Cbc_setLogLevel(model, 0);
  Cbc_loadProblem(model, question.columns, question.rows, question.starts, question.entries, question.factors,
                  question.lower, question.upper, question.cost, question.row_lower, question.row_upper);
  for (int column = 0; column < question.columns; ++column) {
    if (question.whole[column] != 0) Cbc_setInteger(model, column);
  }
  Cbc_setObjSense(model, 1);
  Cbc_setAllowableGap(model, 0);
  Cbc_setAllowableFractionGap(model, 0);
  Cbc_setParameter(model, "integerTolerance", "1e-7");
  Cbc_setParameter(model, "timeMode", "elapsed");
  if (question.nodes > 0) Cbc_setMaximumNodes(model, question.nodes);
  if (question.seconds > 0) Cbc_setMaximumSeconds(model, question.seconds);
  Cbc_solve(model);
  answer.infeasible = Cbc_isProvenInfeasible(model) != 0;
  answer.proven = Cbc_isProvenOptimal(model) != 0 && !answer.infeasible;
  answer.bound = Cbc_getBestPossibleObjValue(model);
  answer.nodes = Cbc_getNodeCount(model);
  const double* const best = answer.infeasible ? nullptr : Cbc_bestSolution(model);
  answer.found = best != nullptr;
  for (int column = 0; answer.found && column < question.columns; ++column) answer.values[column] = best[column];
  Cbc_deleteModel(model);
  sigaction(SIGINT, &interrupt, nullptr);
}

}  // namespace

}  // namespace debubble

extern "C" __attribute__((visibility("default"))) const debubble::MixedSolver debubble_mixed_solver{
    debubble::MixedSolver::kInterfaceVersion, debubble::cbc_name, debubble::solve_with_cbc};
