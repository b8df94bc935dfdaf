// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/tcp/tcp_acceptor.hpp"

#include <array>
#include <list>

#include <sys/socket.h>
#include <unistd.h>

#include "lib/transport/transport_fixture.hpp"

namespace udtcat::transport::tcp {
namespace {

class TcpAcceptorTest : public TransportTest {
 protected:
  TcpAcceptorTest()
      : TransportTest(options_for(TransportKind::tcp)), keyed_(engine_of(key_)), acceptor_(listen_with_key()) {
    accept_next();
  }

  /// A client that says what it likes.
  class Raw {
   public:
    explicit Raw(const Endpoint& peer) : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
      EXPECT_EQ(::connect(descriptor_, peer.data(), static_cast<socklen_t>(peer.size_bytes())), 0);
    }
    ~Raw() { ::close(descriptor_); }
    Raw(const Raw&) = delete;
    Raw& operator=(const Raw&) = delete;
    void say(std::span<const std::byte> bytes) const {
      EXPECT_EQ(::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    }
    void say(const Preface& preface) const { say(encode(preface)); }
    void say(std::string_view words) const { say(std::as_bytes(std::span(words))); }
    /// Without waiting: 0 at the end, -1 while nothing came.
    [[nodiscard]] ssize_t hear(std::span<std::byte> into) const {
      const ssize_t got = ::recv(descriptor_, into.data(), into.size(), MSG_DONTWAIT);
      return got < 0 && errno == ECONNRESET ? 0 : got;
    }
    [[nodiscard]] bool closed() const {
      std::array<std::byte, 100> into{};
      return hear(into) == 0;
    }

   private:
    int descriptor_;
  };

  std::unique_ptr<Engine> engine_of(const std::vector<std::byte>& key) {
    return make_engine(io, options_for(TransportKind::tcp), {key, key}).value();
  }
  std::unique_ptr<Acceptor> listen_with_key() { return keyed_->listen({loopback(AddressFamily::ipv4)}).value(); }
  [[nodiscard]] Endpoint port() const { return acceptor_->local_endpoints().front(); }

  void accept_next() {
    acceptor_->async_accept([this](auto channel) {
      accepted_.push_back(std::move(*channel));
      if (accepts_) accept_next();
    });
  }
  /// A client's channel is accepted as one that has, or has not, proved the key.
  void expect_accepted(Engine& by, bool proved) {
    accepted_.clear();
    std::optional<Result<std::unique_ptr<Channel>>> got;
    by.async_connect(port(), copy_of(random_bytes(10, 1)), 5s, [&](auto result) { got = std::move(result); });
    ASSERT_TRUE(run_until([&] { return got && !accepted_.empty(); }));
    ASSERT_TRUE(*got) << got->error().message();
    EXPECT_EQ(accepted_.front()->proved_key(), proved);
    EXPECT_FALSE((**got)->proved_key()) << "a listener proves nothing here";
    std::vector<std::byte> words(10);
    EXPECT_TRUE(read(*accepted_.front(), words));
    EXPECT_EQ(words, random_bytes(10, 1)) << "behind the preface";
  }
  Preface hear_challenge(const Raw& raw) {
    std::array<std::byte, kPrefaceBytes + 1> into{};
    ssize_t got = -1;
    EXPECT_TRUE(run_until([&] { return (got = raw.hear(into)) > 0; }));
    EXPECT_EQ(got, static_cast<ssize_t>(kPrefaceBytes)) << "no more than was said to it";
    return decode_preface(into).preface;
  }

