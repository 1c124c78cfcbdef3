// SPDX-License-Identifier: BSD-3-Clause
// Compositor: the order, the rectangles and the shape of images.
#include "sextant/comm/agreement.hpp"
#include "sextant/compositing/drawn_images.hpp"
#include "sextant/compositor/compositor_run.hpp"
#include "sextant/compositor/declaration.hpp"
#include "sextant/core/error.hpp"
#include "sextant/planner/compositing_plan.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace sextant {

/// Writes to `key_` the numbers that distinguish this rank's programs for image orders.
void CompositorRun::list_images() {
    const auto position = task_.position_of(rank_);
    key_.assign({-2, position, task_.position_of(task_.root)});
    if (position < 0 && drawn_.empty())
        return;
    for (const auto& [of, image] : images_)
        key_.insert(key_.end(), {of, image});
    if (!is_by_image() || !drawn_.empty()) // rectangles belong to ranks, not to positions
        key_.insert(key_.end(), task_.order.begin(), task_.order.end());
}

CompositorRun::Prepared CompositorRun::prepared(const compositing::Configuration& configuration) {
    const auto& [algorithm, tuning, sparse] = configuration;
    if (!is_by_image() && drawn_.empty()) {
        const compositing::Seat seat = compositing::seat_of(*algorithm, task_, rank_);
        return {compositing::program(*algorithm, seat, tuning),
                compositing::piece(*algorithm, seat.task, tuning, seat.rank),
                sparse,
                {}};
    }
    const compositing::Seat seat = compositing::seat_with_images(task_, rank_);
    if (drawn_.empty())
        return {compositing::program(*algorithm, seat, tuning, images_),
                compositing::piece(*algorithm, seat.task, tuning, seat.rank),
                sparse,
                {}};
    std::vector<compositing::PlacedImage> images = images_;
    for (int position = 0; !is_by_image() && position < task_.positions(); ++position) {
        for (int image = 0; image < task_.layers_at(position); ++image)
            images.push_back({position, image});
    }
    std::vector<int> first(layers_of_.size(), 0);
    std::exclusive_scan(layers_of_.begin(), layers_of_.end(), first.begin(), 0);
    std::vector<compositing::DrawnImage> drawn;
    for (const compositing::PlacedImage& each : images) {
        const auto rank =
            static_cast<std::size_t>(task_.order[static_cast<std::size_t>(each.position)]);
        const Rectangle& area = drawn_[static_cast<std::size_t>(first[rank] + each.image)];
        drawn.push_back({each, area.left, area.top, area.width, area.height});
    }
    const compositing::DrawnImages all(seat.task, shape_.width, drawn);
    compositing::Piece piece;
    if (rank_ == task_.root)
        piece = {0, task_.positions() > 0 ? task_.elements : 0};
    else if (task_.root == compositing::Task::distributed && seat.rank < task_.positions())
        piece = all.piece(seat.rank);
    const Kernel blend = [this](const Computation& computation) { blend_cell(computation); };
    return {all.program(seat.rank), piece, false, std::vector<Kernel>(drawn.size() + 1, blend)};
}

/// The kernel of compositing::DrawnImages: blends a cell.
void CompositorRun::blend_cell(const Computation& computation) {
    constexpr Elements most = 16384; // pixels between calls of `progress`
    const Bytes size = operator_->element.size;
    const Blocks& made = computation.places[0];
    const Elements pixels = made.bytes() / size;
    std::vector<const std::byte*>& sources = sources_;
    sources.resize(computation.sources.size());
    for (Elements at = 0; at < pixels;) {
        Elements count = std::min(most, made.run_left(at * size) / size);
        for (std::size_t i = 0; i < sources.size(); ++i) {
            const Blocks& source = computation.sources[i];
            count = std::min(count, source.run_left(at * size) / size);
            sources[i] = source.at(at * size);
        }
        if (sources.empty())
            operator_->fill_identity(made.at(at * size), count);
        else
            operator_->fold(sources, made.at(at * size), count, pixels);
        at += count;
        computation.progress();
    }
}

namespace {

/// Throws InvalidTask if a rank's rectangles are not inside its images.
void check_rectangles(int rank, std::span<const Rectangle> drawn, int images, ImageShape shape) {
    if (drawn.size() != static_cast<std::size_t>(images)) {
        throw InvalidTask(
            fmt::format("rank {}: {} rectangles for {} images, expected one per image", rank,
                        drawn.size(), images));
    }
    for (std::size_t i = 0; i < drawn.size(); ++i) {
        const auto& [left, top, width, height] = drawn[i];
        const bool is_inside =
            left >= 0 && top >= 0 && width <= shape.width - left && height <= shape.height - top;
        if (!drawn[i].empty() && !is_inside) {
            throw InvalidTask(fmt::format("rank {}: the rectangle of image {}, {}x{} pixels at "
                                          "({}, {}), is not within its {}x{} pixels",
                                          rank, i, width, height, left, top, shape.width,
                                          shape.height));
        }
    }
}

} // namespace

