// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/prefix/shift.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/scope.hpp"
#include "sextant/core/error.hpp"
#include "sextant/prefix/scan.hpp"
#include "sextant/scan/shift.hpp"

#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace sextant::prefix {

namespace {

struct ShiftDeclaration {
    Elements values;
    Bytes size;
};

/// The operator of a program without folds; it only states the size of an element.
Operator only_moved(Bytes size) {
    Operator op;
    op.name = "shift";
    op.element = {"value", size};
    return op;
}

} // namespace

Shift::Shift(Communicator communicator, Elements values, Bytes size)
    : communicator_(scope_of(communicator, "Shift", RunsOf::all_ranks)),
      values_(values),
      size_(size) {
    const std::vector<ShiftDeclaration> all =
        communicator_.all_gather(ShiftDeclaration{values, size});
    agree(communicator_, [&] {
        scan::Series series;
        for (std::size_t rank = 0; rank < all.size(); ++rank) {
            if (all[rank].values < 0)
                throw InvalidTask(
                    fmt::format("rank {}: {} values, expected 0 or more", rank, all[rank].values));
            if (all[rank].size != all[0].size)
                throw InvalidTask(
                    fmt::format("rank {} has values of {} bytes, but rank 0 has values of {}", rank,
                                all[rank].size, all[0].size));
            series.push_back(all[rank].values);
        }
        const int own = communicator_.rank();
        first_ = std::accumulate(series.begin(), series.begin() + own, Elements{0});
        execution_.emplace(communicator_, scan::shift(series, own), only_moved(size));
    });
}

std::span<const std::byte> Shift::run(std::span<const std::byte> values) {
    agree(communicator_, [&] { check_and_run(values); });
    return received() > 0 ? execution_->result() : std::span<const std::byte>();
}

void Shift::check_and_run(std::span<const std::byte> values) {
    Stages stages;
    stages.alone([&] {
        if (static_cast<Bytes>(values.size()) != values_ * size_)
            throw InvalidTask(fmt::format("rank {}: {} bytes given, expected {} ({} values)",
                                          communicator_.rank(), values.size(), values_ * size_,
                                          values_));
        if (values_ > 0)
            execution_->bind(0, values);
    });
    stages.together([&] { execution_->run(); },
                    [&](auto failure) { execution_->run_failed(failure); });
    stages.rethrow();
}

} // namespace sextant::prefix
