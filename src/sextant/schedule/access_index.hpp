// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/region.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sextant {

/// A step's access to a buffer.
struct Access {
    std::uint32_t step;
    bool write;
    Region region;
};

/// How often a buffer is accessed, and from the first to the last element of each access.
struct Accesses {
    std::size_t number = 0;
    double span = 0;

    void count(const Region& region) {
        ++number;
        span += static_cast<double>(region.end() - region.offset);
    }
    /// So many that a cell holds few accesses, and an access, as of a column of tiles, lies in few
    /// cells.
    std::size_t cells(Elements size) const {
        const double each_in_one = static_cast<double>(number) * static_cast<double>(size) / span;
        return number == 0 ? 1 : std::min(number / 2, static_cast<std::size_t>(each_in_one));
    }
};

/// The live accesses to one buffer, found by where they lie: the buffer is cut into equal cells and
/// an access is listed in each cell that it touches.
class AccessIndex {
  public:
    AccessIndex(Elements size, std::size_t cells)
        : cells_(std::clamp<std::size_t>(cells, 1, 1024)),
          cell_size_(std::max<Elements>(1, (size + static_cast<Elements>(cells_.size()) - 1) /
                                               static_cast<Elements>(cells_.size()))) {}

    /// Calls `found` with the step of each access that overlaps `region`; a step may come twice.
    template <class Found>
    void conflicts(const Region& region, bool write, Found&& found) const {
        for (std::size_t c = cell(region.offset); c <= cell(region.end() - 1); ++c) {
            for (const Access& access : cells_[c]) {
                if ((write || access.write) && overlap(access.region, region))
                    found(access.step);
            }
        }
    }

    void forget_covered(const Region& write) {
        for (std::size_t c = cell(write.offset); c <= cell(write.end() - 1); ++c) {
            std::erase_if(cells_[c], [&](const Access& a) { return covers(write, a.region); });
        }
    }

    void add(const Access& access) {
        const Region& region = access.region;
        for (std::size_t c = cell(region.offset); c <= cell(region.end() - 1); ++c) {
            cells_[c].push_back(access);
        }
    }

  private:
    std::size_t cell(Elements element) const {
        return static_cast<std::size_t>(element / cell_size_);
    }

    std::vector<std::vector<Access>> cells_;
    Elements cell_size_;
};

} // namespace sextant
