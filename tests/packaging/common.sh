# Sourced by the checks: how they report. shellcheck shell=bash
failures=0

ok() { printf 'ok %s\n' "$1"; }
skip() { printf 'skip %s: %s\n' "$1" "$2"; }
fail() {
    printf 'FAIL %s: %s\n' "$1" "$(tr '\n' ' ' <<<"$2" | cut -c 1-600)"
    failures=$((failures + 1))
}

# silent WHAT COMMAND...: ok where the command succeeds without a word.
silent() {
    local what=$1 words status=0
    shift
    words=$("$@" 2>&1) || status=$?
    if [ -z "$words" ] && [ "$status" -eq 0 ]; then ok "$what"; else fail "$what" "exit code $status: $words"; fi
}

# have WHAT PROGRAM: whether it is there; the check is skipped otherwise.
have() {
    command -v "$2" >/dev/null || { skip "$1" "$2 is missing"; return 1; }
}

end_of_checks() { exit $((failures > 0)); }
