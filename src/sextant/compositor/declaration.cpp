// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/compositor/declaration.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/image.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant {

namespace {

std::size_t hash_of(const CompositeOptions& options) {
    std::string text = fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {}", options.algorithm,
                                   fmt::join(options.radices, ","), options.window, options.blend,
                                   options.element ? options.element->name : "usual",
                                   fmt::join(options.order, ","), name(options.association),
                                   options.frames, options.reproducible, options.fragments,
                                   options.fold_threads, static_cast<int>(options.sparse),
                                   static_cast<int>(options.interlace), options.density);
    if (const auto& b = options.background)
        text += fmt::format(" {} {} {} {}", b->r, b->g, b->b, b->a);
    return std::hash<std::string>()(text);
}

} // namespace

Declaration declare(ImageShape shape, int layers, const CompositeOptions& options) {
    return {shape.width, shape.height, layers, options.root, hash_of(options)};
}

void check_numbers(const CompositeOptions& options) {
    const auto refuse = [](const char* what, auto given, auto least, auto most) {
        throw InvalidTask(fmt::format("{} {}: expected {} to {}", what, given, least, most));
    };
    constexpr int most_threads_folding = 1024;
    constexpr int most = std::numeric_limits<int>::max();
    if (options.window < 0)
        refuse("window", options.window, 0, most);
    if (options.fold_threads < 1 || options.fold_threads > most_threads_folding)
        refuse("threads that share a rank's blending:", options.fold_threads, 1,
               most_threads_folding);
    if (!(options.density >= 0 && options.density <= 1))
        refuse("density", options.density, 0, 1);
    if (!options.drawn.empty() && options.drawn.size() != planner::drawn_bands)
        refuse("bands that say what was drawn:", options.drawn.size(), planner::drawn_bands,
               planner::drawn_bands);
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
        if (is_too_large({own.width, own.height}, std::max(1, own.layers))) {
            throw InvalidTask(fmt::format("rank {}: {} images of {}x{}: expected no more than {} "
                                          "pixels",
                                          rank, own.layers, own.width, own.height, most_pixels));
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
    std::vector<int> order = options.order, layers, found;
    for (const Declaration& each : all)
        layers.push_back(each.layers);
    if (order.empty()) {
        order.resize(all.size());
        std::iota(order.begin(), order.end(), 0);
    }
    list_order(order, layers, found, task.order);
    for (const int rank : task.order)
        task.layers.push_back(layers[static_cast<std::size_t>(rank)]);
    compositing::check(task);
    return task;
}

void list_order(std::span<const int> order, std::span<const int> layers, std::vector<int>& found,
                std::vector<int>& to) {
    found.assign(layers.size(), 0);
    to.clear();
    for (const int rank : order) {
        if (rank < 0 || rank >= static_cast<int>(layers.size())) {
            throw InvalidTask(fmt::format("visibility order names rank {}: expected 0 to {}", rank,
                                          layers.size() - 1));
        }
        if (found[static_cast<std::size_t>(rank)]++ > 0)
            throw InvalidTask(fmt::format("visibility order names rank {} twice", rank));
        if (layers[static_cast<std::size_t>(rank)] > 0)
            to.push_back(rank);
    }
    for (std::size_t rank = 0; rank < layers.size(); ++rank) {
        if (layers[rank] > 0 && found[rank] == 0) {
            throw InvalidTask(
                fmt::format("rank {} brings an image but has no place in the order {}", rank,
                            fmt::join(order, ",")));
        }
    }
}

namespace {

/// Layout of the numbers that ranks compare: a failure flag, a background flag, the background as
/// four words, then the order.
enum Asked : std::size_t { failed_at, has_background_at, background_at, order_at = 6 };
using Words = std::array<int, 4>;
static_assert(sizeof(Words) == sizeof(RgbaF32));

std::uint64_t hash_of(std::span<const int> asked) {
    std::uint64_t hash = 14695981039346656037u;
    for (const int word : asked)
        hash = (hash ^ static_cast<std::uint32_t>(word)) * 1099511628211u;
    return hash;
}

} // namespace

std::size_t most_asked(std::size_t ranks) {
    return order_at + ranks + 1;
}

void list_asked(std::span<const int> order, const std::optional<RgbaF32>& background,
                std::span<const int> layers, std::vector<int>& to) {
    const auto words = std::bit_cast<Words>(background.value_or(RgbaF32{}));
    to.assign({0, background ? 1 : 0});
    to.insert(to.end(), words.begin(), words.end());
    for (const int rank : order) {
        if (to.size() == most_asked(layers.size()))
            break; // it names some rank twice
        const bool exists = rank >= 0 && rank < static_cast<int>(layers.size());
        if (!exists || layers[static_cast<std::size_t>(rank)] > 0)
            to.push_back(rank);
    }
}

void say_failed(std::vector<int>& asked) {
    asked[failed_at] = 1;
}

std::string text_of_asked(std::span<const int> asked) {
    if (asked[failed_at] != 0)
        return "could not prepare for the visibility order";
    std::vector<std::string> texts;
    if (asked.size() > order_at) {
        texts.push_back(
            fmt::format("visibility order {}", fmt::join(asked.subspan(order_at), ",")));
    }
    Words words;
    std::copy_n(asked.begin() + background_at, words.size(), words.begin());
    const auto colour = std::bit_cast<RgbaF32>(words);
    texts.push_back(asked[has_background_at] == 0 ? "no background"
                                                  : fmt::format("background {},{},{},{}", colour.r,
                                                                colour.g, colour.b, colour.a));
    return fmt::format("{}", fmt::join(texts, ", "));
}

void agree_on_frame(const Communicator& communicator, std::span<const int> asked,
                    const std::function<void()>& part) {
    const std::vector<std::uint64_t> hashes = agree(communicator, part, hash_of(asked));
    const auto other = std::find_if(hashes.begin(), hashes.end(),
                                    [&](std::uint64_t hash) { return hash != hashes[0]; });
    if (other == hashes.end())
        return;
    const std::vector<std::string> texts = all_gather_texts(communicator, text_of_asked(asked));
    const auto rank = static_cast<std::size_t>(other - hashes.begin());
    throw AgreedFailure(fmt::format("ranks ask for different frames: rank 0: {}; rank {}: {}",
                                    texts[0], rank, texts[rank]),
                        true);
}

} // namespace sextant
