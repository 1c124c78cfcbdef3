// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/activity.hpp"
#include "sextant/report/clocks_text.hpp"
#include "sextant/report/messages.hpp"
#include "sextant/report/with_otf2/archive.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace sextant::report {

namespace {

/// Writes definitions, each string under the next number.
class Definitions {
  public:
    Definitions(const Otf2Archive& archive, const Recording& recording,
                const std::vector<Otf2Location>& locations)
        : archive_(archive), recording_(recording), locations_(locations) {}

    void write() {
        writer_ = archive_.check(OTF2_Archive_GetGlobalDefWriter(archive_.get()));
        nothing_ = string("");
        write_clock();
        write_regions();
        write_attributes();
        write_locations();
        write_communicator();
        archive_.check(OTF2_Archive_CloseGlobalDefWriter(archive_.get(), writer_));
    }

  private:
    OTF2_StringRef string(const std::string& text) {
        archive_.check(OTF2_GlobalDefWriter_WriteString(writer_, strings_, text.c_str()));
        return strings_++;
    }

    void write_clock() {
        Seconds last = std::max(recording_.trace.duration, 0.0);
        for (const Event& event : recording_.trace.events)
            last = std::max(last, event.end);
        archive_.check(OTF2_GlobalDefWriter_WriteClockProperties(
            writer_, otf2_ticks, 0, otf2_time(last), OTF2_UNDEFINED_TIMESTAMP));
    }

    void write_regions() {
        for (const Activity activity : activities) {
            const OTF2_StringRef called = string(std::string(name(activity)));
            const OTF2_RegionRole role = is_message(activity) ? OTF2_REGION_ROLE_POINT2POINT
                                         : activity == Activity::copy
                                             ? OTF2_REGION_ROLE_DATA_TRANSFER
                                             : OTF2_REGION_ROLE_FUNCTION;
            const bool communicates = is_message(activity) || activity == Activity::wait;
            archive_.check(OTF2_GlobalDefWriter_WriteRegion(
                writer_, static_cast<OTF2_RegionRef>(activity), called, called, nothing_, role,
                communicates ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE,
                nothing_, 0, 0));
        }
    }

    void write_attribute(Otf2Attribute which, const char* called, const char* description,
                         OTF2_Type type) {
        const OTF2_StringRef text = string(called);
        archive_.check(
            OTF2_GlobalDefWriter_WriteAttribute(writer_, which, text, string(description), type));
    }

    void write_attributes() {
        write_attribute(otf2_step, "step", "of the rank's program; -1: none", OTF2_TYPE_INT32);
        write_attribute(otf2_round, "round", "of the schedule", OTF2_TYPE_INT32);
        write_attribute(otf2_elements, "elements", "sent, received or worked on", OTF2_TYPE_UINT64);
    }

    /// A process a rank; what overlaps there has locations of its own in it.
    void write_locations() {
        const OTF2_StringRef machine = string("machine");
        archive_.check(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer_, 0, machine, machine,
                                                                OTF2_UNDEFINED_SYSTEM_TREE_NODE));
        for (std::size_t i = 0; i < locations_.size(); ++i) {
            const int rank = locations_[i].rank;
            const bool own = i < static_cast<std::size_t>(recording_.ranks);
            const OTF2_StringRef called =
                string(own ? fmt::format("rank {}", rank) : fmt::format("beside rank {}", rank));
            if (own)
                archive_.check(OTF2_GlobalDefWriter_WriteLocationGroup(
                    writer_, static_cast<OTF2_LocationGroupRef>(rank), called,
                    OTF2_LOCATION_GROUP_TYPE_PROCESS, 0, OTF2_UNDEFINED_LOCATION_GROUP));
            archive_.check(OTF2_GlobalDefWriter_WriteLocation(
                writer_, i, called, OTF2_LOCATION_TYPE_CPU_THREAD, locations_[i].records.size(),
                static_cast<OTF2_LocationGroupRef>(rank)));
        }
    }

    void write_group(OTF2_GroupRef group, OTF2_GroupType type,
                     const std::vector<std::uint64_t>& members) {
        archive_.check(OTF2_GlobalDefWriter_WriteGroup(
            writer_, group, nothing_, type, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
            static_cast<std::uint32_t>(members.size()), members.data()));
    }

    /// All ranks', in their order: what senders and receivers of messages are counted in.
    void write_communicator() {
        archive_.check(OTF2_GlobalDefWriter_WriteParadigm(writer_, OTF2_PARADIGM_MPI, string("MPI"),
                                                          OTF2_PARADIGM_CLASS_PROCESS));
        std::vector<std::uint64_t> ranks(static_cast<std::size_t>(recording_.ranks));
        std::iota(ranks.begin(), ranks.end(), std::uint64_t{0});
        write_group(0, OTF2_GROUP_TYPE_COMM_LOCATIONS, ranks);
        write_group(1, OTF2_GROUP_TYPE_COMM_GROUP, ranks);
        archive_.check(OTF2_GlobalDefWriter_WriteComm(writer_, otf2_world, string("all ranks"), 1,
                                                      OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    }

    const Otf2Archive& archive_;
    const Recording& recording_;
    const std::vector<Otf2Location>& locations_;
    OTF2_GlobalDefWriter* writer_ = nullptr;
    OTF2_StringRef strings_ = 0, nothing_ = 0;
};

void describe(const Otf2Archive& archive, const Recording& recording) {
    const auto property = [&](const char* which, const std::string& value) {
        archive.check(OTF2_Archive_SetProperty(archive.get(), which, value.c_str(), false));
    };
    archive.check(OTF2_Archive_SetCreator(archive.get(), "Sextant"));
    archive.check(OTF2_Archive_SetDescription(archive.get(), recording.title().c_str()));
    property("SEXTANT::ORIGIN", std::string(name(recording.origin)));
    property("SEXTANT::ELEMENT_SIZE", fmt::format("{}", recording.element_size));
    property("SEXTANT::LENT", recording.lent ? "true" : "false");
    if (recording.clocks > 1)
        property("SEXTANT::CLOCKS", clocks_text(recording.clocks, recording.aligned));
}

} // namespace

void write_otf2_definitions(const Otf2Archive& archive, const Recording& recording,
                            const std::vector<Otf2Location>& locations) {
    describe(archive, recording);
    Definitions(archive, recording, locations).write();
}

} // namespace sextant::report
