// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/composite/declaration.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant {

namespace {

std::size_t hash_of(const CompositeOptions& options) {
    std::string text = fmt::format(
        "{} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", options.algorithm,
        fmt::join(options.radices, ","), options.window, options.segments, options.blend,
        options.element ? options.element->name : "usual", fmt::join(options.order, ","),
        name(options.association), options.frames, options.reproducible, options.fragments,
        options.fold_threads, static_cast<int>(options.sparse), static_cast<int>(options.interlace),
        options.density);
    if (const auto& b = options.background)
        text += fmt::format(" {} {} {} {}", b->r, b->g, b->b, b->a);
    return std::hash<std::string>()(text);
}

} // namespace

Declaration declare(ImageShape shape, int layers, const CompositeOptions& options) {
    return {shape.width, shape.height, layers, options.root, hash_of(options)};
}

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

compositing::Task task_of(const std::vector<Declaration>& all, const CompositeOptions& options) {
    compositing::Task task;
    task.ranks = static_cast<int>(all.size());
    task.elements = ImageShape{all[0].width, all[0].height}.elements();
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

} // namespace sextant
