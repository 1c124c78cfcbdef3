// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fold/deep.hpp"

#include "sextant/core/error.hpp"
#include "sextant/kernel/fold/catalogue.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include <fmt/format.h>

namespace sextant::kernel {

namespace {

using Sources = FoldFunction::Sources;
using Count = std::uint32_t;

static_assert(std::is_trivially_copyable_v<Fragment> && alignof(Fragment) == alignof(Count));

/// The kept fragments of a pixel, and the number before any were dropped.
struct List {
    const Fragment* data = nullptr;
    Count kept = 0, count = 0;
};

List list_at(const std::byte* pixel, Count capacity) {
    Count count = 0;
    std::memcpy(&count, pixel, sizeof(count));
    return {reinterpret_cast<const Fragment*>(pixel + sizeof(count)), std::min(count, capacity),
            count};
}

Fragment* fragments_of(std::byte* pixel) {
    return reinterpret_cast<Fragment*>(pixel + sizeof(Count));
}

void write(std::byte* pixel, const List& list) {
    std::memcpy(pixel, &list.count, sizeof(list.count));
    Fragment* const to = fragments_of(pixel);
    if (list.kept > 0 && list.data != to)
        std::memmove(static_cast<void*>(to), list.data, list.kept * sizeof(Fragment));
}

/// Prefetches the pixel a few positions ahead. Pixels are large but mostly unused, and hardware
/// prefetchers cannot predict how many bytes of the next one will be read. Fetches as many bytes as
/// the current pixel uses.
void ask_for_later(const std::byte* pixel, Bytes size, Count fragments) {
    constexpr Bytes pixels = 4, line = 64, most = 8 * line;
    const std::byte* const later = pixel + pixels * size;
    const Bytes used =
        std::min(static_cast<Bytes>(sizeof(Count) + fragments * sizeof(Fragment)), most);
    for (Bytes at = 0; at < used; at += line)
        __builtin_prefetch(later + at);
    __builtin_prefetch(later + used - 1); // pixels are not aligned to cache lines
}

Count sum_of(Count a, Count b) {
    constexpr Count most = std::numeric_limits<Count>::max();
    return a > most - b ? most : a + b;
}

/// Merges two lists and keeps the nearest fragments, up to the capacity.
List merge(const List& front, const List& back, Fragment* to, Count capacity) {
    Count f = 0, b = 0, kept = 0;
    while (kept < capacity && f < front.kept && b < back.kept) {
        const bool nearer = back.data[b].depth < front.data[f].depth;
        to[kept++] = nearer ? back.data[b++] : front.data[f++];
    }
    const auto rest = [&](const List& list, Count from) {
        const Count count = std::min(list.kept - from, capacity - kept);
        std::copy_n(list.data + from, count, to + kept);
        kept += count;
    };
    rest(front, f);
    rest(back, b);
    return {to, kept, sum_of(front.count, back.count)};
}

/// Two merge buffers, used alternately. Raw bytes, because initialising fragments would take longer
/// than most merges.
struct Room {
    alignas(Fragment) std::byte bytes[2][largest_capacity * sizeof(Fragment)];

