// SPDX-License-Identifier: BSD-3-Clause

#include "sextant/command/filter_run.hpp"

#include "sextant/calibrate/planner_here.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/command/filter.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/error.hpp"
#include "sextant/distributed/tiled_image.hpp"
#include "sextant/format/frame_catalogue.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace sextant::command {

namespace {

Elements count_not_a_number(const ElementFormat& element, std::span<const std::byte> samples) {
    if (element != gray_f32)
        return 0;
    const std::span floats(reinterpret_cast<const float*>(samples.data()),
                           samples.size() / sizeof(float));
    return std::count_if(floats.begin(), floats.end(), [](float f) { return std::isnan(f); });
}

/// True if the filter's output contains the offset of its input.
bool keeps_offset(const distributed::Filter& filter) {
    return filter.features == std::vector<std::string>{"smooth"};
}

/// Filters for samples with the offset subtracted: subtracts it from the border value too.
distributed::Filters filters_less_offset(distributed::Filters filters, double border_value,
                                         double offset) {
    for (distributed::Filter& filter : filters) {
        filter.border.constant = static_cast<float>(border_value - offset);
        if (!keeps_offset(filter))
            break;
    }
    return filters;
}

/// The offset to add to each result.
std::vector<double> offsets_of(const distributed::Filters& filters, double offset) {
    const bool kept = std::all_of(filters.begin(), filters.end() - 1, keeps_offset);
    std::vector<double> offsets;
    for (const std::string& feature : filters.back().features)
        offsets.push_back(kept && feature == "smooth" ? offset : 0);
    return offsets;
}

} // namespace

FilterRun::FilterRun(const Values& values, Communicator communicator)
    : values_(values),
      communicator_(std::move(communicator)),
      progress_(communicator_.rank() == 0) {}

void FilterRun::run() {
    open_source();
    agree(communicator_, [&] { open(); });
    agree(communicator_, [&] { offer_sharing(); });
    plan();
    go_through();
    agree(communicator_, [&] {
        if (tells())
            report();
    });
}

/// Opens the image. Rank 0 must be able to read it; other ranks only unless --distribute says that
/// rank 0 does.
void FilterRun::open_source() {
    const bool asked = values_.has("distribute");
    const bool reads = !asked || values_.text("distribute") == "read";
    std::string failure;
    try {
        if (tells() || reads)
            source_ = open_image(values_);
    } catch (const Error& error) {
        failure = error.what();
    }
    const std::vector<char> have = communicator_.all_gather(static_cast<char>(source_ != nullptr));
    const bool everyone = std::all_of(have.begin(), have.end(), [](char has) { return has != 0; });
    agree(communicator_, [&] {
        if (!failure.empty() && (asked || !have[0]))
            source_ = open_image(values_); // throws the original error again
    });
    offset_ = communicator_.all_gather(source_ ? source_->offset() : 0.)[0];
    summary_.task.distribute = asked ? values_.text("distribute") : everyone ? "any" : "scatter";
    if (!asked && !everyone)
        warn({fmt::format("{} is there for rank 0 only, which distributes it",
                          values_.text("image"))});
}

/// Checks the parameters before filtering. Only rank 0 writes files.
void FilterRun::open() {
    summary_.image = values_.text("image");
    summary_.output = values_.text("output");
    distributed::FilterTask& task = summary_.task;
    task.filters =
        filters_less_offset(filters_from(values_), values_.number("border-value"), offset_);
    if (values_.has("grid")) {
        const Grid grid = grid_asked_for(values_, {}, communicator_.size());
        task.columns = grid.columns;
        task.rows = grid.rows;
    }
    task.ranks = summary_.ranks = communicator_.size();
    task.shares_memory = communicator_.shares_memory();
    summary_.transport = transport_of(communicator_);
    saves_plan_ = values_.has("plan") && !std::filesystem::exists(values_.text("plan"));
    if (!tells())
        return;
    warn(source_->header().remarks);
    task.image = source_->shape();
    task.element = source_->element();
    std::vector<std::string> outputs = files_given(values_, {"output", "json", "report"});
    std::vector<std::string> read = files_read(values_);
    if (values_.has("plan"))
        (saves_plan_ ? outputs : read).push_back(values_.text("plan"));
    check_frames_name(summary_.output, Sample::f32);
    keep_inputs(read, outputs);
    check_outputs(outputs);
    create_sink();
}

void FilterRun::create_sink() {
    FrameHeader header;
    header.frames = static_cast<std::int64_t>(summary_.task.features().size());
    header.shape = summary_.task.image;
    header.pixel = source_->header().pixel;
    const std::vector<double> offsets = offsets_of(summary_.task.filters, offset_);
    const double largest =
        std::count(offsets.begin(), offsets.end(), 0.) == std::ssize(offsets) ? 0 : offset_;
    header.sample = sample_with_offset(summary_.output, largest);
    warn({offset_remark(largest, summary_.output)});
    sink_ = std::make_unique<PlaneSink>(
        format::create_frames(summary_.output, header, {format::StackAxis::slices}), offsets);
    if (values_.has("report"))
        shown_.emplace(summary_.task.image);
}

