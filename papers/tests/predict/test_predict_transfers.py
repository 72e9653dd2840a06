"""Predictions by papers H and M for transfers that end: their inputs and their accuracy."""

import pytest
from airtcp import models
from airtcp.predict import predict
from airtcp.run.simulate import simulate
from airtcp.scenario import ResolvedScenario, loads
from asked import broken, values
from bases import cell

# Paper H: effective service time.

TCP = (
    'tcp = {{ mss = "1460 B", initial_window = 4, receive_window = {{ segments = {window} }}, '
    "delayed_ack = {{ every = {d} }} }}"
)
WEB = (
    '{{ kind = "web", size = {{ distribution = "{law}", mean = "100 kB"{more} }}, '
    'think_time = {{ distribution = "exponential", mean = "{think} s" }}, request = "300 B" }}'
)
BULK = '{ kind = "bulk", size = { distribution = "deterministic", value = "200 kB" } }'


def browsing(
    count: int = 5,
    *,
    law: str = "exponential",
    more: str = "",
    think: float = 2.0,
    window: int = 20,
    d: int = 2,
    mac: str = "",
    application: str = "",
) -> ResolvedScenario:
    asked = application or WEB.format(law=law, more=more, think=think)
    head = {"phy": 'control_rate = "2 Mb/s"', "tables": mac, "name": "sta", "application": asked}
    tcp, run = TCP.format(window=window, d=d), {"warmup": "50 s", "duration": "1000 s"}
    return loads(cell(count, **head, flow=tcp, **run, replications=4))


def test_few_stations_are_an_engset_queue_of_effective_service_times() -> None:
    asked = browsing()

    said, measured = predict(asked), simulate(asked).metrics

    assert said.model["transfer_time_s"][0].source == "H (19), few sources"
    for metric in ("transfer_time_s", "transfer_time_to_last_ack_s", "goodput_bps", "active_flows"):
        told = values(said, metric)["H (19), few sources"]
        assert told == pytest.approx(measured[metric].mean, rel=0.06), metric


def test_percentiles_are_those_of_few_stations_that_wait_for_their_transfers() -> None:
    """Ten stations that request 93 % of the channel: Poisson arrivals would be far too slow."""
    asked = browsing(10, think=1.75, window=6)

    said, measured = predict(asked), simulate(asked).metrics

    for metric in ("transfer_time_p50_s", "transfer_time_p90_s", "transfer_time_p99_s"):
        told = values(said, metric)
        assert said.model[metric][0].source == "H (26), few sources"
        assert told["H (26), few sources"] == pytest.approx(measured[metric].mean, rel=0.11), metric
        assert told["H (26)"] > 3.0 * measured[metric].mean


def test_many_stations_are_a_poisson_process() -> None:
    """40 % of the channel, 200 stations that hardly wait for each other, the paper's window."""
    asked = browsing(200, think=75.0, window=6)

    said, measured = predict(asked), simulate(asked).metrics

    for metric in ("transfer_time_s", "goodput_bps", "active_flows"):
        told = values(said, metric)["H (29)"]
        assert told == pytest.approx(measured[metric].mean, rel=0.08), metric
    for metric in ("transfer_time_p50_s", "transfer_time_p90_s", "transfer_time_p99_s"):
        told = values(said, metric)["H (26)"]
        assert told == pytest.approx(measured[metric].mean, rel=0.15), metric
    assert "windows open" not in broken(said, "H (26)", "transfer_time_p90_s")


def test_windows_that_open_wide_give_long_files_more_than_their_share() -> None:
    asked = browsing(200, think=75.0, window=44)

    said, measured = predict(asked), simulate(asked).metrics

    assert "the 99th percentile is too high" in broken(said, "H (26)", "transfer_time_p90_s")
    median, last = "transfer_time_p50_s", "transfer_time_p99_s"
    assert values(said, median)["H (26)"] < measured[median].mean
    assert values(said, last)["H (26)"] > measured[last].mean


