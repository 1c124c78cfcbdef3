// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/model.hpp"
#include "sextant/model/span.hpp"

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace sextant::model {

/// What a rank's own work costs on a machine.
class WorkCosts {
  public:
    explicit WorkCosts(const Question& question);

    /// One pass that combines so many operands, two or more, of so many elements; `alone` where no
    /// other rank of the node works at the same time.
    Span fold(Elements elements, int operands, bool alone);
    /// The least that a fold of so many operands may cost, however it is cut into passes: all of
    /// them, and the last.
    struct LeastFold {
        Seconds all = 0, last = 0;
    };
    LeastFold least_fold(Elements elements, int operands);
    /// One run of a kernel that makes so many elements.
    Span compute(int kernel, Elements elements) const;
    /// Moving so many bytes within memory, in pieces of `block` bytes.
    Span copy(Bytes bytes, Bytes block) const;
    /// A compute or copy step.
    Span of(const Program& program, const Step& step) const;

    /// What the profile lacks, and so costs nothing here.
    std::vector<std::string> remarks(const Schedule& schedule) const;

  private:
    double alone_share(Elements elements) const;

    const Question& question_;
    const machine::Work* const operator_;       ///< null where the profile does not know it
    std::vector<const machine::Work*> kernels_; ///< likewise
    std::map<std::tuple<Elements, int, bool>, Span> folds_; // many look alike
};

} // namespace sextant::model
