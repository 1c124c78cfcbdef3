// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/commands.hpp"

namespace sextant::command {

Commands catalogue() {
    static const std::vector<Group> groups = {
        {"Images",
         {composite_operation(), filter_operation(), label_operation(), measure_operation(),
          stitch_operation(), contours_operation()}},
        {"Series of frames",
         {register_operation(), apply_operation(), synthesize_operation(), info_operation()}},
        {"Machines", {calibrate_operation(), machine_operation(), doctor_operation()}},
        {"Schedules: the messages between ranks",
         {list_operation(), explain_operation(), predict_operation(), simulate_operation(),
          prove_operation(), draw_operation(), report_operation()}}};
    static constexpr LaboratoryCommand laboratory[] = {
        {"bench", "compare the times of Sextant's algorithms with those of MPI"},
        {"tune", "find the fastest algorithms of MPI's collectives on this machine"},
        {"evaluate", "measure the accuracy of predictions and automatic choices on this machine"},
        {"reproduce",
         "compute the tables and figures of papers, and compare them with the published ones",
         "sextant-papers", "SEXTANT_PAPERS"}};
    return {groups, laboratory};
}

} // namespace sextant::command