/// Adds warnings that are new and not empty.
void FilterRun::warn(const std::vector<std::string>& warnings) {
    std::vector<std::string>& all = summary_.warnings;
    for (const std::string& warning : warnings) {
        if (!warning.empty() && std::find(all.begin(), all.end(), warning) == all.end())
            all.push_back(warning);
    }
}

/// Filters all windows on the ranks that the plan uses; all ranks learn of failures.
void FilterRun::go_through() {
    const distributed::FilterPlan& plan = summary_.plan;
    const ImageShape image = summary_.task.image;
    const bool takes_part = communicator_.rank() < plan.way.ranks();
    const Communicator ranks = filters_on().split(takes_part ? 0 : -1, 0);
    std::optional<distributed::WindowFilter> filter;
    agree(communicator_, [&] {
        if (!takes_part)
            return;
        check_source();
        filter.emplace(ranks, summary_.task.filters, summary_.task.element, true);
    });
    for (Elements first = 0; first < image.height; first += plan.window) {
        progress_.say(fmt::format("filter {} %", 100 * first / image.height));
        const Elements rows = std::min(plan.window, image.height - first);
        timed(summary_.read, [&] {
            agree(communicator_, [&] {
                if (!takes_part)
                    return;
                filter->prepare({image, first, rows, plan.way});
                read_window(*filter, first, rows);
            });
        });
        timed(summary_.filter, [&] {
            agree(communicator_, [&] {
                if (takes_part)
                    filter->run();
            });
        });
        timed(summary_.write, [&] {
            agree(communicator_, [&] {
                if (tells())
                    write_window(*filter, first);
            });
        });
        if (shown_)
            shown_->add(first, filter->plane(0));
        ++summary_.windows;
    }
    if (takes_part)
        warn({shortage_of(ranks)});
    sum_not_a_number();
    timed(summary_.write, [&] {
        agree(communicator_, [&] {
            if (tells())
                sink_->commit();
        });
    });
}

/// Checks that this rank's file has the same image: other nodes may have another file of that name.
void FilterRun::check_source() {
    const distributed::FilterTask& task = summary_.task;
    if (summary_.plan.way.distribute || tells())
        return;
    if (!source_) // a plan file may have every rank read
        source_ = open_image(values_);
    const ImageShape here = source_->shape();
    if (here.width != task.image.width || here.height != task.image.height ||
        source_->element() != task.element)
        throw InvalidFile(source_->path(),
                          fmt::format("{}x{} {} here, expected {}x{} {} as on rank 0", here.width,
                                      here.height, source_->element().name, task.image.width,
                                      task.image.height, task.element.name));
    if (source_->offset() != offset_)
        throw InvalidFile(source_->path(),
                          fmt::format("samples lie around {} here, expected {} as on rank 0",
                                      source_->offset(), offset_));
}

/// Fills the window. Counts NaNs in this rank's own rows, not in rows read for the margin.
void FilterRun::read_window(distributed::WindowFilter& filter, Elements first, Elements rows) {
    filter.fill([&](const Tile& part, std::span<std::byte> to) {
        distributed::read_part(*source_, part, to);
        const Bytes row = part.width * source_->element().size;
        const Elements above = std::clamp<Elements>(first - part.y, 0, part.height);
        const Elements end = std::clamp<Elements>(first + rows - part.y, above, part.height);
        summary_.not_a_number += count_not_a_number(
            source_->element(), to.subspan(static_cast<std::size_t>(above * row),
                                           static_cast<std::size_t>((end - above) * row)));
    });
}

/// Sums over all ranks. Collective.
void FilterRun::sum_not_a_number() {
    const std::vector<Elements> all = communicator_.all_gather(summary_.not_a_number);
    summary_.not_a_number = std::accumulate(all.begin(), all.end(), Elements{0});
}

void FilterRun::write_window(const distributed::WindowFilter& filter, Elements first) {
    for (int k = 0; k < static_cast<int>(summary_.task.features().size()); ++k)
        sink_->write(k, first, filter.plane(k));
}

