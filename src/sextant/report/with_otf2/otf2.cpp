// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/otf2.hpp"

#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/report/recording.hpp"
#include "sextant/report/trace_timeline.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <otf2/otf2.h>

namespace sextant::report {

namespace {

OTF2_FlushType flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) {
    return OTF2_FLUSH;
}

constexpr OTF2_FlushCallbacks always{flush, nullptr}; // no timestamp: flushes are not recorded

/// Stores the first error; later errors are its consequences.
OTF2_ErrorCode note(void* user_data, const char*, std::uint64_t, const char*, OTF2_ErrorCode code,
                    const char*, va_list) {
    auto& text = *static_cast<std::string*>(user_data);
    if (text.empty() && code != OTF2_SUCCESS)
        text = OTF2_Error_GetDescription(code);
    return code;
}

/// An archive that the library writes to an empty folder. Errors of the library are thrown as
/// InvalidFile with `path` and not printed. Only one may exist at a time, because the library's
/// error handler is global.
class Otf2Archive {
  public:
    /// Input     the folder to write to, and the path that errors name.
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
            fail("the OTF2 library returned no handle");
        check(OTF2_SUCCESS);
        return handle;
    }
    void close();

  private:
    [[noreturn]] void fail(const std::string& what) const;

    std::string path_, error_text_;
    OTF2_ErrorCallback others_ = nullptr;
    OTF2_Archive* archive_ = nullptr;
};

/// The numbers of attributes and of the communicator in an archive. Regions have the numbers of
/// activities.
enum Otf2Attribute : std::uint32_t { otf2_step, otf2_round, otf2_elements };
inline constexpr OTF2_CommRef otf2_world = 0;

