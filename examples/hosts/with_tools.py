"""A host with a tool of its own, in Python, with only the standard library.

Run it in a clone after `npm install`: python3 examples/hosts/with_tools.py
"""

import json
import os
import subprocess
import sys

# A script takes the place of the model, so the example needs no key. For a real model, remove --provider and --model.
FLAGS = ["--mode", "rpc", "--no-session", "--updates", "delta", "--provider", "scripted", "--model", "examples/scripts/weather.jsonc"]

WEATHER = {
    "name": "weather",
    "description": "The weather in a city, now.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


def main() -> None:
    program = ["node", os.environ.get("BOWLINE", "dist/bowline.js"), *FLAGS]
    agent = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

    def send(frame: dict) -> None:
        agent.stdin.write(json.dumps(frame) + "\n")
        agent.stdin.flush()

    for line in agent.stdout:
        frame = json.loads(line)
        if frame["type"] == "ready":
            send({"id": "tools", "type": "set_host_tools", "tools": [WEATHER]})
            send({"id": "ask", "type": "prompt", "message": "Do I need an umbrella in Bergen?"})
        elif frame["type"] == "host_tool_call":
            text = f"It rains in {frame['arguments']['city']}."
            send({"type": "host_tool_result", "id": frame["id"], "result": {"content": [{"type": "text", "text": text}]}})
        elif frame["type"] == "message_update" and frame["assistantMessageEvent"]["type"] == "text_delta":
            sys.stdout.write(frame["assistantMessageEvent"]["delta"])
        elif frame["type"] == "agent_settled":
            print()
            agent.stdin.close()
            break
    agent.wait()


main()
