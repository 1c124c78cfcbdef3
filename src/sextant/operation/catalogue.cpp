// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/composite/composite.hpp"
#include "sextant/operation/composite/synthesize.hpp"
#include "sextant/operation/contours/contours.hpp"
#include "sextant/operation/contours/label.hpp"
#include "sextant/operation/filter/filter.hpp"
#include "sextant/operation/info.hpp"
#include "sextant/operation/list.hpp"
#include "sextant/operation/machines/calibrate.hpp"
#include "sextant/operation/machines/doctor.hpp"
#include "sextant/operation/machines/machine.hpp"
#include "sextant/operation/operation.hpp"
#include "sextant/operation/report.hpp"
#include "sextant/operation/schedules/draw.hpp"
#include "sextant/operation/schedules/explain.hpp"
#include "sextant/operation/schedules/predict.hpp"
#include "sextant/operation/schedules/prove.hpp"
#include "sextant/operation/schedules/simulate.hpp"
#include "sextant/operation/series/apply.hpp"
#include "sextant/operation/series/register.hpp"

namespace sextant::operation {

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

} // namespace sextant::operation
