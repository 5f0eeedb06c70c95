/* The processes of an emulated program. Each is alone for its MPI: what a launcher says of the others is for this library.
 *
 * Where LOGGP_FORKS names a file, there is no launcher: one process runs to the end of MPI_Init, and stays there as the keeper. Whenever
 * the command asks for it, it forks all ranks, which go on from there, and says when all of them have ended. */

#include "shared.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <dirent.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* What the command and the keeper tell each other. */
struct nursery {
    char magic[8];
    uint32_t version;
    int32_t command;
    uint32_t turn;  /* 0: the keeper's, 1: the command's; who waits does so on this word (futex) */
    uint32_t state; /* what the keeper says */
    uint32_t ranks;
    uint32_t status; /* of the first rank that did not end with 0 */
    uint32_t is_over; /* the keeper is to end */
    int32_t keeper;
    unsigned char unused[64 - 40];
    char why[2048 - 64], path[2048];
};
_Static_assert(sizeof(struct nursery) == 4096 && offsetof(struct nursery, path) == 2048, "the file is as the command has it");

#define NURSERY_VERSION 1
enum { KEEPER_READY = 1, KEEPER_CANNOT = 2 };

int is_fork;
static struct nursery *nursery;
static pid_t *ranks;
static volatile sig_atomic_t rank_count, ended_by;

/* What launchers tell their processes of others, by the begin of a variable's name. */
static const char *const launchers[] = {"PMI_",           "PMI2_",           "PMIX_",           "OMPI_MCA_ess", "OMPI_MCA_orte_",
                                        "OMPI_MCA_pmix",  "OMPI_MCA_plm",    "OMPI_MCA_grpcomm", "PRTE_",       "PRRTE_",
                                        "OMPI_MCA_state", "OMPI_MCA_errmgr", "OMPI_MCA_routed", "MPI_LOCAL"};
/* What MPIs are told instead: nothing is sent, so that the least of ways will do. */
static const char *const settings[][2] = {{"OMPI_MCA_ess_singleton_isolated", "1"},
                                          {"OMPI_MCA_btl", "self"},
                                          {"OMPI_MCA_pml", "ob1"},
                                          {"UCX_TLS", "self"}};
#define SETTINGS (sizeof settings / sizeof *settings)
static char **hidden, *before[SETTINGS];
static int hidden_count, is_alone;

static int number_in(const char *name, int *number)
{
    const char *value = getenv(name);
    if (value == NULL || *value == 0)
        return 0;
    *number = atoi(value);
    return 1;
}

/* Learns from the launcher which rank this is, and of how many. */
static int ask_launcher(int *rank, int *size)
{
    int is_slurm = getenv("PMIX_NAMESPACE") != NULL || getenv("PMI_FD") != NULL || getenv("PMI_JOBID") != NULL;
    return (number_in("OMPI_COMM_WORLD_RANK", rank) && number_in("OMPI_COMM_WORLD_SIZE", size)) ||
           (number_in("PMI_RANK", rank) && number_in("PMI_SIZE", size)) ||
           (is_slurm && number_in("SLURM_PROCID", rank) &&
            (number_in("SLURM_STEP_NUM_TASKS", size) || number_in("SLURM_NTASKS", size)));
}

static int is_of_launcher(const char *variable)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (strncmp(variable, launchers[i], strlen(launchers[i])) == 0)
            return 1;
    return 0;
}

/* Returns the number of threads of this process. */
static int count_threads(void)
{
    DIR *folder = opendir("/proc/self/task");
    int count = 0;
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    if (folder != NULL)
        closedir(folder);
    return count;
}

