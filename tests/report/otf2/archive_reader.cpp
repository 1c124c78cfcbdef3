// SPDX-License-Identifier: BSD-3-Clause
#include "tests/report/otf2/archive_reader.hpp"

#include <cstdlib>
#include <stdexcept>

#include <otf2/otf2.h>

namespace sextant::test {

namespace {

void check(OTF2_ErrorCode code) {
    if (code != OTF2_SUCCESS)
        throw std::runtime_error(OTF2_Error_GetDescription(code));
}

/// State shared by the callbacks.
struct Reading {
    Archive archive;
    std::vector<std::string> strings;
    std::map<std::uint32_t, std::string> regions, attributes;
    std::map<std::uint32_t, std::vector<std::uint64_t>> groups;
};

Reading& of(void* user) {
    return *static_cast<Reading*>(user);
}

OTF2_CallbackCode on_clock(void* user, std::uint64_t resolution, std::uint64_t offset,
                           std::uint64_t length, std::uint64_t) {
    Archive& archive = of(user).archive;
    archive.resolution = resolution;
    archive.offset = offset;
    archive.length = length;
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_string(void* user, OTF2_StringRef self, const char* string) {
    auto& strings = of(user).strings;
    if (strings.size() != self)
        return OTF2_CALLBACK_ERROR;
    strings.emplace_back(string);
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_attribute(void* user, OTF2_AttributeRef self, OTF2_StringRef name,
                               OTF2_StringRef, OTF2_Type) {
    of(user).attributes[self] = of(user).strings.at(name);
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_process(void* user, OTF2_LocationGroupRef self, OTF2_StringRef name,
                             OTF2_LocationGroupType, OTF2_SystemTreeNodeRef,
                             OTF2_LocationGroupRef) {
    if (of(user).archive.processes.size() != self)
        return OTF2_CALLBACK_ERROR;
    of(user).archive.processes.push_back(of(user).strings.at(name));
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_location(void* user, OTF2_LocationRef self, OTF2_StringRef name,
                              OTF2_LocationType, std::uint64_t events,
                              OTF2_LocationGroupRef process) {
    Archive& archive = of(user).archive;
    if (archive.locations.size() != self)
        return OTF2_CALLBACK_ERROR;
    archive.locations.push_back(of(user).strings.at(name));
    archive.events_of.push_back(events);
    archive.process_of.push_back(process);
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_region(void* user, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef,
                            OTF2_StringRef, OTF2_RegionRole, OTF2_Paradigm, OTF2_RegionFlag,
                            OTF2_StringRef, std::uint32_t, std::uint32_t) {
    of(user).regions[self] = of(user).strings.at(name);
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_group(void* user, OTF2_GroupRef self, OTF2_StringRef, OTF2_GroupType,
                           OTF2_Paradigm, OTF2_GroupFlag, std::uint32_t count,
                           const std::uint64_t* members) {
    of(user).groups[self].assign(members, members + count);
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_communicator(void* user, OTF2_CommRef, OTF2_StringRef, OTF2_GroupRef group,
                                  OTF2_CommRef, OTF2_CommFlag) {
    of(user).archive.communicator = of(user).groups.at(group);
    return OTF2_CALLBACK_SUCCESS;
}

ArchiveEvent& add(void* user, const char* kind, OTF2_LocationRef location, OTF2_TimeStamp time,
                  const OTF2_AttributeList* list) {
    ArchiveEvent event{.kind = kind, .location = location, .time = time, .region = ""};
    for (const auto& [which, name] : of(user).attributes) {
        const bool there = OTF2_AttributeList_TestAttributeByID(list, which);
        event.described = event.described || there;
        if (there && name == "step")
            check(OTF2_AttributeList_GetInt32(list, which, &event.step));
        if (there && name == "round")
            check(OTF2_AttributeList_GetInt32(list, which, &event.round));
        if (there && name == "elements")
            check(OTF2_AttributeList_GetUint64(list, which, &event.elements));
    }
    return of(user).archive.events.emplace_back(event);
}

OTF2_CallbackCode on_enter(OTF2_LocationRef at, OTF2_TimeStamp time, void* user,
                           OTF2_AttributeList* list, OTF2_RegionRef region) {
    add(user, "enter", at, time, list).region = of(user).regions.at(region);
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_leave(OTF2_LocationRef at, OTF2_TimeStamp time, void* user,
                           OTF2_AttributeList* list, OTF2_RegionRef region) {
    add(user, "leave", at, time, list).region = of(user).regions.at(region);
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_isend(OTF2_LocationRef at, OTF2_TimeStamp time, void* user,
                           OTF2_AttributeList* list, std::uint32_t receiver, OTF2_CommRef,
                           std::uint32_t tag, std::uint64_t length, std::uint64_t request) {
    ArchiveEvent& event = add(user, "isend", at, time, list);
    event.peer = receiver, event.tag = tag, event.length = length, event.request = request;
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_isend_complete(OTF2_LocationRef at, OTF2_TimeStamp time, void* user,
                                    OTF2_AttributeList* list, std::uint64_t request) {
    add(user, "isend_complete", at, time, list).request = request;
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_irecv_request(OTF2_LocationRef at, OTF2_TimeStamp time, void* user,
                                   OTF2_AttributeList* list, std::uint64_t request) {
    add(user, "irecv_request", at, time, list).request = request;
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_irecv(OTF2_LocationRef at, OTF2_TimeStamp time, void* user,
                           OTF2_AttributeList* list, std::uint32_t sender, OTF2_CommRef,
                           std::uint32_t tag, std::uint64_t length, std::uint64_t request) {
    ArchiveEvent& event = add(user, "irecv", at, time, list);
    event.peer = sender, event.tag = tag, event.length = length, event.request = request;
    return OTF2_CALLBACK_SUCCESS;
}

void read_properties(OTF2_Reader* reader, Archive& archive) {
    std::uint32_t count = 0;
    char** names = nullptr;
    check(OTF2_Reader_GetPropertyNames(reader, &count, &names));
    for (std::uint32_t i = 0; i < count; ++i) {
        char* value = nullptr;
        check(OTF2_Reader_GetProperty(reader, names[i], &value));
        archive.properties[names[i]] = value;
        std::free(value);
    }
    std::free(names);
}

void read_definitions(OTF2_Reader* reader, Reading& reading) {
    OTF2_GlobalDefReaderCallbacks* on = OTF2_GlobalDefReaderCallbacks_New();
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(on, on_clock);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(on, on_string);
    OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(on, on_attribute);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(on, on_process);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(on, on_location);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(on, on_region);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(on, on_group);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(on, on_communicator);
    OTF2_GlobalDefReader* definitions = OTF2_Reader_GetGlobalDefReader(reader);
    check(OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, on, &reading));
    OTF2_GlobalDefReaderCallbacks_Delete(on);
    std::uint64_t read = 0;
    check(OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &read));
}

void open_locations(OTF2_Reader* reader, std::size_t locations) {
    for (std::size_t i = 0; i < locations; ++i)
        check(OTF2_Reader_SelectLocation(reader, i));
    check(OTF2_Reader_OpenDefFiles(reader));
    check(OTF2_Reader_OpenEvtFiles(reader));
    for (std::size_t i = 0; i < locations; ++i) {
        OTF2_DefReader* definitions = OTF2_Reader_GetDefReader(reader, i);
        if (!definitions || !OTF2_Reader_GetEvtReader(reader, i))
            throw std::runtime_error("a location has no files");
        std::uint64_t read = 0;
        check(OTF2_Reader_ReadAllLocalDefinitions(reader, definitions, &read));
        check(OTF2_Reader_CloseDefReader(reader, definitions));
    }
    check(OTF2_Reader_CloseDefFiles(reader));
}

void read_events(OTF2_Reader* reader, Reading& reading) {
    open_locations(reader, reading.archive.locations.size());
    OTF2_GlobalEvtReaderCallbacks* on = OTF2_GlobalEvtReaderCallbacks_New();
    OTF2_GlobalEvtReaderCallbacks_SetEnterCallback(on, on_enter);
    OTF2_GlobalEvtReaderCallbacks_SetLeaveCallback(on, on_leave);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIsendCallback(on, on_isend);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIsendCompleteCallback(on, on_isend_complete);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIrecvRequestCallback(on, on_irecv_request);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIrecvCallback(on, on_irecv);
    OTF2_GlobalEvtReader* events = OTF2_Reader_GetGlobalEvtReader(reader);
    check(OTF2_Reader_RegisterGlobalEvtCallbacks(reader, events, on, &reading));
    OTF2_GlobalEvtReaderCallbacks_Delete(on);
    std::uint64_t read = 0;
    check(OTF2_Reader_ReadAllGlobalEvents(reader, events, &read));
    check(OTF2_Reader_CloseGlobalEvtReader(reader, events));
    check(OTF2_Reader_CloseEvtFiles(reader));
}

} // namespace

Archive read_archive(const std::string& folder) {
    OTF2_Reader* reader = OTF2_Reader_Open((folder + "/traces.otf2").c_str());
    if (!reader)
        throw std::runtime_error(folder + ": no archive");
    Reading reading;
    check(OTF2_Reader_SetSerialCollectiveCallbacks(reader));
    read_properties(reader, reading.archive);
    read_definitions(reader, reading);
    if (!reading.archive.locations.empty())
        read_events(reader, reading);
    check(OTF2_Reader_Close(reader));
    return std::move(reading.archive);
}

} // namespace sextant::test
