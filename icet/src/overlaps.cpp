// SPDX-License-Identifier: BSD-3-Clause
#include "overlaps.hpp"

#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <optional>

namespace sextant::icet {

namespace {

using Edges = std::vector<IceTInt>;

void sort_once(Edges& edges) {
    std::ranges::sort(edges);
    edges.erase(std::ranges::unique(edges).begin(), edges.end());
}

/// Neighbouring rectangles of equal height, from left to right.
using Band = std::vector<Overlap>;

Band band_of(IceTInt width, IceTInt bottom, IceTInt top, std::span<const Viewport> drawn,
             std::span<const int> order) {
    Edges edges = {0, width};
    std::vector<int> present;
    for (const int rank : order) {
        const Viewport& part = drawn[static_cast<std::size_t>(rank)];
        if (is_empty(part) || part[1] > bottom || part[1] + part[3] < top)
            continue;
        present.push_back(rank);
        edges.push_back(part[0]);
        edges.push_back(part[0] + part[2]);
    }
    sort_once(edges);
    Band band;
    for (std::size_t e = 0; e + 1 < edges.size(); ++e) {
        std::vector<int> ranks;
        for (const int rank : present) {
            const Viewport& part = drawn[static_cast<std::size_t>(rank)];
            if (part[0] <= edges[e] && part[0] + part[2] > edges[e])
                ranks.push_back(rank);
        }
        if (!band.empty() && band.back().ranks == ranks)
            band.back().pixels[2] += edges[e + 1] - edges[e];
        else
            band.push_back(
                {{edges[e], bottom, edges[e + 1] - edges[e], top - bottom}, std::move(ranks), 0});
    }
    return band;
}

/// True if two bands differ only in their rows.
bool alike(const Band& a, const Band& b) {
    return std::ranges::equal(a, b, [](const Overlap& left, const Overlap& right) {
        return left.pixels[0] == right.pixels[0] && left.pixels[2] == right.pixels[2] &&
               left.ranks == right.ranks;
    });
}

std::vector<Band> bands_of(IceTInt width, IceTInt height, std::span<const Viewport> drawn,
                           std::span<const int> order) {
    Edges edges = {0, height};
    for (const Viewport& part : drawn) {
        if (is_empty(part))
            continue;
        edges.push_back(part[1]);
        edges.push_back(part[1] + part[3]);
    }
    sort_once(edges);
    std::vector<Band> bands;
    for (std::size_t e = 0; e + 1 < edges.size(); ++e) {
        Band band = band_of(width, edges[e], edges[e + 1], drawn, order);
        if (!bands.empty() && alike(bands.back(), band)) {
            for (Overlap& overlap : bands.back())
                overlap.pixels[3] += edges[e + 1] - edges[e];
        } else {
            bands.push_back(std::move(band));
        }
    }
    return bands;
}

/// The number of pixels read and written to composite one row of a rectangle.
std::int64_t work_of_row(const Overlap& overlap) {
    return (static_cast<std::int64_t>(overlap.ranks.size()) + 1) * overlap.pixels[2];
}

/// Divides work among ranks in blocks of equal size, in the order in which work is added.
class WorkBlocks {
  public:
    WorkBlocks(std::int64_t work, std::int64_t ranks) : work_(work), ranks_(ranks) {}

    /// Cuts a rectangle into runs of rows with one owner each, and appends these to `to`.
    void add(Overlap overlap, std::vector<Overlap>& to) {
        const std::int64_t row = work_of_row(overlap);
        IceTInt left = overlap.pixels[3];
        while (left > 0) {
            const std::int64_t room = std::max<std::int64_t>(0, end_of(owner_) - done_);
            const bool is_last = owner_ + 1 == ranks_;
            if (!is_last && 2 * room < row) { // most of the next row is in the next block
                ++owner_;
                continue;
            }
            const std::int64_t rows =
                is_last ? left : std::clamp<std::int64_t>(room / row, 1, left);
            overlap.pixels[3] = static_cast<IceTInt>(rows);
            overlap.owner = static_cast<int>(owner_);
            to.push_back(overlap);
            overlap.pixels[1] += overlap.pixels[3];
            left -= overlap.pixels[3];
            done_ += overlap.pixels[3] * row;
        }
    }

  private:
    std::int64_t end_of(std::int64_t rank) const {
        return work_ / ranks_ * (rank + 1) + work_ % ranks_ * (rank + 1) / ranks_;
    }

    std::int64_t work_, ranks_, owner_ = 0, done_ = 0;
};

/// Makes the program of one rank, one Overlap after another.
class Builder {
  public:
    Builder(std::span<const Viewport> drawn, const Viewport& tile, const Planes& read,
            const Planes& made, const DrawnPlanes& own, int display, int rank)
        : drawn_(drawn),
          tile_(tile),
          read_(read),
          made_(made),
          own_(own),
          display_(display),
          rank_(rank) {
        const Elements pixels = Elements{own.width} * own.height;
        if (!is_empty(drawn[static_cast<std::size_t>(rank)])) {
            if (read.color_words > 0)
                colors_ = builder_.input(pixels * read.color_words, word).buffer;
            if (read.depth)
                depths_ = builder_.input(pixels, word).buffer;
        }
        if (rank == display)
            result_ = builder_.output(made.words(Elements{tile[2]} * tile[3]), word);
    }

