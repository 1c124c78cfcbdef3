// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/apply.hpp"
#include "sextant/operation/bench.hpp"
#include "sextant/operation/calibrate.hpp"
#include "sextant/operation/composite.hpp"
#include "sextant/operation/contours.hpp"
#include "sextant/operation/doctor.hpp"
#include "sextant/operation/draw.hpp"
#include "sextant/operation/evaluate.hpp"
#include "sextant/operation/explain.hpp"
#include "sextant/operation/filter.hpp"
#include "sextant/operation/info.hpp"
#include "sextant/operation/label.hpp"
#include "sextant/operation/list.hpp"
#include "sextant/operation/machine.hpp"
#include "sextant/operation/operation.hpp"
#include "sextant/operation/predict.hpp"
#include "sextant/operation/prove.hpp"
#include "sextant/operation/register.hpp"
#include "sextant/operation/report.hpp"
#include "sextant/operation/reproduce.hpp"
#include "sextant/operation/simulate.hpp"
#include "sextant/operation/synthesize.hpp"

namespace sextant::operation {

std::span<const Operation> catalogue() {
    static const std::vector<Operation> operations = {
        composite_operation(), filter_operation(),   label_operation(),    contours_operation(),
        register_operation(),  apply_operation(),    list_operation(),     prove_operation(),
        draw_operation(),      predict_operation(),  explain_operation(),  calibrate_operation(),
        machine_operation(),   evaluate_operation(), simulate_operation(), reproduce_operation(),
        report_operation(),    bench_operation(),    info_operation(),     synthesize_operation(),
        doctor_operation()};
    return operations;
}

} // namespace sextant::operation
