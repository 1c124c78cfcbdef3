// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/error.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sextant {

/// One or more ranks failed, and every rank knows: all throw this with the same text, none is left
/// waiting, and the communicator is still of use.
class AgreedFailure : public Error {
  public:
    AgreedFailure(const std::string& what, bool invalid_task)
        : Error(what), invalid_task_(invalid_task) {}
    /// Whether what failed was the request itself (InvalidTask).
    bool invalid_task() const { return invalid_task_; }

    /// Whether the user has been told already (launch.hpp).
    bool told() const { return told_; }
    void set_told() { told_ = true; }

  private:
    bool invalid_task_;
    bool told_ = false;
};

/// Does a part of a collective operation on every rank and makes sure that all know how it ended.
///
/// Input     what this rank does; it may be nothing, and it may throw.
/// Throws    AgreedFailure on every rank when it threw on any: the text of the lowest rank whose
///           error was its own; over processes with that rank's number, unless all failed alike.
/// Collective.
/// Cost      one all-gather of an int; on failure the texts.
void agree(const Communicator& communicator, const std::function<void()>& part);

/// The same; returns a number of each rank, by rank.
std::vector<std::uint64_t> agree(const Communicator& communicator,
                                 const std::function<void()>& part, std::uint64_t number);

} // namespace sextant
