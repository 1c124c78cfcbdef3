// SPDX-License-Identifier: BSD-3-Clause
// Small schedules in which rank 0 communicates with rank 1, and the errors that `prove` reports.
#pragma once

#include "sextant/schedule/builder.hpp"

#include <string>

#include "tests/support/schedules.hpp"

namespace sextant::test {

/// A claim that accepts any result; rank r starts with operand r in every element.
inline Claim anything() {
    return {own_operand, {}, {}};
}

/// Two programs that differ only in the rank.
template <class Write>
Schedule two_ranks(Write write) {
    return make_schedule(2, [&](int rank) {
        ProgramBuilder builder;
        const Region result = write(builder, rank);
        return builder.finish(result);
    });
}

/// The error that `prove` reports for the program of rank 1 that `write` builds. Rank 0 sends it
/// its four input elements `messages` times.
template <class Write>
std::string wrong_with_receiver(int messages, Write write) {
    const Schedule schedule = two_ranks([&](ProgramBuilder& builder, int rank) {
        const Region in = builder.input(4);
        if (rank == 1)
            return write(builder, in);
        for (int i = 0; i < messages; ++i)
            builder.send(1, in);
        return in;
    });
    return prove(schedule, anything()).error;
}

} // namespace sextant::test
