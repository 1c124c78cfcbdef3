// SPDX-License-Identifier: BSD-3-Clause

#include "sextant/command/composite_run.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/command/composite.hpp"
#include "sextant/command/composite_report.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/schedule_parameters.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/kernel/fold/catalogue.hpp"
#include "sextant/kernel/fold/pixel_formats.hpp"
#include "sextant/kernel/fold/sparse_code.hpp"
#include "sextant/planner/plan.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

namespace sextant::command {

namespace {

/// The images of a rank: a contiguous range in visibility order.
struct Share {
    std::size_t first = 0, last = 0;
};

Share share_of(std::size_t images, int rank, int ranks) {
    const auto cut = [&](int r) {
        return images * static_cast<std::size_t>(r) / static_cast<std::size_t>(ranks);
    };
    return {cut(rank), cut(rank + 1)};
}

std::string describe(const Oddity& oddity) {
    std::string text = oddity.path + ":";
    const auto add = [&](const char* what, Elements pixels) {
        if (pixels > 0)
            text += fmt::format(" {}: {};", what, report::counted(pixels, "pixel"));
    };
    add("not a number", oddity.check.not_a_number);
    add("not premultiplied (a colour below 0 or above its opacity, or opacity not from 0 to 1)",
        oddity.check.not_premultiplied);
    return text + " used as they are";
}

} // namespace

std::shared_ptr<const Inputs> find_inputs(const Values& values) {
    return std::make_shared<Inputs>(find_inputs(values.texts("inputs"), values.integers("order")));
}

CompositeRun::CompositeRun(const Values& values, Communicator communicator,
                           std::shared_ptr<const Inputs> inputs)
    : values_(values),
      communicator_(std::move(communicator)),
      progress_(communicator_.rank() == 0),
      inputs_(std::move(inputs)) {}

void CompositeRun::run() {
    agree(communicator_, [&] { check(); });
    agree(communicator_, [&] { offer_sharing(); });
    phase("read", [&] { read(); });
    gather_warnings();
    if (options_.trace)
        clocks_.emplace(communicator_); // before planning, because a race runs while it plans
    phase("plan", [&] { plan(); });
    phase("composite", [&] { blend(); });
    if (options_.trace && !raced_)
        phase("again", [&] { blend(); });
    gather_events();
    phase("write", [&] {
        if (tells())
            write();
    });
    agree(communicator_, [&] {
        if (tells())
            report();
    });
}

void CompositeRun::phase(const char* name, const std::function<void()>& part) {
    progress_.say(name);
    const auto begin = std::chrono::steady_clock::now();
    agree(communicator_, part);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    summary_.phases.push_back({name, took.count()});
}

/// Comes before reading, because images are read into the memory that they are blended from.
void CompositeRun::offer_sharing() {
    OfferedSharing offered = sextant::offer_sharing(values_.text("shared-memory"), communicator_);
    shared_ = std::move(offered.shared);
    sharing_ = std::move(offered.choice);
    if (!offered.warning.empty())
        summary_.warnings.push_back(offered.warning);
}

void CompositeRun::read() {
    if (!inputs_)
        inputs_ = find_inputs(values_);
    if (tells())
        check_inputs_kept();
    options_ = composite_options(values_, inputs_->header.element);
    const Share share = share_of(inputs_->paths.size(), communicator_.rank(), communicator_.size());
    layers_ = static_cast<int>(share.last - share.first);
    if (options_.blend == "deep") {
        deep_images_ = read_deep_inputs(*inputs_, share.first, share.last);
        return;
    }
    images_ = read_inputs(*inputs_, share.first, share.last,
                          kernel::find(options_.blend, *options_.element).element,
                          shared_ ? *shared_ : communicator_, oddities_);
}

/// Collects the warnings of all ranks, one line per image; rank 0 prints them.
void CompositeRun::gather_warnings() {
    std::string mine;
    for (const Oddity& oddity : oddities_)
        mine += describe(oddity) + "\n";
    for (const std::string& text : all_gather_texts(communicator_, mine)) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);)
            summary_.warnings.push_back(line);
    }
}

void CompositeRun::take_density() {
    const Operator& op = kernel::find(options_.blend, *options_.element);
    options_.density = density();
    options_.drawn = kernel::sampled_bands(images_.bytes(), inputs_->header.shape.elements(), op,
                                           planner::drawn_bands);
}

/// The mean density of all images, on every rank. Collective.
double CompositeRun::density() const {
    const Operator& op = kernel::find(options_.blend, *options_.element);
    struct Share {
        double drawn, images;
    };
    const double images = layers_, own = kernel::sampled_density(images_.bytes(), op);
    Share all{0, 0};
    for (const Share& each : communicator_.all_gather(Share{own * images, images}))
        all = {all.drawn + each.drawn, all.images + each.images};
    return all.images > 0 ? all.drawn / all.images : 1;
}

/// Plans, and runs any race to its end: on all ranks it ends with the same frame, and a failing
/// frame ends it everywhere.
void CompositeRun::plan() {
    if (options_.blend == "deep")
        fragments_ =
            std::max(1, most_fragments(communicator_, inputs_->header.shape, deep_images_));
    else
        take_density();
    make_compositor(shared_ ? *shared_ : communicator_);
    weigh_sharing();
    raced_ = compositor().racing();
    while (compositor().racing())
        agree(communicator_, [&] { blend(); });
}

/// If sharing memory on nodes was left open, takes what is predicted to be faster. Planning again
/// for the same communicator costs little.
void CompositeRun::weigh_sharing() {
    if (!shared_ || sharing_.settled)
        return;
    const std::optional<Seconds> shared = compositor().plan().expected();
    make_compositor(communicator_);
    sharing_ = choose_sharing(communicator_, shared, compositor().plan().expected());
    if (sharing_.shares)
        make_compositor(*shared_);
}

