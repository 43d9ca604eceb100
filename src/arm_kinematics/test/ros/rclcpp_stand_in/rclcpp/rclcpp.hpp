// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// The declarations of rclcpp (Jazzy) that docs/examples uses, to compile it where rclcpp is not: the
// messages are the real ones.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <string>

namespace rclcpp
{
struct Logger {};

enum class FutureReturnCode {SUCCESS, INTERRUPTED, TIMEOUT};

template<typename ServiceT>
struct Client
{
  using SharedRequest = std::shared_ptr<typename ServiceT::Request>;
  using SharedResponse = std::shared_ptr<typename ServiceT::Response>;

  struct FutureAndRequestId : std::future<SharedResponse> {};

  bool wait_for_service();
  FutureAndRequestId async_send_request(SharedRequest request);
};

struct Node
{
  explicit Node(const std::string & name);
  template<typename ServiceT>
  std::shared_ptr<Client<ServiceT>> create_client(const std::string & name);
  Logger get_logger() const;
};

void init(int argc, char const * const * argv);
bool shutdown();

template<typename FutureT, typename RepT, typename RatioT>
FutureReturnCode spin_until_future_complete(
  std::shared_ptr<Node> node, const FutureT & future, std::chrono::duration<RepT, RatioT> timeout);
}  // namespace rclcpp

#define RCLCPP_INFO(logger, ...) (static_cast<void>(logger), static_cast<void>(printf(__VA_ARGS__)))
#define RCLCPP_ERROR(logger, ...) RCLCPP_INFO(logger, __VA_ARGS__)
