"""What the figures of documents have to do with each other. A figure of another unit or another meaning breaks these rules, while a
schema sees no more than a number."""

import math

NEAR = 0.02


def is_near(a, b, share=NEAR):
    return a is None or b is None or math.isclose(a, b, rel_tol=share, abs_tol=1e-12)


def rises(object_, *keys):
    """The values that are known rise in this order, but for rounding."""
    values = [object_[key] for key in keys if object_.get(key) is not None]
    return all(a <= b * (1 + 1e-9) + 1e-12 if b >= 0 else a <= b + 1e-9 for a, b in zip(values, values[1:]))


def pattern(value):
    shares = [share for key, share in value.items() if key != "name"]
    yield "shares of a pattern sum to 1", is_near(sum(shares), 1)


def latency(value):
    yield "percentiles rise to max", rises(value, "p50", "p99", "p999", "max")
    yield "the mean is below max", rises(value, "mean", "max")
    for key in ("p50", "p99", "p999"):
        yield f"{key} lies in its interval", rises(value, f"{key}_ci_low", key, f"{key}_ci_high")


def interval(value):
    yield "a mean lies in its interval", rises(value, "ci_low", "mean", "ci_high")


def row(value):
    yield from interval(value)
    yield "preliminary is below 5 replays", value["preliminary"] == (value["replays"] < 5)
    yield "no interval below 3 replays", value["replays"] >= 3 or value["ci_low"] is None
    yield "what disqualifies is a warning", set(value["disqualified_by"]) <= set(value["warnings"])
    yield from little(value)


def little(value):
    """Requests in flight = requests per second x their latency. What breaks that says so itself. A flush at the end belongs to the rate
    and to no request, and can take many times as long as these."""
    sizes = {value["request_size"], value.get("write_request_size", value["request_size"])}
    latency = value["latency_ns"]
    known = value["mean"] is not None and latency["mean"] is not None
    direct = value["direct"] == 1 and value["api"] != "pvec" and not value["warnings"]
    if known and direct and len(sizes) == 1:
        per_latency = latency["mean"] / 1e9 / value["request_size"]
        in_flight = value["mean"] * per_latency
        in_queues = value["achieved_depth"] * value["threads"] * value["n_places"]
        # Each replay obeys the law, but a product of two means is off by their covariance, at most the product of the scatters.
        apart = (value["std"] or 0) * per_latency * relative_scatter(latency, value["replays"])
        expected = in_queues * excess_of_two(value)
        obeys = is_near(in_flight, expected, 0.5) or abs(in_flight - in_queues) <= apart
        words = f"depth = rate x latency ({in_flight:.4g} for {expected:.4g}, {value['replays']} replays)"
        yield words, obeys or (value["sync"] == "end" and 0.05 * in_queues < in_flight < in_queues)
    yield "depth is at most what was asked for", not known or value["achieved_depth"] <= value["queue_depth"] * 1.01


def excess_of_two(value):
    """Two rates m + d and m - d whose latencies are their inverse: the product of the means is m^2 / (m^2 - d^2) of each product."""
    if value["replays"] != 2 or not value["std"]:
        return 1
    return 1 / (1 - value["std"] ** 2 / 2 / value["mean"] ** 2)


def relative_scatter(figures, n):
    """The most that n values scatter by, as a share of their mean, to have this interval of 95 % (Student's t is above 1.96)."""
    if figures["ci_low"] is None:
        return 0
    return (figures["ci_high"] - figures["ci_low"]) / 2 * math.sqrt(n) / 1.96 / figures["mean"]


def in_flight(setting):
    return max(setting["request_size"], setting.get("write_request_size", 0)) * setting["queue_depth"] * setting["threads"] * setting.get("clients", 1)


def scatter(figures):
    """Coefficient of variation of the replays; 0 where there is one."""
    return (figures["std"] or 0) / figures["mean"]


def neighbour(value, points):
    most = value["points"] - 1
    yield "no cost is beyond what intervals can be delayed", all(abs(point.get("pcost", 0)) <= most + NEAR for point in points)
    for setting in (value[name] for name in ("recommended", "best", "fastest") if value[name]):
        yield "a cost of a setting lies in its interval", rises(setting, "ci_low", "pcost", "ci_high")
    search = value["search"]
    yield "runs and pauses are part of the search", search["busy_seconds"] + search["waited_seconds"] <= search["seconds"]
    yield "the mean cost of runs lies in its interval", rises(search, "runs_ci_low", "runs_pcost", "runs_ci_high")


def guest(value):
    for setting in value.values():
        yield "a rate in a guest lies in its interval", rises(setting["throughput_bps"], "ci_low", "mean", "ci_high")
        yield "what a guest adds lies in its interval", rises(setting["added_s"], "ci_low", "mean", "ci_high")


