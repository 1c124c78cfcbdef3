// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sextant::test {

/// An event as reported by the library's reader.
struct ArchiveEvent {
    std::string kind; ///< enter, leave, isend, isend_complete, irecv_request, irecv
    std::uint64_t location = 0, time = 0;
    std::string region;                                       ///< for enter and leave
    std::uint64_t peer = 0, tag = 0, length = 0, request = 0; ///< for messages
    bool described = false;                                   ///< true if it has attributes
    int step = 0, round = 0;
    std::uint64_t elements = 0;
};

/// The contents of an archive.
struct Archive {
    std::uint64_t resolution = 0, offset = 0, length = 0;
    std::vector<std::string> locations, processes;    ///< by number
    std::vector<std::uint64_t> process_of, events_of; ///< by location
    std::vector<std::uint64_t> communicator;          ///< locations of its members
    std::map<std::string, std::string> properties;
    std::vector<ArchiveEvent> events; ///< of all locations, ordered by time
};

/// Reads traces.otf2 in `folder`. Throws std::runtime_error if the library reports an error.
Archive read_archive(const std::string& folder);

} // namespace sextant::test
