// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/atomic_file.hpp"
#include "sextant/core/frame_source.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace sextant::format {

/// Takes images side by side, some rows of each at a time, for a sink that wants one frame after
/// another. Rows whose turn it is go straight to the sink; others wait in a file without a name in
/// the folder of the sink's, and follow when all are there.
class PlaneSink {
  public:
    /// `offsets`: of each plane, to be added again if the sink holds f64; empty: none.
    explicit PlaneSink(std::unique_ptr<FrameSink> sink, std::vector<double> offsets = {});

    /// Some rows of a plane (a frame of the sink), from row `first` on; each row once.
    /// Requires  whole rows that a plane has (std::logic_error).
    /// Throws    InvalidFile where they cannot be written.
    void write(std::int64_t plane, std::int64_t first, std::span<const float> rows);
    /// Makes the file appear, whole. Requires every row of every plane (std::logic_error).
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
    std::vector<double> offsets_;
    std::optional<AtomicFile> kept_;   // never committed
    std::int64_t plane_ = 0, row_ = 0; // whose turn it is
    std::int64_t rows_given_ = 0;
};

} // namespace sextant::format