def recommendation(value):
    if "guest" in value:
        yield from guest(value["guest"])
    if "neighbour" in value:
        yield from neighbour(value["neighbour"], value["points"])
    points, best, over = value["points"], value["best"], value["best_over_recommended"]
    yield "points_measured counts points", value["search"]["points_measured"] == len(points)
    yield "runs are no fewer than replays", value["search"]["runs"] + 1 >= len(points)
    if value["recommendation"] is None:
        yield "without an answer there are no figures", value["throughput"] is None and best is None and not value["conclusive"]
        return
    mean = value["throughput"]["mean"]
    if "write_request_size" not in value["recommendation"]:
        yield "iops x request size = throughput", is_near(value["iops"]["mean"] * value["recommendation"]["request_size"], mean)
    yield "best over recommended, throughput", is_near(over["throughput"], best["mean"] / mean)
    yield "best over recommended, bytes in flight", is_near(over["bytes_in_flight"], in_flight(best) / in_flight(value["recommendation"]))
    yield "the setting is among the points", any(all(p.get(k) == v for k, v in value["recommendation"].items()) for p in points)
    for key in ("baseline", "default"):
        compared = value.get(key)
        if compared and compared.get("mean") and compared["speedup"]:
            # It is a ratio of geometric means: replays that scatter keep these below the arithmetic ones, by half of cv^2 or so.
            apart = 0.2 + scatter(value["throughput"]) ** 2 + scatter(compared) ** 2
            yield f"speedup over the {key}", is_near(compared["speedup"]["mean"], mean / compared["mean"], apart)
    if value["objective"] and value["objective"]["name"] == "throughput":
        yield "the objective is the throughput", is_near(value["objective"]["mean"], mean)
    shortfall = value["shortfall_bound"]["share"]
    yield "a shortfall is a share", shortfall is None or 0 <= shortfall <= 1


def measurement(value):
    if value["row"] is None:
        yield "no figures, no trust", not value["trustworthy"] and value["throughput"] is None
        return
    rates = [run["throughput"] for run in value["runs"]]
    yield "the mean is that of the runs", is_near(value["row"]["mean"], sum(rates) / len(rates))
    yield "the throughput is that of the row", is_near(value["row"]["mean"], value["throughput"]["mean"])
    yield "replays counts runs, or the last of them", value["row"]["replays"] == (value["steady_state"] or {"rounds_judged": len(rates)})["rounds_judged"]
    yield "trust is no disqualification", value["trustworthy"] == (not value["row"]["disqualified_by"])
    for rate in value.get("rates", []):
        achieved, offered = rate["achieved_bps"]["mean"], rate["offered_bps"]
        if rate["process"] == "linear" and achieved is not None:
            yield "what is kept comes back", achieved >= 0.9 * offered or not rate["kept"]
            yield "no more comes back than was offered", achieved <= 1.03 * offered
        yield "shares refer to the mean", is_near(rate["offered_share"], offered / value["row"]["mean"])
        yield "percentiles of a rate rise to max", rises(rate["latency_ns"], "p50", "p90", "p99", "p999", "max")
        yield "the runs' p99 rise", rises(rate["latency_ns"], "p99_lowest_run", "p99_highest_run")
    for run in value["runs"]:
        yield "what counts is moved", run["bytes"] <= run["moved_bytes"]
        yield "bytes / seconds = throughput", is_near(run["bytes"] / run["seconds"], run["throughput"], 0.5)


def compared(value):
    means = value["mean"]
    if None not in means and means[0]:
        yield "the ratio is the second over the first", is_near(value["ratio"], means[1] / means[0])
    yield "the ratio lies in its interval", rises(value, "ci_low", "ratio", "ci_high")


def profile(value):
    shares = [share for key, share in value["shares"].items() if key != "margin"]
    percents = [percent for key, percent in value["pattern"].items() if key != "name"]
    yield "shares sum to 1, or nothing was judged", sum(shares) == 0 or is_near(sum(shares), 1)
    yield "per cent sum to 100, or nothing was judged", sum(percents) in (0, 100)
    yield "without enough there is no pattern", value["enough"] or value["pattern"]["name"] is None
    for direction in ("read", "write"):
        yield f"sizes are those of each {direction}", value["request_size"][direction]["n"] == value["requests"][direction]
        yield f"the histogram holds each {direction}", sum(value["request_size"][direction]["histogram"]) == value["requests"][direction]
    moved = value["bytes"]["read"] + value["bytes"]["write"]
    recorded_s = value["seconds"] and value["seconds"] - value["paused_s"]
    yield "bytes / seconds = rate", not recorded_s or is_near(moved / recorded_s, value["rate"]["mean_bps"])
    for what in ("requests", "bytes"):
        for member in value["marks"][0][what] if value["marks"] else ():
            yield f"{what} of the marks are among those of all", sum(mark[what][member] for mark in value["marks"]) <= value[what][member]
    for mark in value["marks"]:
        yield "a mark's shares sum to 1, or it has no requests", sum(mark["shares"]) == 0 or is_near(sum(mark["shares"]), 1)
        yield "a mark is first before it is last", mark["first_s"] <= mark["last_s"]
    over_time = value["over_time"]
    yield "no more bytes over time than in all", sum(over_time["bytes"]) <= moved
    yield "no more requests over time than in all", sum(sum(over_time[kind]) for kind in value["shares"] if kind != "margin") <= value["events"]
    yield "the recording ends inside the last interval", not value["seconds"] or value["seconds"] <= len(over_time["bytes"]) * over_time["interval_s"]
    yield "caches grow, and serve more", value["caches"] == sorted(value["caches"], key=lambda cache: (cache["bytes"], cache["served_share"]))
    yield "what is fixed is not free", not set(value["fixed"]) & set(value["free"])
    for event in value["hardware"] or []:
        yield f"{event['event']} by request is its count", event["per_request"] is None or is_near(event["per_request"] * value["events"], event["count"])
        yield f"{event['event']} is unknown where it had no counter", (event["count"] is None) == (event["running_share"] == 0)
    for stream in value["streams"]:
        yield "shares of a stream sum to 1", is_near(sum(stream[f"{order}_share"] for order in ("sequential", "strided", "random")), 1)