void CompositorRun::set_drawn(std::span<const Rectangle> drawn) {
    const std::vector<int> counts = communicator_.all_gather(static_cast<int>(drawn.size()));
    const bool any = std::any_of(counts.begin(), counts.end(), [](int count) { return count > 0; });
    agree(communicator_, [&] {
        if (!execution().over())
            throw InvalidTask("the rectangles of images cannot change while a frame is in flight");
        if (any && operator_->used)
            throw InvalidTask("deep images have no rectangles: their empty pixels are never sent");
        if (any)
            check_rectangles(rank_, drawn, layers_, shape_);
    });
    std::vector<Rectangle> all =
        any ? all_gather_lists(communicator_, drawn) : std::vector<Rectangle>();
    for (Rectangle& each : all)
        each = each.empty() ? Rectangle{} : each;
    if (all == drawn_)
        return;
    if (race_ && race_->over())
        settle();
    std::swap(all, drawn_);
    Runner runner{runners_.front().plan, {}, nullptr};
    try {
        agree(communicator_, [&] { take_seat(runner); });
    } catch (...) {
        std::swap(all, drawn_);
        throw;
    }
    race_.reset();
    running_ = 0;
    runners_.erase(runners_.begin() + 1, runners_.end());
    runners_.front() = std::move(runner);
    picture_ = {};
}

std::vector<Rectangle> CompositorRun::drawn() const {
    if (drawn_.empty())
        return {};
    const auto first =
        drawn_.begin() + std::accumulate(layers_of_.begin(), layers_of_.begin() + rank_, 0);
    return {first, first + layers_};
}

/// Returns the plan. If image orders are needed, returns the fastest alternative that supports
/// them.
planner::CompositingPlan CompositorRun::for_image_orders(planner::CompositingPlan plan) const {
    if (!is_by_image())
        return plan;
    const auto takes = [](const compositing::Configuration& configuration) {
        return compositing::takes_image_orders(*configuration.algorithm);
    };
    auto& all = plan.alternatives;
    const auto rivals = static_cast<std::ptrdiff_t>(std::min(plan.rivals, all.size()));
    plan.rivals = static_cast<std::size_t>(std::max<std::ptrdiff_t>(
        1, std::count_if(all.begin(), all.begin() + rivals,
                         [&](const auto& each) { return takes(each.configuration); })));
    std::erase_if(all, [&](const auto& each) { return !takes(each.configuration); });
    if (takes(plan.configuration))
        return plan;
    if (!all.empty() && all.front().expected) {
        plan.configuration = all.front().configuration;
    } else {
        plan = planner::choose_by_name("direct-send", requested(false),
                                       std::max(1, task_.positions()));
    }
    plan.reason += "; images are ordered individually";
    return plan;
}

/// Throws InvalidTask if frames may have image orders that the configuration does not support.
void CompositorRun::require_image_orders(const compositing::Configuration& configuration) const {
    if (is_by_image() && !compositing::takes_image_orders(*configuration.algorithm)) {
        throw InvalidTask(fmt::format("{} requires the images of a rank to be adjacent; an order "
                                      "of images requires direct-send, shift-based, radix-k or "
                                      "binary-swap",
                                      configuration.algorithm->name));
    }
}

namespace {

/// The number of shapes whose plans are kept.
constexpr std::size_t most_shapes = 32;

} // namespace

void CompositorRun::resize(ImageShape shape, const planner::CompositingPlan* plan) {
    const std::vector<Declaration> all =
        communicator_.all_gather(Declaration{shape.width, shape.height, layers_});
    agree(communicator_, [&] {
        check_alike(all);
        if (!execution().over())
            throw InvalidTask("the shape of images cannot change while a frame is in flight");
    });
    if (shape == shape_)
        return;
    if (race_ && race_->over())
        settle();
    keep_plan();
    const ImageShape old_shape = std::exchange(shape_, shape);
    const Elements old_elements = std::exchange(task_.elements, shape.elements());
    std::vector<Rectangle> old_drawn = std::exchange(drawn_, {});
    std::vector<Runner> old_runners = std::exchange(runners_, {});
    const std::size_t old_running = std::exchange(running_, 0);
    try {
        planner::CompositingPlan next = plan ? *plan : plan_for_shape();
        agree(communicator_, [&] { prepare(std::move(next)); });
    } catch (...) {
        shape_ = old_shape;
        task_.elements = old_elements;
        drawn_ = std::move(old_drawn);
        runners_ = std::move(old_runners);
        running_ = old_running;
        throw;
    }
    race_.reset();
    finished_ = {};
    picture_ = {};
}

/// Returns the plan for the current shape: the cached one, or a new one. Collective.
planner::CompositingPlan CompositorRun::plan_for_shape() {
    const auto known = std::find_if(known_plans_.begin(), known_plans_.end(),
                                    [&](const KnownPlan& each) { return each.shape == shape_; });
    if (known != known_plans_.end())
        return known->plan;
    interlacing_pays_ = reckon_interlacing();
    return decide();
}

/// Caches the plan of the current shape. An unfinished race has no winner, so the plan predicted to
/// be fastest is cached.
void CompositorRun::keep_plan() {
    std::erase_if(known_plans_, [&](const KnownPlan& each) { return each.shape == shape_; });
    known_plans_.push_back({shape_, runners_.front().plan});
    if (known_plans_.size() > most_shapes)
        known_plans_.erase(known_plans_.begin());
}

void Compositor::set_drawn(std::span<const Rectangle> drawn) {
    run_->set_drawn(drawn);
}
void Compositor::resize(ImageShape shape) {
    run_->resize(shape);
}

} // namespace sextant
