// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/units.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace sextant {

/// Writes planes whose rows arrive interleaved to a sink that accepts one frame after another. A
/// row that is next in order goes to the sink at once. Other rows are kept in an unnamed temporary
/// file in the sink's folder until commit().
class PlaneSink {
  public:
    /// `offsets` has one offset per plane, which is added back if the sink holds f64. Empty: no
    /// offsets.
    explicit PlaneSink(std::unique_ptr<FrameSink> sink, std::vector<double> offsets = {});
    /// `scales` has one factor per plane, see write_scaled().
    PlaneSink(std::unique_ptr<FrameSink> sink, std::vector<double> offsets,
              const std::vector<double>& scales);

    /// Writes rows of a plane (a frame of the sink), from row `first` on. Each row must be written
    /// exactly once.
    ///
    /// Requires  whole rows within a plane (std::logic_error).
    /// Throws    InvalidFile if the rows cannot be written.
    void write(std::int64_t plane, std::int64_t first, std::span<const float> rows);
    /// Makes the complete file appear at its path.
    ///
    /// Requires  every row of every plane to be written (std::logic_error).
    /// Throws    InvalidFile.
    void commit();

  private:
    std::int64_t planes() const { return sink_->header().frames; }
    ImageShape shape() const { return sink_->header().shape; }
    Bytes place_of(std::int64_t plane, std::int64_t row) const;
    void pass_on(std::span<const float> rows);
    void keep(std::int64_t plane, std::int64_t first, std::span<const float> rows);
    void pass_on_kept();

    std::unique_ptr<FrameSink> sink_;
    std::vector<double> offsets_;      // offsets of all planes, then their scales; may be empty
    std::optional<AtomicFile> kept_;   // rows that arrived out of order; never committed
    std::int64_t plane_ = 0, row_ = 0; // the next row in order
    std::int64_t rows_given_ = 0;
};

} // namespace sextant
