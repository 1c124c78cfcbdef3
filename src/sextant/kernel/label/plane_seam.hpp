// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/label/labels.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

namespace sextant::kernel {

/// The runs of one plane of a volume with their labels. They suffice to join the plane's components
/// with those of the next plane, which may be labelled elsewhere. Consists of plain arrays, which
/// can be sent.
struct PlaneRuns {
    Elements width = 0, height = 0;
    std::vector<std::uint64_t> bits; ///< for each row: bits of voxels inside, then starts of runs
    std::vector<Label> before;       ///< [row]: runs in the rows above; last entry: total
    std::vector<Label> labels;       ///< [run]
    std::vector<std::byte> samples;  ///< of the plane, if values are compared

    /// For Packer and Unpacker.
    template <class Self>
    static auto fields(Self& self) {
        return std::tie(self.width, self.height, self.bits, self.before, self.labels, self.samples);
    }
};

/// Copies the runs of a plane from the last find() of a labeller. `input`: the labelled samples.
PlaneRuns runs_of_plane(const Labeller& labeller, const ValueView& input, Elements plane,
                        Sameness sameness);

/// Two components that touch: labels in the front plane and in the plane behind it.
struct TouchingLabels {
    Label front, back;
    bool operator==(const TouchingLabels&) const = default;
};

/// Lists pairs of connected components of two planes, the second directly behind the first. Joining
/// these pairs connects all components that touch. `type`: the type of samples.
/// Requires  planes of one shape (std::logic_error).
/// Cost      as joining two planes in a Labeller.
std::vector<TouchingLabels> touching(const PlaneRuns& front, const PlaneRuns& back,
                                     Connection connection, const ValueView::First& type);

/// Voxels of a run of the back plane whose neighbours straight in front belong to the same
/// component.
struct RunContacts {
    Label label; ///< in the back plane
    Elements voxels;
    std::uint64_t value; ///< value_code() of the run, if values are compared
};

/// Passes the contacts of each run of the back plane that has any.
/// Requires  the same as touching().
void each_contact(const PlaneRuns& front, const PlaneRuns& back, Sameness sameness,
                  const ValueView::First& type,
                  const std::function<void(const RunContacts&)>& take);

/// Components of successive parts of an image or volume, which are joined where parts touch, and
/// then numbered in the order of parts and of labels within a part. If parts and their labels are
/// in the order of first pixels, so are the numbers.
class JoinedParts {
  public:
    static constexpr Elements most_labels = 2147483647;

    /// `parts`: the name of the parts in error messages; `most`: the maximum number of components
    /// of all parts together.
    explicit JoinedParts(std::string_view parts, Elements most = most_labels)
        : parts_(parts), most_(most) {}

    /// Adds the next part. Returns the number of components before it. Throws InvalidTask if there
    /// are too many.
    Label add(Elements components);
    /// The number of components of all parts.
    Elements count() const { return static_cast<Elements>(parents_.size()); }
    /// Joins two components, numbered consecutively from 0 through all parts.
    void join(Elements a, Elements b);
    /// Before number(): the first of the components that are joined to a component.
    Label root(Elements component);
    /// Numbers the components, from 1; returns how many there are. Call once, after the last join.
    Label number();
    /// After number(): the number of a component.
    Label operator[](Elements component) const {
        return parents_[static_cast<std::size_t>(component)];
    }

  private:
    const std::string_view parts_;
    const Elements most_;
    std::vector<Label> parents_; // [component]: an earlier component joined to it, or itself
};

} // namespace sextant::kernel
