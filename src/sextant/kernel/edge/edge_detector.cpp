// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/edge/edge_detector.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/kernel/edge/edge_vectors.hpp"
#include "sextant/kernel/filter/line_vectors.hpp"
#include "sextant/kernel/label/label_vectors.hpp"
#include "sextant/kernel/label/labels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <vector>

#include <fmt/format.h>

namespace sextant::kernel {

namespace {

/// The last three rows of codes, with zeros on either side.
class CodeRows {
  public:
    CodeRows(const EdgeView& edges, const Tile& tile)
        : edges_(edges),
          tile_(tile),
          read_(grown(tile, 1, edges.image)),
          pitch_(static_cast<std::size_t>(tile.width + 1 + direct_slack)),
          rows_(3 * pitch_, 0) {}

    /// Reads a row. Rows outside the image are all zeros.
    void read(Elements y) {
        std::uint8_t* const to = rows_.data() + place(y) + (read_.x - tile_.x + 1);
        if (y < read_.y || y >= read_.y + read_.height)
            std::fill_n(to, read_.width, 0);
        else
            std::copy_n(edges_.first + (y - edges_.tile.y) * edges_.stride + read_.x -
                            edges_.tile.x,
                        read_.width, to);
    }
    const std::uint8_t* row(Elements y) const { return rows_.data() + place(y) + 1; }

  private:
    std::size_t place(Elements y) const { return static_cast<std::size_t>((y + 3) % 3) * pitch_; }