Otf2Archive::Otf2Archive(const std::string& folder, std::string path)
    : path_(std::move(path)), others_(OTF2_Error_RegisterCallback(note, &error_text_)) {
    archive_ = OTF2_Archive_Open(
        folder.c_str(), "traces", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_EVENTS_DEFAULT,
        OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    try {
        check(archive_);
        check(OTF2_Archive_SetFlushCallbacks(archive_, &always, nullptr));
        check(OTF2_Archive_SetSerialCollectiveCallbacks(archive_));
    } catch (...) {
        OTF2_Error_RegisterCallback(others_, nullptr);
        throw;
    }
}

Otf2Archive::~Otf2Archive() {
    if (archive_)
        OTF2_Archive_Close(archive_); // needed after a failure to free the memory
    OTF2_Error_RegisterCallback(others_, nullptr);
}

/// Some functions report errors only to the callback.
void Otf2Archive::check(OTF2_ErrorCode code) const {
    if (!error_text_.empty())
        fail(error_text_);
    if (code != OTF2_SUCCESS)
        fail(OTF2_Error_GetDescription(code));
}

void Otf2Archive::close() {
    check(OTF2_Archive_Close(std::exchange(archive_, nullptr)));
}

void Otf2Archive::fail(const std::string& what) const {
    throw InvalidFile(path_, fmt::format("cannot be written as OTF2: {}", what));
}

/// Writes definitions; strings are numbered consecutively.
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
        write_attribute(otf2_step, "step", "step of the rank's program; -1 if there is no step",
                        OTF2_TYPE_INT32);
        write_attribute(otf2_round, "round", "round of the schedule", OTF2_TYPE_INT32);
        write_attribute(otf2_elements, "elements", "elements sent, received or processed",
                        OTF2_TYPE_UINT64);
    }

    /// Writes one process per rank; overlapping work of a rank is on additional locations of its
    /// process.
    void write_locations() {
        const OTF2_StringRef machine = string("machine");
        archive_.check(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer_, 0, machine, machine,
                                                                OTF2_UNDEFINED_SYSTEM_TREE_NODE));
        for (std::size_t i = 0; i < locations_.size(); ++i) {
            const int rank = locations_[i].rank;
            const bool own = i < static_cast<std::size_t>(recording_.ranks);
            const OTF2_StringRef called = string(own ? fmt::format("rank {}", rank)
                                                     : fmt::format("rank {}, overlapping", rank));
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

    /// Writes the communicator of all ranks, which defines the ranks of senders and receivers.
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

/// Writes the definitions that events refer to.
void write_otf2_definitions(const Otf2Archive& archive, const Recording& recording,
                            const std::vector<Otf2Location>& locations) {
    describe(archive, recording);
    Definitions(archive, recording, locations).write();
}

/// The fields of an event that OTF2's records lack, as a list of attributes. Writing a record
/// clears the list.
class Attributes {
  public:
    explicit Attributes(const Otf2Archive& archive)
        : archive_(archive), list_(archive.check(OTF2_AttributeList_New())) {}

    OTF2_AttributeList* of(const Event& event) {
        archive_.check(OTF2_AttributeList_AddInt32(list_.get(), otf2_step, event.step));
        archive_.check(OTF2_AttributeList_AddInt32(list_.get(), otf2_round, event.round));
        archive_.check(OTF2_AttributeList_AddUint64(list_.get(), otf2_elements,
                                                    static_cast<std::uint64_t>(event.elements)));
        return list_.get();
    }

  private:
    struct Delete {
        void operator()(OTF2_AttributeList* list) const { OTF2_AttributeList_Delete(list); }
    };
    const Otf2Archive& archive_;
    std::unique_ptr<OTF2_AttributeList, Delete> list_;
};

/// Messages are written as non-blocking MPI messages, which may overlap other events.
OTF2_ErrorCode write(OTF2_EvtWriter* writer, const Recording& recording, const Otf2Record& record,
                     Attributes& attributes) {
    const Event& event = recording.trace.events[record.event];
    const auto peer = static_cast<std::uint32_t>(event.peer);
    const auto bytes = static_cast<std::uint64_t>(event.elements * recording.element_size);
    OTF2_AttributeList* more = record.begins ? attributes.of(event) : nullptr;
    if (event.activity == Activity::send) {
        return record.begins
                   ? OTF2_EvtWriter_MpiIsend(writer, more, record.time, peer, otf2_world,
                                             record.tag, bytes, record.event)
                   : OTF2_EvtWriter_MpiIsendComplete(writer, more, record.time, record.event);
    }
    if (event.activity == Activity::receive) {
        return record.begins
                   ? OTF2_EvtWriter_MpiIrecvRequest(writer, more, record.time, record.event)
                   : OTF2_EvtWriter_MpiIrecv(writer, more, record.time, peer, otf2_world,
                                             record.tag, bytes, record.event);
    }
    const auto region = static_cast<OTF2_RegionRef>(event.activity);
    return record.begins ? OTF2_EvtWriter_Enter(writer, more, record.time, region)
                         : OTF2_EvtWriter_Leave(writer, more, record.time, region);
}

/// Writes empty local definitions, because readers open a definition file for each location.
void write_local_definitions(const Otf2Archive& archive, std::size_t locations) {
    archive.check(OTF2_Archive_OpenDefFiles(archive.get()));
    for (std::size_t i = 0; i < locations; ++i) {
        OTF2_DefWriter* writer = archive.check(OTF2_Archive_GetDefWriter(archive.get(), i));
        archive.check(OTF2_Archive_CloseDefWriter(archive.get(), writer));
    }
    archive.check(OTF2_Archive_CloseDefFiles(archive.get()));
}

/// Writes the events of all locations.
void write_otf2_events(const Otf2Archive& archive, const Recording& recording,
                       const std::vector<Otf2Location>& locations) {
    Attributes attributes(archive);
    archive.check(OTF2_Archive_OpenEvtFiles(archive.get()));
    for (std::size_t i = 0; i < locations.size(); ++i) {
        OTF2_EvtWriter* writer = archive.check(OTF2_Archive_GetEvtWriter(archive.get(), i));
        for (const Otf2Record& record : locations[i].records)
            archive.check(write(writer, recording, record, attributes));
        archive.check(OTF2_Archive_CloseEvtWriter(archive.get(), writer));
    }
    archive.check(OTF2_Archive_CloseEvtFiles(archive.get()));
    write_local_definitions(archive, locations.size());
}

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