  const std::vector<std::byte> key_ = random_bytes(32, 1);
  std::unique_ptr<Engine> keyed_;
  std::unique_ptr<Acceptor> acceptor_;
  std::vector<std::unique_ptr<Channel>> accepted_;
  bool accepts_ = true;
};

TEST_F(TcpAcceptorTest, KnowsAClientThatHoldsTheKey) { expect_accepted(*keyed_, true); }

TEST_F(TcpAcceptorTest, TakesOneWithAnotherKeyOrWithoutForAStranger) {
  expect_accepted(*engine_of(random_bytes(32, 2)), false);
  expect_accepted(*engine, false);
}

TEST_F(TcpAcceptorTest, TakesAnyForAStrangerWhereItHasNoKey) {
  acceptor_ = listen({loopback(AddressFamily::ipv4)});
  accept_next();
  expect_accepted(*keyed_, false);
  expect_accepted(*engine, false);
}

TEST_F(TcpAcceptorTest, TakesARecordedProofForAStrangers) {
  PrefaceProof proof = PrefaceProof::derive(key_).value();
  const Preface hello{.type = PrefaceType::hello_key};
  std::optional<Preface> recorded;
  for (const bool fresh : {true, false}) {
    accepted_.clear();
    const Raw raw(port());
    raw.say(hello);
    const Preface challenge = hear_challenge(raw);
    if (!recorded) recorded = proof.make(hello, challenge).value();
    raw.say(*recorded);
    ASSERT_TRUE(run_until([&] { return !accepted_.empty(); }));
    EXPECT_EQ(accepted_.front()->proved_key(), fresh);
  }
}

/// Proves: tcp.speaks-second
TEST_F(TcpAcceptorTest, AnswersNothingBeforeTheHelloIsWhole) {
  const auto bytes = encode({.type = PrefaceType::hello_key});
  const Raw raw(port());
  raw.say(std::span(bytes).first(kPrefaceBytes - 1));
  EXPECT_EQ(bytes.size(), 28U) << "and so long is the answer";
  run_for(100ms);
  std::array<std::byte, 100> into{};
  EXPECT_LT(raw.hear(into), 0);
  raw.say(std::span(bytes).last(1));
  EXPECT_EQ(hear_challenge(raw).type, PrefaceType::challenge);
}

TEST_F(TcpAcceptorTest, ClosesAtOnceWhatSaysSomethingElse) {
  for (const std::string_view words : {"G", "GET / HTTP/1.1\r\n\r\n", "\x8budtcat\n\x02", "SSH-2.0-x\r\n"}) {
    const Raw raw(port());
    raw.say(words);
    EXPECT_TRUE(run_until([&] { return raw.closed(); }, 1s)) << words;
  }
  for (const PrefaceType type : {PrefaceType::challenge, PrefaceType::proof}) {
    const Raw raw(port());
    raw.say(Preface{.type = type});
    EXPECT_TRUE(run_until([&] { return raw.closed(); }, 1s));
  }
}

TEST_F(TcpAcceptorTest, ClosesWhatFollowsTheChallengeAndIsNoProof) {
  const Raw raw(port());
  raw.say(Preface{.type = PrefaceType::hello_key});
  std::ignore = hear_challenge(raw);
  raw.say(Preface{.type = PrefaceType::hello});
  EXPECT_TRUE(run_until([&] { return raw.closed(); }, 1s));
  EXPECT_TRUE(accepted_.empty());
}

TEST_F(TcpAcceptorTest, ClosesWhatStaysSilent) {
  const Raw silent(port());
  const Raw half(port());
  half.say(Preface{.type = PrefaceType::hello_key});
  std::ignore = hear_challenge(half);
  run_for(2s);
  EXPECT_FALSE(silent.closed());
  EXPECT_TRUE(run_until([&] { return silent.closed() && half.closed(); }, 8s));
}

TEST_F(TcpAcceptorTest, HasRoomOfTheirOwnForThoseWithTheKey) {
  accepts_ = false;
  std::vector<std::unique_ptr<Channel>> strangers;
  // The first is accepted, and nobody takes the others.
  for (int i = 0; i < 17; ++i) {
    strangers.push_back(connect(port()).value());
    ASSERT_TRUE(run_until([&] { return !accepted_.empty(); }));
  }
  const auto refused = connect(port(), 400ms);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().cause, kTurnedAway);
  std::optional<Result<std::unique_ptr<Channel>>> got;
  keyed_->async_connect(port(), {}, 5s, [&](auto result) { got = std::move(result); });
  ASSERT_TRUE(run_until([&] { return got.has_value(); }));
  EXPECT_TRUE(*got);
}

TEST_F(TcpAcceptorTest, LetsInAClientAmongManyThatSayNothing) {
  std::list<Raw> silent;
  for (int i = 0; i < 300; ++i) {
    silent.emplace_back(port());
    run_for(1ms);
  }
  expect_accepted(*keyed_, true);
  const auto closed = std::count_if(silent.begin(), silent.end(), [](const Raw& raw) { return raw.closed(); });
  EXPECT_GE(closed, 44) << "all but 256";
  EXPECT_LT(closed, 60);
}

TEST_F(TcpAcceptorTest, HandsAConnectionWithATokenOn) {
  std::optional<Socket> relayed;
  RelayToken got{};
  acceptor_->on_relay([&](Socket socket, const RelayToken& token, const Endpoint& from) {
    relayed = std::move(socket);
    got = token;
    EXPECT_TRUE(from.is_loopback());
  });
  const Preface token{.type = PrefaceType::relay, .value = {std::byte{7}}};
  const Raw raw(port());
  const auto bytes = encode(token);
  std::vector<std::byte> words(bytes.begin(), bytes.end());
  words.resize(words.size() + 5, std::byte{9});
  raw.say(words);
  ASSERT_TRUE(run_until([&] { return relayed.has_value(); }));
  EXPECT_EQ(got, token.value);
  std::array<std::byte, 100> behind{};
  EXPECT_EQ(receive(*relayed, behind).bytes, 5U);
  EXPECT_EQ(behind[0], std::byte{9});
}

TEST_F(TcpAcceptorTest, ClosesAConnectionWithATokenWhereItRelaysForNobody) {
  const Raw raw(port());
  raw.say(Preface{.type = PrefaceType::relay});
  EXPECT_TRUE(run_until([&] { return raw.closed(); }));
}

/// The place of a relay: it joins the two by hand.
TEST_F(TcpAcceptorTest, TakesAPeerThatComesByARelay) {
  auto place = listen({loopback(AddressFamily::ipv4)});
  std::optional<Socket> client_side;
  std::optional<Socket> listener_side;
  place->on_relay([&](Socket socket, const RelayToken& token, const Endpoint&) {
    (token[0] == std::byte{1} ? client_side : listener_side) = std::move(socket);
  });
  const Endpoint relay = place->local_endpoints().front();
  const auto client = engine_of(key_);
  client->relay_by({std::byte{1}});
  std::optional<Result<std::unique_ptr<Channel>>> got;
  client->async_connect(relay, copy_of(random_bytes(10, 1)), 5s, [&](auto result) { got = std::move(result); });
  ASSERT_TRUE(run_until([&] { return client_side.has_value(); }));
  acceptor_->wait_at(relay, {std::byte{2}}, "");
  ASSERT_TRUE(run_until([&] { return listener_side.has_value(); }));
  const auto copy = [](Socket& from, Socket& to) {
    std::array<std::byte, 1000> piece{};
    const Received words = receive(from, piece);
    const std::span<const std::byte> all = std::span(piece).first(words.bytes);
    EXPECT_EQ(words.bytes == 0 ? 0 : send(to, std::span(&all, 1)).bytes, all.size());
  };
  ASSERT_TRUE(run_until([&] {
    copy(*client_side, *listener_side);
    copy(*listener_side, *client_side);
    return got && !accepted_.empty();
  }));
  ASSERT_TRUE(*got) << got->error().message();
  EXPECT_TRUE(accepted_.front()->proved_key()) << "end to end";
  EXPECT_EQ(accepted_.front()->peer(), relay);
}

}  // namespace
}  // namespace udtcat::transport::tcp