static void wake(uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static int is_command_there(void)
{
    return kill(nursery->command, 0) == 0 || errno != ESRCH;
}

static void tell_command(uint32_t state)
{
    nursery->state = state;
    __atomic_store_n(&nursery->turn, 1, __ATOMIC_RELEASE);
    wake(&nursery->turn);
}

/* Opens the file of the command. A process that cannot be the keeper says why, and ends. */
static void open_nursery(const char *path)
{
    int shared = open(path, O_RDWR | O_CLOEXEC), none = 0, threads = count_threads();
    nursery = mmap(NULL, sizeof *nursery, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0);
    if (shared < 0 || nursery == MAP_FAILED || memcmp(nursery->magic, "LOGGPFRK", 8) != 0 || nursery->version != NURSERY_VERSION) {
        fprintf(stderr, "loggp: %s, which LOGGP_FORKS names, is no file of this command; build the library with `loggp record --build`\n",
                path);
        _exit(2);
    }
    close(shared);
    if (!__atomic_compare_exchange_n(&nursery->keeper, &none, getpid(), 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        fprintf(stderr, "loggp: a second process of the program calls MPI_Init; name the launcher, as in -- mpirun -n 2 ./app\n");
        _exit(2);
    }
    if (threads > 1) {
        snprintf(nursery->why, sizeof nursery->why, "it has %d threads when it calls MPI_Init, and a fork has one", threads);
        tell_command(KEEPER_CANNOT);
        _exit(0);
    }
}

void begin_alone(void)
{
    const char *forks = getenv("LOGGP_FORKS"), *emulation = getenv("LOGGP_EMULATE");
    if (is_alone || is_fork || ((forks == NULL || *forks == 0) && (emulation == NULL || *emulation == 0)))
        return;
    if (forks != NULL && *forks != 0)
        open_nursery(forks);
    else if (!ask_launcher(&own_rank, &world_size))
        return;
    is_alone = 1;
    int count = 0;
    while (environ[count] != NULL)
        count++;
    hidden = room(sizeof *hidden * (size_t)count);
    for (int i = 0; i < count; i++)
        if (is_of_launcher(environ[i]))
            hidden[hidden_count++] = strdup(environ[i]);
    for (int i = 0; i < hidden_count; i++) {
        char *name = strndup(hidden[i], strcspn(hidden[i], "="));
        unsetenv(name);
        free(name);
    }
    for (size_t i = 0; i < SETTINGS; i++) {
        const char *value = getenv(settings[i][0]);
        before[i] = value ? strdup(value) : NULL;
        setenv(settings[i][0], settings[i][1], 1);
    }
}

int end_alone(void)
{
    if (!is_alone)
        return 0;
    for (size_t i = 0; i < SETTINGS; i++)
        if (before[i] != NULL)
            setenv(settings[i][0], before[i], 1);
        else
            unsetenv(settings[i][0]);
    for (int i = 0; i < hidden_count; i++)
        putenv(hidden[i]);
    /* Open MPI's own way to files, which it chooses at the first one, makes others beside them, which stay where a rank is killed. */
    setenv("OMPI_MCA_io_ompio_priority", "1", 0);
    setenv("OMPI_MCA_io_ompio_delete_priority", "1", 0);
    return 1;
}

static void set_number(const char *name, int number)
{
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    setenv(name, text, 1);
}

/* Tells the program by variables which rank this is, as launchers do. */
static void set_variables(void)
{
    const char *const own[] = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_NODE_RANK", "PMIX_RANK",
                               "PMI_RANK",             "MPI_LOCALRANKID",            "SLURM_PROCID",              "SLURM_LOCALID"};
    const char *const all[] = {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "PMI_SIZE",
                               "MPI_LOCALNRANKS",      "SLURM_NTASKS",               "SLURM_NPROCS"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        set_number(own[i], own_rank);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        set_number(all[i], world_size);
    unsetenv("LOGGP_FORKS");
}

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
#define SIGNALS (sizeof signals / sizeof *signals)
static struct sigaction actions[SIGNALS];

static void end_ranks(int signal)
{
    ended_by = signal;
    for (int i = 0; i < rank_count; i++)
        if (ranks[i] > 0)
            kill(ranks[i], SIGTERM);
}

static void take_signals(void)
{
    struct sigaction action = {.sa_handler = end_ranks};
    for (size_t i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &action, &actions[i]);
}

/* The process is a rank from here on: its standard input is the first one's. */
static void become_rank(int rank)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != nursery->keeper)
        _exit(1);
    for (size_t i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &actions[i], NULL);
    is_fork = 1;
    own_rank = rank;
    set_variables();
    int nothing = rank > 0 ? open("/dev/null", O_RDONLY) : -1;
    if (nothing > 0) {
        dup2(nothing, 0);
        close(nothing);
    }
}

