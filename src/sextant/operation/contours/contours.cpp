// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/contours/contours.hpp"

#include "sextant/calibrate/planner_here.hpp"
#include "sextant/kernel/filter/gaussian_weights.hpp"
#include "sextant/operation/contours/contours_run.hpp"
#include "sextant/operation/planning_options.hpp"
#include "sextant/operation/tiled.hpp"

#include <utility>

namespace sextant::operation {

namespace {

int run_contours(const Values& values) {
    launch_tiles(values, [&](Communicator communicator) {
        ContoursRun(values, std::move(communicator)).run();
    });
    return 0;
}

std::vector<Parameter> parameters() {
    return {{.name = "image",
             .type = Type::file,
             .value = "IMAGE",
             .help = "a gray image, or a series with --frame (docs/frames.md)",
             .positional = true,
             .required = true},
            {.name = "output",
             .type = Type::file,
             .value = "OUT",
             .help = "points of contours in order: .geojson, .svg, .csv or .npy",
             .letter = 'o',
             .required = true},
            {.name = "sigma",
             .type = Type::number,
             .value = "PIXELS",
             .fallback = "1",
             .help = "scale of the gradient, .5 to 1000",
             .least = kernel::smallest_sigma,
             .most = kernel::largest_sigma},
            {.name = "quantiles",
             .value = "LOW,HIGH",
             .fallback = ".8,.95",
             .help = "edges begin above HIGH of all gradients, and go on above LOW"},
            {.name = "thresholds",
             .value = "LOW,HIGH",
             .help = "the same as lengths of gradients, in samples a pixel"},
            {.name = "directions",
             .type = Type::flag,
             .help = "the image is a map of directions (docs/contours.md)"},
            {.name = "min-length",
             .type = Type::integer,
             .value = "POINTS",
             .fallback = "1",
             .help = "shorter contours are left out",
             .least = 1,
             .most = most_count},
            memory_parameter("4096", "for the image and what is made of it; larger ones stream"),
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

Operation contours_operation() {
    return {"contours", "edges of an image as contours, each point in order, in tiles over ranks",
            "  sextant contours coast.png -o coast.svg --sigma 2 --min-length 20\n"
            "  mpirun -n 2 sextant contours codes.npy -o ranks.npy --directions",
            parameters(), run_contours};
}

} // namespace sextant::operation
