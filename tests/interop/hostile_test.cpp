// SPDX-License-Identifier: Apache-2.0
/// Odd, wrong and hostile packets on a connection: ours goes on as if nothing had come.
#include <algorithm>
#include <random>

#include "interop/scripted_link.hpp"

namespace udtcat::test::interop {
namespace {

struct Stimulus {
  const char* name;
  std::function<void(ScriptedLink&)> apply;
};

Bytes zeros(std::size_t count) { return Bytes(count); }

/// Between what the script has heard of and sent: sequence numbers around both.
std::uint32_t ours_next(const ScriptedLink& link) { return link.peer->expected_sequence(); }
std::uint32_t theirs_next(const ScriptedLink& link) { return link.peer->next_sequence(); }
std::uint32_t id(const ScriptedLink& link) { return link.peer->theirs().id; }

void control(ScriptedLink& link, std::uint32_t type, std::uint32_t reserved, std::uint32_t info, const Words& words) {
  link.peer->send(control_packet(kControlBit | type << 16 | reserved, info, id(link), to_bytes(words)));
}

void ack(ScriptedLink& link, const Words& words, std::uint32_t number = 0x1000) { control(link, 2, 0, number, words); }

const std::vector<Stimulus>& stimuli() {
  using L = ScriptedLink&;
  static const std::vector<Stimulus> all{
      // Packets that are none, or for nobody here.
      {"AnEmptyDatagram", [](L l) { l.peer->send({}); }},
      {"Runts",
       [](L l) {
         for (std::size_t n = 1; n < 16; ++n) l.peer->send(zeros(n));
       }},
      {"SixteenZeros", [](L l) { l.peer->send(zeros(16)); }},
      {"AnUnknownNumber", [](L l) { l.peer->send(data_packet(theirs_next(l), id(l) ^ 0x40, zeros(10))); }},
      {"ANegativeNumber", [](L l) { l.peer->send(data_packet(theirs_next(l), id(l) | kControlBit, zeros(10))); }},
      {"ANumberOfZero", [](L l) { l.peer->send(data_packet(theirs_next(l), 0, zeros(10))); }},
      {"DataFromAnotherPort",
       [](L l) { ScriptedPort().send(l.peer->peer(), data_packet(theirs_next(l), id(l), zeros(10))); }},
      {"AShutdownFromAnotherPort",
       [](L l) { ScriptedPort().send(l.peer->peer(), control_packet(Type::shutdown, 0, id(l), {0})); }},
      {"AShutdownForAnUnknownNumber", [](L l) { l.peer->send(control_packet(Type::shutdown, 0, id(l) ^ 4, {0})); }},
      // Types.
      {"UnknownTypes",
       [](L l) {
         for (std::uint32_t type = 9; type < 0x7fff; type += 37) control(l, type, type & 0xffff, 0xffffffff, {1, 2, 3});
       }},
      {"UserTypes",
       [](L l) {
         for (std::uint32_t n = 0; n < 100; ++n) control(l, 0x7fff, n, n, Words(n % 30, 0xffffffff));
       }},
      {"ReservedBits", [](L l) { control(l, 1, 0xffff, 0xffffffff, {0}); }},
      {"KeepAlivesOfOddLengths",
       [](L l) {
         for (const std::size_t n : {0U, 1U, 3U, 4U, 5U, 100U, 1456U, 3000U})
           l.peer->send(control_packet(0x80010000, 0, id(l), zeros(n)));
       }},
      {"CongestionWarnings",
       [](L l) {
         for (int i = 0; i < 50; ++i) control(l, 4, 0, 0, {0});
       }},
      {"Errors",
       [](L l) {
         for (const std::uint32_t code : {0U, 4000U, 0xffffffffU}) control(l, 8, 0, code, {0});
       }},
      // Drops: in a stream they kill libudt.
      {"DropsOfWhatIsToCome",
       [](L l) {
         control(l, 7, 0, 1, {theirs_next(l), advanced(theirs_next(l), 5)});
         control(l, 7, 0, 0xffffffff, {theirs_next(l), theirs_next(l)});
       }},
      {"DropsOfEverything",
       [](L l) {
         control(l, 7, 0, 1, {0, kSequenceMask});
         control(l, 7, 0, 1, {advanced(theirs_next(l), 5), theirs_next(l)});
         control(l, 7, 0, 1, {0xffffffff, 0xffffffff});
         control(l, 7, 0, 1, {});
         control(l, 7, 0, 1, {1});
       }},
      // ACKs.
      {"AnAckBeyondWhatWeSent",
       [](L l) {
         ack(l, {advanced(ours_next(l), 1), 1000, 100, 8192, 1, 1000});
       }},
      {"AnAckFarBeyondWhatWeSent",
       [](L l) {
         ack(l, {advanced(ours_next(l), 100'000), 1000, 100, 8192, 1, 1000});
       }},
      {"AnAckWithBit31",
       [](L l) {
         ack(l, {ours_next(l) | kControlBit, 1000, 100, 8192, 1, 1000});
       }},
      {"AnAckOfTheOtherHalf",
       [](L l) {
         ack(l, {advanced(ours_next(l), 0x40000000), 1000, 100, 8192, 1, 1000});
       }},
      {"AnOldAck",
       [](L l) {
         ack(l, {advanced(ours_next(l), -1), 1000, 100, 8192, 1, 1000});
       }},
      {"AnAckFromBeforeTheBeginning",
       [](L l) {
         ack(l, {advanced(l.peer->initial_sequence(), -10), 1000, 100, 8192, 1, 1000});
       }},
      {"ALightAckBeyondWhatWeSent", [](L l) { l.peer->send_light_ack(advanced(ours_next(l), 100)); }},
      {"ALightAckWithBit31", [](L l) { l.peer->send_light_ack(0xffffffff); }},
      {"AcksOfOddLengths",
       [](L l) {
         for (const std::size_t n : {0U, 1U, 2U, 3U, 5U, 8U, 12U, 15U, 17U, 20U, 23U, 25U, 40U}) {
           Bytes body = to_bytes({ours_next(l), 1000, 100, 8192, 1000, 10'000, 0, 0, 0, 0});
           body.resize(n);
           l.peer->send(control_packet(0x80020000, 5, id(l), body));
         }
       }},
      {"AnAckOfAbsurdTimes",
       [](L l) {
         for (const std::uint32_t rtt : {0U, 1U, 0x7fffffffU, 0x80000000U, 0xffffffffU})
           ack(l, {ours_next(l), rtt, rtt, 8192, 1000, 10'000});
       }},
      {"AnAckOfAbsurdRates",
       [](L l) {
         for (const std::uint32_t rate : {0U, 1U, 0x7fffffffU, 0x80000000U, 0xffffffffU})
           ack(l, {ours_next(l), 10'000, 1000, 8192, rate, rate});
       }},
      {"AnAckOfANegativeWindow",
       [](L l) {
         ack(l, {ours_next(l), 10'000, 1000, 0xffffffff, 1000, 10'000});
         ack(l, {ours_next(l), 10'000, 1000, 8192, 1000, 10'000}, 0x1001);
       }},
      {"AnAckOfNoWindowThatOpensAgain",
       [](L l) {
         ack(l, {ours_next(l), 10'000, 1000, 0, 1000, 10'000});
         ack(l, {ours_next(l), 10'000, 1000, 8192, 1000, 10'000}, 0x1001);
       }},
      {"AnAckOfAHugeWindow",
       [](L l) {
         ack(l, {ours_next(l), 10'000, 1000, 0x7fffffff, 1000, 10'000});
       }},
      {"Ack2sOfWhatWasNeverSent",
       [](L l) {
         for (const std::uint32_t number : {0U, 1U, 12345U, 0x7fffffffU, 0xffffffffU}) control(l, 6, 0, number, {0});
       }},
      // NAKs.
      {"AnEmptyNak", [](L l) { l.peer->send_nak({}); }},
      {"ANakBeyondWhatWeSent", [](L l) { l.peer->send_nak({advanced(ours_next(l), 10)}); }},
      {"ANakOfTheNext", [](L l) { l.peer->send_nak({ours_next(l)}); }},
      {"ANakRangeBeyondWhatWeSent",
       [](L l) {
         l.peer->send_nak({advanced(ours_next(l), -2) | kControlBit, advanced(ours_next(l), 1000)});
       }},
      {"AReversedNakRange",
       [](L l) {
         l.peer->send_nak({advanced(ours_next(l), -1) | kControlBit, advanced(ours_next(l), -2)});
       }},
      {"ANakThatEndsInARange", [](L l) { l.peer->send_nak({advanced(ours_next(l), -1) | kControlBit}); }},
      {"ANakRangeThatEndsInARange",
       [](L l) {
         l.peer->send_nak({advanced(ours_next(l), -2) | kControlBit, advanced(ours_next(l), -1) | kControlBit});
       }},
      {"ANakOfAllThatThereIs",
       [](L l) {
         l.peer->send_nak({kControlBit, kSequenceMask});
       }},
      {"ANakOfWhatIsAcknowledged",
       [](L l) {
         l.peer->send_nak({l.peer->initial_sequence(), advanced(l.peer->initial_sequence(), 1)});
       }},
      {"NaksOfOddLengths",
       [](L l) {
         for (const std::size_t n : {1U, 2U, 3U, 5U, 6U, 7U, 9U})
           l.peer->send(control_packet(0x80030000, 0, id(l), zeros(n)));
       }},
      {"ANakOfAThousandItems",
       [](L l) {
         Words list;
         for (int i = 0; i < 1000; ++i) list.push_back(advanced(ours_next(l), i - 500));
         l.peer->send_nak(list);
       }},
      // Data.
      {"DataFarAhead", [](L l) { l.peer->send_data_at(advanced(theirs_next(l), 1 << 29), zeros(100)); }},
      {"DataOfTheOtherHalf", [](L l) { l.peer->send_data_at(advanced(theirs_next(l), 0x40000000), zeros(100)); }},
      {"DataBeyondTheWindow",
       [](L l) { l.peer->send_data_at(advanced(theirs_next(l), l.peer->theirs().window + 1000), zeros(100)); }},
      {"OldData", [](L l) { l.peer->send_data_at(advanced(theirs_next(l), -1), zeros(1456)); }},
      {"DataFromBeforeTheBeginning",
       [](L l) { l.peer->send_data_at(advanced(l.peer->initial_sequence(), -5), zeros(100)); }},
      {"DataOfNoBytes", [](L l) { l.peer->send_data({}); }},
      {"ManyPacketsOfNoBytes",
       [](L l) {
         for (int i = 0; i < 200; ++i) l.peer->send_data({});
       }},
      {"DataWithAbsurdMessageNumbers",
       [](L l) {
         l.peer->send(data_packet(advanced(theirs_next(l), -1), id(l), zeros(10), 0, 0xffffffff));
         l.peer->send(data_packet(advanced(theirs_next(l), -1), id(l), zeros(10), 0xffffffff, 0));
       }},
      // Handshakes.
      {"HandshakesToTheConnection",
       [](L l) {
         for (const std::uint32_t request : {1U, 0U, 0xffffffffU, 0xfffffffeU, 1002U, 0x7fffffffU}) {
           Handshake handshake = l.peer->mine();
           handshake.request = request;
           l.peer->send(handshake_packet(handshake, id(l)));
         }
       }},
      {"HandshakesThatWouldChangeIt",
       [](L l) {
         Handshake handshake = l.peer->mine();
         handshake.mss = 44;
         handshake.window = 0;
         handshake.initial_sequence ^= 0x1000;
         for (const std::uint32_t request : {kInduction, kConclusion}) {
           handshake.request = request;
           l.peer->send(handshake_packet(handshake, id(l)));
           l.peer->send(handshake_packet(handshake, 0));
         }
       }},
      {"ARefusalAfterwards",
       [](L l) {
         Handshake handshake = l.peer->mine();
         handshake.request = kReject;
         l.peer->send(handshake_packet(handshake, id(l)));
         l.peer->send(handshake_packet(handshake, 0));
       }},
  };
  return all;
}

class Hostile : public testing::TestWithParam<std::tuple<Role, std::size_t>> {};

INSTANTIATE_TEST_SUITE_P(BothRoles, Hostile,
                         testing::Combine(testing::Values(Role::connects, Role::listens),
                                          testing::Range(std::size_t{0}, stimuli().size())),
                         [](const auto& row) {
                           return name_of(std::get<0>(row.param)) + "Hears" + stimuli()[std::get<1>(row.param)].name;
                         });

TEST_P(Hostile, PacketChangesNothing) {
  const auto [role, index] = GetParam();
  ScriptedLink link = make_scripted_link(role);
  ASSERT_TRUE(link.up());
  ASSERT_EQ(link.ails(1), "") << "before" << link.tell();
  stimuli()[index].apply(link);
  EXPECT_EQ(link.ails(3), "") << "afterwards" << link.tell();
  EXPECT_EQ(link.ails(5), "") << "afterwards, once more" << link.tell();
}

// The same in the middle of a write that waits for acknowledgement.
TEST_P(Hostile, PacketChangesNothingInMidFlight) {
  const auto [role, index] = GetParam();
  ScriptedLink link = make_scripted_link(role);
  ASSERT_TRUE(link.up());
  ASSERT_EQ(link.ails(1), "") << "before" << link.tell();
  link.ours->start_write(Pattern(9).bytes(0, 10'000));
  link.peer->answers_data = false;
  ASSERT_TRUE(link.peer->wait_for([](auto& packet) { return packet.is_data(); }, 1s)) << link.tell();
  stimuli()[index].apply(link);
  link.peer->answers_data = true;
  const auto bytes = link.peer->collect(10'000, 5s);
  EXPECT_EQ(bytes.size(), 10'000U) << link.tell();
  EXPECT_EQ(Pattern(9).difference(0, bytes), std::nullopt) << link.tell();
  EXPECT_EQ(link.ails(3), "") << "afterwards" << link.tell();
}

class HostileData : public ByRole {};
UDTCAT_FOR_BOTH_ROLES(HostileData);

// Cutting it, as libudt does, would corrupt the stream.
TEST_P(HostileData, ThatIsTooLargeIsTakenWholeOrNotAtAll) {
  for (const std::size_t bytes : {1457U, 2000U, 9000U, 60'000U}) {
    ScriptedLink link = make_scripted_link(role());
    ASSERT_TRUE(link.up());
    const auto all = Pattern(1).bytes(0, bytes);
    link.peer->send_data_at(link.peer->next_sequence(), all);
    for (std::size_t at = 0; at < bytes; at += 1456)
      link.peer->send_data(std::span(all).subspan(at, std::min<std::size_t>(1456, bytes - at)));
    std::vector<std::byte> got(bytes);
    EXPECT_EQ(link.ours->read(got, 3s), "") << bytes << " bytes" << link.tell();
    EXPECT_EQ(Pattern(1).difference(0, got), std::nullopt) << bytes << " bytes";
  }
}

TEST_P(HostileData, ThatFillsAllTheMemoryDoesNotOverrunIt) {
  TransportOptions options;
  options.memory_bytes = 1 << 20;
  ScriptedLink link = make_scripted_link(role(), {.initial_sequence = 5, .id = 0x2fd3ab96}, options);
  ASSERT_TRUE(link.up());
  // Every second packet of far more than a window; nobody reads.
  const std::vector<std::byte> payload(1456, std::byte{1});
  for (int round = 0; round < 2; ++round) {
    for (int i = 1; i < 20'000; i += 2) {
      link.peer->send_data_at(advanced(link.peer->next_sequence(), i), payload);
      if (i % 200 == 1) std::ignore = link.port->hear(0ms);
    }
    std::ignore = link.port->hear_all(100ms);
  }
  for (int i = 0; i < 100; ++i) {
    std::ignore = link.port->hear_all(1ms);
    link.peer->send_data(payload);
  }
  std::vector<std::byte> got(100 * 1456);
  link.ours->start_read(got.size());
  // Packets that the socket's buffer had no room for are sent again, as libudt would.
  const std::uint32_t first = link.peer->initial_sequence();
  for (int round = 0; round < 50 && !link.ours->read_ended(20ms); ++round) {
    for (int i = 0; i < 100; ++i) link.peer->send_data_at(advanced(first, i), payload);
    if (round == 49) ADD_FAILURE() << link.tell();
  }
}

/// Changes packets as a bad path and a bad mind would.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  Bytes operator()(Bytes packet) {
    for (int changes = static_cast<int>(below(4)); changes >= 0; --changes) change(packet);
    return packet;
  }
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

 private:
  void change(Bytes& packet) {
    static constexpr std::array<std::uint32_t, 8> kWords{0,          1,  0x7fffffff, 0x80000000,
                                                         0xffffffff, 44, 0x40000000, 1002};
    const std::uint64_t what = below(6);
    if (what == 0) packet.resize(below(packet.size() + 1));
    if (what == 1) packet.resize(packet.size() + below(100));
    if (packet.size() < 4) return;
    const std::size_t word = below(packet.size() / 4) * 4;
    if (what == 2) packet[below(packet.size())] ^= static_cast<std::byte>(1 << below(8));
    if (what == 3) put_word(packet, word, kWords[below(kWords.size())]);
    if (what == 4) put_word(packet, word, static_cast<std::uint32_t>(random_()));
    if (what == 5) {
      const std::uint32_t near =
          PacketView(Bytes(packet.begin() + static_cast<std::ptrdiff_t>(word), packet.end())).header(0);
      put_word(packet, word, near + static_cast<std::uint32_t>(below(64)) - 32);
    }
  }

  std::mt19937_64 random_;
};

class Fuzz : public ByRole {
 protected:
  /// A conversation's packets, as seeds.
  static std::vector<Bytes> seeds(const ScriptedLink& link) {
    const std::uint32_t destination = link.peer->theirs().id;
    const std::uint32_t ours = link.peer->expected_sequence();
    const std::uint32_t theirs = link.peer->next_sequence();
    Handshake induction = link.peer->mine();
    induction.request = kInduction;
    Handshake conclusion = link.peer->mine();
    conclusion.request = kConclusion;
    return {handshake_packet(induction, 0),
            handshake_packet(conclusion, 0),
            handshake_packet(conclusion, destination),
            data_packet(theirs, destination, Bytes(1456)),
            data_packet(advanced(theirs, 3), destination, Bytes(10)),
            control_packet(Type::keep_alive, 0, destination, {0}),
            control_packet(Type::ack, 7, destination, {ours, 1000, 100, 8192, 1000, 10'000}),
            control_packet(Type::ack, 0, destination, {ours}),
            control_packet(Type::ack, 8, destination, {ours, 1000, 100, 8192}),
            control_packet(Type::nak, 0, destination, {advanced(ours, -3) | kControlBit, advanced(ours, -1)}),
            control_packet(Type::ack2, 3, destination, {0}),
            control_packet(Type::drop, 3, destination, {theirs, advanced(theirs, 2)}),
            control_packet(Type::error, 4000, destination, {0}),
            control_packet(Type::congestion_warning, 0, destination, {0}),
            control_packet(Type::user, 0, destination, {1, 2, 3, 4})};
  }

  static void fuzz(std::uint64_t seed, std::size_t rounds, std::size_t packets) {
    Mutator mutate(seed);
    for (std::size_t round = 0; round < rounds; ++round) {
      ScriptedLink link = make_scripted_link(role());
      ASSERT_TRUE(link.up()) << "round " << round;
      ASSERT_EQ(link.ails(1), "") << "round " << round << link.tell();
      link.ours->start_write(std::vector<std::byte>(100'000));
      link.ours->start_read(1 << 20);
      const auto all = seeds(link);
      for (std::size_t i = 0; i < packets; ++i) {
        link.peer->send(mutate(all[mutate.below(all.size())]));
        if (i % 50 == 0) std::ignore = link.port->hear_all(1ms);
      }
      // The connection may be over, or full of lies: whoever may speak on it may also end it. We live.
      std::ignore = link.ours->stats();
    }
    ScriptedLink afterwards = make_scripted_link(role());
    ASSERT_TRUE(afterwards.up());
    EXPECT_EQ(afterwards.ails(1), "") << afterwards.tell();
  }
};
UDTCAT_FOR_BOTH_ROLES(Fuzz);

TEST_P(Fuzz, OfAConnectionIsSurvived) { fuzz(1, 20, 500); }
TEST_P(Fuzz, OfManyConnectionsIsSurvivedSoak) { fuzz(2, 2000, 1000); }

TEST_P(Fuzz, OfAListenerAndItsConnectionsIsSurvived) {
  if (role() != Role::listens) GTEST_SKIP() << "a connector has no listener";
  ScriptedLink link = make_scripted_link(role());
  ASSERT_TRUE(link.up());
  ASSERT_EQ(link.ails(1), "");
  Mutator mutate(3);
  ScriptedPort stranger;
  const auto all = seeds(link);
  for (std::size_t i = 0; i < 20'000; ++i) {
    stranger.send(link.peer->peer(), mutate(all[mutate.below(all.size())]));
    if (i % 100 == 0) std::ignore = stranger.hear_all(1ms);
  }
  EXPECT_EQ(link.ails(3), "") << "a stranger has no say" << link.tell();
}

}  // namespace
}  // namespace udtcat::test::interop
