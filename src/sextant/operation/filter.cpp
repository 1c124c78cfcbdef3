// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/filter.hpp"

#include "sextant/comm/agree.hpp"
#include "sextant/comm/cores.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/operation/filter_parameters.hpp"
#include "sextant/operation/filter_run.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

constexpr int most_threads = 1024;

int run_filter(const Values& values) {
    const bool launched = detect_launcher().launcher != Launcher::none;
    int ranks = static_cast<int>(values.has("ranks") ? values.integer("ranks") : 0);
    if (!launched && ranks == 0)
        ranks = std::clamp(Cores::available().count(), 1, most_threads);
    launch(ranks, [&](Communicator communicator) {
        if (values.has("ranks") && communicator.size() != values.integer("ranks")) {
            throw AgreedFailure(
                fmt::format("--ranks {} under a launcher that started {} processes; "
                            "leave it out",
                            values.integer("ranks"), communicator.size()),
                true);
        }
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
        {.name = "frame",
         .type = Type::integer,
         .value = "N",
         .help = "which one of a series, from 0",
         .least = 0},
        {.name = "ranks",
         .type = Type::integer,
         .value = "N",
         .help = "threads, at most; default: one a core",
         .least = 1,
         .most = most_threads},
        {.name = "grid",
         .value = "XxY",
         .help = "tiles: so many columns and rows; default: predicted to be fastest"},
        {.name = "distribute",
         .value = "HOW",
         .help = "read: each its tile; scatter, broadcast, a collective: rank 0"},
        {.name = "memory",
         .type = Type::integer,
         .value = "MIB",
         .fallback = "64",
         .help = "for the image and what is made of it; larger ones stream",
         .least = 1,
         .most = 1 << 30},
        {.name = "machine",
         .type = Type::file,
         .value = "FILE",
         .help = "a profile to predict with; default: this machine's, or a built-in one"},
        {.name = "plan",
         .type = Type::file,
         .value = "FILE",
         .help = "do as this plan says; if there is none, write it there"},
        {.name = "json",
         .type = Type::file,
         .value = "FILE",
         .help = "write what ran as JSON; - for standard output"}};
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
}

} // namespace

Operation filter_operation() {
    return {"filter", "Gaussian derivatives of a gray image, in tiles over ranks",
            "  sextant filter scan.tif -o derivatives.npy --sigma 3 --derivatives x,y,xx,xy,yy\n"
            "  mpirun -n 4 sextant filter scan.npy -o edges.tif --derivatives gradient-magnitude",
            parameters(), run_filter};
}

} // namespace sextant::operation
