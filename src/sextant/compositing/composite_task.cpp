// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/compositing/composite_task.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/record.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::compositing {

int Task::all_layers() const {
    return std::accumulate(layers.begin(), layers.end(), 0);
}

int Task::position_of(int rank) const {
    const auto found = std::find(order.begin(), order.end(), rank);
    return found == order.end() ? -1 : static_cast<int>(found - order.begin());
}

Task one_image_each(int ranks, Elements elements, int root) {
    Task task;
    task.ranks = ranks;
    task.elements = elements;
    task.order.resize(static_cast<std::size_t>(ranks));
    std::iota(task.order.begin(), task.order.end(), 0);
    task.layers.assign(static_cast<std::size_t>(ranks), 1);
    task.root = root;
    return task;
}

void declare_tuning(Record& record, std::vector<int>& radices, int& window) {
    constexpr int most = 1 << 30;
    record
        .add("radices", radices, "K,K,...",
             "radices of radix-k: factors of the number of ranks, each 2 or more")
        .between(2, most);
    record
        .add("window", window, "N",
             "number of message rounds in flight, for algorithms that work in rounds")
        .between(1, most)
        .none_is(0);
}

std::string to_text(const Tuning& tuning) {
    std::vector<std::string> parts;
    if (!tuning.radices.empty()) {
        parts.push_back(fmt::format("radices {}", fmt::join(tuning.radices, ",")));
    }
    if (tuning.window > 0)
        parts.push_back(fmt::format("window {}", tuning.window));
    if (tuning.interlace > 0)
        parts.push_back(fmt::format("interlace {}", tuning.interlace));
    return fmt::format("{}", fmt::join(parts, ", "));
}

Piece equal_part(const Task& task, int i) {
    const Region pixels = part(block(0, 0, task.elements), i, task.positions());
    return {pixels.offset, pixels.length};
}

void check(const Task& task) {
    if (task.ranks < 1)
        throw InvalidTask(fmt::format("{} ranks: expected 1 or more", task.ranks));
    if (task.elements < 0) {
        throw InvalidTask(fmt::format("an image of {} pixels: expected 0 or more", task.elements));
    }
    if (task.layers.size() != task.order.size()) {
        throw InvalidTask(fmt::format("{} layer counts for {} positions, expected one per position",
                                      task.layers.size(), task.order.size()));
    }
    std::vector<bool> seen(static_cast<std::size_t>(task.ranks), false);
    for (std::size_t i = 0; i < task.order.size(); ++i) {
        const int rank = task.order[i];
        if (rank < 0 || rank >= task.ranks) {
            throw InvalidTask(fmt::format("visibility order names rank {}: expected 0 to {}", rank,
                                          task.ranks - 1));
        }
        if (seen[static_cast<std::size_t>(rank)]) {
            throw InvalidTask(fmt::format("visibility order names rank {} twice", rank));
        }
        seen[static_cast<std::size_t>(rank)] = true;
        if (task.layers[i] < 1) {
            throw InvalidTask(fmt::format(
                "rank {} is in the visibility order but has {} layers, expected 1 or more", rank,
                task.layers[i]));
        }
    }
    if (task.root != Task::distributed && (task.root < 0 || task.root >= task.ranks)) {
        throw InvalidTask(fmt::format("the result is requested on rank {}: expected 0 to {}",
                                      task.root, task.ranks - 1));
    }
}

void check(const Task& task, ImageOrder images) {
    std::vector<int> first(static_cast<std::size_t>(task.positions()) + 1, 0);
    std::partial_sum(task.layers.begin(), task.layers.end(), first.begin() + 1);
    std::vector<bool> seen(static_cast<std::size_t>(first.back()), false);
    for (const auto& [position, image] : images) {
        const bool exists = position >= 0 && position < task.positions() && image >= 0 &&
                            image < task.layers_at(position);
        if (!exists) {
            throw InvalidTask(fmt::format("the image order names image {} of position {}, which "
                                          "does not exist",
                                          image, position));
        }
        const auto at = static_cast<std::size_t>(first[static_cast<std::size_t>(position)] + image);
        if (seen[at]) {
            throw InvalidTask(fmt::format("the image order names image {} of position {} twice",
                                          image, position));
        }
        seen[at] = true;
    }
    if (images.size() != seen.size()) {
        throw InvalidTask(
            fmt::format("the image order names {} of {} images", images.size(), seen.size()));
    }
}

std::vector<ImageRun> runs_of(ImageOrder images, int from, int to) {
    if (images.empty())
        return {{from, to}};
    std::vector<ImageRun> runs;
    for (int i = 0; i < static_cast<int>(images.size()); ++i) {
        const int position = images[static_cast<std::size_t>(i)].position;
        if (position < from || position >= to)
            continue;
        if (runs.empty() || runs.back().last < i)
            runs.push_back({i, i});
        runs.back().last = i + 1;
    }
    return runs;
}

Region in_all_layers(const Region& pixels, Elements image, int layers) {
    return {pixels.buffer, pixels.offset, pixels.length, image, layers};
}

void append_runs(std::vector<Region>& operands, const Region& region) {
    for (Elements i = 0; i < region.count; ++i) {
        operands.push_back(block(region.buffer, region.offset + i * region.stride, region.length));
    }
}

Region blended(ProgramBuilder& builder, const Region& region) {
    if (region.count == 1)
        return region;
    std::vector<Region> layers;
    append_runs(layers, region);
    const Region sum = builder.scratch(region.length);
    builder.fold(sum, layers);
    return sum;
}

} // namespace sextant::compositing
