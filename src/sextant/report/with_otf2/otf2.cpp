// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/otf2.hpp"

#include "sextant/core/atomic_folder.hpp"
#include "sextant/report/with_otf2/archive.hpp"

#include <array>
#include <mutex>
#include <string_view>

namespace sextant::report {

namespace {

constexpr std::array<std::string_view, 3> entries = {"traces.otf2", "traces.def", "traces"};

std::mutex& library() {
    static std::mutex one;
    return one;
}

} // namespace

bool otf2_available() {
    return true;
}

void require_otf2(const std::string& folder) {
    const AtomicFolder begun(folder, entries);
}

void write_otf2(const std::string& folder, const Recording& recording) {
    const std::vector<Otf2Location> locations = otf2_locations(recording);
    const std::scoped_lock alone(library());
    AtomicFolder files(folder, entries);
    Otf2Archive archive(files.temporary(), folder);
    write_otf2_events(archive, recording, locations);
    write_otf2_definitions(archive, recording, locations);
    archive.close();
    files.commit();
}

} // namespace sextant::report
