// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/filter/samples.hpp"

#include "sextant/kernel/filter/line_vectors.hpp"

#include <algorithm>

namespace sextant::kernel {

namespace {

Elements mirrored(Elements at, Elements size) {
    const Elements period = std::max<Elements>(1, 2 * (size - 1));
    const Elements within = (at % period + period) % period;
    return std::min(within, period - within);
}

Elements reflected(Elements at, Elements size) {
    const Elements period = 2 * size;
    const Elements within = (at % period + period) % period;
    return std::min(within, period - 1 - within);
}

} // namespace

std::optional<Elements> seen_at(Border border, Elements at, Elements size) {
    if (at >= 0 && at < size)
        return at;
    switch (border) {
    case Border::replicate:
        return std::clamp<Elements>(at, 0, size - 1);
    case Border::mirror:
        return mirrored(at, size);
    case Border::reflect:
        return reflected(at, size);
    case Border::wrap:
        return (at % size + size) % size;
    case Border::constant:
        break;
    }
    return std::nullopt;
}

namespace {

struct Range {
    Elements first, last;
};

Range read_along(Range range, Elements size, int reach, Border border) {
    Range read = range;
    for (int k = 1; k <= reach; ++k) {
        for (const Elements at : {range.first - k, range.last + k}) {
            if (const auto seen = seen_at(border, at, size)) {
                read.first = std::min(read.first, *seen);
                read.last = std::max(read.last, *seen);
            }
        }
    }
    return read;
}

} // namespace

Tile read_for(const Tile& tile, ImageShape image, int reach_x, int reach_y, Border border,
              Elements depth, int reach_z) {
    const Range columns =
        read_along({tile.x, tile.x + tile.width - 1}, image.width, reach_x, border);
    const Range rows =
        read_along({tile.y, tile.y + tile.height - 1}, image.height, reach_y, border);
    const Range planes = read_along({tile.z, tile.z + tile.depth - 1}, depth, reach_z, border);
    return {columns.first,
            rows.first,
            columns.last - columns.first + 1,
            rows.last - rows.first + 1,
            planes.first,
            planes.last - planes.first + 1};
}

namespace {

Elements common(Elements begin, Elements end, Elements other_begin, Elements other_end) {
    return std::max<Elements>(0, std::min(end, other_end) - std::max(begin, other_begin));
}

/// Reads the part of row `y` of the image, from column `x` on, that is in `pieces`, as floats.
void read_inside(SamplePieces pieces, Elements x, Elements y, std::span<float> line) {
    const Elements end = x + static_cast<Elements>(line.size());
    for (const SampleView& piece : pieces) {
        const Tile& held = piece.tile;
        const Elements from = std::max(x, held.x), to = std::min(end, held.x + held.width);
        if (y < held.y || y >= held.y + held.height || from >= to)
            continue;
        const Elements at = (y - held.y) * piece.stride + from - held.x;
        std::visit(
            [&](const auto* first) { to_floats(first + at, to - from, line.data() + from - x); },
            piece.first);
    }
}

} // namespace

bool hold(SamplePieces pieces, const Tile& part) {
    Elements held = 0;
    for (const SampleView& piece : pieces) {
        const Tile& tile = piece.tile;
        held += common(tile.x, tile.x + tile.width, part.x, part.x + part.width) *
                common(tile.y, tile.y + tile.height, part.y, part.y + part.height) *
                common(tile.z, tile.z + tile.depth, part.z, part.z + part.depth);
    }
    return held == part.elements();
}

void read_line(SamplePieces pieces, BorderRule rule, Elements x, Elements y,
               std::span<float> line) {
    const ImageShape image = pieces.front().image;
    const auto row = seen_at(rule.border, y, image.height);
    if (!row) {
        std::fill(line.begin(), line.end(), rule.constant);
        return;
    }
    const auto count = static_cast<Elements>(line.size());
    const Elements begin = std::clamp<Elements>(-x, 0, count);
    const Elements end = std::clamp<Elements>(image.width - x, begin, count);
    read_inside(
        pieces, x + begin, *row,
        line.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
    // Values outside the image are copied from the line, which usually has them.
    const auto beyond = [&](Elements first, Elements last, Elements nearest) {
        float* const to = line.data();
        if (rule.border == Border::constant)
            return std::fill(to + first, to + last, rule.constant);
        if (rule.border == Border::replicate && begin < end)
            return std::fill(to + first, to + last, to[nearest]);
        for (Elements i = first; i < last; ++i) {
            const Elements column = *seen_at(rule.border, x + i, image.width);
            if (column >= x + begin && column < x + end)
                to[i] = to[column - x];
            else
                read_inside(pieces, column, *row, {to + i, 1});
        }
    };
    beyond(0, begin, begin);
    beyond(end, count, end - 1);
}

} // namespace sextant::kernel
