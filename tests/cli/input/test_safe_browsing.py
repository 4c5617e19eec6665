"""--keys safe-browsing: the rate of URLs, of which each asks for several keys."""

import math


def test_the_rate_of_a_url_is_that_of_a_key_times_its_expressions(run, info):
    listed, asked = 20_000, 40_000
    run("build", "--keys", "safe-browsing", "--kind", "bloom", "--fpr", "0.5%", "-o", "bad.bloom",
        input=b"".join(b"site%d.example/\n" % i for i in range(listed))).ok()
    rate = info("bad.bloom")["current_fpr"]
    # Two hosts and five paths: ten expressions, none of them another URL's.
    urls = b"".join(b"http://www.shop%d.test/a/b/c.html?q\n" % i for i in range(asked))
    found = int(run("check", "-c", "--keys", "safe-browsing", "bad.bloom", input=urls).out)
    expected = 1 - (1 - rate - listed / 2**32) ** 10
    # Binomial: beyond 6 deviations has a chance below 1e-8.
    assert abs(found - asked * expected) < 6 * math.sqrt(asked * expected)
