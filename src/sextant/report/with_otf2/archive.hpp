// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/otf2.hpp"

#include <functional>
#include <string>

#include <otf2/otf2.h>

namespace sextant::report {

/// An archive that the library writes to an empty folder. Errors of the library are thrown as
/// InvalidFile with `path` and not printed. Only one may exist at a time, because the library's
/// error handler is global.
class Otf2Archive {
  public:
    /// Input     the folder to write to, and its name for users.
    Otf2Archive(const std::string& folder, std::string path);
    Otf2Archive(const Otf2Archive&) = delete;
    Otf2Archive& operator=(const Otf2Archive&) = delete;
    ~Otf2Archive();

    OTF2_Archive* get() const { return archive_; }
    /// Throws if there was an error.
    void check(OTF2_ErrorCode code) const;
    template <class Handle>
    Handle* check(Handle* handle) const {
        if (!handle)
            fail("the library gave no handle");
        check(OTF2_SUCCESS);
        return handle;
    }
    void close();

  private:
    [[noreturn]] void fail(const std::string& what) const;

    std::string path_, told_;
    OTF2_ErrorCallback others_ = nullptr;
    OTF2_Archive* archive_ = nullptr;
};

/// Numbers of attributes and the communicator in an archive. Regions are numbered as activities.
enum Otf2Attribute : std::uint32_t { otf2_step, otf2_round, otf2_elements };
inline constexpr OTF2_CommRef otf2_world = 0;

/// Writes the definitions that events refer to.
void write_otf2_definitions(const Otf2Archive& archive, const Recording& recording,
                            const std::vector<Otf2Location>& locations);

/// Writes the events of all locations.
void write_otf2_events(const Otf2Archive& archive, const Recording& recording,
                       const std::vector<Otf2Location>& locations);

} // namespace sextant::report
