/* How a rank ends that has not called MPI_Finalize: by which signal or with which status, and where. It stands in the rank's slot, where
 * the command finds it when the process is no more. */

#include "shared.h"

#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <sys/types.h>
#include <ucontext.h>
#include <unistd.h>

#define FRAMES 48

static struct ending *ending;
static pid_t process;

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
#define SIGNALS (sizeof signals / sizeof *signals)
/* What the program does at these signals. */
static struct sigaction actions[SIGNALS];

/* A rank whose stack is full has this one. */
static char stack[1 << 16];

/* Writes a place behind those that are there, if there is room: its address in its module, and the path of that. */
static void note_frame(uintptr_t address)
{
    Dl_info module, own;
    struct link_map *map = NULL;
    char path[2048];
    if (dladdr1((void *)address, &module, (void **)&map, RTLD_DL_LINKMAP) == 0 || map == NULL)
        return;
    if (dladdr(stack, &own) != 0 && own.dli_fbase == module.dli_fbase)
        return;
    const char *name = map->l_name;
    if (name == NULL || name[0] == 0) {
        ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
        path[length > 0 ? length : 0] = 0;
        name = path;
    }
    uint64_t in_module = address - map->l_addr;
    size_t bytes = strlen(name) + 1, at = ending->bytes;
    if (at + sizeof in_module + bytes > sizeof ending->frames)
        return;
    memcpy(ending->frames + at, &in_module, sizeof in_module);
    memcpy(ending->frames + at + sizeof in_module, name, bytes);
    ending->bytes = (uint32_t)(at + sizeof in_module + bytes);
}

/* Writes where this thread is, the innermost place first. Each address is one to which a call returns, or one more than where a signal
 * came. */
static void note_frames(const ucontext_t *context)
{
    void *frames[FRAMES];
    uintptr_t here = 0;
    int count = backtrace(frames, FRAMES), first = 1;
#if defined(__x86_64__)
    here = context ? (uintptr_t)context->uc_mcontext.gregs[REG_RIP] : 0;
#elif defined(__aarch64__)
    here = context ? (uintptr_t)context->uc_mcontext.pc : 0;
#endif
    ending->bytes = 0;
    for (int i = 1; i < count && here != 0; i++)
        if ((uintptr_t)frames[i] == here)
            first = i;
    for (int i = first; i < count; i++)
        note_frame((uintptr_t)frames[i] + ((uintptr_t)frames[i] == here));
}

static int is_first_end(void)
{
    return ending != NULL && getpid() == process && ending->signal == 0 && ending->status == 0;
}

/* Notes a signal that ends the rank, and lets it. */
static void note_signal(int number, siginfo_t *information, void *context)
{
    int before = errno;
    if (is_first_end()) {
        note_frames(context);
        __atomic_store_n(&ending->signal, (uint32_t)number, __ATOMIC_RELEASE);
    }
    for (size_t i = 0; i < SIGNALS; i++)
        if (signals[i] == number)
            sigaction(number, &actions[i], NULL);
    /* What the processor has found comes again by itself. */
    if (information->si_code <= 0)
        raise(number);
    errno = before;
}

/* Notes where the rank is, since the command asks. */
static void note_place(int number, siginfo_t *information, void *context)
{
    int before = errno;
    (void)number;
    (void)information;
    if (is_first_end()) {
        note_frames(context);
        __atomic_store_n(&ending->is_told, 1, __ATOMIC_RELEASE);
    }
    errno = before;
}

static void note_exit(int status, void *nothing)
{
    (void)nothing;
    if (!is_first_end())
        return;
    note_frames(NULL);
    __atomic_store_n(&ending->status, (uint32_t)(status & 255) + 1, __ATOMIC_RELEASE);
}

/* Returns whether a library of the MPI prints its own stack at a signal: what the program has printed is the last then. */
static int is_of_mpi(const struct sigaction *action)
{
    Dl_info module;
    return dladdr((void *)(uintptr_t)action->sa_sigaction, &module) != 0 && module.dli_fname != NULL &&
           (strstr(module.dli_fname, "/libopen-pal") != NULL || strstr(module.dli_fname, "/libmpi") != NULL ||
            strstr(module.dli_fname, "/libucs") != NULL);
}

void begin_endings(struct ending *in)
{
    stack_t own = {.ss_sp = stack, .ss_size = sizeof stack}, there;
    struct sigaction asked = {.sa_sigaction = note_place, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK}, action;
    void *frame;
    ending = in;
    process = getpid();
    backtrace(&frame, 1); /* The first time it loads a library, which a handler cannot. */
    if (sigaltstack(NULL, &there) == 0 && (there.ss_flags & SS_DISABLE))
        sigaltstack(&own, NULL);
    for (size_t i = 0; i < SIGNALS; i++) {
        action = (struct sigaction){.sa_sigaction = note_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
        if (sigaction(signals[i], NULL, &actions[i]) != 0 || actions[i].sa_handler == SIG_IGN)
            continue;
        if (actions[i].sa_handler != SIG_DFL && is_of_mpi(&actions[i]))
            actions[i] = (struct sigaction){.sa_handler = SIG_DFL};
        sigaction(signals[i], &action, NULL);
    }
    /* Nobody notices this signal who does not want it. */
    if (sigaction(SIGURG, NULL, &action) == 0 && action.sa_handler == SIG_DFL)
        sigaction(SIGURG, &asked, NULL);
    on_exit(note_exit, NULL);
}
