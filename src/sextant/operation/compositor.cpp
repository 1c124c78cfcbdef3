// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/compositor.hpp"

#include "sextant/calibrate/staleness.hpp"
#include "sextant/calibrate/this_machine.hpp"
#include "sextant/comm/agree.hpp"
#include "sextant/comm/hosts.hpp"
#include "sextant/comm/texts.hpp"
#include "sextant/core/error.hpp"
#include "sextant/kernel/background.hpp"
#include "sextant/kernel/catalogue.hpp"
#include "sextant/planner/asked.hpp"
#include "sextant/planner/usual.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant {

namespace {

/// What every rank says of itself, so that all can tell whether they agree.
struct Declaration {
    std::int64_t width, height;
    int layers, root;
    std::size_t options; ///< a hash of the rest
};

const Operator& operator_of(const CompositeOptions& options) {
    return options.element ? kernel::find(options.blend, *options.element)
                           : kernel::find_family(options.blend).operators.front();
}

std::size_t hash_of(const CompositeOptions& options) {
    std::string text = fmt::format("{} {} {} {} {} {} {}", options.algorithm,
                                   fmt::join(options.radices, ","), options.window, options.blend,
                                   options.element ? options.element->name : "usual",
                                   fmt::join(options.order, ","), name(options.association));
    if (const auto& b = options.background)
        text += fmt::format(" {} {} {} {}", b->r, b->g, b->b, b->a);
    return std::hash<std::string>()(text);
}

/// The same check on the same data on every rank: all throw, or none.
void check_alike(const std::vector<Declaration>& all) {
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        const Declaration &own = all[rank], &first = all[0];
        if (own.width < 0 || own.height < 0) {
            throw InvalidTask(
                fmt::format("rank {}: an image of {}x{}", rank, own.width, own.height));
        }
        if (own.layers < 0) {
            throw InvalidTask(
                fmt::format("rank {}: {} images; expected 0 or more", rank, own.layers));
        }
        if (own.width != first.width || own.height != first.height) {
            throw InvalidTask(fmt::format("rank {} has images of {}x{}, rank 0 of {}x{}", rank,
                                          own.width, own.height, first.width, first.height));
        }
        if (own.root != first.root) {
            throw InvalidTask(fmt::format("rank {} wants the picture on rank {}, rank 0 on rank {}",
                                          rank, own.root, first.root));
        }
        if (own.options != first.options) {
            throw InvalidTask(fmt::format("rank {} gives other options than rank 0", rank));
        }
    }
}

compositing::Task make_task(const std::vector<Declaration>& all, ImageShape shape,
                            const CompositeOptions& options) {
    compositing::Task task;
    task.ranks = static_cast<int>(all.size());
    task.elements = shape.elements();
    task.root = options.root;
    std::vector<int> order = options.order;
    if (order.empty()) {
        order.resize(all.size());
        std::iota(order.begin(), order.end(), 0);
    }
    for (int rank : order) {
        const bool exists = rank >= 0 && rank < task.ranks;
        const int layers = exists ? all[static_cast<std::size_t>(rank)].layers : 1;
        if (layers == 0)
            continue;
        task.order.push_back(rank);
        task.layers.push_back(layers);
    }
    compositing::check(task);
    for (int rank = 0; rank < task.ranks; ++rank) {
        if (all[static_cast<std::size_t>(rank)].layers == 0)
            continue;
        if (std::find(order.begin(), order.end(), rank) == order.end()) {
            throw InvalidTask(
                fmt::format("rank {} brings an image but has no place in the order {}", rank,
                            fmt::join(order, ",")));
        }
    }
    return task;
}

/// A profile of another machine, or of another MPI, still plans, but its figures are not ours.
void warn_of_other_machine(const planner::UsualPlanner& usual, std::vector<std::string>& warnings) {
    if (usual.path.empty())
        return; // built in, and says so
    const machine::Profile& profile = usual.planner->machine();
    const std::vector<std::string> differences =
        calibrate::differences(profile, calibrate::describe_machine(profile.transport));
    if (!differences.empty()) {
        warnings.push_back(fmt::format("{} is not of this machine: {}; sextant calibrate measures "
                                       "it",
                                       usual.path, fmt::join(differences, "; ")));
    }
}

} // namespace

