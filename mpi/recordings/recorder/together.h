/* Calls that ranks make together, such as those that make communicators: each gives some bytes, and gets those of all. */

struct parts gather_parts(const struct communicator *parent, const int *ranks, int count, const void *own, uint64_t bytes)
{
    if (!has_room_for_communicators())
        refuse("makes more communicators than an emulated program can, which are %zu",
               sizeof all_communicators / sizeof *all_communicators);
    begin_record(RECORD_NEW_COMMUNICATOR, &call, 10 * (size_t)count);
    at = put(at, parent->number);
    *at++ = ranks != NULL;
    if (ranks != NULL)
        at = put_ranks(at, ranks, count);
    return give_part(own, bytes);
}

struct parts give_part(const void *own, uint64_t bytes)
{
    struct parts parts = {.count = 0};
    uint64_t all = 0;
    at = put(at, bytes);
    give_bytes(own, bytes);
    end_record(1);
    parts.count = (int)word();
    parts.bytes = room(sizeof *parts.bytes * (size_t)parts.count);
    parts.data = room(sizeof *parts.data * (size_t)parts.count);
    for (int i = 0; i < parts.count; i++)
        all += parts.bytes[i] = word();
    parts.all = room(all);
    take_bytes(parts.all, all);
    all = 0;
    for (int i = 0; i < parts.count; i++) {
        parts.data[i] = parts.all + all;
        all += parts.bytes[i];
    }
    return parts;
}

void free_parts(struct parts *parts)
{
    free(parts->bytes);
    free(parts->data);
    free(parts->all);
}
