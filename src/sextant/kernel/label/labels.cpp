// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/label/labels.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/kernel/pixel_fold.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include <fmt/format.h>
#include <hwy/cache_control.h>

namespace sextant::kernel {

namespace {

/// The number of labels that write_labels() may read past the last.
constexpr Elements slack = 17;

std::size_t at(Elements i) {
    return static_cast<std::size_t>(i);
}

/// The largest possible number of runs in a row. Runs of different values may adjoin; foreground
/// runs are separated by background.
Elements most_runs(const Tile& tile, Sameness sameness) {
    return sameness == Sameness::value ? tile.width : (tile.width + 1) / 2;
}

void check(const ValueView& input, Sameness sameness) {
    const Elements width = input.tile.width, height = input.tile.height, planes = input.planes;
    constexpr Elements largest = std::numeric_limits<Label>::max() - slack;
    const bool fits =
        width >= 0 && height >= 0 && planes >= 0 && width <= largest && height <= largest &&
        planes <= largest &&
        (height * planes == 0 || most_runs(input.tile, sameness) <= largest / height / planes);
    if (!fits)
        throw InvalidTask(fmt::format("{} of {}x{} pixels may have more than {} runs: expected "
                                      "smaller tiles",
                                      planes == 1 ? "a tile" : fmt::format("{} planes", planes),
                                      width, height, largest));
}

void check(const Tile& tile, Elements planes, const LabelPlane& output) {
    const Elements width = tile.width, height = tile.height * planes;
    if (width * height > 0 && (!output.first || (height > 1 && std::abs(output.stride) < width)))
        throw InvalidTask(fmt::format("a stride of {} is too small for labels of {}x{} pixels",
                                      output.stride, width, height));
}

} // namespace

Label Labeller::apply(const ValueView& input, const LabelPlane& output) {
    check(input, connection_.sameness);
    check(input.tile, input.planes, output);
    find(input);
    write(output);
    return count_;
}

Label Labeller::find(const ValueView& input) {
    check(input, connection_.sameness);
    prepare(input);
    std::visit([&](const auto* first) { find_components(input, first); }, input.first);
    return count_ = number_components();
}

void Labeller::prepare(const ValueView& input) {
    const Tile& tile = input.tile;
    image_ = input.image;
    tile_ = tile;
    planes_ = input.planes;
    words_ = words_for(tile.width);
    const auto grow = [](Memory& memory, Bytes size) {
        if (memory.size() < size)
            memory = Memory(size);
    };
    grow(bits_, (2 * words_ * rows() + 1) * static_cast<Bytes>(sizeof(std::uint64_t)));
    nan_in_bits() = 0;
    grow(runs_, (most_runs(tile, connection_.sameness) * rows() + slack) *
                    static_cast<Bytes>(sizeof(Label)));
    runs_before_.resize(at(rows() + 1));
    for (auto* bits : {&equal_, &equal_left_, &equal_right_})
        bits->resize(at(words_));
}

std::uint64_t& Labeller::nan_in_bits() {
    return reinterpret_cast<std::uint64_t*>(bits_.data())[2 * words_ * rows()];
}

Elements Labeller::nan() const {
    return bits_.size() > 0 ? static_cast<Elements>(const_cast<Labeller*>(this)->nan_in_bits()) : 0;
}

RunRow Labeller::row(Elements y) const {
    auto* const words = reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(bits_.data()));
    std::uint64_t* const inside = words + 2 * words_ * y;
    return {inside, inside + words_, runs_before_[at(y)]};
}

std::span<const RowBefore> rows_before(Neighbours neighbours) {
    static constexpr RowBefore four[] = {{1, 0, false}};
    static constexpr RowBefore eight[] = {{1, 0, true}};
    static constexpr RowBefore six[] = {{1, 0, false}, {0, 1, false}};
    static constexpr RowBefore eighteen[] = {
        {1, 0, true}, {1, 1, false}, {0, 1, true}, {-1, 1, false}};
    static constexpr RowBefore twenty_six[] = {
        {1, 0, true}, {1, 1, true}, {0, 1, true}, {-1, 1, true}};
    switch (neighbours) {
    case Neighbours::four:
        return four;
    case Neighbours::eight:
        return eight;
    case Neighbours::six:
        return six;
    case Neighbours::eighteen:
        return eighteen;
    case Neighbours::twenty_six:
        return twenty_six;
    }
    return eight;
}

