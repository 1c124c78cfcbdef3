// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace sextant::test {

/// The message of the exception that `part` throws; "" if it throws none.
template <class Thrown, class Part>
std::string message_of(const Part& part) {
    try {
        part();
    } catch (const Thrown& thrown) {
        return thrown.what();
    }
    return "";
}

} // namespace sextant::test
