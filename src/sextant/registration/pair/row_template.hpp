// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/thread_team.hpp"
#include "sextant/core/image.hpp"

#include <span>
#include <vector>

namespace sextant::registration {

/// The standard deviations of the filters of a RowTemplate, pixels.
struct RowFilter {
    double along_rows = 1;
    /// The filter between rows is 1 − (1 − G)³, where G is a Gaussian of this standard deviation.
    /// The response is flat at low frequencies, so the filter hardly changes the specimen, but it
    /// smooths displacements of single rows that all frames have in common.
    double between_rows = 1.25;
};

/// The filtered image, with its gradient, that the rows of frames are registered to.
///
/// Only this image is filtered; the rows of frames are compared as they are recorded. A symmetric
/// filter along the rows does not bias displacements along the rows.
class RowTemplate {
  public:
    /// The team must outlive this object.
    explicit RowTemplate(ImageShape shape, const RowFilter& filter = {}, Team* team = nullptr);

    /// Input  an image of this object's shape, row by row; NaN in gaps. The filter uses the samples
    ///        around gaps, and gives NaN where less than half of its weight is on samples.
    void fill(std::span<const float> samples);

    ImageShape shape() const { return shape_; }
    const float* value(Elements row) const { return row_of(value_, row); }
    const float* slope_x(Elements row) const { return row_of(slope_x_, row); }
    const float* slope_y(Elements row) const { return row_of(slope_y_, row); }

  private:
    const float* row_of(const std::vector<float>& plane, Elements row) const {
        return plane.data() + row * shape_.width;
    }
    void filter_rows(std::span<const float> samples);
    void filter_columns();
    void differentiate();

    ImageShape shape_;
    Team* team_;
    std::vector<float> along_, between_;    ///< filter weights, starting at the middle one
    std::vector<float> filtered_, weights_; ///< result of the filter along the rows
    std::vector<float> value_, slope_x_, slope_y_;
};

} // namespace sextant::registration
