// SPDX-License-Identifier: BSD-3-Clause

#include "sextant/compositor/compositor.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/buffers.hpp"
#include "sextant/compositing/interlace.hpp"
#include "sextant/compositor/compositor_run.hpp"
#include "sextant/compositor/declaration.hpp"
#include "sextant/core/error.hpp"
#include "sextant/kernel/fold/catalogue.hpp"
#include "sextant/kernel/fold/deep.hpp"
#include "sextant/kernel/fold/pixel_formats.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include <fmt/format.h>

namespace sextant {

Operator operator_of(const CompositeOptions& options) {
    if (options.blend == "deep") {
        if (options.background)
            throw InvalidTask(
                "a background cannot be added to deep pixels before they are blended");
        return kernel::deep_operator(options.fragments);
    }
    return options.element ? kernel::find(options.blend, *options.element)
                           : kernel::find_family(options.blend).operators.front();
}

CompositorRun::CompositorRun(Communicator communicator, ImageShape shape, int layers,
                             CompositeOptions options)
    : communicator_(scope_of(communicator, "Compositor", RunsOf::all_ranks)),
      options_(std::move(options)),
      shape_(shape),
      rank_(communicator_.rank()),
      layers_(layers) {
    const std::vector<Declaration> all = communicator_.all_gather(
        Declaration{shape.width, shape.height, layers, hash_of(options_.image_order)});
    for (const Declaration& each : all)
        layers_of_.push_back(each.layers);
    require_same(communicator_, options_);
    const auto differs = [&](const Declaration& each) {
        return each.image_order != all.front().image_order;
    };
    if (std::any_of(all.begin(), all.end(),
                    differs)) { // compare the orders, so that the error names the difference
        sextant::list_requests({}, {}, layers_of_, asked_, options_.image_order);
        agree_on_frame(communicator_, asked_, [] {});
    }
    agree(communicator_, [&] {
        check_alike(all);
        check_numbers(options_);
        operator_ = operator_of(options_);
        task_ = task_of(all, options_);
    });
    if (is_by_image())
        list_image_order(options_.image_order, layers_of_, found_, task_.order, images_);
    remember_order();
    interlacing_pays_ = reckon_interlacing();
    const planner::CompositingPlan plan = decide();
    make_comparison();
    agree(communicator_, [&] {
        workspace_ = std::make_shared<Workspace>(options_.threads);
        prepare(plan);
    });
    warn_of_shortage();
    if (options_.frames > 1 && !options_.reproducible)
        enter_race(plan);
}

void CompositorRun::prepare(planner::CompositingPlan plan) {
    Runner runner{std::move(plan), {}, nullptr};
    take_seat(runner);
    runners_.push_back(std::move(runner));
}

/// Starts a race, which times configurations on the first frames. Rank 0 chooses the
/// configurations, because only its plan lists the alternatives. Collective.
void CompositorRun::enter_race(const planner::CompositingPlan& plan) {
    const planner::RacingOrder local = planner::racing_order(plan, options_.frames);
    const auto [contestants, rounds] =
        communicator_
            .all_gather(std::array{static_cast<int>(local.configurations.size()), local.rounds})
            .front();
    for (int i = 1; i < contestants; ++i) { // the chosen plan is already prepared
        planner::CompositingPlan other = plan;
        if (rank_ == 0)
            other.configuration = local.configurations[static_cast<std::size_t>(i)];
        other.reason = "timed because it may be as fast as " + plan.text();
        other = received_plan(other);
        agree(communicator_, [&] { prepare(std::move(other)); });
    }
    if (contestants > 0)
        race_.emplace(contestants, rounds);
}

/// Ends the race. Every rank has the same times and calls settle() before the same frame, so all
/// ranks choose the same winner.
void CompositorRun::settle() {
    const planner::Race::Outcome outcome = race_->judge(communicator_.all_gather(race_->times()));
    std::vector<compositing::Configuration> configurations;
    for (const Runner& each : runners_)
        configurations.push_back(each.plan.configuration);
    planner::CompositingPlan plan =
        planner::after_race(runners_.front().plan, configurations, outcome);
    running_ = 0;
    std::swap(runners_.front(), runners_[static_cast<std::size_t>(outcome.winner)]);
    runners_.erase(runners_.begin() + 1, runners_.end());
    runners_.front().plan = std::move(plan);
    race_.reset();
}

Frame CompositorRun::composite(std::span<const std::byte> images, const FrameOptions& frame) {
    if (race_ && race_->over())
        settle();
    if (!race_)
        return run(images, turn(frame));
    running_ = static_cast<std::size_t>(race_->next());
    const std::exception_ptr fault = turn(frame);
    communicator_.barrier(); // ranks start together, so the slowest rank determines the time
    const auto begin = std::chrono::steady_clock::now();
    try {
        const Frame made = run(images, fault);
        race_->finish(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        return made;
    } catch (...) {
        race_->finish(planner::Race::failed); // counts the frame, as on ranks that did not fail
        throw;
    }
}

Frame CompositorRun::run(std::span<const std::byte> images, std::exception_ptr fault) {
    Execution& execution = this->execution();
    try {
        bind(images, {});
    } catch (const InvalidTask&) {
        if (!fault)
            fault = std::current_exception();
    }
    if (fault)
        execution.run_failed(fault); // throws, after notifying the ranks that wait for this one
    execution.run();
    return finish(execution.result());
}

void CompositorRun::start(std::span<const std::byte> images, Flight& flight,
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

Frame CompositorRun::wait(Flight& flight) {
    flight.wait(execution());
    return finish(execution().result());
}

void CompositorRun::bind(std::span<const std::byte> images, std::span<std::byte> picture) {
    check_size(images);
    place_picture(picture);
    if (layers_ > 0)
        execution().bind(0, images);
}

/// Binds the buffer of a collected image to the caller's memory or, if the caller provides none, to
/// this compositor's memory.
void CompositorRun::place_picture(std::span<std::byte> picture) {
    const Bytes size = rank_ == task_.root ? task_.elements * operator_->element.size : 0;
    if (!picture.empty() && static_cast<Bytes>(picture.size()) != size) {
        throw InvalidTask(fmt::format("rank {}: an image buffer of {} bytes, expected {}", rank_,
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

void CompositorRun::check_size(std::span<const std::byte> images) const {
    const Bytes expected = task_.elements * layers_ * operator_->element.size;
    if (static_cast<Bytes>(images.size()) == expected)
        return;
    throw InvalidTask(
        fmt::format("rank {}: a frame of {} bytes, expected {} ({} images of {} pixels, {})", rank_,
                    images.size(), expected, layers_, task_.elements, operator_->element.name));
}

Elements CompositorRun::pixel(const Frame& frame, Elements i) const {
    const compositing::Tuning& tuning = plan().configuration.tuning;
    const bool interlaced =
        rank_ != task_.root && drawn_.empty() && compositing::is_interlaced(task_, tuning);
    return interlaced ? compositing::interlacing_of(task_, tuning).pixel(frame.first + i)
                      : frame.first + i;
}

/// Blends the background, creates an empty composited image if no rank has an image, and copies the
/// result to the caller's memory unless it was collected there.
Frame CompositorRun::finish(std::span<const std::byte> result) {
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

/// Returns the caller's memory for the composited image or, if the caller provides none, this
/// compositor's memory.
std::span<std::byte> CompositorRun::room_for(Elements pixels) {
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
        throw InvalidTask("composite() returns a complete image, but the result stays distributed: "
                          "use a Compositor, which returns each rank's piece");
    }
    const Frame frame = compositor.composite(image.bytes());
    if (communicator.rank() != options.root)
        return {};
    Image picture(image.shape(), image.element());
    std::memcpy(picture.bytes().data(), frame.bytes.data(), frame.bytes.size());
    return picture;
}

namespace {

/// The maximum total number of steps in all cached programs; a step takes a few hundred bytes.
constexpr std::size_t most_steps = std::size_t{1} << 18;

} // namespace

void CompositorRun::remember_order() {
    const auto positions = task_.order.size();
    first_order_ = task_.order;
    background_ = options_.background;
    peers_ = compositing::peers_of(task_);
    next_order_.reserve(positions);
    next_images_.reserve(images_.size());
    found_.reserve(2 * layers_of_.size() + images_.size());
    key_.reserve(positions + 3 + 2 * static_cast<std::size_t>(task_.all_layers()));
    asked_.reserve(most_requested(layers_of_.size(), images_.size()));
    next_asked_.reserve(asked_.capacity());
    list_requests({});
    std::swap(asked_, next_asked_);
}

/// Sets up the comparison of frame options between the root and the ranks with images. Other ranks
/// do not take part in a frame, so their options do not matter.
void CompositorRun::make_comparison() {
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
    comparison_ = std::make_unique<Comparison>(std::move(own),
                                               most_requested(layers_of_.size(), images_.size()),
                                               asked_, std::move(names), text_of_request);
}

/// Writes the frame's options to `next_asked_`. Returns true if they differ from the options of the
/// previous frame.
bool CompositorRun::list_requests(const FrameOptions& frame) {
    const bool by_image = !frame.image_order.empty() || (is_by_image() && frame.order.empty());
    const std::span<const ImageOfRank> images =
        frame.image_order.empty() ? options_.image_order : frame.image_order;
    sextant::list_requests(frame.order.empty() ? first_order_ : frame.order,
                           frame.background ? frame.background : options_.background, layers_of_,
                           next_asked_, by_image ? images : std::span<const ImageOfRank>());
    if (!frame.order.empty() && !frame.image_order.empty())
        next_asked_.push_back(-1); // matches no valid request; check_order_kind() rejects it
    return next_asked_ != asked_;
}

/// Prepares a frame. If the frame's options are invalid, returns the error; the caller must then
/// run the frame as failed (Execution::run_failed).
std::exception_ptr CompositorRun::turn(const FrameOptions& frame) {
    if (comparison_ && comparison_->spoiled()) {
        throw CommunicationFailed("ranks requested different frames earlier, after some ranks had "
                                  "begun: the communicator can no longer be used");
    }
    ++frames_;
    const bool changed = list_requests(frame) || (comparison_ && !comparison_->agreed());
    if (changed) {
        fault_ = nullptr;
        std::swap(asked_, next_asked_);
        try {
            if (frame.background && options_.blend == "deep")
                throw InvalidTask("a frame of deep pixels cannot have a background");
            check_background(frame.background);
            background_ = frame.background ? frame.background : options_.background;
            take_order(frame);
            for (Runner& each : runners_)
                take_seat(each);
        } catch (const InvalidTask&) { // all ranks with these options throw the same exception
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

void CompositorRun::check_order_kind(const FrameOptions& frame) const {
    if (!frame.image_order.empty() && !is_by_image()) {
        throw InvalidTask(
            "the frame has an order of images, but the options of the compositor do not");
    }
    if (!frame.order.empty() && is_by_image()) {
        throw InvalidTask("the frame has an order of ranks, but the options of the compositor have "
                          "an order of images");
    }
}

void CompositorRun::take_order(const FrameOptions& frame) {
    check_order_kind(frame);
    if (is_by_image()) {
        list_image_order(frame.image_order.empty() ? options_.image_order : frame.image_order,
                         layers_of_, found_, next_order_, next_images_);
        std::swap(next_images_, images_);
    } else {
        list_order(frame.order.empty() ? first_order_ : frame.order, layers_of_, found_,
                   next_order_);
    }
    if (next_order_ == task_.order)
        return;
    std::swap(next_order_, task_.order);
    std::copy(task_.order.begin(), task_.order.end(), peers_.begin());
    for (std::size_t i = 0; i < task_.order.size(); ++i)
        task_.layers[i] = layers_of_[static_cast<std::size_t>(task_.order[i])];
    ++orders_;
}

void CompositorRun::take_seat(Runner& runner) {
    Seated& seat = seat_for(runner);
    seat.used = frames_;
    if (seat.order != orders_) {
        seat.execution.set_peers(peers_);
        seat.order = orders_;
    }
    runner.seat = &seat;
}

/// Returns the cached execution (seat) for this rank's position, or makes a new one.
CompositorRun::Seated& CompositorRun::seat_for(Runner& runner) {
    const compositing::Algorithm& algorithm = *runner.plan.configuration.algorithm;
    if (is_by_image() || !drawn_.empty())
        list_images();
    else
        compositing::list_seat(algorithm, task_, rank_, key_);
    for (const auto& seat : runner.seats) {
        if (seat->key == key_)
            return *seat;
    }
    drop_seats(runner);
    Prepared made = prepared(runner.plan.configuration);
    Execution execution(communicator_, std::move(made.program), *operator_,
                        {.association = options_.association,
                         .trace = options_.trace,
                         .fold_threads = options_.threads,
                         .sparse = made.sparse,
                         .workspace = workspace_,
                         .comparison = comparison_.get()},
                        std::move(made.kernels));
    runner.seats.push_back(
        std::make_unique<Seated>(Seated{key_, made.piece, std::move(execution), -1, frames_}));
    return *runner.seats.back();
}

/// Drops the least recently used executions (seats) until the remaining ones have at most
/// `most_steps` steps in total, or only one is left.
void CompositorRun::drop_seats(Runner& runner) {
    std::size_t steps = 0;
    for (const auto& seat : runner.seats)
        steps += seat->execution.program().steps.size();
    while (steps > most_steps && runner.seats.size() > 1) { // keep the seat in use
        const auto oldest =
            std::min_element(runner.seats.begin(), runner.seats.end(),
                             [](const auto& a, const auto& b) { return a->used < b->used; });
        steps -= (*oldest)->execution.program().steps.size();
        runner.seats.erase(oldest);
    }
}

Compositor::Compositor(Communicator communicator, ImageShape shape, int layers,
                       CompositeOptions options)
    : run_(std::make_unique<CompositorRun>(std::move(communicator), shape, layers,
                                           std::move(options))) {}
Compositor::Compositor(Compositor&& other) noexcept = default;
Compositor& Compositor::operator=(Compositor&& other) noexcept = default;
Compositor::~Compositor() = default;

Frame Compositor::composite(std::span<const std::byte> images, const FrameOptions& frame) {
    return run_->composite(images, frame);
}
void Compositor::start(std::span<const std::byte> images, Flight& flight,
                       std::span<std::byte> picture, const FrameOptions& frame) {
    run_->start(images, flight, picture, frame);
}
bool Compositor::ready(Flight& flight) {
    return run_->ready(flight);
}
Frame Compositor::wait(Flight& flight) {
    return run_->wait(flight);
}
void Compositor::abandon(Flight& flight) {
    run_->abandon(flight);
}
void Compositor::fail(const std::string& text) {
    run_->fail(text);
}
const planner::CompositingPlan& Compositor::plan() const {
    return run_->plan();
}
std::optional<model::Prediction> Compositor::prediction() const {
    return run_->prediction();
}
bool Compositor::racing() const {
    return run_->racing();
}
const std::vector<std::string>& Compositor::warnings() const {
    return run_->warnings();
}
const compositing::Task& Compositor::task() const {
    return run_->task();
}
const Operator& Compositor::blend() const {
    return run_->blend();
}
Elements Compositor::pixel(const Frame& frame, Elements i) const {
    return run_->pixel(frame, i);
}
const Program& Compositor::program() const {
    return run_->program();
}
const Trace& Compositor::trace() const {
    return run_->trace();
}
const Sent& Compositor::sent() const {
    return run_->sent();
}

} // namespace sextant
