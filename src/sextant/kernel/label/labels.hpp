// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/memory.hpp"
#include "sextant/kernel/filter/samples.hpp"
#include "sextant/kernel/label/label_vectors.hpp"
#include "sextant/kernel/label/region_sizes.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

namespace sextant::kernel {

/// Samples of a rectangle of an image as stored, for comparison. Floating-point numbers are
/// compared by value, all others by their bits.
struct ValueView {
    using First = SampleRow;

    ValueView() = default;
    ValueView(First samples, Elements next_row, const Tile& rectangle, ImageShape whole)
        : first(samples), stride(next_row), tile(rectangle), image(whole) {}
    ValueView(const SampleView& view) // NOLINT: implicit, so that callers can pass a SampleView
        : first(std::visit([](const auto* samples) { return First(samples); }, view.first)),
          stride(view.stride),
          tile(view.tile),
          image(view.image) {}

    First first; ///< the sample at the top left, of the first plane
    Elements stride = 0;
    Tile tile;
    ImageShape image;
    /// Of a volume: the number of planes, each with the samples of `tile`, and the distance between
    /// planes.
    Elements planes = 1, next_plane = 0;
};

/// The code of a sample that does not equal any sample, such as NaN.
inline constexpr std::uint64_t unequal_code = 0;

/// Returns the code of a sample. Nonzero samples are equal if their codes are equal and not
/// `unequal_code`.
template <class Sample>
std::uint64_t value_code(Sample value) {
    if constexpr (std::is_same_v<Sample, float>)
        return std::isnan(value) ? unequal_code : std::bit_cast<std::uint32_t>(value);
    else if constexpr (std::is_same_v<Sample, double>)
        return std::isnan(value) ? unequal_code : std::bit_cast<std::uint64_t>(value);
    else
        return value;
}

/// Connectivity: pixels touch at sides only (4), or at corners too (8); voxels touch at faces only
/// (6), at edges too (18), or at corners too (26).
enum class Neighbours : std::uint8_t { four, eight, six, eighteen, twenty_six };

/// Selects the neighbouring samples that are connected. Samples of 0 and NaN are the background.
enum class Sameness : std::uint8_t {
    foreground, ///< all samples that are not background
    value       ///< samples of equal value
};

/// A row that touches another one and comes before it: `rows` up and `planes` to the front.
struct RowBefore {
    Elements rows, planes;
    bool corners; ///< pixels also touch the left and right neighbours in that row
};
std::span<const RowBefore> rows_before(Neighbours neighbours);

/// The rule that defines components.
struct Connection {
    Neighbours neighbours = Neighbours::eight;
    Sameness sameness = Sameness::foreground;
};

/// The destination of labels.
struct LabelPlane {
    Label* first = nullptr;
    Elements stride = 0; ///< see SampleView
};

/// The runs of a row of a tile; see each_run().
struct LabelledRuns {
    const std::uint64_t *inside, *starts; ///< bits: foreground pixels, first pixels of runs
    const Label* labels;                  ///< [i]: label of run i
};

/// Writes the labels of a row, in vectors. `stream`: bypass the caches; `to` is then aligned to
/// `stream_alignment`.
/// Requires  labels readable from one before the first of the row to 16 past its last, as in
///           Labeller and RowRuns.
void write_row(const LabelledRuns& runs, Elements width, Label* to, bool stream = false);
/// Call on each thread after write_row() with `stream`.
void end_streaming();

/// The runs of rows with their labels, copied from a Labeller, so that the samples need not be
/// kept.
struct RowRuns {
    Elements words = 0;                ///< words of bits per row
    std::vector<std::uint64_t> bits;   ///< per row: pixels inside, then starts of runs
    std::vector<Label> before, labels; ///< [row]: runs in the rows above; [1 + run]

    LabelledRuns runs_of(Elements row) const;
    Bytes memory() const;
    /// Replaces each label by numbers[label − 1].
    void renumber(std::span<const Label> numbers);
};

/// Labels the connected components of an image, of a tile of one, or of a volume, by union-find
/// over runs: rows are converted to bits, each run of bits is a node, and each pair of touching
/// runs is joined. A second pass writes the labels, in vectors.
///
/// Input     samples of a tile, or of several planes if the connectivity is 6, 18 or 26;
///           connections through pixels outside are ignored. Rows are numbered consecutively
///           through all planes.
/// Output    labels: 1, 2, … in the order of the components' first pixels, row by row.
/// Requires  a tile that cannot have 2³¹ runs, whatever its samples, and a plane with room for it;
///           otherwise throws InvalidTask, before anything is written.
/// Cost      O(pixels / 64 + runs α(runs)), and writing 4 bytes per pixel. An object keeps 2 bits
///           per pixel and 4 bytes per run; `apply` allocates only for tiles larger than before.
///           Use one object per thread.
/// Deterministic  the same labels on every processor.
/// Source    He, Chao, Suzuki, IEEE TIP 17(5), 2008, doi:10.1109/TIP.2008.919369 (unions of runs)
class Labeller {
  public:
    explicit Labeller(Connection connection) : connection_(connection) {}