void CompositeRun::make_compositor(const Communicator& communicator) {
    const ImageShape shape = inputs_->header.shape;
    if (options_.blend != "deep") {
        flat_.emplace(communicator, shape, layers_, options_);
        return;
    }
    deep_.emplace(communicator, shape, layers_, fragments_, options_);
}

void CompositeRun::blend() {
    frame_ = deep_ ? deep_->composite(deep_images_) : flat_->composite(images_.bytes());
}

/// The format of the composited image; deep pixels have been blended to RGBA.
const ElementFormat& CompositeRun::picture_element() const {
    return deep_ ? rgba_f32 : flat_->blend().element;
}

void CompositeRun::gather_events() {
    if (!clocks_)
        return;
    GatheredTrace gathered = clocks_->gather(compositor().trace());
    summary_.trace = std::move(gathered.trace);
    summary_.clocks = gathered.clocks;
    summary_.aligned = std::move(gathered.aligned);
    if (values_.has("report"))
        agree(communicator_, [&] { summary_.prediction = compositor().prediction(); });
}

/// Writes the image in its own format if the file can store it, else as f32; the report shows f32.
void CompositeRun::write() {
    const ElementFormat& element = picture_element();
    const ImageShape shape = inputs_->header.shape;
    picture_ = Image(shape, has_depth(element) ? rgba_depth_f32 : rgba_f32);
    kernel::convert(element, frame_.bytes, picture_.element(), picture_.bytes());
    const std::string path = values_.text("output");
    if (element == rgba_f16 && format::format_of(path).halves) {
        Image halves(shape, element);
        std::memcpy(halves.bytes().data(), frame_.bytes.data(), frame_.bytes.size());
        format::write_image(path, halves);
    } else {
        format::write_image(path, picture_);
    }
}

void CompositeRun::report() {
    progress_.clear();
    fill_summary();
    bool printed = values_.text("trace") == standard_output;
    const auto tell = [&](const char* name, const std::string& text) {
        printed = printed || values_.text(name) == standard_output;
        write_text(values_.text(name), text);
    };
    if (values_.has("json"))
        tell("json", to_json(summary_) + "\n");
    if (values_.has("report"))
        tell("report", to_page(summary_, picture_));
    if (values_.has("trace"))
        write_trace(values_.text("trace"), measured(summary_));
    if (saves_plan_)
        tell("plan", planner::to_json(summary_.plan) + "\n");
    print_warnings(summary_.warnings);
    if (!printed)
        print_text(to_text(summary_));
}

void CompositeRun::fill_summary() {
    summary_.inputs = inputs_->paths;
    summary_.output = values_.text("output");
    summary_.shape = inputs_->header.shape;
    summary_.ranks = communicator_.size();
    summary_.transport = transport_of(communicator_);
    summary_.shares_nodes = sharing_.shares;
    summary_.sharing = sharing_.reason;
    summary_.blend = compositor().blend().name;
    summary_.element = compositor().blend().element.name;
    summary_.element_size = compositor().blend().element.size;
    summary_.frame = raced_ ? "medians of the race" : "the second frame";
    summary_.association = name(options_.association);
    summary_.background = values_.text("background");
    summary_.plan = compositor().plan();
    for (const std::string& warning : compositor().warnings())
        summary_.warnings.push_back(warning);
    if (values_.flag("race") && !raced_)
        summary_.warnings.push_back(values_.has("plan") && !saves_plan_
                                        ? "nothing was raced: a plan says what to do"
                                        : "nothing was raced: no second way may be as fast");
    summary_.task = compositor().task();
}

namespace {

/// Throws InvalidTask if a parameter contradicts the plan file.
void require_of_plan(const Values& values) {
    const std::string path = values.text("plan");
    const planner::Plan plan = planner::read_plan(path);
    const compositing::Tuning asked = tuning_from(values);
    const auto require = [&](const char* name, bool same) {
        if (values.given(name) && values.text(name) != "auto" && !same)
            throw InvalidTask(fmt::format("--{} {}: {} has {}; leave out one of them", name,
                                          values.text(name), path, plan.text()));
    };
    require("algorithm", plan.algorithm->name == values.text("algorithm"));
    require("radices", plan.tuning.radices == asked.radices);
    require("window", plan.tuning.window == asked.window);
    require("sparse", plan.sparse == (values.text("sparse") == "on"));
    require("interlace", (plan.tuning.interlace > 0) == (values.text("interlace") == "on"));
}

} // namespace

/// Checks the parameters before any input is read. Only rank 0 writes files.
void CompositeRun::check() {
    check_picture_name(values_.text("output"));
    saves_plan_ = values_.has("plan") && !std::filesystem::exists(values_.text("plan"));
    if (values_.has("plan") && !saves_plan_)
        require_of_plan(values_);
    if (tells())
        check_outputs(outputs(), values_.text("trace"));
}

std::vector<std::string> CompositeRun::outputs() const {
    std::vector<std::string> paths = files_given(values_, {"output", "json", "report", "trace"});
    if (saves_plan_)
        paths.push_back(values_.text("plan"));
    return paths;
}

/// Refuses to overwrite inputs. Comes after a manifest has been read for the names of its images.
void CompositeRun::check_inputs_kept() const {
    std::vector<std::string> read = inputs_->paths;
    for (const std::string& name : values_.texts("inputs"))
        read.push_back(name);
    for (const std::string& name : files_given(values_, {"machine", "plan"}))
        read.push_back(name);
    keep_inputs(read, outputs());
}

} // namespace sextant::command