    void add(const Overlap& overlap) {
        const bool draws = std::ranges::find(overlap.ranks, rank_) != overlap.ranks.end();
        if (overlap.owner == rank_)
            composite(overlap);
        else if (draws)
            send(overlap.owner, own_planes(overlap.pixels));
        if (rank_ == display_ && overlap.owner != rank_)
            receive(overlap.owner, tile_planes(overlap.pixels));
    }

    Program finish() { return builder_.finish(result_); }

  private:
    static constexpr Bytes word = 4;

    /// The region of a rectangle in a plane with `words` words per pixel, in an image `width`
    /// pixels wide.
    static Region plane(int buffer, Elements offset, int words, IceTInt width, IceTInt x, IceTInt y,
                        const Viewport& pixels) {
        return {buffer, offset + (Elements{y} * width + x) * words, Elements{pixels[2]} * words,
                Elements{width} * words, pixels[3]};
    }

    /// The planes of a rectangle of the tile in this rank's drawn images.
    std::vector<Region> own_planes(const Viewport& pixels) const {
        const Viewport& part = drawn_[static_cast<std::size_t>(rank_)];
        const IceTInt x = own_.x + pixels[0] - part[0], y = own_.y + pixels[1] - part[1];
        std::vector<Region> planes;
        if (read_.color_words > 0)
            planes.push_back(plane(colors_, 0, read_.color_words, own_.width, x, y, pixels));
        if (read_.depth)
            planes.push_back(plane(depths_, 0, 1, own_.width, x, y, pixels));
        return planes;
    }

    std::vector<Region> tile_planes(const Viewport& pixels) const {
        std::vector<Region> planes;
        if (made_.color_words > 0)
            planes.push_back(plane(result_.buffer, 0, made_.color_words, tile_[2], pixels[0],
                                   pixels[1], pixels));
        if (made_.depth)
            planes.push_back(plane(result_.buffer,
                                   made_.depth_offset(Elements{tile_[2]} * tile_[3]), 1, tile_[2],
                                   pixels[0], pixels[1], pixels));
        return planes;
    }

    /// Allocates memory for the planes of a rectangle.
    std::vector<Region> scratch_planes(const Planes& of, const Viewport& pixels) {
        std::vector<Region> planes;
        const Elements count = Elements{pixels[2]} * pixels[3];
        const auto add = [&](int words) {
            const int buffer = builder_.scratch(count * words, word).buffer;
            planes.push_back(plane(buffer, 0, words, pixels[2], 0, 0, pixels));
        };
        if (of.color_words > 0)
            add(of.color_words);
        if (of.depth)
            add(1);
        return planes;
    }

    void composite(const Overlap& overlap) {
        std::vector<Region> read;
        for (const int rank : overlap.ranks) {
            const std::vector<Region> planes =
                rank == rank_ ? own_planes(overlap.pixels) : scratch_planes(read_, overlap.pixels);
            if (rank != rank_)
                receive(rank, planes);
            read.insert(read.end(), planes.begin(), planes.end());
        }
        const bool displays = rank_ == display_;
        const std::vector<Region> made =
            displays ? tile_planes(overlap.pixels) : scratch_planes(made_, overlap.pixels);
        builder_.compute(static_cast<int>(overlap.ranks.size()), read, made, true);
        if (displays)
            return;
        send(display_, made);
    }

    // Sends one message per plane. Each message is then a single block of memory, so that the
    // receiver may read it in place, or the sender may write it in place.
    void send(int to, std::span<const Region> planes) {
        for (const Region& plane : planes)
            builder_.send(to, plane);
    }
    void receive(int from, std::span<const Region> planes) {
        for (const Region& plane : planes)
            builder_.receive(from, plane);
    }

    std::span<const Viewport> drawn_;
    Viewport tile_;
    Planes read_, made_;
    DrawnPlanes own_;
    int display_, rank_;
    ProgramBuilder builder_;
    int colors_ = -1, depths_ = -1;
    Region result_{};
};

} // namespace

std::vector<Overlap> overlaps_of(IceTInt width, IceTInt height, std::span<const Viewport> drawn,
                                 std::span<const int> order) {
    const std::vector<Band> bands = bands_of(width, height, drawn, order);
    std::int64_t work = 0;
    for (const Band& band : bands) {
        for (const Overlap& overlap : band)
            work += work_of_row(overlap) * overlap.pixels[3];
    }
    WorkBlocks blocks(work, static_cast<std::int64_t>(drawn.size()));
    std::vector<Overlap> overlaps;
    for (const Band& band : bands) {
        for (const Overlap& overlap : band)
            blocks.add(overlap, overlaps);
    }
    return overlaps;
}

Program overlap_program(std::span<const Overlap> overlaps, std::span<const Viewport> drawn,
                        const Viewport& tile, const Planes& read, const Planes& made,
                        const DrawnPlanes& own, int display, int rank) {
    Builder builder(drawn, tile, read, made, own, display, rank);
    for (const Overlap& overlap : overlaps)
        builder.add(overlap);
    return builder.finish();
}

} // namespace sextant::icet
