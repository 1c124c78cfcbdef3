// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/error.hpp"

#include <exception>

namespace sextant {

std::string text_of_current_exception() {
    try {
        throw;
    } catch (const std::exception& error) {
        return error.what();
    } catch (...) {
        return "threw an exception that is not a std::exception";
    }
}

} // namespace sextant
