// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/loans.hpp"

#include <utility>

namespace sextant::test {

/// A program, its dependences, and the shared buffers derived from them.
struct Lender {
    explicit Lender(Program made)
        : program(std::move(made)), dependences(program), loans(program, dependences) {}
    Program program;
    Dependences dependences;
    Loans loans;
};

} // namespace sextant::test
