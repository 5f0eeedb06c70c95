/* The topologies of an emulated program's communicators: who is whose neighbour, and the calls that ask. */

#include "shared.h"

static struct topology *new_topology(int kind)
{
    struct topology *made = room(sizeof *made);
    *made = (struct topology){.kind = kind};
    return made;
}

struct topology *copy_topology(const struct topology *of)
{
    if (of == NULL)
        return NULL;
    struct topology *copy = new_topology(of->kind);
    *copy = *of; /* Nothing of it changes, and it stays as long as the program. */
    return copy;
}

struct topology *cart_of(int dimensions, const int *sizes, const int *periods, int *nodes)
{
    struct topology *cart = new_topology(MPI_CART);
    cart->count = dimensions;
    cart->sizes = copy_of(sizes, dimensions);
    cart->periods = copy_of(periods, dimensions);
    *nodes = 1;
    for (int i = 0; i < dimensions; i++) {
        *nodes *= sizes[i];
        cart->periods[i] = periods[i] != 0;
    }
    return cart;
}

struct topology *graph_of(int nodes, const int *index, const int *edges)
{
    struct topology *graph = new_topology(MPI_GRAPH);
    graph->count = nodes;
    graph->sizes = copy_of(index, nodes);
    graph->edges = copy_of(edges, nodes > 0 ? index[nodes - 1] : 0);
    return graph;
}

static int is_weighted(const int *weights)
{
    return weights != MPI_UNWEIGHTED;
}

static int *copy_weights(const int *weights, int count)
{
    return is_weighted(weights) && weights != MPI_WEIGHTS_EMPTY ? copy_of(weights, count) : NULL;
}

struct topology *adjacent_of(int in, const int *sources, const int *source_weights, int out, const int *destinations, const int *weights)
{
    struct topology *graph = new_topology(MPI_DIST_GRAPH);
    graph->in = in;
    graph->out = out;
    graph->sources = copy_of(sources, in);
    graph->destinations = copy_of(destinations, out);
    graph->is_weighted = is_weighted(source_weights) && is_weighted(weights);
    if (graph->is_weighted) {
        graph->source_weights = copy_weights(source_weights, in);
        graph->weights = copy_weights(weights, out);
    }
    return graph;
}

void cart_coordinates(const struct topology *cart, int rank, int *coordinates)
{
    for (int i = cart->count - 1; i >= 0; i--) {
        coordinates[i] = rank % cart->sizes[i];
        rank /= cart->sizes[i];
    }
}

/* Returns a node's rank; where it is outside, that beyond the other end if the dimension is periodic, else MPI_PROC_NULL. */
static int cart_rank(const struct topology *cart, const int *coordinates)
{
    int rank = 0;
    for (int i = 0; i < cart->count; i++) {
        int at = coordinates[i], size = cart->sizes[i];
        if ((at < 0 || at >= size) && !cart->periods[i])
            return MPI_PROC_NULL;
        rank = rank * size + (at % size + size) % size;
    }
    return rank;
}

/* Returns the rank that is so far away in a direction. */
static int cart_neighbour(const struct topology *cart, int rank, int direction, int64_t distance)
{
    int *coordinates = room(sizeof *coordinates * (size_t)cart->count), size = cart->sizes[direction];
    cart_coordinates(cart, rank, coordinates);
    int64_t at = coordinates[direction] + distance;
    coordinates[direction] = (int)(cart->periods[direction] ? (at % size + size) % size : at < 0 ? -1 : at >= size ? size : at);
    int found = cart_rank(cart, coordinates);
    free(coordinates);
    return found;
}

static const int *graph_neighbours(const struct topology *graph, int rank, int *count)
{
    int begin = rank > 0 ? graph->sizes[rank - 1] : 0;
    *count = graph->sizes[rank] - begin;
    return graph->edges + begin;
}

void neighbours_of(struct communicator *of, int **sources, int **destinations)
{
    const struct topology *topology = of->topology;
    *sources = *destinations = NULL;
    if (topology == NULL)
        return;
    if (topology->kind == MPI_CART) {
        of->in_degree = of->out_degree = 2 * topology->count;
        *sources = room(sizeof **sources * (size_t)of->in_degree);
        for (int i = 0; i < of->in_degree; i++)
            (*sources)[i] = cart_neighbour(topology, of->rank, i / 2, i % 2 ? 1 : -1);
    } else if (topology->kind == MPI_GRAPH) {
        const int *edges = graph_neighbours(topology, of->rank, &of->in_degree);
        of->out_degree = of->in_degree;
        *sources = copy_of(edges, of->in_degree);
    } else {
        of->in_degree = topology->in;
        of->out_degree = topology->out;
        *sources = copy_of(topology->sources, topology->in);
    }
    *destinations = topology->kind == MPI_DIST_GRAPH ? copy_of(topology->destinations, topology->out) : copy_of(*sources, of->in_degree);
}