/* Ends the keeper as its ranks ended. */
__attribute__((noreturn)) static void end_keeper(int status)
{
    PMPI_Finalize();
    if (ended_by != 0) {
        signal(ended_by, SIG_DFL);
        raise(ended_by);
    }
    _exit(status);
}

/* Waits until all ranks have ended, of which the last one closes the other end of a pipe. Returns the status of the first one that
 * did not end with 0. */
static int await_ranks(int alive)
{
    struct pollfd end = {.fd = alive, .events = POLLIN};
    int status = 0;
    for (int tries = 0; poll(&end, 1, 500) <= 0; tries++) {
        int is_over = nursery->is_over || ended_by != 0 || !is_command_there();
        for (int i = 0; i < rank_count && is_over && tries > 0; i++)
            kill(ranks[i], SIGKILL);
        /* What a rank has forked may have the pipe still. */
        int running = 0;
        for (int i = 0; i < rank_count; i++) {
            siginfo_t information = {.si_pid = 0};
            running += waitid(P_PID, (id_t)ranks[i], &information, WEXITED | WNOHANG | WNOWAIT) == 0 && information.si_pid == 0;
        }
        if (running == 0)
            break;
    }
    int count = rank_count;
    rank_count = 0;
    for (int i = 0; i < count; i++) {
        int ended = 0;
        while (waitpid(ranks[i], &ended, 0) < 0 && errno == EINTR)
            continue;
        int code = WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended);
        status = status != 0 ? status : code;
    }
    return status;
}

/* Writes what the program has printed, in C or in Fortran: else each rank would. */
static void flush_output(void)
{
    void (*flush)(int *) = (void (*)(int *))dlsym(RTLD_DEFAULT, "_gfortran_flush_i4");
    if (flush != NULL)
        flush(NULL);
    fflush(NULL);
}

/* Forks all ranks. Returns in each of them, and at the keeper the end of a pipe that all of them have, or -1. */
static int fork_ranks(void)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    rank_count = 0;
    ranks = realloc(ranks, sizeof *ranks * nursery->ranks);
    world_size = (int)nursery->ranks;
    flush_output();
    for (int rank = 0; rank < world_size; rank++) {
        pid_t made = fork();
        if (made == 0) {
            close(ends[0]);
            become_rank(rank); /* The other end of the pipe stays open as long as the process. */
            return 0;
        }
        if (made < 0) {
            snprintf(nursery->why, sizeof nursery->why, "rank %d of %d cannot be forked: %s", rank, world_size, strerror(errno));
            end_ranks(0);
            close(ends[1]);
            await_ranks(ends[0]);
            close(ends[0]);
            return -1;
        }
        ranks[rank] = made;
        rank_count = rank + 1;
    }
    close(ends[1]);
    return ends[0];
}

const char *become_ranks(void)
{
    const struct timespec second = {.tv_sec = 1};
    int status = 0;
    if (nursery == NULL || is_fork)
        return NULL;
    take_signals();
    for (;;) {
        nursery->status = (uint32_t)status;
        tell_command(KEEPER_READY);
        while (__atomic_load_n(&nursery->turn, __ATOMIC_ACQUIRE) != 0) {
            syscall(SYS_futex, &nursery->turn, FUTEX_WAIT, 1, &second, NULL, 0);
            if (ended_by != 0 || nursery->is_over || !is_command_there())
                end_keeper(status);
        }
        if (nursery->is_over)
            end_keeper(status);
        int alive = fork_ranks();
        if (is_fork)
            return nursery->path;
        if (alive < 0) {
            tell_command(KEEPER_CANNOT);
            end_keeper(1);
        }
        status = await_ranks(alive);
        close(alive);
        if (ended_by != 0)
            end_keeper(status);
    }
}
