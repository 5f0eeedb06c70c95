/* How the data of an emulated program come to the command and from there, and what a request keeps of them. */

static int is_predefined(MPI_Datatype type)
{
    int integers, addresses, types, combiner;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_INTEGER || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX;
}

/* Types that a call gives once more, but for predefined ones, are the program's to free. */
static void note_contents(const char *name, int count, const MPI_Datatype *types, void *place)
{
    for (int i = 0; i < count; i++)
        if (!is_predefined(types[i]))
            note_made(OBJECT_DATATYPE, (uintptr_t)types[i], name, place)->is_committed = 1;
}

/* True if elements lie in memory as they are sent. */
static int is_plain(MPI_Datatype type)
{
    MPI_Aint low, extent;
    if (type == MPI_BYTE)
        return 1;
    PMPI_Type_get_extent(type, &low, &extent);
    return (uint64_t)extent == type_bytes(type) && is_predefined(type);
}

#if !defined(HAS_LARGE)
/* MPI_Pack counts bytes by an int: a message of the rank to itself need not. */
static void send_to_self(char *place, int count, MPI_Datatype type, unsigned char *packed, uint64_t bytes, int is_unpacked)
{
    int lengths[2] = {(int)(bytes >> 20), (int)(bytes & ((1 << 20) - 1))};
    MPI_Aint places[2] = {0, (MPI_Aint)(bytes >> 20 << 20)};
    MPI_Datatype parts[2] = {MPI_DATATYPE_NULL, MPI_BYTE}, all;
    PMPI_Type_contiguous(1 << 20, MPI_BYTE, &parts[0]);
    PMPI_Type_create_struct(2, lengths, places, parts, &all);
    PMPI_Type_commit(&all);
    if (is_unpacked)
        PMPI_Sendrecv(packed, 1, all, 0, 0, place, count, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    else
        PMPI_Sendrecv(place, count, type, 0, 0, packed, 1, all, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    PMPI_Type_free(&all);
    PMPI_Type_free(&parts[0]);
}
#endif

/* Packs elements, or unpacks them, whose bytes an int need not be able to count. */
static void convert(char *place, int count, MPI_Datatype type, unsigned char *packed, uint64_t bytes, int is_unpacked)
{
#if defined(HAS_LARGE)
    MPI_Count position = 0;
    if (is_unpacked)
        PMPI_Unpack_c(packed, (MPI_Count)bytes, &position, place, count, type, MPI_COMM_SELF);
    else
        PMPI_Pack_c(place, count, type, packed, (MPI_Count)bytes, &position, MPI_COMM_SELF);
#else
    int position = 0;
    if (bytes > INT32_MAX)
        send_to_self(place, count, type, packed, bytes, is_unpacked);
    else if (is_unpacked)
        PMPI_Unpack(packed, (int)bytes, &position, place, count, type, MPI_COMM_SELF);
    else
        PMPI_Pack(place, count, type, packed, (int)bytes, &position, MPI_COMM_SELF);
#endif
}

/* The same. MPICH packs nothing from MPI_BOTTOM: there the type says how far it is from `packed`. */
static void pack_piece(char *place, int count, MPI_Datatype type, unsigned char *packed, uint64_t bytes, int is_unpacked)
{
    MPI_Datatype moved = MPI_DATATYPE_NULL;
    if (place == MPI_BOTTOM) {
        MPI_Aint offset = -(MPI_Aint)packed;
        PMPI_Type_create_hindexed(1, &count, &offset, type, &moved);
        PMPI_Type_commit(&moved);
        place = (char *)packed;
        type = moved;
        count = 1;
    }
    convert(place, count, type, packed, bytes, is_unpacked);
    if (moved != MPI_DATATYPE_NULL)
        PMPI_Type_free(&moved);
}

/* Packs elements of these data from the `first` on, or unpacks them, in pieces whose elements an int can count. */
static void pack(const struct counts *data, uint64_t first, uint64_t count, unsigned char *packed, int is_unpacked)
{
    uint64_t bytes = type_bytes(data->type), most = bytes < 1 << 30 ? (1 << 30) / bytes : 1;
    MPI_Aint low, extent;
    PMPI_Type_get_extent(data->type, &low, &extent);
    while (count > 0) {
        int piece = (int)(count < most ? count : most);
        uint64_t piece_bytes = (uint64_t)piece * bytes;
        pack_piece((char *)data->data + (MPI_Aint)first * extent, piece, data->type, packed, piece_bytes, is_unpacked);
        first += (uint64_t)piece;
        count -= (uint64_t)piece;
        packed += piece_bytes;
    }
}

/* Gives these data to the command. */
static void give(const struct counts *data)
{
    if (data->same == 0)
        return;
    if (is_plain(data->type)) {
        give_bytes(data->data, data->same);
        return;
    }
    unsigned char *packed = room(data->same);
    pack(data, 0, data->count, packed, 0);
    give_bytes(packed, data->same);
    free(packed);
}

/* Takes the next of the answer's data to where these are. */
static void take(const struct counts *data, uint64_t bytes)
{
    if (bytes == 0)
        return;
    if (data->data == MPI_IN_PLACE || is_plain(data->type)) {
        take_bytes(data->data, bytes);
        return;
    }
    uint64_t each = type_bytes(data->type), whole = bytes / each, rest = bytes % each;
    unsigned char *packed = room(bytes + each);
    if (rest > 0) /* What the last element has behind the message stays. */
        pack(data, whole, 1, packed + whole * each, 0);
    take_bytes(packed, bytes);
    pack(data, 0, whole + (rest > 0), packed, 1);
    free(packed);
}

static void give_all(const struct counts *counts)
{
    uint64_t before = 0;
    for (int i = 0; i < counts->n; i++) {
        struct counts part = part_behind(counts, i, before);
        give(&part);
        before += part.count;
    }
}

static struct counts message_of(const void *data, uint64_t count, MPI_Datatype type)
{
    return (struct counts){.same = (int64_t)count < 0 ? 0 : count * type_bytes(type), .n = 1, .data = (void *)data, .type = type, .count = count};
}

/* Copies an array that the program may change while the request lasts. */
static const void *keep_array(const void *array, size_t bytes)
{
    return array == NULL ? NULL : memcpy(room(bytes), array, bytes);
}

/* The program may free the type while the request lasts. */
static MPI_Datatype keep_type(MPI_Datatype type)
{
    MPI_Datatype kept = type;
    if (type != MPI_DATATYPE_NULL && !is_predefined(type)) {
        PMPI_Type_dup(type, &kept);
        note_committed(kept);
    }
    return kept;
}

static void keep_counts(struct counts *counts)
{
    size_t n = (size_t)counts->n;
    counts->each = keep_array(counts->each, n * (counts->is_large ? sizeof(MPI_Count) : sizeof(int)));
    counts->offsets = keep_array(counts->offsets, n * (counts->has_long_offsets ? sizeof(MPI_Aint) : sizeof(int)));
    if (n > 0 && counts->types == NULL)
        counts->type = keep_type(counts->type);
    if (counts->types != NULL) {
        MPI_Datatype *types = room(n * sizeof *types);
        for (size_t i = 0; i < n; i++)
            types[i] = count_of(counts, (int)i) > 0 ? keep_type(counts->types[i]) : MPI_DATATYPE_NULL;
        counts->types = types;
    }
}

static void forget_type(MPI_Datatype type)
{
    if (type != MPI_DATATYPE_NULL && !is_predefined(type))
        PMPI_Type_free(&type);
}

static void forget_counts(struct counts *counts)
{
    for (int i = 0; i < counts->n; i++)
        if (counts->types != NULL)
            forget_type(counts->types[i]);
        else if (i == 0)
            forget_type(counts->type);
    free((void *)counts->each);
    free((void *)counts->offsets);
    free((void *)counts->types);
}

/* Combines elements of `from`, before those of `into`, with these. */
static void combine(char *from, char *into, uint64_t count, MPI_Datatype type, MPI_Op op)
{
    MPI_Aint low, extent;
    PMPI_Type_get_extent(type, &low, &extent);
    while (count > 0) {
        int piece = (int)(count < 1 << 30 ? count : 1 << 30);
        PMPI_Reduce_local(from, into, piece, type, op);
        from += piece * extent;
        into += piece * extent;
        count -= (uint64_t)piece;
    }
}

/* Takes the parts and combines them in their order. Each is combined where it came to, so that what is before it is first: they come
 * by turns to the program's own buffer and to another one, the last one to the program's. */
static void take_combined(const struct collective *collective, uint64_t parts)
{
    struct counts buffers[2] = {collective->received, collective->received};
    MPI_Aint low, extent, true_low, true_extent;
    if (parts == 0 || collective->received.count == 0) {
        for (uint64_t i = 0; i < parts; i++)
            word();
        return;
    }
    PMPI_Type_get_extent(buffers[0].type, &low, &extent);
    PMPI_Type_get_true_extent(buffers[0].type, &true_low, &true_extent);
    char *other = calloc(1, (size_t)true_extent + (size_t)(buffers[0].count - 1) * (size_t)extent);
    if (other == NULL)
        abort();
    buffers[parts % 2].data = other - true_low;
    for (uint64_t i = 0; i < parts; i++) {
        const struct counts *before = &buffers[(i + 1) % 2], *next = &buffers[i % 2];
        if (word() != next->same)
            report("parameter matching", "calls %s with vectors whose lengths differ; those of all ranks have to be the same",
                   collective->name);
        take(next, next->same);
        if (i > 0)
            combine(before->data, next->data, next->count, next->type, collective->op);
    }
    free(other);
}

/* Takes what the answer has for this rank: nothing, parts for the program's buffer, or parts that are combined. */
static void take_collective(const struct collective *collective)
{
    enum { FORM_NOTHING, FORM_PARTS, FORM_COMBINED } form = word();
    uint64_t parts = word(), before = 0;
    if (form == FORM_COMBINED)
        take_combined(collective, parts);
    for (uint64_t i = 0; i < parts && form == FORM_PARTS; i++) {
        uint64_t bytes = word();
        struct counts part = {.same = 0};
        if (i < (uint64_t)collective->received.n)
            part = part_behind(&collective->received, (int)i, before);
        if (bytes > part.same)
            report("parameter matching",
                   "calls %s and gets %llu bytes as part %llu where %llu are received; counts have to be the same at both ends",
                   collective->name, (unsigned long long)bytes, (unsigned long long)i, (unsigned long long)part.same);
        take(&part, bytes);
        before += part.count;
    }
}

/* The request is no more. */
static void drop(MPI_Request *handle)
{
    struct request **link = find_request(*handle);
    free((*link)->partitions);
    if ((*link)->exchange != NULL) {
        forget_counts(&(*link)->exchange->sent);
        forget_counts(&(*link)->exchange->received);
        free((*link)->exchange);
    }
    remove_request(link);
    free_handle((intptr_t)*handle);
    *handle = MPI_REQUEST_NULL;
}
