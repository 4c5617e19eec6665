// The pages that a list of URLs names, each once. Threads share the list and one filter. URLs are
// brought to normal form first, so that the spellings of a URL are one key.

#include <atomic>
#include <bloomset/keys/url.hpp>
#include <bloomset/vector_quotient.hpp>
#include <cstddef>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

int main() {
  std::vector<std::string> urls = {"mailto:alice@example.com"};
  for (int page = 0; page < 2'500; ++page) {
    const std::string path = std::to_string(page);
    urls.push_back("http://example.com/" + path);
    urls.push_back("HTTP://Example.com:80/" + path);
    urls.push_back("http://example.com/news/../" + path);
    urls.push_back("http://example.com:/" + path + "#comments");
  }

  bloomset::vector_quotient seen({.capacity = 10'000, .fpr = 1e-6});
  auto shared = seen.concurrent();
  std::atomic<std::size_t> next = 0;
  std::atomic<int> pages = 0, refused = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < urls.size(); i = next++) {
      const auto url = bloomset::keys::normalise_url(urls[i]);
      if (!url) {
        ++refused;
        continue;
      }
      if (shared.may_contain(*url)) continue;  // takes no lock; most URLs end here
      // Several threads may come here with one page. Only the first is told `inserted`.
      const auto outcome = shared.insert(*url);
      if (!is_contained(outcome)) std::puts("the filter is full");
      if (outcome == bloomset::insert_outcome::inserted) ++pages;  // fetch the page
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) threads.emplace_back(work);
  }
  std::printf("%zu URLs, %d pages, %d refused\n", urls.size(), pages.load(), refused.load());
}
