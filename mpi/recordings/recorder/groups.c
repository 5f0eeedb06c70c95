/* The groups of an emulated program. The real MPI knows this rank alone, so that all groups but MPI_GROUP_EMPTY are made here. */

#include "shared.h"

#define GROUP_SLOTS 256
static struct group *groups[GROUP_SLOTS];
static struct group empty = {.handle = MPI_GROUP_EMPTY};

static size_t slot_of(MPI_Group handle)
{
    return (size_t)((uint64_t)(uintptr_t)handle * 0x9E3779B97F4A7C15u >> 40) % GROUP_SLOTS;
}

const struct group *find_group(MPI_Group handle)
{
    if (handle == MPI_GROUP_EMPTY)
        return &empty;
    lock_tables();
    struct group *group = groups[slot_of(handle)];
    while (group != NULL && group->handle != handle)
        group = group->next;
    unlock_tables();
    return group;
}

int is_group_number(MPI_Group handle)
{
    return handle != MPI_GROUP_EMPTY && find_group(handle) != NULL;
}

MPI_Group make_group(int *ranks, int size, const char *name, void *place)
{
    if (size == 0) {
        free(ranks);
        return MPI_GROUP_EMPTY;
    }
    struct group *made = room(sizeof *made);
    MPI_Group handle = (MPI_Group)new_handle();
    lock_tables();
    *made = (struct group){.next = groups[slot_of(handle)], .handle = handle, .size = size, .ranks = ranks};
    groups[slot_of(handle)] = made;
    unlock_tables();
    note_group(handle, name, place);
    return handle;
}

int *copy_of(const int *array, int count)
{
    int *copy = room(sizeof *copy * (size_t)count);
    if (count > 0)
        memcpy(copy, array, sizeof *copy * (size_t)count);
    return copy;
}

int place_in_group(const struct group *group, int rank)
{
    for (int i = 0; i < group->size; i++)
        if (group->ranks[i] == rank)
            return i;
    return MPI_UNDEFINED;
}

/* Returns for each rank of the world its place in a group, or -1. The caller frees it. */
static int *places_in(const int *ranks, int size)
{
    int *places = room(sizeof *places * (size_t)world_size);
    memset(places, -1, sizeof *places * (size_t)world_size);
    for (int i = 0; i < size; i++)
        places[ranks[i]] = i;
    return places;
}

int compare_groups(const int *one, int one_size, const int *other, int other_size)
{
    if (one_size != other_size)
        return MPI_UNEQUAL;
    if (one_size == 0 || memcmp(one, other, sizeof *one * (size_t)one_size) == 0)
        return MPI_IDENT;
    int *places = places_in(one, one_size), result = MPI_SIMILAR;
    for (int i = 0; i < other_size; i++)
        if (places[other[i]] < 0)
            result = MPI_UNEQUAL;
    free(places);
    return result;
}

int *members_of(const struct communicator *communicator)
{
    if (communicator->members != NULL)
        return copy_of(communicator->members, communicator->size);
    int *ranks = room(sizeof *ranks * (size_t)communicator->size);
    for (int i = 0; i < communicator->size; i++)
        ranks[i] = i;
    return ranks;
}

int *remote_members_of(const struct communicator *communicator)
{
    return copy_of(communicator->remote, communicator->remote_size);
}

static int reject_group(void *place, const char *name)
{
    return reject_at(place, MPI_COMM_WORLD, MPI_ERR_GROUP, "calls %s with what is no group, or one that has been freed", name);
}

