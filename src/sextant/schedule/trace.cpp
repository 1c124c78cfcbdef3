// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/trace.hpp"

namespace sextant {

std::string_view name(Activity activity) {
    switch (activity) {
    case Activity::send:
        return "send";
    case Activity::receive:
        return "receive";
    case Activity::fold:
        return "fold";
    case Activity::copy:
        return "copy";
    case Activity::wait:
        return "wait";
    }
    return "";
}

} // namespace sextant
