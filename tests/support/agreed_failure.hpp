// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/agreement.hpp"

#include <functional>
#include <string>

#include <gtest/gtest.h>

namespace sextant::test {

/// Text of the AgreedFailure that `part` throws, or "nothing".
inline std::string agreed_failure(const std::function<void()>& part) {
    try {
        part();
    } catch (const AgreedFailure& error) {
        EXPECT_TRUE(error.invalid_task());
        return error.what();
    }
    return "nothing";
}

} // namespace sextant::test
