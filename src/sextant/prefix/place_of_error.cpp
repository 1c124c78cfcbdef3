// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/prefix/place_of_error.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/exception_text.hpp"

namespace sextant::prefix {

void rethrow_with_place(const std::string& place) {
    try {
        throw;
    } catch (const std::logic_error&) {
        throw;
    } catch (const InvalidTask& error) {
        throw InvalidTask(place + ": " + error.what());
    } catch (...) {
        throw Error(place + ": " + text_of_current_exception());
    }
}

} // namespace sextant::prefix
