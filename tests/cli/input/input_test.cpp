// From bytes to keys: splitting at every boundary of blocks and reads, and packed input that is
// whole, truncated or damaged.

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "input/input.hpp"
#include "input/key_reader.hpp"
#include "terminal/progress.hpp"

namespace {

using namespace bloomset::cli;

/// Bytes from memory, at most `piece` per read, like a pipe.
class memory_source final : public byte_source {
 public:
  explicit memory_source(std::string bytes, std::size_t piece = SIZE_MAX)
      : bytes_(std::move(bytes)), piece_(piece) {}

  bloomset::result<std::size_t> read(std::span<char> into) override {
    const std::size_t n = bytes_.copy(into.data(), std::min(piece_, into.size()), at_);
    at_ += n;
    return n;
  }
  std::uint64_t consumed() const noexcept override { return at_; }

 private:
  std::string bytes_;
  std::size_t piece_;
  std::size_t at_ = 0;
};

std::vector<std::string> naive_split(std::string_view text, char end, bool strip_cr) {
  std::vector<std::string> keys;
  while (!text.empty()) {
    const auto at = text.find(end);
    std::string_view key = text.substr(0, at);
    if (strip_cr && key.ends_with('\r')) key.remove_suffix(1);
    keys.emplace_back(key);
    text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  }
  return keys;
}

std::vector<std::string> read_keys(key_reader& reader) {
  std::vector<std::string> keys;
  for (;;) {
    const auto batch = reader.next();
    if (!batch) {
      ADD_FAILURE() << batch.error().message;
      return keys;
    }
    if (batch->empty()) return keys;
    keys.insert(keys.end(), batch->begin(), batch->end());
  }
}

const std::string awkward_text = [] {
  using namespace std::string_literals;
  return "first\n\n\nline\r\nwith\rinside\n\0zero\0\n"s + std::string(100, 'x') +
         "\n\r\n\r\r\n\xff\xfe\x80 bytes\nlast line lacks its end";
}();

TEST(key_reader, splits_as_a_naive_split_does_at_every_block_and_piece_boundary) {
  const std::vector<std::string> texts = {
      "", "\n", "\n\n", "a", "a\n", "a\nb", "\r\n", "a\r", awkward_text, awkward_text + "\n"};
  for (const std::string& text : texts) {
    for (const char end : {'\n', '\0'}) {
      for (const bool strip_cr : {false, true}) {
        const auto expected = naive_split(text, end, strip_cr);
        for (std::size_t block = 1; block <= text.size() + 2; ++block) {
          for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, SIZE_MAX}) {
            key_reader reader(std::make_unique<memory_source>(text, piece),
                              {.end = end, .strip_cr = strip_cr}, block);
            ASSERT_EQ(read_keys(reader), expected)
                << "block " << block << ", piece " << piece << ", text " << text.substr(0, 20);
            EXPECT_EQ(reader.next_line(), expected.size() + 1);
          }
        }
      }
    }
  }
}

std::vector<std::string> read_blocks(key_reader& reader, char end, std::size_t memory_size) {
  line_memory memory(memory_size);
  std::vector<std::string> keys;
  for (;;) {
    const auto block = reader.next_block(memory);
    if (!block) {
      ADD_FAILURE() << block.error().message;
      return keys;
    }
    if (block->empty()) return keys;
    const auto some = naive_split({block->data(), block->size()}, end, false);
    keys.insert(keys.end(), some.begin(), some.end());
  }
}

