// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/compositor/declaration.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/image.hpp"
#include "sextant/core/text.hpp"
#include "sextant/kernel/fold/catalogue.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant {

namespace {

constexpr std::string_view colour_forms =
    "white, black, gray, #rrggbb, #rrggbbaa, or r,g,b[,a] from 0 to 1";

std::optional<std::array<float, 4>> from_hexadecimal(const std::string& text) {
    if (text.size() != 7 && text.size() != 9)
        return std::nullopt;
    if (text.find_first_not_of("0123456789abcdefABCDEF", 1) != std::string::npos)
        return std::nullopt;
    std::array<float, 4> channels = {0, 0, 0, 1};
    for (std::size_t i = 0; 2 * i + 1 < text.size(); ++i) {
        channels[i] =
            static_cast<float>(std::stoi(text.substr(2 * i + 1, 2), nullptr, 16)) / 255.0f;
    }
    return channels;
}

std::optional<std::array<float, 4>> from_numbers(const std::string& text) {
    std::array<float, 4> channels = {0, 0, 0, 1};
    std::size_t count = 0;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ','); ++count) {
        const auto number = parsed_number<double>(part);
        if (count == channels.size() || !number || *number < 0 || *number > 1)
            return std::nullopt;
        channels[count] = static_cast<float>(*number);
    }
    return count >= 3 && !text.ends_with(',') ? std::optional(channels) : std::nullopt;
}

std::optional<std::array<float, 4>> parse(const std::string& text) {
    if (text == "white")
        return std::array<float, 4>{1, 1, 1, 1};
    if (text == "black")
        return std::array<float, 4>{0, 0, 0, 1};
    if (text == "gray" || text == "grey")
        return std::array<float, 4>{.5f, .5f, .5f, 1};
    return text.starts_with('#') ? from_hexadecimal(text) : from_numbers(text);
}

/// Formats a premultiplied background.
std::string text_of_background(const std::optional<RgbaF32>& colour) {
    return colour
               ? fmt::format("background {},{},{},{}", colour->r, colour->g, colour->b, colour->a)
               : "no background";
}

/// Formats a premultiplied colour as text: a name, or numbers that are not premultiplied.
std::string text_of(const RgbaF32& colour) {
    for (const char* name : {"white", "black", "gray"}) {
        if (const auto [r, g, b, a] = *parse(name);
            colour.r == r && colour.g == g && colour.b == b && colour.a == a)
            return name;
    }
    const float scale = colour.a > 0 ? 1 / colour.a : 0;
    return fmt::format("{},{},{},{}", colour.r * scale, colour.g * scale, colour.b * scale,
                       colour.a);
}

/// Colours in text are not premultiplied. There is no conversion between colour spaces: a
/// hexadecimal 80 is 128/255 on the scale of the pixels.
Codec codec_of(std::optional<RgbaF32>& colour) {
    return {[&colour] { return colour ? text_of(*colour) : ""; },
            [&colour](const Field&, std::string_view text) {
                const auto channels = parse(std::string(text));
                if (!channels)
                    return std::string(colour_forms);
                const auto& [r, g, b, a] = *channels;
                colour = {r * a, g * a, b * a, a};
                return std::string();
            }};
}

Codec codec_of(std::optional<ElementFormat>& element, const std::string& blend) {
    return {[&element] { return element ? std::string(element->name) : ""; },
            [&element, &blend](const Field&, std::string_view text) {
                std::vector<std::string_view> names;
                for (const Operator& each : kernel::find_family(blend).operators) {
                    names.push_back(each.element.name);
                    if (text == each.element.name) {
                        element = each.element;
                        return std::string();
                    }
                }
                return fmt::format("one of {}", fmt::join(names, ", "));
            }};
}

} // namespace

