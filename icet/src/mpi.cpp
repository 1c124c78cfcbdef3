// SPDX-License-Identifier: BSD-3-Clause
// Communicators of IceT over MPI. Contexts use the MPI communicator behind them; the functions are
// for programs that call them.
#include "sextant/comm/mpi.hpp"

#include <memory>
#include <vector>

#include "context.hpp"
#include "table_transport.hpp"
#include <IceTMPI.h>

namespace sextant::icet {

namespace {

MPI_Comm comm_of(IceTCommunicator self) {
    return *static_cast<MPI_Comm*>(self->data);
}

MPI_Datatype type_of(IceTEnum datatype) {
    switch (datatype) {
    case ICET_BOOLEAN:
    case ICET_BYTE:
        return MPI_BYTE;
    case ICET_SHORT:
        return MPI_SHORT;
    case ICET_INT:
        return MPI_INT;
    case ICET_FLOAT:
        return MPI_FLOAT;
    case ICET_DOUBLE:
        return MPI_DOUBLE;
    default:
        report(ICET_INVALID_ENUM, "communicator",
               fmt::format("{:#x} is not a message type", datatype), ICET_DIAG_ERRORS);
        return MPI_BYTE;
    }
}

constexpr IceTEnum magic = 0x4d504953;

IceTCommRequest request_of(MPI_Request request) {
    auto made = std::make_unique<IceTCommRequestStruct>();
    made->magic_number = magic;
    made->internals = new MPI_Request(request);
    return made.release();
}

void free_request(IceTCommRequest* request) {
    delete static_cast<MPI_Request*>((*request)->internals);
    delete *request;
    *request = ICET_COMM_REQUEST_NULL;
}

IceTCommunicator make(MPI_Comm comm);

IceTCommunicator duplicate(IceTCommunicator self) {
    if (!self)
        return ICET_COMM_NULL;
    return icetCreateMPICommunicator(comm_of(self));
}

void destroy(IceTCommunicator self) {
    if (!self)
        return;
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (!finalized)
        MPI_Comm_free(static_cast<MPI_Comm*>(self->data));
    delete static_cast<MPI_Comm*>(self->data);
    delete self;
}

IceTCommunicator subset(IceTCommunicator self, int count, const IceTInt32* ranks) {
    MPI_Group all, part;
    MPI_Comm_group(comm_of(self), &all);
    MPI_Group_incl(all, count, ranks, &part);
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_create(comm_of(self), part, &made);
    MPI_Group_free(&part);
    MPI_Group_free(&all);
    return made == MPI_COMM_NULL ? ICET_COMM_NULL : make(made);
}

IceTCommunicator make(MPI_Comm comm) {
    auto made = std::make_unique<IceTCommunicatorStruct>();
    made->data = new MPI_Comm(comm);
    made->Duplicate = duplicate;
    made->Destroy = destroy;
    made->Subset = subset;
    made->Barrier = [](IceTCommunicator self) { MPI_Barrier(comm_of(self)); };
    made->Send = [](IceTCommunicator self, const void* buf, int count, IceTEnum datatype, int dest,
                    int tag) { MPI_Send(buf, count, type_of(datatype), dest, tag, comm_of(self)); };
    made->Recv = [](IceTCommunicator self, void* buf, int count, IceTEnum datatype, int src,
                    int tag) {
        MPI_Recv(buf, count, type_of(datatype), src, tag, comm_of(self), MPI_STATUS_IGNORE);
    };
    made->Sendrecv = [](IceTCommunicator self, const void* sendbuf, int sendcount,
                        IceTEnum sendtype, int dest, int sendtag, void* recvbuf, int recvcount,
                        IceTEnum recvtype, int src, int recvtag) {
        MPI_Sendrecv(sendbuf, sendcount, type_of(sendtype), dest, sendtag, recvbuf, recvcount,
                     type_of(recvtype), src, recvtag, comm_of(self), MPI_STATUS_IGNORE);
    };
    made->Gather = [](IceTCommunicator self, const void* sendbuf, int sendcount, IceTEnum datatype,
                      void* recvbuf, int root) {
        MPI_Gather(sendbuf, sendcount, type_of(datatype), recvbuf, sendcount, type_of(datatype),
                   root, comm_of(self));
    };
    made->Gatherv = [](IceTCommunicator self, const void* sendbuf, int sendcount, IceTEnum datatype,
                       void* recvbuf, const int* recvcounts, const int* recvoffsets, int root) {
        MPI_Gatherv(sendbuf, sendcount, type_of(datatype), recvbuf, recvcounts, recvoffsets,
                    type_of(datatype), root, comm_of(self));
    };
    made->Allgather = [](IceTCommunicator self, const void* sendbuf, int sendcount,
                         IceTEnum datatype, void* recvbuf) {
        MPI_Allgather(sendbuf, sendcount, type_of(datatype), recvbuf, sendcount, type_of(datatype),
                      comm_of(self));
    };
    made->Alltoall = [](IceTCommunicator self, const void* sendbuf, int sendcount,
                        IceTEnum datatype, void* recvbuf) {
        MPI_Alltoall(sendbuf, sendcount, type_of(datatype), recvbuf, sendcount, type_of(datatype),
                     comm_of(self));
    };
    made->Isend = [](IceTCommunicator self, const void* buf, int count, IceTEnum datatype, int dest,
                     int tag) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Isend(buf, count, type_of(datatype), dest, tag, comm_of(self), &request);
        return request_of(request);
    };
    made->Irecv = [](IceTCommunicator self, void* buf, int count, IceTEnum datatype, int src,
                     int tag) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Irecv(buf, count, type_of(datatype), src, tag, comm_of(self), &request);
        return request_of(request);
    };
    made->Wait = [](IceTCommunicator, IceTCommRequest* request) {
        if (*request == ICET_COMM_REQUEST_NULL)
            return;
        MPI_Wait(static_cast<MPI_Request*>((*request)->internals), MPI_STATUS_IGNORE);
        free_request(request);
    };
    made->Waitany = [](IceTCommunicator, int count, IceTCommRequest* requests) {
        std::vector<MPI_Request> all(static_cast<std::size_t>(count), MPI_REQUEST_NULL);
        for (int i = 0; i < count; ++i) {
            if (requests[i] != ICET_COMM_REQUEST_NULL)
                all[static_cast<std::size_t>(i)] =
                    *static_cast<MPI_Request*>(requests[i]->internals);
        }
        int found = MPI_UNDEFINED;
        MPI_Waitany(count, all.data(), &found, MPI_STATUS_IGNORE);
        if (found == MPI_UNDEFINED)
            return -1;
        free_request(&requests[found]);
        return found;
    };
    made->Comm_size = [](IceTCommunicator self) {
        int size = 0;
        MPI_Comm_size(comm_of(self), &size);
        return size;
    };
    made->Comm_rank = [](IceTCommunicator self) {
        int rank = 0;
        MPI_Comm_rank(comm_of(self), &rank);
        return rank;
    };
    return made.release();
}

} // namespace
} // namespace sextant::icet

using namespace sextant::icet;

extern "C" {

IceTCommunicator icetCreateMPICommunicator(MPI_Comm mpi_comm) {
    if (mpi_comm == MPI_COMM_NULL)
        return ICET_COMM_NULL;
    return guarded(__func__, ICET_COMM_NULL, [&] {
        static const bool registered = [] {
            register_native(&destroy,
                            [](IceTCommunicator self) { return sextant::from_mpi(comm_of(self)); });
            return true;
        }();
        (void)registered;
        MPI_Comm duplicate = MPI_COMM_NULL;
        MPI_Comm_dup(mpi_comm, &duplicate);
        return make(duplicate);
    });
}

void icetDestroyMPICommunicator(IceTCommunicator comm) {
    if (comm)
        comm->Destroy(comm);
}

} // extern "C"
