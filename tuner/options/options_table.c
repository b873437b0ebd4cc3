/* tuner/options/options_table: every option, one row each, in the order of --help. The parser, configuration
 * files, --help, the manual page, completion and the defaults of settings read these rows. */
#include "tuner/options/options_row.h"

static const struct option_row rows[] = {
    /* Options that say what is measured: the pattern, the factors of a point, the file. */
    ROW("pattern", "PATTERN", "", "required", pattern, PLACE(workload.pattern), RUNS | PREDICT,
        "workload: read, write, randread, randwrite, rw[:READ%], randrw[:READ%], or shares like "
        "seq-read=40,rand-write=60",
        .set_experiment = options_set_patterns, .condition = CONDITION_PATTERN,
        .range_prediction = "write, randwrite: each place once", .default_prediction = "write",
        .set_prediction = options_set_write_pattern, GIVEN(workload.pattern_given), IN(WORKLOAD)),
    ROW("pattern", "PATTERN", "", "", pattern, PLACE(workload.pattern), ADVISE | LINE_ONLY,
        "of a burst: write or randwrite, where each place is written once (default write); of --fleet: any, "
        "as recommend has it (required)",
        .set_prediction = options_set_advice_pattern, GIVEN(workload.pattern_given)),
    LEVELS("request-size", "SIZE", FACTOR_REQUEST_SIZE, "512..512m, a multiple of 512", "4k..4m",
           RUNS | PREDICT | ADVISE, "size of one request", .default_measure = "required",
           .default_experiment = "64k", .range_prediction = "1..1024t", .default_prediction = "",
           .set_prediction = options_set_write_size, IN(WORKLOAD)),
    LEVELS("write-request-size", "SIZE", FACTOR_WRITE_SIZE, "512..512m, a multiple of 512", "", RUNS,
           "size of a write, of mixed patterns whose reads have another one (--request-size); without it, "
           "and without --split-sizes, the request size. Of two sizes one is a multiple of the other"),
    FLAG("split-sizes", workload.split_sizes, RECOMMEND,
         "of mixed patterns: search sizes of reads and of writes apart, both in 4k,16k,64k,256k,1m,4m unless "
         "given, and recommend two only where they are proved to be faster than one. The pattern's shares "
         "stay shares of requests: with unlike sizes the shares of bytes are others"),
    LEVELS("queue-depth", "N", FACTOR_QUEUE_DEPTH, "1..1024", "1..64", RUNS, "requests in flight per thread",
           .default_measure = "required", .default_experiment = "1", IN(WORKLOAD)),
    LEVELS("direct", "0|1", FACTOR_DIRECT, "0, 1", "0,1", RUNS,
           "1: direct I/O (O_DIRECT), 0: through the page cache", .default_measure = "required",
           .default_experiment = "0", IN(WORKLOAD)),
    LEVELS("api", "API", FACTOR_API, "psync, pvec, pool, libaio, io_uring", "psync,pool,libaio,io_uring",
           RUNS, "how requests are handed to the kernel", .default_measure = "required",
           .default_experiment = "io_uring", IN(WORKLOAD)),
    LEVELS("threads", "N", FACTOR_THREADS, "1..64", "1", RUNS,
           "threads, each with its own part of the file and its own queue"),
    ROW("clients", "N", "1..4096", "", counts, TYPED(workload.clients, struct levels), RECOMMEND,
        "of several clients (fstune-mpi): search how many of them shall work at once, as 1..8 or 1,2,4, "
        "while the others wait; what is in flight is counted over all that work"),
    LEVELS("sync", "SYNC", FACTOR_SYNC, "none, end, each", "end", RUNS,
           "durability of writes: no flush, one at the end of a run, or one with each write", IN(WORKLOAD)),
    ROW("path", "DIR", "", ".", path, TYPED(file.path, char *), EVERY | CALIBRATE | PREDICT | IMPACT | REPLAY,
        "directory to measure, in a nameless file; recommend, measure, doctor: several together, too",
        .needs = "validate", IN(WHERE)),
    ROW("path", "DIR", "", ".", path, TYPED(file.path, char *), ADVISE | LINE_ONLY,
        "directory on the storage that the answer is for", .needs = "fleet"),
    SIZE("file-size", file.size_bytes, "128m..1000t", "1g", EVERY | REPLAY,
         "size of that file; the default shrinks where filling would take too long", .default_doctor = "128m",
         VARIED(CONDITION_FILE_SIZE), GIVEN(file.size_given)),
    COUNT("files", file.n, "1..1024", "1", RUNS,
          "spread the data over so many files of equal size, of which each thread has a descriptor each; "
          "requests go to them in turn",
          VARIED(CONDITION_FILES)),
    FLAG("shared-file", file.shared, BOTH,
         "of several clients (fstune-mpi): one file for all, in which each has a region of --file-size, "
         "instead of a file for each"),
    ROW("alignment", "SIZE", "512..512m, a multiple of 512", "the request size", alignment,
        PLACE(workload.alignment_bytes), RUNS,
        "requests start so far behind a multiple of their size: 512 with requests of 4k is 512, 4608, 8704 "
        "...; multiples of the request size change nothing",
        VARIED(CONDITION_ALIGNMENT)),
    ROW("existing", "FILE", "", "", existing, TYPED(file.existing, char *), EVERY,
        "measure on this file or block device instead of an own file; several as with --path", IN(WHERE)),
    FLAG("overwrite", file.overwrite, RUNS, "allow to destroy the contents of the --existing file or device",
         .needs = "existing"),
    ROW("destroy-device", "SIZE", "512..8388607t", "", destroy_device, PLACE(file.destroy_device_bytes), RUNS,
        "where --existing is a block device and the pattern writes: its exact size in bytes, as blockdev "
        "--getsize64 prints it, once for each device; --overwrite is needed, too",
        .needs = "overwrite"),
    FLAG("ignore-signature", file.ignore_signature, RUNS,
         "destroy the device also where it holds a file system or something else that libblkid knows; not "
         "where it is mounted or in use",
         .needs = "destroy-device"),
    TEXT("prepare", "SCRIPT", file.prepare, RUNS, "script that bash runs before the file is filled"),
    DURATION("prepare-timeout", file.prepare_timeout_ns, "1s..24h", "60s", RUNS,
             "time that the script may take", .needs = "prepare"),
    CHOICE("cache", "cold|warm", workload.cache, "cold", RUNS,
           "page cache before a run; with a file as --existing and a pattern that only reads, the default is "
           "warm",
           VARIED(CONDITION_CACHE), GIVEN(workload.cache_given)),
    FLAG("verify", workload.verify, RUNS,
         "stamp every block with its offset and the number of its write, and compare on reading; what was "
         "written is read back after each run. Rates are then not comparable with others"),
    ROW("beside", "LOAD", "", "", beside, PLACE(beside), BOTH,
        "a load that runs beside, on a file of its own: PATTERN:SIZE, then queue_depth=N, direct=0|1, "
        "sync=none|each and rate=SIZE (a second; else as fast as it goes), with commas; up to 4 times"),
    ROW("beside-limit", "p99=DURATION", "", "", beside_limit, TYPED(beside.limit_p99_ns, uint64_t), BOTH,
        "settings beside which a request of these loads takes longer are not recommended", .needs = "beside"),
    ROW("skew", "zipf:THETA|hot:SHARE:SHARE", "zipf:0.01..10, shares 0.1%..99.9%", "", skew,
        TYPED(workload.skew, struct skew), RUNS,
        "random requests go to some places more often: zipf:0.99 to the k-th most wanted of all places in "
        "proportion to 1 / k^0.99, hot:10%:90% to a tenth of the places in nine tenths of all cases"),
    SHARE("compressible", workload.content.zero_share, "1%..95%", "", RUNS,
          "of patterns that only write: so much of each block of 4 KiB is zero; without it all is random"),
    SHARE("dedupe", workload.content.repeat_share, "1%..99%", "", RUNS,
          "of patterns that only write: so many of these blocks repeat an earlier one"),
    ROW("rate", "RATE", "1%..1000%, 1k..1t a second, or 1iops..100000000iops", "", rate,
        TYPED(workload.rates, struct settings_rates), BOTH,
        "offer requests at this rate, at given times whatever has come back, and count latency from those "
        "times. measure: several, as 10%..100% (in steps of 10 % of the rate without this), 50m,200m or "
        "5000iops, beside the rate without this; recommend: one, as 200m, and the answer is the setting that "
        "serves it with the lowest latency (--objective)"),
    CHOICE("rate-process", "linear|poisson", workload.rate_process, "linear", BOTH,
           "requests are due at equal distances, or at random ones with the same mean, as from many users",
           .needs = "rate"),
    FLAG("advise", workload.advise, RUNS, "give posix_fadvise access hints"),
    FLAG("shared-region", workload.shared_region, RUNS,
         "threads share the whole file instead of disjoint parts"),
    CHOICE(
        "io-uring-ring", "modern|plain", workload.io_uring_ring, "modern", RUNS,
        "how io_uring is set up: as modern programs and fio do (one submitter, deferred completions, as far "
        "as the kernel has them), or without flags as QEMU does, which is the default with --emit for "
        "virtual machines",
        GIVEN(workload.io_uring_ring_given)),
    ROW("io-uring-cooperative", NULL, "", "", modern_ring, PLACE(workload.io_uring_ring), RUNS,
        "the same as --io-uring-ring modern", .alias_of = "io-uring-ring"),
    FLAG("no-lock", file.no_lock, EVERY | CALIBRATE | PREDICT | REPLAY,
         "do not wait for another fstune that measures the same device", .needs = "validate"),

    /* Options that say what is searched for, within which limits, and what the answer must be. */
    DURATION("budget", limits.budget_ns, "1s..168h", "60s", RECOMMEND | CALIBRATE,
             "time for the whole command", IN(LIMITS)),
    SIZE(
        "max-write", limits.max_write_bytes, "0..1000t", "64g", EVERY | CALIBRATE | PREDICT | REPLAY,
        "bytes written at most, filling and warm-up included; the default grows with --budget and is less on "
        "a small SSD; with --simulate no limit unless given",
        .default_calibrate = "8g", GIVEN(limits.max_write_given), IN(LIMITS)),
    SHARE("tolerance", search.tolerance_share, ">0%..50%", "10%", RECOMMEND | EXPERIMENT | FLEET,
          "loss against the best setting that is accepted for a cheaper one", IN(ANSWER)),
    SHARE("tolerance", search.tolerance_share, ">0%..50%", "10%", ADVISE | LINE_ONLY,
          "loss against a host's best setting up to which another one is right for it", .needs = "fleet"),
    CHOICE("prefer", "cheapest|fastest", search.prefers, "cheapest", RECOMMEND,
           "recommend the cheapest setting within the tolerance, or the fastest, whatever it costs",
           IN(ANSWER)),
    SHARE("confidence", runs.confidence_share, "50%..99.9%", "95%", RUNS | IMPACT | PREDICT,
          "confidence of intervals and of the recommendation"),
    CHOICE("objective", "throughput|iops|latency|p99", search.objective, "throughput", RECOMMEND,
           "what is optimised: bytes or requests per second, or the mean or 99th percentile of latency, "
           "which want a single --request-size and --threads",
           IN(ANSWER)),
    CHOICE("profile", "max-throughput|balanced|low-latency", search.profile, "max-throughput", RECOMMEND,
           "what the answer shall be like: balanced is the knee of the throughput/latency curve; reports the "
           "other two as well",
           GIVEN(search.profile_given)),
    FLAG("profiles", search.profiles, RECOMMEND,
         "report all three profiles, each with its own evidence, beside the answer"),
    FLAG("pareto", search.pareto, RECOMMEND,
         "print the settings that no other beats in both throughput and mean latency, too"),
    SHARE("rate-floor", search.rate_floor_share, ">0%..100%", "25%", RECOMMEND,
          "share of the highest throughput that the profile low-latency keeps", .needs = "profile,profiles"),
    DURATION("max-latency-p99", search.max_latency_p99_ns, "1us..4m", "none", RECOMMEND,
             "recommend only settings whose 99th percentile of latency stays below", IN(LIMITS)),
    SHARE("neighbour-limit", search.neighbour_limit_share, "1%..500%", "none", RECOMMEND,
          "recommend only settings that cost the reference of fstune cost, beside each run, less"),
    SHARE("max-cost", limits.max_cost_share, "1%..500%", "none", RECOMMEND,
          "pause between runs, so that the search itself costs it no more on average"),
    WORD("method", "auto|gp|quadratic|random|grid", search.method, "auto", RECOMMEND,
         "how settings to try are chosen"),
    ROW("current", "KEY=VALUE,...", "", "64k or the pinned size, depth 1, direct 0, psync, 1 thread", current,
        PLACE(search.current), RECOMMEND,
        "settings in use today, the baseline; keys as in request_size=64k,queue_depth=8",
        GIVEN(search.current_given)),
    ROW("accept", "CODE,...", "", "", accept, 0, RUNS,
        "codes of warnings that do not disqualify a setting; docs/warnings.md lists them"),

    /* Options that say how runs are made and checked. */
    COUNT("replays", runs.replays, "1..1000", "5", MEASURE | EXPERIMENT, "runs of the setting", IN(ANSWER),
          GIVEN(runs.replays_given)),
    FLAG("until-steady", runs.until_steady, MEASURE,
         "instead of --replays: rounds of --duration until the rate is steady; exit code 3 when it never is",
         IN(ANSWER)),
    WORD("steady-rule", "fstune|snia", runs.steady_rule, "fstune", MEASURE,
         "what steady means: fstune: a drift of at most 2 % over the last rounds; snia: over five rounds a "
         "range of at most 20 % and a slope of at most 10 %",
         .needs = "until-steady"),
    DURATION("max-duration", runs.max_duration_ns, "1s..168h", "10m", MEASURE,
             "of --until-steady: its rounds end then at the latest", .needs = "until-steady"),
    DURATION("duration", runs.duration_ns, "50ms..1h", "chosen from the budget", RUNS, "timed part of a run",
             .default_measure = "2s", .default_experiment = "2s"),
    SHARE("warmup-coef", runs.warmup_coef_share, ">0%..100%", "15%", RUNS,
          "a run is warm when the standard deviation over the window is this share of the mean"),
    DURATION("warmup-limit", runs.warmup_limit_ns, "0s..1h", "as long as a run", RUNS,
             "warm-up ends then at the latest; 0s: none", .default_measure = "30s",
             .default_experiment = "30s"),
    COUNT("warmup-window", runs.warmup_window, "2..64", "8", RUNS, "batches in the window of the warm-up"),
    COUNT("batch", runs.batch_requests, "1..1000", "10", RUNS, "requests that are timed together in a batch"),
    WORD("cross-check", "fio", runs.cross_check, "none", MEASURE,
         "run fio on the same file between the replays and state the ratio; needs the package fio"),
    FLAG("fio-job", runs.fio_job, BOTH, "print the job file with which fio does the same, too"),

    /* Options of snippets: what the lines to paste are about. */
    ROW("emit", "FORMAT", "", "none", snippet, PLACE(snippet.format), RECOMMEND,
        "print the lines for a consumer of the storage too, see fstune emit --list", IN(OUTPUT)),
    ROW("from", "RESULT.json", "", "", files, TYPED(answers, struct settings_files), EMIT | REPORT | PLOT,
        "the answer of `recommend --json`, for pictures and pages any result, else standard input; up to 4 "
        "times where several are taken"),
    TEXT("image", "PATH", snippet.image, SNIPPETS,
         "the disk image or data directory that the snippet is for; else a name to be replaced stands there",
         .needs = "emit"),
    CHOICE("image-format", "raw|qcow2", snippet.image_format, "raw", SNIPPETS, "format of the disk image",
           .needs = "emit"),
    CHOICE("bus", "virtio-blk|virtio-scsi|nvme", snippet.bus, "virtio-blk", SNIPPETS,
           "how the guest sees the disk", .needs = "emit"),
    ROW("target-version", "VERSION", "", "", version, PLACE(snippet.target_version), SNIPPETS,
        "of the consumer, as 9.2: what it does not know yet is not emitted; else what is common today",
        .needs = "emit"),
    FLAG("directsync", snippet.directsync, SNIPPETS,
         "every write of the guest is durable before it counts; slower, and seldom wanted", .needs = "emit"),
    FLAG("self-tuning", snippet.self_tuning, SNIPPETS,
         "QEMU, libvirt: the image is served by nbdkit with fstune's self-tuning plugin", .needs = "emit"),
    FLAG("list", snippet.list, EMIT, "print the formats, and what each can express"),

    /* Options of the history: where runs are kept, and which of them are meant. */
    TEXT("save", "FILE.db", history.save, RUNS | WATCH,
         "history to add this measurement to, run by run: a file of SQLite's, made where it is missing, or a "
         "fleet's server (postgresql://...)"),
    FLAG("identify", history.identify, RUNS | HISTORY,
         "names of hosts, paths and serial numbers go to a fleet's server as they are, and not hashed"),
    ROW("since", "AGE", "1m..36500d", "", age, PLACE(history.since_ns), FLEET | ADVISE,
        "only runs that are not older, as 30d", .needs = "fleet"),
    ROW("pattern", "PATTERN", "", "", pattern, PLACE(workload.pattern), FLEET | LINE_ONLY,
        "only this workload; export-prior needs it", GIVEN(workload.pattern_given)),
    TEXT("to", "ADDRESS", history.to, HISTORY, "push: the fleet's server, as postgresql://host/database"),
    TEXT("db", "FILE", history.db, EMIT | REPORT | PLOT | HISTORY | RETUNE | FLEET,
         "the history, a file or a fleet's server (postgresql://...); else $STATE_DIRECTORY/history.db, "
         "$XDG_STATE_HOME/fstune/history.db or ~/.local/state/fstune/history.db"),
    ROW("run", "ID", "1..2147483647", "", count, PLACE(history.run_id), EMIT | REPORT | ANALYSE | PLOT,
        "the run of the history, else the newest with a recommendation; or the recording, else the newest"),
    COUNT("keep", history.keep_runs, "1..1000000", "", HISTORY,
          "prune: runs that stay, the newest of each host, storage, target, pattern and command"),
    ROW("older-than", "AGE", "1m..36500d", "", age, PLACE(history.older_than_ns), HISTORY,
        "prune: runs that go, as 90d or 12h"),
    ROW("summarise", "AGE", "1m..36500d", "", age, PLACE(history.summarise_ns), HISTORY,
        "prune: of older runs one row a setting stays: mean, number and scatter of its replays"),
    COUNT("limit", history.limit, "1..1000000", "", HISTORY, "list: so many runs, the newest first"),

    /* Options of the nightly command: its targets stand in a file, so there are few. */
    TEXT("target", "NAME", retune.target, RETUNE | PLOT | LINE_ONLY,
         "only this target of the configuration; rollback needs it; plot history: else the newest"),
    TEXT("prometheus", "FILE", retune.prometheus, RETUNE,
         "write the figures of the night for node-exporter's textfile collector, as NAME.prom"),
    FLAG("force", retune.force, RETUNE | LINE_ONLY,
         "measure although the machine is busy, on battery, or was just started"),
    FLAG("online", retune.online, RETUNE | LINE_ONLY,
         "instead of targets: tune a program while it works, which re-reads its settings"),

    /* Options of pictures. */
    TEXT("output", "FILE", output, PLOT | CALIBRATE | ATOMS | PROFILE | REPLAY | ANALYSE,
         "also -o: of plot where the picture goes, FILE.png, .svg or .pdf, else the terminal; of calibrate "
         "the host file, of atoms and profile the JSON, else nothing is kept; of analyse what --as makes"),
    CHOICE("terminal", "dumb|sixel", plot.terminal, "dumb", PLOT,
           "letters, or pixels for a terminal that can show them; without --output"),
    ROW("size", "WxH", "", "", picture_size, PLACE(plot.size), PLOT,
        "width and height in pixels, else 900x560; with the dumb terminal in characters, else as it is"),
    TEXT("x", "FACTOR", plot.x, PLOT,
         "the factor along the picture, as request_size; else one of those that vary most"),
    TEXT("y", "FACTOR", plot.y, PLOT,
         "the second factor, of lines, heatmap and bars3d; else one of those that vary most"),
    TEXT("where", "KEY=VALUE,...", plot.where, PLOT,
         "what the other factors are, as direct=1,api=io_uring; else as at the best setting"),
    TEXT("title", "TEXT", plot.title, PLOT, "instead of the title that is made from the data"),
    FLAG("script", plot.script, PLOT, "print the script for gnuplot instead of running it"),

    /* Options of `report`: what the page is written to. */
    TEXT("html", "FILE", report.html, REPORT | FLEET,
         "the page, one file that needs no other; an older one is replaced"),
    TEXT("journal", "FILE", report.journal, REPORT,
         "journal that the search wrote (--resume): the page shows how the search went"),

    /* Options of experiments: the design, how long a run is, the name. */
    ROW("design", "full|sobol:N|random:N|lhs:N|fractional", "", "full", design, PLACE(experiment.design),
        EXPERIMENT,
        "settings to measure: every combination of the levels, N of them that are spread evenly (Sobol's "
        "sequence, a Latin hypercube) or drawn by chance, or the half whose level numbers have an even sum",
        IN(ANSWER)),
    COUNT("batches", experiment.batches, "1..1000000000", "", EXPERIMENT,
          "a run ends after so many batches of --batch requests, and after --duration at the latest; without "
          "it a setting's first run lasts --duration. The other replays make as many requests as the first"),
    FLAG("ask", experiment.ask, EXPERIMENT | LINE_ONLY,
         "ask for everything, in the order of Erofeev's benchmark, and read the answers from standard input; "
         "with --dry-run only print the file that does the same"),
    WORD("import", "erofeev", experiment.import, "", EXPERIMENT | LINE_ONLY,
         "FILE holds results of that benchmark: measure nothing, report them"),
    TEXT("name", "TEXT", experiment.name, EXPERIMENT, "name of the experiment; without it, that of its file"),

    /* Options of `calibrate` alone. */
    ROW("set-dirty-limits", "BACKGROUND,HARD", "64k..1024t", "", dirty_limits, PLACE(calibrate.limits_bytes),
        CALIBRATE,
        "for the time of the command, as 256m,512m: vm.dirty_background_bytes and vm.dirty_bytes (root)",
        GIVEN(calibrate.limits_given)),

    /* Options of `profile`, `manager`, `analyse` and `replay`. */
    DURATION("duration", profile.duration_ns, "50ms..168h", "none", PROFILE | MANAGER | LINE_ONLY,
             "record for so long; the program then goes on without being recorded"),
    SIZE("store", profile.store_bytes, "32k..64m", "1m", PROFILE | ANALYSE | WATCH,
         "memory for what is seen; it does not grow, and what finds no place is counted"),
    WORD("source", "auto|preload|trace", profile.source, "auto", PROFILE,
         "who looks: wrappers in the program, or the kernel, which also sees static programs and needs root; "
         "auto: the wrappers where they can be loaded"),
    COUNT(
        "pid", profile.pid, "1..4194304", "none", PROFILE | LINE_ONLY,
        "record a running process and its children by the kernel, until it ends, the time is over or Ctrl-C"),
    WORD("import", "fio-iolog|blkparse|strace|msr|alibaba", profile.import, "", PROFILE,
         "FILE holds requests that another tool recorded, - is standard input: strace -f -ttt -T -y, fio's "
         "--write_iolog, the text of blkparse, or the traces of MSR Cambridge or Alibaba as CSV"),
    TEXT(
        "save-events", "FILE.db", profile.events, PROFILE | MANAGER,
        "keep each request and the processor's time for fstune analyse (SQLite); profile: by --source trace"),
    TEXT("listen", "ADDRESS", profile.listen, MANAGER,
         "where the agent calls: unix:PATH, or HOST:PORT in a network that you trust: nothing is encrypted"),
    DURATION("wait", profile.wait_ns, "1s..168h", "60s", MANAGER,
             "for an agent that does not call, or not again after its link was cut"),
    FLAG("memory", profile.memory, PROFILE, "with --save-events: also where the program allocates memory"),
    TEXT("hardware-events", "LIST", profile.hardware_events, PROFILE,
         "count events in the program, its threads and its children: PAPI's names, as PAPI_TOT_INS or "
         "perf::PAGE-FAULTS (papi_native_avail lists them), or auto for the processor's usual ones"),
    FLAG("live", profile.live, PROFILE | LINE_ONLY,
         "show each second what the program does, in place where it prints to no terminal, else in lines"),
    WORD("as", "text|profile|fio-iolog|gmon|massif|massif-network|folded|folded-memory", profile.analysis,
         "text", ANALYSE,
         "as fstune profile tells it, or a file for fio --read_iolog, gprof, ms_print or flame graphs"),
    TEXT("object", "FILE", profile.object, ANALYSE,
         "of gmon: whose functions are meant; else those of the program with most of the processor's time"),
    FLAG("timed", profile.timed, REPLAY, "make each request when its time has come"),
    FLAG("as-fast-as-possible", profile.untimed, REPLAY,
         "make each request when the one before it has ended; the default"),
    DURATION("duration", profile.duration_ns, "50ms..168h", "none", REPLAY, "end after so long"),

    /* Options of `watch`. */
    TEXT("path", "DIR", watch.directory, WATCH | LINE_ONLY,
         "what all programs read and write below this directory, on its file system", IN(WHERE)),
    TEXT("cgroup", "GROUP", watch.group, WATCH | LINE_ONLY,
         "what the processes of this control group read and write, as /system.slice/postgresql.service",
         IN(WHERE)),
    DURATION("slice", watch.slice_ns, "1s..1h", "1m", WATCH | LINE_ONLY,
             "time of which one kind of load is told", IN(OUTPUT)),
    DURATION("duration", watch.duration_ns, "1s..8760h", "none", WATCH | LINE_ONLY,
             "end after so long; else with Ctrl-C", IN(LIMITS)),

    /* Options of predictions. */
    TEXT("host", "FILE", prediction.host, MODEL | RECOMMEND,
         "the machine: what fstune calibrate wrote; recommend takes it with --burst",
         .default_prediction = "required"),
    CHOICE("mode", "direct|sync|nosync|stdio|naive", prediction.mode, "nosync", PREDICT,
           "how the program writes: O_DIRECT and synchronously, synchronously through the page cache, into "
           "the page cache, through the C library; naive: size / rate of the device"),
    TEXT("trace", "FILE", prediction.trace, PREDICT,
         "the writes, as CSV: file,offset,size,delay_s (file may be absent); - is standard input"),
    SIZE("total", prediction.total_bytes, "1..1024t", "", MODEL,
         "bytes that are written in all, where no trace is given"),
    DURATION("delay", prediction.delay_ns, "0s..1000h", "0s", MODEL,
             "time that the program computes before each write, where no trace is given"),
    SHARE("rewrite", prediction.rewrite_share, "0%..99.9%", "", PREDICT,
          "each write begins so much of its size before the end of the one before"),
    FLAG("close", prediction.close, PREDICT,
         "with --mode stdio: what is left in the buffer is written at the end"),
    CHOICE("model", "paper|linux", prediction.model, "paper", MODEL,
           "the paper's formulas alone, or with all that is known to make them better on Linux, as far as "
           "the host file has the figures"),
    TEXT(
        "extensions", "NAME[=VALUE],...", prediction.extensions, MODEL,
        "single steps beyond the model, for studies: piecewise, balanced, rewrites, writeback, "
        "small-calls, first-touch, limit-share=SHARE, writers=N, writeback-interval=DURATION, "
        "allocation-rate=SIZE, split-cost=DURATION; of predict alone: burst-credit=SIZE and burst-rate=SIZE"),
    FLAG("validate", prediction.validate, PREDICT, "make the writes for real in --path and compare"),
    COUNT("repetitions", prediction.repetitions, "1..1000", "3", PREDICT, "with --validate: how often",
          GIVEN(prediction.repetitions_given)),
    TEXT("csv", "FILE", prediction.csv, PREDICT,
         "a line for each write goes there; - is standard output, without the text"),
    TEXT(
        "plot", "FILE.png|.svg|.pdf", prediction.picture, MODEL,
        "a picture (costs, states, dirty memory; of advise: rates over sizes of a burst); - is the terminal"),

    /* Options of loads that come in bursts: what `recommend` measures for them and `advise` predicts. */
    SIZE("burst", burst.bytes, "64k..1000t", "none", RECOMMEND,
         "of patterns that only write: the load comes in bursts of so many bytes. Bursts are measured "
         "through the page cache and past it, and the setting that serves them best is reported beside the "
         "answer for a steady load"),
    DURATION("burst-interval", burst.interval_ns, "1ms..1h", "none", RECOMMEND | ADVISE,
             "time from the end of a burst to the next one, in which the kernel writes back"),

    /* Options of `predict vm`; with the first two, `recommend` says what its answer gives in a guest. */
    TEXT("host-atoms", "FILE", prediction.vm.host_atoms, PREDICT | RECOMMEND,
         "predict vm, recommend: what fstune atoms --output wrote here"),
    TEXT("guest-atoms", "FILE", prediction.vm.guest_atoms, PREDICT | RECOMMEND,
         "predict vm: the same of the guest, by fstune or fstune-atoms in it; recommend then predicts what "
         "its answer gives in the guest"),
    TEXT("activity", "FILE", prediction.vm.activity, PREDICT,
         "predict vm: the program's time and counts, as the member activity of an earlier prediction; else "
         "the command behind -- runs here"),
    COUNT("runs", prediction.vm.runs, "1..100", "5", PREDICT,
          "predict vm: runs of the command that are timed, beside one whose system calls are counted"),
    TEXT("train", "FILE", prediction.vm.train, PREDICT,
         "predict vm: a regression instead, over programs of known target: CSV of metrics, the target last"),
    TEXT("predict", "FILE", prediction.vm.predict, PREDICT, "predict vm: metrics of programs to predict",
         .needs = "train"),
    CHOICE("regression", "least-squares|robust|non-negative", prediction.vm.method, "least-squares", PREDICT,
           "predict vm: how; robust is hardly moved by outliers, non-negative has no cost below 0 and no "
           "constant",
           .needs = "train"),

    /* Options of `predict task`. */
    TEXT("task", "FILE", prediction.task.task, PREDICT,
         "predict task: what it does, as lines operation,count (CSV), or a profile (FILE.json)"),
    TEXT("system", "FILE", prediction.task.system, PREDICT,
         "predict task: what operations cost, as fstune atoms --io --output wrote it"),

    /* Options of `cost`: the neighbour that is delayed, and how it is watched. */
    TEXT("base", "FILE", cost.base, COST,
         "calculate only: the times t0..tm of the neighbour alone, in seconds, one run a line (CSV)",
         .needs = "delayed"),
    TEXT("delayed", "FILE", cost.delayed, COST, "the same beside the program", .needs = "base"),
    ROW("reference", "NAME|COMMAND", "", "", files, TYPED(cost.references, struct settings_files), COST,
        "the neighbour: files (reads, creates and syncs files; the default), cpu, memory, or a command for "
        "the shell, observed at files that it opens; several times: the mean of their costs",
        IN(ANSWER)),
    COUNT("points", cost.points, "2..64", "7", COST,
          "observation points: the cost is a sum over the intervals between them, so that only costs of as "
          "many points compare"),
    COUNT("runs", cost.runs, "1..1000", "11", COST,
          "runs of the neighbour alone, and as many beside the command, in random order", IN(ANSWER)),
    DURATION("duration", cost.run_ns, "50ms..10m", "500ms", COST, "about how long the neighbour takes alone",
             IN(ANSWER)),
    DURATION("settle", cost.settle_ns, "0s..10m", "300ms", COST,
             "time that the command runs before the neighbour starts"),
    TEXT("load", "L1,L2,...", cost.loads, COST,
         "loads of the command: each takes the place of %L in its words, and gets a cost of its own",
         IN(ANSWER)),
    CHOICE("observe", "auto|fanotify|inotify|self", cost.observe, "auto", COST,
           "how the neighbour's progress is seen: by the kernel's notification of opens (fanotify needs "
           "root), or by its own clock"),

    /* Options of `atoms`. */
    TEXT("only", "NAME,...", atoms.only, ATOMS, "only these tests"),
    FLAG("io", atoms.storage, ATOMS,
         "the basic operations of the storage in --path instead, for fstune predict task; two files of up to "
         "1g each are written again and again"),
    COUNT("queue-depth", atoms.queue_depth, "1..16", "1", ATOMS,
          "with --io: so many operations are under way at a time, for tasks that work so; each has a thread",
          .needs = "io"),
    COUNT("rounds", atoms.rounds, "6..1000", "25", ATOMS, "timings of each test"),
    DURATION("budget", atoms.budget_ns, "1s..1h", "none", ATOMS,
             "from the start; what the rounds leave goes to tests with intervals wider than 5 % to a side"),
    FLAG("check-linear", atoms.check_linear, ATOMS,
         "put delays into the activities that can take them, and show that tests take longer in proportion"),

    /* Options that say where the command reads, writes and prints. */
    TEXT("simulate", "SURFACE", file.simulate, RUNS,
         "measure a simulated surface (a file) in virtual time instead of a disk"),
    TEXT("for", "FILE", search.profile_path, RECOMMEND,
         "what fstune profile --output wrote, or the history of fstune watch, of whose place the commonest "
         "load is meant: its pattern, the factors that the program fixes, and its present setting as the "
         "baseline, unless given"),
    TEXT("resume", "FILE", search.resume, RECOMMEND | EXPERIMENT,
         "journal of the search: made where it is missing, else the search goes on where it stopped"),
    ROW("prior", "FILE", "", "", files, TYPED(search.priors, struct settings_files), RECOMMEND,
        "an earlier answer (--json), a journal, or what fstune fleet export-prior printed, that steers where "
        "to look first; fleet: what the history of --fleet knows; up to 4 times"),
    TEXT("fleet", "ADDRESS", search.fleet, RECOMMEND,
         "the history that --prior fleet reads: postgresql://..., or a file", .needs = "prior"),
    TEXT(
        "fleet", "[ADDRESS]", search.fleet, ADVISE | LINE_ONLY,
        "ask a fleet's history (postgresql://..., or a file), by a reader of it; without ADDRESS that of the "
        "configuration",
        GIVEN(search.fleet_given)),
    ROW("seed", "N", "0..9223372036854775807", "drawn from the system; --json shows it", seed, PLACE(seed),
        EVERY | CALIBRATE | PREDICT | IMPACT | REPLAY, "start of all random numbers", GIVEN(seed_given)),
    TEXT("config", "FILE", config, BOTH | RETUNE | ADVISE | LINE_ONLY,
         "configuration with the same settings, underscores for dashes; the command line wins"),
    FLAG("dry-run", dry_run, EVERY | RETUNE | CALIBRATE | PREDICT | COST | REPLAY,
         "print the plan and do nothing", IN(OUTPUT)),
    /* Each command has formats of its own. */
    ROW("format", "text|json|markdown|csv", "", "text", format, PLACE(format), RECOMMEND,
        "of the answer: markdown has the most important lines and the ten best settings as a table, csv a "
        "row for each setting that was measured",
        IN(OUTPUT)),
    ROW("format", "text|json|csv|csv-wide|csv-matrix|erofeev", "", "text", format, PLACE(format),
        EXPERIMENT | LINE_ONLY,
        "of the result: csv is a row for each run, csv-wide one for each setting, csv-matrix a table of two "
        "factors, erofeev the text format of Erofeev's benchmark",
        IN(OUTPUT)),
    ROW("format", "csv|json", "", "", format, PLACE(format), HISTORY | LINE_ONLY,
        "of export: a row for each replay (csv, unless this is given), or an object"),
    ROW("json", NULL, "", "", json, PLACE(format),
        EVERY | HISTORY | RETUNE | CALIBRATE | PREDICT | ADVISE | IMPACT | PROFILE | REPLAY | WATCH | FLEET,
        "print one JSON document", .alias_of = "format", IN(OUTPUT)),
    FLAG("verbose", verbose, RECOMMEND, "how the search worked and which settings it left out, too",
         IN(OUTPUT)),
    FLAG("quiet", quiet, EVERY | RETUNE | CALIBRATE | PREDICT | COST | REPLAY | WATCH | MANAGER,
         "no progress line"),
};

_Static_assert(sizeof(rows) / sizeof(rows[0]) < OPTIONS_MAX_ROWS, "the table has outgrown OPTIONS_MAX_ROWS");

const struct option_row *options_row(size_t i)
{
    return i < sizeof(rows) / sizeof(rows[0]) ? &rows[i] : NULL;
}
