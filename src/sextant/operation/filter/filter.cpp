// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/filter/filter.hpp"

#include "sextant/calibrate/planner_here.hpp"
#include "sextant/comm/node_sharing.hpp"
#include "sextant/operation/filter/filter_parameters.hpp"
#include "sextant/operation/filter/filter_run.hpp"
#include "sextant/operation/planning_options.hpp"
#include "sextant/operation/tiled.hpp"

#include <utility>

namespace sextant::operation {

namespace {

int run_filter(const Values& values) {
    launch_tiles(values, [&](Communicator communicator) {
        FilterRun(values, std::move(communicator)).run();
    });
    return 0;
}

std::vector<Parameter> parameters() {
    std::vector<Parameter> all = {
        {.name = "image",
         .type = Type::file,
         .value = "IMAGE",
         .help = "a gray image, or a series with --frame (docs/frames.md)",
         .positional = true,
         .required = true},
        {.name = "output",
         .type = Type::file,
         .value = "OUT",
         .help = "a frame of float32 a derivative: .npy, .tif or .mrc",
         .letter = 'o',
         .required = true}};
    for (auto* some : {filter_parameters, border_parameters}) {
        for (Parameter& parameter : some())
            all.push_back(std::move(parameter));
    }
    const std::vector<Parameter> rest = {
        frame_parameter(),
        channel_parameter(),
        slice_parameter(),
        external_parameter(),
        ranks_parameter(),
        {.name = "grid",
         .value = "XxY",
         .help = "tiles: so many columns and rows; default: predicted to be fastest"},
        {.name = "distribute",
         .value = "HOW",
         .help = "read: each its tile; scatter, broadcast, a collective: rank 0"},
        memory_parameter("64", "for the image and what is made of it; larger ones stream"),
        shared_memory_parameter(),
        machine_parameter(),
        no_probe_parameter(),
        {.name = "plan",
         .type = Type::file,
         .value = "FILE",
         .help = "do as this plan says; if there is none, write it there"},
        report_parameter(),
        json_parameter()};
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
}

} // namespace

Operation filter_operation() {
    return {"filter", "Gaussian derivatives of a gray image, in tiles over ranks",
            "  sextant filter scan.tif -o derivatives.npy --sigma 3 --derivatives x,y,xx,xy,yy\n"
            "  mpirun -n 2 sextant filter scan.npy -o edges.tif --derivatives gradient-magnitude",
            parameters(), run_filter};
}

} // namespace sextant::operation
