"""The same for programs with an event loop."""

import asyncio
import unittest

from bowline import AsyncClient, ExitError, HostTool, RequestError, RequestTimeout

from .support import ECHO, odd_agent, scripted


class Talking(unittest.IsolatedAsyncioTestCase):
    async def test_many_requests_are_under_way_at_once(self):
        async with AsyncClient(ECHO) as client:
            states = await asyncio.gather(*(client.get_state() for _ in range(200)))
            self.assertEqual({state["model"]["id"] for state in states}, {"echo"})

    async def test_a_steer_reaches_a_run_that_is_under_way(self):
        wait = {"blocks": [{"tool": "bash", "arguments": {"command": "sleep 600"}}]}
        async with AsyncClient(scripted(wait, {"when": {"text": "stop that"}, "text": "stopped"})) as client:
            started = asyncio.Event()
            client.on("tool_execution_start", lambda _: started.set())
            run = asyncio.create_task(client.prompt_and_wait("wait"))
            await started.wait()
            await client.abort()
            self.assertTrue((await run).aborted)
            await client.steer("stop that")
            self.assertEqual((await client.prompt_and_wait("and now?")).text, "stopped")

    async def test_a_run_that_nobody_waits_for_any_more_is_aborted(self):
        async with AsyncClient(scripted({"blocks": [{"tool": "bash", "arguments": {"command": "sleep 600"}}]})) as client:
            with self.assertRaises(RequestTimeout):
                await client.prompt_and_wait("wait", timeout=0.5)
            await client.wait_for_idle(20)

    async def test_events_are_iterated(self):
        async with AsyncClient(ECHO) as client:
            events = client.events()
            await client.prompt("hello")
            async for event in events:
                if event["type"] == "agent_settled":
                    break
            self.assertFalse((await client.get_state())["isStreaming"])

    async def test_a_coroutine_can_be_a_tool_and_ends_with_the_run(self):
        ended = asyncio.Event()

        async def forever(arguments, call):
            try:
                await client.abort()
                await asyncio.sleep(600)
            finally:
                ended.set()

        async with AsyncClient(scripted({"blocks": [{"tool": "forever", "arguments": {}}]})) as client:
            await client.set_custom_tools([HostTool("forever", "Never ends.", {"type": "object", "properties": {}}, forever)])
            self.assertTrue((await client.prompt_and_wait("go")).aborted)
            await asyncio.wait_for(ended.wait(), 20)

    async def test_a_late_failure_belongs_to_its_prompt(self):
        agent = """
            say(type="ready")
            for frame in frames:
                say(type="response", id=frame["id"], command="prompt", success=True, data={"disposition": "started"})
                say(type="response", id=frame["id"], command="prompt", success=False, error="too late")
        """
        async with AsyncClient(odd_agent(agent)) as client:
            with self.assertRaisesRegex(RequestError, "too late"):
                await client.prompt_and_wait("hello")

    async def test_the_end_of_the_agent_ends_the_events(self):
        async with AsyncClient(odd_agent("say(type='ready')\nnext(frames)\nsay(type='agent_start')\nsys.exit(4)")) as client:
            events = client.events()
            with self.assertRaises(ExitError):
                await client.get_state()
            self.assertEqual([event["type"] async for event in events], ["agent_start"])


if __name__ == "__main__":
    unittest.main()
