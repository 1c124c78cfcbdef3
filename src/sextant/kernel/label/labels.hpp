// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/memory.hpp"
#include "sextant/kernel/label/values.hpp"

#include <cstdint>
#include <vector>

namespace sextant::kernel {

/// A component's number, from 1; 0 is the background.
using Label = std::int32_t;

/// Which pixels touch a pixel: those at its sides, or those at its corners too.
enum class Neighbours : std::uint8_t { four, eight };

/// Which neighbours belong together. Samples of 0 are the background.
enum class Sameness : std::uint8_t {
    foreground, ///< all that are not 0
    value       ///< those of equal value; a sample that is not a number equals none
};

/// How components are told apart.
struct Connection {
    Neighbours neighbours = Neighbours::eight;
    Sameness sameness = Sameness::foreground;
};

/// Where labels go.
struct LabelPlane {
    Label* first = nullptr;
    Elements stride = 0; ///< as SampleView's
};

/// What is measured of a component, in pixels of the image.
struct Component {
    Elements first = 0; ///< its first pixel, row by row: y · width + x
    Elements area = 0;
    Tile box;
    Elements sum_x = 0, sum_y = 0; ///< of its pixels' coordinates

    /// Its centroid; pixels have their centres at integers.
    double x() const { return static_cast<double>(sum_x) / static_cast<double>(area); }
    double y() const { return static_cast<double>(sum_y) / static_cast<double>(area); }

    /// With what lies of the same component in another tile.
    void add(const Component& other);
    bool operator==(const Component& other) const;
};

struct RunRow;

/// The runs of a row of a tile; each_run.hpp goes along them.
struct LabelledRuns {
    const std::uint64_t *inside, *starts; ///< bits: not the background; the first pixel of a run
    const Label* labels;                  ///< [i] of run i
};

/// Connected components of an image or a tile of one, by unions of runs: a row becomes bits, a run
/// of bits a node, and each pair of runs that touch one union. Labels are written in a second pass,
/// in vectors.
///
/// Input     samples of a tile; touching beyond it does not count.
/// Output    labels of the tile: 1, 2, … in the order of the components' first pixels, row by row.
///           As labels_reference().
/// Requires  a tile of fewer runs than 2³¹ however it looks, a plane that holds it; otherwise
/// throws
///           InvalidTask, before anything is written.
/// Cost      O(pixels / 64 + runs α(runs)), and the writing of 4 bytes a pixel. An object keeps 2
///           bits a pixel and 4 bytes a run; `apply` allocates nothing for tiles no larger than
///           those before. One object a thread.
/// Deterministic  the same labels on every processor.
/// Source    He, Chao, Suzuki, IEEE TIP 17(5), 2008, doi:10.1109/TIP.2008.919369 (unions of runs)
class Labeller {
  public:
    explicit Labeller(Connection connection) : connection_(connection) {}

    /// Returns how many components there are.
    Label apply(const ValueView& input, const LabelPlane& output);
    /// As `apply`, but labels are written nowhere.
    Label find(const ValueView& input);

    /// The components of the last `apply` or `find`; [i] has label i + 1.
    /// Cost      O(pixels / 64 + runs).
    std::vector<Component> components() const;
    /// The first pixel of each, row by row: y · width + x. Cost as `components`.
    std::vector<Elements> first_pixels() const;
    /// The runs of row `y` of the tile.
    LabelledRuns runs_of(Elements y) const;
    /// The label of a pixel of the tile, 0 of the background. Cost  O(x / 64).
    Label label_at(Elements x, Elements y) const;

  private:
    void prepare(const ValueView& input);
    template <class Sample>
    void find_components(const ValueView& input, const Sample* first);
    template <class Sample>
    void find_runs(const Sample* samples, Elements y);
    template <class Sample>
    void join_with_above(const Sample* samples, const Sample* above, Elements y);
    Label number_components();
    void write(const LabelPlane& output);
    RunRow row(Elements y) const;
    Label* runs() { return reinterpret_cast<Label*>(runs_.data()); }
    const Label* runs() const { return reinterpret_cast<const Label*>(runs_.data()); }

    Connection connection_;
    Tile tile_;
    ImageShape image_;
    Elements words_ = 0; ///< of bits in a row
    Label count_ = 0;
    Memory bits_; // of each row those inside, then those that start a run
    Memory runs_; // [run], from 1: one before it in its component, or itself; at last its label
    std::vector<Label> runs_before_;                              // [row], and behind the last one
    std::vector<std::uint64_t> equal_, equal_left_, equal_right_; // of a row and the one above
};

} // namespace sextant::kernel
