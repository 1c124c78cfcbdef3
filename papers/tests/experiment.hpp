// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/error.hpp"

#include "papers/experiments.hpp"
#include <gtest/gtest.h>

namespace sextant::papers {

inline Experiment experiment(std::string_view paper, std::string_view item) {
    for (const Experiment& each : all_experiments()) {
        if (each.paper == paper && each.item == item)
            return each;
    }
    throw InvalidTask("no such experiment");
}

inline const Row& row(const Result& result, std::string_view label) {
    for (const Row& each : result.rows) {
        if (each.label == label)
            return each;
    }
    throw InvalidTask("no such row");
}

inline void expect_all_claims(const Result& result) {
    for (const Claim& claim : result.claims)
        EXPECT_TRUE(claim.holds) << claim.text << ": " << claim.found;
}

} // namespace sextant::papers
