// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/contours/label.hpp"

#include "sextant/calibrate/planner_here.hpp"
#include "sextant/distributed/merging_plan.hpp"
#include "sextant/operation/contours/label_run.hpp"
#include "sextant/operation/planning_options.hpp"
#include "sextant/operation/tiled.hpp"

#include <utility>

namespace sextant::operation {

namespace {

int run_label(const Values& values) {
    launch_tiles(values, [&](Communicator communicator) {
        LabelRun(values, std::move(communicator)).run();
    });
    return 0;
}

std::vector<Parameter> parameters() {
    return {{.name = "image",
             .type = Type::file,
             .value = "IMAGE",
             .help = "a gray image, or a series with --frame; 0 is the background",
             .positional = true,
             .required = true},
            {.name = "output",
             .type = Type::file,
             .value = "OUT",
             .help = "labels from 1 on, of 32 bits: .tif or .npy",
             .letter = 'o',
             .required = true},
            {.name = "table",
             .type = Type::file,
             .value = "FILE",
             .help = "area, box and centroid of each component, as CSV"},
            {.name = "neighbours",
             .type = Type::choice,
             .value = "N",
             .fallback = "8",
             .help = "which pixels touch",
             .choices = {"4", "8"}},
            {.name = "by-value",
             .type = Type::flag,
             .help = "only pixels of equal value belong together"},
            memory_parameter("1024", "for the image and its labels; larger ones "
                                     "stream, read twice"),
            frame_parameter(),
            channel_parameter(),
            slice_parameter(),
            external_parameter(),
            ranks_parameter(),
            grid_parameter(),
            pattern_parameter(),
            machine_parameter(),
            no_probe_parameter(),
            report_parameter(),
            json_parameter()};
}

} // namespace

Operation label_operation() {
    return {"label", "connected components of an image, in tiles over ranks",
            "  sextant label cells.tif -o labels.tif --table cells.csv\n"
            "  mpirun -n 2 sextant label classes.png -o labels.npy --by-value --neighbours 4",
            parameters(), run_label};
}

} // namespace sextant::operation