/* Begins a call that asks for a topology. */
#define OF_TOPOLOGY(name, wanted, maker, arguments)                                                                  \
    const struct communicator *with = is_answered ? find_communicator(comm) : NULL;                                  \
    if (with == NULL)                                                                                                \
        return REAL(name) arguments;                                                                                 \
    const struct topology *topology = with->topology;                                                                \
    void *place = PLACE;                                                                                             \
    (void)place;                                                                                                     \
    if (topology == NULL || topology->kind != wanted)                                                                \
    return reject_at(place, comm, MPI_ERR_TOPOLOGY, "calls MPI_" #name " with a communicator that " maker " has not made")

CALL(Topo_test, (MPI_Comm comm, int *kind))
{
    const struct communicator *with = is_answered ? find_communicator(comm) : NULL;
    if (with == NULL)
        return REAL(Topo_test)(comm, kind);
    *kind = with->topology ? with->topology->kind : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

CALL(Cartdim_get, (MPI_Comm comm, int *dimensions))
{
    OF_TOPOLOGY(Cartdim_get, MPI_CART, "MPI_Cart_create", (comm, dimensions));
    *dimensions = topology->count;
    return MPI_SUCCESS;
}

static int check_room(void *place, MPI_Comm comm, const char *name, int most, int needed)
{
    if (most >= needed)
        return MPI_SUCCESS;
    return reject_at(place, comm, MPI_ERR_ARG, "calls %s with room for %d numbers, and there are %d", name, most, needed);
}

CALL(Cart_get, (MPI_Comm comm, int most, int *sizes, int *periods, int *coordinates))
{
    OF_TOPOLOGY(Cart_get, MPI_CART, "MPI_Cart_create", (comm, most, sizes, periods, coordinates));
    int error = check_room(place, comm, "MPI_Cart_get", most, topology->count);
    if (error != MPI_SUCCESS)
        return error;
    for (int i = 0; i < topology->count; i++) {
        sizes[i] = topology->sizes[i];
        periods[i] = topology->periods[i];
    }
    cart_coordinates(topology, with->rank, coordinates);
    return MPI_SUCCESS;
}

CALL(Cart_coords, (MPI_Comm comm, int rank, int most, int *coordinates))
{
    OF_TOPOLOGY(Cart_coords, MPI_CART, "MPI_Cart_create", (comm, rank, most, coordinates));
    int error = check_room(place, comm, "MPI_Cart_coords", most, topology->count);
    if (error != MPI_SUCCESS)
        return error;
    if (rank < 0 || rank >= with->size)
        return reject_at(place, comm, MPI_ERR_RANK, "calls MPI_Cart_coords with rank %d of a communicator of %d ranks", rank, with->size);
    cart_coordinates(topology, rank, coordinates);
    return MPI_SUCCESS;
}

CALL(Cart_rank, (MPI_Comm comm, const int *coordinates, int *rank))
{
    OF_TOPOLOGY(Cart_rank, MPI_CART, "MPI_Cart_create", (comm, coordinates, rank));
    int found = cart_rank(topology, coordinates);
    if (found == MPI_PROC_NULL)
        return reject_at(place, comm, MPI_ERR_ARG, "calls MPI_Cart_rank with coordinates outside of a dimension that is not periodic");
    *rank = found;
    return MPI_SUCCESS;
}

CALL(Cart_shift, (MPI_Comm comm, int direction, int distance, int *source, int *destination))
{
    OF_TOPOLOGY(Cart_shift, MPI_CART, "MPI_Cart_create", (comm, direction, distance, source, destination));
    if (direction < 0 || direction >= topology->count)
        return reject_at(place, comm, MPI_ERR_ARG, "calls MPI_Cart_shift in dimension %d of %d", direction, topology->count);
    *source = cart_neighbour(topology, with->rank, direction, -(int64_t)distance);
    *destination = cart_neighbour(topology, with->rank, direction, distance);
    return MPI_SUCCESS;
}

CALL(Graphdims_get, (MPI_Comm comm, int *nodes, int *edges))
{
    OF_TOPOLOGY(Graphdims_get, MPI_GRAPH, "MPI_Graph_create", (comm, nodes, edges));
    *nodes = topology->count;
    *edges = topology->count > 0 ? topology->sizes[topology->count - 1] : 0;
    return MPI_SUCCESS;
}

CALL(Graph_get, (MPI_Comm comm, int most_nodes, int most_edges, int *index, int *edges))
{
    OF_TOPOLOGY(Graph_get, MPI_GRAPH, "MPI_Graph_create", (comm, most_nodes, most_edges, index, edges));
    int number = topology->count > 0 ? topology->sizes[topology->count - 1] : 0;
    int error = check_room(place, comm, "MPI_Graph_get", most_nodes, topology->count);
    error = error != MPI_SUCCESS ? error : check_room(place, comm, "MPI_Graph_get", most_edges, number);
    if (error != MPI_SUCCESS)
        return error;
    memcpy(index, topology->sizes, sizeof *index * (size_t)topology->count);
    memcpy(edges, topology->edges, sizeof *edges * (size_t)number);
    return MPI_SUCCESS;
}

static int check_node(void *place, MPI_Comm comm, const char *name, const struct topology *graph, int rank)
{
    if (rank >= 0 && rank < graph->count)
        return MPI_SUCCESS;
    return reject_at(place, comm, MPI_ERR_RANK, "calls %s with rank %d of a graph of %d nodes", name, rank, graph->count);
}

CALL(Graph_neighbors_count, (MPI_Comm comm, int rank, int *count))
{
    OF_TOPOLOGY(Graph_neighbors_count, MPI_GRAPH, "MPI_Graph_create", (comm, rank, count));
    int error = check_node(place, comm, "MPI_Graph_neighbors_count", topology, rank);
    if (error == MPI_SUCCESS)
        graph_neighbours(topology, rank, count);
    return error;
}

CALL(Graph_neighbors, (MPI_Comm comm, int rank, int most, int *neighbours))
{
    OF_TOPOLOGY(Graph_neighbors, MPI_GRAPH, "MPI_Graph_create", (comm, rank, most, neighbours));
    int count, error = check_node(place, comm, "MPI_Graph_neighbors", topology, rank);
    if (error != MPI_SUCCESS)
        return error;
    const int *edges = graph_neighbours(topology, rank, &count);
    error = check_room(place, comm, "MPI_Graph_neighbors", most, count);
    if (error == MPI_SUCCESS)
        memcpy(neighbours, edges, sizeof *neighbours * (size_t)count);
    return error;
}

CALL(Dist_graph_neighbors_count, (MPI_Comm comm, int *in, int *out, int *weighted))
{
    OF_TOPOLOGY(Dist_graph_neighbors_count, MPI_DIST_GRAPH, "MPI_Dist_graph_create", (comm, in, out, weighted));
    *in = topology->in;
    *out = topology->out;
    *weighted = topology->is_weighted;
    return MPI_SUCCESS;
}

static void give_neighbours(const struct topology *graph, int most, int count, const int *ranks, const int *weights, int *to,
                            int *weights_to)
{
    count = count < most ? count : most;
    for (int i = 0; i < count; i++)
        to[i] = ranks[i];
    for (int i = 0; i < count && graph->is_weighted && weights != NULL && is_weighted(weights_to); i++)
        weights_to[i] = weights[i];
}

CALL(Dist_graph_neighbors, (MPI_Comm comm, int in, int *sources, int *source_weights, int out, int *destinations, int *weights))
{
    OF_TOPOLOGY(Dist_graph_neighbors, MPI_DIST_GRAPH, "MPI_Dist_graph_create",
                (comm, in, sources, source_weights, out, destinations, weights));
    give_neighbours(topology, in, topology->in, topology->sources, topology->source_weights, sources, source_weights);
    give_neighbours(topology, out, topology->out, topology->destinations, topology->weights, destinations, weights);
    return MPI_SUCCESS;
}

/* Where the ranks of a communicator would lie: as they do. */
static int map_rank(const struct communicator *with, int nodes, int *rank)
{
    *rank = with->rank < nodes ? with->rank : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

CALL(Cart_map, (MPI_Comm comm, int dimensions, const int *sizes, const int *periods, int *rank))
{
    const struct communicator *with = is_answered ? find_communicator(comm) : NULL;
    int nodes = 1;
    if (with == NULL)
        return REAL(Cart_map)(comm, dimensions, sizes, periods, rank);
    for (int i = 0; i < dimensions; i++)
        nodes *= sizes[i];
    if (nodes > with->size)
        return reject_at(PLACE, comm, MPI_ERR_DIMS, "calls MPI_Cart_map for %d nodes in a communicator of %d ranks", nodes, with->size);
    return map_rank(with, nodes, rank);
}

CALL(Graph_map, (MPI_Comm comm, int nodes, const int *index, const int *edges, int *rank))
{
    const struct communicator *with = is_answered ? find_communicator(comm) : NULL;
    if (with == NULL)
        return REAL(Graph_map)(comm, nodes, index, edges, rank);
    if (nodes < 1 || nodes > with->size)
        return reject_at(PLACE, comm, MPI_ERR_ARG, "calls MPI_Graph_map for %d nodes in a communicator of %d ranks", nodes, with->size);
    return map_rank(with, nodes, rank);
}