Compositor::Compositor(Communicator communicator, ImageShape shape, int layers,
                       CompositeOptions options)
    : options_(std::move(options)), rank_(communicator.rank()), layers_(layers) {
    const std::vector<Declaration> all = communicator.all_gather(
        Declaration{shape.width, shape.height, layers, options_.root, hash_of(options_)});
    agree(communicator, [&] {
        check_alike(all);
        operator_ = &operator_of(options_);
        task_ = make_task(all, shape, options_);
    });
    decide(communicator);
    agree(communicator, [&] { prepare(communicator); });
}

/// What is asked for by name every rank knows; else rank 0 chooses, and tells.
void Compositor::decide(const Communicator& communicator) {
    const compositing::Tuning asked{options_.radices, options_.window};
    if (options_.algorithm != "auto" && options_.plan.empty()) {
        agree(communicator, [&] {
            plan_ =
                planner::choose_by_name(options_.algorithm, asked, std::max(1, task_.positions()));
        });
        return;
    }
    const std::vector<int> nodes = nodes_of(communicator);
    std::string told;
    agree(communicator, [&] {
        if (rank_ != 0)
            return;
        plan_ = choose(nodes, communicator.shares_memory());
        planner::Plan bare = plan_;
        bare.alternatives.clear();
        told = planner::to_json(bare);
    });
    told = all_gather_texts(communicator, told).front();
    if (rank_ != 0)
        plan_ = planner::parse_plan(told, "the plan of rank 0");
}

planner::Plan Compositor::choose(const std::vector<int>& nodes, bool shares_memory) {
    const compositing::Tuning asked{options_.radices, options_.window};
    const int positions = std::max(1, task_.positions());
    if (!options_.plan.empty() && std::filesystem::exists(options_.plan)) {
        planner::Plan saved = planner::read_plan(options_.plan);
        planner::choose_by_name(std::string(saved.algorithm->name), saved.tuning, positions);
        return saved;
    }
    if (options_.algorithm != "auto")
        return planner::choose_by_name(options_.algorithm, asked, positions);
    const planner::UsualPlanner usual =
        planner::usual_planner(shares_memory ? "threads" : "mpi", options_.machine);
    warnings_ = usual.warnings;
    warn_of_other_machine(usual, warnings_);
    const planner::Work work{.operator_name = std::string(operator_->name),
                             .element_name = std::string(channels(operator_->element)),
                             .element_size = operator_->element.size,
                             .nodes = nodes,
                             .within_node = shares_memory ? machine::Link::same_process
                                                          : machine::Link::same_node};
    return planner::plan_or_built_in(usual, task_, work, asked, warnings_);
}

void Compositor::prepare(const Communicator& communicator) {
    piece_ = compositing::piece(*plan_.algorithm, task_, plan_.tuning, rank_);
    execution_.emplace(communicator,
                       compositing::program(*plan_.algorithm, task_, plan_.tuning, rank_),
                       *operator_, ExecuteOptions{options_.association, options_.trace});
}

Frame Compositor::composite(std::span<const std::byte> images) {
    try {
        check_size(images);
        if (layers_ > 0)
            execution_->bind(0, images);
    } catch (const InvalidTask&) {
        execution_->run_failed(std::current_exception()); // others wait for this rank
    }
    execution_->run();
    return finish(execution_->result());
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

/// Adds the background; where nobody brought an image, makes the empty picture.
Frame Compositor::finish(std::span<const std::byte> result) {
    const bool nothing = task_.positions() == 0 && rank_ == task_.root;
    if (nothing)
        piece_ = {0, task_.elements};
    Frame frame{piece_.first, piece_.count, result};
    if (!nothing && !options_.background)
        return frame;
    const Bytes size = piece_.count * operator_->element.size;
    if (finished_.size() != size)
        finished_ = Memory(size);
    if (nothing)
        operator_->fill_identity(finished_.data(), piece_.count);
    frame.bytes = finished_.bytes();
    if (options_.background) {
        kernel::put_behind(operator_->element, nothing ? frame.bytes : result, *options_.background,
                           finished_.bytes());
    }
    return frame;
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
