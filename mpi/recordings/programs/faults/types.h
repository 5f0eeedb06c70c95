/* Programs that send data of one type and receive data of another one: what counts is of which basic types they are, in their order. */

struct pair {
    int number;
    float value;
};

static double doubles[16];
static struct pair pairs[4];

/* Returns a type of two members, which follow each other. */
static MPI_Datatype pair_of(MPI_Datatype first, MPI_Datatype second)
{
    MPI_Datatype type;
    MPI_Aint places[] = {0, offsetof(struct pair, value)};
    MPI_Type_create_struct(2, (int[]){1, 1}, places, (MPI_Datatype[]){first, second}, &type);
    MPI_Type_commit(&type);
    return type;
}

static MPI_Datatype every_other(int count, MPI_Datatype of)
{
    MPI_Datatype type;
    MPI_Type_vector(count, 1, 2, of, &type);
    MPI_Type_commit(&type);
    return type;
}

static MPI_Datatype row_of(int count, MPI_Datatype of)
{
    MPI_Datatype type;
    MPI_Type_contiguous(count, of, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Sends so many of one type, which are received as so many of another one. */
static void pass(void *data, int count, MPI_Datatype type, int received, MPI_Datatype as)
{
    if (rank == 0)
        MPI_Send(data, count, type, 1, 0, WORLD);
    else if (rank == 1)
        MPI_Recv(data, received, as, 0, 0, WORLD, IGNORED); /* HERE */
}

static void free_types(MPI_Datatype one, MPI_Datatype other)
{
    MPI_Type_free(&one);
    MPI_Type_free(&other);
}

static void struct_as_numbers(void)
{
    MPI_Datatype pair = pair_of(MPI_INT, MPI_FLOAT), row = row_of(4, MPI_INT);
    pass(pairs, 2, pair, 1, row);
    free_types(pair, row);
}

static void other_struct(void)
{
    MPI_Datatype pair = pair_of(MPI_INT, MPI_FLOAT), swapped = pair_of(MPI_FLOAT, MPI_INT);
    pass(pairs, 2, pair, 4, swapped);
    free_types(pair, swapped);
}

static void vector_as_floats(void)
{
    MPI_Datatype vector = every_other(4, MPI_DOUBLE), row = row_of(8, MPI_FLOAT);
    pass(doubles, 1, vector, 1, row);
    free_types(vector, row);
}

static void other_struct_for_all(void)
{
    MPI_Datatype pair = rank == 0 ? pair_of(MPI_INT, MPI_FLOAT) : pair_of(MPI_FLOAT, MPI_INT);
    MPI_Bcast(pairs, 2, pair, 0, WORLD); /* HERE */
    MPI_Type_free(&pair);
}

/* Writes to bytes of a struct while they are sent. */
static void write_while_sent(size_t from, size_t bytes)
{
    struct {
        char letter;
        double value;
    } padded = {'a', 1};
    MPI_Datatype type;
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, offsetof(__typeof__(padded), value)},
                           (MPI_Datatype[]){MPI_CHAR, MPI_DOUBLE}, &type);
    MPI_Type_commit(&type);
    if (rank == 0)
        MPI_Isend(&padded, 1, type, 1, 0, WORLD, &request);
    else
        MPI_Irecv(&padded, 1, type, 0, 0, WORLD, &request);
    if (rank == 0)
        memset((char *)&padded + from, 7, bytes);
    MPI_Wait(&request, IGNORED);
    MPI_Type_free(&type);
}

/* Right: nobody sends what lies between the members. */
static void padding_written(void)
{
    write_while_sent(1, 7);
}

static void member_written(void)
{
    write_while_sent(8, 1);
}

/* Right: types of Fortran's kinds are never freed, and consist of no other ones. */
static void types_of_kinds(void)
{
    MPI_Datatype real, row, contents[1] = {MPI_DATATYPE_NULL};
    int integers[2];
    MPI_Aint none[1];
    MPI_Type_create_f90_real(6, 30, &real);
    MPI_Type_get_contents(real, 2, 0, 1, integers, none, contents);
    row = row_of(2, real);
    MPI_Type_get_contents(row, 1, 0, 1, integers, none, contents);
    pass(doubles, 1, row, 2, real);
    MPI_Type_free(&row);
}

/* Right: the same basic types in the same order. */
static void same_signatures(void)
{
    MPI_Datatype vector = every_other(4, MPI_DOUBLE), row = row_of(4, MPI_DOUBLE), pair = pair_of(MPI_INT, MPI_FLOAT);
    MPI_Datatype two = row_of(2, pair), value = pair_of(MPI_FLOAT, MPI_INT), bytes = row_of(8, MPI_BYTE), all;
    pass(doubles, 1, vector, 1, row);
    pass(doubles, 1, vector, 3, row);
    pass(doubles, 1, row, 5, MPI_DOUBLE);
    pass(doubles, 3, MPI_DOUBLE, 1, vector);
    pass(pairs, 4, pair, 2, two);
    pass(pairs, 1, two, 4, pair);
    pass(pairs, 1, MPI_INT, 2, pair);
    pass(pairs, 1, MPI_FLOAT_INT, 1, value);
    pass(pairs, 1, bytes, 8, MPI_BYTE);
    MPI_Type_indexed(2, (int[]){1, 2}, (int[]){0, 2}, pair, &all);
    MPI_Type_commit(&all);
    pass(pairs, 1, all, 3, pair);
    char packed[64];
    int position = 0;
    MPI_Pack(pairs, 1, pair, packed, sizeof packed, &position, WORLD);
    pass(packed, position, MPI_PACKED, 1, pair);
    MPI_Bcast(doubles, rank == 0 ? 1 : 4, rank == 0 ? vector : MPI_DOUBLE, 0, WORLD);
    MPI_Bcast(pairs, rank == 0 ? 4 : 2, rank == 0 ? pair : two, 0, WORLD);
    free_types(vector, row);
    free_types(pair, two);
    free_types(value, bytes);
    MPI_Type_free(&all);
}
