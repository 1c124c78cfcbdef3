// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/filter_run.hpp"

#include "sextant/comm/agree.hpp"
#include "sextant/comm/hosts.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/core/error.hpp"
#include "sextant/distributed/image.hpp"
#include "sextant/format/frame_catalogue.hpp"
#include "sextant/operation/filter_parameters.hpp"
#include "sextant/operation/outputs.hpp"
#include "sextant/operation/tiled.hpp"
#include "sextant/planner/usual.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

Elements count_not_a_number(const ElementFormat& element, std::span<const std::byte> samples) {
    if (element != gray_f32)
        return 0;
    const std::span floats(reinterpret_cast<const float*>(samples.data()),
                           samples.size() / sizeof(float));
    return std::count_if(floats.begin(), floats.end(), [](float f) { return std::isnan(f); });
}

} // namespace

FilterRun::FilterRun(const Values& values, Communicator communicator)
    : values_(values),
      communicator_(std::move(communicator)),
      progress_(communicator_.rank() == 0) {}

void FilterRun::run() {
    agree(communicator_, [&] { open(); });
    plan();
    go_through();
    agree(communicator_, [&] {
        if (tells())
            report();
    });
}

/// All that can be known to go wrong before anything is filtered. Only rank 0 writes.
void FilterRun::open() {
    summary_.image = values_.text("image");
    summary_.output = values_.text("output");
    summary_.task.filter = filter_from(values_);
    source_ = open_image(values_);
    warn(source_->header().remarks);
    summary_.task.image = source_->shape();
    summary_.task.element = source_->element();
    summary_.task.ranks = communicator_.size();
    summary_.transport = communicator_.shares_memory() ? "threads" : mpi_of_build();
    saves_plan_ = values_.has("plan") && !std::filesystem::exists(values_.text("plan"));
    std::vector<std::string> outputs = {summary_.output};
    for (const char* name : {"json", "report", "plan"}) {
        if (values_.has(name) && (saves_plan_ || std::string_view(name) != "plan"))
            outputs.push_back(values_.text(name));
    }
    if (!tells())
        return;
    check_outputs(outputs);
    create_sink();
}

void FilterRun::create_sink() {
    FrameHeader header;
    header.frames = static_cast<std::int64_t>(summary_.task.filter.features.size());
    header.shape = summary_.task.image;
    header.pixel = source_->header().pixel;
    sink_ = std::make_unique<format::PlaneSink>(format::create_frames(summary_.output, header));
}

void FilterRun::warn(const std::vector<std::string>& warnings) {
    summary_.warnings.insert(summary_.warnings.end(), warnings.begin(), warnings.end());
}

/// Rank 0 decides, and tells the others.
void FilterRun::plan() {
    progress_.say("plan");
    const std::vector<int> nodes = nodes_of(communicator_);
    agree(communicator_, [&] {
        if (tells())
            summary_.plan = planned(summary_.task, nodes);
    });
    struct Told {
        int columns, rows_of_tiles;
        Elements window;
    };
    const FilterPlan& mine = summary_.plan;
    const Told told =
        communicator_.all_gather(Told{mine.columns, mine.rows_of_tiles, mine.window})[0];
    summary_.plan.columns = told.columns;
    summary_.plan.rows_of_tiles = told.rows_of_tiles;
    summary_.plan.window = told.window;
}

FilterPlan FilterRun::planned(const FilterTask& task, const std::vector<int>& nodes) {
    if (values_.has("plan") && !saves_plan_)
        return read_filter_plan(values_.text("plan"), task);
    FilterPlan plan;
    if (values_.has("grid")) {
        const Grid grid = grid_asked_for(values_, task.image, task.ranks);
        plan.columns = grid.columns;
        plan.rows_of_tiles = grid.rows;
        plan.reason = "asked for";
    } else if (task.ranks == 1) {
        plan = strips_plan(task, "nothing to choose: one rank");
    } else {
        plan = predicted(task, nodes);
    }
    set_window(plan, task, values_.integer("memory") << 20);
    return plan;
}

FilterPlan FilterRun::predicted(const FilterTask& task, const std::vector<int>& nodes) {
    const bool threads = communicator_.shares_memory();
    const planner::UsualPlanner usual =
        planner::usual_planner(threads ? "threads" : "mpi", values_.text("machine"));
    warn(usual.warnings);
    return usual_filter_plan(
        task, {.machine = usual.planner->machine(),
               .element_size = gray_f32.size,
               .kernel_names = filter_kernels,
               .nodes = nodes,
               .within_node = threads ? machine::Link::same_process : machine::Link::same_node});
}

void FilterRun::go_through() {
    const FilterPlan& plan = summary_.plan;
    const ImageShape image = summary_.task.image;
    distributed::WindowFilter filter(communicator_, summary_.task.filter, summary_.task.element,
                                     true);
    for (Elements first = 0; first < image.height; first += plan.window) {
        progress_.say(fmt::format("filter {} %", 100 * first / image.height));
        timed(summary_.read, [&] {
            agree(communicator_, [&] {
                filter.prepare({image, first, std::min(plan.window, image.height - first),
                                plan.columns, plan.rows_of_tiles});
                read_window(filter, first);
            });
        });
        timed(summary_.filter, [&] { agree(communicator_, [&] { filter.run(); }); });
        timed(summary_.write, [&] {
            agree(communicator_, [&] {
                if (tells())
                    write_window(filter, first);
            });
        });
        ++summary_.windows;
    }
    const std::vector<Elements> all = communicator_.all_gather(summary_.not_a_number);
    summary_.not_a_number = 0;
    for (const Elements mine : all)
        summary_.not_a_number += mine;
    timed(summary_.write, [&] {
        agree(communicator_, [&] {
            if (tells())
                sink_->commit();
        });
    });
}

/// Counts what is no number where it is a rank's own, not where it is read as a neighbour's too.
void FilterRun::read_window(distributed::WindowFilter& filter, Elements first) {
    filter.fill([&](const Tile& part, std::span<std::byte> to) {
        distributed::read_part(*source_, part, to);
        const bool own = part.y >= first && part.y < first + summary_.plan.window;
        if (own)
            summary_.not_a_number += count_not_a_number(source_->element(), to);
    });
}

void FilterRun::write_window(const distributed::WindowFilter& filter, Elements first) {
    for (int k = 0; k < static_cast<int>(summary_.task.filter.features.size()); ++k)
        sink_->write(k, first, filter.plane(k));
}

void FilterRun::report() {
    progress_.clear();
    if (summary_.not_a_number > 0)
        summary_.warnings.push_back(fmt::format("{}: {} samples are not a number; so is what is "
                                                "computed from them",
                                                summary_.image, summary_.not_a_number));
    const FilterPlan& plan = summary_.plan;
    if (plan.rows_of_tiles > plan.window || plan.columns > summary_.task.image.width)
        summary_.warnings.push_back(
            fmt::format("{}x{} tiles of windows of {}x{}: some ranks have nothing to do",
                        plan.columns, plan.rows_of_tiles, summary_.task.image.width, plan.window));
    if (values_.has("json"))
        write_text(values_.text("json"), to_json(summary_) + "\n");
    if (values_.has("report"))
        write_text(values_.text("report"), to_page(summary_));
    if (saves_plan_)
        write_text(values_.text("plan"), to_json(summary_.plan) + "\n");
    for (const std::string& warning : summary_.warnings)
        std::fputs(fmt::format("sextant: warning: {}\n", warning).c_str(), stderr);
    if (values_.text("json") != standard_output && values_.text("report") != standard_output)
        std::fputs(to_text(summary_).c_str(), stdout);
}

} // namespace sextant::operation