TEST(key_reader, a_mark_and_the_last_line_are_seen_at_every_block_and_piece_boundary) {
  const std::string mark = "\xef\xbb\xbf";
  struct example {
    std::string text;
    byte_order_mark begins;
    bool lacks_end;
  };
  const std::vector<example> examples = {
      {"", byte_order_mark::none, false},
      {"a", byte_order_mark::none, true},
      {"a\r", byte_order_mark::none, true},
      {"a\r\n", byte_order_mark::none, false},
      {"\r\n\r\nb", byte_order_mark::none, true},
      {"a\nb\r\n", byte_order_mark::none, false},
      {mark, byte_order_mark::utf8, true},
      {mark + "\n", byte_order_mark::utf8, false},
      {mark + "a\r\nb\r\n", byte_order_mark::utf8, false},
      {mark + mark + "a", byte_order_mark::utf8, true},
      {"\xef\xbb", byte_order_mark::none, true},
      {"\xef\nb", byte_order_mark::none, true},
      {"\xff\xfe", byte_order_mark::utf16, true},
      {std::string("\xfe\xff\0a\0\n", 6), byte_order_mark::utf16, false},
  };
  for (const example& each : examples) {
    for (const bool drop : {false, true}) {
      const bool dropped = drop && each.begins == byte_order_mark::utf8;
      const auto expected =
          naive_split(std::string_view(each.text).substr(dropped ? mark.size() : 0), '\n', false);
      for (std::size_t block = 1; block <= each.text.size() + 2; ++block) {
        for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, SIZE_MAX}) {
          for (const bool by_block : {false, true}) {
            key_reader reader(std::make_unique<memory_source>(each.text, piece),
                              {.end = '\n', .strip_cr = false, .drop_mark = drop}, block);
            const auto keys = by_block ? read_blocks(reader, '\n', block) : read_keys(reader);
            ASSERT_EQ(keys, expected) << each.text << ", block " << block << ", piece " << piece;
            EXPECT_EQ(reader.form().mark, each.begins) << each.text << ", block " << block;
            const bool lacks_end = each.lacks_end && !expected.empty();
            EXPECT_EQ(reader.form().lacks_end, lacks_end) << each.text;
            EXPECT_EQ(reader.form().cr_at_end, lacks_end && each.text.ends_with('\r')) << each.text;
            reader.restart(std::make_unique<memory_source>("x\n"));
            EXPECT_EQ(read_keys(reader), std::vector<std::string>{"x"});
            EXPECT_EQ(reader.form().mark, byte_order_mark::none);
          }
        }
      }
    }
  }
}

TEST(key_reader, a_line_can_be_got_back_whole_though_its_cr_was_stripped) {
  const std::string text = "a\r\nb\n\r\nlast\r";
  const key_format format{.end = '\n', .strip_cr = true};
  key_reader reader(std::make_unique<memory_source>(text), format);
  std::string lines;
  std::vector<std::string> keys;
  for (auto batch = reader.next(); batch && !batch->empty(); batch = reader.next()) {
    keys.insert(keys.end(), batch->begin(), batch->end());
    for (const auto key : *batch) lines += std::string(line_of(key, format)) + "\n";
  }
  EXPECT_EQ(lines, text + "\n");
  EXPECT_EQ(keys, (std::vector<std::string>{"a", "b", "", "last"}));
}

TEST(key_reader, batches_are_bounded_and_a_long_line_is_whole) {
  std::string text(5'000'000, 'y');
  text += '\n';
  for (int i = 0; i < 5000; ++i) text += std::to_string(i) + "\n";
  key_reader reader(std::make_unique<memory_source>(text, 65536), {}, 1024);
  const auto first = reader.next();
  ASSERT_TRUE(first);
  ASSERT_FALSE(first->empty());
  EXPECT_EQ(first->front().size(), 5'000'000U);
  std::size_t keys = first->size();
  for (auto batch = reader.next(); batch && !batch->empty(); batch = reader.next()) {
    EXPECT_LE(batch->size(), key_reader::max_keys);
    keys += batch->size();
  }
  EXPECT_EQ(keys, 5001U);
}

// Text that packs to several blocks of both formats: not all of it repeats.
std::string long_text(std::size_t lines) {
  std::string text;
  std::uint64_t state = 1;
  for (std::size_t i = 0; i < lines; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX generator
    text += std::to_string(state) + "\n";
  }
  return text;
}

