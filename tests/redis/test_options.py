"""Words and rates of native filters, and what the errors say."""

import pytest
import redis

from conftest import TOO_LARGE_BY_DEFAULT

BF_OPTIONS = "EXPANSION, NONSCALING, DELETABLE, WINDOW, GENERATIONS, HASH, ENGINE, NATIVE"


@pytest.mark.parametrize("place, command", [
    (4, ["BF.RESERVE", "f", "0.01", "100", "DELETEABLE"]),
    (4, ["BF.RESERVE", "f", "0.01", "100", "CAPCITY", "7"]),
    (6, ["BF.RESERVE", "f", "0.01", "100", "EXPANSION", "4", "ERROR", "0.1"]),
    (5, ["BF.RESERVE", "f", "0.01", "100", "NONSCALING", "4"]),
    (5, ["BF.RESERVE", "f", "0.01", "MEMORY", "64kb", "NOCREATE"]),
    (4, ["BF.RESERVE", "f", "0.01", "100", ""]),
    (3, ["CF.RESERVE", "f", "100", "CAPCITY", "7"]),
    (5, ["CF.RESERVE", "f", "100", "BUCKETSIZE", "2", "MAXITERATION", "7"]),
    (2, ["BF.INSERT", "f", "CAPCITY", "100", "ITEMS", "a"]),
    (2, ["BF.INSERT", "f", "DELETEABLE", "ITEMS", "a"]),
    (4, ["BF.INSERT", "f", "CAPACITY", "100", "NOSCALE", "ITEMS", "a"]),
    (2, ["BF.INSERT", "f", "ITEMZ", "a"]),
    (2, ["BF.INSERT", "f", "EXPANSON", "x", "ITEMS", "a"]),
    (2, ["CF.INSERT", "f", "CAPCITY", "100", "ITEMS", "a"]),
    (2, ["CF.INSERTNX", "f", "NOCREAT E", "ITEMS", "a"]),
    (4, ["CF.INSERT", "f", "CAPACITY", "100", "HASH", "XXH3", "ITEMS", "a"]),
], ids=lambda v: " ".join(v) if isinstance(v, list) else "")
def test_a_native_filter_refuses_words_that_it_does_not_know(server, place, command):
    error = server.error(*command)
    assert error.startswith(f"Unknown argument received: argument {place} of {command[0]} is none of ")
    assert server.call("EXISTS", "f") == 0
    # RedisBloom ignores such words or reads them by their first letters, and so do compatible filters.
    if command[0] in ("BF.RESERVE", "CF.RESERVE"):
        assert error.endswith(BF_OPTIONS if command[0] == "BF.RESERVE" else
                              "BUCKETSIZE, MAXITERATIONS, EXPANSION, ERROR, HASH, ENGINE, NATIVE")


def test_a_compatible_filter_takes_words_as_redisbloom_does(compatible):
    assert compatible.call("BF.RESERVE", "f", "0.01", "100", "CAPCITY", "7") == b"OK"
    assert compatible.call("CF.RESERVE", "c", "100", "CAPCITY", "7") == b"OK"
    assert compatible.call("BF.INSERT", "g", "CAPCITY", "77", "NOSCALE", "ITEMZ", "a") == [1]
    assert compatible.call("BF.INFO", "g", "CAPACITY") == [77]
    assert compatible.error("BF.INSERT", "h", "SIZE", "7", "ITEMS", "a") == "Unknown argument received"
    assert compatible.error("CF.INSERT", "h", "HASH", "7", "ITEMS", "a") == "Unknown argument received"
    # The engine may follow.
    assert "argument 2 of BF.INSERT" in compatible.error("BF.INSERT", "h", "CAPCITY", "7", "NATIVE", "ITEMS", "a")
    assert "argument 4 of BF.RESERVE" in compatible.error("BF.RESERVE", "h", "0.01", "9", "FAST", "ENGINE", "NATIVE")


def test_rates_may_be_percentages(start):
    server = start(module_arguments=["error-rate", "2%"])
    assert server.client.config_get("bf.error-rate") == {"bf.error-rate": "2%"}
    commands = {0.02: ["BF.ADD", "f", "a"], 0.01: ["BF.RESERVE", "f", "1%", "100"],
                0.001: ["BF.INSERT", "f", "ERROR", "0.1%", "ITEMS", "a"],
                0.05: ["CF.RESERVE", "f", "100", "ERROR", "5%"], 0.0045: ["BF.RESERVE", "f", "0.45%", "100"]}
    for rate, command in commands.items():
        server.call(*command)
        assert float(server.call(command[0][:2] + ".STATS", "f")[1]) == rate
        server.call("DEL", "f")
    for rate in ("100%", "0%", "%", "1%%", "-1%"):
        assert "error rate" in server.error("BF.RESERVE", "f", rate, "100")
        with pytest.raises(redis.ResponseError):
            server.call("CONFIG", "SET", "bf.error-rate", rate)
    # RedisBloom does not know them.
    assert server.error("BF.RESERVE", "f", "1%", "100", "COMPATIBLE") == "ERR bad error rate"
    assert server.error("BF.INSERT", "f", "ERROR", "1%", "COMPATIBLE", "ITEMS", "a") == "Bad error rate"
    assert server.call("EXISTS", "f") == 0


@pytest.mark.parametrize("command, kind, advice", [
    (["BF.RESERVE", "f", "1e-20", "1000"], "a filter that grows", ", or reserve with NONSCALING"),
    (["BF.RESERVE", "f", "1e-20", "1000", "DELETABLE"], "a DELETABLE filter",
     ", or reserve with NONSCALING and without DELETABLE"),
    (["BF.RESERVE", "f", "1e-20", "1000", "WINDOW", "60"], "a filter with a WINDOW",
     ", or reserve with NONSCALING and without WINDOW"),
    (["BF.INSERT", "f", "ERROR", "1e-20", "CAPACITY", "1000", "ITEMS", "a"], "a filter that grows",
     ", or reserve with NONSCALING"),
    (["CF.RESERVE", "f", "1000", "ERROR", "1e-20"], "a CF filter",
     ", or reserve by BF.RESERVE with NONSCALING, which cannot delete"),
    (["BF.RESERVE", "f", "1e-40", "1000"], "a filter that grows", ""),
    (["BF.RESERVE", "f", "1e-40", "1000", "NONSCALING"], "a fixed filter", ""),
], ids=lambda v: " ".join(v) if isinstance(v, list) else "")
def test_a_rate_that_is_too_low_names_the_filter_that_has_it(server, command, kind, advice):
    rate = next(word for word in command if word.startswith("1e-"))
    assert server.error(*command) == \
        f"ERR the error rate {rate} is too low for 1000 items in {kind}; give a higher rate{advice}"
    if advice:
        assert server.call("BF.RESERVE", "f", rate, "1000", "NONSCALING") == b"OK"


def test_a_rate_that_is_too_low_is_not_called_too_little_memory(server):
    assert "the error rate 1e-40 is too low" in server.error("BF.RESERVE", "f", "1e-40", "MEMORY", "64mb")


def test_the_limit_that_no_setting_gave_is_named_by_its_size(server):
    assert server.client.config_get("bf.max-filter-size") == {"bf.max-filter-size": "0"}
    for command in (["CF.RESERVE", "f", "1073741824"], ["BF.RESERVE", "f", "0.01", "1073741824"]):
        assert server.error(*command) == TOO_LARGE_BY_DEFAULT
    assert "1gb, the limit while bf.max-filter-size is 0" in TOO_LARGE_BY_DEFAULT
