// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/commands.hpp"

namespace sextant::command {

Commands catalogue() {
    static const std::vector<Operation> operations = {
        composite_operation(),  filter_operation(),   label_operation(),   contours_operation(),
        register_operation(),   apply_operation(),    list_operation(),    prove_operation(),
        draw_operation(),       predict_operation(),  explain_operation(), calibrate_operation(),
        machine_operation(),    simulate_operation(), report_operation(),  info_operation(),
        synthesize_operation(), doctor_operation()};
    static constexpr LaboratoryCommand laboratory[] = {
        {"bench", "time our algorithms and what MPI offers against each other"},
        {"evaluate",
         "how good predictions and choices are here: errors, and regret against all ways"},
        {"reproduce", "tables and figures of the papers, ours beside theirs"}};
    return {operations, laboratory};
}

} // namespace sextant::command