std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  std::string input = text;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string zstd(const std::string& text) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress2(context, packed.data(), packed.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return packed;
}

std::string skippable_frame() {
  return std::string("\x50\x2a\x4d\x18\x03\0\0\0abc", 11);
}

struct unpacked {
  std::string bytes;
  std::string failure;
};

unpacked unpack_all(const std::string& packed, std::size_t piece = SIZE_MAX,
                    std::size_t room = 65536) {
  unpacked all;
  const auto source = unpack(std::make_unique<memory_source>(packed, piece));
  if (!source) return {"", source.error().message};
  std::string block(room, '\0');
  for (;;) {
    const auto got = (*source)->read(block);
    if (!got) {
      all.failure = got.error().message;
      return all;
    }
    if (*got == 0) return all;
    all.bytes.append(block, 0, *got);
  }
}

TEST(key_reader, a_line_has_a_greatest_length) {
  for (const bool by_block : {false, true}) {
    const std::string long_line(10 << 20, 'x');
    for (const std::uint64_t limit : {std::uint64_t{4} << 20, std::uint64_t{16} << 20}) {
      key_reader reader(std::make_unique<memory_source>("a\n" + long_line + "\nb\n", 65536), {},
                        1024, limit);
      line_memory memory(2048);
      std::string text;
      std::string said;
      for (;;) {
        if (by_block) {
          const auto block = reader.next_block(memory);
          if (!block) said = block.error().message;
          if (!block || block->empty()) break;
          text.append(block->data(), block->size());
        } else {
          const auto keys = reader.next();
          if (!keys) said = keys.error().message;
          if (!keys || keys->empty()) break;
          for (const auto key : *keys) text.append(key).push_back('\n');
        }
      }
      const bool fits = limit > long_line.size();
      EXPECT_EQ(text, fits ? "a\n" + long_line + "\nb\n" : "a\n");
      EXPECT_EQ(said.find("longer than the memory limit") != std::string::npos, !fits) << said;
    }
  }
}

TEST(unpack, plain_bytes_pass_unchanged_also_those_that_begin_alike) {
  for (const std::string& text :
       {std::string(), std::string("a"), std::string("P"), std::string("(\xb5"),
        std::string("\x1f"), std::string("\x1f\x8c no gzip"), std::string("P*M\x19 no frame"),
        awkward_text}) {
    for (const std::size_t piece : {std::size_t{1}, SIZE_MAX}) {
      const auto all = unpack_all(text, piece);
      EXPECT_EQ(all.bytes, text);
      EXPECT_EQ(all.failure, "");
    }
  }
}

