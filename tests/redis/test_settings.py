"""Settings of the module, and the limits of size and memory that they set."""

import pytest
import redis

from conftest import TOO_LARGE, TOO_LARGE_BY_DEFAULT, wait_until


def test_settings_decide_what_a_missing_filter_becomes(start):
    server = start()
    assert server.client.config_get("bf.*") == {
        "bf.error-rate": "0.01", "bf.initial-size": "100", "bf.expansion-factor": "2",
        "bf.cf-error-rate": "0.01", "bf.cf-initial-size": "1024", "bf.cf-bucket-size": "2",
        "bf.cf-max-iterations": "20", "bf.cf-expansion-factor": "1",
        "bf.cf-max-expansions": "32", "bf.max-filter-size": "0", "bf.max-memory": "0",
        "bf.engine": "native", "bf.hash": "xxh3",
        "bf.bloom-capacity": "100", "bf.bloom-expansion": "2", "bf.bloom-fp-rate": "0.01",
        "bf.bloom-tightening-ratio": "0.5", "bf.bloom-use-random-seed": "yes",
        "bf.bloom-defrag-enabled": "yes", "bf.bloom-rdb-order": "numbers-first", "bf.bloom-memory-usage-limit": "134217728"}
    server.call("CONFIG", "SET", "bf.initial-size", "5000", "bf.expansion-factor", "0")
    server.call("CONFIG", "SET", "bf.error-rate", "0.0001")
    server.call("BF.ADD", "f", "a")
    assert server.call("BF.INFO", "f", "CAPACITY") == [5000]
    assert server.call("BF.INFO", "f", "EXPANSION") == [None]
    assert server.call("BF.INFO", "f", "SIZE")[0] * 8 > 5000 * 13.3  # 0.01% takes log2(10000) bits
    for name, value in [("bf.error-rate", "2"), ("bf.error-rate", "x"),
                        ("bf.initial-size", "0"), ("bf.expansion-factor", "40000"),
                        ("bf.max-filter-size", "1"), ("bf.max-filter-size", "65535")]:
        with pytest.raises(redis.ResponseError):
            server.call("CONFIG", "SET", name, value)
    assert server.client.config_get("bf.error-rate") == {"bf.error-rate": "0.0001"}


@pytest.mark.parametrize("arguments", [
    ["error-rate", "0.001", "initial-size", "300", "expansion-factor", "2", "max-memory", "1gb",
     "max-filter-size", "64mb"],
    ["bf-error-rate", "0.001", "bf-initial-size", "300", "bf-expansion-factor", "2", "max-memory", "0"],
    ["ERROR_RATE", "0.001", "INITIAL_SIZE", "300", "EXPANSION", "2"]],
    ids=["names", "RedisBloom's names", "RedisBloom's older names"])
def test_settings_as_arguments_of_loadmodule(start, arguments):
    server = start(module_arguments=arguments)
    server.call("BF.ADD", "f", "a")
    assert server.call("BF.INFO", "f", "CAPACITY") == [300]
    assert server.client.config_get("bf.error-rate") == {"bf.error-rate": "0.001"}
    if "1gb" in arguments:
        assert server.client.config_get("bf.max-*") == {"bf.max-memory": "1073741824",
                                                        "bf.max-filter-size": "67108864"}


@pytest.mark.parametrize("arguments, error", [
    ("COLOUR red", ""), ("ERROR_RATE", ""), ("ERROR_RATE 7", ""), ("initial-size -1", ""),
    ("max-filter-size 65535", "max-filter-size takes a whole number from .* or a size such as 64mb"),
    ("max-filter-size 1kb", "max-filter-size takes a whole number from .* or a size such as 64mb"),
    ("max-memory much", "max-memory takes a whole number from .* or a size such as 64mb"),
    ("engine other", "engine is one of native, compatible, valkey")])
def test_a_wrong_argument_of_loadmodule_stops_the_server_with_a_sentence(start, arguments, error):
    with pytest.raises(AssertionError, match="bloomset: loadmodule: .*" + error):
        start(module_arguments=arguments.split())


def test_a_huge_reserve_is_an_error_and_takes_no_memory(server):
    used = server.client.info("memory")["used_memory"]
    for command in (["BF.RESERVE", "f", "0.000001", "1073741824"],
                    ["BF.RESERVE", "f", "0.000001", "1073741824", "NONSCALING"],
                    ["BF.INSERT", "f", "CAPACITY", "1073741824", "ERROR", "0.000001", "ITEMS", "a"]):
        assert server.error(*command) == TOO_LARGE_BY_DEFAULT
    assert server.call("EXISTS", "f") == 0
    assert server.client.info("memory")["used_memory"] < used + (1 << 20)


def test_a_filter_stops_growing_at_the_limit(start):
    server = start()
    server.call("CONFIG", "SET", "bf.max-filter-size", "64kb")
    refused = None
    for first in range(0, 200_000, 1000):
        try:
            replies = server.call("BF.MADD", "f", *range(first, first + 1000))
        except redis.ResponseError as why:
            replies = [why]
        if isinstance(replies[-1], redis.ResponseError):
            refused = replies[-1]
            break
    assert str(refused) == "problem inserting into filter: it has reached bf.max-filter-size"
    assert server.call("BF.INFO", "f", "SIZE")[0] < 3 * 65536
    assert server.error("BF.RESERVE", "g", "0.01", "1000000") == TOO_LARGE


def test_filters_count_as_the_servers_memory(start):
    server = start("--maxmemory", "20mb")
    used = server.client.info("memory")["used_memory"]
    server.call("BF.RESERVE", "f", "0.01", "5000000", "NONSCALING")
    grown = server.client.info("memory")["used_memory"] - used
    size = server.call("BF.INFO", "f", "SIZE")[0]
    # The server's allocator rounds up by at most a quarter.
    assert size <= grown <= 1.25 * size + (1 << 18)
    assert size <= server.call("MEMORY", "USAGE", "f") <= size + 4096
    assert server.error("BF.RESERVE", "g", "0.01", "15000000", "NONSCALING") == \
        "ERR Insufficient memory to create filter"
    # Beyond maxmemory, writes are refused as for any key.
    server.call("CONFIG", "SET", "maxmemory", "4mb")
    assert server.error("BF.ADD", "f", "x").startswith("OOM command not allowed")
    assert server.call("BF.EXISTS", "f", "x") == 0
    server.call("DEL", "f")
    # Valkey frees deleted values in the background.
    wait_until(lambda: server.client.info("memory")["used_memory"] < used + (1 << 20))
