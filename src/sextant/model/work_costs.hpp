// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/model.hpp"
#include "sextant/model/span.hpp"

#include <string>
#include <vector>

namespace sextant::model {

/// What a rank's own work costs on a machine.
class WorkCosts {
  public:
    explicit WorkCosts(const Question& question);

    /// Combining one more operand of so many elements.
    Span fold(Elements elements) const { return fold_ * static_cast<double>(elements); }
    /// Moving so many bytes within memory, in pieces of `block` bytes.
    Span copy(Bytes bytes, Bytes block) const;

    /// What the profile lacks, and so costs nothing here.
    std::vector<std::string> remarks(const Schedule& schedule) const;

  private:
    const Question& question_;
    Span fold_;
    bool knows_operator_ = false;
};

} // namespace sextant::model
