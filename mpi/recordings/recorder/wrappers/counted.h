/* Messages, with counts of the type COUNT; included once for each type. */

#define OUT message_of(data, (uint64_t)count, type)
#define EMULATE_SEND(name, mode, request, is_persistent)                                                             \
    emulate_send(mode, "MPI_" #name, OUT, to, tag, comm, request, is_persistent)

#define SEND(name, mode)                                                                                             \
    CALL(NAME(name), (const void *data, COUNT count, MPI_Datatype type, int to, int tag, MPI_Comm comm))             \
    {                                                                                                                \
        BEGIN(REAL(NAME(name))(data, count, type, to, tag, comm), EMULATE_SEND(name, mode, NULL, 0));                \
        if (error == MPI_SUCCESS)                                                                                    \
            record_send(&span, mode, "MPI_" #name, (uint64_t)count * type_bytes(type), to, tag, comm, NULL, 0);      \
        return error;                                                                                                \
    }

#define SEND_REQUEST(name, mode, is_persistent)                                                                      \
    CALL(NAME(name), (const void *data, COUNT count, MPI_Datatype type, int to, int tag, MPI_Comm comm,              \
                      MPI_Request *request))                                                                         \
    {                                                                                                                \
        BEGIN(REAL(NAME(name))(data, count, type, to, tag, comm, request),                                           \
              EMULATE_SEND(name, mode, given("MPI_" #name, request), is_persistent));                                \
        if (error == MPI_SUCCESS)                                                                                    \
            record_send(&span, mode, "MPI_" #name, (uint64_t)count * type_bytes(type), to, tag, comm, request,       \
                        is_persistent);                                                                              \
        return error;                                                                                                \
    }

SEND(Send, SEND_STANDARD)
SEND(Bsend, SEND_BUFFERED)
SEND(Ssend, SEND_SYNCHRONOUS)
SEND(Rsend, SEND_READY)
SEND_REQUEST(Isend, SEND_STANDARD, 0)
SEND_REQUEST(Ibsend, SEND_BUFFERED, 0)
SEND_REQUEST(Issend, SEND_SYNCHRONOUS, 0)
SEND_REQUEST(Irsend, SEND_READY, 0)
SEND_REQUEST(Send_init, SEND_STANDARD, 1)
SEND_REQUEST(Bsend_init, SEND_BUFFERED, 1)
SEND_REQUEST(Ssend_init, SEND_SYNCHRONOUS, 1)
SEND_REQUEST(Rsend_init, SEND_READY, 1)
#undef SEND
#undef SEND_REQUEST

CALL(NAME(Recv), (void *data, COUNT count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status))
{
    MPI_Status own;
    status = status == MPI_STATUS_IGNORE ? &own : status;
    BEGIN(REAL(NAME(Recv))(data, count, type, from, tag, comm, status),
          emulate_receive("MPI_Recv", OUT, from, tag, comm, status, NULL, 0));
    if (error == MPI_SUCCESS)
        record_receive(&span, "MPI_Recv", (uint64_t)count * type_bytes(type), from, tag, comm, status, NULL, 0);
    return error;
}

#define RECEIVE_REQUEST(name, is_persistent)                                                                         \
    CALL(NAME(name), (void *data, COUNT count, MPI_Datatype type, int from, int tag, MPI_Comm comm,                  \
                      MPI_Request *request))                                                                         \
    {                                                                                                                \
        BEGIN(REAL(NAME(name))(data, count, type, from, tag, comm, request),                                         \
              emulate_receive("MPI_" #name, OUT, from, tag, comm, NULL, given("MPI_" #name, request), is_persistent)); \
        if (error == MPI_SUCCESS)                                                                                    \
            record_receive(&span, "MPI_" #name, (uint64_t)count * type_bytes(type), from, tag, comm, NULL, request,  \
                           is_persistent);                                                                           \
        return error;                                                                                                \
    }

RECEIVE_REQUEST(Irecv, 0)
RECEIVE_REQUEST(Recv_init, 1)
#undef RECEIVE_REQUEST

CALL(NAME(Mrecv), (void *data, COUNT count, MPI_Datatype type, MPI_Message *message, MPI_Status *status))
{
    MPI_Status own;
    MPI_Message before = *message;
    status = status == MPI_STATUS_IGNORE ? &own : status;
    BEGIN(REAL(NAME(Mrecv))(data, count, type, message, status), emulate_matched(OUT, message, status, NULL));
    struct matched found = take_matched(before);
    if (error == MPI_SUCCESS && found.communicator != NULL) {
        begin_record(RECORD_RECV, &span, 0);
        at = put_receive(at, found.communicator, found.from, found.tag, (uint64_t)count * type_bytes(type));
        at = put_taken(at, found.communicator, status);
    }
    return error;
}

CALL(NAME(Imrecv), (void *data, COUNT count, MPI_Datatype type, MPI_Message *message, MPI_Request *request))
{
    MPI_Message before = *message;
    BEGIN(REAL(NAME(Imrecv))(data, count, type, message, request), emulate_matched(OUT, message, NULL, given("MPI_Imrecv", request)));
    struct matched found = take_matched(before);
    if (error == MPI_SUCCESS && found.communicator != NULL) {
        begin_record(RECORD_RECV + 1, &span, 0);
        at = put_receive(at, found.communicator, found.from, found.tag, (uint64_t)count * type_bytes(type));
        add_request(*request, REQUEST_RECV, found.communicator);
    } else if (error == MPI_SUCCESS) {
        add_nothing(*request);
    }
    return error;
}

CALL(NAME(Sendrecv), (const void *data, COUNT count, MPI_Datatype type, int to, int send_tag, void *into, COUNT most,
                      MPI_Datatype into_type, int from, int tag, MPI_Comm comm, MPI_Status *status))
{
    MPI_Status own;
    status = status == MPI_STATUS_IGNORE ? &own : status;
    BEGIN(REAL(NAME(Sendrecv))(data, count, type, to, send_tag, into, most, into_type, from, tag, comm, status),
          emulate_exchange("MPI_Sendrecv", OUT, to, send_tag, message_of(into, (uint64_t)most, into_type), from, tag, comm, status,
                           NULL));
    if (error == MPI_SUCCESS)
        record_exchange(&span, "MPI_Sendrecv", (uint64_t)count * type_bytes(type), to, send_tag,
                        (uint64_t)most * type_bytes(into_type), from, tag, comm, status, NULL);
    return error;
}

CALL(NAME(Sendrecv_replace), (void *data, COUNT count, MPI_Datatype type, int to, int send_tag, int from, int tag,
                              MPI_Comm comm, MPI_Status *status))
{
    MPI_Status own;
    status = status == MPI_STATUS_IGNORE ? &own : status;
    BEGIN(REAL(NAME(Sendrecv_replace))(data, count, type, to, send_tag, from, tag, comm, status),
          emulate_exchange("MPI_Sendrecv_replace", OUT, to, send_tag, OUT, from, tag, comm, status, NULL));
    if (error == MPI_SUCCESS) {
        uint64_t bytes = (uint64_t)count * type_bytes(type);
        record_exchange(&span, "MPI_Sendrecv_replace", bytes, to, send_tag, bytes, from, tag, comm, status, NULL);
    }
    return error;
}

#if defined(HAS_FOUR)
CALL(NAME(Isendrecv), (const void *data, COUNT count, MPI_Datatype type, int to, int send_tag, void *into, COUNT most,
                       MPI_Datatype into_type, int from, int tag, MPI_Comm comm, MPI_Request *request))
{
    BEGIN(REAL(NAME(Isendrecv))(data, count, type, to, send_tag, into, most, into_type, from, tag, comm, request),
          emulate_exchange("MPI_Isendrecv", OUT, to, send_tag, message_of(into, (uint64_t)most, into_type), from, tag, comm, NULL,
                           request));
    if (error == MPI_SUCCESS)
        record_exchange(&span, "MPI_Isendrecv", (uint64_t)count * type_bytes(type), to, send_tag,
                        (uint64_t)most * type_bytes(into_type), from, tag, comm, NULL, request);
    return error;
}

CALL(NAME(Isendrecv_replace), (void *data, COUNT count, MPI_Datatype type, int to, int send_tag, int from, int tag,
                               MPI_Comm comm, MPI_Request *request))
{
    BEGIN(REAL(NAME(Isendrecv_replace))(data, count, type, to, send_tag, from, tag, comm, request),
          emulate_exchange("MPI_Isendrecv_replace", OUT, to, send_tag, OUT, from, tag, comm, NULL, request));
    if (error == MPI_SUCCESS) {
        uint64_t bytes = (uint64_t)count * type_bytes(type);
        record_exchange(&span, "MPI_Isendrecv_replace", bytes, to, send_tag, bytes, from, tag, comm, NULL, request);
    }
    return error;
}
#endif
#undef OUT
#undef EMULATE_SEND
