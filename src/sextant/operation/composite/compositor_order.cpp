// SPDX-License-Identifier: BSD-3-Clause
// How a compositor goes from one visibility order to another.
#include "sextant/comm/scratch.hpp"
#include "sextant/core/error.hpp"
#include "sextant/operation/composite/compositor.hpp"
#include "sextant/operation/composite/declaration.hpp"

#include <algorithm>

namespace sextant {

namespace {

/// Steps of all seats that are kept; a step takes some hundred bytes.
constexpr std::size_t most_steps = std::size_t{1} << 18;

} // namespace

void Compositor::remember_order() {
    const auto positions = task_.order.size();
    first_order_ = task_.order;
    background_ = options_.background;
    peers_ = compositing::peers_of(task_);
    next_order_.reserve(positions);
    found_.reserve(layers_of_.size());
    key_.reserve(positions + 2);
    asked_.reserve(most_asked(layers_of_.size()));
    next_asked_.reserve(asked_.capacity());
    list_asked({});
    std::swap(asked_, next_asked_);
}

/// Ranks without images that are not the root have no part in a frame, and may give what they like.
void Compositor::make_comparison() {
    if (task_.positions() < 2)
        return;
    std::vector<int> names;
    for (int rank = 0; rank < task_.ranks; ++rank) {
        if (layers_of_[static_cast<std::size_t>(rank)] > 0 || rank == task_.root)
            names.push_back(rank);
    }
    const bool takes_part = std::find(names.begin(), names.end(), rank_) != names.end();
    Communicator own = communicator_.split_for_notices(takes_part ? 0 : -1, rank_);
    if (!takes_part)
        return;
    comparison_ = std::make_unique<Comparison>(std::move(own), most_asked(layers_of_.size()),
                                               asked_, std::move(names), text_of_asked);
}

/// Whether what is asked for is other than for the frame before; in `next_asked_`.
bool Compositor::list_asked(const FrameOptions& frame) {
    sextant::list_asked(frame.order.empty() ? first_order_ : frame.order,
                        frame.background ? frame.background : options_.background, layers_of_,
                        next_asked_);
    return next_asked_ != asked_;
}

/// Makes ready for a frame; what is wrong with its options, if anything is. The frame must then be
/// run as one that failed.
std::exception_ptr Compositor::turn(const FrameOptions& frame) {
    if (comparison_ && comparison_->spoiled()) {
        throw CommunicationFailed("ranks asked for different frames before, when some had begun: "
                                  "the communicator is of no further use");
    }
    ++frames_;
    const bool changed = list_asked(frame) || (comparison_ && !comparison_->agreed());
    if (changed) {
        fault_ = nullptr;
        std::swap(asked_, next_asked_);
        try {
            if (frame.background && options_.blend == "deep")
                throw InvalidTask("deep pixels are blended where they are, without a background");
            background_ = frame.background ? frame.background : options_.background;
            take_order(frame.order.empty() ? first_order_ : frame.order);
            for (Runner& each : runners_)
                take_seat(each);
        } catch (const InvalidTask&) { // the same on all that ask for the same
            fault_ = std::current_exception();
        } catch (...) {
            say_failed(asked_);
            fault_ = std::current_exception();
        }
    }
    if (comparison_)
        comparison_->begin_run(asked_, changed);
    return fault_;
}

void Compositor::take_order(std::span<const int> order) {
    list_order(order, layers_of_, found_, next_order_);
    if (next_order_ == task_.order)
        return;
    std::swap(next_order_, task_.order);
    std::copy(task_.order.begin(), task_.order.end(), peers_.begin());
    for (std::size_t i = 0; i < task_.order.size(); ++i)
        task_.layers[i] = layers_of_[static_cast<std::size_t>(task_.order[i])];
    ++orders_;
}

void Compositor::take_seat(Runner& runner) {
    Seated& seat = seat_for(runner);
    seat.used = frames_;
    if (seat.order != orders_) {
        seat.execution.set_peers(peers_);
        seat.order = orders_;
    }
    runner.seat = &seat;
}

/// One that was made before, or else a new one.
Compositor::Seated& Compositor::seat_for(Runner& runner) {
    const compositing::Algorithm& algorithm = *runner.plan.algorithm;
    const compositing::Tuning& tuning = runner.plan.tuning;
    compositing::list_seat(algorithm, task_, tuning, rank_, key_);
    for (const auto& seat : runner.seats) {
        if (seat->key == key_)
            return *seat;
    }
    drop_seats(runner);
    const compositing::Seat seat = compositing::seat_of(algorithm, task_, tuning, rank_);
    Execution execution(communicator_, compositing::program(algorithm, seat, tuning), *operator_,
                        {.association = options_.association,
                         .trace = options_.trace,
                         .fold_threads = options_.fold_threads,
                         .sparse = runner.plan.sparse,
                         .workspace = workspace_,
                         .comparison = comparison_.get()});
    runner.seats.push_back(std::make_unique<Seated>(
        Seated{key_, compositing::piece(algorithm, seat.task, tuning, seat.rank),
               std::move(execution), -1, frames_}));
    return *runner.seats.back();
}

/// Makes room for another, if too many are kept: the one that was not wanted for longest goes.
void Compositor::drop_seats(Runner& runner) {
    std::size_t steps = 0;
    for (const auto& seat : runner.seats)
        steps += seat->execution.program().steps.size();
    while (steps > most_steps && runner.seats.size() > 1) { // the last one was used just now
        const auto oldest =
            std::min_element(runner.seats.begin(), runner.seats.end(),
                             [](const auto& a, const auto& b) { return a->used < b->used; });
        steps -= (*oldest)->execution.program().steps.size();
        runner.seats.erase(oldest);
    }
}

} // namespace sextant
