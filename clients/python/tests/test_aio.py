"""The same for programs with an event loop."""

import asyncio
import unittest

from bowline import AsyncClient, ExitError, HostTool, RequestError, RequestTimeout

from .support import ECHO, odd_agent, scripted


class Deciding(unittest.IsolatedAsyncioTestCase):
    async def test_two_questions_are_open_at_once_and_a_coroutine_that_raises_denies(self):
        calls = [{"tool": "read", "arguments": {"path": f"/etc/{name}"}} for name in ("hosts", "passwd")]
        asked, ends, failures = [], [], []
        both = asyncio.Event()

        async def decide(request):
            asked.append(request["subject"]["targets"][0])
            if len(asked) == 2:
                both.set()
            await both.wait()
            if request["batch"]["index"] == 0:
                raise ValueError("broken")
            return {"decision": "allow"}

        asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(str(context["exception"])))
        client = AsyncClient(scripted({"blocks": calls}, {"text": "done"}), args=["--permission-mode", "ask"])
        await client.on_permission(decide)
        async with client:
            client.on("tool_execution_end", ends.append)
            await client.prompt_and_wait("go", timeout=60)
            self.assertEqual(len(asked), 2)
            [denied] = [end["result"]["content"][0]["text"] for end in ends if end["isError"]]
            self.assertTrue(denied.startswith("Denied by the user. The host's handler failed: broken"), denied)
            self.assertEqual(len(ends), 2)
        self.assertEqual(failures, ["broken"])

    async def test_a_coroutine_is_cancelled_when_its_answer_is_no_longer_wanted_and_a_restart_greets_again(self):
        call = {"blocks": [{"tool": "bash", "arguments": {"command": "echo hi"}}]}
        asked, cancelled = asyncio.Event(), asyncio.Event()

        async def decide(_):
            asked.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.set()
                raise

        async with AsyncClient(scripted(call, {"text": "done"}), args=["--permission-mode", "ask"]) as client:
            await client.on_permission(decide)
            for _ in range(2):
                asked.clear()
                cancelled.clear()
                run = asyncio.create_task(client.prompt_and_wait("go"))
                await asyncio.wait_for(asked.wait(), 60)
                await client.abort()
                self.assertTrue((await run).aborted)
                await asyncio.wait_for(cancelled.wait(), 60)
                await client.restart()


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

    async def test_a_coroutine_can_listen_and_its_failure_is_reported(self):
        heard, failures = [], []

        async def listen(event):
            await asyncio.sleep(0)
            heard.append((await client.get_state())["sessionId"])
            raise ValueError("mine")

        asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(str(context["exception"])))
        async with AsyncClient(ECHO) as client:
            client.on("agent_settled", listen)
            await client.prompt_and_wait("hello")
            for _ in range(200):
                if failures:
                    break
                await asyncio.sleep(0.05)
            self.assertEqual(heard, [(await client.get_state())["sessionId"]])
        self.assertEqual(failures, ["mine"])

    async def test_the_result_says_why_a_reply_failed_or_was_aborted(self):
        async with AsyncClient(scripted({"fail": {"status": 400, "body": "no"}}, {"text": "one", "stall": True}, {"text": "two"})) as client:
            self.assertEqual((await client.prompt_and_wait("a")).error, "400 no")
            started = asyncio.Event()
            client.on("message_update", lambda _: started.set())
            run = asyncio.create_task(client.prompt_and_wait("b"))
            await started.wait()
            await client.abort()
            self.assertEqual((await run).error, "Request was aborted")
            self.assertIsNone((await client.prompt_and_wait("c")).error)

    async def test_a_refusal_has_the_agents_guess(self):
        async with AsyncClient(ECHO) as client:
            with self.assertRaises(RequestError) as refused:
                await client.set_model("scriptd", "echo")
            self.assertEqual(refused.exception.message, "Model not found: scriptd/echo")
            self.assertEqual(refused.exception.code, "unknown_model")
            self.assertEqual(refused.exception.hint, "There is no provider scriptd. Did you mean scripted?")

    async def test_a_message_that_begins_with_its_command_is_not_introduced_again(self):
        async with AsyncClient(ECHO) as client:
            with self.assertRaises(RequestError) as refused:
                await client.request("set_auto_retry", {"enabled": "yes"})
            self.assertEqual(str(refused.exception), "set_auto_retry: enabled must be boolean")
            self.assertEqual(refused.exception.code, "bad_field")

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

    async def test_a_close_that_is_cancelled_leaves_no_agent_behind(self):
        agent = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nsay(type='ready')\nwhile True: time.sleep(60)"
        client = AsyncClient(odd_agent(agent), close_patience=600)
        await client.start()
        closing = asyncio.ensure_future(client.close())
        await asyncio.sleep(0.1)
        closing.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await closing
        self.assertEqual(await asyncio.wait_for(client.close(), 30), -9)

    async def test_the_end_of_an_earlier_run_is_not_taken_for_the_own(self):
        agent = """
            say(type="ready")
            for frame in frames:
                say(type="agent_end", messages=[{"role": "assistant", "content": [{"type": "text", "text": "theirs"}]}])
                say(type="agent_settled")
                say(type="response", id=frame["id"], command="prompt", success=True, data={"disposition": "started"})
                say(type="agent_start")
                say(type="agent_end", messages=[{"role": "assistant", "content": [{"type": "text", "text": "mine"}]}])
                say(type="agent_settled")
        """
        async with AsyncClient(odd_agent(agent)) as client:
            result = await client.prompt_and_wait("hello")
            self.assertEqual((result.text, len(result.messages)), ("mine", 1))

    async def test_events_that_come_before_the_answer_to_a_prompt_belong_to_it(self):
        agent = """
        say(type="ready")
        reply = lambda text: [{"role": "assistant", "content": [{"type": "text", "text": text}], "stopReason": "stop"}]
        for frame in frames:
            if frame["type"] == "prompt":
                for run, text in (("r_0", "of another run"), ("r_1", "mine")):
                    say(type="agent_start", runId=run)
                    say(type="agent_end", runId=run, messages=reply(text))
                    say(type="agent_settled")
            say(id=frame["id"], type="response", command=frame["type"], success=True, data={"disposition": "started", "runId": "r_1"})
        """
        async with AsyncClient(odd_agent(agent)) as client:
            result = await client.prompt_and_wait("hello")
            self.assertEqual((result.text, len(result.messages)), ("mine", 1))

    async def test_a_retry_belongs_to_the_prompt_also_where_nothing_settles(self):
        agent = """
            for frame in frames:
                data = {"isStreaming": False} if frame["type"] == "get_state" else None
                say(type="response", id=frame["id"], command=frame["type"], success=True, data=data)
                if data: continue
                say(type="agent_start")
                say(type="agent_end", messages=[{"role": "assistant", "stopReason": "error", "content": []}])
                say(type="auto_retry_start", attempt=1)
                time.sleep(0.5)
                say(type="agent_start")
                say(type="agent_end", messages=[{"role": "assistant", "stopReason": "stop", "content": [{"type": "text", "text": "again"}]}])
        """
        async with AsyncClient(odd_agent(agent), wait_for_ready=False) as client:
            self.assertEqual((await client.prompt_and_wait("hello")).text, "again")
            await client.wait_for_idle()

    async def test_frames_and_handlers_that_break_do_not_stop_the_reading(self):
        agent = """
            print("words for a person", file=sys.stderr, flush=True)
            say(type="ready")
            say(type="host_tool_call")
            say(type="extension_ui_request")
            print("[" * 100_000, flush=True)
            for frame in frames: say(type="response", id=frame["id"], command=frame["type"], success=True, data={"fine": True})
        """
        heard = []

        def broken(_):
            heard.append(_)
            raise ValueError("a mistake of the host")

        asyncio.get_running_loop().set_exception_handler(lambda loop, context: heard.append(context["exception"]))
        client = AsyncClient(odd_agent(agent), on_stderr=broken)
        client.on("ready", broken)
        async with client:
            self.assertEqual(await client.request("anything"), {"fine": True})
        self.assertGreaterEqual(len(heard), 5)

    async def test_a_tool_can_be_called_as_soon_as_the_agent_knows_it(self):
        agent = """
            say(type="ready")
            frame = next(frames)
            answer = {"type": "response", "id": frame["id"], "command": frame["type"], "success": True, "data": {"toolNames": ["ping"]}}
            call = {"type": "host_tool_call", "id": "1", "toolCallId": "1", "toolName": "ping", "arguments": {}}
            print(json.dumps(answer) + chr(10) + json.dumps(call), flush=True)
            say(type="answered", frame=next(frames))
            for frame in frames: pass
        """
        async with AsyncClient(odd_agent(agent)) as client:
            events = client.events()
            await client.set_custom_tools([HostTool("ping", "Pings.", {}, lambda arguments, call: "pong")])
            async for event in events:
                self.assertEqual(event["frame"]["result"], {"content": [{"type": "text", "text": "pong"}]})
                break

    async def test_a_question_that_timed_out_or_was_withdrawn_cancels_its_handler(self):
        agent = """
            say(type="ready")
            say(type="extension_ui_request", id="late", method="input", title="Name?", timeout=100)
            say(type="extension_ui_request", id="withdrawn", method="confirm", title="Sure?", message="")
            time.sleep(0.2)
            say(type="extension_ui_request", id="x", method="cancel", targetId="withdrawn")
            for frame in frames: say(type="response", id=frame["id"], command=frame["type"], success=True, data=None)
        """
        cancelled = []

        async def ask(request):
            try:
                await asyncio.sleep(600)
            except asyncio.CancelledError:
                cancelled.append(request["id"])
                both.set() if len(cancelled) == 2 else None
                raise

        both = asyncio.Event()
        client = AsyncClient(odd_agent(agent))
        client.on_dialog(ask)
        async with client:
            await asyncio.wait_for(both.wait(), 20)
        self.assertEqual(sorted(cancelled), ["late", "withdrawn"])


