/* A wire between two network namespaces, with a latency and a bandwidth that are known, for kernels without netem:

       wire NAMESPACE NAMESPACE MICROSECONDS MEGABITS

   It makes an interface `w0` in each namespace. A frame that goes in at one end comes out at the other when the wire has carried all
   frames before it and this one, at its bandwidth, and the latency has passed. Each direction has a thread that takes frames in and
   one that lets them out, which go before all other threads of the computer. When it is killed, it says what each direction did.

   The kernel gives it segments of TCP as one long frame, and gets them so, which takes half of the time. They take as long on the
   wire as the frames that they would be. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* FRAMES are on the wire at most; others are lost, as in a full switch. AROUND a frame of Ethernet are a preamble, a checksum and a
   gap. PRIORITY is above that of all usual threads. */
enum { FRAMES = 1 << 16, LONGEST = 70000, AROUND = 24, PRIORITY = 20 };

struct frame {
    uint64_t due;
    size_t bytes;
    char *data;
};

struct direction {
    int in, out;
    struct frame frames[FRAMES];
    /* Numbers of the next frame that comes in, and of the next that goes out. */
    _Atomic unsigned next, first;
    sem_t waiting;
    /* When the wire has carried the last frame, in ns. */
    uint64_t free;
    unsigned long carried, bytes, lost;
    pthread_t taker, giver;
};

static uint64_t latency;
static double ns_per_byte;
static struct direction there, back;

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

/* Makes the interface of a namespace, and returns what reads and writes its frames. */
static int interface_in(const char *namespace) {
    char path[256];
    struct ifreq request;
    int own = open("/proc/self/ns/net", O_RDONLY);
    snprintf(path, sizeof path, "/var/run/netns/%s", namespace);
    int other = open(path, O_RDONLY);
    if (own < 0 || other < 0 || setns(other, CLONE_NEWNET)) fail(namespace);
    int tap = open("/dev/net/tun", O_RDWR);
    memset(&request, 0, sizeof request);
    request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
    strcpy(request.ifr_name, "w0");
    if (tap < 0 || ioctl(tap, TUNSETIFF, &request)) fail("/dev/net/tun");
    if (ioctl(tap, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4)) fail("TUNSETOFFLOAD");
    if (setns(own, CLONE_NEWNET)) fail("setns");
    close(own);
    close(other);
    return tap;
}

/* Returns the time of n bytes on the wire, of which the first tell what follows, in ns. */
static uint64_t carrying(const char *buffer, size_t n) {
    struct virtio_net_hdr about;
    memcpy(&about, buffer, sizeof about);
    size_t bytes = n - sizeof about, frames = 1;
    if (about.gso_type != VIRTIO_NET_HDR_GSO_NONE && about.gso_size > 0 && about.hdr_len < bytes) {
        frames = (bytes - about.hdr_len + about.gso_size - 1) / about.gso_size;
        bytes += (frames - 1) * about.hdr_len; // each has the headers
    }
    return (uint64_t)((double)(bytes + frames * AROUND) * ns_per_byte);
}

/* Takes frames in. */
static void *take(void *of) {
    struct direction *way = of;
    static _Thread_local char buffer[LONGEST];
    for (;;) {
        ssize_t n = read(way->in, buffer, sizeof buffer);
        if (n <= (ssize_t)sizeof(struct virtio_net_hdr)) continue;
        unsigned next = way->next;
        char *data = next - way->first < FRAMES ? malloc((size_t)n) : NULL;
        if (data == NULL) {
            way->lost++;
            continue;
        }
        uint64_t start = now();
        if (way->free > start) start = way->free;
        way->free = start + carrying(buffer, (size_t)n);
        memcpy(data, buffer, (size_t)n);
        way->frames[next % FRAMES] = (struct frame){way->free + latency, (size_t)n, data};
        way->next = next + 1;
        way->carried++;
        way->bytes += (unsigned long)n;
        sem_post(&way->waiting);
    }
    return NULL;
}

/* Lets frames out when they are due. */
static void *give(void *of) {
    struct direction *way = of;
    for (;;) {
        while (sem_wait(&way->waiting)) continue;
        unsigned first = way->first;
        struct frame *frame = &way->frames[first % FRAMES];
        struct timespec due = {(time_t)(frame->due / 1000000000u), (long)(frame->due % 1000000000u)};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL)) continue;
        if (write(way->out, frame->data, frame->bytes) < 0) way->lost++;
        free(frame->data);
        way->first = first + 1;
    }
    return NULL;
}

static double seconds_of(pthread_t thread) {
    clockid_t clock;
    struct timespec t = {0, 0};
    if (!pthread_getcpuclockid(thread, &clock)) clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void start(struct direction *way) {
    sem_init(&way->waiting, 0, 0);
    if (pthread_create(&way->taker, NULL, take, way) || pthread_create(&way->giver, NULL, give, way)) fail("thread");
}

static void report(const char *name, struct direction *way) {
    printf("%s: %lu frames, %lu bytes, %lu lost, %.2f s of a core\n", name, way->carried, way->bytes, way->lost,
           seconds_of(way->taker) + seconds_of(way->giver));
}

int main(int argc, char **argv) {
    double us = argc == 5 ? atof(argv[3]) : -1, megabits = argc == 5 ? atof(argv[4]) : 0;
    if (us < 0 || megabits <= 0) {
        fprintf(stderr, "usage: wire NAMESPACE NAMESPACE MICROSECONDS MEGABITS\n");
        return 2;
    }
    latency = (uint64_t)(1e3 * us);
    ns_per_byte = 8e3 / megabits;
    there.in = back.out = interface_in(argv[1]);
    there.out = back.in = interface_in(argv[2]);
    struct sched_param first = {.sched_priority = PRIORITY};
    if (sched_setscheduler(0, SCHED_FIFO, &first)) fprintf(stderr, "the wire has no priority here, and may be late\n");
    sigset_t ends;
    int signal = 0;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    start(&there);
    start(&back);
    puts("the wire is up");
    fflush(stdout);
    sigwait(&ends, &signal);
    report("there", &there);
    report("back", &back);
    return 0;
}
