/* Of which basic types data are. What counts is their order, wherever they lie in memory. */

struct run {
    uint64_t type, bytes; /* 0: the type is not known */
};

/* Basic types in their order, which repeats until the data end. */
struct signature {
    struct run *runs;
    size_t count;
};

/* No signature has more runs: what is behind them is not known. */
#define MOST_RUNS 512

/* What the command knows by their numbers, which begin with 1; 0 says nothing. */
static struct signature *signatures_named;
static size_t signature_count;

/* Types that match these are the same on all ranks, and their places are. */
static uint64_t basic_type(MPI_Datatype type)
{
    const MPI_Datatype basic[] = {
        MPI_CHAR,      MPI_SIGNED_CHAR,   MPI_UNSIGNED_CHAR, MPI_WCHAR,           MPI_SHORT,          MPI_UNSIGNED_SHORT,
        MPI_INT,       MPI_UNSIGNED,      MPI_LONG,          MPI_UNSIGNED_LONG,   MPI_LONG_LONG_INT,  MPI_UNSIGNED_LONG_LONG,
        MPI_FLOAT,     MPI_DOUBLE,        MPI_LONG_DOUBLE,   MPI_C_BOOL,          MPI_INT8_T,         MPI_INT16_T,
        MPI_INT32_T,   MPI_INT64_T,       MPI_UINT8_T,       MPI_UINT16_T,        MPI_UINT32_T,       MPI_UINT64_T,
        MPI_AINT,      MPI_OFFSET,        MPI_COUNT,         MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX,
        MPI_CHARACTER, MPI_LOGICAL,       MPI_INTEGER,       MPI_REAL,            MPI_DOUBLE_PRECISION, MPI_COMPLEX,
        MPI_DOUBLE_COMPLEX};
    const MPI_Datatype same[][2] = {{MPI_C_COMPLEX, MPI_C_FLOAT_COMPLEX},
                                    {MPI_2INT, MPI_INT},
                                    {MPI_2INTEGER, MPI_INTEGER},
                                    {MPI_2REAL, MPI_REAL},
                                    {MPI_2DOUBLE_PRECISION, MPI_DOUBLE_PRECISION}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        type = type == same[i][0] ? same[i][1] : type;
    for (size_t i = 0; i < sizeof basic / sizeof *basic; i++)
        if (type == basic[i])
            return i + 1;
    return 0;
}

static void add_run(struct signature *to, uint64_t type, uint64_t bytes)
{
    struct run *last = to->count > 0 ? &to->runs[to->count - 1] : NULL;
    if (bytes == 0)
        return;
    if (to->count == MOST_RUNS && last->type != type)
        last->type = 0;
    if (to->count == MOST_RUNS || (last != NULL && last->type == type))
        last->bytes += bytes;
    else
        to->runs[to->count++] = (struct run){type, bytes};
}

/* Adds so many bytes of data with a signature. */
static void add_runs(struct signature *to, const struct signature *of, uint64_t bytes)
{
    if (of->count == 1) {
        add_run(to, of->runs[0].type, bytes);
        return;
    }
    for (size_t i = 0; bytes > 0 && of->count > 0; i = (i + 1) % of->count) {
        uint64_t part = to->count == MOST_RUNS || of->runs[i].bytes > bytes ? bytes : of->runs[i].bytes;
        add_run(to, of->runs[i].type, part);
        bytes -= part;
    }
}

/* True if what is told of a type's contents has to be freed. */
static int is_made(MPI_Datatype type)
{
    int none, combiner;
    PMPI_Type_get_envelope(type, &none, &none, &none, &combiner);
    return combiner != MPI_COMBINER_NAMED && combiner != MPI_COMBINER_F90_REAL && combiner != MPI_COMBINER_F90_COMPLEX &&
           combiner != MPI_COMBINER_F90_INTEGER;
}

static struct signature signature_of_type(MPI_Datatype type);

/* Returns the signature of a type that was made of others. All but a struct are made of one, as often as it goes into theirs. */
static struct signature signature_of_parts(MPI_Datatype type)
{
    struct signature signature = {room(MOST_RUNS * sizeof(struct run)), 0};
    int integers = 0, addresses = 0, count = 0, combiner = 0;
    PMPI_Type_get_envelope(type, &integers, &addresses, &count, &combiner);
    int *numbers = room(sizeof(int) * (size_t)integers);
    MPI_Aint *places = room(sizeof *places * (size_t)addresses);
    MPI_Datatype *types = room(sizeof *types * (size_t)count);
    /* A type with large counts says nothing here. */
    if (count == 0 || ASK(PMPI_Type_get_contents(type, integers, addresses, count, numbers, places, types)) != MPI_SUCCESS) {
        count = 0;
        add_run(&signature, 0, type_bytes(type));
    }
    for (int i = 0; i < count; i++) {
        struct signature part = signature_of_type(types[i]);
        uint64_t bytes = type_bytes(types[i]), times = combiner == MPI_COMBINER_STRUCT ? (uint64_t)numbers[i + 1] : 1;
        if (combiner != MPI_COMBINER_STRUCT)
            for (size_t run = 0; run < part.count; run++)
                add_run(&signature, part.runs[run].type, part.runs[run].bytes);
        else
            add_runs(&signature, &part, times * bytes);
        free(part.runs);
        if (is_made(types[i]))
            PMPI_Type_free(&types[i]);
    }
    free(numbers);
    free(places);
    free(types);
    return signature;
}

static struct signature signature_of_type(MPI_Datatype type)
{
    const MPI_Datatype pairs[][2] = {{MPI_FLOAT_INT, MPI_FLOAT},
                                     {MPI_DOUBLE_INT, MPI_DOUBLE},
                                     {MPI_LONG_INT, MPI_LONG},
                                     {MPI_SHORT_INT, MPI_SHORT},
                                     {MPI_LONG_DOUBLE_INT, MPI_LONG_DOUBLE}};
    if (!is_predefined(type))
        return signature_of_parts(type);
    struct signature signature = {room(2 * sizeof(struct run)), 0};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (type == pairs[i][0]) {
            add_run(&signature, basic_type(pairs[i][1]), type_bytes(pairs[i][1]));
            add_run(&signature, basic_type(MPI_INT), sizeof(int));
        }
    if (signature.count == 0)
        add_run(&signature, basic_type(type), type_bytes(type));
    return signature;
}

/* Returns the number by which the command knows a signature, which it tells the command if it is new. */
static uint64_t name_signature(struct signature signature)
{
    /* One type alone repeats as often as one likes. */
    if (signature.count == 1)
        signature.runs[0].bytes = UINT64_C(1) << 40;
    size_t bytes = signature.count * sizeof *signature.runs;
    int is_known = signature.count > 1 || (signature.count == 1 && signature.runs[0].type != 0);
    for (size_t i = 0; i < signature_count && is_known; i++)
        if (signatures_named[i].count == signature.count && memcmp(signatures_named[i].runs, signature.runs, bytes) == 0) {
            free(signature.runs);
            return i + 1;
        }
    if (!is_known) {
        free(signature.runs);
        return 0;
    }
    reserve(RECORD_BYTES + 20 * signature.count);
    *at++ = CALL_SIGNATURE;
    at = put(at, signature.count);
    for (size_t i = 0; i < signature.count; i++)
        at = put(put(at, signature.runs[i].type), signature.runs[i].bytes);
    if ((signatures_named = realloc(signatures_named, (signature_count + 1) * sizeof *signatures_named)) == NULL)
        abort();
    signatures_named[signature_count] = signature;
    return ++signature_count;
}

/* Returns the number of a type's signature. */
static uint64_t find_signature(MPI_Datatype type)
{
    struct object *object = find_object(OBJECT_DATATYPE, (uintptr_t)type);
    if (type == MPI_DATATYPE_NULL)
        return 0;
    if (object != NULL && object->signature > 0)
        return object->signature - 1;
    uint64_t number = name_signature(signature_of_type(type));
    if (object != NULL)
        object->signature = number + 1;
    return number;
}

/* Returns that of data: 0 if they are of several types. */
static uint64_t signature_of(const struct counts *data)
{
    uint64_t signature = 0;
    int has_one = 0;
    for (int i = 0; i < data->n; i++) {
        if ((data->each ? count_of(data, i) : data->count) > 0) {
            uint64_t own = find_signature(data->types ? data->types[i] : data->type);
            signature = !has_one || own == signature ? own : 0;
            has_one = 1;
        }
        if (data->types == NULL && (has_one || data->each == NULL))
            break;
    }
    return signature;
}
