// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace sextant {

struct ChosenOptions {
    int ranks = 1;
};

} // namespace sextant