    Fragment* side(int number) { return reinterpret_cast<Fragment*>(bytes[number]); }
};

/// Folds one pixel. Most pixels have fragments in at most one operand and need no merge.
void fold_pixel(Sources sources, Bytes offset, Bytes size, std::byte* to, Count capacity,
                Room& room) {
    Fragment* const there = fragments_of(to);
    int side = 0;
    List sum;
    for (std::size_t s = 0; s < sources.size(); ++s) {
        const std::byte* const pixel = sources[s] + offset;
        const List next = list_at(pixel, capacity);
        ask_for_later(pixel, size, next.kept);
        if (next.count == 0)
            continue;
        if (sum.count == 0) {
            sum = next;
            continue;
        }
        // The last merge writes directly to the destination unless it also reads from it.
        const bool in_place = s + 1 == sources.size() && sum.data != there && next.data != there;
        sum = merge(sum, next, in_place ? there : room.side(side ^= 1), capacity);
    }
    ask_for_later(to, size, sum.kept);
    write(to, sum);
}

Elements pixels_in(std::span<const std::byte> pixels, int capacity) {
    const auto size = static_cast<std::size_t>(deep_element(capacity).size);
    if (pixels.size() % size != 0)
        throw std::logic_error("the number of bytes is not a multiple of the size of a deep pixel");
    return static_cast<Elements>(pixels.size() / size);
}

} // namespace

ElementFormat deep_element(int capacity) {
    if (capacity < 1 || capacity > largest_capacity) {
        throw InvalidTask(
            fmt::format("the capacity of a deep pixel is {} fragments, expected 1 to {}", capacity,
                        largest_capacity));
    }
    return {deep_f32.name,
            static_cast<Bytes>(sizeof(Count)) + capacity * static_cast<Bytes>(sizeof(Fragment))};
}

Operator deep_operator(int capacity) {
    const ElementFormat element = deep_element(capacity);
    const auto room = static_cast<Count>(capacity);
    return {.name = "deep",
            .summary = "merge the fragments of deep pixels by depth",
            .element = element,
            .commutative = false, // at equal depth the first operand's fragments come first
            .exact_when_split = true,
            .fold =
                [=, size = element.size](Sources sources, std::byte* to, Elements elements) {
                    Room merged;
                    for (Elements i = 0; i < elements; ++i)
                        fold_pixel(sources, i * size, size, to + i * size, room, merged);
                },
            .fill_identity =
                [size = element.size](std::byte* to, Elements elements) {
                    for (Elements i = 0; i < elements; ++i)
                        write(to + i * size, {});
                },
            .used =
                [room](const std::byte* pixel) {
                    return static_cast<Bytes>(sizeof(Count)) +
                           list_at(pixel, room).kept * static_cast<Bytes>(sizeof(Fragment));
                }};
}

void pack(const DeepImage& image, int capacity, std::span<std::byte> to) {
    const Bytes size = deep_element(capacity).size;
    if (pixels_in(to, capacity) != image.shape.elements())
        throw std::logic_error("the image and the buffer have different numbers of deep pixels");
    for (Elements i = 0; i < image.shape.elements(); ++i) {
        const std::span<const Fragment> fragments = image.at(i);
        const auto count = static_cast<Count>(fragments.size());
        const Count kept = std::min(count, static_cast<Count>(capacity));
        ask_for_later(to.data() + i * size, size, kept);
        write(to.data() + i * size, {fragments.data(), kept, count});
    }
}

LargestPixel fullest(std::span<const std::byte> pixels, int capacity) {
    const Bytes size = deep_element(capacity).size;
    LargestPixel found;
    for (Elements i = 0; i < pixels_in(pixels, capacity); ++i) {
        const std::int64_t count =
            list_at(pixels.data() + i * size, static_cast<Count>(capacity)).count;
        if (found.pixel < 0 || count > found.fragments)
            found = {i, count};
    }
    return found;
}

void blend_fragments(std::span<const std::byte> pixels, int capacity, std::span<RgbaF32> to) {
    const Bytes size = deep_element(capacity).size;
    if (pixels_in(pixels, capacity) != static_cast<Elements>(to.size()))
        throw std::logic_error("the numbers of deep pixels and of colours differ");
    for (std::size_t i = 0; i < to.size(); ++i) {
        const List list =
            list_at(pixels.data() + static_cast<Bytes>(i) * size, static_cast<Count>(capacity));
        ask_for_later(pixels.data() + static_cast<Bytes>(i) * size, size, list.kept);
        RgbaF32 sum;
        for (Count f = 0; f < list.kept; ++f) {
            const Fragment& next = list.data[f];
            sum = over(sum, {next.r, next.g, next.b, next.a});
        }
        to[i] = sum;
    }
}

} // namespace sextant::kernel
