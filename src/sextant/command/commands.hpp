// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"

// One function per command, defined in the file named after the command.
namespace sextant::command {

Operation composite_operation();
Operation filter_operation();
Operation label_operation();
Operation contours_operation();
Operation measure_operation();
Operation stitch_operation();
Operation register_operation();
Operation apply_operation();
Operation list_operation();
Operation prove_operation();
Operation draw_operation();
Operation predict_operation();
Operation explain_operation();
Operation calibrate_operation();
Operation machine_operation();
Operation simulate_operation();
Operation report_operation();
Operation info_operation();
Operation synthesize_operation();
Operation doctor_operation();

} // namespace sextant::command
