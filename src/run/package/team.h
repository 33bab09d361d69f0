/* Threads in forked processes, and threads that share a core.
 *
 * gcc's OpenMP keeps the threads of a parallel region for the next one, and the thread that forks takes
 * them for its own in the child, where they do not exist: its next region would wait for them
 * forever. There, another thread runs the kernels, with threads of its own. Only the thread that
 * forked is affected, and only in the child. */
#ifdef _OPENMP
#include <omp.h>
#include <pthread.h>
#ifdef __linux__
#include <sched.h>
#include <time.h>
#endif

static __thread int teml_is_forked;
static pthread_mutex_t teml_lock;
static pthread_cond_t teml_turn;
static int teml_has_helper;
static void (*teml_task)(void *);
static void *teml_given;

static void teml_after_fork(void)
{
    teml_is_forked = 1;
    teml_has_helper = 0;
    teml_task = NULL;
    pthread_mutex_init(&teml_lock, NULL);
    pthread_cond_init(&teml_turn, NULL);
}

static __attribute__((constructor)) void teml_at_load(void)
{
    pthread_atfork(NULL, NULL, teml_after_fork);
}

static void *teml_help(void *unused)
{
    pthread_mutex_lock(&teml_lock);
    for (;;) {
        while (!teml_task)
            pthread_cond_wait(&teml_turn, &teml_lock);
        teml_task(teml_given);
        teml_task = NULL;
        pthread_cond_broadcast(&teml_turn);
    }
    return unused;
}

static __attribute__((noinline)) void teml_run_elsewhere(void (*task)(void *), void *given)
{
    pthread_t helper;
    pthread_mutex_lock(&teml_lock);
    if (!teml_has_helper) {
        if (pthread_create(&helper, NULL, teml_help, NULL)) {
            /* One thread alone waits for no other. */
            const int threads = omp_get_max_threads();
            pthread_mutex_unlock(&teml_lock);
            omp_set_num_threads(1);
            task(given);
            omp_set_num_threads(threads);
            return;
        }
        pthread_detach(helper);
        teml_has_helper = 1;
    }
    teml_task = task;
    teml_given = given;
    pthread_cond_broadcast(&teml_turn);
    while (teml_task)
        pthread_cond_wait(&teml_turn, &teml_lock);
    pthread_mutex_unlock(&teml_lock);
}

#ifdef __linux__
/* A thread wakes up on the core of its caller if the other cores are busy, as they are while threads of
 * another library still wait there for work. From then on, each of the two waits for the other without
 * giving the core away: a call of microseconds takes milliseconds, and so do later ones. So a thread
 * that finds another one on its core goes to a core without one, if it may. */
static void teml_part(void)
{
    cpu_set_t taken;
    CPU_ZERO(&taken);
#pragma omp parallel
#pragma omp critical(teml_cores)
    {
        cpu_set_t allowed, other;
        int core = sched_getcpu();
        if (core >= 0 && core < CPU_SETSIZE && CPU_ISSET(core, &taken) &&
            !sched_getaffinity(0, sizeof allowed, &allowed)) {
            for (core = 0; core < CPU_SETSIZE; core++)
                if (CPU_ISSET(core, &allowed) && !CPU_ISSET(core, &taken))
                    break;
            if (core < CPU_SETSIZE) {
                CPU_ZERO(&other);
                CPU_SET(core, &other);
                if (!sched_setaffinity(0, sizeof other, &other))
                    sched_setaffinity(0, sizeof allowed, &allowed);
            }
        }
        if (core >= 0 && core < CPU_SETSIZE)
            CPU_SET(core, &taken);
    }
}

/* Milliseconds, in steps of some: reading them takes some nanoseconds. */
static inline int64_t teml_now(void)
{
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Runs a task. After one that took milliseconds, threads part, but not more often than every 50 ms. */
static inline void teml_run_here(void (*task)(void *), void *given)
{
    static __thread int64_t parted;
    const int64_t begins = teml_now();
    task(given);
    const int64_t ends = teml_now();
    if (__builtin_expect(ends != begins && ends - parted > 50, 0)) {
        teml_part();
        parted = teml_now();
    }
}
#else
#define teml_run_here(task, given) task(given)
#endif

static inline void teml_run(void (*task)(void *), void *given)
{
    if (__builtin_expect(teml_is_forked, 0))
        teml_run_elsewhere(task, given);
    else
        teml_run_here(task, given);
}
#else
#define teml_run(task, given) task(given)
#endif
