// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/edge/thinning.hpp"

#include "sextant/kernel/edge/edge_bits.hpp"
#include "sextant/kernel/edge/edge_rows.hpp"
#include "sextant/kernel/label/each_run.hpp"
#include "sextant/kernel/label/row_bits.hpp"

#include <algorithm>

namespace sextant::kernel {

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
      looked_at_(at(2 * held.height), -1) {}

Thinning::Bits* Thinning::row(Elements y) {
    return bits_.data() + (y + 1) * pitch_ + thin_slack;
}

/// What lies around the tile may have changed; within it, once it was read, only what this object
/// took off itself.
void Thinning::read() {
    const Elements left = tile_.x - held_.x, right = left + tile_.width;
    for (Elements y = 0; y < held_.height && held_.width > 0; ++y) {
        const Elements j = held_.y + y - tile_.y;
        const bool beside = j < 0 || j >= tile_.height;
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

/// So many words of a row.
void Thinning::read(Elements y, Elements first, Elements end) {
    const Elements from = 64 * first, to = std::min(64 * end, held_.width);
    Bits* const there = row(y) + first;
    bits_not_zero(edges_ + y * held_.width + from, to - from, fresh_.data());
    if (std::equal(there, there + (end - first), fresh_.begin()))
        return;
    std::copy_n(fresh_.begin(), end - first, there);
    changed_[at(y + 1)] = pass_;
}

/// Pixels of every second column of a part may be taken off.
void Thinning::begin_pass(const Tile& part, Elements parity) {
    constexpr Bits even = 0x5555555555555555;
    std::fill(mask_.begin(), mask_.end(), 0);
    set_bits(mask_, part.x - held_.x, part.x - held_.x + part.width);
    for (Bits& word : mask_)
        word &= (held_.x + parity) % 2 == 0 ? even : ~even;
}

/// Whether a row or one beside it has changed since these columns of it were looked at.
bool Thinning::is_news(Elements y, Elements parity) {
    Elements& looked_at = looked_at_[at(2 * y + parity)];
    const auto changed = changed_.begin() + y;
    const bool news = *std::max_element(changed, changed + 3) > looked_at;
    looked_at = pass_;
    return news;
}

/// In bytes too what was taken off in bits.
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