class Cancelling(unittest.TestCase):
    def test_a_program_that_cancels_all_its_tasks_can_still_close(self):
        # As asyncio.run does after Ctrl+C, up to Python 3.10.
        async def main():
            client = AsyncClient(scripted({"blocks": [{"tool": "bash", "arguments": {"command": "sleep 600"}}]}))
            await client.start()
            started = asyncio.Event()
            client.on("tool_execution_start", lambda _: started.set())
            asyncio.ensure_future(client.prompt_and_wait("wait"))
            await started.wait()
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()
            return await asyncio.wait_for(client.close(), 30)

        self.assertEqual(asyncio.run(main()), 0)


if __name__ == "__main__":
    unittest.main()


class Steps(unittest.IsolatedAsyncioTestCase):
    async def test_a_host_is_asked_before_each_step_and_one_that_fails_ends_the_run(self):
        steps = []

        def decide(request):
            steps.append(request["kind"])
            if request["kind"] == "tool":
                raise ValueError("mine")
            return {"allow": True}

        failures = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(str(context["exception"])))
        call = {"blocks": [{"tool": "bash", "arguments": {"command": "echo hi"}}]}
        async with AsyncClient(scripted(call, {"text": "never"}), args=["--seq", "--gate", "host"]) as client:
            client.on_gate(decide)
            result = await client.prompt_and_wait("go", key="once", timeout=60)
        self.assertEqual(steps[:2], ["model", "tool"])
        self.assertTrue(result.aborted)
        self.assertEqual(failures, ["mine"])
