// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/composite/compositor.hpp"

#include "sextant/comm/agree.hpp"
#include "sextant/comm/scratch.hpp"
#include "sextant/compositing/interlace.hpp"
#include "sextant/core/error.hpp"
#include "sextant/kernel/fold/background.hpp"
#include "sextant/kernel/fold/catalogue.hpp"
#include "sextant/kernel/fold/deep.hpp"
#include "sextant/operation/composite/declaration.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include <fmt/format.h>

namespace sextant {

Operator operator_of(const CompositeOptions& options) {
    if (options.blend == "deep") {
        if (options.background)
            throw InvalidTask(
                "no background can be put behind deep pixels before they are blended");
        return kernel::deep_operator(options.fragments);
    }
    return options.element ? kernel::find(options.blend, *options.element)
                           : kernel::find_family(options.blend).operators.front();
}

Compositor::Compositor(Communicator communicator, ImageShape shape, int layers,
                       CompositeOptions options)
    : communicator_(std::move(communicator)),
      options_(std::move(options)),
      row_(shape.width),
      rank_(communicator_.rank()),
      layers_(layers) {
    const std::vector<Declaration> all = communicator_.all_gather(declare(shape, layers, options_));
    agree(communicator_, [&] {
        check_alike(all);
        check_numbers(options_);
        operator_ = operator_of(options_);
        task_ = task_of(all, options_);
    });
    for (const Declaration& each : all)
        layers_of_.push_back(each.layers);
    remember_order();
    interlacing_pays_ = reckon_interlacing();
    const planner::Plan plan = decide();
    make_comparison();
    agree(communicator_, [&] {
        workspace_ = std::make_shared<Workspace>(options_.fold_threads);
        prepare(plan);
    });
    warn_of_shortage();
    if (options_.frames > 1 && !options_.reproducible)
        enter_race(plan);
}

void Compositor::prepare(planner::Plan plan) {
    Runner runner{std::move(plan), {}, nullptr};
    take_seat(runner);
    runners_.push_back(std::move(runner));
}

/// Rank 0 knows what was weighed, and so who takes part.
void Compositor::enter_race(const planner::Plan& plan) {
    const planner::RacingOrder mine = planner::racing_order(plan, options_.frames);
    const auto [contestants, rounds] =
        communicator_.all_gather(std::array{static_cast<int>(mine.ways.size()), mine.rounds})
            .front();
    for (int i = 1; i < contestants; ++i) { // the chosen is prepared
        planner::Plan other = plan;
        if (rank_ == 0)
            other.take(mine.ways[static_cast<std::size_t>(i)]);
        other.reason = "raced, since it may be as fast as " + plan.text();
        other = told(other);
        agree(communicator_, [&] { prepare(std::move(other)); });
    }
    if (contestants > 0)
        race_.emplace(contestants, rounds);
}

/// The same decision from the same times on every rank, with the same frame.
void Compositor::settle() {
    const planner::Race::Outcome outcome = race_->judge(communicator_.all_gather(race_->times()));
    std::vector<compositing::Way> ways;
    for (const Runner& each : runners_)
        ways.push_back(each.plan.way());
    planner::Plan plan = planner::after_race(runners_.front().plan, ways, outcome);
    running_ = 0;
    std::swap(runners_.front(), runners_[static_cast<std::size_t>(outcome.winner)]);
    runners_.erase(runners_.begin() + 1, runners_.end());
    runners_.front().plan = std::move(plan);
    race_.reset();
}

Frame Compositor::composite(std::span<const std::byte> images, const FrameOptions& frame) {
    if (race_ && race_->over())
        settle();
    if (!race_)
        return run(images, turn(frame));
    running_ = static_cast<std::size_t>(race_->next());
    const std::exception_ptr fault = turn(frame);
    communicator_.barrier(); // what the slowest rank takes from here on is what the frame takes
    const auto begin = std::chrono::steady_clock::now();
    try {
        const Frame made = run(images, fault);
        race_->finish(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        return made;
    } catch (...) {
        race_->finish(planner::Race::failed); // others may not know: all stay in step
        throw;
    }
}

Frame Compositor::run(std::span<const std::byte> images, std::exception_ptr fault) {
    Execution& execution = this->execution();
    try {
        bind(images, {});
    } catch (const InvalidTask&) {
        if (!fault)
            fault = std::current_exception();
    }
    if (fault)
        execution.run_failed(fault); // others wait for this rank
    execution.run();
    return finish(execution.result());
}

void Compositor::start(std::span<const std::byte> images, Flight& flight,
                       std::span<std::byte> picture, const FrameOptions& frame) {
    std::exception_ptr fault = turn(frame);
    try {
        bind(images, picture);
    } catch (const InvalidTask&) {
        if (!fault)
            fault = std::current_exception();
    }
    if (fault)
        flight.start_failed(execution(), fault);
    else
        flight.start(execution());
}

Frame Compositor::wait(Flight& flight) {
    flight.wait(execution());
    return finish(execution().result());
}

void Compositor::bind(std::span<const std::byte> images, std::span<std::byte> picture) {
    check_size(images);
    place_picture(picture);
    if (layers_ > 0)
        execution().bind(0, images);
}

/// A picture that is collected is collected where the caller wants it, or else in memory of ours.
void Compositor::place_picture(std::span<std::byte> picture) {
    const Bytes size = rank_ == task_.root ? task_.elements * operator_->element.size : 0;
    if (!picture.empty() && static_cast<Bytes>(picture.size()) != size) {
        throw InvalidTask(fmt::format("rank {}: room for a picture of {} bytes, expected {}", rank_,
                                      picture.size(), size));
    }
    picture_ = picture;
    const Program& program = this->program();
    const int buffer = program.result.buffer;
    const bool collected = !program.result.empty() &&
                           program.buffers[static_cast<std::size_t>(buffer)].role == Role::output;
    Seated& seat = *runner().seat;
    if (!collected || (picture.empty() && !seat.collects_outside))
        return;
    if (picture.empty() && finished_.size() != size)
        finished_ = Memory(size);
    seat.collects_outside = !picture.empty();
    execution().bind(buffer, picture.empty() ? finished_.bytes() : picture);
}

void Compositor::check_size(std::span<const std::byte> images) const {
    const Bytes expected = task_.elements * layers_ * operator_->element.size;
    if (static_cast<Bytes>(images.size()) == expected)
        return;
    throw InvalidTask(fmt::format("rank {}: a frame of {} bytes, planned for {} ({} images of {} "
                                  "pixels, {})",
                                  rank_, images.size(), expected, layers_, task_.elements,
                                  operator_->element.name));
}

Elements Compositor::pixel(const Frame& frame, Elements i) const {
    const compositing::Tuning& tuning = plan().tuning;
    const bool dealt = rank_ != task_.root && compositing::is_interlaced(task_, tuning);
    return dealt ? compositing::dealing_of(task_, tuning).pixel(frame.first + i) : frame.first + i;
}

/// Adds the background; where nobody brought an image, makes the empty picture; brings it to where
/// the caller wants it, unless it was collected there.
Frame Compositor::finish(std::span<const std::byte> result) {
    const bool nothing = task_.positions() == 0 && rank_ == task_.root;
    const compositing::Piece piece =
        nothing ? compositing::Piece{0, task_.elements} : runner().seat->piece;
    Frame frame{piece.first, piece.count, result};
    const bool there = picture_.empty() || result.data() == picture_.data();
    if (!nothing && !background_ && there)
        return frame;
    const std::span<std::byte> to = room_for(piece.count);
    if (nothing)
        operator_->fill_identity(to.data(), piece.count);
    frame.bytes = to;
    if (background_)
        kernel::put_behind(operator_->element, nothing ? to : result, *background_, to);
    else if (!nothing)
        std::copy(result.begin(), result.end(), to.begin());
    return frame;
}

/// Where the caller wants the picture, or memory of ours.
std::span<std::byte> Compositor::room_for(Elements pixels) {
    const Bytes size = pixels * operator_->element.size;
    if (!picture_.empty())
        return picture_;
    if (finished_.size() != size)
        finished_ = Memory(size);
    return finished_.bytes();
}

Image composite(const Image& image, const Communicator& communicator,
                const CompositeOptions& options) {
    CompositeOptions with_element = options;
    with_element.element = image.element();
    Compositor compositor(communicator, image.shape(), 1, std::move(with_element));
    if (options.root == CompositeOptions::distributed) {
        throw InvalidTask("a picture left distributed is no image: use a Compositor, whose frame "
                          "is each rank's piece");
    }
    const Frame frame = compositor.composite(image.bytes());
    if (communicator.rank() != options.root)
        return {};
    Image picture(image.shape(), image.element());
    std::memcpy(picture.bytes().data(), frame.bytes.data(), frame.bytes.size());
    return picture;
}

} // namespace sextant
