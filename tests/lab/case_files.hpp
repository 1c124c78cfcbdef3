// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/error.hpp"

#include <string>

#include "tests/format/temporary_folder.hpp"
#include "tests/support/message_of.hpp"

namespace sextant::test {

/// The message of the error that `read` throws for a file with this content; "" if it throws none.
template <class Read>
std::string complaint(const Read& read, const std::string& content) {
    const TemporaryFolder folder;
    fill_file(folder.path("cases.json"), content);
    return message_of<Error>([&] { read(folder.path("cases.json")); });
}

} // namespace sextant::test
