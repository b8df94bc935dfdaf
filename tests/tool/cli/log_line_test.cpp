// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/log_line.hpp"

#include <array>
#include <cstdlib>
#include <ctime>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/spec_example.hpp"

namespace udtcat::tool {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::SpecExample;

/// 2026-11-29 13:03:59.027 UTC
constexpr std::chrono::system_clock::time_point kWhen{1'795'957'439'027ms};

/// Another time zone while it lives.
class ZoneScope {
 public:
  explicit ZoneScope(const char* zone) {
    ::setenv("TZ", zone, 1);
    ::tzset();
  }
  ~ZoneScope() {
    ::unsetenv("TZ");
    ::tzset();
  }
  ZoneScope(const ZoneScope&) = delete;
  ZoneScope& operator=(const ZoneScope&) = delete;
};

TEST(ParseUtcTime, IsTheInverse) {
  EXPECT_EQ(utc_time_text(kWhen), "2026-11-29T13:03:59.027Z");
  EXPECT_EQ(parse_utc_time(utc_time_text(kWhen)), kWhen);
  EXPECT_EQ(parse_utc_time("1970-01-01T00:00:00.000Z"), std::chrono::system_clock::time_point());
  const std::string last = "2200-12-31T23:59:59.999Z";
  EXPECT_EQ(utc_time_text(parse_utc_time(last).value()), last);
}

TEST(ParseUtcTime, RefusesEverythingElse) {
  const std::string good = utc_time_text(kWhen);
  for (std::size_t length = 0; length < good.size(); ++length) EXPECT_FALSE(parse_utc_time(good.substr(0, length)));
  for (const char* wrong : {"2026-11-29T13:03:59.027z", "2026-11-29T13:03:59,027Z", "2026-02-30T13:03:59.027Z",
                            "2026-00-10T13:03:59.027Z", "2026-11-29T24:00:00.000Z", "2026-11-29T13:60:00.000Z",
                            "2026-11-29T13:03:60.000Z", "1969-12-31T23:59:59.999Z", "0000-01-01T00:00:00.000Z",
                            "2026-11-29T13:03:59.027ZZ", "7029-11-29T13:03:59.027Z", "+026-11-29T13:03:59.027Z"})
    EXPECT_FALSE(parse_utc_time(wrong)) << wrong;
}

TEST(LocalTimeText, HasMillisecondsAndTheOffsetOfItsZone) {
  struct Row {
    const char* zone;
    const char* text;
  };
  constexpr std::array<Row, 4> kRows{{{"UTC", "2026-11-29T13:03:59.027+00:00"},
                                      {"ABC-1", "2026-11-29T14:03:59.027+01:00"},
                                      {"ABC3:30", "2026-11-29T09:33:59.027-03:30"},
                                      {"ABC-5:45", "2026-11-29T18:48:59.027+05:45"}}};
  for (const Row& row : kRows) {
    const ZoneScope zone(row.zone);
    EXPECT_EQ(local_time_text(kWhen), row.text);
  }
}

TEST(UtcTimeText, IsOneOfRfc3339) {
  const ZoneScope zone("ABC-1");
  EXPECT_EQ(utc_time_text(kWhen), "2026-11-29T13:03:59.027Z");
  EXPECT_EQ(utc_time_text(std::chrono::system_clock::time_point(-1ms)), "1969-12-31T23:59:59.999Z");
}

TEST(LogFormat, IsFoundInALineWithMistakes) {
  EXPECT_EQ(log_format_in({"-l", "9000", "--log-format", "json", "--nonsense"}), LogFormat::json);
  EXPECT_EQ(log_format_in({"--log-format=json", "--log-format=text"}), LogFormat::text);
  EXPECT_EQ(log_format_in({"--log-format=json", "--log-format=yaml"}), LogFormat::json);
  EXPECT_EQ(log_format_in({"host", "--", "--log-format=json"}), LogFormat::text) << "a word of a remote command";
  EXPECT_EQ(log_format_in({"--log-formatted=json", "--log-format"}), LogFormat::text);
  EXPECT_FALSE(parse_log_format("JSON"));
}

TEST(JsonLine, HasTimeLevelServiceAndMessage) {
  EXPECT_EQ(json_line(kWhen, Severity::warning, "db", "a \"line\""),
            R"({"time":"2026-11-29T13:03:59.027Z","level":"warning","service":"db","message":"a \"line\""})");
  EXPECT_TRUE(json::parse(json_line(kWhen, Severity::info, "", "x")).at("service").is_null());
}

TEST(JsonLine, IsOneLineOfUtf8WhateverTheTextIs) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  const std::string line = json_line(kWhen, Severity::info, bytes, bytes);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_TRUE(json::accept(line));
}

TEST(JsonLine, OfATransferHasAllItsFields) {
  const LogEvent event{.kind = EventKind::transfer,
                       .severity = Severity::notice,
                       .message = "alice (192.0.2.1:4711): photos: 20 files, 80.0 MB received in 0:12",
                       .peer = "alice",
                       .address = "192.0.2.1:4711",
                       .object = "photos",
                       .direction = kReceived,
                       .result = kComplete,
                       .bytes_received = 80'000'000,
                       .files = 20,
                       .duration = 12s};
  EXPECT_EQ(json_line(kWhen, "", event), SpecExample("logs.md", "line").text("transfer"));
}

/// Proves: json.null-not-absent
TEST(JsonLine, HasNullForWhatAnEventDoesNotKnow) {
  const auto line = json::parse(json_line(kWhen, "", LogEvent{.kind = EventKind::refused, .message = "refused"}));
  for (const char* field : {"peer", "address", "reason"}) EXPECT_TRUE(line.at(field).is_null()) << field;
  EXPECT_FALSE(line.contains("bytes_sent"));
  EXPECT_EQ(line.at("count"), 1);
}

TEST(JsonLine, HasEachEventByItsName) {
  for (const EventKind kind : {EventKind::listening, EventKind::peer_up, EventKind::peer_gone, EventKind::session_lost,
                               EventKind::transfer, EventKind::name_failed, EventKind::change, EventKind::refused,
                               EventKind::redial, EventKind::reload, EventKind::exit}) {
    const auto line = json::parse(json_line(kWhen, "", LogEvent{.kind = kind, .message = "x"}));
    EXPECT_EQ(line.at("event"), to_string(kind));
    EXPECT_GT(line.size(), 5U) << to_string(kind) << " has fields of its own";
  }
}

}  // namespace
}  // namespace udtcat::tool
