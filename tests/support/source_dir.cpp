// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/source_dir.hpp"

std::string sextant::test::source_dir() {
    return SEXTANT_SOURCE_DIR;
}
