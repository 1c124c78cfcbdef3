// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collective/catalogue.hpp"
#include "sextant/collective/schedule_file.hpp"
#include "sextant/command/series/transforms.hpp"
#include "sextant/filter/filter_plan.hpp"
#include "sextant/lab/evaluation.hpp"
#include "sextant/lab/tune_launch.hpp"
#include "sextant/machine/profile_file.hpp"
#include "sextant/planner/compositing_plan.hpp"
#include "sextant/report/recording.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tests/report/recordings.hpp"

namespace sextant::test {

/// A valid file of a kind (json_readers.hpp).
struct JsonSeed {
    std::string_view kind;
    std::string text;
};

/// Transforms of three frames of 20x16 pixels, the second of which is left out.
inline std::string transforms_seed(const std::string& model) {
    command::SeriesTransforms all;
    all.series = "movie.mrc";
    all.model = model;
    all.shape = {20, 16};
    all.pixel = {.5, .25, "nm"};
    all.relative_to = "frame 0";
    all.files = {"average.tif"};
    all.canvas = registration::PixelArea{1, 2, {18, 13}};
    all.frames.resize(3);
    for (std::size_t i = 0; i < 3; ++i) {
        all.frames[i].frame = static_cast<std::int64_t>(i);
        all.frames[i].result.converged = true;
    }
    all.frames[1].left_out = "every sample is 0";
    all.frames[2].result.motion = {.1, -2.5, 4};
    if (model == "affine")
        all.frames[2].affine = registration::AffineMotion{1.1, .1, -.1, .9, -2.5, 4};
    if (model == "nonrigid") {
        all.fields = command::FieldFile{"fields.npy", 8, {4, 3}};
        all.frames[2].field = FieldFit{.9, .25, 12};
    }
    if (model == "translation")
        all.rows = command::RowFile{"rows.npy", 16, 2};
    std::string text;
    command::write_json(all, [&text](std::string_view part) { text += part; });
    return text;
}

inline std::string filter_plan_seed(Elements depth) {
    const distributed::Filter filter{.sigma = 1, .features = {"x"}, .border = {}};
    const distributed::FilterTask task{
        .filters = {filter}, .image = {40, 30}, .ranks = 8, .depth = depth};
    distributed::FilterPlan plan = distributed::strips_plan(task, "");
    if (depth == 0)
        plan.configuration = {2, 3, &collective::find("flat-scatter"),
                              &collective::find("binomial-gather"), true};
    plan.window = 10;
    return distributed::to_json(plan);
}

inline std::string evaluation_seed() {
    lab::Evaluation all;
    all.ranks = 8;
    all.cores = 2;
    all.transport = "simulated";
    all.host = all.machine = all.date = "x";
    all.round_trips = {1e-6, 2e-6};
    lab::EvaluatedCase one;
    one.what.name = "first";
    one.what.image = "dense";
    one.chosen = "direct-send";
    one.configurations = {{"binary-swap", false, 1.1, {1, 3}},
                          {"direct-send", false, 2.4, {2, 6}},
                          {"radix-k, radices 4,2", false, 1.5, {2, 5}},
                          {"mpi-reduce-scatter", true, {}, {.5, 1.5}}};
    all.cases = {one, one};
    all.cases[1].what.shape = {200, 100};
    return lab::to_json(all);
}

inline std::string launch_seed() {
    lab::TuneLaunch launch{"Open MPI 4.1.4", "host", "date", 4, false, {}};
    for (const Bytes size : {16, 128}) {
        for (const lab::MpiAlgorithm& algorithm :
             {lab::MpiAlgorithm{}, lab::MpiAlgorithm{"pipeline", 3, 0, 64}}) {
            lab::AlgorithmTimes times;
            times.operation = "bcast";
            times.size = size;
            times.algorithm = algorithm;
            const Seconds time = algorithm.number == 0 ? 10 : 5;
            times.least = times.average = times.wall = times.cpu = {time, time + 1, time + 2};
            launch.times.push_back(times);
        }
    }
    return lab::to_json(launch);
}

/// The schedule of a reduction on three ranks.
inline std::string schedule_seed(std::string_view algorithm) {
    const auto rows = collective::reductions();
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const auto& each) { return each.name == algorithm; });
    return json_of({make_schedule(3, [&](int rank) { return row->program(strips(3, 7), rank); }),
                    row->what, row->commutative});
}

inline std::vector<JsonSeed> json_seeds() {
    const auto plan = [](const char* algorithm, const compositing::Tuning& tuning) {
        return planner::to_json(planner::choose_by_name(algorithm, tuning, 8));
    };
    report::Recording several_hosts = ring(5, 3);
    several_hosts.clocks = 2;
    several_hosts.aligned = {{.first_rank = 0, .at = 0, .offset = 0, .uncertainty = 1e-6},
                             {.first_rank = 2, .at = 0, .offset = 1e-3, .uncertainty = 1e-6}};
    report::Recording lent = relay();
    lent.lent = true;
    return {
        {"manifest", R"({"version": 1, "size": [13, 7], "element": "rgba f32",
            "format": "little-endian floats", "order_front_to_back": [1, 0],
            "bricks": [{"id": 0}, {"id": 1}]})"},
        {"manifest", R"({"size": [13, 7], "order_front_to_back": [0, 2, 1], "bricks":
            [{"id": 2, "file": "a.exr"}, {"id": 1, "file": "b.png"}, {"id": 0}]})"},
        {"plan", plan("radix-k", {.radices = {4, 2}})},
        {"plan", plan("shift-based", {.radices = {}, .window = 2, .interlace = 16})},
        {"plan", filter_plan_seed(0)},
        {"plan", filter_plan_seed(20)},
        {"machine", machine::profile_text(machine::built_in())},
        {"machine",
         machine::text_with_launches(machine::built_in(), std::vector{machine::built_in()})},
        {"trace", report::to_json(relay())},
        {"trace", report::to_json(lent)},
        {"trace", report::to_json(several_hosts)},
        {"trace", R"({"operation": "bench composite", "ranks": 4, "cases": [
            {"width": 64, "height": 32, "results": [
                {"name": "radix-k", "tuning": "radices 2,2", "transport": "shared",
                 "baseline": false, "sparse": false, "cpu_seconds": {"median": 0.5}}]},
            {"width": 128, "height": 32, "results": [
                {"name": "radix-k", "tuning": "", "transport": "shared", "baseline": false,
                 "sparse": false, "cpu_seconds": {"median": 0.7}},
                {"name": "alltoallv", "tuning": "", "transport": "", "baseline": true,
                 "sparse": false, "cpu_seconds": {"median": 1}}]}]})"},
        {"transforms", transforms_seed("rigid")},
        {"transforms", transforms_seed("nonrigid")},
        {"transforms", transforms_seed("affine")},
        {"transforms", transforms_seed("translation")},
        {"results", evaluation_seed()},
        {"results", launch_seed()},
        {"schedule", schedule_seed("ring-all-reduce")},
        {"schedule", schedule_seed("direct-reduce-scatter")},
    };
}

} // namespace sextant::test