void FilterRun::report() {
    progress_.clear();
    if (summary_.not_a_number > 0)
        summary_.warnings.push_back(fmt::format("{}: {} samples are not a number; so is what is "
                                                "computed from them",
                                                summary_.image, summary_.not_a_number));
    const distributed::FilterPlan& plan = summary_.plan;
    for (const filtering::Retiling& tiles : plan.way.all_tiles()) {
        if (tiles.rows > plan.window || tiles.columns > summary_.task.image.width)
            summary_.warnings.push_back(
                fmt::format("{}x{} tiles of windows of {}x{}: some ranks have nothing "
                            "to do",
                            tiles.columns, tiles.rows, summary_.task.image.width, plan.window));
    }
    if (shown_)
        summary_.picture = shown_->png();
    if (values_.has("json"))
        write_text(values_.text("json"), to_json(summary_) + "\n");
    if (values_.has("report"))
        write_text(values_.text("report"), to_page(summary_));
    if (saves_plan_)
        write_text(values_.text("plan"), to_json(summary_.plan) + "\n");
    print_warnings(summary_.warnings);
    if (values_.text("json") != standard_output && values_.text("report") != standard_output)
        print_text(to_text(summary_));
}

namespace {

/// Formats that filters read; samples of other formats are converted to floats.
const ElementFormat filtered_elements[] = {gray_f32, gray_u8, gray_u16};

/// Predicted time of reading and filtering, at rank 0; nothing without a prediction.
std::optional<Seconds> expected(const distributed::FilterPlan& plan) {
    if (!plan.predicted)
        return std::nullopt;
    return plan.predicted->seconds + plan.predicted->read.value_or(0);
}

} // namespace

void FilterRun::offer_sharing() {
    OfferedSharing offered = sextant::offer_sharing(values_.text("shared-memory"), communicator_);
    shared_ = std::move(offered.shared);
    summary_.sharing = std::move(offered.choice);
    warn({offered.warning});
}

/// Rank 0 plans and broadcasts. If sharing memory on nodes was left open, takes what is predicted
/// to be faster.
void FilterRun::plan() {
    progress_.say("plan");
    const std::vector<int> nodes = nodes_of(communicator_);
    plan_on(filters_on(), nodes);
    if (shared_ && !summary_.sharing.settled) {
        const distributed::FilterPlan in_memory = summary_.plan;
        const bool shares_all = summary_.task.shares_memory;
        plan_on(communicator_, nodes);
        summary_.sharing =
            choose_sharing(communicator_, expected(in_memory), expected(summary_.plan));
        if (summary_.sharing.shares) {
            summary_.plan = in_memory;
            summary_.task.shares_memory = shares_all;
        } else {
            shared_.reset();
        }
    }
    tell_plan();
}

void FilterRun::plan_on(const Communicator& communicator, const std::vector<int>& nodes) {
    summary_.task.shares_memory = reads_all(communicator, nodes);
    const planner::UsualPlanner usual =
        calibrate::planner_here(communicator, nodes, values_.text("machine"), probing_of(values_));
    agree(communicator_, [&] {
        if (tells())
            summary_.plan = planned(nodes, usual);
    });
}

/// Broadcasts the image's shape and format, and the plan.
void FilterRun::tell_plan() {
    struct Told {
        ImageShape image;
        int element;
    };
    distributed::FilterTask& task = summary_.task;
    const auto kind =
        std::find(std::begin(filtered_elements), std::end(filtered_elements), task.element);
    const Told told =
        communicator_.all_gather(Told{task.image, static_cast<int>(kind - filtered_elements)})[0];
    task.image = told.image;
    task.element = filtered_elements[told.element];
    distributed::FilterPlan bare = summary_.plan;
    bare.alternatives.clear();
    const std::string plan = all_gather_texts(communicator_, tells() ? to_json(bare) : "").front();
    if (!tells())
        summary_.plan = distributed::parse_filter_plan(plan, "the plan of rank 0", task);
}

distributed::FilterPlan FilterRun::planned(const std::vector<int>& nodes,
                                           const planner::UsualPlanner& usual) {
    const distributed::FilterTask& task = summary_.task;
    warn(usual.warnings);
    const planner::Setting setting{.machine = usual.planner->machine(),
                                   .element_size = gray_f32.size,
                                   .nodes = nodes,
                                   .within_node = task.shares_memory ? machine::Link::same_process
                                                                     : machine::Link::same_node};
    distributed::FilterPlan plan;
    if (values_.has("plan") && !saves_plan_) {
        plan = distributed::read_filter_plan(values_.text("plan"), task);
        if (values_.has("grid") && (plan.way.columns != task.columns || plan.way.rows != task.rows))
            throw InvalidTask(fmt::format("--grid {}: {} has {}x{} tiles; leave out one of them",
                                          values_.text("grid"), values_.text("plan"),
                                          plan.way.columns, plan.way.rows));
    } else {
        plan = distributed::usual_filter_plan(task, setting);
        distributed::set_window(plan, task, values_.integer("memory") << 20);
    }
    distributed::predict_windows(plan, task, setting);
    return plan;
}

} // namespace sextant::command
