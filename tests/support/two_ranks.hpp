// SPDX-License-Identifier: BSD-3-Clause
// Small schedules in which rank 0 communicates with rank 1, and the errors that `prove` reports.
#pragma once

#include <string>

#include "tests/support/schedules.hpp"
#include "tests/support/written.hpp"

namespace sextant::test {

/// A claim that accepts any result; rank r starts with operand r in every element.
inline Claim anything() {
    return {own_operand, {}, {}};
}

/// The same text for two ranks, which are each other's peer.
inline Schedule two_ranks(const std::string& text) {
    return {written(text, 1), written(text, 0)};
}

/// The error that `prove` reports for a program of rank 1, which has an input `in`. Rank 0 sends it
/// its four input elements `messages` times.
inline std::string wrong_with_receiver(int messages, const std::string& text) {
    std::string sender = "input in 4;";
    for (int i = 0; i < messages; ++i)
        sender += "send 1 in;";
    return prove({written(sender + "result in"), written("input in 4;" + text)}, anything()).error;
}

} // namespace sextant::test