    /// Returns the number of components.
    Label apply(const ValueView& input, const LabelPlane& output);
    /// Like `apply`, but does not write labels.
    Label find(const ValueView& input);

    /// Replaces each label of the last `find` by numbers[label − 1]. Later calls use the new
    /// labels.
    /// Requires  a number for each label.
    void renumber(std::span<const Label> numbers);

    /// The components of the last `apply` or `find` of an image, measured in the image; [i] has
    /// label i + 1.
    /// Cost      O(pixels / 64 + runs).
    std::vector<RegionSize> components() const;
    /// The first pixel of each component, row by row: y · width + x. Cost as `components`.
    std::vector<Elements> first_pixels() const;
    /// The runs of a row.
    LabelledRuns runs_of(Elements row) const;
    /// Copies the runs of all rows.
    RowRuns all_runs() const;
    /// The size of the copy.
    Bytes memory_of_runs() const;
    /// The label of a pixel of a row, 0 for the background.
    /// Cost      O(x / 64).
    Label label_at(Elements x, Elements row) const;
    Label count() const { return count_; }
    /// The number of NaN samples, which are background.
    Elements nan() const;
    Elements rows() const { return tile_.height * planes_; }
    Elements width() const { return tile_.width; }

  private:
    void prepare(const ValueView& input);
    template <class Sample>
    void find_components(const ValueView& input, const Sample* first);
    template <class Sample>
    void find_runs(const Sample* samples, Elements y);
    template <class Sample>
    void join(const Sample* samples, Elements y, const Sample* above, Elements y_above,
              bool corners);
    Label number_components();
    void write(const LabelPlane& output);
    RunRow row(Elements y) const;
    std::uint64_t& nan_in_bits();
    Label* runs() { return reinterpret_cast<Label*>(runs_.data()); }
    const Label* runs() const { return reinterpret_cast<const Label*>(runs_.data()); }

    Connection connection_;
    Tile tile_;
    ImageShape image_;
    Elements planes_ = 1;
    Elements words_ = 0; ///< words of bits per row
    Label count_ = 0;
    // Per row: bits of pixels inside, then of starts of runs. At the end, the number of NaN.
    Memory bits_;
    // [run], from 1: an earlier run of the component, or itself; after find(), the label.
    Memory runs_;
    std::vector<Label> runs_before_; // [row]: runs in the rows above; last entry: total
    std::vector<std::uint64_t> equal_, equal_left_, equal_right_; // see EqualsAbove
};

// Iteration over the runs of a row that is stored as bits (label_vectors.hpp).

/// Shifts a row of words up by one bit, word by word.
class Shift {
  public:
    std::uint64_t operator()(std::uint64_t word) {
        const std::uint64_t shifted = word << 1 | carry_;
        carry_ = word >> 63;
        return shifted;
    }

  private:
    std::uint64_t carry_ = 0;
};

/// The number of set bits among bits begin … end − 1 of a row.
inline Elements count_bits(const std::uint64_t* bits, Elements begin, Elements end) {
    Elements count = 0;
    for (Elements word = begin / 64; 64 * word < end; ++word) {
        std::uint64_t some = bits[word];
        if (64 * word < begin)
            some &= ~std::uint64_t{0} << (begin - 64 * word);
        if (64 * word + 64 > end)
            some &= ~std::uint64_t{0} >> (64 * word + 64 - end);
        count += std::popcount(some);
    }
    return count;
}

/// Calls `body` with the position of each set bit.
template <class Body>
void each_bit(std::uint64_t bits, Body&& body) {
    for (; bits != 0; bits &= bits - 1)
        body(std::countr_zero(bits));
}

/// Calls `body` with the first pixel of each run of a row, the pixel after its last, and its label.
template <class Body>
void each_run(const LabelledRuns& runs, Elements width, Body&& body) {
    Elements begin = -1;
    const Label* label = runs.labels;
    Shift shift;
    const auto end_at = [&](Elements x) {
        if (begin >= 0)
            body(begin, x, *label++);
        begin = -1;
    };
    for (Elements word = 0; word < words_for(width); ++word) {
        const std::uint64_t ends = shift(runs.inside[word]) & ~runs.inside[word];
        each_bit(runs.starts[word] | ends, [&](int bit) {
            end_at(64 * word + bit);
            if (runs.starts[word] >> bit & 1)
                begin = 64 * word + bit;
        });
    }
    end_at(width);
}

} // namespace sextant::kernel