def test_a_load_above_one_is_unstable_and_by_how_much() -> None:
    said = predict(browsing(200, think=2.0))

    assert "the system is unstable, work exceeds capacity by" in said.unanswered["H (29)"]
    assert "H (19), few sources" in values(said)


def test_quantiles_are_of_exponential_sizes_alone() -> None:
    said = predict(browsing(law="pareto", more=", shape = 1.5"))

    assert "transfer_time_p90_s" not in said.model
    assert "heavy-tailed" in broken(said, "H (19), few sources")


def test_paper_m_comes_first_where_each_segment_waits_for_its_ack() -> None:
    said = predict(browsing(window=1, d=1))

    assert said.model["transfer_time_s"][0].source == "M (17), corrected"
    sentences = broken(said, "H (19), few sources")
    assert "here d = 1: there are more" in sentences
    assert "the window is 1 segment" in sentences


def test_a_transfer_that_is_alone_takes_its_effective_service_time() -> None:
    asked = browsing(1, application=BULK)
    started = asked.model_copy(
        update={
            "run": asked.run.model_copy(update={"warmup_ns": 0, "replications": 40}),
        }
    )

    said, measured = predict(started), simulate(started).metrics

    assert list(values(said, "transfer_time_s")) == ["H (19)", "M (14), corrected"]
    told = values(said, "transfer_time_s")["H (19)"]
    assert told == pytest.approx(measured["transfer_time_s"].mean, rel=0.02)
    told = values(said, "transfer_time_to_last_ack_s")["H (19)"]
    assert told == pytest.approx(measured["transfer_time_to_last_ack_s"].mean, rel=0.02)
    assert "M (14)" in values(said, "transfer_time_to_last_ack_s")


def test_a_lone_transfer_with_delayed_acks_is_paper_m_s_too() -> None:
    """W* = d = 2 without handshake: access point and station take turns, as in the model."""
    mac = '[mac]\nrules = { preset = "bianchi" }\n'
    asked = browsing(1, application=BULK, window=2, mac=mac)

    said = predict(asked)
    run = asked.run.model_copy(update={"warmup_ns": 0, "replications": 40})
    measured = simulate(asked.model_copy(update={"run": run})).metrics

    told = values(said, "transfer_time_s")["M (14), corrected"]
    assert told == pytest.approx(measured["transfer_time_s"].mean, rel=0.01)


# FTP: transfers that do not wait for each other.

FTP = (
    '{{ kind = "ftp", size = {{ distribution = "exponential", mean = "200 kB" }}, '
    "interarrival = {interval}, control = {control} }}"
)
POISSON = '{{ distribution = "exponential", mean = "{every} s" }}'


def ftp(
    every: float = 0.75,
    *,
    interval: str = "",
    control: str = "true",
    count: int = 1,
    **keys: object,
) -> ResolvedScenario:
    application = FTP.format(interval=interval or POISSON.format(every=every), control=control)
    return browsing(count, application=application, **{"window": 6, **keys})  # type: ignore[arg-type]


def test_ftp_is_the_open_queue_of_paper_h() -> None:
    asked = ftp()

    said, measured = predict(asked), simulate(asked).metrics

    tcp = asked.flows[0].tcp
    assert tcp is not None
    parameters = models.hoekstra.Parameters.from_phy(
        models.airtime.Phy.of(asked.phy), mss_bytes=tcp.mss_bytes, header_bits=tcp.header_bits
    )
    # Without beacons, like (19); Table II's dialogue is that of the scenario.
    expected = models.hoekstra.effective_load(200_000, 1 / 0.75, parameters)
    assert values(said, "transfer_time_to_last_ack_s")["H (29)"] == pytest.approx(
        float(expected.mean_transfer_s) + 0.2, rel=1e-12
    )
    # Transfers in (30) are in progress until their last ACK, which takes longer.
    rate, times = 1 / 0.75, values(said, "transfer_time_s")
    last_ack_s = float(expected.mean_transfer_s) - times["H (29)"]
    assert values(said, "active_flows")["H (29)"] == pytest.approx(
        float(expected.rho / (1.0 - expected.rho)) - rate * last_ack_s, rel=1e-9
    )
    assert said.model["transfer_time_s"][0].source == "H (29), H2 corrected"
    for metric in ("transfer_time_s", "transfer_time_to_last_ack_s", "active_flows"):
        for source, told in values(said, metric).items():
            assert told == pytest.approx(measured[metric].mean, rel=0.1), (metric, source)


