// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/with_otf2/archive.hpp"

#include <memory>

namespace sextant::report {

namespace {

/// What OTF2's own records do not hold of an event. They are empty again once one was written.
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

/// Messages are those of MPI that are begun and then finished: these may overlap anything.
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

/// Readers open a file of definitions beside each of events; ours refer to none of their own.
void write_local_definitions(const Otf2Archive& archive, std::size_t locations) {
    archive.check(OTF2_Archive_OpenDefFiles(archive.get()));
    for (std::size_t i = 0; i < locations; ++i) {
        OTF2_DefWriter* writer = archive.check(OTF2_Archive_GetDefWriter(archive.get(), i));
        archive.check(OTF2_Archive_CloseDefWriter(archive.get(), writer));
    }
    archive.check(OTF2_Archive_CloseDefFiles(archive.get()));
}

} // namespace

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

} // namespace sextant::report
