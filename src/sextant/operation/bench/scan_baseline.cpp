// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/bench/scan_baseline.hpp"

#include "sextant/schedule/builder.hpp"

#include <array>
#include <cstring>

namespace sextant::operation {

namespace {

/// Each rank gives its element to the next.
Program shift_right(int rank, int ranks) {
    ProgramBuilder builder;
    const Region own = builder.input(1);
    if (rank + 1 < ranks)
        builder.send(rank + 1, own);
    const Region received = builder.output(rank > 0 ? 1 : 0);
    if (rank > 0)
        builder.receive(rank - 1, received);
    return builder.finish(received);
}

} // namespace

ScanBaselineRun::ScanBaselineRun(const Communicator& communicator, const ScanBaseline& row,
                                 const Operator& op, Elements values)
    : communicator_(communicator),
      operator_(op),
      exclusive_(row.exclusive),
      size_(static_cast<std::size_t>(op.element.size)),
      values_(static_cast<std::size_t>(values)),
      totals_(row.prepare(communicator, op, 1)),
      total_(op.element.size),
      output_(values * op.element.size) {
    if (exclusive_)
        return;
    shift_ = std::make_unique<Execution>(communicator,
                                         shift_right(communicator.rank(), communicator.size()), op);
    shift_->bind(0, totals_->result());
}

const std::byte* ScanBaselineRun::before() {
    if (exclusive_)
        return totals_->result().data();
    shift_->run();
    return shift_->result().data();
}

std::span<const std::byte> ScanBaselineRun::run(std::span<const std::byte> values) {
    const auto apply = [&](const std::byte* left, const std::byte* right, std::byte* to) {
        operator_.fold(std::array{left, right}, to, 1);
    };
    std::memcpy(total_.data(), values.data(), size_);
    for (std::size_t i = 1; i < values_; ++i)
        apply(total_.data(), values.data() + i * size_, total_.data());
    totals_->run(total_.bytes());
    const std::byte* sum = before();
    for (std::size_t i = 0; i < values_; ++i) {
        std::byte* const to = output_.data() + i * size_;
        if (i + 1 == values_ && !exclusive_)
            std::memcpy(to, totals_->result().data(), size_); // an application saved
        else if (sum)
            apply(sum, values.data() + i * size_, to);
        else
            std::memcpy(to, values.data(), size_);
        sum = to;
    }
    return std::as_const(output_).bytes();
}

} // namespace sextant::operation