def atoms(value):
    for atom in value["atoms"]:
        low = atom["median"]["ci_low"]
        yield f"{atom['name']} is measured where its median is above 0", (atom["status"] == "measured") == (low is not None and low > 0)
        yield f"{atom['name']} that is not here has no figures", (atom["status"] == "not here") == (atom["replays"] == 0)
        yield f"the mean of {atom['name']} lies in its interval", rises(atom, "ci_low", "mean", "ci_high")


def vm_prediction(value):
    terms = value["terms"]
    yield "slowdown = guest / host", is_near(value["slowdown"], value["vm_s"] / value["host_s"])
    yield "the guest takes longer by the losses", is_near(value["vm_s"], value["host_s"] + sum(term["vm_s"] - term["host_s"] for term in terms))
    yield "terms and the rest make up the host's time", is_near(value["host_s"], sum(term["host_s"] for term in terms) + value["unexplained_share"] * value["host_s"])
    yield "the time is that of the activity", is_near(value["host_s"], value["activity"]["seconds"]["mean"])


def task_prediction(value):
    uncorrected = sum(term["seconds"] for term in value["terms"])
    yield "operations make up the time", is_near(value["uncorrected_s"], uncorrected)
    yield "changes make up the rest", is_near(value["seconds"], uncorrected + sum(change["seconds"] for change in value["changes"]))
    for term in value["terms"] + value["changes"]:
        yield "count x each = seconds", is_near(term["count"] * term["each_s"], term["seconds"])
    yield "the time lies in its interval", rises(value, "ci_low", "seconds", "ci_high")


def cost(value):
    costs = [load["pcost"] for load in value["loads"]]
    yield "the cost is the highest of the loads", is_near(value["pcost"], max(costs))
    yield "intervals are those of the first reference of that load", value["intervals"] in [load["references"][0]["intervals"] for load in value["loads"]]
    for load in [value, *value["loads"]]:
        yield "heavy is above 0.25", load["heavy"] == (load["pcost"] > 0.25)
        yield "a cost lies in its interval", rises(load, "ci_low", "pcost", "ci_high")
        yield "no interval below 3 runs", value["runs"] >= 3 or load["ci_low"] is None
    for load in value["loads"]:
        parts = [reference["pcost"] for reference in load["references"]]
        yield "the cost of a load is the mean of those of the references", is_near(load["pcost"], sum(parts) / len(parts))
        for reference in load["references"]:
            yield "intervals make up the cost", is_near(reference["pcost"], sum(interval["pcost"] for interval in reference["intervals"]))


def beside_figures(value):
    yield "percentiles rise to max", rises(value["latency_ns"], "p50", "p99", "max")
    yield "without requests there is no latency", (value["requests"] == 0) == (value["latency_ns"]["mean"] is None)


def parameter(value):
    yield "a value lies in its interval", rises(value, "ci_low", "value", "ci_high")


RULES = {
    "common.json#/$defs/pattern": pattern,
    "common.json#/$defs/latency": latency,
    "common.json#/$defs/interval": interval,
    "common.json#/$defs/ratio": interval,
    "common.json#/$defs/figure": interval,
    "common.json#/$defs/throughput": interval,
    "common.json#/$defs/row_members": row,
    "common.json#/$defs/comparison_figures": compared,
    "calibration-1.json#/$defs/parameter": parameter,
    "common.json#/$defs/beside_figures": beside_figures,
    "atoms-1.json#": atoms,
    "cost-1.json#": cost,
    "profile-1.json#": profile,
    "task-prediction-1.json#": task_prediction,
    "vm-prediction-1.json#": vm_prediction,
    "recommendation-1.json#": recommendation,
    "measurement-1.json#": measurement,
}


def broken(where, value, n_places):
    """What is broken at a part of a document that tells of so many places; each has queues of its own."""
    rule = RULES.get(where)
    if rule is None or not isinstance(value, dict):
        return []
    known = {**value, "n_places": n_places} if rule is row else value
    return [f"{where}: not so: {words}" for words, holds in rule(known) if not holds]