TEST(unpack, members_and_frames_one_after_the_other_are_one_text) {
  const std::string a = long_text(7000);
  const std::string b = "second\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {gzip(a), a},
      {gzip(a) + gzip(b) + gzip("") + gzip(b), a + b + b},
      {gzip(b) + std::string(1000, '\0'), b},  // a tape's padding
      {gzip(b) + std::string(70'000, '\0') + gzip(a), b + a},
      {zstd(a), a},
      {zstd(a) + zstd(b) + zstd("") + zstd(b), a + b + b},
      {skippable_frame() + zstd(b) + skippable_frame(), b},
      {gzip(""), ""},
      {zstd(""), ""},
  };
  for (const auto& [packed, text] : cases) {
    for (const auto& [piece, room] : std::initializer_list<std::pair<std::size_t, std::size_t>>{
             {1, 1000}, {4096, 1}, {4096, 1000}, {SIZE_MAX, 1000}, {SIZE_MAX, 1 << 20}}) {
      const auto all = unpack_all(packed, piece, room);
      ASSERT_TRUE(all.bytes == text) << "piece " << piece << ", room " << room;
      ASSERT_EQ(all.failure, "") << "piece " << piece << ", room " << room;
    }
  }
}

TEST(unpack, every_truncation_is_told_and_all_before_it_was_given) {
  const std::string text = long_text(100);
  for (const std::string& packed : {gzip(text), zstd(text)}) {
    // Fewer bytes than a magic number are not recognised, and are keys.
    const std::size_t least = packed[0] == '\x1f' ? 2 : 4;
    for (std::size_t length = least; length < packed.size(); ++length) {
      const auto all = unpack_all(packed.substr(0, length));
      ASSERT_NE(all.failure.find("ends too early, after "), std::string::npos) << length;
      ASSERT_TRUE(text.starts_with(all.bytes));
    }
  }
}

TEST(unpack, no_flipped_bit_of_the_data_goes_unnoticed) {
  const std::string text = long_text(100);
  for (const std::string& packed : {gzip(text), zstd(text)}) {
    // Past the fixed headers (10 bytes of gzip hold a time stamp and the like), where both formats
    // end in a checksum of the text. What a flip still unpacks to must be the text itself.
    for (std::size_t at = 10; at < packed.size(); ++at) {
      std::string damaged = packed;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
      const auto all = unpack_all(damaged);
      if (all.failure.empty()) {
        ASSERT_TRUE(all.bytes == text) << at;
      } else {
        ASSERT_TRUE(all.failure.find("near byte") != std::string::npos ||
                    all.failure.find("ends too early") != std::string::npos)
            << all.failure;
      }
    }
  }
}

TEST(unpack, what_follows_the_data_and_is_none_is_told) {
  EXPECT_NE(unpack_all(gzip("a\n") + "garbage").failure.find("gzip data is damaged near byte"),
            std::string::npos);
  EXPECT_NE(unpack_all(zstd("a\n") + "garbage").failure.find("zstd data is damaged near byte"),
            std::string::npos);
  EXPECT_EQ(unpack_all(gzip("a\n") + "garbage").bytes, "a\n");
}

TEST(key_reader, a_failing_source_gives_the_keys_before_it_and_their_number) {
  const std::string text = long_text(1000);
  const std::string packed = gzip(text);
  auto source = unpack(std::make_unique<memory_source>(packed.substr(0, packed.size() / 2)));
  ASSERT_TRUE(source);
  key_reader reader(std::move(*source));
  std::vector<std::string> keys;
  auto batch = reader.next();
  for (; batch && !batch->empty(); batch = reader.next()) {
    keys.insert(keys.end(), batch->begin(), batch->end());
  }
  EXPECT_FALSE(batch);
  const auto all = naive_split(text, '\n', false);
  ASSERT_GT(keys.size(), 300U);
  EXPECT_TRUE(std::equal(keys.begin(), keys.end(), all.begin()));
  EXPECT_EQ(reader.next_line(), keys.size() + 1);
}

TEST(progress, the_line_says_share_rate_and_time_left) {
  const progress_state half{.keys = 5'000'000, .bytes = 50, .total_bytes = 100, .seconds = 2};
  EXPECT_EQ(progress_line(half, 100),
            " 50% [##########----------] 5,000,000 keys, 2.5 M/s, 0:02 left");
  EXPECT_EQ(progress_line({.keys = 10, .bytes = 5, .total_bytes = {}, .seconds = 2}, 100),
            "10 keys, 5/s");
  EXPECT_EQ(progress_line({.keys = 1, .bytes = 1, .total_bytes = 7201, .seconds = 1}, 100),
            "  0% [--------------------] 1 key, 1/s, 2:00:00 left");
  EXPECT_LT(progress_line(half, 30).size(), 30U) << "a line that wraps cannot be drawn over";
  // A file that grows while it is read: never past 100%.
  EXPECT_EQ(progress_line({.keys = 9, .bytes = 300, .total_bytes = 100, .seconds = 1}, 100),
            "100% [####################] 9 keys, 9/s, 0:00 left");
}

}  // namespace