def test_without_a_dialogue_ftp_is_as_fast_as_web() -> None:
    with_it, without = predict(ftp()), predict(ftp(control="false"))

    one = values(with_it, "transfer_time_s")["H (29)"]
    assert values(without, "transfer_time_s")["H (29)"] < one
    assert (
        values(without, "transfer_time_s")["M (16), Poisson arrivals"]
        < (values(with_it, "transfer_time_s")["M (16), Poisson arrivals"])
    )


def test_an_overload_of_ftp_is_in_no_model_and_why() -> None:
    said = predict(ftp(every=0.2))

    assert said.model == {}
    assert said.uncovered is not None
    assert "H (29): rho_eff must be below 1" in said.uncovered
    assert "the system is unstable, work exceeds capacity by" in said.uncovered


def test_the_capacities_of_paper_m_are_those_of_the_stations() -> None:
    """Twenty stations share the joint goodput of their downloads, with Poisson arrivals."""
    asked = ftp(every=15.0, count=20)

    said = predict(asked)

    (pi,) = (
        entry.value
        for entry in said.model["active_flows_distribution"]
        if entry.source == "M (16), Poisson arrivals"
    )
    assert isinstance(pi, list)
    assert sum(pi) == pytest.approx(1.0)
    told, measured = values(said, "transfer_time_s"), simulate(asked).metrics["transfer_time_s"]
    assert told["M (16), Poisson arrivals"] == pytest.approx(measured.mean, rel=0.08)


@pytest.mark.parametrize(
    ("interval", "count", "words"),
    [
        ('{ distribution = "deterministic", value = "1 s" }', 1, "more regular"),
        ('{ distribution = "hyperexponential", mean = "1 s", scv = 4.0 }', 1, "less regular"),
        ('{ distribution = "deterministic", value = "30 s" }', 30, "is close to a Poisson process"),
    ],
)
def test_arrivals_that_are_no_poisson_process_are_named(
    interval: str, count: int, words: str
) -> None:
    said = predict(ftp(interval=interval, count=count))

    assert words in broken(said, "H (29)")
    assert words in broken(said, "M (16), Poisson arrivals")


def test_ftp_beside_others_is_in_no_model() -> None:
    asked = ftp().model_dump(mode="json", by_alias=True)
    other = browsing(1).model_dump(mode="json", by_alias=True)["flows"][0]
    asked["flows"].append({**other, "name": "web"})

    said = predict(ResolvedScenario.from_dict(asked))

    assert "FTP" in (said.uncovered or "")


@pytest.mark.parametrize(("mean", "told"), [("0.135 s", True), ("0.3 s", False)])
def test_a_model_says_that_its_load_is_near_one(mean: str, told: bool) -> None:
    law = f'{{ distribution = "exponential", mean = "{mean}" }}'
    size = 'size = { distribution = "exponential", mean = "80 kB" }'
    application = f'{{ kind = "ftp", interarrival = {law}, {size} }}'

    said = predict(browsing(1, application=application, window=6))

    for source in ("H (29), H2 corrected", "M (16), Poisson arrivals"):
        sentence = broken(said, source, "transfer_time_s")
        assert ("the load is well below 1" in sentence) is told