template <class Sample>
void Labeller::find_components(const ValueView& input, const Sample* first) {
    runs()[0] = runs_before_[0] = 0;
    if (tile_.width == 0)
        runs_before_.back() = 0;
    const std::span<const RowBefore> before = rows_before(connection_.neighbours);
    for (Elements row = 0; row < rows() && tile_.width > 0; ++row) {
        const Elements z = row / tile_.height, y = row % tile_.height;
        const auto samples_of = [&](Elements plane, Elements line) {
            return first + plane * input.next_plane + line * input.stride;
        };
        const Sample* const samples = samples_of(z, y);
        check_cancelled(tile_.width);
        find_runs(samples, row);
        runs_before_[at(row + 1)] = begin_runs(this->row(row), words_, runs());
        for (const RowBefore& b : before) {
            const Elements plane = z - b.planes, line = y - b.rows;
            if (plane >= 0 && line >= 0 && line < tile_.height)
                join(samples, row, samples_of(plane, line), plane * tile_.height + line, b.corners);
        }
    }
}

template <class Sample>
void Labeller::find_runs(const Sample* samples, Elements y) {
    const RunRow found = row(y);
    bits_not_zero(samples, tile_.width, found.inside);
    if constexpr (std::is_floating_point_v<Sample>)
        nan_in_bits() += static_cast<std::uint64_t>(count_nan(samples, tile_.width));
    const bool by_value = connection_.sameness == Sameness::value;
    if (by_value)
        bits_equal(samples, samples + 1, tile_.width - 1, equal_.data());
    // Samples may change while they are read, so runs must follow from the bits alone.
    Shift shift_inside, shift_equal;
    for (Elements word = 0; word < words_; ++word) {
        std::uint64_t goes_on = shift_inside(found.inside[word]);
        if (by_value)
            goes_on &= shift_equal(equal_[at(word)]);
        found.starts[word] = found.inside[word] & ~goes_on;
    }
}

template <class Sample>
void Labeller::join(const Sample* samples, Elements y, const Sample* above, Elements y_above,
                    bool corners) {
    const bool by_value = connection_.sameness == Sameness::value;
    if (by_value)
        bits_equal(samples, above, tile_.width, equal_.data());
    if (by_value && corners) {
        bits_equal(samples + 1, above, tile_.width - 1, equal_left_.data());
        bits_equal(samples, above + 1, tile_.width - 1, equal_right_.data());
    }
    const EqualsAbove equal{equal_.data(), equal_left_.data(), equal_right_.data()};
    join_runs({row(y), row(y_above), words_, corners, by_value ? &equal : nullptr, runs()});
}

/// A run's parent comes before it, so one pass numbers all components.
Label Labeller::number_components() {
    Label* const labels = runs();
    Label count = 0;
    const Label last = runs_before_.back();
    for (Label run = 1; run <= last; ++run) {
        if (run % much_work == 0)
            check_cancelled(much_work);
        const bool first = labels[run] == run;
        count += first ? 1 : 0;
        labels[run] = first ? count : labels[labels[run]];
    }
    return count;
}

void Labeller::write(const LabelPlane& output) {
    const Bytes written = tile_.width * rows() * static_cast<Bytes>(sizeof(Label));
    const bool aligned = reinterpret_cast<std::uintptr_t>(output.first) % stream_alignment == 0 &&
                         output.stride * static_cast<Bytes>(sizeof(Label)) % stream_alignment == 0;
    const bool stream = aligned && exceeds_caches(2 * written);
    for (Elements y = 0; y < rows() && tile_.width > 0; ++y) {
        const RunRow bits = row(y);
        check_cancelled(tile_.width);
        write_labels({bits.inside, bits.starts, runs() + bits.before,
                      output.first + y * output.stride, tile_.width, stream});
    }
    if (stream)
        hwy::FlushStream();
}