/* Begins a call about groups: what is not emulated goes to the MPI. */
#define OF_GROUP(name, handle, arguments)                                                                            \
    if (!is_answered)                                                                                                \
        return REAL(name) arguments;                                                                                 \
    void *place = PLACE;                                                                                             \
    (void)place;                                                                                                     \
    const struct group *first = find_group(handle);                                                                  \
    if (first == NULL)                                                                                               \
        return reject_group(place, "MPI_" #name)

CALL(Group_size, (MPI_Group group, int *size))
{
    OF_GROUP(Group_size, group, (group, size));
    *size = first->size;
    return MPI_SUCCESS;
}

CALL(Group_rank, (MPI_Group group, int *rank))
{
    OF_GROUP(Group_rank, group, (group, rank));
    *rank = place_in_group(first, own_rank);
    return MPI_SUCCESS;
}

/* Looks at ranks of a group, each of which may be named once. */
static int check_ranks(void *place, const char *name, const struct group *group, int count, const int *ranks, int may_be_nobody)
{
    if (count < 0)
        return reject_at(place, MPI_COMM_WORLD, MPI_ERR_ARG, "calls %s for %d ranks; 0 is the least", name, count);
    char *is_named = calloc(1, (size_t)group->size + 1);
    int error = MPI_SUCCESS;
    for (int i = 0; i < count && error == MPI_SUCCESS; i++) {
        if (may_be_nobody && ranks[i] == MPI_PROC_NULL)
            continue;
        if (ranks[i] < 0 || ranks[i] >= group->size)
            error = reject_at(place, MPI_COMM_WORLD, MPI_ERR_RANK, "calls %s with rank %d of a group of %d", name, ranks[i], group->size);
        else if (!may_be_nobody && is_named[ranks[i]]++)
            error = reject_at(place, MPI_COMM_WORLD, MPI_ERR_RANK, "calls %s with rank %d twice; each is to be named once", name, ranks[i]);
    }
    free(is_named);
    return error;
}

CALL(Group_translate_ranks, (MPI_Group group, int count, const int *ranks, MPI_Group into, int *translated))
{
    OF_GROUP(Group_translate_ranks, group, (group, count, ranks, into, translated));
    const struct group *other = find_group(into);
    if (other == NULL)
        return reject_group(place, "MPI_Group_translate_ranks");
    int error = check_ranks(place, "MPI_Group_translate_ranks", first, count, ranks, 1);
    if (error != MPI_SUCCESS)
        return error;
    int *places = places_in(other->ranks, other->size);
    for (int i = 0; i < count; i++) {
        int found = ranks[i] == MPI_PROC_NULL ? -1 : places[first->ranks[ranks[i]]];
        translated[i] = ranks[i] == MPI_PROC_NULL ? MPI_PROC_NULL : found < 0 ? MPI_UNDEFINED : found;
    }
    free(places);
    return MPI_SUCCESS;
}

CALL(Group_compare, (MPI_Group group, MPI_Group with, int *result))
{
    OF_GROUP(Group_compare, group, (group, with, result));
    const struct group *other = find_group(with);
    if (other == NULL)
        return reject_group(place, "MPI_Group_compare");
    *result = compare_groups(first->ranks, first->size, other->ranks, other->size);
    return MPI_SUCCESS;
}

/* Makes a group of those of the first one that are in the other, or are not, and perhaps of those that are in the other alone. */
static MPI_Group combine_groups(const struct group *first, const struct group *other, int is_wanted_in, int is_wanted_out, int has_rest,
                                const char *name, void *place)
{
    int *ranks = room(sizeof *ranks * (size_t)(first->size + other->size)), size = 0;
    int *in_first = places_in(first->ranks, first->size), *in_other = places_in(other->ranks, other->size);
    for (int i = 0; i < first->size; i++)
        if (in_other[first->ranks[i]] >= 0 ? is_wanted_in : is_wanted_out)
            ranks[size++] = first->ranks[i];
    for (int i = 0; i < other->size && has_rest; i++)
        if (in_first[other->ranks[i]] < 0)
            ranks[size++] = other->ranks[i];
    free(in_first);
    free(in_other);
    return make_group(ranks, size, name, place);
}

#define COMBINES(name, is_wanted_in, is_wanted_out, has_rest)                                                        \
    CALL(name, (MPI_Group group, MPI_Group with, MPI_Group *made))                                                   \
    {                                                                                                                \
        OF_GROUP(name, group, (group, with, made));                                                                  \
        const struct group *other = find_group(with);                                                                \
        if (other == NULL)                                                                                           \
            return reject_group(place, "MPI_" #name);                                                                \
        *made = combine_groups(first, other, is_wanted_in, is_wanted_out, has_rest, "MPI_" #name, place);            \
        return MPI_SUCCESS;                                                                                          \
    }

COMBINES(Group_union, 1, 1, 1)
COMBINES(Group_intersection, 1, 0, 0)
COMBINES(Group_difference, 0, 1, 0)

/* Makes a group of these of a group, or of the others. */
static int choose(void *place, const char *name, const struct group *from, int count, const int *chosen, int is_others, MPI_Group *made)
{
    int error = check_ranks(place, name, from, count, chosen, 0);
    if (error != MPI_SUCCESS)
        return error;
    int *ranks = room(sizeof *ranks * (size_t)from->size), size = 0;
    if (is_others) {
        char *is_named = calloc(1, (size_t)from->size + 1);
        for (int i = 0; i < count; i++)
            is_named[chosen[i]] = 1;
        for (int i = 0; i < from->size; i++)
            if (!is_named[i])
                ranks[size++] = from->ranks[i];
        free(is_named);
    } else {
        for (int i = 0; i < count; i++)
            ranks[size++] = from->ranks[chosen[i]];
    }
    *made = make_group(ranks, size, name, place);
    return MPI_SUCCESS;
}

/* The same of ranges of a first rank, a last one, and a step. */
static int choose_ranges(void *place, const char *name, const struct group *from, int count, int ranges[][3], int is_others,
                         MPI_Group *made)
{
    int size = 0, error = MPI_SUCCESS, *chosen = room(sizeof *chosen * ((size_t)from->size + 1));
    for (int i = 0; i < count && error == MPI_SUCCESS; i++) {
        int begin = ranges[i][0], end = ranges[i][1], step = ranges[i][2];
        if (step == 0)
            error = reject_at(place, MPI_COMM_WORLD, MPI_ERR_ARG, "calls %s with a range of step 0", name);
        for (int rank = begin; error == MPI_SUCCESS && (step > 0 ? rank <= end : rank >= end); rank += step) {
            if (size == from->size || rank < 0 || rank >= from->size)
                error = reject_at(place, MPI_COMM_WORLD, MPI_ERR_RANK, "calls %s with a range from %d to %d of a group of %d ranks; each "
                                  "is to be named once", name, begin, end, from->size);
            else
                chosen[size++] = rank;
        }
    }
    if (error == MPI_SUCCESS)
        error = choose(place, name, from, size, chosen, is_others, made);
    free(chosen);
    return error;
}

#define CHOOSES(name, is_others)                                                                                     \
    CALL(name, (MPI_Group group, int count, const int *ranks, MPI_Group *made))                                      \
    {                                                                                                                \
        OF_GROUP(name, group, (group, count, ranks, made));                                                          \
        return choose(place, "MPI_" #name, first, count, ranks, is_others, made);                                    \
    }
#define CHOOSES_RANGES(name, is_others)                                                                              \
    CALL(name, (MPI_Group group, int count, int ranges[][3], MPI_Group *made))                                       \
    {                                                                                                                \
        OF_GROUP(name, group, (group, count, ranges, made));                                                         \
        return choose_ranges(place, "MPI_" #name, first, count, ranges, is_others, made);                            \
    }

CHOOSES(Group_incl, 0)
CHOOSES(Group_excl, 1)
CHOOSES_RANGES(Group_range_incl, 0)
CHOOSES_RANGES(Group_range_excl, 1)

CALL(Group_free, (MPI_Group * group))
{
    OF_GROUP(Group_free, *group, (group));
    if (first != &empty) {
        lock_tables();
        struct group **link = &groups[slot_of(*group)];
        while (*link != first)
            link = &(*link)->next;
        struct group *freed = *link;
        *link = freed->next;
        note_freed_group(*group);
        free_handle((intptr_t)*group);
        unlock_tables();
        free(freed->ranks);
        free(freed);
    }
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}
