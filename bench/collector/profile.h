/* fstune/profile.h: a program's own words to the recording that is made of it (`fstune profile -- PROGRAM`,
 * fstune-agent): where it starts and stops, when it begins anew, and names for moments.
 *
 *     fst_profile_mark("load");
 *     load();
 *     fst_profile_mark("query");
 *     answer();
 *
 * There is nothing to link with. Alone, a call looks at one pointer and returns. All of these may be called
 * by several threads at once and in signal handlers; they wait for nobody, allocate nothing, keep errno, and
 * change nothing that the program does. What they say holds for all processes of the recording: the program,
 * its children, and what these run.
 *
 * The library with fstune's wrappers has one function for all of them. It is looked up once for each file
 * that includes this header, by dlsym before main (in a library: when it is loaded), because dlsym may
 * allocate and so has no place in a signal handler. It is not named as a weak symbol itself: the linker of a
 * program that is not position-independent makes zero of a weak symbol that no library has, for good. dlsym
 * is weak in its turn, and the C library has it, so that
 * - position-independent or not, with glibc 2.34 and later and with musl nothing is linked beside the C
 * library;
 * - with an older glibc the program gives -ldl, or these calls may do nothing;
 * - in a program that is linked statically there is no dlsym, no warning of it, and the calls do nothing:
 *   no library can be loaded into it, either.
 * They also do nothing before the constructors of the calling file have run, under `--source trace`, which
 * has no library in the program, and with compilers that do not know GNU's attributes.
 *
 * For C99 and later, and for C++. */
#ifndef FSTUNE_PROFILE_H
#define FSTUNE_PROFILE_H

#ifdef __cplusplus
extern "C" {
#endif

/* What the function is asked for. A library that does not know a number does nothing. */
#define FST_PROFILE_IS_RECORDING 0
#define FST_PROFILE_START        1
#define FST_PROFILE_STOP         2
#define FST_PROFILE_RESET        3
#define FST_PROFILE_MARK         4

/* What the library has: it returns 1 where something is recorded after the call, else 0. This and the next
 * functions are not for programs. */
typedef int (*fst_profile_function)(int what, const char *name);

#if defined(__GNUC__) && defined(__ELF__)

/* Under names of our own, so that no declaration of <dlfcn.h> is in their way. */
extern void *fst_profile_dlsym(void *handle, const char *name) __asm__("dlsym") __attribute__((__weak__));
extern char *fst_profile_dlerror(void) __asm__("dlerror") __attribute__((__weak__));

static fst_profile_function fst_profile_found __attribute__((__unused__));

__attribute__((__constructor__, __unused__)) static void fst_profile_find(void)
{
    union {
        void *address;
        fst_profile_function function;
    } found;
    found.address = 0;
    if (&fst_profile_dlsym != 0)
        found.address = fst_profile_dlsym(0, "fst_profile_call");
    /* The program does not hear of a name that it did not look for. */
    if (found.address == 0 && &fst_profile_dlerror != 0)
        (void)fst_profile_dlerror();
    fst_profile_found = found.function;
}

static __inline__ int fst_profile_ask(int what, const char *name)
{
    return fst_profile_found != 0 ? fst_profile_found(what, name) : 0;
}

#else

static inline int fst_profile_ask(int what, const char *name)
{
    (void)what;
    (void)name;
    return 0;
}

#endif

#if defined(__GNUC__)
#define FST_PROFILE_INLINE static __inline__ __attribute__((__unused__))
#else
#define FST_PROFILE_INLINE static inline
#endif

/* Records again from here on, after fst_profile_stop or `fstune-agent --stopped`. */
FST_PROFILE_INLINE void fst_profile_start(void)
{
    (void)fst_profile_ask(FST_PROFILE_START, 0);
}

/* Records nothing until fst_profile_start. The time goes on, and is told as paused. A call of another thread
 * that is under way is counted if it ends while something is recorded again, and else left out. */
FST_PROFILE_INLINE void fst_profile_stop(void)
{
    (void)fst_profile_ask(FST_PROFILE_STOP, 0);
}

/* Forgets what was recorded so far; the recording begins here. One that is stopped stays stopped. It clears
 * the memory of the recording inside the call, which takes a moment (fstune-profile(3) has figures). */
FST_PROFILE_INLINE void fst_profile_reset(void)
{
    (void)fst_profile_ask(FST_PROFILE_RESET, 0);
}

/* This moment has that name, of which 31 bytes are kept; what is done until the next mark is told with it.
 * The same name may come again. A recording keeps 32 names, also over resets; others are counted. NULL and ""
 * do nothing, nor does a mark while the recording is stopped. */
FST_PROFILE_INLINE void fst_profile_mark(const char *name)
{
    (void)fst_profile_ask(FST_PROFILE_MARK, name);
}

/* 1 while the program is recorded and not stopped, else 0. */
FST_PROFILE_INLINE int fst_profile_is_recording(void)
{
    return fst_profile_ask(FST_PROFILE_IS_RECORDING, 0);
}

#undef FST_PROFILE_INLINE

#ifdef __cplusplus
}
#endif

#endif