Record record_of(CompositeOptions& options) {
    constexpr int most_threads = 1024;
    Record record;
    record.add("algorithm", options.algorithm, "NAME",
               "algorithm (sextant list algorithms); auto: predicted fastest");
    compositing::declare_tuning(record, options.radices, options.window);
    record.add("sparse", options.sparse,
               {{"auto", planner::Sparse::automatic},
                {"on", planner::Sparse::on},
                {"off", planner::Sparse::off}},
               "WHEN", "skip empty pixels in messages");
    record.add("interlace", options.interlace,
               {{"auto", planner::Interlace::automatic},
                {"on", planner::Interlace::on},
                {"off", planner::Interlace::off}},
               "WHEN", "assign rows to ranks cyclically, to balance work");
    record.add("operator", options.blend, "NAME", "over, nearest, add, max or deep");
    record.add("element", codec_of(options.element, options.blend), "FORMAT", "pixel format");
    record.add("fragments", options.fragments, "N", "maximum number of fragments per deep pixel")
        .between(0, std::numeric_limits<int>::max());
    record.add("order", options.order, "I,I,...", "visibility order of the ranks, front to back")
        .between(0, std::numeric_limits<int>::max());
    record.add("background", codec_of(options.background), "COLOUR", std::string(colour_forms));
    record
        .add("root", options.root, "RANK",
             "rank that receives the image; -1: the image stays distributed")
        .between(-1, std::numeric_limits<int>::max());
    record.add("association", options.association,
               {{"in-order", Association::in_order}, {"by-arrival", Association::by_arrival}},
               "HOW", "order in which operands are combined");
    record
        .add("threads", options.threads, "N",
             "threads per rank for blending; their number does not affect results")
        .between(1, most_threads);
    planner::declare_planning(record, options.machine, options.probing);
    record.add("plan", options.plan, "FILE", "read the plan from this file").file().by_rank();
    record
        .add("frames", options.frames, "N", "approximate number of frames that will be composited")
        .between(0, std::numeric_limits<int>::max());
    record
        .add("density", options.density, "FRACTION",
             "expected fraction of active pixels; determines whether to skip empty ones")
        .between(0, 1);
    record.add("reproducible", options.reproducible,
               "fold operands in the same order in all frames; do not race candidates");
    record.add("trace", options.trace, "record a trace of all ranks");
    return record;
}

Effects effects_of(const CompositeOptions& options) {
    return planner::effects_of_planning(options.machine);
}

void check_background(const std::optional<RgbaF32>& background) {
    if (!background)
        return;
    for (const float channel : {background->r, background->g, background->b, background->a}) {
        if (!std::isfinite(channel))
            throw InvalidTask(
                fmt::format("{}: expected finite numbers", text_of_background(background)));
    }
}

void check_numbers(CompositeOptions& options) {
    record_of(options).check();
    check_background(options.background);
    if (!options.order.empty() && !options.image_order.empty())
        throw InvalidTask(
            "both an order of ranks and an order of images are given, expected one of them");
    if (!options.drawn.empty() && options.drawn.size() != planner::drawn_bands)
        throw InvalidTask(fmt::format("the option drawn has {} bands: expected {} or none",
                                      options.drawn.size(), planner::drawn_bands));
}

void check_alike(const std::vector<Declaration>& all) {
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        const Declaration &own = all[rank], &first = all[0];
        if (own.width < 0 || own.height < 0) {
            throw InvalidTask(fmt::format("rank {}: an image of {}x{}, expected sides of 0 or more",
                                          rank, own.width, own.height));
        }
        if (own.layers < 0) {
            throw InvalidTask(
                fmt::format("rank {}: {} images, expected 0 or more", rank, own.layers));
        }
        if (is_too_large({own.width, own.height}, std::max(1, own.layers))) {
            throw InvalidTask(fmt::format("rank {}: {} images of {}x{}: expected no more than {} "
                                          "pixels",
                                          rank, own.layers, own.width, own.height, most_pixels));
        }
        if (own.width != first.width || own.height != first.height) {
            throw InvalidTask(
                fmt::format("rank {} has images of {}x{}, but rank 0 has images of {}x{}", rank,
                            own.width, own.height, first.width, first.height));
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
    std::vector<compositing::PlacedImage> images;
    if (!options.image_order.empty())
        list_image_order(options.image_order, layers, found, task.order, images);
    else
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
                fmt::format("rank {} has an image but is not in the visibility order {}", rank,
                            fmt::join(order, ",")));
        }
    }
}

void list_image_order(std::span<const ImageOfRank> image_order, std::span<const int> layers,
                      std::vector<int>& found, std::vector<int>& order,
                      std::vector<compositing::PlacedImage>& images) {
    const std::size_t ranks = layers.size();
    const auto all = static_cast<std::size_t>(std::accumulate(layers.begin(), layers.end(), 0));
    found.assign(2 * ranks + all,
                 0); // by rank: position + 1 and first image; by image: a flag for images found
    int first = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        found[ranks + rank] = first;
        first += layers[rank];
    }
    order.clear();
    images.clear();
    for (const auto& [rank, image] : image_order) {
        const auto at = static_cast<std::size_t>(rank);
        if (rank < 0 || at >= ranks || image < 0 || image >= layers[at])
            throw InvalidTask(fmt::format("image order names image {} of rank {}, which does not "
                                          "exist",
                                          image, rank));
        const auto number = static_cast<std::size_t>(found[ranks + at] + image);
        if (found[2 * ranks + number]++ > 0)
            throw InvalidTask(
                fmt::format("image order names image {} of rank {} twice", image, rank));
        if (found[at] == 0) {
            order.push_back(rank);
            found[at] = static_cast<int>(order.size());
        }
        images.push_back({found[at] - 1, image});
    }
    if (images.size() != all)
        throw InvalidTask(fmt::format("image order names {} of {} images", images.size(), all));
}

