"""Runs a Prometheus server on the metrics in a scratch directory, and asks it every query of a dashboard and of alert rules.
usage: queries.py DASHBOARD RULES SCRATCH    Prints lines "ok WHAT" and "FAIL WHAT: DETAILS"."""

import functools
import http.server
import json
import pathlib
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

# For a server on a busy machine to start and to have scraped twice.
PATIENCE_S = 60


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Quiet(http.server.SimpleHTTPRequestHandler):
    extensions_map = {"": "text/plain"}

    def log_message(self, *arguments):
        pass


def serve(folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def start(scratch, metrics_port):
    port = free_port()
    (scratch / "prometheus.yml").write_text(
        "global: {scrape_interval: 1s}\n"
        f"scrape_configs: [{{job_name: node, honor_timestamps: true, static_configs: [{{targets: ['127.0.0.1:{metrics_port}']}}]}}]\n")
    arguments = [f"--config.file={scratch}/prometheus.yml", f"--storage.tsdb.path={scratch}/tsdb", f"--web.listen-address=127.0.0.1:{port}"]
    return port, subprocess.Popen(["prometheus", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def ask(port, query):
    address = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": query})
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        said = error.read().decode(errors="replace")
        # A server that begins says so in plain text.
        return json.loads(said) if said.startswith("{") else {"status": "error", "error": said}
    except OSError as error:
        return {"status": "error", "error": str(error)}


def wait(port):
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if ask(port, "fstune_exit_code").get("data", {}).get("result"):
            return True
        time.sleep(0.2)
    return False


def tell(what, wrong):
    print(f"FAIL {what}: {wrong}" if wrong else f"ok {what}", flush=True)
    return bool(wrong)


def main(dashboard, rules, scratch):
    scratch = pathlib.Path(scratch)
    panels = json.loads(pathlib.Path(dashboard).read_text())["panels"]
    queries = [t["expr"].replace("$target", ".*") for p in panels for t in p["targets"]]
    alerts = re.findall(r"^ +expr: (.*)$", pathlib.Path(rules).read_text(), re.MULTILINE)
    printed = set(re.findall(r"^# TYPE (\S+)", (scratch / "metrics").read_text(), re.MULTILINE))
    named = {name for query in queries + alerts for name in re.findall(r"fstune_[a-z0-9_]+", query)}
    bad = tell("every metric that is asked for is printed", ", ".join(sorted(named - printed)))
    ids = [panel["id"] for panel in panels]
    bad += tell("each panel has an id of its own and says what it shows", "" if len(set(ids)) == len(ids) and all(p["description"] for p in panels) else "not so")
    port, server = start(scratch, serve(scratch))
    try:
        if not wait(port):
            return bad + tell("the server has the metrics", f"not after {PATIENCE_S} s")
        for query in queries:
            answer = ask(port, query)
            targets = {row["metric"].get("target") for row in answer.get("data", {}).get("result", [])}
            # Percentiles are known where requests are many.
            enough = answer["status"] == "success" and (targets >= {"vms", "db"} or "_p99" in query)
            bad += tell(f"dashboard: {query}", "" if enough else answer.get("error", f"only {targets}"))
        for query in alerts:
            answer = ask(port, query)
            bad += tell(f"alert: {query}", "" if answer["status"] == "success" else answer["error"])
    finally:
        server.terminate()
        server.wait()
    return bad


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) > 0)
