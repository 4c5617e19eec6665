#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace bloomset::test {

/// Tests that write input files, in a folder that is removed after each.
class input_files : public testing::Test {
 protected:
  void SetUp() override {
    // One folder per test, because tests run at the same time in separate programs.
    const auto& test = *testing::UnitTest::GetInstance()->current_test_info();
    folder_ = testing::TempDir() + "/bloomset_" + test.test_suite_name() + "_" + test.name();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// The path of a new file with these bytes.
  std::string file(const std::string& name, std::string_view bytes) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << bytes;
    return folder_ + "/" + name;
  }

  std::string folder_;
};

}  // namespace bloomset::test