namespace {

void renumber_runs(std::span<Label> labels, std::span<const Label> numbers) {
    constexpr std::size_t block = much_work;
    for (std::size_t begin = 0; begin < labels.size(); begin += block) {
        const std::span<Label> some = labels.subspan(begin, std::min(block, labels.size() - begin));
        check_cancelled(std::ssize(some));
        for (Label& label : some)
            label = numbers[at(label - 1)];
    }
}

} // namespace

void Labeller::renumber(std::span<const Label> numbers) {
    renumber_runs({runs() + 1, at(runs_before_[at(rows())])}, numbers);
}

void RowRuns::renumber(std::span<const Label> numbers) {
    renumber_runs(std::span(labels).subspan(1, at(before.back())), numbers);
}

void end_streaming() {
    hwy::FlushStream();
}

void write_row(const LabelledRuns& runs, Elements width, Label* to, bool stream) {
    write_labels({runs.inside, runs.starts, runs.labels - 1, to, width, stream});
}

LabelledRuns Labeller::runs_of(Elements y) const {
    const RunRow bits = row(y);
    return {bits.inside, bits.starts, runs() + bits.before + 1};
}

RowRuns Labeller::all_runs() const {
    RowRuns all;
    all.words = words_;
    const auto* const bits = reinterpret_cast<const std::uint64_t*>(bits_.data());
    all.bits.assign(bits, bits + 2 * words_ * rows());
    all.before.assign(runs_before_.begin(), runs_before_.begin() + rows() + 1);
    all.labels.resize(at(1 + all.before.back() + slack)); // for write_row()
    std::copy_n(runs() + 1, all.before.back(), all.labels.begin() + 1);
    return all;
}

Bytes Labeller::memory_of_runs() const {
    constexpr Bytes word = sizeof(std::uint64_t), label = sizeof(Label);
    return 2 * words_ * rows() * word + (rows() + 1) * label +
           static_cast<Bytes>(runs_before_[at(rows())]) * label;
}

LabelledRuns RowRuns::runs_of(Elements row) const {
    const std::uint64_t* const inside = bits.data() + 2 * words * row;
    return {inside, inside + words, labels.data() + 1 + before[at(row)]};
}

Bytes RowRuns::memory() const {
    return static_cast<Bytes>(bits.size() * sizeof(bits[0]) +
                              (before.size() + labels.size()) * sizeof(Label));
}

std::vector<RegionSize> Labeller::components() const {
    std::vector<RegionSize> components(at(count_));
    const VolumeShape image{1, image_.height, image_.width};
    for (Elements y = 0; y < tile_.height; ++y) {
        check_cancelled(tile_.width);
        each_run(runs_of(y), tile_.width, [&](Elements begin, Elements end, Label label) {
            components[at(label - 1)].add_run(0, tile_.y + y, tile_.x + begin, tile_.x + end,
                                              image);
        });
    }
    return components;
}

std::vector<Elements> Labeller::first_pixels() const {
    std::vector<Elements> first;
    first.reserve(at(count_));
    for (Elements y = 0; y < tile_.height; ++y) {
        check_cancelled(tile_.width);
        each_run(runs_of(y), tile_.width, [&](Elements begin, Elements, Label label) {
            if (at(label) > first.size())
                first.push_back((tile_.y + y) * image_.width + tile_.x + begin);
        });
    }
    return first;
}

/// Counts runs from the nearer end of the row.
Label Labeller::label_at(Elements x, Elements y) const {
    const RunRow bits = row(y);
    const Elements word = x / 64, bit = x % 64;
    if ((bits.inside[word] >> bit & 1) == 0)
        return 0;
    Elements run = bits.before + std::popcount(bits.starts[word] << (63 - bit));
    if (2 * word < words_) {
        for (Elements before = 0; before < word; ++before)
            run += std::popcount(bits.starts[before]);
    } else {
        run = runs_before_[at(y + 1)] - std::popcount(bits.starts[word] >> bit >> 1);
        for (Elements behind = word + 1; behind < words_; ++behind)
            run -= std::popcount(bits.starts[behind]);
    }
    return runs()[run];
}

} // namespace sextant::kernel
