// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>

#include <arm_interfaces/srv/solve_ik.hpp>
#include <rclcpp/rclcpp.hpp>

using SolveIK = arm_interfaces::srv::SolveIK;

int main(int argc, char ** argv)
{
  rclcpp::init(argc, argv);
  auto node = std::make_shared<rclcpp::Node>("reach");
  auto client = node->create_client<SolveIK>("kinematics/solve_ik");
  client->wait_for_service();

  auto request = std::make_shared<SolveIK::Request>();
  request->target.header.frame_id = "";  // the base frame; or any frame of tf
  request->target.pose.position.x = 0.15;
  request->target.pose.position.z = 0.18;
  request->target.pose.orientation.y = 0.70710678;  // the tool's z looks along x, away from the base
  request->target.pose.orientation.w = 0.70710678;
  request->mode = SolveIK::Request::POSITION_AXIS;  // roll about that axis is free
  request->orientation_tolerance = 0.2;
  request->seed.name = {"waist", "shoulder", "elbow", "wrist_roll"};  // left out: joint_states
  request->seed.position = {0.0, 0.0, 0.0, 0.0};
  request->timeout.nanosec = 50000000;  // 50 ms

  auto future = client->async_send_request(request);
  if (rclcpp::spin_until_future_complete(node, future, std::chrono::seconds(5)) !=
    rclcpp::FutureReturnCode::SUCCESS)
  {
    RCLCPP_ERROR(node->get_logger(), "no answer");
    return 1;
  }
  auto response = future.get();
  RCLCPP_INFO(node->get_logger(), "%s", response->message.c_str());
  if (response->status == SolveIK::Response::SUCCESS) {
    for (double position : response->solutions.front().joint_state.position) {
      RCLCPP_INFO(node->get_logger(), "%.4f", position);
    }
  }
  rclcpp::shutdown();
  return response->status == SolveIK::Response::SUCCESS ? 0 : 1;
}
