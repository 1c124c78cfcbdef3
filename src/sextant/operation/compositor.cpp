// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/compositor.hpp"

#include "sextant/comm/agree.hpp"
#include "sextant/core/error.hpp"
#include "sextant/kernel/background.hpp"
#include "sextant/kernel/catalogue.hpp"

#include <algorithm>
#include <cstring>
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

} // namespace

Compositor::Compositor(Communicator communicator, ImageShape shape, int layers,
                       CompositeOptions options)
    : options_(std::move(options)), rank_(communicator.rank()), layers_(layers) {
    const std::vector<Declaration> all = communicator.all_gather(
        Declaration{shape.width, shape.height, layers, options_.root, hash_of(options_)});
    agree(communicator, [&] {
        check_alike(all);
        prepare(communicator, make_task(all, shape, options_));
    });
}

void Compositor::prepare(const Communicator& communicator, compositing::Task task) {
    operator_ = &operator_of(options_);
    task_ = std::move(task);
    const int positions = std::max(1, task_.positions());
    plan_ = planner::choose(options_.algorithm, {options_.radices, options_.window}, positions,
                            communicator.shares_memory());
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