    const EdgeView& edges_;
    const Tile tile_, read_;
    const std::size_t pitch_;
    std::vector<std::uint8_t> rows_;
};

} // namespace

void require_thresholds(EdgeThresholds thresholds) {
    if (!(thresholds.low >= 0 && thresholds.low <= thresholds.high))
        throw InvalidTask(fmt::format("edge thresholds are {} and {}, expected 0 <= low <= high",
                                      thresholds.low, thresholds.high));
}

void find_directions(const EdgeView& edges, const Tile& tile, Direction* directions) {
    if (tile.elements() == 0)
        return;
    CodeRows rows(edges, tile);
    rows.read(tile.y - 1);
    rows.read(tile.y);
    for (Elements y = tile.y; y < tile.y + tile.height; ++y, directions += tile.width) {
        rows.read(y + 1);
        check_cancelled(tile.width);
        direct_edges({rows.row(y - 1), rows.row(y), rows.row(y + 1), directions, tile.width});
    }
}

namespace {

/// A zero gradient is never a maximum. A low threshold of 0, such as a quantile of a mostly flat
/// image, can therefore be raised to the smallest positive float, so that flat parts are skipped
/// quickly.
float lowest_edge(EdgeThresholds thresholds) {
    return std::max(static_cast<float>(thresholds.low), std::numeric_limits<float>::denorm_min());
}

} // namespace

EdgeRows::EdgeRows(const Tile& tile, ImageShape image, EdgeThresholds thresholds,
                   const EdgePlane& codes)
    : tile_(tile),
      needed_(grown(tile, 1, image)),
      codes_(codes),
      low_(lowest_edge(thresholds)),
      high_(static_cast<float>(thresholds.high)),
      pitch_(static_cast<std::size_t>(tile.width + 2)),
      next_(needed_.y),
      lengths_(3 * pitch_, 0.F),
      headings_(3 * pitch_, 0) {}

void EdgeRows::take(const float* x, const float* y) {
    const std::size_t at = place(next_) + static_cast<std::size_t>(needed_.x - (tile_.x - 1));
    measure_gradients({x, y, needed_.width, low_, lengths_.data() + at, headings_.data() + at});
    if (next_ > tile_.y)
        classify(next_ - 1);
    ++next_;
    if (next_ == tile_.y + tile_.height && next_ == needed_.y + needed_.height) {
        std::fill_n(lengths_.data() + place(next_), pitch_, 0.F); // beyond the end of the image
        classify(next_ - 1);
    }
}

void EdgeRows::classify(Elements y) {
    const auto row = [&](Elements at) { return lengths_.data() + place(at) + 1; };
    classify_edges({row(y - 1), row(y), row(y + 1), headings_.data() + place(y) + 1, low_, high_,
                    codes_.first + (y - tile_.y) * codes_.stride, tile_.width});
}

namespace {

constexpr std::array<Derivative, 2> gradient{{{1, 0}, {0, 1}}};

} // namespace

EdgeFinder::EdgeFinder(double sigma) : derivatives_(sigma, gradient) {}

/// Calls `body` with each strip of a tile. A strip with one more pixel on either side has at most
/// the width that the derivatives accept.
template <class Body>
void EdgeFinder::each_strip(const Tile& tile, Body&& body) const {
    const Elements width = derivatives_.strip_width() - 2;
    for (Elements x = 0; x < tile.width && tile.height > 0; x += width)
        body(Tile{tile.x + x, tile.y, std::min(width, tile.width - x), tile.height});
}

void EdgeFinder::find(SamplePieces input, const Tile& tile, EdgeThresholds thresholds,
                      const EdgePlane& codes) {
    require_thresholds(thresholds);
    if (input.empty())
        throw InvalidTask("edges: no input samples given");
    const ImageShape image = input.front().image;
    if (tile.x < 0 || tile.y < 0 || tile.x + tile.width > image.width ||
        tile.y + tile.height > image.height)
        throw InvalidTask(fmt::format(
            "edges are requested for {}x{} pixels at ({}, {}), expected a tile within {}x{}",
            tile.width, tile.height, tile.x, tile.y, image.width, image.height));
    each_strip(tile, [&](const Tile& strip) {
        EdgeRows rows(strip, image, thresholds, {codes.first + strip.x - tile.x, codes.stride});
        derivatives_.each_row(input, rows.needed(), [&](std::span<const float* const> row) {
            rows.take(row[0], row[1]);
        });
    });
}

void EdgeFinder::measure(SamplePieces input, const Tile& tile, float* to) {
    each_strip(tile, [&](const Tile& strip) {
        float* first = to + strip.x - tile.x;
        derivatives_.each_row(input, strip, [&](std::span<const float* const> row) {
            lengths(row[0], row[1], strip.width, first);
            first += tile.width;
        });
    });
}

namespace {

using Bits = std::uint64_t;

/// Returns the bits from each bit of `from` to the end of its run in `inside`. `from` has at most
/// one bit per run.
Bits to_end(Bits inside, Bits from) {
    return inside & ~(inside + from); // the carry passes through the run
}

} // namespace

std::vector<std::uint8_t> strong_components(const EdgeView& edges, const Labeller& labeller,
                                            Label components) {
    std::vector<std::uint8_t> found(static_cast<std::size_t>(components), 0);
    std::vector<Bits> strong(static_cast<std::size_t>(words_for(edges.tile.width)));
    for (Elements y = 0; y < edges.tile.height; ++y) {
        const LabelledRuns runs = labeller.runs_of(y);
        const Label* label = runs.labels - 1; // label of the previous run
        check_cancelled(edges.tile.width);
        bits_strong(edges.first + y * edges.stride, edges.tile.width, strong.data());
        for (std::size_t word = 0; word < strong.size(); ++word) {
            for (Bits left = strong[word]; left != 0;) {
                const Bits first = left & -left;
                const int begun = std::popcount(runs.starts[word] & (first | (first - 1)));
                found[static_cast<std::size_t>(label[begun] - 1)] = 1;
                left &= ~to_end(runs.inside[word], first);
            }
            label += std::popcount(runs.starts[word]);
        }
    }
    return found;
}

void keep_components(const EdgePlane& edges, const Tile& tile, const Labeller& labeller,
                     std::span<const std::uint8_t> kept) {
    std::vector<Bits> bits(static_cast<std::size_t>(words_for(tile.width)));
    for (Elements y = 0; y < tile.height; ++y) {
        const LabelledRuns runs = labeller.runs_of(y);
        const Label* label = runs.labels;
        check_cancelled(tile.width);
        Bits goes_on = 0; // set if the last pixel of the previous word is kept
        for (std::size_t word = 0; word < bits.size(); ++word) {
            Bits from = goes_on & runs.inside[word];
            each_bit(runs.starts[word], [&](int bit) {
                from |= Bits{kept[static_cast<std::size_t>(*label++ - 1)]} << bit;
            });
            bits[word] = to_end(runs.inside[word], from);
            goes_on = bits[word] >> 63;
        }
        keep_edges(bits.data(), tile.width, edges.first + y * edges.stride);
    }
}

namespace {

std::size_t at(Elements i) {
    return static_cast<std::size_t>(i);
}

/// Sets the bits from `begin` to `end`.
void set_bits(std::vector<std::uint64_t>& bits, Elements begin, Elements end) {
    for (Elements word = begin / 64; 64 * word < end; ++word) {
        const Elements from = std::max<Elements>(begin - 64 * word, 0);
        const Elements to = std::min<Elements>(end - 64 * word, 64);
        bits[at(word)] |= (~std::uint64_t{0} << from) & (~std::uint64_t{0} >> (64 - to));
    }
}

} // namespace

Thinning::Thinning(std::uint8_t* edges, const Tile& held, const Tile& tile, ImageShape image)
    : edges_(edges),
      held_(held),
      tile_(tile),
      image_(image),
      words_(words_for(held.width)),
      pitch_(words_ + 2 * thin_slack),
      bits_(at((held.height + 2) * pitch_), 0),
      mask_(at(pitch_), 0),
      removed_(at(pitch_), 0),
      fresh_(at(words_), 0),
      changed_(at(held.height + 2), 0),
      processed_(at(2 * held.height), -1) {}

Thinning::Bits* Thinning::row(Elements y) {
    return bits_.data() + (y + 1) * pitch_ + thin_slack;
}

/// Updates the bits from the edge codes. Only the codes around the tile may have changed since the
/// last round; the tile's codes are read once, because only this object changes them.
void Thinning::read() {
    const Elements left = tile_.x - held_.x, right = left + tile_.width;
    for (Elements y = 0; y < held_.height && held_.width > 0; ++y) {
        const Elements j = held_.y + y - tile_.y;
        const bool beside = j < 0 || j >= tile_.height;
        check_cancelled(held_.width);
        if (pass_ == 0 || beside) {
            read(y, 0, words_);
            continue;
        }
        if (left > 0)
            read(y, 0, words_for(left));
        if (right < held_.width)
            read(y, right / 64, words_);
    }
}

/// Reads words `first` to `end` of a row.
void Thinning::read(Elements y, Elements first, Elements end) {
    const Elements from = 64 * first, to = std::min(64 * end, held_.width);
    Bits* const there = row(y) + first;
    bits_not_zero(edges_ + y * held_.width + from, to - from, fresh_.data());
    if (std::equal(there, there + (end - first), fresh_.begin()))
        return;
    std::copy_n(fresh_.begin(), end - first, there);
    changed_[at(y + 1)] = pass_;
}

/// Prepares a pass, in which pixels of every second column of a part may be removed.
void Thinning::begin_pass(const Tile& part, Elements parity) {
    constexpr Bits even = 0x5555555555555555;
    std::fill(mask_.begin(), mask_.end(), 0);
    set_bits(mask_, part.x - held_.x, part.x - held_.x + part.width);
    for (Bits& word : mask_)
        word &= (held_.x + parity) % 2 == 0 ? even : ~even;
}

/// True if a row or one of its neighbours has changed since its columns of this parity were last
/// processed.
bool Thinning::is_news(Elements y, Elements parity) {
    Elements& processed = processed_[at(2 * y + parity)];
    const auto changed = changed_.begin() + y;
    const bool news = *std::max_element(changed, changed + 3) > processed;
    processed = pass_;
    return news;
}

/// Clears the removed pixels in the edge codes. Returns the number of removed pixels inside the
/// tile.
Elements Thinning::take_off(Elements y) {
    const Elements j = held_.y + y;
    const bool of_tile = j >= tile_.y && j < tile_.y + tile_.height;
    Elements taken = 0;
    for (Elements word = 0; word < words_; ++word) {
        each_bit(removed_[at(word)], [&](int bit) {
            const Elements x = 64 * word + bit, i = held_.x + x;
            edges_[y * held_.width + x] = 0;
            taken += of_tile && i >= tile_.x && i < tile_.x + tile_.width ? 1 : 0;
        });
    }
    return taken;
}

Elements Thinning::round() {
    Elements taken = 0;
    if (tile_.elements() == 0)
        return taken;
    if (pass_ == 0 || held_.elements() > tile_.elements())
        read();
    for (Elements pass = 0; pass < 4; ++pass) {
        const Elements column = pass % 2;
        const Tile part = grown(tile_, thinning_margin - 1 - pass, image_);
        begin_pass(part, column);
        ++pass_;
        for (Elements y = part.y + ((part.y ^ pass / 2) & 1); y < part.y + part.height; y += 2) {
            const Elements j = y - held_.y;
            check_cancelled(words_);
            if (!is_news(j, column) ||
                !thin_row({row(j - 1), row(j), row(j + 1), mask_.data(), removed_.data(), words_}))
                continue;
            changed_[at(j + 1)] = pass_;
            taken += take_off(j);
        }
    }
    return taken;
}

} // namespace sextant::kernel
