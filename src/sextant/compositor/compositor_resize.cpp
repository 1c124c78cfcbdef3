// SPDX-License-Identifier: BSD-3-Clause
// Compositor: changing the shape of images.
#include "sextant/comm/agreement.hpp"
#include "sextant/compositor/compositor_run.hpp"
#include "sextant/compositor/declaration.hpp"
#include "sextant/core/error.hpp"

#include <algorithm>
#include <utility>

namespace sextant {

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

/// The plan for the current shape: the known one, or a new one. Collective.
planner::CompositingPlan CompositorRun::plan_for_shape() {
    const auto known = std::find_if(known_plans_.begin(), known_plans_.end(),
                                    [&](const KnownPlan& each) { return each.shape == shape_; });
    if (known != known_plans_.end())
        return known->plan;
    interlacing_pays_ = reckon_interlacing();
    return decide();
}

/// Keeps the plan of the current shape. A race that is not over has no winner: the plan that was
/// predicted to be fastest is kept.
void CompositorRun::keep_plan() {
    std::erase_if(known_plans_, [&](const KnownPlan& each) { return each.shape == shape_; });
    known_plans_.push_back({shape_, runners_.front().plan});
    if (known_plans_.size() > most_shapes)
        known_plans_.erase(known_plans_.begin());
}

void Compositor::resize(ImageShape shape) {
    run_->resize(shape);
}

} // namespace sextant
