// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/temporary_files.hpp"
#include "sextant/core/units.hpp"
#include "sextant/model/model.hpp"

#include <array>
#include <string>

namespace sextant::command {

struct PlannedTask;

/// The time of work that cores share: on one core, and on all available `cores`.
struct SharedTime {
    model::Span one, all;
    int cores = 1;

    /// The time on `n` cores, linear in 1/n.
    model::Span on(int n) const;
    /// Extends the intervals by those of other data.
    SharedTime& cover(const SharedTime& other);
};

/// Predicts the time of a command on this machine from short runs of the command itself, with two
/// small synthetic inputs: a line through both times, at the size of the task. The time to start a
/// program is subtracted. Inputs and outputs are in the system's folder for temporary files.
class Trials {
  public:
    /// True if trials may run: not under a launcher, nor if SEXTANT_PROBE is "off".
    static bool allowed();

    /// Makes the inputs. `task.what`: label, contours, apply or register; `density`: the fraction
    /// of samples that are not 0, or 1 for an image with little noise.
    /// Throws    Error if a command fails, for example because the folder is full.
    explicit Trials(const PlannedTask& task, double density = 1);

    /// The time of the command on `cores` of the available cores, with these options. The interval
    /// covers the repeated runs.
    model::Span time(int cores, const std::string& options = "") const;
    /// The same time on any number of cores, from those on one core and on all available ones.
    SharedTime shared_time(const std::string& options = "") const;

  private:
    struct Input {
        Elements samples;
        std::string words; ///< of the command
    };

    const PlannedTask& task_;
    const PrivateFolder folder_;
    std::array<Input, 2> inputs_;
    model::Span start_;
};

} // namespace sextant::command
