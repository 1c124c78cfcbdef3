// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/activity.hpp"

namespace sextant::report {

Colour colour_of(Activity activity) {
    switch (activity) {
    case Activity::send:
        return colour_of_hue(255);
    case Activity::receive:
        return colour_of_hue(185);
    case Activity::fold:
        return colour_of_hue(50);
    case Activity::copy:
        return colour_of_hue(340);
    case Activity::compute:
        return colour_of_hue(100);
    case Activity::wait:
        break;
    }
    return {"#d2d8df", "#3a424d"};
}

} // namespace sextant::report