namespace {

/// The layout of the numbers that ranks compare: a failure flag, other flags, the background as
/// four words, then the order.
enum Asked : std::size_t { failed_at, flags_at, background_at, order_at = 6 };
constexpr int has_background = 1, has_image_order = 2;
using Words = std::array<int, 4>;
static_assert(sizeof(Words) == sizeof(RgbaF32));

std::uint64_t hash_of(std::span<const int> requested) {
    std::uint64_t hash = 14695981039346656037u;
    for (const int word : requested)
        hash = (hash ^ static_cast<std::uint32_t>(word)) * 1099511628211u;
    return hash;
}

} // namespace

std::uint64_t hash_of(std::span<const ImageOfRank> image_order) {
    std::vector<int> numbers;
    for (const auto& [rank, image] : image_order)
        numbers.insert(numbers.end(), {rank, image});
    return hash_of(std::span<const int>(numbers));
}

std::size_t most_requested(std::size_t ranks, std::size_t images) {
    return order_at + std::max(ranks + 1, 2 * (images + 1));
}

void list_requests(std::span<const int> order, const std::optional<RgbaF32>& background,
                   std::span<const int> layers, std::vector<int>& to,
                   std::span<const ImageOfRank> image_order) {
    const auto words = std::bit_cast<Words>(background.value_or(RgbaF32{}));
    to.assign({0, (background ? has_background : 0) | (image_order.empty() ? 0 : has_image_order)});
    to.insert(to.end(), words.begin(), words.end());
    if (!image_order.empty()) { // with one image too many, the order is recognised as invalid
        const auto all = static_cast<std::size_t>(std::accumulate(layers.begin(), layers.end(), 0));
        for (const auto& [rank, image] : image_order.first(std::min(all + 1, image_order.size())))
            to.insert(to.end(), {rank, image});
        return;
    }
    for (const int rank : order) {
        if (to.size() == most_requested(layers.size()))
            break; // invalid: the order names a rank twice
        const bool exists = rank >= 0 && rank < static_cast<int>(layers.size());
        if (!exists || layers[static_cast<std::size_t>(rank)] > 0)
            to.push_back(rank);
    }
}

void say_failed(std::vector<int>& requested) {
    requested[failed_at] = 1;
}

std::string text_of_request(std::span<const int> requested) {
    if (requested[failed_at] != 0)
        return "failed to prepare for the visibility order";
    std::vector<std::string> texts;
    const int flags = requested[flags_at];
    if ((flags & has_image_order) != 0) {
        std::vector<std::string> images;
        for (std::size_t i = order_at; i + 1 < requested.size(); i += 2)
            images.push_back(fmt::format("{}:{}", requested[i], requested[i + 1]));
        texts.push_back(fmt::format("image order {}", fmt::join(images, ",")));
    } else if (requested.size() > order_at) {
        texts.push_back(
            fmt::format("visibility order {}", fmt::join(requested.subspan(order_at), ",")));
    }
    Words words;
    std::copy_n(requested.begin() + background_at, words.size(), words.begin());
    texts.push_back(text_of_background((flags & has_background) == 0
                                           ? std::nullopt
                                           : std::optional(std::bit_cast<RgbaF32>(words))));
    return fmt::format("{}", fmt::join(texts, ", "));
}

void agree_on_frame(const Communicator& communicator, std::span<const int> requested,
                    const std::function<void()>& part) {
    const std::vector<std::uint64_t> hashes = agree(communicator, part, hash_of(requested));
    const auto other = std::find_if(hashes.begin(), hashes.end(),
                                    [&](std::uint64_t hash) { return hash != hashes[0]; });
    if (other == hashes.end())
        return;
    const std::vector<std::string> texts =
        all_gather_texts(communicator, text_of_request(requested));
    const auto rank = static_cast<std::size_t>(other - hashes.begin());
    throw AgreedFailure(fmt::format("ranks request different frames: rank 0: {}; rank {}: {}",
                                    texts[0], rank, texts[rank]),
                        AgreedFailure::Fault::task);
}

} // namespace sextant
